"""Whether the camera or the table was bumped since a reference view, by how much, or whether only the light changed.

Corners of the reference are tracked into the new frame (B. Lucas and T. Kanade, IJCAI 1981) on illumination-normalised
pictures; most of them agree on one shift, rotation and scale (RANSAC), whatever hands and new tiles do. The majority
decides: in place (same), in place in another light (light), moved together (moved), or neither (unsure).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypedDict

import cv2
import numpy as np
import numpy.typing as npt

from calibration.advice import Advice, AdviceJson
from vision.frames import Image

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NOTICED_MM = 3.0  # smallest bump that is reported
MENDED_MM = 25.0  # up to this much the table can be re-registered from its tiles
CHECK_S = 2.0  # interval of checks; two that agree make a bump
_WIDTH_PX = 768
_POINTS = 700
_LAMP_PX = 28.0  # changes uniform over this width are light
_BACK_PX = 0.8  # forward-backward error above which a tracked point is lost
_AGREE_PX = 1.2
_FEWEST = 24  # least number of inliers
_MOST = 0.5  # least fraction of the tracked points: hands, new tiles and shadows take less than the rest
_SEEN = 0.3  # of all points must be tracked to conclude that nothing moved
_MOVED = 0.4
_SETTLED_MM = 1.5  # greatest difference of two checks of a bump: above it the arm still swings
_LIGHT = 0.11  # log units: least change of brightness or of one channel
_RENEW_S = 30.0
_EDGES = (90.0, 220.0)  # Canny's thresholds, on illumination-normalised pictures
_EDGE_BGR = (32, 176, 255)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The result of a comparison. ``verdict`` is same, light, moved or unsure.

    ``shift_mm`` is how far the picture's middle moved on the table (x right, y down as seen), ``turn_deg`` clockwise,
    ``furthest_mm`` the largest displacement of a corner of the picture, ``to_now`` (3, 3) maps px of the reference to
    px of the frame. ``light`` is the factor of brightness.
    """

    verdict: str
    shift_mm: tuple[float, float]
    turn_deg: float
    furthest_mm: float
    to_now: Array
    light: float

    @property
    def distance_mm(self) -> float:
        return float(np.hypot(*self.shift_mm))

    @property
    def mendable(self) -> bool:
        """Whether the table can be re-registered automatically. A rotation displaces the picture's corners even
        more."""
        return self.verdict == "moved" and self.distance_mm < MENDED_MM + 1 and self.furthest_mm < 1.5 * MENDED_MM


class Reference:
    """A reference view. ``mm_per_px`` is the size of one px of the full picture on the table."""

    def __init__(self, bgr: Image, mm_per_px: float) -> None:
        self.shape = bgr.shape
        self.mm_per_px = mm_per_px
        self.scale = min(1.0, _WIDTH_PX / bgr.shape[1])
        self.small = _small(bgr, self.scale)
        self.even = _even(self.small)
        self.points = _points(self.even)

    def ghost(self) -> Image:
        """The view itself, downscaled and in colour, as an overlay for the live picture."""
        return self.small

    def edges(self) -> npt.NDArray[np.uint8]:
        """Its edges as a picture of that size (height, width, 4: BGRA), transparent elsewhere."""
        lines = cv2.dilate(cv2.Canny(self.even, *_EDGES), np.ones((2, 2), np.uint8))
        out = np.zeros((*lines.shape, 4), np.uint8)
        out[lines > 0] = (*_EDGE_BGR, 255)
        return out


def compare(reference: Reference, bgr: Image, where: Mask | None = None) -> Drift:
    """Compare a frame with the reference. ``where`` (the picture's height and width, True where points count) masks out
    hands, or all but the board. Never raises on a frame; one of another size is ``unsure``."""
    return _drift(reference, *_step(reference, bgr, where))


def _step(reference: Reference, bgr: Image, where: Mask | None) -> tuple[str, Array, float]:
    """Verdict, motion in px of the reduced picture, factor of brightness."""
    none = np.eye(3)
    if bgr.shape != reference.shape:
        return "unsure", none, 1.0
    small = _small(bgr, reference.scale)
    points = _allowed(reference.points, where, reference.scale)
    if len(points) < _FEWEST:
        return "unsure", none, 1.0
    even = _even(small)
    best: tuple[int, Array, Array, Array] | None = None
    for start in _starts(reference.even, even):
        old, new = _follow(reference.even, even, points, start)
        if len(old) < _FEWEST:
            continue
        together, agree = _together(old, new)
        still = float((np.linalg.norm(new - old, axis=1) < _AGREE_PX).mean())
        if still > _MOST and len(old) > _SEEN * len(points):
            best = round(still * len(old)) if together is None else agree, none if together is None else together, \
                old, new
            break
        if together is not None and (best is None or agree > best[0]):
            best = agree, together, old, new
    if best is None or best[0] < _FEWEST or best[0] < _MOVED * len(best[2]):
        return "unsure", none, 1.0
    _, together, old, new = best
    lasting = np.linalg.norm(_moved(together, old) - new, axis=1) < _AGREE_PX
    brighter, change = _light(reference.small, small, old[lasting], new[lasting])
    verdict = "moved" if not _tiny(reference, together) else "light" if change > _LIGHT else "same"
    return verdict, together, brighter


class DriftWatch:
    """Compares every CHECK_S seconds and reports a bump once two checks agree (debounce): within ten seconds, and not
    for hands.

    The reference is renewed from time to time, since tiles are laid on the table; small shifts are accumulated, so a
    camera that sinks slowly is reported as well.
    """

    def __init__(self, bgr: Image, mm_per_px: float, t_s: float) -> None:
        self.first = Reference(bgr, mm_per_px)
        self._reference, self._base = self.first, np.eye(3)
        self._checked_s = self._renewed_s = t_s
        self._suspect: Drift | None = None
        self.last: Drift | None = None
        """The newest conclusive check."""
        self.unsure = False
        """Whether the newest check was inconclusive."""

    def due(self, t_s: float, every_s: float = CHECK_S) -> bool:
        """Whether the next ``feed`` compares; until then pictures need not be fetched."""
        return t_s - self._checked_s >= every_s

    def feed(self, bgr: Image, t_s: float, where: Mask | None = None, *, every_s: float = CHECK_S) -> Drift | None:
        """One frame. The drift since the first view if a bump or a change of light is certain, else None."""
        if not self.due(t_s, every_s):
            return None
        self._checked_s = t_s
        verdict, small, brighter = _step(self._reference, bgr, where)
        self.unsure = verdict == "unsure"
        if verdict == "unsure":
            return None
        total = small @ self._base
        if verdict != "moved" and not _tiny(self.first, total):
            verdict = "moved"  # gradually
        seen = self.last = _drift(self.first, verdict, total, brighter)
        before, self._suspect = self._suspect, seen if verdict != "same" else None
        if verdict == "same":
            if t_s - self._renewed_s > _RENEW_S and where is None:
                self._reference, self._base, self._renewed_s = Reference(bgr, self.first.mm_per_px), total, t_s
            return None
        if before is None or before.verdict != verdict:
            return None
        apart = float(np.hypot(*(np.array(before.shift_mm) - seen.shift_mm)))
        return seen if verdict == "light" or apart < _SETTLED_MM else None

    def accept(self, bgr: Image, t_s: float) -> None:
        """Make the current view the reference: the table was re-registered, or the new light is accepted."""
        self.first = self._reference = Reference(bgr, self.first.mm_per_px)
        self._base, self._suspect = np.eye(3), None
        self._checked_s = self._renewed_s = t_s


def put_back(drift: Drift) -> Advice:
    """How a person restores the view: the picture must move in the opposite direction."""
    x, y = (-v for v in drift.shift_mm)
    ways = []
    if abs(x) >= 1:
        ways.append(f"{abs(x):.0f} mm to the {'right' if x > 0 else 'left'}")
    if abs(y) >= 1:
        ways.append(f"{abs(y):.0f} mm {'down' if y > 0 else 'up'}")
    turn = -drift.turn_deg
    if abs(turn) >= 0.3:
        ways.append(f"{abs(turn):.1f} degrees {'clockwise' if turn > 0 else 'anticlockwise'}")
    text = (f"something was bumped: move the table {' and '.join(ways)} as the picture shows it, or the camera "
            "against it")
    return Advice(code="drift.put_back", bad=True, text=text if ways else "the view is back where it was",
                  parts={"x_mm": round(x, 1), "y_mm": round(y, 1), "turn_deg": round(turn, 2)})


class GhostJson(TypedDict):
    """A page's overlay for a moved view: ``outline_px`` the border of the reference in the current picture,
    ``arrows_px`` from current to original positions, in px of the full picture, and the sentence."""

    outline_px: list[list[float]]
    arrows_px: list[list[float]]
    advice: AdviceJson
    furthest_mm: float


def ghost(reference: Reference, drift: Drift, arrows: int = 6) -> GhostJson:
    """The overlay for a page, with ``arrows`` arrows."""
    h, w = reference.shape[:2]
    frame = np.array([[0, 0], [w, 0], [w, h], [0, h]], float)
    spots = np.array([[(n % 3 + 1) * w / 4, (n // 3 + 1) * h / 3] for n in range(arrows)])
    return {"outline_px": _moved(drift.to_now, frame).round(1).tolist(),
            "arrows_px": [[*a, *b] for a, b in zip(_moved(drift.to_now, spots).round(1).tolist(),
                                                    spots.round(1).tolist(), strict=True)],
            "advice": put_back(drift).to_json(), "furthest_mm": round(drift.furthest_mm, 1)}


# -- pictures ---------------------------------------------------------------------------------------------------------

def _small(bgr: Image, scale: float) -> Image:
    return np.asarray(cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


def _even(small: Image) -> Image:
    """Illumination normalisation: logarithms relative to wide surroundings, over their standard deviation."""
    logs = cv2.log(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32) + 8.0)
    fine = logs - cv2.GaussianBlur(logs, (0, 0), _LAMP_PX)
    strength = cv2.sqrt(cv2.GaussianBlur(fine * fine, (0, 0), _LAMP_PX)) + 0.03
    out: Image = np.clip(128 + 42 * cv2.GaussianBlur(fine, (0, 0), 0.7) / strength, 0, 255).astype(np.uint8)
    return out


def _points(even: Image) -> npt.NDArray[np.float32]:
    """(N, 2) corners, spread over the picture."""
    rows, columns = 6, 10
    h, w = even.shape
    out = []
    for n in range(rows * columns):
        y, x = divmod(n, columns)
        part = even[y * h // rows:(y + 1) * h // rows, x * w // columns:(x + 1) * w // columns]
        found = cv2.goodFeaturesToTrack(part, _POINTS // (rows * columns) + 1, 0.05, 5, blockSize=5)
        if found is not None:
            out.append(found[:, 0] + (x * w // columns, y * h // rows))
    return np.concatenate(out).astype(np.float32) if out else np.zeros((0, 2), np.float32)


def _allowed(points: npt.NDArray[np.float32], where: Mask | None, scale: float) -> npt.NDArray[np.float32]:
    if where is None:
        return points
    x, y = np.clip((points / scale).astype(int), 0, np.array(where.shape[::-1]) - 1).T
    out: npt.NDArray[np.float32] = points[where[y, x]]
    return out


def _light(before: Image, now: Image, old: Array, new: Array) -> tuple[float, float]:
    """The change of brightness, and the largest change of brightness, one channel or one side of the table, from points
    in both pictures: new tiles are not light."""
    if not len(old):
        return 1.0, 0.0
    pair = []
    for picture, places in ((before, old), (now, new)):
        soft = cv2.boxFilter(picture, -1, (5, 5))
        x, y = np.clip(places.round().astype(int), 0, np.array(picture.shape[1::-1]) - 1).T
        pair.append(soft[y, x].astype(float) + 4)
    change = np.log(pair[1] / pair[0])
    middle = np.median(change, axis=0)
    level, sides = change.mean(axis=1), []
    for axis in range(2):
        first = old[:, axis] < np.median(old[:, axis])
        if 4 < first.sum() < len(old) - 4:
            sides.append(abs(float(np.median(level[first]) - np.median(level[~first]))))
    return float(np.exp(middle.mean())), float(max(abs(middle.mean()), np.ptp(middle), *sides, 0.0))


# -- motion -----------------------------------------------------------------------------------------------------------

def _starts(before: Image, now: Image) -> list[tuple[float, float]]:
    """Initial shifts: zero, and the one that aligns the two pictures as a whole best."""
    half = [cv2.resize(i, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA).astype(np.float32) for i in (before, now)]
    (dx, dy), _ = cv2.phaseCorrelate(half[0], half[1], cv2.createHanningWindow(half[0].shape[::-1], cv2.CV_32F))
    far = (2 * dx, 2 * dy)
    return [(0.0, 0.0)] if np.hypot(*far) < 1.5 else [(0.0, 0.0), far]


def _follow(before: Image, now: Image, points: npt.NDArray[np.float32], start: tuple[float, float]
            ) -> tuple[Array, Array]:
    """Points of the reference and their current positions, for those that were tracked."""
    old = points[:, None]
    guess = old + np.array(start, np.float32)
    follow = partial(cv2.calcOpticalFlowPyrLK, winSize=(19, 19), maxLevel=3, flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
                     criteria=(cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 25, 0.01))
    new, good, _ = follow(before, now, old, guess.copy())
    back, again, _ = follow(now, before, new, old.copy())
    kept = (good.ravel() > 0) & (again.ravel() > 0) & (np.linalg.norm((back - old)[:, 0], axis=1) < _BACK_PX)
    return old[kept, 0].astype(float), new[kept, 0].astype(float)


def _together(old: Array, new: Array) -> tuple[Array | None, int]:
    """(3, 3) similarity with the most inliers, and their number."""
    fitted, inliers = cv2.estimateAffinePartial2D(old, new, method=cv2.RANSAC, ransacReprojThreshold=_AGREE_PX,
                                                  maxIters=2000, confidence=0.999, refineIters=20)
    if fitted is None or inliers is None:
        return None, 0
    return np.vstack([fitted, [0, 0, 1.0]]), int(inliers.sum())


def _moved(to_now: Array, points: Array) -> Array:
    return np.asarray(points @ to_now[:2, :2].T + to_now[:2, 2])


def _scaled(to_now: Array, times: float) -> Array:
    grow = np.diag([times, times, 1.0])
    return np.asarray(grow @ to_now @ np.linalg.inv(grow))


def _corners_mm(reference: Reference, small: Array) -> Array:
    h, w = reference.even.shape
    frame = np.array([[w / 2, h / 2], [0, 0], [w, 0], [w, h], [0, h]], float)
    out: Array = (_moved(small, frame) - frame) / reference.scale * reference.mm_per_px
    return out


def _tiny(reference: Reference, small: Array) -> bool:
    """Whether a movement (in px of the reduced picture) is below the reporting threshold in the centre, and below 1.5
    times that at the corners."""
    far = np.linalg.norm(_corners_mm(reference, small), axis=1)
    return bool(far[0] < 0.8 * NOTICED_MM and far[1:].max() < 1.5 * NOTICED_MM)


def _drift(reference: Reference, verdict: str, small: Array, light: float) -> Drift:
    moves = _corners_mm(reference, small)
    return Drift(verdict=verdict, shift_mm=(float(moves[0, 0]), float(moves[0, 1])),
                 turn_deg=float(np.degrees(np.arctan2(small[1, 0], small[0, 0]))),
                 furthest_mm=float(np.linalg.norm(moves, axis=1).max()),
                 to_now=_scaled(small, 1 / reference.scale), light=light)
