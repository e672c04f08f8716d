"""What to report of the histories: events, amendments, questions.

Every decision is a difference between the best history and the log, computed anew at every look. So what was reported
and could not be saved is reported again, and what people insert or amend changes what follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reading.belief import TableBelief
from reading.comparing import alternatives, as_logged, in_order, margins, owner_margin
from reading.evidence import glimpsed
from reading.histories import History
from reading.layings import Turn
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, same_tile
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.tiles import Square
from vision.looks import probability

Options = tuple[tuple[tuple[Event, ...], float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Something to put into the log. ``events`` are appended; with ``after`` (an entry's number; 0: before everything)
    they are inserted right after that entry; with ``replaces`` they amend that entry, or retract it if there are none.
    ``alternatives`` are the possible readings with their probabilities, the likeliest first, and last that nothing
    happened; ``at`` is the square it was read from, ``frame`` the look's frame. With ``settles`` (a tile's entry) there
    are no events: with the ``confidence`` nobody claimed what that tile completed (`reading.claims`). ``beside`` is the
    place that it was read from if that is beside the board, as `vision.looks.BesideLook.at`."""

    events: tuple[Event, ...]
    confidence: float
    asked: bool
    alternatives: Options
    at: Square
    frame: int
    replaces: int | None = None
    after: int | None = None
    settles: int | None = None
    beside: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An event of the best history that the log does not have yet."""

    event: Event
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a decision is made: the look's frame and time in seconds, and whether it is the last one."""

    frame: int
    t_s: float
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """An uncertain event that may be asked about. ``gain`` is the value of the answer: the entropy of the alternatives
    in nats, scaled by the points at stake; ``due``: further looks will hardly help. ``along`` are squares whose tiles
    are in doubt for the same reason: an answer about one of them settles it."""

    decision: Decision
    gain: float
    due: bool
    along: frozenset[Square] = frozenset()


def decisions(belief: TableBelief, histories: Sequence[History], told: LoggedGame, before: int, now: Moment,
              carried: Mapping[int, Doubt], unexplained: Sequence[Doubt],
              effect: Callable[[Event | None, Event | None], float],
              pending: Callable[[Doubt], bool] = lambda _: False,
              ) -> tuple[tuple[Decision, ...], tuple[Shown, ...], dict[int, Doubt]]:
    """What to report now, what is only shown, and the remaining doubts about the log by their entry's number.

    ``before`` is the number of the log's last entry before the window, ``carried`` are the previous doubts,
    ``unexplained`` those that no history explains, ``effect`` says how many points depend on which of two events
    happened, and ``pending`` which doubts looks at something else may still settle.
    """
    best = _reference(histories, told)
    out: list[Decision] = list(_out_of_order(best, now))
    moved = {d.at for d in out}
    open_ = {d.decision.replaces for d in unexplained}  # asked about already, although no history has it
    shown: list[Shown] = []
    doubts: list[Doubt] = []
    last_seq, held = before, False
    for n, turn in enumerate(best.turns):
        if turn.replayed:
            last_seq = turn.group.last_seq if turn.group is not None else last_seq
            continue
        later = _later(belief, best.turns[n + 1:], now)
        inserted = any(t.group is not None for t in best.turns[n + 1:])
        tile, figure = margins(histories, best, turn)
        waits = _Waits(turn=turn, belief=belief, now=now, later=later)
        if turn.at in moved and turn.group is not None:
            continue
        if turn.group is None:
            assert turn.tile is not None and turn.at is not None
            held = held or not waits.enough(min(tile, _order(histories, turn)))
            if held:
                waiting = (turn.tile, tile), (turn.figure, figure)
                shown += [Shown(event=e, confidence=probability(m)) for e, m in waiting if e is not None]
                continue
            asked = tile < LIMITS.agreed and now.last
            out.append(_decision(histories, turn, tile, now, asked=asked, after=last_seq if inserted else None))
            if turn.figure is not None and not inserted and waits.enough(figure, figure=True):
                asked = figure < LIMITS.agreed and now.last
                out.append(_decision(histories, turn, figure, now, figure=True, asked=asked))
            elif turn.figure is not None:
                shown.append(Shown(event=turn.figure, confidence=probability(figure)))
            continue
        for kind in _compared(turn, tile, figure, histories, best, waits, inserted, now):
            if isinstance(kind, Decision):
                out += [kind] if kind.events or kind.replaces not in open_ else []
            elif isinstance(kind, Doubt):
                doubts.append(kind)
            else:
                shown.append(kind)
        last_seq = turn.group.last_seq or last_seq
    out += _taken_up(best, histories, told, now)
    informed = {d.decision.replaces: d for d in unexplained if about_tile(d.decision)}  # by more than its looks
    out = [d for d in out if d.replaces not in informed or d.events != informed[d.replaces].decision.events]
    changed = {d.replaces for d in out}
    already = {line.seq for line in told.lines if line.asked}
    weighed = {line.seq for t in best.turns if t.group is not None and t.tile is not None and not t.replayed
               for line in ((t.group.tile,) if t.group.tile else ()) + t.group.figures()}
    known = {line.seq: line for line in told.lines if not line.pinned and not line.asked}
    said = {line.event.at for line in told.lines if line.pinned and isinstance(line.event, TilePlaced)}
    ordered = {g.at for g in told.groups[:-LIMITS.open_turns] if g.at is not None}  # their order is no longer weighed
    kept = {seq: d for seq, d in carried.items()
            if seq in known and (seq not in weighed or d.along and {d.decision.at, *d.along} & ordered)
            and d.decision.events == (known[seq].event,) and not d.along & said}
    kept |= {d.decision.replaces: d for d in doubts if d.decision.replaces is not None and d.decision.replaces in known}
    spoken = {d.at for d in out} | {s.event.at for s in shown if isinstance(s.event, TilePlaced | FigurePlaced)}
    doubted = {o.decision.at for o in doubts}
    others = [d for d in unexplained if d.decision.at not in spoken
              and (d.decision.at not in doubted or not isinstance(_two(d.decision)[0], TilePlaced | FigurePlaced))]
    free = [d for d in (*(informed.get(seq, d) for seq, d in kept.items()),
                        *(d for d in doubts if d.decision.replaces is None), *others)
            if (d.due and not pending(d) or now.last) and d.decision.replaces not in changed | already]
    if not now.last and any(line.asked for line in told.lines if line.seq not in changed):
        free = []  # one question at a time
    if len(free) > 1 and not now.last:
        free = [replace(d, gain=d.gain * (1.0 + effect(*_two(d.decision)))) for d in free]
    free = sorted(_tiles_first(free), key=lambda d: (-d.gain, d.decision.at))
    out += [d.decision for d in (free if now.last else free[:1])]
    return tuple(_inserts_last_first(out)), tuple(shown), kept


def _reference(histories: Sequence[History], told: LoggedGame) -> History:
    """The history that is reported: the likeliest, unless one that keeps the log (or its order) is nearly as likely."""
    best = histories[0]
    for keeps in (as_logged, in_order):
        if keeps(best) and not _takes_up(best, told):
            return best
        other = next((h for h in histories if keeps(h) and not _takes_up(h, told)), None)
        if other is not None and best.score - other.score < LIMITS.amend:
            return other
    return best


def _takes_up(h: History, told: LoggedGame) -> bool:
    return any(told.group_at(at) is not None for at in h.dropped)


def _out_of_order(best: History, now: Moment) -> Iterator[Decision]:
    """Retracts turns that are in the wrong position; they are reported again where they belong."""
    if in_order(best):
        return
    turns = [t for t in best.turns if t.group is not None]
    stays = {t.index for t in _in_place(turns)}
    for turn in turns:
        if turn.group is None or turn.index in stays:
            continue
        assert turn.group.tile is not None and turn.at is not None
        for line in (*reversed(turn.group.figures()), turn.group.tile):
            yield Decision(events=(), confidence=0.9, asked=False, alternatives=(), at=turn.at, frame=now.frame,
                           replaces=line.seq)


def _in_place(turns: Sequence[Turn]) -> list[Turn]:
    """The longest subsequence of logged turns, given in the order in which they happened, that the log has in the same
    order. Turns that people have settled are always in it: they are never retracted."""
    ending: list[tuple[float, list[Turn]]] = []  # the best that ends with each turn
    for n, turn in enumerate(turns):
        before = max((e for e, earlier in zip(ending, turns[:n], strict=True) if earlier.index < turn.index),
                     key=lambda e: e[0], default=(0.0, []))
        worth = len(turns) + 1.0 if turn.group is not None and turn.group.pinned else 1.0
        ending.append((before[0] + worth, [*before[1], turn]))
    return max(ending, key=lambda e: e[0], default=(0.0, []))[1]


def _inserts_last_first(out: Sequence[Decision]) -> Iterator[Decision]:
    """Reverses the insertions: each goes right after its entry, so those after the same entry must come last first."""
    yield from (d for d in out if d.after is None)
    yield from reversed([d for d in out if d.after is not None])


def _tiles_first(free: Sequence[Doubt]) -> Iterator[Doubt]:
    """Without doubts about figures on tiles whose reading is in doubt itself: what the tile is may settle who stands
    where, but who stands where is asked in terms of what the tile is taken for."""
    tiles = {d.decision.at for d in free if about_tile(d.decision)}
    for d in free:
        if d.decision.at not in tiles:
            yield d
        elif about_tile(d.decision):
            yield replace(d, gain=max(o.gain for o in free if o.decision.at == d.decision.at))


def about_tile(made: Decision) -> bool:
    """Whether it is in doubt what a tile is, not only whose."""
    own, other = _two(made)
    return isinstance(own, TilePlaced) and not (isinstance(other, TilePlaced) and same_tile(
        own, replace(other, player=own.player)))


def _two(made: Decision) -> tuple[Event | None, Event | None]:
    """An event and its likeliest alternative."""
    options = [e[0] if e else None for e, _ in made.alternatives]
    own = made.events[0] if made.events else None
    return own, next((o for o in options if o != own), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waits:
    """Decides whether to keep waiting for further looks at a turn (debouncing)."""

    turn: Turn
    belief: TableBelief
    now: Moment
    later: int

    @property
    def idle_s(self) -> float:
        return self.now.t_s - self.belief.still_s

    def enough(self, margin: float, *, figure: bool = False) -> bool:
        """Whether to report it now. A glimpse of a figure that is not clear, or soon missed, may be one of a hand's."""
        seen = glimpsed(self.belief, self.turn.track, self.turn.at) if figure else None
        if seen is not None and (self.later >= 1 or seen.real < LIMITS.clear_figure):
            if seen.missed_soon and not (self.now.last and seen.present):  # nobody will look again
                return False
            if self.now.t_s - seen.back_s < LIMITS.ask_after_s:
                return self.now.last
        since_s = self.belief.since_s(self.turn.at)
        return margin >= LIMITS.sure or self.now.last or (
            (since_s == math.inf or self.now.t_s - since_s >= LIMITS.notice_s)
            and (self.later >= 1 or self.idle_s >= LIMITS.ask_after_s))

    def due(self) -> bool:
        """Whether further looks will hardly help."""
        return self.now.last or self.later >= LIMITS.patience_turns or self.idle_s >= LIMITS.ask_after_s


def _later(belief: TableBelief, turns: Sequence[Turn], now: Moment) -> int:
    """How many later tiles are established already."""
    count = 0
    for turn in turns:
        track = belief.squares.get(turn.at) if turn.at is not None else None
        count += turn.tile is not None and (turn.group is not None or track is None or track.laid is None
                                            or track.laid.presence > 1.0)
    return count


def _order(histories: Sequence[History], turn: Turn) -> float:
    """Margin of a tile's player; infinite if the alternatives are within 1 nat, which no further look resolves."""
    best = histories[0]
    apart = math.inf
    for h in histories[1:]:
        theirs = h.turn_at(turn.at)
        if theirs is not None and theirs.tile is not None and turn.tile is not None \
                and theirs.tile.player != turn.tile.player:
            apart = min(apart, best.score - h.score)
    return math.inf if apart > 1.0 else apart


def _compared(turn: Turn, tile: float, figure: float, histories: Sequence[History], told: History, waits: _Waits,
              inserted: bool, now: Moment) -> Iterator[Decision | Shown | Doubt]:
    """Compares the reported history with a turn that is in the log already."""
    group = turn.group
    assert group is not None
    if group.tile is None or turn.tile is None or turn.at is None:
        return
    line, mine = group.tile, group.figures()
    old_figure = mine[-1].event if mine else None
    amends = _against(histories, told, turn, line.event, old_figure) >= LIMITS.amend
    if not line.pinned:
        owner = owner_margin(histories, turn)
        sure = tile
        if line.asked:
            of_player = line.confidence >= probability(LIMITS.agreed)  # the tile was sure, but not its player
            ordered = turn.index <= max(t.index for t in told.turns) - LIMITS.open_turns  # its order is weighed no more
            sure = min(tile, 0.0 if of_player and (ordered or not owner.options) else owner.margin)
        said = list(_line(line, turn, sure, histories, waits, now, amends, figure=False))
        yield from said
        if not said and not line.asked and owner.margin < LIMITS.agreed and turn.tile == line.event:
            made = replace(_decision(histories, turn, tile, now, asked=True, replaces=line.seq),
                           alternatives=owner.options)
            yield Doubt(decision=made, gain=_entropy(made), due=waits.due(), along=owner.along)
    for old in mine[:-1] if amends else ():
        if not old.pinned:
            yield _decision(histories, turn, figure, now, nothing=True, replaces=old.seq, figure=True, asked=False)
    if mine:
        if not mine[-1].pinned:
            yield from _line(mine[-1], turn, figure, histories, waits, now, amends, figure=True)
        return
    event, asked = turn.figure, False
    if event is None:
        if figure >= LIMITS.agreed or not waits.due():
            return
        options = alternatives(histories, turn, figure=True)
        event = next((e[0] for e, _ in options if e and isinstance(e[0], FigurePlaced)), None)  # a question: or nobody
        if event is None:
            return
        asked = True
    elif not waits.enough(figure, figure=True):
        yield Shown(event=event, confidence=probability(figure))
        return
    asked = asked or figure < LIMITS.agreed and now.last
    made = _decision(histories, replace(turn, figure=event), figure, now, figure=True, asked=asked,
                     after=line.seq if inserted or group.others() else None)
    if asked and not now.last:
        yield Doubt(decision=made, gain=_entropy(made), due=True)
    else:
        yield made


def _line(line: LoggedEvent, turn: Turn, margin: float, histories: Sequence[History], waits: _Waits, now: Moment,
          amends: bool, *, figure: bool) -> Iterator[Decision | Doubt]:
    """Compares an event of the log with that of the reported history."""
    new: Event | None = turn.figure if figure else turn.tile
    if same_tile(new, line.event):
        new = line.event
    if new != line.event and amends:
        asked = margin < LIMITS.agreed and now.last
        yield _decision(histories, turn, margin, now, figure=figure, asked=asked, replaces=line.seq,
                        nothing=new is None)
    elif line.asked and new == line.event and margin >= LIMITS.settles:
        made = _decision(histories, turn, margin, now, figure=figure, asked=False, replaces=line.seq)
        yield replace(made, events=(line.event,))
    elif not line.asked and (margin < LIMITS.agreed or new != line.event and not _same_but_player(new, line.event)):
        made = _decision(histories, turn, margin, now, figure=figure, asked=True, replaces=line.seq)
        yield Doubt(decision=replace(made, events=(line.event,)), gain=_entropy(made), due=waits.due())


def _same_but_player(a: Event | None, b: Event) -> bool:
    """Whether only the player of the tile differs, which is not worth a question if nobody stands on it."""
    return isinstance(a, TilePlaced) and isinstance(b, TilePlaced) and same_tile(replace(a, player=b.player), b)


def _against(histories: Sequence[History], told: History, turn: Turn, tile: Event, figure: Event | None) -> float:
    """The margin of the reported history over the best one that has a turn as the log has it."""
    if same_tile(turn.tile, tile) and turn.figure == figure:
        return -math.inf
    apart = math.inf
    for h in histories:
        theirs = h.turn_at(turn.at)
        if theirs is not None and same_tile(theirs.tile, tile) and theirs.figure == figure:
            apart = min(apart, told.score - h.score)
    if apart < math.inf and turn.figure == figure and _same_but_player(turn.tile, tile):
        return apart  # whose it is follows from the turns around it, which are weighed in whole histories only
    for placed, claim, weight in turn.others:
        if same_tile(placed, tile) and claim == figure:
            apart = min(apart, turn.weight - weight)
    return apart


def _taken_up(best: History, histories: Sequence[History], told: LoggedGame, now: Moment) -> Iterator[Decision]:
    """Retracts tiles that are in the log and were taken up again."""
    for at in best.dropped:
        group = told.group_at(at)
        if group is None or group.tile is None or group.tile.pinned:
            continue
        apart = min((best.score - h.score for h in histories[1:] if at not in h.dropped), default=math.inf)
        for line in (*reversed(group.figures()), group.tile):
            if not line.pinned:
                yield Decision(events=(), confidence=probability(apart), asked=False, alternatives=(), at=at,
                               frame=now.frame, replaces=line.seq)


def _decision(histories: Sequence[History], turn: Turn, margin: float, now: Moment, *, asked: bool,
              figure: bool = False, nothing: bool = False, replaces: int | None = None,
              after: int | None = None) -> Decision:
    event: Event | None = turn.figure if figure else turn.tile
    assert turn.at is not None
    return Decision(events=() if nothing or event is None else (event,), confidence=probability(margin), asked=asked,
                    alternatives=tuple(alternatives(histories, turn, figure=figure)), at=turn.at, frame=now.frame,
                    replaces=replaces, after=after)


def _entropy(made: Decision) -> float:
    return -sum(p * math.log(p) for _, p in made.alternatives if p > 0)
