"""Finds a start board of several squares, which is one piece of cardboard without lines between its squares: the
outlines in a picture that are a square, and of them the one along whose sides the network sees the board's edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import EDGES, STEP, Square
from vision.background import appearance, colour_distance
from vision.frames import Image
from vision.lattice import UNIT, Array, Lattice, apply, area, inside, rectify
from vision.senses import TileEvidence, TileSense, log_normal
from vision.structure import CROP_PX, LETTERS, MARGIN, StructureEstimate, StructureNet

_RECT_PX, _STEP_PX = 320, 6  # side of a flattened board, and how far inside and outside are compared
_TILE_PX = CROP_PX / (1 + 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Lengths are parts of the picture's long side, weights nats. Chosen on simulated tables."""

    long_px: int = 1024  # to which a larger picture is reduced for its outlines
    least: float = 0.07  # shortest side of a board
    oblong: float = 1.5  # most that one side is longer than another
    corners: int = 7  # most of an outline, some of whose corners may be cut off
    filled: float = 0.8  # part of the whole square that is left then
    straight: tuple[float, ...] = (0.04, 0.015)  # parts of its length by which an outline deviates from its corners
    apart: tuple[float, ...] = (8.0, 14.0, 22.0, 32.0)  # Lab distances from the table at which outlines are traced
    candidates: int = 8
    within: tuple[float, ...] = (0.08, 0.04, 0.02)  # parts of a side within which its border is looked for, in rounds
    cut: float = 0.06  # part of its side by which a corner that print has cut off is away from where the others say
    agreed: float = -0.4  # least mean log-likelihood of an edge
    plain: float = -0.1  # mean log-likelihood of an edge from which no other outline is tried
    inside: float = 0.9  # part of a square that must be in the picture where the board is looked for among tiles
    turned: float = 4.0  # least margin over the board turned otherwise


_NOT_THIS = -20.0  # log-likelihood of other tiles on a square of a start board
_LIGHT, _ALIKE = 20.0, 16.0  # Lab: most that the light changes between looks, and distance within one place's print
_COVERED, _PLAIN = 0.6, 0.9  # parts of a square: less is covered by an arm, more is free of anything (chosen)


@dataclass(slots=True)
class StartSquares:
    """The squares of a start board that was found: by square its tile and quarter turns. Keep it for a whole game: it
    learns what they look like. Those ``covered`` had something on or over them in the last look."""

    readings: Mapping[Square, tuple[str, int]] = field(default_factory=dict)
    covered: set[Square] = field(default_factory=set)
    _cells: dict[Square, npt.NDArray[np.float32]] = field(default_factory=dict)  # (8, 8, 4) of each, uncovered

    def evidence(self, bgr: Image, sense: TileSense, at: Square, pose: Array) -> TileEvidence:
        """The evidence about a square: the board was found as a whole, and lies where it lies. Less of the square is
        seen where an arm covers it; a piece or two are too small to matter."""
        names, (tile, rot) = [kind.id for kind in sense.kinds], self.readings[at]
        loglik = np.full((len(names), 4), _NOT_THIS)
        loglik[names.index(tile), rot] = 0.0
        part = self._uncovered(at, appearance(bgr, {at: pose})[at])
        return TileEvidence(pose=pose, there=sense.limits.there_most, loglik=log_normal(loglik),
                            seen=float(inside(bgr.shape, pose, 12).mean()) * (part if part < _COVERED else 1.0))

    def _uncovered(self, at: Square, now: npt.NDArray[np.float32]) -> float:
        """The part of a square that looks as it did before, but for the light."""
        known = self._cells.setdefault(at, now)
        light = np.clip(np.median(now - known, axis=(0, 1)), -_LIGHT, _LIGHT).astype(np.float32)
        part = float((colour_distance(now, known + light) < _ALIKE).mean())
        self.covered.add(at)
        if part > _PLAIN:
            self._cells[at] = now
            self.covered.discard(at)
        return part


@dataclass(frozen=True, slots=True)
class StartBoard:
    """The letters of a board's edges by its squares as the game has them, north first. ``square`` boards only."""

    edges: Mapping[Square, str]

    @property
    def side(self) -> int:
        return max(at[0] for at in self.edges) - min(at[0] for at in self.edges) + 1

    def outside(self) -> list[tuple[Square, int, str]]:
        """The edges along its sides: the square, the number of its side, the letter."""
        return [(at, n, letter) for at, letters in self.edges.items() for n, letter in enumerate(letters)
                if (at[0] + STEP[EDGES[n]][0], at[1] + STEP[EDGES[n]][1]) not in self.edges]


class StartBoardFinder:
    """Finds one board. Not thread-safe."""

    def __init__(self, board: StartBoard, limits: Limits | None = None) -> None:
        self.board, self.limits = board, limits or Limits()
        self._net = StructureNet()

    def find(self, bgr: Image, tiles: Callable[[], Lattice | None] = lambda: None) -> Lattice | None:
        """The board's lattice, its squares named as in the game, or None. ``tiles`` finds those of the picture, and is
        asked where no outline is plainly the board's: other tiles may touch it."""
        best: tuple[float, Lattice] | None = None
        for rough in self._outlines(bgr):
            for whole in (rough, *_completed(rough, self.limits.cut)):
                found = self._sharpest(bgr, whole, self.limits.within)
                if found is not None and (best is None or found[0] > best[0]):
                    best = found
                if best is not None and best[0] > self.limits.plain:
                    return best[1]
        lying = tiles()
        found = self._among(bgr, lying) if lying is not None and lying.shifts else None
        if found is not None and (best is None or found[0] > best[0]):
            best = found
        return best[1] if best is not None else None

    def _sharpest(self, bgr: Image, corners: Array, within: Sequence[float]) -> tuple[float, Lattice] | None:
        for part in within:
            corners = _sharpened(bgr, corners, part)
        return self._read(bgr, corners)

    def _among(self, bgr: Image, tiles: Lattice) -> tuple[float, Lattice] | None:
        """As `_read`, for the place among tiles along whose sides the network sees the board's edges."""
        side = self.board.side
        across, down = (range(min(places) - side, max(places) + side + 1) for places in zip(*tiles.shifts, strict=True))
        poses = {at: tiles.predict(at) for at in product(across, down)}
        poses = {at: pose for at, pose in poses.items() if inside(bgr.shape, pose, 12).mean() > self.limits.inside}
        if not poses:
            return None
        said = self._net.ask(np.array([rectify(bgr, pose, _TILE_PX, MARGIN) for pose in poses.values()]), turns=4)
        rows = {at: n for n, at in enumerate(poses)}
        ranked = []
        for x, y in poses:
            squares = {(dx, dy): rows.get((x + dx, y + dy)) for dx in range(side) for dy in range(side)}
            here = {at: row for at, row in squares.items() if row is not None}
            if len(here) == len(squares):
                ranked.append((max(self._fits(said, here))[0], (x, y)))
        if not ranked or max(ranked)[0] < self.limits.agreed:
            return None
        x, y = max(ranked)[1]
        inner = [(x + dx, y + dy) for dx in range(side) for dy in range(side)]
        steps = np.concatenate([UNIT + at for at in inner]).astype(np.float32)
        grid, _ = cv2.findHomography(steps, np.concatenate([apply(poses[at], UNIT) for at in inner]).astype(np.float32))
        corners = apply(np.asarray(grid, float), UNIT * side + (x, y))
        found = self._sharpest(bgr, corners, self.limits.within[1:]) or self._read(bgr, corners)
        if found is None:
            return None
        worth, lattice = found
        back = np.linalg.inv(lattice.grid)
        for at in tiles.shifts.keys() - set(inner):
            pose = tiles.predict(at)
            u, v = np.floor(apply(back @ pose, [(0.5, 0.5)])[0]).astype(int)
            if (there := (int(u), int(v))) not in lattice.board:
                lattice.shifts[there] = _squarely(lattice, there, pose)
        return worth, lattice

    def _fits(self, said: StructureEstimate, rows: Mapping[Square, int]) -> Iterator[tuple[float, int]]:
        """By quarter turns of squares (0, 0) to (side - 1, side - 1) against the game, the mean log-likelihood of the
        board's edges. ``rows`` are the squares' in what the network said."""
        side = self.board.side
        left, top = (min(at[axis] for at in self.board.edges) for axis in (0, 1))
        for turns in range(4):
            logliks = []
            for (x, y), n, letter in self.board.outside():
                dx, dy = x - left, y - top
                for _ in range(turns):
                    dx, dy = side - 1 - dy, dx
                logliks.append(float(said.sides[rows[dx, dy], (n + turns) % 4, LETTERS.index(letter)]))
            yield float(np.mean(logliks)), turns

    def _read(self, bgr: Image, corners: Array) -> tuple[float, Lattice] | None:
        """How well the board fits an outline's corners (4, 2), clockwise, and its lattice."""
        limits, side = self.limits, self.board.side
        grid = cv2.getPerspectiveTransform((UNIT * side).astype(np.float32), corners.astype(np.float32))
        squares = sorted({at for at, _, _ in self.board.outside()})
        left, top = (min(at[axis] for at in self.board.edges) for axis in (0, 1))
        crops = {(x, y): rectify(bgr, grid @ _step(x, y), _TILE_PX, MARGIN) for x in range(side) for y in range(side)
                 if x in (0, side - 1) or y in (0, side - 1)}
        said = self._net.ask(np.array(list(crops.values())), turns=4)
        rows = {at: n for n, at in enumerate(crops)}
        ranked = list(self._fits(said, rows))
        ranked.sort(reverse=True)
        worth, turns = ranked[0]
        if worth < limits.agreed or (worth - ranked[1][0]) * len(self.board.outside()) < limits.turned:
            return None
        named = np.roll(corners, -turns, axis=0)
        grid = cv2.getPerspectiveTransform((UNIT * side + (left, top)).astype(np.float32), named.astype(np.float32))
        return worth, Lattice(grid=np.asarray(grid, float), shifts=dict.fromkeys(self.board.edges, (0.0, 0.0, 0.0)),
                              board=frozenset(squares) | frozenset(self.board.edges))

    def _outlines(self, bgr: Image) -> list[Array]:
        """Corners (4, 2) px of the outlines that are nearly a square, clockwise, the largest first."""
        limits = self.limits
        scale = min(1.0, limits.long_px / max(bgr.shape[:2]))
        small = cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1.0 else bgr
        found: list[Array] = []
        for mask in _masks(np.asarray(small, np.uint8), limits.apart):
            outlines, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
            for outline in outlines:
                hull = cv2.convexHull(outline)
                length = cv2.arcLength(hull, True)
                if length < 4 * limits.least * max(small.shape[:2]):
                    continue
                shapes = [cv2.approxPolyDP(hull, part * length, True).reshape(-1, 2).astype(float)
                          for part in limits.straight]
                for corners in (c for shape in shapes for c in _quadrilaterals(shape, limits.corners, limits.filled)):
                    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
                    if sides.max() > limits.oblong * sides.min():
                        continue
                    corners = _refined(hull.reshape(-1, 2).astype(float), outline.reshape(-1, 2).astype(float), corners)
                    if area(corners) < 0:
                        corners = corners[::-1]
                    found.append((corners + 0.5) / scale - 0.5)
        found.sort(key=lambda c: -abs(area(c)))
        out: list[Array] = []
        for corners in found:
            side = np.sqrt(abs(area(corners)))
            if all(np.linalg.norm(corners.mean(axis=0) - other.mean(axis=0)) > 0.02 * side
                   or abs(np.sqrt(abs(area(other))) / side - 1) > 0.02 for other in out):
                out.append(corners)
        return out[:limits.candidates]


def _quadrilaterals(shape: Array, most: int, filled: float) -> Iterator[Array]:
    """The quadrilaterals (4, 2) along four sides of a convex outline (N, 2) of which it fills so much: where print as
    dark as the table was taken for table, a corner is missing."""
    count = len(shape)
    if not 4 <= count <= most:
        return
    lines = [np.cross((*a, 1.0), (*b, 1.0)) for a, b in zip(shape, np.roll(shape, -1, axis=0), strict=True)]
    for sides in combinations(range(count), 4):
        points = [np.cross(lines[sides[k - 1]], lines[sides[k]]) for k in range(4)]
        if any(abs(p[2]) < 1e-9 for p in points):
            continue
        corners = np.array([p[:2] / p[2] for p in points])
        ahead = np.roll(corners, -1, axis=0) - corners
        bends = np.roll(ahead, 1, axis=0)[:, 0] * ahead[:, 1] - np.roll(ahead, 1, axis=0)[:, 1] * ahead[:, 0]
        if len(set(np.sign(bends))) == 1 and 0.98 * abs(area(shape)) < abs(area(corners)) < abs(area(shape)) / filled:
            yield corners


def _completed(corners: Array, least: float) -> Iterator[Array]:
    """Corners (4, 2) with one of them where the other three say it is, if that is ``least`` of a side away: print as
    dark as the table was taken for table, and the outline goes across."""
    for k in range(4):
        there = corners[k - 1] + corners[(k + 1) % 4] - corners[(k + 2) % 4]
        if np.linalg.norm(there - corners[k]) > least * np.sqrt(abs(area(corners))):
            yield np.array([there if n == k else c for n, c in enumerate(corners)])


def _masks(bgr: Image, apart: Sequence[float]) -> Iterator[npt.NDArray[np.uint8]]:
    """What differs from the table's colour by so much, and what edges enclose."""
    colours = cv2.cvtColor(bgr.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    lab: Array = np.asarray(cv2.GaussianBlur(colours, (0, 0), 1.0), float)
    table: Array = np.median(np.asarray(cv2.resize(lab, (48, 32), interpolation=cv2.INTER_AREA), float), axis=(0, 1))
    away: Array = (lab - table) * np.array([0.5, 1.0, 1.0], float)  # light is uneven
    distance = np.linalg.norm(away, axis=2)
    kernel = np.ones((5, 5), np.uint8)
    for least in apart:
        yield np.asarray(cv2.morphologyEx((distance > least).astype(np.uint8), cv2.MORPH_OPEN, kernel), np.uint8)
    grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    for low in (30, 70):
        edges = cv2.Canny(cv2.GaussianBlur(grey, (0, 0), 1.2), low, 2.5 * low)
        yield np.asarray(cv2.morphologyEx(edges, cv2.MORPH_CLOSE, kernel), np.uint8)


def _sharpened(bgr: Image, corners: Array, part: float) -> Array:
    """The corners moved to where the colours change most along each side, at most by that ``part`` of its length.
    Colour counts more than lightness, of which a shadow has an edge too."""
    n, margin = _RECT_PX, round(part * _RECT_PX) + _STEP_PX
    size = n + 2 * margin
    square = (UNIT * n + margin).astype(np.float32) - 0.5
    flat = cv2.warpPerspective(bgr, cv2.getPerspectiveTransform(corners.astype(np.float32), square), (size, size))
    lab = cv2.cvtColor(flat.astype(np.float32) / 255, cv2.COLOR_BGR2Lab) * np.array((0.3, 1.0, 1.0), np.float32)
    lines = []
    for k in range(4):
        strip = np.rot90(lab, k)[:2 * margin, margin:margin + n]  # outside to inside, and along the side
        total = np.concatenate([np.zeros((1, n, 3)), np.cumsum(cv2.blur(strip, (9, 1)), axis=0)])
        at = np.arange(_STEP_PX, 2 * margin - _STEP_PX + 1)
        step = (total[at + _STEP_PX] - 2 * total[at] + total[at - _STEP_PX]) / _STEP_PX
        border = at[np.linalg.norm(step, axis=2).argmax(axis=0)].astype(np.float32)
        points = np.stack([np.arange(n, dtype=np.float32) + margin + 0.5, border], axis=1)[n // 20:-n // 20:4]
        line, near = None, 0
        for i in range(0, len(points) // 2, 3):  # of all pairs that lie half a side apart the one with the most votes
            (x0, y0), (x1, y1) = points[i], points[i + len(points) // 2]
            off = np.abs(points[:, 1] - y0 - (y1 - y0) / (x1 - x0) * (points[:, 0] - x0)) < _STEP_PX / 2
            if off.sum() > near:
                line, near = off, int(off.sum())
        if line is None or near < 0.3 * len(points):
            return corners
        slope, first = np.polyfit(points[line, 0], points[line, 1], 1)
        ends = np.array([(0.0, first), (size, first + slope * size)])
        for _ in range(k):  # back to the unturned picture
            ends = np.stack([size - ends[:, 1], ends[:, 0]], axis=1)
        lines.append(np.cross((*ends[0], 1.0), (*ends[1], 1.0)))
    north, east, south, west = lines
    met = np.array([np.cross(a, b) for a, b in ((north, west), (north, east), (south, east), (south, west))])
    back = np.asarray(cv2.getPerspectiveTransform(square + np.float32(0.5), corners.astype(np.float32)), float)
    out = apply(back, met[:, :2] / met[:, 2:])
    return out if np.abs(out - corners).max() < 2 * part * np.sqrt(abs(area(corners))) else corners


def _refined(hull: Array, outline: Array, corners: Array) -> Array:
    """The corners as intersections of lines fitted to the sides of an outline."""
    lines = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        off = outline - a
        t, d = off @ along / np.linalg.norm(b - a), np.abs(off @ (-along[1], along[0]))
        near = outline[(t > 0.12) & (t < 0.88) & (d < 0.03 * np.linalg.norm(b - a))]
        if len(near) < 8:
            return corners
        vx, vy, x, y = cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        lines.append(np.cross((x, y, 1.0), (x + vx, y + vy, 1.0)))
    out = []
    for one, two in zip(np.roll(lines, 1, axis=0), lines, strict=True):
        p = np.cross(one, two)
        if abs(p[2]) < 1e-9:
            return corners
        out.append(p[:2] / p[2])
    return np.array(out)


def _squarely(lattice: Lattice, at: Square, pose: Array) -> tuple[float, float, float]:
    """Displacement and turn of a tile whose pose is that of another lattice, whichever of its corners comes first."""
    shifts = [lattice.shift_of(at, pose @ _quarter(turns)) for turns in range(4)]
    return min(shifts, key=lambda shift: abs(shift[2]))


def _quarter(turns: int) -> Array:
    """A square onto itself, turned so often by a quarter."""
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[turns % 4]
    return np.array([[cos, -sin, 0.5 - 0.5 * cos + 0.5 * sin], [sin, cos, 0.5 - 0.5 * sin - 0.5 * cos], [0, 0, 1.0]])


def _step(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
