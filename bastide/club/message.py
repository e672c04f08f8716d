"""The broker's messages: topics, and documents by the schemas beside this file.

A state describes the whole table in 1 to 6 kB. It is made from the view of the table's own page, without what the aid
level hides from the players.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, cast, overload

import fastjsonschema

from bastide.club.documents import Command, Happened, PlayerState, Score, State
from scoring.views import FigureView, PlayerView, ScoreView, TileView
from web.protocol import View
from web.reveal import revealed, untold
from web.views import RoundView

VERSION = 1
ROOT = "bastide"
LARGEST = 65_536  # bytes; larger messages are ignored; a state of 200 tiles is below 8,000
LAST = 5  # most recent scores in a state
LONGEST_NAME = 60
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


def state(view: View, sender: Sender, *, at_s: float, commands: bool = False,
          game_round: RoundView | None = None) -> State:
    """The published state of a table's view."""
    aid = view["aid"]
    open_ = aid != HIDING or view["phase"] == "over"
    made: State = {
        "v": VERSION, "table": sender.table, "device": sender.device, "epoch": sender.epoch,
        "rev": view["update"], "game": view["game"], "at": round(at_s, 1),
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
        made["round"] = game_round
    return made


def published(view: View) -> View:
    """The view for other machines: a game is over only when its result has been revealed."""
    return {**revealed(view), "phase": "playing"} if untold(view) else view


def _player(p: PlayerView, open_: bool) -> PlayerState:
    made: PlayerState = {"name": p["name"][:LONGEST_NAME], "colour": p["colour"], "score": p["score"],
                      "figures": dict(p["supply"])}
    if p["uncertain"]:
        made["uncertain"] = True
    if open_:
        made["projected"] = p["projected"]
    return made


def _in_order(tiles: Sequence[TileView]) -> list[TileView]:
    """In the order of laying; the last tile is at the end, where renderers expect it."""
    return sorted(tiles, key=lambda t: bool(t["last"]))


def _figure(f: FigureView) -> list[int | float | str]:
    x, y = f["spot"]
    return [f["player"], f["figure"], *f["at"], f["feature"], f["where"] or "", round(x, 1), round(y, 1), f["lying"]]


def score(row: ScoreView) -> Score:
    """A line of the feed: the points, and the calculation."""
    return {"turn": row["turn"], "player": row["player"], "reason": row["reason"],
            "points": [[p["player"], p["points"]] for p in row["points"]], "formula": str(row["formula"])[:300]}


def events(before: View | None, view: View, sender: Sender) -> list[Happened]:
    """The events between two views; none before the first one."""
    if before is None or before["update"] >= view["update"]:
        return []

    def said(kind: Literal["score", "corrected", "begun", "over"]) -> Happened:
        return {"v": VERSION, "table": sender.table, "device": sender.device, "epoch": sender.epoch,
                "rev": view["update"], "game": view["game"], "kind": kind}

    if before["game"] != view["game"]:
        return [said("begun")]
    old, new = before["feed"], view["feed"]
    told: list[Happened] = []
    if new[:len(old)] == old:
        told = [{**said("score"), "score": score(row)} for row in new[len(old):]]
    elif old != new:
        told = [said("corrected")]
    if view["phase"] == "over" != before["phase"]:
        told.append(said("over"))
    return told


def packed(document: State | Happened | Command) -> bytes:
    """A serialised document."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


@cache
def schema(kind: str) -> dict[str, object]:
    """The schema of ``state``, ``event`` or ``command`` messages."""
    text = (Path(__file__).parent / f"{kind}-{VERSION}.schema.json").read_text("utf-8")
    found: dict[str, object] = json.loads(text)
    return found


@cache
def _checker(kind: str) -> Callable[[object], object]:
    made: Callable[[object], object] = fastjsonschema.compile(schema(kind))
    return made


@overload
def unpacked(kind: Literal["state"], payload: bytes) -> State: ...
@overload
def unpacked(kind: Literal["event"], payload: bytes) -> Happened: ...
@overload
def unpacked(kind: Literal["command"], payload: bytes) -> Command: ...
def unpacked(kind: Literal["state", "event", "command"], payload: bytes) -> State | Happened | Command:
    """A message from another machine. Raises NotAMessage for anything that the schema does not allow."""
    if len(payload) > LARGEST:
        raise NotAMessage(f"{len(payload)} bytes are more than any {kind} has")
    try:
        found = json.loads(payload, parse_constant=_no_constant)
        _checker(kind)(found)
        _texts(found)
    except (ValueError, RecursionError) as e:  # schema violations are ValueErrors too
        raise NotAMessage(f"not a {kind} of version {VERSION}: {str(e)[:200]}") from None
    return cast(State | Happened | Command, found)  # validated by the schema


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _texts(found: Mapping[str, object]) -> None:
    """Lone surrogates and control characters are invalid in names."""
    players = found.get("players")
    named = [found, *(players if isinstance(players, list) else ())]
    if not all(str(of.get("table", of.get("name", ""))).isprintable() for of in named):
        raise ValueError("a name has characters that cannot be shown")
    json.dumps(found, ensure_ascii=False).encode()


def semantic_errors(found: State) -> str:
    """Checks beyond the schema: every player named sits at the table. Empty, or one sentence."""
    seats = len(found["players"])
    named = [found["turn"]["player"], *(f[0] for f in found["board"]["figures"] if isinstance(f[0], int)),
             *(p for s in found["last"] for p in (s["player"], *(q[0] for q in s["points"])))]
    if (round_ := found.get("round")) is not None:
        clock = round_.get("clock")
        named += [len(round_["confirmed"]) - 1, *((len(clock["left_s"]) - 1, clock["running"]) if clock else ())]
    if any(n is not None and n >= seats for n in named):
        return "a player is named who does not sit at the table"
    return ""
