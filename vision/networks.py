"""Loaded networks, lent to whatever runs them.

The six of every watcher take 70 MB once they have run on pictures of 1152x648, in blocks of all sizes, and every
game has a watcher of its own. Loaded anew each time, they were freed among blocks that stayed and their place went to
smaller ones, so that the C heap had more free space between its blocks after every game (docs/reliability.md). So the
next owner gets what the last one had.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from importlib import resources

import cv2
import numpy as np

MOST_IDLE = 2  # of one kind: a watcher has two for the structure of tiles, one for its board finder and one for reading

_idle: defaultdict[tuple[str, int], list[cv2.dnn.Net]] = defaultdict(list)


def lent(owner: object, model: str, side_px: int = 0) -> cv2.dnn.Net:
    """The network ``models/MODEL.onnx`` for this owner alone, until it is gone. ``side_px`` distinguishes those that
    run on pictures of different size, because a network keeps its intermediate blobs in the shape of the last one."""
    idle = _idle[model, side_px]
    try:
        net = idle.pop()  # no lock: owners are finalised at any moment, also while this runs
    except IndexError:
        net = loaded((resources.files("vision") / "models" / f"{model}.onnx").read_bytes())
    weakref.finalize(owner, _returned, idle, net).atexit = False
    return net


def loaded(model: bytes) -> cv2.dnn.Net:
    """An ONNX network, ready to run."""
    return cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8))


def _returned(idle: list[cv2.dnn.Net], net: cv2.dnn.Net) -> None:
    if len(idle) < MOST_IDLE:
        idle.append(net)
