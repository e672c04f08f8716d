"""Behaviour of single kinds of sources; every failure is one sentence. Their common contract is in test_contract.py."""

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

from calibration.presets import PRESETS, preset_of
from hardware.live import LiveSource
from hardware.pi import camera_memory, layers
from hardware.pi_controls import cropped_to, full_view_mode, held_controls, lores_size, model_name, obeyed
from hardware.sources import USAGE, UnknownSource, open_source
from vision.frames import DeadSource, Frame, SourceError

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


def frames(source: object, at_most: int = 1000) -> list[Frame]:
    taken = []
    while len(taken) < at_most and (frame := source.read()) is not None:
        taken.append(frame)
    return taken


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
    ("picamera:0?mains=55", "50 or 60"),
    ("picamera:0?size=2304", "1920x1080"),
    ("picamera:0?zoom=2", "zoom"),
    ("usb:0?focus=near", "focus"),
    ("usb:0?size=31x31", "even numbers"),
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


def test_a_busy_pi_camera_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def __init__(self, number: int) -> None:
            raise RuntimeError("Camera __init__ sequence did not complete.")

    module = type(sys)("picamera2")
    module.Picamera2 = Busy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    with pytest.raises(SourceError, match="another program"), open_source("picamera:0"):
        pass


def test_a_camera_that_never_answers_again_needs_a_new_start() -> None:
    class Hung(Scripted):
        def __exit__(self, *exc: object) -> None:
            LiveSource.__exit__(self, *exc)

    source = Hung()
    source.close_timeout_s = 0.05
    with source:
        assert source.read() is not None
    with pytest.raises(DeadSource, match="restart bastide"), source:
        pass
    source.end.set()
    assert source._stuck is not None
    source._stuck.join(10)
    with source:  # it has answered after all
        assert source.read() is not None
        source.end.set()


def test_a_pi_without_camera_memory_needs_a_new_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Full:
        def __init__(self, number: int) -> None:
            raise RuntimeError("Camera __init__ sequence did not complete.") from OSError(12, "Cannot allocate memory")

    module = type(sys)("picamera2")
    module.Picamera2 = Full  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    with pytest.raises(DeadSource, match="camera memory"), open_source("picamera:0"):
        pass
    (tmp_path / "meminfo").write_text("CmaTotal:  524288 kB\nCmaFree:  3072 kB\n", "utf-8")
    assert camera_memory(tmp_path / "meminfo") == "3 of 512 MB free"
    assert "does not say" in camera_memory(tmp_path / "none")


def test_the_pi_s_layers_are_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    said = dict(layers())
    assert said["numpy"] == "" and said["simplejpeg"].startswith("ModuleNotFoundError")


MODES_219 = [{"size": (640, 480), "bit_depth": 10, "crop_limits": (1000, 752, 1280, 960)},
             {"size": (1640, 1232), "bit_depth": 10, "crop_limits": (0, 0, 3280, 2464)},
             {"size": (1920, 1080), "bit_depth": 10, "crop_limits": (680, 692, 1920, 1080)},
             {"size": (3280, 2464), "bit_depth": 10, "crop_limits": (0, 0, 3280, 2464)},
             {"size": (1640, 1232), "bit_depth": 8, "crop_limits": (0, 0, 3280, 2464)}]
MODES_477 = [{"size": (1332, 990), "bit_depth": 10, "crop_limits": (696, 528, 2664, 1980)},
             {"size": (2028, 1080), "bit_depth": 12, "crop_limits": (0, 440, 4056, 2160)},
             {"size": (2028, 1520), "bit_depth": 12, "crop_limits": (0, 0, 4056, 3040)},
             {"size": (4056, 3040), "bit_depth": 12, "crop_limits": (0, 0, 4056, 3040)}]


@pytest.mark.parametrize(("modes", "size"), [(MODES_219, (1640, 1232)), (MODES_477, (2028, 1520)),
                                             (MODES_477[:1], (1332, 990))])
def test_a_sensor_s_mode_shows_all_of_it(modes: list[dict[str, object]], size: tuple[int, int]) -> None:
    mode = full_view_mode(modes)
    assert mode is not None and mode["size"] == size and mode["bit_depth"] >= 10
    width, height = lores_size(size)
    assert width == 768 and height % 2 == 0 and abs(width / height - size[0] / size[1]) < 0.01
    assert full_view_mode([{"format": "NV12"}]) is None


@pytest.mark.parametrize("sensor", [p.sensor for p in PRESETS if p.sensor])
def test_what_a_pi_camera_calls_itself_is_known_to_calibration(sensor: str) -> None:
    found = preset_of(model_name(sensor))
    assert found is not None and found.sensor == sensor


def test_a_cropped_picture_is_measured_and_a_wrong_exposure_noticed() -> None:
    assert cropped_to({"ScalerCrop": (768, 432, 3072, 1728)}, {"crop_limits": (0, 0, 4608, 2592)}) == 3072 / 4608
    held = {"ExposureTime": 20000, "AnalogueGain": 2.0, "ColourGains": (1.5, 2.0), "LensPosition": 1.2}
    assert obeyed(held, {"ExposureTime": 19992, "AnalogueGain": 2.01, "ColourGains": (1.5, 2.0), "LensPosition": 1.2})
    for wrong in ({"ExposureTime": 15000}, {"AnalogueGain": 2.5}, {"ColourGains": (1.5, 2.2)}, {"LensPosition": 2.0}):
        assert not obeyed(held, {**held, **wrong})
    bright = held_controls({"ExposureTime": 4000, "AnalogueGain": 1.0}, {"ExposureTime": 0}, {}, 10000, focused=False)
    assert bright == {"ExposureTime": 4000, "AnalogueGain": 1.0}
