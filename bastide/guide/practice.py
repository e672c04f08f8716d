"""A road of three tiles that proves the whole pipeline: the two tiles that complete it, and what was seen of it.
"""

from __future__ import annotations

from functools import lru_cache

from scoring.engine import fitting, legal_claims, new_game, step, tiles_left
from scoring.errors import IllegalMove
from scoring.events import FigurePlaced, Setup, TilePlaced, TurnEnded
from scoring.state import GameState
from scoring.tiles import Square
from scoring.views import GameView
from web.machine_states import LayRow, SeenRow

LENGTH = 3
_SIDES: tuple[tuple[Square, Square], ...] = (((-1, 0), (1, 0)), ((0, -1), (0, 1)))


def plan(setup: Setup) -> list[LayRow]:
    """The two tiles, a follower on the first. Empty if the start is not a single tile with a road across: then any road
    will do."""
    return list(_plan(setup))


@lru_cache(maxsize=8)
def _plan(setup: Setup) -> tuple[LayRow, ...]:
    begun = new_game(setup)
    if len(begun.tiles) != 1:
        return ()
    for first, second in _SIDES:
        for tile, rot in _choices(begun, first):
            laid = step(begun, TilePlaced(player=0, tile=tile, at=first, rot=rot))
            for claim in legal_claims(laid):
                if claim.feature != "road":
                    continue
                stands = FigurePlaced(player=0, figure="follower", at=first, feature="road", where=claim.where)
                ready = step(step(laid, stands), TurnEnded())
                for other, turned in _choices(ready, second):
                    last = TilePlaced(player=1 % len(setup.players), tile=other, at=second, rot=turned)
                    if _scored(_after(ready, last)):
                        return ({"tile": tile, "at": list(first), "rot": rot, "follower": claim.where},
                                {"tile": other, "at": list(second), "rot": turned})
    return ()


def _after(state: GameState, event: TilePlaced) -> GameState:
    try:
        return step(step(state, event), TurnEnded())
    except IllegalMove:
        return state


def _choices(state: GameState, at: Square) -> list[tuple[str, int]]:
    """The tiles that fit there, most frequent in the box first."""
    left = tiles_left(state)
    kinds = sorted(fitting(state, at).items(), key=lambda kind: (-left.get(kind[0], 0), kind[0]))
    return [(tile, rot) for tile, rots in kinds for rot in rots]


def _scored(state: GameState) -> bool:
    return any(e.feature == "road" and e.tiles == LENGTH and e.points for e in state.score_events)


def seen(view: GameView) -> SeenRow:
    """Which stages of the chain have worked in a view's game: a ``tile`` and a ``follower`` that the camera saw, and
    points for a ``road``. Entries made by hand do not count."""
    by_camera = [e["kind"] for e in view["history"] if e["source"] == "camera"]
    return {"tile": "tile" in by_camera, "follower": "deploy" in by_camera,
            "road": any(e["feature"] == "road" and e["player"] is not None for e in view["feed"])}
