"""Assembles the hub: it listens to the broker, stores results and runs the tournament."""

from __future__ import annotations

import logging
import secrets
import threading
from types import TracebackType
from typing import Self

from bastide.club.broker import PACE, Broker, Link, Pace
from bastide.club.documents import Command, State
from bastide.club.hall import Hall
from bastide.club.message import packed, topic
from bastide.club.organiser import Organiser
from bastide.club.results import Results

_log = logging.getLogger("bastide.club")
_LOOK_S = 1.0


class Hub:
    """Listens while the context is entered. ``hall`` is the screens' state, ``organiser`` the tournament."""

    def __init__(self, to: Broker, results: Results, *, pace: Pace = PACE) -> None:
        self.hall = Hall(changed=self._changed)
        self.results = results
        self.organiser = Organiser(results, self._send)
        self._link = Link(to, f"bastide-hub-{secrets.token_hex(4)}", connected=self._connected, heard=self.hall.heard,
                          pace=pace)
        self._stop = threading.Event()
        self._played = self._rounds = 0

    def __enter__(self) -> Self:
        self.hall.tell(broker=False, played=0, rounds=0)
        self.hall.tick()
        self.hall.__enter__()
        self._link.__enter__()
        self._thread = threading.Thread(target=self._look, name="hub", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop.set()
        self._link.__exit__(kind, error, trace)
        self.hall.__exit__(kind, error, trace)
        self._thread.join(2.0)

    def _connected(self) -> None:
        self._link.listen(topic("+", "state"), topic("+", "availability"))
        self.hall.tell(broker=True)

    def _look(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self.hall.tell(broker=self._link.up)

    def _changed(self, before: State | None, state: State) -> None:
        try:
            if self.results.heard(state):
                self._played += 1
            if self.organiser.heard(state):
                self._rounds += 1
            self.hall.tell(played=self._played, rounds=self._rounds)
        except Exception:  # e.g. a full disk: no results are stored, but the screens go on
            _log.exception("what a table said could not be kept")

    def _send(self, table: str, command: Command) -> None:
        self._link.send(topic(table, "command"), packed(command))
