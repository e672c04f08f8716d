"""The tile catalogue as the page needs it: topology and geometry of every kind in play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from scoring.expansions import chosen
from scoring.tiles import Point, Segment, Tile, product


class SegmentView(TypedDict):
    """A segment; absent properties are left out."""

    kind: str
    atoms: list[str]
    path: str
    spot: list[float]
    width: NotRequired[float]
    cities: NotRequired[list[int]]
    pennants: NotRequired[int]
    signs: NotRequired[Sequence[str]]
    tunnel: NotRequired[bool]
    marks: NotRequired[Sequence[Point]]


class KindView(TypedDict):
    """A tile kind; ``looks`` maps each quarter turn to the first equivalent one by the rules. The squares of a start
    ``board`` are not in the draw pile."""

    name: str
    product: str
    count: int
    edges: str
    looks: list[int]
    flags: list[str]
    segments: list[SegmentView]
    board: NotRequired[bool]


def tiles(expansions: Iterable[str]) -> dict[str, KindView]:
    """Every tile kind of these expansions by its id, and the squares of a start board, of which a box holds none.

    Raises InvalidNotation for an unknown expansion.
    """
    boxes = chosen(tuple(expansions))
    products = dict.fromkeys(p for e in boxes for p in e.products)
    kinds = [t for name in products for t in product(name).tiles]
    boards = [t for e in boxes for t in e.tiles]
    out = {t.id: _tile(t) for t in kinds}
    for t in boards:
        out[t.id] = {**_tile(t), "board": True}
    return out


def _tile(tile: Tile) -> KindView:
    turned = [tile.signature(rot) for rot in range(4)]
    return {"name": tile.name, "product": tile.product, "count": tile.count, "edges": tile.edges,
            "looks": [turned.index(look) for look in turned], "flags": sorted(tile.flags),
            "segments": [_segment(s) for s in tile.segments]}


def _segment(s: Segment) -> SegmentView:
    out: SegmentView = {"kind": s.kind, "atoms": list(s.atoms), "path": s.path, "spot": list(s.spot)}
    if s.width:
        out["width"] = s.width
    if s.cities:
        out["cities"] = list(s.cities)
    if s.pennants:
        out["pennants"] = s.pennants
    if s.signs:
        out["signs"] = s.signs
    if s.tunnel:
        out["tunnel"] = s.tunnel
    if s.marks:
        out["marks"] = s.marks
    return out
