"""A follower that was put down, scored and taken home before the camera saw it is asked about, and never guessed."""

from __future__ import annotations

from typing import Any

from sessions import error, seen

from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.watching.recording import transcript_of
from scoring.events import parse_event
from scoring.log import LogEntry, Settled, entry_from_json, entry_to_json

CLOSING = ("tile 0 base.E 0,-1 2",)  # a cap on the start tile's cap: an unclaimed city of two tiles
NEXT = "tile 1 base.V 1,0 1"


def lay(session: TableSession, *lines: str) -> list[int]:
    return [seen(session, parse_event(line))[0] for line in lines]


def asked(session: TableSession) -> list[dict[str, Any]]:
    return list(session.view()["questions"])


def test_who_claimed_it_is_asked_when_the_next_tile_lies(session: TableSession) -> None:
    first = lay(session, *CLOSING)[0]
    assert asked(session) == [], "the player's turn goes on: a follower may still come"
    lay(session, NEXT)
    (question,) = asked(session)
    assert (question["seq"], question["kind"], question["at"]) == (first, "figure", [0, -1])
    assert question["text_key"] == "claim"
    assert question["candidates"][0]["body"] is None, "nobody, until somebody says so"
    assert [c["body"]["feature"] for c in question["candidates"][1:]] == ["city"]
    assert [p["score"] for p in session.view()["players"]][:2] == [0, 0], "asking changes no score"


def test_the_answer_scores_in_the_turn_it_belongs_to(session: TableSession, store: Store) -> None:
    lay(session, *CLOSING, NEXT)
    (question,) = asked(session)
    view = session.command({"do": "answer", "question": question["id"], "choice": 1})
    assert view["questions"] == [] and view["players"][0]["score"] == 4
    assert view["players"][0]["supply"]["follower"] == 7, "it has come home"
    assert view["feed"][0]["player"] == 0 and not view["issues"]
    assert error(session, {"do": "answer", "question": question["id"], "choice": 1}).code == "unknown_question"
    view = session.command({"do": "undo"})
    assert [q["id"] for q in view["questions"]] == [question["id"]] and view["players"][0]["score"] == 0
    again = TableSession.resume(store)
    assert again is not None and [q["id"] for q in asked(again)] == [question["id"]]


def test_nobody_is_an_answer(session: TableSession, store: Store) -> None:
    first = lay(session, *CLOSING, NEXT)[0]
    (question,) = asked(session)
    view = session.command({"do": "answer", "question": question["id"], "choice": 0})
    assert view["questions"] == [] and view["players"][0]["score"] == 0
    again = TableSession.resume(store)
    assert again is not None and asked(again) == [], "it is not asked again"
    moves = [m for t in transcript_of(again)["turns"] for m in t["moves"]]
    assert [m["confidence"] for m in moves] == [0.99, 0.99], "what the camera thought of its reading has not changed"
    assert next(e.body for e in again.entries if isinstance(e.body, Settled)) == Settled(seq=first, code="claim")
    view = session.command({"do": "undo"})
    assert [q["id"] for q in view["questions"]] == [question["id"]]


def test_something_else_may_be_the_answer(session: TableSession) -> None:
    lay(session, *CLOSING, NEXT)
    (question,) = asked(session)
    body = {"do": "deploy", "player": 0, "figure": "follower", "at": [0, -1], "feature": "field",
            "where": "NL NR EL ER WL WR"}
    view = session.command({"do": "answer", "question": question["id"], "choice": "other", "body": body})
    assert view["questions"] == [] and view["board"]["figures"][0]["feature"] == "field"


def test_it_is_asked_only_where_it_is_plausible(session: TableSession) -> None:
    lay(session, *CLOSING, "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR", NEXT)
    assert asked(session) == [], "the one action of the turn was another"


def test_what_people_enter_is_not_asked_about(session: TableSession) -> None:
    for line in (*CLOSING, NEXT):
        body = parse_event(line)
        session.command({"do": "tile", "tile": body.tile, "at": list(body.at), "rot": body.rot})  # type: ignore
    assert asked(session) == []


def test_after_a_round_nobody_is_asked_any_more(session: TableSession) -> None:
    count = len(session.setup.players)
    lay(session, *CLOSING)
    for n in range(count):
        lay(session, f"tile {(n + 1) % count} base.V {n + 1},0 {1 if n % 2 == 0 else 3}")
        assert len(asked(session)) == 1
    lay(session, f"tile {(count + 1) % count} base.B 0,2 0")
    assert asked(session) == []


def test_the_log_keeps_what_was_settled() -> None:
    entry = LogEntry(seq=3, body=Settled(seq=1, code="claim"), who="Anna")
    assert entry_from_json(entry_to_json(entry)) == entry


def says(session: TableSession, tile: int, confidence: float, *, asked: bool = False) -> None:
    """The camera's verdict that nobody claimed what a tile completed."""
    session.commit((), confidence=confidence, asked=asked, settles=tile)


def unsure(session: TableSession) -> list[int]:
    return [p["index"] for p in session.view()["players"] if p["uncertain"]]


def test_nobody_is_asked_where_the_camera_saw_that_nobody_claimed_it(session: TableSession, store: Store) -> None:
    (first,) = lay(session, *CLOSING)
    says(session, first, 0.99)
    lay(session, NEXT)
    assert asked(session) == [] and unsure(session) == []
    again = TableSession.resume(store)
    assert again is not None and asked(again) == []


def test_what_is_not_worth_a_question_is_marked_as_uncertain(session: TableSession) -> None:
    (first,) = lay(session, *CLOSING)
    says(session, first, 0.9)
    lay(session, NEXT)
    assert asked(session) == [] and unsure(session) == [0]
    for n in range(len(session.setup.players) + 1):
        lay(session, f"tile {(n + 2) % len(session.setup.players)} base.V {n + 2},0 {3 if n % 2 == 0 else 1}")
    assert unsure(session) == [0], "it stays uncertain"


def test_a_later_verdict_asks_with_its_probabilities(session: TableSession) -> None:
    (first,) = lay(session, *CLOSING)
    says(session, first, 0.99)
    lay(session, NEXT)
    says(session, first, 0.4, asked=True)
    (question,) = asked(session)
    assert [c["probability"] for c in question["candidates"]] == [0.4, 0.6]
    assert unsure(session) == [0]
    view = session.command({"do": "answer", "question": question["id"], "choice": 0})
    assert view["questions"] == [] and unsure(session) == []
    says(session, first, 0.4, asked=True)
    assert asked(session) == [], "what people said stays"


def test_undo_takes_back_what_people_see(session: TableSession) -> None:
    (first,) = lay(session, *CLOSING)
    says(session, first, 0.99)
    session.command({"do": "undo"})
    assert [t["at"] for t in session.view()["board"]["tiles"]] == [[0, 0]]
