"""What a new game can be: editions with what they say differently, house rules, boxes, as the set-up view needs it."""

from __future__ import annotations

from functools import cache
from typing import Any

from scoring.expansions import KNOWN, has_tiles_of_its_own
from scoring.rules import DEFAULT_EDITION, Mark, citations, edition, editions, marks_of, options
from scoring.tiles import product


@cache
def setups() -> dict[str, Any]:
    """Editions (title, publisher, years, what the box shows, marks that answer the questions, and per option its value
    and where it is printed), questions that tell them apart, options, boxes with their tiles."""
    known = {name: marks_of(name) for name in editions()}
    return {
        "default": DEFAULT_EDITION,
        "questions": [{"name": mark, "answers": sorted({getattr(m, mark) for m in known.values()})}
                      for mark in Mark._fields],
        "editions": {name: _edition(name, known[name]) for name in editions()},
        "options": {name: {"kind": o.kind, "values": list(o.values), "rules": o.rules, "only_with": _only_with(name)}
                    for name, o in options().items() if o.offered},
        "expansions": [{"name": e.name, "alone": has_tiles_of_its_own(e.name),
                        "tiles": sum(t.count for p in e.products for t in product(p).tiles),
                        "pieces": [p.name for p in e.pieces]} for e in KNOWN.values()],
    }


def _edition(name: str, marks: Mark) -> dict[str, Any]:
    said, rules = editions()[name], edition(name)
    return {"title": said["title"], "publisher": said["publisher"], "years": said["years"], "box": said["box"],
            "marks": marks._asdict(), "expansions": list(rules.expansions), "max_players": rules.max_players,
            "options": {o: {"value": c.value, "source": c.source} for o, c in citations(rules).items()
                        if options()[o].offered}}


def _only_with(option: str) -> list[str]:
    """The boxes that all must be played with for an option to matter; empty when it always does."""
    named = options()[option].boxes
    return list(named) or [e.name for e in KNOWN.values() if option in e.options and e.name != "base"]
