"""Memory growth over hours at the table: a whole `bastide serve` with a camera, viewers and moves.

    ./run bench evening                       four hours of real time, 8 viewers, 200 moves an hour
    ./run bench evening --fast                the same four hours of table time, as fast as the machine can follow
    ./run bench evening --hours 0.3 --warm-up 8 --moves 900
    ./run bench evening --fast --hours 1 --data F && ./run bench evening --fast --data F    a table's second evening

The camera is an MJPEG server in this process that shows a simulated game again and again, with different noise on every
picture; each repetition begins a new game, as people do. The film's pace is chosen so that there are ``--moves`` moves
an hour; one in ten is taken back and made again by hand. Viewers read the event stream; at every change one of them
requests the whole view and one the move's picture, as pages do when they are opened or show it.

With ``--fast`` the clock is the table's (tests/bastide/timed_table.py): the camera delivers as many pictures, moves and
changes, each picture as soon as the loop has processed the previous one and ``1 / --fps`` of table time after it.
Whatever happens by time (returning empty pages, the watcher's waiting, notices, sessions, streams' heartbeats) follows
that clock; what still follows real time is listed there. Logs rotate by size, not by time.

The serving process records its memory every 5 s of table time: the Pss in total and of anonymous pages
(/proc/self/smaps_rollup), the part of the C library's heap in use (mallinfo2) and the number of Python's blocks. The
newest record is sampled every ``--every`` seconds. Samples of anonymous memory and heap in use after ``--warm-up``
minutes are evaluated. Within a game memory grows with the number of tiles, so only samples at the same place of the
film are compared, game with game: the result is the seasonal slope of Hirsch, Slack and Smith (1982), the median over
all such pairs, which is robust against a single peak, in MB an hour; more than MOST_MB_H fails. Its uncertainty is
printed too: a short run cannot prove a small slope. Until two games are over, it is the median over all pairs. The
first games also teach the table its tiles, and each learned picture occupies memory permanently; the median of every
game and the number of pictures known at its end are printed, so that this can be distinguished from a leak. With
``--data`` the table's folder is kept: a second run with it begins with the tiles that the first one learned.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bastide"), str(ROOT / "tests" / "hardware")]

from mjpeg import send  # noqa: E402
from processes import Served  # noqa: E402
from timed_table import TableClock  # noqa: E402

from bastide.camera.opening import open_camera  # noqa: E402
from bastide.machine.stopping import stop_on_signals  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from scoring.transcript import write  # noqa: E402

MOST_MB_H = 1.0  # the slope that is still flat
HOURS, WARM_UP_MIN, VIEWERS, MOVES_H, EVERY_S = 4.0, 30.0, 8, 200, 20.0
TURNS, FPS = 30, 5.0
PLACES = 20  # of the film, within which what is noted is compared
LIVE_FPS = 4.0  # pictures a second of table time that the camera gives, whatever the film's pace
PATIENCE_S = 0.5  # on the wall, for the loop to ask for another picture; a reader that begins takes several


@dataclass(slots=True)
class Film:
    """A played game as JPEGs with their times in the film."""

    jpegs: list[bytes] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    moves: int = 0
    players: list[dict[str, str]] = field(default_factory=list)

    @property
    def length_s(self) -> float:
        return self.times_s[-1]


def filmed(folder: Path, turns: int, seed: int = 5) -> Film:
    """A simulated game, drawn once."""
    game, out = demo_game(seed, turns=turns), Film()
    path = folder / "film.json"
    path.write_text(json.dumps(write(game)), "utf-8")
    with open_camera(f"sim:transcript={path}&seed={seed}&level=easy&size=1152x648&fps={FPS:g}") as camera:
        while (frame := camera.read()) is not None:
            out.jpegs.append(cv2.imencode(".jpg", frame.bgr, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes())
            out.times_s.append(frame.t_s)
    out.moves = len(game.events)
    out.players = [{"name": p.name, "colour": p.colour} for p in game.setup.players]
    return out


class Camera:
    """Shows the film at ``pace`` times the table's clock, and its last picture until it is ``rewound``. With a
    ``ready`` file a picture is sent for every byte in it, and the table's clock goes by pictures."""

    def __init__(self, film: Film, pace: float, fps: float, ready: int | None = None) -> None:
        self._film, self._pace, self._fps, self._ready = film, pace, fps, ready
        self._clock = TableClock(1 / fps if ready is not None else 0.0)
        self._rewound_s = self._clock.now()
        self._quit, self._news = threading.Event(), threading.Condition()
        self.sent = 0
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                send(self, camera.pictures())

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/video"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def now_s(self) -> float:
        return self._clock.now()

    @property
    def over(self) -> bool:
        return self._at_s() > self._film.length_s + 5.0

    @property
    def place(self) -> int:
        """Where in the film it is, 0 .. PLACES - 1."""
        return min(PLACES - 1, int(PLACES * self._at_s() / self._film.length_s))

    def rewind(self) -> None:
        self._rewound_s = self._clock.now()

    def wait(self) -> bool:
        """Wait until the next picture is due; False at the end."""
        if self._ready is None:
            self._quit.wait(1 / self._fps)
        elif select.select([self._ready], [], [], PATIENCE_S)[0]:  # a reader that only begins asks for several
            os.read(self._ready, 1)
        with self._news:
            self._clock.step()
            self.sent += 1
            self._news.notify_all()
        return not self._quit.is_set()

    def until(self, s: float) -> None:
        """Wait for that time at the table."""
        with self._news:
            while (left_s := s - self.now_s) > 0:
                self._news.wait(left_s)

    def pictures(self) -> Iterator[bytes]:
        """What a client is shown, as JPEGs."""
        rng = np.random.default_rng(1)
        while self.wait():
            yield self.picture(rng)

    def picture(self, rng: np.random.Generator) -> bytes:
        """The picture of now: no two are the same, as with a real sensor."""
        n = int(np.searchsorted(self._film.times_s, self._at_s()))
        image = cv2.imdecode(np.frombuffer(self._film.jpegs[min(n, len(self._film.jpegs) - 1)], np.uint8),
                             cv2.IMREAD_COLOR)
        noise = rng.integers(-2, 3, (image.shape[0] // 4, image.shape[1] // 4, 1), np.int16)
        image = np.clip(image.astype(np.int16) + cv2.resize(noise, image.shape[1::-1], interpolation=cv2.INTER_NEAREST)
                        [..., None], 0, 255).astype(np.uint8)
        return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()

    def close(self) -> None:
        self._quit.set()
        self._server.shutdown()
        self._server.server_close()

    def _at_s(self) -> float:
        return (self._clock.now() - self._rewound_s) * self._pace


class Viewers:
    """People who look: all read the event stream and come back when it ends; at every change the first asks for the
    whole view, the second for the newest move's picture."""

    def __init__(self, url: str, count: int) -> None:
        self._url, self._ended, self.messages, self._lock = url, threading.Event(), 0, threading.Lock()
        self.asked = 0
        for n in range(count):
            threading.Thread(target=self._watch, args=(n,), daemon=True).start()

    def end(self) -> None:
        self._ended.set()

    def _watch(self, n: int) -> None:
        while not self._ended.is_set():
            try:
                with urllib.request.urlopen(self._url + "api/events", timeout=60) as stream:
                    for line in stream:
                        if self._ended.is_set():
                            return
                        if line.startswith(b"data:"):
                            with self._lock:
                                self.messages += 1
                            if n < 2:
                                self._ask(n)
            except OSError:
                self._ended.wait(1.0)

    def _ask(self, n: int) -> None:
        with urllib.request.urlopen(self._url + "api/state", timeout=60) as answer:
            view = json.load(answer)
        if n and view["history"]:
            crop = f"{self._url}api/crops/{view['history'][-1]['seq']}.jpg"
            with suppress(urllib.error.HTTPError), urllib.request.urlopen(crop, timeout=60) as answer:
                answer.read()
        with self._lock:
            self.asked += 1


@dataclass(frozen=True, slots=True)
class Note:
    """What was noted: hours, the place of the film, and what timed_table.py wrote."""

    hours: float
    place: int
    found: dict[str, float]


def newest(notes: Path) -> dict[str, float] | None:
    """The last whole line of a file of notes."""
    lines = notes.read_text("utf-8").splitlines() if notes.exists() else []
    with suppress(ValueError):
        return json.loads(lines[-1]) if lines else None
    return json.loads(lines[-2]) if len(lines) > 1 else None


Noted = tuple[float, float, int]  # hours, MB, the place of the film


def slope(points: list[Noted], far_h: float) -> tuple[float, float, float]:
    """The median slope between notes at one place of the film that are of two games, ``far_h`` apart at least, in MB
    an hour; with its 90 % interval over places."""
    places: dict[int, list[float]] = {}
    for i, (h, mb, place) in enumerate(points):
        places.setdefault(place, []).extend((b - mb) / (then - h) for then, b, there in points[i + 1:]
                                            if there == place and then - h > far_h)
    pairs = [place for place in places.values() if place]
    if not pairs:
        pairs = [[(b - mb) / (then - h)] for i, (h, mb, _) in enumerate(points) for then, b, _ in points[i + 1:]]
    if not pairs:
        return 0.0, 0.0, 0.0
    rng = random.Random(1)
    drawn = sorted(statistics.median(x for place in rng.choices(pairs, k=len(pairs)) for x in place)
                   for _ in range(200))
    return statistics.median(x for place in pairs for x in place), drawn[10], drawn[-11]


def learned(data: Path) -> int:
    """How many pictures of tiles a table has learned."""
    return sum(len(json.loads(book.read_text("utf-8"))["lessons"]) for book in data.glob("tiles/*/book.json"))


JUDGED = {"own_mb": "memory of its own", "in_use_mb": "in use of the C heap"}  # in MB


def evening(hours: float, viewers: int, moves_h: float, every_s: float, warm_up_min: float, turns: int = TURNS,
            fast: bool = False, fps: float = LIVE_FPS, say: bool = True, data: Path | None = None) -> dict[str, Any]:
    """Serve, watch, play; the figures that are printed. ``data`` is the table's folder, of its own unless given.
    SIGTERM ends it earlier."""
    noted, each, here = list[Note](), list[str](), list[float]()  # games that are over; the memory in this one
    walled_s = time.monotonic()
    with stop_on_signals() as stopped, tempfile.TemporaryDirectory() as scratch:
        film, notes, data = filmed(Path(scratch), turns), Path(scratch) / "notes", data or Path(scratch) / "data"
        wanted_s = 3600 * film.moves / moves_h
        ready, asking = os.pipe()
        camera = Camera(film, film.length_s / wanted_s, fps, ready if fast else None)
        program = (ROOT / "tests/bastide/timed_table.py", "--notes", notes,
                   *(("--step", 1 / fps, "--ready", asking) if fast else ()))
        argv = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", data, "--source", camera.url)
        games = moves = by_hand = 0
        with Served(*argv, patience_s=3600 * hours + 600, program=program, pass_fds=(asking,)) as served:
            looking = Viewers(served.url, viewers)
            new = {"do": "new_game", "setup": {"players": film.players, "edition": served.get()["edition"]}}
            served.do(**new)
            camera.rewind()
            begun_s, version = camera.now_s, 0
            try:
                while (gone_s := camera.now_s - begun_s) < 3600 * hours and not stopped.is_set():
                    camera.until(begun_s + gone_s + every_s)
                    if served.process.poll() is not None:
                        raise SystemExit("evening: the program ended:\n" + "\n".join(served.lines[-20:]))
                    view = served.get()
                    if view["version"] > version and view["version"] % 10 < 2 and view["history"]:
                        served.do(do="undo")  # somebody takes it back, and takes that back
                        retracted = served.get()
                        served.do(do="retract", seq=retracted["version"]) if retracted["history"] else None
                        by_hand += 2
                    version = view["version"]
                    if camera.over:
                        moves += view["version"]
                        served.do(do="end_game")
                        served.do(**new)
                        camera.rewind()
                        games, version = games + 1, 0
                        each.append(f"{statistics.median(here or [0]):.0f} ({learned(data)})")
                        here.clear()
                    if (found := newest(notes)) is None:
                        continue
                    noted.append(Note(gone_s / 3600, camera.place, found))
                    here.append(found["own_mb"])
                    if say and len(noted) % max(1, int(300 / every_s)) == 0:
                        print(json.dumps({"minutes": round(gone_s / 60, 1), "wall": round(time.monotonic() - walled_s),
                                          "games": games, "entries": moves + version,
                                          "tiles": len(view["board"]["tiles"]), "chip": view["status"]["chip"],
                                          **{k: v for k, v in found.items() if k != "s"}}), flush=True)
            finally:
                looking.end()
                with suppress(OSError):
                    moves += served.get()["version"]
                served.end()
                camera.close()
    late = [note for note in noted if note.hours >= warm_up_min / 60]
    if not late:
        raise SystemExit("evening: it ended before the warm-up was over")
    last, took_s = noted[-1], time.monotonic() - walled_s
    found = {"hours": round(last.hours, 2), "on the wall": f"{took_s / 3600:.2f} h"
             + (f", {3600 * last.hours / took_s:.1f} times as fast" if fast else ""), "load": os.getloadavg()[2],
             "games": games, "entries": moves, "of them by hand": by_hand, "viewers": viewers,
             "messages to viewers": looking.messages, "views and pictures asked for": looking.asked,
             "pictures of the camera": camera.sent, "pictures followed": int(last.found["frames"]),
             "processor seconds": last.found["cpu_s"], "by game (pictures learned)": ", ".join(each)}
    for key, text in {**JUDGED, "pss_mb": "share of everything (PSS)", "free_mb": "free in the C heap",
                      "blocks": "blocks of Python"}.items():
        line, low, high = slope([(n.hours, n.found[key], n.place) for n in late], 0.5 * wanted_s / 3600)
        found |= {f"{text}, after the warm-up": late[0].found[key], f"{text}, at the end": last.found[key],
                  f"{text}, slope an hour": round(line, 2), f"{text}, 90 % of it": f"{low:.2f} to {high:.2f}"}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--fast", action="store_true", help="hours of table time, as fast as the machine takes them")
    parser.add_argument("--fps", type=float, default=LIVE_FPS, help="pictures a second of the camera: fewer take "
                        "less of the machine, and what grows with each picture shows less")
    parser.add_argument("--warm-up", type=float, default=WARM_UP_MIN, help="minutes that are not judged")
    parser.add_argument("--viewers", type=int, default=VIEWERS)
    parser.add_argument("--moves", type=float, default=MOVES_H, help="an hour")
    parser.add_argument("--every", type=float, default=EVERY_S, help="seconds between two looks")
    parser.add_argument("--turns", type=int, default=TURNS, help="of the game in the film")
    parser.add_argument("--data", type=Path, help="the table's folder, which is kept")
    args = parser.parse_args()
    if 60 * args.hours <= args.warm_up:
        parser.error("--hours must be more than --warm-up")
    found = evening(args.hours, args.viewers, args.moves, args.every, args.warm_up, args.turns, args.fast,
                    args.fps, data=args.data)
    for what, figure in found.items():
        print(f"{what:48} {figure!s:>16}")
    return any(found[f"{text}, slope an hour"] > MOST_MB_H for text in JUDGED.values())


if __name__ == "__main__":
    raise SystemExit(main())
