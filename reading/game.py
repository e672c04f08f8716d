"""The door of this room: looks in, decisions out.

    reader = GameReader(setup, colours)                  # colours of the figures in turn order, as looks name them
    for look in looks:                                   # vision.looks.TableLook, any rate, any order of squares
        told = reader.look(look, session.entries)        # scoring.log.LogEntry, everything that was logged
        for d in told.decisions:                         # in this order
            session.commit(d.events, confidence=d.confidence, asked=d.asked, alternatives=d.alternatives,
                           frame=d.frame, replaces=d.replaces, after=d.after, ...)   # ``at`` is the square for a crop
    reader.finish(session.entries)                       # at the end of a film; again until it has no decisions

``told.shown`` is what is believed beyond the log (not settled yet), ``told.notices`` what people should put right,
``told.status`` is ``watching``, ``no_board`` (no start tile found yet) or ``lost`` (this look is not of the board that
lay there). ``told.alignment`` maps the look's squares to the game's (`Alignment.square`, `Alignment.back`): looks may
name squares from any tile and in any of four directions. ``told.began`` counts the tiles when a game began before
anybody looked: they are told at once, and one question stands for all of them (the first tile's).

Every decision is the difference between the best history and the log as it is given, so nothing is lost when one
could not be saved: it comes again. What people entered, answered or corrected is never undone. Times are those of the
looks, in seconds; nothing counts frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from reading.alignment import Alignment, agreement, aligned_by_start, aligned_by_tiles
from reading.belief import TableBelief, figures_seen_on, updated
from reading.doubtful import DoubtfulTiles, about_piece, piece_doubts
from reading.evidence import readings_of
from reading.histories import History, Search, Window
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, LoggedTurn, logged_game
from reading.neutral import NeutralMoves
from reading.noticing import Notice, notices
from reading.pieces import Kinds
from reading.policy import Decision, Doubt, Moment, Shown, decisions
from reading.remote_claims import RemoteClaims
from reading.removals import removals
from reading.shapes import Reading, shape
from reading.taking_over import taken_over
from reading.unexplained import unexplained
from scoring.engine import box_of, new_game, next_player
from scoring.events import Event, FigurePlaced, GameEnded, Setup, TilePlaced
from scoring.log import LogEntry
from scoring.projection import final_scoring
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a look came to; see the module."""

    decisions: tuple[Decision, ...] = ()
    shown: tuple[Shown, ...] = ()
    notices: tuple[Notice, ...] = ()
    status: str = "watching"
    alignment: Alignment | None = None
    began: int = 0


@dataclass(slots=True)
class _Prefix:
    """The states after each line of the log, as far as it has not changed."""

    setup: Setup
    steps: Steps
    _events: list[Event] = field(default_factory=list)
    _states: list[GameState] = field(default_factory=list)

    def after(self, lines: Sequence[Event]) -> GameState:
        """The state after these lines: those of the log, or as many of its first ones as are asked for."""
        return self.states(lines)[-1]

    def states(self, lines: Sequence[Event]) -> Sequence[GameState]:
        """The state before these lines, and after each of them."""
        for n, (mine, theirs) in enumerate(zip(self._events, lines, strict=False)):
            if mine is not theirs and mine != theirs:
                del self._events[n:], self._states[n + 1:]
                break
        if not self._states:
            self._states.append(new_game(self.setup))
        for event in lines[len(self._events):]:
            now = self._states[-1]
            self._states.append(self.steps.after(now, event) or now)
            self._events.append(event)
        return self._states[:len(lines) + 1]


class GameReader:
    """Reads one game from looks."""

    def __init__(self, setup: Setup, colours: Sequence[str] | None = None) -> None:
        names = colours if colours is not None else [p.colour for p in setup.players]
        self._colours = {c: n for n, c in enumerate(names)}
        self._steps = Steps()
        self._sized = Kinds()
        self._search = Search(self._colours, self._steps, self._sized)
        self._doubtful = DoubtfulTiles()
        self._remote_claims = RemoteClaims()
        self._neutrals, self._neutral_moves = box_of(setup).neutrals, NeutralMoves(self._steps)
        self._told: tuple[Sequence[LogEntry], LoggedGame] = (), logged_game(())
        self._prefix = _Prefix(setup, self._steps)
        self._alignment: Alignment | None = None
        self._belief = TableBelief()
        self._own = self._belief  # without figures that are told in another turn than their tile's
        self._doubts: dict[int, Doubt] = {}  # what was told and is not sure, by the number of its entry
        self._effects: dict[tuple[Event | None, Event | None], float] = {}  # in the game with `_effects_of`
        self._effects_of: tuple[Event, ...] | None = None
        self._weighed: dict[Square, object] = {}  # when a turn was held against what is seen last
        self._found: tuple[object, list[History]] | None = None
        self._tried: dict[Square, object] = {}  # what was read anew in vain, with the evidence there was
        self._last = Moment(frame=0, t_s=0.0)

    @property
    def belief(self) -> TableBelief:
        """What is believed of the table, in the game's squares once the board was found."""
        return self._belief

    def look(self, look: TableLook, entries: Sequence[LogEntry]) -> Decisions:
        """Take one look in; ``entries`` is the session's log as it is now."""
        log = self._log(entries)
        self._last = Moment(frame=look.frame, t_s=look.t_s)
        if not self._placed(look, log):
            return Decisions(status="no_board" if self._alignment is None else "lost", alignment=self._alignment)
        if self._neutrals and self._alignment is not None:
            self._neutral_moves.look(self._alignment.look(look), self._neutrals)
        return self._decide(log, self._last)

    def finish(self, entries: Sequence[LogEntry]) -> Decisions:
        """The film is over: everything is decided, what is not sure is asked. Again until nothing is left to tell."""
        if self._alignment is None:
            return Decisions(status="no_board")
        return self._decide(self._log(entries), Moment(frame=self._last.frame, t_s=self._last.t_s, last=True))

    def _log(self, entries: Sequence[LogEntry]) -> LoggedGame:
        """What the log comes to, worked out anew when it has grown."""
        known = self._told[0]
        if len(known) != len(entries) or known and known[-1] is not entries[-1]:
            self._told = tuple(entries), logged_game(entries)
        return self._told[1]

    # -- where the board lies ---------------------------------------------------------------------------------------

    def _placed(self, look: TableLook, log: LoggedGame) -> bool:
        """Take the look into the belief. False when it is not known where the board lies in it."""
        if self._alignment is None:
            laid = {at: max((p, reading) for reading, p in t.readings[0].items())[1]
                    for at, t in self._belief.lying().items() if t.readings[0]}
            if look.whole and look.squares:
                agree, could = agreement(look, laid)
                if agree < LIMITS.board_known * could:  # what was taken for a board was none
                    self._belief = TableBelief()
            self._belief = updated(self._belief, look)
            self._alignment = self._first_place(look, log, self._known(log))
            if self._alignment is None:
                return False
            self._belief = self._alignment.belief(self._belief)
            return True
        placed = self._alignment.look(look)
        if look.whole and len(look.squares) >= 2:
            known = self._known(log)
            agree, could = agreement(placed, known)
            if could >= 3 and agree < LIMITS.board_known * could:
                return self._other_board(look, known, log)
        self._belief = updated(self._belief, placed)
        return True

    def _first_place(self, look: TableLook, log: LoggedGame, known: Mapping[Square, Reading]) -> Alignment | None:
        if len(known) > 2 and any(g.tile is not None for g in log.groups):  # a game that is gone on with
            there = aligned_by_tiles(look, known)
            return there[0] if there is not None and there[1] >= LIMITS.board_known else None
        start = {at: (p.tile, p.rot) for at, p in self._prefix.after([]).tiles.items()}
        return aligned_by_start(self._belief, start, look.t_s)

    def _other_board(self, look: TableLook, known: Mapping[Square, Reading], log: LoggedGame) -> bool:
        """A look in which the board does not lie where it lay: it was found elsewhere, or it is lost."""
        there = aligned_by_tiles(look, known)
        if there is not None and there[1] >= LIMITS.board_known:
            self._alignment = there[0]
            self._belief = updated(self._belief, self._alignment.look(look))
            return True
        if not any(g.tile is not None for g in log.groups):  # nothing was told yet: what was taken for a board was none
            self._belief, self._alignment = updated(TableBelief(), look), None
            self._alignment = self._first_place(look, log, known)
            if self._alignment is not None:
                self._belief = self._alignment.belief(self._belief)
                return True
        return False

    def _known(self, log: LoggedGame) -> dict[Square, Reading]:
        """The tiles that lie there: those of the log, and what is believed beside them."""
        state = self._prefix.after([line.event for line in log.lines])
        out = {at: (p.tile, p.rot) for at, p in state.tiles.items()}
        for at, laid in self._belief.lying().items() if self._alignment is not None else ():
            said, _ = laid.readings
            ranked = sorted(said.items(), key=lambda s: (-s[1], s[0]))
            if at not in out and ranked and laid.presence > 0:
                out[at] = ranked[0][0]
        return out

    # -- what happened ----------------------------------------------------------------------------------------------

    def _decide(self, log: LoggedGame, now: Moment) -> Decisions:
        events = [line.event for line in log.lines]
        if any(isinstance(e, GameEnded) for e in events):
            return Decisions(alignment=self._alignment)
        states = self._prefix.states(events)
        state = states[-1]
        fresh = self._fresh(state)
        if not any(g.tile is not None for g in log.groups) and len(fresh) >= LIMITS.began_before:
            made = taken_over(self._belief, state, fresh, self._colours, now)
            return Decisions(decisions=made, alignment=self._alignment, began=len(fresh))
        stand = {(f.at, f.player) for f in self._steps.closed(state).standing.values()}
        self._own, others, unsure = self._remote_claims.decide(self._belief, log, states, self._colours, now)
        window, before = self._window(log, fresh, stand)
        histories = self._histories(window, log)
        long_past, amended = self._long_past(log, state, now)
        walked, not_sure = self._neutral_moves.decide(self._belief, log, states, self._colours, now)
        made, shown, self._doubts = decisions(
            self._belief, histories, log, before, now,
            {**long_past,
             **{seq: d for seq, d in self._doubts.items() if not about_piece(d)}},
            [*unexplained(self._own, log, state, self._colours, now), *unsure, *not_sure],
            partial(self._effect, tuple(events)))
        made += tuple(d for d in amended if d.replaces not in {m.replaces for m in made})
        others += removals(self._belief, log, states, self._steps, self._colours, now)
        made = made or (*others, *walked)[:1]  # in a log that stays as it was
        for at in {d.at for d in made} | {getattr(s.event, "at", None) for s in shown}:
            if at is not None:  # weighed again until the log has it
                self._tried.pop(at, None)
                self._weighed.pop(at, None)
        best = histories[0]
        seen = notices(self._belief, self._steps.closed(best.state), log, best.dropped & fresh, self._colours, now)
        return Decisions(decisions=made, shown=shown, notices=seen, alignment=self._alignment)

    def _long_past(self, log: LoggedGame, state: GameState, now: Moment) -> tuple[dict[int, Doubt], list[Decision]]:
        """Doubts about what was told long ago, none while something is asked, and what of it is amended."""
        sized = self._sized.of(self._belief, state.box.counts)
        pieces, amended = piece_doubts(self._belief, log, sized, state, self._colours, now)
        if log.asked and not now.last:
            return {}, amended
        return {**self._doubtful.of(self._belief, log, state, now), **pieces}, amended

    def _histories(self, window: Window, log: LoggedGame) -> list[History]:
        """The histories of a window. Looks that change nothing worth mentioning do not change them."""
        squares = window.again | window.fresh | {g.at for g in window.groups if g.at is not None}
        stood = squares | {f.at for f in window.state.standing.values()}
        sign = (log.version, window.fresh, window.again, len(window.groups),
                tuple(self._sign(at) for at in sorted(squares)),
                tuple((f.id, f.present) for at in sorted(stood) for f in self._own.by_square.get(at, ())))
        if self._found is None or self._found[0] != sign:
            self._found = sign, self._search.histories(self._own, window)
        return self._found[1]

    def _sign(self, at: Square) -> object:
        """What is believed of a square's tile, as finely as it matters."""
        track = self._belief.squares.get(at)
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
        """Squares with tiles that the log does not have."""
        return frozenset(at for at, laid in self._belief.lying().items()
                         if at not in state.tiles and laid.presence > 0.0)

    def _window(self, log: LoggedGame, fresh: frozenset[Square], stand: set[tuple[Square, int]]) -> tuple[Window, int]:
        """What is explained anew, and the number of the last entry before it."""
        groups = log.groups
        free = min(max(0, len(groups) - LIMITS.open_turns), self._given(groups))
        again = {g.at for g in groups[free:] if g.at is not None and self._readable(g)}
        start = earliest = min([free, *(self._earliest(at, groups) for at in fresh)])
        for n, group in enumerate(groups[:free]):
            if group.at is not None and self._readable(group) and self._contradicted(group, stand):
                again.add(group.at)
                start = min(start, n)
        lines = [line.event for g in groups[:start] for line in g.lines]
        asked = {line.event.at: line.confidence for line in log.asked if isinstance(line.event, TilePlaced)}
        window = Window(state=self._prefix.after(lines), groups=tuple(groups[start:]), free=free - start,
                        again=frozenset(again), fresh=fresh, asked=asked, gone=self._gone(log), denied=log.denied,
                        first=start, fixed=earliest - start)
        return window, groups[start - 1].last_seq if start else 0

    def _given(self, groups: Sequence[LoggedTurn]) -> int:
        """The first turn of the log that may have to be told at another time: people gave a tile of the newest turns to
        a player whose turn it was not, so that something else came before or after it."""
        first = max(0, len(groups) - LIMITS.late_turns)
        lines = [line.event for g in groups[:first] for line in g.lines]
        for n, group in enumerate(groups[first:], first):
            line = group.tile
            if line is not None and line.pinned and not line.entered and isinstance(line.event, TilePlaced) \
                    and line.event.player != next_player(self._prefix.after(lines)):
                return max(first, n - LIMITS.overtakes)
            lines += [each.event for each in group.lines]
        return len(groups)

    def _gone(self, log: LoggedGame) -> frozenset[Square]:
        """Squares from which a tile was seen to be taken up; none when the whole board is cleared away."""
        known = [g.at for g in log.groups if g.at is not None]
        gone = {at for at in (*known, *self._prefix.after([]).tiles)
                if (t := self._belief.squares.get(at)) is not None and t.laid is None and t.past}
        return frozenset(gone & set(known)) if len(gone) <= 2 and gone <= set(known) else frozenset()

    def _readable(self, group: LoggedTurn) -> bool:
        """Whether something may be learned of a turn that was told: it was seen, and people have not said all of it."""
        assert group.at is not None and group.tile is not None
        track = self._belief.squares.get(group.at)
        return track is not None and track.laid is not None and not (
            group.tile.pinned and any(f.pinned for f in group.figures()))

    def _earliest(self, at: Square, groups: Sequence[LoggedTurn]) -> int:
        """The first turn of the log before which a tile may have been laid that nobody told of."""
        laid = self._belief.squares[at].laid
        least = max(0, len(groups) - LIMITS.late_turns)
        for n in range(len(groups) - 1, least - 1, -1):
            there = groups[n].at
            track = self._belief.squares.get(there) if there is not None else None
            if track is not None and track.laid is not None and laid is not None and laid.bare_s is not None \
                    and track.laid.since_s <= laid.bare_s:
                return n + 1
        return least

    def _contradicted(self, group: LoggedTurn, stand: set[tuple[Square, int]]) -> bool:
        """Whether what is seen speaks against what was told of an older turn, and has not been weighed already."""
        at = group.at
        assert at is not None and group.tile is not None and isinstance(group.tile.event, TilePlaced)
        track = self._belief.squares[at]
        laid = track.laid
        told_figures = [f.event for f in group.figures()]
        seen = (track.looked_s, self._belief.figures_s.get(at), group.tile.event, tuple(told_figures),
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
        vanished = bool(figures) and not any(f.present for f in figures) and any(
            isinstance(e, FigurePlaced) and (at, e.player) in stand for e in told_figures)
        sign = (round(own), len(figures), tuple(sorted(paints)), other, unknown, wrong, vanished)
        if not (other or unknown or wrong or vanished) or self._tried.get(at) == sign:
            self._weighed[at] = seen
            return False
        self._tried[at] = sign
        return True

    def _effect(self, events: tuple[Event, ...], one: Event | None, other: Event | None) -> float:
        """How many points the standing of a game of these events differs by which of two events it had."""
        if self._effects_of != events:
            self._effects, self._effects_of = {}, events
        if (one, other) not in self._effects:
            totals = [self._totals(events, one, event) for event in (one, other)]
            self._effects[one, other] = float(sum(abs(a - b) for a, b in zip(*totals, strict=True)))
        return self._effects[one, other]

    def _totals(self, events: Sequence[Event], told_event: Event | None, instead: Event | None) -> tuple[int, ...]:
        """The totals if the game ended now, with another event in the place of one that was told."""
        state = self._prefix.after([])
        for event in (instead if e == told_event else e for e in events):
            state = (self._steps.after(state, event) if event is not None else None) or state
        return tuple(final_scoring(state).totals)
