"""The evening's results: finished games and the tournament's rounds, in a small SQLite database of the hub."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from bastide.club.documents import State
from bastide.errors import Failure
from web.club_states import EveningRow

EVENING_S = 16 * 3600.0
MOST = 2000  # games in a response
_SCHEMA = """
create table if not exists games (
    device text not null, game integer not null, tableName text not null, begun real, ended real not null,
    round text, body text not null, primary key (device, game)) without rowid;
create table if not exists kept (name text primary key, body text not null) without rowid;
"""


class Results:
    """Opened and closed as a context manager; thread-safe. Raises Failure when the folder cannot be used."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(folder / "hub.sqlite", check_same_thread=False)
            self._db.execute("pragma journal_mode=wal")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as e:
            raise Failure(f"{folder}: the evening's results cannot be kept there ({e}); take another --data") from e
        self._begun: dict[tuple[str, int], float] = {}
        self._over = {(d, g) for d, g in self._db.execute("select device, game from games")}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with self._lock:
            self._db.close()

    def heard(self, state: State) -> bool:
        """Store a finished game with its last corrections; delete one that was resumed. Returns whether the results
        have changed."""
        at = state["device"], state["game"]
        if state["phase"] != "over":
            if at not in self._begun:
                if len(self._begun) > 5 * MOST:
                    self._begun.clear()
                self._begun[at] = self._clock()
            if at not in self._over:
                return False
            with self._lock, self._db:
                self._db.execute("delete from games where device = ? and game = ?", at)
            self._over.discard(at)
            return True
        round_ = state.get("round")
        body = json.dumps({"players": [{k: p[k] for k in ("name", "colour", "score")} for p in state["players"]],
                           "laid": state["laid"], "edition": state["edition"], "expansions": state["expansions"],
                           "confirmed": list(round_["confirmed"]) if round_ else []}, ensure_ascii=False)
        with self._lock, closing(self._db.execute(
                "select body, ended, begun from games where device = ? and game = ?", at)) as found:
            known = found.fetchone()
            if known and known[0] == body:
                return False
            begun, ended = (known[2], known[1]) if known else (self._begun.get(at), self._clock())
            with self._db:
                self._db.execute("insert or replace into games values (?, ?, ?, ?, ?, ?, ?)",
                                 (*at, state["table"], begun, ended, round_["id"] if round_ else None, body))
            self._over.add(at)
        return True

    def games(self, *, all_: bool = False) -> list[EveningRow]:
        """The finished games of this evening, newest first."""
        since = 0.0 if all_ else self._clock() - EVENING_S
        with self._lock:
            rows = self._db.execute("select device, game, tableName, begun, ended, round, body from games "
                                    "where ended >= ? order by ended desc limit ?", (since, MOST)).fetchall()
        return [{"table": table, "device": device, "game": game, "begun_s": begun, "ended_s": ended, "round": id_,
                 "players": (found := json.loads(body))["players"], "laid": found["laid"],
                 "edition": found["edition"], "expansions": found["expansions"], "confirmed": found["confirmed"]}
                for device, game, table, begun, ended, id_, body in rows]

    def keep(self, name: str, value: object) -> None:
        """Store a small document under a name."""
        with self._lock, self._db:
            self._db.execute("insert or replace into kept values (?, ?)", (name, json.dumps(value, ensure_ascii=False)))

    def kept(self, name: str) -> object:
        """The document stored under a name, or None."""
        with self._lock:
            row = self._db.execute("select body from kept where name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None
