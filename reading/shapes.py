"""Equality of rotated tiles as far as the rules are concerned."""

from __future__ import annotations

from functools import cache

from scoring.tiles import catalogue

Reading = tuple[str, int]  # a tile's kind and its quarter turns


@cache
def shape(tile: str, rot: int) -> object:
    """Equal for readings that make no difference to the rules (`scoring.tiles.Tile.signature`), also of kinds unknown
    here."""
    kind = catalogue().get(tile)
    return (tile, rot % 4) if kind is None else kind.signature(rot % 4)
