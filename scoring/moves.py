"""The moves that are possible now, before the next tile and after the last one, so that clients need no knowledge of
expansions."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.contributions import ANY, BEFORE, IN_TURN, Choice
from scoring.engine import fits, fitting, objections, open_squares, tiles_left, waiting
from scoring.errors import InvalidNotation
from scoring.events import Event, to_json
from scoring.log_position import question_id
from scoring.state import Draft, GameState
from scoring.tiles import Square
from scoring.turns import close_turn, next_part
from scoring.views import GapsView, KindsView, MovesView, NextTileView, ObjectionsView, PlacesView


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A possible move. ``when`` is ``before`` the next tile, ``after`` the last one, or ``any``; ``must`` if the rules
    require it first; ``question`` is the id of the question that it answers; ``answers`` are events ready to report.
    """

    code: str
    do: str
    when: str
    player: int
    answers: tuple[Event, ...]
    must: bool = False
    question: str = ""


def moves(state: GameState) -> tuple[Move, ...]:
    """Everything the rules allow now: pending questions of this turn part, what its player may do after placing the
    tile, then what precedes the next tile, as if the open turn were over. Empty after the end of the game."""
    if state.over:
        return ()
    out = [Move(code=q.code, do=q.answers[0].DO, when="before" if q.before else "after", player=q.player,
                answers=q.answers, must=q.must, question=question_id(q))
           for q in waiting(state) if q.turn == state.turn and q.answers]
    asked = {m.do for m in out if m.must}
    laid = state.turn_open and state.laid
    chosen = [_move(state, c, "after" if laid else "before") for c in state.box.moves(state) if c.event.DO not in asked]
    free = {a for m in chosen for a in m.answers}
    out = [*(m for m in out if m.must or not free.issuperset(m.answers)), *chosen]
    if laid:
        d = Draft(state)
        close_turn(d)
        known = {(m.code, m.player) for m in out}
        out += [_move(state, c, "before") for c in d.box.moves(d)
                if _when(state, c) in (BEFORE, IN_TURN) and (c.code, c.player) not in known]
    return tuple(m for m in out if m.answers or m.do == "tile" or m.code == "discard")


def _when(state: GameState, choice: Choice) -> str:
    return state.box.handlers[choice.event].when


def _move(state: GameState, choice: Choice, when: str) -> Move:
    return Move(code=choice.code, do=choice.event.DO, when=ANY if _when(state, choice) == ANY else when,
                player=choice.player, answers=choice.answers)


def next_tile(state: GameState) -> NextTileView:
    """Who places the next tile."""
    part = next_part(state)
    return {"player": part.player, "part": part.part, "waiting": state.turn_open and not state.laid}


def moves_json(state: GameState) -> MovesView:
    """`moves` as JSON-ready data, with the player of the next tile."""
    return {"next_tile": next_tile(state),
            "moves": [{"code": m.code, "do": m.do, "when": m.when, "player": m.player, "must": m.must,
                       "question": m.question or None, "answers": [to_json(a) for a in m.answers]}
                      for m in moves(state)]}


def places_json(state: GameState, tile: str) -> PlacesView:
    """The squares where a kind of tile may be placed, each with its rotations. Raises InvalidNotation."""
    _known(state, tile)
    squares = {at: [rot for rot in range(4) if fits(state, tile, at, rot)] for at in sorted(open_squares(state))}
    return {"tile": tile, "left": tiles_left(state).get(tile, 0),
            "places": [{"at": list(at), "rots": rots} for at, rots in squares.items() if rots]}


def kinds_json(state: GameState, at: Square) -> KindsView:
    """The remaining kinds that may be placed on a square, with the number of tiles left of each."""
    left = tiles_left(state)
    fit = fitting(state, at)
    return {"at": list(at), "total": sum(left.values()), "fit": sum(left[kind] for kind in fit),
            "kinds": [{"tile": kind, "left": left[kind], "rots": list(rots)} for kind, rots in fit.items()]}


def gaps_json(state: GameState) -> GapsView:
    """Every open square with the numbers of kinds and of remaining tiles that fit there."""
    left = tiles_left(state)
    fit = {at: fitting(state, at) for at in sorted(open_squares(state))}
    return {"total": sum(left.values()), "gaps": [
        {"at": list(at), "kinds": len(kinds), "fit": sum(left[kind] for kind in kinds)} for at, kinds in fit.items()]}


def turns_json(state: GameState, tile: str, at: Square) -> ObjectionsView:
    """The rules that a tile on a square would break, for each rotation (quarter turns). Raises InvalidNotation."""
    _known(state, tile)
    return {"tile": tile, "at": list(at), "turns": [
        {"rot": rot, "objections": [{"code": p.code, "text": p.text} for p in objections(state, tile, at, rot)]}
        for rot in range(4)]}


def _known(state: GameState, tile: str) -> None:
    if tile not in state.box.contents:
        raise InvalidNotation(f"tile: {tile[:40]!r} is in none of the chosen boxes")
