"""Rotated tiles as far as the rules are concerned: which are equal, and what is on them."""

from __future__ import annotations

from functools import cache

from scoring.events import FigurePlaced
from scoring.tiles import catalogue, segment_index

Reading = tuple[str, int]  # a tile's kind and its quarter turns


@cache
def shape(tile: str, rot: int) -> object:
    """Equal for readings that make no difference to the rules (`scoring.tiles.Tile.signature`), also of kinds unknown
    here."""
    kind = catalogue().get(tile)
    return (tile, rot % 4) if kind is None else kind.signature(rot % 4)


def has_place(tile: str, rot: int, event: FigurePlaced) -> bool:
    """Whether a turned tile has the segment on which a figure was put down there. Places that are no segments of tiles,
    as those of a box's pieces, and kinds unknown here have any."""
    kind = catalogue().get(tile)
    return kind is None or event.feature not in _printed() or (
        segment_index(kind, rot, event.feature, event.where) is not None)


@cache
def _printed() -> frozenset[str]:
    return frozenset(s.kind for kind in catalogue().values() for s in kind.segments)
