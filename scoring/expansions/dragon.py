"""The Princess & the Dragon: state, turn slots and legality. The effects of the events are in dragon_moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, TypedDict

from scoring.appearance import appearance
from scoring.board import claims
from scoring.contributions import Attempt, Choice, Expansion, Handler, Neutral, Problem, Question, Shape, Step, View
from scoring.events import FigurePlaced, Setup
from scoring.expansions.dragon_moves import (
    Beasts,
    DragonMoved,
    FairyMoved,
    PrincessRemoved,
    beasts,
    dragon_steps,
    fairy_bonus,
    fairy_turn,
    knights_of_princess,
    on_dragon,
    on_fairy,
    on_laid,
    on_princess,
    walked,
    walks,
)
from scoring.notation import FigureRef
from scoring.rules import Rules
from scoring.state import Draft, StandingFigure, feature_at, standing_at
from scoring.tiles import Square, Tile


def initial(setup: Setup) -> Beasts:
    return Beasts()


def steps(rules: Rules) -> tuple[Step, ...]:
    """R-TURN-22: the dragon moves before or after scoring; the fairy scores at the start of a turn (R-FAIRY-05)."""
    after = "wood" if rules.word("dragon_timing") == "before_scoring" else "score"
    return (Step(name="fairy", after="start", run=fairy_turn),
            Step(name="dragon", after=after, run=None),
            Step(name="dragon_home", after="dragon", run=stopped),
            Step(name="princess", after="wood", run=ignored))


def flags(view: View, at: Square | None) -> frozenset[str]:
    """The symbols of the tile on a square."""
    placed = view.tiles.get(at) if at is not None else None
    return view.box.tile(placed.tile).flags if placed else frozenset()


def stopped(d: Draft) -> None:
    """Report steps that the dragon could have taken and did not (R-DRAGON-04)."""
    if d.last_tile and "dragon" in flags(d, d.last_tile) and d.laid and beasts(d).dragon and dragon_steps(d):
        d.issue("dragon_stopped", "The dragon did not walk all the steps that it could.", d.last_tile)


def ignored(d: Draft) -> None:
    """Report that the princess removed no knight (R-PRINCESS-02), before scoring can return the knights."""
    must = d.box.rules.word("princess_removal") == "must" and beasts(d).princess_turn != d.turn
    if must and d.last_tile and knights_of_princess(d):
        d.issue("princess_ignored", "The princess sent no knight home.", d.last_tile)


def lies_aside(view: View, tile: Tile) -> bool:
    """R-DRAGON-07, A-22: dragon tiles are set aside until the first volcano."""
    return "dragon" in tile.flags and beasts(view).dragon is None


def too_early(view: View, tile: Tile, at: Square, rot: int) -> Problem | None:
    """R-DRAGON-07: no dragon tile before the first volcano."""
    if lies_aside(view, tile):
        return Problem(code="dragon_early", text=f"{tile.id} was laid before the first volcano.")
    return None


def no_figure_here(view: View, a: Attempt) -> Problem | None:
    """R-VOLCANO-01, R-VOLCANO-04, A-24: no figure may be deployed on the volcano tile just placed, nor on the dragon's
    tile. An option decides whether this includes the top of a tower there (A-56)."""
    name = view.setup.players[a.player].name
    if a.at == view.last_tile and view.laid and "volcano" in flags(view, a.at):
        return Problem(code="on_volcano", text=f"{name} put a {a.figure} on the volcano tile just laid.")
    closed = view.box.rules.word("tower_at_dragon") == "stays_open"
    if a.at == beasts(view).dragon and (a.segment is not None or closed):
        return Problem(code="on_dragon", text=f"{name} put a {a.figure} on the dragon's tile.")
    return None


def princess_first(view: View, a: Attempt) -> Problem | None:
    """R-PRINCESS-02, R-PRINCESS-03: with knights in her city, the action of this part is to remove one."""
    if princess_waits(view):
        name = view.setup.players[a.player].name
        return Problem(code="princess_first", text=f"{name} put a {a.figure} down instead of sending a knight home.")
    return None


def princess_waits(view: View) -> bool:
    """Whether a knight must be removed before anything else."""
    return view.box.rules.word("princess_removal") == "must" and not view.actions and bool(knights_of_princess(view))


def reference(figure: StandingFigure) -> FigureRef:
    """An event's reference to a figure on its square."""
    return FigureRef(owner=figure.player, figure=figure.figure, feature=figure.feature, where=figure.where)


def through_portal(view: View, a: Attempt) -> bool:
    """R-PORTAL-01 to R-PORTAL-03: a follower may be deployed to an incomplete feature of any tile."""
    if not view.laid or "portal" not in flags(view, view.last_tile) or a.segment is None:
        return False
    piece = view.box.pieces[a.figure]
    feature = feature_at(view, a.at, a.segment)
    kind = view.box.kinds.get(feature.kind)
    open_ended = kind is None or kind.closes == "never" or feature.open > 0
    return piece.follower and open_ended


def questions(view: View) -> Iterator[Question]:
    """Where the dragon moved, which knight was removed, and beside which follower the fairy stands."""
    if not view.turn_open or not view.laid:
        return
    b = beasts(view)
    if b.dragon and "dragon" in flags(view, view.last_tile) and (ahead := dragon_steps(view)):
        mover = (view.player + len(walked(view)) - 1) % len(view.setup.players)  # R-DRAGON-02
        yield Question(code="dragon_path", text="Where does the dragon go?", player=mover, at=b.dragon,
                       turn=view.turn, lasting=True, must=True,
                       answers=tuple(DragonMoved(player=view.player, path=(s,)) for s in ahead))
    knights = knights_of_princess(view)
    if knights and b.princess_turn != view.turn and not view.actions:
        must = view.box.rules.word("princess_removal") == "must"
        yield Question(code="princess", text="Which knight goes home?", player=view.player, at=view.last_tile,
                       turn=view.turn, lasting=must, must=must, answers=tuple(
            PrincessRemoved(player=view.player, owner=f.player, figure=f.figure, at=f.at, feature=f.feature,
                            where=f.where) for f in knights))
    if b.fairy and b.fairy_turn == view.turn and b.fairy_of is None and view.box.rules.word("fairy_mode") == "follower":
        beside = [reference(f) for f in standing_at(view, b.fairy)
                  if f.player == view.player and view.box.pieces[f.figure].follower]
        yield Question(code="fairy_beside", text="Which follower does the fairy stand with?", player=view.player,
                       at=b.fairy, turn=view.turn, lasting=True, answers=tuple(
                           FairyMoved(player=view.player, at=b.fairy, beside=ref) for ref in beside))


def moves(view: View) -> Iterator[Choice]:
    """Instead of deploying a figure on the tile: move the fairy to one's own follower, or deploy a follower through a
    magic portal."""
    if not (view.turn_open and view.laid) or view.actions or princess_waits(view):
        return
    player, mine = view.player, view.box.rules.word("fairy_mode") == "follower"
    own = [f for at in view.tiles for f in standing_at(view, at)
           if f.player == player and view.box.pieces[f.figure].follower]
    yield Choice(code="fairy", event=FairyMoved, player=player, answers=tuple(dict.fromkeys(
        FairyMoved(player=player, at=f.at, beside=reference(f) if mine else None) for f in own)))
    if "portal" in flags(view, view.last_tile):
        yield Choice(code="portal", event=FigurePlaced, player=player, answers=tuple(
            FigurePlaced(player=player, figure=name, at=c.at, feature=c.feature, where=c.where, portal=True)
            for name in view.box.counts if view.box.pieces[name].follower
            for at in view.tiles if at != view.last_tile for c in claims(view, name, at)))


def visits(view: View) -> Iterator[FairyMoved]:
    """The possible moves of the fairy."""
    return (a for c in moves(view) if c.event is FairyMoved for a in c.answers if isinstance(a, FairyMoved))


class Guarded(TypedDict):
    """The follower beside which the fairy stands."""

    player: int
    figure: str
    feature: str
    where: str


class Shown(TypedDict):
    """The positions of the dragon and the fairy."""

    dragon: list[int] | None
    fairy: list[int] | None
    fairy_beside: NotRequired[Guarded]


def shows(view: View) -> Shown:
    b = beasts(view)
    out: Shown = {"dragon": list(b.dragon) if b.dragon else None, "fairy": list(b.fairy) if b.fairy else None}
    guarded = view.standing.get(b.fairy_of) if b.fairy_of is not None else None
    if guarded:
        out["fairy_beside"] = {"player": guarded.player, "figure": guarded.figure, "feature": guarded.feature,
                               "where": guarded.where}
    return out


def draws(view: View) -> Iterator[Shape]:
    """The dragon in the middle of its tile, the fairy in a corner."""
    b, outlines = beasts(view), appearance("dragon").pieces
    beside = b.fairy_of in view.standing
    for name, at, colour, dx, dy in (("dragon", b.dragon, "#b3261e", 28, 26),
                                     ("fairy", b.fairy, "#7b5bd6", 2 if beside else 4, 4)):
        if at:
            place = f"translate({at[0] * 100 + dx} {at[1] * 100 + dy}) scale(1.35)"
            yield {"tag": "g", "look": {"transform": place, "class": "piece"}, "says": {"key": f"board.{name}"},
                   "inside": [{"tag": "path", "look": {"d": outlines[name], "fill": colour,
                                                       "class": f"neutral {name}"}}]}


DRAGON = Expansion(
    name="dragon",
    products=("dragon",),
    neutrals=(Neutral(name="dragon", wood_mm=(42.0, 29.0, 12.0), paints=("red", "purple"),
                      at=lambda v: beasts(v).dragon, goes=lambda e: e.path if isinstance(e, DragonMoved) else (),
                      ways=walks, awaited="dragon_stopped"),
              Neutral(name="fairy", wood_mm=(18.0, 27.0, 10.0), paints=("white", "pink", "natural"),
                      at=lambda v: beasts(v).fairy, by=lambda v: beasts(v).fairy_of,
                      goes=lambda e: (e.at,) if isinstance(e, FairyMoved) else (), ways=visits)),
    steps=steps,
    handlers=(Handler(event=FairyMoved, apply=on_fairy, step="wood", action=True),
              Handler(event=PrincessRemoved, apply=on_princess, step="wood", action=True),
              Handler(event=DragonMoved, apply=on_dragon, step="dragon")),
    placing=(too_early,),
    held_back=(lies_aside,),
    deploying=(no_figure_here, princess_first),
    reaches=(through_portal,),
    bonuses=(fairy_bonus,),
    laid=(on_laid,),
    initial=initial,
    questions=questions,
    moves=moves,
    shows=shows,
    draws=draws,
    phrases={"fairy.turn": "The turn began with a follower at the fairy",
             "fairy.completed": "A follower at the fairy stood in what was scored"},
    options=("dragon_timing", "princess_removal", "fairy_mode", "fairy_turn", "fairy_empty_farm", "fairy_worthless"),
    cues={"dragon": "a big neutral figure, one", "fairy": "a small neutral figure, one",
          "dragon_path": "the tiles it stops on, in order; figures on them vanish"},
)
