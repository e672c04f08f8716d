"""How far the piece of a dial went, and before which tile: from the sections on which it was seen to stop."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from reading.belief import TableBelief
from reading.dial_face import Face
from reading.figure_track import FigureTrack
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, by
from reading.policy import Decision, Moment
from reading.removals import TAKEN
from scoring.contributions import Dial
from scoring.events import Event, FigureEvent, TilePlaced
from scoring.state import GameState, StandingFigure


@dataclass(frozen=True, slots=True, kw_only=True)
class DialLimits:
    """Weights in nats. "chosen" as in `reading.limits`."""

    sure: float = 0.97  # probability of a move that was seen and that the rules allow (chosen)
    forced: float = 0.9  # and of one that follows from a figure's absence (chosen)
    surer: float = 2.0  # by which a figure on a section must be surer than one on the tile of its turn, which may be
    # its print (chosen)
    piece: float = 0.86  # probability of its piece below which people are asked (as `Limits.agreed`)
    looks: int = 2  # in a row that see a figure on a section before it is told (chosen)
    went: float = 3.0  # a figure that is seen to be gone, or to stand: whether the piece stopped there (chosen)
    put_away: float = 0.8  # a stop that no sign explains: that a tile with one was put away (chosen); people are asked
    newest: int = 4  # turns whose events are still looked for (chosen)


DIAL = DialLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The piece was seen on a section (its number), for the first time at ``since_s``."""

    section: int
    since_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What was seen of a dial's piece: where it stopped, in order, when it was seen last, and the figures on the
    sections."""

    face: Face
    stops: Sequence[Stop]
    seen_s: float
    figures: Collection[FigureTrack]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """One turn of the log, the ``n``-th: its tile's entry, the state right before that tile and the one before the
    moves of the piece that the log has there (``mine``), all moves that the rules allow by the section where they end,
    whether the tile has the sign, when it and the tile before were first seen (-inf: never), and those stops of the
    piece that were first seen in between, by their number."""

    n: int
    line: LoggedEvent
    placed: TilePlaced
    before: GameState
    begun: GameState
    ways: Mapping[str, Event]
    mine: Sequence[LoggedEvent]
    signed: bool
    laid_s: float
    last_s: float
    stops: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walks:
    """How far a dial's piece went before the tiles of the newest turns. ``states`` are the states after each event of
    the log, preceded by the initial one."""

    piece: Piece
    steps: Steps
    belief: TableBelief
    log: LoggedGame
    states: Sequence[GameState]
    colours: Mapping[str, int]
    now: Moment

    def decide(self) -> Decision | None:
        """The move before a tile whose sign makes the piece move, for the oldest of the newest turns that lacks it."""
        for n in range(max(0, len(self.log.groups) - DIAL.newest), len(self.log.groups)):
            turn = self._turn(n)
            if turn is None:
                continue
            shared = self._shared(turn) if turn.signed else None
            if shared and turn.mine and turn.mine[0].asked:
                return None  # the move before the next tile depends on it
            made = self._one_of(turn, shared or ()) or self._by_its_player(turn)
            if made is not None:
                return made
            came = self._came(turn)
            if turn.mine and (shared is not None or not came or self._section(came[-1]) == self._dial.at(turn.before)):
                continue  # the log has it
            if turn.signed or came and not turn.line.pinned and _may_have_sign(self._dial, turn.before, turn.placed):
                stop = self._last_of(turn, came) if came else self._afterwards(turn)
                way = turn.ways.get(self._section(stop)) if stop is not None else None
                if stop is not None and way is not None and not self._denied(turn, way):
                    return self._went(turn, way, stop)
                if turn.signed and way is None:
                    return self._how_far(turn)  # those after it depend on it
                made = self._put_away(turn, self._less_than_seen(turn))
            else:
                made = self._put_away(turn, self._ends_there(turn) or self._less_than_seen(turn))
            if made is not None:
                return made
        return None

    @property
    def _dial(self) -> Dial:
        return self.piece.face.dial

    def _section(self, stop: Stop) -> str:
        return self._dial.sections[stop.section]

    def _turn(self, n: int) -> _Turn | None:
        """A turn; None if its tile was not seen, the rules allow no move there or people have said how far it went."""
        line = self.log.groups[n].tile
        laid, last = laid_s(self.belief, self.log, n), laid_s(self.belief, self.log, n - 1)
        if line is None or not isinstance(line.event, TilePlaced) or laid is None:
            return None
        before, placed = self.states[self.log.span(n)[0]], line.event
        ways = {self._dial.at(after): way for way in (by(way, placed.player) for way in self._dial.ways(before))
                if (after := self.steps.after(before, way)) is not None}
        mine = _before(self.log, n, ways.values())
        if not ways or any(own.pinned for own in mine):
            return None
        least = last if last is not None else -math.inf
        return _Turn(n=n, line=line, placed=placed, before=before, ways=ways, mine=mine, laid_s=laid, last_s=least,
                     begun=_begun(self.log, self.states, n, {type(way) for way in ways.values()}),
                     signed=self._dial.moves(before.box.tile(placed.tile)),
                     stops=[k for k, s in enumerate(self.piece.stops) if least < s.since_s <= laid])

    def _denied(self, turn: _Turn, way: Event) -> bool:
        return self.log.denied_in(turn.n - 1, way)

    def _told(self, turn: _Turn, options: Sequence[tuple[Event | None, float]], *, asked: bool, section: int = 0,
              instead: LoggedEvent | None = None) -> Decision:
        """The first of these moves before a turn's tile, or ``instead`` of one that the log has there; the others are
        alternatives (None: no move)."""
        way, p = options[0]
        return Decision(events=(way,) if way is not None else (), confidence=p, asked=asked, frame=self.now.frame,
                        alternatives=tuple(((w,) if w is not None else (), q) for w, q in options),
                        at=self.piece.face.square(section), replaces=instead.seq if instead is not None else None,
                        after=_last_seq(self.log, turn.n) if instead is None else None)

    # -- what the log has is another player's, or one of two moves that nobody saw apart ------------------------------

    def _one_of(self, turn: _Turn, shared: Sequence[tuple[Event, float]]) -> Decision | None:
        """The likeliest of the moves that share one stop with the next tile's."""
        if not shared or self._denied(turn, shared[0][0]):
            return None
        unsure = shared[0][1] * DIAL.sure < DIAL.piece
        if turn.mine and not unsure and turn.mine[0].event == shared[0][0]:
            return None
        return self._told(turn, [(way, p * DIAL.sure) for way, p in shared], asked=unsure,
                          instead=turn.mine[0] if turn.mine else None)

    def _by_its_player(self, turn: _Turn) -> Decision | None:
        """A move that the log has, by the player of the tile that it precedes."""
        for line in turn.mine:
            own = by(line.event, turn.placed.player)
            if own != line.event and not self._denied(turn, own):
                return replace(self._told(turn, [(own, DIAL.sure)], asked=False, instead=line), alternatives=())
        return None

    def _shared(self, turn: _Turn) -> list[tuple[Event, float]] | None:
        """The moves before a tile with their probabilities, the likeliest first, if the next tile has a sign too, both
        came to sight together, and the piece was seen to stop once: it also stopped somewhere in between, where the
        rules sent home who stood there. Empty if the log has the move before the next tile already; None if that is not
        so."""
        dial, n, begun = self._dial, turn.n, turn.begun
        following = laid_s(self.belief, self.log, n + 1)
        if following is None or not self._has_sign(n + 1) or len(turn.mine) > 1:
            return None
        first, both = dial.sections.index(dial.at(begun)), max(turn.laid_s, following)
        came = [s for k, s in enumerate(self.piece.stops) if turn.last_s < s.since_s <= both
                and (s.section != first or k > 0)]
        if len(came) != 1 or self.piece.seen_s < both:
            return None
        stop = came[0]
        if turn.laid_s < following and stop.since_s <= turn.laid_s:
            return None  # it was seen there when only the first tile was
        if stop.since_s <= max(bare_s(self.belief, self.log, n), bare_s(self.belief, self.log, n + 1)):
            return None  # or neither of them
        if any(type(line.event) in {type(way) for way in dial.ways(begun)} for line in self.log.groups[n].rest):
            return []
        player = turn.placed.player
        firsts = [(way, after) for way in (by(way, player) for way in dial.ways(begun))
                  if (after := self.steps.after(begun, way)) is not None and any(
                      (then := self.steps.after(after, by(second, player))) is not None
                      and dial.at(then) == self._section(stop) for second in dial.ways(after))]
        weights = [self._visited(after, begun, stop) for _, after in firsts]
        if not weights:
            return None
        total = sum(math.exp(w) for w in weights)
        return sorted(((way, math.exp(w) / total) for (way, _), w in zip(firsts, weights, strict=True)),
                      key=lambda option: -option[1])

    def _visited(self, after: GameState, begun: GameState, stop: Stop) -> float:
        """What the figures say for a stop of the piece that nobody saw, in nats: those on its section are gone and
        those on others are not; so are those that the rules make people take home there (``after`` it)."""
        dial, out = self._dial, 0.0
        for f in begun.standing.values():
            if f.feature != dial.feature or f.where == self._section(stop):
                continue
            tracks = [t for t in self.piece.figures
                      if t.real > 0.0 and self.colours.get(t.paint_among(self.colours)) == f.player
                      and (place := self.piece.face.section(*t.foot)) is not None
                      and dial.sections[place[0]] == f.where]
            here = any(t.present and t.seen_s >= stop.since_s for t in tracks)
            gone = bool(tracks) and all(t.missed >= TAKEN for t in tracks)
            if here or gone:
                out += 0.5 * DIAL.went * (1.0 if gone == (f.where == dial.at(after)) else -1.0)
        stand = self.steps.closed(self.states[-1]).standing.values()
        for question in after.box.questions(after):
            answers = [a for a in question.answers if isinstance(a, FigureEvent)]
            if not question.before or not answers or len(answers) != len(question.answers):
                continue
            gone = any(taken(a, stand) and missing(self.belief, a, self.colours) for a in answers)
            out += DIAL.went * (1.0 if gone else -1.0)
        return out

    # -- where it stopped --------------------------------------------------------------------------------------------

    def _came(self, turn: _Turn) -> list[Stop]:
        """The stops that may be the end of the move before a turn's tile, in order."""
        if turn.stops:
            return [self.piece.stops[k] for k in turn.stops]
        # nobody saw which came first, the tile before or this stop: its own move is in the log
        least = bare_s(self.belief, self.log, turn.n - 1)
        came = [s for s in self.piece.stops if s.since_s <= turn.laid_s][-1:]
        return [s for s in came if s.since_s > least and self._section(s) != self._dial.at(turn.before)]

    def _afterwards(self, turn: _Turn) -> Stop | None:
        """The stop after a turn's tile was seen, if no other tile can be the reason."""
        following = laid_s(self.belief, self.log, turn.n + 1)
        came = [s for s in self.piece.stops if turn.laid_s < s.since_s <= (following or math.inf)]
        if turn.n == len(self.log.groups) - 1:
            over = bool(came) and (self.now.last or self.now.t_s - came[0].since_s >= LIMITS.ask_after_s)
        else:
            over = not self._has_sign(turn.n + 1)
        return came[0] if came and over else None

    def _last_of(self, turn: _Turn, came: Sequence[Stop]) -> Stop | None:
        """The newest of these stops; the next one that the log lacks, if any, if it moved twice: a tile with a sign was
        put away."""
        first = self._dial.sections.index(self._dial.at(turn.begun))
        rests = [s for s, after in zip(came, came[1:], strict=False)
                 if s.section != first and after.since_s - s.since_s >= LIMITS.notice_s] + [came[-1]]
        if self._section(came[-1]) in turn.ways and len(rests) == 1:
            return came[-1]
        left = (came if len(rests) == 1 else rests)[len(turn.mine):]
        return left[0] if left else None

    def _went(self, turn: _Turn, way: Event, stop: Stop) -> Decision:
        """The move that ended where the piece was seen to stop."""
        less = (1.0 - DIAL.sure) / max(1, len(turn.ways) - 1)
        return self._told(turn, [(way, DIAL.sure), *((w, less) for w in turn.ways.values() if w != way)], asked=False,
                          section=stop.section)

    def _how_far(self, turn: _Turn) -> Decision | None:
        """How far the piece went, as a question; None while it may still be seen, or if people said that it did not.
        """
        ways = list(turn.ways.values())
        if self.now.t_s - turn.laid_s < 2 * LIMITS.ask_after_s and not self.now.last \
                or any(self._denied(turn, way) for way in ways):
            return None
        return self._told(turn, [(way, 1.0 / len(ways)) for way in ways], asked=True)

    def _put_away(self, turn: _Turn, way: Event | None) -> Decision | None:
        """Whether a tile with a sign was put away before a turn's tile, which has none, as a question."""
        if way is None or turn.mine or self._denied(turn, way):
            return None
        return self._told(turn, [(way, DIAL.put_away), (None, 1.0 - DIAL.put_away)], asked=True)

    def _ends_there(self, turn: _Turn) -> Event | None:
        """The move that ends where the piece stopped, which no sign explains."""
        stop = self._unexplained(turn) if not turn.mine else None
        return turn.ways.get(self._section(stop)) if stop is not None else None

    def _less_than_seen(self, turn: _Turn) -> Event | None:
        """The move before a turn's tile that is lacking if the one that the log has before the next tile, which people
        may have told, does not lead to where the piece was seen to stop when both tiles came to sight."""
        following, after_both = (laid_s(self.belief, self.log, turn.n + k) for k in (1, 2))
        if turn.signed or following is None or bare_s(self.belief, self.log, turn.n + 1) >= turn.laid_s:
            return None
        told, both = _before(self.log, turn.n + 1, turn.ways.values()), max(turn.laid_s, following)
        first = self._dial.sections.index(self._dial.at(turn.before))
        came = [s for k, s in enumerate(self.piece.stops) if turn.last_s < s.since_s <= both
                and (s.section != first or k > 0)]
        if len(told) != 1 or len(came) != 1 or after_both is not None and after_both <= both:
            return None
        return next((way for way in turn.ways.values()
                     if self._after(turn.before, way, told[0].event) == self._section(came[0])), None)

    def _after(self, state: GameState, *moves: Event) -> str | None:
        """Where the piece is after these moves; None if the rules do not allow them."""
        for move in moves:
            then = self.steps.after(state, move)
            if then is None:
                return None
            state = then
        return self._dial.at(state)

    def _unexplained(self, turn: _Turn) -> Stop | None:
        """Where the piece stopped for good before a tile without a sign, if the next tile's sign does not explain that:
        a tile with a sign was put away, which no look shows."""
        if not turn.stops or self._section(self.piece.stops[turn.stops[-1]]) == self._dial.at(turn.before):
            return None
        stop, left = self.piece.stops[turn.stops[-1]], self.piece.stops[turn.stops[-1] + 1:]
        if self.now.t_s - turn.laid_s < LIMITS.ask_after_s and not self.now.last:
            return None  # the tile may turn out to have the sign
        if (left[0].since_s if left else self.now.t_s) - stop.since_s < LIMITS.ask_after_s:
            return None  # something passed by, maybe
        if left and self._section(left[0]) == self._dial.at(turn.before):
            return None  # it was misread: the piece never goes back
        if stop.since_s <= bare_s(self.belief, self.log, turn.n):
            return stop
        following = laid_s(self.belief, self.log, turn.n + 1)
        if following is None:
            return stop if self.now.last else None  # the next tile may have the sign
        then = any(turn.laid_s < s.since_s <= following for s in left)
        return stop if then or not self._may_have_sign(turn.n + 1) else None

    def _has_sign(self, n: int) -> bool:
        """Whether the log has a tile with the sign in a turn."""
        tile = self.log.groups[n].tile if n < len(self.log.groups) else None
        return tile is not None and isinstance(tile.event, TilePlaced) \
            and self._dial.moves(self.states[-1].box.tile(tile.event.tile))

    def _may_have_sign(self, n: int) -> bool:
        """Whether a turn's tile has the sign, or may turn out to have it."""
        tile = self.log.groups[n].tile
        return self._has_sign(n) or tile is not None and isinstance(tile.event, TilePlaced) and not tile.pinned \
            and _may_have_sign(self._dial, self.states[self.log.span(n)[0]], tile.event)


def _may_have_sign(dial: Dial, state: GameState, placed: TilePlaced) -> bool:
    """Whether a kind with the same edges has the sign."""
    edges = state.box.shape(placed.tile, placed.rot).edges
    return any(dial.moves(state.box.tile(tile)) and edges in {state.box.shape(tile, rot).edges for rot in range(4)}
               for tile, left in state.left.items() if left > 0)


def _begun(log: LoggedGame, states: Sequence[GameState], n: int, kinds: Collection[type[Event]]) -> GameState:
    """The state before the moves that the log has before a turn's tile."""
    end = log.span(n)[0]
    lines = log.groups[n - 1].lines if n else ()
    moved = next((k for k, line in enumerate(lines) if type(line.event) in kinds), len(lines))
    return states[end - len(lines) + moved]


def _last_seq(log: LoggedGame, n: int) -> int:
    """The entry after which a move before a turn's tile is put."""
    return log.groups[n - 1].last_seq if n else 0


def taken(event: FigureEvent, standing: Collection[StandingFigure]) -> bool:
    """Whether the figure of an event is among these."""
    return any((event.player, event.figure, event.at, event.feature, event.where)
               == (f.player, f.figure, f.at, f.feature, f.where) for f in standing)


def _before(log: LoggedGame, n: int, ways: Collection[Event]) -> list[LoggedEvent]:
    """The events of the kind of these moves that the log has before a turn's tile, after the one before."""
    kinds = {type(way) for way in ways}
    return [line for line in log.groups[n - 1].rest if type(line.event) in kinds] if n else []


def laid_s(belief: TableBelief, log: LoggedGame, n: int) -> float | None:
    """When a turn's tile was first seen."""
    since_s = belief.since_s(log.groups[n].at if 0 <= n < len(log.groups) else None)
    return since_s if since_s < math.inf else None


def bare_s(belief: TableBelief, log: LoggedGame, n: int) -> float:
    """When the square of a turn's tile was last seen without it: the tile lay there at some time after that."""
    return belief.bare_s(log.groups[n].at if 0 <= n < len(log.groups) else None)


def missing(belief: TableBelief, event: FigureEvent, colours: Mapping[str, int]) -> bool:
    """Whether the figure of an event was seen on its tile and is seen to be gone."""
    mine = [f for f in belief.by_square.get(event.at, ()) if f.real > 0 and colours.get(f.paint) == event.player]
    return bool(mine) and all(f.missed >= TAKEN for f in mine)
