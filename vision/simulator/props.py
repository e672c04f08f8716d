"""Other objects on a table: figures in supply, stacks of tiles, a mug, a pad. Never where a tile will be laid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.simulator.camera import Camera
from vision.simulator.draw import Roi, around, blend, darken, part, polygons, shadow_of
from vision.simulator.layout import Pose
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.pieces import Piece, cast

FOLLOWERS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Props:
    """``supply``: per player the figures in hand as they lie, last taken first. The rest are places on the table."""

    supply: tuple[tuple[Piece, ...], ...]
    stacks: tuple[tuple[Pose, int], ...]  # pose, number of tiles
    mug: Pose | None
    pad: Pose | None
    track: Pose | None = None  # the score track
    colours: tuple[str, ...] = ()
    beside: tuple[Piece, ...] = ()  # figures that lie close to the board and belong to nothing


def arrange(camera: Camera, tiles: Iterable[Pose], seats_deg: Sequence[float], colours: Sequence[str],
            rng: np.random.Generator, track: bool = False, beside: int = 0) -> Props:
    """Find room for everything; objects without room are left out (outside the picture). ``beside`` is the number of
    figures that lie close to the board."""
    tiles = list(tiles)
    room = _Room(camera, tiles, rng)
    supply = []
    for seat, colour in zip(seats_deg, colours, strict=True):
        at = room.toward(seat, 34)
        supply.append(_heap(at, colour, rng) if at else ())
    stacks = []
    for _ in range(int(rng.integers(2, 4))):
        if at := room.anywhere(40):
            stacks.append((Pose(x_mm=at[0], y_mm=at[1], angle_deg=float(rng.uniform(0, 90))), int(rng.integers(6, 16))))
    mug = room.anywhere(62) if rng.random() < 0.7 else None
    pad = room.anywhere(70) if rng.random() < 0.5 else None
    board = room.anywhere(84) if track else None
    return Props(beside=_beside(tiles, colours, beside, rng),
                 supply=tuple(supply), stacks=tuple(stacks), colours=tuple(colours),
                 track=Pose(x_mm=board[0], y_mm=board[1], angle_deg=float(rng.uniform(0, 360))) if board else None,
                 mug=Pose(x_mm=mug[0], y_mm=mug[1], angle_deg=float(rng.uniform(0, 360))) if mug else None,
                 pad=Pose(x_mm=pad[0], y_mm=pad[1], angle_deg=float(rng.uniform(0, 360))) if pad else None)


def _beside(tiles: Sequence[Pose], colours: Sequence[str], count: int, rng: np.random.Generator) -> tuple[Piece, ...]:
    """Figures within half a tile of the board, where no tile will be laid."""
    out: list[Piece] = []
    for _ in range(60 * count):
        near, a = tiles[int(rng.integers(len(tiles)))], rng.uniform(0, 2 * math.pi)
        far = rng.uniform(0.8, 1.15) * TILE_MM
        x, y = near.x_mm + far * math.cos(a), near.y_mm + far * math.sin(a)
        if len(out) < count and all(math.hypot(x - t.x_mm, y - t.y_mm) > 0.78 * TILE_MM for t in tiles) \
                and all(math.hypot(x - p.x_mm, y - p.y_mm) > 15 for p in out):
            out.append(Piece(figure="follower", colour=colours[int(rng.integers(len(colours)))], x_mm=x, y_mm=y,
                             z_mm=0.0, yaw_deg=float(rng.uniform(0, 360)), lying=bool(rng.random() < 0.7)))
    return tuple(out)


class _Room:
    """Free circles on the visible table."""

    def __init__(self, camera: Camera, tiles: Iterable[Pose], rng: np.random.Generator) -> None:
        w, h = camera.width, camera.height
        inset = 0.015 * w
        corners = camera.table_mm([(inset, inset), (w - inset, inset), (w - inset, h - inset), (inset, h - inset)])
        self._low = np.maximum(corners[0], (corners[3, 0], corners[1, 1]))
        self._high = np.minimum(corners[2], (corners[1, 0], corners[3, 1]))
        self._taken = [(t.x_mm, t.y_mm, TILE_MM) for t in tiles]
        self._rng = rng

    def anywhere(self, radius: float) -> tuple[float, float] | None:
        low, high = self._low + radius * 0.8, self._high - radius * 0.8
        if (low >= high).any():
            return None
        return self._first(radius, (self._rng.uniform(low, high) for _ in range(250)))

    def toward(self, seat_deg: float, radius: float) -> tuple[float, float] | None:
        """A free place near the edge at which a player sits."""
        middle, half = (self._low + self._high) / 2, (self._high - self._low) / 2 - radius * 0.9
        tries = []
        for n in range(60):
            a = math.radians(seat_deg + (-1) ** n * n * 0.7)
            d = np.array([math.cos(a), math.sin(a)])
            tries.append(middle + d * float(np.min(half / np.maximum(np.abs(d), 1e-6))))
        return self._first(radius, tries)

    def _first(self, radius: float, tries: Iterable[npt.NDArray[np.float64]]) -> tuple[float, float] | None:
        for p in tries:
            if all(math.hypot(p[0] - x, p[1] - y) > radius + r for x, y, r in self._taken):
                self._taken.append((float(p[0]), float(p[1]), radius))
                return float(p[0]), float(p[1])
        return None


def _heap(at: tuple[float, float], colour: str, rng: np.random.Generator) -> tuple[Piece, ...]:
    spots: list[tuple[float, float]] = []
    for _ in range(400):
        r, a = 32 * math.sqrt(rng.random()), rng.uniform(0, 2 * math.pi)
        p = (at[0] + r * math.cos(a), at[1] + r * math.sin(a))
        if all(math.dist(p, q) > 15 for q in spots):
            spots.append(p)
        if len(spots) == FOLLOWERS:
            break
    return tuple(Piece(figure="follower", colour=colour, x_mm=x, y_mm=y, z_mm=0.0, yaw_deg=float(rng.uniform(0, 360)),
                       lying=bool(rng.random() < 0.5)) for x, y in spots)


def tile_back(size_px: int) -> Image:
    """The back of a tile, the same for all: dark green with a ring."""
    image = np.full((size_px, size_px, 3), (52, 74, 44), np.uint8)
    grain = np.random.default_rng(5).normal(0, 5, (size_px, size_px, 1))
    image = np.clip(image + grain, 0, 255).astype(np.uint8)
    m, light = size_px // 2, (96, 128, 88)
    cv2.rectangle(image, (size_px // 16, size_px // 16), (size_px - size_px // 16, size_px - size_px // 16), light, 2)
    for n in (0.3, 0.2, 0.08):
        cv2.circle(image, (m, m), int(size_px * n), light, 2, cv2.LINE_AA)
    return image


def stack_tops(pose: Pose, count: int) -> list[tuple[Pose, float]]:
    """Pose and height of the face of each tile of a stack, lowest first."""
    rng = np.random.default_rng([count, int(abs(pose.x_mm) * 10)])
    return [(Pose(x_mm=pose.x_mm + rng.normal(0, 0.7), y_mm=pose.y_mm + rng.normal(0, 0.7),
                  angle_deg=pose.angle_deg + rng.normal(0, 1.5)), TILE_HEIGHT_MM * (n + 1)) for n in range(count)]


def draw_mug(canvas: Image, pose: Pose, camera: Camera, lamp_mm: npt.NDArray[np.float64]) -> Roi | None:
    """A mug with a dark drink, 90 mm high."""
    turn = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    def ring(z: float, r: float) -> npt.NDArray[np.float64]:
        return np.column_stack([pose.x_mm + r * np.cos(turn), pose.y_mm + r * np.sin(turn), np.full(48, z)])

    levels = [ring(z, 36 + 4 * z / 90) for z in np.linspace(0, 90, 24)]
    drops = [camera.project(cast(level, lamp_mm, 0.0)) for level in levels]
    rings = [camera.project(level) for level in levels]
    roi = around(np.vstack([*rings, *drops]), (camera.width, camera.height), 16)
    if roi is None:
        return None
    scale = camera.scale((pose.x_mm, pose.y_mm))
    darken(part(canvas, roi), shadow_of(roi, drops, 5 * scale) * np.float32(0.5))
    paint = np.array([(120, 70, 40), (60, 60, 170), (190, 196, 198), (70, 110, 60)][int(pose.angle_deg) % 4], float)
    shapes: list[tuple[npt.ArrayLike, tuple[float, ...]]] = [
        (r, tuple(paint * (0.45 + 0.4 * n / 24))) for n, r in enumerate(rings)]
    shapes += [(camera.project(ring(90, 37)), tuple(paint * 0.5)), (camera.project(ring(72, 36)), (22, 34, 48)),
               (camera.project(ring(72, 30)), (28, 44, 66))]
    colour, alpha = polygons(roi, shapes, 2)
    blend(part(canvas, roi), colour, alpha)
    return roi


def draw_pad(canvas: Image, pose: Pose, camera: Camera) -> Roi | None:
    """A sheet of lined paper with pencil writing."""
    image = np.full((200, 140, 3), (226, 234, 236), np.uint8)
    rng = np.random.default_rng(int(pose.angle_deg * 10))
    for y in range(18, 196, 12):
        cv2.line(image, (6, y), (134, y), (216, 196, 176), 1)
        if rng.random() < 0.7:
            for x in range(14, int(rng.integers(40, 120)), 7):
                cv2.line(image, (x, y - int(rng.integers(2, 8))), (x + 4, y - int(rng.integers(2, 8))), (90, 88, 92), 1)
    quad = camera.project([(*pose.at(dx, dy), 0.2) for dx, dy in ((-37, -52), (37, -52), (37, 52), (-37, 52))])
    roi = around(quad, (camera.width, camera.height), 4)
    if roi is None:
        return None
    m = cv2.getPerspectiveTransform(np.array([(0, 0), (140, 0), (140, 200), (0, 200)], np.float32),
                                    (quad - roi[:2]).astype(np.float32))
    size = (roi[2] - roi[0], roi[3] - roi[1])
    darken(part(canvas, roi), shadow_of(roi, [quad + 1], 1.5) * np.float32(0.4))
    _, alpha = polygons(roi, [(quad, (255, 255, 255))])
    blend(part(canvas, roi), cv2.warpPerspective(image, m, size, borderMode=cv2.BORDER_REPLICATE), alpha)
    return roi


_CELLS = 50
_CELL_MM = 13.0


def _cell(n: int) -> tuple[float, float]:
    """Middle of a cell of the score track (five rows of ten, boustrophedon) relative to the track's centre, mm."""
    row, column = divmod(n % _CELLS, 10)
    column = column if row % 2 == 0 else 9 - column
    return (column - 4.5) * _CELL_MM, (row - 2) * _CELL_MM


def draw_track(canvas: Image, pose: Pose, camera: Camera) -> Roi | None:
    """A card with fifty numbered cells."""
    scale = 4
    w, h = round(10.6 * _CELL_MM * scale), round(5.6 * _CELL_MM * scale)
    image = np.full((h, w, 3), (150, 178, 186), np.uint8)
    for n in range(_CELLS):
        x, y = (round(v * scale + m / 2) for v, m in zip(_cell(n), (w, h), strict=True))
        half = round(_CELL_MM * scale / 2) - 2
        cv2.rectangle(image, (x - half, y - half), (x + half, y + half), (96, 128, 150) if n % 5 else (60, 70, 140), -1)
        cv2.putText(image, str(n), (x - half + 3, y + 6), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (225, 232, 236), 1,
                    cv2.LINE_AA)
    right, low = w / scale / 2, h / scale / 2
    quad = camera.project([(*pose.at(dx, dy), 1.0) for dx, dy in ((-right, -low), (right, -low), (right, low),
                                                                  (-right, low))])
    roi = around(quad, (camera.width, camera.height), 4)
    if roi is None:
        return None
    m = cv2.getPerspectiveTransform(np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32),
                                    (quad - roi[:2]).astype(np.float32))
    darken(part(canvas, roi), shadow_of(roi, [quad + 1], 1.5) * np.float32(0.4))
    _, alpha = polygons(roi, [(quad, (255, 255, 255))])
    shown = cv2.warpPerspective(image, m, (roi[2] - roi[0], roi[3] - roi[1]), flags=cv2.INTER_AREA,
                                borderMode=cv2.BORDER_REPLICATE)
    blend(part(canvas, roi), shown, alpha)
    return roi


def on_track(track: Pose, player: int, colour: str, score: int) -> Piece:
    """A player's figure on the score track."""
    x, y = _cell(score)
    x_mm, y_mm = track.at(x + 3 * math.cos(player * 1.3), y + 3 * math.sin(player * 1.3))
    return Piece(figure="follower", colour=colour, x_mm=x_mm, y_mm=y_mm, z_mm=1.0, yaw_deg=40.0 * player, lying=False)


def track_number(player: int) -> int:
    return -(100_000 + player)


def beside_number(index: int) -> int:
    return -(200_000 + index)


def numbered(supply: Sequence[Sequence[Piece]]) -> Mapping[int, Piece]:
    """Every figure in supply under a negative number of its own, apart from those on the board."""
    return {-(1 + 100 * player + n): piece for player, heap in enumerate(supply) for n, piece in enumerate(heap)}


def number(player: int, index: int) -> int:
    return -(1 + 100 * player + index)
