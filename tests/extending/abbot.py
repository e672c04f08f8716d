"""The Abbot: a special follower for cloisters and gardens, who may be recalled and scores their current value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from scoring.contributions import Attempt, Choice, Expansion, Handler, Kind, Piece, Problem, Rate, View
from scoring.events import FigureEvent
from scoring.expansions.base import cloister_counts
from scoring.rules import Rules
from scoring.scores import ScoreEvent
from scoring.state import Draft, Feature, feature_of, named, standing
from scoring.turns import check_action, take_home, value


@dataclass(frozen=True, slots=True, kw_only=True)
class AbbotRecalled(FigureEvent):
    """The abbot was called back instead of putting a figure down."""

    DO: ClassVar[str] = "recall"


def garden_rate(rules: Rules, feature: Feature, complete: bool) -> Rate:
    """A garden pays what a cloister pays."""
    return Rate(each=1, reason="garden" if complete else "garden.incomplete", rule="R-ABBOT-02")


def gardens_are_his(view: View, a: Attempt) -> Problem | None:
    """Nobody but an abbot goes into a garden."""
    if a.feature != "garden" or a.figure == "abbot":
        return None
    return Problem(code="garden", text=f"{view.setup.players[a.player].name} put a {a.figure} into a garden.")


def on_recall(d: Draft, event: AbbotRecalled) -> None:
    """He pays his feature as if the game ended now, and goes home."""
    check_action(d, event.player, "called the abbot back", event.at)
    abbot = standing(d, event.player, event.figure, event.at, event.feature, event.where)
    feature = feature_of(d, abbot) if abbot else None
    worth = value(d, feature, complete=False) if feature else None
    if abbot is None or feature is None or worth is None or abbot.figure != "abbot":
        d.issue("no_such_figure", f"There is no abbot on {event.at[0]},{event.at[1]} to call back.", event.at)
        return
    reason, items, rule = worth
    d.pay(ScoreEvent(turn=d.turn, player=d.player, feature=feature.kind, reason=reason, items=items, rule=rule,
                     points=((event.player, sum(i.points for i in items)),), majority=((event.player, 1),),
                     places=named(d, feature.places), tiles=len(feature.squares)))
    take_home(d, [abbot])


def moves(view: View) -> Iterator[Choice]:
    """Once the tile lies, the abbot may be called back instead of putting a figure down."""
    if not (view.laid and view.turn_open) or view.actions:
        return
    abbots = [f for f in view.standing.values() if (f.player, f.figure) == (view.player, "abbot")]
    yield Choice(code="recall", event=AbbotRecalled, player=view.player, answers=tuple(
        AbbotRecalled(player=f.player, figure=f.figure, at=f.at, feature=f.feature, where=f.where) for f in abbots))


ABBOT = Expansion(
    name="abbot",
    products=("abbot",),
    pieces=(Piece(name="abbot", count=lambda players: 1, weight=1, follower=True, stands=("cloister", "garden")),),
    kinds=(Kind(name="garden", closes="around", counts=cloister_counts, rate=garden_rate, stage="cloisters"),),
    handlers=(Handler(event=AbbotRecalled, apply=on_recall, step="wood", action=True),),
    deploying=(gardens_are_his,),
    moves=moves,
    phrases={"garden": "A garden is complete", "garden.incomplete": "A garden stays open"},
    cues={"abbot": "a figure with a tall pointed hat; one per colour"},
)
