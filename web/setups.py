"""What a new game can be: editions with what they say differently, house rules, boxes, as the set-up view needs it."""

from __future__ import annotations

from functools import cache
from typing import Any

from scoring.expansions import KNOWN
from scoring.rules import DEFAULT_EDITION, citations, edition, editions, options
from scoring.tiles import product

_TABLE_ONLY = ("expansions", "colours", "max_players", "score_lap_marker", "track_start_corner", "vocabulary", "start",
               "river_turn_rule", "pig_bonus")  # what changes no score, or is chosen by other means


@cache
def setups() -> dict[str, Any]:
    """Editions (title, and per option its value and where it is printed), options, boxes with their tiles."""
    return {
        "default": DEFAULT_EDITION,
        "editions": {name: {"title": said["title"], "expansions": list(edition(name).expansions),
                            "max_players": edition(name).max_players, "options": {
                                o: {"value": c.value, "source": c.source} for o, c in citations(edition(name)).items()
                                if o not in _TABLE_ONLY}}
                     for name, said in editions().items()},
        "options": {name: {"kind": o.kind, "values": list(o.values), "rules": o.rules, "only_with": _only_with(name)}
                    for name, o in options().items() if name not in _TABLE_ONLY},
        "expansions": [{"name": e.name, "tiles": sum(t.count for p in e.products for t in product(p).tiles),
                        "pieces": [p.name for p in e.pieces]} for e in KNOWN.values()],
    }


def _only_with(option: str) -> list[str]:
    """The boxes that all must be played with for an option to matter; empty when it always does."""
    return [e.name for e in KNOWN.values() if option in e.options and e.name != "base"]
