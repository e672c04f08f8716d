"""Table calibration from objects on it: a ChArUco sheet, the mat, the corner cards, or just the tiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.advice import Advice
from calibration.board_check import instead, unlike
from calibration.boards import Pattern, find_board, find_markers
from calibration.documents import CalibrationError, LensResult
from calibration.plane import Plane, fit_plane, undistorted
from calibration.targets import CARDS, CHARUCO, MAT, TILE_MM, Board
from scoring.tiles import Square
from vision.frames import Image
from vision.read import PhotoReader, TileReading
from vision.view import View

Array = npt.NDArray[np.float64]

METHODS = ("charuco", "mat", "cards", "tiles")
_SAID = {"charuco": "ChArUco board", "mat": "mat", "cards": "cards", "tiles": "tiles"}
TILE_HEIGHT_MM = 2.2
PITCH_MM = 45.25  # spacing of hand-laid tiles: they never touch along a whole side
FEWEST_TILES = 4
GOOD_CORNER_MM = 3.0
KNOWN_CORNER_MM = 100.0  # with a larger error the calibration is rejected: figures would be on other tiles
_FEWEST_CORNERS = 12
_SURE = 0.8  # least confidence of a tile used for measuring
_LAID = 0.6  # weight of the board as a whole relative to one tile's print
_LAID_MM = 0.5  # error of a read tile's corner, from laying and print
_UPRIGHT_DEG = 4.0  # prior standard deviation of a camera's tilt
_SPREAD_CARDS = 0.25  # fraction of the picture, each way, that four cards should span


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCalibration:
    """The table, the observations, and advice."""

    plane: Plane
    patterns: tuple[Pattern, ...]
    names: tuple[str, ...]
    advice: tuple[Advice, ...]


def find_table(picture: Image, lens: LensResult, methods: Iterable[str] = METHODS, *, board: Board = CHARUCO,
               reader: PhotoReader | None = None) -> TableCalibration:
    """The table in a picture (BGR) by the first of ``methods`` whose target is seen; tiles need a ``reader``.

    Raises CalibrationError when nothing is seen.
    """
    wanted = tuple(methods)
    for method in wanted:
        found = patterns_of(picture, lens, method, board, reader)
        if found:
            wrong = unlike([picture], [found["board"]], board) if method == "charuco" else None
            if wrong is not None:
                raise CalibrationError(wrong)
            return _calibrated(found, lens, picture, method)
    other = instead([picture], board) if wanted == ("charuco",) else ""
    raise CalibrationError(_nothing(wanted, board) + other, "table.nothing")


def patterns_of(picture: Image, lens: LensResult, method: str, board: Board = CHARUCO,
                reader: PhotoReader | None = None) -> dict[str, Pattern]:
    """The detected patterns of one target, by name; empty if it, or enough of it, is not seen."""
    if method == "charuco":
        seen = find_board(picture, board)
        return {"board": seen} if seen is not None and len(seen.px) >= _FEWEST_CORNERS else {}
    if method == "tiles":
        return tile_patterns(picture, lens, reader) if reader is not None else {}
    markers = find_markers(picture)
    if method == "cards":
        cards = {f"card {m.id}": Pattern(mm=m.corners_mm - np.array(m.centre_mm), px=markers[m.id])
                 for m in CARDS if m.id in markers}
        return cards if len(cards) >= 3 else {}
    known = [m for m in MAT if m.id in markers]
    if len(known) < 4:
        return {}
    return {"mat": Pattern(mm=np.concatenate([m.corners_mm for m in known]),
                           px=np.concatenate([markers[m.id] for m in known]))}


def tile_patterns(picture: Image, lens: LensResult, reader: PhotoReader) -> dict[str, Pattern]:
    """Every confidently read tile of a board as a square of TILE_MM."""
    view = View(size=(picture.shape[1], picture.shape[0]), matrix=lens.matrix, distortion=np.array(lens.distortion))
    tiles = [t for t in reader.read(picture, figures=False, view=view).tiles if t.confidence >= _SURE]
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]) * TILE_MM / 2
    return {_name(t): Pattern(mm=square, px=np.asarray(t.corners_px, float)) for t in tiles} \
        if len(tiles) >= FEWEST_TILES else {}


def _name(tile: TileReading) -> str:
    return f"tile {tile.at[0]},{tile.at[1]}"


def _calibrated(found: dict[str, Pattern], lens: LensResult, picture: Image, method: str) -> TableCalibration:
    size = (picture.shape[1], picture.shape[0])
    names, patterns = tuple(found), tuple(found.values())
    if method == "tiles":
        stretch = _stretch(names, patterns, fit_plane(patterns, lens, size, method))
        names, patterns = (*names, "board"), (*patterns, _board(names, patterns))
        plane = fit_plane(patterns, lens, size, method, above_mm=TILE_HEIGHT_MM, stretch=stretch, noise_mm=_LAID_MM,
                          upright_deg=_UPRIGHT_DEG)
    else:
        plane = fit_plane(patterns, lens, size, method)
    if plane.result.worst_corner_mm > KNOWN_CORNER_MM:
        raise CalibrationError(
            f"by the {_SAID[method]} alone the table is not known: at one corner of the picture it may be off by "
            f"{min(plane.result.worst_corner_mm / 10, 100):.0f} cm; lay the corner cards towards the picture's "
            f"corners, or calibrate the lens first{'' if lens.rms_px else ' and give it with --lens'}",
            "table.unsure", cm=round(min(plane.result.worst_corner_mm / 10, 100)))
    return TableCalibration(plane=plane, patterns=patterns, names=names,
                            advice=tuple(_advice(plane, patterns, names, size, lens)))


def _board(names: tuple[str, ...], patterns: tuple[Pattern, ...]) -> Pattern:
    """The centres of all tiles as one pattern: hand-laid is less exact than print, but the distances are large."""
    at = np.array([[float(n) for n in name.removeprefix("tile ").split(",")] for name in names])
    return Pattern(mm=at * PITCH_MM, px=np.array([_middle(p.px) for p in patterns]), weight=_LAID)


def _middle(corners: Array) -> Array:
    """The intersection of the diagonals: the centre of a square in perspective."""
    a, b, c, d = corners
    s, t = np.linalg.solve(np.column_stack([c - a, b - d]), b - a)
    return np.asarray(a + s * (c - a))


def _stretch(names: tuple[str, ...], patterns: tuple[Pattern, ...], plane: Plane) -> float:
    """Ratio of the read squares to real tiles: the spacing of neighbours is known better than a tile's printed edge,
    which a taught picture may have cropped."""
    back = np.linalg.inv(np.array(plane.result.px_from_mm).reshape(3, 3))
    places: dict[Square, Array] = {}
    for n in plane.kept:
        x, y = names[n].removeprefix("tile ").split(",")
        rays = undistorted(patterns[n].px, plane.result.lens)
        matrix = plane.result.lens.matrix
        px = np.column_stack([rays @ matrix[:2, :2].T + matrix[:2, 2], np.ones(len(rays))]) @ back.T
        places[int(x), int(y)] = (px[:, :2] / px[:, 2:]).mean(axis=0)
    steps = [float(np.linalg.norm(places[a] - places[b])) for a in places for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1))
             if b in places]
    if len(steps) < 3:
        return 1.0
    return float(np.clip(PITCH_MM / np.median(steps), 0.9, 1.1))


def _advice(plane: Plane, patterns: tuple[Pattern, ...], names: tuple[str, ...], size: tuple[int, int],
            lens: LensResult) -> list[Advice]:
    out = []
    table = plane.result
    dropped = [n for k, n in enumerate(names) if k not in plane.kept]
    if dropped:
        out.append(Advice(code="table.dropped", parts={"count": len(dropped), "names": ", ".join(dropped[:6])},
                          text=f"{len(dropped)} of {len(names)} do not agree with the rest and were left out: "
                               f"{', '.join(dropped[:6])}"))
    if table.worst_corner_mm > GOOD_CORNER_MM:
        px = np.concatenate([patterns[k].px for k in plane.kept])
        part = (np.ptp(px[:, 0]) / size[0], np.ptp(px[:, 1]) / size[1])
        how = "lay the cards further out" if table.method == "cards" and min(part) < _SPREAD_CARDS else \
            "use corner cards, or calibrate the lens first" if not lens.rms_px else \
            "use corner cards or a larger target"
        out.append(Advice(code="table.corner", parts={"mm": round(table.worst_corner_mm, 1)},
                          text=f"at one corner of the picture the table is only known to {table.worst_corner_mm:.1f} "
                               f"mm: {how}"))
    if not lens.rms_px and not lens.preset:
        out.append(Advice(code="table.lens", text="nothing is known of the lens, so the height over the table is only "
                                                  "rough: name the camera (--camera) or its calibration (--lens)"))
    if table.tilt_deg > 15:
        out.append(Advice(code="table.tilt", parts={"deg": round(table.tilt_deg, 1)},
                          text=f"the camera looks {table.tilt_deg:.0f} degrees aslant; figures hide more of the board "
                               "than from straight above"))
    return out


def _nothing(methods: tuple[str, ...], board: Board) -> str:
    words = {"charuco": f"the board {board}", "mat": "the mat", "cards": "three of the four corner cards",
             "tiles": f"a board of at least {FEWEST_TILES} known tiles"}
    return (f"nothing to measure by was seen: {', '.join(words[m] for m in methods)}; lay one of them into the "
            "picture, sharp and without a hand over it")
