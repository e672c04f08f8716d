"""Log-likelihoods of the tiles on the squares of a board: the one place where pixels become evidence about tiles.

The evidence of several sources is added; none overrides another. The network (`vision.structure`) has learned what all
editions share and is run on every square; it is sometimes wrong about a tile as a whole, so its likelihoods have heavy
tails. A second one (`vision.signs`) detects inns and goods where kinds in play differ by them. Pictures of tiles
(taught, learned or drawn) are matched with the squares that the first leaves ambiguous, drawn ones only if it cannot
distinguish some of the kinds in play; a square may match none of them. A kind without a picture gains and loses little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile
from vision.evidence import twins
from vision.fitting import CELLS, PictureFit
from vision.frames import Image
from vision.lattice import UNIT, Array, inside, rectify
from vision.occlusion import unseen
from vision.signs import CROP_PX as SIGN_PX
from vision.signs import MARGIN as SIGN_MARGIN
from vision.signs import SignNet, loglik, signs_of
from vision.structure import CROP_PX, MARGIN, StructureEstimate, StructureNet, together, told_apart
from vision.tiles import FloatArray
from vision.tileset import TileSet

NET_PX = CROP_PX / (1 + 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenseLimits:
    """Tiles are the unit of lengths, nats that of weights. Chosen on the films of ``benchmarks/film_evidence.py``, with
    one picture of each kind, of half of them and of none; it measures what each source contributes there."""

    placed: float = 0.05  # a square whose corners deviate more than this is evaluated again at the corrected pose
    pulls: int = 3  # at most so often: a tile that was laid askew needs some
    astray: float = 0.4  # but not above this: it shows parts of several tiles
    there_most: float = 7.0  # limit of one look's log-odds of a tile
    there_sure: float = 4.0  # log-odds above which pictures are not used to tell whether there is a tile
    mistaken: float = 0.05  # fraction of tiles that the network misreads (5 of 47 on a foreign box, none on others)
    vague: float = 0.1  # and the weight of its output then
    doubtful: float = 16.0  # lead of the network's best reading below which pictures are used too
    other_print: tuple[float, float] = (0.02, 0.5)  # fraction of kinds that match none of their pictures: taught, drawn
    at_worst: float = -20.0  # fit of a kind that matches none of its pictures (`vision.fitting`)
    not_pictured: float = -18.0  # fit of a kind that has none: most informative with half of all kinds taught
    twin_print: float = 0.5  # fraction of these that match the picture of the kind that differs by a pennant alone
    covered: float = 0.15  # fraction of a cell: a cell that a figure covers by more is ignored
    fitting: float = -12.0  # fit from which a picture is of this table's print
    tries: int = 24  # looks at squares after which a source without such a picture is no longer used,
    each: int = 3  # of which those at one square count so often at most: a first tile may be covered, and where few
    # lie their size is hardly known (chosen)


@dataclass(slots=True)
class TileEvidence:
    """One square: its ``pose`` refined to the detected corners, ``there`` the log-odds of a tile, ``loglik`` (K, 4)
    log-likelihoods of every kind and quarter turn (they sum to 1), ``seen`` the part of it in the picture.
    ``sources`` are the summands, (K, 4) by name: network, signs, pictures, drawings; ``structure`` is what the network
    said of this square, if it was asked."""

    pose: Array
    there: float
    loglik: npt.NDArray[np.float64]
    seen: float
    sources: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    structure: StructureEstimate | None = None

    def weigh(self, source: str, loglik: npt.NDArray[np.float64]) -> None:
        """Replace what one source said, (K, 4)."""
        self.sources[source] = loglik
        self.loglik = log_normal(np.sum(list(self.sources.values()), axis=0))


@dataclass(slots=True)
class _Source:
    """Pictures of kinds: those with the numbers ``kinds``; their ``name`` in `TileEvidence`. ``twins`` (N, 2) are kinds
    without a picture and the pictured ones that they differ from by a pennant alone. ``asked``: number of looks at each
    square so far, and the best ``fit`` among them."""

    name: str
    pictures: PictureFit
    kinds: npt.NDArray[np.int64]
    other_print: float
    twins: npt.NDArray[np.int64]
    asked: Counter[Square] = field(default_factory=Counter)
    fit: float = -np.inf

    def tried(self, each: int) -> int:
        """The number of looks, of which each square's count so often at most."""
        return sum(min(count, each) for count in self.asked.values())


class TileSense:
    """Reads squares of pictures, whatever the artwork. ``kinds`` may lie on the table (ValueError for none); a
    ``tileset`` has pictures of some of them. Keep it for a whole game. Not thread-safe."""

    def __init__(self, kinds: Sequence[Tile], tileset: TileSet | None = None, *,
                 limits: SenseLimits | None = None) -> None:
        if not kinds:
            raise ValueError("no kind of tile was named that may lie on the table")
        self.kinds = tuple(kinds)
        self.limits = limits if limits is not None else SenseLimits()
        self.net = StructureNet()
        self.signs = SignNet() if len({signs_of(kind) for kind in self.kinds}) > 1 else None
        self._sources: list[_Source] = []
        self.use(tileset)

    def use(self, tileset: TileSet | None) -> None:
        """Read with these pictures from now on."""
        self._sources = []
        index = {kind.id: n for n, kind in enumerate(self.kinds)}
        twin = twins({kind.id: kind for kind in self.kinds}, sorted(index))
        for drawn in (False, True):  # our drawings are a separate source: hardly any edition's print matches them
            if drawn and told_apart(self.kinds):
                continue  # photographs read equally well without them (read_photos --untaught), and faster
            mine = [] if tileset is None else [s for s in tileset.specimens if s.drawn == drawn and s.tile in index]
            if mine and tileset is not None:
                part = TileSet(name=tileset.name, size_px=tileset.size_px, specimens=tuple(mine))
                self._sources.append(_Source(
                    name="drawings" if drawn else "pictures", pictures=PictureFit(part),
                    kinds=np.array([index[tile] for tile in part.ids]), other_print=self.limits.other_print[drawn],
                    twins=np.array([(index[a], index[b]) for pair in twin for a, b in (pair, pair[::-1])
                                    if a not in part.ids and b in part.ids], np.int64).reshape(-1, 2)))

    def said(self, bgr: Image, poses: Sequence[Array], *, turns: int = 1) -> StructureEstimate:
        """The network's output for the squares of these poses."""
        crops = [rectify(bgr, pose, NET_PX, MARGIN) for pose in poses]
        return self.net.ask(np.array(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8), turns=turns)

    def look(self, bgr: Image, poses: Mapping[Square, Array],
             said: StructureEstimate | None = None) -> dict[Square, TileEvidence]:
        """Evidence about every square of ``poses`` in a BGR picture. ``said`` is the network's output for them if it
        exists already, in their order and in all quarter turns."""
        order, limits = list(poses), self.limits
        if not order:
            return {}
        # a copy: rows are replaced below, and the caller's output belongs to its own poses
        said = self.said(bgr, [poses[at] for at in order], turns=4) if said is None else said.rows(range(len(order)))
        placed = [pulled(poses[at], said.corners[n]) for n, at in enumerate(order)]
        for _ in range(limits.pulls):
            off = np.abs(said.corners - UNIT).max(axis=(1, 2))
            again = np.flatnonzero((off > limits.placed) & (off < limits.astray) & (said.present > 0.2))
            if not len(again):
                break
            better = self.said(bgr, [placed[n] for n in again], turns=4)
            for row, n in enumerate(again):
                for name in ("sides", "yes", "no", "present", "corners"):
                    getattr(said, name)[n] = getattr(better, name)[row]
                placed[n] = pulled(placed[n], better.corners[row])
        plain = said.loglik(self.kinds)
        present = np.clip(said.present, 1e-6, 1 - 1e-6)
        there = np.clip(np.log(present / (1 - present)), -limits.there_most, limits.there_most)
        out = {at: TileEvidence(pose=placed[n] if there[n] > 0 else poses[at], there=float(there[n]),
                                loglik=self._doubted(plain[n]), seen=float(inside(bgr.shape, poses[at], 12).mean()),
                                structure=said.rows([n]))
               for n, at in enumerate(order)}
        for evidence in out.values():
            evidence.sources["network"] = evidence.loglik
        seen = {at: e for at, e in out.items() if e.there > 0 and e.seen > 0.7}
        open_to = dict(zip(order, plain, strict=True))
        self._by_signs(bgr, [e for at, e in seen.items() if lead(open_to[at]) < limits.doubtful])
        self._by_pictures(bgr, seen, open_to)
        return out

    def look_past(self, bgr: Image, found: Mapping[Square, TileEvidence],
                  hidden: Mapping[Square, npt.NDArray[np.bool_]]) -> None:
        """Weighs the evidence again where figures were found since, without the occluded area, (S, S) of the tile
        itself: pictures are matched without it, and the network's word is not taken for what nobody sees."""
        hides = {at: h for at, h in hidden.items() if at in found and h.any()}
        for source in self._sources:
            part = [at for at in hides if source.name in found[at].sources]
            if not part:
                continue
            seen = np.array([_seen_cells(hides[at], self.limits.covered) for at in part])
            for at, fits in zip(part, self._fits(source, bgr, [found[at].pose for at in part], seen), strict=True):
                found[at].weigh(source.name, fits)
        said = {at: e.structure.without(open_.sides, open_.cloister) for at, mask in hides.items()
                if (e := found[at]).structure is not None and (open_ := unseen(e.loglik, self.kinds, mask))}
        for at, plain in zip(said, together([*said.values()]).loglik(self.kinds) if said else (), strict=True):
            found[at].weigh("network", self._doubted(plain))

    def _doubted(self, loglik: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The network's likelihoods of one square with heavy tails: it may be wrong about the tile as a whole."""
        limits = self.limits
        return log_normal(np.logaddexp(np.log(1 - limits.mistaken) + log_normal(loglik),
                                       np.log(limits.mistaken) + log_normal(limits.vague * loglik)))

    def _by_signs(self, bgr: Image, found: Sequence[TileEvidence]) -> None:
        """Adds the evidence of signs on these squares, if kinds in play differ by them."""
        if self.signs is None or not found:
            return
        crops = np.array([rectify(bgr, e.pose, SIGN_PX / (1 + 2 * SIGN_MARGIN), SIGN_MARGIN) for e in found])
        for evidence, said in zip(found, loglik(self.signs.ask(crops), self.kinds), strict=True):
            evidence.sources["signs"] = np.repeat(said[:, None], 4, axis=1)
            evidence.loglik = log_normal(evidence.loglik + evidence.sources["signs"])

    def _by_pictures(self, bgr: Image, found: Mapping[Square, TileEvidence],
                     plain: Mapping[Square, npt.NDArray[np.float64]]) -> None:
        """Adds the evidence of pictures to the squares that the network leaves ambiguous."""
        limits = self.limits
        ask = [at for at, e in found.items() if lead(plain[at]) < limits.doubtful or e.there < limits.there_sure]
        for source in self._sources:
            left = ask
            while left:
                tried = source.tried(limits.each)
                trying = len(left) if source.fit >= limits.fitting else max(0, limits.tries - tried)
                part, left = left[:trying], left[trying:]
                if not part:  # enough squares, and none matched any of its pictures
                    break
                source.asked.update(part)
                for at, fits in zip(part, self._fits(source, bgr, [found[at].pose for at in part]), strict=True):
                    found[at].sources[source.name] = fits
                    found[at].loglik = log_normal(found[at].loglik + fits)

    def _fits(self, source: _Source, bgr: Image, poses: Sequence[Array],
              seen: FloatArray | None = None) -> npt.NDArray[np.float64]:
        """(N, K, 4) log-likelihoods of squares by a source's pictures, up to a constant. Each kind may match none of
        its pictures; one without a picture fits like an average wrong one. ``seen`` is as in `PictureFit.fits`."""
        fits = source.pictures.fits(bgr, poses, seen)
        if seen is None:
            source.fit = max(source.fit, float(fits.max()))
        part = 1.0 if seen is None else seen.mean(axis=(1, 2))[:, None, None]
        out = np.ones((len(poses), len(self.kinds), 4)) * (self.limits.not_pictured * part)
        out[:, source.kinds] = np.logaddexp(np.log(1 - source.other_print) + fits,
                                            np.log(source.other_print) + self.limits.at_worst * part)
        for kind, pictured in source.twins:
            share = self.limits.twin_print
            out[:, kind] = np.logaddexp(np.log(share) + out[:, pictured], np.log(1 - share) + out[:, kind])
        return out


def _seen_cells(hidden: npt.NDArray[np.bool_], covered: float) -> FloatArray:
    """(CELLS, CELLS) 1 for cells of a tile that are hardly occluded, 0 for the others."""
    share = cv2.resize(hidden.astype(np.float32), (CELLS, CELLS), interpolation=cv2.INTER_AREA)
    return np.asarray(share < covered, np.float32)


def lead(loglik: npt.NDArray[np.float64]) -> float:
    """Margin in nats of the best kind over the second best."""
    each = np.sort(loglik.max(axis=1))
    return float(each[-1] - each[-2]) if len(each) > 1 else np.inf


def log_normal(loglik: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log-likelihoods that sum to 1."""
    top = loglik.max()
    return np.asarray(loglik - top - np.log(np.exp(loglik - top).sum()))


def pulled(pose: Array, corners: Array) -> Array:
    """A pose moved and rotated, not stretched, to its detected corners (4, 2), in tiles."""
    off = corners - UNIT
    x, y = off.mean(axis=0)
    around = UNIT - 0.5
    turn = float((around[:, 0] * off[:, 1] - around[:, 1] * off[:, 0]).sum() / (around**2).sum())
    cos, sin = np.cos(turn), np.sin(turn)
    to_middle = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]])
    back = np.array([[1, 0, 0.5 + x], [0, 1, 0.5 + y], [0, 0, 1.0]])
    return np.asarray(pose @ back @ np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ to_middle, float)


def snapshot(bgr: Image, pose: Array, size_px: int) -> npt.NDArray[np.float32]:
    """A square's lightness (size, size) with mean 0 and norm 1, for comparison with later ones."""
    grey = cv2.cvtColor(rectify(bgr, pose, size_px), cv2.COLOR_BGR2GRAY).astype(np.float32)
    grey -= grey.mean()
    return np.asarray(grey / (np.linalg.norm(grey) + 1e-3), np.float32)
