"""Somebody at the simulated table who answers every question about a reading at once, and right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bastide.table.session import TableSession
from bastide.watching.following import commit
from reading.watcher import Proposal
from scoring.events import FigurePlaced, TilePlaced
from scoring.log import effective
from scoring.transcript import Game, write
from vision.stills import Still


class Person:
    """Knows the ``game`` that is played. ``answered`` counts the questions."""

    def __init__(self, game: Game) -> None:
        self.answered = 0
        self._lies: dict[tuple[int, int], dict[str, Any]] = {}
        self._stands: dict[tuple[int, int], dict[str, Any]] = {}
        for turn in write(game)["turns"]:
            for move in turn["moves"]:
                if move["do"] == "tile":
                    at = tuple(move["at"])
                    self._lies[at] = {**move, "player": turn["player"]}
                elif move["do"] == "deploy":
                    self._stands[at] = {**move, "player": turn["player"]}

    def save(self, session: TableSession, proposal: Proposal, still: Still) -> None:
        """`bastide.watching.following.commit`, and then the answers."""
        commit(session, proposal, still)
        known = dict(effective(session.entries))
        for question in session.view()["questions"]:
            event = known.get(question["seq"])
            if question["id"] != question["seq"] or not isinstance(event, TilePlaced | FigurePlaced):
                continue  # who claimed what is asked of a camera that missed it: nothing was read
            self.answered += 1
            truth = (self._lies if isinstance(event, TilePlaced) else self._stands).get(event.at)
            session.command({"do": "answer", "question": question["id"], "choice": "other",
                             "body": None if truth is None else self._body(truth, event)})

    @staticmethod
    def _body(truth: Mapping[str, Any], event: TilePlaced | FigurePlaced) -> dict[str, Any]:
        return {**truth, "part": event.part} if isinstance(event, TilePlaced) else dict(truth)
