"""Whose figure stands on the tile just laid, and on which of its segments.

The tile as it was known (its own bare picture, else the taught picture in this light) is compared with what is seen;
what differs in one piece, in a player's colour and of a figure's size is a figure. Its foot is where the piece is after
the lean away from the camera is taken back; the segment follows from the foot, from standing or lying, and from what
may be claimed there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.contributions import Piece
from scoring.geometry import distance_to_segment, spot_of
from scoring.tiles import Tile, where
from vision.frames import Image
from vision.lattice import Array, apply
from vision.view import View, usual_eye
from vision.wood import TILE_MM, longer

CROP_PX = 96  # per tile
MARGIN = 0.4  # tiles around the tile: a figure leans over its border
PAINT: Mapping[str, tuple[int, int, int]] = {  # sRGB of painted wood in even light
    "red": (196, 36, 38), "blue": (32, 78, 178), "yellow": (238, 196, 32), "green": (38, 130, 48),
    "black": (34, 32, 34), "grey": (128, 130, 134),
}
_DIFFERENT = 17.0  # Lab units from the tile as it was seen
_DIFFERENT_TAUGHT = 24.0  # and from its taught picture, which was printed and lit elsewhere
_GAINED = 7.0  # in the two colour axes, towards the paint that is looked for
_HUE, _TURNED = 16.0, 6.0  # degrees from its hue, and nearer to it than the picture below
_ALIKE, _TURNED_ALIKE = 0.5, 0.16  # chroma of such print, and sine of the angle between the two hues
_VIVID = 0.6  # of its chroma: walls are yellow too, but pale
_AREA = (0.022, 0.34)  # in tiles: from a figure half hidden to a large one lying
_FIGURE_MM = 16.0
_FOOT_SIGMA = 5.0  # drawing units: jitter of foot estimates
_TAKEN = -5.0  # log-odds of standing on what may not be claimed
_OTHER_PLAYER = -3.5  # log-odds of a figure of somebody whose turn it is not
_COLOUR_SIGMA = 14.0
_NOBODY, _VERY = -9.0, -3.0  # log-likelihood of a paint below which it is none; and where roofs must not count
_GUESSED_AREA = 0.05  # in tiles: huts are smaller
_OWN_PAINT = 34.0  # Lab units by which light and dark sides of one figure differ
_SHADES = (1.0, 0.85, 0.7, 0.55)  # how much of the light a figure's shadow leaves
_BLOCK_FILL = 0.74
_MOST_PAINT = 0.12
_POSTURE_FLOOR = 0.015  # people do lay a thief down and stand a farmer up
_LIT, _MOST_GAIN = 100.0, 3.0  # of a tile's brighter channel in usual light, and how dim it may be
_TAUGHT_PAINT = 0.9  # against a taught picture only the active player's paint is believed, and only this surely

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReading:
    """A figure on a tile. ``colours`` are (player, probability) and ``options`` (segment, probability), best first;
    ``foot`` is its base point in drawing coordinates, ``lying`` the probability that it lies, ``size`` its area in
    tiles; ``longer`` is by piece the logarithm of its length over what that piece's would be (`vision.wood`)."""

    colours: tuple[tuple[int, float], ...]
    options: tuple[tuple[int, float], ...]
    foot: tuple[float, float]
    lying: float
    size: float
    longer: Mapping[str, float] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        return self.colours[0][1] * self.options[0][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silhouette:
    """A piece that stands out from its tile. ``outline`` is in pixels of the crop; ``why`` is empty when it was taken
    for a figure, else colour (nobody's, or not surely enough) or place (its foot is not on this tile)."""

    outline: npt.NDArray[np.int32]
    player: int | None = None
    sure: float = 0.0
    lying: float = 0.0
    why: str = ""


def read_figure(crop: Image, known: Image, pose: Array, frame_shape: Sequence[int], tile: Tile, rot: int,
                colours: Sequence[str], active: int, free: Collection[int], *, bare: bool,
                guessed: bool = False, view: View | None = None, looks: list[Silhouette] | None = None,
                pieces: Sequence[Piece] = (), upright: Collection[int] = ()) -> FigureReading | None:
    """The figure on a tile, or None; everything that stood out is added to ``looks``.

    ``crop`` and ``known`` are rectified with MARGIN at CROP_PX; ``free`` are the segments that may be claimed;
    ``colours`` the players' in turn order; ``bare`` says that ``known`` is the tile itself as seen before, not its
    taught picture, and ``guessed`` that it is only our drawing of the kind: roofs differ from it too, so only what has
    a paint's very colour counts; ``view`` is what a calibration knows of camera and paint. Where it may be one of
    several ``pieces`` its silhouette is measured. On the ``upright`` segments nothing is expected to lie.
    """
    crop, known = _lit(crop, known, bare)
    cast = np.ones(3, np.float32)
    paints = {**PAINT, **view.paints} if view is not None else PAINT
    if not bare:
        known, lamp = _painted(known, crop)
        cast = cast if view is not None and view.paints else lamp  # measured paint was seen in this light
    seen, light = _same_light(crop, known)
    own = colours if active < 0 else (colours[active],)
    mask = _foreign(seen, known, _DIFFERENT if bare else _DIFFERENT_TAUGHT, {c: paints[c] for c in own}, cast)
    nobody = (_VERY if active >= 0 else _VERY + _OTHER_PLAYER) if guessed else _NOBODY
    best: FigureReading | None = None
    whole = np.zeros(0, bool)
    for rough in _blobs(mask, bare):
        blob = _silhouette(rough, seen, known)
        size = float(blob.sum()) / CROP_PX**2
        colour = _colours(crop, light, blob, [paints[c] for c in colours], active, nobody)
        believed = colour is not None and (bare or _believed(colour[0], active))
        if colour is None or not believed or (guessed and size < _GUESSED_AREA):
            _note(looks, blob, colour, why="colour")
            continue
        lying = _lying(blob)
        foot = _foot(blob, pose, frame_shape, lying, view)
        if not (-0.04 < foot[0] < 1.04 and -0.04 < foot[1] < 1.04):
            _note(looks, blob, colour, lying=lying, why="place")
            continue
        _note(looks, blob, colour, lying=lying)
        at = (float(np.clip(100 * foot[0], 0.5, 99.5)), float(np.clip(100 * foot[1], 0.5, 99.5)))
        reading = FigureReading(colours=colour, options=_segments(tile, rot, at, lying, free, upright), foot=at,
                                lying=lying, size=size)
        if best is None or reading.colours[0][1] * size > best.colours[0][1] * best.size:
            best, whole = reading, blob
    if best is None or len(pieces) < 2:
        return best
    nadir, height = _eye(pose, frame_shape, view)
    lies = {p.name: p.follower and best.lying > 0.5 for p in pieces}
    return replace(best, longer=longer(whole, {p.name: p.wood_mm for p in pieces}, lies, pose, nadir, height,
                                       np.array(best.foot) / 100, CROP_PX, MARGIN))


def _lit(crop: Image, known: Image, bare: bool) -> tuple[Image, Image]:
    """A tile in poor light as bright as one in usual light: how far colours are apart is known for that. A picture of
    the tile itself (``bare``) was taken in much the same light."""
    edge = round(MARGIN * CROP_PX)
    level = float(np.median(crop[edge:edge + CROP_PX, edge:edge + CROP_PX].max(axis=2)))
    gain = min(_LIT / max(level, 1.0), _MOST_GAIN)
    if gain <= 1.0:
        return crop, known
    lit, other = (cv2.convertScaleAbs(picture, alpha=gain) for picture in (crop, known))
    if not bare:  # only what is round it was seen in this light
        other[edge:edge + CROP_PX, edge:edge + CROP_PX] = known[edge:edge + CROP_PX, edge:edge + CROP_PX]
    return lit, other


def _note(looks: list[Silhouette] | None, blob: npt.NDArray[np.bool_], colour: tuple[tuple[int, float], ...] | None, *,
          lying: float = 0.0, why: str = "") -> None:
    if looks is None:
        return
    found, _ = cv2.findContours(blob.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if found:
        player, sure = colour[0] if colour is not None else (None, 0.0)
        looks.append(Silhouette(outline=max(found, key=cv2.contourArea)[:, 0], player=player, sure=sure, lying=lying,
                                why=why))


def _believed(colour: tuple[int, float], active: int) -> bool:
    """Whether paint seen against a taught picture counts; ``active`` -1 asks for anybody's."""
    return active in (-1, colour[0]) and colour[1] >= _TAUGHT_PAINT


def paint_mask(bgr: Image, colours: Sequence[str], view: View | None = None) -> npt.NDArray[np.uint8]:
    """255 where a pixel may be a player's figure by its colour alone, else 0: what a tile must not be judged by."""
    paints = {**PAINT, **view.paints} if view is not None else PAINT
    lab = cv2.cvtColor(cv2.GaussianBlur(bgr, (0, 0), 0.8).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    out = np.zeros(bgr.shape[:2], bool)
    for colour in colours:
        target = cv2.cvtColor(np.array([[paints[colour][::-1]]], np.float32) / 255, cv2.COLOR_BGR2Lab)[0, 0]
        if np.hypot(*target[1:]) < 12.0:
            own = (np.abs(lab[..., 0] - target[0]) < 15.0) & (chroma < 9.0)
        else:
            full = float(np.hypot(*target[1:]))
            hue = (lab[..., 1] * target[1] + lab[..., 2] * target[2]) / (np.maximum(chroma, 1.0) * full)
            shade = np.clip(lab[..., 0] / target[0], 0.4, 1.0)  # in a dim light paint is less vivid too
            own = (hue > 0.965) & (chroma > 0.6 * full * shade) & (np.abs(lab[..., 0] - target[0]) < 25.0)
        if own.mean() < _MOST_PAINT:  # more than that is print or table of the same colour
            out |= own
    return (out * 255).astype(np.uint8)


def _same_light(crop: Image, known: Image) -> tuple[FloatArray, FloatArray]:
    """The crop with each channel brought to the light of the known picture, and the three factors."""
    c, k = crop.astype(np.float32) + 4.0, known.astype(np.float32) + 4.0
    factor = np.median((c / k).reshape(-1, 3), axis=0)
    ratio = cv2.GaussianBlur(np.clip(c / (k * factor), 0.6, 1.6), (0, 0), CROP_PX * 0.5)
    return np.clip(c / (factor * np.clip(ratio, 0.85, 1.18)), 0, 255).astype(np.float32), factor.astype(np.float32)


def _painted(known: Image, crop: Image) -> tuple[Image, FloatArray]:
    """The taught picture in the light of the crop: one factor per channel, fitted to what most of the tile says.

    More freedom would explain a figure away: a map of colours fitted to a meadow paints roofs as it likes. The margin
    is left as it is: it was seen. The second value is the light's cast: those factors about their mean.
    """
    edge = round(MARGIN * CROP_PX)
    inside = (slice(edge, edge + CROP_PX), slice(edge, edge + CROP_PX))
    a = cv2.GaussianBlur(known[inside], (0, 0), 2.0).reshape(-1, 3).astype(np.float32) + 4.0
    b = cv2.GaussianBlur(crop[inside], (0, 0), 2.0).reshape(-1, 3).astype(np.float32) + 4.0
    ratio = np.median(b / a, axis=0)
    for _ in range(3):
        off = np.abs(np.log(b / (a * ratio))).max(axis=1)
        keep = off <= np.quantile(off, 0.6)
        ratio = np.exp(np.log(b[keep] / a[keep]).mean(axis=0))
    out = known.copy()
    soft = cv2.GaussianBlur(known[inside], (0, 0), 0.8)  # print is sharper than what the camera sees of it
    out[inside] = np.clip(soft * ratio, 0, 255).astype(np.uint8)
    return out, np.clip(ratio / ratio.mean(), 0.75, 1.33).astype(np.float32)


def _foreign(seen: FloatArray, known: Image, limit: float, paints: Mapping[str, tuple[int, int, int]],
             cast: FloatArray) -> npt.NDArray[np.uint8]:
    """Where something lies that is not the known picture, shadows taken out. What went towards one of the ``paints``
    that are looked for counts by its hue alone: green wood on grass."""
    blur = (0, 0), 1.2
    a, b = cv2.GaussianBlur(seen, *blur), cv2.GaussianBlur(known.astype(np.float32), *blur)
    lab = cv2.cvtColor(np.clip(np.stack([a, b]).reshape(-1, a.shape[1], 3) / 255, 0, 1), cv2.COLOR_BGR2Lab)
    half = len(a)
    apart = np.linalg.norm(lab[:half] - lab[half:], axis=2)
    ratio = (a + 6.0) / (b + 6.0)
    shade = (ratio.max(axis=2) < 0.97) & (ratio.min(axis=2) > 0.42) & (np.ptp(ratio, axis=2) < 0.13)
    painted = np.zeros(shade.shape, bool)
    for paint in paints.values():
        painted |= _towards(lab[:half, :, 1:], lab[half:, :, 1:], paint, cast)
    mask = (((apart > limit) & ~shade) | painted).astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9)))
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9)))


def _towards(seen: FloatArray, known: FloatArray, rgb: tuple[int, int, int], cast: FloatArray) -> npt.NDArray[np.bool_]:
    """Where the colour axes (h, w, 2) went towards a paint in this light and have about its hue; nowhere for black and
    grey."""
    paint = np.clip(np.array([[rgb[::-1]]], np.float32) / 255 * cast, 0, 1)
    target = cv2.cvtColor(paint.astype(np.float32), cv2.COLOR_BGR2Lab)[0, 0, 1:]
    if np.hypot(*target) < 12.0:
        return np.zeros(seen.shape[:2], bool)
    gained = np.linalg.norm(known - target, axis=2) - np.linalg.norm(seen - target, axis=2)
    angle, before = _angle(seen, target), _angle(known, target)
    vivid = np.linalg.norm(seen, axis=2) > _VIVID * np.hypot(*target)
    nearer = (gained > _GAINED) & (angle < _HUE) & (before - angle > _TURNED)
    # print of nearly the paint's hue: wood differs from it to either side, and print from itself by less
    alike = np.linalg.norm(known, axis=2) > _ALIKE * np.hypot(*target)
    across = np.abs(seen[..., 0] * known[..., 1] - seen[..., 1] * known[..., 0])
    turned = across / np.maximum(np.linalg.norm(seen, axis=2) * np.linalg.norm(known, axis=2), 1.0)
    return np.asarray(vivid & (nearer | (alike & (angle < _HUE) & (turned > _TURNED_ALIKE))))


def _angle(ab: FloatArray, target: FloatArray) -> FloatArray:
    """Difference of hue, in degrees, of colour axes (h, w, 2) from one hue."""
    cos = ab @ target / (np.maximum(np.linalg.norm(ab, axis=2), 1.0) * np.hypot(*target))
    return np.asarray(np.degrees(np.arccos(np.clip(cos, -1.0, 1.0))), np.float32)


def _blobs(mask: npt.NDArray[np.uint8], bare: bool) -> list[npt.NDArray[np.bool_]]:
    """Pieces of a figure's size. On a tile that was not seen ``bare`` what is larger is cut at the tile's border: a
    tile that came beside it at the same time may touch the figure."""
    low, high = (a * CROP_PX**2 for a in _AREA)
    out = []
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    for n in range(1, count):
        if low < stats[n, cv2.CC_STAT_AREA] < high:
            out.append(labels == n)
        elif not bare and stats[n, cv2.CC_STAT_AREA] >= high:
            edge = round(MARGIN * CROP_PX)
            inside = np.zeros_like(mask)
            inside[edge:edge + CROP_PX, edge:edge + CROP_PX] = (labels == n)[edge:edge + CROP_PX, edge:edge + CROP_PX]
            parts, own, sizes, _ = cv2.connectedComponentsWithStats(inside)
            out += [own == k for k in range(1, parts) if low < sizes[k, cv2.CC_STAT_AREA] < high]
    return out


def _silhouette(rough: npt.NDArray[np.bool_], seen: FloatArray, known: Image) -> npt.NDArray[np.bool_]:
    """The whole figure around a rough blob: what is nearer to its paint than to the picture below, in light or in the
    figure's own shade, in one piece."""
    lab = cv2.cvtColor(cv2.GaussianBlur(seen, (0, 0), 0.8) / 255, cv2.COLOR_BGR2Lab)
    below = cv2.GaussianBlur(known.astype(np.float32), (0, 0), 0.8) / 255
    weight = np.array([0.5, 1.0, 1.0], np.float32)
    core = cv2.erode(rough.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    paint = np.median(lab[core if core.sum() > 20 else rough], axis=0)
    to_paint = np.linalg.norm((lab - paint) * weight, axis=2)
    shaded = [cv2.cvtColor(below * np.float32(shade), cv2.COLOR_BGR2Lab) for shade in _SHADES]
    to_below = np.min([np.linalg.norm((lab - s) * weight, axis=2) for s in shaded], axis=0)
    near = cv2.dilate(rough.astype(np.uint8), np.ones((25, 25), np.uint8)).astype(bool)
    own = ((to_paint < to_below) & (to_paint < _OWN_PAINT) & near).astype(np.uint8)
    own = cv2.morphologyEx(own, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    _, labels = cv2.connectedComponents(own)
    touching = labels[rough & (labels > 0)]
    if not touching.size:
        return rough
    whole = labels == np.bincount(touching).argmax()
    filled = cv2.morphologyEx(whole.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)).astype(bool)
    return filled if filled.sum() > 0.4 * rough.sum() else rough


def _colours(crop: Image, light: FloatArray, blob: npt.NDArray[np.bool_],
             paints: Sequence[tuple[int, int, int]], active: int,
             nobody: float) -> tuple[tuple[int, float], ...] | None:
    """Whose colour the blob has, as (player, probability); None when it is nobody's: all below ``nobody`` (log)."""
    core = cv2.erode(blob.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    pixels = crop[core if core.any() else blob].astype(np.float32)
    cast = np.clip(light / light.mean(), 0.75, 1.33)
    lab = cv2.cvtColor((np.clip(pixels / cast, 0, 255) / 255)[None], cv2.COLOR_BGR2Lab)[0]
    middle = np.median(lab, axis=0)
    paint = np.array([[rgb[::-1] for rgb in paints]], np.float32) / 255
    ideal = cv2.cvtColor(paint, cv2.COLOR_BGR2Lab)[0]
    logits = []
    for n, target in enumerate(ideal):
        far = paint_distance(middle, target) / _COLOUR_SIGMA
        logits.append(-0.5 * far**2 + (0.0 if n == active else _OTHER_PLAYER))
    if max(logits) < nobody:
        return None
    p = np.exp(np.array(logits) - max(logits))
    p /= p.sum()
    return tuple(sorted(((n, float(q)) for n, q in enumerate(p)), key=lambda x: -x[1]))


def paint_distance(lab: npt.NDArray[np.float32], target: npt.NDArray[np.float32]) -> float:
    """How far a colour is from a paint: hue and chroma count, lightness little unless both are colourless."""
    chroma = float(np.hypot(*target[1:]))
    own = float(np.hypot(*lab[1:]))
    if chroma < 12.0:
        return float(np.hypot(0.8 * (lab[0] - target[0]), 1.3 * max(0.0, own - 8.0)))
    scale = float(np.clip(chroma / max(own, 1.0), 0.75, 1.6)) if own > 12 else 1.0
    return float(np.hypot(0.35 * (lab[0] - target[0]), np.linalg.norm(scale * lab[1:] - target[1:])))


def _lying(blob: npt.NDArray[np.bool_]) -> float:
    """Probability that a figure lies: seen from above it is a star, a standing one a block that fills its rectangle."""
    contours, _ = cv2.findContours(blob.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(contours, key=cv2.contourArea)
    _, (width, height), _ = cv2.minAreaRect(outline)
    fill = float(blob.sum()) / max((width + 1) * (height + 1), 1.0)
    return float(1.0 / (1.0 + np.exp((fill - _BLOCK_FILL) * 40.0)))


def _foot(blob: npt.NDArray[np.bool_], pose: Array, frame_shape: Sequence[int], lying: float,
          view: View | None) -> tuple[float, float]:
    """The base point in tile steps from the corner: the blob's middle moved towards the point under the camera.

    A point at height h above the table is seen away from the nadir by the factor H / (H - h), H the camera's height.
    """
    y, x = np.nonzero(blob)
    middle = np.array([[x.mean() + 0.5, y.mean() + 0.5]]) / CROP_PX - MARGIN
    px = apply(pose, middle)[0]
    nadir, height = _eye(pose, frame_shape, view)
    up = _FIGURE_MM * (0.5 * (1 - lying) + 0.25 * lying)
    foot = apply(np.linalg.inv(pose), [px + (np.array(nadir) - px) * up / height])[0]
    return float(foot[0]), float(foot[1])


def _eye(pose: Array, frame_shape: Sequence[int], view: View | None) -> tuple[tuple[float, float], float]:
    """The point below the camera in px, and how high it hangs in mm above a tile of that size in the picture."""
    corners = apply(pose, [[0, 0], [1, 0], [1, 1], [0, 1]])
    (ax, ay), (bx, by) = corners[2] - corners[0], corners[3] - corners[1]
    side = float(np.sqrt(abs(ax * by - ay * bx) / 2))
    eye = view.eye if view is not None else usual_eye(tuple(frame_shape))
    return eye.nadir_px, eye.focal_px * TILE_MM / side


def _segments(tile: Tile, rot: int, at: tuple[float, float], lying: float, free: Collection[int],
              upright: Collection[int]) -> tuple[tuple[int, float], ...]:
    """(segment, probability) for every segment a figure may stand on, best first."""
    logits = []
    places = [n for n, s in enumerate(tile.segments) if s.kind in ("city", "road", "field", "cloister")]
    for n in places:
        kind = tile.segments[n].kind
        far = distance_to_segment(tile, n, at[0], at[1], rot) / _FOOT_SIGMA
        spot = spot_of(tile, n, rot)
        habit = float(np.hypot(at[0] - spot[0], at[1] - spot[1])) / 45.0
        posture = np.log(np.clip(lying if kind == "field" and n not in upright else 1.0 - lying, _POSTURE_FLOOR, 1.0))
        logits.append(-0.5 * far**2 - 0.5 * habit**2 + posture + (0.0 if n in free else _TAKEN))
    p = np.exp(np.array(logits) - max(logits))
    p /= p.sum()
    return tuple(sorted(((n, float(q)) for n, q in zip(places, p, strict=True)), key=lambda x: -x[1]))


def named(tile: Tile, rot: int, segment: int) -> tuple[str, str]:
    """Kind and ``where`` of a segment on the board."""
    return tile.segments[segment].kind, where(tile.segments[segment], rot)
