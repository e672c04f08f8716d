"""Pictures of the whole table in a turn, stored with the entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bastide.log.replay import PlayedTurn
from bastide.log.store import Store
from vision.images import encode_jpeg
from vision.stills import Part, Still, from_above


def table_picture(store: Store, game: int, turns: Sequence[PlayedTurn], turn: int | None = None,
                  part: tuple[int, int, int, int] | None = None) -> bytes | None:
    """The table of a game as the camera saw it in one of its turns (None: last), as `Past.picture`."""
    kept = store.pictures.stills(game)
    seen = [t for t in turns if turn in (None, t.turn) and not kept.isdisjoint(t.seqs)]
    if not seen:
        return None
    found = store.pictures.still(game, max(kept.intersection(seen[-1].seqs)))
    if found is None or part is None:
        return found[0] if found else None
    poses = {(x, y): np.array(pose) for x, y, pose in found[1]}
    x, y, width, height = part
    above = from_above(Still(jpeg=found[0], poses=poses), Part(x=x, y=y, width=width, height=height))
    return encode_jpeg(above) if above is not None else None
