"""Training crops with wooden figures as the figure reader cuts them: tiles of invented editions, solid pieces in any
paint, any camera, with ground truth for each: foot, posture, kind, silhouette.

A small board is drawn in its own plane; pieces are projected onto that plane from the camera, so that their tops lean
away from the point below it. The board is then photographed, and its squares are cut out as by a reader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from training.buildings import SIDE, Image
from training.editions import Colour, Edition, Random, hsv, mix
from training.scenes import Laid, _lay, table
from vision.figurenet import CELLS, CROP_PX, KINDS, MARGIN, TILE_PX
from vision.simulator.pieces import DEPTH_MM, OUTLINES

Array = NDArray[np.float64]

ROWS = 4  # squares of the board either way
BORDER = 0.75  # of a tile around it
MOST = 8  # most figures labelled in a crop
TILE_MM = 45.0
_FINE = 2  # supersampling of pieces relative to the canvas
_SHIFT = 4  # fractional bits of OpenCV's drawing coordinates
_PAINTS = (
    (356, 0.85, 0.72), (216, 0.85, 0.68), (48, 0.85, 0.90), (128, 0.75, 0.50), (0, 0.05, 0.13), (0, 0.04, 0.55),
    (335, 0.45, 0.92), (0, 0.03, 0.92), (290, 0.55, 0.50), (24, 0.88, 0.92), (24, 0.62, 0.42), (36, 0.38, 0.85))


@dataclass(frozen=True, slots=True)
class Solid:
    """A piece on the board: ``foot`` (2,) in tiles from the board's corner, ``faces`` (N, 3) points in tiles,
    z up, ``normals`` outwards, ``shades`` a factor of the paint of each face."""

    kind: int
    lying: bool
    foot: Array
    faces: list[Array]
    normals: Array
    shades: Array
    paint: Colour


@dataclass(frozen=True, slots=True)
class Crop:
    """``picture`` (CROP_PX, CROP_PX, 3), ``lean`` (2,), ``names`` (CELLS * 2, CELLS * 2) instance labels of the figures
    (0: none), ``feet`` (MOST, 4): x, y in tiles of the square, kind, lying; NaN where there is none."""

    picture: Image
    lean: NDArray[np.float32]
    names: NDArray[np.uint8]
    feet: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Board:
    """A photographed board: ``to_photo`` (3, 3) takes tiles from the board's corner to pixels of the ``photo``,
    ``names`` are the pieces on the canvas, ``squares`` the corners (4, 2) of what can be cut out, ``eye`` the
    camera."""

    photo: Image
    to_photo: Array
    names: NDArray[np.uint8]
    solids: list[Solid]
    squares: list[Array]
    eye: Array


def crops(rng: Random, edition: Edition, tiles: list[Laid]) -> list[Crop]:
    """All squares of one board, photographed once."""
    made = board(rng, edition, tiles)
    return [_cut(rng, made, corners) for corners in made.squares]


def board(rng: Random, edition: Edition, tiles: list[Laid], sizes: tuple[float, float] = (1.0, 1.0)) -> Board:
    """A board with pieces, photographed once; its squares in random order. Each piece is larger than the others of its
    table by a factor in the range of ``sizes``."""
    wide = ROWS + 2 * BORDER
    canvas = table(rng, round(wide * SIDE), edition)
    squares = _board(rng, canvas, tiles)
    height = rng.uniform(7, 26)
    tilt, turn = math.tan(math.radians(rng.uniform(0, 48) * rng.random() ** 0.5)), rng.uniform(0, 2 * math.pi)
    eye = np.array([wide / 2 + height * tilt * math.cos(turn), wide / 2 + height * tilt * math.sin(turn), height])
    lamp_turn, lamp_tilt = rng.uniform(0, 2 * math.pi), math.tan(math.radians(rng.uniform(5, 62)))
    far = rng.uniform(8, 60)
    lamp = np.array([wide / 2 + far * lamp_tilt * math.cos(lamp_turn), wide / 2 + far * lamp_tilt * math.sin(lamp_turn),
                     far])
    solids = _pieces(rng, wide, sizes)
    names = np.zeros(canvas.shape[:2], np.uint8)
    light = _Light(rng, lamp)
    order = sorted(range(len(solids)), key=lambda n: -float(np.hypot(*(solids[n].foot - eye[:2]))))
    for n in order:
        light.shade(canvas, solids[n])
    for n in order:
        light.draw(canvas, names, solids[n], eye, n + 1)
    if rng.random() < 0.25:
        _hand(rng, canvas, names)
    photo, to_photo = _photograph(rng, canvas, eye, wide)
    picked = [squares[k] for k in rng.permutation(len(squares))]
    return Board(photo, to_photo, names, solids, picked, eye)


def _board(rng: Random, canvas: Image, tiles: list[Laid]) -> list[Array]:
    """Lay tiles; the corners (4, 2) in tiles of every square that has one, and of some that have none."""
    loose = float(rng.choice([0.0, 0.01, 0.02, 0.04]))
    gap = rng.uniform(0, 0.02)
    filled = rng.uniform(0.35, 1.0)
    squares = []
    for row in range(ROWS):
        for column in range(ROWS):
            at = np.array([column, row]) + BORDER
            if rng.random() > filled:
                if rng.random() < 0.1:
                    squares.append(at + np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]))
                continue
            picture = np.rot90(tiles[int(rng.integers(len(tiles)))].picture, int(rng.integers(4)))
            if rng.random() < 0.5:
                picture = _clutter(rng, picture)
            corners = _lay(rng, canvas, picture, float(at[0]) - 1, float(at[1]) - 1, loose, gap)
            squares.append(corners.astype(float) / SIDE)
    return squares


def _clutter(rng: Random, picture: Image) -> Image:
    """Print that resembles figures: bushes, wells, gardens, barns, badges, flat and without a cast shadow."""
    out = np.ascontiguousarray(picture).copy()
    for _ in range(int(rng.integers(1, 4))):
        x, y = rng.uniform(0.1, 0.9, 2) * SIDE
        size = rng.uniform(0.06, 0.2) * SIDE
        colour = hsv(rng.uniform(0, 360), rng.uniform(0.1, 0.95), rng.uniform(0.1, 0.95))
        what = rng.random()
        if what < 0.3:  # a bush: many small leaves
            leaf = hsv(rng.uniform(50, 150), rng.uniform(0.3, 0.9), rng.uniform(0.1, 0.5))
            for _ in range(int(rng.integers(8, 40))):
                dx, dy = rng.normal(0, 0.42 * size, 2)
                _disc(out, x + dx, y + dy, rng.uniform(0.06, 0.25) * size + 0.6,
                      mix(leaf, (30, 120, 90) if rng.random() < 0.6 else (20, 40, 60), rng.uniform(0, 0.7)))
        elif what < 0.45:  # a well, a pond, a round tower
            size *= rng.uniform(0.4, 0.8)  # a plain disc of a counter's size would be a counter
            _disc(out, x, y, size, mix(colour, (120, 130, 140), rng.uniform(0.3, 0.9)))
            _disc(out, x, y, size * rng.uniform(0.4, 0.8), hsv(rng.uniform(180, 260), rng.uniform(0, 0.8),
                                                               rng.uniform(0.05, 0.7)))
            for _ in range(int(rng.integers(3, 14))):
                a = rng.uniform(0, 6.3)
                _disc(out, x + size * math.cos(a), y + size * math.sin(a), 1.2, (40, 50, 60))
        elif what < 0.65:  # a garden in rows
            turn = rng.uniform(0, 3.1)
            one, two = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
            skew = two + one * rng.uniform(-0.7, 0.7)
            for k in np.linspace(-1, 1, int(rng.integers(3, 8))):
                ends = [(x, y) + one * size * k + skew * size * s for s in (-0.8, 0.8)]
                cv2.line(out, *[tuple(int(v * 16) for v in e) for e in ends], mix(colour, (30, 90, 60),
                         rng.uniform(0, 0.5)), max(1, round(size * 0.25)), cv2.LINE_AA, 4)
        elif what < 0.85:  # a barn with two roofs
            turn, w, h = rng.uniform(-0.6, 0.6), size * rng.uniform(0.7, 1.3), size * rng.uniform(0.5, 0.9)
            cos, sin = math.cos(turn), math.sin(turn)
            for part, paint in (((-w, -h, w, 0), colour), ((-w, 0, w, h), mix(colour, (10, 10, 20), 0.4)),
                                ((-w * 0.9, h, w * 0.9, h * 1.5), (190, 210, 220))):
                box = np.array([[part[0], part[1]], [part[2], part[1]], [part[2], part[3]], [part[0], part[3]]])
                turned = box @ np.array([[cos, sin], [-sin, cos]]) + (x, y)
                cv2.fillPoly(out, [np.round(turned * 16).astype(np.int32)], paint, cv2.LINE_AA, 4)
            for _ in range(int(rng.integers(0, 8))):
                _disc(out, *(np.array([x, y]) + rng.uniform(-1, 1, 2) * (w, h)), 1.1, (30, 40, 60))
        else:  # a badge of one colour with an inner drawing
            size *= rng.uniform(0.4, 0.7)
            _disc(out, x, y, size * 0.8, colour, rng.uniform(0.6, 1))
            for _ in range(int(rng.integers(2, 7))):
                _disc(out, *(np.array([x, y]) + rng.normal(0, 0.3 * size, 2)), rng.uniform(0.1, 0.3) * size,
                      hsv(rng.uniform(0, 360), rng.uniform(0, 1), rng.uniform(0.1, 1)))
    return out


def _disc(image: Image, x: float, y: float, r: float, colour: Colour, stretch: float = 1.0) -> None:
    cv2.ellipse(image, (round(x * 16), round(y * 16)), (max(1, round(r * 16)), max(1, round(r * stretch * 16))), 0, 0,
                360, colour, -1, cv2.LINE_AA, 4)


def _pieces(rng: Random, wide: float, sizes: tuple[float, float]) -> list[Solid]:
    """Random figures on the board. A table has a few paints and one size of wood."""
    paints = [_paint(rng) for _ in range(int(rng.integers(1, 6)))]
    scale = rng.uniform(0.88, 1.15) / TILE_MM
    round_ones = rng.random()  # some sets have discs or cubes for followers
    solids: list[Solid] = []
    for _ in range(int(rng.integers(2, 18) if rng.random() < 0.3 else rng.integers(14, 42))):
        foot = rng.uniform(0.25, wide - 0.25, 2) if rng.random() < 0.25 else rng.uniform(BORDER, wide - BORDER, 2)
        if any(np.hypot(*(foot - s.foot)) < 0.28 for s in solids):
            continue
        u = rng.random()
        if round_ones < 0.33:
            kind = "disc" if u < 0.8 else "cube" if u < 0.85 else "follower"
        elif round_ones < 0.42:
            kind = "cube" if u < 0.8 else "follower"
        else:
            kind = ("follower" if u < 0.74 else "large" if u < 0.81 else "builder" if u < 0.88 else "pig" if u < 0.94
                    else "disc" if u < 0.97 else "cube")
        lies = {"follower": 0.48, "large": 0.45, "builder": 0.12, "pig": 0.12}.get(kind, 0.0)
        lying, paint = bool(rng.random() < lies), paints[int(rng.integers(len(paints)))]
        solids.append(_solid(rng, kind, lying, foot, paint, scale * rng.uniform(*sizes)))
    return solids


def _paint(rng: Random) -> Colour:
    if rng.random() < 0.25:
        return hsv(rng.uniform(0, 360), rng.uniform(0, 1), rng.uniform(0.08, 0.98))
    hue, saturation, value = _PAINTS[int(rng.choice(len(_PAINTS), p=np.array([3, 3, 3, 3, 3, 1, 1.5, 1, 1, 1, 1, 1.5])
                                                    / 23))]
    return hsv(hue + rng.normal(0, 7), saturation + rng.normal(0, 0.07), value * rng.uniform(0.75, 1.2))


def _solid(rng: Random, kind: str, lying: bool, foot: Array, paint: Colour, scale: float) -> Solid:
    yaw = rng.uniform(0, 2 * math.pi)
    if kind == "disc":
        radius, tall = rng.uniform(5.5, 11), rng.uniform(1.2, 6) if rng.random() < 0.6 else rng.uniform(0.8, 2.5)
        angles = np.linspace(0, 2 * math.pi, 25)[:-1]
        ring = np.column_stack([np.cos(angles), np.sin(angles)]) * radius
        faces, normals = _prism(ring, 0.0, tall)
        shades = np.ones(len(faces))
        if rng.random() < 0.6:  # a rim or a dent
            for part in ((0.8,) if rng.random() < 0.6 else (0.85, 0.4)):
                faces.append(np.column_stack([ring * part, np.full(24, tall)]))
                normals = np.vstack([normals, (0, 0, 1)])
                shades = np.append(shades, rng.uniform(0.85, 1.2))
    elif kind == "cube":
        side = rng.uniform(6.5, 11)
        box = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * side / 2
        faces, normals = _prism(box, 0.0, side * rng.uniform(0.8, 1.25))
        shades = np.ones(len(faces))
    else:
        faces, normals = _cut_from_board(rng, kind, lying)
        shades = rng.uniform(0.96, 1.04, len(faces))
    cos, sin = math.cos(yaw), math.sin(yaw)
    turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    if kind not in ("disc", "cube") and lying and rng.random() < 0.1:  # on its side or askew on a border
        tip = rng.uniform(-0.12, 0.12)
        turn = turn @ np.array([[1, 0, 0], [0, math.cos(tip), -math.sin(tip)], [0, math.sin(tip), math.cos(tip)]])
    lift = np.array([*foot, 0.0])
    return Solid(KINDS.index(kind), lying, np.asarray(foot, float), [f @ turn.T * scale + lift for f in faces],
                 normals @ turn.T, shades, paint)


def _prism(ring: Array, low: float, high: float) -> tuple[list[Array], Array]:
    n = len(ring)
    top = np.column_stack([ring, np.full(n, high)])
    foot = np.column_stack([ring, np.full(n, low)])
    faces = [top, *(np.array([top[k], top[(k + 1) % n], foot[(k + 1) % n], foot[k]]) for k in range(n))]
    out = ring + np.roll(ring, -1, axis=0)
    out = out / np.linalg.norm(out, axis=1, keepdims=True)
    return faces, np.vstack([[(0, 0, 1.0)], np.column_stack([out, np.zeros(n)])])


def _cut_from_board(rng: Random, kind: str, lying: bool) -> tuple[list[Array], Array]:
    """A follower, large, builder or pig in mm relative to its foot, with a slightly different outline in every set."""
    half = np.array(OUTLINES[kind])
    half = half * (rng.uniform(0.9, 1.08), rng.uniform(0.93, 1.1))
    half[1:-1] += rng.normal(0, 0.3, half[1:-1].shape) * (1, 1)
    half[1:-1, 0] = np.maximum(half[1:-1, 0], 0.1)
    half[:, 1] = np.maximum(half[:, 1], 0)
    outline = np.vstack([half, (half[1:-1] * (-1, 1))[::-1]])
    deep = DEPTH_MM[kind] * rng.uniform(0.82, 1.15)
    n = len(outline)
    front = np.column_stack([outline[:, 0], np.full(n, deep / 2), outline[:, 1]])
    back = front * (1, -1, 1)
    step = np.roll(outline, -1, axis=0) - outline
    area = float(np.sum(outline[:, 0] * np.roll(outline[:, 1], -1) - np.roll(outline[:, 0], -1) * outline[:, 1]))
    out = np.column_stack([step[:, 1], np.zeros(n), -step[:, 0]]) * np.sign(area)
    out = out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
    faces = [front, back, *(np.array([front[i], front[(i + 1) % n], back[(i + 1) % n], back[i]]) for i in range(n))]
    normals = np.vstack([(0, 1, 0), (0, -1, 0), out])
    if lying:
        flip = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)
        faces = [f @ flip.T + (0, float(outline[:, 1].max()) / 2, deep / 2) for f in faces]
        normals = normals @ flip.T
    return faces, normals


class _Light:
    """One lamp and ambient light."""

    def __init__(self, rng: Random, lamp: Array) -> None:
        self.rng, self.lamp = rng, lamp
        self.room = rng.uniform(0.35, 0.75)
        self.direct = rng.uniform(0.25, 0.75) * (1.15 - self.room)
        self.above = rng.uniform(0.0, 0.3)
        self.dark = rng.uniform(0.08, 0.65)
        self.soft = rng.uniform(0.6, 7)
        self.near = rng.uniform(0.1, 0.6)
        self.gloss = rng.uniform(0, 60)

    def shade(self, canvas: Image, solid: Solid) -> None:
        """The cast shadow on the board, and ambient occlusion around the foot."""
        points = np.vstack(solid.faces)
        t = self.lamp[2] / np.maximum(1.0, self.lamp[2] - points[:, 2:3])
        drop = (self.lamp + (points - self.lamp) * t)[:, :2]
        size = canvas.shape[0]
        pad = 3 * self.soft + 4
        low = np.maximum(np.floor(drop.min(axis=0) * SIDE - pad), 0).astype(int)
        high = np.minimum(np.ceil(drop.max(axis=0) * SIDE + pad), size).astype(int)
        if (high <= low + 2).any():
            return
        mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
        near = mask.copy()
        start = 0
        for face in solid.faces:
            part = drop[start:start + len(face)]
            start += len(face)
            cv2.fillPoly(mask, [np.round((part * SIDE - low) * 16).astype(np.int32)], 255, cv2.LINE_8, _SHIFT)
            cv2.fillPoly(near, [np.round((face[:, :2] * SIDE - low) * 16).astype(np.int32)], 255, cv2.LINE_8, _SHIFT)
        mask = cv2.GaussianBlur(mask, (0, 0), self.soft)
        near = cv2.GaussianBlur(near, (0, 0), 2.5)
        factor = (1 - self.dark * mask.astype(np.float32) / 255) * (1 - self.near * 0.6 * near.astype(np.float32) / 255)
        part = canvas[low[1]:high[1], low[0]:high[0]]
        part[:] = (part * factor[..., None]).astype(np.uint8)

    def draw(self, canvas: Image, names: NDArray[np.uint8], solid: Solid, eye: Array, name: int) -> None:
        size = canvas.shape[0]
        flat = []
        for face in solid.faces:
            t = eye[2] / (eye[2] - face[:, 2:3])
            flat.append((eye + (face - eye) * t)[:, :2] * SIDE)
        every = np.vstack(flat)
        low = np.maximum(np.floor(every.min(axis=0) - 2), 0).astype(int)
        high = np.minimum(np.ceil(every.max(axis=0) + 3), size).astype(int)
        if (high <= low + 2).any():
            return
        middle = np.array([f.mean(axis=0) for f in solid.faces])
        facing = np.flatnonzero((solid.normals * (eye - middle)).sum(axis=1) > 0)
        order = facing[np.argsort(-np.linalg.norm(eye - middle[facing], axis=1), kind="stable")]
        to = self.lamp - middle
        to /= np.linalg.norm(to, axis=1, keepdims=True)
        bright = self.room + self.direct * np.clip((solid.normals * to).sum(axis=1), 0, 1)
        bright = (bright + self.above * np.clip(solid.normals[:, 2], 0, 1)) * solid.shades
        w, h = (high - low) * _FINE
        big = np.zeros((h, w, 3), np.uint8)
        mask = np.zeros((h, w), np.uint8)
        paint = np.array(solid.paint)
        for k in order:
            shine = self.gloss * max(0.0, float(solid.normals[k] @ to[k]) - 0.75) * 4 * max(0.0, solid.normals[k, 2])
            points = np.round(((flat[k] - low) * _FINE) * 16).astype(np.int32)
            cv2.fillPoly(big, [points], np.clip(paint * bright[k] + shine, 0, 255).tolist(), cv2.LINE_AA, _SHIFT)
            cv2.fillPoly(mask, [points], 255, cv2.LINE_8, _SHIFT)
        grain = self.rng.normal(0, 3.0, (h // 4 + 1, w // 4 + 1)).astype(np.float32)
        big = np.clip(big + cv2.resize(grain, (w, h))[..., None], 0, 255).astype(np.uint8)
        small = (int(high[0] - low[0]), int(high[1] - low[1]))
        alpha = cv2.resize(mask, small, interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
        # outside the mask the fine drawing is black: average the colour over the covered part only
        colour = cv2.resize(cv2.bitwise_and(big, big, mask=mask), small, interpolation=cv2.INTER_AREA)
        part = canvas[low[1]:high[1], low[0]:high[0]]
        part[:] = np.clip(part * (1 - alpha) + colour, 0, 255).astype(np.uint8)
        names[low[1]:high[1], low[0]:high[0]][alpha[..., 0] > 0.5] = name


def _hand(rng: Random, canvas: Image, names: NDArray[np.uint8]) -> None:
    """A sleeve or a few fingers from beyond the border: not a figure, and it occludes."""
    size = canvas.shape[0]
    edge, angle = rng.uniform(0, size, 2), rng.uniform(0, 2 * math.pi)
    way = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-way[1], way[0]])
    start = edge - way * size
    skin = hsv(rng.uniform(8, 28), rng.uniform(0.2, 0.6), rng.uniform(0.25, 0.95))
    sleeve = hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.05, 0.9))
    wide = rng.uniform(0.35, 0.6) * SIDE
    drawn = canvas.copy()
    mask = np.zeros(names.shape, np.uint8)

    def bar(a: Array, b: Array, thick: float, colour: Colour) -> None:
        ends = [tuple(int(v) for v in p) for p in (a, b)]
        cv2.line(drawn, *ends, colour, max(2, round(thick)), cv2.LINE_AA)
        cv2.line(mask, *ends, 255, max(2, round(thick)))

    wrist = edge - way * rng.uniform(0.8, 1.2) * SIDE
    bar(start, wrist, 2 * wide, sleeve)
    bar(wrist, edge - way * 0.45 * SIDE, 1.5 * wide, skin)
    for k in range(int(rng.integers(1, 5))):
        root = edge - way * 0.5 * SIDE + across * (k - 1.5) * 0.22 * SIDE
        bar(root, root + way * rng.uniform(0.3, 0.75) * SIDE, 0.2 * SIDE,
            mix(skin, (20, 20, 40), rng.uniform(0, 0.3)))
    dark = cv2.GaussianBlur(mask, (0, 0), 6).astype(np.float32)[..., None] / 255
    canvas[:] = (canvas * (1 - 0.4 * dark)).astype(np.uint8)
    canvas[mask > 0] = drawn[mask > 0]
    names[mask > 0] = 0


def _photograph(rng: Random, canvas: Image, eye: Array, wide: float) -> tuple[Image, Array]:
    """The camera's picture of the board, and the homography from tile coordinates to its pixels."""
    middle = np.array([wide / 2, wide / 2, 0.0])
    forward = middle - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0, 1, 0.3))
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    roll = rng.uniform(0, 2 * math.pi)
    one, two = right * math.cos(roll) + down * math.sin(roll), down * math.cos(roll) - right * math.sin(roll)
    axes = np.array([one, two, forward])
    plane = np.column_stack([axes[:, 0], axes[:, 1], axes @ -eye])  # of (x, y, 1) on the board
    side = rng.uniform(42, 125)
    focal = side * float(np.linalg.norm(middle - eye))
    to_photo = np.diag([focal, focal, 1.0]) @ plane
    corners = np.array([[0, 0, 1], [wide, 0, 1], [wide, wide, 1], [0, wide, 1.0]]) @ to_photo.T
    pixels = corners[:, :2] / corners[:, 2:]
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    to_photo = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1.0]]) @ to_photo
    size = np.ceil(high - low).astype(int)
    if rng.random() < 0.1:  # a slight deformation of the board (never a mirror image)
        to_photo[:2] += rng.normal(0, 0.3, (2, 1)) * to_photo[2:]
    finer = SIDE * np.eye(3)
    finer[2, 2] = 1
    source = canvas
    if side < 0.6 * SIDE:
        source = cv2.GaussianBlur(canvas, (0, 0), 0.4 * SIDE / side)
    photo = cv2.warpPerspective(source, to_photo @ np.linalg.inv(finer), (int(size[0]), int(size[1])),
                                flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    return _exposed(rng, photo, side), to_photo


def _exposed(rng: Random, photo: Image, side: float) -> Image:
    """Effects of lamp colour, uneven light, lens, sensor, JPEG."""
    out = photo.astype(np.float32) / 255
    gain = rng.uniform(0.8, 1.2, 3) * rng.uniform(0.5, 1.25)
    grey = out.mean(axis=2, keepdims=True)
    out = grey + (out - grey) * rng.uniform(0.5, 1.2)
    out = np.power(np.clip(out * gain, 0, 1.6), rng.uniform(0.7, 1.45)).astype(np.float32)
    h, w = out.shape[:2]
    ramp = [np.linspace(-1, 1, n, dtype=np.float32) for n in (h, w)]
    out *= (1 + rng.uniform(-0.25, 0.25) * ramp[0][:, None] + rng.uniform(-0.25, 0.25) * ramp[1][None])[..., None]
    if rng.random() < 0.2:
        glare = cv2.resize(rng.standard_normal((5, 5), dtype=np.float32), (w, h), interpolation=cv2.INTER_CUBIC)
        out += (np.clip(glare, 0, 2) * rng.uniform(0.05, 0.35))[..., None]
    if rng.random() < 0.5:
        out += rng.uniform(0, 0.12)
    if rng.random() < 0.6:
        out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.3, 1.3) * side / 90)
    if rng.random() < 0.15:  # motion blur
        kernel = np.zeros((9, 9), np.float32)
        a = rng.uniform(0, 3.14)
        reach = rng.uniform(1, 4)
        cv2.line(kernel, (round(4 - reach * math.cos(a)), round(4 - reach * math.sin(a))),
                 (round(4 + reach * math.cos(a)), round(4 + reach * math.sin(a))), 1.0, 1)
        out = cv2.filter2D(out, -1, kernel / kernel.sum())
    if rng.random() < 0.35:
        soft = cv2.GaussianBlur(out, (0, 0), 1.0)
        out = out + (out - soft) * rng.uniform(0.3, 1.5)
    noise = rng.standard_normal(out.shape, dtype=np.float32)
    out = out + noise * rng.uniform(0, 0.03)
    photo = (np.clip(out, 0, 1) * 255).astype(np.uint8)
    if rng.random() < 0.6:
        _, coded = cv2.imencode(".jpg", photo, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 95))])
        photo = cv2.imdecode(coded, cv2.IMREAD_COLOR)
    return photo


def given_pose(rng: Random, made: Board, corners: Array) -> tuple[Array, Array]:
    """A slightly wrong pose of a square, as a reader has it: the homography (3, 3) from the board to its unit square,
    and the lean (2,) there."""
    turned = np.roll(corners, int(rng.integers(4)), axis=0)
    wrong = turned + rng.normal(0, 0.012, 2) + rng.normal(0, 0.006, (4, 2))
    base = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    to_tile = cv2.getPerspectiveTransform(wrong.astype(np.float32), base)
    centre = corners.mean(axis=0)
    low = (centre - made.eye[:2]) / made.eye[2]
    ends = cv2.perspectiveTransform(np.array([centre, centre + 0.36 * low])[None].astype(np.float32), to_tile)[0]
    lean = (ends[1] - ends[0]) / 0.36 * (1 + rng.normal(0, 0.08)) + rng.normal(0, 0.06, 2)
    return to_tile, lean


def _cut(rng: Random, made: Board, corners: Array) -> Crop:
    """A square cut out with a slightly wrong pose and a margin, as by a reader."""
    to_tile, lean = given_pose(rng, made, corners)
    photo, to_photo, names, solids = made.photo, made.to_photo, made.names, made.solids
    scale = np.array([[TILE_PX, 0, MARGIN * TILE_PX], [0, TILE_PX, MARGIN * TILE_PX], [0, 0, 1.0]])
    half = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]])
    side = float(np.sqrt(abs(np.linalg.det(to_photo)) / abs(np.append(corners.mean(axis=0), 1) @ to_photo[2]) ** 3))
    times = max(1, min(4, round(side / TILE_PX)))
    finer = np.diag([times, times, 1.0])
    crop = cv2.warpPerspective(photo, half @ finer @ scale @ to_tile @ np.linalg.inv(to_photo),
                               (CROP_PX * times,) * 2, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if times > 1:
        crop = cv2.resize(crop, (CROP_PX, CROP_PX), interpolation=cv2.INTER_AREA)
    lower = np.diag([2 * CELLS / CROP_PX, 2 * CELLS / CROP_PX, 1.0])
    canvas_to_tiles = np.diag([1 / SIDE, 1 / SIDE, 1.0])
    seen = cv2.warpPerspective(names, half @ lower @ scale @ to_tile @ canvas_to_tiles @ np.linalg.inv(half),
                               (2 * CELLS,) * 2, flags=cv2.INTER_NEAREST)
    feet = np.full((MOST, 4), np.nan, np.float32)
    relabelled = np.zeros_like(seen)
    centre = corners.mean(axis=0)
    near = sorted(range(len(solids)), key=lambda n: float(np.hypot(*(solids[n].foot - centre))))
    for k, n in enumerate(near[:MOST]):
        at = cv2.perspectiveTransform(solids[n].foot[None, None].astype(np.float32), to_tile)[0, 0]
        feet[k] = (*at, solids[n].kind, solids[n].lying)
        relabelled[seen == n + 1] = k + 1
    return Crop(crop, lean.astype(np.float32), relabelled, feet)
