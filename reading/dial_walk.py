"""How far the piece of a dial went, and before which tile: from the sections on which it was seen to stop."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reading.belief import FigureTrack, TableBelief
from reading.dial_face import Face
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame
from reading.policy import Decision, Moment
from reading.removals import TAKEN
from scoring.contributions import Dial
from scoring.events import Event, FigureEvent, TilePlaced, from_json, to_json
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


def walks(piece: Piece, steps: Steps, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
          colours: Mapping[str, int], now: Moment) -> Iterator[Decision]:
    """The move before a tile whose sign makes the piece move, for the oldest of the newest turns that lacks it."""
    face, dial, stops = piece.face, piece.face.dial, piece.stops
    for n in range(max(0, len(log.groups) - DIAL.newest), len(log.groups)):
        tile = log.groups[n].tile
        if tile is None or not isinstance(tile.event, TilePlaced):
            continue
        before = states[log.span(n)[0]]
        player = tile.event.player
        ways = {dial.at(after): way for way in (by(way, player) for way in dial.ways(before))
                if (after := steps.after(before, way)) is not None}
        mine = _before(log, n, ways.values())
        laid, last = laid_s(belief, log, n), laid_s(belief, log, n - 1)
        if laid is None or not ways or any(line.pinned for line in mine):
            continue
        begun = _begun(log, states, n, {type(way) for way in ways.values()})
        signed = dial.moves(before.box.tile(tile.event.tile))
        split = _split(piece, n, begun, mine, steps, belief, log, states, colours) if signed else None
        if split:
            if mine and mine[0].asked:
                return  # the move before the next tile depends on it
            options = [(way, p * DIAL.sure) for way, p in split]
            way, p = options[0]
            unsure = p < DIAL.piece
            if not log.denied_in(n - 1, way) and (not mine or unsure or mine[0].event != way):
                yield Decision(events=(way,), confidence=p, asked=unsure, frame=now.frame,
                               alternatives=tuple(((w,), q) for w, q in options), at=face.square(0),
                               replaces=mine[0].seq if mine else None, after=None if mine else _last_seq(log, n))
                return
        for line, own in ((line, by(line.event, player)) for line in mine):
            if own != line.event and not log.denied_in(n - 1, own):
                yield Decision(events=(own,), confidence=DIAL.sure, asked=False, alternatives=(),
                               at=face.square(0), frame=now.frame, replaces=line.seq)
                return
        if split is not None and mine:
            continue
        came = [s for s in stops if (last or -math.inf) < s.since_s <= laid]
        if not came:  # nobody saw which came first, the tile before or this stop: its own move is in the log
            least = bare_s(belief, log, n - 1)
            came = [s for s in stops if s.since_s <= laid][-1:]
            came = [s for s in came if s.since_s > least and dial.sections[s.section] != dial.at(before)]
        if mine and (not came or dial.at(before) == dial.sections[came[-1].section]):
            continue
        if not signed and not (came and not tile.pinned and _may_have_sign(dial, before, tile.event)):
            stop = _put_away(piece, n, before, belief, log, states, now) if not mine else None
            way_there = ways.get(dial.sections[stop.section]) if stop is not None else None
            if way_there is not None and not log.denied_in(n - 1, way_there):
                yield Decision(events=(way_there,), confidence=DIAL.put_away, asked=True, frame=now.frame,
                               alternatives=(((way_there,), DIAL.put_away), ((), 1.0 - DIAL.put_away)),
                               at=face.square(0), after=_last_seq(log, n))
                return
            continue
        if not came:  # moved afterwards, if no other tile can be the reason
            following = laid_s(belief, log, n + 1)
            after_it = [s for s in stops if laid < s.since_s <= (following or math.inf)]
            newest = n == len(log.groups) - 1
            if after_it and (newest and (now.last or now.t_s - after_it[0].since_s >= LIMITS.ask_after_s)
                             or not newest and not _signed(dial, states[-1], log, n + 1)):
                came = after_it[:1]
        else:  # it may have moved twice: a tile with a sign was put away
            first = dial.sections.index(dial.at(begun))
            rests = [s for s, after in zip(came, came[1:], strict=False)
                     if s.section != first and after.since_s - s.since_s >= LIMITS.notice_s] + came[-1:]
            if dial.sections[came[-1].section] not in ways or len(rests) > 1:
                came = (came if len(rests) == 1 else rests)[len(mine):len(mine) + 1]
        section = dial.sections[came[-1].section] if came else ""
        if section in ways and log.denied_in(n - 1, ways[section]):
            continue
        if section in ways:
            way = ways[section]
            others = tuple(((w,), (1.0 - DIAL.sure) / max(1, len(ways) - 1)) for s, w in ways.items() if w != way)
            yield Decision(events=(way,), confidence=DIAL.sure, asked=False, at=face.square(came[-1].section),
                           alternatives=(((way,), DIAL.sure), *others), frame=now.frame, after=_last_seq(log, n))
            return
        waits = now.t_s - laid < 2 * LIMITS.ask_after_s and not now.last
        if signed and not waits and not any(log.denied_in(n - 1, way) for way in ways.values()):
            likely = tuple(((w,), 1.0 / len(ways)) for w in ways.values())
            yield Decision(events=likely[0][0], confidence=1.0 / len(ways), asked=True, alternatives=likely,
                           at=face.square(0), frame=now.frame, after=_last_seq(log, n))
        if signed:
            return  # those after it depend on it


def _put_away(piece: Piece, n: int, before: GameState, belief: TableBelief, log: LoggedGame,
              states: Sequence[GameState], now: Moment) -> Stop | None:
    """Where the piece stopped for good before a tile without a sign, if the next tile's sign does not explain that: a
    tile with a sign was put away, which no look shows."""
    dial, stops = piece.face.dial, piece.stops
    laid, last, following = (laid_s(belief, log, m) for m in (n, n - 1, n + 1))
    came = [k for k, s in enumerate(stops) if (last or -math.inf) < s.since_s <= (laid or -math.inf)]
    if not came or dial.sections[stops[came[-1]].section] == dial.at(before):
        return None
    stop, left = stops[came[-1]], stops[came[-1] + 1:]
    if now.t_s - (laid or now.t_s) < LIMITS.ask_after_s and not now.last:
        return None  # the tile may turn out to have the sign
    if (left[0].since_s if left else now.t_s) - stop.since_s < LIMITS.ask_after_s:
        return None  # something passed by, maybe
    if left and dial.sections[left[0].section] == dial.at(before):
        return None  # it was misread: the piece never goes back
    if stop.since_s <= bare_s(belief, log, n):
        return stop
    if following is None:
        return stop if now.last else None  # the next tile may have the sign
    tile = log.groups[n + 1].tile
    signs = _signed(dial, states[-1], log, n + 1) or tile is not None and isinstance(tile.event, TilePlaced) \
        and not tile.pinned and _may_have_sign(dial, states[log.span(n + 1)[0]], tile.event)
    return stop if not signs or any((laid or 0.0) < s.since_s <= following for s in left) else None


def _split(piece: Piece, n: int, begun: GameState, mine: Sequence[LoggedEvent], steps: Steps, belief: TableBelief,
           log: LoggedGame, states: Sequence[GameState],
           colours: Mapping[str, int]) -> list[tuple[Event, float]] | None:
    """The moves before a tile with their probabilities, the likeliest first, if the next tile has a sign too, both came
    to sight together, and the piece was seen to stop once: it also stopped somewhere in between, where the rules sent
    home who stood there. Empty if the log has the move before the next tile already; None if that is not so."""
    dial, tile = piece.face.dial, log.groups[n].tile
    laid, following = laid_s(belief, log, n), laid_s(belief, log, n + 1)
    if tile is None or laid is None or following is None or not _signed(dial, states[-1], log, n + 1) or len(mine) > 1:
        return None
    least = laid_s(belief, log, n - 1)
    first = dial.sections.index(dial.at(begun))
    came = [s for s in piece.stops if (least if least is not None else -math.inf) < s.since_s <= max(laid, following)
            and (s.section != first or len(piece.stops) > 1 and s is not piece.stops[0])]
    if len(came) != 1 or piece.seen_s < max(laid, following):
        return None
    stop = came[0]
    if laid < following and stop.since_s <= laid:
        return None  # it was seen there when only the first tile was
    if stop.since_s <= max(bare_s(belief, log, n), bare_s(belief, log, n + 1)):
        return None  # or neither of them
    if any(type(line.event) in {type(way) for way in dial.ways(begun)} for line in log.groups[n].rest):
        return []
    player = getattr(tile.event, "player", 0)
    firsts = [(way, after) for way in (by(way, player) for way in dial.ways(begun))
              if (after := steps.after(begun, way)) is not None and any(
                  (then := steps.after(after, by(second, player))) is not None
                  and dial.at(then) == dial.sections[stop.section] for second in dial.ways(after))]
    weights = [_visited(piece, after, begun, stop, steps, belief, states, colours) for _, after in firsts]
    if not weights:
        return None
    total = sum(math.exp(w) for w in weights)
    return sorted(((way, math.exp(w) / total) for (way, _), w in zip(firsts, weights, strict=True)),
                  key=lambda option: -option[1])


def _visited(piece: Piece, after: GameState, begun: GameState, stop: Stop, steps: Steps, belief: TableBelief,
             states: Sequence[GameState], colours: Mapping[str, int]) -> float:
    """What the figures say for a stop of the piece that nobody saw, in nats: those on its section are gone and those on
    others are not; so are those that the rules make people take home there (``after`` it)."""
    dial, out = piece.face.dial, 0.0
    for f in begun.standing.values():
        if f.feature != dial.feature or f.where == dial.sections[stop.section]:
            continue
        tracks = [t for t in piece.figures if t.real > 0.0 and colours.get(t.paint_among(colours)) == f.player
                  and (place := piece.face.section(*t.foot)) is not None and dial.sections[place[0]] == f.where]
        here = any(t.present and t.seen_s >= stop.since_s for t in tracks)
        gone = bool(tracks) and all(t.missed >= TAKEN for t in tracks)
        if here or gone:
            out += 0.5 * DIAL.went * (1.0 if gone == (f.where == dial.at(after)) else -1.0)
    stand = steps.closed(states[-1]).standing.values()
    for question in after.box.questions(after):
        answers = [a for a in question.answers if isinstance(a, FigureEvent)]
        if not question.before or not answers or len(answers) != len(question.answers):
            continue
        out += DIAL.went * (1.0 if any(taken(a, stand) and missing(belief, a, colours) for a in answers) else -1.0)
    return out


def _may_have_sign(dial: Dial, state: GameState, placed: TilePlaced) -> bool:
    """Whether a kind with the same edges has the sign."""
    edges = state.box.shape(placed.tile, placed.rot).edges
    return any(dial.moves(state.box.tile(tile)) and edges in {state.box.shape(tile, rot).edges for rot in range(4)}
               for tile, left in state.left.items() if left > 0)


def _signed(dial: Dial, state: GameState, log: LoggedGame, n: int) -> bool:
    tile = log.groups[n].tile if n < len(log.groups) else None
    return tile is not None and isinstance(tile.event, TilePlaced) and dial.moves(state.box.tile(tile.event.tile))


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


def by(event: Event, player: int) -> Event:
    """The same move by the player of the tile that it precedes."""
    return event if getattr(event, "player", player) == player else from_json({**to_json(event), "player": player})


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
    at = log.groups[n].at if 0 <= n < len(log.groups) else None
    track = belief.squares.get(at) if at is not None else None
    laid = track.laid if track is not None else None
    return -math.inf if laid is None or laid.bare_s is None else laid.bare_s


def missing(belief: TableBelief, event: FigureEvent, colours: Mapping[str, int]) -> bool:
    """Whether the figure of an event was seen on its tile and is seen to be gone."""
    mine = [f for f in belief.by_square.get(event.at, ()) if f.real > 0 and colours.get(f.paint) == event.player]
    return bool(mine) and all(f.missed >= TAKEN for f in mine)
