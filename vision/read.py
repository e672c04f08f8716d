"""Read one photograph of a table: every tile with its square and quarter turn, every figure with its feature.

The finder locates the tiles, the senses classify each, the figure reader detects who stands on them; neighbours, the
figures and the box's contents are further evidence. Nothing is decided silently: each reading has its probability and
runners-up.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile, catalogue
from vision.figures import Seen, find_figures
from vision.find import BoardFinder
from vision.frames import Image
from vision.images import reduced
from vision.joint import marginals
from vision.lattice import UNIT, Array, Lattice, apply
from vision.lens_distortion import distortion_of
from vision.occupancy import FigureReading, Rejected, hidden_by, informed, occupied
from vision.senses import TileEvidence, TileSense
from vision.stacks import Kind, Stacks
from vision.tiles import TileCandidate
from vision.tileset import TileSet
from vision.view import View

LONG_SIDE_PX = 2000  # photographs are read at this size: a tile is then 60 to 250 px wide
COMPLETE = 0.78  # of a tile must lie in the photograph for it to be reported


@dataclass(frozen=True, slots=True, kw_only=True)
class TileReading:
    """One tile: ``corners_px`` (4, 2) of the board square's corners north-west, north-east, south-east, south-west."""

    tile: str
    at: Square
    rot: int
    confidence: float
    corners_px: Array
    candidates: tuple[TileCandidate, ...] = ()


class TileJson(TypedDict):
    """A tile that was read."""

    tile: str
    at: list[int]
    rot: int
    confidence: float
    corners_px: list[list[float]]


class FigureJson(TypedDict):
    """A figure that was read."""

    colour: str
    figure: str
    at: list[int]
    feature: str
    where: str
    confidence: float
    px: list[float]


class ReadingJson(TypedDict):
    """The document of ``bastide read --json``."""

    tiles: list[TileJson]
    figures: list[FigureJson]
    issues: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoReading:
    """What a photograph shows. ``lattice`` is in its pixels; None when no board was found. ``rejected`` are candidates
    for tiles and figures that were not accepted, ``seconds`` the time of each stage. ``evidence`` is the evidence of
    each square, ``present`` the probability of a tile there, also on squares beside the board."""

    tiles: tuple[TileReading, ...]
    figures: tuple[FigureReading, ...]
    issues: tuple[str, ...]
    lattice: Lattice | None = None
    rejected: tuple[Rejected, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    evidence: Mapping[Square, TileEvidence] = field(default_factory=dict, compare=False, repr=False)
    present: Mapping[Square, float] = field(default_factory=dict, compare=False, repr=False)

    def to_json(self) -> ReadingJson:
        """The document of ``bastide read --json``."""
        return {
            "tiles": [{"tile": t.tile, "at": list(t.at), "rot": t.rot, "confidence": round(t.confidence, 4),
                       "corners_px": [[round(float(x), 1), round(float(y), 1)] for x, y in t.corners_px]}
                      for t in self.tiles],
            "figures": [{"colour": f.colour, "figure": f.figure, "at": list(f.at), "feature": f.feature,
                         "where": f.where, "confidence": round(f.confidence, 4),
                         "px": [round(f.px[0], 1), round(f.px[1], 1)]} for f in self.figures],
            "issues": list(self.issues),
        }


class PhotoReader:
    """Reads photographs with one tile set. Reuse it for several photographs: the pictures are prepared once, and their
    similarity to the table's tiles is learned."""

    def __init__(self, tileset: TileSet, *, counts: Mapping[str, int] | None = None,
                 stacks: Sequence[Kind] = ()) -> None:
        self.tileset = tileset
        self.counts = dict(counts or {})
        self.kinds: tuple[Tile, ...] = tuple(catalogue()[tile] for tile in sorted({*tileset.ids, *self.counts}))
        shapes = [kind.signature(rot) for kind in self.kinds for rot in range(4)]
        self._shapes = np.array([shapes.index(own) for own in shapes])  # by reading: index of the first equivalent one
        self._stacks = tuple(stacks)
        self._finder = BoardFinder(tileset)
        self._sense = TileSense(self.kinds, tileset)

    def read(self, bgr: Image, *, figures: bool = True, colours: Iterable[str] | None = None,
             view: View | None = None) -> PhotoReading:
        """Read one BGR photograph. ``colours`` are the players' (default: all that figures come in); with a ``view``
        the photograph is undistorted first, and results are still in its own pixels."""
        if view is not None:
            reading = self._read(view.straighten(bgr), figures, colours, view)
            return _bent(reading, view) if view.bends else reading
        return self._read(bgr, figures, colours, None)

    def _read(self, bgr: Image, figures: bool, colours: Iterable[str] | None, view: View | None) -> PhotoReading:
        scale = min(1.0, LONG_SIDE_PX / max(bgr.shape[:2]))
        photo = reduced(bgr, LONG_SIDE_PX)
        clock = _Clock()
        found = self._finder.find(photo, aslant=True)
        clock.lap("find the board")
        if found is None:
            return PhotoReading(tiles=(), figures=(), issues=("no board was found: nothing looks like tiles",),
                                seconds=clock.seconds)
        squares = self._sense.look(photo, found.asked, found.said)
        clock.lap("what each tile is")
        whole = {at: e for at, e in squares.items() if e.seen >= COMPLETE}
        seen: dict[Square, tuple[Seen, ...]] = {}
        if figures:
            seen = find_figures(photo, {at: e.pose for at, e in whole.items()}, colours=colours, view=view)
            clock.lap("figures")
            if self._stacks:
                poses, piles = {at: e.pose for at, e in whole.items()}, Stacks(self._stacks, view)
                loglik = {at: e.loglik for at, e in whole.items()}
                looks = piles.look(photo, poses, loglik, self.kinds, poses, seen)
                seen = piles.past_blocks(photo, poses, looks, seen, poses)
                clock.lap("piles")
        hidden = hidden_by(seen)
        self._sense.look_past(photo, squares, hidden)
        common = np.log([[max(1, self.counts.get(kind.id, 1))] for kind in self.kinds])
        evidence = {at: e.loglik + common for at, e in squares.items()}
        beliefs = marginals(informed(evidence, self.kinds, seen, hidden), self.kinds, self.counts)
        clock.lap("all squares together")
        back = np.diag([1 / scale, 1 / scale, 1.0])
        tiles = tuple(self._reading(at, whole[at], beliefs[at], back @ whole[at].pose, found.present[at])
                      for at in sorted(whole, key=lambda at: (at[1], at[0])))
        issues = []
        if cut := squares.keys() - whole.keys():
            issues.append(f"{len(cut)} tiles reach over the photograph's border and are not read")
        if view is None and (bend := distortion_of({at: apply(found.asked[at], found.said.corners[n])
                                              for n, at in enumerate(found.asked)}, photo.shape[1::-1])) is not None:
            issues.append(f"the lens bends the picture by about {bend.corner_px / scale:.0f} px at its corners: tiles "
                          f"lie {bend.now:.0%} of their side off a straight grid, and {bend.straight:.0%} were the "
                          "lens known; bastide calibrate lens makes it known")
        if doubtful := sum(t.confidence < 0.8 for t in tiles):
            issues.append(f"{doubtful} of {len(tiles)} tiles are doubtful")
        refused = [(found.lattice.predict(at), f"empty, a tile {p:.0%}") for at, p in found.refused.items()]
        refused += [(squares[at].pose, "over the border") for at in cut]
        rejected = tuple(Rejected(outline_px=apply(pose, UNIT) / scale, why=why) for pose, why in refused)
        standing: tuple[FigureReading, ...] = ()
        if figures:
            standing, none = occupied(seen, self.kinds, beliefs, scale=scale)
            rejected += none
        return PhotoReading(tiles=tiles, figures=standing, issues=tuple(issues), rejected=rejected,
                            lattice=Lattice(grid=back @ found.lattice.grid, shifts=dict(found.lattice.shifts)),
                            seconds=clock.seconds, evidence=squares, present={**found.present, **found.refused})

    def _reading(self, at: Square, square: TileEvidence, belief: npt.NDArray[np.float64], pose: Array,
                 present: float) -> TileReading:
        order = np.argsort(-belief, axis=None)[:8]
        candidates = tuple(
            TileCandidate(tile=self.kinds[n // 4].id, rot=int(n % 4), loglik=float(belief.flat[n]),
                          score=float(square.loglik.flat[n])) for n in order)
        first = candidates[0]
        same = self._shapes == self._shapes[order[0]]
        confidence = float(np.exp(belief.ravel()[same]).sum()) * present
        return TileReading(tile=first.tile, at=at, rot=first.rot, confidence=min(confidence, 1.0),
                           corners_px=apply(pose, UNIT), candidates=candidates)


class _Clock:
    """Times of the stages of one reading."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage], self._last = now - self._last, now


def read_photo(bgr: Image, tileset: TileSet, *, counts: Mapping[str, int] | None = None, figures: bool = True,
               colours: Iterable[str] | None = None, view: View | None = None,
               stacks: Sequence[Kind] = ()) -> PhotoReading:
    """Read one photograph (H, W, 3 BGR uint8). ``counts``: how many tiles of each kind the boxes hold; ``stacks``: the
    blocks that may be piled up on their tiles, which are no figures."""
    return PhotoReader(tileset, counts=counts, stacks=stacks).read(bgr, figures=figures, colours=colours, view=view)


def _bent(reading: PhotoReading, view: View) -> PhotoReading:
    """A reading of an undistorted photograph in the pixels of the photograph itself. The lattice stays undistorted."""
    return replace(reading,
                   tiles=tuple(replace(t, corners_px=view.bend(t.corners_px)) for t in reading.tiles),
                   figures=tuple(replace(f, px=tuple(view.bend([f.px])[0].tolist()),
                                         outline_px=view.bend(f.outline_px)) for f in reading.figures),
                   rejected=tuple(replace(r, outline_px=view.bend(r.outline_px)) for r in reading.rejected))


def box_counts(products: Iterable[str]) -> dict[str, int]:
    """How many tiles of each kind these boxes hold together."""
    wanted = frozenset(products)
    return {t.id: t.count for t in catalogue().values() if t.product in wanted}


__all__ = ["PhotoReader", "PhotoReading", "TileReading", "box_counts", "read_photo"]
