"""The course of a turn: an ordered list of named slots. Events advance it; automatic effects are attached to slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from scoring.board import is_complete, set_done, set_figures
from scoring.contributions import View
from scoring.scores import Item, ScoreEvent, leaders
from scoring.state import Draft, Feature, StandingFigure, feature_of, figures_on, named, root, weights
from scoring.tiles import Square


class TurnPart(NamedTuple):
    """The active player and the part of the turn: 2 is the builder's second tile."""

    player: int
    part: int


def next_part(view: View) -> TurnPart:
    """The part of the next tile (R-TURN-01): the open one until its tile is placed; then the builder's second part if a
    tile is left to draw (R-BUILD-05, R-BUILD-06, A-42), or else the next player's.

    Events before the placement belong to the same part: a discarded tile, the wheel.
    """
    return _following(view) if view.turn_open and view.laid else TurnPart(view.player, view.part)


def _following(view: View) -> TurnPart:
    if view.again and view.part == 1 and view.box.can_draw(view):
        return TurnPart(view.player, 2)
    return TurnPart((view.player + 1) % len(view.setup.players), 1)


def last_turn(view: View) -> int:
    """The number of the part whose tile was placed last, open or over (-1: none yet). Events after a tile belong to
    its part."""
    if view.turn_open and view.laid:
        return view.turn
    placed = view.tiles.get(view.last_tile) if view.last_tile is not None else None
    return -1 if placed is None or placed.turn is None else placed.turn


def last_player(view: View) -> int:
    """The player of the last tile, who may act after it; before the first tile, the active player."""
    placed = view.tiles.get(view.last_tile) if view.last_tile is not None else None
    if (view.turn_open and view.laid) or placed is None or placed.player is None:
        return view.player
    return placed.player


def open_turn(d: Draft, player: int, part: int) -> None:
    """Begin a turn part."""
    expected, expected_part = d.player, d.part
    d.turn += 1
    d.player, d.part = player, part
    d.turn_open, d.laid, d.actions, d.again, d.slot = True, False, 0, False, -1
    d.touched = []
    d.events_before = len(d.score_events)
    if player != expected:
        names = [p.name for p in d.setup.players]
        d.issue("wrong_player", f"{names[player]} played although it was {names[expected]}'s turn.")
    elif part > expected_part:
        d.issue("no_second_part", f"{d.setup.players[player].name} laid a second tile without a reason for one.")
    advance(d, d.box.steps[0].name)


def advance(d: Draft, slot: str) -> None:
    """Advance the turn to a slot, running the effects of all slots on the way. Never goes back."""
    target, runs = d.box.slots[slot], d.box.runs
    for n in range(d.slot + 1, target + 1):
        d.slot = n
        run = runs[n]
        if run:
            run(d)


def close_turn(d: Draft) -> None:
    """End the turn part: the rest of its slots run, then it is the next player's turn (R-TURN-01, R-TURN-07)."""
    if not d.turn_open:
        return
    for ask in d.box.asks:
        for question in ask(d):
            if question.lasting:
                d.asked.append(question)
    advance(d, d.box.steps[-1].name)
    score_completed(d)
    d.turn_open = False
    d.player, d.part = _following(d)


def score_completed(d: Draft) -> None:
    """Score every feature that this part completed and return its figures to their supply (R-SCORE-01, R-RETURN-01)."""
    touched, d.touched = d.touched, []
    for number in dict.fromkeys([root(d, s) for s in touched]):
        feature = d.features[number]
        if feature.open or not is_complete(d, feature):
            continue
        paid = feature.done and was_paid(d, feature)
        if not feature.done:
            set_done(d, feature)
            for completed in d.box.completed:
                completed(d, feature)
        figures = figures_on(d, feature)
        if figures:
            for event in () if paid else scored(d, feature, figures):
                d.pay(event)
            take_home(d, figures)


def was_paid(view: View, feature: Feature) -> bool:
    """Whether the completed feature was scored already: nothing is scored twice (R-TURN-07, R-SCORE-01)."""
    places = named(view, feature.places)
    return any(e.places == places and e.reason.partition(".")[0] == feature.kind for e in view.score_events)


def scored(view: View, feature: Feature, figures: tuple[StandingFigure, ...]) -> Iterator[ScoreEvent]:
    """The events of one completed road, city or cloister, as it is now: its value and the bonuses."""
    weigh = weights(view, figures)
    event = counted(view, feature, tuple(sorted(weigh.items())), leaders(weigh), named(view, feature.places))
    if event is not None:
        yield event
    yield from bonuses(view, (feature,))


def bonuses(view: View, features: Sequence[Feature]) -> Iterator[ScoreEvent]:
    """Bonuses for these features and the figures on them when they are scored."""
    return (event for bonus in view.box.bonuses for event in bonus(view, features))


def counted(view: View, feature: Feature, shares: tuple[tuple[int, int], ...], best: tuple[int, ...],
            places: tuple[tuple[int, int, str], ...], *, stage: str = "") -> ScoreEvent | None:
    """The score of a road, city or cloister without bonuses, or None; with a ``stage`` as an incomplete one.

    Apart from the turn it depends only on the feature, the weights of its players and its places.
    """
    worth = value(view, feature, complete=not stage)
    if not shares or not worth:
        return None
    reason, items, rule = worth
    total = sum([i.points for i in items])
    return ScoreEvent(turn=view.turn, feature=feature.kind, reason=reason, items=items, rule=rule,
                      points=tuple([(p, total) for p in best]), majority=shares,
                      places=places, tiles=len(feature.squares),
                      player=view.player if view.turn_open else None, stage=stage)


def value(view: View, feature: Feature, *, complete: bool) -> tuple[str, tuple[Item, ...], str] | None:
    """Reason, items and rule id of a feature, complete or in the final scoring. None for one without a value."""
    kind = view.box.kinds.get(feature.kind)
    rate = view.box.rate(feature, complete)
    if kind is None or kind.counts is None or rate is None:
        return None
    counts = kind.counts(view.box.rules, feature, complete)
    return rate.reason, tuple([Item(what=w, count=n, each=rate.each) for w, n in counts if n or w == "tile"]), rate.rule


def take_home(d: Draft, figures: Iterable[StandingFigure]) -> None:
    """Remove figures from the board, then those that may not stay without them (R-RETURN-05)."""
    gone = {f.id: f for f in figures if f.id in d.standing}
    for f in gone.values():
        del d.standing[f.id]
    touched: dict[int, Feature] = {}
    for f in gone.values():
        feature = feature_of(d, f)
        if feature is not None:
            touched[feature.id] = feature
    for feature in touched.values():
        left = tuple(i for i in feature.figures if i not in gone)
        set_figures(d, feature, left)
        take_home(d, orphans(d, left))


def orphans(d: Draft, ids: tuple[int, ...]) -> list[StandingFigure]:
    """Of the figures on one feature, those that require a follower of their player there and have none."""
    pieces = d.box.pieces
    here = [d.standing[i] for i in ids]
    kept = {f.player for f in here if pieces[f.figure].follower}
    return [f for f in here if pieces[f.figure].company and f.player not in kept]


def check_action(d: Draft, player: int, what: str, *squares: Square) -> None:
    """Report an action out of turn, or a second one in the same part (R-TURN-04, R-TURN-05)."""
    names = [p.name for p in d.setup.players]
    if player != d.player:
        d.issue("wrong_player", f"{names[player]} {what} in {names[d.player]}'s turn.", *squares)
    if d.actions:
        d.issue("two_actions", f"{names[player]} {what} although the action of this turn was already used.", *squares)
