"""The effect of sixty hostile connections, on every route that needs no PIN, on the people at the table.

A table with a PIN serves a big game while the camera's loop watches a simulated table in real time. In the time of each
row two tiles are placed and taken off again, on a board that was found WARM_S before. A second process holds the
hostile connections and requests one route again and again, as fast as it is answered, from one address or from as many
addresses as connections. A third process is the people: ten devices without a session that request the state once a
second each, and a signed-in player who sends commands. Prints for every route how long these two had to wait, in
seconds and relative to the quiet table, and how many of the camera's frames were lost, i.e. had passed before the loop
came to read them.

Everything is on this machine's loopback. Strangers would have machines of their own, so here their process gets only
the processor time that the table and the people leave (nice 19); the number of responses they received is printed, to
show that this does not make them harmless. ``others`` is the number of processors used by unrelated programs or taken
by a virtual machine's host: a row with more than OTHERS is inconclusive. Each row waits for a calm moment and is
repeated if it was disturbed, for --patience minutes in all.

    ./run bench door [--connections 60] [--addresses 1,60] [--seconds 16] [--fps 10] [--patience 10]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
QUIET = "quiet"
PIN, PLAYER, VIEWERS = "2580", "127.0.0.2", "127.0.1.{}"
LOOKING = 10  # devices that look at the state once a second
STATE_MS, COMMAND_MS, FRAMES = 250.0, 300.0, 0.1  # what is promised at p99, and of the camera's frames
OTHERS = 0.25  # processors: with more in other programs' hands a row tells nothing of the door
FILM, FROM_S = 80, 17.0  # frames that are shown to and fro, and when in the simulated game they begin: three tiles lie
WARM_S = 3.0  # of the loop, before a row is measured: by then it has found the board
CALM_S = 2.0  # so long they must have been quiet before a row is measured again
_PREVIEWS = {"commands": [{"do": "retract", "seq": n} for n in range(2, 14)]}
# What a stranger puts into the places of an address, by its name, and asks further of a route, where that costs most.
PLACES = {"seq": "21", "turn": "55", "number": "1"}
ASKED = {
    "/api/entries/<int(max=2147483647):seq>/before": {"seq": "80"},
    "/api/entries/<int(max=2147483647):seq>/after": {"seq": "80"},
    "/static/<path:name>": {"name": "js/app.js"},
    "/api/turns/<int(max=9999):turn>/picture.jpg": {"?": "x=0&y=0&width=5&height=5"},
    "/api/picture.jpg": {"?": "x=-4&y=-4&width=9&height=9"},
    "/api/tiles": {"?": "expansions=base,inns,traders,dragon,tower,river,wheel"},
}
BODIES = {("POST", "/api/preview"): _PREVIEWS, ("POST", "/api/session"): {"pin": "9999"},
          ("POST", "/api/pin"): {"pin": "7391"}}
Asked = tuple[str, str, object]  # method, address, body
# What is no route, and what a stranger may not do.
MORE: dict[str, Asked] = {"GET nothing": ("GET", "/api/none", None),
                          "POST /api/commands": ("POST", "/api/commands", {"do": "undo"})}


def strangers(app: Any) -> dict[str, Asked]:
    """Every route of an application that takes no PIN, by a short name, also one that was added since this was written.
    """
    from web.rights import Right

    out: dict[str, Asked] = {}
    for rule in sorted(app.url_map.iter_rules(), key=lambda r: r.rule):
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"}):
            if method != "GET" and getattr(app.view_functions[rule.endpoint], "right", Right.ADMIN) != Right.WATCH:
                continue
            asked = ASKED.get(rule.rule, {})
            path = re.sub(r"<(?:([^:<>]+):)?(\w+)>", lambda found, a=asked: a.get(found[2]) or PLACES.get(found[2])
                          or _fitting(found[1] or ""), rule.rule)
            out[f"{method} {re.sub('<[^>]*>', '*', rule.rule)}"] = (
                method, path + (f"?{asked['?']}" if "?" in asked else ""),
                BODIES.get((method, rule.rule), None if method == "GET" else {}))
    return {**out, **MORE}


def _fitting(converter: str) -> str:
    """Something that a place of this kind in an address takes."""
    one_of = re.match(r"any\('([^']+)'", converter)
    return one_of[1] if one_of else "1" if converter.startswith("int") else "x"


def request(method: str, path: str, body: object, **headers: str) -> bytes:
    """An HTTP request as bytes; its connection stays open."""
    data = b"" if body is None else json.dumps(body).encode()
    more = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
    kind = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if body is not None else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n{kind}{more}\r\n".encode() + data


def hostile(what: Asked, port: int, connections: int, addresses: int, seconds: float) -> int:
    """Hold so many connections that ask again whenever they are answered; how many answers began."""
    asked, answers = request(*what), 0
    selector, end = selectors.DefaultSelector(), time.monotonic() + seconds

    def begin(n: int) -> None:
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            s.bind((f"127.0.{3 + n % addresses // 200}.{1 + n % addresses % 200}", 0))
            s.settimeout(1.0)
            s.connect(("127.0.0.1", port))
            s.sendall(asked)
            s.setblocking(False)
            selector.register(s, selectors.EVENT_READ, n)
        except OSError:
            s.close()
            late.append((time.monotonic() + 0.05, n))

    late: list[tuple[float, int]] = []
    for n in range(connections):
        begin(n)
    while (now := time.monotonic()) < end:
        for due in [d for d in late if d[0] <= now]:
            late.remove(due)
            begin(due[1])
        for key, _ in selector.select(0.05):
            s = key.fileobj
            assert isinstance(s, socket.socket)
            try:
                got = s.recv(1 << 20)
                if b"HTTP/1.1 " in got:
                    answers += 1
                    if b"text/event-stream" not in got:
                        s.sendall(asked)
                if not got:
                    raise OSError
            except BlockingIOError:
                continue
            except OSError:
                selector.unregister(s)
                s.close()
                begin(key.data)
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    selector.close()
    return answers


def people(port: int, seconds: float) -> dict[str, list[float]]:
    """Those who look and somebody who plays, each from an address of their own: milliseconds of every answer."""
    waited: dict[str, list[float]] = {"state": [], "command": []}
    end = time.monotonic() + seconds

    def connection(address: str) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(address, 0))

    def answer(c: http.client.HTTPConnection, method: str, path: str, body: object = None, **headers: str) -> Any:
        data = None if body is None else json.dumps(body)
        c.request(method, path, data, {"Content-Type": "application/json", **headers} if data else headers)
        found = c.getresponse()
        return found.status, dict(found.headers), found.read()

    def look(viewer: int) -> None:
        c = connection(VIEWERS.format(viewer + 1))
        time.sleep(viewer / LOOKING)
        while time.monotonic() < end:
            begun = time.monotonic()
            try:
                status, _, _ = answer(c, "GET", "/api/state", **{"Accept-Encoding": "gzip"})
                waited["state"].append(1000 * (time.monotonic() - begun) if status == 200 else float("inf"))
            except (OSError, http.client.HTTPException):
                waited["state"].append(float("inf"))
                c.close()
            time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))

    def play() -> None:
        c = connection(PLAYER)
        status, headers, body = answer(c, "POST", "/api/session", {"pin": PIN})
        assert status == 200, body
        signed = {"Cookie": headers["Set-Cookie"].partition(";")[0], "X-CSRF-Token": json.loads(body)["token"],
                  "Accept-Encoding": "gzip"}
        ready.set()
        undo = False
        while time.monotonic() < end:
            begun = time.monotonic()
            command = {"do": "undo"} if undo else {"do": "end_turn"}
            try:
                status, _, _ = answer(c, "POST", "/api/commands", command, **signed)
                waited["command"].append(1000 * (time.monotonic() - begun) if status == 200 else float("inf"))
            except (OSError, http.client.HTTPException):
                waited["command"].append(float("inf"))
                c.close()
            undo = not undo
            time.sleep(max(0.0, 0.15 - (time.monotonic() - begun)))

    ready = threading.Event()
    player = threading.Thread(target=play)
    lookers = [threading.Thread(target=look, args=(n,)) for n in range(LOOKING)]
    player.start()
    ready.wait(30)
    print("ready", flush=True)
    sys.stdin.readline()  # the strangers come when the player has signed in
    end = time.monotonic() + seconds
    for t in lookers:
        t.start()
    for t in (player, *lookers):
        t.join()
    return waited


# -- the table ------------------------------------------------------------------------------------------------------


@dataclass
class Filmed:
    """Frames rendered before, shown at a camera's pace: one that nobody came for in time is lost."""

    frames: list[Any]
    info: Any
    fps: float
    shown: int = 0
    lost: int = 0
    due_s: float = 0.0
    late_s: float = 0.0  # how long the loop took for its slowest frame

    def __enter__(self) -> Self:
        self.due_s = time.monotonic()
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self) -> Any:
        self.due_s += 1 / self.fps
        now = time.monotonic()
        self.late_s = max(self.late_s, now - self.due_s)
        if (behind := int((now - self.due_s) * self.fps)) > 0:
            self.lost += behind
            self.due_s += behind / self.fps
        time.sleep(max(0.0, self.due_s - now))
        self.shown += 1
        # to and fro, so that the picture never jumps
        n = self.shown % (2 * len(self.frames) - 2)
        frame = self.frames[n if n < len(self.frames) else 2 * len(self.frames) - 2 - n]
        return replace(frame, id=self.shown, t_s=self.shown / self.fps)


class Others:
    """How many processors programs have that are no part of this one, or a virtual machine's host has taken (steal),
    from when it is made or asked to on."""

    def __init__(self) -> None:
        self._at = self._now()

    def processors(self) -> float:
        """Since then; children count as this program's once they have ended."""
        begun_s, busy_s = self._at
        self._at = now_s, then_s = self._now()
        return max(0.0, (then_s - busy_s) / max(1e-3, now_s - begun_s))

    @staticmethod
    def _now() -> tuple[float, float]:
        user, nice, system, _, _, _, _, steal = map(int, Path("/proc/stat").read_text("ascii").split(None, 9)[1:9])
        mine = os.times()
        return time.monotonic(), (user + nice + system + steal) / os.sysconf("SC_CLK_TCK") - sum(mine[:4])


def calm(end_s: float) -> None:
    """Wait until other programs leave the processors alone, at most until then (on the clock of time.monotonic)."""
    others = Others()
    while time.monotonic() < end_s:
        time.sleep(CALM_S)
        if others.processors() <= OTHERS:
            return


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(q * len(ordered)))], 1) if ordered else float("inf")


def run(kinds: list[str] | None, connections: int, addresses: list[int], seconds: float, fps: float,
        turns: int, patience: float = 0.0) -> list[dict[str, Any]]:
    """A row of figures for every kind and number of addresses; all kinds that there are when none is named. Those that
    other programs spoiled are measured again, for so many minutes. Raises ValueError that names a kind that is not
    there."""
    from flask import request as asked

    from bastide.camera.opening import open_camera
    from bastide.log.store import Store
    from bastide.table.demo_game import demo_game
    from bastide.table.session import TableSession
    from bastide.tiles.art import load_tiles
    from bastide.watching.checkup import CheckUp
    from bastide.watching.following import follow
    from bastide.watching.watcher import make_watcher
    from scoring.transcript import write
    from web.access import Access
    from web.app import create_app
    from web.rights import Memory, hashed
    from web.server import PageServer

    class Door(Access):
        """All of loopback but its first address is taken for other machines."""

        def from_machine(self) -> bool:
            return asked.remote_addr == "127.0.0.1"

    small, big = demo_game(1, turns=5), demo_game(2, turns=turns)
    with tempfile.TemporaryDirectory() as folder:
        transcript = Path(folder) / "game.json"
        transcript.write_text(json.dumps(write(small)), "utf-8")
        film: list[Any] = []
        with open_camera(f"sim:transcript={transcript}&seed=1&size=1152x648") as camera:
            info = camera.info
            while len(film) < FILM and (frame := camera.read()) is not None:
                if frame.t_s >= FROM_S:
                    film.append(frame)
        played = Path(folder) / "played"
        played.mkdir()
        with Store(played / "log.sqlite") as store:
            session = TableSession(store, big.setup)
            for n, event in enumerate(big.events):  # two questions are open, as they are when a camera is unsure
                session.commit((event,), confidence=0.98, asked=n >= len(big.events) - 2)
            known = strangers(create_app(session))
        if unknown := [kind for kind in kinds or () if kind not in known]:
            raise ValueError(f"there is no {unknown[0]!r}; there are: {', '.join(known)}")
        keys = Memory()
        keys.put(replace(keys.get(), table=hashed(PIN)))
        tiles = load_tiles(None, small.setup.expansions)

        def row(kind: str, count: int) -> dict[str, Any]:
            # A table for each: its log has not grown by what people did while another kind was measured, and nobody
            # is made to wait for what that has done.
            others = Others()
            with tempfile.TemporaryDirectory() as of_row, ExitStack() as stack:
                shutil.copytree(played, of_row, dirs_exist_ok=True)
                session = TableSession.resume(stack.enter_context(Store(Path(of_row) / "log.sqlite")))
                watched = TableSession(stack.enter_context(Store(Path(of_row) / "watched.sqlite")), small.setup)
                assert session is not None
                door = create_app(session, access=Door(keys), doctor=CheckUp(Path(of_row), session))
                server = stack.enter_context(PageServer(door, port=0))
                source, stop, warm = stack.enter_context(Filmed(film, info, fps)), threading.Event(), threading.Event()

                def on_frame(done: Any) -> None:
                    if done.frames % 10 == 0:  # the loop has something to say to the table that people look at
                        session.set_status("watching", str(done.frames))
                    if done.frames > WARM_S * fps:
                        warm.set()

                loop = threading.Thread(target=follow, kwargs={"stop": stop, "on_frame": on_frame},
                                        args=(source, make_watcher(tiles, watched.setup), watched))
                stack.callback(loop.join)
                stack.callback(stop.set)
                loop.start()
                if not warm.wait(60):
                    raise SystemExit("door: the loop does not follow the film")
                at = ["--port", str(server.port), "--seconds", str(seconds)]
                honest = subprocess.Popen([sys.executable, __file__, "--people", *at], stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, text=True)
                assert honest.stdin and honest.stdout
                assert honest.stdout.readline() == "ready\n"
                trouble = None if kind == QUIET else subprocess.Popen(
                    [sys.executable, __file__, "--hostile", json.dumps(known[kind]), "--connections",
                     str(connections), "--addresses", str(count), *at], stdout=subprocess.PIPE, text=True)
                shown, lost, cpu, begun = source.shown, source.lost, time.process_time(), time.monotonic()
                honest.stdin.write("\n")
                honest.stdin.flush()
                waited = json.loads(honest.communicate(timeout=seconds + 90)[0])
                shown, lost = source.shown - shown, source.lost - lost
                cpu = (time.process_time() - cpu) / (time.monotonic() - begun)
                answers = int(trouble.communicate(timeout=seconds + 30)[0]) if trouble else 0
            return {"kind": kind, "addresses": count, "answers": answers,
                    **{f"{what}_{name}_ms": quantile(waited[what], q) for what in ("state", "command")
                       for name, q in (("p50", 0.5), ("p99", 0.99))},
                    "states": len(waited["state"]), "commands": len(waited["command"]),
                    "frames_lost": round(lost / max(1, shown + lost), 3), "processors": round(cpu, 2),
                    "others": round(others.processors(), 2)}

        rows: dict[tuple[str, int], dict[str, Any]] = {}
        end_s = time.monotonic() + 60 * patience
        due = [(QUIET, addresses[0]), *((kind, count) for kind in kinds or known for count in addresses)]
        while due:
            for one in due:
                calm(end_s)
                rows[one] = row(*one)
                yield_row(rows[one], rows[QUIET, addresses[0]])
            due = [one for one in due if rows[one]["others"] > OTHERS] if time.monotonic() < end_s else []
        return list(rows.values())


def yield_row(row: dict[str, Any], idle: dict[str, Any]) -> None:
    """One line as soon as it is known, with how many times the p99 of the quiet table its own are."""
    for what in ("state", "command"):
        row[f"{what}_times"] = round(row[f"{what}_p99_ms"] / max(0.1, idle[f"{what}_p99_ms"]), 1)
    print(f"  {row['kind'][:32]:32} {row['addresses']:4} {row['answers']:8} {row['state_p50_ms']:9} "
          f"{row['state_p99_ms']:7} {row['state_times']:5} {row['command_p50_ms']:11} {row['command_p99_ms']:7} "
          f"{row['command_times']:5} {row['frames_lost']:8.1%} {row['processors']:6} {row['others']:7}",
          file=sys.stderr, flush=True)


def kept(row: dict[str, Any]) -> bool:
    """Whether a row keeps what is promised."""
    return bool(row["state_p99_ms"] <= STATE_MS and row["command_p99_ms"] <= COMMAND_MS and
                row["frames_lost"] <= FRAMES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=60)
    parser.add_argument("--addresses", default="1,60")
    parser.add_argument("--seconds", type=float, default=16, help="for each route; the film takes 15.8")
    parser.add_argument("--fps", type=float, default=10)
    parser.add_argument("--turns", type=int, default=60, help="of the game that lies there")
    parser.add_argument("--kinds", help="names of routes, separated by commas; all without it")
    parser.add_argument("--patience", type=float, default=10, help="minutes in all to wait for calm moments")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hostile", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--people", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.hostile:
        os.nice(19)
        print(hostile(args.hostile, args.port, args.connections, int(args.addresses), args.seconds))
        return 0
    if args.people:
        print(json.dumps(people(args.port, args.seconds)))
        return 0
    print(f"{args.connections} connections, {args.fps:g} frames a second, {os.cpu_count()} processors; milliseconds\n"
          "  route                            from  answers state p50     p99 times command p50     p99 times    lost"
          "   CPUs  others",
          file=sys.stderr)
    try:
        rows = run(args.kinds.split(",") if args.kinds else None, args.connections,
                   [int(a) for a in args.addresses.split(",")], args.seconds, args.fps, args.turns, args.patience)
    except ValueError as e:
        parser.error(str(e))
    if args.json:
        print(json.dumps(rows))
    asked = [r for r in rows if r["kind"] != QUIET]
    spoiled = [r for r in asked if r["others"] > OTHERS]
    broken = [f"{r['kind']} from {r['addresses']}" for r in asked if r not in spoiled and not kept(r)]
    print(f"kept in {len(asked) - len(spoiled) - len(broken)} of {len(asked)} rows (state {STATE_MS:g} ms, commands "
          f"{COMMAND_MS:g} ms at p99, at most {FRAMES:.0%} of the frames lost)"
          + (f"; {len(spoiled)} tell nothing: other programs had more than {OTHERS:g} processors" if spoiled else "")
          + (f"; not: {', '.join(broken)}" if broken else ""))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
