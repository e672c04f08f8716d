"""Tables for rule cases: a board and figures as they lie, without the game that led there."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoring.board import lay
from scoring.engine import new_game
from scoring.events import FigurePlaced, Player, Setup, StartTile
from scoring.expansions.base import on_figure
from scoring.rules import edition, with_options
from scoring.state import Draft, Placed
from scoring.tiles import catalogue, turn, where

CASES = Path(__file__).parent.parent / "cases"
SHARED = Path(__file__).parents[3] / "shared"
COLOURS = ("red", "blue", "yellow", "green", "black")
BRINGS = {"large": "inns", "builder": "traders", "pig": "traders"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of a case file. ``board`` is (tile, x, y, rot), ``figures`` (colour, figure, x, y, feature, atom)."""

    id: str
    op: str
    rules: tuple[str, ...]
    editions: tuple[str, ...]
    title: str = ""
    board: tuple[tuple[str, int, int, int], ...] = ()
    figures: tuple[tuple[str, str, int, int, str, str], ...] = ()
    more: dict[str, Any] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)


def own_cases() -> list[Case]:
    """Every row of every file in tests/cases."""
    files = [tomllib.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.toml"))]
    return [case(row) for data in files for row in data["case"]]


def case(row: dict[str, Any]) -> Case:
    plain = {"id", "op", "title", "expect"}
    return Case(rules=tuple(row["rules"]), editions=tuple(row["editions"]),
                board=tuple(tuple(b) for b in row.get("board", ())),
                figures=tuple(tuple(f) for f in row.get("figures", ())),
                more={k: v for k, v in row.items()
                      if k not in plain | {"rules", "editions", "board", "figures"}},
                **{k: row[k] for k in plain if k in row})


def place_of(tile: str, rot: int, feature: str, atom: str) -> str:
    """The full name of the segment of that kind which has the atom (``I``: the only one of its kind)."""
    for s in catalogue()[tile].segments:
        if s.kind == feature and (atom == "I" or atom in [turn(a, rot) for a in s.atoms]):
            return where(s, rot)
    raise AssertionError(f"{tile} has no {feature} {atom}")


def table(c: Case, name: str, players: int = 5, upto: int | None = None) -> Draft:
    """The board and the figures of a case under an edition's rules, in the middle of player 0's turn."""
    boxes = {"base", *(catalogue()[b[0]].product for b in c.board), *c.more.get("expansions", ())}
    boxes |= {BRINGS[f[1]] for f in c.figures if f[1] in BRINGS}
    rules = with_options(edition(name), {"start": "start_tile", **c.more.get("options", {})})
    first = c.board[0]
    start = StartTile(tile=first[0], at=(first[1], first[2]), rot=first[3])
    setup = Setup(players=tuple(Player(name=n.capitalize(), colour=n) for n in COLOURS[:players]), rules=rules,
                  expansions=tuple(sorted(boxes)), start=start)
    d = Draft(new_game(setup))
    for tile, x, y, rot in c.board[1:upto]:
        lay(d, (x, y), Placed(tile=tile, rot=rot, player=0, turn=0))
        d.last_tile = (x, y)
    for colour, figure, x, y, feature, atom in c.figures:
        if (x, y) in d.tiles:
            p = d.tiles[x, y]
            on_figure(d, FigurePlaced(player=COLOURS.index(colour), figure=figure, at=(x, y), feature=feature,
                                      where=place_of(p.tile, p.rot, feature, atom)))
    d.issues.clear()
    d.turn, d.turn_open, d.laid = 0, True, True
    d.touched = list(range(d.next_segment))
    return d
