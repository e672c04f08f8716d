"""The page's server: waitress in a thread of its own, opened and closed as a context manager."""

from __future__ import annotations

import errno
import logging
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from copy import copy
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from flask import Flask
from waitress import wasyncore
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server
from waitress.utilities import BadRequest

from web.scheduling import RequestScheduler
from web.threads import TaskDispatcher

THREADS = 104  # maximum: 64 event streams and 8 overlays hold one each, the rest serve requests
CONNECTIONS = 400
BUFFER = 1_000_000
PER_CLIENT = 120  # of them from one address; nobody needs a tenth of that
CROWDED = CONNECTIONS * 3 // 4  # from here on idle or slow connections are closed, first of the clients that hold most
_LOOP_S = 0.25
_SWEEP_S = 1.0
_RETIRE_S = 30.0  # opening a page takes forty requests in a few seconds
_IDLE_S = 30  # a connection without a request may be closed to make room for others
_ASKING_S = 15.0  # one that never completes its request, too
_STUCK_S = 20.0  # and one that does not read its response
_MOST_BODY = 65_536  # larger requests are not read; what a request may contain is less, see `web.answers`
_END_S = 1.0
_SWITCH_S = 0.0005  # Python itself: 5 ms
_KEEPALIVE = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 2), ("TCP_USER_TIMEOUT", 20_000))


class ServerError(Exception):
    """The page cannot be served. The message is one sentence that says what to do."""


class PortInUse(ServerError):
    """Another program has the port."""


class _Parser(HTTPRequestParser):
    """Waitress' own parser raises on some invalid bytes: these get the same response as other malformed requests, and
    are not written to the program's log, which anybody could otherwise fill."""

    def received(self, data: bytes) -> int:
        try:
            return int(super().received(data))
        except ValueError:  # also for text that cannot be decoded
            self.error = BadRequest("this is no request")
            self.completed = True
            self.connection_close = True
            return len(data)


class _Channel(HTTPChannel):
    """For a connection that `web.tls` has decrypted, the client is the one at its far end. Sent data is released:
    waitress itself keeps it until a connection has sent another whole buffer, which takes an event stream an hour.
    """

    parser_class = _Parser
    current_outbuf_count: int  # bytes written to the newest buffer

    def __init__(self, server: Any, sock: socket.socket, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        client = server.announced.pop(addr[1], None) if addr[0] == server.inside else None
        super().__init__(server, sock, client or addr, server.secure if client else adj, map=map)

    def _flush_some(self, do_close: bool = True) -> bool:
        if self.socket is None or not self.connected:  # the client has closed it: waitress would log a traceback
            return False
        sent = bool(super()._flush_some(do_close))  # the caller holds the lock
        if not self.total_outbufs_len and self.current_outbuf_count:
            self.outbufs[-1].close()
            self.outbufs[-1] = OverflowableBuffer(self.adj.outbuf_overflow)
            self.current_outbuf_count = 0
        return sent


class PageServer:
    """Serves an application of `web.app.create_app` while the context is entered.

    Entering raises PortInUse or ServerError. Port 0 takes any free port; ``port`` is the actual one. Leaving ends the
    open event streams and connections within about a second.
    """

    def __init__(self, app: Flask, host: str = "127.0.0.1", port: int = 8000, *, threads: int = THREADS,
                 connections: int = CONNECTIONS, buffer: int = BUFFER) -> None:
        """``buffer`` is how many bytes may wait for a client before its thread has to wait."""
        self._app, self._threads, self._connections, self._buffer = app, threads, connections, buffer
        self.host = host
        self.port = port
        self._stop = threading.Event()
        self._sockets: dict[int, Any] = {}
        self._announced: dict[int, tuple[str, int]] = {}
        self._server: Any = None
        self._thread: threading.Thread | None = None

    @property
    def inside(self) -> str:
        """The URL at which this machine itself reaches the page."""
        return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(self.host, self.host)

    @property
    def url(self) -> str:
        """The page's URL for a browser on this machine."""
        return f"http://{f'[{self.inside}]' if ':' in self.inside else self.inside}:{self.port}/"

    def announce(self, port: int, client: tuple[str, int]) -> None:
        """The connection from this local port will be that client's, over HTTPS."""
        self._announced[port] = client

    def forget(self, port: int) -> None:
        """That connection will not come."""
        self._announced.pop(port, None)

    def __enter__(self) -> Self:
        listening = _listen(self.host, self.port)
        # The table's loop releases the interpreter hundreds of times per frame, with every call into OpenCV, and
        # gets it back only when whoever holds it is made to release it.
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch_s, _SWITCH_S))
        self.port = listening.getsockname()[1]
        self._app.config["BOUND_HOST"] = self.host
        # With more threads than streams a request rarely waits; waitress would warn each time one does.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        logging.getLogger("waitress").setLevel(logging.WARNING)  # a client that disconnects half-way is not logged
        self._server = create_server(
            self._app, map=self._sockets, sockets=[listening], _dispatcher=TaskDispatcher(self._threads),
            connection_limit=self._connections,
            channel_request_lookahead=1, channel_timeout=_IDLE_S, cleanup_interval=10,
            outbuf_high_watermark=self._buffer, ident="bastide", max_request_body_size=_MOST_BODY,
            max_request_header_size=16_384, trusted_proxy=None,
            clear_untrusted_proxy_headers=False,  # access control must recognise forwarded requests
        )
        self._server.channel_class = _Channel
        self._server.announced, self._server.inside = self._announced, self.inside
        # Waitress sets these on every connection: one whose client has vanished silently is closed eventually.
        self._server.adj.socket_options = [
            (socket.SOL_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
            *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in _KEEPALIVE
              if hasattr(socket, name)),
        ]
        self._server.secure = copy(self._server.adj)
        self._server.secure.url_scheme = "https"
        self._scheduler: RequestScheduler = self._app.extensions["scheduler"]
        self._scheduler.open(self._server.task_dispatcher.add_task)
        self._server.add_task = self._scheduler.submit  # requests are scheduled, not served in order of arrival
        self._thread = threading.Thread(target=self._run, name="page-server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        sys.setswitchinterval(self._switch_s)
        self._stop.set()
        self._scheduler.close()
        for name in ("streams", "overlay_streams", "hall_streams"):
            if name in self._app.extensions:
                self._app.extensions[name].close()
        self._server.pull_trigger()
        assert self._thread is not None
        self._thread.join(_END_S)
        for channel in [c for c in self._sockets.values() if isinstance(c, HTTPChannel)]:
            channel.handle_close()  # also frees a thread that waits for a client which does not read
        self._server.task_dispatcher.shutdown(timeout=_END_S)
        wasyncore.close_all(self._sockets, ignore_all=True)

    def _run(self) -> None:
        sweeper, due = Sweeper(crowded=self._connections * 3 // 4), time.monotonic() + _SWEEP_S
        retire_s = due + _RETIRE_S
        while not self._stop.is_set():
            wasyncore.loop(timeout=_LOOP_S, map=self._sockets, count=1, use_poll=True)
            if time.monotonic() >= due:
                due = time.monotonic() + _SWEEP_S
                for channel in sweeper.overdue([c for c in self._sockets.values() if isinstance(c, HTTPChannel)],
                                               self._scheduler.waiting()):
                    channel.handle_close()  # also frees a thread that waits for it to read
                if due >= retire_s:
                    retire_s = due + _RETIRE_S
                    self._server.task_dispatcher.retire()


class Channel(Protocol):
    """A connection of waitress: the incoming request, the waiting ones, bytes that the client has not fetched."""

    addr: tuple[str, int]
    request: object
    requests: Sequence[object]
    total_outbufs_len: int
    last_activity: float


Open = TypeVar("Open", bound=Channel)


class Sweeper:
    """Finds connections that occupy a place without need: those that never complete a request, do not read their
    response, or are more than a client needs. Checks are a second apart, on waitress' own channels."""

    def __init__(self, clock: Callable[[], float] = time.time, *,  # waitress' clock
                 crowded: int = CROWDED) -> None:
        self._clock, self._crowded = clock, crowded
        self._asking: dict[Channel, tuple[object, float]] = {}

    def overdue(self, channels: Sequence[Open], queued: Collection[object] = ()) -> list[Open]:
        """The connections to close, of all open ones; ``queued`` have a complete request and wait for their turn."""
        now = self._clock()
        before, self._asking = self._asking, {}
        late: list[Open] = []
        # By client: those without a request, which are closed first, and those with an incomplete one.
        waiting: dict[str, list[Open]] = {}
        asking: dict[str, list[Open]] = {}
        clients: Counter[str] = Counter()
        for channel in channels:
            client = str(channel.addr[0])
            clients[client] += 1
            if channel.request is not None:
                begun, since = before.get(channel, (None, now))
                since = since if begun is channel.request else now
                self._asking[channel] = (channel.request, since)
                slow = now - since > _ASKING_S
            else:
                slow = bool(channel.total_outbufs_len) and now - channel.last_activity > _STUCK_S
            if slow:
                late.append(channel)
            elif not channel.requests or channel in queued:
                (waiting if channel.request is None and not channel.requests else asking).setdefault(
                    client, []).append(channel)
        crowded = len(channels) >= self._crowded
        share = self._crowded // 2 // max(1, len(clients)) if crowded else PER_CLIENT
        for client, count in clients.items():
            idle = [*waiting.get(client, []), *(asking.get(client, []) if crowded else ())]
            late += idle[:max(0, count - share)]
        return late


def _listen(host: str, port: int) -> socket.socket:
    """A bound socket. Done before waitress starts its threads, so that a taken port leaves nothing behind."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1)
        return listening
    except OverflowError as e:
        listening.close()
        raise ServerError(f"{port} is no port; take one from 1 to 65535") from e
    except OSError as e:
        listening.close()
        if e.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} is in use by another program; choose another with --port") from e
        if e.errno == errno.EACCES:
            raise ServerError(f"port {port} is reserved for the system; choose one above 1023 with --port") from e
        raise ServerError(f"the page cannot be served at {host} port {port} ({e.strerror})") from e
