"""The tile catalogue: topology and geometry of every tile kind.

Conventions (the same as transcript/1): a board square is ``(x, y)``, x east and y south; ``rot`` is quarter turns
clockwise; a field touches half-edges ``NL NR EL ER SL SR WL WR`` in clockwise order, L and R as seen from the tile's
centre looking outwards. Drawing coordinates run from (0, 0) in the north-west corner to (100, 100) in the south-east.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from scoring.errors import InvalidNotation

Square = tuple[int, int]
Point = tuple[float, float]

EDGES = ("N", "E", "S", "W")
HALVES = ("NL", "NR", "EL", "ER", "SL", "SR", "WL", "WR")
ENCLOSED = "I"  # place of a segment that touches no edge: a cloister, an enclosed field
STEP: Mapping[str, Square] = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
OPPOSITE: Mapping[str, str] = {
    "N": "S", "S": "N", "E": "W", "W": "E",
    "NL": "SR", "SR": "NL", "NR": "SL", "SL": "NR", "EL": "WR", "WR": "EL", "ER": "WL", "WL": "ER",
}
_ORDER = {atom: n for n, atom in enumerate((*EDGES, *HALVES, ENCLOSED))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One connected part of one feature on one tile, as described at ``rot`` 0.

    ``atoms`` are the edges (half-edges of a field) it reaches, in clockwise order, empty when
    enclosed. ``cities`` are indices into the tile's segments: the cities that this field borders (R-FARM-04, A-10).
    ``path`` is an SVG path with absolute ``M L Q C Z`` commands in drawing coordinates: the outline of an area
    (a city, a cloister) or the centre line of a band that has a ``width`` (a road). Segments are painted in order, so a
    later segment hides an earlier one; what stays visible is the segment's area. ``spot`` is where its figure is drawn.
    ``signs`` are the printed symbols other than pennants that matter to the rules of a box. ``claimable``: figures may
    stand there.
    """

    kind: str
    atoms: tuple[str, ...] = ()
    cities: tuple[int, ...] = ()
    pennants: int = 0
    signs: tuple[str, ...] = ()
    tunnel: bool = False
    claimable: bool = True
    path: str = ""
    width: float = 0.0
    spot: Point = (50.0, 50.0)
    marks: tuple[Point, ...] = ()  # where pennants are drawn, then signs


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tile kind. ``edges`` is one letter per edge in the order N E S W: C, R, F, or a letter added by a box."""

    id: str
    product: str
    name: str
    count: int
    edges: str
    segments: tuple[Segment, ...]
    flags: frozenset[str] = frozenset()
    jcz: str = ""

    def signature(self, rot: int) -> tuple[object, ...]:
        """The tile after ``rot`` quarter turns as far as the rules are concerned; equivalent rotations are equal."""
        parts = sorted((s.kind, where(s, rot), s.pennants, s.signs) for s in self.segments)
        return tuple(parts), tuple(sorted(self.flags))


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One box: its tile kinds and its start tile, if any. Printed sheets list the boxes in the order of ``sheet``,
    which never changes: a new box is appended."""

    name: str
    start: str
    sheet: int
    tiles: tuple[Tile, ...]


def turn(atom: str, rot: int) -> str:
    """An edge or half-edge after ``rot`` quarter turns clockwise."""
    if len(atom) == 1:
        return atom if atom == ENCLOSED else EDGES[(EDGES.index(atom) + rot) % 4]
    return HALVES[(HALVES.index(atom) + 2 * rot) % 8]


def where(segment: Segment, rot: int) -> str:
    """The transcript's name of a segment on the board: its atoms after rotation, in clockwise order, or ``I``."""
    return where_of(turn(a, rot) for a in segment.atoms)


def where_of(atoms: Iterable[str]) -> str:
    """The canonical text of a set of atoms."""
    return " ".join(sorted(atoms, key=_ORDER.__getitem__)) or ENCLOSED


def parse_where(text: str) -> str:
    """Canonical form of a ``where`` from outside. Raises InvalidNotation."""
    atoms = text.split()
    if not atoms or any(a not in _ORDER for a in atoms):
        raise InvalidNotation(f"{text!r} is no part of a tile: edges are N E S W, half-edges NL NR .. WR, or I")
    return where_of(set(atoms) - {ENCLOSED}) if atoms != [ENCLOSED] else ENCLOSED


def edge(tile: Tile, rot: int, side: str) -> str:
    """The letter of the tile's edge on a side of its square."""
    return tile.edges[(EDGES.index(side) - rot) % 4]


def segment_index(tile: Tile, rot: int, kind: str, place: str) -> int | None:
    """Index of the segment with that kind and canonical ``where`` on the rotated tile, or None."""
    for n, s in enumerate(tile.segments):
        if s.kind == kind and where(s, rot) == place:
            return n
    return None


def neighbour(at: Square, side: str) -> Square:
    dx, dy = STEP[side]
    return at[0] + dx, at[1] + dy


@cache
def _products() -> Mapping[str, Mapping[str, Any]]:
    """The files of scoring/catalogue by name, in the order of their ``order`` key."""
    files = [f for f in (resources.files("scoring") / "catalogue").iterdir() if f.name.endswith(".toml")]
    read = {f.name.removesuffix(".toml"): tomllib.loads(f.read_text("utf-8")) for f in files}
    return dict(sorted(read.items(), key=lambda p: (p[1]["order"], p[0])))


def products() -> tuple[str, ...]:
    """The names of all products that have tiles."""
    return tuple(_products())


@cache
def product(name: str) -> Product:
    """One product's tiles. Raises InvalidNotation for an unknown product."""
    data = _products().get(name)
    if data is None:
        raise InvalidNotation(f"unknown product {name!r}; known are {', '.join(products())}")
    return Product(name=name, start=data.get("start", ""), sheet=data.get("sheet", data["order"]),
                   tiles=tuple(_tile(t, name) for t in data["tile"]))


@cache
def catalogue() -> Mapping[str, Tile]:
    """Every tile kind of every product by its id."""
    return {t.id: t for name in products() for t in product(name).tiles}


def _tile(data: Mapping[str, Any], name: str) -> Tile:
    raw = data["segment"]
    places = [(s["kind"], where_of(s.get("at", "").split())) for s in raw]
    segments = tuple(
        Segment(
            kind=s["kind"],
            atoms=tuple(sorted(s.get("at", "").split(), key=_ORDER.__getitem__)),
            cities=tuple(places.index(("city", where_of(c.split()))) for c in s.get("cities", ())),
            pennants=s.get("pennants", 0), signs=tuple(s.get("signs", ())), tunnel=s.get("tunnel", False),
            claimable=s.get("claimable", True), path=s.get("path", ""), width=s.get("width", 0.0),
            spot=tuple(s.get("spot", (50.0, 50.0))), marks=tuple(tuple(m) for m in s.get("marks", ())),
        )
        for s in raw
    )
    return Tile(id=data["id"], product=name, name=data["name"], count=data["count"], edges=data["edges"],
                segments=segments, flags=frozenset(data.get("flags", ())), jcz=data.get("jcz", ""))
