"""The tile catalogue as the page needs it: topology and geometry of every kind in play."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoring.expansions import chosen
from scoring.tiles import Segment, Tile, product

_OPTIONAL = ("pennants", "signs", "tunnel", "marks")


def tiles(expansions: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Every tile kind of these expansions by its id, and the squares of a start board, of which a box holds none.

    Raises InvalidNotation for an unknown expansion.
    """
    boxes = chosen(tuple(expansions))
    products = dict.fromkeys(p for e in boxes for p in e.products)
    kinds = [t for name in products for t in product(name).tiles]
    boards = [t for e in boxes for t in e.tiles]
    return {**{t.id: _tile(t) for t in kinds}, **{t.id: {**_tile(t), "board": True} for t in boards}}


def _tile(tile: Tile) -> dict[str, Any]:
    """``looks`` has for each quarter turn the first one in which the tile is the same to the rules."""
    turned = [tile.signature(rot) for rot in range(4)]
    return {"name": tile.name, "product": tile.product, "count": tile.count, "edges": tile.edges,
            "looks": [turned.index(look) for look in turned], "flags": sorted(tile.flags),
            "segments": [_segment(s) for s in tile.segments]}


def _segment(s: Segment) -> dict[str, Any]:
    """A segment; what it has not is left out."""
    out: dict[str, Any] = {"kind": s.kind, "atoms": list(s.atoms), "path": s.path, "spot": list(s.spot)}
    if s.width:
        out["width"] = s.width
    if s.cities:
        out["cities"] = list(s.cities)
    return out | {key: value for key in _OPTIONAL if (value := getattr(s, key))}
