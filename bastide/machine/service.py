"""``serve`` as a service: notifies systemd (readiness, watchdog), drives the status light and reads the button.

The watchdog is fed only while the table's loop makes progress: a loop stuck in a driver, or a camera that needs a new
process, ends in a restart. The log is on disk before anything is shown, so a restart loses nothing.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol

from bastide.errors import Failure
from bastide.machine.repeating import repeating
from hardware.panel import Panel, PanelError
from web.protocol import CommandError, LiveSession, StaleView

HANGS_S = 45.0  # a loop that has neither taken a frame nor tried a camera for so long is stuck
_LOOK_S = 1.0
_log = logging.getLogger("bastide.service")


class Loop(Protocol):
    """What is watched over. ``beat_s`` is on the clock of time.monotonic; ``dead`` says why only a restart helps."""

    beat_s: float
    dead: str | None
    ended: threading.Event


class Notifier:
    """The datagrams of sd_notify(3). Without a socket to send them to it is silent."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        text = environment.get("WATCHDOG_USEC", "")
        self.watchdog_s = int(text) / 1e6 if mine and text.isdecimal() else None

    @property
    def active(self) -> bool:
        """Whether a service manager listens."""
        return bool(self._address)

    def send(self, *lines: str) -> None:
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:
                s.connect(address)
                s.sendall("\n".join(lines).encode())
        except OSError as error:
            _log.warning("systemd could not be told: %s", error)


def healthy(loop: Loop | None) -> bool:
    """Whether the table is being watched, or need not be."""
    return loop is None or loop.ended.is_set() or time.monotonic() - loop.beat_s < HANGS_S


def wait(stop: threading.Event, loop: Loop | None, notifier: Notifier, url: str,
         again: Callable[[], bool] = lambda: False) -> None:
    """Until somebody asks the program to end. Raises Failure when only a new process can watch the table again and
    there is somebody to start it. ``again`` is whether it ends only to begin anew: the service manager need not know.
    """
    notifier.send("READY=1", f"STATUS=the page is at {url}")
    every = min(_LOOK_S, (notifier.watchdog_s or 3 * _LOOK_S) / 3)
    try:
        while not stop.wait(every if notifier.active else None):
            if loop is not None and loop.dead:
                raise Failure(loop.dead)
            if healthy(loop):
                notifier.send("WATCHDOG=1")
    finally:
        if not again():
            notifier.send("STOPPING=1")


def kept_alive(notifier: Notifier) -> AbstractContextManager[None]:
    """While nobody watches the table because something that takes long is being done."""
    return repeating(partial(notifier.send, "WATCHDOG=1"), _LOOK_S, "alive")


@contextmanager
def panel(session: LiveSession, light: int | None, button: int | None,
          measure: Callable[[], None] | None) -> Iterator[None]:
    """A light that follows the session's status and a button that ends the turn, or presses a tournament's chess clock;
    held for three seconds it has the camera measure focus and light again. Nothing at all without pins."""
    if light is None and button is None:
        yield
        return

    def press() -> None:
        clock = session.view().get("round", {}).get("clock")
        try:
            if clock is not None:
                session.command({"do": "clock", "act": "press"})
            else:
                session.command({"do": "end_turn", "who": "button"})
        except (CommandError, StaleView) as error:
            _log.info("the button: %s", error)

    try:
        with Panel(light, button, on_press=press, on_hold=measure or (lambda: None)) as lamp:
            views = session.subscribe()

            def follow() -> None:
                while not views.closed:
                    view = views.get(60.0)
                    if view is not None:
                        lamp.show(view["status"]["chip"])

            lamp.show(session.view()["status"]["chip"])
            thread = threading.Thread(target=follow, name="light", daemon=True)
            thread.start()
            try:
                yield
            finally:
                views.close()
                thread.join(5.0)
    except PanelError as error:
        raise Failure(str(error)) from error


def from_environment() -> Notifier:
    """The notifier of this process. The addresses are taken out, so that nothing it starts speaks for it."""
    made = Notifier(dict(os.environ))
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
        os.environ.pop(name, None)
    return made
