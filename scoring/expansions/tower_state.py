"""Where towers stand, how high they are, and who is held prisoner: the state of The Tower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from scoring.contributions import View
from scoring.events import Setup
from scoring.state import GameState, StandingFigure
from scoring.tiles import STEP, Square


@dataclass(frozen=True, slots=True, kw_only=True)
class Towers:
    """Heights by square, pieces placed per player, prisoners as (holder, owner, figure); the tower and turn of the last
    piece while it may still capture; the round in which each player last paid a ransom."""

    heights: Mapping[Square, int] = field(default_factory=dict)
    placed: tuple[int, ...] = ()
    prisoners: tuple[tuple[int, int, str], ...] = ()
    raised: Square | None = None
    raised_turn: int = -1
    ransomed: int = -1


def towers(view: View) -> Towers:
    return cast(Towers, view.ext["tower"])


def initial(setup: Setup) -> Towers:
    return Towers(placed=(0,) * len(setup.players))


def reach(at: Square, height: int) -> frozenset[Square]:
    """R-TOWER-05: the tower's square and ``height`` squares in each orthogonal direction."""
    arms = {(at[0] + dx * n, at[1] + dy * n) for dx, dy in STEP.values() for n in range(1, height + 1)}
    return frozenset({at} | arms)


def raised(state: GameState, at: Square) -> GameState:
    """The state if the tower on a square was one piece higher, of nobody's supply."""
    t = towers(state)
    higher = replace(t, heights={**t.heights, at: t.heights.get(at, 0) + 1})
    return replace(state, ext={**state.ext, "tower": higher})


def guard(view: View, at: Square) -> StandingFigure | None:
    """The follower on top of the tower on a square, which closes it."""
    return next((f for f in view.standing.values() if f.at == at and f.feature == "tower"), None)
