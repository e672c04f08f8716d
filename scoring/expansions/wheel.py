"""The Wheel of Fortune: the pig, the six events, the crown spaces and the plague (R-WHEEL-01 to R-WHEEL-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from scoring.board import bordered_cities
from scoring.contributions import (
    ANY,
    BEFORE,
    Choice,
    Expansion,
    Handler,
    Kind,
    Question,
    Rate,
    Shape,
    Start,
    Step,
    View,
)
from scoring.events import Event, FigureEvent, StartTile, written
from scoring.expansions.base import CITY, TINY_CITY
from scoring.expansions.wheel_board import BOARD, ON_BOARD, TILES, Shown, dial, draw_wheel, lay_board, turns_wheel
from scoring.notation import FIGURE, PLAYER, SMALL, choice
from scoring.rules import Rules
from scoring.scores import Item, ScoreEvent
from scoring.state import (
    NO_SEGMENT,
    Draft,
    Feature,
    StandingFigure,
    feature_of,
    figures_on,
    in_hand,
    named,
    standing,
)
from scoring.tiles import Segment
from scoring.turns import check_action, next_part, take_home

SEGMENTS = ("fortune", "tax", "famine", "storm", "inquisition", "plague")  # clockwise (R-WHEEL-04, A-32)
CROWNS: Mapping[str, int] = {"fortune": 1, "tax": 2, "famine": 1, "storm": 2, "inquisition": 1, "plague": 2}
CROWN = 3  # R-WHEEL-13
FORTUNE = 3  # R-WHEEL-06
MONK = 2  # R-WHEEL-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """The pig's segment, the turn part of its last move, and the players who still owe the plague a follower."""

    pig: str = SEGMENTS[0]
    turned: int = -1
    plagued: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelTurned(Event):
    """A tile with a wheel symbol was drawn: the pig moves that many segments, before the tile is laid."""

    DO: ClassVar[str] = "wheel"
    player: int = written(PLAYER)
    steps: int = written(SMALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlagueTook(FigureEvent):
    """The plague removed this follower."""

    DO: ClassVar[str] = "plague"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrownTaken(Event):
    """A follower was deployed on a crown space instead of the last tile."""

    DO: ClassVar[str] = "crown"
    player: int = written(PLAYER)
    figure: str = written(FIGURE)
    segment: str = written(choice(*SEGMENTS))


def wheel(view: View) -> Wheel:
    return cast(Wheel, view.ext["wheel"])


def steps(rules: Rules) -> tuple[Step, ...]:
    """R-WHEEL-03: between drawing and placing the tile."""
    return (Step(name="wheel", after="draw"),)


def moved(pig: str, count: int) -> str:
    """R-WHEEL-04: clockwise only."""
    return SEGMENTS[(SEGMENTS.index(pig) + count) % len(SEGMENTS)]


def knights_worth(knights: int, pennants: int, rule: str) -> int:
    """R-WHEEL-07, A-30: the points of a player's knights in one city."""
    return sum(i.points for i in tax_items(knights, pennants, rule))


def tax_items(knights: int, pennants: int, rule: str) -> tuple[Item, ...]:
    """R-WHEEL-07, A-30: pennants and knights of one city, for each of the player's knights or once."""
    each = 0 if not knights else knights if rule == "per_knight" else 1
    return Item(what="pennant", count=pennants, each=each), Item(what="knight", count=knights, each=each)


def crown_points(spaces: Sequence[int | None]) -> dict[int, int]:
    """R-WHEEL-13: 3 for each follower; a single follower on two spaces scores both."""
    taken = [p for p in spaces if p is not None]
    each = CROWN * len(spaces) if len(taken) == 1 else CROWN
    return {p: each * taken.count(p) for p in dict.fromkeys(taken)}


def on_crowns(view: View, segment: str) -> list[StandingFigure]:
    return [f for f in view.standing.values() if f.feature == "crown" and f.where == segment]


def on_land(view: View, player: int) -> list[StandingFigure]:
    """A player's followers on land: all but those on crown spaces."""
    return [f for f in view.standing.values()
            if f.player == player and f.segment != NO_SEGMENT and view.box.pieces[f.figure].follower]


def for_plague(view: View, player: int) -> list[StandingFigure]:
    """The followers that the plague may take: those on land, optionally those on towers (R-WHEEL-11, A-53)."""
    if view.box.rules.word("plague_tower_guard") == "exempt":
        return on_land(view, player)
    return [f for f in view.standing.values() if f.player == player and view.box.pieces[f.figure].follower
            and f.at in view.tiles and view.box.kinds[f.feature].on_tile]


def round_table(view: View, first: int) -> list[int]:
    """The players clockwise, starting with ``first``."""
    count = len(view.setup.players)
    return [(first + n) % count for n in range(count)]


def on_wheel(d: Draft, event: WheelTurned) -> None:
    """R-WHEEL-03 to R-WHEEL-13: the pig moves, the segment takes effect, its crown spaces score."""
    if not 1 <= event.steps <= 3:
        d.issue("wheel_steps", f"No tile turns the wheel by {event.steps}.")
    again = wheel(d).turned == d.turn
    if again:
        d.issue("wheel_twice", "The wheel was turned twice for one tile.")
    if d.laid:
        d.issue("wheel_late", "The wheel was turned after its tile was laid.", *[s for s in (d.last_tile,) if s])
    if not again:
        plague_over(d)
    segment = moved(wheel(d).pig, event.steps)
    due = wheel(d).plagued  # of the turn part: people may still answer which followers the first turn cost
    if segment == "plague":
        due = tuple(p for p in round_table(d, event.player) if for_plague(d, p))
    d.ext["wheel"] = replace(wheel(d), pig=segment, turned=d.turn, plagued=due)
    for scored in segment_events(d, segment, event.player):
        d.pay(scored)
    score_crowns(d, segment)


def score_crowns(d: Draft, segment: str) -> None:
    figures = on_crowns(d, segment)
    spaces = [*(f.player for f in figures), *[None] * (CROWNS[segment] - len(figures))]
    for player, points in crown_points(spaces).items():  # a single follower scores every crown space
        several = spaces.count(player) > 1
        item = Item(what="follower" if several else "crown", count=points // CROWN, each=CROWN)
        d.pay(_event(d, player, "wheel.crown", "R-WHEEL-13", (item,)))
    take_home(d, figures)


def segment_events(view: View, segment: str, active: int) -> Iterator[ScoreEvent]:
    """The score events of a segment (R-WHEEL-05 to R-WHEEL-10)."""
    if segment == "fortune":
        yield _event(view, active, "wheel.fortune", "R-WHEEL-06", (Item(what="fortune", count=1, each=FORTUNE),))
    worth = {"tax": (_tax, "R-WHEEL-07"), "famine": (_famine, "R-WHEEL-08"), "storm": (_storm, "R-WHEEL-09"),
             "inquisition": (_inquisition, "R-WHEEL-10")}
    if segment in worth:
        items_of, rule = worth[segment]
        for player in round_table(view, active):
            items = tuple(i for i in items_of(view, player) if i.points)
            if items:
                yield _event(view, player, f"wheel.{segment}", rule, items, on_land(view, player))


def _tax(view: View, player: int) -> Iterator[Item]:
    cities = {feature.id: feature for f in on_land(view, player) if (feature := feature_of(view, f))
              and feature.kind == "city"}
    for city in cities.values():
        knights = sum(f.player == player and view.box.pieces[f.figure].follower for f in figures_on(view, city))
        yield from tax_items(knights, city.marks.get("pennant", 0), view.box.rules.word("wheel_tax"))


def _famine(view: View, player: int) -> Iterator[Item]:
    for f in on_land(view, player):
        farm = feature_of(view, f)
        if farm and farm.kind == "field":
            yield Item(what="city", count=len(bordered_cities(view, farm)), each=1)


def _storm(view: View, player: int) -> Iterator[Item]:
    followers = [p.name for p in view.box.pieces.values() if p.follower]
    yield Item(what="follower", count=sum(max(0, in_hand(view, player, name)) for name in followers), each=1)


def _inquisition(view: View, player: int) -> Iterator[Item]:
    yield Item(what="monk", count=sum(f.feature == "cloister" for f in on_land(view, player)), each=MONK)


_KIND = {"wheel.tax": "city", "wheel.famine": "field", "wheel.inquisition": "cloister"}


def _event(view: View, player: int, reason: str, rule: str, items: tuple[Item, ...],
           figures: Sequence[StandingFigure] = ()) -> ScoreEvent:
    places = sorted({f.place for f in figures if f.feature == _KIND.get(reason)})
    return ScoreEvent(turn=view.turn, feature="", reason=reason, rule=rule, items=items, majority=(), tiles=0,
                      group=reason, points=((player, sum(i.points for i in items)),), places=named(view, places),
                      player=view.player if view.turn_open else None)


def on_plague(d: Draft, event: PlagueTook) -> None:
    """R-WHEEL-11, A-35, A-36: every player with a follower on land returns exactly one to supply."""
    name = d.setup.players[event.player].name
    found = standing(d, event.player, event.figure, event.at, event.feature, event.where)
    if found is None:
        d.issue("no_such_figure", f"{name} has no such {event.figure} for the plague to take.", event.at)
        return
    if event.player not in wheel(d).plagued:
        d.issue("no_plague", f"{name} took a {event.figure} back although the plague did not ask for it.", event.at)
    on_tile = found in for_plague(d, event.player)
    if not on_tile:
        d.issue("not_for_plague", f"The plague took {name}'s {event.figure}, which is no follower on a tile.", event.at)
    take_home(d, [found])
    if on_tile:
        d.ext["wheel"] = replace(wheel(d), plagued=tuple(p for p in wheel(d).plagued if p != event.player))


def on_crown(d: Draft, event: CrownTaken) -> None:
    """R-WHEEL-12, A-46: instead of deploying on the tile; one follower per crown space."""
    name = d.setup.players[event.player].name
    check_action(d, event.player, "took a crown space")
    if len(on_crowns(d, event.segment)) >= CROWNS[event.segment]:
        d.issue("crown_taken", f"{name} took a crown space of {event.segment} that was taken.")
    if not d.box.pieces[event.figure].follower:
        d.issue("not_claimable", f"{name}'s {event.figure} may not stand on a crown space.")
    if in_hand(d, event.player, event.figure) < 1:
        d.issue("no_supply", f"{name} has no {event.figure} left.")
    at = next((sq for sq, p in d.tiles.items() if p.tile == f"{BOARD}.11"), (0, 0))
    d.standing[d.next_figure] = StandingFigure(id=d.next_figure, player=event.player, figure=event.figure, at=at,
                                               feature="crown", where=event.segment, segment=NO_SEGMENT, turn=d.turn)
    d.next_figure += 1


def sign_needs_a_turn(d: Draft) -> None:
    """R-WHEEL-02, R-WHEEL-03: tiles with a wheel symbol, and no others, are placed after turning the wheel."""
    if d.last_tile is None:
        return
    turned = wheel(d).turned == d.turn
    if has_sign(d) and not turned:
        d.issue("wheel_not_turned", "A tile with a wheel sign was laid and the wheel was not turned.", d.last_tile)
    if turned and not has_sign(d):
        d.issue("wheel_without_sign", "The wheel was turned for a tile without a wheel sign.", d.last_tile)


def plague_over(d: Draft) -> None:
    """R-WHEEL-11: play continues, even with the wheel symbol of another tile (A-34). The plague question stays open."""
    d.asked += plague_questions(d)
    for player in wheel(d).plagued:
        d.issue("plague_open", f"{d.setup.players[player].name} took no follower back for the plague.")
    d.ext["wheel"] = replace(wheel(d), plagued=())


def sign_put_away(d: Draft, tile: str) -> None:
    """A-34: the wheel's effect stays, and a replacement tile with a wheel symbol turns it again."""
    if not turns_wheel(d.box.tile(tile)):
        return
    if wheel(d).turned != d.turn:
        d.issue("wheel_not_turned", f"Tile {tile} with a wheel sign was drawn and the wheel was not turned.")
    d.ext["wheel"] = replace(wheel(d), turned=-1)


def questions(view: View) -> Iterator[Question]:
    """How far the pig moved, and which followers the plague removes."""
    if sign_waits(view):
        yield Question(code="wheel_steps", text="How far did the pig move?", player=view.player, at=view.last_tile,
                       turn=view.turn, lasting=True, before=True, must=True, answers=pig_moves(view))
    if view.turn_open:
        yield from plague_questions(view)


def plague_questions(view: View) -> list[Question]:
    """Which followers the plague removes; after the placement these are open questions (`plague_over`)."""
    return [Question(code="plague", text="Whom does the plague take?", player=player, turn=view.turn, before=True,
                     must=True, answers=tuple(
                         PlagueTook(player=player, figure=f.figure, at=f.at, feature=f.feature, where=f.where)
                         for f in for_plague(view, player))) for player in wheel(view).plagued]


def sign_waits(view: View) -> bool:
    """Whether the last tile has a wheel symbol for which the wheel was not turned; that may still be reported."""
    return view.turn_open and view.laid and has_sign(view) and wheel(view).turned != view.turn


def owner_at(view: View, data: Mapping[str, object]) -> int | None:
    """The owner of the follower that the plague removed: a player with an open question and that figure there."""
    due = {q.player for q in (*plague_questions(view), *view.asked) if q.code == "plague"}
    for f in view.standing.values():
        if f.player in due and (f.figure, f.feature, f.where) == tuple(map(data.get, ("figure", "feature", "where"))) \
                and list(f.at) == data.get("at"):
            return f.player
    return None


def offers(view: View) -> Iterator[Question]:
    """The pig moves before the tile is placed: until then only the wheel shows it."""
    if not view.over and not (view.turn_open and (view.laid or wheel(view).turned == view.turn)):
        yield Question(code="wheel", text="Did the pig move?", player=view.player, offer=True, answers=pig_moves(view))


def moves(view: View) -> Iterator[Choice]:
    """The pig moves before the tile; a follower is deployed on a crown space instead of the tile."""
    laid = view.turn_open and view.laid
    if not laid and not (view.turn_open and wheel(view).turned == view.turn):
        yield Choice(code="wheel", event=WheelTurned, player=view.player, answers=pig_moves(view))
    if laid and not view.actions:
        hands = [name for name in view.box.counts
                 if view.box.pieces[name].follower and in_hand(view, view.player, name) > 0]
        yield Choice(code="crown", event=CrownTaken, player=view.player, answers=tuple(
            CrownTaken(player=view.player, figure=name, segment=segment) for segment in SEGMENTS
            if len(on_crowns(view, segment)) < CROWNS[segment] for name in hands))


def pig_moves(view: View, player: int | None = None) -> tuple[WheelTurned, ...]:
    return tuple(WheelTurned(player=view.player if player is None else player, steps=n) for n in (1, 2, 3))


def marks(segment: Segment) -> tuple[tuple[str, int], ...]:
    return (("board", 1),) if segment in ON_BOARD else ()


def city_at_board(rules: Rules, feature: Feature, complete: bool, rate: Rate) -> Rate:
    """R-CITY-06, A-54: whether a square of the board counts as a tile of a two-tile city."""
    if rate == TINY_CITY and feature.marks.get("board") and rules.word("wheel_board_tiny_city") == "normal":
        return CITY
    return rate


def has_sign(view: View) -> bool:
    """Whether the last tile has a wheel symbol."""
    at = view.last_tile
    return at is not None and turns_wheel(view.box.tile(view.tiles[at].tile))


def shows(view: View) -> Shown:
    return {"wheel": {"pig": wheel(view).pig, "segments": list(SEGMENTS), "crowns": [
        {"segment": s, "spaces": CROWNS[s], "players": [f.player for f in on_crowns(view, s)]} for s in SEGMENTS]}}


def draws(view: View) -> Iterator[Shape]:
    """The wheel in the middle of its board, with the pig and the followers on its crown spaces."""
    crowns = []
    for segment in SEGMENTS:
        taken = [f.player for f in on_crowns(view, segment)]
        crowns.append((segment, [taken[n] if n < len(taken) else None for n in range(CROWNS[segment])]))
    return draw_wheel(view, wheel(view).pig, crowns)


WHEEL = Expansion(
    name="wheel",
    products=("wheel",),
    stands_alone=True,
    tiles=TILES,
    dials=(dial(SEGMENTS, CROWNS, lambda v: wheel(v).pig, lambda v: pig_moves(v, next_part(v)[0]),
                lambda player, name, where: CrownTaken(player=player, figure=name, segment=where)),),
    kinds=(Kind(name="crown", closes="never", claimable=False, on_tile=False),),
    steps=steps,
    marks=marks,
    rates=(city_at_board,),
    handlers=(Handler(event=WheelTurned, apply=on_wheel, step="wheel", when=BEFORE, late=sign_waits),
              Handler(event=PlagueTook, apply=on_plague, step="wheel", when=ANY, whose=owner_at),
              Handler(event=CrownTaken, apply=on_crown, step="wood", action=True)),
    laid=(sign_needs_a_turn, plague_over),
    put_away=(sign_put_away,),
    starts=(Start(value="wheel_board", tile=StartTile(tile=BOARD)),),
    open_with=lay_board,
    initial=lambda _: Wheel(),
    questions=questions,
    offers=offers,
    moves=moves,
    shows=shows,
    draws=draws,
    phrases={"wheel.fortune": "The wheel stopped at fortune", "wheel.tax": "The wheel stopped at tax",
             "wheel.famine": "The wheel stopped at famine", "wheel.storm": "The wheel stopped at storm",
             "wheel.inquisition": "The wheel stopped at inquisition",
             "wheel.crown": "The wheel stopped at a follower's crown"},
    options=("wheel_tax", "wheel_board_tiny_city", "wheel_board_dragon", "plague_tower_guard"),
    cues={"pig": "a pink figure on the wheel; the segment it stands on", "crowns": "followers on the wheel's rim"},
)
