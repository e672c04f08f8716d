"""Server-sent events: the whole view on connecting, then what changed.

Every update carries the number of the view as its id. A client that missed one finds that ``base`` is not what it has
and fetches the whole view; a slow client skips views, it never makes a queue grow.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

from web.protocol import LiveSession, Subscription, View

MAX_STREAMS = 30
HEARTBEAT_S = 10.0
LOOK_S = 1.0  # how often a waiting stream looks whether its client is still there


class TooManyStreams(Exception):
    """All streams are taken; the client polls instead."""


def number(view: View) -> int:
    """The number of a view: what clients compare."""
    return int(view.get("update", view["version"]))


def full(view: View) -> str:
    """The event that carries a whole view."""
    return _event("view", number(view), view)


def changes(old: View, new: View) -> str:
    """The event that turns one view into another: every part that differs, whole."""
    different = {key: value for key, value in new.items() if old.get(key) != value}
    gone = [key for key in old if key not in new]
    return _event("change", number(new), {"base": number(old), "set": different, "drop": gone})


def _event(kind: str, n: int, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\nid: {n}\ndata: {text}\n\n"


class Streams:
    """All open event streams of one server. ``close`` ends them, and no new one begins."""

    def __init__(self, session: LiveSession, *, most: int = MAX_STREAMS, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._session = session
        self._most = most
        self._heartbeat_s = heartbeat_s
        self._lock = threading.Lock()
        self._open: set[Subscription] = set()
        self._closed = False
        self._last: tuple[View, View, str] | None = None

    def __len__(self) -> int:
        with self._lock:
            return len(self._open)

    def open(self, gone: Callable[[], bool] = lambda: False) -> Iterator[str]:
        """A new stream's events. ``gone`` tells whether its client has left. Raises TooManyStreams."""
        with self._lock:
            if self._closed or len(self._open) >= self._most:
                raise TooManyStreams
            subscription = self._session.subscribe()
            self._open.add(subscription)
        return _Stream(self._events(subscription, gone), lambda: self._leave(subscription))

    def close(self) -> None:
        """End every stream at once."""
        with self._lock:
            self._closed = True
            waiting = list(self._open)
        for subscription in waiting:
            subscription.close()

    def _events(self, subscription: Subscription, gone: Callable[[], bool]) -> Iterator[str]:
        shown: View | None = None
        quiet_s = 0.0
        yield "retry: 1000\n\n"
        while not subscription.closed and not gone():
            view = subscription.get(min(LOOK_S, self._heartbeat_s))
            if view is None:
                quiet_s += LOOK_S
                if quiet_s >= self._heartbeat_s:
                    quiet_s = 0.0
                    yield "event: beat\ndata: {}\n\n"
                continue
            if shown is None:
                yield full(view)
            elif view is not shown:
                yield self._changes(shown, view)
            shown, quiet_s = view, 0.0

    def _changes(self, old: View, new: View) -> str:
        """Most streams go from the same view to the same view: work that out once."""
        last = self._last
        if last is not None and last[0] is old and last[1] is new:
            return last[2]
        text = changes(old, new)
        self._last = (old, new, text)
        return text

    def _leave(self, subscription: Subscription) -> None:
        with self._lock:
            self._open.discard(subscription)
        subscription.close()


class _Stream:
    """An iterator whose ``close`` is called by the WSGI server, also when it was never started."""

    def __init__(self, events: Iterator[str], leave: Callable[[], None]) -> None:
        self._events = events
        self._leave = leave

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._events)

    def close(self) -> None:
        self._leave()
