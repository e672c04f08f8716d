"""How many requests are worked on at the same time.

The table's loop shares one interpreter with the page's threads. Were forty of them to compute at once, the loop would
get one turn in forty; so all but a few wait their turn, which costs nothing. Event streams only pass through here when
they begin.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

AT_ONCE = 2


class Gate:
    """A WSGI application that lets so many requests into another one at the same time."""

    def __init__(self, app: Any, at_once: int = AT_ONCE) -> None:
        self._app = app
        self._places = threading.BoundedSemaphore(at_once)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._places:
            answer: Iterable[bytes] = self._app(environ, start_response)
        return answer
