"""The Pi camera's driver: on a stand-in for picamera2 in every run, on the real libraries by tests/pi/run_virtual.sh.

Each of the ten problems that Pi camera programs are known for is named where it is answered. Of 1, libraries that do
not fit each other, the cure is the installer's (tests/install/run_install.sh has the real clash); here it is named.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draw_frames import BOXES, RED, which

from hardware.pi import layers
from hardware.sources import open_source
from vision.frames import LateFrame, SourceError


def middle(box: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    (x0, y0), (x1, y1) = box
    return (y0 + y1) // 2, (x0 + x1) // 2


def test_picamera_trap_1_a_library_built_for_another_numpy_is_named(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    said = "numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88"
    (tmp_path / "simplejpeg.py").write_text(f"raise ValueError({said!r})\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "simplejpeg", raising=False)
    told = dict(layers())
    assert list(told) == ["numpy", "simplejpeg", "libcamera", "picamera2"]
    assert told["numpy"] == "" and told["simplejpeg"] == f"ValueError: {said}"


def test_picamera_trap_2_and_3_focus_light_and_colour_are_measured_then_held(cable: Any) -> None:
    from virtual_camera import TRUE

    with open_source("picamera:0") as source:
        controls = source.info.controls
        sensor = cable.sensors[-1]
        held = sensor.ever[-1]
        assert controls["held"] == "yes" and not sensor.auto_e and not sensor.auto_w and sensor.af_mode == 0
        assert held["ColourGains"] == pytest.approx(TRUE["ColourGains"], rel=0.02)
        assert controls["focus_dioptres"] == pytest.approx(TRUE["LensPosition"], abs=0.05)
        assert controls["exposure_us"] * controls["gain"] == pytest.approx(
            TRUE["ExposureTime"] * TRUE["AnalogueGain"], rel=0.05)


def test_picamera_trap_4_the_whole_sensor_is_seen(cable: Any) -> None:
    with open_source("picamera:0") as source:
        assert (source.info.width, source.info.height) == (2304, 1296) and source.info.controls["view"] == 1.0
        assert source.info.model == "Camera Module 3 / imx708" and source.info.fps == 15


def test_picamera_trap_5_colours_are_right_and_rows_are_cut_to_the_picture(cable: Any) -> None:
    with open_source("picamera:0") as source:
        frame = source.read()
        assert isinstance(frame, LateFrame)
        bgr, luma = frame.bgr, frame.luma
    assert bgr.shape == (1296, 2304, 3) and luma is not None and luma.shape == (432, 768)
    y, x = middle(BOXES["red"])
    assert np.abs(bgr[y, x].astype(int) - RED).max() < 30, f"red is {bgr[y, x]}"
    assert which(luma) == which(bgr[..., 1]) >= 0
    small = bgr[::3, ::3].astype(np.float32) @ np.float32([0.114, 0.587, 0.299])
    assert np.median(np.abs(small - luma)) < 16  # limited range against full


def test_picamera_trap_6_a_second_opening_is_one_sentence(cable: Any) -> None:
    with open_source("picamera:0") as source:
        assert source.read() is not None
        with pytest.raises(SourceError, match="another program"), open_source("picamera:0"):
            pass
        assert source.read() is not None


def test_picamera_trap_7_what_a_slow_reader_gets_is_new(cable: Any) -> None:
    with open_source("picamera:0") as source:
        first = source.read()
        assert first is not None
        while source._count < first.id + 12:  # the reader is busy while the camera goes on
            threading.Event().wait(0.01)
        asked = time.monotonic()
        second = source.read()
        assert second is not None and second.id >= first.id + 11
        assert asked - second.t_s < 1.0 and which(second.luma) >= 0
        with pytest.raises(SourceError, match="gone"):
            _ = first.bgr


def test_picamera_trap_8_and_9_one_mode_and_few_buffers_for_the_whole_time(cable: Any) -> None:
    with open_source("picamera:0") as source:
        seen, most = set(), 0
        for _ in range(40):
            frame = source.read()
            assert frame is not None
            most = max(most, cable.outstanding)
            if frame.id % 3 == 0:
                seen.add(frame.bgr.shape)
        assert seen == {(1296, 2304, 3)} and most <= 4
    assert cable.outstanding == 0


def test_picamera_trap_10_exposures_are_whole_periods_of_the_lamps(cable: Any) -> None:
    for mains, period_us in ((50, 10000), (60, 8333)):
        with open_source(f"picamera:0?mains={mains}") as source:
            sensor = cable.sensors[-1]
            assert sensor.ever[0]["AeFlickerMode"] == 1 and sensor.ever[0]["AeFlickerPeriod"] == period_us
            exposure = float(source.info.controls["exposure_us"])
            assert abs(exposure / period_us - round(exposure / period_us)) < 0.01 and exposure >= period_us


def test_picamera_a_cable_that_was_pulled_and_put_back(cable: Any) -> None:
    source = open_source("picamera:0")
    source.silence_s = 1.0
    with source:
        assert source.read() is not None
        before, opened = dict(source.info.controls), cable.opened
        cable.pulled = True
        with pytest.raises(SourceError, match="no picture came"):
            while True:
                source.read(timeout_s=0.5)
        while not cable.refused:  # until the driver has given the camera up and tried to open it again
            threading.Event().wait(0.01)
        cable.pulled = False
        again = source.read(timeout_s=30)
        assert again is not None and again.bgr.shape == (1296, 2304, 3)
        assert cable.opened > opened
        after = source.info.controls
        # The fixed controls were in the configuration: nothing was measured again, so the calibration stays valid.
        assert all(after[k] == pytest.approx(before[k], rel=0.02) for k in ("exposure_us", "focus_dioptres"))
        assert {"ColourGains", "LensPosition", "ExposureTime"} <= set(cable.sensors[-1].ever[0])
        assert not any("AfTrigger" in asked for asked in cable.sensors[-1].ever)


def test_picamera_that_stays_away_costs_nothing(cable: Any) -> None:
    """picamera2 keeps a pipe of every opening that fails; a night of them would be more than a process may have."""
    source = open_source("picamera:0")
    source.silence_s = 0.5
    with source:
        assert source.read() is not None
        cable.pulled = True
        least = []
        for attempt in (1, 3):
            while cable.refused < attempt:
                threading.Event().wait(0.01)
            counts = []
            while cable.refused == attempt:  # until the next attempt: none is under way for most of that time
                counts.append(len(os.listdir("/proc/self/fd")))
                threading.Event().wait(0.01)
            least.append(min(counts))
        cable.pulled = False
        assert least[1] <= least[0]
        assert source.read(timeout_s=30) is not None


def test_picamera_options_win_over_what_is_measured(cable: Any) -> None:
    with open_source("picamera:0?focus=2.5&exposure=20000&gain=3&size=1536x864") as source:
        frame, controls = source.read(), source.info.controls
        assert frame is not None and frame.shape == (864, 1536, 3) == frame.bgr.shape
        assert controls["focus_dioptres"] == 2.5 and controls["gain"] == 3
        assert controls["exposure_us"] == pytest.approx(20000, abs=20)
        assert not any("AfTrigger" in asked for asked in cable.sensors[-1].ever)


def test_picamera_measuring_again(cable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import virtual_camera

    with open_source("picamera:0") as source:
        focus = source.info.controls["focus_dioptres"]
        monkeypatch.setitem(virtual_camera.TRUE, "LensPosition", 3.0)
        source.measure_again()
        while source.info.controls["focus_dioptres"] == focus:
            assert source.read(timeout_s=20) is not None
        assert source.info.controls["focus_dioptres"] == pytest.approx(3.0, abs=0.05)


def test_picamera_no_such_camera(cable: Any) -> None:
    with pytest.raises(SourceError, match="camera 7"), open_source("picamera:7"):
        pass
