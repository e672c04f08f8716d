"""A recorded game entered through the page's JSON API like by people: events in order, without naming players."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import apply, new_game
from scoring.events import Event, Player, Setup, TurnEnded
from scoring.rules import changes, edition
from scoring.state import Draft
from scoring.transcript import move
from web.app import create_app

Turns = list[tuple[list[dict[str, Any]], list[int]]]  # the moves of each turn, the scores after it
TOLD_LATE = ("wheel", "plague")  # what a person may remember only when the tile lies
FOLLOWS = {"capture": "tower", "exchange": "tower", "plague": "wheel"}


def recorded(data: dict[str, Any]) -> tuple[dict[str, Any], Turns, list[int]]:
    """The set-up as the page sends it, the turns, and the totals of a transcript with what it expects."""
    setup = data["setup"]
    asked = {"players": setup["players"], "edition": setup.get("edition", "zman2012"), "rules": setup["rules"],
             "expansions": setup["expansions"]}
    return asked, [(t["moves"], t["expect"]["score"]) for t in data["turns"]], data["expect"]["totals"]


def made(setup: Setup, events: Sequence[Event]) -> tuple[dict[str, Any], Turns, list[int]]:
    """The same of a random game, with the scores that the engine gives it when everything is named."""
    asked = {"players": [{"name": p.name, "colour": p.colour} for p in setup.players], "edition": setup.rules.edition,
             "rules": changes(setup.rules), "expansions": list(setup.expansions)}
    d = Draft(new_game(setup))
    turns: Turns = []
    moves: list[dict[str, Any]] = []
    for event in events:
        apply(d, event)
        if isinstance(event, TurnEnded):
            turns.append((moves, list(d.scores)))
            moves = []
        else:
            moves.append({k: v for k, v in move(event).items() if k != "player"})
    return asked, turns, []


def late(moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The moves of a turn with the wheel entered after everything else."""
    if sum(m["do"] in ("wheel", "discard") for m in moves) > 1:
        return moves  # which of two tiles it was turned for is told by the order alone
    return [m for m in moves if m["do"] not in TOLD_LATE] + [m for m in moves if m["do"] in TOLD_LATE]


def any_order(moves: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The moves of a turn told in any order after its tile, now and then with the end of the turn among them. What says
    nothing without another (whom the tower took, the next step of the dragon) comes after it."""
    if sum(m["do"] == "wheel" for m in moves) > 1 or any(m["do"] in ("discard", "ransom") for m in moves):
        return moves  # which of two tiles it was is told by the order alone; a ransom is paid when it is told
    lanes: dict[str, list[dict[str, Any]]] = {}
    for m in moves:
        lanes.setdefault(FOLLOWS.get(m["do"], m["do"]), []).append(m)
    out = lanes.pop("tile", [])
    left = sum(map(len, lanes.values()))
    ends = rng.randint(0, left) if out and rng.random() < 0.4 else None
    for n in range(left + 1):
        if n == ends:
            out = [*out, {"do": "end_turn"}]
        if n < left:
            out = [*out, rng.choice([lane for lane in lanes.values() if lane]).pop(0)]
    return out


def told(client: FlaskClient, game: tuple[dict[str, Any], Turns, list[int]], *, ends: bool,
         remembered: bool = True, shuffled: bool = False, rng: random.Random | None = None) -> Iterator[str]:
    """Enter a game; returns a sentence for every difference. With ``ends`` people also say when a turn is over, unless
    ``rng`` says that they forget; who does not remember tells the wheel late; ``shuffled`` turns are told in any
    order."""
    asked, turns, totals = game

    def send(command: dict[str, Any]) -> TestResponse:
        answer = client.post("/api/commands", json=command)
        assert answer.status_code == 200, (command, answer.json)
        return answer  # of most only that they are right is looked at: reading one takes longer than most commands

    answer = send({"do": "new_game", "setup": asked})
    for n, (moves, scores) in enumerate(turns):
        for body in any_order(moves, rng or random.Random(n)) if shuffled else moves if remembered else late(moves):
            answer = send(body)
        laid = any(m["do"] == "tile" for m in moves)  # a turn without a tile must be said to be over
        if not laid or (ends and (rng is None or rng.random() < 0.5)):
            answer = send({"do": "end_turn"})
        view: dict[str, Any] = answer.json
        got = [p["score"] for p in view["players"]]
        if got != scores:
            yield f"turn {n + 1}: {got} instead of {scores}"
            return
        if view["issues"]:
            yield f"turn {n + 1}: {view['issues'][0]['code']}: {view['issues'][0]['text']}"
            return
    send({"do": "end_game"})
    view = send({"do": "reveal", "step": "end"}).json
    if totals and view["final"]["totals"] != totals:
        yield f"at the end: {view['final']['totals']} instead of {totals}"
    if any(h.get("player") is None for h in view["history"]):
        yield "somebody is nobody"


@contextmanager
def page(folder: Path) -> Iterator[FlaskClient]:
    """A client of the page of a fresh table."""
    with Store(folder / "log.sqlite") as store:
        setup = Setup(players=(Player(name="A", colour="red"),), rules=edition())
        yield create_app(TableSession(store, setup)).test_client()
