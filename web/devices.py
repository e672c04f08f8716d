"""The devices that are signed in: each can be listed, named and signed out, by itself or by an administrator.

A browser's signed cookie only names its session; what the session may do is kept here. So the cookie of a session that
has ended is worthless, whoever kept it.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from web.rights import Refused, Right

MOST = 64  # sessions; the least recently seen is evicted, players' before administrators'
LONGEST_NAME = 24
_SEEN_S = 60.0  # resolution of a device's last-seen time
_ID = re.compile(r"[\w-]{8,40}")
_KINDS = (("iPad", "iPad"), ("iPhone", "iPhone"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
          ("Macintosh", "Mac"), ("Linux", "Linux"))
_log = logging.getLogger("bastide.access")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One session: its right, the device's name (as people entered it) and its ``kind`` (from the User-Agent)."""

    id: str
    token: str
    right: int
    series: int
    name: str = ""
    kind: str = ""
    address: str = ""
    since_s: float = 0.0
    seen_s: float = 0.0

    @property
    def signature(self) -> str:
        """The author of its changes: the name, the kind, or both."""
        return f"{self.name} ({self.kind})" if self.name and self.kind else self.name or self.kind


class Keeper(Protocol):
    """The store that persists the sessions across restarts."""

    def load(self) -> Sequence[Mapping[str, object]]:
        """The sessions stored last; empty when they cannot be read."""
        ...

    def save(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Store these. Raises OSError when they cannot be stored."""
        ...


class Forgetful:
    """A store without persistence: sessions end with the process."""

    def load(self) -> Sequence[Mapping[str, object]]:
        return []

    def save(self, rows: Sequence[Mapping[str, object]]) -> None:
        pass


def checked_name(name: object) -> str:
    """A valid device name; empty removes it. Raises Refused."""
    text = " ".join(name.split()) if isinstance(name, str) else None
    if text is None or len(text) > LONGEST_NAME or not text.isprintable():
        raise Refused("bad_name", f"name: must be a text of up to {LONGEST_NAME} characters")
    return text


def kind_of(agent: str) -> str:
    """The device kind from a browser's User-Agent, in one word; empty if unknown."""
    return next((kind for mark, kind in _KINDS if mark in agent), "")


class Devices:
    """The sessions of one table. Thread-safe."""

    def __init__(self, keeper: Keeper | None = None, clock: Callable[[], float] = time.time) -> None:
        self._keeper, self._clock = keeper or Forgetful(), clock
        self._lock = threading.Lock()
        self._open = {d.id: d for d in map(_device, self._keeper.load()) if d is not None}

    def begin(self, right: Right, series: int, *, address: str, agent: str, before: str = "") -> Device:
        """A new session; the one ``before`` it on the same device ends and passes on its name."""
        now = self._clock()
        with self._lock:
            old = self._open.pop(before, None)
            made = Device(id=secrets.token_urlsafe(12), token=secrets.token_urlsafe(18), right=int(right),
                          series=series, name=old.name if old else "", kind=kind_of(agent), address=address,
                          since_s=now, seen_s=now)
            self._open[made.id] = made
            self._open = {d.id: d for d in self._open.values() if d.series == series}
            while len(self._open) > MOST:
                rest = [d for d in self._open.values() if d.id != made.id]
                del self._open[min(rest, key=lambda d: (d.right, d.seen_s)).id]
            try:
                self._save()
            except OSError as e:  # a full disk must not prevent playing
                _log.warning("the session will be lost at a restart: %s", e.strerror or e)
        return made

    def get(self, session: object, series: int, address: str = "") -> Device | None:
        """The session with this id, if valid; with its client's ``address`` its last-seen time is updated."""
        if not isinstance(session, str):
            return None
        found = self._open.get(session)
        if found is None or found.series != series:
            return None
        now = self._clock()
        if address and (abs(now - found.seen_s) > _SEEN_S or address != found.address):
            with self._lock:
                if session in self._open:
                    found = self._open[session] = replace(self._open[session], seen_s=now, address=address)
        return found

    def rename(self, session: str, name: str) -> Device | None:
        """Rename a device. Raises OSError when that cannot be stored; then it holds until a restart."""
        with self._lock:
            if session not in self._open:
                return None
            found = self._open[session] = replace(self._open[session], name=name)
            self._save()
            return found

    def end(self, sessions: Iterable[str]) -> int:
        """Sign these out; returns how many were signed in. Raises OSError when that cannot be stored: then they are
        signed out, but a restart may restore them."""
        with self._lock:
            gone = [s for s in sessions if self._open.pop(s, None) is not None]
            if gone:
                self._save()
            return len(gone)

    def listed(self, series: int) -> list[Device]:
        """The valid sessions, most recently seen first."""
        with self._lock:
            return sorted((d for d in self._open.values() if d.series == series), key=lambda d: -d.seen_s)

    def _save(self) -> None:
        self._keeper.save([asdict(d) for d in self._open.values()])


def _device(row: object) -> Device | None:
    """A stored session; None if malformed."""
    try:
        found = Device(**row)  # type: ignore[arg-type]
        texts = (found.id, found.token, found.name, found.kind, found.address)
        numbers = (found.right, found.series, found.since_s, found.seen_s)
        right = all(isinstance(t, str) and t.isprintable() for t in texts) and _ID.fullmatch(found.id) and \
            len(found.token) >= 16 and all(type(n) in (int, float) and abs(n) < 1e12 for n in numbers) and \
            found.right in (Right.PLAY, Right.ADMIN, Right.OWNER)
        return found if right else None
    except TypeError:
        return None
