"""Export of a finished game as a Board Game Stats link. Nothing is sent unless a person opens it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NotRequired, TypedDict
from urllib.parse import quote

from bastide.book.people import Said
from bastide.book.summary import Row

ADDRESS = "https://app.bgstatsapp.com/createPlay.html?data="
GAME: Mapping[str, str | int | bool] = {
    "name": "Carcassonne", "sourceGameId": "carcassonne", "bggId": 822, "highestWins": True, "noPoints": False}


class Person(TypedDict):
    """A player of a play."""

    name: str
    sourcePlayerId: str
    startPlayer: bool
    score: int
    rank: int
    winner: bool


class Play(TypedDict):
    """A play in the format of Board Game Stats."""

    sourceName: str
    sourcePlayId: str
    playDate: str
    game: Mapping[str, str | int | bool]
    location: NotRequired[str]
    durationMin: NotRequired[int]
    players: list[Person]


def play(row: Row, said: Said) -> Play:
    """The game as a play for Board Game Stats. Ids are stable: sent again, it is the same play of the same people."""
    out: Play = {
        "sourceName": "bastide", "sourcePlayId": said.id_of(f"game/{row['game']}/{row['created_s']:.0f}"),
        "playDate": datetime.fromtimestamp(row["began_s"] or row["created_s"], UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "game": GAME,
        "players": [{"name": p["name"], "sourcePlayerId": said.id_of(f"player/{said.person(p['name'])}"),
                     "startPlayer": n == row["first"], "score": p["score"], "rank": p["rank"],
                     "winner": n in row["winners"]} for n, p in enumerate(row["players"])],
    }
    if said.place:
        out["location"] = said.place
    if row["ended_s"] > row["began_s"] > 0:
        out["durationMin"] = max(1, round((row["ended_s"] - row["began_s"]) / 60))
    return out


def link(row: Row, said: Said) -> str:
    """The URL that logs it."""
    return ADDRESS + quote(json.dumps(play(row, said), ensure_ascii=False, separators=(",", ":")), safe="")
