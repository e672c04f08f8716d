"""The doctor of a table that is being served: the camera in use is asked through its loop, and seldom."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from processes import Served

from bastide.log.store import Store
from bastide.machine.health import Line
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.checkup import FRESH_S, CheckUp
from bastide.watching.table_loop import TableLoop
from bastide.watching.watcher import make_watcher
from scoring.transcript import write
from vision.frames import Frame, SourceError, SourceInfo


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TableSession]:
    with Store(tmp_path / "data" / "log.sqlite") as store:
        yield TableSession(store, demo_game(1, turns=2).setup)


class Camera:
    """Gives noise of one level, as long as it is wanted."""

    def __init__(self, level: int) -> None:
        self.info = SourceInfo(uri="usb:0", model="test", width=320, height=240, live=True)
        self._noise, self._level = np.random.default_rng(1), level
        self.closed = threading.Event()

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed.set()

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        picture = self._noise.integers(self._level - 30, self._level + 30, (240, 320, 3), np.uint8)
        return Frame(id=1, t_s=0.0, source="usb:0", bgr=picture)


def lines(check: CheckUp) -> dict[str, tuple[str, str]]:
    return {row["what"]: (row["state"], row["text"]) for row in check()["checks"]}


def watched(session: TableSession, camera: object) -> TableLoop:
    tiles = load_tiles(None, session.setup.expansions)
    return TableLoop(lambda: camera, make_watcher(tiles, session.setup), session)  # type: ignore[arg-type, return-value]


def test_the_camera_in_use_is_looked_through(session: TableSession, tmp_path: Path) -> None:
    loop = watched(session, Camera(235 - 12))
    loop.start()
    try:
        found = lines(CheckUp(tmp_path / "data", session, loop))
    finally:
        loop.stop()
    assert found["camera"] == ("ok", "usb, 320x240") and found["light"][0] == "warn" and found["focus"][0] == "ok"
    assert found["log"][0] == "ok"


def test_a_camera_that_is_gone_is_said_with_what_to_do(session: TableSession, tmp_path: Path) -> None:
    class Gone(Camera):
        def read(self, timeout_s: float = 5.0) -> Frame | None:
            raise SourceError("usb:0 gives no pictures any more; plug it in again")

    camera = Gone(100)
    loop = watched(session, camera)
    loop.start()
    assert camera.closed.wait(60)
    lost = session.subscribe()
    while session.view()["status"]["chip"] != "camera_lost":
        lost.get(60)
    try:
        found = CheckUp(tmp_path / "data", session, loop)()
    finally:
        loop.stop()
    row = next(r for r in found["checks"] if r["what"] == "camera")
    assert found["state"] == "fail" and row["state"] == "fail" and "plug it in" in row["text"] and row["do"]


def test_who_asks_again_and_again_gets_the_same_report(session: TableSession, tmp_path: Path) -> None:
    now, made = [0.0], []

    def more() -> list[Line]:
        made.append(1)
        return []

    check = CheckUp(tmp_path / "data", session, more=more, clock=lambda: now[0])
    first = check()
    assert [check() is first for _ in range(20)] == [True] * 20 and len(made) == 1
    now[0] = FRESH_S
    assert check() is not first and len(made) == 2


def test_concurrent_checks_do_not_wait_for_each_other(session: TableSession, tmp_path: Path) -> None:
    begun, end = threading.Event(), threading.Event()

    def more() -> list[Line]:
        begun.set()
        assert end.wait(120)
        return []

    check = CheckUp(tmp_path / "data", session, more=more)
    first = threading.Thread(target=check)
    first.start()
    assert begun.wait(60) and check()["checks"] == []
    end.set()
    first.join()
    assert check()["checks"]


def test_the_page_of_a_served_table_shows_the_doctors_lines(tmp_path: Path) -> None:
    game = tmp_path / "game.json"
    game.write_text(json.dumps(write(demo_game(2, turns=2))), "utf-8")
    with Served("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data", "--source",
                f"sim:transcript={game}&size=640x360") as served:
        report = served.get("api/doctor")
        with urllib.request.urlopen(served.url + "doctor", timeout=120) as answer:
            page = answer.read().decode()
        served.end()
    found = {row["what"] for row in report["checks"]}
    assert {"bastide", "Python", "OpenCV", "camera", "disk", "writing", "log", "memory", "clock"} <= found
    assert all(f"<h2>{what}</h2>" in page for what in found)
