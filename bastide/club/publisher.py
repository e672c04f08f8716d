"""Publishes a table to the broker: its state, its events and its availability. The table's loop never waits for any of
it.

Only the newest view is kept. While the broker has not acknowledged a state no other one is handed to it, so nothing
grows during an outage; on reconnect it gets everything again.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from bastide.club.broker import PACE, Broker, Link, Pace, acknowledged
from bastide.club.discovery import discovery
from bastide.club.documents import Command, State
from bastide.club.identity import Identity
from bastide.club.message import (
    NotAMessage,
    Sender,
    events,
    packed,
    published,
    slug,
    state,
    topic,
    unpacked,
)
from web.protocol import CommandError, RoundView, StaleView, Subscription, View

if TYPE_CHECKING:
    from paho.mqtt.client import MQTTMessageInfo

_log = logging.getLogger("bastide.club")
HERE, GONE = b"online", b"offline"


class Beat(NamedTuple):
    """Timing of publications, in seconds."""

    again_s: float = 10.0  # repetition of an unchanged state, as a sign of life
    look_s: float = 0.25  # interval of checking for a restored connection
    ack_s: float = 1.0  # wait for an acknowledgement before checking for other work
    end_s: float = 1.0  # time for the last message when leaving
    doubled_s: float = 30.0  # how long another table's message counts as a name conflict


BEAT = Beat()


class Table(Protocol):
    """The published session (`web.protocol.LiveSession`)."""

    def view(self) -> View:
        """The newest view."""
        ...

    def subscribe(self) -> Subscription:
        """A subscription to newer ones."""
        ...


class Publisher:
    """Publishes a session as the table ``name`` while the context is entered.

    ``carry_out(command)`` is called with received commands, a CommandError is logged; without it commands are not
    subscribed to. ``game_round()`` is the tournament's round that is played, or None.
    """

    def __init__(self, session: Table, to: Broker, name: str, identity: Identity, *,
                 carry_out: Callable[[Command], None] | None = None,
                 game_round: Callable[[], RoundView | None] = lambda: None,
                 page: str | None = None, home_assistant: bool = True, beat: Beat = BEAT, pace: Pace = PACE,
                 clock: Callable[[], float] = time.time) -> None:
        self._session, self._name, self._identity, self._beat, self._clock = session, name, identity, beat, clock
        self._carry_out, self._round, self._page, self._announces = carry_out, game_round, page, home_assistant
        self.slug = slug(name)
        self._anew, self._stop = threading.Event(), threading.Event()
        self._last: View | None = None
        self._whole: View | None = None  # the newest one, unfiltered
        self._said: dict[str, bytes] = {}  # messages retained for Home Assistant
        self._sent_s, self._sent_rev = float("-inf"), -1
        self._info: MQTTMessageInfo | None = None
        self._doubled_s = float("-inf")
        self._thread: threading.Thread | None = None
        self.link = Link(to, f"bastide-{identity.device}", connected=self._connected, heard=self._heard,
                         will=(topic(self.slug, "availability"), GONE), pace=pace)

    def __enter__(self) -> Self:
        self._views = self._session.subscribe()
        self.link.__enter__()
        self._thread = threading.Thread(target=self._run, name="mqtt-table", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop.set()
        self._views.close()
        if self._thread is not None:
            self._thread.join(self._beat.ack_s + self._beat.end_s)
        info = self.link.send(topic(self.slug, "availability"), GONE, retain=True)
        if info is not None:
            with suppress(ValueError, RuntimeError):
                info.wait_for_publish(self._beat.end_s)
        self.link.__exit__(kind, error, trace)

    @property
    def doubled(self) -> bool:
        """Whether another machine publishes under the same name."""
        return time.monotonic() - self._doubled_s < self._beat.doubled_s

    # -- in the publisher's thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        newest: View | None = None
        while not self._stop.is_set():
            view = self._views.get(self._beat.look_s)
            newest = view or newest
            try:
                if newest is not None and self._due(newest):
                    self._publish(newest)
            except Exception:  # one bad view must not end publishing
                _log.exception("the table's state could not be published")
                self._sent_s, self._sent_rev = time.monotonic(), newest["update"] if newest else -1

    def _due(self, view: View) -> bool:
        if not self.link.up or not acknowledged(self._info):
            return False
        late = time.monotonic() - self._sent_s >= self._beat.again_s
        return late or self._anew.is_set() or view["update"] != self._sent_rev

    def _publish(self, whole: View) -> None:
        if self._whole is not None and self._whole["game"] != whole["game"] and published(self._whole) != self._whole:
            left, self._whole = self._whole, None  # the reveal is over: this is the result
            self._publish_view(left, left.get("round"))
        self._publish_view(published(whole), self._round())
        self._whole = whole

    def _publish_view(self, view: View, game_round: RoundView | None) -> None:
        anew = self._anew.is_set()
        self._anew.clear()
        sender = Sender(self._name, self._identity.device, self._identity.epoch)
        document = state(view, sender, at_s=self._clock(), commands=self._carry_out is not None,
                         game_round=game_round)
        if anew:
            self._said.clear()
            self.link.send(topic(self.slug, "availability"), HERE, retain=True)
        self._info = self.link.send(topic(self.slug, "state"), packed(document), retain=True)
        if self._info is None:  # just disconnected: everything again after reconnecting
            self._anew.set()
            return
        if self._last is not None and not anew:  # events during the outage are dropped; the state covers them
            for happened in events(self._last, view, sender):
                self.link.send(topic(self.slug, "event"), packed(happened))
        if self._announces:
            self._announce(document, sender)
        self._last, self._sent_rev, self._sent_s = view, view["update"], time.monotonic()
        with suppress(ValueError, RuntimeError):
            self._info.wait_for_publish(self._beat.ack_s)

    def _announce(self, document: State, sender: Sender) -> None:
        for where, made in discovery(document, sender, page=self._page).items():
            payload = b"" if made is None else json.dumps(made, ensure_ascii=False).encode("utf-8", "replace")
            if self._said.get(where) != payload:
                self.link.send(where, payload, retain=True)
                self._said[where] = payload

    # -- in the connection's thread ---------------------------------------------------------------------------------

    def _connected(self) -> None:
        parts = ["state", "availability", *(["command"] if self._carry_out is not None else [])]
        self.link.listen(*(topic(self.slug, p) for p in parts))
        self._anew.set()

    def _heard(self, where: str, payload: bytes, retained: bool) -> None:
        part = where.rpartition("/")[2]
        if part == "availability":
            if payload != HERE:  # another table of our name has gone, or this is an error: announce ourselves again
                self._anew.set()
        elif part == "state":
            self._others(payload, retained)
        elif part == "command" and self._carry_out is not None and not retained:
            self._command(payload)

    def _others(self, payload: bytes, retained: bool) -> None:
        """A received state under our name: another machine's, or ours from an earlier start."""
        try:
            told = unpacked("state", payload)
        except NotAMessage as e:
            _log.warning("an invalid state was published under this table's name: %s", e)
            self._anew.set()
            return
        if told["device"] == self._identity.device:
            if self._identity.heard(told["device"], told["epoch"]):
                self._anew.set()
        elif not retained:
            if not self.doubled:
                _log.warning("another table is also called %r; give one of them another --table", self._name)
            self._doubled_s = time.monotonic()

    def _command(self, payload: bytes) -> None:
        assert self._carry_out is not None
        try:
            self._carry_out(unpacked("command", payload))
        except (NotAMessage, CommandError, StaleView) as e:
            _log.warning("a command from the broker was rejected: %s", e)
