"""Hours at the table: a whole `bastide serve` with a camera, viewers and moves, and by how much its memory grows.

    ./run bench evening                       four hours, 8 viewers, 200 moves an hour
    ./run bench evening --minutes 20 --warm-up 8 --moves 900

The camera is an MJPEG server in this process that shows a simulated game again and again, with noise of its own on
every picture; each time round a new game is begun, as people do. The film's pace is chosen so that its moves come to
``--moves`` an hour; one in ten is taken back and made again by hand. The memory of the serving process
(/proc/PID/smaps_rollup: Pss of everything, and what is anonymous) is noted every ``--every`` seconds. What is
judged is what was noted after ``--warm-up`` minutes: within a game memory grows with the tiles that lie, so that only
what is noted at the same place of the film is compared, game with game (the seasonal slope of Hirsch, Slack and Smith
1982: the median over all such pairs, which one peak does not move), in MB an hour; more than MOST_MB_H fails. Its
uncertainty is printed too: a short run cannot promise a small slope. As long as no two games are over, it is the median
of all pairs. The first games also teach the table its tiles, and each picture learned takes 0.4 MB for good; the median
of every game and how many pictures were known at its end are printed, so that this can be told from a leak.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bastide")]

from processes import Served  # noqa: E402

from bastide.camera.opening import open_camera  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from scoring.transcript import write  # noqa: E402

MOST_MB_H = 1.0  # the slope that is still flat
HOURS, WARM_UP_MIN, VIEWERS, MOVES_H, EVERY_S = 4.0, 30.0, 8, 200, 20.0
TURNS, FPS = 30, 5.0
PLACES = 20  # of the film, within which what is noted is compared
LIVE_FPS = 4.0  # pictures a second that the camera gives, whatever the film's pace


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
    """Shows the film at ``pace`` times its own clock, and its last picture until it is ``rewound``."""

    def __init__(self, film: Film, pace: float) -> None:
        self._film, self._pace, self._begun = film, pace, time.monotonic()
        self._quit = threading.Event()
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                rng = np.random.default_rng(1)
                try:
                    while not camera._quit.wait(1 / LIVE_FPS):
                        data = camera.picture(rng)
                        self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "
                                         + str(len(data)).encode() + b"\r\n\r\n" + data + b"\r\n")
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/video"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def over(self) -> bool:
        return self._at_s() > self._film.length_s + 5.0

    @property
    def place(self) -> int:
        """Where in the film it is, 0 .. PLACES - 1."""
        return min(PLACES - 1, int(PLACES * self._at_s() / self._film.length_s))

    def rewind(self) -> None:
        self._begun = time.monotonic()

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
        return (time.monotonic() - self._begun) * self._pace


def watch(url: str, ended: threading.Event) -> None:
    """One viewer, who comes back when the stream ends."""
    while not ended.is_set():
        try:
            with urllib.request.urlopen(url + "api/events", timeout=60) as stream:
                for _ in stream:
                    if ended.is_set():
                        return
        except OSError:
            ended.wait(1.0)


def memory_mb(pid: int) -> tuple[float, float]:
    """What a process holds: its share of everything, and what is its own and in no file."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()[1:])
    return tuple(int(rows[key].split()[0]) / 1024 for key in ("Pss", "Anonymous"))  # type: ignore[return-value]


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


def evening(hours: float, viewers: int, moves_h: float, every_s: float, warm_up_min: float, turns: int = TURNS,
            say: bool = True) -> dict[str, Any]:
    """Serve, watch, play; what it came to."""
    ended, noted = threading.Event(), list[tuple[float, float, float, int]]()
    each, here = list[str](), list[float]()  # games that are over; the memory in this one
    with tempfile.TemporaryDirectory() as scratch:
        film = filmed(Path(scratch), turns)
        wanted_s = 3600 * film.moves / moves_h
        camera = Camera(film, film.length_s / wanted_s)
        argv = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", Path(scratch) / "data", "--source", camera.url)
        games = moves = by_hand = 0
        with Served(*argv, patience_s=3600 * hours + 600) as served:
            pid = served.process.pid
            watchers = [threading.Thread(target=watch, args=(served.url, ended), daemon=True) for _ in range(viewers)]
            for w in watchers:
                w.start()
            new = {"do": "new_game", "setup": {"players": film.players, "edition": served.get()["edition"]}}
            served.do(**new)
            camera.rewind()
            begun, version = time.monotonic(), 0
            try:
                while (gone_s := time.monotonic() - begun) < 3600 * hours:
                    if ended.wait(every_s):
                        break
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
                        each.append(f"{statistics.median(here or [0]):.0f} ({learned(Path(scratch) / 'data')})")
                        here.clear()
                    noted.append((gone_s / 3600, *memory_mb(pid), camera.place))
                    here.append(noted[-1][2])
                    if say and len(noted) % max(1, int(300 / every_s)) == 0:
                        print(json.dumps({"minutes": round(gone_s / 60, 1), "games": games, "entries": moves + version,
                                          "tiles": len(view["board"]["tiles"]), "chip": view["status"]["chip"],
                                          "pss_mb": round(noted[-1][1], 1), "anonymous_mb": round(noted[-1][2], 1)}),
                              flush=True)
            finally:
                ended.set()
                moves += served.get()["version"]
                served.end()
                camera.close()
    late = [(h, anonymous, place) for h, _, anonymous, place in noted if h >= warm_up_min / 60]
    line, low, high = slope(late, 0.5 * wanted_s / 3600)
    return {"hours": round(noted[-1][0], 2), "games": games, "entries": moves, "of them by hand": by_hand,
            "viewers": viewers, "memory MB at the start": round(noted[0][2], 1),
            "memory MB after the warm-up": round(late[0][1], 1) if late else None,
            "memory MB at the end": round(noted[-1][2], 1), "by game (pictures)": ", ".join(each),
            "slope MB an hour": round(line, 2),
            "its 90 % interval": f"{low:.2f} to {high:.2f}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60 * HOURS)
    parser.add_argument("--warm-up", type=float, default=WARM_UP_MIN, help="minutes that are not judged")
    parser.add_argument("--viewers", type=int, default=VIEWERS)
    parser.add_argument("--moves", type=float, default=MOVES_H, help="an hour")
    parser.add_argument("--every", type=float, default=EVERY_S, help="seconds between two looks")
    parser.add_argument("--turns", type=int, default=TURNS, help="of the game in the film")
    args = parser.parse_args()
    if args.minutes <= args.warm_up:
        parser.error("--minutes must be more than --warm-up")
    found = evening(args.minutes / 60, args.viewers, args.moves, args.every, args.warm_up, args.turns)
    for what, figure in found.items():
        print(f"{what:32} {figure!s:>16}")
    return found["slope MB an hour"] > MOST_MB_H


if __name__ == "__main__":
    raise SystemExit(main())
