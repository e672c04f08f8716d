"""A whole game replayed from its looks: the log as the session would write it, and how it compares with the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from bastide.table.moving import moved_figure
from reading.alignment import Alignment
from reading.claims import CLAIM
from reading.game import Decisions, GameReader
from reading.policy import Decision
from reading.shapes import shape
from scoring.engine import fold
from scoring.events import Event, FigurePlaced, GameEnded, Setup, TilePlaced
from scoring.log import Amended, Inserted, LogEntry, Retracted, Settled, effective, open_questions
from scoring.tiles import Square, turn, where_of
from vision.looks import TableLook


@dataclass
class Book:
    """The log of a session, without disk or page: what `TableSession.commit` writes."""

    entries: list[LogEntry] = field(default_factory=list)
    questions: int = 0
    asked_of: set[int] = field(default_factory=set)

    def commit(self, d: Decision) -> None:
        if d.settles is not None:  # what the session asks of it is not counted here
            return self._add(Settled(seq=d.settles, code=CLAIM), "camera", d.confidence, d.asked)
        known = dict(effective(self.entries))
        bodies: list[object] = list(d.events)
        if d.replaces is not None:
            old = known.get(d.replaces)
            if old is None or d.replaces in self.hand():
                return
            if d.events:
                bodies = [Amended(seq=d.replaces, body=d.events[0]), *self._moved(old, d.events[0])]
            else:
                bodies = [Retracted(seq=d.replaces)]
        elif d.after is not None:
            bodies = [Inserted(after=d.after, body=e) for e in d.events]
        target = d.replaces if d.replaces is not None else len(self.entries) + 1
        for body in bodies:
            self._add(body, "camera", d.confidence, d.asked)
        if d.asked:
            self.questions += target not in self.asked_of
            self.asked_of.add(target)

    def say(self, body: object) -> None:
        """A person's entry."""
        self._add(body, "hand", 1.0, False)

    def answer(self, truth: Iterable[Event]) -> None:
        """A person answers every open question, and right."""
        events = list(truth)
        true: dict[tuple[type, Square], Event] = {(type(e), e.at): e for e in events}  # type: ignore[attr-defined]
        for seq in sorted(open_questions(self.entries)):
            event = dict(effective(self.entries)).get(seq)
            if isinstance(event, TilePlaced | FigurePlaced):
                right = true.get((type(event), event.at))
                self.say(Retracted(seq=seq) if right is None else Amended(seq=seq, body=right))
                for moved in self._moved(event, right):
                    self.say(moved)

    def _moved(self, old: Event, new: Event | None) -> list[Amended]:
        """The figures on a tile that is replaced by another one, as the session moves them."""
        out = []
        for seq, event in effective(self.entries):
            if isinstance(old, TilePlaced) and isinstance(new, TilePlaced) and isinstance(event, FigurePlaced) \
                    and event.at == old.at and (moved := moved_figure(event, old, new)) != event:
                out.append(Amended(seq=seq, body=moved))
        return out

    def hand(self) -> set[int]:
        return {e.body.seq if isinstance(e.body, Amended | Retracted) else e.seq
                for e in self.entries if e.source == "hand"}

    def _add(self, body: object, source: str, confidence: float, asked: bool) -> None:
        self.entries.append(LogEntry(seq=len(self.entries) + 1, body=body, source=source,  # type: ignore[arg-type]
                                     confidence=confidence, asked=asked))

    def events(self) -> tuple[Event, ...]:
        return tuple(e for _, e in effective(self.entries))


@dataclass
class Replayed:
    """What a replay came to."""

    book: Book
    last: Decisions
    seconds: float
    looks: int
    slowest_s: float
    notices: set[object]


Each = Callable[[Book, Decisions, TableLook], None]


def replay(setup: Setup, looks: Iterable[TableLook], *, each: Each | None = None,
           reader: GameReader | None = None, book: Book | None = None, answers: Iterable[Event] = ()) -> Replayed:
    """Feed looks, commit what is decided; ``each`` is called after every look. With ``answers`` (what truly happened,
    in the log's squares) somebody answers every question at once."""
    true = list(answers)
    book, reader = book or Book(), reader or GameReader(setup)
    spent = slowest = 0.0
    told, count, noticed = Decisions(), 0, set()
    for look in looks:
        aligned_by_start = time.perf_counter()
        told = reader.look(look, book.entries)
        took = time.perf_counter() - aligned_by_start
        spent, slowest, count = spent + took, max(slowest, took), count + 1
        for d in told.decisions:
            book.commit(d)
        if true:
            book.answer(true)
        noticed |= set(told.notices)
        if each is not None:
            each(book, told, look)
    for _ in range(20):
        told = reader.finish(book.entries)
        for d in told.decisions:
            book.commit(d)
        if not told.decisions:
            break
    if true:
        book.answer(true)
    return Replayed(book=book, last=told, seconds=spent, looks=count, slowest_s=slowest, notices=noticed)


@dataclass
class Verdict:
    tiles: int = 0
    tiles_right: int = 0
    players_right: int = 0
    figures: int = 0
    figures_right: int = 0
    unseen: int = 0
    extra: int = 0
    asked: int = 0
    silent: list[str] = field(default_factory=list)
    scores: bool = False

    def line(self) -> str:
        return (f"tiles {self.tiles_right}/{self.tiles} players {self.players_right} figures {self.figures_right}/"
                f"{self.figures} (unseen {self.unseen}) extra {self.extra} asked {self.asked} "
                f"silent {len(self.silent)} totals {'equal' if self.scores else 'differ'}")


def aligned(truth: Iterable[Event], got: Iterable[Event], setup: Setup) -> list[Event]:
    """The truth turned and shifted so that most tiles agree: a table has no north."""
    events = list(truth)
    mine = {e.at: (e.tile, e.rot) for e in got if isinstance(e, TilePlaced)}
    best: tuple[int, list[Event]] = (-1, events)
    for turns in range(4):
        votes: Counter[Square] = Counter()
        alignment = Alignment(turns=turns)
        for e in events:
            if isinstance(e, TilePlaced):
                x, y = alignment.square(e.at)
                for (gx, gy), reading in mine.items():
                    if shape(*reading) == shape(e.tile, e.rot + turns):
                        votes[gx - x, gy - y] += 1
        for shift, n in votes.most_common(1):
            if n > best[0]:
                best = n, [_turned(e, Alignment(turns=turns, shift=shift)) for e in events]
    return best[1]


def _turned(event: Event, alignment: Alignment) -> Event:
    if isinstance(event, TilePlaced):
        return replace(event, at=alignment.square(event.at), rot=(event.rot + alignment.turns) % 4)
    if isinstance(event, FigurePlaced):
        atoms = [] if event.where == "I" else event.where.split()
        return replace(event, at=alignment.square(event.at), where=where_of(turn(a, alignment.turns) for a in atoms))
    return event


def judge(setup: Setup, truth: Iterable[Event], book: Book, shown: set[Square] | None = None) -> Verdict:
    """Hold a log against what happened. A tile is right by its shape, a figure by everything. What is not among the
    ``shown`` figures may be missing: nobody could see it."""
    truth = list(truth)
    got = list(effective(book.entries))
    true = aligned(truth, [e for _, e in got], setup)
    asked = {e.at for seq, e in got if seq in open_questions(book.entries)}  # type: ignore[attr-defined]
    asked |= {e.at for seq, e in got if seq in book.asked_of}  # type: ignore[attr-defined]
    v = Verdict(asked=book.questions)
    tiles: dict[Square, TilePlaced] = {e.at: e for _, e in got if isinstance(e, TilePlaced)}
    figures: dict[Square, FigurePlaced] = {e.at: e for _, e in got if isinstance(e, FigurePlaced)}
    true_tiles = {e.at: e for e in true if isinstance(e, TilePlaced)}
    true_figures = {e.at: e for e in true if isinstance(e, FigurePlaced)}
    for at, e in true_tiles.items():
        v.tiles += 1
        mine = tiles.get(at)
        right = mine is not None and shape(mine.tile, mine.rot) == shape(e.tile, e.rot)
        v.tiles_right += right
        v.players_right += mine is not None and mine.player == e.player
        same = figures.get(at) == true_figures.get(at)
        unseen = shown is not None and at not in shown and at not in figures
        v.figures += at in true_figures
        v.unseen += unseen and at in true_figures
        v.figures_right += same and at in true_figures
        if not (right and (same or unseen)) and at not in asked:
            v.silent.append(f"{e} {true_figures.get(at)} read {mine} {figures.get(at)}")
    for at in tiles.keys() - true_tiles.keys():
        v.extra += 1
        if at not in asked:
            v.silent.append(f"extra {tiles[at]}")
    ends = [fold(setup, [*events, GameEnded()]) for events in ([e for _, e in got], list(truth))]
    v.scores = ends[0].scores == ends[1].scores
    return v
