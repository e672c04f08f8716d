"""The effect of misbehaving clients on the pace of the table's loop.

A simulated table is watched in real time while another process misbehaves towards the page in one way after another:
streams that are never read, clients that disconnect without closing, 200 clients that reconnect at once, garbage, huge
bodies, idle open connections, with a quiet phase between any two. Prints, for every kind, the time of a step (from
receiving to having processed the frame) relative to the quiet phases of the same run, in real time and in the loop's
own processor time (which excludes other programs' load), and whether the page still responds.

    python benchmarks/network_faults.py [--turns 5] [--fps 10] [--seconds 12] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
KINDS = ("slow", "vanish", "storm", "garbage", "huge", "held")
QUIET = "quiet"
STREAM = b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


# -- misbehaving clients, in a process of their own -----------------------------------------------------------------


def opened(port: int, send: bytes = b"", *, small: bool = False) -> socket.socket:
    """A connection from one of a few loopback addresses."""
    s = socket.socket()
    if small:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.settimeout(3)
    s.bind((f"127.0.2.{random.randrange(1, 9)}", 0))
    s.connect(("127.0.0.1", port))
    if send:
        s.sendall(send)
    return s


def misbehave(kind: str, port: int, seconds: float) -> None:
    """Misbehave in one way for a while."""
    random.seed(kind)
    end = time.monotonic() + seconds
    held: list[socket.socket] = []
    while time.monotonic() < end:
        try:
            if kind == "slow":  # requests a stream and the whole view repeatedly, and never reads
                if len(held) < 40:
                    held.append(opened(port, STREAM, small=True))
                    held.append(opened(port, b"GET /api/tiles HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20, small=True))
                time.sleep(0.05)
            elif kind == "vanish":
                s = opened(port, STREAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset on close
                s.close()
            elif kind == "storm":  # two hundred reconnect at once, fetch the page, and subscribe to events
                storm = [opened(port, STREAM if n % 2 else b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                         for n in range(200)]
                for s in storm:
                    s.settimeout(0.5)
                    with suppress(OSError):
                        s.recv(1 << 16)
                    s.close()
                time.sleep(0.5)
            elif kind == "garbage":
                opened(port, random.choice((random.randbytes(3000), b"GET " + b"/" * 20_000, b"POST / HTTP/1.1\r\n\r\n",
                                            b"GET /%00 HTTP/9.9\r\nHost: \xff\r\n\r\n"))).close()
            elif kind == "huge":
                body = b"POST /api/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                size = random.choice((900_000, 50_000_000))
                with opened(port, body + b"Content-Length: %d\r\n\r\n" % size) as s:
                    for _ in range(20):
                        s.sendall(b"[" * 65_536)
            elif kind == "held" and len(held) < 390:
                held.append(opened(port, random.choice((b"", b"GET / HTTP/1.1\r\n", b"POST /api/commands HT"))))
            else:
                for s in held[:50]:
                    s.sendall(b"x")
                time.sleep(0.2)
        except OSError:
            time.sleep(0.01)
    for s in held:
        s.close()


# -- the table ------------------------------------------------------------------------------------------------------


class Filmed:
    """Pre-rendered frames, delivered at a camera's pace; records the time of each."""

    def __init__(self, frames: list[Any], info: Any, fps: float) -> None:
        self._frames, self.info, self._fps = frames, info, fps
        self.given = self.given_cpu = 0.0
        self._next = 0

    def __enter__(self) -> Self:
        self._next, self._due = 0, time.monotonic()
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self) -> Any:
        if self._next == len(self._frames):
            return None
        self._due += 1 / self._fps
        time.sleep(max(0.0, self._due - time.monotonic()))
        self._due = max(self._due, time.monotonic() - 1 / self._fps)
        frame = self._frames[self._next]
        self._next += 1
        self.given, self.given_cpu = time.perf_counter(), time.thread_time()
        return frame


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def run(turns: int, fps: float, seconds: float, kinds: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """Watch the same film through all phases; returns the figures."""
    from bastide.camera.opening import open_camera
    from bastide.log.store import Store
    from bastide.table.demo_game import demo_game
    from bastide.table.session import TableSession
    from bastide.tiles.art import load_tiles
    from bastide.watching.following import follow
    from bastide.watching.watcher import make_watcher
    from scoring.rules import DEFAULT_EDITION
    from scoring.transcript import write
    from web.app import create_app
    from web.server import PageServer

    truth = demo_game(1, turns=turns)
    steps: dict[str, list[float]] = {k: [] for k in (QUIET, *kinds)}
    worked: dict[str, list[float]] = {k: [] for k in (QUIET, *kinds)}
    answered_ms: dict[str, list[float]] = {k: [] for k in (QUIET, *kinds)}
    with tempfile.TemporaryDirectory() as folder:
        transcript = Path(folder) / "game.json"
        transcript.write_text(json.dumps(write(truth)), "utf-8")
        with open_camera(f"sim:transcript={transcript}&seed=1&size=1152x648") as camera:
            info, film = camera.info, []
            while (frame := camera.read()) is not None and len(film) < 150:
                film.append(frame)
        with Store(Path(folder) / "log.sqlite") as store:
            session = TableSession(store, truth.setup)
            tiles = load_tiles(None, truth.setup.expansions)
            with PageServer(create_app(session), port=0) as server:
                source = Filmed(film, info, fps)
                phase = [QUIET]
                stop = threading.Event()

                def watch() -> None:
                    while not stop.is_set():
                        follow_once()

                def follow_once() -> None:
                    session.command({"do": "new_game", "setup": {
                        "edition": DEFAULT_EDITION, "expansions": list(truth.setup.expansions),
                        "players": [{"name": p.name, "colour": p.colour} for p in truth.setup.players]}})
                    with source:
                        follow(source, make_watcher(tiles, session.setup), session, stop=stop,
                               on_frame=lambda done: done_with())

                def done_with() -> None:
                    steps[phase[0]].append(time.perf_counter() - source.given)
                    worked[phase[0]].append(time.thread_time() - source.given_cpu)

                def ask() -> None:
                    begun = time.monotonic()
                    try:
                        with urllib.request.urlopen(f"{server.url}api/state", timeout=10) as answer:
                            answer.read()
                        answered_ms[phase[0]].append(1000 * (time.monotonic() - begun))
                    except OSError:
                        answered_ms[phase[0]].append(float("inf"))

                loop = threading.Thread(target=watch, daemon=True)
                loop.start()
                for _ in range(rounds):
                    for kind in kinds:
                        for now in (QUIET, kind):
                            phase[0] = now
                            trouble = subprocess.Popen([sys.executable, __file__, "--misbehave", kind, "--port",
                                                        str(server.port), "--seconds", str(seconds)]) \
                                if now != QUIET else None
                            end = time.monotonic() + seconds
                            while time.monotonic() < end:
                                ask()
                                stop.wait(0.25)
                            if trouble is not None:
                                trouble.wait()
                stop.set()
                loop.join()
    def times_quiet(of: dict[str, list[float]], kind: str, q: float) -> float:
        return round(quantile(of[kind], q) / quantile(of[QUIET], q), 2)

    return {"frames": len(film), "fps": fps, "cpus": os.cpu_count(), "kinds": {k: {
        "steps": len(v), "p50_ms": round(1000 * quantile(v, 0.5), 1), "p99_ms": round(1000 * quantile(v, 0.99), 1),
        "p50_times_quiet": times_quiet(steps, k, 0.5), "p90_times_quiet": times_quiet(steps, k, 0.9),
        "p99_times_quiet": times_quiet(steps, k, 0.99), "work_p99_times_quiet": times_quiet(worked, k, 0.99),
        "page_p50_ms": round(quantile(answered_ms[k], 0.5), 1), "page_max_ms": round(max(answered_ms[k]), 1),
        "unanswered": sum(a == float("inf") for a in answered_ms[k])} for k, v in steps.items() if v}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--fps", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=12, help="of each phase")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misbehave", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.misbehave:
        return misbehave(args.misbehave, args.port, args.seconds)
    found = run(args.turns, args.fps, args.seconds, tuple(args.kinds.split(",")), args.rounds)
    if args.json:
        print(json.dumps(found))
        return
    print(f"{found['frames']} frames at {found['fps']:g} a second, {found['cpus']} processors; step times in ms")
    print("            steps    p50    p99  times quiet: p50   p90   p99  p99 of work   page p50    max  unanswered")
    for kind, f in found["kinds"].items():
        print(f"  {kind:8} {f['steps']:6} {f['p50_ms']:6} {f['p99_ms']:6} {f['p50_times_quiet']:17} "
              f"{f['p90_times_quiet']:5} {f['p99_times_quiet']:5} {f['work_p99_times_quiet']:12} "
              f"{f['page_p50_ms']:10} {f['page_max_ms']:6} {f['unanswered']:11}")


if __name__ == "__main__":
    main()
