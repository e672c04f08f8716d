"""Entries lost to a storage fault, turn by turn.

They keep their numbers in the log (`scoring.log.Unread`), and later entries still count. People are told which turn to
look at until somebody has restored or retracted them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from scoring.engine import apply, new_game
from scoring.errors import IllegalMove
from scoring.events import Event, Setup, TilePlaced
from scoring.log import LogEntry, Unread, entry_to_json, with_gaps
from scoring.state import Draft
from scoring.views import IssueView

CODE = "unread_moves"


def placeholder(seq: int) -> str:
    """The stored form of an unreadable entry."""
    return json.dumps(entry_to_json(LogEntry(seq=seq, body=Unread(), source="camera", confidence=0.0)))


def spoiled(entries: Sequence[LogEntry]) -> frozenset[int]:
    """The lost entries that have not been restored or retracted yet."""
    if not any(isinstance(e.body, Unread) for e in entries):
        return frozenset()
    return frozenset(seq for seq, event in with_gaps(entries) if event is None)


def unread(setup: Setup, entries: Sequence[LogEntry]) -> list[tuple[int, int]]:
    """The turns (from 1) in which entries cannot be read, each with how many; empty when everything can."""
    if not any(isinstance(e.body, Unread) for e in entries):
        return []
    d, found = Draft(new_game(setup)), Counter[int]()
    lines = with_gaps(entries)
    for n, (_, event) in enumerate(lines):
        if event is None:
            following = next((e for _, e in lines[n + 1:] if e is not None), None)
            found[_turn(d, following)] += 1
            continue
        with suppress(IllegalMove):  # as in the fold of the whole log
            apply(d, event)
    return sorted(found.items())


def _turn(d: Draft, following: Event | None) -> int:
    """The turn (from 1) of a lost entry between the game so far and the next known event: the current turn if the next
    player's tile or another event of the current turn follows, otherwise the next one."""
    if not d.turn_open:
        return d.turn + 2
    if isinstance(following, TilePlaced):
        return d.turn + (1 if following.player == (d.player + 1) % len(d.setup.players) else 2)
    return d.turn + (1 if following is not None and getattr(following, "player", d.player) == d.player else 2)


def sentence(turn: int, count: int) -> str:
    """One gap for people."""
    return f"{count} {'move' if count == 1 else 'moves'} of turn {turn} could not be read: please look"


def rows(setup: Setup, entries: Sequence[LogEntry]) -> list[IssueView]:
    """One row beside the issues of a view for each turn with such entries: code, text, squares, turn and parts."""
    return [{"code": CODE, "text": f"{sentence(turn, count)}.", "squares": [], "turn": turn - 1,
             "parts": {"turn": turn, "n": count}} for turn, count in unread(setup, entries)]
