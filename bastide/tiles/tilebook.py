"""The tile book, with the learned pictures of the owner's tiles: a folder of pictures and an index of their origins.

    DATA/tiles/book.json            version, lessons, what was refused, a line for every version
    DATA/tiles/base.D~g3s17v2.png   also a tile folder as ``--tiles`` takes it

A new version is written beside the old one and replaces it atomically (a rename); pictures that no version needs are
deleted last. So a power cut leaves the old version or the new one, never half of each.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from bastide.errors import Failure
from bastide.files.writing import sync_folder, write_whole
from scoring.tiles import catalogue
from vision.images import ImageError, encode_png, read_image
from vision.lessons import Lesson, Refused, distinct, learned_tileset, vet
from vision.tileset import TileSet

FORMAT = "bastide-tilebook/1"
BOOK = "book.json"
VERSIONS_TOLD = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One lesson on disk: the game it was learned in, and the book's version that it came with."""

    file: str
    tile: str
    game: str
    origin: str
    version: int


class RefusedRow(TypedDict):
    """A picture that was not learned."""

    tile: str
    origin: str
    why: str


VersionRow = TypedDict("VersionRow", {  # ``from`` is no name of a field
    "version": int, "at_s": float, "from": str, "lessons": int, "new": int, "refused": list[RefusedRow]})
VersionRow.__doc__ = "What a version of the book came to: the game that it is from, its lessons, and what was refused."


@dataclass(slots=True)
class TileBook:
    """The lessons of one table. Raises Failure with one sentence on disk errors.

    A book that cannot be read is renamed, never deleted; ``notice`` says so.
    """

    folder: Path
    clock: Callable[[], float] = time.time
    notice: str | None = None
    version: int = 0
    known: list[Known] = field(default_factory=list)
    told: list[VersionRow] = field(default_factory=list)  # one line per version

    def __post_init__(self) -> None:
        try:
            text = (self.folder / BOOK).read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, UnicodeDecodeError) as e:
            self._set_aside(str(e))
            return
        try:
            data = json.loads(text)
            written = data["format"]
            if written != FORMAT and str(written).startswith("bastide-tilebook/"):
                raise Failure(f"{self.folder / BOOK} was written by a newer version of bastide; update bastide")
            if written != FORMAT:
                raise ValueError("it is something else")
            kinds = catalogue()
            for row in data["lessons"]:
                one = Known(file=_plain_name(row["file"]), tile=str(row["tile"]), game=str(row["game"]),
                            origin=str(row["origin"]), version=int(row["version"]))
                if one.tile in kinds:
                    self.known.append(one)
            self.version = int(data["version"])
            self.told = [_version(line) for line in data["versions"]]
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as e:
            self.known, self.version, self.told = [], 0, []
            self._set_aside(str(e))

    def lessons(self, *, but_of: str | None = None) -> tuple[Lesson, ...]:
        """Every lesson whose picture can be read, oldest first, without those of the game ``but_of``."""
        out = []
        for one in self.known:
            if one.game == but_of:
                continue
            try:
                picture = read_image(str(self.folder / one.file))
            except ImageError:
                continue  # skip a missing picture; the rest is valid
            if picture.shape[0] == picture.shape[1] >= 16:
                out.append(Lesson(tile=one.tile, bgr=picture, origin=one.origin))
        return tuple(out)

    def tileset(self) -> TileSet | None:
        """The learned pictures as a tile set; None when there are too few."""
        return learned_tileset("learned", self.lessons())

    def learn(self, game: str, lessons: Sequence[Lesson],
              counts: Mapping[str, int] | None = None) -> tuple[Refused, ...]:
        """Replace a game's earlier lessons by these; lessons inconsistent with the rest are refused.

        ``counts`` says how many tiles of each kind the box holds, which is the most drawings it can have. Returns what
        was refused, lessons of earlier games among them. Nothing is written when nothing changes.
        """
        earlier = self.lessons(but_of=game)
        kept, refused = vet([*earlier, *lessons])
        kept = distinct(kept, most=counts or {})
        names = {one.origin: one for one in self.known if one.game != game}
        rows: list[tuple[Known, Lesson | None]] = []
        for lesson in kept:
            old = names.get(lesson.origin)
            if old is not None and old.tile == lesson.tile:
                rows.append((old, None))
            else:
                rows.append((Known(file="", tile=lesson.tile, game=game, origin=lesson.origin,
                                   version=self.version + 1), lesson))
        before = {(one.origin, one.tile) for one in self.known}
        if {(row.origin, row.tile) for row, _ in rows} != before:
            self._write(rows, game, refused)
        return refused

    def _write(self, rows: Sequence[tuple[Known, Lesson | None]], game: str, refused: Sequence[Refused]) -> None:
        version = self.version + 1
        known: list[Known] = []
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for n, (row, lesson) in enumerate(rows):
                if lesson is not None:
                    file = f"{row.tile}~v{version}n{n}.png"
                    _safely(self.folder / file, encode_png(lesson.bgr))
                    row = Known(file=file, tile=row.tile, game=row.game, origin=row.origin, version=version)
                known.append(row)
            newest: VersionRow = {
                "version": version, "at_s": round(self.clock(), 1), "from": game, "lessons": len(known),
                "new": sum(k.version == version for k in known),
                "refused": [{"tile": r.lesson.tile, "origin": r.lesson.origin, "why": r.why} for r in refused]}
            told = [*self.told, newest][-VERSIONS_TOLD:]
            book = {"format": FORMAT, "version": version, "versions": told,
                    "lessons": [{"file": k.file, "tile": k.tile, "game": k.game, "origin": k.origin,
                                 "version": k.version} for k in known]}
            _safely(self.folder / BOOK, json.dumps(book, indent=1).encode())
        except OSError as e:
            raise Failure(f"what was learned cannot be saved in {self.folder} ({e.strerror or e}); "
                          "free some space or check its permissions") from e
        used = {k.file for k in known}
        for gone in {k.file for k in self.known} - used:
            (self.folder / gone).unlink(missing_ok=True)
        self.version, self.known, self.told = version, known, told

    def _set_aside(self, why: str) -> None:
        aside = self.folder / f"{BOOK}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            os.replace(self.folder / BOOK, aside)
        except OSError as e:
            raise Failure(f"{self.folder / BOOK} cannot be read or moved ({e.strerror or e}); check its rights") from e
        self.notice = f"{self.folder / BOOK} was damaged ({why}) and is kept as {aside.name}; learning starts over"


def _version(line: Mapping[str, Any]) -> VersionRow:
    return {"version": int(line["version"]), "at_s": float(line.get("at_s", 0.0)), "from": str(line.get("from", "")),
            "lessons": int(line.get("lessons", 0)), "new": int(line.get("new", 0)),
            "refused": [{"tile": str(r["tile"]), "origin": str(r["origin"]), "why": str(r["why"])}
                        for r in line.get("refused", ())]}


def _plain_name(name: object) -> str:
    """A file's name in the book's own folder. Raises ValueError for anything that leads elsewhere."""
    text = str(name)
    if text != Path(text).name or not text.endswith(".png") or text.startswith("."):
        raise ValueError(f"{text!r} is no picture's name")
    return text


def _safely(path: Path, data: bytes) -> None:
    """Write a file atomically and durably."""
    write_whole(path, data)
    sync_folder(path.parent)
