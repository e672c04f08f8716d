"""Small films of a straight board on a cloth, drawn with our own tiles, watched as the table's loop does it."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.following import commit
from bastide.watching.watcher import make_watcher
from reading.noticing import Notice
from reading.watcher import Observation, Proposal
from scoring.events import Event, Player, Setup
from scoring.geometry import spot_of
from scoring.log import effective
from scoring.rules import edition
from scoring.tiles import Square, catalogue
from vision.artwork import draw_tile
from vision.frames import Frame
from vision.paint import PAINTS
from vision.stills import keep

Picture = npt.NDArray[np.uint8]
COLOURS = ("red", "blue", "yellow")
SETUP = Setup(players=tuple(Player(name=c.title(), colour=c) for c in COLOURS), rules=edition())
TILE_PX = 64
SIZE = (854, 480)


@functools.cache
def cloth(seed: int = 5) -> Picture:
    """A bare table."""
    noise = cv2.GaussianBlur(np.random.default_rng(seed).normal(0, 25, (480, 854, 3)).astype(np.float32), (0, 0), 2)
    picture = np.clip(noise * 2 + (60, 70, 120), 0, 255).astype(np.uint8)
    picture.flags.writeable = False
    return picture


def corner(at: Square) -> tuple[int, int]:
    """Where a square's north-west corner is, in px."""
    return 400 + at[0] * TILE_PX, 200 + at[1] * TILE_PX


@functools.cache
def _drawn(tile: str, rot: int) -> Picture:
    return draw_tile(catalogue()[tile], TILE_PX, rot=rot)


def lay(image: Picture, tile: str, at: Square, rot: int = 0, off: tuple[int, int] = (0, 0)) -> Picture:
    """The image with a tile on a square of a straight board whose start lies in the middle, or ``off`` it by px."""
    x, y = corner(at)
    x, y = x + off[0], y + off[1]
    out = image.copy()
    out[y:y + TILE_PX, x:x + TILE_PX] = _drawn(tile, rot)
    return out


def segment_of(tile: str, kind: str) -> int:
    """A tile's first segment of a kind."""
    return next(n for n, s in enumerate(catalogue()[tile].segments) if s.kind == kind)


def stand(image: Picture, tile: str, at: Square, rot: int, segment: int, colour: str) -> Picture:
    """A follower, as wide as a body with two arms, on a segment of a tile that lies."""
    x, y = corner(at)
    u, v = (c * TILE_PX / 100 for c in spot_of(catalogue()[tile], segment, rot))
    paint = PAINTS[colour].rgb[::-1]
    middle = np.array([x + u, y + v])
    out, shade = image.copy(), tuple(int(0.75 * c) for c in paint)
    body = np.array([(-0.17, 0.12), (-0.09, -0.02), (-0.17, -0.06), (-0.1, -0.11), (-0.05, -0.12), (-0.05, -0.2),
                     (0.05, -0.2), (0.05, -0.12), (0.1, -0.11), (0.17, -0.06), (0.09, -0.02), (0.17, 0.12)])
    cv2.fillPoly(out, [(middle + body * TILE_PX + (2, 2)).round().astype(np.int32)], shade)
    cv2.fillPoly(out, [(middle + body * TILE_PX).round().astype(np.int32)], paint)
    return out


def arm(image: Picture, tip: tuple[int, int], skin: tuple[int, int, int] = (110, 140, 205)) -> Picture:
    """An arm that reaches in from below."""
    x, y = tip
    out = image.copy()
    cv2.fillPoly(out, [np.array([[x - 30, 479], [x - 14, y], [x + 16, y], [x + 60, 479]])], skin)
    return out


class Film:
    """Feeds frames at ``fps`` and writes the proposals to a log."""

    def __init__(self, fps: float = 4.0, setup: Setup = SETUP) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._store = Store(Path(self._folder.name) / "log.sqlite").__enter__()
        self.session = TableSession(self._store, setup)
        self.watcher = make_watcher(load_tiles(None, setup.expansions), setup)
        self.fps, self.n, self.t_s = fps, 0, 0.0
        self.seen: Observation | None = None
        self.notices: tuple[Notice, ...] = ()

    def close(self) -> None:
        self._store.__exit__(None, None, None)
        self._folder.cleanup()

    @property
    def events(self) -> list[Event]:
        """The content of the log."""
        return [event for _, event in effective(self.session.entries)]

    @property
    def status(self) -> str:
        """The outcome of the last frame."""
        return "" if self.seen is None else self.seen.status

    def feed(self, image: Picture, seconds: float) -> list[Proposal]:
        """Show a picture for some seconds; returns the proposals made meanwhile."""
        out = []
        for _ in range(max(1, round(seconds * self.fps))):
            self.n, self.t_s = self.n + 1, self.t_s + 1 / self.fps
            noise = np.random.default_rng(self.n).integers(-2, 3, image.shape)
            bgr = np.clip(image.astype(int) + noise, 0, 255).astype(np.uint8)
            frame = Frame(id=self.n, t_s=self.t_s, source="test", bgr=bgr)
            self.seen = self.watcher.feed(frame, self.session.entries)
            self.notices = self.notices if self.seen.notices is None else self.seen.notices
            for proposal in self.seen.proposals:
                out.append(proposal)
                commit(self.session, proposal, keep(bgr, self.watcher.poses))
        return out

    def end(self) -> list[Proposal]:
        """End the film; returns the remaining proposals."""
        out = []
        last = Frame(id=self.n, t_s=self.t_s, source="test", bgr=cloth())
        while left := self.watcher.finish(last, self.session.entries):
            before = len(self.session.entries)
            for proposal in left:
                out.append(proposal)
                commit(self.session, proposal, keep(cloth(), self.watcher.poses))
            if len(self.session.entries) == before:
                break
        return out
