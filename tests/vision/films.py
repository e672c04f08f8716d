"""Small films of a straight board on a cloth, drawn with our own tiles, for the watcher."""

from __future__ import annotations

import cv2
import numpy as np

from bastide.demo_game import demo_game
from scoring.engine import new_game, step
from scoring.geometry import spot_of
from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.frames import Frame
from vision.standing import PAINT
from vision.watcher import TableWatcher

COLOURS = ("red", "blue", "yellow")
TILE_PX = 64
SIZE = (854, 480)


def cloth(seed=5):
    noise = cv2.GaussianBlur(np.random.default_rng(seed).normal(0, 25, (480, 854, 3)).astype(np.float32), (0, 0), 2)
    return np.clip(noise * 2 + (60, 70, 120), 0, 255).astype(np.uint8)


def corner(at):
    return 400 + at[0] * TILE_PX, 200 + at[1] * TILE_PX


def lay(image, tile, at, rot=0):
    """The image with a tile on a square of a straight board whose start lies in the middle."""
    x, y = corner(at)
    out = image.copy()
    out[y:y + TILE_PX, x:x + TILE_PX] = draw_tile(catalogue()[tile], TILE_PX, rot=rot)
    return out


def stand(image, tile, at, rot, segment, colour):
    """A block on a segment of a tile that lies."""
    x, y = corner(at)
    u, v = spot_of(catalogue()[tile], segment, rot)
    out = image.copy()
    box = cv2.boxPoints(((x + u * TILE_PX / 100, y + v * TILE_PX / 100), (0.34 * TILE_PX, 0.2 * TILE_PX), 20))
    cv2.fillPoly(out, [box.round().astype(np.int32)], PAINT[colour][::-1])
    return out


def arm(image, tip, skin=(110, 140, 205)):
    """An arm that reaches in from below."""
    x, y = tip
    out = image.copy()
    cv2.fillPoly(out, [np.array([[x - 30, 479], [x - 14, y], [x + 16, y], [x + 60, 479]])], skin)
    return out


class Film:
    """Feeds frames at four a second and commits what is proposed."""

    def __init__(self, tileset, turns=1):
        self.watcher = TableWatcher(tileset, COLOURS, "base.D")
        self.state = new_game(demo_game(1, turns=turns).setup)
        self.n = 0
        self.seen = None
        self.notices = ()

    def feed(self, image, times):
        out = []
        for _ in range(times):
            self.n += 1
            noise = np.random.default_rng(self.n).integers(-2, 3, image.shape)
            bgr = np.clip(image.astype(int) + noise, 0, 255).astype(np.uint8)
            self.seen = self.watcher.feed(Frame(id=self.n, t_s=self.n / 4, source="test", bgr=bgr), self.state)
            self.notices = self.notices if self.seen.notices is None else self.seen.notices
            for proposal in self.seen.proposals:
                out.append(proposal)
                if proposal.replaces is None and proposal.after is None:
                    self.state = step(self.state, proposal.events[0])
        return out
