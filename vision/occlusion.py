"""What figures occlude of a tile, and what then says nothing: a road that a figure covers altogether may be a field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from scoring.tiles import Tile, catalogue
from vision.evidence import pennants, side_letters
from vision.looks import places, segment_labels
from vision.signs import signs_of

# Part of the cells by which two tiles differ that figures must occlude for the tiles to look the same. Measured on the
# third-party films (`benchmarks/film_evidence.py`): below it the network hardly ever prefers the wrong one, above it in
# two of five pairs, and surely: wood on a field may seem to be on a road.
OCCLUDED = 0.85
_OPEN = frozenset("RF")  # what a side may be whose middle nobody sees; a town is wider than a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What nobody sees of a tile: whether its ``sides`` (0 to 3: N E S W) have a road or a field, and whether it has a
    ``cloister``. False if all is in view."""

    sides: tuple[int, ...] = ()
    cloister: bool = False

    def __bool__(self) -> bool:
        return bool(self.sides) or self.cloister


def unseen(loglik: npt.NDArray[np.float64], kinds: Sequence[Tile], hidden: npt.NDArray[np.bool_]) -> Unseen:
    """That by which other tiles differ from the likeliest, if they differ in nothing that is in view. ``loglik`` (K, 4)
    are the log-likelihoods of ``kinds`` and their quarter turns, ``hidden`` (CELLS, CELLS) is what figures occlude."""
    k, rot = divmod(int(loglik.argmax()), 4)
    others = _alike(kinds[k].id, rot, tuple(kind.id for kind in kinds if places(kind)))
    open_ = {side for side, other in others if occluded(hidden, (kinds[k], rot), other) >= OCCLUDED}
    return Unseen(sides=tuple(sorted(side for side in open_ if side is not None)), cloister=None in open_)


@lru_cache(maxsize=4096)
def _alike(tile: str, rot: int, ids: tuple[str, ...]) -> tuple[tuple[int | None, tuple[Tile, int]], ...]:
    """The turned tiles that have a road for a field, or a field for a road, at just one side, and that side; with
    None those that only have, or lack, a cloister."""
    if tile not in catalogue():
        return ()
    own, cloister = side_letters(catalogue()[tile], rot), _has_cloister(catalogue()[tile])
    out: list[tuple[int | None, tuple[Tile, int]]] = []
    for other in product((catalogue()[each] for each in ids), range(4)):
        differ = [(n, {a, b}) for n, (a, b) in enumerate(zip(own, side_letters(*other), strict=True)) if a != b]
        if not differ and _has_cloister(other[0]) != cloister:
            out.append((None, other))
        elif len(differ) == 1 and differ[0][1] == _OPEN and _has_cloister(other[0]) == cloister:
            out.append((differ[0][0], other))
    return tuple(out)


def _has_cloister(tile: Tile) -> bool:
    return any(s.kind == "cloister" for s in tile.segments)


def occluded(hidden: npt.NDArray[np.bool_], one: tuple[Tile, int], other: tuple[Tile, int]) -> float:
    """The part of the cells by which two turned tiles differ that (CELLS, CELLS) ``hidden`` has; 0 if they differ by
    printed symbols or nowhere."""
    if not (places(one[0]) and places(other[0])):
        return 0.0
    differs = _difference(one[0].id, one[1], other[0].id, other[1])
    return 0.0 if differs is None else float(hidden[differs].mean())


@lru_cache(maxsize=4096)
def _difference(a: str, rot_a: int, b: str, rot_b: int) -> npt.NDArray[np.bool_] | None:
    one, other = catalogue()[a], catalogue()[b]
    if signs_of(one) != signs_of(other) or pennants(one) != pennants(other):
        return None
    differs = np.asarray(_features(one, rot_a) != _features(other, rot_b))
    return differs if differs.any() else None


def _features(tile: Tile, rot: int) -> npt.NDArray[np.str_]:
    """(CELLS, CELLS) kind of the feature that is visible there on the turned tile."""
    return np.array([*(s.kind for s in tile.segments), ""])[np.minimum(segment_labels(tile, rot), len(tile.segments))]
