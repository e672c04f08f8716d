"""The log of a table: what was seen or said, and corrections to it. The game is a fold over what the log comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.engine import new_game, step
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, Setup, from_json, to_json
from scoring.state import GameState


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """Entry ``seq`` never happened."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amended:
    """What entry ``seq`` should have said."""

    seq: int
    body: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """An event that was missed: it happened right after entry ``after`` (0: before everything)."""

    after: int
    body: Event


Body = Event | Retracted | Amended | Inserted


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log. ``seq`` counts from 1; ``source`` is ``camera`` or ``hand``; ``at_s`` is the wall clock."""

    seq: int
    body: Body
    at_s: float = 0.0
    source: str = "hand"
    confidence: float = 1.0
    asked: bool = False
    frame: int | None = None
    who: str = ""


def entry_to_json(entry: LogEntry) -> dict[str, Any]:
    """The entry as JSON-ready data; `entry_from_json` is its inverse."""
    match entry.body:
        case Retracted(seq=seq):
            body: dict[str, Any] = {"do": "retract", "seq": seq}
        case Amended(seq=seq, body=event):
            body = {"do": "amend", "seq": seq, "body": to_json(event)}
        case Inserted(after=after, body=event):
            body = {"do": "insert", "after": after, "body": to_json(event)}
        case event:
            body = to_json(event)
    return {"seq": entry.seq, "at_s": entry.at_s, "source": entry.source, "confidence": entry.confidence,
            "asked": entry.asked, "frame": entry.frame, "who": entry.who, "body": body}


def body_from_json(data: object) -> Body:
    """An event or a correction. Raises InvalidNotation."""
    if not isinstance(data, Mapping):
        raise InvalidNotation("a log entry's body must be an object")
    do = data.get("do")
    if do in ("retract", "amend", "insert"):
        key = "after" if do == "insert" else "seq"
        target = data.get(key)
        if type(target) is not int or target < 0:
            raise InvalidNotation(f"{key}: must be the number of an entry")
        if do == "retract":
            return Retracted(seq=target)
        event = from_json(data.get("body"))
        return Amended(seq=target, body=event) if do == "amend" else Inserted(after=target, body=event)
    return from_json(data)


def entry_from_json(data: Mapping[str, Any]) -> LogEntry:
    """The entry that `entry_to_json` wrote. Raises InvalidNotation."""
    try:
        return LogEntry(seq=int(data["seq"]), body=body_from_json(data["body"]), at_s=float(data["at_s"]),
                        source=str(data["source"]), confidence=float(data["confidence"]), asked=bool(data["asked"]),
                        frame=data.get("frame"), who=str(data.get("who", "")))
    except (KeyError, TypeError, ValueError) as e:
        raise InvalidNotation(f"log entry: {e}") from e


def effective(entries: Iterable[LogEntry]) -> tuple[tuple[int, Event], ...]:
    """What happened after all corrections, in order, each event with the number of the entry that brought it in.

    An amended or retracted entry can be corrected again; a correction of a correction is one of what it brought in.
    """
    order: list[int] = []
    bodies: dict[int, Event | None] = {}
    for entry in entries:
        match entry.body:
            case Retracted(seq=seq):
                if seq in bodies:
                    bodies[seq] = None
            case Amended(seq=seq, body=event):
                if seq in bodies:
                    bodies[seq] = event
            case Inserted(after=after, body=event):
                order.insert(order.index(after) + 1 if after in bodies else 0, entry.seq)
                bodies[entry.seq] = event
            case happened:
                order.append(entry.seq)
                bodies[entry.seq] = happened
    return tuple((seq, left) for seq in order if (left := bodies[seq]) is not None)


def state_of(setup: Setup, entries: Iterable[LogEntry]) -> GameState:
    """The game that the log comes to. An event that has become impossible stays in the log and changes nothing."""
    state = new_game(setup)
    for _, event in effective(entries):
        try:
            state = step(state, event)
        except IllegalMove:
            continue
    return state
