"""A simulated person who answers every question about a reading correctly and at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bastide.table.asking import CLAIM, WHOSE
from bastide.table.session import TableSession
from bastide.watching.following import commit
from reading.watcher import Proposal
from scoring.events import FigurePlaced, TilePlaced, to_json
from scoring.log import effective
from scoring.tiles import Square
from scoring.transcript import Game, write
from vision.stills import Still


class Person:
    """Knows the true ``game``. ``asked`` lists the answered questions, each as a sentence."""

    def __init__(self, game: Game) -> None:
        self.asked: list[str] = []
        self._lies: dict[tuple[int, int], dict[str, Any]] = {}
        self._stands: dict[tuple[int, int], dict[str, Any]] = {}
        self._else: dict[Square | None, list[Mapping[str, Any]]] = {}  # by the square of the turn's tile
        for turn_events in (turn.events for turn in game.turns):
            square = next((e.at for e in turn_events if isinstance(e, TilePlaced)), None)
            self._else[square] = [to_json(e) for e in turn_events if not isinstance(e, TilePlaced | FigurePlaced)]
        for turn in write(game)["turns"]:
            for move in turn["moves"]:
                if move["do"] == "tile":
                    at = tuple(move["at"])
                    self._lies[at] = {**move, "player": turn["player"]}
                elif move["do"] == "deploy":
                    self._stands[at] = {**move, "player": turn["player"]}

    def save(self, session: TableSession, proposal: Proposal, still: Still) -> None:
        """`bastide.watching.following.commit`, followed by the answers."""
        commit(session, proposal, still)
        known = dict(effective(session.entries))
        for question in session.view()["questions"]:
            event = known.get(question["seq"])
            if question["id"] != question["seq"] and question["text_key"] != CLAIM or event is None:
                continue  # nothing read, and nothing missed
            self.asked.append(_sentence(question, session.state.turn))
            if question["text_key"] == CLAIM:
                true = self._stands.get(tuple(question["at"]))
                choice = next((n for n, c in enumerate(question["candidates"]) if _same(c["body"], true)), 0)
                session.command({"do": "answer", "question": question["id"], "choice": choice})
                continue
            if not isinstance(event, TilePlaced | FigurePlaced):
                true_moves = self._else.get(_turn_of(question["seq"], session), [])
                known_as = [n for n, c in enumerate(question["candidates"]) if c["body"] in true_moves]
                session.command({"do": "answer", "question": question["id"],
                                 **({"choice": known_as[0]} if known_as else {"choice": "other"})})
                continue
            truth = (self._lies if isinstance(event, TilePlaced) else self._stands).get(event.at)
            session.command({"do": "answer", "question": question["id"], "choice": "other",
                             "body": None if truth is None else self._body(truth, event)})

    @staticmethod
    def _body(truth: Mapping[str, Any], event: TilePlaced | FigurePlaced) -> dict[str, Any]:
        return {**truth, "part": event.part} if isinstance(event, TilePlaced) else dict(truth)


def _turn_of(seq: int, session: TableSession) -> Square | None:
    """The square of the tile of the turn to which an entry belongs."""
    square = None
    for number, event in effective(session.entries):
        square = event.at if isinstance(event, TilePlaced) else square
        if number == seq:
            break
    return square


def _same(body: Mapping[str, Any] | None, true: Mapping[str, Any] | None) -> bool:
    """Whether an offered figure is the true one; None means no figure."""
    if body is None or true is None:
        return body is true
    return all(body.get(k) == true.get(k) for k in ("figure", "player", "feature", "where"))


def _sentence(question: Mapping[str, Any], turn: int) -> str:
    """A question as on the page, with its candidates, their probabilities, and its turn."""
    words = {"which_tile": "Which tile is this?", WHOSE: "Who laid this tile?", "which_figure": "Who stands where?",
             "which_move": "What happened here?", CLAIM: "Who claimed what is complete?"}  # lang/en.js
    told = []
    for candidate in question["candidates"]:
        body = candidate["body"] or {}
        name = "nothing" if not body else f"{body['tile']}/{body['rot']} by {body['player']}" \
            if body["do"] == "tile" else \
            f"{body['figure']} of player {body['player']} on the {body['feature']} {body['where']}" \
            if body["do"] == "deploy" else str(body["do"])
        told.append(f"{name} {100 * candidate['probability']:.0f} %")
    return f"turn {turn} {tuple(question['at'] or ())}: {words[question['text_key']]} {', '.join(told)}"
