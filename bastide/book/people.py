"""Identities of people in the book. Games name their players; equal names are one person unless people change that.

    book.json   {"format": "bastide-book", "version": 1, "house": ..., "place": ..., "merged": {key: key},
                 "removed": [key, ...], "uncounted": [game, ...]}

The file lies in the data folder, so it is in every backup. The log itself is not changed: merging and removing can be
taken back.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import unicodedata
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from bastide.errors import Failure
from bastide.files.writing import write_whole
from bastide.log.pictures import set_aside

NAME = "book.json"
FORMAT, VERSION = "bastide-book", 1
LONGEST_PLACE = 60
_log = logging.getLogger("bastide.book")


def key_of(name: str) -> str:
    """The key of a name: case, spaces and Unicode composition are ignored."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """People's settings of the book. ``house`` makes its ids unique; ``merged`` maps a key to that of the same
    person."""

    house: str = ""
    place: str = ""
    merged: dict[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    uncounted: frozenset[int] = frozenset()

    def person(self, name: str) -> str:
        """The key of the person with that name in a game."""
        key = key_of(name)
        for _ in range(len(self.merged)):
            if key not in self.merged:
                break
            key = self.merged[key]
        return key

    def id_of(self, what: str) -> str:
        """A stable id of a person (``player/KEY``) or a game (``game/N/DATE``) unique to this house: 48 bits, short
        enough for a QR code with six of them."""
        return uuid.uuid5(uuid.UUID(hex=self.house), what).hex[:12]


class People:
    """The stored settings, on disk before they take effect. Thread-safe. Raises Failure."""

    def __init__(self, data: Path) -> None:
        self._path = data / NAME
        self._lock = threading.Lock()
        self._said: Said | None = None

    @property
    def said(self) -> Said:
        with self._lock:
            return self._read()

    def merge(self, key: str, into: str) -> None:
        """Merge the person ``key`` into ``into``."""
        with self._lock:
            said = self._read()
            target = said.person(into)
            if target == said.person(key):
                return
            self._write(replace(said, merged={**said.merged, said.person(key): target}))

    def part(self, key: str) -> None:
        """Separate ``key`` again."""
        with self._lock:
            said = self._read()
            self._write(replace(said, merged={k: v for k, v in said.merged.items() if k != key}))

    def remove(self, key: str, *, back: bool = False) -> None:
        """Remove a person from the book: no name, no statistics; or restore them (``back``)."""
        with self._lock:
            said = self._read()
            self._write(replace(said, removed=said.removed - {key} if back else said.removed | {key}))

    def count(self, game: int, *, counts: bool) -> None:
        """Whether a game counts in statistics, records and ratings."""
        with self._lock:
            said = self._read()
            self._write(replace(said, uncounted=said.uncounted - {game} if counts else said.uncounted | {game}))

    def name_place(self, place: str) -> None:
        """Name of the place where people play; may be empty."""
        with self._lock:
            self._write(replace(self._read(), place=" ".join(place.split())[:LONGEST_PLACE]))

    def _read(self) -> Said:
        if self._said is None:
            try:
                self._said = said_from_json(json.loads(self._path.read_text("utf-8")))
            except FileNotFoundError:
                self._write(Said(house=secrets.token_hex(16)))
            except (ValueError, TypeError, KeyError, RecursionError) as e:
                aside = set_aside(self._path)
                _log.warning("%s could not be read (%s) and is kept as %s; please merge the players again",
                             self._path, e, aside.name)
                self._write(Said(house=secrets.token_hex(16)))
            except OSError as e:
                raise Failure(f"{self._path}: cannot be read ({e.strerror}); check the disk") from e
        assert self._said is not None
        return self._said

    def _write(self, said: Said) -> None:
        try:
            write_whole(self._path, json.dumps(said_to_json(said), indent=1, ensure_ascii=False).encode())
        except OSError as e:
            raise Failure(f"{self._path}: cannot be written ({e.strerror}); free some space or check the disk") from e
        self._said = said


class SaidJson(TypedDict):
    """The content of ``book.json``."""

    format: str
    version: int
    house: str
    place: str
    merged: dict[str, str]
    removed: list[str]
    uncounted: list[int]


def said_to_json(said: Said) -> SaidJson:
    """The content of ``book.json``."""
    return {"format": FORMAT, "version": VERSION, "house": said.house, "place": said.place, "merged": said.merged,
            "removed": sorted(said.removed), "uncounted": sorted(said.uncounted)}


def said_from_json(data: object) -> Said:
    """Parse ``book.json``. Raises ValueError, TypeError or KeyError."""
    if not isinstance(data, dict):
        raise TypeError("it is no object")
    if data["format"] != FORMAT or data["version"] != VERSION:
        raise ValueError("it is of another version")
    merged, removed, uncounted = data["merged"], data["removed"], data["uncounted"]
    if not isinstance(merged, dict) or not all(isinstance(v, str) for v in (*merged.values(), *removed)) or \
            not all(type(v) is int for v in uncounted):
        raise ValueError("it names something that is no player or game")
    return Said(house=uuid.UUID(hex=data["house"]).hex, place=str(data["place"]), merged=dict(merged),
                removed=frozenset(removed), uncounted=frozenset(uncounted))
