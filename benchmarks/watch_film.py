"""A filmed game watched unchanged and under simulated conditions: turned, tilted, dim, noisy, small.

    ./run bench watch_film [--of ../shared/sequences/c1-24] [--as turned dim ...] [--tiles DIR] [--errors]

FOLDER holds ``video.mp4``, ``players.json`` and ``transcript.json``. Every condition is watched untaught, and with
``--tiles`` also taught; scores are compared up to the last finished turn. The changed films are in a temporary folder
while they are watched.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray
from watch_games import compare

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.following import follow
from bastide.watching.recording import transcript_of
from bastide.watching.watcher import make_watcher
from scoring.engine import new_game, step
from scoring.transcript import Game, read
from vision.frames import Frame

Picture = NDArray[np.uint8]
CLOTH = (60, 80, 110)


def _u8(a: NDArray[np.floating]) -> Picture:
    return np.clip(a, 0, 255).astype(np.uint8)


def turned(f: Picture) -> Picture:
    """The camera's arm rotated and a little lower."""
    h, w = f.shape[:2]
    return cv2.warpAffine(f, cv2.getRotationMatrix2D((w / 2, h / 2), 12, 1.38), (w, h), borderValue=CLOTH)


def upright(f: Picture) -> Picture:
    """A phone held upright."""
    return cv2.rotate(f, cv2.ROTATE_90_CLOCKWISE)


def tilted(f: Picture) -> Picture:
    """An oblique view from one side of the table."""
    h, w = f.shape[:2]
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
    to = np.array([[0, 0], [w, 0], [1.22 * w, 1.12 * h], [-0.22 * w, 1.12 * h]], np.float32)
    return cv2.warpPerspective(f, cv2.getPerspectiveTransform(corners, to), (w, h), borderValue=CLOTH)


def dim(f: Picture) -> Picture:
    """A weak warm lamp."""
    return _u8((f / 255.0) ** 1.5 * 255 * np.array([0.72, 0.92, 1.06]) * 0.8)


def cool(f: Picture) -> Picture:
    """Daylight with the white balance of a lamp."""
    return _u8(f * np.array([1.25, 1.0, 0.78]) * 1.1 + 8)


def noisy(f: Picture, rng: np.random.Generator) -> Picture:
    """A cheap webcam: soft, noisy, strongly compressed."""
    soft = cv2.GaussianBlur(f, (0, 0), 1.0).astype(np.float32) + rng.normal(0, 9, f.shape)
    return cv2.imdecode(cv2.imencode(".jpg", _u8(soft), [cv2.IMWRITE_JPEG_QUALITY, 55])[1], cv2.IMREAD_COLOR)


def small(f: Picture) -> Picture:
    """Seven tenths of the resolution."""
    return cv2.resize(f, None, fx=0.7, fy=0.7, interpolation=cv2.INTER_AREA)


ROOMS: dict[str, Callable[[Picture, np.random.Generator], Picture]] = {
    "as filmed": lambda f, _: f, "turned": lambda f, _: turned(f), "upright": lambda f, _: upright(f),
    "tilted": lambda f, _: tilted(f), "dim": lambda f, _: dim(f), "cool": lambda f, _: cool(f), "noisy": noisy,
    "small": lambda f, _: small(f)}


class Film:
    """A film under one of the conditions, as a frame source."""

    def __init__(self, path: Path, room: str) -> None:
        self._camera, self._room, self._rng = open_camera(f"video:{path}"), ROOMS[room], np.random.default_rng(5)
        self.info = self._camera.info

    def __enter__(self) -> Self:
        self._camera.__enter__()
        self.info = self._camera.info
        return self

    def __exit__(self, *exc: object) -> None:
        self._camera.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame, changed; None at the end."""
        frame = self._camera.read(timeout_s)
        return frame and Frame(id=frame.id, t_s=frame.t_s, source=frame.source, bgr=self._room(frame.bgr, self._rng))


def watched(folder: Path, truth: Game, room: str, taught: str | None) -> dict:  # type: ignore[type-arg]
    """The counts of `watch_games.compare`, and whether the running scores are equal."""
    with tempfile.TemporaryDirectory() as data, Store(Path(data) / "log.sqlite") as store:
        session = TableSession(store, truth.setup)
        with Film(folder / "video.mp4", room) as film:
            follow(film, make_watcher(load_tiles(taught, truth.setup.expansions), truth.setup), session)
        game = transcript_of(session)
        state = new_game(truth.setup)
        for turn in truth.turns:
            for event in turn.events:
                state = step(state, event)
        return {**compare(truth, game), "equal": list(session.state.scores) == list(state.scores)}


def lines(folder: Path, rooms: list[str], tiles: str | None) -> Iterator[tuple[str, str, dict]]:  # type: ignore[type-arg]
    """(room, taught or untaught, counts) of every film watched."""
    truth = read(json.loads((folder / "transcript.json").read_text("utf-8")))
    for room in rooms:
        for taught in ([tiles] if tiles else []) + [None]:
            yield room, "taught" if taught else "untaught", watched(folder, truth, room, taught)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", type=Path, metavar="FOLDER",
                        default=Path(__file__).resolve().parents[2] / "shared" / "sequences" / "c1-24")
    parser.add_argument("--as", dest="rooms", nargs="+", default=list(ROOMS), choices=list(ROOMS), metavar="ROOM")
    parser.add_argument("--tiles", metavar="DIR", help="the tile pictures of this film, taught beforehand")
    parser.add_argument("--errors", action="store_true", help="tell every question and every error")
    args = parser.parse_args()
    print(f"{'room':>10}  {'artwork':>8}  tiles  right  figures  right  asked  silent  running score", flush=True)
    for room, known, r in lines(args.of, args.rooms, args.tiles):
        print(f"{room:>10}  {known:>8}  {r['tiles']:>5}  {r['tiles_right']:>5}  {r['figures']:>7}  "
              f"{r['figures_right']:>5}  {r['asked']:>5}  {r['silent']:>6}  {'equal' if r['equal'] else 'differ'}",
              flush=True)
        if args.errors:
            print("\n".join(f"            {e}" for e in r["errors"]), flush=True)


if __name__ == "__main__":
    main()
