"""Many viewers: the latency of a move to the last of them, and the server's memory.

Serves a game and plays it to its end with many open event streams, whose clients are in another process so that they do
not share the server's interpreter. Prints the time from the commit to the last viewer and the server's memory along the
way.

    python benchmarks/streams.py [--streams 48] [--events 200] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]


def memory_mb() -> float:
    """This process's resident memory."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def viewers(port: int, count: int) -> None:
    """The clients' process: reads every stream and prints, for every update, when each stream received it."""
    selector = selectors.DefaultSelector()
    for n in range(count):
        s = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.1.{n % 200 + 1}", 0))
        s.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        s.setblocking(False)
        selector.register(s, selectors.EVENT_READ, [n, b""])
    while True:
        for key, _ in selector.select():
            data = key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
            if not data:
                return
            now = time.monotonic()
            lines = (key.data[1] + data).split(b"\n")
            key.data[1] = lines.pop()
            for line in lines:
                if line.startswith(b"id: "):
                    print(int(line.rpartition(b"-")[2]), key.data[0], now, flush=True)


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def run(streams: int, events: int, pace_s: float) -> dict[str, object]:
    """Play; returns the figures."""
    from webtable import after, table

    from bastide.log.store import Store
    from web.app import create_app
    from web.server import PageServer

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        session = table(store, 4)
        with PageServer(create_app(session), port=0) as server:
            clients = subprocess.Popen([sys.executable, __file__, "--view", str(server.port), "--streams",
                                        str(streams)], stdout=subprocess.PIPE, text=True)
            assert clients.stdout is not None
            had: dict[int, dict[int, float]] = {}

            def wait_for(number: int) -> float:
                """The time when the last viewer had received this update or a later one."""
                seen: dict[int, float] = {}
                while len(seen) < streams:
                    n, who, when = clients.stdout.readline().split()  # type: ignore[union-attr]
                    if int(n) >= number:
                        seen.setdefault(int(who), float(when))
                had[number] = seen
                return max(seen.values())

            wait_for(session.view()["update"])
            latency_ms, memory = [], []
            moves = [e for e in after(4)]
            for n in range(events):
                begun = time.monotonic()
                if n < len(moves):
                    session.commit((moves[n],), confidence=0.98, asked=False)
                else:
                    session.set_status("hand" if n % 2 else "watching", str(n))
                latency_ms.append(1000 * (wait_for(session.view()["update"]) - begun))
                if n % max(1, events // 10) == 0:
                    memory.append(round(memory_mb(), 1))
                time.sleep(pace_s)
            clients.kill()
            clients.wait()
            clients.stdout.close()
    return {"streams": streams, "events": events, "moves": min(events, len(moves)),
            "to_the_last_ms": {q: round(quantile(latency_ms, v), 1) for q, v in
                               (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))},
            "memory_mb": memory, "cpus": os.cpu_count()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=48)
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--pace", type=float, default=0.05, help="seconds between moves")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--view", type=int, metavar="PORT", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.view:
        return viewers(args.view, args.streams)
    found = run(args.streams, args.events, args.pace)
    if args.json:
        print(json.dumps(found))
        return
    print(f"{found['streams']} open streams, {found['events']} events ({found['moves']} moves of a game): "
          "from the commit to the last viewer")
    print("  " + ", ".join(f"{q} {ms} ms" for q, ms in found["to_the_last_ms"].items()))  # type: ignore[attr-defined]
    print(f"  the server's memory along the way, MB: {found['memory_mb']}")


if __name__ == "__main__":
    main()
