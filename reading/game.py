"""The entry point of this package: looks in, decisions out.

    reader = GameReader(setup, colours)                  # colours of the figures in turn order, as looks name them
    for look in looks:                                   # vision.looks.TableLook, any rate, any order of squares
        told = reader.look(look, session.entries)        # scoring.log.LogEntry, the whole log
        for d in told.decisions:                         # in this order
            session.commit(d.events, confidence=d.confidence, asked=d.asked, alternatives=d.alternatives,
                           frame=d.frame, replaces=d.replaces, after=d.after, ...)   # ``at`` is the square for a crop
    reader.finish(session.entries)                       # at the end of a film; repeat until it has no decisions

``told.shown`` is what is believed but not sure enough to be logged yet, ``told.notices`` what people should put right;
``told.status`` is ``watching``, ``no_board`` (no start tile found yet), ``unsure`` (it may be one of several tiles) or
``lost`` (no known board in this look).
``told.alignment`` maps the look's squares to the game's (`Alignment.square`, `Alignment.back`): looks may count squares
from any tile and in any of four directions. ``told.began`` is the number of tiles if a game began before the camera
watched: they are reported at once, and one question (the first tile's) stands for all of them.

Every decision is a difference between the best history and the given log, so nothing is lost if one could not be saved:
it is repeated (once at the end, where no look changes anything). What people entered, answered or corrected is never
undone. Times are those of the looks, in seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from reading.alignment import Alignment
from reading.belief import TableBelief, concluded, figures_seen_on
from reading.board_place import BoardPlace
from reading.claims import UnseenClaims
from reading.covered_tops import covered_tops
from reading.dial import DialMoves
from reading.doubtful import DoubtfulTiles, about_piece, piece_doubts, piece_waits
from reading.effects import Effects
from reading.evidence import readings_of
from reading.figure_track import FigureTrack
from reading.held import HeldFigures
from reading.histories import History, Search
from reading.layings import Steps
from reading.limits import LIMITS
from reading.log_states import LogStates
from reading.logged_game import LoggedEvent, LoggedGame, LoggedTurn, logged_game
from reading.neutral import NeutralMoves
from reading.noticing import Notice, notices
from reading.ordering import Window
from reading.overlooked import Overlooked
from reading.passed_over import passed_over
from reading.pieces import Kinds
from reading.policy import Decision, Doubt, Moment, Shown, decisions
from reading.remote_claims import RemoteClaims
from reading.removals import removals
from reading.rival_moves import either, without_figures
from reading.settled import Settled
from reading.shapes import has_place, shape
from reading.stacks import StackMoves
from reading.taking_over import taken_over
from reading.unexplained import unexplained
from reading.unseen import unseen
from reading.unwatched import unwatched
from reading.whereabouts import whereabouts
from reading.whose_turn import asked_first
from scoring.engine import box_of, new_game, next_player
from scoring.events import FigurePlaced, Setup, TilePlaced, TurnEnded
from scoring.log import LogEntry, Retracted
from scoring.state import GameState
from scoring.tiles import Point, Square
from vision.looks import TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The outcome of a look; see the module's docstring."""

    decisions: tuple[Decision, ...] = ()
    shown: tuple[Shown, ...] = ()
    notices: tuple[Notice, ...] = ()
    status: str = "watching"
    alignment: Alignment | None = None
    began: int = 0


class GameReader:
    """Reconstructs one game from looks."""

    def __init__(self, setup: Setup, colours: Sequence[str] | None = None) -> None:
        self._colours = {c: n for n, c in enumerate(colours or [p.colour for p in setup.players])}
        self._steps = Steps()
        self._sized = Kinds()
        self._search = Search(self._colours, self._steps, self._sized)
        self._doubtful = DoubtfulTiles()
        self._remote_claims = RemoteClaims()
        self._neutrals, self._neutral_moves = box_of(setup).neutrals, NeutralMoves(self._steps)
        self._claims, self._overlooked = UnseenClaims(self._steps), Overlooked()
        self._stack_moves, self._held = StackMoves(self._steps), HeldFigures(self._colours)
        self._dial_moves = DialMoves(self._steps, new_game(setup))
        self._told: tuple[Sequence[LogEntry], LoggedGame] = (), logged_game(())
        self._prefix = LogStates(setup, self._steps)
        alike = [n.name for n in self._neutrals if self._colours.keys() & set(n.paints)]
        self._place = BoardPlace(self._prefix, self._dial_moves.look, alike)
        self._settled = Settled()
        self._informed = self.belief  # with what is settled applied to all of it
        self._own = self.belief  # without figures that belong to another turn than their tile's
        self._doubts: dict[int, Doubt] = {}  # uncertain events of the log by their entry's number
        self._effects = Effects(self._prefix, self._steps)
        self._weighed: dict[Square, object] = {}  # the evidence with which an older turn was last checked
        self._found: tuple[object, list[History]] | None = None
        self._tried: dict[Square, object] = {}  # evidence with which rereading an older turn changed nothing
        self._last = Moment(frame=0, t_s=0.0)
        self._follows = False  # whether the game went on at the last look
        self._final = Counter[Decision]()  # how often each decision was made since the last look

    @property
    def belief(self) -> TableBelief:
        """The belief about the table, in the game's squares once the board has been found."""
        return self._place.belief

    def look(self, look: TableLook, entries: Sequence[LogEntry]) -> Decisions:
        """Process one look; ``entries`` is the session's current log."""
        log = self._log(entries)
        if log.ended is None:
            self._follows = True
        elif self._follows:
            told = self._before_the_end(entries, log.ended)
            if told.decisions:
                return told
            self._follows = False
        self._last = Moment(frame=look.frame, t_s=look.t_s)
        self._final.clear()
        placed, alignment = self._place.look(look, log), self._place.alignment
        if placed is None:
            none = "unsure" if self._place.unsure else "no_board"
            return Decisions(status=none if alignment is None else "lost", alignment=alignment)
        self._claims.look(placed)
        state = self._prefix.after([line.event for line in log.lines])
        piles = self._stack_moves.logged(state)
        self._neutral_moves.look(placed, self._neutrals, piles, {n.name: n.at(state) for n in self._neutrals})
        self._overlooked.look(placed, self.belief, piles)
        self._stack_moves.look(placed, state)
        self._held.look(placed, state, self._steps.closed(state))
        return self._decide(log, self._last)

    def finish(self, entries: Sequence[LogEntry]) -> Decisions:
        """The end of a film: everything is decided, and what is not sure is asked. To be repeated until there are no
        decisions."""
        if self._place.alignment is None:
            return Decisions(status="no_board")
        return self._once(self._decide(self._log(entries), replace(self._last, last=True)))

    def _once(self, told: Decisions) -> Decisions:
        """What is decided at the end, each decision twice at most (it may not have been saved the first time): no look
        comes any more, so what people or another decision take back would be decided for ever."""
        signs = [replace(d, confidence=0.0, frame=0, alternatives=()) for d in told.decisions]
        new = tuple(d for d, sign in zip(told.decisions, signs, strict=True) if self._final[sign] < 2)
        self._final.update(set(signs))
        return replace(told, decisions=new)

    def _before_the_end(self, entries: Sequence[LogEntry], ended: int) -> Decisions:
        """What is decided and asked when people end the game, from what was seen before: moves of which another look
        was awaited belong before the end."""
        going_on = (*entries, LogEntry(seq=entries[-1].seq + 1, body=Retracted(seq=ended), source="camera"))
        log = logged_game(going_on, self._prefix.states)
        if self._place.alignment is None or not log.lines:
            return Decisions()
        told = self._once(self._decide(log, replace(self._last, last=True)))
        before = [*takewhile(lambda line: line.seq != ended, self._told[1].lines)]
        return replace(told, decisions=_inserted(told.decisions, before))

    def _log(self, entries: Sequence[LogEntry]) -> LoggedGame:
        """The log divided into turns, recomputed when it has grown."""
        known = self._told[0]
        if len(known) != len(entries) or known and known[-1] is not entries[-1]:
            self._told = tuple(entries), logged_game(entries, self._prefix.states)
            self._stack_moves.hear(entries)
        return self._told[1]

    # -- what happened ----------------------------------------------------------------------------------------------

    def _decide(self, log: LoggedGame, now: Moment) -> Decisions:
        if log.ended is not None:
            return Decisions(alignment=self._place.alignment)
        if now.last:
            self._place.belief = concluded(self._place.belief)
        self._informed = self._stack_moves.lowered(self._settled.applied(self.belief, log, self._colours))
        events = [line.event for line in log.lines]
        states = self._prefix.states(events)
        state, fresh = states[-1], self._fresh(states[-1])
        if not log.begun and len(fresh) >= LIMITS.began_before:
            made = taken_over(self._informed, state, fresh, self._colours, now)
            return Decisions(decisions=made, alignment=self._place.alignment, began=len(fresh))
        stand = {(f.at, f.player) for f in self._steps.closed(state).standing.values()}
        sized, tops = self._sized.of(self._informed, state.box.counts), self._stack_moves.tops()
        self._own, others, unsure = self._remote_claims.decide(self._informed, log, states, self._colours, now, tops,
                                                                fresh, sized)
        whose = self._dial_moves.whose(self._informed, log, self._colours, now)
        window, before = self._window(log, fresh, stand, whose)
        histories = self._histories(window, log)
        long_past, amended = self._long_past(log, states, now, sized, tops)
        walked, not_sure = self._neutral_moves.decide(self._informed, log, states, self._colours, now)
        sure = self._overlooked.without(self._informed)
        raised, maybe = self._stack_moves.decide(sure, log, states, self._colours, now)
        raised, either_way = either(raised, self._neutral_moves.seen, self._informed, log, states, self._steps, now,
                                    told=bool(walked))
        covered = covered_tops(self._informed, log, states, self._stack_moves, self._remote_claims.answers, now)
        turned, open_ = self._dial_moves.decide(self._informed, log, states, self._colours, now)
        made, shown, self._doubts = decisions(
            self._informed, histories, log, before, now,
            {**long_past, **{seq: d for seq, d in self._doubts.items() if not about_piece(d)}},
            [*unexplained(self._own, log, state, self._colours, now), *unsure, *not_sure, *maybe, *either_way,
             *open_, *covered, *passed_over(log, states, whose, now),
             *unwatched(self._informed, log, states, self._neutral_moves.seen, now)],
            partial(self._effects.of, tuple(events)), partial(piece_waits, self.belief))
        raised, made = without_figures(raised, (*maybe, *either_way), made, log, states, self._steps)
        made += tuple(d for d in amended if d.replaces not in {m.replaces for m in made})
        others += removals(sure, log, states, self._steps, self._colours, now)
        others += unseen(log, states, self._steps, now)
        freed = self._held.decide(self._informed, log, states, self._steps, now)
        made = _with(made, asked_first((*others, *turned, *raised, *walked, *freed)[:1], self._doubts, log))
        for at in {d.at for d in made} | {getattr(s.event, "at", None) for s in shown}:
            if at is not None:  # checked again until the log has it
                self._tried.pop(at, None)
                self._weighed.pop(at, None)
        best = histories[0]
        seen = notices(self._informed, self._steps.closed(best.state), log, best.dropped & fresh, self._held,
                       self._colours, now)
        made = (*self._claims.decide(self._informed, log, states, now), *self._claims.before_next(made, state))
        return Decisions(decisions=made, shown=shown, notices=seen, alignment=self._place.alignment)

    def _long_past(self, log: LoggedGame, states: Sequence[GameState], now: Moment, sized: Mapping[int, FigureTrack],
                   tops: Mapping[Square, Point]) -> tuple[dict[int, Doubt], list[Decision]]:
        """Doubts about older turns (none while a question is open), and amendments of them."""
        pieces, amended = piece_doubts(self._informed, log, sized, states[-1], self._colours, now, tops)
        if log.asked and not now.last:
            return {}, amended
        return {**self._doubtful.of(self._informed, log, states, self._neutral_moves.seen, now), **pieces}, amended

    def _histories(self, window: Window, log: LoggedGame) -> list[History]:
        """The histories of a window, recomputed only when a look has changed the belief noticeably."""
        squares = window.again | window.fresh | {g.at for g in window.groups[window.settled:] if g.at is not None}
        stood = squares | {f.at for f in window.state.standing.values()} | {
            g.at for g in window.groups[:window.settled] if g.at is not None and g.figures()}
        sign = (log.version, window.fresh, window.again, window.first, len(window.groups), window.pieces,
                tuple((self._sign(at), tuple((p, round(v, 1)) for p, v in window.whose.get(at, {}).items()))
                      for at in sorted(squares)),
                tuple((f.id, f.present) for at in sorted(stood) for f in self._own.by_square.get(at, ())))
        if self._found is None or self._found[0] != sign:
            self._found = sign, self._search.histories(self._own, window)
        return self._found[1]

    def _sign(self, at: Square) -> object:
        """The belief about a square, quantised to what makes a difference."""
        track = self._informed.squares.get(at)
        if track is None or track.laid is None:
            return at, None
        laid = track.laid
        said, _ = laid.readings
        near = tuple(sorted((r, round(v / 2)) for r, v in said.items() if v > -LIMITS.clearly))
        figures = tuple(
            (f.id, round(min(f.real, 6.0) / 2), round(max(-4.0, min(f.lies, 4.0)) / 2),
             round(f.foot[0], 1), round(f.foot[1], 1),
             tuple(sorted((c, max(-4, round(p / 2))) for c, p in f.paints.items())))
            for f in figures_seen_on(self._own, at))
        return at, near, laid.since_s, laid.bare_s, round(min(laid.presence, LIMITS.clearly) / 2), figures

    def _fresh(self, state: GameState) -> frozenset[Square]:
        """Squares with tiles that are not in the log."""
        return frozenset(at for at, laid in self._informed.lying().items()
                         if at not in state.tiles and laid.presence > 0.0)

    def _window(self, log: LoggedGame, fresh: frozenset[Square], stand: set[tuple[Square, int]],
                whose: Mapping[Square, Mapping[int, float]]) -> tuple[Window, int]:
        """What is to be explained anew, and the number of the last entry before it."""
        groups = log.groups
        free = min(max(0, len(groups) - LIMITS.open_turns), self._changed(groups))
        again = {g.at for g in groups[free:] if g.at is not None and self._readable(g)}
        settled = start = min([free, *(self._earliest(at, groups) for at in fresh)])
        for n, group in enumerate(groups[:free]):
            if group.at is not None and self._readable(group) and self._contradicted(group, stand):
                again.add(group.at)
                start = min(start, n)
        asked = {line.event.at: line.confidence for line in log.asked if isinstance(line.event, TilePlaced)}
        pieces = whereabouts(self._neutral_moves.seen, self._informed, log, fresh, self._colours)
        return Window(state=self._prefix.after([line.event for g in groups[:start] for line in g.lines]),
                      groups=tuple(groups[start:]), settled=settled - start, free=free - start, fresh=fresh,
                      again=frozenset(again), asked=asked, gone=self._gone(log), denied=log.denied, first=start,
                      whose=whose, pieces=pieces), groups[start - 1].last_seq if start else 0

    def _changed(self, groups: Sequence[LoggedTurn]) -> int:
        """The first turn of the log that may have to be moved or given to another player: a change since the newest
        turns were laid (a tile inserted, one that people gave to somebody else) left it or the next one out of turn."""
        newest = [g.tile.seq for g in groups[-LIMITS.open_turns:] if g.tile is not None]
        reach = max(0, len(groups) - LIMITS.late_turns - LIMITS.open_turns)  # a later answer concerns its own turn only
        for n, group in enumerate(groups[reach:], reach):
            line = group.tile
            if line is None or not newest or line.changed <= min(newest):
                continue
            if any(self._out_of_turn(groups, m) for m in (n, n + 1)):
                moves = line.pinned and not line.entered
                return min(n, max(len(groups) - LIMITS.late_turns, n - LIMITS.overtakes, 0)) if moves else n
        return len(groups)

    def _out_of_turn(self, groups: Sequence[LoggedTurn], n: int) -> bool:
        """Whether the log gives a turn to another player than the one to move."""
        line = groups[n].tile if n < len(groups) else None
        if line is None or not isinstance(line.event, TilePlaced):
            return False
        before = self._prefix.after([line.event for g in groups[:n] for line in g.lines])
        return line.event.player != next_player(before)

    def _gone(self, log: LoggedGame) -> frozenset[Square]:
        """Squares from which a tile was seen to be taken up; none if the whole board is being cleared away."""
        known = [g.at for g in log.groups if g.at is not None]
        gone = {at for at in (*known, *self._prefix.after([]).tiles)
                if (t := self._informed.squares.get(at)) is not None and t.laid is None and t.past}
        return frozenset(gone & set(known)) if len(gone) <= 2 and gone <= set(known) else frozenset()

    def _readable(self, group: LoggedTurn) -> bool:
        """Whether a logged turn can be reread: its tile is seen, and people have not settled all of it."""
        assert group.at is not None and group.tile is not None
        track = self._informed.squares.get(group.at)
        return track is not None and track.laid is not None and not (
            group.tile.pinned and any(f.pinned for f in group.figures()))

    def _earliest(self, at: Square, groups: Sequence[LoggedTurn]) -> int:
        """The first turn of the log before which a tile that is not logged may have been laid."""
        laid = self._informed.squares[at].laid
        least = max(0, len(groups) - LIMITS.late_turns)
        for n in range(len(groups) - 1, least - 1, -1):
            there = groups[n].at
            track = self._informed.squares.get(there) if there is not None else None
            if track is not None and track.laid is not None and laid is not None and laid.bare_s is not None \
                    and track.laid.since_s <= laid.bare_s:
                return n + 1
        return least

    def _contradicted(self, group: LoggedTurn, stand: set[tuple[Square, int]]) -> bool:
        """Whether the evidence contradicts an older turn of the log and has not been considered before."""
        at = group.at
        assert at is not None and group.tile is not None and isinstance(group.tile.event, TilePlaced)
        track = self._informed.squares[at]
        laid = track.laid
        told_figures = [f.event for f in group.figures()]
        seen = (track.looked_s, self._informed.figures_s.get(at), group.tile.event, tuple(told_figures),
                tuple((at, e.player) in stand for e in told_figures if isinstance(e, FigurePlaced)))
        if self._weighed.get(at) == seen:
            return False
        assert laid is not None
        state = self._prefix.after([])
        options = readings_of(laid, state.box, [(group.tile.event.tile, group.tile.event.rot)])
        own = next(v for r, v in options.items() if shape(*r) == shape(group.tile.event.tile, group.tile.event.rot))
        figures = [f for f in figures_seen_on(self._own, at) if f.real > 0.0]
        paints = {f.paint for f in figures if f.paint}
        players = {self._colours[c] for c in paints if c in self._colours}
        other = own < -LIMITS.worth_trying / 3 and not group.tile.pinned
        unknown = bool(figures) and not told_figures
        wrong = bool(figures) and any(isinstance(e, FigurePlaced) and e.player not in players for e in told_figures)
        vanished = self._vanished(group, stand)
        # nobody stands where the tile as people have corrected it has nothing
        lost = any(isinstance(e, FigurePlaced) and e.at == at and not has_place(
            group.tile.event.tile, group.tile.event.rot, e) for e in told_figures)
        sign = (round(own), len(figures), tuple(sorted(paints)), other, unknown, wrong, vanished, lost)
        if not (other or unknown or wrong or vanished or lost) or self._tried.get(at) == sign:
            self._weighed[at] = seen
            return False
        self._tried[at] = sign
        return True

    def _vanished(self, group: LoggedTurn, stand: set[tuple[Square, int]]) -> bool:
        """Whether a figure was told that should stand there, was seen, and is not there any more."""
        assert group.at is not None
        figures = [f for f in figures_seen_on(self._own, group.at) if f.real > 0.0]
        return bool(figures) and not any(f.present for f in figures) and any(
            isinstance(f.event, FigurePlaced) and (group.at, f.event.player) in stand for f in group.figures())


def _with(made: tuple[Decision, ...], other: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """What the histories say with another move of a turn that is logged already. Its position holds only while the log
    is unchanged, but it may precede the next tile, so that nobody is asked about a turn of which something is known."""
    if any(d.after is not None or d.replaces is not None for d in made):
        return made
    n = next((n for n, d in enumerate(made) if any(isinstance(e, TilePlaced) for e in d.events)), 0)
    return (*made[:n], *other, *made[n:]) if n < len(made) else made or other


def _inserted(made: Sequence[Decision], before: Sequence[LoggedEvent]) -> tuple[Decision, ...]:
    """Decisions that would be appended to the log are inserted after its events ``before`` the end instead. People may
    have ended the turn, in which they belong unless another tile was laid."""
    last = before[-1].seq if before else 0
    after = next((line.seq for line in reversed(before) if not isinstance(line.event, TurnEnded)), 0)
    placed, others = list[Decision](), list[Decision]()
    for d in made:
        if d.replaces is not None or d.settles is not None or d.after is not None:
            others.append(d)
        else:
            after = last if any(isinstance(e, TilePlaced) for e in d.events) else after
            placed.append(replace(d, after=after))
    return *reversed(placed), *others  # each is inserted right after its entry
