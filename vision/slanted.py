"""Candidate boards in an oblique view: grids suggested by straight lines, checked against single detected tiles.

Spots (`vision.spotting`) assume square tiles; foreshortened ones are detected in place, but with a wrong pose. Seams
and sides of tiles run in two directions in any view (`vision.gridlines`), so here the grid with its perspective comes
first: the one whose squares contain the spots, refined to the corners that the network sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.gridlines import guess_grids
from vision.lattice import UNIT, Array, apply, area
from vision.spotting import Spot
from vision.structure import StructureEstimate

GUESSES = 60
FEWEST = 4  # least number of spots that determine a grid
FINALISTS = 4  # grids that are checked against the picture
PULLS = 3
PRESENT = 0.5  # network's probability of a tile from which its corners are used to refine the grid
SURE = 0.8  # and from which it can seed the board
ALL = 0.9  # of a grid's squares with a spot that must surely have a tile for accepting it without trying others
REGIONS = 2  # parts of a photograph that are searched for grids besides the whole
ASIDE = 0.15  # of a tile: scale of the offset of a spot from its square's centre
ALIKE = 0.3  # scale of the logarithm of a spot's size over its square's

Lively = npt.NDArray[np.float32]
Ask = Callable[[Image, Iterable[Array]], StructureEstimate]


def slanted_grid(photo: Image, spots: Sequence[Spot], ask: Ask) -> tuple[Array, list[Square]] | None:
    """A grid (3, 3) from tile steps to pixels on which the network sees tiles, and the squares that surely have one;
    None when straight lines suggest none. ``ask`` runs the network on squares."""
    if len(spots) < FEWEST:
        return None
    guesses = guess_grids(photo, most=GUESSES)
    for x0, y0, x1, y1 in _regions(_lively(photo)):
        away = np.array([[1, 0, x0], [0, 1, y0], [0, 0, 1.0]])
        part = np.ascontiguousarray(photo[y0:y1, x0:x1])
        guesses += [replace(g, grid=away @ g.grid) for g in guess_grids(part, most=GUESSES // 2)]
    likely = sorted((g.grid for g in guesses), key=lambda grid: -_holding(grid, spots))
    distinct: list[Array] = []
    for grid in likely:
        if len(distinct) < FINALISTS and all(not _same(grid, other, photo.shape) for other in distinct):
            distinct.append(grid)
    tried = []
    for grid in distinct:
        squares = _squares(grid, spots)
        tried.append(_fit(photo, grid, squares, ask))
        if len(tried[-1][1]) > ALL * len(squares):
            break
    best = max(tried, key=lambda t: t[2], default=None)
    return None if best is None or best[2] <= 0 else best[:2]


def _holding(grid: Array, spots: Sequence[Spot]) -> float:
    """Expected number of spots at the centres of this grid's squares and of their size."""
    middles = np.array([s.middle for s in spots])
    depth = np.column_stack([middles, np.ones(len(middles))]) @ np.linalg.inv(grid)[2]
    steps = apply(np.linalg.inv(grid), middles)
    off = np.linalg.norm(steps - np.floor(steps) - 0.5, axis=1)
    squares = np.floor(steps)
    corners = apply(grid, (squares[:, None] + UNIT).reshape(-1, 2)).reshape(-1, 4, 2)
    sizes = np.array([max(abs(area(c)), 1.0) for c in corners]) ** 0.5
    larger = np.log(sizes / [s.side for s in spots])
    fits = np.exp(-((off / ASIDE) ** 2) - (larger / ALIKE) ** 2) * (np.sign(depth) == np.sign(np.median(depth)))
    return float(fits @ [s.likely for s in spots])


def _squares(grid: Array, spots: Sequence[Spot]) -> list[Square]:
    """The squares that contain spots."""
    steps = np.floor(apply(np.linalg.inv(grid), [s.middle for s in spots])).astype(int)
    return sorted({(int(x), int(y)) for x, y in steps})


def _fit(photo: Image, grid: Array, squares: Sequence[Square], ask: Ask) -> tuple[Array, list[Square], float]:
    """A grid refined to the corners that the network sees, the squares that surely have a tile, and the grid's
    score."""
    for turn in range(PULLS):
        said = ask(photo, [grid @ _moved(at) for at in squares])
        off = np.abs(said.corners - UNIT).max(axis=(1, 2))
        good = np.flatnonzero((said.present > PRESENT) & (off < 0.3)).tolist()
        if len(good) < 4 or turn == PULLS - 1:
            break
        steps = np.concatenate([UNIT + squares[n] for n in good])
        pixels = np.concatenate([apply(grid @ _moved(squares[n]), said.corners[n]) for n in good])
        side = float(np.sqrt(abs(area(apply(grid @ _moved(squares[good[0]]), UNIT)))))
        fitted, _ = cv2.findHomography(steps, pixels, cv2.RANSAC, 0.12 * side, maxIters=2000, confidence=0.999)
        if fitted is None:
            break
        grid = np.asarray(fitted, float)
    sure = [at for n, at in enumerate(squares) if said.present[n] > SURE]
    return grid, sure, _worth(grid, squares, said, off) if sure else 0.0


def _worth(grid: Array, squares: Sequence[Square], said: StructureEstimate, off: Array) -> float:
    """Fraction of the photograph covered by tiles that fit the grid, times the agreement of their sides.

    A grid of half the size covers as much with squares that resemble tiles; but its sides do not match.
    """
    quality = said.present * np.exp(-(off / 0.2) ** 2)
    sizes = np.array([abs(area(apply(grid @ _moved(at), UNIT))) for at in squares])
    index = {at: n for n, at in enumerate(squares)}
    shown = np.exp(said.sides)
    agree = total = 0.0
    for (x, y), n in index.items():
        for at, mine, theirs in (((x + 1, y), 1, 3), ((x, y + 1), 2, 0)):
            if at in index:
                both = quality[n] * quality[index[at]]
                agree += both * float(shown[n, mine] @ shown[index[at], theirs])
                total += both
    return float((quality * sizes).sum()) * (agree / total) ** 2 if total > 0.5 else 0.0


def _moved(at: Square) -> Array:
    return np.array([[1, 0, at[0]], [0, 1, at[1]], [0, 0, 1.0]])


def _lively(photo: Image) -> Lively:
    """Score of how board-like a part of the picture is: green, and edges. At an eighth of its size."""
    small = cv2.resize(photo, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA).astype(np.float32)
    b, g, r = small[..., 0], small[..., 1], small[..., 2]
    green = (2 * g - b - r > 0.07 * (b + g + r)).astype(np.float32)
    grey = small.mean(axis=2)
    edges = np.minimum(np.abs(cv2.Laplacian(grey, cv2.CV_32F)) / 30, 1)
    return np.asarray(green + edges, np.float32)


def _regions(lively: Lively) -> list[tuple[int, int, int, int]]:
    """Parts (x0, y0, x1, y1 in pixels) of a photograph that may contain most of a board, when they are much smaller
    than it: on a large table the lines of other objects would outnumber those of a few tiles."""
    height, width = lively.shape
    reach = max(3, round(max(height, width) * 0.03) | 1)
    smooth = cv2.blur(lively, (reach, reach))
    count, labels, stats, _ = cv2.connectedComponentsWithStats((smooth > 0.5 * smooth.max()).astype(np.uint8))
    mass = [float(smooth[labels == n].sum()) for n in range(1, count)]
    found = []
    for n in np.argsort(mass)[::-1][:REGIONS] + 1:
        x, y, w, h = (int(stats[n, k]) for k in (cv2.CC_STAT_LEFT, cv2.CC_STAT_TOP, cv2.CC_STAT_WIDTH,
                                                 cv2.CC_STAT_HEIGHT))
        room = round(0.15 * max(w, h)) + reach
        x0, y0, x1, y1 = max(0, x - room), max(0, y - room), min(width, x + w + room), min(height, y + h + room)
        if (x1 - x0) * (y1 - y0) < 0.5 * width * height and min(w, h) >= reach:
            found.append((8 * x0, 8 * y0, 8 * x1, 8 * y1))
    return found


def _same(one: Array, other: Array, shape: Sequence[int]) -> bool:
    """Whether two grids are nearly the same in the photograph's middle, up to whole steps."""
    middle = np.array([[shape[1] / 2, shape[0] / 2]])
    away = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]]) - 1.5
    at: Array = np.round(apply(np.linalg.inv(one), middle))
    mapped = apply(np.linalg.inv(other), apply(one, at + away))
    mapped = mapped - np.round(mapped[0] - (at + away)[0]) - at - away
    return bool(np.abs(mapped).max() < 0.12)
