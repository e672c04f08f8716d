"""Implements ``bastide calibrate``: from pictures to a document and its summary."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from bastide.camera.calibrated import load_calibrations
from bastide.camera.capture import Shot, shots
from bastide.camera.lens_views import Views, take_views
from bastide.errors import UsageError
from bastide.inputs import DEFAULT_BOARD, expansions, players
from bastide.tiles.art import box_contents, load_tiles
from calibration import colours as colours_room
from calibration import lens as lens_room
from calibration.advice import AdviceJson
from calibration.apply import usual_lens
from calibration.boards import Pattern, parse_board
from calibration.documents import CalibrationError, ColoursResult, Document, LensResult, TableResult, check_fit
from calibration.lens import ViewJson
from calibration.presets import PRESETS, Preset, preset_lens, preset_of
from calibration.table import METHODS, TableCalibration, find_table
from vision.frames import Image
from vision.images import ImageError, read_image
from vision.read import PhotoReader


class LensTold(TypedDict):
    """The report on a measured lens (docs/calibration.md explains each number)."""

    rms_px: float
    focal_px: float
    focal_std_px: float
    matrix: list[list[float]]
    distortion: list[float]
    resolution: list[int]
    fov_deg: list[float]
    views: list[ViewJson]
    coverage: list[list[int]]
    advice: list[AdviceJson]


class TableTold(TypedDict):
    """The report on a measured table."""

    method: str
    rms_mm: float
    worst_mm: float
    worst_corner_mm: float
    height_mm: float
    tilt_deg: float
    nadir_px: list[float]
    px_from_mm: list[list[float]]
    matrix: list[list[float]]
    distortion: list[float]
    seconds: float
    resolution: list[int]
    advice: list[AdviceJson]


class FollowerTold(TypedDict):
    """A measured piece and its position."""

    colour: str
    px: list[float]


class ColoursTold(TypedDict):
    """The report on the players' colours."""

    paints: dict[str, list[int]]
    shapes: dict[str, str]
    light: list[float]
    distances: dict[str, float]
    confused: list[str]
    followers: list[FollowerTold]
    advice: list[AdviceJson]


MadeLens = tuple[Document, LensTold]
MadeTable = tuple[Document, TableTold]
MadeColours = tuple[Document, ColoursTold]


def calibrate_lens(args: argparse.Namespace) -> MadeLens:
    """From views of a ChArUco board."""
    board = parse_board(args.board or DEFAULT_BOARD)
    taken = take_views(args.source, board) if args.source else \
        Views(pictures=_files(args.images), model="", uri="image:")
    pictures = taken.pictures
    preset = _preset(args.camera, taken.model)
    found = lens_room.calibrate_lens(pictures, board, preset)
    model = taken.model or ("" if preset is None else preset.title)
    return lens_document(found, model, taken.uri, _size(pictures[0][1]))


def lens_document(found: lens_room.LensCalibration, model: str, uri: str, size: tuple[int, int]) -> MadeLens:
    """A measured lens: the document to store, and the report."""
    lens, views = found.lens, [v.to_json() for v in found.views]
    document = Document(
        kind="lens", model=model, uri=uri, made=_now(), resolution=size, result=lens,
        observations=tuple({"name": v.name, **_points(v.pattern)} for v in found.views if v.pattern is not None),
        residuals={"rms_px": lens.rms_px, "views": views})
    return document, {"rms_px": round(lens.rms_px, 4), "focal_px": round(lens.focal_px, 3),
                      "focal_std_px": round(lens.focal_std_px, 3), "matrix": lens.matrix.tolist(),
                      "distortion": list(lens.distortion), "resolution": list(document.resolution),
                      "fov_deg": [round(f, 2) for f in lens.fov_deg], "views": views,
                      "coverage": [list(r) for r in lens.coverage], "advice": [a.to_json() for a in found.advice]}


def _files(names: list[str]) -> list[tuple[str, Image]]:
    try:
        return [(Path(name).name, read_image(name)) for name in names]
    except ImageError as e:
        raise UsageError(str(e)) from e


def calibrate_table(args: argparse.Namespace) -> MadeTable:
    """From the mat, the cards, a flat ChArUco sheet, or the tiles."""
    board = parse_board(args.board or DEFAULT_BOARD)
    methods = ("mat", "cards") if args.mat else ("charuco",) if args.board else METHODS
    reader: PhotoReader | None = None
    refused: CalibrationError | None = None
    with shots(args.source) as pictures:
        for n, shot in enumerate(pictures):
            lens = lens_for(args, shot)
            begun = time.perf_counter()
            quick = tuple(m for m in methods if m != "tiles")
            try:
                found = find_table(shot.bgr, lens, quick, board=board)
            except CalibrationError as e:
                if "tiles" not in methods or n % 10:  # reading a whole board takes seconds
                    refused = refused or e  # the error about the tiles is more informative
                    continue
                if reader is None:
                    names = expansions(args.expansions)
                    reader = PhotoReader(load_tiles(args.tiles, names), counts=box_contents(names))
                    begun = time.perf_counter()
                try:
                    found = find_table(shot.bgr, lens, methods, board=board, reader=reader)
                except CalibrationError as again:
                    refused = again
                    continue
            return table_document(found, shot, time.perf_counter() - begun)
    raise refused or CalibrationError(f"{args.source}: gave no picture")


def calibrate_colours(args: argparse.Namespace) -> MadeColours:
    """From one follower of each player in view."""
    wanted = tuple(p.colour for p in players(args.players)) if args.players else None
    refused: CalibrationError | None = None
    with shots(args.source) as pictures:
        for shot in pictures:
            try:
                found = colours_room.calibrate_colours(shot.bgr, wanted)
            except CalibrationError as e:
                refused = e
                continue
            return colours_document(found, shot)
    raise refused or CalibrationError(f"{args.source}: gave no picture")


def calibrate_supply(args: argparse.Namespace) -> MadeColours:
    """Measures the pieces of one player and adds them to the file."""
    if not args.colour:
        raise UsageError("calibrate supply needs --colour, the player's colour")
    known = None
    if Path(args.out).is_file():
        [(_, document)] = load_calibrations([args.out])
        if not isinstance(document.result, ColoursResult):
            raise UsageError(f"{args.out}: is a calibration of {document.kind}, not of colours")
        known = document.result
    refused: CalibrationError | None = None
    with shots(args.source) as pictures:
        for shot in pictures:
            try:
                return colours_document(colours_room.learn_supply(shot.bgr, args.colour, known), shot)
            except CalibrationError as e:
                refused = e
    raise refused or CalibrationError(f"{args.source}: gave no picture")


def table_document(found: TableCalibration, shot: Shot, seconds: float) -> MadeTable:
    """A table found in a picture: the document to store, and the report."""
    table = found.plane.result
    document = Document(
        kind="table", model=shot.model, uri=shot.uri, resolution=_size(shot.bgr), made=_now(), result=table,
        observations=tuple({"name": name, "used": k in found.plane.kept, **_points(p)}
                           for k, (name, p) in enumerate(zip(found.names, found.patterns, strict=True))),
        residuals={"mm": {found.names[k]: round(r, 4) for k, r in
                          zip(found.plane.kept, found.plane.residuals_mm, strict=True)}})
    return document, {
        "method": table.method, "rms_mm": round(table.rms_mm, 4), "worst_mm": round(table.worst_mm, 4),
        "worst_corner_mm": round(table.worst_corner_mm, 3), "height_mm": round(table.height_mm, 2),
        "tilt_deg": round(table.tilt_deg, 3), "nadir_px": [round(v, 2) for v in table.nadir_px],
        "px_from_mm": [list(table.px_from_mm[n:n + 3]) for n in (0, 3, 6)],
        "matrix": table.lens.matrix.tolist(), "distortion": list(table.lens.distortion), "seconds": round(seconds, 3),
        "resolution": list(document.resolution), "advice": [a.to_json() for a in found.advice]}


def colours_document(found: colours_room.ColourCalibration, shot: Shot) -> MadeColours:
    """The players' colours in a picture: the document to store, and the report."""
    result = found.result
    document = Document(
        kind="colours", model=shot.model, uri=shot.uri, resolution=_size(shot.bgr), made=_now(), result=result,
        observations=tuple({"colour": f.colour, "px": [round(v, 1) for v in f.px], "rgb": list(f.rgb)}
                           for f in found.followers),
        residuals={f.colour: f.off for f in found.followers})
    return document, {"paints": {k: list(v) for k, v in result.paints.items()}, "shapes": dict(result.shapes),
                      "light": [round(v, 3) for v in result.light], "distances": dict(result.distances),
                      "confused": list(result.confused),
                      "followers": [{"colour": f.colour, "px": [round(v, 1) for v in f.px]} for f in found.followers],
                      "advice": [a.to_json() for a in found.advice]}


def lens_for(args: argparse.Namespace, shot: Shot) -> LensResult:
    """The lens of ``--lens``, of the preset of ``--camera`` or of the camera's own name, else a typical one."""
    size = _size(shot.bgr)
    if args.lens:
        [(path, document)] = load_calibrations([args.lens])
        try:
            check_fit(document, size, shot.uri, shot.model)
        except CalibrationError as e:
            raise UsageError(f"{path}: {e}") from e
        if isinstance(document.result, LensResult):
            return document.result
        if isinstance(document.result, TableResult):
            return document.result.lens
        raise UsageError(f"{path}: is a calibration of {document.kind}; --lens takes one of the lens")
    preset = _preset(args.camera, shot.model)
    return usual_lens(size) if preset is None else preset_lens(preset, size)


def _preset(name: str | None, model: str) -> Preset | None:
    if name is None:
        return preset_of(model)
    preset = preset_of(name)
    if preset is None:
        raise UsageError(f"--camera {name}: is not known; known are {', '.join(p.name for p in PRESETS)}")
    return preset


def _points(pattern: Pattern) -> dict[str, object]:
    return {"mm": [[round(float(x), 3), round(float(y), 3)] for x, y in pattern.mm],
            "px": [[round(float(x), 3), round(float(y), 3)] for x, y in pattern.px]}


def _size(picture: Image) -> tuple[int, int]:
    return int(picture.shape[1]), int(picture.shape[0])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
