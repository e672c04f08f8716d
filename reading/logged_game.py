"""The session's log divided into turns, with what people have pinned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from reading.shapes import shape
from scoring.events import Event, FigurePlaced, GameEnded, TilePlaced, from_json, to_json
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, alive, effective, open_questions
from scoring.state import GameState
from scoring.tiles import Square

CLAIM = "claim"  # the code of the question who claimed what a tile completed


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """An event in force in the log. ``pinned``: a person entered, confirmed or corrected it; ``entered``: a person
    entered it, so its position is theirs too; ``asked``: it is an open question, and ``confidence`` is the probability
    of the event when it was asked; ``changed`` is the number of the newest entry that gave it its place or content."""

    seq: int
    event: Event
    pinned: bool
    asked: bool
    confidence: float = 1.0
    entered: bool = False
    changed: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class LoggedTurn:
    """A tile and everything up to the next one. ``tile`` is None for what precedes the first tile of the log."""

    tile: LoggedEvent | None
    rest: tuple[LoggedEvent, ...] = ()

    @cached_property
    def at(self) -> Square | None:
        return self.tile.event.at if self.tile is not None and isinstance(self.tile.event, TilePlaced) else None

    @property
    def lines(self) -> tuple[LoggedEvent, ...]:
        """All its events, in order."""
        return ((self.tile,) if self.tile else ()) + self.rest

    @property
    def last_seq(self) -> int:
        return self.lines[-1].seq if self.lines else 0

    def figures(self) -> tuple[LoggedEvent, ...]:
        """The figures that the log has on this tile."""
        return self._figures

    @cached_property
    def _figures(self) -> tuple[LoggedEvent, ...]:
        return tuple(line for line in self.rest
                     if isinstance(line.event, FigurePlaced) and line.event.at == self.at)

    @cached_property
    def pinned(self) -> bool:
        """Whether people have settled the tile or a figure on it."""
        return any(line.pinned for line in (*((self.tile,) if self.tile else ()), *self.figures()))

    @cached_property
    def stays(self) -> bool:
        """Whether its position among the turns is settled: by people, or by what else happened in it."""
        return self.tile is None or bool(self.others()) or any(
            line.entered for line in (self.tile, *self.figures()))

    def others(self) -> tuple[LoggedEvent, ...]:
        """Everything else in it: no look says anything about it, and the reader never changes it."""
        mine = self.figures()
        return tuple(line for line in self.rest if line not in mine)


@dataclass(frozen=True, kw_only=True)
class LoggedGame:
    """The log in order. ``denied`` are events that people took back: the reader does not report them again.
    ``denials`` has by event the entry with which they did. ``denied_after`` are those with the number of the entry
    after which each was: of some kinds the same event may well happen in another turn. ``nothing`` are questions of the
    rules of which people said that nothing happened: the numbers of the entries of their tiles, and their codes.
    ``refused`` are those of the denied events of which people said, when the camera asked, that nothing of the kind
    happened, rather than something else, and have not said since that it did. ``nobody`` has for tiles, by their
    entry's number, with which probability the camera says that nobody claimed what they completed, and whether people
    are asked."""

    lines: tuple[LoggedEvent, ...]
    groups: tuple[LoggedTurn, ...]
    denied: frozenset[Event]
    denials: Mapping[Event, int]
    version: int
    denied_after: frozenset[tuple[int, Event]] = frozenset()
    nobody: Mapping[int, tuple[float, bool]] = field(default_factory=dict)
    nothing: frozenset[tuple[int, str]] = frozenset()
    refused: Mapping[Event, int] = field(default_factory=dict)

    def denied_in(self, n: int, event: Event) -> bool:
        """Whether people took this event back where it would belong to that turn (-1: before the first one)."""
        places = {0} if n < 0 else {line.seq for line in self.groups[n].lines}
        return any(e == event and at in places for at, e in self.denied_after)

    def denied_for(self, event: Event, group: LoggedTurn) -> bool:
        """Whether people took the event back when this turn was in the log: in a later one it is another event."""
        return event in self.denied and (group.tile is None or group.tile.seq < self.denials[event])

    def group_at(self, at: Square) -> LoggedTurn | None:
        """The turn whose tile lies there, the newest if there are several."""
        return self._by_square.get(at)

    def span(self, n: int) -> tuple[int, int]:
        """The numbers of the states before and after a turn, among those after each event of the log, preceded by the
        initial one (`reading.log_states`). Turn -1 is before the first one."""
        return self._ends[n] if n > 0 else 0, self._ends[n + 1]

    def newest(self, most: int) -> Iterator[int]:
        """The numbers of the ``most`` newest turns, from the newest one back."""
        return iter(range(len(self.groups) - 1, max(-1, len(self.groups) - 1 - most), -1))

    @cached_property
    def begun(self) -> bool:
        """Whether it has a tile."""
        return any(g.tile is not None for g in self.groups)

    @cached_property
    def ended(self) -> int | None:
        """The number of the entry with which people ended the game; None while it goes on."""
        return next((line.seq for line in self.lines if isinstance(line.event, GameEnded)), None)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        """The number of events before each turn, and of all."""
        return tuple(accumulate((len(g.lines) for g in self.groups), initial=0))

    @cached_property
    def _by_square(self) -> dict[Square, LoggedTurn]:
        return {g.at: g for g in self.groups if g.at is not None}

    @cached_property
    def asked(self) -> tuple[LoggedEvent, ...]:
        return tuple(line for line in self.lines if line.asked)


def logged_game(entries: Sequence[LogEntry],
                states: Callable[[Sequence[Event]], Sequence[GameState]] | None = None) -> LoggedGame:
    """The game that a session's entries amount to. ``states`` gives the initial state and the one after each event;
    without it what people said of claims denies nothing."""
    living = alive(entries)
    entered = {e.seq for e in living if e.source == "hand" and not isinstance(e.body, Amended | Retracted)}
    hand = entered | {e.body.seq for e in living if e.source == "hand" and isinstance(e.body, Amended | Retracted)}
    said = {e.seq: e.body for e in entries}
    bodies = {seq: b.body if hasattr(b, "body") else b for seq, b in said.items()}
    denied: dict[Event, int] = {}  # with the entry that denies it
    denied_after: set[tuple[int, Event]] = set()
    refused: dict[Event, int] = {}
    happened = effective(entries)
    in_force = [seq for seq, _ in happened]
    for e in living:
        if e.source == "hand" and isinstance(e.body, Amended | Retracted):
            said_before = [bodies.get(e.body.seq), *(a.body.body for a in entries if isinstance(a.body, Amended)
                                                     and a.body.seq == e.body.seq and a.seq < e.seq)]
            right = e.body.body if isinstance(e.body, Amended) else None
            wrong = [b for b in said_before if isinstance(b, Event) and b != right]
            denied |= {b: e.seq for b in wrong}
            if right is None and _was_asked(entries, e.body.seq, e.seq):
                refused |= {b: e.seq for b in wrong}
            denied_after |= {(_place(e.body.seq, said, in_force), b) for b in wrong}
    asked = open_questions(entries)
    changed: dict[int, int] = {}
    now = dict[int, object]()
    for e in living:
        if isinstance(e.body, Amended):
            if now.get(e.body.seq, bodies.get(e.body.seq)) != e.body.body:
                changed[e.body.seq] = e.seq
            now[e.body.seq] = e.body.body
    likely = {e.body.seq if isinstance(e.body, Amended) else e.seq: e.confidence for e in living if e.asked}
    lines = tuple(LoggedEvent(seq=seq, event=event, pinned=seq in hand, asked=seq in asked,
                       confidence=likely.get(seq, 1.0) if seq in asked else 1.0, entered=seq in entered,
                       changed=changed.get(seq, seq))
                  for seq, event in happened)
    settled = [(e, e.body.seq, e.body.code) for e in living if isinstance(e.body, Settled)]
    nothing = frozenset((tile, code) for e, tile, code in settled if e.source == "hand")
    unclaimed = {tile: e.seq for e, tile, code in settled if e.source == "hand" and code == CLAIM}
    nobody = {tile: (e.confidence, e.asked) for e, tile, code in settled if e.source != "hand" and code == CLAIM}
    after = states([line.event for line in lines])[1:] if unclaimed and states is not None else ()
    for line, state in zip(lines, after, strict=False):
        if line.seq in unclaimed:  # nobody claimed what it completed; the rest of the tile was not asked about
            denied |= {replace(a, figure=""): unclaimed[line.seq] for q in state.box.questions(state)
                       if q.code == CLAIM for a in q.answers if isinstance(a, FigurePlaced)}
    holds = frozenset(d for d, seq in denied.items() if not any(
        _same(line.event, d) and (line.seq > seq or isinstance(d, TilePlaced | FigurePlaced)) for line in lines))
    refused = {b: seq for b, seq in refused.items() if not any(line.event == b and line.seq > seq for line in lines)}
    return LoggedGame(lines=lines, groups=_groups(lines), denied=holds, denials=denied, version=len(entries),
                      denied_after=frozenset(denied_after), nobody=nobody, nothing=nothing, refused=refused)


def _was_asked(entries: Sequence[LogEntry], seq: int, until: int) -> bool:
    """Whether an entry was an open question before the entry ``until``."""
    about = [e for e in entries if e.seq < until and seq == (e.body.seq if isinstance(e.body, Amended) else e.seq)]
    return bool(about) and about[-1].asked


def _place(seq: int, said: Mapping[int, Body], in_force: Sequence[int]) -> int:
    """The entry after which one is or was."""
    body = said.get(seq)
    if isinstance(body, Inserted):
        return body.after
    return max((s for s in in_force if s < seq and not isinstance(said.get(s), Inserted)), default=0)


def denies(denied: Collection[Event], event: Event | None) -> bool:
    """Whether people have taken back what an event says."""
    return event is not None and any(_same(event, d) for d in denied)


def _same(event: Event, denied: Event) -> bool:
    """Whether an event says what somebody took back: the same tile, whoever laid it; the player's figure, wherever on
    the tile it stands; any figure of the player's (``figure`` is empty) on the same feature."""
    if isinstance(event, TilePlaced) and isinstance(denied, TilePlaced):
        return event.at == denied.at and shape(event.tile, event.rot) == shape(denied.tile, denied.rot)
    if isinstance(event, FigurePlaced) and isinstance(denied, FigurePlaced):
        there = denied.figure or (event.feature, event.where) == (denied.feature, denied.where)
        return bool(there) and (event.at, event.player) == (denied.at, denied.player)
    return event == denied


def _groups(lines: Sequence[LoggedEvent]) -> tuple[LoggedTurn, ...]:
    out: list[LoggedTurn] = []
    tile: LoggedEvent | None = None
    rest: list[LoggedEvent] = []
    for line in lines:
        if isinstance(line.event, TilePlaced):
            if tile is not None or rest:
                out.append(LoggedTurn(tile=tile, rest=tuple(rest)))
            tile, rest = line, []
        else:
            rest.append(line)
    if tile is not None or rest:
        out.append(LoggedTurn(tile=tile, rest=tuple(rest)))
    return tuple(out)


def same_tile(a: Event | None, b: Event | None) -> bool:
    """Whether two tile events are equal to the rules: shape, square and player."""
    if not isinstance(a, TilePlaced) or not isinstance(b, TilePlaced):
        return a == b
    return (a.at, a.player) == (b.at, b.player) and shape(a.tile, a.rot) == shape(b.tile, b.rot)


def by(event: Event, player: int) -> Event:
    """The same move by the player of the tile that it precedes, say."""
    return event if getattr(event, "player", player) == player else from_json({**to_json(event), "player": player})
