"""Aim and calibration of the camera in use, as the page asks for them: measured, kept, used at once, taken back."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cameras_for_pages import Showing, watched

from bastide.camera.calibrated import CalibratedCamera, view_from
from bastide.camera.calibration_store import CalibrationStore, newest
from bastide.camera.tuning import Tuning
from calibration.rehearsal import flat, mat_sheet, overhead, photograph
from vision.frames import Image
from web.protocol import CommandError

sys.path.append(str(Path(__file__).parents[1] / "calibration"))
from test_colours import TABLES, followers  # noqa: E402

SIZE = (1152, 648)
PATIENCE_S = 120.0
EMPTY = np.full((SIZE[1], SIZE[0], 3), 120, np.uint8)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the first picture may be late."""
    monkeypatch.setattr("bastide.camera.tuning.AT_MOST_S", PATIENCE_S)


def mat(height_mm: float = 900.0) -> Image:
    camera = overhead(SIZE, height_mm=height_mm, tilt_deg=(1.0, -1.0, 0.0), off_px=(0.0, 0.0))
    return photograph(camera, [flat(mat_sheet(), 20, 10, 15)], seed=1)


def tuning(camera: CalibratedCamera, data: Path, **more: object) -> Tuning:
    def reader() -> object:
        raise AssertionError("no tiles lie there, and none are asked for")

    return Tuning(camera, CalibrationStore(data), **{
        "present": lambda: True, "colours": lambda: ("red", "blue", "yellow"),  # type: ignore
        "reader": reader, **more})


def done(made: Tuning, kind: str) -> dict:  # type: ignore[type-arg]
    thread = made._thread
    assert thread is not None
    waited = threading.Event()
    for _ in range(int(PATIENCE_S / 0.05)):
        if kind in made.state()["done"]:
            return made.state()["done"][kind]  # type: ignore[no-any-return]
        waited.wait(0.05)
    raise AssertionError("it never ended")


def test_the_table_is_calibrated_kept_used_at_once_and_by_the_next_start(tmp_path: Path) -> None:
    camera = CalibratedCamera(Showing(mat()), ())
    made = tuning(camera, tmp_path)
    begun = made.calibrate("table", "mat", "module3")
    assert begun["running"] == "table"
    with pytest.raises(CommandError) as refused:  # no picture has come yet
        made.calibrate("table", "", "")
    assert refused.value.code == "busy"
    with watched(camera) as last:
        found = done(made, "table")
        assert found["ok"] and found["method"] == "mat" and found["rms_mm"] < 1.0 and found["worst_corner_mm"] < 10.0
        assert found["height_mm"] == pytest.approx(900, rel=0.03)
        state = made.state()
        assert state["running"] is None and [(u["kind"], u["here"]) for u in state["used"]] == [("table", True)]
        assert camera.changed.wait(PATIENCE_S) and camera.view is not None and camera.view.rotation is not None
        assert last[0].shape[:2] == (SIZE[1], SIZE[0])
    (again,) = CalibrationStore(tmp_path).kept()
    assert again[0] in CalibrationStore(tmp_path).paths() and view_from((again,)) is not None
    with watched(camera):
        assert made.forget("table")["used"] == [] and not CalibrationStore(tmp_path).kept()
        camera.changed.clear()
        assert camera.changed.wait(PATIENCE_S) or camera.view is None


def test_colours_are_measured_and_what_cannot_be_told_apart_is_named(tmp_path: Path,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    camera = CalibratedCamera(Showing(followers(["red", "blue", "yellow"], TABLES["oak"], (1, 1, 1))), ())
    with watched(camera):
        made = tuning(camera, tmp_path)
        made.calibrate("colours", "", "")
        found = done(made, "colours")
        assert found["ok"] and set(found["distances"]) == {"blue-red", "blue-yellow", "red-yellow"}
        assert not found["confused"] and min(found["distances"].values()) > made.state()["limits"]["confused"]
        monkeypatch.setattr("bastide.camera.tuning.AT_MOST_S", 3.0)  # the search times out then
        lone = tuning(camera, tmp_path, colours=lambda: ("red", "green"))
        lone.calibrate("colours", "", "")
        refused = done(lone, "colours")
        assert not refused["ok"] and refused["error"]["code"] == "colours.missing"
        assert refused["error"]["parts"] == {"colours": "green"}


def test_nothing_to_measure_by_is_said_after_a_while_and_nothing_changes(tmp_path: Path,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.camera.tuning.AT_MOST_S", 0.3)
    camera = CalibratedCamera(Showing(EMPTY), ())
    with watched(camera):
        made = tuning(camera, tmp_path)
        made.calibrate("table", "cards", "")
        assert done(made, "table")["error"]["code"] == "table.nothing"
    assert camera.documents == () and not CalibrationStore(tmp_path).kept() and not camera.changed.is_set()


def test_the_aim_is_told_while_somebody_looks_and_no_longer(tmp_path: Path) -> None:
    camera = CalibratedCamera(Showing(mat()), ())
    now = [0.0]
    made = tuning(camera, tmp_path, clock=lambda: now[0])
    with watched(camera):
        waited = threading.Event()
        while (told := made.aim())["aim"] is None:
            waited.wait(0.05)
        assert told["aim"]["tiles"][0] == pytest.approx(26, abs=1.5) and told["aim"]["method"] == "mat"
        thread = made._thread
        now[0] += 100.0  # everybody has left
        assert thread is not None
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_without_a_camera_and_for_what_nobody_knows_it_is_refused(tmp_path: Path) -> None:
    made = tuning(CalibratedCamera(Showing(EMPTY), ()), tmp_path, present=lambda: False)
    for call in (made.aim, lambda: made.calibrate("table", "", "")):
        with pytest.raises(CommandError) as refused:
            call()
        assert refused.value.code == "no_camera"
    for what, by, name in (("lens", "", ""), ("table", "photo", ""), ("table", "", "nokia")):
        with pytest.raises(CommandError) as refused:
            made.calibrate(what, by, name)
        assert refused.value.code == "malformed"
    with pytest.raises(CommandError):
        made.forget("../table")


def test_a_calibration_of_another_camera_is_left_out_when_the_page_made_it(tmp_path: Path) -> None:
    camera = CalibratedCamera(Showing(mat()), ())
    with watched(camera):
        made = tuning(camera, tmp_path)
        made.calibrate("table", "mat", "")
        assert done(made, "table")["ok"]
    own = CalibrationStore(tmp_path).kept()
    other = CalibratedCamera(Showing(mat(), model="imx477"), newest((), own), view_from(own),
                             CalibrationStore(tmp_path).paths())
    frame = other.read()
    assert frame is not None and other.documents == () and other.view is None and other.changed.is_set()
    assert newest(own, own) == own and newest((), ()) == ()


def test_the_supply_of_one_player_is_added_to_what_was_measured(tmp_path: Path) -> None:
    camera = CalibratedCamera(Showing(followers(["red"] * 4, TABLES["oak"], (1, 1, 1))), ())
    made = tuning(camera, tmp_path)
    with pytest.raises(CommandError):  # pink is not in the game
        made.calibrate("supply", "pink", "")
    with watched(camera):
        made.calibrate("supply", "red", "")
        found = done(made, "supply")
        assert found["ok"] and found["colour"] == "red" and set(found["paints"]) == {"red"}
        assert [u["kind"] for u in made.state()["used"]] == ["colours"]
        assert camera.changed.wait(PATIENCE_S) and camera.view is not None and set(camera.view.paints) == {"red"}
        made.calibrate("supply", "blue", "")  # still the red ones: the owner is what people enter
        assert set(done_again(made, "blue")["paints"]) == {"red", "blue"}


def done_again(made: Tuning, colour: str) -> dict:  # type: ignore[type-arg]
    waited = threading.Event()
    for _ in range(int(PATIENCE_S / 0.05)):
        found = made.state()["done"].get("supply", {})
        if found.get("colour") == colour:
            return found
        waited.wait(0.05)
    raise AssertionError("it never ended")
