"""An immutable snapshot of a game: what can be done, and what a command would lead to.

Nothing here changes or waits for anything, so it can run beside the game in progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bastide.table.meaning import Meaning
from scoring.engine import step
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Setup
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, state_of
from scoring.moves import gaps_json, kinds_json, moves_json, places_json, turns_json
from scoring.projection import running_scores
from scoring.state import GameState
from web.protocol import CommandError


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A game's log, what it comes to, and what people are asked."""

    entries: tuple[LogEntry, ...]
    state: GameState
    questions: Sequence[Mapping[str, Any]]

    @property
    def setup(self) -> Setup:
        return self.state.setup

    @cached_property
    def meaning(self) -> Meaning:
        """What is said at this moment."""
        return Meaning(self.state, self.entries, self.questions)

    def preview(self, commands: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What each of these commands would come to: the scores it would change and new issues. One that would be
        refused says so under ``error``."""
        before = running_scores(self.state)
        known = {(i.code, i.squares, i.turn) for i in self.state.issues}
        out: list[dict[str, Any]] = []
        for data in commands:
            try:
                _, state = self.tried(self.meaning.bodies(data), source="hand")
            except (CommandError, InvalidNotation, IllegalMove) as e:
                out.append({"error": str(e)})
                continue
            scores = running_scores(state)
            out.append({"scores": [{"player": p, "before": b, "after": a}
                                   for p, (b, a) in enumerate(zip(before, scores, strict=True)) if a != b],
                        "issues": [i.code for i in state.issues if (i.code, i.squares, i.turn) not in known]})
        return out

    def tried(self, bodies: tuple[Body, ...], now_s: float = 0.0, **how: Any) -> tuple[list[LogEntry], GameState]:
        """The entries for these bodies and the game with them; nothing has changed yet. Raises InvalidNotation,
        IllegalMove."""
        first = len(self.entries) + 1
        entries = [LogEntry(seq=first + n, body=b, at_s=now_s, **how) for n, b in enumerate(bodies)]
        state = self.state
        if any(isinstance(b, Retracted | Amended | Inserted | Settled) for b in bodies):
            for e in entries:
                if isinstance(e.body, Amended | Inserted):
                    step(self.state, e.body.body)  # refused now when it means nothing in this game
            state = state_of(self.setup, (*self.entries, *entries))
        else:
            for e in entries:
                state = step(state, e.body)  # type: ignore[arg-type]
        return entries, state

    def moves(self) -> dict[str, Any]:
        """What can be done now, before the next tile and after the last one."""
        return {"version": len(self.entries), **moves_json(self.state)}

    def fits(self, tile: str | None, at: tuple[int, int] | None) -> dict[str, Any]:
        """Where a kind of tile fits, which kinds fit on a square, or what is against that kind there; without either,
        how many fit on every square."""
        if tile is not None:
            return places_json(self.state, tile) if at is None else turns_json(self.state, tile, at)
        return gaps_json(self.state) if at is None else kinds_json(self.state, at)
