"""Editions and house rules as data: one frozen Rules value, each option with one name and a citation.

``editions/options.toml`` defines the options with their values and rules; ``editions/<name>.toml`` has the values of
each printed edition with their sources.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from scoring.errors import InvalidNotation

DEFAULT_EDITION = "zman2012"
EDITIONS = ("rgg2006", "zman2012", "rgg_short", "wheel")  # editions whose rule booklets were read


Value = str | int | bool | tuple[str, ...]  # of an option


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules in force. Each field but ``edition`` and ``boxes`` is an option of the base game with the same
    name, see `options`. ``boxes`` has the options of the other boxes as (name, value), in every edition."""

    edition: str = DEFAULT_EDITION
    farm_scoring: str = "per_farm"
    farm_points_per_city: int = 3
    two_tile_city: str = "normal"
    incomplete_unit: str = "tile"
    winner_tie: str = "replay"
    farmers_enabled: bool = True
    start: str = "start_tile"
    expansions: tuple[str, ...] = ()
    max_players: int = 5
    colours: tuple[str, ...] = ("red", "blue", "yellow", "green", "black")
    score_lap_marker: str = "lay_down"
    track_start_corner: str = "lower_right"
    vocabulary: str = "zman"
    boxes: tuple[tuple[str, str | int | bool], ...] = ()

    def value(self, option: str) -> Value:
        """The value of any option. Raises KeyError for an unknown one."""
        if option not in _BASE:
            return dict(self.boxes)[option]
        found: Value = getattr(self, option)
        return found

    def word(self, option: str) -> str:
        """The value of a box's option of kind ``word``."""
        return str(dict(self.boxes)[option])

    def number(self, option: str) -> int:
        """The value of a box's option of kind ``number``."""
        return int(dict(self.boxes)[option])


_BASE = frozenset(f.name for f in fields(Rules)) - {"edition", "boxes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option with its possible values and the rules it affects. ``kind`` is ``word``, ``number``, ``yes_no`` or
    ``list``; a ``ruling`` decides, with reasons, a point that no booklet settles; the option has an effect only with
    all of ``boxes`` in play (empty: with the expansion that lists it). One that changes no score, or is chosen by
    other means, is not ``offered`` when a game is set up."""

    name: str
    kind: str
    values: tuple[str, ...]
    rules: str
    text: str
    ruling: str = ""
    boxes: tuple[str, ...] = ()
    offered: bool = True


class Citation(NamedTuple):
    """The source of an option's value: the value as text, the rules it affects, and who specifies it."""

    value: str
    rules: str
    source: str


class Said(NamedTuple):
    """The value of an option in a booklet (text or another TOML value), and where it is printed."""

    value: object
    source: str


class Booklet(NamedTuple):
    """An edition: ``years`` of sale (from, to; 0: still sold), ``box`` is how an owner recognises it, ``like`` the
    edition that it follows except for a few options (empty: none)."""

    title: str
    publisher: str
    years: tuple[int, int]
    box: str
    options: Mapping[str, Said]
    like: str = ""


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("scoring") / "editions" / name).read_text("utf-8"))


@cache
def options() -> Mapping[str, Option]:
    """Every option by name."""
    return {name: Option(name=name, kind=o.get("kind", "word"), values=tuple(o["values"]), rules=o["rules"],
                         text=o["text"], ruling=o.get("ruling", ""),
                         boxes=tuple(o.get("boxes", ())), offered=o.get("offered", True))
            for name, o in _data("options.toml").items()}


@cache
def editions() -> Mapping[str, Booklet]:
    """The editions by name; those whose booklets were read come first. ``printings.toml`` has the others: the edition
    that they are ``like``, and their differences."""
    out = {name: _booklet(_data(f"{name}.toml")) for name in EDITIONS}
    for name, printing in _data("printings.toml").items():
        own = _booklet(printing)
        if own.like not in EDITIONS:
            raise InvalidNotation(f"printings.toml: {name} is like {own.like!r}; it can be like {', '.join(EDITIONS)}")
        like = out[own.like]
        said = {o: Said(value, f"as in {like.title}: {source}") for o, (value, source) in like.options.items()}
        out[name] = own._replace(options={**said, **own.options})
    return out


def _booklet(data: Mapping[str, Any]) -> Booklet:
    """The content of one of the packaged files."""
    first, last = data["years"]
    return Booklet(title=data["title"], publisher=data["publisher"], years=(first, last), box=data["box"],
                   options={name: Said(*said) for name, said in data.get("options", {}).items()},
                   like=data.get("like", ""))


class Mark(NamedTuple):
    """How owners identify an edition without its name: the publisher and two scoring values of the booklet."""

    publisher: str
    small_city: int
    farm: int


def marks_of(name: str) -> Mark:
    """The features that distinguish an edition: its publisher, the points of a completed two-tile city without a
    pennant, and those of a farm for a completed city."""
    rules = edition(name)
    return Mark(publisher=editions()[name].publisher, small_city=2 if rules.two_tile_city == "half" else 4,
                farm=rules.farm_points_per_city)


def found_by(publisher: str | None = None, small_city: int | None = None, farm: int | None = None) -> tuple[str, ...]:
    """The editions that match all arguments given; a publisher may be abbreviated (``hans``)."""
    asked = (publisher or "").casefold()
    return tuple(name for name in editions() if asked in (m := marks_of(name)).publisher.casefold()
                 and small_city in (None, m.small_city) and farm in (None, m.farm))


@cache
def edition(name: str = DEFAULT_EDITION) -> Rules:
    """The rules of an edition. Raises InvalidNotation listing the known ones."""
    if name not in editions():
        raise InvalidNotation(f"unknown edition {name!r}; known are {', '.join(editions())}")
    return with_options(Rules(edition=name), {k: value for k, (value, _) in editions()[name].options.items()})


def with_options(rules: Rules, changes: Mapping[str, object]) -> Rules:
    """Rules with some options changed; values may be text or JSON values.

    Raises InvalidNotation listing the known options, or the possible values of the option.
    """
    said = {name: _value(name, value) for name, value in changes.items()}
    boxes = {**dict(rules.boxes), **{name: value for name, value in said.items() if name not in _BASE}}
    return replace(rules, boxes=tuple(sorted(boxes.items())),
                   **{name: value for name, value in said.items() if name in _BASE})


def _value(name: str, value: object) -> Any:
    option = options().get(name)
    if option is None:
        raise InvalidNotation(f"unknown rule {name!r}; known are {', '.join(options())}")
    if option.kind == "list":
        words = [w.strip() for w in value.split(",") if w.strip()] if isinstance(value, str) else value
        if isinstance(words, Sequence) and all(isinstance(w, str) and w in option.values for w in words):
            return tuple(dict.fromkeys(str(w) for w in words))
        raise InvalidNotation(f"rule {name} cannot be {value!r}; it lists some of {', '.join(option.values)}")
    text = as_text(value)
    if text not in option.values:
        raise InvalidNotation(f"rule {name} cannot be {value!r}; it may be {', '.join(option.values)}")
    return text == "true" if option.kind == "yes_no" else int(text) if option.kind == "number" else text


def as_text(value: object) -> str:
    """An option's value as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def changes(rules: Rules) -> dict[str, str | int | bool | list[str]]:
    """The options in which the rules differ from their edition, as JSON values."""
    printed = edition(rules.edition)
    found = {n: rules.value(n) for n in options() if rules.value(n) != printed.value(n)}
    return {n: list(v) if isinstance(v, tuple) else v for n, v in found.items()}


def citations(rules: Rules) -> Mapping[str, Citation]:
    """For every option: its value in force, its rule ids, and its source (a booklet or a house rule)."""
    printed, said = edition(rules.edition), editions()[rules.edition].options
    return {
        name: Citation(value=as_text(rules.value(name)), rules=o.rules,
                       source=said[name].source if rules.value(name) == printed.value(name) else "house rule")
        for name, o in options().items()
    }
