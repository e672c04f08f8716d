"""How soon a page is up to date again after its network was down or its tab frozen while the game went on.

A page in Chromium reaches the table through a proxy that can drop all packets without closing connections, like Wi-Fi;
alternatively its tab is frozen. Moves are made; then the network is restored or the tab woken. Prints the seconds until
the page shows them.

    python benchmarks/lost_tab.py [--away 60] [--times 3]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]
MOVES = 4


class Network(threading.Thread):
    """Forwards to a port of this machine; while it is down bytes are lost, and earlier connections stay dead."""

    def __init__(self, to: int) -> None:
        super().__init__(daemon=True)
        self._to, self._up, self._cuts = to, True, 0
        self._ready = threading.Event()
        self.port = 0
        self.start()
        self._ready.wait()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        born = self._cuts
        while not self._up:
            await asyncio.sleep(0.05)
        there, back = await asyncio.open_connection("127.0.0.1", self._to)

        async def pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            try:
                while data := await source.read(65536):
                    if self._up and born == self._cuts:
                        sink.write(data)
                        await sink.drain()
            except OSError:
                pass
            finally:
                sink.close()

        await asyncio.gather(pipe(reader, back), pipe(there, writer), return_exceptions=True)

    def set(self, up: bool) -> None:
        self._cuts += not up
        self._up = up


def main() -> None:
    from browser import chromium
    from playwright.sync_api import expect, sync_playwright
    from webtable import after, table

    from bastide.log.store import Store
    from web.app import create_app
    from web.server import PageServer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--away", type=float, default=60.0, help="seconds")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store, sync_playwright() as p:
        session, moves = table(store, 4), list(after(4))
        browser = chromium(p)
        with PageServer(create_app(session), port=0) as server:
            for frozen in (False, True):
                took = []
                for _ in range(args.times):
                    network = Network(server.port)
                    context = browser.new_context()
                    page = context.new_page()
                    page.goto(f"http://127.0.0.1:{network.port}/")
                    page.wait_for_selector("body[data-ready] .tile")
                    page.wait_for_timeout(1000)
                    state = context.new_cdp_session(page)
                    network.set(False)
                    if frozen:
                        state.send("Page.setWebLifecycleState", {"state": "frozen"})
                    for _ in range(MOVES):
                        session.commit((moves.pop(0),), confidence=0.98, asked=False)
                    wanted = session.view()["version"]
                    time.sleep(args.away)
                    network.set(True)
                    if frozen:
                        state.send("Page.setWebLifecycleState", {"state": "active"})
                    begun = time.monotonic()
                    tiles = len(session.view()["board"]["tiles"])
                    expect(page.locator(".tiles .tile")).to_have_count(tiles, timeout=30_000)
                    took.append(time.monotonic() - begun)
                    assert session.view()["version"] == wanted
                    context.close()
                print(f"{'tab frozen' if frozen else 'network gone'} for {args.away:.0f} s: right "
                      f"{', '.join(f'{s:.2f}' for s in took)} s after its return", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
