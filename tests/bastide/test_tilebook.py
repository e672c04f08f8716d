"""The tile book: lessons on disk, version by version; nothing half written is ever read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from drawings import BASE, base_set
from sessions import SETUP, seen

from bastide.errors import Failure
from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.tilebook import BOOK, TileBook
from bastide.watching.learning import Learner
from scoring.events import FigurePlaced, TilePlaced
from scoring.tiles import product
from vision.frames import Frame
from vision.lessons import Lesson
from vision.tileset import TileSetError, load_tileset

KINDS = BASE
COUNTS = {t.id: t.count for t in product("base").tiles}


def taught(game: str, kinds: tuple[str, ...] = KINDS) -> list[Lesson]:
    return [Lesson(tile=s.tile, bgr=s.bgr, origin=f"{game}, {s.tile}") for s in base_set().specimens if s.tile in kinds]


def test_what_was_learned_is_there_after_a_restart_and_is_a_tile_folder(tmp_path: Path) -> None:
    assert TileBook(tmp_path / "own").tileset() is None
    book = TileBook(tmp_path / "own")
    assert book.learn("one", taught("one"), COUNTS) == ()
    again = TileBook(tmp_path / "own")
    learned = again.tileset()
    assert learned is not None and learned.ids == base_set().ids and again.version == 1
    assert np.abs(learned.specimens[3].bgr.astype(int) - base_set().specimens[3].bgr).max() == 0
    assert load_tileset(tmp_path / "own").ids == base_set().ids
    assert again.learn("one", taught("one"), COUNTS) == () and again.version == 1  # nothing new, nothing written


def test_a_game_replaces_what_it_taught_before(tmp_path: Path) -> None:
    book = TileBook(tmp_path)
    book.learn("one", taught("one", KINDS[:12]))
    book.learn("two", taught("two", KINDS[12:18]))
    book.learn("two", taught("two", KINDS[14:]))
    assert {k.tile for k in book.known if k.game == "two"} == set(KINDS[14:])
    assert {k.tile for k in TileBook(tmp_path).known} == {*KINDS[:12], *KINDS[14:]}
    assert len(list(tmp_path.glob("*.png"))) == 12 + len(KINDS) - 14


def test_a_mislabelled_lesson_is_reported_and_not_used(tmp_path: Path) -> None:
    book = TileBook(tmp_path)
    book.learn("one", taught("one"))
    wrong = Lesson(tile="base.C", bgr=base_set().specimens[KINDS.index("base.U")].bgr, origin="two, wrong")
    refused = book.learn("two", [wrong])
    assert [(r.lesson.tile, r.why) for r in refused] == [("base.C", "sides")]
    assert all(k.origin != "two, wrong" for k in TileBook(tmp_path).known)


def test_a_pulled_plug_leaves_the_old_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = TileBook(tmp_path)
    book.learn("one", taught("one", KINDS[:10]))
    before = (tmp_path / BOOK).read_bytes()
    real = os.replace

    def pulled(old: object, new: Path) -> None:
        if Path(new).name == BOOK:
            raise OSError(28, "No space left on device")
        real(old, new)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", pulled)
    with pytest.raises(Failure, match="free some space"):
        book.learn("two", taught("two", KINDS[10:]))
    monkeypatch.undo()
    assert (tmp_path / BOOK).read_bytes() == before
    assert {k.tile for k in TileBook(tmp_path).known} == set(KINDS[:10])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "bastide-tilebook/1"}', '{"format": "other"}', "null",
                                  '{"format": "bastide-tilebook/1", "version": 1, "versions": [], "lessons": [{"file": '
                                  '"../x.png", "tile": "base.D", "game": "", "origin": "", "version": 1}]}'])
def test_a_damaged_book_is_set_aside_with_a_notice(tmp_path: Path, text: str) -> None:
    (tmp_path / BOOK).write_text(text)
    book = TileBook(tmp_path)
    assert book.notice and "\n" not in book.notice and book.known == []
    assert [p.read_text() for p in tmp_path.glob(f"{BOOK}.damaged-*")] == [text]


def test_a_newer_book_is_refused(tmp_path: Path) -> None:
    (tmp_path / BOOK).write_text(json.dumps({"format": "bastide-tilebook/2"}))
    with pytest.raises(Failure, match="newer version"):
        TileBook(tmp_path)


def test_a_picture_that_is_gone_teaches_nothing_and_the_rest_stands(tmp_path: Path) -> None:
    book = TileBook(tmp_path)
    book.learn("one", taught("one"))
    (tmp_path / book.known[0].file).unlink()
    (tmp_path / book.known[1].file).write_bytes(b"no picture")
    assert len(TileBook(tmp_path).lessons()) == len(KINDS) - 2
    with pytest.raises(TileSetError):
        load_tileset(tmp_path)  # as a tile folder it is refused with the file's name


def test_the_log_names_the_lessons(tmp_path: Path) -> None:
    """A tile that somebody corrects teaches what it was corrected to; one still asked about teaches nothing."""
    size = 192
    photo = np.zeros((size * 2, size * 4, 3), np.uint8)
    at = {(0, 0): (0, 0), (1, 0): (1, 0), (2, 0): (2, 0)}
    pictures = {s.tile: s.bgr for s in base_set().specimens}
    for square, tile in (((0, 0), "base.D"), ((1, 0), "base.V"), ((2, 0), "base.U")):
        photo[0:size, square[0] * size:(square[0] + 1) * size] = pictures[tile]
    poses = {a: np.array([[size, 0, a[0] * size - 0.5], [0, size, -0.5], [0, 0, 1.0]]) for a in at}
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, SETUP)
        learner = Learner(TileBook(tmp_path / "own"), session, lambda _: base_set(), lambda _: COUNTS)
        wrong = seen(session, TilePlaced(player=0, tile="base.K", at=(1, 0), rot=0))[0]
        seen(session, TilePlaced(player=1, tile="base.U", at=(2, 0), rot=0), asked=True)
        for n in range(6):
            learner.look(Frame(id=n, t_s=n / 4, source="test:", bgr=photo), poses)
        assert {x.tile for x in learner.lessons()} == {"base.K"}
        session.command({"do": "amend", "seq": wrong,
                         "body": {"do": "tile", "tile": "base.V", "at": [1, 0], "rot": 1}})
        (lesson,) = learner.lessons()
        assert lesson.tile == "base.V"
        assert np.abs(np.rot90(lesson.bgr, -1).astype(int) - pictures["base.V"]).mean() < 4
        question = session.view()["questions"][0]
        session.command({"do": "answer", "question": question["id"], "choice": 0})
        assert {x.tile for x in learner.lessons()} == {"base.V", "base.U"}


def test_a_tile_with_a_figure_is_not_photographed(tmp_path: Path) -> None:
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, SETUP)
        learner = Learner(TileBook(tmp_path / "own"), session, lambda _: base_set(), lambda _: COUNTS)
        seen(session, TilePlaced(player=0, tile="base.V", at=(1, 0), rot=0))
        seen(session, FigurePlaced(player=0, figure="follower", at=(1, 0), feature="road", where="S W"))
        photo = np.full((200, 200, 3), 90, np.uint8)
        learner.look(Frame(id=1, t_s=0.0, source="test:", bgr=photo), {(1, 0): np.diag([190.0, 190.0, 1.0])})
        assert learner.lessons() == ()
