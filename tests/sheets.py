"""Printed sheets as a camera sees them: drawn from the targets' geometry, in perspective, with light and noise."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from calibration.targets import PAPERS_MM, TILE_MM, Marker, TeachingPage, marker_bits
from vision.frames import Image

PX_MM = 5.0


def blank(paper: str = "A4") -> Image:
    width, height = PAPERS_MM[paper]
    return np.full((round(height * PX_MM), round(width * PX_MM), 3), 250, np.uint8)


def to_sheet(paper: str = "A4") -> np.ndarray:
    """Millimetres from the sheet's middle to pixels of the sheet's picture."""
    width, height = PAPERS_MM[paper]
    return np.array([[PX_MM, 0, width / 2 * PX_MM - 0.5], [0, PX_MM, height / 2 * PX_MM - 0.5], [0, 0, 1.0]])


def put(sheet: Image, picture: Image, centre_mm: tuple[float, float], size_mm: float, *, turn_deg: float = 0.0,
        nearest: bool = False) -> None:
    """Lay a square picture on the sheet."""
    n = picture.shape[0]
    cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    place = np.array([[cos, -sin, centre_mm[0]], [sin, cos, centre_mm[1]], [0, 0, 1.0]])
    unit = np.array([[size_mm / n, 0, -size_mm / 2 + size_mm / n / 2], [0, size_mm / n, -size_mm / 2 + size_mm / n / 2],
                     [0, 0, 1.0]])
    warp = to_sheet() @ place @ unit
    size = (sheet.shape[1], sheet.shape[0])
    flags = cv2.INTER_NEAREST if nearest else cv2.INTER_AREA
    lying = cv2.warpPerspective(picture, warp, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]) * size_mm / 2
    corners = cv2.perspectiveTransform(corners[None], to_sheet() @ place)[0]
    mask = np.zeros(sheet.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners * 16).astype(np.int32), 1, shift=4)
    sheet[mask > 0] = lying[mask > 0]


def draw_marker(sheet: Image, marker: Marker) -> None:
    bits = np.where(marker_bits(marker.id), 0, 255).astype(np.uint8)
    put(sheet, cv2.merge([bits] * 3), marker.centre_mm, marker.size_mm, nearest=True)


def teaching_sheet(page: TeachingPage, tiles: Mapping[str, Image], rng: np.random.Generator, *, play_mm: float = 0.8,
                   play_deg: float = 1.2) -> Image:
    """A page with these pictures laid into their cells as hands do it, the others left empty."""
    sheet = blank()
    for marker in page.markers:
        draw_marker(sheet, marker)
    for cell in page.cells:
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]) * 23.5 + cell.centre_mm
        outline = cv2.perspectiveTransform(corners[None], to_sheet())[0]
        cv2.polylines(sheet, [np.round(outline).astype(np.int32)], True, (120, 120, 120), 1, cv2.LINE_AA)
        if cell.tile in tiles:
            x, y = np.array(cell.centre_mm) + rng.uniform(-play_mm, play_mm, 2)
            put(sheet, tiles[cell.tile], (float(x), float(y)), TILE_MM,
                turn_deg=float(rng.uniform(-play_deg, play_deg)))
    return sheet


def photograph(sheet: Image, rng: np.random.Generator, *, size: tuple[int, int] = (2304, 1296), tilt: float = 0.12,
               noise: float = 3.0, cast: tuple[float, float, float] = (0.9, 1.0, 1.04)) -> Image:
    """The sheet lying on a dark table, seen from somewhere above."""
    w, h = size
    scale = 0.88 * min(w / sheet.shape[1], h / sheet.shape[0])
    half = np.array([sheet.shape[1], sheet.shape[0]]) * scale / 2
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]) * half
    corners *= 1 - tilt * rng.uniform(0, 1, (4, 1))
    angle = np.radians(rng.uniform(-12, 12))
    corners = corners @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) * 0.92
    corners += np.array([w, h]) / 2
    source = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]) * [sheet.shape[1], sheet.shape[0]] - 0.5
    warp = cv2.getPerspectiveTransform(source.astype(np.float32), corners.astype(np.float32))
    table = np.full((h, w, 3), (40, 62, 84), np.uint8)
    seen = cv2.warpPerspective(sheet, warp, size, dst=table, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_TRANSPARENT)
    light = 1.0 - 0.3 * np.linspace(0, 1, w)[None, :, None] * rng.uniform(0.3, 1)
    out = seen.astype(np.float32) * light * np.array(cast) + rng.normal(0, noise, seen.shape)
    return np.clip(out, 0, 255).astype(np.uint8)
