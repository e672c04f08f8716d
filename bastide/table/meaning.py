"""Translates people's commands into log entries: an event where the rules put it, a correction, or an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from bastide.log import gaps
from bastide.log.history import UNDO, by_hand, last_action
from bastide.table.moving import moved_figure
from reading.logged_game import CLAIM
from scoring.contributions import ANY
from scoring.engine import apply, new_game
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, FigurePlaced, GameEnded, Setup, TilePlaced, from_json, to_json
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, effective, settled, state_of, with_gaps
from scoring.log_position import answered, missed, open_question, place, place_of_answer, spoken, tile_of
from scoring.state import Draft, GameState
from web.protocol import CommandError
from web.views import QuestionView


class Meaning:
    """The current game, with its log and the questions that people were shown: commands refer to these."""

    def __init__(self, state: GameState, entries: tuple[LogEntry, ...], questions: Sequence[QuestionView]) -> None:
        self.state, self.entries, self.questions = state, entries, questions

    @cached_property
    def happened(self) -> tuple[tuple[int, Event], ...]:
        """The effective events of the log."""
        return effective(self.entries)

    def bodies(self, data: Mapping[str, object]) -> tuple[Body, ...]:
        """The entries for a command. Raises CommandError, InvalidNotation."""
        do = data.get("do")
        known = dict(self.happened)
        if do == "undo":
            action = last_action(self.entries)
            if not action:
                raise CommandError("nothing", "there is nothing to undo")
            return tuple(Retracted(seq=seq) for seq in reversed(action))
        if do in ("amend", "retract"):
            seq = data.get("seq")
            if type(seq) is not int or seq not in known and seq not in gaps.spoiled(self.entries):
                raise CommandError("unknown_entry", f"there is no move {seq!r} to change")
            if do == "retract":
                return (Retracted(seq=seq),)
            if seq in known:
                return self.amend(seq, known[seq], self._event(data.get("body"), known[seq]))
            there = state_before(self.state.setup, self.entries, seq)  # what stood there cannot be read any more
            return (Amended(seq=seq, body=self._checked(spoken(there, data.get("body")))),)
        if do == "shift":
            return self._shifted(data, known)
        if do == "insert" and "turn" in data:
            turn = data["turn"]
            found = missed(self.state, self.happened, data.get("body"), turn) if type(turn) is int else None
            if found is None:
                raise CommandError("unknown_entry", f"there is no turn {str(turn)[:20]} to insert into")
            event, before = self._checked(found[0]), found[1]
            return (event,) if before is None else (Inserted(after=before, body=event),)
        if do == "insert":
            after = data.get("after")
            if type(after) is not int or (after != 0 and after not in known):
                raise CommandError("unknown_entry", f"there is no move {after!r} to insert after")
            there = state_after(self.state.setup, self.entries, after)
            return (Inserted(after=after, body=self._checked(spoken(there, data.get("body")))),)
        if do == "answer":
            return self._answer(data, known)
        return self.told(self._checked(spoken(self.state, data)))

    def _shifted(self, data: Mapping[str, object], known: Mapping[int, Event]) -> tuple[Body, ...]:
        """An entry moved to another turn, where the rules put it. It was that player's then, unless people may do it at
        any time."""
        seq, turn = data.get("seq"), data.get("turn")
        if type(seq) is not int or seq not in known:
            raise CommandError("unknown_entry", f"there is no move {str(seq)[:20]} to change")
        event = known[seq]
        handler = self.state.box.handlers.get(type(event))
        if handler is None or isinstance(event, TilePlaced):
            raise CommandError("malformed", "seq: that is tied to its place in the game")
        own = {"part"} if handler.when == ANY else {"part", "player"}
        told = {k: v for k, v in to_json(event).items() if k not in own}
        moved = self._and((Retracted(seq=seq),))._late(told, turn) if type(turn) is int else None
        if moved is None:
            raise CommandError("unknown_entry", f"there is no turn {str(turn)[:20]} to move it to")
        return (Retracted(seq=seq), moved)

    def _and(self, bodies: Sequence[Body]) -> Meaning:
        """The game with these entries."""
        entries = (*self.entries, *(LogEntry(seq=n, body=b) for n, b in enumerate(bodies, len(self.entries) + 1)))
        return Meaning(state_of(self.state.setup, entries), entries, ())

    def _late(self, told: object, turn: int) -> Body | None:
        """The entry for an event that was missed in a turn; None if there is no such turn."""
        found = missed(self.state, self.happened, told, turn)
        if found is None:
            return None
        event, after = self._checked(found[0]), found[1]
        return event if after is None else Inserted(after=after, body=event)

    def told(self, event: Event) -> tuple[Body, ...]:
        """The log entries for an event that is reported now, at the position where the rules put it."""
        after = place(self.state, self.happened, event)
        return (event,) if after is None else (Inserted(after=after, body=event),)

    def proposed(self, events: tuple[Event, ...], replaces: int | None, after: int | None,
                 settles: int | None = None) -> tuple[Body, ...]:
        """The entries for a proposal of the camera: ``replaces`` is the entry it improves on, ``after`` the one after
        which to insert a missed event, ``settles`` the tile of which it says that nobody claimed what it completed.
        Nothing when people have settled that entry."""
        if settles is not None:
            known = settles in dict(self.happened) and (settles, CLAIM) not in settled(self.entries)
            return (Settled(seq=settles, code=CLAIM),) if known else ()
        if replaces is None:
            if after is not None:
                return tuple(Inserted(after=after, body=event) for event in events)
            return self.told(events[0]) if len(events) == 1 else events
        now = dict(self.happened).get(replaces)
        if now is None or replaces in by_hand(self.entries):
            return ()
        amended = self.amend(replaces, now, events[0]) if events else (Retracted(seq=replaces),)
        return (*amended, *events[1:])

    def _answer(self, data: Mapping[str, object], known: Mapping[int, Event]) -> tuple[Body, ...]:
        seq, choice = data.get("question"), data.get("choice")
        body: object
        if isinstance(seq, str) and (asked := open_question(self.state, seq)) is not None:
            if choice == "nothing" and (tile := tile_of(self.state, self.happened, asked)) is not None:
                return (Settled(seq=tile, code=asked.code),)
            body = data.get("body") if choice == "other" else answered(asked, choice)
            if body is None:
                raise CommandError("malformed", "choice: must be the number of an answer, 'other' with its body, or "
                                                "'nothing' where that is an answer")
            event = self._checked(spoken(self.state, body))
            after = place_of_answer(self.state, self.happened, asked, event)
            return (event,) if after is None else (Inserted(after=after, body=event),)
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

    def settling(self, question: QuestionView, body: object, known: Mapping[int, Event]) -> tuple[Body, ...]:
        """The entries for an answer to a question; without a body the answer is that nothing is there."""
        about = question["seq"]
        if question["text_key"] == CLAIM:
            if body is None:
                return (Settled(seq=about, code=CLAIM),)
            return (Inserted(after=about, body=self._event(body, known[about])),)
        if body is None:
            return (Retracted(seq=about),)
        return self._in_its_turn(about, known[about], self._event(body, known[about]))

    def _in_its_turn(self, seq: int, old: Event, new: Event) -> tuple[Body, ...]:
        """The correction of an entry. A figure that the rules do not allow in that turn, but do in a later one of its
        player (it stands somewhere that figures reach from elsewhere), was put there then: the newest such turn."""
        amended = self.amend(seq, old, new)
        if not isinstance(new, FigurePlaced) or not self.state.box.reaching:
            return amended
        gone = self._and((Retracted(seq=seq),))
        allowed = len(gone.state.issues)
        if len(self._and(amended).state.issues) <= allowed:
            return amended
        turns = dict(zip((n for n, _ in self.happened), self.state.happened, strict=True))
        laid = {turn: e.player for (_, e), turn in zip(gone.happened, gone.state.happened, strict=True)
                if isinstance(e, TilePlaced)}
        for turn in sorted((t for t, player in laid.items() if player == new.player and t > turns[seq]), reverse=True):
            later = gone._late({k: v for k, v in to_json(new).items() if k != "part"}, turn)
            if later is not None and len(gone._and((later,)).state.issues) <= allowed:
                return (Retracted(seq=seq), later)
        return amended

    def _event(self, body: object, like: Event) -> Event:
        """An event from a client; who played it is taken from the entry it changes."""
        player = getattr(like, "player", None)
        return self._checked(spoken(self.state, body) if player is None else
                             from_json(body, player=player, part=getattr(like, "part", None)))

    def _checked(self, event: Event) -> Event:
        if getattr(event, "player", 0) >= len(self.state.setup.players):
            raise InvalidNotation(f"player: there are {len(self.state.setup.players)} players")
        if self.state.over and isinstance(event, GameEnded):  # two people tapped, or one twice
            raise CommandError("over_already", "the game is over already")
        return event

    def amend(self, seq: int, old: Event, new: Event) -> tuple[Body, ...]:
        """The correction, and with it what stood on a tile that moved or changed: it follows its tile. Whether another
        player's tile is a second one is for the rules to say."""
        if isinstance(old, TilePlaced) and isinstance(new, TilePlaced) and new.player != old.player:
            new = replace(new, part=1)
        bodies: list[Body] = [Amended(seq=seq, body=new)]
        if isinstance(old, TilePlaced) and isinstance(new, TilePlaced):
            for other, event in self.happened:
                if isinstance(event, FigurePlaced) and event.at == old.at and other > 0:
                    moved = moved_figure(event, old, new)
                    if moved != event:
                        bodies.append(Amended(seq=other, body=moved))
        return tuple(bodies)


def author(data: Mapping[str, object]) -> str:
    """Who sent a command, as its entries say it."""
    who = "".join(c for c in str(data.get("who", ""))[:40] if c.isprintable())
    while who.startswith(UNDO):  # that is said by what was done, not by who did it
        who = who.removeprefix(UNDO)
    return UNDO + who if data.get("do") == "undo" else who


def state_after(setup: Setup, entries: Sequence[LogEntry], seq: int) -> GameState:
    """The game as it stood after an entry (0: before everything)."""
    d = Draft(new_game(setup))
    for other, event in with_gaps(entries) if seq else ():
        with suppress(IllegalMove):  # as in the fold of the whole log: it stays there and changes nothing
            if event is not None:
                apply(d, event)
        if other == seq:
            break
    return d.freeze()


def state_before(setup: Setup, entries: Sequence[LogEntry], seq: int) -> GameState:
    """The game as it stood before an entry, or before one that cannot be read."""
    known = [0, *(other for other, _ in with_gaps(entries))]
    return state_after(setup, entries, known[known.index(seq) - 1])
