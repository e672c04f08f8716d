"""A club evening on this machine: simulated tables, a real broker, the hub as a process, and many screens.

    python benchmarks/club.py load [--tables 20] [--viewers 60] [--seconds 30]
    python benchmarks/club.py faults [--kills 50] [--tables 20]
    python benchmarks/club.py cut [--tables 20]
    python benchmarks/club.py evening [--tables 8] [--rounds 5] [--node-modules DIR]

``load``: every table publishes once a second, with the messages of recorded games; measured are the latency from the
table to the last screen, the resources of the hub and the broker, and the traffic to a screen. ``faults`` kills the
broker repeatedly while tables with wrong clocks play, uses one name twice, has strangers publish garbage, and compares
every screen with every table afterwards. ``cut`` puts the broker in another network and pulls the cable. ``evening``
plays a tournament: rounds from a pairing program (tournament-pairings of npm, installed in DIR), an odd player so that
somebody has a bye, the hub that starts and ends them, tables that play and confirm, results back into the program,
standings. Needs mosquitto.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import re
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / n) for n in ("web", "bastide", "club"))]
QUANTILES = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
RIGHT_S = 10.0  # after a fault, within which every screen must be correct


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def used(pid: int) -> tuple[float, float]:
    """Memory in MB and processor time in seconds of a process."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return kb / 1024, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- screens ----------------------------------------------------------------------------------------------------------


def viewers(port: int, count: int) -> None:
    """The screens' process: holds ``count`` event streams and prints, per update of a table, when the first and the
    last screen received it, and the bytes for one screen."""
    selector = selectors.DefaultSelector()
    for n in range(count):
        s = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.{n % 200 + 1}.1", 0))
        s.sendall(f"GET /api/hall/events?after={NUMBER[0]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        s.setblocking(False)
        selector.register(s, selectors.EVENT_READ, [n, b""])
    print("open", flush=True)
    seen: dict[tuple[str, int], list[float]] = {}
    got, closed = 0, 0
    while closed < count:
        for key, _ in selector.select():
            try:
                data = key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
            except OSError:
                data = b""
            if not data:
                selector.unregister(key.fileobj)
                closed += 1
                continue
            now = time.monotonic()
            n = key.data[0]
            if n == 0:
                got += len(data)
            lines = (key.data[1] + data).split(b"\n")
            key.data[1] = lines.pop()
            for line in lines:
                if not line.startswith(b'data: {"number"'):
                    continue
                for table, rev in REV.findall(line):
                    entry = seen.setdefault((table.decode(), int(rev)), [0, now, now])
                    entry[0] += 1
                    entry[2] = now
                    if entry[0] == count:
                        print(json.dumps([table.decode(), int(rev), entry[1], entry[2], got]), flush=True)
                        del seen[table.decode(), int(rev)]


REV = re.compile(rb'"key":"([^"]+)"[^{}]*"(?:set|state)":\{[^{}]*?"rev":(\d+)')
NUMBER = [0]


def start_viewers(url: str, count: int) -> subprocess.Popen[str]:
    import urllib.request

    with urllib.request.urlopen(url + "api/hall") as answer:
        number = json.load(answer)["number"]
    port = url.rstrip("/").rpartition(":")[2]
    made = subprocess.Popen([sys.executable, __file__, "view", "--port", port, "--viewers", str(count), "--number",
                             str(number)], stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None and made.stdout.readline() == "open\n"
    return made


# -- tables -----------------------------------------------------------------------------------------------------------


def states(seed: int, name: str, device: str) -> list[dict[str, Any]]:
    """The states of a table through a recorded game, as they are published."""
    from webtable import EVENTS, PLAYERS

    from bastide.club.message import Sender, state
    from scoring.engine import new_game, step
    from scoring.events import Setup
    from scoring.projection import live_view
    from scoring.rules import edition

    game, out = new_game(Setup(players=PLAYERS, rules=edition("zman2012"))), []
    for n, event in enumerate(EVENTS):
        game = step(game, event)
        view = {**live_view(game, (), n), "update": n + 1, "game": 1, "aid": "coach",
                "status": {"chip": "watching", "text": ""}}
        out.append(state(view, Sender(name, device, 1), at_s=time.time()))
    return out[seed % 40:] or out


def load(args: argparse.Namespace) -> dict[str, object]:
    """Tables that publish once a second; returns the figures."""
    import paho.mqtt.client as mqtt
    from brokers import Mosquitto
    from paho.mqtt.enums import CallbackAPIVersion
    from processes import Served

    from bastide.club.message import packed, topic

    template = states(0, "T", "0" * 12)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(Mosquitto(folder))
        hub = stack.enter_context(Served("hub", "--port", 0, "--data", folder / "hub", "--mqtt", broker.url,
                                         patience_s=3600))
        assert broker._process is not None
        clients = []
        for n in range(args.tables):
            client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=f"table-{n}")
            client.connect("127.0.0.1", broker.port)
            client.loop_start()
            stack.callback(client.loop_stop)
            clients.append(client)
        sent: dict[tuple[str, int], float] = {}
        size: list[int] = []

        def say(n: int, rev: int) -> None:
            document = {**template[min(rev + n % 30, len(template) - 1)], "table": f"T{n}", "device": f"{n:012x}",
                        "rev": rev}
            payload = packed(document)
            size.append(len(payload))
            sent[f"t{n}", rev] = time.monotonic()
            clients[n].publish(topic(f"t{n}", "state"), payload, qos=1, retain=True)

        for n in range(args.tables):
            say(n, 1)
        time.sleep(3)
        screens = start_viewers(hub.url, args.viewers)
        stack.callback(screens.kill)
        done: list[tuple[float, float, float]] = []
        got = [0]

        def collect() -> None:
            assert screens.stdout is not None
            for line in screens.stdout:
                table, rev, first, last, got[0] = json.loads(line)
                done.append((sent[table, rev], first, last))

        threading.Thread(target=collect, daemon=True).start()
        rng = random.Random(1)
        offsets = [rng.random() for _ in range(args.tables)]
        order = sorted(range(args.tables), key=lambda n: offsets[n])
        (_, hub_cpu), (_, broker_cpu), begun = used(hub.process.pid), used(broker._process.pid), time.monotonic()
        for second in range(args.seconds):
            for n in order:
                wait = begun + second + offsets[n] - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                say(n, second + 2)
        spent = time.monotonic() - begun
        time.sleep(3)
        hub_mb, hub_after = used(hub.process.pid)
        broker_mb, broker_after = used(broker._process.pid)
    last = [1000 * (e - s) for s, _, e in done]
    first = [1000 * (f - s) for s, f, _ in done]
    return {"tables": args.tables, "viewers": args.viewers, "updates": args.seconds * args.tables,
            "on_every_screen": len(done), "seconds": round(spent, 1),
            "to_the_first_ms": {q: round(quantile(first, v)) for q, v in QUANTILES},
            "to_the_last_ms": {q: round(quantile(last, v)) for q, v in QUANTILES},
            "message_bytes": round(sum(size) / len(size)), "bytes_a_screen_a_second": round(got[0] / spent),
            "hub": {"memory_mb": round(hub_mb), "processors": round((hub_after - hub_cpu) / spent, 2)},
            "broker": {"memory_mb": round(broker_mb, 1), "processors": round((broker_after - broker_cpu) / spent, 3)},
            "load": os.getloadavg()[0]}


# -- faults -----------------------------------------------------------------------------------------------------------


def faults(args: argparse.Namespace) -> dict[str, object]:
    """Tables that really play while the broker is killed; returns the errors on a screen 10 s after each fault."""
    from brokers import Ear, Mosquitto
    from tables import ClubTable, moves
    from test_hall import Screen

    from bastide.club.hub import Hub
    from bastide.club.publisher import Beat
    from bastide.club.results import Results

    logging.disable(logging.WARNING)
    rng, wrong, late, kills = random.Random(args.seed), [], [], 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(Mosquitto(folder))
        results = stack.enter_context(Results(folder / "hub"))
        hub = stack.enter_context(Hub(broker.address, results))
        screen = Screen(hub.hall)
        game = moves(3, 60)
        tables = []
        for n in range(args.tables):
            table = stack.enter_context(ClubTable(folder / str(n), broker, f"T{n}", beat=Beat(),
                                                  clock=lambda n=n: time.time() + 120 * (n % 3 - 1)))
            tables.append(table)
        played = [0] * args.tables
        stop = threading.Event()
        slow: list[float] = []

        def play() -> None:
            while not stop.wait(0.02):
                n = rng.randrange(args.tables)
                begun = time.monotonic()
                if played[n] < len(game):
                    tables[n].session.commit((game[played[n]],), confidence=0.9, asked=False)
                    played[n] += 1
                else:
                    tables[n].session.command({"do": "undo"})
                    played[n] -= 1 if rng.random() < 0.5 else 0
                    played[n] = min(played[n], len(game))
                    tables[n].session.set_status("watching", str(rng.random()))
                slow.append(time.monotonic() - begun)

        def played_well() -> bool:
            screen.follow()
            return all(screen.tables.get(f"t{n}", {}).get("rev") == t.session.view()["update"]
                       for n, t in enumerate(tables))

        def settle(what: str) -> None:
            """Pause the play and compare every screen with its table."""
            begun = time.monotonic()
            while not played_well() and time.monotonic() - begun < 3 * RIGHT_S:
                time.sleep(0.05)
            took = time.monotonic() - begun
            late.append(took)
            if not played_well() or took > RIGHT_S:
                wrong.append(f"{what}: {took:.1f} s")
            for n, t in enumerate(tables):
                told, view = screen.tables[f"t{n}"], t.session.view()
                lie = {tuple(x["at"]) for x in view["board"]["tiles"]}
                if [p["score"] for p in told["players"]] != [p["score"] for p in view["players"]] or \
                        {tuple(x[:2]) for x in told["board"]["tiles"]} != lie:
                    wrong.append(f"{what}: table {n} is shown otherwise")

        settle("start")
        for n in range(args.kills):
            stop.clear()
            player = threading.Thread(target=play)
            player.start()
            time.sleep(rng.random() * 0.4)
            broker.kill()
            kills += 1
            time.sleep(rng.random() * 0.6)
            broker.start()
            time.sleep(rng.random() * 0.4)
            stop.set()
            player.join()
            settle(f"kill {n + 1}")
        stop.clear()
        with Ear(broker) as ear:
            for n in range(args.tables):
                ear.say(f"bastide/t{n}/state", rng.choice([b"", b"{", os.urandom(4000), b"x" * 10_000_000]),
                        retain=True)
                ear.say(f"bastide/t{n}/availability", b"offline", retain=True)
        for table in tables:
            table.session.set_status("hand")
        settle("garbage")
        double = stack.enter_context(ClubTable(folder / "double", broker, "T0", beat=Beat()))
        double.session.set_status("hand")
        time.sleep(1)
        screen.follow()
        if sum(k.startswith("t0") for k in screen.tables) != 2:
            wrong.append("two tables with one name are not shown as two")
    return {"tables": args.tables, "kills": kills, "wrong": wrong,
            "right_after_s": {q: round(quantile(late, v), 2) for q, v in QUANTILES},
            "a_move_ms": {q: round(1000 * quantile(slow, v), 1) for q, v in QUANTILES},
            "moves": len(slow), "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            "load": os.getloadavg()[0]}


def cut(args: argparse.Namespace) -> dict[str, object]:
    """The broker in another network, whose cable is pulled for a while and plugged in again; needs root."""
    from brokers import Mosquitto
    from tables import ClubTable, moves
    from test_hall import Screen

    from bastide.club.hub import Hub
    from bastide.club.publisher import Beat
    from bastide.club.results import Results

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    logging.disable(logging.WARNING)
    name, ours, theirs = "bastide-bench", "bastide-b0", "bastide-b1"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ip("netns", "add", name)
        stack.callback(subprocess.run, ["ip", "netns", "del", name])
        ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
        ip("addr", "add", "10.213.77.1/30", "dev", ours)
        ip("link", "set", ours, "up")
        ip("-n", name, "addr", "add", "10.213.77.2/30", "dev", theirs)
        ip("-n", name, "link", "set", theirs, "up")
        broker = stack.enter_context(Mosquitto(folder, host="10.213.77.2", inside=("ip", "netns", "exec", name)))
        hub = stack.enter_context(Hub(broker.address, stack.enter_context(Results(folder / "hub"))))
        tables = [stack.enter_context(ClubTable(folder / str(n), broker, f"T{n}", beat=Beat()))
                  for n in range(args.tables)]
        screen, right, slow = Screen(hub.hall), [], [0.0]

        def settled() -> bool:
            screen.follow()
            return all(screen.tables.get(f"t{n}", {}).get("rev") == t.session.view()["update"]
                       for n, t in enumerate(tables))

        game, seconds = moves(3, 60), (2, 5, 15, 30)
        for n, away_s in enumerate(seconds):
            ip("link", "set", ours, "down")
            until = time.monotonic() + away_s
            for event in game[n * 12:n * 12 + 12]:
                for table in tables:
                    begun = time.monotonic()
                    table.play(event)
                    slow.append(time.monotonic() - begun)
            time.sleep(max(0.0, until - time.monotonic()))
            assert not settled(), "nothing can have come through"
            ip("link", "set", ours, "up")
            begun = time.monotonic()
            while not settled() and time.monotonic() - begun < 6 * RIGHT_S:
                time.sleep(0.05)
            right.append(round(time.monotonic() - begun, 1))
    return {"tables": args.tables, "away_s": seconds, "right_after_s": right,
            "a_move_ms": {q: round(1000 * quantile(slow, v), 1) for q, v in QUANTILES}, "load": os.getloadavg()[0]}


# -- a tournament -----------------------------------------------------------------------------------------------------


def paired(played: dict[str, Any], names: list[str], number: int, modules: str) -> str:
    """The next round from the pairing program."""
    return subprocess.run(["node", str(ROOT / "benchmarks" / "club_pairing.mjs"), str(number), ",".join(names)],
                          input=json.dumps(played), text=True, capture_output=True, check=True,
                          env={**os.environ, "NODE_PATH": modules}).stdout


def evening(args: argparse.Namespace) -> dict[str, object]:
    """A tournament from the first pairings to the standings."""
    from brokers import Mosquitto
    from tables import ClubTable, moves

    from bastide.club.hub import Hub
    from bastide.club.results import Results

    names = [f"P{n + 1:02d}" for n in range(2 * args.tables + 1)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(Mosquitto(folder))
        results = stack.enter_context(Results(folder / "hub"))
        hub = stack.enter_context(Hub(broker.address, results))
        tables = [stack.enter_context(ClubTable(folder / str(n), broker, f"Table {n + 1}", commands=True))
                  for n in range(args.tables)]
        begun = time.monotonic()
        for number in range(1, args.rounds + 1):
            played = hub.organiser.export("rounds.json")
            before = str(hub.organiser.export("rounds.csv")).splitlines()[1:] if number > 1 else []
            fresh = paired(played, names, number, args.node_modules)  # type: ignore[arg-type]
            text = "\n".join(["round,table,player1,player2,score1,score2,winner,confirmed", *before,
                              *fresh.splitlines()[1:]])
            hub.organiser.load(text, {"clock_s": 900})
            hub.organiser.do("begin", number)
            for n, table in enumerate(tables):
                while (table.session.game_round() or {}).get("number") != number:
                    time.sleep(0.05)
                table.play(*moves(number * 10 + n % 3, 8))
                table.session.command({"do": "end_game"})
                for player in (0, 1):
                    table.session.command({"do": "confirm", "player": player})
            while any(not g["confirmed"] for r in hub.organiser.told()["rounds"] for g in r["games"]):
                time.sleep(0.05)
            hub.organiser.do("end", number)
            while any((t.session.game_round() or {"locked": True})["locked"] for t in tables):
                time.sleep(0.05)
        told = hub.organiser.told()
        print(hub.organiser.export("standings.csv"))
        met = [frozenset(g["players"]) for r in told["rounds"] for g in r["games"] if not g["bye"]]
        scores = [[p["score"] for p in t.session.view()["players"]] for t in tables]
        return {"tables": args.tables, "rounds": args.rounds, "players": len(names), "games": len(met),
                "met_twice": len(met) - len(set(met)), "wins": sum(s["wins"] for s in told["standings"]),
                "last_round_right": [g["scores"] for g in told["rounds"][-1]["games"] if not g["bye"]] == scores,
                "evening_has": len(results.games()), "seconds": round(time.monotonic() - begun, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["load", "faults", "cut", "evening", "view"])
    parser.add_argument("--tables", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--node-modules", default="node_modules", help="where tournament-pairings is installed")
    parser.add_argument("--viewers", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.tables = args.tables or (8 if args.what == "evening" else 20)
    if args.what == "view":
        NUMBER[0] = args.number
        return viewers(args.port, args.viewers)
    print(json.dumps({"load": load, "faults": faults, "cut": cut, "evening": evening}[args.what](args), indent=1))


if __name__ == "__main__":
    main()
