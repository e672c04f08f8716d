"""Server-sent events: the whole view on connecting, then the changes.

Every update's id consists of the server's run and the number of the view. A client that reconnects with its last id
gets only the changes since; one that missed an update notices that ``base`` is not its version and fetches the whole
view. A slow client skips views; there is no queue that could grow.
"""

from __future__ import annotations

import gzip
import json
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping

from web.protocol import LiveSession, Subscription, View
from web.reveal import revealed

MAX_STREAMS = 64
MAX_PER_CLIENT = 16  # the tabs of one browser share one stream
FOR_SIGNED = 4  # one in so many is reserved for clients with a session
HEARTBEAT_S = 5.0
LOOK_S = 1.0  # interval at which a waiting stream checks whether its client is connected
KEPT = 16  # views kept for clients that reconnect

Shown = Mapping[str, object]  # a view, or the part of it that is shown


class TooManyStreams(Exception):
    """All streams are in use; the client polls instead."""


def number(view: Shown) -> int:
    """The number of a view: what clients compare."""
    found = view.get("update", view["version"])
    assert isinstance(found, int)
    return found


def difference(old: Shown, new: Shown) -> dict[str, object]:
    """The difference between two views: every top-level part that differs, whole."""
    different = {key: value for key, value in new.items() if old.get(key) != value}
    return {"base": number(old), "set": different, "drop": [key for key in old if key not in new]}


def compact(data: object) -> str:
    """Compact JSON. A lone surrogate becomes a question mark."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


class Streams:
    """All open event streams of one server. After ``close`` they end, and no new one starts.

    ``shape`` maps a view to what is shown, without results not yet revealed.
    """

    def __init__(self, session: LiveSession, *, most: int = MAX_STREAMS, per_client: int = MAX_PER_CLIENT,
                 heartbeat_s: float = HEARTBEAT_S, shape: Callable[[View], Shown] = revealed) -> None:
        self._session = session
        self._most, self._per_client = most, per_client
        self._heartbeat_s = heartbeat_s
        self._shape = shape
        self._life = secrets.token_hex(4)  # numbers restart with the program: ids of an earlier run are invalid
        self._lock = threading.Lock()
        self._open: dict[Subscription, str] = {}
        self._closed = False
        self._writing = threading.Lock()  # fifty streams need the same text at the same time: it is computed once
        self._recent: OrderedDict[int, Shown] = OrderedDict()
        self._shaped: tuple[View, Shown] | None = None
        self._whole: tuple[Shown, str] | None = None
        self._last: tuple[Shown, Shown, str] | None = None
        self._packing = threading.Lock()
        self._small: tuple[Shown, bytes] | None = None

    def __len__(self) -> int:
        with self._lock:
            return len(self._open)

    def open(self, gone: Callable[[], bool] = lambda: False, *, who: str = "", after: str = "",
             signed: bool = False) -> Iterator[str]:
        """A new stream's events. ``gone`` tells whether its client has disconnected, ``who`` identifies the client,
        ``signed`` that it has a session, ``after`` is its last id. Raises TooManyStreams."""
        with self._lock:
            most = self._most if signed else self._most - self._most // FOR_SIGNED
            if self._closed or len(self._open) >= most or Counter(self._open.values())[who] >= self._per_client:
                raise TooManyStreams
            subscription = self._session.subscribe()
            self._open[subscription] = who
        return _Stream(self._events(subscription, gone, after), lambda: self._leave(subscription))

    def close(self) -> None:
        """End every stream at once."""
        with self._lock:
            self._closed = True
            waiting = list(self._open)
        for subscription in waiting:
            subscription.close()

    def text(self, view: Shown) -> str:
        """A whole view as JSON."""
        with self._writing:
            if self._whole is None or self._whole[0] is not view:
                self._whole = (view, compact(view))
            return self._whole[1]

    def packed(self, view: Shown) -> bytes:
        """A whole view as JSON, compressed with gzip: computed once, however many clients ask."""
        text = self.text(view)
        with self._packing:
            if self._small is None or self._small[0] is not view:
                self._small = (view, gzip.compress(text.encode(), 5, mtime=0))
            return self._small[1]

    def shown(self, view: View) -> Shown:
        """What is shown of a view."""
        with self._writing:
            if self._shaped is None or self._shaped[0] is not view:
                self._shaped = (view, self._shape(view))
            return self._shaped[1]

    def _events(self, subscription: Subscription, gone: Callable[[], bool], after: str) -> Iterator[str]:
        had = self._had(after)
        quiet_s = 0.0
        yield "retry: 1000\n\n"
        while not subscription.closed and not gone():
            newest = subscription.get(min(LOOK_S, self._heartbeat_s))
            if newest is None:
                quiet_s += LOOK_S
                if quiet_s >= self._heartbeat_s:
                    quiet_s = 0.0
                    yield "event: beat\ndata: {}\n\n"
                continue
            view = self.shown(newest)
            if had is None:
                yield self._event("view", view, self.text(view))
            elif view is not had:
                yield self._event("change", view, self._changes(had, view))
            elif quiet_s == 0.0:
                yield "event: beat\ndata: {}\n\n"  # reconnected, and nothing has changed in the meantime
            self._keep(view)
            had, quiet_s = view, 0.0

    def _event(self, kind: str, view: Shown, data: str) -> str:
        return f"event: {kind}\nid: {self._life}-{number(view)}\ndata: {data}\n\n"

    def _had(self, after: str) -> Shown | None:
        """The view that a reconnecting client has, if it is still known."""
        life, _, text = after.partition("-")
        if life != self._life or not text.isascii() or not text.isdecimal() or len(text) > 12:
            return None
        with self._writing:
            return self._recent.get(int(text))

    def _keep(self, view: Shown) -> None:
        with self._writing:
            self._recent[number(view)] = view
            while len(self._recent) > KEPT:
                del self._recent[min(self._recent)]

    def _changes(self, old: Shown, new: Shown) -> str:
        """The change as text, cached: most streams need the same one."""
        with self._writing:
            last = self._last
            if last is None or last[0] is not old or last[1] is not new:
                last = self._last = (old, new, compact(difference(old, new)))
            return last[2]

    def _leave(self, subscription: Subscription) -> None:
        with self._lock:
            self._open.pop(subscription, None)
        subscription.close()


class _Stream:
    """An iterator whose ``close`` is called by the WSGI server, even if it was never started."""

    def __init__(self, events: Iterator[str], leave: Callable[[], None]) -> None:
        self._events = events
        self._leave = leave

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._events)

    def close(self) -> None:
        self._leave()
