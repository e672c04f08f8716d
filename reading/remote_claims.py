"""Figures placed on an older tile because a rule allowed it: reported in the turn that allowed it.

Only the tile just laid may be claimed, unless that tile says otherwise (`Expansion.reaches`). A figure that was not on
its tile at the end of that tile's turn, and that appeared after a tile which lets its player place one there, belongs
to the turn of the latter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.belief import TableBelief
from reading.evidence import choices
from reading.figure_track import FigureTrack
from reading.layings import cost
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, LoggedTurn
from reading.pieces import about_size
from reading.policy import Decision, Doubt, Moment
from reading.stack_limits import STACK
from scoring.engine import step
from scoring.events import FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Point, Square
from vision.looks import probability

SURELY = 2.0  # log-odds from which a figure on an older tile is taken to be more than print


@dataclass(slots=True)
class RemoteClaims:
    """Finds them. Caches what the rules allowed in each turn until the log changes."""

    _version: int = -1
    _allowed: dict[int, tuple[FigurePlaced, ...]] = field(default_factory=dict)

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
              now: Moment, tops: Mapping[Square, Point] | None = None, fresh: Collection[Square] = (),
              sized: Mapping[int, FigureTrack] | None = None) -> tuple[TableBelief, list[Decision], list[Doubt]]:
        """The belief without those figures, which did not claim their tile in its own turn; what to report of them, and
        what to ask. ``states`` are the states after each event of the log, preceded by the initial one; ``tops`` are
        the tops of piles by square, as they appear, in tiles of the board. While ``fresh`` tiles are not in the log, a
        figure that was not there before them waits, for as long as they may take to be logged: it may be of the turn
        of one of them. ``sized`` has the tracks with what all figures of the table together say of their pieces
        (`reading.pieces`)."""
        if log.version != self._version:
            self._version, self._allowed = log.version, {}
        put = [(line.event, g) for g in log.groups for line in g.rest
               if isinstance(line.event, FigurePlaced) and line.event.at != g.at]
        stand = {(s.at, s.player, s.feature) for s in states[-1].standing.values()}
        told: list[Decision] = []
        asked: list[Doubt] = []
        apart: dict[int, float] = {}  # with the end of their tile's turn
        others: dict[int, FigureTrack] = {}  # those that stand beside where they were, as other ones
        known = {e.at for e, _ in put}
        awaited = min((_bare_s(belief, at) for at in fresh), default=math.inf) if states[-1].box.reaching else math.inf
        new = [at for at in fresh if now.t_s - belief.since_s(at) <= LIMITS.ask_after_s]  # any other is rather no tile
        bare = min((_bare_s(belief, at) for at in new), default=math.inf)
        since = min((belief.since_s(g.at) for g in log.groups[-LIMITS.open_turns:]), default=0.0)
        for at, tracks in _by_square(belief, tops or {}).items():
            if at not in known and not any((f.moved or f).back_s >= since for f in tracks):
                continue
            group = log.group_at(at)
            if not log.groups or group is log.groups[-1] or group is None and at not in states[0].tiles:
                continue  # the start tiles have no turn, and nobody claimed them before the first one
            over_s = _over_s(belief, log, group)
            for f in tracks:
                player, another = colours.get(f.paint, -1), f.as_another
                if another is not None and f.back_s < over_s \
                        and not _is_logged(f, at, player, belief, states[-1], colours):
                    others[f.id] = f = another
                if f.real < SURELY or player < 0 or f.back_s < over_s:
                    continue
                mine = [(e, g) for e, g in put if (e.at, e.player) == (at, player)]
                # whoever came after the turn of one that has left is another one
                logged = any((at, player, e.feature) in stand or g is log.groups[-1]
                             or f.back_s < _over_s(belief, log, g) for e, g in mine)
                top = (tops or {}).get(at)
                told_as = (sized or {}).get(f.id, f)
                if f.id in others:
                    told_as = told_as.as_another or f
                made = None if logged else self._of(told_as, at, group, player, belief, log, states, colours, now, top)
                if mine or made is not None or f.back_s > awaited and not now.last \
                        and not _came_with(f, at, belief):
                    apart[f.id] = over_s
                doubt = self._may_be_allowed(f, at, group, player, belief, log, states, colours, now) \
                    if not logged and made is None and states[-1].box.reaching and f.id not in others else None
                if doubt is not None:
                    apart[f.id] = over_s
                    asked.append(doubt)
                if f.back_s > bare and not now.last:
                    continue
                for_s = math.inf if now.last else now.t_s - f.back_s
                if made is not None and f.id in others:
                    made = replace(made, asked=True)  # it may have been pushed only
                if made is not None and f.momentary and for_s < LIMITS.ask_after_s:
                    if f.missed > 0.0 or for_s < LIMITS.notice_s or _goes_on(made, log):
                        continue  # another look may see it, too
                    made = replace(made, asked=True)
                if made is not None and made.asked:
                    asked.append(Doubt(decision=made, gain=1.0, due=True))
                elif made is not None and for_s >= LIMITS.notice_s:
                    told.append(made)
        if apart:  # who was seen first with the next tile may have stood there before it
            rest = {i: f if i not in apart else others.get(i, f).as_before if f.came_s <= apart[i] else None
                    for i, f in belief.figures.items()}
            belief = replace(belief, figures={i: f for i, f in rest.items() if f is not None})
        return belief, told, asked

    def _of(self, f: FigureTrack, at: Square, group: LoggedTurn | None, player: int, belief: TableBelief,
            log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int], now: Moment,
            top: Point | None) -> Decision | None:
        """The figure as a move of the newest turn that began before the figure appeared and that allowed it; rather of
        one to which no other figure belongs than of one whose figure may be the same one, seen on its way."""
        if not f.present or _is_logged(f, at, player, belief, states[-1], colours):
            return None
        hidden = {n for n in log.newest(LIMITS.late_turns) if n < len(log.groups) - LIMITS.open_turns
                  and f.absent_s is not None and f.absent_s < _over_s(belief, log, log.groups[n])}
        own = {n: log.groups[n].figures() for n in [*log.newest(LIMITS.open_turns), *sorted(hidden, reverse=True)]}
        passed = {n: lines[0] for n, lines in own.items() if _passed(n, f, player, belief, log, colours)}
        for n in [*(n for n, lines in own.items() if not lines), *passed]:
            turn = log.groups[n]
            if turn is group or turn.tile is None or _came_later(belief, turn, f.back_s):
                continue
            first, end = log.span(n)
            k = first + turn.lines.index(passed[n]) if n in passed else end
            state = states[k]
            here = [e for e in self.answers(k, state) if (e.at, e.player) == (at, player)]
            allowed, placed = {_plain(e): e for e in here}, state.tiles.get(at)
            if not allowed or placed is None:
                continue
            ranked = [(allowed[c.event], c.weight) for c in
                      choices([f], state, at, (placed.tile, placed.rot), player, colours) if c.event in allowed]
            ranked = sorted([*ranked, *_on_top(f, allowed.values(), top, state)], key=lambda r: -r[1])
            if not ranked:
                continue
            (event, best), *rest = ranked
            if event in log.denied:
                return None
            margin = best - rest[0][1] if rest else LIMITS.floor
            elsewhere = max((w for e, w in rest if not about_size(e, event)), default=-math.inf)
            options = tuple(((e,), probability(w - best)) for e, w in ranked[:4])
            # its tile was seen bare after that tile's turn, or the figure is not the one of the player who laid it
            late = f.absent_s is not None and f.absent_s >= _over_s(belief, log, group)
            laid = group.tile if group is not None else None
            sure = late or laid is None or getattr(laid.event, "player", player) != player
            # that it stands there is told at once; which size it is, other figures may still show (`piece_doubts`)
            doubtful = not sure or best - elsewhere < LIMITS.agreed or n in hidden
            made = Decision(events=(event,), confidence=probability(margin), asked=doubtful, alternatives=options,
                            at=at, frame=now.frame)
            if n in passed:
                return _instead(made, passed[n], f)
            return made if n == len(log.groups) - 1 else replace(made, after=_before(turn.rest, turn.last_seq))
        return None

    def _may_be_allowed(self, f: FigureTrack, at: Square, group: LoggedTurn | None, player: int, belief: TableBelief,
                        log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
                        now: Moment) -> Doubt | None:
        """A question about the tile of the newest turn that would have allowed the figure if its tile were another one
        as which it may be read: what nothing else allows speaks for that one. None if there is no such turn, or if the
        figure may have stood on its own tile all the time."""
        if not f.present or f.absent_s is None or f.absent_s < _over_s(belief, log, group) or \
                _is_logged(f, at, player, belief, states[-1], colours):
            return None
        for n in log.newest(LIMITS.open_turns):
            turn = log.groups[n]
            line, track = turn.tile, belief.squares.get(turn.at) if turn.at is not None else None
            if turn is group or line is None or line.pinned or turn.figures() or track is None or track.laid is None \
                    or not isinstance(line.event, TilePlaced) or line.event.player != player \
                    or _came_later(belief, turn, f.back_s):
                continue
            said, _ = track.laid.readings
            before = states[log.span(n)[0] + turn.lines.index(line)]
            options = {replace(line.event, tile=tile, rot=rot): odds + math.log(before.left[tile])
                       for (tile, rot), odds in said.items() if odds > -LIMITS.clearly and before.left.get(tile)}
            weights = {e: odds + min(f.real, LIMITS.unallowed) * self._allows(e, at, before)
                       for e, odds in options.items() if not cost(before, step(before, e))}
            if line.event not in weights or all(weights[e] == options[e] for e in weights):
                continue
            top = max(weights.values())
            total = sum(math.exp(w - top) for w in weights.values())
            ranked = sorted(((e, math.exp(w - top) / total) for e, w in weights.items()), key=lambda r: -r[1])[:4]
            if max((w for e, w in weights.items() if e != line.event), default=-math.inf) \
                    < weights[line.event] - LIMITS.sure:
                continue  # the tile is that one, whatever the figure is
            made = Decision(events=(line.event,), confidence=math.exp(weights[line.event] - top) / total, asked=True,
                            alternatives=tuple(((e,), p) for e, p in ranked), at=line.event.at, frame=now.frame,
                            replaces=line.seq)
            return Doubt(decision=made, gain=1.0, due=True)
        return None

    @staticmethod
    def _allows(tile: TilePlaced, at: Square, before: GameState) -> bool:
        """Whether a tile would let its player place somebody on that square."""
        after = step(before, tile)
        return any(isinstance(a, FigurePlaced) and (a.at, a.player) == (at, tile.player)
                   for c in after.box.moves(after) if c.event is FigurePlaced for a in c.answers)

    def answers(self, n: int, state: GameState) -> tuple[FigurePlaced, ...]:
        """The placements that the rules allowed on other tiles than the one just laid after ``n`` events of the log,
        which came to this state, also after what may have happened unseen (`reading.unseen`)."""
        if n not in self._allowed:
            may = (state, *(step(state, a) for q in state.box.offers(state) for a in q.answers))
            self._allowed[n] = tuple(dict.fromkeys(
                a for s in may for c in s.box.moves(s) if c.event is FigurePlaced for a in c.answers
                if isinstance(a, FigurePlaced) and a.at != s.last_tile))
        return self._allowed[n]


def _came_with(f: FigureTrack, at: Square, belief: TableBelief) -> bool:
    """Whether a figure has been seen wherever its tile has: nothing speaks for a later turn than that tile's."""
    return f.came_s <= belief.since_s(at) < math.inf and f.absent_s is None


def _passed(n: int, f: FigureTrack, player: int, belief: TableBelief, log: LoggedGame,
            colours: Mapping[str, int]) -> bool:
    """Whether the figure that the log has on the tile of turn ``n`` may have been this one in its player's hand: it was
    seen there before this one came, and neither since nor after the turn."""
    turn, lines = log.groups[n], log.groups[n].figures()
    if len(lines) != 1 or lines[0].pinned or lines[0].asked or getattr(lines[0].event, "player", None) != player:
        return False
    over_s = belief.since_s(log.groups[n + 1].at) if n + 1 < len(log.groups) else math.inf
    seen = [t for t in belief.by_square.get(turn.at or (0, 0), ()) if colours.get(t.paint) == player]
    return bool(seen) and all(not t.present and t.seen_s < min(f.back_s, over_s) for t in seen)


def _instead(made: Decision, line: LoggedEvent, f: FigureTrack) -> Decision:
    """A placement in place of the one that the log has in the same turn, as a question: either that figure was taken up
    again, or no rule allows this one."""
    p, total = probability(min(f.real, LIMITS.unallowed) - LIMITS.taken_back), sum(q for _, q in made.alternatives)
    options = [*((events, p * q / total) for events, q in made.alternatives), ((line.event,), 1.0 - p)]
    return replace(made, asked=True, confidence=options[0][1], replaces=line.seq,
                   alternatives=tuple(sorted(options, key=lambda o: -o[1])))


def _is_logged(f: FigureTrack, at: Square, player: int, belief: TableBelief, state: GameState,
               colours: Mapping[str, int]) -> bool:
    """Whether it may be one that the log already has on that square."""
    stand = sum(s.at == at and s.player == player for s in state.standing.values())
    others = sum(t.present and colours.get(t.paint) == player
                 for t in belief.by_square.get(at, ()) if t.back_s < f.back_s)
    return others < stand


def _goes_on(made: Decision, log: LoggedGame) -> bool:
    """Whether the move will still be told if it waits: its turn is not the oldest one in which it may be."""
    oldest = log.groups[-LIMITS.open_turns:][0]
    return made.after is None or made.after > oldest.last_seq


def _by_square(belief: TableBelief, tops: Mapping[Square, Point]) -> dict[Square, list[FigureTrack]]:
    """The figures by the squares on whose tile or pile they stand."""
    if not tops:
        return belief.by_square
    out: dict[Square, list[FigureTrack]] = {}
    for at, tracks in belief.by_square.items():
        for f in tracks:
            nearest = min(tops, key=lambda square: math.dist(f.foot, tops[square]))
            out.setdefault(nearest if math.dist(f.foot, tops[nearest]) < STACK.on_top else at, []).append(f)
    return out


def _on_top(f: FigureTrack, allowed: Iterable[FigurePlaced], top: Point | None,
            state: GameState) -> list[tuple[FigurePlaced, float]]:
    """Its placements on a pile, whose top appears there, with their log-weights."""
    if top is None or math.dist(f.foot, top) >= STACK.on_top:
        return []
    tops = {stack.top for stack in state.box.stacks}
    return [(e, f.kinds.get(e.figure, 0.0) - LIMITS.seldom_piece * (state.box.counts[e.figure] == 1))
            for e in allowed if e.feature in tops]


def _plain(event: FigurePlaced) -> FigurePlaced:
    """The event reduced to what it would be on the tile just laid."""
    return FigurePlaced(player=event.player, figure=event.figure, at=event.at, feature=event.feature, where=event.where)


def _over_s(belief: TableBelief, log: LoggedGame, group: LoggedTurn | None) -> float:
    """When a tile's turn was over: when the next tile was first seen. Without a turn, when the first tile was."""
    n = next((n for n, g in enumerate(log.groups) if g is group), -1) + 1
    since = belief.since_s(log.groups[n].at) if n < len(log.groups) else math.inf
    return since if since < math.inf else 0.0


def _came_later(belief: TableBelief, turn: LoggedTurn, than_s: float) -> bool:
    """Whether the turn's tile was surely not there yet at a time: its square was seen bare at that time or later."""
    return turn.at is None or _bare_s(belief, turn.at) > than_s


def _bare_s(belief: TableBelief, at: Square) -> float:
    """When a square with a tile was last seen bare, else since when its tile has been seen; infinite without one."""
    track = belief.squares.get(at)
    if track is None or track.laid is None:
        return math.inf
    return track.laid.since_s if track.laid.bare_s is None else track.laid.bare_s


def _before(rest: Sequence[LoggedEvent], otherwise: int) -> int:
    return rest[-1].seq if rest else otherwise
