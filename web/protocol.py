"""What the page needs of a live session. The composition root implements it; this room knows nothing else of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

View = dict[str, Any]


class CommandError(Exception):
    """A command that cannot be carried out: ``code`` for programs, ``text`` one sentence for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class StaleView(Exception):
    """The command was based on an older view; ``view`` is the present one."""

    def __init__(self, view: View) -> None:
        super().__init__("the game has moved on; look again")
        self.view = view


class Subscription:
    """A place to wait for the newest view: it holds one, a newer one takes its place, so a slow reader never queues."""

    def __init__(self, on_close: Callable[[Subscription], None]) -> None:
        self._ready = threading.Condition()
        self._newest: View | None = None
        self._closed = False
        self._on_close = on_close

    def put(self, view: View) -> None:
        """Offer a newer view."""
        with self._ready:
            self._newest = view
            self._ready.notify_all()

    def get(self, timeout_s: float) -> View | None:
        """The newest view not yet taken, or None after the timeout or when closed."""
        with self._ready:
            self._ready.wait_for(lambda: self._newest is not None or self._closed, timeout_s)
            view, self._newest = self._newest, None
            return view

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Stop waiting and be forgotten."""
        with self._ready:
            self._closed = True
            self._ready.notify_all()
        self._on_close(self)


class LiveSession(Protocol):
    """One game at one table. Every method may be called from any thread."""

    def view(self) -> View: ...

    def subscribe(self) -> Subscription: ...

    def command(self, data: Mapping[str, Any]) -> View:
        """Carry out what a person asked for. Raises CommandError or StaleView."""
        ...

    def candidates(self, seq: int) -> list[dict[str, Any]]: ...

    def crop_png(self, seq: int) -> bytes | None: ...
