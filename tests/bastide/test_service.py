"""serve under a service manager: notifications and watchdog of systemd, and the light and the button."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Served

from bastide.errors import Failure
from bastide.log.store import Store
from bastide.machine.service import HANGS_S, Notifier, healthy, panel, wait
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.table_loop import TableLoop
from bastide.watching.watcher import make_watcher
from hardware.panel import Panel
from vision.frames import DeadSource, SourceInfo


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket that systemd would listen on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(60)
        yield listening


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TableSession]:
    with Store(tmp_path / "log.sqlite") as store:
        yield TableSession(store, demo_game(3, turns=2).setup)


class Loop:
    def __init__(self, age_s: float = 0.0, dead: str | None = None) -> None:
        self.beat_s, self.dead, self.ended = time.monotonic() - age_s, dead, threading.Event()


def environment(systemd: socket.socket, watchdog_s: float = 0.03) -> dict[str, str]:
    return {"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": str(int(watchdog_s * 1e6))}


def test_a_served_table_says_that_it_is_ready_alive_and_stopping(systemd: socket.socket, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(systemd, 0.3).items():
        monkeypatch.setenv(name, value)
    with Served("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data", fresh=True) as served:
        ready = systemd.recv(1000).decode()
        assert ready.startswith("READY=1\nSTATUS=the page is at http://")
        assert [systemd.recv(1000) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        assert served.get()["version"] == 0
        assert served.end() == 0
    systemd.settimeout(0.5)
    last = b""
    while last != b"STOPPING=1":
        last = systemd.recv(1000)
        assert last in (b"WATCHDOG=1", b"STOPPING=1")


def test_a_loop_that_hangs_is_not_called_alive(systemd: socket.socket) -> None:
    assert healthy(None) and healthy(Loop()) and not healthy(Loop(age_s=HANGS_S + 1))
    over = Loop(age_s=HANGS_S + 1)
    over.ended.set()
    assert healthy(over)  # a recording that has been watched to its end
    stop, loop = threading.Event(), Loop(age_s=HANGS_S + 1)
    waiting = threading.Thread(target=wait, args=(stop, loop, Notifier(environment(systemd)), "http://x/"))
    waiting.start()
    assert systemd.recv(100).startswith(b"READY=1")
    systemd.settimeout(0.2)
    with pytest.raises(TimeoutError):
        systemd.recv(100)
    systemd.settimeout(60)
    loop.beat_s = time.monotonic()  # it took a frame after all
    assert systemd.recv(100) == b"WATCHDOG=1"
    stop.set()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_camera_that_needs_a_new_process_gets_one(systemd: socket.socket) -> None:
    with pytest.raises(Failure, match="does not answer"):
        wait(threading.Event(), Loop(dead="it does not answer"), Notifier(environment(systemd)), "http://x/")
    assert systemd.recv(100).startswith(b"READY=1") and systemd.recv(100) == b"STOPPING=1"


def test_without_a_service_manager_nothing_is_said_and_nothing_ends() -> None:
    silent, stop = Notifier({}), threading.Event()
    silent.send("READY=1")
    assert not silent.active and silent.watchdog_s is None
    ends = threading.Thread(target=wait, args=(stop, Loop(dead="it does not answer"), silent, "http://x/"))
    ends.start()
    stop.set()
    ends.join(10)
    assert not ends.is_alive()
    assert Notifier({"WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"}).watchdog_s is None
    assert Notifier({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}).watchdog_s == 3
    Notifier({"NOTIFY_SOCKET": "/nowhere/at/all"}).send("READY=1")  # a warning in the log, no more


def test_an_abstract_socket_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0bastide-test-" + str(os.getpid()))
        listening.settimeout(10)
        Notifier({"NOTIFY_SOCKET": "@bastide-test-" + str(os.getpid())}).send("READY=1")
        assert listening.recv(100) == b"READY=1"


def test_the_table_s_loop_beats_and_says_when_its_camera_is_dead(session: TableSession) -> None:
    class Dying:
        info = SourceInfo(uri="picamera:0", model="", width=0, height=0, live=True)

        def __enter__(self) -> None:
            raise DeadSource("no camera memory left; start bastide again")

        def __exit__(self, *exc: object) -> None: ...

    watcher = make_watcher(load_tiles(None, session.setup.expansions), session.setup)
    loop = TableLoop(Dying, watcher, session)  # type: ignore[arg-type]
    loop.beat_s = 0.0
    loop.start()
    assert loop.ended.wait(30) and loop.dead == "no camera memory left; start bastide again" and loop.beat_s > 0
    assert session.view()["status"]["chip"] == "camera_lost"


def test_the_light_follows_the_status_and_the_button_ends_the_turn(session: TableSession,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardware.panel.BOUNCE_S", None)
    from gpiozero import Device
    from gpiozero.pins.mock import MockFactory

    events = demo_game(3, turns=2).turns[0].events
    session.commit(tuple(events[:1]), confidence=1.0, asked=False)
    before, measured = session.view()["version"], threading.Event()
    looks: queue.Queue[str] = queue.Queue()
    show = Panel.show

    def shown(self: Panel, status: str) -> None:
        show(self, status)
        looks.put(status)

    monkeypatch.setattr(Panel, "show", shown)
    with MockFactory() as pins:
        Device.pin_factory = pins
        light, button = pins.pin(17), pins.pin(27)
        with panel(session, 17, 27, measured.set):
            session.set_status("watching")
            while looks.get(timeout=30) != "watching":
                assert not light.state
            assert light.state
            views = session.subscribe()
            button.drive_low()
            button.drive_high()
            view = views.get(30)
            while view is not None and view["version"] == before:
                view = views.get(30)
            assert view is not None and view["version"] == before + 1
            assert session.view()["history"][-1]["seq"] and not measured.is_set()
            session.set_status("manual")
            while looks.get(timeout=30) != "manual":
                pass
            assert not light.state
        Device.pin_factory = None


def test_pins_that_are_not_there_are_one_sentence(session: TableSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gpiozero", None)
    with pytest.raises(Failure, match="apt install"), panel(session, 17, None, None):
        pass
    with panel(session, None, None, None):
        pass
