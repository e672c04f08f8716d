"""What the tests of flow cases share: their rows, and tables to play them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case_tables import COLOURS, Case, own_cases, table

from scoring.engine import apply, new_game
from scoring.events import Player, Setup, parse_event
from scoring.rules import edition, with_options
from scoring.state import Draft

ROWS = {c.id: c for c in own_cases() if c.op in ("flow", "setup")}
CHECKS: dict[str, Callable[[Case, str], None]] = {}


def of(number: str) -> Any:
    def add(check: Any) -> Any:
        CHECKS[f"CC-{number}"] = check
        return check

    return add


def draft(name: str, *boxes: str, players: int = 2, **options: str) -> Draft:
    rules = with_options(edition(name), {"start": "start_tile", **options})
    return Draft(new_game(Setup(players=tuple(Player(name=c.title(), colour=c) for c in COLOURS[:players]), rules=rules,
                                expansions=("base", *boxes))))


def play(d: Draft, *lines: str) -> Draft:
    for line in lines:
        apply(d, parse_event(line))
    return d


def lying(name: str, *figures: Any, boxes: tuple[str, ...] = (), players: int = 3) -> Draft:
    """A row of cloisters from -3 to 3 both ways, figures on them by square, red's turn."""
    squares = [(0, 0), *((n, 0) for n in range(-3, 4) if n), *((0, n) for n in range(-3, 4) if n)]
    d = table(Case(id="", op="", rules=(), editions=(), board=tuple(("base.B", *s, 0) for s in squares),
                   figures=tuple((c, f, *at, "cloister", "I") for c, f, at in figures), more={"expansions": boxes}),
              name, players=players)
    d.touched = []
    return d
