"""Calibration documents: they round-trip, and anything else is rejected with one sentence."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.apply import view_of
from calibration.documents import (
    CalibrationError,
    ColoursResult,
    Document,
    LensResult,
    TableResult,
    read_document,
)

LENS = LensResult(focal_px=1180.0, centre_px=(770.0, 430.0), distortion=(-0.05, 0.01, 0.0, 0.0, 0.0), rms_px=0.05,
                  focal_std_px=1.0, fov_deg=(66.0, 40.0), coverage=((1, 2), (3, 0)), preset="")
TABLE = TableResult(lens=LENS, method="cards", rotation=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
                    translation_mm=(5.0, -3.0, 800.0), px_from_mm=(1.5, 0.0, 777.0, 0.0, 1.5, 425.0, 0.0, 0.0, 1.0),
                    rms_mm=0.1, worst_mm=0.3, worst_corner_mm=0.6,
                    height_mm=800.0, tilt_deg=0.0, nadir_px=(770.0, 430.0))
COLOURS = ColoursResult(paints={"red": (190, 40, 40), "blue": (30, 80, 180)}, light=(1.1, 1.0, 0.9),
                        distances={"blue-red": 50.0}, confused=())
DOCUMENTS = [Document(kind=kind, model="Cam", uri="usb:0", resolution=(1536, 864), made="2026-11-21T18:00:00+00:00",
                      result=result, observations=({"name": "a"},), residuals={"rms": 1.0})
             for kind, result in (("lens", LENS), ("table", TABLE), ("colours", COLOURS))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.kind)
def test_what_is_written_is_read_back(document: Document) -> None:
    again = read_document(json.loads(document.write()))
    assert again == document and again.write() == document.write()


@pytest.mark.parametrize(("path", "value", "why"), [
    (("format",), "other", "is not a calibration"), (("version",), 2, "is version 2 .* reads 1; calibrate again"),
    (("version",), True, "is version True"), (("kind",), "camera", "kind is 'camera'"),
    (("resolution",), [1536], "resolution"), (("resolution",), [1536.5, 864], "whole numbers"),
    (("made",), "yesterday", "date and time"), (("made",), "2026-11-21T18:00:00", "time zone"),
    (("camera", "model"), 7, "camera.model"), (("result", "focal_px"), "long", "result.focal_px"),
    (("result", "focal_px"), float("nan"), "result.focal_px"), (("result", "centre_px"), [9999, 5], "result.centre_px"),
    (("result", "distortion"), [0, 0], "result.distortion"), (("result", "colour"), 1, "'colour' is unknown"),
    (("observations",), {}, "observations"),
    (("observations",), [{"name": float("inf")}], "observations must have finite"),
    (("residuals", "rms"), float("nan"), "residuals must have finite"),
])
def test_what_does_not_fit_is_refused_by_its_name(path: tuple[str, ...], value: object, why: str) -> None:
    data: Any = DOCUMENTS[0].to_json()
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(CalibrationError, match=why):
        read_document(data)


def test_a_table_that_cannot_be_is_refused() -> None:
    data: Any = DOCUMENTS[1].to_json()
    data["result"]["rotation"][0] = 0.5
    with pytest.raises(CalibrationError, match="is not a rotation"):
        read_document(data)


_ODD = st.one_of(st.none(), st.booleans(), st.integers(-10**12, 10**12), st.floats(), st.text(max_size=8),
                 st.lists(st.floats(), max_size=4), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += _places(value[key], (*path, key))
    elif isinstance(value, list):
        for n in range(len(value)):
            found += _places(value[n], (*path, n))
    return found


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_damaged_documents_are_refused_or_mean_something(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    spoilt: Any = copy.deepcopy(document.to_json())
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(spoilt)))
        at = spoilt
        for key in path[:-1]:
            at = at[key]
        if isinstance(at, dict) and data.draw(st.booleans()):
            del at[path[-1]]
        else:
            at[path[-1]] = data.draw(_ODD)
    try:
        read = read_document(spoilt)
    except CalibrationError as e:
        assert str(e) and "\n" not in str(e) and len(str(e)) < 400
        return
    assert read_document(json.loads(read.write())) == read
    try:
        view = view_of([read], read.resolution)
    except CalibrationError:
        return
    assert view.eye.focal_px > 0


@given(_ODD)
def test_anything_else_is_refused(data: object) -> None:
    with pytest.raises(CalibrationError):
        read_document(data)
