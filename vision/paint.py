"""Classifies the paint of a silhouette under this table's light.

A colour is measured as (u, v, l): logarithms of red over green, of blue over green, and of lightness, each relative to
the surrounding tiles. Painted wood of one name varies from maker to maker; the spreads model it. One table has one set
of wood and one lamp, so all its figures together determine both. A paint measured by calibration has a far smaller
spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

Array = npt.NDArray[np.float64]

_DIM = 0.03  # of the tiles' reflectance, added to each channel: ratios of nearly black are noise
_TILES = (0.062, 0.165, 0.155)  # linear blue, green, red of Carcassonne tiles in daylight, on the mean of editions


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """sRGB (red, green, blue) of the wood in daylight, how far (u, v, l) vary from maker to maker (one standard
    deviation), and the prior log-odds that a player has it when the players' colours are unknown."""

    rgb: tuple[int, int, int]
    spread: tuple[float, float, float] = (0.35, 0.35, 0.35)
    usual: float = 0.0


PAINTS: Mapping[str, Paint] = {
    "red": Paint(rgb=(185, 30, 40), spread=(0.4, 0.35, 0.4)),
    "blue": Paint(rgb=(30, 85, 175), spread=(0.4, 0.4, 0.4)),
    "green": Paint(rgb=(30, 120, 55), spread=(0.35, 0.4, 0.4)),
    "yellow": Paint(rgb=(232, 190, 36), spread=(0.25, 0.5, 0.35)),
    "black": Paint(rgb=(40, 40, 42), spread=(0.3, 0.35, 0.5)),
    "grey": Paint(rgb=(138, 138, 140), spread=(0.2, 0.25, 0.3), usual=-1.5),
    "pink": Paint(rgb=(236, 128, 170), spread=(0.35, 0.35, 0.3), usual=-1.0),
    "white": Paint(rgb=(232, 230, 224), spread=(0.15, 0.2, 0.25), usual=-2.0),
    "purple": Paint(rgb=(112, 52, 140), spread=(0.35, 0.35, 0.35), usual=-2.0),
    "orange": Paint(rgb=(236, 120, 24), spread=(0.3, 0.4, 0.3), usual=-2.0),
    "brown": Paint(rgb=(116, 72, 40), spread=(0.25, 0.3, 0.35), usual=-2.5),
    "natural": Paint(rgb=(214, 176, 126), spread=(0.15, 0.25, 0.25), usual=-2.5),
}
COLOURS = tuple(PAINTS)
_LAMP = np.array([0.15, 0.25, 0.3])  # common shift of a whole table, by edition or lamp
SEEN = np.array([0.45, 0.45, 0.5])  # spread of figures of one paint on one table: shade, gloss, few pixels
_MEASURED = np.array([0.12, 0.15, 0.25])  # spread of a paint measured on this table
_STRENGTHS = (0.55, 0.65, 0.77, 0.9, 1.05)  # saturations of a camera's picture
_T_CONSTANT = -2.6  # of the logarithm of Student's density in three dimensions with four degrees of freedom
_GRAIN = np.array([0.25, 0.25, 0.3])  # bandwidth in (u, v, l) of the print's density
_ANYTHING = -6.5  # log-density of a colour seen nowhere on the board: print has some of everything
_FEW = 0.5  # pseudo-count of figures per paint: a table has few paints, and many figures of each
_ROUNDS = 6


def light_of(crops: Sequence[Image]) -> Array:
    """(3,) mean linear blue, green, red of these tiles: the reference for figures on them."""
    every = np.concatenate([c[::3, ::3].reshape(-1, 3) for c in crops])
    return np.asarray(np.maximum(_linear(every).mean(axis=0), 0.002))


def shown(bgr: npt.NDArray[np.uint8], light: Array) -> Array:
    """(3,) the (u, v, l) of a silhouette's pixels (N, 3) BGR."""
    linear = _linear(bgr)
    bright = linear.sum(axis=1)
    low, high = np.quantile(bright, (0.35, 0.95))
    return _uvl(np.median(linear[(bright >= low) & (bright <= high)], axis=0) / light)


def _uvl(relative: Array) -> Array:
    """(..., 3) from (..., 3) linear blue, green, red relative to the light's."""
    logs = np.log(relative + _DIM)
    light = np.log(relative.mean(axis=-1) + _DIM)
    return np.stack([logs[..., 2] - logs[..., 1], logs[..., 0] - logs[..., 1], light], axis=-1)


def uvl_of(bgr: npt.NDArray[np.uint8], light: Array) -> Array:
    """(..., 3) the (u, v, l) of BGR pixels (..., 3)."""
    return _uvl(_linear(bgr) / light)


def paint_uvl(paint: Paint) -> Array:
    """(3,) the mean (u, v, l) of a paint."""
    return _uvl(_linear(np.array(paint.rgb[::-1])) / np.array(_TILES))


def paints_uvl(colours: Iterable[str], light: Array, paints: Mapping[str, tuple[int, int, int]]) -> Array:
    """(N, 3) the mean (u, v, l) of these: in this light as the camera sees ``paints`` (sRGB), else in daylight."""
    return np.array([_uvl(_linear(np.array(paints[c][::-1])) / light) if c in paints else paint_uvl(PAINTS[c])
                     for c in colours])


class Print:
    """Density of a board's print in (u, v, l), from patches as large as a silhouette's details."""

    def __init__(self, patches: npt.NDArray[np.uint8], light: Array) -> None:
        """``patches`` (N, 3) mean BGR of unoccluded small squares."""
        self._shown = _uvl(_linear(patches) / light) / _GRAIN

    def density(self, uvl: Array) -> Array:
        """(M,) log-density of (M, 3) among the print."""
        if not len(self._shown):
            return np.full(len(uvl), _ANYTHING)
        apart = ((np.asarray(uvl)[:, None] / _GRAIN - self._shown[None]) ** 2).sum(axis=2)
        near = np.logaddexp.reduce(-apart / 2, axis=1) - np.log(len(self._shown))
        return np.asarray(np.logaddexp(near - np.log(_GRAIN).sum() - 1.5 * np.log(2 * np.pi), _ANYTHING))


def _linear(bgr: npt.NDArray[np.uint8]) -> Array:
    return np.asarray(np.power(bgr.astype(float) / 255, 2.2))


def colours_of(measured: Sequence[Array], light: Array, colours: Iterable[str] | None = None,
               paints: Mapping[str, tuple[int, int, int]] | None = None,
               weight: Sequence[float] | None = None) -> list[dict[str, float]]:
    """Log-likelihoods of the ``colours`` (default: all, the usual ones likelier) of figures on one table with these (u,
    v, l), estimated jointly, each counting by its ``weight`` 0 .. 1. ``paints`` are sRGB as this camera sees them. The
    sum of one's likelihoods is the density of its (u, v, l) among this table's figures. Raises ValueError for an
    unknown colour."""
    known = dict(paints or {})
    names = tuple(dict.fromkeys(colours)) if colours is not None else tuple({**PAINTS, **known})
    unknown = [n for n in names if n not in PAINTS and n not in known]
    if unknown:
        raise ValueError(f"colour {unknown[0]!r} is unknown; known are {', '.join({**PAINTS, **known})}")
    if not measured or not names:
        return [{} for _ in measured]
    mean = paints_uvl(names, light, known)
    spread = np.array([_MEASURED if n in known else PAINTS[n].spread for n in names])
    usual = np.array([0.0 if colours is not None or n in known else PAINTS[n].usual for n in names])
    foreign = np.array([n not in known for n in names])
    seen = np.array(measured, float)
    counts = np.ones(len(seen)) if weight is None else np.asarray(weight, float)
    best: tuple[float, Array] | None = None
    for strength in _STRENGTHS if foreign.any() else (1.0,):
        faded = np.where(foreign[:, None], mean * (strength, strength, 1.0), mean)
        logs = _together(seen, counts, faded, spread, foreign, usual)
        worth = float((counts * np.logaddexp.reduce(logs, axis=1)).sum()) - (np.log(strength / 0.9) / 0.25) ** 2 / 2
        if best is None or worth > best[0]:
            best = worth, logs
    assert best is not None
    logs = best[1] + _T_CONSTANT
    return [dict(zip(names, map(float, row), strict=True)) for row in logs]


def _together(seen: Array, counts: Array, mean: Array, spread: Array, foreign: npt.NDArray[np.bool_], usual: Array,
              ) -> Array:
    """(N, C) log-likelihoods when all figures share a lamp and each paint has one mean: it is fitted to its figures
    (expectation-maximisation), the lamp shifts the means of all paints that were not ``measured``."""
    var = spread**2
    here, sure = mean, var + np.where(foreign[:, None], _LAMP**2, 0.0)
    logs, common = np.zeros((len(seen), len(mean))), np.zeros(len(mean))
    for _ in range(_ROUNDS):
        total = sure + SEEN**2
        apart = ((seen[:, None] - here[None]) ** 2 / total[None]).sum(axis=2)
        # heavy tails: a few wrong pixels are never proof
        logs = -3.5 * np.log1p(apart / 4) - 0.5 * np.log(total).sum(axis=1)[None] + (usual + common)[None]
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        share *= counts[:, None] / share.sum(axis=1, keepdims=True)
        many = share.sum(axis=0)[:, None]
        common = np.log((many[:, 0] + _FEW) / (counts.sum() + _FEW * len(mean)))
        centre = (share.T @ seen) / np.maximum(many, 1e-6)
        each = many / (var * many + SEEN**2) * foreign[:, None]
        shift = (each * (centre - mean)).sum(axis=0) / (each.sum(axis=0) + 1 / _LAMP**2)
        moved = mean + shift * foreign[:, None]
        weight = many / SEEN**2
        here = (moved / var + weight * centre) / (1 / var + weight)
        sure = 1 / (1 / var + weight) + np.where(foreign[:, None], _LAMP**2, 0.0) / (1 + 2 * many)
    return logs


# --- tiles on which nothing stands ---------------------------------------------------------------------------------

_MOST_PAINT = 0.12  # of a tile: a larger area in a paint's colour is print or table
_HUE_COSINE, _VIVID, _LIGHTER = 0.965, 0.6, 25.0  # of a paint's pixels: hue, part of its chroma, Lab units of lightness
_PALE, _PALE_CHROMA, _PALE_LIGHTER = 12.0, 9.0, 15.0  # Lab chroma below which a paint has no hue, and of its pixels


def bare_part(tile: Image, colours: Iterable[str]) -> float:
    """The fraction (0 .. 1) of a tile's picture (S, S, 3) BGR that is certainly free of figures in these colours.

    Specks (a shield, a roof) are no figures: only what has a paint's colour over a sixth of the tile each way counts.
    """
    reach = round(tile.shape[0] / 6) | 1
    solid = cv2.boxFilter(_paint_mask(tile, colours).astype(np.float32), -1, (reach, reach)) > 0.7
    grown = cv2.dilate(solid.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
    return 1.0 - float(grown.mean())


def _paint_mask(bgr: Image, colours: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Where a pixel may be a figure of these colours by its colour alone."""
    lab = cv2.cvtColor(cv2.GaussianBlur(bgr, (0, 0), 0.8).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    out = np.zeros(bgr.shape[:2], bool)
    for colour in colours:
        paint = np.array([[PAINTS[colour].rgb[::-1]]], np.float32) / 255
        target = cv2.cvtColor(paint, cv2.COLOR_BGR2Lab)[0, 0]
        full = float(np.hypot(*target[1:]))
        if full < _PALE:
            own = (np.abs(lab[..., 0] - target[0]) < _PALE_LIGHTER) & (chroma < _PALE_CHROMA)
        else:
            hue = (lab[..., 1] * target[1] + lab[..., 2] * target[2]) / (np.maximum(chroma, 1.0) * full)
            shade = np.clip(lab[..., 0] / target[0], 0.4, 1.0)  # in dim light paint is less saturated too
            own = (hue > _HUE_COSINE) & (chroma > _VIVID * full * shade) & (np.abs(lab[..., 0] - target[0]) < _LIGHTER)
        if own.mean() < _MOST_PAINT:
            out |= own
    return out
