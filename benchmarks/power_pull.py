"""Durability test: the program is killed at random moments of a running game, and its disk is made to misbehave.

    ./run bench power_pull                      500 kills of a real server, 5 with a simulated camera
    ./run bench power_pull --kills 1000 --seed 7 --data FOLDER   in pieces: the same folder goes on with the same log
    ./run bench power_pull --tables 300          another game each time: begun, opened, ended, restored from a backup
    ./run bench power_pull --kills 0 --images 2000 --spells 400  the storage alone

Kills: `bastide serve` plays by commands over HTTP as fast as it responds, with clients on its event stream, and gets
SIGKILL at a random moment, sometimes during start-up. After each restart the log on disk is compared with the commands:
nothing acknowledged missing, nothing duplicated, at most the one unanswered command; everything shown to a client is on
disk; all clients converge on the served view. Printed: the counts, and the time of a restart from the start of the
process to the first response.

Tables: the kill comes while games are started, opened, played, ended, or a backup is restored. After the restart the
game on the table is the last acknowledged one, with its entries, or the one requested by the unanswered command; never
another.

Storage: crash images from recorded writes and syncs (tests/bastide/faulty_disk.py), with torn, lost and reordered
writes; a disk that ignores syncs; a disk that is temporarily full, read-only or failing.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bastide")]

from processes import Served  # noqa: E402

from bastide.table.demo_game import demo_game  # noqa: E402
from scoring.events import to_json  # noqa: E402

CLIENTS = 3
ADMIN, PIECE = "907143", 48_000
LONGEST = 160  # entries after which a new game is started


@dataclass(slots=True)
class Result:
    kills: int = 0
    starting: int = 0
    acknowledged: int = 0
    unanswered_kept: int = 0
    games: int = 0
    missing: int = 0
    doubled: int = 0
    wrong: int = 0
    shown_not_kept: int = 0
    diverged: int = 0
    notices: int = 0
    resume_s: list[float] = field(default_factory=list)
    why: list[str] = field(default_factory=list)

    @property
    def losses(self) -> int:
        return self.missing + self.doubled + self.wrong + self.shown_not_kept + self.diverged + self.notices

    def line(self) -> dict[str, Any]:
        times = sorted(self.resume_s) or [0.0]
        return {"kills": self.kills, "of them while starting": self.starting, "acknowledged commands":
                self.acknowledged, "unanswered but kept": self.unanswered_kept, "games": self.games,
                "missing": self.missing, "doubled": self.doubled, "wrong": self.wrong,
                "shown but not kept": self.shown_not_kept, "clients diverged": self.diverged,
                "damaged files": self.notices, "resume s median": round(statistics.median(times), 2),
                "resume s worst": round(times[-1], 2)}


class Client(threading.Thread):
    """A viewer: records the highest version it received of each game, and its current view."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self.view: dict[str, Any] = {}
        self.shown: tuple[int, int] = (0, 0)
        self.news = threading.Condition()

    def run(self) -> None:
        try:
            with urllib.request.urlopen(self._url + "api/events", timeout=60) as stream:
                kind = ""
                for raw in stream:
                    line = raw.decode().rstrip("\n")
                    if line.startswith("event: "):
                        kind = line[7:]
                    elif line.startswith("data: "):
                        self._take(kind, json.loads(line[6:]))
        except (OSError, ValueError):
            pass  # killed in the middle of a line

    def _take(self, kind: str, data: dict[str, Any]) -> None:
        with self.news:
            if kind == "view":
                self.view = data
            elif kind == "change" and data["base"] == self.view.get("update"):
                self.view = {k: v for k, v in {**self.view, **data["set"]}.items() if k not in data["drop"]}
            if self.view:
                self.shown = max(self.shown, (self.view["game"], self.view["version"]))
            self.news.notify_all()

    def until(self, update: int) -> bool:
        with self.news:
            return self.news.wait_for(lambda: self.view.get("update", -1) >= update, 30)


class Commands:
    """The sequence of commands: moves of a game, sometimes an undo, a correction, a new game."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._moves: list[dict[str, Any]] = []

    def next(self, view: dict[str, Any]) -> dict[str, Any]:
        dice, version = self._rng.random(), view["version"]
        if view["phase"] == "over" or version > LONGEST:
            players = [{"name": p["name"], "colour": p["colour"]} for p in view["players"]]
            return {"do": "new_game", "setup": {"players": players, "edition": view["edition"]}}
        if version > 3 and dice < 0.08:
            return {"do": "undo"}
        if version > 3 and dice < 0.12:
            return {"do": "retract", "seq": view["history"][-1]["seq"]} if view["history"] else {"do": "end_turn"}
        if dice < 0.15:
            return {"do": "end_turn"}
        if not self._moves:
            self._moves = [{k: v for k, v in to_json(e).items() if k != "player"}
                           for e in demo_game(self._rng.randrange(9999), turns=30).events]
        return self._moves.pop(0)


def rows(log: Path) -> dict[int, list[str]]:
    """Every game's entries on disk, read concurrently with the program."""
    db = sqlite3.connect(f"file:{log}?mode=ro", uri=True)
    try:
        out: dict[int, list[str]] = {number: [] for (number,) in db.execute("SELECT id FROM games")}
        for game, body in db.execute("SELECT game, body FROM entries ORDER BY game, seq"):
            out[game].append(body)
        return out
    finally:
        db.close()


def pull(kills: int, data: Path, seed: int, say: bool = False, minutes: float = 600) -> Result:
    """Kill and restart ``kills`` times, or for so many minutes, and check after every restart."""
    rng, out, end = random.Random(seed), Result(), time.monotonic() + 60 * minutes
    commands = Commands(seed)
    log = data / "log.sqlite"
    argv = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", data)
    known: dict[int, list[str]] = rows(log) if log.exists() else {}  # acknowledged, so must not change any more
    acknowledged: tuple[int, int] = (0, 0)
    shown: list[tuple[int, int]] = []
    served: Served | None = None
    while out.kills < kills and time.monotonic() < end:
        if out.kills % 10 == 9:  # during start-up: before or while the log is opened
            process = subprocess.Popen([sys.executable, "-m", "bastide", *map(str, argv)], cwd=ROOT,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(0.2, 0.9))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            out.kills, out.starting = out.kills + 1, out.starting + 1
        begun = time.perf_counter()
        with Served(*argv, after=served) as served:
            view = served.get()
            out.resume_s.append(time.perf_counter() - begun)
            now = rows(log)
            look(out, served.lines, known, now, acknowledged, shown, view)
            known = now
            clients = [Client(served.url) for _ in range(CLIENTS)]
            for c in clients:
                c.start()
            if not all(c.until(view["update"]) for c in clients):
                out.diverged += 1
                out.why.append("a client saw nothing after a restart")
            if not out.resume_s[1:]:  # afterwards the session must survive too
                served.sign_in()
            stopper = threading.Timer(rng.uniform(0.02, 0.6), served.process.kill)
            stopper.start()
            acknowledged = (view["game"], view["version"])
            try:
                while True:
                    answer = served.do(**commands.next(view))
                    if "error" in answer:
                        view = served.get()
                        continue
                    view = answer
                    out.acknowledged += 1
                    acknowledged = (view["game"], view["version"])
            except (OSError, ValueError, EOFError, urllib.error.URLError):
                pass  # killed
            except Exception as e:
                if type(e).__module__ != "http.client":
                    raise
            stopper.join()
            served.kill()  # already dead; this releases its resources
            for c in clients:
                c.join(30)
            shown = [c.shown for c in clients]
        out.kills += 1
        if say and out.kills % 50 < 2:
            print(out.kills, json.dumps(out.line()), flush=True)
    with Served(*argv, after=served) as served:  # finally all clients must agree
        view = served.get()
        look(out, served.lines, known, rows(log), acknowledged, shown, view)
        served.end()
    out.games = len(rows(log))
    return out


def look(out: Result, lines: list[str], known: dict[int, list[str]], now: dict[int, list[str]],
         acknowledged: tuple[int, int], shown: list[tuple[int, int]], view: dict[str, Any]) -> None:
    """Compare the log after a restart with the known, acknowledged and shown entries."""
    def complain(what: str, text: str) -> None:
        setattr(out, what, getattr(out, what) + 1)
        out.why.append(text)

    for game, bodies in known.items():
        if now.get(game, [])[:len(bodies)] != bodies:
            complain("wrong", f"game {game} is not what it was")
    game, version = acknowledged
    if game:
        there = now.get(game)
        if there is None or len(there) < version:
            complain("missing", f"game {game}: {version} acknowledged, {there and len(there)} on disk")
        else:
            out.unanswered_kept += len(there) > version
    for number, bodies in now.items():
        seqs = [json.loads(b)["seq"] for b in bodies]
        if seqs != list(range(1, len(seqs) + 1)):
            complain("doubled", f"game {number}: entries {seqs}")
    for seen_game, seen_version in shown:
        if seen_game and len(now.get(seen_game, ())) < seen_version:
            complain("shown_not_kept", f"a client saw entry {seen_version} of game {seen_game}")
    if view["game"] in now and view["version"] != len(now[view["game"]]):
        complain("diverged", f"the view is at {view['version']}, the log at {len(now[view['game']])}")
    if any("damaged" in line for line in lines):
        complain("notices", next(line for line in lines if "damaged" in line))


@dataclass(slots=True)
class Tables:
    """Kills by operation in progress, and how often a wrong game was served afterwards."""

    kills: int = 0
    by: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    unanswered_kept: int = 0
    other_game: int = 0
    missing: int = 0
    why: list[str] = field(default_factory=list)

    @property
    def losses(self) -> int:
        return self.other_game + self.missing

    def line(self) -> dict[str, Any]:
        return {"kills": self.kills, **{f"  while a game was {k}": n for k, n in sorted(self.by.items())},
                "acknowledged commands": self.acknowledged, "unanswered but kept": self.unanswered_kept,
                "another game": self.other_game, "missing entries": self.missing}


def tables(kills: int, data: Path, seed: int, say: bool = False) -> Tables:
    """Kill and restart ``kills`` times while games change on the table, and check which one is there afterwards."""
    from bastide.backup.backups import write_backup
    from bastide.files.keys import KeyFile, set_pins

    rng, out = random.Random(seed), Tables()
    argv = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", data)
    kind, want = "", ("moved", "begun", "opened", "ended", "restored")
    view: dict[str, Any] | None = None
    allowed: list[tuple[int, int]] = []  # allowed games with their number of entries, the acknowledged one first
    served: Served | None = None
    while True:
        with Served(*argv, after=served) as served:
            now = served.get()
            found = now["game"], now["version"]
            if allowed:
                out.unanswered_kept += found in allowed[1:]
                if found not in allowed:
                    what = "missing" if found[0] == allowed[0][0] else "other_game"
                    setattr(out, what, getattr(out, what) + 1)
                    out.why.append(f"game {found} is on the table, acknowledged was {allowed}, killed while a game was "
                                   f"{kind}")
            if out.kills >= kills:
                served.end()
                return out
            anew = kind in ("", "restored")  # a backup contains no sessions
            kind = want[out.kills % len(want)]
            view = now
            players = [{"name": p["name"], "colour": p["colour"]} for p in view["players"]]
            begin = {"do": "new_game", "setup": {"players": players, "edition": view["edition"]}}
            events = [{k: v for k, v in to_json(e).items() if k != "player"}
                      for e in demo_game(rng.randrange(999), turns=8).events]
            if out.kills == 0:
                set_pins(KeyFile(data), admin=ADMIN)  # restoring needs administration
            if anew:
                served.sign_in(ADMIN)
            stopper = threading.Timer(rng.uniform(0.05, 0.5), served.process.kill)
            if kind == "restored":
                backup = data.parent / "backup.zip"
                write_backup(data, backup)
                kept = view["game"], view["version"]
                served.do(**begin)
                view = served.get()
                packed = backup.read_bytes()
                for at in range(0, len(packed), PIECE):
                    served.send("PUT", f"api/backup?at={at}", packed[at:at + PIECE])
                served.send("POST", "api/backup", {"do": "check"})
                while served.send("POST", "api/backup", {"do": "look"})["busy"]:
                    pass
                allowed = [(view["game"], view["version"]), kept]
                stopper = threading.Timer(rng.uniform(0.4, 1.6), served.process.kill)
            stopper.start()
            pending: dict[str, Any] = {}
            try:
                if kind == "restored":
                    served.send("POST", "api/backup", {"do": "restore"})
                    served.process.wait(30)
                while kind != "restored":
                    allowed = [(view["game"], view["version"])]
                    match rng.choice((kind, kind, "moved")):
                        case "begun":
                            pending = begin
                        case "opened":
                            pending = {"do": "open_game", "game": rng.randint(1, view["game"])}
                        case "ended":
                            pending = {"do": "end_game"} if view["phase"] != "over" else begin
                        case _:
                            pending = events.pop(0) if events and view["phase"] != "over" else begin
                    allowed = [allowed[0], *_asked(pending, view, data)]
                    answer = served.do(**pending)
                    if "error" not in answer:
                        view, out.acknowledged = answer, out.acknowledged + 1
            except (OSError, ValueError, EOFError, urllib.error.URLError, subprocess.TimeoutExpired):
                pass  # killed
            except Exception as e:
                if type(e).__module__ != "http.client":
                    raise
            stopper.join()
            served.kill()
        out.kills += 1
        out.by[kind] += 1
        if say and out.kills % 25 == 0:
            print(out.kills, json.dumps(out.line()), *out.why[-2:], flush=True)


def _asked(command: dict[str, Any], view: dict[str, Any], data: Path) -> list[tuple[int, int]]:
    """The games allowed on the table when the program was killed before it answered."""
    known = rows(data / "log.sqlite")
    if command["do"] == "new_game":
        return [(max(known, default=0) + 1, 0)]
    if command["do"] == "open_game":
        return [(command["game"], len(known.get(command["game"], ())))]
    return [(view["game"], view["version"] + n) for n in (1, 2, 3)]


def with_camera(kills: int, folder: Path, seed: int) -> dict[str, Any]:
    """The same with a simulated camera: killed after a move was shown, the page must show at least that again; measures
    how long that takes, including loading the whole reading chain."""
    rng, lost, resume_s = random.Random(seed), 0, list[float]()
    from scoring.transcript import write
    for n in range(kills):
        game = folder / f"game{n}.json"
        game.write_text(json.dumps(write(demo_game(seed + n, turns=12))), "utf-8")
        where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", folder / f"camera{n}")
        source = f"sim:transcript={game}&seed={n}&level=easy&size=1152x648"
        with Served(*where, "--source", source) as served:
            view = served.until(version=rng.randint(1, 6))
            served.kill()
        begun = time.perf_counter()
        with Served(*where, "--source", source) as again:
            after = again.get()
            resume_s.append(time.perf_counter() - begun)
            again.kill()
        whole = after["history"][:len(view["history"])] == view["history"]
        lost += not (whole and after["version"] >= view["version"])
    return {"camera kills": kills, "shown but not kept": lost, "resume s median": round(statistics.median(resume_s), 2),
            "resume s worst": round(max(resume_s), 2)}


def table(title: str, rows: dict[str, Any]) -> str:
    """Format figures as text."""
    return "\n".join([title, *(f"  {what:28} {figure:>10}" for what, figure in rows.items())])


def storage(images: int, spells: int, seed: int) -> dict[str, Any]:
    """The storage tests alone."""
    from faulty_disk import FULL, IOERR_FSYNC, IOERR_WRITE, READONLY
    from storage_trials import crash_images, disk_that_fails

    honest, lying, failing = Counter[str](), Counter[str](), Counter[str]()
    each = 100
    with tempfile.TemporaryDirectory() as scratch:
        for n in range(-(-images // each)):
            for lies, into in ((False, honest), (True, lying)):
                folder = Path(scratch) / f"{n}{lies}"
                folder.mkdir()
                trial = crash_images(folder, images=min(each, images - n * each), seed=seed + n, lies=lies)
                into.update(trial.lying if lies else trial.honest)
        for n in range(-(-spells // 12)):
            code = (FULL, IOERR_WRITE, IOERR_FSYNC, READONLY)[n % 4]
            folder = Path(scratch) / f"fails{n}"
            folder.mkdir()
            failing.update(disk_that_fails(folder, code, seed=seed + n))
    return {"power cuts": dict(honest), "power cuts with a disk that ignores syncs": dict(lying),
            "disk refusing for spells": dict(failing)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--tables", type=int, default=0, help="kills while games change on the table")
    parser.add_argument("--camera", type=int, default=5)
    parser.add_argument("--images", type=int, default=0, help="crash images of each kind")
    parser.add_argument("--spells", type=int, default=0, help="times that the disk refuses")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder to go on with")
    parser.add_argument("--minutes", type=float, default=600, help="of killing at most")
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        if args.tables:
            changed = tables(args.tables, Path(scratch) / "tables", args.seed, say=True)
            print(table("process killed while games change", changed.line()), *changed.why[:20], sep="\n")
            return changed.losses > 0
        if args.kills:
            result = pull(args.kills, args.data or Path(scratch) / "data", args.seed, say=True,
                          minutes=args.minutes)
            print(table("process killed", result.line()), *result.why[:20], sep="\n")
            bad += result.losses
        if args.camera:
            camera = with_camera(args.camera, Path(scratch), args.seed)
            print(table("process with a camera killed", camera))
            bad += camera["shown but not kept"]
    if args.images or args.spells:
        found = storage(args.images, args.spells, args.seed)
        print(*(table(title, rows) for title, rows in found.items()), sep="\n")
        bad += sum(n for what, n in found["power cuts"].items() if what != "whole")
        bad += found["power cuts with a disk that ignores syncs"].get("WRONG", 0)
        bad += sum(found["disk refusing for spells"].get(k, 0) for k in ("missing", "doubled"))
    return bad > 0


if __name__ == "__main__":
    raise SystemExit(main())
