"""What the squares of a board show, in log-likelihoods: the one place where pixels become statements about tiles.

Sources are added, none switches another off. The network (`vision.structure`) knows what every edition shares and is
asked about every square. Pictures of tiles, taught, learned or drawn, are held against the squares of which the
network is not sure; drawn ones only where it cannot tell some of the kinds in play from each other. How much a
correlation says is measured on the table itself: on squares that the network is sure of, how do pictures of the right
kind correlate, and how do others? A kind without a picture gains and loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile
from vision.frames import Image
from vision.lattice import UNIT, Array, inside, rectify
from vision.settle import Settler
from vision.structure import CROP_PX, MARGIN, Said, StructureNet, told_apart
from vision.tileset import TileSet

NET_PX = CROP_PX / (1 + 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenseLimits:
    """Tiles are the unit of lengths, nats that of weights. Where no other source is named, measured on the photographs
    of ``benchmarks/read_photos.py`` and ``watch_film.py``."""

    placed: float = 0.05  # corners seen further off than this pull the pose to where they are
    astray: float = 0.4  # and further off than this are another tile's
    there_most: float = 7.0  # no single look is surer that a tile lies there, or that none does
    there_sure: float = 4.0  # log-odds of a tile above which pictures need not say whether there is one
    taught_part: float = 0.9  # of the kinds must have pictures for a square that is like none to be no tile
    unlike: float = 3.0  # the most that they say of that
    doubtful: float = 7.0  # lead of the network's best reading below which pictures are asked too
    sure: float = 6.0  # lead from which a square shows what right and wrong pictures correlate like
    samples: int = 14  # sure squares by which that is measured
    remembered: int = 400  # correlations that are kept of each sort
    no_likeness: float = 0.02  # of right pictures correlate like wrong ones: another printing, a thing on the tile
    drawn_no_likeness: float = 0.3  # our own drawings hold for nobody's box
    reach: float = 0.06  # how far a picture is slid over the square


@dataclass(slots=True)
class TileEvidence:
    """One square: its ``pose`` pulled to the corners that are seen, ``there`` the log-odds of a tile, ``loglik`` (K, 4)
    log-likelihoods of every kind and quarter turn (they sum to 1), ``seen`` the part of it in the picture.
    ``sources`` are what was added up, (K, 4) by name: network, pictures, drawings."""

    pose: Array
    there: float
    loglik: npt.NDArray[np.float64]
    seen: float
    sources: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)


@dataclass(slots=True)
class Likeness:
    """How pictures of the right kind and of wrong ones correlate on this table: two normal distributions, begun with
    what is usual of good pictures and measured from then on."""

    right: list[float] = field(default_factory=lambda: [0.62] * 4 + [0.45, 0.8])
    wrong: list[float] = field(default_factory=lambda: [0.15, 0.25, 0.3, 0.35, 0.45])

    def learn(self, right: float, wrong: float, most: int) -> None:
        """Of one square: the correlation of its own kind's best picture, and the best of any other kind's."""
        for values, value in ((self.right, right), (self.wrong, wrong)):
            values.append(value)
            del values[:-most]

    def odds(self, correlation: npt.NDArray[np.float64], no_likeness: float) -> npt.NDArray[np.float64]:
        """Log-odds for a kind by the correlation of its picture. Grows with it and ends on both sides: a bad picture of
        the right kind costs no more than ``no_likeness`` says, a good one of a wrong kind is not impossible."""
        (a, s), (b, t) = ((float(np.mean(v)), max(float(np.std(v)), 0.06)) for v in (self.right, self.wrong))
        if a <= b:
            return np.zeros_like(correlation)
        spread = np.sqrt((s * s + t * t) / 2)  # one spread for both keeps the odds monotonous
        apart = ((a - b) / spread) ** 2
        # pictures that hardly tell right from wrong err alike at every look: what they say counts the less
        raw = apart / (apart + 2) * ((correlation - b) ** 2 - (correlation - a) ** 2) / (2 * spread**2)
        return np.asarray(np.logaddexp(np.log1p(-no_likeness) + np.clip(raw, -30, 8), np.log(no_likeness)))


class TileSense:
    """Reads squares of pictures, whoever drew the tiles. ``kinds`` may lie on the table; a ``tileset`` has pictures of
    some of them. Keep it for a whole game: it learns how well its pictures agree with this table. One thread."""

    def __init__(self, kinds: Sequence[Tile], tileset: TileSet | None = None, *,
                 limits: SenseLimits | None = None) -> None:
        self.kinds = tuple(kinds)
        self.limits = limits if limits is not None else SenseLimits()
        self.net = StructureNet()
        self._likeness: dict[bool, Likeness] = {}
        self._settlers: dict[bool, tuple[Settler, npt.NDArray[np.int64]]] = {}
        self.use(tileset)

    def use(self, tileset: TileSet | None) -> None:
        """Read with these pictures from now on. What was measured of the table's pictures stays."""
        self._settlers = {}
        index = {kind.id: n for n, kind in enumerate(self.kinds)}
        for drawn in (False, True):  # our own drawings are a source of their own, and another likeness
            if drawn and told_apart(self.kinds):
                continue  # photographs read the same without them (read_photos --untaught), and faster
            mine = [] if tileset is None else [s for s in tileset.specimens if s.drawn == drawn and s.tile in index]
            if mine and tileset is not None:
                part = TileSet(name=tileset.name, size_px=tileset.size_px, specimens=tuple(mine))
                settler = Settler(part, tries=2)
                self._settlers[drawn] = settler, np.array([index[tile] for tile in settler.fine.ids])
                self._likeness.setdefault(drawn, Likeness())

    def said(self, bgr: Image, poses: Sequence[Array], *, turns: int = 1) -> Said:
        """What the network says of the squares of these poses."""
        crops = [rectify(bgr, pose, NET_PX, MARGIN) for pose in poses]
        return self.net.ask(np.array(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8), turns=turns)

    def look(self, bgr: Image, poses: Mapping[Square, Array], said: Said | None = None) -> dict[Square, TileEvidence]:
        """Evidence about every square of ``poses`` in a BGR picture. ``said`` is what the network has said of them
        already, in their order and in all quarter turns."""
        order, limits = list(poses), self.limits
        if not order:
            return {}
        said = self.said(bgr, [poses[at] for at in order], turns=4) if said is None else said
        placed = [_pulled(poses[at], said.corners[n]) for n, at in enumerate(order)]
        off = np.abs(said.corners - UNIT).max(axis=(1, 2))
        again = np.flatnonzero((off > limits.placed) & (off < limits.astray) & (said.present > 0.2))
        if len(again):
            better = self.said(bgr, [placed[n] for n in again], turns=4)
            for row, n in enumerate(again):
                for name in ("sides", "yes", "no", "present", "corners"):
                    getattr(said, name)[n] = getattr(better, name)[row]
                placed[n] = _pulled(placed[n], better.corners[row])
        loglik = said.loglik(self.kinds)
        present = np.clip(said.present, 1e-6, 1 - 1e-6)
        there = np.clip(np.log(present / (1 - present)), -limits.there_most, limits.there_most)
        out = {at: TileEvidence(pose=placed[n] if there[n] > 0 else poses[at], there=float(there[n]),
                                loglik=log_normal(loglik[n]), seen=float(inside(bgr.shape, poses[at], 12).mean()),
                                sources={"network": log_normal(loglik[n])})
               for n, at in enumerate(order)}
        self._by_pictures(bgr, {at: e for at, e in out.items() if e.there > 0 and e.seen > 0.7})
        return out

    def _by_pictures(self, bgr: Image, found: Mapping[Square, TileEvidence]) -> None:
        """Adds what pictures say to the squares of which the network is not sure: which kind, and whether a tile lies
        there at all. Being unlike every taught picture speaks against a tile where nearly every kind was taught."""
        for drawn, (settler, index) in self._settlers.items():
            likeness, limits = self._likeness[drawn], self.limits
            leads = {at: lead(e.loglik) for at, e in found.items()}
            surest = sorted((at for at in found if leads[at] > limits.sure and e_kind(found[at]) in index),
                            key=lambda at: -leads[at])[:limits.samples]
            scores: dict[Square, npt.NDArray[np.float64]] = {}
            for at in surest:
                scores[at] = self._scores(settler, bgr, found[at].pose)
                k, r = divmod(int(found[at].loglik.argmax()), 4)
                own = int(np.flatnonzero(index == k)[0])
                others = np.delete(scores[at], own, axis=0)
                likeness.learn(float(scores[at][own, r]), float(others.max()) if others.size else 0.0,
                               limits.remembered)
            share = limits.drawn_no_likeness if drawn else limits.no_likeness
            for at, evidence in found.items():
                if leads[at] >= limits.doubtful and evidence.there > limits.there_sure:
                    continue
                said = scores[at] if at in scores else self._scores(settler, bgr, evidence.pose)
                odds = np.zeros_like(evidence.loglik)
                odds[index] = likeness.odds(said, share)
                evidence.sources["drawings" if drawn else "pictures"] = odds
                evidence.loglik = log_normal(evidence.loglik + odds)

    def _scores(self, settler: Settler, bgr: Image, pose: Array) -> npt.NDArray[np.float64]:
        return settler.settle(bgr, pose, reach=self.limits.reach).scores.astype(np.float64)


def e_kind(evidence: TileEvidence) -> int:
    """The number of the likeliest kind."""
    return int(evidence.loglik.argmax()) // 4


def lead(loglik: npt.NDArray[np.float64]) -> float:
    """Nats by which the best kind leads the best other kind."""
    each = np.sort(loglik.max(axis=1))
    return float(each[-1] - each[-2]) if len(each) > 1 else np.inf


def log_normal(loglik: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log-likelihoods that sum to 1."""
    top = loglik.max()
    return np.asarray(loglik - top - np.log(np.exp(loglik - top).sum()))


def _pulled(pose: Array, corners: Array) -> Array:
    """A pose moved and turned, not stretched, to where its corners are seen (4, 2), in tiles."""
    off = corners - UNIT
    x, y = off.mean(axis=0)
    around = UNIT - 0.5
    turn = float((around[:, 0] * off[:, 1] - around[:, 1] * off[:, 0]).sum() / (around**2).sum())
    cos, sin = np.cos(turn), np.sin(turn)
    to_middle = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]])
    back = np.array([[1, 0, 0.5 + x], [0, 1, 0.5 + y], [0, 0, 1.0]])
    return np.asarray(pose @ back @ np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ to_middle, float)


def snapshot(bgr: Image, pose: Array, size_px: int) -> npt.NDArray[np.float32]:
    """A square's lightness (size, size), its mean 0 and its length 1, to be held against itself later."""
    grey = cv2.cvtColor(rectify(bgr, pose, size_px), cv2.COLOR_BGR2GRAY).astype(np.float32)
    grey -= grey.mean()
    return np.asarray(grey / (np.linalg.norm(grey) + 1e-3), np.float32)
