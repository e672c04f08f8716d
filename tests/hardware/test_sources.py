"""Every source keeps the same promises; every failure is one sentence."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from mjpeg import MjpegCamera

from hardware.live import LiveSource
from hardware.sources import USAGE, UnknownSource, open_source
from vision.frames import Frame, SourceError

GAME = {
    "format": "transcript/1",
    "setup": {"expansions": ["base"], "rules": {}, "players": [{"name": "Anna", "colour": "red"}]},
    "start": {"tile": "base.D", "at": [0, 0], "rot": 0},
    "turns": [{"player": 0, "part": 1, "moves": [{"do": "tile", "tile": "base.U", "at": [1, 0], "rot": 0}]}],
}


def picture(n: int, size: tuple[int, int] = (160, 120)) -> np.ndarray:
    image = np.full((size[1], size[0], 3), 20 + 10 * n, np.uint8)
    cv2.circle(image, (20 + 5 * n, 60), 12, (0, 0, 250), -1)
    return image


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "shots"
    where.mkdir()
    for n in (1, 2, 10, 9):
        cv2.imwrite(str(where / f"shot{n}.png"), picture(n))
    (where / "truth.json").write_text("not to be read", "utf-8")
    (where / "note.txt").write_text("nor this", "utf-8")
    return where


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 5, (160, 120))
    for n in range(7):
        writer.write(picture(n))
    writer.release()
    return path


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "a game.json"
    path.write_text(json.dumps(GAME), "utf-8")
    return path


@pytest.fixture
def camera() -> Iterator[MjpegCamera]:
    with MjpegCamera() as served:
        yield served


@pytest.fixture(params=["sim", "video", "folder", "http"])
def uri(request: pytest.FixtureRequest) -> str:
    if request.param == "sim":
        path = str(request.getfixturevalue("game")).replace(" ", "%20")
        return f"sim:transcript={path}&seed=2&size=480x270&fps=2&tail_s=1&level=easy"
    if request.param == "http":
        return request.getfixturevalue("camera").url
    return f"{request.param}:{request.getfixturevalue(request.param)}"


def frames(source: object, at_most: int = 1000) -> list[Frame]:
    taken = []
    while len(taken) < at_most and (frame := source.read()) is not None:
        taken.append(frame)
    return taken


def test_frames_are_pictures_with_growing_ids_and_times(uri: str) -> None:
    source = open_source(uri)
    with source:
        assert source.info.uri == uri and source.info.model
        taken = frames(source, 5 if source.info.live else 1000)
    assert len(taken) >= 4
    for before, after in zip(taken, taken[1:], strict=False):
        assert after.id > before.id and after.t_s > before.t_s
    for frame in taken:
        assert frame.bgr.shape == (source.info.height, source.info.width, 3) and frame.bgr.dtype == np.uint8
        assert frame.source == uri
    if not source.info.live:
        assert [f.id for f in taken] == list(range(len(taken)))


def test_a_source_can_be_opened_again(uri: str) -> None:
    source = open_source(uri)
    for _ in range(2):
        with source:
            first = source.read()
            assert first is not None and first.id in range(0, 50)
    with pytest.raises(SourceError, match="not open"):
        source.read()


def test_recorded_sources_end_and_stay_ended(video: Path, folder: Path, game: Path) -> None:
    for uri in (f"video:{video}", f"folder:{folder}", f"sim:transcript={game}&seed=2&size=480x270&fps=2&tail_s=1"):
        with open_source(uri) as source:
            assert len(frames(source)) >= 4
            assert source.read() is None and source.read() is None


def test_a_folder_is_in_the_order_of_its_numbers_and_nothing_else_is_read(folder: Path) -> None:
    with open_source(f"folder:{folder}?fps=2") as source:
        taken = frames(source)
    assert [round((int(f.bgr[0, 0, 0]) - 20) / 10) for f in taken] == [1, 2, 9, 10]
    assert [f.t_s for f in taken] == [0, 0.5, 1, 1.5]


def test_a_video_keeps_its_own_clock(video: Path) -> None:
    with open_source(f"video:{video}") as source:
        assert source.info.fps == pytest.approx(5)
        assert [f.t_s for f in frames(source)] == pytest.approx([n / 5 for n in range(7)])


def test_the_simulator_s_frames_are_the_same_every_time(game: Path) -> None:
    uri = f"sim:transcript={game}&seed=9&size=480x270&fps=2&tail_s=1"
    with open_source(uri) as a, open_source(uri) as b:
        assert all(np.array_equal(x.bgr, y.bgr) for x, y in zip(frames(a), frames(b), strict=True))


def test_a_source_gives_nothing_away_but_frames(game: Path) -> None:
    with open_source(f"sim:transcript={game}&seed=9&size=480x270") as source:
        assert {n for n in dir(source) if not n.startswith("_")} == {"info", "read"}


def test_a_camera_that_goes_away_and_comes_back(camera: MjpegCamera) -> None:
    with open_source(camera.url) as source:
        assert source.read() is not None
        camera.stop()
        with pytest.raises(SourceError, match="no picture came"):
            while True:  # what was already on its way may still arrive
                source.read(timeout_s=0.3)
        camera.start()
        again = source.read(timeout_s=30)
        assert again is not None and again.bgr.shape == (240, 320, 3)
    assert not [t for t in threading.enumerate() if t.name.startswith("camera ")]


class Scripted(LiveSource):
    """A camera whose pictures the test hands in."""

    def __init__(self) -> None:
        super().__init__("scripted:0", "scripted")
        self.say: Callable[[np.ndarray], None] = self._publish
        self.end = threading.Event()

    def _run(self) -> None:
        self._publish(picture(0))
        self.end.wait(30)
        if not self._stop.is_set():
            raise SourceError("the cable was pulled")

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self.end.set()
        super().__exit__(*exc)


def test_a_slow_reader_gets_the_newest_picture_and_nothing_piles_up() -> None:
    with Scripted() as source:
        for n in range(1, 9):
            source.say(picture(n))
        newest = source.read()
        assert newest is not None and newest.id == 8 and int(newest.bgr[0, 0, 0]) == 100
        with pytest.raises(SourceError, match="no picture came"):
            source.read(timeout_s=0.01)


def test_a_live_source_that_fails_says_why() -> None:
    with Scripted() as source:
        assert source.read() is not None
        source.end.set()
        with pytest.raises(SourceError, match="cable"):
            source.read(timeout_s=10)


def test_closing_wakes_a_waiting_reader() -> None:
    source, result = Scripted(), []
    with source:
        source.read()
        reader = threading.Thread(target=lambda: result.append(source.read(timeout_s=30)))
        reader.start()
    reader.join(10)
    assert not reader.is_alive()


@pytest.mark.parametrize(("uri", "says"), [
    ("video:{tmp}/none.mp4", "there is no video"),
    ("video:{tmp}", "folder"),
    ("video:{tmp}/text.mp4", "not a video"),
    ("folder:{tmp}/none", "does not exist"),
    ("folder:{tmp}/text.mp4", "not a folder"),
    ("folder:{tmp}", "no pictures"),
    ("folder:{tmp}?speed=3", "speed"),
    ("folder:{tmp}?fps=0", "fps"),
    ("sim:transcript={tmp}/none.json", "none.json"),
    ("sim:transcript={tmp}/text.mp4", "not a transcript"),
    ("sim:seed=3", "needs a game"),
    ("sim:transcript={tmp}/x.json&seed=x", "seed"),
    ("sim:transcript={tmp}/x.json&level=mild", "easy, normal, hard"),
    ("sim:transcript={tmp}/x.json&weather=rain", "weather"),
    ("sim:transcript", "key=value"),
    ("usb:97", "USB camera 97"),
    ("usb:front", "number"),
    ("picamera:", "picamera:N"),
    ("http://127.0.0.1:1/video", "gives no picture"),
])
def test_what_cannot_be_opened_is_one_sentence(tmp_path: Path, uri: str, says: str) -> None:
    (tmp_path / "text.mp4").write_text("only words", "utf-8")
    with pytest.raises(SourceError, match=says) as caught, open_source(uri.format(tmp=tmp_path)) as source:
        source.read()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_camera_s_password_is_never_shown(camera: MjpegCamera) -> None:
    with open_source(camera.url.replace("//", "//anna:secret@")) as source:
        frame = source.read()
        assert frame is not None and "secret" not in source.info.uri + frame.source
    with pytest.raises(SourceError) as caught, open_source("http://anna:secret@127.0.0.1:1/video"):
        pass
    assert "secret" not in str(caught.value) and "127.0.0.1:1/video" in str(caught.value)


def test_the_simulator_waits_for_its_clock_only_when_asked(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, timeout=None: waits.append(timeout) or True)
    uri = f"sim:transcript={game}&seed=9&size=480x270&fps=0.01"
    with open_source(uri) as source:
        frames(source, 3)
        assert waits == []
    with open_source(uri + "&pace=2") as source:
        frames(source, 3)
    assert waits[0] == 0 and 0 < waits[1] <= 50 < waits[2] <= 100


def test_a_picture_that_is_none_is_named(folder: Path) -> None:
    (folder / "shot3.png").write_bytes(b"only words")
    with open_source(f"folder:{folder}") as source, pytest.raises(SourceError, match="shot3.png"):
        frames(source)


@pytest.mark.parametrize("uri", ["webcam:0", "nothing", "", "C:/film.mp4"])
def test_an_unknown_source_lists_what_there_is(uri: str) -> None:
    with pytest.raises(UnknownSource) as caught:
        open_source(uri)
    assert all(usage in str(caught.value) for usage in USAGE)


def test_picamera_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(SourceError, match="apt install"), open_source("picamera:0"):
        pass


class FakePi:
    """As much of picamera2 as the driver uses."""

    camera_controls = {"AfMode": (0, 2, 0), "AeEnable": (0, 1, 1), "ExposureTime": (1, 9, 5), "ColourGains": (0, 32, 1),
                       "AeFlickerMode": (0, 1, 0), "AeFlickerPeriod": (0, 9, 0)}
    sensor_modes = [{"size": (1536, 864)}, {"size": (2304, 1296)}]

    def __init__(self, number: int) -> None:
        self.set: dict[str, object] = {}
        self.closed = self.focused = False
        self.held = 0
        FakePi.last = self

    def create_video_configuration(self, **chosen: object) -> dict[str, object]:
        self.chosen = chosen
        return chosen

    def configure(self, configuration: object) -> None: ...
    def start(self) -> None: ...

    def autofocus_cycle(self) -> bool:
        self.focused = True
        return True

    def set_controls(self, controls: dict[str, object]) -> None:
        self.set |= controls

    def capture_metadata(self) -> dict[str, object]:
        return {"ExposureTime": 8000, "AnalogueGain": 2.0, "ColourGains": (1.5, 2.1), "LensPosition": 1.3}

    def capture_request(self) -> FakePi:
        self.held += 1
        return self

    def make_array(self, name: str) -> np.ndarray:
        return np.full((864, 1536, 3), 7, np.uint8)

    def release(self) -> None:
        self.held -= 1

    def close(self) -> None:
        self.closed = True


def test_the_pi_camera_settles_holds_and_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("picamera2")
    module.Picamera2 = FakePi  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    with open_source("picamera:0") as source:
        frame = source.read()
        assert frame is not None and frame.bgr.shape == (864, 1536, 3)
        assert (source.info.width, source.info.height, source.info.live) == (1536, 864, True)
    pi = FakePi.last
    assert pi.closed and pi.focused and pi.held == 0
    assert pi.chosen["sensor"] == {"output_size": (2304, 1296), "bit_depth": 10}
    assert pi.set == {"AeFlickerMode": 1, "AeFlickerPeriod": 10000, "AeEnable": False, "ExposureTime": 8000,
                      "AnalogueGain": 2.0, "ColourGains": (1.5, 2.1), "AfMode": 0, "LensPosition": 1.3}


def test_a_busy_pi_camera_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def __init__(self, number: int) -> None:
            raise RuntimeError("Camera __init__ sequence did not complete.")

    module = type(sys)("picamera2")
    module.Picamera2 = Busy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    with pytest.raises(SourceError, match="another program"), open_source("picamera:0"):
        pass
