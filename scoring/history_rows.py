"""The history of a log as rows for a screen. Appending an event is O(1); a correction rebuilds the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from scoring.events import Event, FigurePlaced, TilePlaced, notation, to_json
from scoring.log import Amended, Inserted, LogEntry, Retracted, Settled, Unread, effective, open_questions
from scoring.tiles import Square
from scoring.views import HappenedView

CORRECTIONS = (Amended, Inserted, Retracted, Settled, Unread)
FigureKey = tuple[int, Square, str, str]


@dataclass(slots=True, kw_only=True)
class HistoryRows:
    """The rows of a log's history, the open questions, and the entries that introduced each tile (the first on a
    square) and each figure (the latest of that kind there).

    While ``since`` is the same object the log has only been appended to, so data derived from earlier entries is
    still valid.
    """

    entries: tuple[LogEntry, ...] = ()
    history: list[HappenedView] = field(default_factory=list)
    asked: frozenset[int] = frozenset()
    tiles: dict[Square, int] = field(default_factory=dict)
    figures: dict[FigureKey, int] = field(default_factory=dict)
    since: object = field(default_factory=object)

    def add(self, event: Event, entry: LogEntry, amended: bool, turn: int) -> None:
        """Append an event of that turn part."""
        if event.DO in ("end_turn", "end_game"):
            return
        if isinstance(event, TilePlaced):
            self.tiles.setdefault(event.at, entry.seq)
        elif isinstance(event, FigurePlaced):
            key = event.player, event.at, event.feature, event.where
            if key in self.figures:
                self.since = object()
            self.figures[key] = entry.seq
        self.history.append(_happened(event, entry, max(turn, 0), amended))


def history_rows(entries: Sequence[LogEntry], turns: Sequence[int], before: HistoryRows | None = None) -> HistoryRows:
    """The history rows for these entries. ``turns`` holds the turn part of each effective event (`GameState.happened`).
    ``before`` is the history of a shorter log; it is extended in place if these entries start with the same ones."""
    entries = tuple(entries)
    known = before.entries if before else ()
    new = entries[len(known):]
    if before and entries[:len(known)] == known and not any([isinstance(e.body, CORRECTIONS) for e in new]):
        before.entries, before.history = entries, before.history[:]  # the old list is part of an earlier view
        for entry, turn in zip(new, turns[-len(new):] if new else (), strict=True):
            if entry.asked and entry.source != "hand":
                before.asked |= {entry.seq}
            before.add(entry.body, entry, False, turn)  # type: ignore[arg-type]
        return before
    told = HistoryRows(entries=entries, asked=open_questions(entries))
    by_seq = {e.seq: e for e in entries}
    amended = {e.body.seq for e in entries if isinstance(e.body, Amended)}
    for (seq, event), turn in zip(effective(entries), turns, strict=False):
        told.add(event, by_seq[seq], seq in amended, turn)
    return told


def _happened(event: Event, entry: LogEntry, turn: int, amended: bool) -> HappenedView:
    fields = to_json(event)
    del fields["do"]
    row: HappenedView = {"seq": entry.seq, "turn": turn, "kind": event.DO, "notation": notation(event),
                         "source": entry.source, "confidence": entry.confidence, "asked": entry.asked,
                         "amended": amended}
    return cast(HappenedView, {**row, **fields})
