"""Read one photograph of a table: every tile with its square and quarter turn, every figure with its feature.

Keypoints find the board, the print's own colours tell where it ends, correlation, sides, pennants, neighbours and the
box's contents tell what each tile is. Nothing is decided silently: each reading has its probability and runners-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile, catalogue
from vision.evidence import covered, foreign, learn_sides, palette, shield_loglik, shields, side_letters, strips, twins
from vision.figures import FigureReading, Rejected, figure_like, find_figures
from vision.find import BoardFinder, Found
from vision.frames import Image
from vision.joint import marginals
from vision.lattice import UNIT, Array, Lattice, apply, inside, neighbours, rectify
from vision.settle import FINE_PX, Settled, Settler
from vision.tiles import TileCandidate
from vision.tileset import TileSet
from vision.view import View

LONG_SIDE_PX = 2000  # photographs are read at this size: a tile is then 60 to 250 px wide
TEMPERATURE = 0.04  # correlation that makes a kind e times as likely
SIDES = 1.0  # weight of what the sides look like: it repeats part of what correlation says
STRUCTURE = 1.0  # weight of what the network says beside taught pictures
DOUBTFUL = 10.0  # log-odds of the best kind and turn against the next other one below which it is asked
PRINTED = 0.42  # of a square must have the print's colours for a tile to lie there
FITTING = 0.2  # correlation below which even the print's colours do not make a tile
PLAIN = 0.42  # correlation that needs no colours to vouch for it
TWIN = 0.15  # correlation by which copies of twins differ in their drawing whether or not they bear a pennant
BARE = 0.97  # of a tile must show for it to say what others of its kind look like
OWN = 0.6  # the same where only our own drawings are known
ALIKE = 0.7  # of the tiles that lie there must look like the pictures for these to be of the same artwork
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoReading:
    """What a photograph shows. ``lattice`` is in its pixels; None when no board was found. ``rejected`` is what was
    looked at and not taken for a tile or a figure."""

    tiles: tuple[TileReading, ...]
    figures: tuple[FigureReading, ...]
    issues: tuple[str, ...]
    lattice: Lattice | None = None
    rejected: tuple[Rejected, ...] = ()

    def to_json(self) -> dict[str, object]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    """A board that was found: where its tiles lie, what each may be, and where colours are not the print's (255)."""

    lattice: Lattice
    squares: dict[Square, Settled]
    strange: npt.NDArray[np.uint8]
    evidence: Mapping[Square, npt.NDArray[np.float64]]
    refused: Mapping[Square, str]  # squares beside them that were looked at, and why no tile lies there
    taught: bool = True


class PhotoReader:
    """Reads photographs with one tile set. Keep it for several photographs: the pictures are prepared once."""

    def __init__(self, tileset: TileSet, *, counts: Mapping[str, int] | None = None) -> None:
        self.tileset = tileset
        self.counts = dict(counts or {})
        self.kinds: tuple[Tile, ...] = tuple(catalogue()[tile] for tile in tileset.ids)
        self._finder = BoardFinder(self.kinds, tileset)
        self._settler = Settler(tileset)
        self._twins = twins(catalogue(), tileset.ids)
        self._shields = shields(tileset, self._twins)
        self._letters = [[side_letters(kind, rot) for rot in range(4)] for kind in self.kinds]

    def read(self, bgr: Image, *, figures: bool = True, colours: Iterable[str] | None = None,
             view: View | None = None) -> PhotoReading:
        """Read one BGR photograph. ``colours`` are the players' (default: all that figures come in); with a ``view``
        the lens is straightened first, and what is reported is in the photograph's own pixels all the same."""
        if view is not None:
            reading = self._read(view.straighten(bgr), figures, colours, view)
            return _bent(reading, view) if view.bends else reading
        return self._read(bgr, figures, colours, None)

    def _read(self, bgr: Image, figures: bool, colours: Iterable[str] | None, view: View | None) -> PhotoReading:
        scale = min(1.0, LONG_SIDE_PX / max(bgr.shape[:2]))
        photo = bgr if scale == 1.0 else cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        found = self._finder.find(photo)
        board = None if found is None else self._by_pictures(photo, found) or self._by_structure(photo, found)
        if board is None:
            return PhotoReading(tiles=(), figures=(), issues=("no board was found: nothing looks like tiles",))
        lattice, squares, strange = board.lattice, board.squares, board.strange
        beliefs = marginals(board.evidence, self.kinds, self.counts)
        issues = []
        grid = np.diag([1 / scale, 1 / scale, 1.0]) @ lattice.grid
        cut = [at for at, s in squares.items() if s.visible < COMPLETE]
        if cut:
            issues.append(f"{len(cut)} tiles reach over the photograph's border and are not read")
        tiles = []
        for at in sorted(squares.keys() - set(cut), key=lambda at: (at[1], at[0])):
            pose = np.diag([1 / scale, 1 / scale, 1.0]) @ squares[at].pose
            tiles.append(self._reading(at, squares[at], beliefs[at], pose))
        doubtful = sum(t.confidence < 0.8 for t in tiles)
        if doubtful:
            issues.append(f"{doubtful} of {len(tiles)} tiles are doubtful")
        refused = [(lattice.predict(at), f"empty, {why}") for at, why in board.refused.items()]
        refused += [(squares[at].pose, "over the border") for at in cut]
        rejected = tuple(Rejected(outline_px=apply(pose, UNIT) / scale, why=why) for pose, why in refused)
        standing: tuple[FigureReading, ...] = ()
        if figures:
            best = {t.at: (t.tile, t.rot) for t in tiles}
            standing, none = find_figures(photo, strange, lattice, {at: squares[at] for at in best}, best,
                                       self._bare(board, best), scale=scale, colours=colours, view=view)
            rejected += none
        return PhotoReading(tiles=tuple(tiles), figures=standing, issues=tuple(issues), rejected=rejected,
                            lattice=Lattice(grid=grid, shifts=dict(lattice.shifts)))

    def _by_pictures(self, photo: Image, found: Found) -> _Board | None:
        """The board by what the tile set's pictures look like, or None when it does not look like them."""
        lattice = Lattice(grid=found.lattice.grid, shifts=dict(found.lattice.shifts))
        strange = self._strange(photo, lattice)
        squares, refused = self._spread(photo, lattice, strange)
        like = OWN if self.tileset.drawn else PLAIN  # what others drew looks somewhat like our drawings too
        if len(squares) < ALIKE * len(found.poses) or np.median([s.best for s in squares.values()]) < like:
            return None
        evidence = self._evidence(squares)
        doubtful = [at for at in squares if _lead(evidence[at], self._letters) < DOUBTFUL]
        said = self._finder.ask(photo, (squares[at].pose for at in doubtful), turns=4).loglik(self.kinds)
        for n, at in enumerate(doubtful):
            evidence[at] += STRUCTURE * said[n]
        return _Board(lattice=lattice, squares=squares, strange=strange, evidence=evidence, refused=refused)

    def _by_structure(self, photo: Image, found: Found) -> _Board:
        """The board by what every edition shares, whoever drew it."""
        common = np.log([[max(1, self.counts.get(kind.id, 1))] for kind in self.kinds])
        squares, evidence = {}, {}
        for at, pose in found.poses.items():
            loglik = found.evidence[at] + common
            evidence[at] = loglik
            likely = np.exp(loglik - loglik.max())
            seen = inside(photo.shape, pose, FINE_PX)
            squares[at] = Settled(pose=pose, scores=(likely / likely.sum()).astype(np.float32),
                                  crop=rectify(photo, pose, FINE_PX), weight=seen, visible=float(seen.mean()),
                                  printed=1.0)
        whole = [s for s in squares.values() if s.visible >= COMPLETE] or list(squares.values())
        strange = _foreign_to(photo, found.lattice, squares, whole, ~figure_like([s.crop for s in whole]))
        for settled in squares.values():
            settled.weight = settled.weight * covered(rectify(strange, settled.pose, FINE_PX), FINE_PX)
        return _Board(lattice=found.lattice, squares=squares, strange=strange, evidence=evidence,
                      refused={at: f"a tile {p:.0%}" for at, p in found.refused.items()}, taught=False)

    def _strange(self, photo: Image, lattice: Lattice) -> npt.NDArray[np.uint8]:
        """255 where the photograph's colours are not those of the board's print."""
        sure = {at: self._settler.settle(photo, lattice.predict(at), reach=0.06, tries=1) for at in lattice.shifts}
        # A small board needs all its tiles to show every colour of its print; figures on some of them are outvoted.
        best = sorted(sure.values(), key=lambda s: -s.best)[:max(14, round(0.4 * len(sure)))]
        best = [s for s in best if s.best > 0.75 * float(np.median([b.best for b in best]))] or best
        return _foreign_to(photo, lattice, sure, best)

    def _spread(self, photo: Image, lattice: Lattice, strange: npt.NDArray[np.uint8],
                ) -> tuple[dict[Square, Settled], dict[Square, str]]:
        """Every square with a tile, from the sighted ones outwards, and those that have none. Adds what it finds to the
        lattice."""
        squares: dict[Square, Settled] = {}
        refused: dict[Square, str] = {}
        waiting = sorted(lattice.shifts, key=lambda at: (at not in lattice.shifts, at))
        asked = set(waiting)
        while waiting:
            for at in waiting:
                settled = self._settler.settle(photo, lattice.predict(at), reach=0.1, strange=strange)
                if not self._is_tile(settled) and len(neighbours([at]) & squares.keys()) >= 2:
                    # Glare washes colours out but leaves the drawing: take it as it is seen.
                    bare = self._settler.settle(photo, lattice.predict(at), reach=0.06)
                    if bare.visible > COMPLETE and bare.best > PLAIN:
                        bare.printed = 1.0
                        settled = bare
                if self._is_tile(settled):
                    squares[at] = settled
                    lattice.shifts[at] = lattice.shift_of(at, settled.pose)
                else:
                    lattice.shifts.pop(at, None)
                    if settled.visible > 0.3:
                        refused[at] = f"{settled.printed:.0%} print"
            waiting = sorted(neighbours(squares) - asked)
            asked |= set(waiting)
        return squares, refused

    @staticmethod
    def _is_tile(settled: Settled) -> bool:
        whole = settled.visible >= COMPLETE
        return (settled.visible > 0.3 and settled.printed > (PRINTED if whole else 0.7)
                and settled.best > (FITTING if whole else PLAIN))

    def _evidence(self, squares: Mapping[Square, Settled]) -> dict[Square, npt.NDArray[np.float64]]:
        """(K, 4) log-likelihoods of every square by itself: correlation, sides, pennants."""
        order = list(squares)
        crops = np.array([squares[at].crop for at in order])
        weight = np.array([squares[at].weight for at in order])
        features, seen = strips(crops, weight)
        evidence = {at: squares[at].scores.astype(np.float64) / TEMPERATURE for at in order}
        sure = sorted(range(len(order)), key=lambda n: -squares[order[n]].best)[:max(4, round(0.7 * len(order)))]
        taught, letters = [], []
        for n in sure:
            kind, rot = np.unravel_index(int(squares[order[n]].scores.argmax()), (len(self.kinds), 4))
            for side, letter in enumerate(self._letters[kind][rot]):
                if seen[n, side] > 0.9:
                    taught.append(features[n, side])
                    letters.append(letter)
        reader = learn_sides(np.array(taught), letters) if taught else None
        if reader is not None:
            logs = reader.loglik(features, seen)
            column = {letter: n for n, letter in enumerate(reader.letters)}
            for n, at in enumerate(order):
                for kind, rot in np.ndindex(len(self.kinds), 4):
                    evidence[at][kind, rot] += SIDES * sum(
                        logs[n, side, column[x]] for side, x in enumerate(self._letters[kind][rot]) if x in column)
        for at in order:
            self._weigh_pennants(squares[at], evidence[at])
        return evidence

    def _weigh_pennants(self, settled: Settled, evidence: npt.NDArray[np.float64]) -> None:
        """Let the shield decide between two kinds that differ by it alone, unless correlation is far apart."""
        index = self._settler.fine.index
        for bearer, plain in self._twins:
            shield = self._shields.get(bearer)
            if shield is None:
                continue
            a, b = index[bearer], index[plain]
            for rot in range(4):
                first, second = evidence[a, rot], evidence[b, rot]
                if max(first, second) < evidence.max() - 12:
                    continue
                upright = np.ascontiguousarray(np.rot90(settled.crop, rot))
                weight = np.ascontiguousarray(np.rot90(settled.weight, rot))
                odds = shield_loglik(shield, upright, weight)
                apart = float(first - second)
                odds += np.sign(apart) * max(0.0, abs(apart) - TWIN / TEMPERATURE)
                evidence[a, rot] = max(first, second) + min(odds, 0.0)
                evidence[b, rot] = max(first, second) + min(-odds, 0.0)

    def _bare(self, board: _Board, best: Mapping[Square, tuple[str, int]]) -> dict[Square, Image]:
        """What each tile looks like without a figure: its taught picture, or else the surest other tile of its kind on
        which nothing lies."""
        if board.taught:
            return {at: self._picture(board.squares[at], *best[at]) for at in best}
        order = sorted((at for at in best if board.squares[at].weight.mean() > BARE),
                       key=lambda at: -board.squares[at].best)
        plain = np.full((FINE_PX, FINE_PX, 3), 128, np.uint8)
        pictures = {}
        for at, (tile, rot) in best.items():
            other = next((o for o in order if o != at and best[o][0] == tile), None)
            pictures[at] = plain if other is None else np.ascontiguousarray(
                np.rot90(board.squares[other].crop, best[other][1] - rot))
        return pictures

    def _picture(self, settled: Settled, tile: str, rot: int) -> Image:
        """The specimen of a kind that a square shows best, turned as it lies."""
        scores = self._settler.fine.score_specimens(settled.crop[None], settled.weight[None])[0]
        bgr = self.tileset.specimens[self._settler.fine.specimen(scores, tile, rot)].bgr
        return np.ascontiguousarray(np.rot90(bgr, -rot))

    def _reading(self, at: Square, settled: Settled, belief: npt.NDArray[np.float64], pose: Array) -> TileReading:
        order = np.argsort(-belief, axis=None)[:8]
        candidates = tuple(
            TileCandidate(tile=self.kinds[n // 4].id, rot=int(n % 4), loglik=float(belief.flat[n]),
                          score=float(settled.scores.flat[n])) for n in order)
        first = candidates[0]
        same = _shape(catalogue()[first.tile], first.rot)
        confidence = sum(np.exp(belief[k, r]) for k, r in np.ndindex(len(self.kinds), 4)
                         if _shape(self.kinds[k], r) == same)
        return TileReading(tile=first.tile, at=at, rot=first.rot, confidence=float(min(confidence, 1.0)),
                           corners_px=apply(pose, UNIT), candidates=candidates)


def _lead(evidence: npt.NDArray[np.float64], letters: Sequence[Sequence[str]]) -> float:
    """Log-odds of the likeliest reading against the next that is another tile or shows other sides."""
    best = int(evidence.argmax())
    kind, rot = divmod(best, 4)
    same = [n for n in range(4) if letters[kind][n] == letters[kind][rot]]
    rest = evidence.copy()
    rest[kind, same] = -np.inf
    return float(evidence.flat[best] - rest.max())


def _foreign_to(photo: Image, lattice: Lattice, squares: Iterable[Square], best: Iterable[Settled],
                free: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.uint8]:
    """255 where a colour is not of the print that the ``best`` tiles show; around all ``squares`` lies the table."""
    board = np.zeros(photo.shape[:2], np.uint8)
    wide = 1.3 * (UNIT - 0.5) + 0.5
    for at in squares:
        cv2.fillConvexPoly(board, np.round(apply(lattice.predict(at), wide)).astype(np.int32), 1)
    return foreign(photo, palette([s.crop for s in best], photo[board == 0][::7], free))


def read_photo(bgr: Image, tileset: TileSet, *, counts: Mapping[str, int] | None = None, figures: bool = True,
               colours: Iterable[str] | None = None, view: View | None = None) -> PhotoReading:
    """Read one photograph (H, W, 3 BGR uint8). ``counts``: how many tiles of each kind the boxes hold."""
    return PhotoReader(tileset, counts=counts).read(bgr, figures=figures, colours=colours, view=view)


def _bent(reading: PhotoReading, view: View) -> PhotoReading:
    """A reading of a straightened photograph in the pixels of the photograph itself. The lattice stays straight."""
    return replace(reading,
                   tiles=tuple(replace(t, corners_px=view.bend(t.corners_px)) for t in reading.tiles),
                   figures=tuple(replace(f, px=tuple(view.bend([f.px])[0].tolist()),
                                         outline_px=view.bend(f.outline_px)) for f in reading.figures),
                   rejected=tuple(replace(r, outline_px=view.bend(r.outline_px)) for r in reading.rejected))


def box_counts(products: Iterable[str]) -> dict[str, int]:
    """How many tiles of each kind these boxes hold together."""
    wanted = frozenset(products)
    return {t.id: t.count for t in catalogue().values() if t.product in wanted}


def _shape(tile: Tile, rot: int) -> tuple[object, ...]:
    """What the rules see of a turned tile: equal for turns that make no difference."""
    from scoring.tiles import where

    return (tuple(sorted((s.kind, where(s, rot), s.pennants, s.inn, s.cathedral, s.goods, s.princess)
                         for s in tile.segments)), tuple(sorted(tile.flags)))


__all__ = ["FINE_PX", "PhotoReader", "PhotoReading", "TileReading", "box_counts", "read_photo"]
