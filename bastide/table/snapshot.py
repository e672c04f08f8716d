"""An immutable snapshot of a game: the possible moves, and the effect of commands.

Nothing here changes state or blocks, so it can run concurrently with the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bastide.table.asking import doubts
from bastide.table.game import Game
from bastide.table.meaning import Meaning
from scoring.errors import IllegalMove, InvalidNotation
from scoring.moves import gaps_json, kinds_json, moves_json, places_json, turns_json
from scoring.projection import running_scores
from web.protocol import CommandError
from web.states import Fits, MovesNow, PreviewRow
from web.views import QuestionView


@dataclass(frozen=True, kw_only=True)
class GameSnapshot:
    """A game, and the questions people are asked about it."""

    game: Game
    questions: Sequence[QuestionView] = ()

    @cached_property
    def meaning(self) -> Meaning:
        """The meaning of commands at this point of the game."""
        return Meaning(self.game.state, self.game.entries, (*self.questions, *self.doubts))

    @cached_property
    def doubts(self) -> Sequence[QuestionView]:
        """What people may answer although they are not asked (`bastide.table.asking.doubts`)."""
        return doubts(self.game.state, self.game.entries)

    def preview(self, commands: Sequence[Mapping[str, object]]) -> list[PreviewRow]:
        """The effect of each of these commands: the scores it would change, and new issues. One that would be refused
        has the reason under ``error``."""
        before = running_scores(self.game.state)
        known = {(i.code, i.squares, i.turn) for i in self.game.state.issues}
        out: list[PreviewRow] = []
        for data in commands:
            try:
                _, then = self.game.tried(self.meaning.bodies(data), source="hand")
            except (CommandError, InvalidNotation, IllegalMove) as e:
                out.append({"error": str(e)})
                continue
            scores = running_scores(then.state)
            out.append({"scores": [{"player": p, "before": b, "after": a}
                                   for p, (b, a) in enumerate(zip(before, scores, strict=True)) if a != b],
                        "issues": [i.code for i in then.state.issues if (i.code, i.squares, i.turn) not in known]})
        return out

    def moves(self) -> MovesNow:
        """The moves possible now, before the next tile and after the last one."""
        return {"version": self.game.version, **moves_json(self.game.state)}

    def fits(self, tile: str | None, at: tuple[int, int] | None) -> Fits:
        """Where a kind of tile fits, which kinds fit on a square, with both the objections to that kind there; with
        neither, the number that fit on every square."""
        if tile is not None:
            return places_json(self.game.state, tile) if at is None else turns_json(self.game.state, tile, at)
        return gaps_json(self.game.state) if at is None else kinds_json(self.game.state, at)
