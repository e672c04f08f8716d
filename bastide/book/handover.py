"""A finished game for other programs: Board Game Stats' link. Only the person who opens it calls anybody."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from bastide.book.people import Said
from bastide.book.summary import Row

ADDRESS = "https://app.bgstatsapp.com/createPlay.html?data="
GAME = {"name": "Carcassonne", "sourceGameId": "carcassonne", "bggId": 822, "highestWins": True, "noPoints": False}


def play(row: Row, said: Said) -> dict[str, Any]:
    """One play as Board Game Stats reads it. Ids are stable: sent again, it is the same play of the same people."""
    out: dict[str, Any] = {
        "sourceName": "bastide", "sourcePlayId": said.id_of(f"game/{row['game']}/{row['created_s']:.0f}"),
        "playDate": datetime.fromtimestamp(row["began_s"] or row["created_s"], UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "game": GAME,
    }
    if said.place:
        out["location"] = said.place
    if row["ended_s"] > row["began_s"] > 0:
        out["durationMin"] = max(1, round((row["ended_s"] - row["began_s"]) / 60))
    out["players"] = [{"name": p["name"], "sourcePlayerId": said.id_of(f"player/{said.person(p['name'])}"),
                       "startPlayer": n == row["first"], "score": p["score"], "rank": p["rank"],
                       "winner": n in row["winners"]} for n, p in enumerate(row["players"])]
    return out


def link(row: Row, said: Said) -> str:
    """The address that logs it."""
    return ADDRESS + quote(json.dumps(play(row, said), ensure_ascii=False, separators=(",", ":")), safe="")
