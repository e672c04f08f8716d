"""Editions and house rules as data: one frozen Rules value; every option carries its citation (RULES.md section 13)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from typing import Any

from scoring.errors import InvalidNotation

DEFAULT_EDITION = "zman2012"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules in force. Each field is an option of RULES.md section 13 under its own name."""

    edition: str = DEFAULT_EDITION
    farm_scoring: str = "per_farm"
    farm_points_per_city: int = 3
    pig_bonus: int = 1
    two_tile_city: str = "normal"
    incomplete_unit: str = "tile"
    winner_tie: str = "shared"
    score_lap_marker: str = "lay_down"
    track_start_corner: str = "lower_left"
    start: str = "start_tile"
    dragon_timing: str = "after_scoring"
    princess_removal: str = "must"
    fairy_mode: str = "tile"
    river_turn_rule: str = "no_u_turn"
    river_turn_window: str = "consecutive_tiles"
    farmers_enabled: bool = True
    wheel_tax: str = "per_knight"
    unfinished_inn_cathedral: str = "zero"
    vocabulary: str = "rio_grande"
    max_players: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What an option may be and where it comes from."""

    name: str
    values: tuple[str, ...]
    default: str
    rules: str
    text: str


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("scoring") / "editions" / name).read_text("utf-8"))


@cache
def options() -> Mapping[str, Option]:
    """Every option by its name."""
    return {
        name: Option(name=name, values=tuple(o["values"]), default=o["default"], rules=o["rules"], text=o["text"])
        for name, o in _data("options.toml").items()
    }


@cache
def editions() -> Mapping[str, Mapping[str, Any]]:
    """The editions by name: title, colours and the options in which they differ from the defaults."""
    return _data("editions.toml")


def edition(name: str = DEFAULT_EDITION) -> Rules:
    """The rules of an edition. Raises InvalidNotation that lists the known ones."""
    if name not in editions():
        raise InvalidNotation(f"unknown edition {name!r}; known are {', '.join(editions())}")
    base = with_options(Rules(edition=name), {n: o.default for n, o in options().items()})
    return with_options(base, editions()[name].get("options", {}))


def with_options(rules: Rules, changes: Mapping[str, object]) -> Rules:
    """Rules with some options changed; values may be text or JSON values. Raises InvalidNotation."""
    new: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in options():
            raise InvalidNotation(f"unknown rule {name!r}; known are {', '.join(options())}")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text not in options()[name].values:
            raise InvalidNotation(f"rule {name} cannot be {text!r}; it may be {', '.join(options()[name].values)}")
        kind = {f.name: f.type for f in fields(Rules)}[name]
        new[name] = text == "true" if kind == "bool" else int(text) if kind == "int" else text
    return replace(rules, **new)


def citations(rules: Rules) -> Mapping[str, tuple[str, str, str]]:
    """For every option: its value in force as text, the rule ids behind it, and whether edition or house rule."""
    printed = edition(rules.edition)
    out = {}
    for name, option in options().items():
        value = getattr(rules, name)
        source = f"edition {rules.edition}" if value == getattr(printed, name) else "house rule"
        out[name] = (str(value).lower() if isinstance(value, bool) else str(value), option.rules, source)
    return out
