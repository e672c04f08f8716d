"""Turns that nobody saw: whose they were and after which tile, so that a tile that is found later has its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.engine import next_player
from scoring.state import GameState
from scoring.tiles import EDGES, Square, neighbour

_MOST = 6  # that are remembered
_THEIRS = 0.99  # of a figure's colour


@dataclass(slots=True)
class Missed:
    """Turns that were passed over, oldest first: (square of the tile laid before, player)."""

    turns: list[tuple[Square, int]] = field(default_factory=list)

    def skip(self, before: GameState, player: int) -> None:
        """``player`` plays next, though it is not their turn: those between were not seen. ``before`` is the game
        without that tile."""
        after, players = before.last_tile, len(before.setup.players)
        due = next_player(before)
        if after is not None:
            self.turns += [(after, (due + n) % players) for n in range((player - due) % players)]
            del self.turns[:-_MOST]

    def take(self, at: Square, on: Mapping[int, float], state: GameState, late: bool) -> tuple[Square, int] | None:
        """The turn in which a tile was laid that may have been found ``late``; ``on`` says whose figure stands there,
        if one does. It is not missed any more then. None when no turn fits: the tile must have touched what lay
        before it, and without a figure of somebody who is not due only its being late speaks for it."""
        due = next_player(state)
        for n, (after, player) in enumerate(self.turns):
            lay = state.tiles.get(after)
            fits = on.get(player, 0.0) > _THEIRS and (late or player != due) if on else late
            if lay is None or not fits:
                continue
            beside = (state.tiles.get(neighbour(at, side)) for side in EDGES)
            if any(tile is not None and (tile.turn is None or lay.turn is None or tile.turn <= lay.turn)
                   for tile in beside):
                del self.turns[n]
                # what else was missed there came after this one
                self.turns[n:] = [(at if a == after else a, p) for a, p in self.turns[n:]]
                return after, player
        return None
