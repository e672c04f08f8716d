"""Solid wooden figures: outlines cut from a board, standing or lying, seen in perspective, lit by one lamp."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.simulator.camera import Camera
from vision.simulator.draw import Roi, around, blend, darken, part, polygons, shadow_of, union

Array = npt.NDArray[np.float64]

# Right halves of outlines from the top of the head down, in mm: (half width, height). Widths and heights are those of
# pieces measured with a caliper: a follower 16.0 x 16.0, a large one 18.5 x 19.3 and no thicker, a builder
# 14.3 x 20.5, a pig 22.1 x 11.2.
_FOLLOWER = ((0, 16), (1.6, 15.6), (2.7, 14.4), (2.7, 12.9), (1.9, 11.4), (4.8, 10.5), (7.4, 9.0), (8.0, 7.8),
             (7.3, 6.9), (4.0, 7.0), (5.0, 4.4), (7.0, 1.0), (6.6, 0), (2.3, 0), (1.2, 1.9), (0, 3.0))
_BUILDER = ((0, 19), (2.4, 19), (2.6, 17), (4.3, 16.6), (4.3, 15.8), (2.6, 15.4), (2.4, 13.4), (4.6, 12.6), (6.4, 10),
            (6.9, 6.4), (5.2, 6), (4.6, 8), (4.4, 4), (5.4, 0), (1.6, 0), (0.8, 2.4), (0, 3))
_PIG = ((0, 9.5), (4, 9.9), (7.5, 9.2), (9.4, 7.4), (10, 5.2), (8.6, 3.8), (7.6, 3.2), (7.2, 0), (4.4, 0),
        (4, 2.4), (0, 2.6))
# A piece of a newer box, in a robe: its size is an assumption, nobody has measured one.
_ABBOT = ((0, 18.5), (1.8, 18), (2.9, 16.4), (2.6, 14.2), (1.9, 13.2), (4.6, 12.4), (5.6, 10.4), (5.8, 7), (6.6, 3),
          (7.6, 0), (0, 0))


def _sized(half: Sequence[tuple[float, float]], width_mm: float, height_mm: float) -> tuple[tuple[float, float], ...]:
    wide, high = (max(p[n] for p in half) for n in (0, 1))
    return tuple((x * width_mm / 2 / wide, z * height_mm / high) for x, z in half)


OUTLINES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "follower": _FOLLOWER, "large": _sized(_FOLLOWER, 18.5, 19.3), "builder": _sized(_BUILDER, 14.3, 20.5),
    "pig": _sized(_PIG, 22.1, 11.2), "abbot": _ABBOT}

# # Whole outlines, clockwise, of neutral pieces. Not measured: their lengths relative to a tile are from photographs of
# such boxes, and makers differ.
_DRAGON = ((-21, 3), (-15, 12), (-9, 15), (-7, 23), (1, 20), (5, 17), (8, 24), (14, 29), (21, 26), (20, 23), (14, 23),
           (13, 18), (14, 11), (11, 6), (13, 0), (5, 0), (4, 3), (-6, 3), (-7, 0), (-14, 0), (-13, 4), (-17, 5))
_FAIRY = ((0, 27), (2.8, 26), (3.6, 23.4), (2.4, 21), (2.4, 19), (5, 20.6), (9, 20), (8.6, 15), (4, 13), (7, 0),
          (-7, 0), (-4, 13), (-8.6, 15), (-9, 20), (-5, 20.6), (-2.4, 19), (-2.4, 21), (-3.6, 23.4), (-2.8, 26))
WHOLE: Mapping[str, tuple[tuple[float, float], ...]] = {"dragon": _DRAGON, "fairy": _FAIRY}
MAKERS: Mapping[str, tuple[str, ...]] = {"dragon": ("red", "purple"), "fairy": ("white", "pink", "natural")}
SCALES = (0.9, 1.1)  # of the outlines, by the maker
DEPTH_MM: Mapping[str, float] = {"follower": 9.5, "large": 9.5, "builder": 9.4, "pig": 8.0, "dragon": 12.0,
                                 "fairy": 10.0}

LIES = frozenset({"follower", "large"})  # in a field; other pieces stand there too

WOOD_BGR: Mapping[str, tuple[int, int, int]] = {
    "red": (38, 30, 196), "blue": (178, 86, 24), "green": (62, 132, 26), "yellow": (36, 196, 240),
    "black": (44, 42, 42), "gray": (138, 134, 132), "grey": (138, 134, 132), "pink": (170, 128, 236),
    "white": (222, 228, 230), "orange": (24, 120, 236), "purple": (140, 52, 112), "brown": (40, 72, 116),
    "natural": (120, 172, 214)}


def colour_bgr(name: str) -> tuple[int, int, int]:
    """Wood paint of a player's colour; an unknown name gets a deterministic colour of its own."""
    if name.lower() in WOOD_BGR:
        return WOOD_BGR[name.lower()]
    mixed = sum((n + 3) * ord(c) for n, c in enumerate(name))
    return mixed * 37 % 160 + 50, mixed * 59 % 160 + 50, mixed * 83 % 160 + 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A figure at a table point, ``z_mm`` above the table (a tile's thickness when it stands on one).

    ``x_mm, y_mm`` is the middle of what touches the ground; a lying figure lies on its back. ``scale`` is how large its
    maker made it. A block has its width, height and depth (``block_mm``). ``pile`` is the square of the pile that it
    belongs to or stands on; ``tone`` the lightness of its wood.
    """

    figure: str
    colour: str
    x_mm: float
    y_mm: float
    z_mm: float
    yaw_deg: float
    lying: bool
    scale: float = 1.0
    block_mm: tuple[float, float, float] | None = None
    pile: tuple[int, int] | None = None
    tone: float = 1.0

    def moved(self, x_mm: float, y_mm: float, z_mm: float) -> Piece:
        return replace(self, x_mm=x_mm, y_mm=y_mm, z_mm=z_mm)


def swapped(pieces: Sequence[tuple[int, Piece]], owned: Collection[str], rate: float,
            rng: np.random.Generator) -> list[tuple[int, Piece]]:
    """The pieces by turn, some followers (at this rate) replaced by pieces that players of this game do not have."""
    strange = [name for name in OUTLINES if name != "follower" and name not in owned]
    return [(turn, replace(p, figure=strange[int(rng.integers(len(strange)))])
             if p.figure == "follower" and strange and rng.random() < rate else p) for turn, p in pieces]


def faces(piece: Piece) -> tuple[list[Array], Array]:
    """Planar faces as (N, 3) table points, and (F, 3) outward normals."""
    if piece.block_mm is not None:
        return _block(piece, *piece.block_mm)
    half = OUTLINES.get(piece.figure, _FOLLOWER)
    outline = piece.scale * np.array(WHOLE.get(piece.figure) or
                                     [*half, *((-x, z) for x, z in reversed(half[1:-1]))], float)  # clockwise
    deep = DEPTH_MM.get(piece.figure, 9.5)
    n = len(outline)
    front = np.column_stack([outline[:, 0], np.full(n, deep / 2), outline[:, 1]])
    back = front * (1, -1, 1)
    shapes = [front, back, *(np.array([front[i], front[(i + 1) % n], back[(i + 1) % n], back[i]]) for i in range(n))]
    edge = np.roll(outline, -1, 0) - outline
    side = np.column_stack([-edge[:, 1], np.zeros(n), edge[:, 0]])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    side *= np.sign((side[:, [0, 2]] * (outline + edge / 2 - (0, outline[:, 1].mean()))).sum(1)).mean() or 1
    normals = np.vstack([(0, 1, 0), (0, -1, 0), side])
    if piece.lying:  # turned onto its back: the front now faces up
        flip = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)
        tall = outline[:, 1].max()
        shapes = [s @ flip.T + (0, tall / 2, deep / 2) for s in shapes]
        normals = normals @ flip.T
    a = math.radians(piece.yaw_deg)
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
    at = (piece.x_mm, piece.y_mm, piece.z_mm)
    return [s @ turn.T + at for s in shapes], normals @ turn.T


_BEVEL_MM = 0.7  # of a block's edges


def _block(piece: Piece, wide: float, high: float, deep: float) -> tuple[list[Array], Array]:
    """The same of a block with bevelled upper and lower edges, which make the seams of a pile."""
    a = math.radians(piece.yaw_deg)
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])

    def ring(z: float, inset: float) -> Array:
        x, y = wide / 2 - inset, deep / 2 - inset
        out: Array = np.array([(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)]) @ turn.T
        return out + (piece.x_mm, piece.y_mm, piece.z_mm)

    rings = [ring(0, _BEVEL_MM), ring(_BEVEL_MM, 0), ring(high - _BEVEL_MM, 0), ring(high, _BEVEL_MM)]
    shapes = [np.array([low[i], low[(i + 1) % 4], up[(i + 1) % 4], up[i]])
              for low, up in itertools.pairwise(rings) for i in range(4)]
    shapes.append(rings[-1])
    out = np.array([np.cross(s[1] - s[0], s[2] - s[1]) for s in shapes])
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    middle = np.mean(rings[0], axis=0) + (0, 0, high / 2)
    out *= np.sign([float(n @ (s.mean(0) - middle)) for n, s in zip(out, shapes, strict=True)])[:, None]
    return shapes, out


def cast(points_mm: Array, lamp_mm: Array, ground_mm: float) -> Array:
    """The shadows of points (N, 3) on a plane, from a lamp."""
    t = (lamp_mm[2] - ground_mm) / np.maximum(1.0, lamp_mm[2] - points_mm[:, 2:3])
    out: npt.NDArray[np.float64] = lamp_mm + (points_mm - lamp_mm) * t
    return out


def region(piece: Piece, camera: Camera, lamp_mm: Array, ground_mm: float) -> Roi | None:
    """All px that the figure or its shadow may touch."""
    shapes, _ = faces(piece)
    points = np.vstack(shapes)
    size = (camera.width, camera.height)
    drop = around(camera.project(cast(points, lamp_mm, ground_mm)), size, 14)
    return union(drop, around(camera.project(points), size, 4))


def draw_piece(canvas: Image, piece: Piece, camera: Camera, lamp_mm: Array, ground_mm: float) -> Roi | None:
    """Shadow, then the solid. Returns the region that changed; None when it is out of view."""
    roi = region(piece, camera, lamp_mm, ground_mm)
    if roi is None:
        return None
    lift = max(0.0, piece.z_mm - ground_mm)
    draw_shadow(canvas, [piece], camera, lamp_mm, ground_mm, 0.06 * lift, 0.52 / (1 + lift / 60))
    draw_solid(canvas, piece, camera, lamp_mm)
    return roi


def draw_shadow(canvas: Image, pieces: Sequence[Piece], camera: Camera, lamp_mm: Array, ground_mm: float,
                soft_mm: float = 0.0, dark: float = 0.52) -> None:
    """The common shadow of pieces on a plane."""
    points = [cast(s, lamp_mm, ground_mm) for piece in pieces for s in faces(piece)[0]]
    drops = [camera.project(p) for p in points]
    roi = around(np.vstack(drops), (camera.width, camera.height), 14)
    if roi is not None:
        shade = shadow_of(roi, drops, (1.0 + soft_mm) * camera.scale((pieces[0].x_mm, pieces[0].y_mm)))
        darken(part(canvas, roi), shade * np.float32(dark))


def draw_solid(canvas: Image, piece: Piece, camera: Camera, lamp_mm: Array) -> None:
    """The solid without a shadow."""
    shapes, normals = faces(piece)
    size = (camera.width, camera.height)
    eye = np.array(camera.position_mm)
    middle = np.array([s.mean(0) for s in shapes])
    toward = eye - middle
    visible = np.flatnonzero((normals * toward).sum(1) > 0)
    order = visible[np.argsort(-np.linalg.norm(toward[visible], axis=1))]
    light = lamp_mm - middle
    light /= np.linalg.norm(light, axis=1, keepdims=True)
    bright = 0.50 + 0.46 * np.clip((normals * light).sum(1), 0, 1) + 0.10 * np.clip(normals[:, 2], 0, 1)
    paint = np.array(colour_bgr(piece.colour), float) * piece.tone
    body = around(camera.project(np.vstack(shapes)), size)
    if body is None:
        return
    filled = []
    for i in order:
        gloss = 26 * max(0.0, float(normals[i] @ light[i]) - 0.8) / 0.2
        filled.append((camera.project(shapes[i]), tuple(float(c) for c in np.clip(paint * bright[i] + gloss, 0, 255))))
    colour, alpha = polygons(body, filled)
    blend(part(canvas, body), colour, alpha)
