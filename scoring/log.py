"""The log of a table: observations, manual entries and corrections. The game is a fold over the effective events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from scoring.engine import apply, new_game
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, MoveJson, Setup, from_json, to_json
from scoring.state import Draft, GameState


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """Withdraws entry ``seq``. Retracting a correction restores what it corrected."""

    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amended:
    """Replaces the event of entry ``seq``."""

    seq: int
    body: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """A missed event, which happened right after entry ``after`` (0: before everything)."""

    after: int
    body: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The answer to the question ``code`` about entry ``seq`` is that nothing is missing. People said so, or the camera
    with the entry's confidence; with ``asked`` people are to be asked nevertheless."""

    seq: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Placeholder for an entry lost to a storage fault. It keeps its number, so that an amendment can
    restore it."""


Body = Event | Retracted | Amended | Inserted | Settled | Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One entry of the log. ``seq`` counts from 1; ``source`` is ``camera`` or ``hand``; ``at_s`` the wall clock."""

    seq: int
    body: Body
    at_s: float = 0.0
    source: str = "hand"
    confidence: float = 1.0
    asked: bool = False
    frame: int | None = None
    who: str = ""


class EntryJson(TypedDict):
    """An entry as stored on disk; ``body`` is an event, or a correction with the number of the corrected entry."""

    seq: int
    at_s: float
    source: str
    confidence: float
    asked: bool
    frame: int | None
    who: str
    body: MoveJson


def entry_to_json(entry: LogEntry) -> EntryJson:
    """The entry as JSON-ready data; `entry_from_json` is its inverse."""
    match entry.body:
        case Retracted(seq=seq):
            body: MoveJson = {"do": "retract", "seq": seq}
        case Amended(seq=seq, body=event):
            body = {"do": "amend", "seq": seq, "body": to_json(event)}
        case Inserted(after=after, body=event):
            body = {"do": "insert", "after": after, "body": to_json(event)}
        case Settled(seq=seq, code=code):
            body = {"do": "settle", "seq": seq, "code": code}
        case Unread():
            body = {"do": "unread"}
        case event:
            body = to_json(event)
    return {"seq": entry.seq, "at_s": entry.at_s, "source": entry.source, "confidence": entry.confidence,
            "asked": entry.asked, "frame": entry.frame, "who": entry.who, "body": body}


def body_from_json(data: object) -> Body:
    """An event or a correction. Raises InvalidNotation."""
    if not isinstance(data, Mapping):
        raise InvalidNotation("a log entry's body must be an object")
    do = data.get("do")
    if do == "unread":
        return Unread()
    if do in ("retract", "amend", "insert", "settle"):
        key = "after" if do == "insert" else "seq"
        target = data.get(key)
        if type(target) is not int or target < 0:
            raise InvalidNotation(f"{key}: must be the number of an entry")
        if do == "retract":
            return Retracted(seq=target)
        if do == "settle":
            return Settled(seq=target, code=str(data.get("code", "")))
        event = from_json(data.get("body"))
        return Amended(seq=target, body=event) if do == "amend" else Inserted(after=target, body=event)
    return from_json(data)


def entry_from_json(data: Mapping[str, object]) -> LogEntry:
    """The entry that `entry_to_json` wrote. Raises InvalidNotation."""
    try:
        seq, at_s, confidence, frame = data["seq"], data["at_s"], data["confidence"], data.get("frame")
        body, source, asked = body_from_json(data["body"]), str(data["source"]), bool(data["asked"])
    except KeyError as e:
        raise InvalidNotation(f"log entry: {e}") from e
    if not isinstance(seq, int) or not isinstance(at_s, int | float) or not isinstance(confidence, int | float) \
            or not isinstance(frame, int | None):
        raise InvalidNotation("log entry: seq, at_s, confidence and frame must be numbers")
    return LogEntry(seq=seq, body=body, at_s=float(at_s), source=source, confidence=float(confidence), asked=asked,
                    frame=frame, who=str(data.get("who", "")))


def effective(entries: Iterable[LogEntry]) -> tuple[tuple[int, Event], ...]:
    """The events after all corrections, in order, each with the number of the entry that introduced it.

    Corrections can be corrected: a retracted retraction, amendment or insertion has no effect, an amended one has its
    new content. Corrections of entries that do not exist are ignored.
    """
    return tuple((seq, event) for seq, event in with_gaps(entries) if event is not None)


def with_gaps(entries: Iterable[LogEntry]) -> tuple[tuple[int, Event | None], ...]:
    """Like `effective`, with None for each lost entry that was neither amended nor retracted."""
    lines = tuple(entries)
    dead: set[int] = set()
    for entry in reversed(lines):
        if isinstance(entry.body, Retracted) and entry.seq not in dead:
            dead.add(entry.body.seq)
    order: list[int] = []
    said: dict[int, Event | None] = {}
    of: dict[int, int] = {}  # the entry that an amendment applies to, resolved through amendments of amendments
    for entry in lines:
        match entry.body:
            case Retracted() | Settled():
                continue
            case Amended(seq=seq, body=event):
                target = of.get(seq, seq)
                of[entry.seq] = target
                if target in said and entry.seq not in dead:
                    said[target] = event
            case Inserted(after=after, body=event):
                after = of.get(after, after)
                order.insert(order.index(after) + 1 if after in said else 0, entry.seq)
                said[entry.seq] = event
            case Unread():
                order.append(entry.seq)
                said[entry.seq] = None
            case happened:
                order.append(entry.seq)
                said[entry.seq] = happened
    return tuple((seq, said[seq]) for seq in order if seq not in dead)


def alive(entries: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
    """The entries that are not retracted; a retraction that was itself retracted has no effect."""
    dead: set[int] = set()
    for e in reversed(entries):
        if isinstance(e.body, Retracted) and e.seq not in dead:
            dead.add(e.body.seq)
    return tuple(e for e in entries if e.seq not in dead)


def open_questions(entries: Sequence[LogEntry]) -> frozenset[int]:
    """Entries with a question that neither a person nor a later, more certain reading has settled."""
    asked: set[int] = set()
    for e in alive(entries):
        corrects = isinstance(e.body, Amended | Retracted)
        target = e.body.seq if isinstance(e.body, Amended | Retracted) else e.seq
        if e.asked and e.source != "hand" and not isinstance(e.body, Settled):  # that has a question of its own
            asked.add(target)
        elif corrects:
            asked.discard(target)
    return frozenset(asked)


def settled(entries: Sequence[LogEntry]) -> frozenset[tuple[int, str]]:
    """The (entry, question code) pairs that a person answered with "nothing is missing"."""
    return frozenset((e.body.seq, e.body.code) for e in alive(entries)
                     if isinstance(e.body, Settled) and e.source == "hand")


def state_of(setup: Setup, entries: Iterable[LogEntry]) -> GameState:
    """The game of the log. An event without a meaning stays in the log and is reported as an issue."""
    d = Draft(new_game(setup))
    for seq, event in effective(entries):
        try:
            apply(d, event)
        except IllegalMove as e:
            d.issue("impossible", f"Entry {seq} of the log means nothing in this game: {e}.")
            d.happened.append(d.turn)
    return d.freeze()
