"""The merged state of all tables, as every screen of the room sees it.

A table's state is accepted as a whole, and never an older one after a newer: states are ordered by the device's start
count and revision. No table's clock is used; ages are measured by the hub's own.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Self

from bastide.club.documents import State
from bastide.club.message import NotAMessage, semantic_errors, slug, unpacked
from web.stream import compact

_log = logging.getLogger("bastide.club")


class Limits(NamedTuple):
    """Chosen with ``benchmarks/club.py``."""

    most_tables: int = 400
    tick_s: float = 0.1  # changes within this time are sent together
    stale_s: float = 1.0  # greatest error of ages in the complete state
    kept: int = 64  # ticks that a screen may lag before it gets the complete state
    gone_s: float = 35.0  # a machine silent for so long while another one has its name was replaced
    warnings: int = 20  # per topic, about invalid messages


LIMITS = Limits()


@dataclass(slots=True)
class Seen:
    """One table: its newest state, when it was received (None: only a retained one), and its availability."""

    key: str
    slug: str
    state: State
    heard_s: float | None
    here: bool
    shown: State | None = None  # the state that the screens have
    shown_here: bool | None = None
    since_s: float = 0.0  # when its game was first received
    refreshed: bool = field(default=False)

    @property
    def order(self) -> tuple[int, int]:
        return self.state["epoch"], self.state["rev"]


class Tick(NamedTuple):
    number: int
    text: str


class Hall:
    """The tables. ``heard`` takes messages from the broker; `whole` and `after` are for screens. Thread-safe.

    ``changed(before, state, now_s)`` is called for every accepted state, with that device's previous one.
    """

    def __init__(self, *, limits: Limits = LIMITS, clock: Callable[[], float] = time.monotonic,
                 changed: Callable[[State | None, State], None] = lambda before, now: None) -> None:
        self._limits, self._clock, self._changed = limits, clock, changed
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._tables: dict[tuple[str, str], Seen] = {}  # by slug and device
        self._here: dict[str, bool] = {}  # availability received before any state
        self._dirty: set[str] = set()
        self._gone: list[str] = []
        self._ticks: deque[Tick] = deque(maxlen=limits.kept)
        self._number = secrets.randbelow(10**11)  # random: no screen resumes from an earlier run of the hub
        self._extra: dict[str, bool | int] = {"broker": False}
        self._extra_shown: dict[str, bool | int] = {}
        self._whole: tuple[int, float, str] | None = None
        self._warned: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="hall", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop.set()
        with self._news:
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join(2.0)

    # -- input ------------------------------------------------------------------------------------------------------

    def heard(self, where: str, payload: bytes, retained: bool) -> None:
        """A message of the broker. An invalid one is ignored and logged."""
        parts = where.split("/")
        if len(parts) != 3:
            return
        _, name, part = parts
        if part == "availability":
            self._available(name, payload)
            return
        if part != "state" or not payload:
            return
        try:
            told = unpacked("state", payload)
            if wrong := semantic_errors(told) or ("" if slug(told["table"]) == name else "another table's name"):
                raise NotAMessage(wrong)
        except NotAMessage as e:
            if self._warned[name] < self._limits.warnings and len(self._warned) <= self._limits.most_tables:
                self._warned[name] += 1
                _log.warning("%s: %s", where[:100], e)
            return
        self._take(name, told, retained)

    def _take(self, name: str, told: State, retained: bool) -> None:
        now = self._clock()
        with self._lock:
            at = name, told["device"]
            known = self._tables.get(at)
            if known is None:
                if not self._room():
                    return
                known = self._tables[at] = Seen(self._key(name, told["device"]), name, told, None,
                                                self._here.get(name, not retained), since_s=now)
                before = None
            elif (told["epoch"], told["rev"]) < known.order:
                return  # an older one after a newer: it was in flight when a connection broke
            else:
                before = known.state
                if before["game"] != told["game"]:
                    known.since_s = now
                known.state = told
            if not retained:
                known.heard_s, known.here, known.refreshed = now, True, True
            self._dirty.add(known.key)
            self._replaced(name, now)
        self._changed(before, told)

    def _key(self, name: str, device: str) -> str:
        """The screens' key: its name, with the machine's if two have the same name."""
        taken = any(s.key == name for s in self._tables.values())
        return f"{name}.{device[:6]}" if taken else name

    def _room(self) -> bool:
        if len(self._tables) < self._limits.most_tables:
            return True
        away = [at for at, s in self._tables.items() if not s.here]
        if not away:
            return False
        self._drop(away[0])
        return True

    def _replaced(self, name: str, now: float) -> None:
        """Remove a silent machine whose name another one publishes: it was replaced."""
        mine = [at for at in self._tables if at[0] == name]
        if len(mine) > 1 and any((self._tables[at].heard_s or 0) > now - self._limits.gone_s for at in mine):
            for at in mine:
                heard = self._tables[at].heard_s
                if heard is None or heard < now - self._limits.gone_s:
                    self._drop(at)

    def _drop(self, at: tuple[str, str]) -> None:
        self._gone.append(self._tables.pop(at).key)

    def _available(self, name: str, payload: bytes) -> None:
        if payload not in (b"online", b"offline") or len(self._here) > 10 * self._limits.most_tables:
            return
        here = payload == b"online"
        with self._lock:
            self._here[name] = here
            for (slug_, _), seen in self._tables.items():
                if slug_ == name and seen.here != here:
                    seen.here = here
                    self._dirty.add(seen.key)

    def tell(self, **extra: bool | int) -> None:
        """Set state that all screens show besides the tables: ``broker``, ``rounds``, ``results``."""
        with self._lock:
            self._extra.update(extra)

    # -- output -----------------------------------------------------------------------------------------------------

    def tables(self) -> list[Seen]:
        """The current tables."""
        with self._lock:
            return list(self._tables.values())

    def whole(self) -> str:
        """The complete state as JSON; ``number`` is that of the last tick included."""
        with self._lock:
            now = self._clock()
            if self._whole is None or self._whole[0] != self._number or now - self._whole[1] > self._limits.stale_s:
                rows = [{"key": s.key, "state": s.shown, "here": s.shown_here, "heard_s": _ago(now, s.heard_s),
                         "since_s": round(now - s.since_s)} for s in self._tables.values() if s.shown is not None]
                self._whole = self._number, now, compact(
                    {"number": self._number, "tables": rows, **self._extra_shown})
            return self._whole[2]

    def after(self, number: int, timeout_s: float) -> list[Tick] | None:
        """The ticks after that one, waiting for the next if there is none; None if they are no longer kept."""
        with self._news:
            if number > self._number:
                return None
            self._news.wait_for(lambda: self._number > number or self._stop.is_set(), timeout_s)
            ticks = list(self._ticks)
        if (ticks[0].number if ticks else self._number + 1) > number + 1:
            return None
        return [t for t in ticks if t.number > number]

    def tick(self) -> bool:
        """Collect all changes in one tick; returns whether there were any."""
        with self._lock:
            rows = [self._row(s) for s in self._tables.values() if s.key in self._dirty]
            extra = {k: v for k, v in self._extra.items() if self._extra_shown.get(k, _NOTHING) != v}
            gone = self._gone
            self._dirty, self._gone = set(), []
            self._extra_shown.update(extra)
            if not rows and not extra and not gone:
                return False
            number = self._number + 1
            text = compact({"number": number, "tables": rows, **extra, **({"gone": gone} if gone else {})})
            with self._news:  # the only place that holds both locks
                self._number = number
                self._ticks.append(Tick(number, text))
                self._news.notify_all()
        return True

    def _row(self, s: Seen) -> dict[str, object]:
        row: dict[str, object] = {"key": s.key}
        if s.refreshed:
            row["heard"] = True
            s.refreshed = False
        if s.shown is not s.state:
            row |= difference(s.shown, s.state)
            s.shown = s.state
        if s.shown_here != s.here:
            row["here"] = s.shown_here = s.here
        return row

    def _run(self) -> None:
        while not self._stop.wait(self._limits.tick_s):
            try:
                self.tick()
            except Exception:
                _log.exception("the screens could not be notified")


_NOTHING = object()


def _ago(now: float, then: float | None) -> int | None:
    return None if then is None else max(0, round(now - then))


def difference(old: State | None, new: State) -> dict[str, object]:
    """The delta from one state to the next: ``state`` as a whole, or ``set`` with the changed fields, and ``more``
    tiles where tiles were only added."""
    if old is None or old["device"] != new["device"] or old["game"] != new["game"]:
        return {"state": new}
    fields = {k: v for k, v in new.items() if old.get(k, _NOTHING) != v}
    fields.pop("at", None)
    drop = [k for k in old if k not in new]
    out: dict[str, object] = {"set": fields} if fields else {}
    if drop:
        out["drop"] = drop
    if "board" in fields:
        before, tiles = old["board"]["tiles"], new["board"]["tiles"]
        if tiles[:len(before)] == before:
            fields["board"] = {k: v for k, v in new["board"].items() if k != "tiles"}
            if len(tiles) > len(before):
                out["more"] = tiles[len(before):]
    return out
