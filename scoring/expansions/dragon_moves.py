"""The dragon, the fairy and the princess: their events and the effects on the state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, cast

from scoring.board import bordered_cities
from scoring.contributions import View
from scoring.events import Event, FigureTaken, written
from scoring.notation import PATH, PLAYER, REF, SQUARE, FigureRef
from scoring.scores import Item, ScoreEvent
from scoring.state import (
    Draft,
    Feature,
    StandingFigure,
    feature_at,
    feature_of,
    figures_on,
    named,
    standing,
    standing_at,
)
from scoring.tiles import EDGES, Square, catalogue, neighbour
from scoring.turns import check_action, take_home, value

LONGEST_WALK = 6  # R-DRAGON-03
FAIRY_TURN = 1  # R-FAIRY-05
FAIRY_SCORED = 3  # R-FAIRY-06


@dataclass(frozen=True, slots=True, kw_only=True)
class Beasts:
    """The state of the neutral figures.

    ``fairy_of`` is the figure beside the fairy, ``fairy_turn`` the turn in which the fairy moved there; ``path`` is the
    dragon's movement in the turn ``path_turn``, with the square it started on; ``princess_turn`` the last turn in
    which a knight was removed.
    """

    dragon: Square | None = None
    fairy: Square | None = None
    fairy_of: int | None = None
    fairy_turn: int = -1
    path: tuple[Square, ...] = ()
    path_turn: int = -1
    princess_turn: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FairyMoved(Event):
    """The fairy was moved instead of deploying a figure; ``beside`` names the follower if it belongs to one."""

    DO: ClassVar[str] = "fairy"
    player: int = written(PLAYER)
    at: Square = written(SQUARE)
    beside: FigureRef | None = written(REF, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DragonMoved(Event):
    """The dragon moved: the squares it entered, in order. One movement may be split into several of these events."""

    DO: ClassVar[str] = "dragon"
    player: int = written(PLAYER)
    path: tuple[Square, ...] = written(PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincessRemoved(FigureTaken):
    """A princess removed this knight from her city."""

    DO: ClassVar[str] = "princess"


def beasts(view: View) -> Beasts:
    return cast(Beasts, view.ext["dragon"])


def on_laid(d: Draft) -> None:
    """R-VOLCANO-02, R-VOLCANO-03, A-48: the dragon moves to a volcano tile at once and eats nothing on the way."""
    at = d.last_tile
    if at is not None and "volcano" in d.box.tile(d.tiles[at].tile).flags:
        d.ext["dragon"] = replace(beasts(d), dragon=at)


def on_fairy(d: Draft, event: FairyMoved) -> None:
    """R-FAIRY-02, A-27."""
    name = d.setup.players[event.player].name
    b = beasts(d)
    if b.fairy_turn == d.turn and b.fairy == event.at and b.fairy_of is None and event.beside:
        # repeated only to name the follower beside her
        d.issues = [i for i in d.issues if (i.code, i.turn) != ("fairy_beside", d.turn)]
    else:
        check_action(d, event.player, "moved the fairy", event.at)
    own = [f for f in standing_at(d, event.at) if f.player == event.player and d.box.pieces[f.figure].follower]
    if not own:
        d.issue("fairy_alone", f"{name} moved the fairy to a tile without an own follower.", event.at)
    guarded: int | None = None
    if d.box.rules.word("fairy_mode") == "follower":
        ref = event.beside
        found = standing(d, ref.owner, ref.figure, event.at, ref.feature, ref.where) if ref else None
        chosen = found or (own[0] if len(own) == 1 else None)
        if chosen is None:
            d.issue("fairy_beside", f"It is not clear by which follower {name}'s fairy stands.", event.at)
        guarded = chosen.id if chosen else None
    d.ext["dragon"] = replace(beasts(d), fairy=event.at, fairy_of=guarded, fairy_turn=d.turn)


def fairy_turn(d: Draft) -> None:
    """R-FAIRY-05, A-25, A-47: a point for a player who begins a turn with a follower beside the fairy; not in part 2.

    If the fairy belongs to a tile, the option ``fairy_turn`` decides whether each of several followers there counts.
    """
    own = [f for f in by_fairy(d) if f.player == d.player] if d.part == 1 else []
    if d.box.rules.word("fairy_turn") == "per_player":
        own = own[:1]
    if own:
        d.pay(fairy_event(d, own, FAIRY_TURN, "fairy.turn", "R-FAIRY-05"))


def by_fairy(view: View) -> list[StandingFigure]:
    """The followers that benefit from the fairy: one, or all on its square."""
    b = beasts(view)
    if view.box.rules.word("fairy_mode") == "follower":
        one = view.standing.get(b.fairy_of) if b.fairy_of is not None else None
        return [one] if one else []
    here = standing_at(view, b.fairy) if b.fairy else []
    return [f for f in here if view.box.pieces[f.figure].follower]


def fairy_event(view: View, own: list[StandingFigure], each: int, reason: str, rule: str) -> ScoreEvent:
    """Points for one player's followers beside the fairy; with the feature if it is a single follower."""
    item = Item(what="fairy", count=len(own), each=each)
    one = own[0] if rule == "R-FAIRY-06" or view.box.rules.word("fairy_mode") == "follower" else None
    feature = feature_of(view, one) if one else None
    places = named(view, feature.places) if feature else ((*one.at, one.where),) if one else ()
    return ScoreEvent(turn=view.turn, feature=one.feature if one else "", reason=reason, rule=rule, items=(item,),
                      points=((own[0].player, item.points),), majority=(), places=places,
                      tiles=len({p[:2] for p in places}), player=view.player if view.turn_open else None)


def fairy_bonus(view: View, features: Sequence[Feature]) -> Iterator[ScoreEvent]:
    """R-FAIRY-06, A-26, A-41: 3 points for a follower beside the fairy when its feature is scored, with or
    without majority, including farms at the end. Two options decide about features worth 0 points (A-51, A-52)."""
    at = beasts(view).fairy
    touched = [f for f in features if at in f.squares and brings_her_points(view, f)] if at else ()
    beside = by_fairy(view) if touched else []
    for feature in touched:
        paid: set[int] = set()
        for f in beside:
            if f.id in feature.figures and f.player not in paid:
                paid.add(f.player)
                yield fairy_event(view, [f], FAIRY_SCORED, "fairy.completed", "R-FAIRY-06")


def brings_her_points(view: View, feature: Feature) -> bool:
    """Whether the fairy scores with a feature: always, or only if the feature itself is worth points."""
    rules = view.box.rules
    if feature.kind == "field":
        return rules.word("fairy_empty_farm") == "pays" or bool(bordered_cities(view, feature))
    if rules.word("fairy_worthless") == "pays":
        return True
    worth = value(view, feature, complete=feature.done)
    return worth is None or any(i.points for i in worth[1])


def walked(view: View) -> tuple[Square, ...]:
    """The squares of the dragon's movement in this part so far, including the first."""
    b = beasts(view)
    if b.path_turn == view.turn:
        return b.path
    return (b.dragon,) if b.dragon else ()


def dragon_steps(view: View) -> tuple[Square, ...]:
    """The squares the dragon may enter next in this part; none at a dead end or after six steps (R-DRAGON-03 to -05,
    A-21: the square it started on counts as visited)."""
    path = walked(view)
    if not path or len(path) > LONGEST_WALK:
        return ()
    return tuple(s for side in EDGES if (s := neighbour(path[-1], side)) in view.tiles
                 and s not in path and s != beasts(view).fairy and may_walk_on(view, s))


def walks(view: View) -> Iterator[DragonMoved]:
    """The paths that the dragon may have taken from its position in this part, of any length: of those that end on the
    same square and pass the same figures, one that can be continued and one that cannot."""
    placed = view.tiles.get(view.last_tile) if view.last_tile and view.laid else None
    if placed is None or "dragon" not in view.box.tile(placed.tile).flags or not walked(view):
        return
    fairy, stood = beasts(view).fairy, {f.at for f in view.standing.values()}
    begun = walked(view)
    known: set[tuple[Square, frozenset[Square], bool]] = set()
    paths = [begun]
    for path in paths:  # extended while iterating (breadth-first search)
        ahead = [s for side in EDGES if (s := neighbour(path[-1], side)) in view.tiles and s not in path
                 and s != fairy and may_walk_on(view, s)] if len(path) <= LONGEST_WALK else []
        paths += [(*path, s) for s in ahead]
        outcome = path[-1], frozenset(stood.intersection(path[len(begun):])), not ahead
        if len(path) > len(begun) and outcome not in known:
            known.add(outcome)
            yield DragonMoved(player=view.player, path=path[len(begun):])


def may_walk_on(view: View, square: Square) -> bool:
    """A-55: whether the dragon may enter the square of a start board."""
    on_board = not view.box.tile(view.tiles[square].tile).count
    return not on_board or view.box.rules.word("wheel_board_dragon") == "enters"


def movers(view: View, first: int, steps: int) -> tuple[int, ...]:
    """The player who moves the dragon at each step (R-DRAGON-02)."""
    return tuple((first + n) % len(view.setup.players) for n in range(steps))


def on_dragon(d: Draft, event: DragonMoved) -> None:
    """R-DRAGON-02 to R-DRAGON-06."""
    placed = d.tiles.get(d.last_tile) if d.last_tile else None
    if placed is None or not d.laid or "dragon" not in d.box.tile(placed.tile).flags:
        d.issue("dragon_walk", "The dragon walked although no dragon tile was laid.", *event.path[:1])
    for square in event.path:
        path, b = walked(d), beasts(d)
        if square not in dragon_steps(d):
            how = "after its sixth step" if len(path) > LONGEST_WALK else "where it may not"
            d.issue("dragon_step", f"The dragon went to {square[0]},{square[1]} {how}.", square)
        d.ext["dragon"] = Beasts(dragon=square, fairy=b.fairy, fairy_of=b.fairy_of, fairy_turn=b.fairy_turn,
                                 path=(*path, square), path_turn=d.turn, princess_turn=b.princess_turn)
        take_home(d, standing_at(d, square))


def knights_of_princess(view: View) -> tuple[StandingFigure, ...]:
    """The knights in the city of the princess on the last tile (R-PRINCESS-02, A-28)."""
    at = view.last_tile
    if at is None or not view.laid or not view.turn_open:
        return ()
    segment = her_segment(view.tiles[at].tile)
    if segment is None:
        return ()
    here = figures_on(view, feature_at(view, at, segment))
    return tuple(f for f in here if view.box.pieces[f.figure].follower and f.turn != view.turn)


@cache
def her_segment(tile: str) -> int | None:
    """The segment of the tile with a princess."""
    segments = catalogue()[tile].segments if tile in catalogue() else ()
    return next((n for n, s in enumerate(segments) if "princess" in s.signs), None)


def on_princess(d: Draft, event: PrincessRemoved) -> None:
    """R-PRINCESS-02 to R-PRINCESS-05."""
    check_action(d, event.player, "sent a knight home", event.at)
    knight = standing(d, event.owner, event.figure, event.at, event.feature, event.where)
    if knight is None:
        d.issue("no_such_figure", f"There is no such {event.figure} on {event.at[0]},{event.at[1]} to send home.",
                event.at)
        return
    if knight not in knights_of_princess(d):
        d.issue("not_her_knight", "A knight went home that is not in the princess's city.", event.at)
    take_home(d, [knight])
    d.ext["dragon"] = replace(beasts(d), princess_turn=d.turn)
