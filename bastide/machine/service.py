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

HANGS_S = 45.0  # a loop without a frame or an attempt to open the camera for so long is stuck
_LOOK_S = 1.0
_log = logging.getLogger("bastide.service")


class Loop(Protocol):
    """The loop under supervision. ``beat_s`` is on the clock of time.monotonic; ``dead`` says why only a restart
    helps."""

    beat_s: float
    dead: str | None
    ended: threading.Event


class Notifier:
    """Sends the datagrams of sd_notify(3). Does nothing without a socket to send them to."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        text = environment.get("WATCHDOG_USEC", "")
        self.watchdog_s = int(text) / 1e6 if mine and text.isdecimal() else None

    @property
    def active(self) -> bool:
        """Whether there is a service manager."""
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
            _log.warning("cannot notify systemd: %s", error)


def healthy(loop: Loop | None) -> bool:
    """Whether the table's loop makes progress, or is not needed."""
    return loop is None or loop.ended.is_set() or time.monotonic() - loop.beat_s < HANGS_S


def wait(stop: threading.Event, loop: Loop | None, notifier: Notifier, url: str,
         again: Callable[[], bool] = lambda: False) -> None:
    """Wait until the program is asked to stop. Raises Failure when only a new process can watch the table again and a
    service manager would start it. ``again`` tells whether it stops only to restart: the service manager is not
    notified then.
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
    """Keep feeding the watchdog during a long operation in which the table is not watched."""
    return repeating(partial(notifier.send, "WATCHDOG=1"), _LOOK_S, "alive")


@contextmanager
def panel(session: LiveSession, light: int | None, button: int | None,
          measure: Callable[[], None] | None) -> Iterator[None]:
    """A light that shows the session's status and a button that ends the turn, or presses a tournament's chess clock;
    held for three seconds it makes the camera measure focus and exposure again. Does nothing without pins."""
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
            _log.info("the button press was rejected: %s", error)

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
    """The notifier of this process. The variables are removed from the environment, so that child processes do not
    notify in its place."""
    made = Notifier(dict(os.environ))
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
        os.environ.pop(name, None)
    return made
