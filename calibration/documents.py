"""Calibrations on disk: one JSON document each, read strictly, refused with a reason when it does not fit.

    {"format": "bastide-calibration", "version": 1, "kind": "lens" | "table" | "colours",
     "camera": {"model": "...", "uri": "..."}, "resolution": [width, height], "made": "2026-11-21T18:00:00+00:00",
     "result": {...}, "observations": [...], "residuals": {...}}

``result`` is what the program uses, ``observations`` its input data, ``residuals`` how well it fits them. The fields of
each kind are those of LensResult, TableResult and ColoursResult.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypedDict

import numpy as np

FORMAT, VERSION = "bastide-calibration", 1
KINDS = ("lens", "table", "colours")
SHAPES = ("follower", "disc", "cube")  # of players' pieces
FILE_LIKE = ("image", "video", "folder")  # a picture does not identify its camera
_KEYS = ("format", "version", "kind", "camera", "resolution", "made", "result", "observations", "residuals")
_MOST_OBSERVATIONS = 5000


class CalibrationError(Exception):
    """A calibration that cannot be made, read or used. The message is one sentence that says what to do; ``code`` and
    ``parts`` are its key and parameters for translation."""

    def __init__(self, text: str, code: str = "", **parts: float | int | str) -> None:
        super().__init__(text)
        self.code, self.parts = code, parts


@dataclass(frozen=True, slots=True, kw_only=True)
class LensResult:
    """``focal_px`` and ``centre_px`` at the document's resolution, OpenCV's ``distortion`` k1 k2 p1 p2 k3, or those
    and k4 k5 k6.

    ``rms_px`` is the reprojection error over all views used (0 for a preset), ``focal_std_px`` its own uncertainty,
    ``fov_deg`` horizontal and vertical, ``coverage`` the number of corners seen in each part of the picture, in rows.
    """

    focal_px: float
    centre_px: tuple[float, float]
    distortion: tuple[float, ...]
    rms_px: float
    focal_std_px: float
    fov_deg: tuple[float, float]
    coverage: tuple[tuple[int, ...], ...]
    preset: str

    @property
    def matrix(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([[self.focal_px, 0, self.centre_px[0]], [0, self.focal_px, self.centre_px[1]], [0, 0, 1.0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult:
    """``lens`` as it was used, ``rotation`` (row by row) and ``translation_mm`` from table axes to camera axes, and
    ``px_from_mm`` (row by row) from table millimetres to undistorted pixels.

    ``method`` is charuco, mat, cards or tiles. ``rms_mm`` and ``worst_mm`` are the points' residuals on the table,
    ``worst_corner_mm`` the expected error (two standard deviations) at the worst corner of the picture, ``height_mm``
    the lens over the table, ``tilt_deg`` off looking straight down, ``nadir_px`` below the lens.
    """

    lens: LensResult
    method: str
    rotation: tuple[float, ...]
    translation_mm: tuple[float, ...]
    px_from_mm: tuple[float, ...]
    rms_mm: float
    worst_mm: float
    worst_corner_mm: float
    height_mm: float
    tilt_deg: float
    nadir_px: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColoursResult:
    """``paints`` per colour the sRGB that this camera sees in this light, ``light`` the gains (red, green, blue; mean
    1) of light and camera relative to daylight, ``distances`` CIEDE2000 between every two, ``confused`` the
    indistinguishable ones, ``shapes`` the shape of a player's pieces (disc, cube, follower) if a supply was
    measured."""

    paints: Mapping[str, tuple[int, int, int]]
    light: tuple[float, float, float]
    distances: Mapping[str, float]
    confused: tuple[str, ...]
    shapes: Mapping[str, str] = field(default_factory=dict)


Result = LensResult | TableResult | ColoursResult


class CameraJson(TypedDict):
    """The camera of a document."""

    model: str
    uri: str


class DocumentJson(TypedDict):
    """A serialised document."""

    format: str
    version: int
    kind: str
    camera: CameraJson
    resolution: list[int]
    made: str
    result: object
    observations: Sequence[Mapping[str, object]]
    residuals: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One calibration. ``made`` is ISO 8601 with a time zone; ``model`` and ``uri`` identify the camera."""

    kind: str
    model: str
    uri: str
    resolution: tuple[int, int]
    made: str
    result: Result
    observations: tuple[Mapping[str, object], ...] = ()
    residuals: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> DocumentJson:
        """The serialised document."""
        return {"format": FORMAT, "version": VERSION, "kind": self.kind,
                "camera": {"model": self.model, "uri": self.uri}, "resolution": list(self.resolution),
                "made": self.made, "result": _plain(self.result),
                "observations": [dict(o) for o in self.observations], "residuals": dict(self.residuals)}

    def write(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n"


def read_document(data: object) -> Document:
    """A parsed JSON file as a document. Raises CalibrationError naming the field and what it should be."""
    top = _mapping(data, "the file")
    if top.get("format") != FORMAT:
        raise CalibrationError(f"is not a calibration: format must be {FORMAT!r}")
    version = top.get("version")
    if version != VERSION or isinstance(version, bool):
        raise CalibrationError(f"is version {_short(version)} of the calibration format and this program reads "
                               f"{VERSION}; calibrate again")
    _only(top, _KEYS, "the file")
    kind = top["kind"]
    if kind not in KINDS:
        raise CalibrationError(f"kind is {_short(kind)} and must be one of {', '.join(KINDS)}")
    camera = _mapping(top["camera"], "camera")
    _only(camera, ("model", "uri"), "camera")
    size = _numbers(top["resolution"], "resolution", 2, 16, 100_000)
    if any(n != int(n) for n in size):
        raise CalibrationError("resolution must be two whole numbers")
    made = _text(top["made"], "made")
    try:
        if datetime.fromisoformat(made).tzinfo is None:
            raise ValueError
    except ValueError:
        raise CalibrationError("made must be a date and time with its time zone, as 2026-11-21T18:00:00+00:00"
                               ) from None
    resolution = (int(size[0]), int(size[1]))
    observations = top["observations"]
    if not isinstance(observations, list) or len(observations) > _MOST_OBSERVATIONS:
        raise CalibrationError("observations must be a list")
    for name in ("observations", "residuals"):
        try:
            json.dumps(top[name], allow_nan=False)
        except ValueError:  # Python reads NaN and Infinity, which no JSON has and `Document.write` refuses
            raise CalibrationError(f"{name} must have finite numbers only") from None
    result: Result
    if kind == "lens":
        result = _lens(top["result"], "result", resolution)
    elif kind == "table":
        result = _table(top["result"], "result", resolution)
    else:
        result = _colours(top["result"], "result")
    return Document(kind=kind, model=_text(camera["model"], "camera.model"), uri=_text(camera["uri"], "camera.uri"),
                    resolution=resolution, made=made, result=result,
                    observations=tuple(_mapping(o, f"observations[{n}]") for n, o in enumerate(observations)),
                    residuals=_mapping(top["residuals"], "residuals"))


def check_fit(document: Document, size: tuple[int, int], uri: str, model: str) -> None:
    """Reject a document of another camera or resolution. Raises CalibrationError."""
    if document.resolution != size:
        (w, h), (a, b) = document.resolution, size
        raise CalibrationError(f"was made at {w}x{h} and the pictures are {a}x{b}; calibrate at the size that is used")
    mine, theirs = document.model, model
    if _scheme(document.uri) in FILE_LIKE or _scheme(uri) in FILE_LIKE or not mine or not theirs:
        return
    if mine != theirs:
        raise CalibrationError(f"was made with the camera {mine!r} and this one is {theirs!r}; calibrate this one")


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()


def _plain(value: object) -> object:
    if isinstance(value, LensResult | TableResult | ColoursResult):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


# -- parsing each kind ------------------------------------------------------------------------------------------------

def _lens(data: object, at: str, size: tuple[int, int]) -> LensResult:
    top = _result(data, at, LensResult)
    width, height = size
    coverage, bends = top["coverage"], top["distortion"]
    count = 8 if isinstance(bends, list) and len(bends) == 8 else 5
    if not isinstance(coverage, list) or len(coverage) > 64:
        raise CalibrationError(f"{at}.coverage must be a list of rows")
    lens = LensResult(
        focal_px=_number(top["focal_px"], f"{at}.focal_px", 0.1 * width, 50.0 * width),
        centre_px=_pair(top["centre_px"], f"{at}.centre_px", -float(width + height), 2.0 * (width + height)),
        distortion=_numbers(bends, f"{at}.distortion", count, -20, 20),
        rms_px=_number(top["rms_px"], f"{at}.rms_px", 0, 1000),
        focal_std_px=_number(top["focal_std_px"], f"{at}.focal_std_px", 0, 1e6),
        fov_deg=_pair(top["fov_deg"], f"{at}.fov_deg", 0, 360),
        coverage=tuple(tuple(int(n) for n in _numbers(row, f"{at}.coverage[{r}]", None, 0, 1e9))
                       for r, row in enumerate(coverage)),
        preset=_text(top["preset"], f"{at}.preset"))
    if not (0 <= lens.centre_px[0] < width and 0 <= lens.centre_px[1] < height):
        raise CalibrationError(f"{at}.centre_px must lie in the picture")
    return lens


def _table(data: object, at: str, size: tuple[int, int]) -> TableResult:
    top = _result(data, at, TableResult)
    table = TableResult(
        lens=_lens(top["lens"], f"{at}.lens", size), method=_text(top["method"], f"{at}.method"),
        rotation=_numbers(top["rotation"], f"{at}.rotation", 9, -1.001, 1.001),
        translation_mm=_numbers(top["translation_mm"], f"{at}.translation_mm", 3, -1e5, 1e5),
        px_from_mm=_numbers(top["px_from_mm"], f"{at}.px_from_mm", 9, -1e9, 1e9),
        rms_mm=_number(top["rms_mm"], f"{at}.rms_mm", 0, 1e4),
        worst_mm=_number(top["worst_mm"], f"{at}.worst_mm", 0, 1e4),
        worst_corner_mm=_number(top["worst_corner_mm"], f"{at}.worst_corner_mm", 0, 1e4),
        height_mm=_number(top["height_mm"], f"{at}.height_mm", 10, 1e5),
        tilt_deg=_number(top["tilt_deg"], f"{at}.tilt_deg", 0, 90),
        nadir_px=_pair(top["nadir_px"], f"{at}.nadir_px", -1e7, 1e7))
    turn = np.array(table.rotation).reshape(3, 3)
    if np.abs(turn @ turn.T - np.eye(3)).max() > 1e-3 or np.linalg.det(turn) < 0:
        raise CalibrationError(f"{at}.rotation is not a rotation")
    if table.translation_mm[2] <= 0 or abs(np.linalg.det(np.array(table.px_from_mm).reshape(3, 3))) < 1e-12:
        raise CalibrationError(f"{at}.px_from_mm shows no table in front of the camera")
    return table


def _colours(data: object, at: str) -> ColoursResult:
    top = _result({"shapes": {}, **_mapping(data, at)}, at, ColoursResult)  # older documents have no shapes
    paints = {}
    for name, rgb in _mapping(top["paints"], f"{at}.paints").items():
        r, g, b = _numbers(rgb, f"{at}.paints.{name}", 3, 0, 255)
        paints[_text(name, f"{at}.paints")] = (round(r), round(g), round(b))
    distances = {str(k): _number(v, f"{at}.distances.{k}", 0, 200)
                 for k, v in _mapping(top["distances"], f"{at}.distances").items()}
    confused = top["confused"]
    if not isinstance(confused, list):
        raise CalibrationError(f"{at}.confused must be a list")
    red, green, blue = _numbers(top["light"], f"{at}.light", 3, 0.05, 20)
    shapes = {_text(name, f"{at}.shapes"): _text(shape, f"{at}.shapes.{name}")
              for name, shape in _mapping(top["shapes"], f"{at}.shapes").items()}
    for name, shape in shapes.items():
        if shape not in SHAPES:
            raise CalibrationError(f"{at}.shapes.{name}: {_short(shape)} is unknown; known are {', '.join(SHAPES)}")
    return ColoursResult(paints=paints, light=(red, green, blue), distances=distances, shapes=shapes,
                         confused=tuple(_text(c, f"{at}.confused") for c in confused))


def _result(data: object, at: str, kind: type[Result]) -> Mapping[str, object]:
    top = _mapping(data, at)
    _only(top, tuple(f.name for f in fields(kind)), at)
    return top


def _only(data: Mapping[str, object], names: tuple[str, ...], at: str) -> None:
    for name in names:
        if name not in data:
            raise CalibrationError(f"{at}: {name} is missing")
    for name in data:
        if name not in names:
            raise CalibrationError(f"{at}: {_short(name)} is unknown; known are {', '.join(names)}")


def _mapping(value: object, at: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise CalibrationError(f"{at} must be an object, not {_short(value)}")
    return value


def _text(value: object, at: str) -> str:
    if not isinstance(value, str) or len(value) > 500:
        raise CalibrationError(f"{at} must be a text, not {_short(value)}")
    return value


def _number(value: object, at: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high \
            or not math.isfinite(value):
        raise CalibrationError(f"{at} must be a number from {low:g} to {high:g}, not {_short(value)}")
    return float(value)


def _numbers(value: object, at: str, count: int | None, low: float, high: float) -> tuple[float, ...]:
    if not isinstance(value, list) or (count is not None and len(value) != count) or len(value) > 1000:
        raise CalibrationError(f"{at} must be a list of {count or 'some'} numbers")
    return tuple(_number(v, at, low, high) for v in value)


def _pair(value: object, at: str, low: float, high: float) -> tuple[float, float]:
    a, b = _numbers(value, at, 2, low, high)
    return a, b


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
