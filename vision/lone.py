"""A single tile on a bare table, found without knowing its artwork: a square blot of another colour than the table's.

The table is what most of the picture shows. Its commonest colours are taken away in steps, and every connected rest
that is square enough and of a tile's size is a candidate; which of them is the start tile its structure tells (our own
drawing of it: where the town lies, where the road runs), in whatever paint.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.evidence import common_colours
from vision.frames import Image
from vision.lattice import UNIT, Array, rectify
from vision.tiles import TileMatcher

SHARES = (0.7, 0.8, 0.88, 0.93, 0.96)  # of the picture's pixels that are taken for the table's
LIKE = 0.22  # correlation with the drawn start tile; stacks, cards and cups reach about 0.1
CLEAR = 0.08  # by which its best turn must beat the others
_SIDE = (0.025, 0.14)  # of the picture's width: tiles from 40 px on a large table to 16 x 12 tiles filling a small one
_SQUARE = 0.82  # shorter side to longer, and area to its enclosing rectangle


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneTile:
    """The tile's ``pose`` as it lies at ``rot`` 0 of its kind, and how much it is ``like`` the drawing, -1 .. 1."""

    pose: Array
    like: float


def find_lone_tile(bgr: Image, matcher: TileMatcher, kind: str, side: int = 1) -> LoneTile | None:
    """The place where this kind lies alone on the table, or None. ``matcher`` knows our own drawing of the kind;
    ``side`` is its length in tiles, which is more than one for a start board."""
    index = matcher.index[kind]
    best: LoneTile | None = None
    for corners in blots(bgr, side):
        pose = cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners).astype(float)
        turns = matcher.score(rectify(bgr, pose, matcher.size_px)[None], shift_px=2)[0, index]
        order = np.argsort(-turns)
        like = float(turns[order[0]])
        if like < LIKE or like - float(turns[order[1]]) < CLEAR or (best is not None and like <= best.like):
            continue
        rot = int(order[0])  # it shows the kind turned by ``rot``: its own north is that many corners further on
        pose = cv2.getPerspectiveTransform(UNIT.astype(np.float32), np.roll(corners, -rot, axis=0)).astype(float)
        best = LoneTile(pose=pose, like=like)
    return best


def blots(bgr: Image, side: int = 1) -> list[Array]:
    """(4, 2) float32 corners, clockwise as seen, of everything square and ``side`` tiles long that is not the table."""
    width = bgr.shape[1]
    reach = max(3, width // 400) | 1
    found = []
    for share in SHARES:
        other = (~common_colours(bgr, share)).astype(np.uint8)
        other = cv2.morphologyEx(other, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
        other = cv2.morphologyEx(other, cv2.MORPH_OPEN, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
        outlines, _ = cv2.findContours(other, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for outline in outlines:
            (x, y), (a, b), turn = cv2.minAreaRect(outline)
            short, long = sorted((a + 1, b + 1))
            if not (side * _SIDE[0] * width < short and long < side * _SIDE[1] * width and short > _SQUARE * long):
                continue
            if cv2.contourArea(outline) > _SQUARE * a * b:
                found.append(cv2.boxPoints(((x, y), (a + 1, b + 1), turn)))
    return found
