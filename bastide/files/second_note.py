"""The record of the newest backup on a second medium, written by the backup and read by the doctor."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

NOTE = "second.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """``ok`` tells whether the newest attempt made a ``file`` in the ``folder``, with its number of games and entries,
    from the log in that ``state``; otherwise ``why`` not. ``made`` are the names of all our backups there."""

    folder: str = ""
    at_s: float = 0.0
    made: tuple[str, ...] = ()
    ok: bool = False
    file: str = ""
    games: int = 0
    entries: int = 0
    state: str = ""
    why: str = ""


def read_note(data: Path) -> Note | None:
    """The outcome of the newest backup on the second medium; None when there was none, or the note cannot be read."""
    try:
        match json.loads((data / NOTE).read_text("utf-8")):
            case {"made": list(made), **said}:
                return Note(
                    made=tuple(name for name in made if isinstance(name, str)), folder=str(said.get("folder", "")),
                    ok=said.get("ok") is True, file=str(said.get("file", "")), state=str(said.get("state", "")),
                    why=str(said.get("why", "")), at_s=_count(said.get("at_s")),
                    games=int(_count(said.get("games"))), entries=int(_count(said.get("entries"))))
    except (OSError, ValueError, RecursionError):
        pass
    return None


def _count(value: object) -> float:
    return value if isinstance(value, int | float) else 0
