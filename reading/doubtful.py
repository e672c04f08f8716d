"""Doubts about tiles and pieces of older turns: all looks together are less sure of them than those at the time when
they were logged, so people are asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reading.belief import TableBelief
from reading.evidence import figures_on, readings_of
from reading.figure_track import FigureTrack
from reading.layings import COSTS, cost
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, LoggedTurn
from reading.pieces import PIECES, SIZES
from reading.policy import Decision, Doubt, Moment
from reading.shapes import Reading, shape
from reading.sightings import NEUTRAL, Sightings
from reading.stack_limits import STACK
from reading.tile_track import TileTrack
from scoring.board import mismatches
from scoring.engine import step
from scoring.errors import IllegalMove
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Point, Square, catalogue
from vision.looks import probability


def _rules(reading: Reading, at: Square, used: Mapping[str, int], state: GameState) -> float:
    """Log-weight of a reading given its neighbours and the box."""
    tile, rot = reading
    left = state.box.contents.get(tile, 0) - used.get(tile, 0)
    kind = catalogue().get(tile)
    wrong = 0 if kind is None else len(mismatches(state.board, kind, at, rot))
    return (math.log(left) if left > 0 else -COSTS["too_many"]) - COSTS["edge_mismatch"] * wrong


class DoubtfulTiles:
    """Logged tiles that have become doubtful, each weighed again when a look or the game has changed."""

    def __init__(self) -> None:
        self._state: GameState | None = None
        self._used: Counter[str] = Counter()
        self._said: dict[Square, tuple[TileTrack, LoggedEvent, dict[Reading, float]]] = {}
        self._doubts: dict[Square, tuple[TileTrack, Doubt | None]] = {}  # in this state

    def of(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], seen: Mapping[str, Sightings],
           now: Moment) -> dict[int, Doubt]:
        """The doubts by the sequence number of the tile's entry, without what people have settled, what is asked
        already, and the newest turns. ``states`` are the states after each event of the log, preceded by the initial
        one; ``seen`` is where neutral pieces were seen."""
        state = states[-1]
        if state is not self._state:
            self._state, self._used = state, Counter(t.tile for t in state.tiles.values())
            self._doubts.clear()
        out = {}
        for n, group in enumerate(log.groups[:-LIMITS.open_turns]):
            line, at = group.tile, group.at
            if line is None or line.pinned or line.asked or at is None:
                continue
            track = belief.squares.get(at)
            laid = track.laid if track is not None else None
            if laid is None:
                continue
            known = self._doubts.get(at)
            if known is None or known[0] is not laid:
                known = self._doubts[at] = laid, self._weighed(laid, line, group, states[log.span(n)[0]], state, seen)
            if known[1] is not None:
                made = replace(known[1].decision, frame=now.frame, replaces=line.seq)
                out[line.seq] = replace(known[1], decision=made)
        return out

    def _weighed(self, laid: TileTrack, line: LoggedEvent, group: LoggedTurn, before: GameState,
                 state: GameState, seen: Mapping[str, Sightings]) -> Doubt | None:
        tile = line.event
        assert isinstance(tile, TilePlaced)
        kept = self._said.get(tile.at)
        if kept is None or kept[0] is not laid or kept[1].event != tile:
            kept = self._said[tile.at] = laid, line, readings_of(laid, state.box, [(tile.tile, tile.rot)])
        said = kept[2]
        if len(said) == 1:
            return None
        used = self._used.copy()
        there = state.tiles.get(tile.at)
        used[there.tile if there is not None else ""] -= 1
        odds = {r: v + _rules(r, tile.at, used, state) for r, v in said.items()}
        own, other = _best(odds, tile)
        if own - other < LIMITS.agreed and own > -math.inf:  # what else happened in the turn speaks for some, too
            _, after = _turn(tile, group, before)
            odds = {r: v - _against(replace(tile, tile=r[0], rot=r[1]), group, before, after, seen)
                    for r, v in odds.items()}
            own, other = _best(odds, tile)
        if own - other >= LIMITS.agreed or own == -math.inf:
            return None
        total = sum(math.exp(v) for v in odds.values())
        ranked = sorted(odds.items(), key=lambda o: -o[1])[:4]
        options: list[tuple[tuple[Event, ...], float]] = [
            ((TilePlaced(player=tile.player, tile=r[0], at=tile.at, rot=r[1], part=tile.part),), math.exp(v) / total)
            for r, v in ranked]
        made = Decision(events=(tile,), confidence=math.exp(own) / total, asked=True, alternatives=tuple(options),
                        at=tile.at, frame=0, replaces=line.seq)
        return Doubt(decision=made, gain=-sum(p * math.log(max(p, 1e-9)) for _, p in options), due=True)


def _best(odds: Mapping[Reading, float], tile: TilePlaced) -> tuple[float, float]:
    """The weights of a tile as it is logged, and of the likeliest other reading."""
    same = shape(tile.tile, tile.rot)
    return (max((v for r, v in odds.items() if shape(*r) == same), default=-math.inf),
            max((v for r, v in odds.items() if shape(*r) != same), default=-math.inf))


def _turn(tile: TilePlaced, group: LoggedTurn, before: GameState) -> tuple[GameState, GameState]:
    """The states after a tile, and after what else happened in its turn than that a figure was put down on it."""
    bare = after = step(before, tile)
    for line in group.others():
        try:
            after = step(after, line.event)
        except IllegalMove:
            continue  # meaningless after that tile, as in `layings`
    return bare, after


def _against(tile: TilePlaced, group: LoggedTurn, before: GameState, logged: GameState,
             seen: Mapping[str, Sightings]) -> float:
    """What speaks against a tile, in nats: the moves of its turn that the rules do not allow then, and pieces that it
    would not have taken to where they were seen, and to where the log has them after the turn (``logged``)."""
    bare, after = _turn(tile, group, before)
    out = cost(bare, after)
    for piece in after.box.neutrals:
        there = piece.at(logged)
        sight = seen.get(piece.name, {}).get(there) if there is not None else None
        if piece.at(after) != there and sight is not None and sight.peak >= NEUTRAL.lead:
            out += min(sight.peak, LIMITS.unallowed)
    return out


def about_piece(doubt: Doubt) -> bool:
    """Whether a doubt is only about which kind of piece stands there."""
    told = doubt.decision.events[0] if doubt.decision.events else None
    others = [e[0] if e else None for e, _ in doubt.decision.alternatives]
    other = next((o for o in others if o != told), None)
    return isinstance(told, FigurePlaced) and isinstance(other, FigurePlaced) \
        and replace(other, figure=told.figure) == told


def piece_waits(belief: TableBelief, doubt: Doubt) -> bool:
    """Whether a doubt is about the piece of a figure, and few have been seen to compare it with: what is large at this
    table shows later, also of a figure that has gone home."""
    return about_piece(doubt) and sum(f.width > 0.0 and f.real > 0.0 for f in belief.figures.values()) < PIECES.enough


def piece_doubts(belief: TableBelief, log: LoggedGame, told: Mapping[int, FigureTrack], state: GameState,
                 colours: Mapping[str, int], now: Moment, tops: Mapping[Square, Point] | None = None,
                 ) -> tuple[dict[int, Doubt], list[Decision]]:
    """Standing followers whose size may not be the logged one: doubts by the sequence number of the figure's entry, and
    amendments where it is clearly the other size. ``told`` has the tracks with what all figures of the table together
    say of their pieces (`reading.pieces`); ``tops`` are those of piles by square, as they appear, in tiles of the
    board. Figures on the newest turns' own tiles are left out: histories weigh them."""
    sizes = [p for p in SIZES if p in state.box.counts]
    doubts: dict[int, Doubt] = {}
    amended: list[Decision] = []
    for n, group in enumerate(log.groups) if len(sizes) == 2 else ():
        for line in group.rest:  # also those that a rule let their player put on another tile
            event = line.event
            if line.pinned or line.asked or not isinstance(event, FigurePlaced) or event.figure not in sizes \
                    or n >= len(log.groups) - LIMITS.open_turns and event.at == group.at:
                continue
            track = next((told[f.id] for f in _seen(event, belief, state, tops or {})
                          if f.id in told and colours.get(f.paint) == event.player), None)
            if track is None:
                continue
            odds = {p: track.kinds[p] - LIMITS.seldom_piece * (p == SIZES[1]) for p in sizes}
            other = sizes[1 - sizes.index(event.figure)]
            lead = odds[event.figure] - odds[other]
            if lead >= LIMITS.agreed:
                continue
            likely = probability(lead)
            options: list[tuple[tuple[Event, ...], float]] = [((event,), likely),
                                                              ((replace(event, figure=other),), 1 - likely)]
            options.sort(key=lambda o: -o[1])
            made = Decision(events=(event,), confidence=likely, asked=True, alternatives=tuple(options), at=event.at,
                            frame=now.frame, replaces=line.seq)
            has = any(f.player == event.player and f.figure == other for f in state.standing.values())
            if -lead >= LIMITS.amend and (other == SIZES[0] or not has):
                amended.append(replace(made, events=options[0][0], confidence=1 - likely, asked=False))
            else:
                doubts[line.seq] = Doubt(decision=made, gain=-sum(p * math.log(max(p, 1e-9)) for _, p in options),
                                         due=True)
    return doubts, amended


def _seen(event: FigurePlaced, belief: TableBelief, state: GameState, tops: Mapping[Square, Point],
          ) -> list[FigureTrack]:
    """The tracks of what may be a figure of the log, the likeliest first: whoever stands on a pile appears where its
    top does."""
    top = tops.get(event.at) if event.feature in {stack.top for stack in state.box.stacks} else None
    if top is None:
        return figures_on(belief, event.at)
    apart = {f.id: math.dist(f.foot, top) for f in belief.figures.values() if f.real > 0.0}
    return [belief.figures[i] for i in sorted(apart, key=apart.__getitem__) if apart[i] < STACK.on_top]
