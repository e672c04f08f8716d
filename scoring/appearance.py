"""Texts and drawings of an expansion, from the optional file beside its rules (``scoring/expansions/NAME.toml``).

``texts`` has the page's texts by language and key; one that depends on a number is a table of the CLDR plural forms
of ``{n}``. The others are SVG paths: ``figures`` are the outlines of players' pieces and ``pieces`` those of neutral
ones, in a 32 x 32 view box; ``signs`` are the symbols on its tiles and ``icons`` those of what players hold, in a
24 x 24 view box. ``land`` has the colours of the kinds of segment that it adds.
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
    """A piece: its own ``path``, or a follower's scaled by ``scale``. An ``upright`` one does not lie down in
    fields."""

    path: NotRequired[str]
    scale: NotRequired[float]
    upright: NotRequired[bool]


class Stroke(TypedDict):
    """One shape of a sign: an SVG path ``d``, its fill and stroke colours, and the stroke width."""

    d: str
    fill: str
    stroke: NotRequired[str]
    width: NotRequired[float]


class Sign(TypedDict):
    """A sign of a segment or a tile: ``parts`` from back to front, on a round background. One drawn ``like`` a kind of
    segment takes that drawing, scaled by ``scale`` and with its corner ``at`` a point of the tile. ``room`` is the
    clearance to trees and houses; no village is drawn beside a ``ground`` sign."""

    parts: NotRequired[list[Stroke]]
    like: NotRequired[str]
    at: NotRequired[list[float]]
    scale: NotRequired[float]
    room: NotRequired[float]
    ground: NotRequired[bool]


class Land(TypedDict):
    """The colours of a kind of segment: border, fill, and a dashed line along a band's centre or an area's edge."""

    rim: str
    fill: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """The content of one file; see the module's docstring."""

    texts: Mapping[str, Mapping[str, Text]] = field(default_factory=dict)
    figures: Mapping[str, Outline] = field(default_factory=dict)
    pieces: Mapping[str, str] = field(default_factory=dict)
    signs: Mapping[str, Sign] = field(default_factory=dict)
    icons: Mapping[str, str] = field(default_factory=dict)
    land: Mapping[str, Land] = field(default_factory=dict)


@cache
def appearance(name: str) -> Appearance:
    """The appearance of an expansion; empty if it has no file."""
    file = resources.files("scoring") / "expansions" / f"{name}.toml"
    return Appearance(**tomllib.loads(file.read_text("utf-8"))) if file.is_file() else Appearance()
