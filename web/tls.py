"""TLS termination for the page: decrypted bytes are forwarded to the page's own server in this process, which sees the
real client address.

waitress has no TLS. Its sockets wrapped by ``ssl`` would block on every partial record; another server would lose the
scheduler (`web.scheduling`), which builds on waitress. So the standard library's asyncio decrypts in a thread of its
own, and announces every connection to the page's server before opening it: no client can spoof another's address.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import threading
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self

from web.server import CONNECTIONS, PER_CLIENT, PageServer, PortInUse, ServerError

_HANDSHAKE_S = 10.0
_PIECE = 65_536
_END_S = 1.0
_log = logging.getLogger("bastide.tls")


class SecureFront:
    """Serves a page's server over TLS at another port, while the context is entered.

    Entering raises PortInUse or ServerError; ``port`` 0 takes any free one. ``context`` may load another certificate at
    any time: the next connection uses it.
    """

    def __init__(self, page: PageServer, port: int, context: ssl.SSLContext, *, connections: int = CONNECTIONS) -> None:
        self._page, self.port, self._context, self._most = page, port, context, connections
        self._loop = asyncio.new_event_loop()
        self._clients: Counter[str] = Counter()
        self._going = set[asyncio.Task[None]]()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="page-tls", daemon=True)

    def __enter__(self) -> Self:
        self._loop.set_exception_handler(_told)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except OSError as e:
            self._close()
            if e.errno == errno.EADDRINUSE:
                raise PortInUse(f"port {self.port} is in use by another program; choose another with --https") from e
            if e.errno == errno.EACCES:
                raise ServerError(f"port {self.port} is reserved for the system; choose one above 1023 with "
                                  "--https") from e
            raise ServerError(f"HTTPS cannot be served at port {self.port} ({e.strerror or e})") from e
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_END_S)
        self._close()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, self._page.host or None, self.port, ssl=self._context,
                                          ssl_handshake_timeout=_HANDSHAKE_S)

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._going):
            task.cancel()
        await asyncio.gather(*self._going, return_exceptions=True)

    def _close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_END_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, both ways, until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._going.add(task)
        address = writer.get_extra_info("peername")
        client = str(address[0])
        self._clients[client] += 1
        try:
            if self._clients.total() <= self._most and self._clients[client] <= PER_CLIENT:
                await self._relay(reader, writer, (client, int(address[1])))
        except (OSError, ssl.SSLError, asyncio.CancelledError):
            pass  # disconnected, or shutting down
        finally:
            self._going.discard(task)
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]
            with suppress(AttributeError):  # Python 3.11, if already closed
                writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: tuple[str, int]) -> None:
        inner = socket.socket(socket.AF_INET6 if ":" in self._page.inside else socket.AF_INET)
        inner.setblocking(False)
        try:
            inner.bind((self._page.inside, 0))
            came_by = inner.getsockname()[1]
            self._page.announce(came_by, client)
            try:
                await self._loop.sock_connect(inner, (self._page.inside, self._page.port))
            except OSError:
                self._page.forget(came_by)
                raise
        except BaseException:
            inner.close()
            raise
        from_page, to_page = await asyncio.open_connection(sock=inner)
        ways = [asyncio.create_task(_pour(reader, to_page)), asyncio.create_task(_pour(from_page, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if ways[1].done():  # the page's response is complete: it must be delivered
                writer.close()
                await asyncio.wait_for(writer.wait_closed(), _HANDSHAKE_S)
        except TimeoutError:
            pass
        finally:
            to_page.transport.abort()  # before any await: shutdown may begin in the meantime
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


async def _pour(source: asyncio.StreamReader, into: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        into.write(piece)
        await into.drain()  # back-pressure


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Clients that speak no TLS or disconnect are not logged."""
    if not isinstance(context.get("exception"), OSError):  # ssl.SSLError is one
        _log.error("HTTPS: %s", context.get("message"), exc_info=context.get("exception"))  # type: ignore[arg-type]
