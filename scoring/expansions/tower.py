"""The Tower: pieces, prisoners, exchange and ransom (R-TOWER-01 to R-TOWER-12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypedDict, cast

from scoring.contributions import (
    IN_TURN,
    Attempt,
    Choice,
    Expansion,
    Handler,
    Held,
    Kind,
    Piece,
    Problem,
    Question,
    Shape,
    Stack,
    Step,
    View,
)
from scoring.events import Event, FigurePlaced, FigureTaken, written
from scoring.expansions.tower_state import guard, initial, raised, reach, towers
from scoring.geometry import flag_spot
from scoring.notation import PLAYER, REF, REFS, SQUARE, FigureRef
from scoring.rules import Rules
from scoring.scores import Item, ScoreEvent
from scoring.state import Draft, GameState, StandingFigure, standing, standing_at
from scoring.tiles import Point, Square, Tile
from scoring.turns import advance, check_action, open_turn, take_home

PIECES: Mapping[int, int] = {1: 10, 2: 10, 3: 9, 4: 7, 5: 6, 6: 5}  # R-TOWER-01
RANSOM = 3  # R-TOWER-12


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerRaised(Event):
    """A tower piece was placed on a tower foundation or on a tower."""

    DO: ClassVar[str] = "tower"
    player: int = written(PLAYER)
    at: Square = written(SQUARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured(FigureTaken):
    """The tower just raised captured this follower."""

    DO: ClassVar[str] = "capture"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged(Event):
    """Two players exchanged prisoners. The exchange is automatic; the event tells which two were chosen."""

    DO: ClassVar[str] = "exchange"
    player: int = written(PLAYER)
    released: tuple[FigureRef, ...] = written(REFS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RansomPaid(Event):
    """The player paid a ransom for a captured follower."""

    DO: ClassVar[str] = "ransom"
    player: int = written(PLAYER)
    jailer: int = written(PLAYER)
    released: FigureRef = written(REF)


def steps(rules: Rules) -> tuple[Step, ...]:
    return (Step(name="exchange", after="wood", run=exchange_rest),)


def may_capture(view: View) -> tuple[StandingFigure, ...]:
    """The followers that the piece just placed may capture (R-TOWER-04, R-TOWER-05, R-TOWER-09, A-37)."""
    t = towers(view)
    if t.raised is None or t.raised_turn != view.turn:
        return ()
    squares = reach(t.raised, t.heights[t.raised])
    return tuple(f for f in standing_at(view, *squares) if view.box.pieces[f.figure].follower)


def on_tower(d: Draft, event: TowerRaised) -> None:
    """R-TOWER-02."""
    name = d.setup.players[event.player].name
    check_action(d, event.player, "raised a tower", event.at)
    if not is_place(d, event.at, "tower", "I"):
        d.issue("no_tower_place", f"{name} laid a tower piece where no tower stands.", event.at)
    if guard(d, event.at):
        d.issue("tower_closed", f"{name} raised a tower that a follower has closed.", event.at)
    t = towers(d)
    if t.placed[event.player] >= d.box.counts["tower_pieces"]:
        d.issue("no_supply", f"{name} has no tower piece left.", event.at)
    placed = tuple(n + (p == event.player) for p, n in enumerate(t.placed))
    d.ext["tower"] = replace(t, heights={**t.heights, event.at: t.heights.get(event.at, 0) + 1}, placed=placed,
                             raised=event.at, raised_turn=d.turn)


def on_capture(d: Draft, event: Captured) -> None:
    """R-TOWER-04 to R-TOWER-09."""
    name = d.setup.players[event.player].name
    taken = standing(d, event.owner, event.figure, event.at, event.feature, event.where)
    if taken is None:
        d.issue("no_such_figure", f"There is no {event.figure} like that to capture.", event.at)
        return
    if taken not in may_capture(d):
        d.issue("out_of_reach", f"{name} captured a {event.figure} out of reach of the piece just laid.", event.at)
    take_home(d, [taken])
    t = replace(towers(d), raised=None)
    if event.owner != event.player:
        t = replace(t, prisoners=(*t.prisoners, (event.player, event.owner, event.figure)))
    d.ext["tower"] = t


def mutual(view: View) -> tuple[int, int] | None:
    """Two players who each hold a prisoner of the other (R-TOWER-10)."""
    held = {(holder, owner) for holder, owner, _ in towers(view).prisoners}
    return next(((a, b) for a, b in sorted(held) if a < b and (b, a) in held), None)


def release(d: Draft, owner: int, figure: str, holder: int | None = None) -> bool:
    """Return a prisoner to its owner; without ``holder``, from whoever holds it."""
    t = towers(d)
    for n, (h, o, f) in enumerate(t.prisoners):
        if (o, f) == (owner, figure) and holder in (None, h):
            d.ext["tower"] = replace(t, prisoners=t.prisoners[:n] + t.prisoners[n + 1:])
            return True
    return False


def on_exchange(d: Draft, event: Exchanged) -> None:
    """R-TOWER-10, R-TOWER-11: the pair that the players chose; without a reported choice, the heaviest figures."""
    pair = mutual(d)
    waiting = list(pair or ())
    for ref in event.released:
        other = next((p for p in pair or () if p != ref.owner), None)
        if ref.owner in waiting and release(d, ref.owner, ref.figure, other):
            waiting.remove(ref.owner)
        else:
            d.issue("no_prisoner", f"There is no {ref.figure} to exchange for {d.setup.players[ref.owner].name}."
                    if ref.owner < len(d.setup.players) else "There is no such player to exchange with.")
    if pair and len(waiting) == 1:
        release_heaviest(d, waiting[0], next(p for p in pair if p != waiting[0]))


def exchange_rest(d: Draft) -> None:
    """R-TOWER-10: the exchange is automatic; without a reported choice, the heaviest figure is returned."""
    while (pair := mutual(d)) is not None:
        for owner, holder in (pair, pair[::-1]):
            release_heaviest(d, owner, holder)


def release_heaviest(d: Draft, owner: int, holder: int) -> None:
    """Return the prisoner that its owner would choose, that of the greatest weight."""
    held = [f for h, o, f in towers(d).prisoners if (h, o) == (holder, owner)]
    release(d, owner, max(held, key=lambda f: d.box.pieces[f].weight), holder)


def on_ransom(d: Draft, event: RansomPaid) -> None:
    """R-TOWER-12, R-TURN-21, A-39. It cannot be observed, so an impossible one is ignored."""
    name = d.setup.players[event.player].name
    first_part = d.turn - (d.part - 1)
    held = (event.jailer, event.released.owner, event.released.figure)
    if event.released.owner != event.player or held not in towers(d).prisoners:
        d.issue("no_prisoner", f"{name} has no such follower to buy back.")
    elif d.scores[event.player] < RANSOM:
        d.issue("ransom_unpaid", f"{name} cannot pay a ransom of {RANSOM} points.")
    else:
        if towers(d).ransomed == first_part:
            d.issue("ransom_twice", f"{name} paid a second ransom in one turn.")
        release(d, event.released.owner, event.released.figure, event.jailer)
        d.ext["tower"] = replace(towers(d), ransomed=first_part)
        for player, points, reason in ((event.player, -RANSOM, "ransompaid.payment"),
                                       (event.jailer, RANSOM, "ransompaid.income")):
            d.pay(ScoreEvent(turn=d.turn, feature="", reason=reason, points=((player, points),), majority=(), places=(),
                             items=(Item(what="ransom", count=1, each=points),), tiles=0, rule="R-TOWER-12",
                             player=d.player))


def freed(view: View, data: Mapping[str, object]) -> int | None:
    """The payer of a ransom: the owner of the follower."""
    released = data.get("released")
    owner = released.get("owner") if isinstance(released, Mapping) else None
    return owner if type(owner) is int else None


def is_place(view: View, at: Square, feature: str, where: str) -> bool:
    """Whether the tile has a tower foundation."""
    placed = view.tiles.get(at)
    return feature == "tower" and where == "I" and placed is not None and "tower" in view.box.tile(placed.tile).flags


def on_top(view: View, a: Attempt) -> bool:
    """R-TOWER-03: a follower may close any tower."""
    return a.feature == "tower"


def can_close(view: View, a: Attempt) -> Problem | None:
    """R-TOWER-03: a tower of at least one piece that is not closed."""
    if a.feature != "tower" or a.at not in view.tiles:
        return None
    name = view.setup.players[a.player].name
    if not towers(view).heights.get(a.at):
        return Problem(code="no_tower", text=f"{name} put a {a.figure} on a tower place without a tower.")
    if guard(view, a.at):
        return Problem(code="tower_closed", text=f"{name} put a {a.figure} on a tower that is closed already.")
    return None


def off_board(view: View) -> Iterator[tuple[int, str, int]]:
    t = towers(view)
    for player, count in enumerate(t.placed):
        if count:
            yield player, "tower_pieces", count
    for _, owner, figure in t.prisoners:
        yield owner, figure, 1


def questions(view: View) -> Iterator[Question]:
    """Which follower the tower captured, and which prisoners are exchanged."""
    if not view.turn_open:
        return
    if takes := may_capture(view):
        yield Question(code="capture", text="Whom does the tower take?", player=view.player, at=towers(view).raised,
                       turn=view.turn, lasting=True, answers=tuple(
            Captured(player=view.player, owner=f.player, figure=f.figure, at=f.at, feature=f.feature, where=f.where)
            for f in takes))
    pair = mutual(view)
    if pair:
        a, b = pair
        mine, theirs = ({f for h, o, f in towers(view).prisoners if (h, o) == hold} for hold in ((b, a), (a, b)))
        if len(mine) > 1 or len(theirs) > 1:
            yield Question(code="exchange", text="Which prisoners go home?", player=view.player, turn=view.turn,
                           must=True, answers=tuple(
                Exchanged(player=view.player, released=(FigureRef(owner=a, figure=x), FigureRef(owner=b, figure=y)))
                for x in sorted(mine) for y in sorted(theirs)))


def offers(view: View) -> Iterator[Question]:
    """The ransoms that may be paid (R-TOWER-12, R-TURN-21, A-39)."""
    t, payer = towers(view), view.player
    first_part = view.turn - (view.part - 1) if view.turn_open else view.turn + 1 - (view.part - 1)
    held = sorted({(holder, figure) for holder, owner, figure in t.prisoners if owner == payer})
    if held and not view.over and t.ransomed != first_part and purse(view) >= RANSOM:
        yield Question(code="ransom", text="Was a ransom paid?", player=payer, offer=True, answers=tuple(
            RansomPaid(player=payer, jailer=holder, released=FigureRef(owner=payer, figure=figure))
            for holder, figure in held))


def moves(view: View) -> Iterator[Choice]:
    """Pay a ransom; place a tower piece, or a follower on top of a tower, instead of deploying a figure on the tile."""
    for question in offers(view):
        yield Choice(code="ransom", event=RansomPaid, player=question.player, answers=question.answers)
    if not (view.turn_open and view.laid) or view.actions:
        return
    t, player = towers(view), view.player
    places = [at for at, placed in view.tiles.items() if "tower" in view.box.tile(placed.tile).flags]
    if t.placed[player] < view.box.counts["tower_pieces"]:
        yield Choice(code="tower", event=TowerRaised, player=player, answers=tuple(
            TowerRaised(player=player, at=at) for at in places if not guard(view, at)))
    tops = [Attempt(player=player, figure=name, at=at, feature="tower", where="I", segment=None)
            for name in view.box.counts if view.box.pieces[name].follower for at in places]
    yield Choice(code="guard", event=FigurePlaced, player=player, answers=tuple(
        FigurePlaced(player=player, figure=a.figure, at=a.at, feature=a.feature, where=a.where)
        for a in tops if next(view.box.deploying(view, a), None) is None))


def purse(view: View) -> int:
    """The points of the active player, including those at the start of the turn (R-FAIRY-05)."""
    if not view.turn_open:
        view = d = Draft(cast(GameState, view))  # a draft can be copied too
        open_turn(d, view.player, view.part)
        advance(d, "draw")
    return view.scores[view.player]


class Tower(TypedDict):
    """A tower and its height."""

    at: list[int]
    height: int


class Prisoner(TypedDict):
    """A captured follower; players are indices."""

    holder: int
    owner: int
    figure: str


class Shown(TypedDict):
    """All towers and prisoners."""

    towers: list[Tower]
    prisoners: list[Prisoner]


def shows(view: View) -> Shown:
    t = towers(view)
    return {"towers": [{"at": list(at), "height": h} for at, h in t.heights.items()],
            "prisoners": [{"holder": h, "owner": o, "figure": f} for h, o, f in t.prisoners]}


def draws(view: View) -> Iterator[Shape]:
    """At most five floors, and the height as a number, which cannot be seen from above."""
    for at, height in towers(view).heights.items():
        floors: list[Shape] = [{"tag": "rect", "look": {
            "x": -15, "y": 8 - n * 5, "width": 30, "height": 12, "rx": 2.5, "class": "tower-floor", "fill": "#b98d5a",
            "stroke": "#2a1c0c", "stroke-width": 1.6}} for n in range(min(height, 5))]
        x, y = at[0] * 100 + 50, at[1] * 100 + (62 if guard(view, at) else 52)
        yield {"tag": "g", "look": {"transform": f"translate({x} {y})", "class": "piece"},
               "says": {"key": "board.tower", "n": height}, "inside": [
            *floors,
            {"tag": "circle", "look": {"cx": 15, "cy": 16, "r": 9.5, "fill": "#fff8e6", "stroke": "#2a2018",
                                       "stroke-width": 1.6}},
            {"tag": "text", "look": {"x": 15, "y": 20.5, "class": "piece-number"}, "says": {"key": "", "n": height}}]}


def holds(view: View, player: int) -> Iterator[Held]:
    """The tower pieces left, also if there are none: then no tower can be raised; and prisoners."""
    left = max(0, view.box.counts["tower_pieces"] - towers(view).placed[player])
    yield {"key": "player.tower_pieces", "n": left, "icon": "tower_piece"}
    figures = [(owner, figure) for holder, owner, figure in towers(view).prisoners if holder == player]
    if figures:
        yield {"key": "player.prisoners", "n": len(figures), "figures": figures}


def foundation(tile: Tile) -> Point | None:
    """The tower foundation of a tile, in drawing units at rot 0."""
    return flag_spot(tile) if "tower" in tile.flags else None


TOWER = Expansion(
    name="tower",
    products=("tower",),
    pieces=(Piece(name="tower_pieces", count=lambda players: PIECES[players]),),
    # Assumed, not measured: blocks as wide as a follower, each raising the tower by 11 mm, of unpainted wood.
    stacks=(Stack(name="tower", wood_mm=(16.0, 11.0, 16.0), paints=("natural", "brown"), spot=foundation,
                  heights=lambda view: towers(view).heights, raised=raised, top="tower"),),
    kinds=(Kind(name="tower", closes="never", spot=(50.0, 36.0)),),
    steps=steps,
    handlers=(Handler(event=TowerRaised, apply=on_tower, step="wood", action=True),
              Handler(event=Captured, apply=on_capture, step="wood"),
              Handler(event=Exchanged, apply=on_exchange, step="wood"),
              Handler(event=RansomPaid, apply=on_ransom, step="draw", when=IN_TURN, whose=freed)),
    deploying=(can_close,),
    reaches=(on_top,),
    spots=is_place,
    initial=initial,
    off_board=off_board,
    questions=questions,
    offers=offers,
    moves=moves,
    shows=shows,
    draws=draws,
    holds=holds,
    phrases={"ransompaid.payment": "A ransom was paid", "ransompaid.income": "A ransom was paid"},
    options=("tower_at_dragon",),
    cues={"tower": "wooden pieces on a tower place; counted, since height cannot be seen from above",
          "capture": "a follower that vanishes within reach of a piece just laid", "ransom": "never seen: asked"},
)
