"""The choices for a new game: editions with their differences, house rules, boxes, as the set-up view needs them."""

from __future__ import annotations

from functools import cache
from typing import TypedDict

from scoring.expansions import KNOWN, has_tiles_of_its_own
from scoring.rules import DEFAULT_EDITION, Mark, citations, edition, editions, marks_of, options
from scoring.tiles import product


class MarksView(TypedDict):
    """Features that distinguish editions (`scoring.rules.Mark`)."""

    publisher: str
    small_city: int
    farm: int


class SaidView(TypedDict):
    """An option's value, and where it is printed."""

    value: str
    source: str


class EditionView(TypedDict):
    """An edition: its years of sale, what the box shows, and its marks, which answer the questions."""

    title: str
    publisher: str
    years: tuple[int, int]
    box: str
    marks: MarksView
    expansions: list[str]
    max_players: int
    options: dict[str, SaidView]


class QuestionRow(TypedDict):
    """A feature that distinguishes editions, with all its values."""

    name: str
    answers: list[str | int]


class OptionRow(TypedDict):
    """A house rule; it applies only with all of the boxes ``only_with``."""

    kind: str
    values: list[str]
    rules: str
    only_with: list[str]


class BoxRow(TypedDict):
    """An expansion with its pieces and how many tiles it has; whether it can be played with ``alone``."""

    name: str
    alone: bool
    tiles: int
    pieces: list[str]


class Setups(TypedDict):
    """All choices for a new game."""

    default: str
    questions: list[QuestionRow]
    editions: dict[str, EditionView]
    options: dict[str, OptionRow]
    expansions: list[BoxRow]


@cache
def setups() -> Setups:
    """Editions, questions that distinguish them, options, boxes with their tiles."""
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


def _edition(name: str, marks: Mark) -> EditionView:
    said, rules = editions()[name], edition(name)
    return {"title": said.title, "publisher": said.publisher, "years": said.years, "box": said.box,
            "marks": {"publisher": marks.publisher, "small_city": marks.small_city, "farm": marks.farm},
             "expansions": list(rules.expansions), "max_players": rules.max_players,
            "options": {o: {"value": c.value, "source": c.source} for o, c in citations(rules).items()
                        if options()[o].offered}}


def _only_with(option: str) -> list[str]:
    """The boxes that all must be played with for an option to matter; empty when it always does."""
    named = options()[option].boxes
    return list(named) or [e.name for e in KNOWN.values() if option in e.options and e.name != "base"]
