"""What the squares of a board show, in log-likelihoods: the one place where pixels become statements about tiles.

Sources are added, none switches another off. The network (`vision.structure`) knows what every edition shares and is
asked about every square; now and then it is wrong about a tile as a whole, so what it says has heavy tails. Pictures of
tiles, taught, learned or drawn, are held against the squares that it does not settle. How far a source's pictures are
to be trusted is measured on the table itself. A kind without a picture gains and loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile
from vision.fitting import PictureFit
from vision.frames import Image
from vision.lattice import UNIT, Array, inside, rectify
from vision.settle import Settler
from vision.structure import CROP_PX, MARGIN, Said, StructureNet
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
    mistaken: float = 0.05  # of tiles the network reads wrongly as a whole (5 of 47 on a foreign box, none on others)
    vague: float = 0.1  # and what its answers count then
    doubtful: float = 16.0  # lead of the network's best reading below which pictures are asked too
    sure: float = 6.0  # lead from which a square shows how well right and wrong pictures fit
    samples: int = 14  # sure squares of one look by which that is measured
    remembered: int = 60  # squares that are kept for it
    else_like: float = 0.95  # of all pictures fit worse than one of another print may: what a kind without one is given
    other_print: float = 0.01  # of squares look like no picture of their kind


@dataclass(slots=True)
class TileEvidence:
    """One square: its ``pose`` pulled to the corners that are seen, ``there`` the log-odds of a tile, ``loglik`` (K, 4)
    log-likelihoods of every kind and quarter turn (they sum to 1), ``seen`` the part of it in the picture."""

    pose: Array
    there: float
    loglik: npt.NDArray[np.float64]
    seen: float


_TRUSTS = np.linspace(0.0, 1.0, 5)


@dataclass(slots=True)
class Trust:
    """How much of what a source's pictures say is to be believed on this table, 0 .. 1: the part with which they would
    have told best what lies on squares of which the network is sure. ``doubt`` are the nats by which full trust starts
    behind none (our own drawings), or none behind full trust (negative)."""

    doubt: float
    squares: dict[Square, tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]] = field(default_factory=dict)
    share: float = 0.0

    def learn(self, at: Square, said: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], most: int) -> None:
        """What the pictures say of a square, and which readings of it are ``right``."""
        self.squares.pop(at, None)
        self.squares[at] = said, right
        while len(self.squares) > most:
            del self.squares[next(iter(self.squares))]

    def measure(self, other_print: float) -> None:
        """Weigh all squares again."""
        told = -self.doubt * _TRUSTS
        for said, right in self.squares.values():
            each = _TRUSTS[:, None] * said.ravel()
            each -= np.log(np.exp(each - each.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)) \
                + each.max(axis=1, keepdims=True)
            told = told + np.log(np.exp(each[:, right.ravel()]).sum(axis=1) + other_print)
        self.share = float(_TRUSTS[int(told.argmax())])


class TileSense:
    """Reads squares of pictures, whoever drew the tiles. ``kinds`` may lie on the table; a ``tileset`` has pictures of
    some of them. Keep it for a whole game: it learns how far its pictures are to be trusted there. One thread."""

    def __init__(self, kinds: Sequence[Tile], tileset: TileSet | None = None, *,
                 limits: SenseLimits | None = None) -> None:
        self.kinds = tuple(kinds)
        self.limits = limits if limits is not None else SenseLimits()
        self.net = StructureNet()
        self._trust = {False: Trust(doubt=-3.0), True: Trust(doubt=3.0)}
        self._pictures: dict[bool, tuple[PictureFit, npt.NDArray[np.int64]]] = {}
        self.use(tileset)

    def use(self, tileset: TileSet | None) -> None:
        """Read with these pictures from now on. What was measured of the table's pictures stays."""
        self._pictures = {}
        index = {kind.id: n for n, kind in enumerate(self.kinds)}
        for drawn in (False, True):  # our own drawings are a source of their own, and another likeness
            mine = [] if tileset is None else [s for s in tileset.specimens if s.drawn == drawn and s.tile in index]
            if mine and tileset is not None:
                part = TileSet(name=tileset.name, size_px=tileset.size_px, specimens=tuple(mine))
                settler = Settler(part, tries=2)
                self._pictures[drawn] = PictureFit(settler), np.array([index[tile] for tile in settler.fine.ids])

    def said(self, bgr: Image, poses: Sequence[Array], *, turns: int = 1) -> Said:
        """What the network says of the squares of these poses."""
        crops = [rectify(bgr, pose, NET_PX, MARGIN) for pose in poses]
        return self.net.ask(np.array(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8), turns=turns)

    def look(self, bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, TileEvidence]:
        """Evidence about every square of ``poses`` in a BGR picture."""
        order, limits = list(poses), self.limits
        if not order:
            return {}
        said = self.said(bgr, [poses[at] for at in order], turns=4)
        placed = [_pulled(poses[at], said.corners[n]) for n, at in enumerate(order)]
        off = np.abs(said.corners - UNIT).max(axis=(1, 2))
        again = np.flatnonzero((off > limits.placed) & (off < limits.astray) & (said.present > 0.2))
        if len(again):
            better = self.said(bgr, [placed[n] for n in again], turns=4)
            for row, n in enumerate(again):
                for name in ("sides", "yes", "no", "present", "corners"):
                    getattr(said, name)[n] = getattr(better, name)[row]
                placed[n] = _pulled(placed[n], better.corners[row])
        plain = said.loglik(self.kinds)
        present = np.clip(said.present, 1e-6, 1 - 1e-6)
        there = np.clip(np.log(present / (1 - present)), -limits.there_most, limits.there_most)
        out = {at: TileEvidence(pose=placed[n] if there[n] > 0 else poses[at], there=float(there[n]),
                                loglik=self._doubted(plain[n]), seen=float(inside(bgr.shape, poses[at], 12).mean()))
               for n, at in enumerate(order)}
        self._by_pictures(bgr, {at: e for at, e in out.items() if e.there > 0 and e.seen > 0.7},
                          dict(zip(order, plain, strict=True)))
        return out

    def _doubted(self, loglik: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What the network says of one square, given that it may be mistaken in the tile as a whole."""
        limits = self.limits
        return log_normal(np.logaddexp(np.log(1 - limits.mistaken) + log_normal(loglik),
                                       np.log(limits.mistaken) + log_normal(limits.vague * loglik)))

    def _by_pictures(self, bgr: Image, found: Mapping[Square, TileEvidence],
                     plain: Mapping[Square, npt.NDArray[np.float64]]) -> None:
        """Adds what pictures say to the squares that the network does not settle."""
        limits = self.limits
        leads = {at: lead(plain[at]) for at in found}
        ask = [at for at, e in found.items() if leads[at] < limits.doubtful or e.there < limits.there_sure]
        for drawn, (fit, index) in self._pictures.items():
            trust = self._trust[drawn]
            said: dict[Square, npt.NDArray[np.float64]] = {}
            clear = {at: n for at in found if (n := _group(plain[at], limits.sure)) is not None}
            known = {at: right for at, right in clear.items() if right[index].any()}
            surest = sorted(known, key=lambda at: -leads[at])[:limits.samples]
            for at in {*surest, *ask}:
                said[at] = self._fits(fit, index, bgr, found[at].pose)
            for at in surest:
                trust.learn(at, said[at], known[at], limits.remembered)
            trust.measure(limits.other_print)
            if trust.share == 0.0:
                continue
            for at in ask:
                pictures = log_normal(trust.share * said[at])
                other = np.log(limits.other_print / pictures.size)
                found[at].loglik = log_normal(found[at].loglik + np.logaddexp(pictures, other))

    def _fits(self, fit: PictureFit, index: npt.NDArray[np.int64], bgr: Image, pose: Array,
              ) -> npt.NDArray[np.float64]:
        """(K, 4) log-likelihoods of one square by a source's pictures, up to a constant."""
        fits = fit.fits(bgr, pose)
        out = np.full((len(self.kinds), 4), np.quantile(fits, self.limits.else_like))
        out[index] = fits
        return out


def _group(loglik: npt.NDArray[np.float64], sure: float) -> npt.NDArray[np.bool_] | None:
    """The readings (K, 4) that the network cannot tell from its best one; None when others come close to those."""
    behind = loglik.max() - loglik
    same = behind < 0.5
    return same if (behind[~same] > sure).all() else None


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
