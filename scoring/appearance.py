"""What people see of an expansion, from the file beside its rules (``scoring/expansions/NAME.toml``), where it has one.

``texts`` has for every language the page's texts by their keys; one that depends on a number is a table of CLDR's
plural forms of ``{n}``. ``figures`` are the outlines of players' pieces and ``pieces`` those of others, in a box of 32
by 32, ``signs`` what its tiles carry and ``icons`` what players hold, in a box of 24 by 24, as SVG paths. ``land``
paints a kind of segment that it adds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NotRequired, TypedDict

Text = str | Mapping[str, str]


class Outline(TypedDict):
    """A piece: its own ``path``, or a follower's, ``scale`` times as large. One that is ``upright`` does not lie in
    fields."""

    path: NotRequired[str]
    scale: NotRequired[float]
    upright: NotRequired[bool]


class Stroke(TypedDict):
    """One shape of a sign: an SVG path ``d``, its colours, and how wide its line is."""

    d: str
    fill: str
    stroke: NotRequired[str]
    width: NotRequired[float]


class Sign(TypedDict):
    """A sign of a segment or a tile: ``parts`` from back to front, on a round ground. One that is drawn ``like`` a kind
    of segment is drawn as that, ``scale`` times as large and with its corner ``at`` a point of the tile. ``room`` is
    how far trees and houses keep from it; where one that is ``ground`` stands, there is no village."""

    parts: NotRequired[list[Stroke]]
    like: NotRequired[str]
    at: NotRequired[list[float]]
    scale: NotRequired[float]
    room: NotRequired[float]
    ground: NotRequired[bool]


class Land(TypedDict):
    """The colours of a kind of segment: its rim, itself, and a dashed line along a band's middle or an area's edge."""

    rim: str
    fill: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """See above."""

    texts: Mapping[str, Mapping[str, Text]] = field(default_factory=dict)
    figures: Mapping[str, Outline] = field(default_factory=dict)
    pieces: Mapping[str, str] = field(default_factory=dict)
    signs: Mapping[str, Sign] = field(default_factory=dict)
    icons: Mapping[str, str] = field(default_factory=dict)
    land: Mapping[str, Land] = field(default_factory=dict)


@cache
def appearance(name: str) -> Appearance:
    """What is seen of an expansion; nothing where it has no file."""
    file = resources.files("scoring") / "expansions" / f"{name}.toml"
    return Appearance(**tomllib.loads(file.read_text("utf-8"))) if file.is_file() else Appearance()
