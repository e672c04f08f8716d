"""Training crops as the reader cuts them from photographs: one square of a board with a margin, tiles laid loosely, a
random table, figures, lamps and camera, with ground truth of the square.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from scoring.tiles import EDGES, Tile, catalogue, edge, product
from training.buildings import SIDE, Image
from training.editions import Edition, Random, hsv, invent
from training.invented import Painter
from training.signs import Shown, by_lot, printed
from vision.artwork import draw_tile
from vision.signs import CROP_PX as SIGN_PX
from vision.signs import MARGIN as SIGN_MARGIN
from vision.signs import SIGNS
from vision.structure import CROP_PX, MARGIN, TRUTHS, truth_of

_WRONG = 0.22  # fraction of crops without a tile squarely on the square
_OUTER = 0.12  # of a tile: the largest gap and offset on the canvas
ALIGNED, ASTRAY = 0.2, 0.3  # of a tile: largest corner offset of a positive, and smallest of a negative
WOOD = (  # hue, saturation and value of figures
    (0, 0.85, 0.8),
    (225, 0.85, 0.8),
    (50, 0.9, 0.95),
    (110, 0.8, 0.55),
    (0, 0.05, 0.12),
    (0, 0.05, 0.75),
    (330, 0.5, 0.85),
)
BOXES = ("base", "base", "base", "base", "river", "inns", "inns", "traders", "traders", "traders", "dragon", "tower")


@dataclass(frozen=True, slots=True)
class Laid:
    """A drawn tile of a pool, not yet rotated, with its signs."""

    tile: Tile
    picture: Image
    signs: tuple[Shown, ...] = ()


def pool(rng: Random, own: list[Laid], size: int = 40) -> tuple[Edition, list[Laid]]:
    """The tiles of one edition, sometimes bastide's own drawings in other colours."""
    edition = invent(rng)
    if rng.random() < 0.12:
        hue = int(rng.integers(-9, 10))
        gain = rng.uniform(0.7, 1.2, 2)
        laid = []
        for n in rng.permutation(len(own))[:size]:
            table = cv2.cvtColor(own[n].picture, cv2.COLOR_BGR2HSV).astype(np.float32)
            table[..., 0] = (table[..., 0] + hue) % 180
            table[..., 1:] = np.clip(table[..., 1:] * gain, 0, 255)
            laid.append(Laid(own[n].tile, cv2.cvtColor(table.astype(np.uint8), cv2.COLOR_HSV2BGR), own[n].signs))
        return edition, laid
    painter = Painter(edition, rng)
    laid = []
    for _ in range(size):
        tiles = product(BOXES[int(rng.integers(len(BOXES)))]).tiles
        tile = tiles[int(rng.integers(len(tiles)))]
        picture = painter.paint(tile, by_lot(rng, tile))
        laid.append(Laid(tile, picture, tuple(painter.shown)))
    return edition, laid


def own_drawings() -> list[Laid]:
    kinds = [t for t in catalogue().values() if t.product in ("base", "river", "inns", "traders")]
    return [Laid(t, draw_tile(t, SIDE, variant=v), printed(t)) for t in kinds for v in range(2)]


def table(rng: Random, side: int, edition: Edition) -> Image:
    """A background: wood, cloth, paint, paper, sometimes as green or brown as the tiles."""
    style = rng.random()
    if style < 0.12:
        base = np.array(edition.field if rng.random() < 0.5 else edition.town, np.float32) * rng.uniform(0.5, 1.2)
    else:
        base = np.array(hsv(rng.uniform(0, 360), rng.uniform(0, 0.7) ** 1.3, rng.uniform(0.05, 1.0)), np.float32)
    rough = rng.uniform(0, 0.25)
    if rng.random() < 0.5:  # grain in one direction
        cells = (int(rng.integers(1, 4)), int(rng.integers(12, 100)))
        grain = cv2.resize(rng.standard_normal(cells, dtype=np.float32), (side, side), interpolation=cv2.INTER_CUBIC)
        grain = grain if rng.random() < 0.5 else grain.T
    else:
        grain = cv2.resize(rng.standard_normal((int(rng.integers(3, 80)),) * 2, dtype=np.float32), (side, side))
    if rng.random() < 0.2:
        x = np.arange(side, dtype=np.float32)
        stripes = np.sin(x * rng.uniform(0.1, 0.8)) * rng.uniform(0.2, 1)
        grain = grain + (stripes[:, None] if rng.random() < 0.5 else stripes[None])
    other = np.array(hsv(rng.uniform(0, 360), rng.uniform(0, 0.3), rng.uniform(0.2, 1)), np.float32)
    t = (grain * rough)[..., None]
    return np.ascontiguousarray(np.clip(base * (1 + t) + other * np.abs(t) * 0.4, 0, 255).astype(np.uint8))


def scene(rng: Random, edition: Edition, tiles: list[Laid]) -> tuple[Image, NDArray[np.float32], NDArray[np.float32]]:
    """(crop (CROP_PX, CROP_PX, 3), truths, (8,) true corners minus nominal corners in tiles, NaN without a tile)."""
    canvas, mine, rot, centre = _laid_out(rng, edition, tiles, tiles, empty_share=0.16)
    crop, nominal = _shoot(rng, canvas, centre, CROP_PX, MARGIN, wrong=_WRONG)
    truths = np.full(TRUTHS, -1.0, np.float32)
    offsets = np.full(8, np.nan, np.float32)
    truths[-1] = 0.0
    if centre is not None:
        offsets[:] = (nominal - np.array([[0, 0], [1, 0], [1, 1], [0, 1]])).ravel()
        far = float(np.abs(offsets).max())
        truths[-1] = 1.0 if far < ALIGNED else (-1.0 if far < ASTRAY else 0.0)
        if far < ALIGNED:
            truths[:-1] = truth_of(mine.tile, rot)
        elif far > ASTRAY:
            offsets[:] = np.nan
    return lamp(rng, crop), truths, offsets


def sign_scene(rng: Random, edition: Edition, tiles: list[Laid]) -> tuple[Image, NDArray[np.float32]]:
    """(crop as `vision.signs` cuts it, (len(SIGNS), 3) centre and half width of each sign in tiles, NaN without it)."""
    signed = [tile for tile in tiles if tile.signs]
    middle = signed if signed and rng.random() < 0.5 else tiles
    canvas, mine, rot, centre = _laid_out(rng, edition, tiles, middle, empty_share=0.0)
    crop, nominal = _shoot(rng, canvas, centre, SIGN_PX, SIGN_MARGIN, wrong=0.0)
    where = np.full((len(SIGNS), 3), np.nan, np.float32)
    unit = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    to = cv2.getPerspectiveTransform(unit, nominal.astype(np.float32))
    for shown in mine.signs:
        x, y = shown.x / 100 - 0.5, shown.y / 100 - 0.5
        for _ in range(rot):
            x, y = -y, x
        at = cv2.perspectiveTransform(np.array([[[x + 0.5, y + 0.5]]], np.float32), to)[0, 0]
        where[SIGNS.index(shown.sign)] = (*at, shown.half / 100)
    return lamp(rng, crop), where


def _laid_out(
    rng: Random, edition: Edition, tiles: list[Laid], middle: list[Laid], *, empty_share: float
) -> tuple[Image, Laid, int, NDArray[np.float32] | None]:
    """(canvas of three by three squares, one of ``middle`` in the middle, its quarter turns, its corners or None for an
    empty middle, with probability ``empty_share``)."""
    side = 3 * SIDE
    canvas = table(rng, side, edition)
    empty = rng.random() < empty_share
    rot = int(rng.integers(4))
    mine = middle[int(rng.integers(len(middle)))]
    lonely, loose = rng.random() < 0.15, float(rng.choice([0.0, 0.01, 0.03, 0.06]))
    gap = rng.uniform(0, 0.025)
    squares = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    centre = None
    for dx, dy in [*squares, (0, 0)]:
        if (dx, dy) == (0, 0):
            if empty:
                continue
            tile, turned = mine, rot
        else:
            if rng.random() < (0.85 if lonely else 0.3):
                continue
            tile, turned = _beside(rng, tiles, mine, rot, dx, dy, empty)
        corners = _lay(rng, canvas, np.rot90(tile.picture, -turned), dx, dy, loose, gap)
        if (dx, dy) == (0, 0):
            centre = corners
    for _ in range(int(rng.choice([0, 0, 0, 1, 1, 2]))):
        _figure(rng, canvas)
    return canvas, mine, rot, centre


def _beside(rng: Random, tiles: list[Laid], mine: Laid, rot: int, dx: int, dy: int, empty: bool) -> tuple[Laid, int]:
    for _ in range(30):
        tile, turned = tiles[int(rng.integers(len(tiles)))], int(rng.integers(4))
        if empty or (dx and dy):
            break
        side = {(0, -1): 0, (1, 0): 1, (0, 1): 2, (-1, 0): 3}[dx, dy]
        if edge(mine.tile, rot, EDGES[side]) == edge(tile.tile, turned, EDGES[(side + 2) % 4]):
            break
    return tile, turned


def _lay(rng: Random, canvas: Image, picture: Image, dx: int, dy: int, loose: float, gap: float) -> NDArray[np.float32]:
    """Draw a picture on its square with a random offset; returns its corners on the canvas."""
    half = SIDE * (1 - gap) / 2
    cx, cy = (np.array([dx, dy]) + 1.5 + np.clip(rng.normal(0, loose, 2), -_OUTER, _OUTER)) * SIDE
    angle = rng.normal(0, loose * 0.6)
    cos, sin = np.cos(angle), np.sin(angle)
    local = np.array([[-half, -half], [half, -half], [half, half], [-half, half]], np.float32)
    corners = (local @ np.array([[cos, sin], [-sin, cos]], np.float32) + (cx, cy)).astype(np.float32)
    source = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float32) - 0.5
    to = cv2.getAffineTransform(source[:3], corners[:3])
    x0, y0 = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 3, 0)
    x1, y1 = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 4, canvas.shape[1])
    if x1 <= x0 or y1 <= y0:
        return corners
    to[:, 2] -= (x0, y0)
    mask = rounded(float(rng.choice([0.0, 0.03, 0.06])))
    size = (int(x1 - x0), int(y1 - y0))
    part = cv2.warpAffine(picture, to, size, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpAffine(mask, to, size)[..., None].astype(np.float32) / 255
    below = canvas[y0:y1, x0:x1].astype(np.float32)
    shadow = cv2.GaussianBlur(cv2.warpAffine(mask, to, size), (0, 0), 1.6).astype(np.float32)[..., None] / 255
    below *= 1 - shadow * rng.uniform(0.2, 0.8)
    canvas[y0:y1, x0:x1] = (below * (1 - alpha) + part * alpha).astype(np.uint8)
    return corners


_MASKS: dict[float, Image] = {}


def rounded(radius: float) -> Image:
    """(SIDE, SIDE) mask (255) of a tile whose corners are rounded by ``radius`` of its side."""
    if radius not in _MASKS:
        mask = np.full((SIDE, SIDE), 255, np.uint8)
        if radius:
            r = round(radius * SIDE)
            mask[:] = 0
            cv2.rectangle(mask, (r, 0), (SIDE - 1 - r, SIDE - 1), 255, -1)
            cv2.rectangle(mask, (0, r), (SIDE - 1, SIDE - 1 - r), 255, -1)
            for x, y in itertools.product((r, SIDE - 1 - r), repeat=2):
                cv2.circle(mask, (x, y), r, 255, -1, cv2.LINE_AA)
        _MASKS[radius] = mask
    return _MASKS[radius]


def _figure(rng: Random, canvas: Image) -> None:
    """A wooden figure seen from above or obliquely: a blob with a darker side."""
    x, y = rng.uniform(0.6, 2.4, 2) * SIDE
    size = rng.uniform(0.14, 0.34) * SIDE
    colour = hsv(*WOOD[int(rng.integers(len(WOOD)))])
    colour = tuple(float(np.clip(c * rng.uniform(0.6, 1.2), 0, 255)) for c in colour)
    lean = rng.uniform(-0.6, 0.6, 2) * size
    angles = np.linspace(0, 2 * np.pi, 14)[:-1]
    radius = size * rng.uniform(0.35, 0.75, 13)
    shape = np.stack([np.cos(angles) * radius, np.sin(angles) * radius], axis=1) + (x, y)
    hull = cv2.convexHull(np.concatenate([shape, shape + lean]).astype(np.float32))
    shadow = np.round(hull + rng.uniform(-0.3, 0.3, 2).astype(np.float32) * size).astype(np.int32)
    layer = canvas.copy()
    cv2.fillPoly(layer, [shadow], (10, 10, 10))
    cv2.addWeighted(layer, 0.35, canvas, 0.65, 0, canvas)
    cv2.fillPoly(canvas, [np.round(hull).astype(np.int32)], [c * rng.uniform(0.4, 0.8) for c in colour], cv2.LINE_AA)
    cv2.fillPoly(canvas, [np.round(shape + lean).astype(np.int32)], colour, cv2.LINE_AA)


def _shoot(
    rng: Random, canvas: Image, corners: NDArray[np.float32] | None, size_px: int, margin: float, *, wrong: float
) -> tuple[Image, NDArray[np.float32]]:
    """Cut the square out with a slightly wrong pose, as by a reader; also returns the true corners in tiles of that
    crop. A fraction ``wrong`` is cut with another lattice."""
    amount = float(rng.choice([0.012, 0.03, 0.06, 0.12], p=[0.35, 0.35, 0.2, 0.1]))
    base = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    centre = corners if corners is not None else (base + 1) * SIDE
    middle = centre.mean(axis=0)
    scale, angle = 1 + rng.normal(0, amount), rng.normal(0, amount)
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    if wrong and rng.random() < wrong:  # a lattice of another scale, phase or direction
        what = int(rng.integers(4))
        if what == 0:
            scale *= rng.uniform(0.4, 0.7) if rng.random() < 0.6 else rng.uniform(1.45, 2.1)
        elif what == 1:
            angle += rng.uniform(0.35, 1.2)
        else:
            middle = middle + SIDE * rng.uniform(0.3, 0.55) * np.array(
                [rng.choice([-1, 1]), rng.choice([-1, 0, 1])] if what == 2 else [0, rng.choice([-1, 1])]
            )
        cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    cut = (centre - centre.mean(axis=0)) @ np.array([[cos, sin], [-sin, cos]], np.float32) + middle
    cut = cut + rng.normal(0, amount * SIDE, 2) + rng.normal(0, amount * 0.3 * SIDE, (4, 2))
    tile_px = size_px / (1 + 2 * margin)
    target = ((base + margin) * tile_px - 0.5).astype(np.float32)
    to = cv2.getPerspectiveTransform(cut.astype(np.float32), target)
    crop = cv2.warpPerspective(canvas, to, (size_px, size_px), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.perspectiveTransform(centre[None].astype(np.float32), to)[0]
    return crop, ((seen + 0.5) / tile_px - margin).astype(np.float32)


def lamp(rng: Random, crop: Image) -> Image:
    """Effects of light, lens and sensor."""
    size = crop.shape[0]
    out = crop.astype(np.float32) / 255
    gain = rng.uniform(0.78, 1.22, 3) * rng.uniform(0.55, 1.25)
    grey = out.mean(axis=2, keepdims=True)
    out = grey + (out - grey) * rng.uniform(0.5, 1.15)
    out = np.power(np.clip(out * gain, 0, 1.6), rng.uniform(0.7, 1.4))
    ramp = np.linspace(-1, 1, size, dtype=np.float32)
    out *= (1 + rng.uniform(-0.25, 0.25) * ramp[:, None] + rng.uniform(-0.25, 0.25) * ramp[None])[..., None]
    if rng.random() < 0.2:
        glare = cv2.resize(rng.standard_normal((4, 4), dtype=np.float32), (size, size), interpolation=cv2.INTER_CUBIC)
        out += (np.clip(glare, 0, 2) * rng.uniform(0.05, 0.5))[..., None]
    if rng.random() < 0.5:
        out += rng.uniform(0, 0.12)  # haze
    if rng.random() < 0.35:
        small = int(rng.uniform(0.4, 0.95) * size)
        out = cv2.resize(cv2.resize(out, (small, small), interpolation=cv2.INTER_AREA), (size, size))
    if rng.random() < 0.5:
        out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.3, 1.3))
    if rng.random() < 0.3:
        soft = cv2.GaussianBlur(out, (0, 0), 1.0)
        out = out + (out - soft) * rng.uniform(0.3, 1.5)
    out = out + rng.normal(0, rng.uniform(0, 0.03), out.shape)
    return (np.clip(out, 0, 1) * 255).astype(np.uint8)
