"""Candidate grids of a board in a photograph of untaught tiles, from straight lines alone.

Seams and outer sides of tiles run in two directions; in a photograph each direction has its vanishing point, and once
the plane is rectified the lines of each are equally spaced. Several grids explain the lines about equally well (half,
double); all are returned, best first, for a caller that examines the contents of their squares.
Segments: R. Grompone von Gioi et al., "LSD: a fast line segment detector", PAMI 32 (2010). Consensus on vanishing
points as in C. Rother, "A new approach to vanishing point detection in architectural environments", IVC 20 (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.images import reduced

Array = npt.NDArray[np.float64]

LONG_SIDE_PX = 1400
SHORTEST = 0.012  # of the long side: shorter segments do not determine a direction
MOST = 1500  # segments that vote
NEAR_GREEN, ENOUGH = 0.15, 60  # if more segments than this have at least this trust, the others are ignored
ANGLE = np.radians(1.6)  # tolerance of a segment against its vanishing point
TRIES = 900
SECTORS, PER_SECTOR = 12, 3  # vanishing points whose pairs are tried
SQUARE_ON = 2  # pairs of perpendicular directions tried in addition
FOCAL = 0.45  # of the long side: no camera's focal length is shorter
TILE_PX = (28, 520)  # range of a tile's side in the picture
_PHASES = 50  # phases tried per period
_HALF_WIDTH = 0.06  # of a tile: distance to a grid line within which a segment counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A grid (3, 3) from tile steps to pixels, and how much better than chance the lines fit it."""

    grid: Array
    score: float


def guess_grids(bgr: Image, *, most: int = 12, seed: int = 1) -> list[Guess]:
    """Grids that the straight lines of a photograph suggest, best first."""
    scale = min(1.0, LONG_SIDE_PX / max(bgr.shape[:2]))
    small = reduced(bgr, LONG_SIDE_PX)
    segments = find_segments(small)
    trust = _by_meadows(small, segments)
    if (trust > NEAR_GREEN).sum() > ENOUGH:  # the wood grain of a table must not outvote the board
        segments, trust = segments[trust > NEAR_GREEN], trust[trust > NEAR_GREEN]
    if len(segments) < 12:
        return []
    middle = np.array([small.shape[1] / 2, small.shape[0] / 2])
    up = np.diag([1 / scale, 1 / scale, 1.0])
    guesses: dict[bool, list[Guess]] = {False: [], True: []}
    for first, second in _directions(segments, trust, middle, max(small.shape[:2]), np.random.default_rng(seed)):
        flat = _flat(first, second, middle)
        xs, ys = (_spacings(segments, trust, flat, point, axis) for axis, point in ((0, second), (1, first)))
        square_on = not (first[2] or second[2])
        if square_on:  # tiles are as wide as they are high
            xs, ys = (xs + _spacings(segments, trust, flat, second, 0, [y[0] for y in ys]),
                      ys + _spacings(segments, trust, flat, first, 1, [x[0] for x in xs]))
        for px, x0, sx in xs:
            for py, y0, sy in ys:
                if (0.92 if square_on else 0.42) < py / px < (1.09 if square_on else 2.4):
                    step = np.array([[px, 0, x0], [0, py, y0], [0, 0, 1.0]])
                    guesses[square_on].append(Guess(grid=up @ flat @ step, score=sx + sy))
    best = sorted(guesses[True], key=lambda g: -g.score)[:most // 3]
    best += sorted(guesses[False], key=lambda g: -g.score)[:most - len(best)]
    return sorted(best, key=lambda g: -g.score)


def find_segments(bgr: Image) -> Array:
    """(N, 4) straight segments x1 y1 x2 y2, longest first."""
    grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(grey)[0]
    if found is None:
        return np.zeros((0, 4))
    segments = found.reshape(-1, 4).astype(float)
    length = np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1])
    order = np.argsort(-length)
    out: Array = segments[order[length[order] > SHORTEST * max(bgr.shape[:2])]][:MOST]
    return out


def _by_meadows(bgr: Image, segments: Array) -> Array:
    """(N,) 0.04 .. 1: green around a segment is evidence for a board, whose fields are green in every edition."""
    b, g, r = (bgr[..., n].astype(np.float32) for n in range(3))
    green = (2 * g - b - r > 0.07 * (b + g + r)).astype(np.float32)
    near = cv2.boxFilter(green, -1, (round(max(bgr.shape) / 20),) * 2)
    x, y = ((segments[:, k] + segments[:, k + 2]) / 2 for k in (0, 1))
    out: Array = 0.04 + 0.96 * np.minimum(1.0, 2 * near[y.astype(int), x.astype(int)].astype(float))
    return out


def _directions(segments: Array, trust: Array, middle: Array, long_side: float, rng: np.random.Generator,
                ) -> list[tuple[Array, Array]]:
    """Pairs of vanishing points (homogeneous) for the rows' and the columns' direction, best first."""
    a, b = _ends(segments)
    lines = np.cross(a, b)
    length = np.linalg.norm(b - a, axis=1) * trust
    odds = length / length.sum()
    one, two = (rng.choice(len(segments), TRIES, p=odds) for _ in range(2))
    points = np.cross(lines[one], lines[two])
    points = points[np.linalg.norm(points, axis=1) > 1e-6]
    points /= np.linalg.norm(points * [1, 1, long_side], axis=1, keepdims=True)
    weights = _agreement(segments, points) * length
    order = np.argsort(-weights.sum(axis=1))
    toward = points[:, :2] - middle * points[:, 2:]
    sector = (np.arctan2(toward[:, 1], toward[:, 0]) % np.pi * SECTORS / np.pi).astype(int) % SECTORS
    kept: list[int] = []  # some from every direction: a striped cloth must not displace the board's own
    for n in order:
        same = [k for k in kept if sector[k] == sector[n]]
        near = [(weights[n] * weights[k]).sum() > 0.8 * (weights[n] ** 2).sum() for k in same]
        if len(same) < PER_SECTOR and not any(near):
            kept.append(int(n))
    pairs = []
    for i, m in enumerate(kept):
        for n in kept[i + 1:]:
            u, v = (points[k][:2] - middle * points[k][2] for k in (m, n))
            cos = abs(u @ v) / (np.linalg.norm(u) * np.linalg.norm(v) + 1e-12)
            focal = -(u @ v) / (points[m][2] * points[n][2] + 1e-18)
            far = min(abs(points[k][2]) * long_side / (np.linalg.norm(points[k][:2]) + 1e-12) for k in (m, n)) < 0.12
            if cos < 0.6 and (far or focal > (FOCAL * long_side) ** 2):
                total = np.maximum(weights[m], weights[n]).sum()
                balance = min(weights[m].sum(), weights[n].sum())
                pairs.append((total + balance, m, n))
    found = []
    for _, m, n in sorted(pairs, reverse=True)[:4]:
        first, second = _refined(segments, points[m], length), _refined(segments, points[n], length)
        u, v = first[:2] - middle * first[2], second[:2] - middle * second[2]
        if abs(u[0]) * np.linalg.norm(v) < abs(v[0]) * np.linalg.norm(u):
            first, second = second, first
        found.append((first, second))
    return _square_on(segments, length) + found


def _square_on(segments: Array, length: Array) -> list[tuple[Array, Array]]:
    """Pairs of directions at right angles, as vanishing points at infinity: a board seen from above, or one so small
    that its lines hardly converge. Both directions of a pair must be present, so wood grain alone makes none."""
    angle = np.degrees(np.arctan2(segments[:, 3] - segments[:, 1], segments[:, 2] - segments[:, 0])) % 180
    weight = np.bincount(angle.astype(int) % 180, length, 180)
    smooth = sum((np.roll(weight, k) * (1 - abs(k) / 3) for k in range(-2, 3)), np.zeros(180))
    both = np.minimum(smooth[:90], smooth[90:])
    found: list[tuple[Array, Array]] = []
    for n in np.argsort(-both)[:40]:
        turn = np.radians(n + 0.5)
        first = np.array([np.cos(turn), np.sin(turn), 0.0])
        if all(abs(first @ np.array([-f[1], f[0], 0.0])) > np.sin(np.radians(3)) for pair in found for f in pair):
            second = np.array([-first[1], first[0], 0.0])
            found.append((first, second) if abs(first[0]) > abs(first[1]) else (second, first))
        if len(found) == SQUARE_ON:
            break
    return found


def _ends(segments: Array) -> tuple[Array, Array]:
    ones = np.ones((len(segments), 1))
    return np.hstack([segments[:, :2], ones]), np.hstack([segments[:, 2:], ones])


def _agreement(segments: Array, points: Array) -> Array:
    """(P, N) 0 .. 1: how well each segment points to each vanishing point."""
    mid = (segments[:, :2] + segments[:, 2:]) / 2
    along = segments[:, 2:] - segments[:, :2]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    to = points[:, None, :2] - mid[None] * points[:, None, 2:]
    to /= np.linalg.norm(to, axis=2, keepdims=True) + 1e-12
    off = np.abs(to[..., 0] * along[:, 1] - to[..., 1] * along[:, 0])
    out: Array = np.maximum(0.0, 1 - (off / np.sin(ANGLE)) ** 2)
    return out


def _refined(segments: Array, point: Array, length: Array) -> Array:
    """The vanishing point refined by weighted least squares over the segments that point to it."""
    a, b = _ends(segments)
    size = float(np.abs(segments).max())
    shrink = np.array([1 / size, 1 / size, 1.0])
    lines = np.cross(a * shrink, b * shrink)
    lines /= np.linalg.norm(lines[:, :2], axis=1, keepdims=True)
    for _ in range(3):
        weight = _agreement(segments, point[None])[0] * length
        _, _, v = np.linalg.svd(lines * np.sqrt(weight)[:, None], full_matrices=False)
        fresh = v[-1] / shrink
        point = fresh / np.linalg.norm(fresh)
    return point


def _flat(first: Array, second: Array, middle: Array) -> Array:
    """(3, 3) from the rectified plane, where the two directions are x and y, to pixels; its scale at the middle is
    1."""
    def scaled(point: Array, axis: int) -> Array:
        speed = point[:2] - middle * point[2]
        return point / np.linalg.norm(speed) * (1 if speed[axis] > 0 else -1)

    return np.stack([scaled(first, 0), scaled(second, 1), np.array([*middle, 1.0])], axis=1)


def _spacings(segments: Array, trust: Array, flat: Array, point: Array, axis: int, near: Sequence[float] = (),
              ) -> list[tuple[float, float, float]]:
    """(distance, start, score) of equally spaced lines along ``axis`` of the flat plane that run to ``point``: the best
    ones, or the best close to each distance in ``near``."""
    towards = _agreement(segments, point[None])[0]
    length = np.linalg.norm(segments[:, 2:] - segments[:, :2], axis=1) * trust
    use = towards > 0.2
    if use.sum() < 6:
        return []
    mid = (segments[use, :2] + segments[use, 2:]) / 2
    mapped = np.hstack([mid, np.ones((len(mid), 1))]) @ np.linalg.inv(flat).T
    place = mapped[:, axis] / mapped[:, 2]
    weight = (towards * length)[use]
    seen = np.abs(place) < 3 * float(np.abs(segments).max())
    place, weight = place[seen], weight[seen]
    if len(place) < 6:
        return []
    low, high = TILE_PX[0], min(TILE_PX[1], float(np.ptp(place)) / 1.5 + 1)
    if high <= low:
        return []
    periods = np.exp(np.arange(np.log(low), np.log(high), 0.006))
    bins = (place / periods[:, None] % 1.0 * _PHASES).astype(int) % _PHASES + _PHASES * np.arange(len(periods))[:, None]
    histogram = np.bincount(bins.ravel(), np.tile(weight, len(periods)), _PHASES * len(periods)).reshape(-1, _PHASES)
    smooth = sum((np.roll(histogram, k, axis=1) * (1 - abs(k) / _PHASES / (_HALF_WIDTH + 1 / _PHASES))
                  for k in range(-3, 4)), np.zeros(histogram.shape))
    phase = smooth.argmax(axis=1)
    starts, scores = (phase + 0.5) / _PHASES * periods, smooth.max(axis=1) / weight.sum()
    # Finer grids match more lines by chance; coarser ones are the simpler explanation.
    chance = 0.08
    scores = (scores - chance) * np.sqrt(np.minimum(periods / low, 6.0))
    if near:
        peaks = [int(np.argmax(np.where(np.abs(np.log(periods / p)) < 0.05, scores, -np.inf))) for p in near]
    else:
        peaks = [n for n in range(1, len(scores) - 1) if scores[n] >= scores[n - 1] and scores[n] > scores[n + 1]]
        peaks = sorted(peaks, key=lambda n: -scores[n])[:5]
    return [(float(periods[n]), float(starts[n]), float(scores[n])) for n in peaks]
