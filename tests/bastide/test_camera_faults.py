"""Every fault of a camera: the page reports it, nothing is read meanwhile, and watching resumes by itself."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import cv2
import numpy as np
import pytest

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.following import follow
from bastide.watching.watcher import make_watcher
from reading.watcher import Observation, Proposal
from scoring.events import TurnEnded
from scoring.log import LogEntry, effective
from scoring.transcript import write
from vision.frames import Frame, FrameSource, Image, SourceError, SourceInfo
from vision.picture import TEXT, PictureCheck

GAME = demo_game(3, turns=4)
SIZE = (240, 320)


def table(n: int, size: tuple[int, int] = SIZE) -> Image:
    """A wooden table with tiles on it, with the noise of picture ``n``."""
    rng = np.random.default_rng(n)
    picture = np.full((*size, 3), (60, 90, 120), np.float64)
    picture += np.linspace(-20, 20, size[1])[None, :, None]
    for k in range(6):
        x, y = 30 + 40 * k, 60 + 20 * (k % 3)
        picture[y:y + 36, x:x + 36] = (60 + 20 * k, 160, 90)
    return np.clip(picture + rng.normal(0, 2.5, picture.shape), 0, 255).astype(np.uint8)


def cut_jpeg(n: int) -> Image:
    """A JPEG that was cut off on its way, as OpenCV decodes it."""
    data = cv2.imencode(".jpg", table(n))[1].tobytes()
    picture = cv2.imdecode(np.frombuffer(data[:len(data) // 2] + b"\xff\xd9", np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.asarray(picture, np.uint8)


def half(n: int) -> Image:
    picture = table(n)
    picture[140:] = 0
    return picture


FAULTS: dict[str, tuple[Callable[[int], Image], str]] = {
    "black": (lambda n: np.random.default_rng(n).integers(0, 9, (*SIZE, 3)).astype(np.uint8), "camera_black"),
    "really black": (lambda n: np.zeros((*SIZE, 3), np.uint8) + np.uint8(n % 2), "camera_black"),
    "overexposed": (lambda n: np.clip(table(n).astype(int) * 5 + 60, 0, 255).astype(np.uint8), "camera_blinded"),
    "frozen": (lambda n: table(7), "camera_frozen"),
    "half a frame": (half, "camera_half"),
    "a JPEG cut off": (cut_jpeg, "camera_half"),
}


class Camera:
    """Pictures with their times; an exception among them is raised."""

    def __init__(self, script: list[tuple[float, Image | Exception]], *, live: bool = True) -> None:
        self.info = SourceInfo(uri="test:", model="test", width=320, height=240, live=live)
        self._script = list(script)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        if not self._script:
            return None
        t_s, item = self._script.pop(0)
        if isinstance(item, Exception):
            raise item
        return Frame(id=int(t_s * 1000), t_s=t_s, source="test:", bgr=item)


class Watcher:
    """Records its frames."""

    poses: dict[tuple[int, int], Any] = {}

    def __init__(self) -> None:
        self.shown: list[float] = []

    def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation:
        self.shown.append(frame.t_s)
        return Observation(status="watching")

    def finish(self, frame: Frame, entries: Sequence[LogEntry]) -> tuple[Proposal, ...]:
        return ()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TableSession]:
    with Store(tmp_path / "log.sqlite") as store:
        yield TableSession(store, GAME.setup)


def statuses(session: TableSession) -> list[dict[str, str]]:
    """Every status that is published from now on."""
    out: list[dict[str, str]] = []
    publish = session._publish

    def noting(*args: Any) -> None:
        publish(*args)
        out.append(session.view()["status"])

    session._publish = noting  # type: ignore[method-assign]
    return out


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_picture_is_said_not_read_and_over_when_it_is_over(fault: str, session: TableSession) -> None:
    make, code = FAULTS[fault]
    good = [(0.25 * n, table(n)) for n in range(8)]
    bad: list[tuple[float, Image | Exception]] = [(2.0 + 0.25 * n, make(n)) for n in range(20)]
    again = [(7.0 + 0.25 * n, table(100 + n)) for n in range(8)]
    watcher, said = Watcher(), statuses(session)
    follow(Camera([*good, *bad, *again]), watcher, session)  # type: ignore[arg-type]
    codes = [s.get("code", "") for s in said]
    assert codes == ["", code, ""], said
    assert said[1] == {"chip": "camera_lost", "text": TEXT[code], "code": code} and said[2]["chip"] == "watching"
    read = [t for t in watcher.shown if 2.0 <= t < 7.0]
    assert len(read) == 0 or (fault == "frozen" and max(read) < 2.0 + 4.25)
    assert watcher.shown[-8:] == [t for t, _ in again]


def test_one_bad_picture_is_dropped_without_a_word(session: TableSession) -> None:
    watcher, said = Watcher(), statuses(session)
    follow(Camera([(0.1 * n, half(n) if n == 5 else table(n)) for n in range(10)]), watcher,  # type: ignore[arg-type]
           session)
    assert len(said) == 1 and len(watcher.shown) == 9


def test_a_frozen_camera_is_opened_anew(session: TableSession) -> None:
    with pytest.raises(SourceError, match="same picture"):
        follow(Camera([(0.5 * n, table(1)) for n in range(60)]), Watcher(), session)  # type: ignore[arg-type]


def test_a_camera_that_came_back_with_another_size_goes_on_with_the_same_watcher(session: TableSession) -> None:
    """The watcher maps its state to the new pictures, so it need not be replaced."""
    made: list[Watcher] = []

    def renew(setup: object) -> Watcher:
        made.append(Watcher())
        return made[-1]

    script = [(0.25 * n, table(n, SIZE if n < 8 else (480, 640))) for n in range(60)]
    watcher = Watcher()
    follow(Camera(script), watcher, session, renew=renew)  # type: ignore[arg-type]
    assert not made and len(watcher.shown) == 60
    assert session.view()["status"] == {"chip": "watching", "text": ""}


def test_one_picture_in_ten_seconds_is_watched_and_said(session: TableSession) -> None:
    watcher, said = Watcher(), statuses(session)
    script = [(10.0 * n, table(n)) for n in range(6)] + [(50.2 + 0.2 * n, table(n)) for n in range(10)]
    follow(Camera(script), watcher, session)  # type: ignore[arg-type]
    assert [s.get("code", "") for s in said] == ["", "camera_slow", ""] and len(watcher.shown) == 16
    assert said[1]["chip"] == "watching" and said[1]["text"] == TEXT["camera_slow"]


def test_sixty_pictures_a_second_are_no_fault(session: TableSession) -> None:
    watcher, said = Watcher(), statuses(session)
    follow(Camera([(n / 60, table(n)) for n in range(120)]), watcher, session)  # type: ignore[arg-type]
    assert len(watcher.shown) == 120 and [s["chip"] for s in said] == ["watching"]


def test_a_recording_may_repeat_its_pictures(session: TableSession) -> None:
    watcher = Watcher()
    follow(Camera([(0.5 * n, table(1)) for n in range(60)], live=False), watcher, session)  # type: ignore[arg-type]
    assert len(watcher.shown) == 60


@pytest.mark.parametrize("scene", ["dark", "bright cloth", "plain table", "grey copy"])
def test_unusual_tables_are_no_fault(scene: str) -> None:
    def picture(n: int) -> Image:
        bright = table(n).astype(float)
        noise = np.random.default_rng(n).normal(0, 2, bright.shape)
        return {"dark": np.clip(bright * 0.16 + noise, 0, 255),
                "bright cloth": np.clip(bright * 0.2 + 195 + noise, 0, 248),
                "plain table": np.clip(128 + noise, 0, 255), "grey copy": bright}[scene].astype(np.uint8)

    check = PictureCheck(live=True)
    for n in range(12):
        luma = cv2.cvtColor(picture(n), cv2.COLOR_BGR2GRAY).astype(np.uint8) if scene == "grey copy" else None
        verdict = check.look(Frame(id=n, t_s=n / 4, source="t:", bgr=picture(n), luma=luma))
        assert verdict.use and not verdict.code


class Spoiling:
    """A camera whose JPEGs arrive with wrong bytes in them, half of the time."""

    def __init__(self, camera: FrameSource) -> None:
        self._camera, self._rng = camera, random.Random(4)
        self.spoiled = 0

    @property
    def info(self) -> SourceInfo:
        return self._camera.info

    def __enter__(self) -> Self:
        self._camera.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._camera.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        frame = self._camera.read(timeout_s)
        if frame is None or self._rng.random() < 0.5:
            return frame
        data = bytearray(cv2.imencode(".jpg", frame.bgr)[1].tobytes())
        for _ in range(self._rng.choice((1, 3, 12))):
            data[self._rng.randrange(700, len(data) - 2)] = self._rng.randrange(255)
        picture = cv2.imdecode(np.frombuffer(bytes(data), np.uint8), cv2.IMREAD_COLOR)
        if picture is None or picture.shape != frame.bgr.shape:
            return frame
        self.spoiled += 1
        return replace(frame, bgr=np.asarray(picture, np.uint8))


def test_jpegs_with_wrong_bytes_move_no_piece(tmp_path: Path) -> None:
    """Half of a short game's pictures are stripes and wrong colours from somewhere on; the log is that of the game."""
    game = demo_game(3, turns=2)
    (tmp_path / "game.json").write_text(json.dumps(write(game)), "utf-8")
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        watcher = make_watcher(load_tiles(None, game.setup.expansions), game.setup)
        with Spoiling(open_camera(f"sim:transcript={tmp_path / 'game.json'}&seed=1&size=1152x648")) as camera:
            follow(camera, watcher, session)
        assert camera.spoiled > 20
        assert [e for _, e in effective(session.entries)] == [e for e in game.events if not isinstance(e, TurnEnded)]
