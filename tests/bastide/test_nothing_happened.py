"""What the rules ask may not have happened: people say so once, and what the camera saw it tells itself."""

from __future__ import annotations

from typing import Any

import pytest
from sessions import seen

from bastide.log.store import Store
from bastide.table.session import TableSession
from reading.logged_game import logged_game
from scoring.events import FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Settled
from scoring.rules import edition

SETUP = Setup(expansions=("base", "tower"), rules=edition(),
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
PLACE, MONASTERY = (0, 1), (1, 1)
LAST = TilePlaced(player=0, tile="base.U", at=(-1, 0), rot=0)
RAISED = TowerRaised(player=0, at=PLACE)


@pytest.fixture
def session(store: Store) -> TableSession:
    """Ben's monk stands beside Anna's place for a tower; Anna has laid her next tile."""
    made = TableSession(store, SETUP)
    for event in (TilePlaced(player=0, tile="tower.02", at=PLACE, rot=0),
                  TilePlaced(player=1, tile="base.B", at=MONASTERY, rot=0),
                  FigurePlaced(player=1, figure="follower", at=MONASTERY, feature="cloister", where="I"),
                  LAST):
        seen(made, event)
    return made


def captures(session: TableSession) -> list[dict[str, Any]]:
    return [q for q in session.view()["open_questions"] if q["code"] == "capture"]


def test_that_nobody_was_taken_is_an_answer(session: TableSession, store: Store) -> None:
    session.command({"do": "tower", "at": list(PLACE)})
    (question,) = captures(session)
    assert question["nothing"] and not question["must"] and not question["seen"]
    view = session.command({"do": "answer", "question": question["id"], "choice": "nothing"})
    assert captures(session) == [] and not view["issues"]
    tile = next(e.seq for e in session.entries if e.body == LAST)
    assert session.entries[-1].body == Settled(seq=tile, code="capture")
    seen(session, TilePlaced(player=1, tile="base.U", at=(-2, 0), rot=0))
    assert captures(session) == [], "nor is it asked when the turn is over"
    again = TableSession.resume(store)
    assert again is not None and captures(again) == []
    session.command({"do": "undo"})
    session.command({"do": "undo"})
    assert [q["id"] for q in captures(session)] == [question["id"]]


def test_what_the_camera_saw_it_tells(session: TableSession) -> None:
    """The question is still there for people who saw more; it does not ask by itself."""
    seen(session, RAISED)
    (question,) = captures(session)
    assert question["seen"] and question["answers"]
    view = session.command({"do": "answer", "question": question["id"], "choice": 0})
    assert captures(session) == [] and [p["holder"] for p in view["board"]["prisoners"]] == [0]


def test_the_reader_knows_that_nobody_was_taken(session: TableSession) -> None:
    seen(session, RAISED)
    (question,) = captures(session)
    session.command({"do": "answer", "question": question["id"], "choice": "nothing"})
    log = logged_game(session.entries)
    tile = log.groups[-1].tile
    assert tile is not None and log.nothing == {(tile.seq, "capture")}
    assert not any(isinstance(e, FigurePlaced | Captured) for e in log.denied), "that nobody claimed it is not said"
