"""``bastide demo``: a whole simulated game through camera, vision, rules and page."""

from __future__ import annotations

import argparse
import json
import tempfile
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

from bastide.errors import Failure, UsageError
from bastide.inputs import expansions, port, seed
from scoring.report import score_game
from scoring.transcript import Game, write
from scoring.views import FinalView
from web.views import View

HELP = "play a simulated game: camera, vision, rules and page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=port, help="default 8000, with --once any free port")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--seed", type=seed, default=1)
    parser.add_argument("--speed", type=float, metavar="X",
                        help="multiple of real time; 0: as fast as possible (default 4)")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--turns", type=int, metavar="N", help="stop after N turns")
    parser.add_argument("--level", help="difficulty of the simulated table: easy, normal, hard, life (a board that is "
                        "pushed, arms that stay) or slides (one picture a turn); default: normal without faults")
    parser.add_argument("--once", action="store_true", help="play one game, print the final table and exit")


def run(args: argparse.Namespace) -> int:
    from bastide.camera.opening import open_camera
    from bastide.camera.pacing import Paced
    from bastide.commands.doctor_command import versions
    from bastide.log.store import Store
    from bastide.machine.stopping import stop_on_signals
    from bastide.table.demo_game import demo_game
    from bastide.table.session import TableSession
    from bastide.tiles.art import load_tiles
    from bastide.watching.checkup import CheckUp
    from bastide.watching.table_loop import TableLoop
    from bastide.watching.watcher import make_watcher
    from vision.simulator import LEVELS
    from web.app import create_app
    from web.server import PageServer, ServerError

    if args.turns is not None and args.turns < 1:
        raise UsageError("--turns: must be 1 or more")
    if args.speed is not None and not 0 <= args.speed < float("inf"):
        raise UsageError("--speed: must be 0 or more")
    if args.level is not None and args.level not in LEVELS:
        raise UsageError(f"--level: must be one of {', '.join(LEVELS)}")
    speed = args.speed if args.speed is not None else 0.0 if args.once else 4.0
    number = args.port if args.port is not None else 0 if args.once else 8000
    truth = demo_game(args.seed, turns=args.turns, expansions=expansions(args.expansions))
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bastide-demo-")))
        transcript = scratch / "game.json"
        transcript.write_text(json.dumps(write(truth)), "utf-8")
        store = stack.enter_context(Store(scratch / "log.sqlite"))
        session = TableSession(store, truth.setup)
        watcher = make_watcher(load_tiles(None, truth.setup.expansions), truth.setup)
        uri = f"sim:transcript={transcript}&seed={args.seed}"
        uri += f"&level={args.level}&mishaps=level" if args.level else ""
        loop = TableLoop(lambda: Paced(open_camera(uri), speed, stop), watcher, session)
        try:
            doctor = CheckUp(scratch, session, loop, more=partial(versions, pi=False))
            server = stack.enter_context(PageServer(create_app(session, doctor=doctor), args.host, number))
        except ServerError as e:
            raise Failure(str(e)) from e
        print(f"the page is at {server.url}", flush=True)
        loop.start()
        stack.callback(loop.stop)
        while not loop.ended.wait(0.2) and not stop.is_set():
            pass
        if loop.failure:
            raise Failure(loop.failure)
        if stop.is_set():
            return 0
        session.command({"do": "end_game"})
        if args.once:
            session.command({"do": "reveal", "step": "end"})
            view = fetch(f"{server.url}api/state")
        else:  # on the page the final scoring is presented first
            view = session.view()
        final = view["final"]
        if final is None:
            raise Failure("the game did not end")
        print(final_table(final, [p["name"] for p in view["players"]]))
        print(comparison(truth, final, questions=sum(h["asked"] for h in view["history"])))
        if not args.once:
            print("the game is over; the page stays up until you press Ctrl-C", flush=True)
            stop.wait()
    return 0


def fetch(url: str) -> View:
    """The view as a client of the page gets it; the URL is our own page's."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return cast(View, json.load(answer))


def comparison(truth: Game, final: FinalView, questions: int) -> str:
    """Compares the watched game with the one that was played."""
    played = score_game(truth)["totals"]
    asked = "1 question was asked" if questions == 1 else f"{questions} questions were asked"
    if played == final["totals"]:
        return f"the totals equal those of the game that was played; {asked}"
    return f"the totals DIFFER from those of the game that was played, {played}; {asked}"


def final_table(final: FinalView, names: Sequence[str]) -> str:
    """Points by player and category."""
    width = max(8, *(len(n) for n in names)) + 2
    first = max(12, *(len(row["category"]) + 1 for row in final["table"])) if final["table"] else 12
    lines = ["".ljust(first) + "".join(n.rjust(width) for n in names)]
    for row in final["table"]:
        lines.append(row["category"].ljust(first) + "".join(str(p).rjust(width) for p in row["points"]))
    lines.append("total".ljust(first) + "".join(str(p).rjust(width) for p in final["totals"]))
    lines.append("winner: " + " and ".join(names[w] for w in final["winners"]))
    return "\n".join(lines)
