"""Tables drawn for the tests of photograph reading: legal boards under a known homography."""

from __future__ import annotations

import cv2
import numpy as np
from drawings import BASE

from scoring.tiles import EDGES, OPPOSITE, Square, catalogue, edge, neighbour
from vision.simulator.camera import Camera
from vision.simulator.pieces import Piece, draw_piece
from vision.tileset import TileSet

TILE_PX = 110


def legal_board(width: int, height: int, seed: int) -> dict[Square, tuple[str, int]]:
    """A rectangle of base tiles whose sides match, within the box's counts."""
    rng = np.random.default_rng(seed)
    squares = [(x, y) for y in range(height) for x in range(width)]
    board: dict[Square, tuple[str, int]] = {}
    left = {t: catalogue()[t].count for t in BASE}

    def place(n: int) -> bool:
        if n == len(squares):
            return True
        at = squares[n]
        options = [(t, r) for t in BASE for r in range(4) if left[t]]
        rng.shuffle(options)
        for tile, turns in options:
            tile, rot = str(tile), int(turns)
            if all(edge(catalogue()[tile], rot, s) == edge(catalogue()[board[o][0]], board[o][1], OPPOSITE[s])
                   for s in EDGES if (o := neighbour(at, s)) in board):
                board[at] = (tile, rot)
                left[tile] -= 1
                if place(n + 1):
                    return True
                left[tile] += 1
                del board[at]
        return False

    assert place(0)
    return board


def photograph(tiles: TileSet, board: dict[Square, tuple[str, int]], *, seed: int = 0, tilt: float = 0.12,
               jitter: float = 0.03, noise: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    """(picture, homography from tile steps to pixels) of a board on a dark table, seen a little from the side."""
    rng = np.random.default_rng(seed)
    pictures = dict(tiles.images)
    width, height = (max(at[n] for at in board) + 1 for n in range(2))
    w, h = (width + 2) * TILE_PX, (height + 2) * TILE_PX
    corners = np.array([[1, 1], [width + 1, 1], [width + 1, height + 1], [1, height + 1]]) * TILE_PX
    seen = corners + np.array([[tilt, 0.05], [-tilt, 0.1], [tilt, 0], [-tilt, -0.05]]) * TILE_PX
    steps = np.array([[0, 0], [width, 0], [width, height], [0, height]])
    grid, _ = cv2.findHomography(steps.astype(np.float64), seen)
    picture = np.full((h, w, 3), (38, 46, 62), np.uint8)
    for (x, y), (tile, rot) in board.items():
        bgr = np.ascontiguousarray(np.rot90(pictures[tile], -rot))
        size = bgr.shape[0]
        dx, dy, turn = rng.normal(0, jitter, 2).clip(-0.08, 0.08).tolist() + [float(rng.normal(0, jitter / 3))]
        cos, sin = np.cos(turn) * 0.985, np.sin(turn)
        local = np.array([[cos, -sin, x + 0.5 + dx - 0.5 * (cos - sin)], [sin, cos, y + 0.5 + dy - 0.5 * (sin + cos)],
                          [0, 0, 1]])
        cv2.warpPerspective(bgr, grid @ local @ np.diag([1 / size, 1 / size, 1.0]), (w, h), dst=picture,
                            flags=cv2.INTER_AREA, borderMode=cv2.BORDER_TRANSPARENT)
    light = np.linspace(0.75, 1.1, w)[None, :, None] * np.array([0.9, 1.0, 1.05])
    return np.clip(picture * light + rng.normal(0, noise, picture.shape), 0, 255).astype(np.uint8), grid


def put(picture: np.ndarray, at_px: tuple[float, float], colour: str, *, tile_px: float = TILE_PX,
        lying: bool = False, figure: str = "follower", yaw_deg: float = 25.0) -> None:
    """Stand a wooden figure with its foot there, in place, as a camera high above the picture's middle sees it."""
    height, width = picture.shape[:2]
    per_mm = tile_px / 45
    eye = Camera(width=width, height=height, focal_px=900 * per_mm, centre_px=(width / 2, height / 2), k1=0, k2=0,
                 position_mm=(0, 0, 900), tilt=(0, 0, 0))
    x, y = eye.table_mm([at_px])[0]
    draw_piece(picture, Piece(figure=figure, colour=colour, x_mm=float(x), y_mm=float(y), z_mm=0, yaw_deg=yaw_deg,
                              lying=lying), eye, np.array([200.0, -300, 1100]), 0)
