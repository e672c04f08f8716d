"""Watch the films in ../shared/sequences as `bastide watch` does and compare every game with its truth.

    ./run bench watch_sequences [NAME...] [--taught] [--calibrated] [--fps N] [--learn] [--answered]
                                    [--drop SHARE] [--record DIR] [--replay DIR]

One row per film: correct tiles and figures, tiles attributed to the wrong player, moves asked about, silent errors (a
wrong or missing tile, figure or player without a question), whether the last known scores are equal. ``real-1`` is a
real game of which every picture is shown for five seconds. With --fps the films are shown at that frame rate instead of
4: ``real-1`` at any rate, the others, of which every nth frame is taken, at 1 or 2. With --drop that share of the
frames is lost, in gaps of 0.75 s on average (as on a machine that is busy now and then). With --learn tiles learned
from one film are used in the next. With --answered every question is answered correctly at once (person.py): the
questions are printed, and remaining errors count as silent; with both, tiles are learned while people answer, as in
`bastide serve`. With --record the looks of each film are kept in a folder; with --replay those are read again, without
the film, which takes seconds. The films are not in the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

import cv2
from person import Person
from recorded_looks import read_again

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import box_contents, load_tiles, tile_book
from bastide.watching.following import commit, follow
from bastide.watching.learning import Learner
from bastide.watching.recording import transcript_of
from bastide.watching.watcher import make_watcher
from scoring.transcript import read
from vision.frames import Frame, FrameSource, SourceInfo
from vision.tileset import merged

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
FILMS = ("real-1", "c1-24", "scans-normal", "inns-normal", "traders-normal", "scans-hard-wide")
TAUGHT = {"real-1": "tiles/c1", "c1-24": "tiles/c1"}  # the others have a set of their own, one picture a kind
FPS = 4
GAP_S = 0.75  # mean length of a gap with --drop


def compare() -> Any:
    spec = importlib.util.spec_from_file_location("compare", SHARED / "eval" / "compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source_of(name: str, scratch: Path, fps: int) -> str:
    """The address of the film at that frame rate, for `bastide watch`."""
    folder, film = SHARED / "sequences" / name, scratch / "film"
    if (folder / "pictures").is_dir():
        subprocess.run([sys.executable, str(SHARED / "eval" / "slideshow.py"), str(folder / "pictures"), str(film),
                        "--frames", str(5 * fps)], check=True, capture_output=True)
    elif fps == FPS:
        return f"video:{folder / 'video.mp4'}"
    else:
        film.mkdir()
        video, number = cv2.VideoCapture(str(folder / "video.mp4")), 0
        while video.grab():
            if number % (FPS // fps) == 0:
                cv2.imwrite(str(film / f"frame_{number:06d}.jpg"), video.retrieve()[1], (cv2.IMWRITE_JPEG_QUALITY, 97))
            number += 1
    return f"folder:{film}?fps={fps}"


def watched(name: str, scratch: Path, *, taught: bool, lens: Path | None, fps: int = FPS,
            book: Path | None = None, record: Path | None = None) -> dict[str, Any]:
    """The game as `bastide watch` writes it, and what it printed under ``watch``; with a ``book`` it learns into that
    data folder, and reads with its pictures; the looks are appended to the file ``record``."""
    folder = SHARED / "sequences" / name
    source = source_of(name, scratch, fps)
    setup = json.loads((folder / "transcript.json").read_text())["setup"]
    options = ["--expansions", ",".join(setup["expansions"])]
    for rule, value in setup.get("rules", {}).items():
        options += ["--rule", f"{rule}={value}"]
    if taught:
        options += ["--tiles", str(SHARED / TAUGHT[name] if name in TAUGHT else folder / "tiles")]
    if lens is not None:
        options += ["--calibration", str(lens)]
    if book is not None:
        options.append("--learn")
    if record is not None:
        options += ["--record", str(record)]
    out = scratch / "game.json"
    done = subprocess.run([sys.executable, "-m", "bastide", "watch", "--source", source, "--players",
                           str(folder / "players.json"), "--data", str(book or scratch / "data"),
                           "--out", str(out), "--json", *options], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip()}")
    return {**json.loads(out.read_text()), "watch": json.loads(done.stdout)}


class Gaps:
    """A camera of which a ``share`` of the frames is lost, always the same ones, in gaps of ``GAP_S`` on average."""

    def __init__(self, camera: FrameSource, share: float) -> None:
        self._camera, self._rng, self._last_s = camera, random.Random(1), 0.0
        self._rates = share / (1.0 - share) / GAP_S, 1.0 / GAP_S  # of gaps beginning and ending, per second
        self._lost = False

    @property
    def info(self) -> SourceInfo:
        return self._camera.info

    def __enter__(self) -> Self:
        self._camera.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._camera.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        while (frame := self._camera.read(timeout_s)) is not None:
            step_s, self._last_s = frame.t_s - self._last_s, frame.t_s
            if self._rng.random() < self._rates[self._lost] * step_s:
                self._lost = not self._lost
            if not self._lost:
                return frame
        return None


def answered(name: str, scratch: Path, *, taught: bool, fps: int, learned: Path | None, drop: float = 0.0,
             person: Person | None = None) -> dict[str, Any]:
    """The game; a ``person`` answers every question at once, if there is one. With a folder ``learned`` its tiles are
    learned there, and read with at once; a share ``drop`` of the frames is lost."""
    folder = SHARED / "sequences" / name
    truth = read(json.loads((folder / "transcript.json").read_text()))
    art = SHARED / TAUGHT[name] if name in TAUGHT else folder / "tiles"
    with Store(scratch / "log.sqlite") as store:
        session = TableSession(store, truth.setup)
        tiles = load_tiles(str(art) if taught else None, truth.setup.expansions)
        book = None if learned is None else tile_book(str(learned), str(art) if taught else None)
        learner = None if book is None else Learner(book, session, lambda _: tiles, box_contents)
        watcher = make_watcher(tiles if book is None else merged(tiles, book.tileset()), truth.setup)
        camera = open_camera(source_of(name, scratch, fps))
        with Gaps(camera, drop) if drop else camera as source:
            follow(source, watcher, session, save=commit if person is None else person.save, learner=learner)
        if learner is not None:
            learner.write()
        return transcript_of(session)


def replayed(name: str, scratch: Path, looks: Path, person: Person | None) -> dict[str, Any]:
    """The game read from recorded looks; a person answers if there is one."""
    setup = read(json.loads((SHARED / "sequences" / name / "transcript.json").read_text())).setup
    with Store(scratch / "log.sqlite") as store:
        session = TableSession(store, setup)
        read_again(looks, session, commit if person is None else person.save)
        return transcript_of(session)


def lens_of(name: str, scratch: Path) -> Path:
    """The lens, calibrated from the film's own views of a board."""
    folder = SHARED / "sequences" / name / "calibration"
    views = sorted(str(p) for p in folder.glob("*.jpg") if "table" not in p.name and "flat" not in p.name) or \
        sorted(str(p) for p in folder.glob("*.png"))
    out = scratch / "lens.json"
    done = subprocess.run([sys.executable, "-m", "bastide", "calibrate", "lens", *views, "--out", str(out)], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip()}")
    return out


def players_wrong(module: Any, game: dict[str, Any], truth: dict[str, Any]) -> int:
    """Number of tiles given to the wrong player without a question."""
    true, got = module.tile_moves(truth), module.tile_moves(game)
    turn, (dx, dy) = module.best_alignment(got, true)
    by_place = {}
    for move in got:
        x, y = module.turn_at(move["at"], turn)
        by_place[x + dx, y + dy] = move
    return sum(1 for t in true if t["turn"] >= 0 and (g := by_place.get(tuple(t["at"]))) is not None
               and g.get("player") != t["player"] and not g["asked"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(FILMS), metavar="NAME", help=f"of {', '.join(FILMS)}")
    parser.add_argument("--taught", action="store_true", help="with one picture of each kind")
    parser.add_argument("--calibrated", action="store_true", help="with the lens calibrated from the film's own views")
    parser.add_argument("--fps", type=int, default=FPS, help=f"pictures a second (default: {FPS})")
    parser.add_argument("--drop", type=float, default=0.0, metavar="SHARE", help="this share of the frames is lost")
    parser.add_argument("--learn", action="store_true", help="learn the tiles from each film for those after it")
    parser.add_argument("--answered", action="store_true", help="somebody answers every question at once, and right")
    parser.add_argument("--record", type=Path, metavar="DIR", help="keep each film's looks there, as NAME.json.gz")
    parser.add_argument("--replay", type=Path, metavar="DIR", help="read the looks kept there instead of the films")
    options = parser.parse_args()
    if (options.answered or options.drop) and (options.calibrated or options.record):
        parser.error("--answered and --drop go with neither --calibrated nor --record")
    if not 0.0 <= options.drop < 1.0:
        parser.error("--drop: a share of the frames, at least 0 and below 1")
    if options.replay and (options.calibrated or options.record or options.learn or options.taught or options.drop):
        parser.error("--replay goes with --answered only: the looks are as they were recorded")
    if options.fps < 1 or any(FPS % options.fps for name in options.names if name != "real-1"):
        parser.error(f"--fps {options.fps}: films have {FPS} pictures a second, of which every nth can be taken; "
                     "only real-1 can be shown at any rate")
    if not (SHARED / "sequences").is_dir():
        print(f"skipped: no films at {SHARED / 'sequences'}")
        return 0
    if options.record:
        options.record.mkdir(parents=True, exist_ok=True)
    module = compare()
    print("| film | tiles | figures | players wrong | asked | silent | scores |\n|---|---|---|---|---|---|---|")
    learned = tempfile.TemporaryDirectory() if options.learn else None
    for name in options.names:
        truth = json.loads((SHARED / "sequences" / name / "transcript.json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            lens = lens_of(name, scratch) if options.calibrated else None
            person = Person(read(truth)) if options.answered else None
            if options.replay:
                game = replayed(name, scratch, options.replay / f"{name}.json.gz", person)
            elif options.answered or options.drop:
                game = answered(name, scratch, taught=options.taught, fps=options.fps, drop=options.drop,
                                learned=None if learned is None else Path(learned.name), person=person)
            else:
                game = watched(name, scratch, taught=options.taught, lens=lens, fps=options.fps,
                               book=None if learned is None else Path(learned.name),
                               record=options.record and options.record / f"{name}.json.gz")
        told = module.compare_watch(game, truth)
        questions = person.asked if person is not None else []
        asked = len(questions) if options.answered else told["asked"]
        wrong = players_wrong(module, game, truth)
        whole = told["true_totals"] is not None
        equal = told["totals_right"] if whole else told["running_score"] == told["true_running_score"]
        print(f"| {name} | {told['tiles_right']}/{told['tiles']}"
              f"{' +' + str(told['extra']) if told['extra'] else ''} | {told['deploys_right']}/{told['deploys']}"
              f"{' +' + str(told['deploys_extra']) if told['deploys_extra'] else ''} | {wrong} | {asked} | "
              f"{told['silent_errors'] + wrong} | {'equal' if equal else 'differ'} |", flush=True)
        print("".join(f"    {question}\n" for question in questions), end="", flush=True)
    if learned is not None:
        learned.cleanup()
    return 0


if __name__ == "__main__":
    sys.exit(main())
