"""Positions in millimetres: tiles laid against their neighbours, figures on their segments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from scoring.tiles import catalogue, segment_index
from vision.simulator.camera import Camera, focal_of
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM, Level
from vision.simulator.script import Laid, Square, Standing

GAP_MM = 0.25  # tiles never touch along a whole side


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """Centre and angle (degrees, clockwise as the camera sees it) of something on the table."""

    x_mm: float
    y_mm: float
    angle_deg: float

    def at(self, dx_mm: float, dy_mm: float) -> tuple[float, float]:
        """The table point at this offset (right, down) from the centre in the piece's own axes."""
        c, s = math.cos(math.radians(self.angle_deg)), math.sin(math.radians(self.angle_deg))
        return self.x_mm + c * dx_mm - s * dy_mm, self.y_mm + s * dx_mm + c * dy_mm

    def corners(self, half_mm: float = TILE_MM / 2) -> list[tuple[float, float]]:
        """NW, NE, SE, SW corner of a square of twice that side."""
        h = half_mm
        return [self.at(-h, -h), self.at(h, -h), self.at(h, h), self.at(-h, h)]


def lay_tiles(tiles: Iterable[Laid], level: Level, rng: np.random.Generator,
              fixed: Mapping[Square, Pose] | None = None) -> dict[Square, Pose]:
    """Poses along the board's own axes (angle near 0 whatever the quarter turns), each laid against its neighbours;
    those of ``fixed`` squares are given."""
    poses: dict[Square, Pose] = dict(fixed or {})
    for laid in tiles:
        if laid.at in poses:
            continue
        x, y = laid.at
        near = [(poses[n], d) for d in ((0, -1), (1, 0), (0, 1), (-1, 0))
                if (n := (x + d[0], y + d[1])) in poses]
        if not near:
            poses[laid.at] = Pose(x_mm=x * TILE_MM, y_mm=y * TILE_MM, angle_deg=rng.normal(0, level.jitter_deg))
            continue
        angle = float(np.mean([p.angle_deg for p, _ in near])) * 0.97 + rng.normal(0, level.jitter_deg)
        step = TILE_MM + GAP_MM + abs(rng.normal(0, 0.3 * level.jitter_mm))
        spots = [p.at(-d[0] * step, -d[1] * step) for p, d in near]
        cx, cy = np.mean(spots, axis=0) + rng.normal(0, level.jitter_mm, 2)
        poses[laid.at] = _apart(Pose(x_mm=float(cx), y_mm=float(cy), angle_deg=angle), near)
    return poses


def _apart(pose: Pose, near: list[tuple[Pose, tuple[int, int]]]) -> Pose:
    """Resolve overlap: push a tile off its neighbours."""
    for _ in range(4):
        for other, d in near:
            out = np.array([-d[0], -d[1]], float)  # from the neighbour to this tile, in the board's axes
            reach = min(float(np.dot(np.subtract(c, (other.x_mm, other.y_mm)), out)) for c in pose.corners())
            depth = TILE_MM / 2 - 0.3 - reach
            if depth > 0:
                pose = replace(pose, x_mm=pose.x_mm + out[0] * depth * 0.6, y_mm=pose.y_mm + out[1] * depth * 0.6)
    return pose


def turned(poses: Mapping[Square, Pose], angle_deg: float, centre: tuple[float, float]) -> dict[Square, Pose]:
    """The whole board rotated about its middle, which is moved to ``centre``."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    points = np.array([p.corners() for p in poses.values()]).reshape(-1, 2) @ np.array([[c, s], [-s, c]])
    middle = (points.min(0) + points.max(0)) / 2
    result = {}
    for at, p in poses.items():
        x, y = c * p.x_mm - s * p.y_mm, s * p.x_mm + c * p.y_mm
        result[at] = Pose(x_mm=float(x - middle[0] + centre[0]), y_mm=float(y - middle[1] + centre[1]),
                          angle_deg=p.angle_deg + angle_deg)
    return result


def set_up(poses: Mapping[Square, Pose], level: Level, size: tuple[int, int], rng: np.random.Generator, *,
           fov_deg: float | None = None, bend: float | None = None,
           room_mm: float = 0.0) -> tuple[Camera, dict[Square, Pose]]:
    """A camera that sees the whole final board with a margin, and the board's poses under it.

    A standard lens (66 degrees) if that is enough from at most 85 cm, a wider one for larger boards. ``fov_deg`` and
    ``bend`` (k1) choose another, at the height where it sees as much.
    """
    long_x = _extent(poses, 0) >= _extent(poses, 90)
    fov, lift, last = 66.0, rng.uniform(650, 820), None
    tilt = tuple(np.radians(rng.uniform(-level.tilt_deg, level.tilt_deg, 3)))
    k1 = float(rng.uniform(*level.k1)) if bend is None else bend
    usual = math.tan(math.radians(33.0))
    centre = (size[0] / 2 + rng.normal(0, 0.004 * size[0]), size[1] / 2 + rng.normal(0, 0.004 * size[0]))
    for attempt in range(60):
        swing = level.board_deg * max(0.0, 1 - attempt / 16)
        angle = (0 if long_x else 90) + 180 * int(rng.integers(2)) + rng.uniform(-swing, swing)
        if attempt > 4:
            lift = min(850.0, lift + 15)
        if attempt > 16:
            fov = min(115.0, fov + 2)
        seen, up = (fov, lift) if fov_deg is None else (fov_deg, lift * usual / math.tan(math.radians(fov_deg / 2)))
        camera = Camera(width=size[0], height=size[1], focal_px=focal_of(size[0], seen), centre_px=centre, k1=k1,
                        k2=-0.25 * k1, position_mm=(up * math.tan(tilt[1]), -up * math.tan(tilt[0]), up),
                        tilt=(float(tilt[0]), float(tilt[1]), float(tilt[2])))
        board = turned(poses, angle, (rng.normal(0, 12), rng.normal(0, 8)))
        last = camera, board
        px = camera.project([(x, y, TILE_HEIGHT_MM) for p in board.values()
                             for x, y in p.corners(TILE_MM / 2 + room_mm)])
        margin = 0.012 * size[0]
        if (px > margin).all() and (px < np.subtract(size, margin)).all():
            break
    assert last is not None
    return last


def _extent(poses: Mapping[Square, Pose], axis_deg: float) -> float:
    a = math.radians(axis_deg)
    along = [p.x_mm * math.cos(a) + p.y_mm * math.sin(a) for p in poses.values()]
    return max(along) - min(along)


# From a block's middle to a follower's: half the diagonal of 16 mm and half a follower's width, which do not overlap.
_BESIDE_BLOCK_MM = 19.5


def stand(figure: Standing, laid: Laid, pose: Pose, mask: np.ndarray | None, taken: list[tuple[float, float]],
          level: Level, rng: np.random.Generator, blocks: tuple[tuple[float, float], ...] = ()) -> tuple[float, float]:
    """The table point under a figure: near its segment's spot, on the segment, clear of other figures if possible.

    ``mask`` is the segment's visible area at rot 0 (bool, S x S), ``taken`` are table points of other figures,
    ``blocks`` those where a block lies or will be laid while the figure stands.
    """
    tile = catalogue()[laid.tile]
    index = segment_index(tile, laid.rot, figure.feature, figure.where)
    spot = tile.segments[index].spot if index is not None else (50.0, 50.0)
    best, best_cost = spot, math.inf
    for n in range(160 if blocks else 40):
        spread = level.figure_mm / TILE_MM * 100 * (1 + min(n, 40) / 20)
        u, v = (float(np.clip(c + (rng.normal(0, spread) if n else rng.normal(0, spread / 3)), 6, 94)) for c in spot)
        cost = math.hypot(u - spot[0], v - spot[1]) / 100
        if mask is not None and mask.any():
            size = len(mask)
            cost += 0 if mask[min(size - 1, int(v * size / 100)), min(size - 1, int(u * size / 100))] else 5
        p = _on_board((u, v), laid.rot, pose)
        nearest = min((math.dist(p, q) for q in taken), default=99.0)
        cost += max(0.0, 15 - nearest) / 5
        cost += max(0.0, _BESIDE_BLOCK_MM - min((math.dist(p, q) for q in blocks), default=99.0)) / 2
        if cost < best_cost:
            best, best_cost = (u, v), cost
        if n >= 6 and best_cost < 1:
            break
    return _on_board(best, laid.rot, pose)


def _on_board(uv: tuple[float, float], rot: int, pose: Pose) -> tuple[float, float]:
    dx, dy = (uv[0] / 100 - 0.5) * TILE_MM, (uv[1] / 100 - 0.5) * TILE_MM
    for _ in range(rot):
        dx, dy = -dy, dx
    return pose.at(dx, dy)
