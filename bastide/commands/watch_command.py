"""``bastide watch``: follow a camera or a recording and write the game as transcript/1."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bastide.errors import Failure, UsageError
from bastide.inputs import add_rules_arguments, expansions, players, rules
from scoring.events import Setup

if TYPE_CHECKING:
    from reading.record import Recorder

KEPT_EVERY_S = 5.0  # interval of saving the game so far beside the final file
HELP = "watch a camera or a recording and write the game"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="URI",
                        help="picamera:0, usb:0, http://..., video:FILE, folder:DIR or sim:...")
    parser.add_argument("--tiles", metavar="DIR", help="pictures of your own tiles")
    parser.add_argument("--players", metavar="FILE", help="JSON list of name and colour, in turn order")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--calibration", metavar="FILE", action="append",
                        help="from bastide calibrate; repeatable, for table and colours")
    parser.add_argument("--first", metavar="TILE", help="the start tile (default: the edition's)")
    parser.add_argument("--out", required=True, metavar="TRANSCRIPT")
    parser.add_argument("--data", metavar="DIR", default="data", help="where learned tiles are kept (default: data)")
    parser.add_argument("--learn", action="store_true", help="learn the tiles from this game")
    parser.add_argument("--record", metavar="FILE",
                        help="also record what was detected at every look (.jsonl.gz), for reporting errors")
    parser.add_argument("--json", action="store_true")
    add_rules_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from bastide.camera.calibrated import calibrated, load_calibrations, view_from
    from bastide.camera.opening import open_camera, opened
    from bastide.files.writing import write_whole
    from bastide.log.store import Store
    from bastide.machine.heap import limit_heap
    from bastide.machine.stopping import stop_on_signals
    from bastide.table.session import TableSession
    from bastide.table.setup import table_setup
    from bastide.tiles.art import box_contents, load_tiles, tile_book
    from bastide.watching.following import Followed, follow
    from bastide.watching.learning import Learner
    from bastide.watching.lens_notice import CODE as LENS_BENDS
    from bastide.watching.lens_notice import lens_measured
    from bastide.watching.recording import transcript_of
    from bastide.watching.watcher import make_watcher
    from vision.frames import SourceError
    from vision.tileset import merged

    limit_heap()
    printed = rules(args)
    setup = table_setup(args.source, printed, expansions(args.expansions, printed),
                        players(args.players) if args.players else None, args.first)
    tiles = load_tiles(args.tiles, setup.expansions)
    book = tile_book(args.data, args.tiles)
    documents = load_calibrations(args.calibration)
    view = view_from(documents)
    out = Path(args.out)
    if out.is_dir():
        raise UsageError(f"{args.out}: is a folder, not a file")
    for name in filter(None, (args.out, args.record)):
        if not Path(name).parent.is_dir():
            raise UsageError(f"{name}: there is no folder {Path(name).parent}")
    if args.record and Path(args.record).is_dir():
        raise UsageError(f"{args.record}: is a folder, not a file")
    told, lens_told = "", False
    done = Followed()
    so_far, written, due_s = out.with_name(f"{out.name[:200]}.so-far"), 0, 0.0

    def remember(now: Followed) -> None:
        nonlocal done, written, due_s, told, lens_told
        done = now
        view_now = session.view()
        status = view_now["status"]
        code = status.get("code", "") if status["chip"] == "camera_lost" else ""
        if code and code != told:
            print(f"frame {now.frames}: {status['text']}", file=sys.stderr)
        told = code
        bends = next((i["text"] for i in view_now["issues"] if i["code"] == LENS_BENDS), "")
        if bends and not lens_told:
            print(f"frame {now.frames}: {bends}", file=sys.stderr)
            lens_told = True
        if len(session.entries) != written and time.monotonic() >= due_s:
            written = len(session.entries)
            begun = time.monotonic()
            with suppress(OSError):  # in case of a power cut; a disk error is reported at the end
                write_whole(so_far, json.dumps(transcript_of(session)).encode())
            due_s = time.monotonic() + max(KEPT_EVERY_S, 50 * (time.monotonic() - begun))
        if sys.stderr.isatty() and now.frames % 20 == 0:
            print(f"\r{now.frames} frames, {len(session.state.tiles)} tiles, {now.questions} questions ", end="",
                  file=sys.stderr)

    stopped: str | None = None
    record: Recorder | None = None
    with tempfile.TemporaryDirectory() as scratch, Store(Path(scratch) / "log.sqlite") as store:
        session = TableSession(store, setup)
        learner = Learner(book, session, lambda _: tiles, box_contents) if args.learn else None
        with stop_on_signals() as stop, opened(calibrated(open_camera(args.source), documents, view)) as camera:
            if args.record:
                record = begun_record(Path(args.record), setup)
            try:
                follow(camera, make_watcher(merged(tiles, book.tileset()), setup, view, record=record), session,
                       stop=stop, on_frame=remember, learner=learner, lens_known=lambda: lens_measured(documents))
                if learner is not None:
                    learner.write()
            except SourceError as e:  # keep what was seen until then
                stopped = str(e)
            if stop.is_set():
                print("interrupted: writing the game so far", file=sys.stderr)
        game = transcript_of(session)
    try:
        write_whole(out, json.dumps(game, indent=1).encode())
        so_far.unlink(missing_ok=True)
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    if record is not None:
        try:
            record.flush()
        except OSError as e:
            raise Failure(f"{args.record}: cannot be written ({e.strerror or e})") from e
    asked = sum(bool(m.get("asked")) for t in game["turns"] for m in t["moves"])
    summary: Summary = {"turns": len(game["turns"]), "questions": asked, "frames": done.frames,
               "latency_ms": {"p50": done.latency_ms(0.5), "p95": done.latency_ms(0.95)},
               "totals": game["expect"]["totals"]}
    if args.json:
        print(json.dumps(summary))
    else:
        show(setup, summary, args.out)
    if stopped is not None:
        raise Failure(f"{stopped}; the game until then is in {args.out}")
    return 0


def begun_record(path: Path, setup: Setup) -> Recorder:
    """Start a new record of looks, replacing an earlier one. Raises Failure."""
    from reading.record import Recorder
    from scoring.transcript import Game, write

    try:
        if path.is_file():
            path.unlink()
        return Recorder(path, {"setup": write(Game(setup=setup, turns=()))["setup"]})
    except OSError as e:
        raise Failure(f"{path}: cannot be written ({e.strerror or e})") from e


class Latency(TypedDict):
    """Milliseconds from receiving a frame until its moves are on disk."""

    p50: float
    p95: float


class Summary(TypedDict):
    """The result of watching."""

    turns: int
    questions: int
    frames: int
    latency_ms: Latency
    totals: list[int]


def show(setup: Setup, summary: Summary, out: str) -> None:
    """The summary as text."""
    print(f"{summary['turns']} turns in {summary['frames']} frames, {summary['questions']} doubtful moves, "
          f"written to {out}")
    for player, total in zip(setup.players, summary["totals"], strict=True):
        print(f"  {player.name:<12} {total:>4}")
