"""Measures the players' colours with this camera in this light, from one follower of each in view.

Followers are detected as small objects that differ from the table. Their colours are matched to daylight paints under
one unknown light (a gain per channel), which models a warm lamp or a wrong white balance. The distance of two colours
is perceptual: CIEDE2000, G. Sharma, W. Wu and E. Dalal, "The CIEDE2000 color-difference formula", Color Research and
Application 30 (2005), as implemented in scikit-image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.advice import Advice
from calibration.documents import CalibrationError, ColoursResult
from vision.frames import Image
from vision.paint import PAINTS

Array = npt.NDArray[np.float64]

CONFUSED = 11.0  # CIEDE2000 below which two players' colours cannot be distinguished on print and in shade
NEAR = 18.0  # and below which a warning is given
_USUAL = ("red", "blue", "yellow", "green", "black", "grey")  # followers of the game's boxes
_WIDTH_PX = 1152  # figures are searched for at this width
_AREA = (2.2e-5, 2.5e-3)  # of the width squared: a follower in a view 45 to 160 cm wide
_DIFFERENT = 13.0  # Lab units from the table around
_SHADE = (0.34, 1.02)  # fraction of the light in a shadow on the table
_MATCH = 24.0  # CIEDE2000 (lightness at half weight) up to which a spot may be a paint
_NAMED = 28.0  # and if the colour is known to be present
_FITS = 9.0  # largest mean CIEDE2000 between the found colours and their paints
_DARK = 40.0  # median level below which a picture is too dark
_GAIN = (0.04, 4.0)
_BELIEF = 0.25  # log units: standard deviation of a camera's white balance
FEWEST = 3  # least number of pieces in a supply: two objects of one colour are on many tables
_ALIKE = 9.0  # CIEDE2000 (lightness at half weight) within which pieces are of one paint
_SOLID = 0.95  # solidity (area over convex hull) of discs and cubes; lying followers have waists and arms
_SQUARE = 0.88  # extent (area over smallest rectangle) of cubes; a disc has 0.79
_SAME = (0.03, 0.08)  # spread of these, and of the aspect ratio, among discs or cubes in one view
_VARIED = 0.1  # spread of the aspect ratio among followers, which stand and lie
_TOLD_PX = 11.0  # side of a piece below which its shape is unknown, at the search width


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerSeen:
    """A follower's colour: its centre in px, its sRGB (red, green, blue), and the confidence of the match."""

    colour: str
    px: tuple[float, float]
    rgb: tuple[int, int, int]
    off: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourCalibration:
    """The colours, with advice."""

    result: ColoursResult
    followers: tuple[FollowerSeen, ...]
    advice: tuple[Advice, ...]


def calibrate_colours(picture: Image, colours: Sequence[str] | None = None) -> ColourCalibration:
    """The players' ``colours`` (default: every one that is found) in a picture (BGR). Raises CalibrationError."""
    names = tuple(colours or _USUAL)
    spots = _spots(picture)
    if not spots:
        dark = float(np.median(picture)) < _DARK
        raise CalibrationError("no followers were seen; " + ("the picture is dark: switch on a lamp" if dark else
                               "put one of each player on the bare table, apart from each other"),
                               "colours.dark" if dark else "colours.nobody")
    gains, chosen = _explain(spots, names, _MATCH if colours is None else _NAMED)
    if not chosen:
        raise CalibrationError(f"{len(spots)} things were seen, but none has a player's colour; put one follower of "
                               "each player on the bare table in the light you play in", "colours.nocolour",
                               n=len(spots))
    found = {name: spots[n] for name, n in chosen.items()}
    missing = [c for c in names if c not in found]
    if colours is not None and missing:
        words = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        raise CalibrationError(f"no follower of {words} was seen; put one of each player on the bare table, apart from "
                               "each other, and if they are there, use a whiter lamp: this light hides the colour",
                               "colours.missing", colours=",".join(missing))
    off = float(np.mean([_cost(spot.linear, name, gains) for name, spot in found.items()]))
    if off > _FITS:
        raise CalibrationError(f"what was found does not match the players' colours in any light ({off:.0f}, "
                               f"and {_FITS:.0f} is the most): use a whiter lamp, and put nothing but followers "
                               "beside the board",
                               "colours.nolight")
    paints = {name: spot.rgb for name, spot in found.items()}
    distances = {f"{a}-{b}": round(difference(paints[a], paints[b]), 2)
                 for a, b in combinations(sorted(paints), 2)}
    confused = tuple(pair for pair, d in distances.items() if d < CONFUSED)
    light = tuple(float(g) for g in gains / gains.mean())
    result = ColoursResult(paints=paints, light=(light[0], light[1], light[2]), distances=distances, confused=confused)
    followers = tuple(FollowerSeen(colour=name, px=spot.px, rgb=spot.rgb,
                                   off=round(_cost(spot.linear, name, gains), 2)) for name, spot in found.items())
    return ColourCalibration(result=result, followers=followers,
                             advice=tuple(_advice(found, distances, spots[0].table)))


def learn_supply(picture: Image, colour: str, known: ColoursResult | None = None) -> ColourCalibration:
    """Learn one player's pieces from a picture (BGR) of at least FEWEST of them on the bare table, apart from each
    other: their paint, whatever it is, and whether they are discs or cubes. ``known`` is the previous result, whose
    other colours are kept. Raises CalibrationError."""
    groups: list[list[_Spot]] = []
    for spot in _spots(picture):
        own = next((g for g in groups if _apart(spot, g[0]) < _ALIKE), None)
        (groups.append([spot]) if own is None else own.append(spot))
    supplies = sorted((g for g in groups if len(g) >= FEWEST), key=len, reverse=True)
    if not supplies:
        most = max(map(len, groups), default=0)
        raise CalibrationError(f"{most} pieces of one colour were seen; lay at least {FEWEST} of one player's on the "
                               "bare table, apart from each other", "supply.few", n=most, least=FEWEST)
    if len(supplies) > 1 and colour not in PAINTS:
        raise CalibrationError("pieces of several players are in view; leave those of one there", "supply.several")
    gains = np.array(known.light if known is not None else (1.0, 1.0, 1.0))
    supply = supplies[0] if len(supplies) == 1 else min(
        supplies, key=lambda g: float(np.median([_cost(_lit(s.linear), colour, gains) for s in g])))
    r, g, b = (round(float(v)) for v in np.median([s.rgb for s in supply], axis=0))
    shape = _shape_of([s.outline for s in supply if s.outline is not None])
    paints = {**(known.paints if known is not None else {}), colour: (r, g, b)}
    distances = {f"{x}-{y}": round(difference(paints[x], paints[y]), 2) for x, y in combinations(sorted(paints), 2)}
    result = ColoursResult(
        paints=paints, light=known.light if known is not None else (1.0, 1.0, 1.0), distances=distances,
        confused=tuple(pair for pair, d in distances.items() if d < CONFUSED),
        shapes={**{c: s for c, s in (known.shapes if known is not None else {}).items() if c != colour},
                **({colour: shape} if shape else {})})
    seen = tuple(FollowerSeen(colour=colour, px=s.px, rgb=s.rgb, off=round(_apart(s, supply[0]), 2)) for s in supply)
    own_pairs = {pair: d for pair, d in distances.items() if colour in pair.split("-")}
    advice = [a for a in _advice({colour: supply[0]}, own_pairs, supply[0].table) if a.code != "colours.one"]
    return ColourCalibration(result=result, followers=seen, advice=tuple(advice))


def _lit(linear: Array) -> Array:
    """The same paint in full light; unchanged if it is black to the camera."""
    brightest = float(linear.max())
    return linear / brightest * 0.8 if brightest > 0 else linear


def _ciede2000(one: Array, other: Array, light: float = 1.0) -> float:
    """The difference of two sRGB colours (3,) from 0 to 1, a difference of lightness divided by ``light``."""
    from skimage.color import deltaE_ciede2000, rgb2lab  # imports SciPy, which is not needed at start-up

    lab = rgb2lab(np.array([[one, other]]))[0]
    return float(deltaE_ciede2000(lab[0], lab[1], kL=light))  # type: ignore[no-untyped-call]


def _apart(one: _Spot, other: _Spot) -> float:
    """CIEDE2000 between two pieces, with lightness at half weight: the light differs between their places."""
    return _ciede2000(np.array(one.rgb) / 255, np.array(other.rgb) / 255, light=2.0)


def difference(a: tuple[int, int, int], b: tuple[int, int, int]) -> float:
    """CIEDE2000 between two sRGB colours."""
    return _ciede2000(np.array(a) / 255, np.array(b) / 255)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    px: tuple[float, float]
    rgb: tuple[int, int, int]
    linear: Array
    pale: bool  # it may be a shadow; of the paints only grey and black look like one
    table: tuple[int, int, int]
    outline: tuple[float, float, float] | None = None  # solidity (area over convex hull), extent (area over smallest
    # rectangle) and aspect ratio; None where it is too small to tell


def _spots(picture: Image) -> list[_Spot]:
    """Small objects that differ from the surrounding table by more than a shadow."""
    scale = min(1.0, _WIDTH_PX / picture.shape[1])
    small = picture if scale == 1.0 else np.asarray(
        cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    soft = cv2.GaussianBlur(small, (0, 0), 0.9)
    around = _surroundings(small)
    lab, ground = (cv2.cvtColor(i.astype(np.float32) / 255, cv2.COLOR_BGR2Lab) for i in (soft, around))
    apart = np.linalg.norm(lab - ground, axis=2)
    ratio = (soft.astype(np.float32) + 4) / (around.astype(np.float32) + 4)
    shade = (ratio.max(axis=2) < _SHADE[1]) & (ratio.min(axis=2) > _SHADE[0]) & (np.ptp(ratio, axis=2) < 0.14)
    limit = max(_DIFFERENT, 5.0 * float(np.median(apart)))
    table = np.median(around.reshape(-1, 3), axis=0)
    found = _blobs(small, (apart > limit) & ~shade, scale, table, pale=False)
    taken = [spot.px for spot in found]
    near = 0.03 * picture.shape[1]
    return found + [s for s in _blobs(small, apart > limit, scale, table, pale=True)
                    if all(np.hypot(s.px[0] - x, s.px[1] - y) > near for x, y in taken)]


def _blobs(small: Image, differs: npt.NDArray[np.bool_], scale: float, table: Array, *, pale: bool) -> list[_Spot]:
    mask = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, stats, centres = cv2.connectedComponentsWithStats(mask)
    width = small.shape[1]
    out = []
    for n in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[n])
        if not _AREA[0] * width**2 < area < _AREA[1] * width**2 or max(w, h) > 3.2 * min(w, h):
            continue
        part = (slice(y, y + h), slice(x, x + w))
        blob = (labels[part] == n).astype(np.uint8)
        core = cv2.erode(blob, np.ones((3, 3), np.uint8)).astype(bool)
        pixels = small[part][core if core.sum() >= 6 else blob.astype(bool)].astype(float)
        if pale:  # the piece is lighter than the attached shadow
            level = pixels.sum(axis=1)
            pixels = pixels[level >= np.quantile(level, 0.6)]
        middle = np.median(pixels, axis=0)[::-1]
        r, g, b = (round(float(v)) for v in middle)
        out.append(_Spot(px=(float(centres[n][0] / scale), float(centres[n][1] / scale)), rgb=(r, g, b),
                         linear=_linear(middle), pale=pale, table=(round(table[2]), round(table[1]), round(table[0])),
                         outline=_outline(blob)))
    return out


def _outline(blob: npt.NDArray[np.uint8]) -> tuple[float, float, float] | None:
    area = float(blob.sum())
    if area < _TOLD_PX**2:
        return None
    outlines, _ = cv2.findContours(np.pad(blob, 1), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=len)
    hull = np.zeros((blob.shape[0] + 2, blob.shape[1] + 2), np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(outline), 1)
    wide, high = cv2.minAreaRect(outline)[1]
    return area / float(hull.sum()), area / ((wide + 1) * (high + 1)), (max(wide, high) + 1) / (min(wide, high) + 1)


def _shape_of(outlines: Sequence[tuple[float, float, float]]) -> str:
    """The shape of a supply's pieces: discs and cubes are uniform, followers lie and stand; "" if undecided."""
    if len(outlines) < FEWEST:
        return ""
    solid, filled, long = np.array(outlines).T
    if np.median(solid) > _SOLID and filled.std() < _SAME[0] and long.std() < _SAME[1]:
        return "cube" if np.median(filled) > _SQUARE else "disc"
    return "follower" if np.median(solid) < _SOLID and long.std() > _VARIED else ""


def _surroundings(small: Image) -> Image:
    """The background without small objects: a wide median of a smaller copy."""
    step = 4
    tiny = cv2.resize(small, None, fx=1 / step, fy=1 / step, interpolation=cv2.INTER_AREA)
    wide = (round(tiny.shape[1] * 0.09) | 1)
    return np.asarray(cv2.resize(cv2.medianBlur(tiny, min(wide, 255)), small.shape[1::-1],
                                 interpolation=cv2.INTER_LINEAR), np.uint8)


def _linear(rgb: npt.ArrayLike) -> Array:
    """Linear light 0..1 from sRGB values 0..255."""
    v = np.asarray(rgb, float) / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def _shown(linear: Array) -> Array:
    v = np.clip(linear, 0, 1)
    return np.asarray(np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055))


def _cost(linear: Array, name: str, gains: Array) -> float:
    """CIEDE2000 from a paint in daylight, with lightness at half weight: it depends on exposure and the visible
    side."""
    return _ciede2000(_shown(linear / gains), np.array(PAINTS[name].rgb) / 255, light=2.0)


def _explain(spots: Sequence[_Spot], names: Sequence[str], match: float) -> tuple[Array, dict[str, int]]:
    """The light's gains (red, green, blue) under which the spots match the paints best, and the assignment of spots."""
    best: tuple[float, Array, dict[str, int]] | None = None
    for warm in (0.0, 0.35, -0.35, 0.7):
        gains = np.exp([warm * 0.6, 0.0, -warm])
        chosen: dict[str, int] = {}
        for _ in range(6):
            again = _assign(spots, names, gains, match)
            if again == chosen:
                break
            chosen = again
            gains = _gains(spots, chosen)
        off = sum(_cost(spots[n].linear, name, gains) - match for name, n in chosen.items())
        off += 4.0 * float((np.log(gains / gains.mean()) ** 2).sum()) / _BELIEF**2
        if best is None or off < best[0]:
            best = off, gains, chosen
    assert best is not None
    return best[1], best[2]


def _assign(spots: Sequence[_Spot], names: Sequence[str], gains: Array, match: float) -> dict[str, int]:
    """Per colour the best-matching spot; a spot is assigned to its nearest colour."""
    from scipy.optimize import linear_sum_assignment

    cost = np.array([[match + 1 if s.pale and name not in ("grey", "black") else _cost(s.linear, name, gains)
                      for s in spots] for name in names])
    rows, columns = linear_sum_assignment(np.minimum(cost, match + 1))
    return {names[r]: int(c) for r, c in zip(rows, columns, strict=True) if cost[r, c] < match}


def _gains(spots: Sequence[_Spot], chosen: dict[str, int]) -> Array:
    """Per channel the gain of the chosen spots over their paints, where the paint reflects that channel."""
    total, weight = np.zeros(3), np.full(3, 0.02 / _BELIEF**2)
    for name, n in chosen.items():
        paint = _linear(PAINTS[name].rgb)
        w = np.clip(paint, 0.0, 0.5)
        total += w * np.log((spots[n].linear + 0.004) / (paint + 0.004))
        weight += w
    out: Array = np.clip(np.exp(total / weight), *_GAIN)
    return out


def _advice(found: dict[str, _Spot], distances: dict[str, float], table: tuple[int, int, int]) -> list[Advice]:
    out = []
    for pair, d in sorted(distances.items(), key=lambda p: p[1]):
        a, b = pair.split("-")
        if d < CONFUSED:
            out.append(Advice(code="colours.confused", bad=True, parts={"a": a, "b": b, "distance": d},
                              text=f"{a} and {b} cannot be told apart in this light ({d:.0f}, and {CONFUSED:.0f} is "
                                   "the least): use a brighter, whiter lamp, or another colour"))
        elif d < NEAR:
            out.append(Advice(code="colours.near", parts={"a": a, "b": b, "distance": d},
                              text=f"{a} and {b} are close in this light ({d:.0f}); more light would help"))
    for name, spot in found.items():
        d = difference(spot.rgb, table)
        if d < CONFUSED:
            out.append(Advice(code="colours.table", parts={"colour": name, "distance": round(d, 1)},
                              text=f"{name} is nearly the table's own colour ({d:.0f}); on tiles it will be seen, "
                                   "beside them hardly"))
    if found and max(max(s.rgb) for s in found.values()) > 252:
        out.append(Advice(code="colours.bright", text="the brightest follower is burnt out; lower the exposure"))
    if len(found) == 1:
        out.append(Advice(code="colours.one", text="only one colour was found; put one follower of each player down"))
    return out
