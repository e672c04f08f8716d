"""Our own drawings of tiles, drawn once in a process and only where a test asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from scoring.tiles import catalogue, product
from vision.artwork import draw_tile
from vision.frames import Image
from vision.tileset import TileSet, drawn_tileset

BASE = tuple(t.id for t in product("base").tiles)


@cache
def drawing(tile: str, size_px: int, variant: int = 0) -> Image:
    """A kind's picture: BGR, uint8 (size_px, size_px, 3), upright."""
    picture = draw_tile(catalogue()[tile], size_px, variant=variant)
    picture.flags.writeable = False
    return picture


@cache
def base_set() -> TileSet:
    """Every kind of the base game, one drawing each."""
    return drawn_tileset(BASE)


@cache
def base_pictures() -> Mapping[str, Image]:
    """The same by kind: BGR, uint8 (192, 192, 3)."""
    return MappingProxyType({s.tile: s.bgr for s in base_set().specimens})
