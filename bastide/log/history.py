"""Queries of a log: entries settled by people, open questions, the action that undo retracts."""

from __future__ import annotations

from collections.abc import Sequence

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
    changes nothing that people see.
    """
    actions: list[tuple[int, ...]] = []
    for group in _groups([e for e in entries if e.source == "hand" or not isinstance(e.body, Settled)]):
        if group[0].who.startswith(UNDO) and actions:
            actions.pop()
        else:
            actions.append(tuple(e.seq for e in group))
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
