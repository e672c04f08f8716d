"""Reference pictures of tiles: taught from the owner's own box, or drawn by bastide itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

import cv2
import numpy as np

from scoring.tiles import catalogue
from vision.frames import Image
from vision.images import ImageError, read_image

_drawings: WeakValueDictionary[tuple[str, int, int], Image] = WeakValueDictionary()  # by tile, size and variant
PICTURES = (".png", ".jpg", ".jpeg")
SIZE_PX = 192


class TileSetError(Exception):
    """The tile pictures cannot be used. The message is one sentence that names the folder or file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """One picture of one tile kind, upright as at ``rot`` 0: ``bgr`` is uint8 (S, S, 3), S the set's ``size_px``.

    ``drawn``: bastide's own drawing, right in structure (edges, roads, walls), wrong in colours.
    """

    tile: str
    bgr: Image
    drawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TileSet:
    """Upright pictures, one or more per tile kind, all squares of one size."""

    name: str
    size_px: int
    specimens: tuple[Specimen, ...]

    @staticmethod
    def empty() -> TileSet:
        """No pictures at all."""
        return TileSet(name="none", size_px=SIZE_PX, specimens=())

    @property
    def ids(self) -> tuple[str, ...]:
        """The tile kinds that have a picture, sorted."""
        return tuple(sorted({s.tile for s in self.specimens}))

    @property
    def drawn(self) -> bool:
        """Whether all specimens are bastide's own drawings."""
        return all(s.drawn for s in self.specimens)

    @property
    def images(self) -> list[tuple[str, Image]]:
        """(tile id, BGR square) of every specimen, sorted by id."""
        return [(s.tile, s.bgr) for s in self.specimens]

    def only(self, ids: Iterable[str]) -> TileSet:
        """The same set with only these kinds. Raises TileSetError when nothing is left."""
        wanted = frozenset(ids)
        kept = tuple(s for s in self.specimens if s.tile in wanted)
        if not kept:
            raise TileSetError(f"{self.name} has no picture of any tile that may be on the table")
        return TileSet(name=self.name, size_px=self.size_px, specimens=kept)


def load_tileset(folder: str | Path, known: Iterable[str] | None = None, *, size_px: int = SIZE_PX) -> TileSet:
    """Read ``<tile id>.png|jpg`` and ``<tile id>~<n>.png|jpg``; ``known`` are the ids allowed (default the catalogue).

    Raises TileSetError: no such folder, no pictures in it, a name that is no tile, a file that is not an image.
    Files that are not pictures by their name, and hidden ones, are left alone.
    """
    folder = Path(folder)
    ids = frozenset(catalogue() if known is None else known)
    if not folder.is_dir():
        what = "is a file, not a folder of tile pictures" if folder.exists() else "does not exist"
        raise TileSetError(f"the tile folder {folder} {what}")
    files = sorted(f for f in folder.iterdir() if f.suffix.lower() in PICTURES and not f.name.startswith("."))
    if not files:
        raise TileSetError(f"the tile folder {folder} has no pictures; expected names like base.D.png or base.D~1.jpg")
    specimens = []
    for file in files:
        tile, _, copy = file.stem.partition("~")
        if tile not in ids or ("~" in file.stem and not copy.isalnum()):
            raise TileSetError(f"{file} is not named after a known tile; expected base.D.png or base.D~1.jpg, say")
        specimens.append(Specimen(tile=tile, bgr=_square(_read(file), size_px, file)))
    specimens.sort(key=lambda s: s.tile)
    return TileSet(name=str(folder), size_px=size_px, specimens=tuple(specimens))


def drawn_tileset(tiles: Iterable[str], *, size_px: int = SIZE_PX, variants: int = 1) -> TileSet:
    """bastide's own drawings of these kinds, ``variants`` of each. Raises TileSetError for an unknown or no id.

    A drawing takes 50 ms, so sets share theirs while one of them is alive; they are read-only.
    """
    from vision.artwork import draw_tile  # the drawing code is needed only here

    kinds = catalogue()
    specimens = []
    for tile in sorted(set(tiles)):
        if tile not in kinds:
            raise TileSetError(f"{tile!r} is not a known tile")
        for variant in range(variants):
            picture = _drawings.get((tile, size_px, variant))
            if picture is None:
                picture = draw_tile(kinds[tile], size_px, variant=variant)
                picture.flags.writeable = False
                _drawings[tile, size_px, variant] = picture
            specimens.append(Specimen(tile=tile, bgr=picture, drawn=True))
    if not specimens:
        raise TileSetError("no tile kinds were named to draw")
    return TileSet(name="drawn", size_px=size_px, specimens=tuple(specimens))


def merged(taught: TileSet, learned: TileSet | None) -> TileSet:
    """``taught`` and ``learned`` pictures together. Pictures of the owner's tiles replace our own drawings."""
    if learned is None:
        return taught
    seen = frozenset(learned.ids)
    kept = [s for s in taught.specimens if not (s.drawn and s.tile in seen)]
    specimens = tuple(sorted((*kept, *learned.specimens), key=lambda s: s.tile))
    return TileSet(name=f"{taught.name} and what was learned", size_px=taught.size_px, specimens=specimens)


def _read(file: Path) -> Image:
    try:
        return read_image(str(file))
    except ImageError as error:
        raise TileSetError(str(error)) from error


def _square(picture: Image, size_px: int, file: Path) -> Image:
    height, width = picture.shape[:2]
    if abs(height - width) > 0.1 * max(height, width):
        raise TileSetError(f"{file} is {width} x {height} pixels; a tile's picture is square")
    if min(height, width) < 16:
        raise TileSetError(f"{file} is only {width} x {height} pixels; a tile's picture needs at least 16")
    shrink = size_px < max(height, width)
    how = cv2.INTER_AREA if shrink else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (size_px, size_px), interpolation=how), np.uint8)
