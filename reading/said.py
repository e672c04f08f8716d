"""How often people have said something of what happened at a place, as the log tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scoring.events import Event, FigurePlaced, FigureTaken, TilePlaced
from scoring.log import Amended, LogEntry
from scoring.tiles import Square


def said_of(entries: Sequence[LogEntry]) -> tuple[Counter[Square], Counter[Square]]:
    """By square how often people have said something of what happened there, other than of tiles and figures; and how
    often they have said that it did not, or that it happened elsewhere."""
    events: dict[int, object] = {}
    said, denied = Counter[Square](), Counter[Square]()
    for entry in entries:
        body: object = entry.body
        about = getattr(body, "body", body)
        before = events.get(getattr(body, "seq", -1))
        taken_back = not isinstance(about, Event)
        about = before if taken_back else about
        events[entry.seq] = about
        if isinstance(body, Amended):
            events[body.seq] = about  # what it says from now on
        if entry.source == "hand":
            said.update(_places(before, about))
            denied.update(_places(before) - (set() if taken_back else _places(about)))
    return said, denied


def _places(*events: object) -> set[Square]:
    """Where they happened, without tiles and figures."""
    return {at for e in events if (at := getattr(e, "at", None)) is not None
            and not isinstance(e, TilePlaced | FigurePlaced | FigureTaken)}
