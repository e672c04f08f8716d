"""What a new tile is: the pixels' likelihood, weighed by the neighbours' edges and by what is left in the box.

The pixels say two things: which taught picture is like them, and what structure they show (sides, joined towns and
roads, cloister, pennant) in whatever paint. Kinds that have no picture yet are told by structure alone.

A mismatching edge or an empty box makes a reading unlikely, never impossible: what lies on the table is never refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.board import mismatches
from scoring.engine import tiles_left
from scoring.state import GameState
from scoring.tiles import Square, Tile, catalogue, turn
from vision.evidence import Shield, shield_loglik, shields, twins
from vision.frames import Image
from vision.lattice import UNIT, Array, apply, rectify
from vision.settle import Settled, Settler
from vision.structure import CROP_PX as NET_PX
from vision.structure import MARGIN as NET_MARGIN
from vision.structure import StructureNet
from vision.tileset import TileSet

TEMPERATURE = 0.035  # correlation difference that makes a reading e times as likely
MISMATCH = -7.0  # log-odds of one edge that does not match
NONE_LEFT = -7.0
STRUCTURE = 0.5  # weight of what the structure says where the picture is known too
UNKNOWN = 0.45  # correlation that a kind without a picture is taken to have: what an unlike picture reaches
TWIN_LESS = 0.03  # correlation by which a pennant alone makes a picture unlike
PRESENT = 0.9  # probability from which a square holds a tile, whatever its paint
SURELY_PRESENT, HARDLY = 0.98, 0.2  # and from which it does in an edition that is known, which is then asked about
AT_MOST = 0.9  # how sure such a reading may be
PLAIN = 0.7  # correlation from which a tile is read as a whole
_CORNERS_OFF = 0.3  # of a tile: corners further off are another tile's
_TO_MIDDLE = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]])
_AGREES, _AGREES_PER = 0.9, 40.0  # how structure is put on the scale of correlations
FLOOR = 0.38  # correlation below which a square holds no tile that we know
LIKE_ONE = 0.55  # and below which the structure must show one too: a grained table may be a little like a road
NOWHERE = 0.01  # probability of a tile below which there is none, then; up to even odds it is asked about


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
        self.like: tuple[str, int, float] = ("", 0, -1.0)  # the best picture of the last reading, taken or not
        # the tiles on this table are not painted like our drawings: known of a table of which something was learned
        self.foreign = len({s.drawn for s in tileset.specimens}) > 1
        self._net = StructureNet()
        self._kinds = [catalogue()[tile] for tile in self.ids]
        taught = {s.tile for s in tileset.specimens if not s.drawn}
        self._taught = np.array([tile in taught for tile in self.ids])
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

    def guesses(self, tile: str) -> bool:
        """Whether nothing but our own drawing is known of a kind, and the table has other artwork."""
        return self.foreign and all(s.drawn for s in self.settler.fine.tileset.specimens if s.tile == tile)

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
        n, turned = divmod(int(settled.scores.argmax()), settled.scores.shape[1])
        self.like = self.ids[n], turned, float(settled.scores[n, turned])
        known = self._taught if self.foreign else np.ones(len(self.ids), bool)
        like = float(settled.scores[known].max()) if known.any() else -1.0
        if self.foreign and like < PLAIN:
            settled.pose = self._squared(photo, pose)
        said = self._net.ask(cut(photo, settled.pose)[None], turns=4)
        there = like >= FLOOR or (self.foreign and said.present[0] >= PRESENT)
        doubtful = not there and said.present[0] >= SURELY_PRESENT and like >= HARDLY
        if there and like < LIKE_ONE and said.present[0] < 0.5:
            there, doubtful = False, bool(said.present[0] >= NOWHERE)
        if not (there or doubtful) or settled.visible < 0.7:
            return None
        structure = said.loglik(self._kinds)[0]
        scores = settled.scores.astype(float)
        if not known.all():
            scores[~known] = UNKNOWN
            self._like_their_twins(scores, known)
        options = self._weigh(settled, scores, structure * (STRUCTURE if known.all() and there else 1.0), at, state)
        tile, rot, _ = options[0]
        legal = not mismatches(state.board, catalogue()[tile], at, rot)
        if doubtful:  # a tile, but like no picture: people say which
            if not legal:
                return None
            options = tuple((kind, turns, p * AT_MOST) for kind, turns, p in options)
        scores[~known] = np.maximum(-1.0, _AGREES + structure[~known] / _AGREES_PER)
        every = {(kind, r): float(scores[n, r]) for n, kind in enumerate(self.ids) for r in range(4)}
        return Placement(at=at, pose=settled.pose, options=options, score=every[tile, rot], legal=legal,
                         correlations=every)

    def _squared(self, photo: Image, pose: Array) -> Array:
        """A pose shifted and turned to where the tile's corners are seen, whatever its paint; as it was when they are
        not. Its size and its perspective are the lattice's: single corners are seen to a few hundredths of a tile."""
        for _ in range(2):
            said = self._net.ask(cut(photo, pose)[None], turns=4)
            off = said.corners[0] - UNIT
            if said.present[0] < 0.5 or np.abs(off).max() > _CORNERS_OFF:
                return pose
            x, y = off.mean(axis=0)
            around = UNIT - 0.5
            turn = float((around[:, 0] * off[:, 1] - around[:, 1] * off[:, 0]).sum() / (around**2).sum())
            cos, sin = np.cos(turn), np.sin(turn)
            back = np.array([[1, 0, 0.5 + x], [0, 1, 0.5 + y], [0, 0, 1.0]])
            pose = pose @ back @ np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ _TO_MIDDLE
        return np.asarray(pose, float)

    def _like_their_twins(self, scores: npt.NDArray[np.float64], known: npt.NDArray[np.bool_]) -> None:
        """A kind without a picture may look like the one that differs by a pennant alone."""
        for a, b in self._twin.items():
            for own, other in ((self.ids.index(a), self.ids.index(b)), (self.ids.index(b), self.ids.index(a))):
                if not known[own] and known[other]:
                    scores[own] = np.maximum(scores[own], scores[other] - TWIN_LESS)

    def _weigh(self, settled: Settled, scores: npt.NDArray[np.float64], structure: npt.NDArray[np.float64], at: Square,
               state: GameState) -> tuple[tuple[str, int, float], ...]:
        left = tiles_left(state)
        logits = scores / TEMPERATURE + structure
        for kind, tile in enumerate(self.ids):
            logits[kind] += np.log(left[tile]) if left.get(tile, 0) > 0 else NONE_LEFT
            for rot in range(4):
                logits[kind, rot] += MISMATCH * len(mismatches(state.board, catalogue()[tile], at, rot))
        if not self.foreign:
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


def distinct(found: Iterable[Placement], lying: Iterable[Array]) -> list[Placement]:
    """Readings that lie on their own squares, not on a tile that lies there already and not twice the same tile."""
    taken = list(lying)
    kept: list[Placement] = []
    for placement in sorted(found, key=lambda p: (not p.legal, -p.score)):
        centre = apply(placement.pose, [[0.5, 0.5]])[0]
        if all(np.abs(apply(np.linalg.inv(pose), [centre])[0] - 0.5).max() > 0.7 for pose in taken):
            kept.append(placement)
            taken.append(placement.pose)
    return kept


def cut(photo: Image, pose: Array) -> Image:
    """The picture of one square that the network is asked about."""
    around = np.array([[1 + 2 * NET_MARGIN, 0, -NET_MARGIN], [0, 1 + 2 * NET_MARGIN, -NET_MARGIN],
                       [0, 0, 1.0]])
    return rectify(photo, pose @ around, NET_PX)


def shape(tile: Tile, rot: int) -> object:
    """What a turned tile is to the rules: equal shapes are the same reading."""
    segments = tuple(sorted(
        (s.kind, tuple(sorted(turn(a, rot) for a in s.atoms)), s.pennants, s.inn, s.cathedral, s.goods, s.princess)
        for s in tile.segments))
    return segments, tuple(sorted(tile.flags))

