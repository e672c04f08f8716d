"""Where a board may lie that is seen aslant: grids that straight lines suggest, held against what the network sees.

Spots (`vision.spotting`) take a tile for a square; foreshortened ones are seen badly. Seams and sides of tiles run in
two directions whatever the view (`vision.gridlines`), so a grid with its perspective comes first here, then the tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.gridlines import Guess, guess_grids
from vision.lattice import UNIT, Array, apply, area, inside
from vision.structure import Said

GUESSES = 60
SAMPLES = 14  # squares by which a guess is judged first
FINALISTS = 6
SEEN = 0.72  # of a square must lie in the photograph for it to be asked about
PRESENT = 0.5
LARGEST = 24  # squares either way from the middle: no table is larger
REGIONS = 2  # parts of a photograph in which grids are sought besides the whole
ASKED = 110  # squares of a grid that are asked about while it is only a guess
_SMALLEST_PX = 20.0

Lively = npt.NDArray[np.float32]
Ask = Callable[[Image, Iterable[Array]], Said]


def slanted_grid(photo: Image, ask: Ask) -> tuple[Array, list[Square]] | None:
    """A grid (3, 3) from tile steps to pixels on which the network sees tiles, and the squares that surely have one;
    None when straight lines suggest none. ``ask`` asks the network about squares."""
    lively = _lively(photo)
    guesses = guess_grids(photo, most=GUESSES)
    for x0, y0, x1, y1 in _regions(lively):
        away = np.array([[1, 0, x0], [0, 1, y0], [0, 0, 1.0]])
        part = np.ascontiguousarray(photo[y0:y1, x0:x1])
        guesses += [replace(g, grid=away @ g.grid) for g in guess_grids(part, most=GUESSES // 2)]
    ranked = _ranked(photo, lively, guesses, ask)[:FINALISTS]
    tried = sorted((_fit(photo, lively, grid, ask) for grid in ranked), key=lambda t: -t[1])
    # A second and third pull settle which of two nearly right grids is the right one.
    best = max((_fit(photo, lively, grid, ask, known=worth) for grid, worth in tried[:2]), key=lambda t: t[1],
               default=None)
    if best is None or best[1] <= 0:
        return None
    grid = best[0]
    squares = _liveliest(lively, grid, _squares(photo.shape, grid))
    said = ask(photo, [grid @ _moved(at) for at in squares])
    return grid, [at for n, at in enumerate(squares) if said.present[n] > 0.8]


def _ranked(photo: Image, lively: Lively, guesses: Sequence[Guess], ask: Ask) -> list[Array]:
    """Guessed grids by how much like tiles some of their squares look, best first."""
    grids: list[Array] = []
    for guess in guesses:
        if all(not _same(guess.grid, other, photo.shape) for other in grids):
            grids.append(guess.grid)
    plans = []
    for grid in grids:
        squares = _liveliest(lively, grid, _squares(photo.shape, grid))
        if squares:
            picked = np.linspace(0, len(squares) - 1, min(SAMPLES, len(squares))).astype(int)
            plans.append((grid, [squares[n] for n in picked]))
    said = ask(photo, [grid @ _moved(at) for grid, squares in plans for at in squares])
    quality = said.present * np.exp(-(np.abs(said.corners - UNIT).max(axis=(1, 2)) / 0.15) ** 2)
    scores, start = [], 0
    for _, squares in plans:
        scores.append(float(np.sort(quality[start:start + len(squares)])[::-1][:SAMPLES * 2 // 3].mean()))
        start += len(squares)
    return [plans[n][0] for n in np.argsort(-np.array(scores), kind="stable")]


def _fit(photo: Image, lively: Lively, grid: Array, ask: Ask, *, known: float | None = None) -> tuple[Array, float]:
    """A grid pulled to the corners that the network sees, and what it is worth. ``known`` says that it was pulled
    once already, and is pulled twice more."""
    worth = 0.0
    for turn in range(2 if known is None else 3):
        squares = _liveliest(lively, grid, _squares(photo.shape, grid))
        if not squares:
            return grid, 0.0
        said = ask(photo, [grid @ _moved(at) for at in squares])
        off = np.abs(said.corners - UNIT).max(axis=(1, 2))
        worth = _worth(photo.shape, grid, squares, said, off)
        good = np.flatnonzero((said.present > PRESENT) & (off < 0.3))
        if len(good) < 4 or turn == (1 if known is None else 2):
            break
        steps = np.concatenate([UNIT + squares[n] for n in good])
        pixels = np.concatenate([apply(grid @ _moved(squares[n]), said.corners[n]) for n in good])
        side = float(np.sqrt(abs(area(apply(grid @ _moved(squares[good[0]]), UNIT)))))
        fitted, _ = cv2.findHomography(steps, pixels, cv2.RANSAC, 0.12 * side, maxIters=2000, confidence=0.999)
        if fitted is None:
            break
        grid = fitted
    return grid, worth


def _worth(shape: Sequence[int], grid: Array, squares: Sequence[Square], said: Said, off: Array) -> float:
    """Part of the photograph that tiles lying squarely on the grid cover, times how well their sides agree.

    A grid of half the size covers as much with squares that look a little like tiles; but its sides do not match.
    """
    quality = said.present * np.exp(-(off / 0.2) ** 2)
    sizes = np.array([area(apply(grid @ _moved(at), UNIT)) for at in squares]) / (shape[0] * shape[1])
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


def _visible(shape: Sequence[int], pose: Array) -> float:
    return float(inside(shape, pose, 12).mean())


def _squares(shape: Sequence[int], grid: Array) -> list[Square]:
    """Squares of a grid that lie in a photograph of that shape."""
    height, width = shape[:2]
    border = np.array([[x, y] for x in np.linspace(0, width, 5) for y in np.linspace(0, height, 5)])
    back = np.linalg.inv(grid)
    depth = np.column_stack([border, np.ones(len(border))]) @ back[2]
    if not (np.all(depth > 0) or np.all(depth < 0)):
        depth_ok = np.sign(depth) == np.sign(np.array([width / 2, height / 2, 1.0]) @ back[2])
        border = border[depth_ok]
    steps = apply(back, border)
    low = np.maximum(np.floor(steps.min(axis=0)), np.floor(np.median(steps, axis=0)) - LARGEST).astype(int)
    high = np.minimum(np.ceil(steps.max(axis=0)), np.floor(np.median(steps, axis=0)) + LARGEST).astype(int)
    found = []
    for x in range(low[0], high[0]):
        for y in range(low[1], high[1]):
            corners = UNIT + (x, y)
            depths = np.column_stack([corners, np.ones(4)]) @ grid[2]
            if np.any(depths <= 1e-9):
                continue
            pixels = apply(grid, corners)
            if area(pixels) < _SMALLEST_PX**2:
                continue
            middle = pixels.mean(axis=0)
            if 0 < middle[0] < width and 0 < middle[1] < height and _visible(shape, grid @ _moved((x, y))) > SEEN:
                found.append((x, y))
    return found


def _lively(photo: Image) -> Lively:
    """How much a part of the picture has of a board: green, and edges. At an eighth of its size."""
    small = cv2.resize(photo, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA).astype(np.float32)
    b, g, r = small[..., 0], small[..., 1], small[..., 2]
    green = (2 * g - b - r > 0.07 * (b + g + r)).astype(np.float32)
    grey = small.mean(axis=2)
    edges = np.minimum(np.abs(cv2.Laplacian(grey, cv2.CV_32F)) / 30, 1)
    return green + edges


def _regions(lively: Lively) -> list[tuple[int, int, int, int]]:
    """Parts (x0, y0, x1, y1 in pixels) of a photograph in which much of a board may lie, when they are much smaller
    than it: on a large table the lines of other things would crowd those of a few tiles out."""
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


def _liveliest(lively: Lively, grid: Array, squares: Sequence[Square]) -> list[Square]:
    """The squares that most likely belong to a board, if there is one, likeliest first: at most ASKED."""
    if not squares:
        return []
    middles = apply(grid, np.array(squares) + 0.5) / 8
    x = np.clip(middles[:, 0].astype(int), 0, lively.shape[1] - 1)
    y = np.clip(middles[:, 1].astype(int), 0, lively.shape[0] - 1)
    side = np.sqrt(area(apply(grid @ _moved(squares[len(squares) // 2]), UNIT))) / 8
    blurred = cv2.blur(lively, (max(3, int(side) | 1),) * 2)
    return [squares[n] for n in np.argsort(-blurred[y, x], kind="stable")[:ASKED]]


def _same(one: Array, other: Array, shape: Sequence[int]) -> bool:
    """Whether two grids are nearly the same in the photograph's middle, but for whole steps."""
    middle = np.array([[shape[1] / 2, shape[0] / 2]])
    away = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]]) - 1.5
    at = np.round(apply(np.linalg.inv(one), middle))
    mapped = apply(np.linalg.inv(other), apply(one, at + away))
    mapped = mapped - np.round(mapped[0] - (at + away)[0]) - at - away
    return bool(np.abs(mapped).max() < 0.12)
