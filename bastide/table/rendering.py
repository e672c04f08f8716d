"""Assembles the published view: the game's projection, the questions, and the state outside its log."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from bastide.log import gaps
from bastide.table.asking import WHOSE
from bastide.table.snapshot import GameSnapshot
from scoring.errors import IllegalMove, InvalidNotation
from scoring.projection import final_scoring, running_scores
from scoring.rules import changes, editions
from scoring.views import GameView, IssueView, PlayerView
from web.views import RevealView, StatusView, View

MOST_DOUBTED = 2  # open questions whose answers are all simulated, to determine whose score they may change


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known of a game outside its log. ``status`` is the camera's, ``notices`` are what people should put
    right, ``reveal`` is how far the final scoring has been revealed, ``update`` counts what was published."""

    status: StatusView
    notices: Sequence[IssueView]
    reveal: RevealView | None
    update: int


def rendered(now: GameSnapshot, projection: GameView, around: Around) -> View:
    """The view of this snapshot. ``projection`` is `scoring.projection.live_view` of the game."""
    game, questions = now.game, now.questions
    players = doubted(now, projection["players"]) if questions or now.doubts else projection["players"]
    was = around.status["chip"]
    chip = "check" if questions and was == "watching" else was
    chip = "ended" if game.state.over and was != "check" else chip
    return cast(View, {
        **projection, "players": players,
        "issues": [*projection["issues"], *gaps.rows(game.setup, game.entries), *around.notices],
        "game": game.number, "update": around.update, "questions": questions, "doubts": now.doubts,
        "aid": game.aid, "art": game.art, "reveal": around.reveal, "rules": changes(game.setup.rules),
        "edition_title": editions()[game.setup.edition].title, "status": {**around.status, "chip": chip}})


def doubted(now: GameSnapshot, players: Sequence[PlayerView]) -> list[PlayerView]:
    """The players, each with whether an open question may change the score or the forecast: the player of that move,
    and all who gain or lose points by one of its answers (with many open questions, everybody); and those about whom
    there is a doubt that nobody is asked about."""
    many = len(now.questions) > MOST_DOUBTED
    uncertain = set(range(len(players))) if many else {q["player"] for q in now.doubts}
    known = dict(now.meaning.happened)
    for question in now.questions if not many else ():
        if question["text_key"] != WHOSE:
            uncertain.add(getattr(known.get(question["seq"]), "player", 0))  # it may be something else altogether
        for candidate in question["candidates"]:
            with suppress(InvalidNotation, IllegalMove):
                _, then = now.game.tried(now.meaning.settling(question, candidate.get("body"), known), source="hand")
                scores, totals = running_scores(then.state), final_scoring(then.state).totals
                uncertain |= {p["index"] for p in players
                              if (p["score"], p["projected"]) != (scores[p["index"]], totals[p["index"]])}
    return [{**p, "uncertain": p["index"] in uncertain} for p in players]
