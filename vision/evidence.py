"""What a tile shows beside its likeness to a picture: foreign colours on it, its sides, its pennant.

All of it is learned from the photograph itself, from the tiles that are surely right, so no colour is written down here
except that a shield is bluer than the town around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import EDGES, Tile, edge
from vision.frames import Image
from vision.tileset import TileSet

FloatArray = npt.NDArray[np.float32]

TABLE = 6.0  # times commoner beside the board than on it: a colour of the table
PALETTE = 0.985  # of the pixels of sure tiles are print; rarer colours are something else
_BINS = (20, 64, 64)


def palette(crops: Sequence[Image], table: npt.NDArray[np.uint8], free: npt.NDArray[np.bool_] | None = None,
            ) -> npt.NDArray[np.bool_]:
    """Which Lab colours (bins of _BINS) the print of these tiles has; ``table`` (M, 3) are BGR pixels beside the board,
    ``free`` (N, S, S) says where crops surely show nothing but print.

    The rim of a crop is left out: it may show the table. A colour much commoner beside the board is the table's.
    """
    rim = crops[0].shape[0] // 12
    inner = np.array([c[rim:-rim, rim:-rim] for c in crops])
    print_ = _frequencies(inner.reshape(-1, 3) if free is None else inner[free[:, rim:-rim, rim:-rim]])
    order = np.argsort(-print_, axis=None)
    mass = np.cumsum(print_.ravel()[order])
    known = np.zeros(print_.size, bool)
    known[order[:int(np.searchsorted(mass, PALETTE)) + 1]] = True
    known = known.reshape(_BINS)
    if len(table) > 1000:
        known &= _frequencies(table) < TABLE * print_
    return known


def foreign(bgr: Image, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """255 where a pixel's colour is not in the palette, else 0."""
    return np.where(known[_places(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB))], 0, 255).astype(np.uint8)


def table_colours(bgr: Image, beside: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Where a picture has the usual colours of its part ``beside`` the tiles."""
    pixels = bgr[beside]
    if len(pixels) < 200:
        return np.zeros(bgr.shape[:2], bool)
    return _commonest(pixels, 0.9)[_places(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB))]


def common_colours(bgr: Image, share: float) -> npt.NDArray[np.bool_]:
    """Where a picture has one of the commonest colours, which make up this share of it."""
    smooth = cv2.GaussianBlur(bgr, (0, 0), 1.2)
    return _commonest(bgr[::3, ::3], share)[_places(cv2.cvtColor(smooth, cv2.COLOR_BGR2LAB))]


def _commonest(bgr: npt.NDArray[np.uint8], share: float) -> npt.NDArray[np.bool_]:
    found = _frequencies(bgr)
    order = np.argsort(-found, axis=None)
    mass = np.cumsum(found.ravel()[order])
    known = np.zeros(found.size, bool)
    known[order[:int(np.searchsorted(mass, share)) + 1]] = True
    return known.reshape(_BINS)


def _frequencies(bgr: npt.NDArray[np.uint8]) -> FloatArray:
    counts = np.zeros(_BINS, np.float32)
    np.add.at(counts, _places(cv2.cvtColor(bgr.reshape(1, -1, 3), cv2.COLOR_BGR2LAB)[0]), 1)
    for axis in range(3):
        counts = _smooth(counts, axis)
    return counts / counts.sum()


def _places(lab: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int32], ...]:
    return tuple(lab[..., n].astype(np.int32) * _BINS[n] // 256 for n in range(3))


def covered(strange: npt.NDArray[np.uint8], tile_px: int) -> FloatArray:
    """(S, S) weight 0 where something lies on a tile, 1 elsewhere, from its foreign pixels (0..255).

    Specks (a shield, a roof, glare) are no figures: only what is foreign over a sixth of a tile each way counts.
    """
    reach = round(tile_px / 6) | 1
    solid = cv2.boxFilter(strange.astype(np.float32) / 255, -1, (reach, reach)) > 0.7
    grown = cv2.dilate(solid.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
    return 1.0 - grown.astype(np.float32)


def _smooth(counts: FloatArray, axis: int) -> FloatArray:
    padded = np.pad(counts, [(1, 1) if a == axis else (0, 0) for a in range(3)])
    parts = [np.take(padded, range(s, s + counts.shape[axis]), axis=axis) for s in range(3)]
    return 0.25 * parts[0] + 0.5 * parts[1] + 0.25 * parts[2]


# --- sides ---------------------------------------------------------------------------------------------------------

_STRIP = 0.13  # of a tile: depth of the strip along a side
_STEPS = 16


def strips(crops: Image, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(N, 4, 48) colours along each side N E S W as seen from the centre, left to right; (N, 4) how much is seen."""
    size = crops.shape[1]
    depth = max(3, round(_STRIP * size))
    features = np.empty((len(crops), 4, _STEPS * 3), np.float32)
    seen = np.empty((len(crops), 4), np.float32)
    for n, crop in enumerate(crops):
        logs = np.log(cv2.GaussianBlur(crop, (0, 0), size / 64).astype(np.float32) + 10.0)
        colours = np.stack([logs.mean(axis=2), logs[..., 2] - logs[..., 1],
                            (logs[..., 1] + logs[..., 2]) / 2 - logs[..., 0]], axis=-1)
        w = weight[n]
        for side in range(4):
            turned, turned_w = np.rot90(colours, side), np.rot90(w, side)
            strip, strip_w = turned[2:depth], turned_w[2:depth, :, None]
            columns = (strip * strip_w).sum(axis=0) / (strip_w.sum(axis=0) + 1e-3)
            bins = columns.reshape(_STEPS, size // _STEPS, 3).mean(axis=1)
            bins[:, 0] = (bins[:, 0] - np.median(bins[:, 0])) * 0.7  # lamps change lightness; only its pattern counts
            features[n, side] = bins.ravel()
            seen[n, side] = float(strip_w.mean())
    return features, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReader:
    """Linear discriminant of what a side shows, with shared shrunk covariance. ``letters`` are its classes."""

    letters: str
    means: FloatArray
    inverse: FloatArray

    def loglik(self, features: FloatArray, seen: FloatArray) -> FloatArray:
        """(.., letters) normalised log-likelihoods; a hidden side says nothing."""
        off = features[..., None, :] - self.means
        distance = np.einsum("...i,ij,...j->...", off, self.inverse, off)
        logits = -0.5 * distance / 4.0  # the bins of a strip say partly the same
        logits = logits - logits.max(axis=-1, keepdims=True)
        logits = np.maximum(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)), -8.0)
        return logits * np.clip((seen[..., None] - 0.4) / 0.5, 0.0, 1.0)


def learn_sides(features: FloatArray, letters: Sequence[str]) -> SideReader | None:
    """From sides whose letter is known (M, 48); None when fewer than two letters have examples."""
    names = "".join(sorted({x for x in letters if list(letters).count(x) >= 4}))
    if len(names) < 2:
        return None
    mirrored = features.reshape(-1, _STEPS, 3)[:, ::-1].reshape(len(features), -1)
    every, labels = np.concatenate([features, mirrored]), np.array([*letters, *letters])
    means = np.stack([every[labels == x].mean(axis=0) for x in names])
    rest = np.concatenate([every[labels == x] - means[n] for n, x in enumerate(names)])
    spread = rest.T @ rest / len(rest)
    spread = 0.7 * spread + 0.3 * np.eye(len(spread), dtype=np.float32) * np.trace(spread) / len(spread)
    spread += np.eye(len(spread), dtype=np.float32) * 1e-4
    return SideReader(letters=names, means=means.astype(np.float32), inverse=np.linalg.inv(spread).astype(np.float32))


def side_letters(tile: Tile, rot: int) -> str:
    """What the four sides N E S W of a turned tile show."""
    return "".join(edge(tile, rot, side) for side in EDGES)


# --- pennants ------------------------------------------------------------------------------------------------------

_SHIELD_PX = 64
_SHIELD_RIM = 2
_DISC = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)).astype(np.float32)
_DISC /= _DISC.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shield:
    """Where the pictures of two kinds that differ by a pennant alone differ: ``place`` in pixels of a 64 px picture.

    ``bearing`` and ``plain`` are how much bluer than the town around it that place is in the two pictures.
    """

    place: tuple[float, float]
    bearing: float
    plain: float


def twins(kinds: Mapping[str, Tile], ids: Sequence[str]) -> list[tuple[str, str]]:
    """(with, without) pairs of kinds that differ by pennants alone."""
    def plain(tile: Tile) -> tuple[object, ...]:
        return (tuple(sorted((s.kind, s.atoms, s.inn, s.cathedral, s.goods, s.princess) for s in tile.segments)),
                tuple(sorted(tile.flags)))

    def pennants(tile: Tile) -> int:
        return sum(s.pennants for s in tile.segments)

    return [(a, b) for a in ids for b in ids
            if pennants(kinds[a]) > pennants(kinds[b]) and plain(kinds[a]) == plain(kinds[b])]


def shields(tileset: TileSet, pairs: Sequence[tuple[str, str]]) -> dict[str, Shield]:
    """The shield of every kind that has a twin without one, where its pictures show one clearly."""
    found: dict[str, Shield] = {}
    for bearer, plain in pairs:
        own = [_blueness(s.bgr) for s in tileset.specimens if s.tile == bearer]
        other = [_blueness(s.bgr) for s in tileset.specimens if s.tile == plain]
        if len(own) != 1 or not other:
            continue  # several drawings of one kind are told apart by correlation, each by itself
        level = np.max([cv2.dilate(o, np.ones((5, 5), np.uint8)) for o in other], axis=0)
        more = cv2.GaussianBlur(own[0] - level, (0, 0), 2)
        count, _, stats, centres = cv2.connectedComponentsWithStats((more > 0.25).astype(np.uint8))
        if count < 2:
            continue
        largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
        x, y = (float(v) for v in centres[largest])
        place, everywhere = (x, y), np.ones((_SHIELD_PX, _SHIELD_PX), np.float32)
        if 25 <= stats[largest, cv2.CC_STAT_AREA] <= 250:
            found[bearer] = Shield(place=place, bearing=_spot(own[0], place, everywhere)[0],
                                   plain=max(_spot(o, place, everywhere)[0] for o in other))
    return {tile: s for tile, s in found.items() if s.plain < 0.6 * s.bearing}


def shield_loglik(shield: Shield, crop: Image, weight: FloatArray) -> float:
    """Log-odds that an upright crop bears the shield; towards 0 as more of its place is hidden."""
    if crop.shape[0] != _SHIELD_PX:
        raise ValueError(f"crops are {_SHIELD_PX} px wide here")
    blue, seen = _spot(_blueness(crop), shield.place, weight)
    # Cameras and lamps take some of the blue away, hardly ever add any: the border lies nearer to the plain tile.
    border = 0.58 * shield.plain + 0.42 * shield.bearing
    odds = float(np.clip((blue - border) / (shield.bearing - shield.plain) * 25.0, -8.0, 8.0))
    return odds * seen**2


def _blueness(bgr: Image) -> FloatArray:
    size = (_SHIELD_PX, _SHIELD_PX)
    small = bgr if bgr.shape[:2] == size else cv2.resize(bgr, size, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), 0.7).astype(np.float32) + 12.0
    return np.log(soft[..., 0]) - np.log(soft[..., 2])


def _spot(blue: FloatArray, place: tuple[float, float], weight: FloatArray) -> tuple[float, float]:
    """(blueness of the bluest disc of a shield's size near a place against the town around it, part of it seen).

    The rim of the tile is left out: a gap between tiles shows the table.
    """
    inner = np.zeros((_SHIELD_PX, _SHIELD_PX), np.float32)
    inner[_SHIELD_RIM:-_SHIELD_RIM, _SHIELD_RIM:-_SHIELD_RIM] = 1.0
    weight = weight * inner
    whole = cv2.filter2D(inner, -1, _DISC, borderType=cv2.BORDER_CONSTANT)
    mass = cv2.filter2D(weight, -1, _DISC, borderType=cv2.BORDER_CONSTANT)
    means = cv2.filter2D(blue * weight, -1, _DISC, borderType=cv2.BORDER_CONSTANT) / (mass + 1e-3)
    near, around = _near(place, 3), _near(place, 12)
    free = weight[around] > 0
    if not free.any() or mass[near].max() < 0.5:
        return 0.0, 0.0
    disc = np.where(mass[near] > 0.5, means[near], -np.inf).max()
    return float(disc - np.median(blue[around][free])), float(mass[near].sum() / whole[near].sum())


def _near(place: tuple[float, float], reach: int) -> tuple[slice, slice]:
    x, y = round(place[0]), round(place[1])
    last = _SHIELD_PX - _SHIELD_RIM
    return (slice(max(_SHIELD_RIM, y - reach), min(last, y + reach + 1)),
            slice(max(_SHIELD_RIM, x - reach), min(last, x + reach + 1)))
