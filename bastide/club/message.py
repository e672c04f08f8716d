"""What goes over the broker: topics, and the documents of the schemas beside this file.

A state is the whole of a table in 1 to 6 kB. It is made from the view that the table's own page shows, less what the
aid level hides from the players.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import fastjsonschema

from web.protocol import View
from web.reveal import revealed, untold

VERSION = 1
ROOT = "bastide"
LARGEST = 65_536  # bytes of a message that is listened to; a state of 200 tiles is below 8,000
LAST = 5  # scores in a state
LONGEST_NAME = 60
Document = dict[str, Any]
HIDING = "score"  # the aid level that shows neither forecast nor tiles left


class NotAMessage(Exception):
    """A message that does not match the schema. The text is one sentence."""


class Sender(NamedTuple):
    """The sender of a message: the table's name, its machine, and its start counter."""

    table: str
    device: str
    epoch: int


def slug(name: str) -> str:
    """A table's name as a level of a topic: ``Table 4`` becomes ``table-4``."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
    return found or f"table-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def topic(table: str, part: str) -> str:
    """``bastide/<table>/<part>``; ``table`` is a slug or ``+``."""
    return f"{ROOT}/{table}/{part}"


def state(view: Mapping[str, Any], sender: Sender, *, at_s: float, commands: bool = False,
          game_round: Mapping[str, Any] | None = None) -> Document:
    """What others may see of a table's view (`scoring.projection`)."""
    aid = view.get("aid", "coach")
    open_ = aid != HIDING or view["phase"] == "over"
    made: Document = {
        "v": VERSION, **sender._asdict(), "rev": view["update"], "game": view["game"], "at": round(at_s, 1),
        "phase": view["phase"], "status": view["status"]["chip"], "aid": aid, "edition": view["edition"],
        "expansions": list(view["expansions"]),
        "turn": {"number": view["turn"]["number"], "player": view["turn"]["player"]},
        "players": [_player(p, open_) for p in view["players"]],
        "laid": len(view["board"]["tiles"]),
        "last": [score(row) for row in view["feed"][-LAST:]],
        "board": {"tiles": [[*t["at"], t["tile"], t["rot"]] for t in _in_order(view["board"]["tiles"])],
                  "figures": [_figure(f) for f in view["board"]["figures"]]},
        "commands": commands,
    }
    if open_:
        made["left"] = view["left"]["total"]
    if game_round is not None:
        made["round"] = dict(game_round)
    return made


def published(view: View) -> View:
    """The view as other machines may know it: a game is over when its end has been told in the room."""
    return {**revealed(view), "phase": "playing"} if untold(view) else view


def _player(p: Mapping[str, Any], open_: bool) -> Document:
    made: Document = {"name": p["name"][:LONGEST_NAME], "colour": p["colour"], "score": p["score"],
                      "figures": dict(p["supply"])}
    if p["uncertain"]:
        made["uncertain"] = True
    if open_:
        made["projected"] = p["projected"]
    return made


def _in_order(tiles: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As they came; the tile laid last at the end, where who draws it finds it."""
    return sorted(tiles, key=lambda t: bool(t["last"]))


def _figure(f: Mapping[str, Any]) -> list[Any]:
    x, y = f["spot"]
    return [f["player"], f["figure"], *f["at"], f["feature"], f["where"] or "", round(x, 1), round(y, 1), f["lying"]]


def score(row: Mapping[str, Any]) -> Document:
    """A line of the feed: who got how much, and the sum it is."""
    return {"turn": row["turn"], "player": row["player"], "reason": row["reason"],
            "points": [[p["player"], p["points"]] for p in row["points"]], "formula": str(row["formula"])[:300]}


def events(before: Mapping[str, Any] | None, view: Mapping[str, Any], sender: Sender) -> list[Document]:
    """What has happened from one view to a later one; nothing is told of the time before the first."""
    if before is None or before["update"] >= view["update"]:
        return []
    head: Document = {"v": VERSION, **sender._asdict(), "rev": view["update"], "game": view["game"]}
    if before["game"] != view["game"]:
        return [{**head, "kind": "begun"}]
    old, new = before["feed"], view["feed"]
    told: list[Document] = []
    if new[:len(old)] == old:
        told = [{**head, "kind": "score", "score": score(row)} for row in new[len(old):]]
    elif old != new:
        told = [{**head, "kind": "corrected"}]
    if view["phase"] == "over" != before["phase"]:
        told.append({**head, "kind": "over"})
    return told


def packed(document: Document) -> bytes:
    """A document as it is sent."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


@cache
def schema(kind: str) -> Document:
    """The schema of ``state``, ``event`` or ``command`` messages."""
    text = (Path(__file__).parent / f"{kind}-{VERSION}.schema.json").read_text("utf-8")
    found: Document = json.loads(text)
    return found


@cache
def _checker(kind: str) -> Callable[[Any], Any]:
    made: Callable[[Any], Any] = fastjsonschema.compile(schema(kind))
    return made


def unpacked(kind: str, payload: bytes) -> Document:
    """A message from another machine. Raises NotAMessage for anything that the schema does not allow."""
    if len(payload) > LARGEST:
        raise NotAMessage(f"{len(payload)} bytes are more than any {kind} has")
    try:
        found = json.loads(payload, parse_constant=_no_constant)
        _checker(kind)(found)
        _texts(found)
    except (ValueError, RecursionError) as e:  # what the schema refuses is a ValueError too
        raise NotAMessage(f"not a {kind} of version {VERSION}: {str(e)[:200]}") from None
    checked: Document = found
    return checked


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _texts(found: Document) -> None:
    """Lone surrogates and control characters are invalid in names."""
    for name in (found.get("table", ""), *(p.get("name", "") for p in found.get("players", ()))):
        if not name.isprintable() and name:
            raise ValueError("a name has characters that cannot be shown")
    json.dumps(found, ensure_ascii=False).encode()


def semantic_errors(found: Document) -> str:
    """Checks beyond the schema: every player named sits at the table. Empty, or one sentence."""
    seats = len(found["players"])
    named = [found["turn"]["player"], *(f[0] for f in found["board"]["figures"]),
             *(p for s in found["last"] for p in (s["player"], *(q[0] for q in s["points"])))]
    round_ = found.get("round") or {}
    clock = round_.get("clock") or {}
    long = [*round_.get("confirmed", ()), *[False] * (seats - len(round_.get("confirmed", ())))]
    if any(n is not None and n >= seats for n in named) or len(long) > seats or len(clock.get("left_s", ())) > seats \
            or (clock.get("running") or 0) >= seats:
        return "a player is named who does not sit at the table"
    return ""
