"""A game as it stands at one moment: what a command would write into its log, and what that would come to.

Nothing here changes or waits for anything, so that it can be worked out beside the game that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bastide.asking import CLAIM
from bastide.history import last_action
from bastide.moving import moved_figure
from scoring.engine import new_game, step
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, FigurePlaced, Setup, TilePlaced, from_json
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, effective, state_of
from scoring.projection import running_scores
from scoring.state import GameState
from web.protocol import CommandError


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A game's log, what it comes to, and what people are asked. ``entries`` must not be changed any more."""

    entries: Sequence[LogEntry]
    state: GameState
    questions: Sequence[Mapping[str, Any]]

    @property
    def setup(self) -> Setup:
        return self.state.setup

    def preview(self, commands: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What each of these commands would come to: the scores it would change and new issues. One that would be
        refused says so under ``error``."""
        before = running_scores(self.state)
        known = {(i.code, i.squares, i.turn) for i in self.state.issues}
        out: list[dict[str, Any]] = []
        for data in commands:
            try:
                _, state = self.tried(self.bodies(data), source="hand")
            except (CommandError, InvalidNotation, IllegalMove) as e:
                out.append({"error": str(e)})
                continue
            scores = running_scores(state)
            out.append({"scores": [{"player": p, "before": b, "after": a}
                                   for p, (b, a) in enumerate(zip(before, scores, strict=True)) if a != b],
                        "issues": [i.code for i in state.issues if (i.code, i.squares, i.turn) not in known]})
        return out

    def bodies(self, data: Mapping[str, Any]) -> tuple[Body, ...]:
        """What a command writes into the log. Raises CommandError, InvalidNotation."""
        do = data.get("do")
        known = dict(effective(self.entries))
        if do == "undo":
            action = last_action(self.entries)
            if not action:
                raise CommandError("nothing", "there is nothing to undo")
            return tuple(Retracted(seq=seq) for seq in reversed(action))
        if do in ("amend", "retract"):
            seq = data.get("seq")
            if type(seq) is not int or seq not in known:
                raise CommandError("unknown_entry", f"there is no move {seq!r} to change")
            if do == "retract":
                return (Retracted(seq=seq),)
            return self.amend(seq, known[seq], self._event(data.get("body"), known[seq]))
        if do == "insert":
            after = data.get("after")
            if type(after) is not int or (after != 0 and after not in known):
                raise CommandError("unknown_entry", f"there is no move {after!r} to insert after")
            return (Inserted(after=after, body=self._inserted(data.get("body"), known.get(after))),)
        if do == "answer":
            return self._answer(data, known)
        return (self._event(data, None),)

    def _answer(self, data: Mapping[str, Any], known: Mapping[int, Event]) -> tuple[Body, ...]:
        seq, choice = data.get("question"), data.get("choice")
        question = next((q for q in self.questions if q["id"] == seq), None)
        if question is None or isinstance(seq, bool):
            raise CommandError("unknown_question", "this question has been answered already")
        if choice == "other":
            body = data.get("body")
        elif type(choice) is int and 0 <= choice < len(question["candidates"]):
            body = question["candidates"][choice]["body"]
        else:
            raise CommandError("malformed", "choice: must be the number of a candidate or 'other'")
        return self.settling(question, body, known)

    def settling(self, question: Mapping[str, Any], body: object, known: Mapping[int, Event]) -> tuple[Body, ...]:
        """What an answer to a question writes; without a body the answer is that nothing is there."""
        about = question["seq"]
        if question["text_key"] == CLAIM:
            if body is None:
                return (Settled(seq=about, code=CLAIM),)
            return (Inserted(after=about, body=self._event(body, known[about])),)
        if body is None:
            return (Retracted(seq=about),)
        return self.amend(about, known[about], self._event(body, known[about]))

    def _inserted(self, body: object, before: Event | None) -> Event:
        """An event that was missed. A tile begins the next player's turn, a figure belongs to the turn before it."""
        player = getattr(before, "player", None)
        if isinstance(body, Mapping) and body.get("do") in ("tile", "discard") and "player" not in body:
            body = {**body, "player": 0 if player is None else (player + 1) % len(self.setup.players)}
        return self._event(body, before)

    def _event(self, body: object, like: Event | None) -> Event:
        """An event from a client; who played it is taken from the entry it changes, or from whose turn it is."""
        player = getattr(like, "player", None)
        part = getattr(like, "part", None)
        if player is None:
            turn_over = self.state.turn_open and isinstance(body, Mapping) and body.get("do") in ("tile", "discard")
            player = (self.state.player + 1) % len(self.setup.players) if turn_over else self.state.player
        event = from_json(body, player=player, part=part)
        if getattr(event, "player", 0) >= len(self.setup.players):
            raise InvalidNotation(f"player: there are {len(self.setup.players)} players")
        return event

    def amend(self, seq: int, old: Event, new: Event) -> tuple[Body, ...]:
        """The correction, and with it what stood on a tile that moved or changed: it follows its tile."""
        bodies: list[Body] = [Amended(seq=seq, body=new)]
        if isinstance(old, TilePlaced) and isinstance(new, TilePlaced):
            for other, event in effective(self.entries):
                if isinstance(event, FigurePlaced) and event.at == old.at and other > 0:
                    moved = moved_figure(event, old, new)
                    if moved != event:
                        bodies.append(Amended(seq=other, body=moved))
        return tuple(bodies)

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

    def state_before(self, seq: int) -> GameState:
        """The game as it was before an entry."""
        state = new_game(self.setup)
        for other, event in effective(self.entries):
            if other == seq:
                break
            with suppress(IllegalMove):  # as in the fold of the whole log: it stays there and changes nothing
                state = step(state, event)
        return state
