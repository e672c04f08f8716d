"""The sets of tile pictures that a table can be watched with: bastide's own drawings, taught sets, learned sets. A game
names one; otherwise the set given at the program's start is used.

    DATA/tiles/NAME/book.json        learned while playing (`bastide.tiles.tilebook`)
    DATA/tiles/NAME/base.D.png ...   taught (``bastide teach --out DATA/tiles/NAME``); what games add to it is learned
                                     in DATA/tiles/NAME-learned
    DATA/tiles/NAME-taught/...       taught on the page, beside what was learned under the same name
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from bastide.errors import Failure, UsageError
from bastide.tiles.tilebook import BOOK, TileBook
from scoring.events import Setup
from scoring.expansions import chosen
from scoring.tiles import catalogue, product
from vision.structure import told_apart
from vision.tileset import PICTURES, TileSet, TileSetError, drawn_tileset, load_tileset, merged
from web.states import ArtSet

DRAWN, OWN, LEARNED, TAUGHT = "drawn", "own", "-learned", "-taught"
MOST_SETS = 40
_NAME = re.compile(r"[\w-]{1,60}")
_log = logging.getLogger("bastide.art")


class ArtSets:
    """The sets of one machine. Raises UsageError where the folder of ``--tiles`` cannot be used."""

    def __init__(self, data: Path, folder: str | None) -> None:
        self._tiles, self._folder = data / "tiles", folder
        self.usual = book_name(folder)

    def listed(self) -> list[ArtSet]:
        """name, ``kind`` (drawn, taught, learned, new), how many ``pictures`` of how many tile ``kinds``, and whether
        it is the ``usual`` one. The last is a new set that is learned while playing."""
        out: list[ArtSet] = [{"name": DRAWN, "kind": DRAWN, "pictures": 0, "kinds": 0, "usual": False}]
        names = [p.name.removesuffix(TAUGHT) for p in sorted(self._tiles.glob("*"))
                 if p.is_dir() and _NAME.fullmatch(p.name)]
        names = [n for n in names if not (n.endswith(LEARNED) and n.removesuffix(LEARNED) in names)]
        for name in dict.fromkeys((self.usual, *names[:MOST_SETS])):
            files = [*self._pictures(self._base(name)), *self._pictures(self._book_of(name))]
            taught = self._base(name) is not None
            if files:
                out.append({"name": name, "kind": "taught" if taught else "learned", "pictures": len(files),
                            "kinds": len({f.stem.partition("~")[0] for f in files}), "usual": name == self.usual})
        there = {row["name"] for row in out}
        fresh = next(n for n in (self.usual, OWN, *(f"{OWN}-{k}" for k in range(2, 10_000))) if n not in there)
        return [*out, {"name": fresh, "kind": "new", "pictures": 0, "kinds": 0, "usual": fresh == self.usual}]

    def known(self, art: object) -> bool:
        """Whether this is a valid set for a game: none, or a listed one."""
        return art == "" or any(row["name"] == art for row in self.listed())

    def base(self, art: str, setup: Setup) -> TileSet:
        """The pictures without learning: the taught ones, or our own drawings."""
        if art == DRAWN:
            return load_tiles(None, setup.expansions)
        base = self._base(art or self.usual)
        try:
            return load_tiles(None if base is None else str(base), setup.expansions)
        except UsageError as e:
            if base is None or str(base) == self._folder:
                raise
            _log.warning("%s", e)  # the folder has become invalid: the table is still watched
            return load_tiles(None, setup.expansions)

    def book(self, art: str) -> TileBook | None:
        """The tile book to which games add this set's lessons; None for the drawings, and for a book that cannot be
        read or written."""
        if art == DRAWN:
            return None
        try:
            book = TileBook(self._book_of(art or self.usual))
        except Failure as e:
            _log.warning("%s", e)
            return None
        if book.notice:
            print(book.notice, file=sys.stderr)
        return book

    def tiles(self, art: str, setup: Setup) -> TileSet:
        """All pictures of the set, for reading."""
        book = self.book(art)
        return merged(self.base(art, setup), book.tileset() if book else None)

    def taught(self, art: str) -> Path | None:
        """The folder of pictures that people taught of this set, or None."""
        return None if art == DRAWN else self._base(art or self.usual)

    def teaches(self) -> Path:
        """The folder that the owner's tiles are taught into, whether or not it is there."""
        return self._base(self.usual) or self._tiles / (self.usual + TAUGHT)

    def stamp(self, art: str) -> tuple[tuple[str, int, int], ...]:
        """A fingerprint that changes with the pictures of a set."""
        name = art or self.usual
        folders = [] if art == DRAWN else [self._base(name), self._book_of(name)]
        return tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for folder in folders
                     for f in self._pictures(folder))

    def counts(self, expansions: tuple[str, ...]) -> Mapping[str, int]:
        return box_contents(expansions)

    def _base(self, name: str) -> Path | None:
        """The folder of a taught set."""
        if self._folder is not None and name == self.usual:
            return Path(self._folder)
        named, beside = self._tiles / name, self._tiles / (name + TAUGHT)
        if self._pictures(named) and not (named / BOOK).exists():
            return named
        return beside if self._pictures(beside) else None

    def _book_of(self, name: str) -> Path:
        inside = self._base(name) == self._tiles / name
        return self._tiles / (name + LEARNED if inside else name)

    @staticmethod
    def _pictures(folder: Path | None) -> list[Path]:
        if folder is None or not folder.is_dir():
            return []
        return [f for f in sorted(folder.iterdir()) if f.suffix.lower() in PICTURES and not f.name.startswith(".")]


def box_contents(expansions: tuple[str, ...]) -> dict[str, int]:
    """How many of each tile kind the boxes in play hold."""
    return {t.id: t.count for e in chosen(expansions) for name in e.products for t in product(name).tiles}


def load_tiles(folder: str | None, expansions: tuple[str, ...]) -> TileSet:
    """The taught pictures in a folder, or our own drawn tiles where they can tell what the network cannot. Raises
    UsageError naming the folder and the file."""
    if folder is None:
        known = box_contents(expansions)
        return TileSet.empty() if told_apart(catalogue()[tile] for tile in known) else drawn_tileset(tuple(known))
    try:
        return load_tileset(folder, catalogue())
    except TileSetError as e:
        raise UsageError(str(e)) from e


def book_name(folder: str | None) -> str:
    """The name of a set of tiles on this machine: that of its folder, or the owner's."""
    return "own" if folder is None else "".join(c if c.isalnum() else "-" for c in Path(folder).resolve().name) or "own"


def tile_book(data: str, folder: str | None) -> TileBook:
    """The tile book of the tiles in ``folder``, or of the owner's tiles if None."""
    book = TileBook(Path(data) / "tiles" / book_name(folder))
    if book.notice:
        print(book.notice, file=sys.stderr)
    return book
