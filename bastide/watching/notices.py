"""The camera's requests to people, as rows among the issues of a view: one sentence, and its parameters."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Literal

from reading.noticing import Notice, order
from scoring.events import Player
from scoring.views import IssueView
from vision.images import encode_jpeg

_ROLE = {"city": "knight", "road": "thief", "field": "farmer", "cloister": "monk"}
_TEXT = {
    "take_back": "Take back {name}'s {role} at {x}, {y}: it has been scored.",
    "missing": "{name}'s {role} should stand at {x}, {y}, and the camera does not see it.",
    "foreign": "{name} has a figure at {x}, {y} that this game does not have: take another one, or start a game with "
               "its box.",
    "out_of_step": "The tile at {x}, {y} does not lie as it does in the game: put it right, or correct the game.",
    "unread": "The camera cannot read what lies at {x}, {y}: enter the tile, or take it away.",
    "held": "{name} holds figures of other players ({count}) that the camera does not see: put them in view, or enter "
            "that one was set free.",
    "held_more": "{name} has figures of {owner} ({count}) that are not prisoners in this game: enter what is missing, "
                 "or give them back.",
}


def rows(notices: Iterable[Notice], players: tuple[Player, ...]) -> tuple[list[IssueView], dict[str, bytes]]:
    """Rows (code, text, squares, turn, parts, and the addresses of two pictures if any), and the pictures (JPEG) by
    name."""
    out: list[IssueView] = []
    pictures: dict[str, bytes] = {}
    for n in sorted(notices, key=order):
        name, owner = (players[of].name if of is not None else "" for of in (n.player, n.owner))
        role = _ROLE.get(n.feature, "follower")
        x, y = n.at or (0, 0)
        squares = [] if n.at is None else [[x, y]]
        row: IssueView = {
            "code": n.code, "text": _TEXT[n.code].format(
                name=name, owner=owner, role=role, x=x, y=y, count=n.count),
            "squares": squares, "turn": None,
            "parts": {"player": n.player, "name": name, "owner": owner, "role": role,
                      "feature": n.feature, "where": n.where, "n": n.count, "at": squares[0] if squares else None}}
        keys: tuple[Literal["before", "now"], ...] = ("before", "now")
        for key, picture in zip(keys, (n.before, n.now), strict=True):
            if picture is not None and n.before is not None:
                address = f"{x}_{y}_{key}_{zlib.crc32(n.before.tobytes()):08x}"
                pictures[address] = encode_jpeg(picture)
                row[key] = f"/api/notices/{address}.jpg"
        out.append(row)
    return out, pictures
