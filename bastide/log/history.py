"""Queries of a log: entries settled by people, open questions, the action that undo retracts."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.events import GameEnded
from scoring.log import Amended, LogEntry, Retracted, Settled, alive

UNDO = "undo:"  # prefix of ``who`` in entries written by undo


def by_hand(entries: Sequence[LogEntry]) -> frozenset[int]:
    """Entries that a person wrote or corrected: the camera does not improve on them."""
    out = set()
    for e in alive(entries):
        if e.source == "hand":
            out.add(e.body.seq if isinstance(e.body, Amended | Retracted) else e.seq)
    return frozenset(out)


def last_action(entries: Sequence[LogEntry]) -> tuple[int, ...]:
    """The entries of the newest action that has not been undone, oldest first; empty when there is none.

    The entries of one command or proposal are one action (they have the same time). Repeated undo goes further back; a
    correction, even a retraction, is an action that undo reverts. What the camera says of missed claims is none: it
    changes nothing that people see. What it says when people have ended the game happened before the end.
    """
    actions: list[tuple[int, ...]] = []
    end: tuple[int, ...] = ()  # the action that ended the game
    for group in _groups([e for e in entries if e.source == "hand" or not isinstance(e.body, Settled)]):
        action = tuple(e.seq for e in group)
        if group[0].who.startswith(UNDO) and actions:
            end = () if actions.pop() == end else end
        elif end and group[0].source != "hand":
            actions.insert(actions.index(end), action)
        else:
            actions.append(action)
            if any(isinstance(e.body, GameEnded) for e in group):
                end = action
            elif any(isinstance(e.body, Retracted) and e.body.seq in end for e in group):
                end = ()
    return actions[-1] if actions else ()


def _groups(entries: Sequence[LogEntry]) -> list[list[LogEntry]]:
    groups: list[list[LogEntry]] = []
    for e in entries:
        last = groups[-1][-1] if groups else None
        if last is not None and (last.at_s, last.source, last.frame, last.who) == (e.at_s, e.source, e.frame, e.who):
            groups[-1].append(e)
        else:
            groups.append([e])
    return groups
