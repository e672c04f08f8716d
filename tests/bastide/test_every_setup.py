"""A table with a camera takes every game that people can begin: what nobody has a picture of is watched as unseen
print, and what cannot be watched at all leaves the loop alive for the next game."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from drawings import drawing
from test_table_loop import EVENTS, GAME, PATIENCE_S, Camera, Watcher, until

from bastide.log.store import Store
from bastide.table.new_game import asked_setup
from bastide.table.session import TableSession
from bastide.tiles.art import ArtSets, box_contents
from bastide.watching.table_loop import TableLoop
from bastide.watching.watcher import MOST_FAILURES, make_watcher
from scoring.errors import InvalidNotation
from scoring.events import Setup
from scoring.expansions import KNOWN
from scoring.rules import EDITIONS
from scoring.tiles import Tile, catalogue
from vision.artwork import draw_tile
from vision.frames import Frame, Image
from vision.images import encode_png
from vision.tileset import TileSetError

PLAYERS = [{"name": "A", "colour": "red"}, {"name": "B", "colour": "blue"}]
WHEEL = {"players": PLAYERS, "edition": "wheel", "expansions": ["wheel"]}
NEXT = {"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012"}}
PX = 60  # a tile on the pictures here


def setup_of(data: dict[str, Any]) -> Setup:
    return asked_setup(data)[0]


def playable() -> Iterator[tuple[str, list[str]]]:
    """Every edition with no box, each box and all of them, where the rules allow it."""
    for edition in EDITIONS:
        for boxes in ([], list(KNOWN)[1:], *([name] for name in KNOWN if name != "base")):
            with suppress(InvalidNotation):
                setup_of({"players": PLAYERS, "edition": edition, "expansions": boxes})
                yield edition, boxes


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TableSession]:
    with Store(tmp_path / "log.sqlite") as store:
        yield TableSession(store, GAME.setup)


def repainted(picture: Image) -> Image:
    """The same drawing in unusual colours."""
    return (picture * np.array([0.6, 0.9, 1.0]) * 0.8 + 30).astype(np.uint8)


def board_square(square: Tile) -> Image:
    """A square of the start board as somebody else might print it: towns in corners, roads that end at once."""
    bgr = np.full((PX, PX, 3), (60, 130, 90), np.uint8)
    if not square.segments:
        bgr[:] = (160, 160, 200)
    ends = {"N": (PX // 2, 0), "E": (PX - 1, PX // 2), "S": (PX // 2, PX - 1), "W": (0, PX // 2)}
    for segment in square.segments:
        for atom in segment.atoms if segment.kind != "field" else ():
            (x, y), town = ends[atom[0]], segment.kind == "city"
            size = PX // 3 if town else PX // 9
            cv2.rectangle(bgr, (x - size, y - size), (x + size, y + size), (40, 60, 120) if town else (220,) * 3, -1)
    return bgr


def table_with(state: Any) -> Image:
    """A table from above with the game's tiles, repainted."""
    bgr = np.random.default_rng(1).normal(90, 3, (900, 1200, 3)).clip(0, 255).astype(np.uint8)
    for (x, y), placed in state.tiles.items():
        row, column = 300 + y * PX, 450 + x * PX
        kind = state.box.tile(placed.tile)
        print_ = drawing(kind.id, PX) if kind.id in catalogue() else board_square(kind)
        bgr[row:row + PX, column:column + PX] = np.rot90(repainted(print_), -placed.rot)
    return cv2.GaussianBlur(bgr, (0, 0), 0.7)


@pytest.mark.parametrize(("edition", "boxes"), [pytest.param(*c, id="-".join((c[0], *c[1]))) for c in playable()])
def test_every_set_up_has_a_watcher_whatever_was_taught(tmp_path: Path, edition: str, boxes: list[str]) -> None:
    """Also where the taught set has neither the start tile nor anything of the other boxes."""
    folder = tmp_path / "tiles" / "few"
    folder.mkdir(parents=True)
    (folder / "base.U.png").write_bytes(encode_png(draw_tile(catalogue()["base.U"], 96)))
    arts = ArtSets(tmp_path, None)
    setup = setup_of({"players": PLAYERS, "edition": edition, "expansions": boxes})
    tiles = arts.tiles("few", setup)
    assert tiles.ids == ("base.U",) and not tiles.drawn
    watcher = make_watcher(tiles, setup)
    assert {k.id for k in watcher.tracker.sense.kinds} >= set(box_contents(setup.expansions))
    assert watcher.feed(Frame(id=1, t_s=0.0, source="test:", bgr=np.zeros((90, 120, 3), np.uint8)),
                        ()).status == "searching"


def test_a_game_that_cannot_be_watched_leaves_the_loop_to_the_next(session: TableSession) -> None:
    """A fault of the game's set-up, when its watcher is made or when it reads: said once, and never the loop's end."""
    made: list[int] = []

    def renew(setup: Setup) -> Watcher:
        made.append(session.game)
        if setup.expansions == ("base", "wheel"):
            raise TileSetError("drawn has no picture of any tile that may be on the table")
        return Watcher([KeyError("wheel.board.00")] if session.game == first else ["watching"] * 10_000)

    first, stop = session.game, threading.Event()

    class Endless(Camera):
        def read(self, timeout_s: float = 5.0) -> Frame | None:
            self._left = 9
            stop.wait(0.001)
            return super().read(timeout_s)

    loop = TableLoop(lambda: Endless(9, live=True), None, session, renew)  # type: ignore[arg-type,return-value]
    loop.start()
    view = until(session, lambda v: v["status"].get("code") == "not_watched")
    assert view["status"]["chip"] == "manual" and made == [first] * MOST_FAILURES
    session.command({"do": "new_game", "setup": WHEEL})
    session.command({"do": "tile", "tile": "wheel.01", "at": [4, 1], "rot": 0})
    until(session, lambda v: v["edition_title"] and v["status"].get("code") == "not_watched" and v["version"] == 1)
    session.command(NEXT)
    until(session, lambda v: v["status"]["chip"] == "watching")
    assert loop.dead is None and loop.failure is None and loop.is_alive()
    loop.stop()
    assert loop.ended.is_set()


def test_a_watcher_that_failed_once_is_made_anew_and_goes_on(session: TableSession) -> None:
    scripts: list[list[Any]] = [[EVENTS[0], ZeroDivisionError("so it goes")], list(EVENTS[1:])]
    loop = TableLoop(lambda: Camera(len(EVENTS) + 3), None, session,  # type: ignore[arg-type,return-value]
                     lambda setup: Watcher(scripts.pop(0)))  # type: ignore[arg-type,return-value]
    loop.start()
    loop.join(PATIENCE_S)
    assert loop.failure is None and tuple(e.body for e in session.entries) == EVENTS
