"""Lens calibration from views of a ChArUco board: focal length, principal point, distortion, and checks.

Z. Zhang, "A flexible new technique for camera calibration", PAMI 22 (2000), as implemented in OpenCV. Square pixels;
radial distortion k1, k2; tangential, k3 or k4 only if the views clearly need them, since a superfluous coefficient
overfits where no board was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import cv2
import numpy as np

from calibration.advice import Advice
from calibration.board_check import instead, unlike
from calibration.boards import Array, Pattern, find_board
from calibration.documents import CalibrationError, LensResult
from calibration.presets import NEAR_DEG, Preset, preset_lens
from calibration.targets import Board
from vision.frames import Image
from vision.view import rays_of

FEWEST_CORNERS = 12
FEWEST_VIEWS = 4
ENOUGH_VIEWS = 8
GOOD_RMS_PX = 0.35
_BAD = 2.5  # times the usual residual of a view
_LEAST_BAD_PX = 0.12  # smaller residuals are never outliers
_MOST_BAD = 0.4  # most outliers, of the views
_MOVED_PX = 3.0  # two pictures with less motion are the same view
_GAIN = 0.95  # relative residual that more coefficients must reach
_CELLS = (6, 4)  # of the coverage map
_UNSURE = 0.01  # relative standard deviation of the focal length above which more tilt is advised


class ViewJson(TypedDict):
    """A view in documents and on the page; ``corners`` is the number detected."""

    name: str
    corners: int
    rms_px: float | None
    rms_mm: float | None
    used: bool
    repeats: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LensView:
    """One picture of the board. ``rms_px`` is its residual under the final lens (None: not seen well enough),
    ``rms_mm`` the same on the board in its pose; ``repeats``: another picture shows the same view."""

    name: str
    pattern: Pattern | None
    rms_px: float | None
    used: bool
    repeats: bool = False
    rms_mm: float | None = None

    def to_json(self) -> ViewJson:
        corners = 0 if self.pattern is None else len(self.pattern.px)
        return {"name": self.name, "corners": corners,
                "rms_px": None if self.rms_px is None else round(self.rms_px, 4),
                "rms_mm": None if self.rms_mm is None else round(self.rms_mm, 4), "used": self.used,
                "repeats": self.repeats}


@dataclass(frozen=True, slots=True, kw_only=True)
class LensCalibration:
    """The lens, the results of every view, and advice."""

    lens: LensResult
    views: tuple[LensView, ...]
    advice: tuple[Advice, ...]


def calibrate_lens(pictures: Sequence[tuple[str, Image]], board: Board, preset: Preset | None = None
                   ) -> LensCalibration:
    """The lens from pictures (name, BGR or grey) of one size. Raises CalibrationError."""
    if not pictures:
        raise CalibrationError("there are no pictures; name at least four views of the board")
    size = pictures[0][1].shape[1::-1]
    for name, picture in pictures:
        if picture.shape[1::-1] != size:
            raise CalibrationError(f"{name} is {picture.shape[1]}x{picture.shape[0]} and {pictures[0][0]} is "
                                   f"{size[0]}x{size[1]}: use one camera at one resolution, held one way round")
    patterns = [find_board(p, board) for _, p in pictures]
    good = [n for n, p in enumerate(patterns) if p is not None and len(p.px) >= FEWEST_CORNERS]
    if len(good) < FEWEST_VIEWS:
        raise CalibrationError(f"the board {board} was seen in {len(good)} of {len(pictures)} pictures and "
                               f"{FEWEST_VIEWS} are needed; check --board, the light and the focus"
                               f"{instead([p for _, p in pictures], board)}")
    wrong = unlike([pictures[n][1] for n in good], [_seen(patterns[n]) for n in good], board)
    if wrong is not None:
        raise CalibrationError(wrong)
    return calibrate_views([(name, p) for (name, _), p in zip(pictures, patterns, strict=True)], size, preset)


def calibrate_views(views: Sequence[tuple[str, Pattern | None]], size: tuple[int, int], preset: Preset | None = None
                    ) -> LensCalibration:
    """The lens from detections of the board in pictures of ``size``. Raises CalibrationError."""
    patterns = [pattern for _, pattern in views]
    good = [n for n, p in enumerate(patterns) if p is not None and len(p.px) >= FEWEST_CORNERS]
    shown, good = good, _different(good, patterns)
    repeated = set(shown) - set(good)
    if len(good) < FEWEST_VIEWS:
        raise CalibrationError(f"{len(shown)} pictures show the board, but only from {len(good)} different sides, and "
                               f"{FEWEST_VIEWS} are needed: move and tilt it between them", "lens.few",
                               n=len(good), least=FEWEST_VIEWS)
    every = [_seen(patterns[n]) for n in good]
    fit = min((_fit(every, size, start) for start in _starts(size, preset)), key=lambda f: f.rms)
    fewest = max(FEWEST_VIEWS, math.ceil((1 - _MOST_BAD) * len(good)))
    while len(good) > fewest:
        worst = int(np.argmax(fit.per_view))
        if fit.per_view[worst] <= max(_LEAST_BAD_PX, _BAD * float(np.median(fit.per_view))):
            break
        del good[worst]
        fit = _fit([_seen(patterns[n]) for n in good], size, fit.matrix)
    fit = _richer(fit, [_seen(patterns[n]) for n in good], size)
    used = [_seen(patterns[n]) for n in good]
    lens = LensResult(
        focal_px=float(fit.matrix[0, 0]), centre_px=(float(fit.matrix[0, 2]), float(fit.matrix[1, 2])),
        distortion=tuple(float(d) for d in fit.distortion), rms_px=fit.rms, focal_std_px=fit.focal_std,
        fov_deg=field_of_view(fit.matrix, fit.distortion, size), coverage=coverage_of(used, size), preset="")
    if not _grows(lens.matrix, lens.distortion, size):
        raise CalibrationError("the views say nothing about the picture's corners; add some with the board close "
                               "to them",
                               "lens.corners")
    told = tuple(replace(_view(name, pattern, n in good, lens), repeats=n in repeated)
                 for n, (name, pattern) in enumerate(views))
    return LensCalibration(lens=lens, views=told, advice=tuple(_advice(lens, told, preset, size)))


def _different(good: Sequence[int], patterns: Sequence[Pattern | None]) -> list[int]:
    """The distinct views: repetitions would only understate the uncertainty."""
    out: list[int] = []
    for n in good:
        if all(moved_px(_seen(patterns[n]), _seen(patterns[k])) >= _MOVED_PX for k in out):
            out.append(n)
    return out


def moved_px(a: Pattern, b: Pattern) -> float:
    """Median displacement of the board's corners between two views; infinite if they show different parts of it."""
    mine, other = _by_corner(a), _by_corner(b)
    both = mine.keys() & other.keys()
    if len(both) < 0.7 * max(len(mine), len(other)):
        return math.inf
    return float(np.median([np.hypot(*(mine[c] - other[c])) for c in both]))


def _by_corner(pattern: Pattern) -> dict[tuple[float, float], Array]:
    return {(round(float(x), 3), round(float(y), 3)): px for (x, y), px in zip(pattern.mm, pattern.px, strict=True)}


def field_of_view(matrix: Array, distortion: Array, size: tuple[int, int]) -> tuple[float, float]:
    """Horizontal and vertical angle (degrees) through the picture's middle, lens distortion included."""
    w, h = size
    ends = np.array([[-0.5, (h - 1) / 2], [w - 0.5, (h - 1) / 2], [(w - 1) / 2, -0.5], [(w - 1) / 2, h - 0.5]])
    angle = np.degrees(np.arctan(rays_of(ends, matrix, distortion)))
    return float(angle[1, 0] - angle[0, 0]), float(angle[3, 1] - angle[2, 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    matrix: Array
    distortion: Array
    rms: float
    per_view: Array
    focal_std: float


def _seen(pattern: Pattern | None) -> Pattern:
    assert pattern is not None
    return pattern


def _starts(size: tuple[int, int], preset: Preset | None) -> list[Array]:
    """Initial estimates of the lens: from a poor one the fit may converge to a wrong distortion."""
    focal = [f * max(size) for f in (0.45, 0.9, 1.6)]
    known = [preset_lens(preset, size).matrix] if preset is not None else []
    return [*known, *(np.array([[f, 0, size[0] / 2], [0, f, size[1] / 2], [0, 0, 1.0]]) for f in focal)]


_CONVERGED = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 300, 1e-12)  # OpenCV's 30 iterations stop half way
_PLAIN = cv2.CALIB_FIX_ASPECT_RATIO | cv2.CALIB_USE_INTRINSIC_GUESS | cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3

_K4 = cv2.CALIB_RATIONAL_MODEL | cv2.CALIB_FIX_K5 | cv2.CALIB_FIX_K6


def _fit(patterns: Sequence[Pattern], size: tuple[int, int], start: Array, flags: int = _PLAIN) -> _Fit:
    objects = [np.column_stack([p.mm, np.zeros(len(p.mm))]).astype(np.float32) for p in patterns]
    points = [p.px.astype(np.float32) for p in patterns]
    try:
        rms, matrix, distortion, _, _, spread, _, per_view = cv2.calibrateCameraExtended(  # type: ignore[call-overload]
            objects, points, size, start.copy(), None, flags=flags, criteria=_CONVERGED)  # initially without distortion
    except cv2.error:
        rms = math.nan
    if not math.isfinite(rms):
        raise CalibrationError("no lens explains these views; take sharp pictures of a flat board, most of them tilted",
                               "lens.none")
    count = 8 if flags & cv2.CALIB_RATIONAL_MODEL else 5
    return _Fit(matrix=matrix, distortion=distortion.ravel()[:count], rms=float(rms), per_view=per_view.ravel(),
                focal_std=float(max(spread.ravel()[0], spread.ravel()[1])))


def _richer(fit: _Fit, patterns: Sequence[Pattern], size: tuple[int, int]) -> _Fit:
    """Adds tangential distortion, and k3 or k4, if that clearly reduces the residual. k4 is in the denominator
    (rational model): it describes fisheye-like compression of wide angles with one coefficient."""
    more = {"tangential": _PLAIN & ~cv2.CALIB_ZERO_TANGENT_DIST, "k3": _PLAIN & ~cv2.CALIB_FIX_K3, "k4": _PLAIN | _K4}
    tried = {name: _fit(patterns, size, fit.matrix, flags) for name, flags in more.items()}
    for radial in ("k3", "k4"):
        both = more[radial] & ~cv2.CALIB_ZERO_TANGENT_DIST
        tried[f"tangential and {radial}"] = _fit(patterns, size, fit.matrix, both)
    for names in (("tangential", "k3", "k4"), ("tangential and k3", "tangential and k4")):
        best = min((tried[n] for n in names), key=lambda f: f.rms)
        if best.rms < _GAIN * fit.rms and _grows(best.matrix, best.distortion, size):
            fit = best
    return fit


def _grows(matrix: Array, distortion: Sequence[float] | Array, size: tuple[int, int]) -> bool:
    """Whether the radius is monotonic in the angle all over the picture; otherwise the distortion is overfitted where
    no board was."""
    corner = max(math.hypot(x - matrix[0, 2], y - matrix[1, 2]) for x in (0, size[0]) for y in (0, size[1]))
    k1, k2, _, _, k3, k4, *_ = (*(float(d) for d in distortion), 0.0)
    r = np.linspace(0, 1.2 * corner / matrix[0, 0], 50)
    seen = r * (1 + k1 * r**2 + k2 * r**4 + k3 * r**6) / (1 + k4 * r**2)
    reached = r[seen * matrix[0, 0] <= corner]
    return not (np.diff(seen)[:max(len(reached), 2)] <= 0).any()


def _view(name: str, pattern: Pattern | None, used: bool, lens: LensResult) -> LensView:
    rms = mm = None
    if pattern is not None and len(pattern.px) >= FEWEST_CORNERS:
        flat = np.column_stack([pattern.mm, np.zeros(len(pattern.mm))])
        ok, turn, move = cv2.solvePnP(flat, pattern.px, lens.matrix, np.array(lens.distortion))
        if ok:
            again, _ = cv2.projectPoints(flat, turn, move, lens.matrix, np.array(lens.distortion))
            rms = float(np.sqrt(((again[:, 0] - pattern.px) ** 2).sum(axis=1).mean()))
            mm = rms * float(move[2, 0]) / lens.focal_px  # a pixel's width at the board's centre
    return LensView(name=name, pattern=pattern, rms_px=rms, used=used, rms_mm=mm)


def coverage_of(patterns: Sequence[Pattern], size: tuple[int, int]) -> tuple[tuple[int, ...], ...]:
    """The number of corners seen in each part of a picture of ``size``, row by row."""
    px = np.concatenate([p.px for p in patterns])
    counts, _, _ = np.histogram2d(px[:, 1], px[:, 0], bins=(_CELLS[1], _CELLS[0]),
                                  range=((0, size[1]), (0, size[0])))
    return tuple(tuple(int(n) for n in row) for row in counts)


def _advice(lens: LensResult, views: Sequence[LensView], preset: Preset | None, size: tuple[int, int]
            ) -> list[Advice]:
    out = []
    used = sum(v.used for v in views)
    if lens.rms_px > GOOD_RMS_PX:
        out.append(Advice(code="lens.residual", bad=True, parts={"rms_px": round(lens.rms_px, 2)},
                          text=f"the residual is {lens.rms_px:.2f} px and should be below {GOOD_RMS_PX}: glue the "
                               "sheet to something flat, hold it still, and mind the focus"))
    if used < ENOUGH_VIEWS:
        out.append(Advice(code="lens.few_views", parts={"used": used, "wanted": ENOUGH_VIEWS},
                          text=f"only {used} views could be used; {ENOUGH_VIEWS} or more make a safer lens"))
    empty, where = _empty(lens.coverage), said_of_empty(lens.coverage)
    if empty:
        out.append(Advice(code="lens.coverage", parts={"empty": len(empty), "where": where},
                          text=f"no board was seen in {len(empty)} of {_CELLS[0] * _CELLS[1]} parts of the picture, "
                               f"mostly {where}: add views there"))
    if lens.focal_std_px > _UNSURE * lens.focal_px:
        out.append(Advice(code="lens.flat_views", parts={"percent": round(100 * lens.focal_std_px / lens.focal_px, 1)},
                          text=f"the focal length is only known to {100 * lens.focal_std_px / lens.focal_px:.1f} %: "
                               "tilt the board more in some views"))
    if preset is not None:
        stated = preset_lens(preset, size).fov_deg
        if max(abs(a - b) for a, b in zip(stated, lens.fov_deg, strict=True)) > NEAR_DEG:
            out.append(Advice(code="lens.field_of_view", bad=True,
                              parts={"measured": round(lens.fov_deg[0], 1), "stated": round(stated[0], 1),
                                     "camera": preset.title},
                              text=f"the field of view came out as {lens.fov_deg[0]:.0f} degrees and the "
                                   f"{preset.title} has {stated[0]:.0f}: check that it is this camera, and that it "
                                   "does not crop the picture"))
    return out


def said_of_empty(coverage: Sequence[Sequence[int]]) -> str:
    """The parts where no board was seen, in words; "" if there are none."""
    cells = _empty(coverage)
    return _where(cells) if cells else ""


def _empty(coverage: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    return [(x, y) for y, row in enumerate(coverage) for x, n in enumerate(row) if n == 0]


def _where(cells: Sequence[tuple[int, int]]) -> str:
    x, y = np.mean(cells, axis=0) + 0.5
    words = (("at the top", y / _CELLS[1] < 0.35), ("at the bottom", y / _CELLS[1] > 0.65),
             ("on the left", x / _CELLS[0] < 0.35), ("on the right", x / _CELLS[0] > 0.65))
    return " ".join(w for w, yes in words if yes) or "around the border"
