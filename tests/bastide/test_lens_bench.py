"""The lens on the page: views taken live, the worst dropped, kept; every calibration to go back to or to bring in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from cameras_for_pages import Showing, until, watched

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.calibration_store import MOST_KEPT, CalibrationStore, newest
from bastide.camera.lens_bench import LensBench
from calibration.documents import LensResult, read_document
from web.protocol import CommandError

sys.path.append(str(Path(__file__).parents[1] / "calibration"))
from calibration_scenes import SIZE, bent_camera, views  # noqa: E402

EMPTY = np.full((SIZE[1], SIZE[0], 3), 120, np.uint8)


def computed(made: LensBench, count: int) -> dict:  # type: ignore[type-arg]
    """The state once a lens has been computed from so many views."""
    return until(made, lambda s: not s["busy"] and s["lens"]
                 and sum(v["rms_px"] is not None for v in s["views"]) == count)


def refusal(call: object, *args: object) -> str:
    with pytest.raises(CommandError) as refused:
        call(*args)  # type: ignore[operator]
    return refused.value.code


def test_views_are_taken_live_and_the_lens_is_dropped_from_kept_and_gone_back_to(tmp_path: Path) -> None:
    shown, store = Showing(EMPTY, model="imx708"), CalibrationStore(tmp_path)
    camera = CalibratedCamera(shown, ())
    made = LensBench(camera, store, present=lambda: True)
    assert refusal(made.keep) == "nothing_computed" and refusal(made.drop_worst) == "few_views"
    with watched(camera):
        assert until(made, lambda s: s["picture"])["board"] is None
        for n, (_, picture) in enumerate(views(), 1):
            shown.picture = picture
            seen = until(made, lambda s, n=n: len(s["views"]) == n)
        assert seen["board"] and seen["size"] == list(SIZE) and made.picture(seen["picture"]) is not None
        all_of_them = computed(made, 8)
        lens, fits = all_of_them["lens"], {v["number"]: v["rms_px"] for v in all_of_them["views"]}
        assert lens["focal_px"] == pytest.approx(bent_camera().focal_px, rel=0.005) and lens["rms_px"] < 0.1
        assert lens["rms_mm"] is None, "the table is not known"
        for v in all_of_them["views"]:  # a pixel is 0.7 to 1 mm where the sheet was held
            assert 0.5 * v["rms_px"] < v["rms_mm"] < 1.2 * v["rms_px"] and v["used"] and len(v["outline"]) > 3
        assert np.shape(all_of_them["coverage"]) == (4, 6)
        assert lens["sheet"]["title"] == "Camera Module 3" and lens["sheet"]["fits"]
        wide = made.compare_with("module3-wide")
        wide = computed(made, 8)
        assert not wide["lens"]["sheet"]["fits"]
        assert "lens.field_of_view" in [a["code"] for a in wide["lens"]["advice"]]
        made.compare_with("")
        made.drop_worst()
        fewer = computed(made, 7)
        assert [v["number"] for v in fewer["views"] if v["left_out"]] == [max(fits, key=lambda n: fits[n] or 0)]
        assert made.keep()["saved"] and camera.changed.wait(60.0)
        first = made.state()["history"]
        assert [(h["kind"], h["now"], h["size"], h["model"]) for h in first] == [("lens", True, list(SIZE), "imx708")]
        made.leave_out(next(v["number"] for v in fewer["views"] if not v["left_out"]), True)
        computed(made, 6)
        made.keep()
        assert [h["now"] for h in made.state()["history"]].count(True) == 1 and len(made.state()["history"]) == 2
        made.back(first[0]["name"])
        assert next(h["name"] for h in made.state()["history"] if h["now"]) == first[0]["name"]
        assert refusal(made.leave_out, 99, True) == "no_view" and refusal(made.back, "lens-x") == "unknown_calibration"
        assert made.clear()["views"] == []
        check_files(made, camera, store, first[0]["name"])
    made.close()


def check_files(made: LensBench, camera: CalibratedCamera, store: CalibrationStore, name: str) -> None:
    """An exported calibration can be imported again, other files are rejected."""
    text = str(made.export(name)["text"])
    document = read_document(json.loads(text))
    assert isinstance(document.result, LensResult)

    def bring(data: bytes) -> str:
        for at in range(0, len(data), 48_000):
            made.piece(at, data[at:at + 48_000])
        try:
            made.take_in()
        except CommandError as e:
            return e.code
        return ""

    assert refusal(made.piece, 7, b"x") == "wrong_place"
    assert refusal(made.piece, 0, b"x" * 3_000_000) == "no_calibration"
    assert bring(b"PK\x03\x04") == "no_calibration" and bring(b"[" * 50_000) == "no_calibration"
    assert bring(text.replace('"imx708"', '"imx477"').encode()) == "other_camera"
    made.back(next(h["name"] for h in made.state()["history"] if not h["now"]))
    assert bring(text.encode()) == ""
    assert next(h["name"] for h in made.state()["history"] if h["now"]) == name
    assert [(d.kind, d.made) for _, d in camera.documents] == [("lens", document.made)]
    # The command line still takes precedence, with a message.
    given = ((("own.json"), document),)
    other = LensBench(camera, store, present=lambda: True, given=given)
    assert refusal(other.back, name) == "command_line"


def test_what_is_kept_is_bounded_and_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    from dataclasses import replace

    from calibration.apply import usual_lens
    from calibration.documents import Document

    store = CalibrationStore(tmp_path)
    document = Document(kind="lens", model="", uri="usb:0", resolution=SIZE, made="2026-11-21T18:00:00+00:00",
                        result=usual_lens(SIZE))
    for n in range(MOST_KEPT + 3):
        store.keep(replace(document, made=f"2026-11-21T18:{n:02}:00+00:00"))
    history = store.history()
    assert len(history) == MOST_KEPT and history[0].now and history[0].document.made.startswith("2026-11-21T18:22")
    (tmp_path / "calibration" / "history" / "lens-20261121T180000-00000000.json").write_text("{")
    (tmp_path / "calibration" / "history" / "notes.json").write_text("{}")
    assert len(CalibrationStore(tmp_path).history()) == MOST_KEPT
    store.forget("lens")
    assert store.kept() == () and len(store.history()) == MOST_KEPT and newest((), store.kept()) == ()
    assert store.earlier(history[1].name) is not None and store.earlier("../lens") is None
