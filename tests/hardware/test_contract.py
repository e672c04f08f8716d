"""One contract for every driver: description, newest picture only, reconnecting, release at the end.

The Pi camera is a stand-in here and the real thing in tests/pi/run_virtual.sh; the webcam is a stand-in; network
cameras are real servers on this machine that are cut off in the middle.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "pi"))

from mjpeg import MjpegCamera  # noqa: E402
from pi_cable import plugged_in  # noqa: E402
from rtsp import RtspCamera  # noqa: E402
from webcam import Webcam, attached  # noqa: E402

from hardware.sources import open_source  # noqa: E402
from vision.frames import Frame, FrameSource, SourceError  # noqa: E402

GAME = {
    "format": "transcript/1",
    "setup": {"expansions": ["base"], "rules": {}, "players": [{"name": "Anna", "colour": "red"}]},
    "start": {"tile": "base.D", "at": [0, 0], "rot": 0},
    "turns": [{"player": 0, "part": 1, "moves": [{"do": "tile", "tile": "base.U", "at": [1, 0], "rot": 0}]}],
}
LIVE = ("usb", "http", "rtsp", "picamera")


@dataclass
class Device:
    """A source's address and how to pull its plug and put it back."""

    uri: str
    model: str
    unplug: Callable[[], None] = lambda: None
    plug: Callable[[], None] = lambda: None
    size: tuple[int, int] = (160, 120)


def make(kind: str, tmp: Path, stack: ExitStack) -> Device:
    if kind == "folder":
        for n in range(7):
            cv2.imwrite(str(tmp / f"shot{n}.png"), np.full((120, 160, 3), 20 + 10 * n, np.uint8))
        return Device(f"folder:{tmp}", "folder")
    if kind == "video":
        writer = cv2.VideoWriter(str(tmp / "film.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 5, (160, 120))
        for n in range(7):
            writer.write(np.full((120, 160, 3), 20 + 10 * n, np.uint8))
        writer.release()
        return Device(f"video:{tmp / 'film.avi'}", "film.avi")
    if kind == "sim":
        (tmp / "game.json").write_text(json.dumps(GAME), "utf-8")
        return Device(f"sim:transcript={tmp / 'game.json'}&seed=2&size=480x270&fps=2&tail_s=1&level=easy",
                      "simulated", size=(480, 270))
    if kind == "usb":
        webcam = stack.enter_context(attached(Webcam()))
        return Device("usb:0?size=320x240", "USB", webcam.stop, webcam.start, (320, 240))
    if kind == "picamera":
        cable = stack.enter_context(plugged_in())

        def pull() -> None:
            cable.pulled = True

        def put_back() -> None:
            while not cable.refused:
                threading.Event().wait(0.01)
            cable.pulled = False
        return Device("picamera:0?size=1536x864", "Camera Module 3", pull, put_back, (1536, 864))
    camera = stack.enter_context({"http": MjpegCamera, "rtsp": RtspCamera}[kind]())
    return Device(camera.url, "network camera", camera.stop, camera.start, (320, 240))


@pytest.fixture(params=["folder", "video", "sim", *LIVE])
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Device]:
    with ExitStack() as stack:
        yield make(request.param, tmp_path, stack)
    assert not [t for t in threading.enumerate() if t.name.startswith("camera ")]


def opened(device: Device) -> FrameSource:
    source = open_source(device.uri)
    if hasattr(source, "silence_s"):
        source.silence_s = 0.5
    return source


def some(source: FrameSource, count: int) -> list[Frame]:
    out = []
    while len(out) < count and (frame := source.read(timeout_s=20)) is not None:
        _ = frame.bgr
        out.append(frame)
    return out


def test_it_says_what_it_is_and_gives_pictures_that_go_on(device: Device) -> None:
    with opened(device) as source:
        taken = some(source, 4)
        assert len(taken) == 4 and source.info.uri == device.uri and device.model in source.info.model
        assert (source.info.width, source.info.height) == device.size
    for before, after in zip(taken, taken[1:], strict=False):
        assert after.id > before.id and after.t_s > before.t_s
    for frame in taken:
        assert frame.bgr.shape == frame.shape == (*device.size[::-1], 3) and frame.bgr.dtype == np.uint8
        assert frame.source == device.uri
    assert source.info.live == (device.uri.partition(":")[0] in LIVE)


def test_it_can_be_opened_again_and_is_closed_by_an_error_inside(device: Device) -> None:
    source = opened(device)
    with pytest.raises(KeyError), source:
        assert source.read(timeout_s=20) is not None
        raise KeyError
    with pytest.raises(SourceError, match="not open"):
        source.read()
    with source:
        assert len(some(source, 2)) == 2


@pytest.fixture(params=LIVE)
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Device]:
    with ExitStack() as stack:
        yield make(request.param, tmp_path, stack)


def test_a_slow_reader_gets_the_newest_picture_once(live: Device) -> None:
    with opened(live) as source:
        first = source.read(timeout_s=20)
        assert first is not None
        while source._count < first.id + 8:  # type: ignore[attr-defined]
            threading.Event().wait(0.01)
        second = source.read(timeout_s=20)
        assert second is not None and second.id >= first.id + 7
        third = source.read(timeout_s=20)
        assert third is not None and third.id > second.id


def test_it_survives_being_unplugged(live: Device) -> None:
    with opened(live) as source:
        assert source.read(timeout_s=20) is not None
        live.unplug()
        with pytest.raises(SourceError, match="no picture came") as caught:
            while True:  # pictures in flight may still arrive
                source.read(timeout_s=0.3)
        assert "\n" not in str(caught.value)
        live.plug()
        again = source.read(timeout_s=40)
        assert again is not None and again.bgr.shape == (*live.size[::-1], 3)


def test_a_webcam_s_automatics_settle_and_are_held_also_after_it_came_back(tmp_path: Path) -> None:
    with attached(Webcam()) as webcam, open_source("usb:0?size=320x240") as source:
        while not source.info.controls:
            some(source, 1)
        assert source.info.controls == {"exposure": 312, "gain": 12, "white_balance_k": 3900, "focus": 35}
        first = webcam.captures[0].props
        assert first[cv2.CAP_PROP_AUTO_EXPOSURE] == 1 and first[cv2.CAP_PROP_AUTOFOCUS] == 0
        webcam.stop()
        with pytest.raises(SourceError):
            while True:
                source.read(timeout_s=0.2)
        webcam.start()
        assert source.read(timeout_s=20) is not None
        again = webcam.captures[-1].props
        assert again[cv2.CAP_PROP_FOCUS] == 35 and again[cv2.CAP_PROP_AUTOFOCUS] == 0


def test_a_webcam_without_a_control_says_so_and_options_are_set(tmp_path: Path) -> None:
    with attached(Webcam(lacks=(cv2.CAP_PROP_FOCUS, cv2.CAP_PROP_AUTOFOCUS))), \
            open_source("usb:0?size=320x240&exposure=150") as source:
        while not source.info.controls:
            some(source, 1)
        assert source.info.controls["focus"] == "not offered" and source.info.controls["exposure"] == 150
