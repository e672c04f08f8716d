"""Measurements while a camera is being mounted: height, tilt, focus, glare and light from one picture, with advice.

Each is a number with a sentence; nothing is stored. A printed target or the tiles give the scale; without one focus,
glare and light are still measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import cv2
import numpy as np
import numpy.typing as npt

from calibration.advice import Advice, AdviceJson
from calibration.documents import CalibrationError, LensResult, TableResult
from calibration.plane import undistorted
from calibration.table import METHODS, find_table
from calibration.targets import TILE_MM
from vision.frames import Image
from vision.read import PhotoReader

Array = npt.NDArray[np.float64]

NEEDED, RECOMMENDED = (16, 12), (20, 14)  # tiles in view across and down: nearly every game, and with a margin
_WASTEFUL = 1.2  # times the recommended view
_TILT_DEG = 3.0
_SHARP_PX = 3.4  # width of a focused edge; 2.7 is a camera's best
_BLURRED_PX = 4.6  # limit for a table without print in view: wood has no sharp edges
_FEWEST_PX = 40.0  # per tile
_WHITE = 250
_GLARE = 0.0006  # of the picture
_SOFT = 0.3  # glare has soft edges, white paper has sharp ones
_DARK, _BRIGHT = 70.0, 205.0  # middle grey level
_BLINDING = 230.0  # above it sizes are wrong too: white blooms over black
_BURNT = 0.02
_PAPER = {"cards": 1.6, "mat": 1.3, "charuco": 1.35}  # extent of a target's paper relative to its outermost points


@dataclass(frozen=True, slots=True, kw_only=True)
class Glare:
    """A lamp's reflection: its centre and its fraction of the picture."""

    px: tuple[float, float]
    part: float


class GlareJson(TypedDict):
    """A `Glare` for a page."""

    px: list[int]
    part: float


class AimJson(TypedDict):
    """An `Aim` for a page, with the least view ``needed`` and ``recommended``."""

    tiles: list[float] | None
    needed: list[int]
    sharp_px: float
    recommended: list[int]
    height_mm: float | None
    tilt_deg: float | None
    tile_px: float | None
    method: str | None
    edge_px: float | None
    glare: list[GlareJson]
    level: int
    burnt: float
    good: bool
    advice: list[AdviceJson]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """The measurements of one picture. ``tiles`` fully in view across and down, ``height_mm``, ``tilt_deg`` and
    ``tile_px`` are None when nothing of known size is seen. ``edge_px`` is the width of edges (up to _SHARP_PX is
    sharp; None without edges), ``level`` the median grey level, ``burnt`` the fraction that is clipped."""

    tiles: tuple[float, float] | None
    height_mm: float | None
    tilt_deg: float | None
    tile_px: float | None
    method: str | None
    edge_px: float | None
    glare: tuple[Glare, ...]
    level: float
    burnt: float
    advice: tuple[Advice, ...]

    @property
    def good(self) -> bool:
        """Whether there is no ``bad`` advice."""
        return self.tiles is not None and not any(a.bad for a in self.advice)

    def to_json(self) -> AimJson:
        """The same for a page."""
        def rounded(value: float | None, digits: int) -> float | None:
            return None if value is None else round(value, digits)

        return {"tiles": None if self.tiles is None else [round(n, 1) for n in self.tiles],
                "needed": list(NEEDED), "sharp_px": _SHARP_PX, "recommended": list(RECOMMENDED),
                "height_mm": rounded(self.height_mm, 0), "tilt_deg": rounded(self.tilt_deg, 1),
                "tile_px": rounded(self.tile_px, 1), "method": self.method, "edge_px": rounded(self.edge_px, 2),
                "glare": [{"px": [round(v) for v in g.px], "part": round(g.part, 5)} for g in self.glare],
                "level": round(self.level), "burnt": round(self.burnt, 4), "good": self.good,
                "advice": [a.to_json() for a in self.advice]}


def look(picture: Image, lens: LensResult, *, reader: PhotoReader | None = None,
         table: TableResult | None = None) -> Aim:
    """One picture (BGR). ``table`` is a plane found recently, to save searching for it; with a ``reader`` tiles are
    searched for as well, which takes seconds."""
    size = (picture.shape[1], picture.shape[0])
    papers: list[Array] = []
    if table is None:
        methods = METHODS if reader is not None else METHODS[:-1]
        try:
            found = find_table(picture, lens, methods, reader=reader)
            table = found.plane.result
            papers = [_paper(p.px, _PAPER[table.method]) for p in found.patterns if table.method in _PAPER]
        except CalibrationError:
            table = None
    edge, glare = _edge_px(picture), _glare(picture, papers)
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    level, burnt = float(np.median(grey)), float((picture.min(axis=2) >= _WHITE).mean())
    advice: list[Advice] = []
    tiles = tile_px = None
    if table is None:
        advice.append(Advice(code="aim.nothing", text="lay a dozen tiles side by side, the mat or the corner cards "
                                                      "under the camera: nothing of known size is in view"))
    else:
        tiles, tile_px = _view(table, size)
        advice += _height(tiles, tile_px, table) + _tilt(table, size)
    if edge is not None and edge > (_BLURRED_PX if table is None else _SHARP_PX):
        advice.append(Advice(code="aim.focus", bad=True, parts={"edge_px": round(edge, 1)},
                             text=f"the picture is blurred (edges are {edge:.1f} px wide, sharp ones up to "
                                  f"{_SHARP_PX}): focus on the table"))
    advice += [_lamp(g, size) for g in glare]
    advice += _exposure(level, burnt - sum(g.part for g in glare))
    return Aim(tiles=tiles, height_mm=None if table is None else table.height_mm,
               tilt_deg=None if table is None else table.tilt_deg, tile_px=tile_px,
               method=None if table is None else table.method, edge_px=edge, glare=glare, level=level, burnt=burnt,
               advice=tuple(sorted(advice, key=lambda a: not a.bad)))


def _view(table: TableResult, size: tuple[int, int]) -> tuple[tuple[float, float], float]:
    """Tiles across and down that fit into the view upright around its middle, and px per tile there."""
    w, h = size
    spots = np.array([[0, 0], [w, 0], [w, h], [0, h], [w / 2, h / 2], [w / 2 + 1, h / 2], [w / 2, h / 2 + 1]], float)
    rays = undistorted(spots, table.lens)
    matrix = table.lens.matrix
    px = np.column_stack([rays @ matrix[:2, :2].T + matrix[:2, 2], np.ones(len(rays))])
    back = px @ np.linalg.inv(np.reshape(table.px_from_mm, (3, 3))).T
    mm = back[:, :2] / back[:, 2:]
    across, down = mm[5] - mm[4], mm[6] - mm[4]
    axes = np.array([across / np.linalg.norm(across), down / np.linalg.norm(down)])
    (a, b, c, d) = (mm[:4] - mm[4]) @ np.linalg.inv(axes)
    wide = min(b[0], c[0]) - max(a[0], d[0])
    high = min(c[1], d[1]) - max(a[1], b[1])
    return (float(wide / TILE_MM), float(high / TILE_MM)), float(TILE_MM / np.sqrt(
        np.linalg.norm(across) * np.linalg.norm(down)))


def _height(tiles: tuple[float, float], tile_px: float, table: TableResult) -> list[Advice]:
    seen = f"{tiles[0]:.0f} x {tiles[1]:.0f} tiles are in view"
    parts = {"across": round(tiles[0], 1), "down": round(tiles[1], 1)}
    out = []

    def by(wanted: tuple[int, int]) -> float:
        """By how many cm to raise (negative: lower) the camera for a view of that many tiles."""
        return table.height_mm / 10 * (max(wanted[0] / tiles[0], wanted[1] / tiles[1]) - 1)

    if by(NEEDED) > 0.2:
        cm = by(RECOMMENDED)
        out.append(Advice(code="aim.raise", bad=True, parts={**parts, "cm": round(cm)},
                          text=f"{seen} and {NEEDED[0]} x {NEEDED[1]} are needed: raise the camera by about "
                               f"{cm:.0f} cm, or use a wider lens"))
    elif by(RECOMMENDED) > 0.5:
        out.append(Advice(code="aim.raise_some", parts={**parts, "cm": round(by(RECOMMENDED))},
                          text=f"{seen}, enough for nearly every game; {by(RECOMMENDED):.0f} cm higher would show "
                               f"{RECOMMENDED[0]} x {RECOMMENDED[1]}"))
    elif min(tiles[0] / RECOMMENDED[0], tiles[1] / RECOMMENDED[1]) > _WASTEFUL:
        out.append(Advice(code="aim.lower", parts={**parts, "cm": round(-by(RECOMMENDED))},
                          text=f"{seen}, more than a game needs: lower the camera by about "
                               f"{-by(RECOMMENDED):.0f} cm, and tiles are seen larger"))
    if tile_px < _FEWEST_PX:
        out.append(Advice(code="aim.resolution", bad=True, parts={"tile_px": round(tile_px)},
                          text=f"a tile is only {tile_px:.0f} px wide and {_FEWEST_PX:.0f} are needed: choose a higher "
                               "resolution"))
    return out


def _tilt(table: TableResult, size: tuple[int, int]) -> list[Advice]:
    if table.tilt_deg <= _TILT_DEG:
        return []
    x, y = size[0] / 2 - table.nadir_px[0], size[1] / 2 - table.nadir_px[1]
    where = ("right" if x > 0 else "left") if abs(x) > abs(y) else ("bottom" if y > 0 else "top")
    return [Advice(code="aim.tilt", bad=table.tilt_deg > 3 * _TILT_DEG,
                   parts={"deg": round(table.tilt_deg, 1), "where": where},
                   text=f"the camera looks {table.tilt_deg:.0f} degrees towards the {where} of the picture: turn it "
                        "until it looks straight down")]


def _edge_px(picture: Image) -> float | None:
    """Width in px of the sharpest edges: local contrast over gradient."""
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32), (0, 0), 0.6)
    slope = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8),
                          cv2.Sobel(grey, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8))
    around = np.ones((13, 13), np.uint8)
    rise = cv2.dilate(grey, around) - cv2.erode(grey, around)
    clear = rise > max(40.0, float(np.quantile(rise[::4, ::4], 0.9)))
    crest = clear & (slope >= cv2.dilate(slope, np.ones((5, 5), np.uint8)) - 1e-3) & (slope > rise / 12)
    if crest.sum() < 60:
        return None
    return float(np.quantile(rise[crest] / np.maximum(slope[crest], 0.5), 0.25))


def _paper(px: Array, reach: float) -> Array:
    """(N, 2) px around a target's paper, from the points that are printed on it."""
    hull = cv2.convexHull(px.astype(np.float32)).reshape(-1, 2)
    middle = hull.mean(axis=0)
    return np.asarray(middle + reach * (hull - middle), np.float64)


def _glare(picture: Image, papers: Sequence[Array] = ()) -> tuple[Glare, ...]:
    """White patches with soft edges: a lamp reflected by a shiny table. White paper has sharp edges; the target's own
    paper is ignored."""
    small = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    grey = cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), (0, 0), 1.5).astype(np.float32)
    white = (cv2.GaussianBlur(small, (0, 0), 1.0).min(axis=2) >= _WHITE - 6).astype(np.uint8)
    for paper in papers:
        cv2.fillConvexPoly(white, np.round(paper / 2).astype(np.int32), 0)
    count, labels, stats, centres = cv2.connectedComponentsWithStats(white)
    out = []
    for n in range(1, count):
        part = stats[n, cv2.CC_STAT_AREA] / white.size
        if part < _GLARE:
            continue
        blob = (labels == n).astype(np.uint8)
        reach = max(5, round(0.5 * np.sqrt(stats[n, cv2.CC_STAT_AREA])))
        near, far = (cv2.dilate(blob, np.ones((2 * r + 1,) * 2, np.uint8)) for r in (reach // 3 + 2, 2 * reach + 4))
        ring, outer = (near > 0) & (blob == 0), (far > 0) & (near == 0)
        if not ring.any() or not outer.any():
            continue
        below = float(np.median(grey[outer]))
        if (float(np.median(grey[ring])) - below) / max(255 - below, 1.0) > _SOFT:
            out.append(Glare(px=(2 * float(centres[n][0]), 2 * float(centres[n][1])), part=float(part)))
    return tuple(sorted(out, key=lambda g: -g.part)[:4])


def _lamp(glare: Glare, size: tuple[int, int]) -> Advice:
    """A reflection lies in the direction of its lamp, so it tells on which side the lamp is."""
    x, y = glare.px[0] / size[0] - 0.5, (glare.px[1] - size[1] / 2) / size[0]
    where = "lamp overhead" if np.hypot(x, y) < 0.08 else \
        f"{'left' if x < 0 else 'right'} lamp" if abs(x) > abs(y) else f"{'upper' if y < 0 else 'lower'} lamp"
    return Advice(code="aim.glare", bad=glare.part > 0.004,
                  parts={"where": where, "x": round(glare.px[0]), "y": round(glare.px[1]),
                         "part": round(glare.part, 4)},
                  text=f"turn the {where} away or hang paper before it: it shines back from the table")


def _exposure(level: float, burnt: float) -> list[Advice]:
    if level < _DARK:
        return [Advice(code="aim.dark", bad=level < _DARK / 2, parts={"level": round(level)},
                       text="the picture is dark: more light, or a longer exposure")]
    if burnt > _BURNT or level > _BRIGHT:
        return [Advice(code="aim.bright", bad=burnt > 5 * _BURNT or level > _BLINDING,
                       parts={"level": round(level), "burnt": round(burnt, 3)},
                       text="the picture is too bright: less light, or a shorter exposure")]
    return []
