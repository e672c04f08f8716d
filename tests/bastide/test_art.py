"""Which set of tile pictures a game is watched with: listed, chosen, kept with the game, used and taught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawings import drawing

from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.tiles.art import ArtSets, box_contents
from bastide.tiles.tilebook import TileBook
from bastide.watching.learning import Learner
from vision.frames import Frame
from vision.images import encode_png
from vision.lessons import Lesson
from web.protocol import CommandError

SETUP = demo_game(3, turns=6).setup
KINDS = tuple(box_contents(("base",)))
PLAYERS = [{"name": "A", "colour": "red"}, {"name": "B", "colour": "blue"}]


def taught(folder: Path, kinds: tuple[str, ...] = KINDS[:5], shade: int = 0) -> Path:
    folder.mkdir(parents=True)
    for kind in kinds:
        (folder / f"{kind}.png").write_bytes(encode_png(np.clip(drawing(kind, 96) - shade, 0, 255)))
    return folder


def rows(arts: ArtSets) -> dict[str, tuple[str, int]]:
    return {row["name"]: (row["kind"], row["kinds"]) for row in arts.listed()}


def test_on_a_new_machine_there_are_the_drawings_and_what_will_be_learned(tmp_path: Path) -> None:
    arts = ArtSets(tmp_path, None)
    assert rows(arts) == {"drawn": ("drawn", 0), "own": ("new", 0)}
    assert arts.known("") and arts.known("own") and arts.known("drawn") and not arts.known("other")
    assert not any(arts.known(bad) for bad in ("..", "../own", "own/..", None, 3))
    assert arts.book("drawn") is None and arts.tiles("drawn", SETUP).drawn and arts.tiles("", SETUP).drawn


def test_taught_and_learned_sets_are_listed_and_read_with(tmp_path: Path) -> None:
    taught(tmp_path / "tiles" / "old-edition")
    lessons = [Lesson(tile=k, bgr=drawing(k, 96), origin=f"g{n}") for n, k in enumerate(KINDS[:8])]
    TileBook(tmp_path / "tiles" / "own").learn("g", lessons)
    arts = ArtSets(tmp_path, None)
    assert rows(arts) == {"drawn": ("drawn", 0), "own": ("learned", 8), "old-edition": ("taught", 5),
                          "own-2": ("new", 0)}
    assert not arts.tiles("old-edition", SETUP).drawn and not arts.tiles("own", SETUP).drawn
    book = arts.book("old-edition")
    assert book is not None and book.folder.name == "old-edition-learned"
    book.learn("g", [Lesson(tile=KINDS[6], bgr=drawing(KINDS[6], 96), origin="x")])
    assert rows(arts)["old-edition"] == ("taught", 6) and "old-edition-learned" not in rows(arts)


def test_the_folder_of_the_command_line_is_the_usual_one(tmp_path: Path) -> None:
    arts = ArtSets(tmp_path, str(taught(tmp_path / "my tiles")))
    assert [r["name"] for r in arts.listed() if r["usual"]] == ["my-tiles"] and rows(arts)["my-tiles"] == ("taught", 5)
    assert not arts.tiles("", SETUP).drawn and arts.tiles("drawn", SETUP).drawn


def test_a_game_keeps_its_set_and_its_lessons_go_there(tmp_path: Path) -> None:
    taught(tmp_path / "tiles" / "old")
    arts = ArtSets(tmp_path, None)
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, SETUP, arts=arts)
        with pytest.raises(CommandError, match="art"):
            session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012", "art": "none"}})
        view = session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012", "art": "own"}})
        assert view["art"] == session.art == "own"
        session.commit(demo_game(3, turns=1).events[:1], confidence=1.0, asked=False)
        learner = Learner(lambda: arts.book(session.art), session, lambda s: arts.base(session.art, s), arts.counts)
        (at, placed), = [(a, t) for a, t in session.state.tiles.items() if a != (0, 0)]
        picture = np.rot90(drawing(placed.tile, 96), -placed.rot).copy()
        pose = {at: np.array([[96.0, 0, 0], [0, 96.0, 0], [0, 0, 1]])}
        learner.look(Frame(id=1, t_s=0.0, source="test:", bgr=picture), pose)
        learner.write()
        assert rows(arts)["own"] == ("learned", 1)
        session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012", "art": "drawn"}})
        learner.look(Frame(id=2, t_s=1.0, source="test:", bgr=picture), pose)
        assert not learner.due() and learner.write() is None
        session.command({"do": "open_game", "game": 2})
        assert session.art == "own"
    with Store(tmp_path / "log.sqlite") as store:
        again = TableSession.resume(store)
        assert again is not None and again.art == "own" and again.view()["art"] == "own"
