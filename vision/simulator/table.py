"""The still table: everything that lies on it, drawn once and updated where something changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.simulator.camera import Camera
from vision.simulator.draw import Roi, around, blend, darken, overlap, part, picture, polygons, shadow_of
from vision.simulator.layout import Pose
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.pieces import Piece, draw_piece, draw_shadow, draw_solid, region
from vision.simulator.props import (
    Props,
    beside_number,
    draw_mug,
    draw_pad,
    draw_track,
    numbered,
    on_track,
    stack_tops,
    tile_back,
    track_number,
)
from vision.simulator.script import Square
from vision.simulator.surface import lit

_CARDBOARD = (118, 142, 156)
_ART_PX = 160


def tile_alpha(size_px: int) -> npt.NDArray[np.uint8]:
    """A tile's outline with its slightly round corners."""
    alpha = np.zeros((size_px, size_px), np.uint8)
    r = max(2, round(size_px * 0.9 / TILE_MM))
    cv2.rectangle(alpha, (r, 0), (size_px - 1 - r, size_px - 1), 255, -1)
    cv2.rectangle(alpha, (0, r), (size_px - 1, size_px - 1 - r), 255, -1)
    for x in (r, size_px - 1 - r):
        for y in (r, size_px - 1 - r):
            cv2.circle(alpha, (x, y), r, 255, -1, cv2.LINE_AA)
    return alpha


def corners_px(pose: Pose, camera: Camera, height_mm: float = TILE_HEIGHT_MM,
               side_mm: float = TILE_MM) -> npt.NDArray[np.float64]:
    """(4, 2) px of a tile's upper corners NW NE SE SW in the pose's own axes."""
    return camera.project([(x, y, height_mm) for x, y in pose.corners(side_mm / 2)])


class StillTable:
    """Layers: bare table, plus tiles, plus figures, under light. ``scene`` is unlit, ``shown`` is lit."""

    def __init__(self, bare: Image, camera: Camera, lamp_mm: npt.NDArray[np.float64], light: npt.NDArray[np.uint8],
                 blur_px: float) -> None:
        self._camera, self._lamp, self._blur = camera, lamp_mm, blur_px
        self._size = (camera.width, camera.height)
        self.light = light
        self._board = bare.copy()
        self._covered = np.zeros(bare.shape[:2], np.uint8)  # where tiles lie
        self._pieces: dict[int, Piece] = {}
        self._reaches: dict[Piece, Roi | None] = {}  # region that each may touch, cached
        self._tiles: dict[object, tuple[Pose, Image, float]] = {}
        self._covers: dict[object, tuple[Roi, Callable[[Image], None]]] = {}
        self._dressed: Image | None = None  # the table without tiles
        self.scene = np.empty_like(bare)
        self.shown = np.empty_like(bare)
        self._alpha = tile_alpha(_ART_PX)
        self._refresh((0, 0, *self._size))

    @property
    def pieces(self) -> Mapping[int, Piece]:
        return self._pieces

    def put_tile(self, pose: Pose, art: Image, name: object = None, side_mm: float = TILE_MM) -> None:
        """Lay a tile, or a board of that side; ``art`` is as it lies (quarter turns done). By its ``name`` it can be
        moved later."""
        if self._dressed is None:
            self._dressed = self._board.copy()
        self._tiles[name] = pose, art, side_mm
        self._refresh(self.draw_tile(self._board, pose, art, TILE_HEIGHT_MM, self._covered, side_mm=side_mm))

    def put_piece(self, number: int, piece: Piece) -> None:
        self._pieces[number] = piece
        self._refresh(self._reach(piece))

    def take_piece(self, number: int) -> None:
        piece = self._pieces.pop(number)
        self._refresh(self._reach(piece))

    def move(self, poses: Mapping[object, Pose], pieces: Mapping[int, Piece]) -> None:
        """Move tiles and figures that are on the table."""
        assert self._dressed is not None
        self._board = self._dressed.copy()
        self._covered[:] = 0
        for name, (pose, art, side_mm) in self._tiles.items():
            self._tiles[name] = poses.get(name, pose), art, side_mm
            self.draw_tile(self._board, self._tiles[name][0], art, TILE_HEIGHT_MM, self._covered, side_mm=side_mm)
        self._pieces |= pieces
        self._refresh((0, 0, *self._size))

    def cover(self, name: object, region_px: Roi, draw: Callable[[Image], None]) -> None:
        """Cover a region from now on with something on top of everything else; ``draw`` draws it onto a whole
        picture."""
        self._covers[name] = region_px, draw
        self._refresh(region_px)

    def uncover(self, name: object) -> None:
        self._refresh(self._covers.pop(name)[0])

    def relight(self, light: npt.NDArray[np.uint8]) -> None:
        self.light = light
        self.shown = lit(self.scene, light)

    def dress(self, props: Props) -> None:
        """Draw the objects around the board. Before the first tile."""
        if props.pad:
            draw_pad(self._board, props.pad, self._camera)
        back = tile_back(_ART_PX)
        for pose, count in props.stacks:
            tops = stack_tops(pose, count)
            self.draw_tile(self._board, tops[-1][0], back, tops[-1][1])  # for the shadow of the whole stack
            for pose_n, height_mm in tops:
                self.draw_tile(self._board, pose_n, back, height_mm, shadow=False)
        if props.track:
            draw_track(self._board, props.track, self._camera)
            self._pieces |= {track_number(n): on_track(props.track, n, colour, 0)
                             for n, colour in enumerate(props.colours)}
        if props.mug:
            draw_mug(self._board, props.mug, self._camera, self._lamp)
        self._pieces |= {**numbered(props.supply)} | {beside_number(n): p for n, p in enumerate(props.beside)}
        self._refresh((0, 0, *self._size))

    def draw_tile(self, canvas: Image, pose: Pose, art: Image, top_mm: float,
                  covered: npt.NDArray[np.uint8] | None = None, shadow: bool = True,
                  side_mm: float = TILE_MM) -> Roi | None:
        """Shadow, cardboard edge and face of one tile whose face is ``top_mm`` over the table."""
        camera = self._camera
        top = corners_px(pose, camera, top_mm, side_mm)
        bottom = corners_px(pose, camera, top_mm - TILE_HEIGHT_MM, side_mm)
        drop = camera.project(self._drops(pose, top_mm, side_mm))
        roi = around(np.vstack([top, bottom, drop]), self._size, 10)
        if roi is None:
            return None
        view = part(canvas, roi)
        bare = 1.0 if covered is None else 1 - part(covered, roi).astype(np.float32) / 255
        scale = camera.scale((pose.x_mm, pose.y_mm))
        lift = top_mm - TILE_HEIGHT_MM
        shapes = [np.array([bottom[i], bottom[(i + 1) % 4], drop[(i + 1) % 4], drop[i]]) for i in range(4)]
        shade = shadow_of(roi, [*shapes, drop, bottom], (0.7 + 0.07 * lift) * scale)
        if shadow:
            darken(view, (shade * (0.55 / (1 + lift / 80)) * bare).astype(np.float32))
        sides = [np.array([top[i], top[(i + 1) % 4], bottom[(i + 1) % 4], bottom[i]]) for i in range(4)]
        shades = [tuple(c * (0.55 + 0.12 * i) for c in _CARDBOARD) for i in range(4)]
        colour, alpha = polygons(roi, list(zip(sides, shades, strict=True)))
        blend(view, colour, (alpha * bare).astype(np.float32))
        picture(canvas, art, self._alpha if len(art) == _ART_PX else tile_alpha(len(art)), top)
        if covered is not None:
            _, solid = polygons(roi, [(top, (255, 255, 255))])
            np.maximum(part(covered, roi), (solid * 255).astype(np.uint8), out=part(covered, roi))
        return roi

    def _drops(self, pose: Pose, top_mm: float, side_mm: float) -> npt.NDArray[np.float64]:
        """Table points under the shadow of the tile's face."""
        p = np.array([(x, y, top_mm) for x, y in pose.corners(side_mm / 2)])
        t = self._lamp[2] / (self._lamp[2] - top_mm)
        q = self._lamp + (p - self._lamp) * t
        q[:, 2] = 0
        out: npt.NDArray[np.float64] = q
        return out

    def _reach(self, piece: Piece) -> Roi | None:
        """All px that a figure or its shadow may touch, cached."""
        if piece not in self._reaches:
            self._reaches[piece] = region(piece, self._camera, self._lamp, min(piece.z_mm, TILE_HEIGHT_MM))
        return self._reaches[piece]

    def _depth(self, piece: Piece, piles: Mapping[Square, Sequence[Piece]]) -> tuple[float, float]:
        """The order in which solids are drawn: farthest from the point below the camera first, a pile upwards."""
        foot = piece if piece.pile is None else piles[piece.pile][0]
        return -math.dist(self._camera.position_mm[:2], (foot.x_mm, foot.y_mm)), piece.z_mm

    def _refresh(self, roi: Roi | None) -> None:
        """Redraw a region from its layers."""
        if roi is None:
            return
        reach = {n: r for n, p in self._pieces.items() if (r := self._reach(p))}
        near = _grown(roi, 12, self._size)
        canvas = self._board.copy()
        inside = [self._pieces[n] for n, r in reach.items() if overlap(r, near)]
        piles: dict[Square, list[Piece]] = {}
        for piece in sorted(self._pieces.values(), key=lambda p: p.z_mm):
            if piece.pile is not None:
                piles.setdefault(piece.pile, []).append(piece)
        for pile in piles.values():
            if any(p in inside for p in pile):
                draw_shadow(canvas, pile, self._camera, self._lamp, pile[0].z_mm)
        for piece in sorted(inside, key=lambda p: self._depth(p, piles)):
            if piece.pile is None:
                draw_piece(canvas, piece, self._camera, self._lamp, piece.z_mm)
            else:
                draw_solid(canvas, piece, self._camera, self._lamp)
        for region_px, draw in self._covers.values():
            if overlap(region_px, near):
                draw(canvas)
        fresh = np.ascontiguousarray(part(canvas, near))
        if self._blur > 0:
            fresh = cv2.GaussianBlur(fresh, (0, 0), self._blur)
        inner = _grown(roi, 4, self._size)
        x, y = inner[0] - near[0], inner[1] - near[1]
        fresh = fresh[y:y + inner[3] - inner[1], x:x + inner[2] - inner[0]]
        part(self.scene, inner)[:] = fresh
        part(self.shown, inner)[:] = lit(fresh, part(self.light, inner))


def _grown(roi: Roi, by: int, size: tuple[int, int]) -> Roi:
    return max(0, roi[0] - by), max(0, roi[1] - by), min(size[0], roi[2] + by), min(size[1], roi[3] + by)
