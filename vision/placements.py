"""What a new tile is: the pixels' likelihood, weighed by the neighbours' edges and by what is left in the box.

A mismatching edge or an empty box makes a reading unlikely, never impossible: what lies on the table is never refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.board import mismatches
from scoring.engine import tiles_left
from scoring.state import GameState
from scoring.tiles import Square, Tile, catalogue, turn
from vision.evidence import Shield, shield_loglik, shields, twins
from vision.frames import Image
from vision.lattice import Array, rectify
from vision.settle import Settled, Settler
from vision.tileset import TileSet

TEMPERATURE = 0.035  # correlation difference that makes a reading e times as likely
MISMATCH = -7.0  # log-odds of one edge that does not match
NONE_LEFT = -7.0
PLAIN = 0.7  # correlation from which a tile is read as a whole
FLOOR = 0.38  # correlation below which a square holds no tile that we know


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A tile as read on a square. ``options`` are (tile, rot, probability), best first; equal shapes are one option.
    ``score`` is the best correlation, ``legal`` whether the best option's edges match."""

    at: Square
    pose: Array
    options: tuple[tuple[str, int, float], ...]
    score: float
    legal: bool
    correlations: Mapping[tuple[str, int], float] = field(default_factory=dict, repr=False)

    def correlation(self, tile: str, rot: int) -> float:
        """How well one reading's picture agrees, whatever the rules say of it."""
        return self.correlations.get((tile, rot), -1.0)

    @property
    def tile(self) -> str:
        return self.options[0][0]

    @property
    def rot(self) -> int:
        return self.options[0][1]

    @property
    def confidence(self) -> float:
        return self.options[0][2]


class PlacementReader:
    """Reads squares against one tile set."""

    def __init__(self, tileset: TileSet) -> None:
        self.settler = Settler(tileset)
        self.ids = self.settler.fine.ids
        pairs = twins(catalogue(), self.ids)
        self._twin = dict(pairs)
        self._shields: Mapping[str, Shield] = shields(tileset, pairs)

    def glance(self, photo: Image, pose: Array) -> float:
        """The best correlation at exactly this pose: cheap, to see whether a square is worth reading."""
        coarse = self.settler.coarse
        return float(coarse.score(rectify(photo, pose, coarse.size_px)[None], shift_px=2).max())

    def picture(self, photo: Image, pose: Array, tile: str, rot: int) -> Image:
        """The taught picture of a kind that a square shows best: copies differ in their drawing."""
        fine = self.settler.fine
        scores = fine.score_specimens(rectify(photo, pose, fine.size_px)[None])[0]
        return fine.tileset.specimens[fine.specimen(scores, tile, rot)].bgr

    def read(self, photo: Image, pose: Array, at: Square, state: GameState,
             strange: npt.NDArray[np.uint8] | None = None) -> Placement | None:
        """The tile on a square near ``pose``, or None when nothing that looks like a tile lies there.

        ``strange`` is 255 where a figure may hide it; it is asked only when the tile as a whole is hard to read, since
        print may have a player's colour too.
        """
        settled = self.settler.settle(photo, pose)
        if settled.best < PLAIN and strange is not None:
            without = self.settler.settle(photo, pose, strange=strange)
            settled = max(settled, without, key=lambda s: s.best)
        if settled.best < FLOOR or settled.visible < 0.7:
            return None
        options = self._weigh(settled, at, state)
        tile, rot, _ = options[0]
        legal = not mismatches(state.board, catalogue()[tile], at, rot)
        every = {(kind, r): float(settled.scores[n, r]) for n, kind in enumerate(self.ids) for r in range(4)}
        return Placement(at=at, pose=settled.pose, options=options, score=every[tile, rot], legal=legal,
                         correlations=every)

    def _weigh(self, settled: Settled, at: Square, state: GameState) -> tuple[tuple[str, int, float], ...]:
        left = tiles_left(state)
        logits = settled.scores.astype(float) / TEMPERATURE
        for kind, tile in enumerate(self.ids):
            logits[kind] += np.log(left[tile]) if left.get(tile, 0) > 0 else NONE_LEFT
            for rot in range(4):
                logits[kind, rot] += MISMATCH * len(mismatches(state.board, catalogue()[tile], at, rot))
        self._see_shields(settled, logits)
        grouped: dict[object, list[tuple[float, str, int]]] = {}
        for kind, tile in enumerate(self.ids):
            for rot in range(4):
                grouped.setdefault(shape(catalogue()[tile], rot), []).append((float(logits[kind, rot]), tile, rot))
        best = sorted((max(group) for group in grouped.values()), reverse=True)[:12]
        weights = np.exp(np.array([b[0] for b in best]) - best[0][0])
        weights /= weights.sum()
        return tuple((tile, rot, float(p)) for (_, tile, rot), p in zip(best, weights, strict=True) if p > 1e-4)

    def _see_shields(self, settled: Settled, logits: np.ndarray) -> None:  # type: ignore[type-arg]
        """Tiles that differ by a pennant alone are told apart at the pennant, not by the whole picture."""
        for bearer, plain in self._twin.items():
            shield = self._shields.get(bearer)
            if shield is None:
                continue
            a, b = self.ids.index(bearer), self.ids.index(plain)
            for rot in range(4):
                if max(logits[a, rot], logits[b, rot]) < logits.max() - 8.0:
                    continue
                upright = np.ascontiguousarray(np.rot90(settled.crop, rot))
                weight = np.ascontiguousarray(np.rot90(settled.weight, rot))
                odds = shield_loglik(shield, upright, weight)
                if odds:
                    both = np.logaddexp(logits[a, rot], logits[b, rot])
                    whole = (logits[a, rot] - logits[b, rot]) * 0.5 + odds
                    logits[a, rot] = both - np.logaddexp(0.0, -whole)
                    logits[b, rot] = both - np.logaddexp(0.0, whole)


def shape(tile: Tile, rot: int) -> object:
    """What a turned tile is to the rules: equal shapes are the same reading."""
    segments = tuple(sorted(
        (s.kind, tuple(sorted(turn(a, rot) for a in s.atoms)), s.pennants, s.inn, s.cathedral, s.goods, s.princess)
        for s in tile.segments))
    return segments, tuple(sorted(tile.flags))

