"""The dial in the middle of a start board: where its piece stopped, and the figures on its sections.

The piece is tracked by section. A tile whose sign makes it move is laid after it moved: the section on which it stood
when that tile appeared says how far, and what the rules make of that goes into the log before the tile. Figures on the
board stand on sections of the dial, since nothing else of it can be claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.belief import TableBelief
from reading.belief import updated as belief_after
from reading.dial_face import Face
from reading.dial_walk import DIAL, Piece, Stop, Walks, bare_s, laid_s, missing, taken
from reading.figure_track import FigureTrack
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, by
from reading.passed_over import turns_when
from reading.pieces import kinds
from reading.policy import Decision, Doubt, Moment
from reading.sightings import NEUTRAL, Sightings, stands_on, updated
from scoring.contributions import View
from scoring.events import Event, FigureEvent, TilePlaced
from scoring.state import GameState, in_hand
from scoring.tiles import Square
from vision.looks import SquareLook, TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Since when all looks at its square have seen a figure, how many they are, and when one before did not see it
    (None: never). A hand passes by with figures, too; and one that went home and came back is in the same place."""

    since_s: float = math.inf
    looks: int = 0
    absent_s: float | None = None

    def stands(self, t_s: float, last: bool = False) -> bool:
        """Whether it has been there for long enough to have been put there."""
        return self.looks > 0 and last or self.looks >= DIAL.looks and t_s - self.since_s >= LIMITS.notice_s


@dataclass(slots=True)
class DialMoves:
    """Explains what happens on a game's dials; ``begun`` is the state before the first turn."""

    steps: Steps
    begun: GameState
    faces: list[Face] = field(init=False)
    _looks: dict[Square, SquareLook] = field(default_factory=dict)
    _seen: dict[str, dict[str, Sightings]] = field(default_factory=dict)
    _stops: dict[str, list[Stop]] = field(default_factory=dict)
    _beliefs: dict[str, TableBelief] = field(default_factory=dict)
    _stays: dict[str, dict[int, Stay]] = field(default_factory=dict)  # by dial and figure
    _came: dict[str, dict[int, float]] = field(default_factory=dict)  # when a figure's first lasting stay began

    def __post_init__(self) -> None:
        self.faces = [face for dial in self.begun.box.dials if (face := Face(dial, self.begun)).squares]

    def look(self, look: TableLook) -> TableLook:
        """Add a look that is aligned with the game; returns it without the figures on the dials' boards, and without
        their print elsewhere."""
        for face in self.faces:
            look = face.only_here(look)
        squares = {at: s for face in self.faces for at, s in look.squares.items()
                   if at in face.squares and s.figures is not None and s.seen >= LIMITS.seen_least}
        if not squares:
            return look
        self._looks |= squares
        for face in self.faces:
            name, mine = face.dial.name, face.look(self._looks, squares.keys(), look)
            figures = {at: SquareLook(there=LIMITS.sure, seen=s.seen, figures=s.figures)
                       for at, s in squares.items() if at in face.squares}
            self._beliefs[name] = belief_after(self._beliefs.get(name, TableBelief()),
                                               replace(look, squares=figures, whole=False))
            stays = self._stays.setdefault(name, {})
            for f in self._beliefs[name].figures.values():
                stay = stays.get(f.id, Stay(absent_s=f.before_s))
                if f.seen_s == look.t_s:
                    stays[f.id] = replace(stay, since_s=min(stay.since_s, look.t_s), looks=stay.looks + 1)
                elif f.looked_s == look.t_s:
                    stays[f.id] = Stay(absent_s=look.t_s)
                    if look.t_s - f.seen_s > LIMITS.ask_after_s and not self._sent_home(face, f):
                        self._came.get(name, {}).pop(f.id, None)  # it was print; whoever comes there now comes anew
            if not mine.squares:
                continue
            self._seen[name] = updated(self._seen.get(name, {}), mine, [name])
            sights = self._seen[name][name]
            found = stands_on(sights)
            if found is not None and found[1] >= NEUTRAL.lead:
                stops = self._stops.setdefault(name, [])
                if not stops or stops[-1].section != found[0][0]:
                    stops.append(Stop(section=found[0][0], since_s=sights[found[0]].came_s))
        return replace(look, squares={at: replace(s, figures=(), neutral={}) if at in squares else s
                                      for at, s in look.squares.items()})

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
               now: Moment) -> tuple[list[Decision], list[Doubt]]:
        """What to report and what to ask. ``states`` are the states after each event of the log, preceded by the
        initial one."""
        told: list[Decision] = []
        doubts: list[Doubt] = []
        for face in self.faces if log.groups and log.groups[-1].tile is not None else ():
            walk = Walks(piece=self._piece(face), steps=self.steps, belief=belief, log=log, states=states,
                         colours=colours, now=now).decide()
            for made in (*((walk,) if walk is not None else ()),
                         *self._took(belief, log, states, colours, now),
                         *self._claimed(face, belief, log, states, colours, now)):
                if made.asked:
                    doubts.append(Doubt(decision=made, gain=1.0, due=True))
                else:
                    told.append(made)
        return told, doubts

    def whose(self, belief: TableBelief, log: LoggedGame, colours: Mapping[str, int],
              now: Moment) -> dict[Square, dict[int, float]]:
        """By the square of a tile what the figures on sections say of its player, in nats: a figure comes in a turn of
        its own player, if not late. Where nobody saw in which turn it came, it may be any of these. One that is gone,
        was not sent home by the piece and is not in the ``log`` was print."""
        count = len(self.begun.scores)
        tiles = sorted((laid.since_s, at) for at, laid in belief.lying().items()
                       if at not in self.begun.tiles and laid.presence > 0.0)
        out: dict[Square, dict[int, float]] = {}
        for face in self.faces:
            name = face.dial.name
            own, stays, came = self._beliefs.get(name, TableBelief()), self._stays.get(name, {}), \
                self._came.setdefault(name, {})
            for f in own.figures.values():
                stay = stays.get(f.id, Stay())
                if stay.stands(now.t_s, now.last):
                    came.setdefault(f.id, stay.since_s)
                if f.id not in came or f.real <= 0.0 or not f.paints or face.section(*f.foot) is None \
                        or not f.present and not self._sent_home(face, f) and not _claims(face, f, log, colours):
                    continue
                first, last = turns_when(f.before_s, came[f.id], tiles, belief)
                if last < 0 or first < 0:
                    continue
                if last == len(tiles) - 1 and now.t_s - came[f.id] < LIMITS.ask_after_s and not now.last:
                    continue  # its turn's tile may not have been found yet
                said = out.setdefault(tiles[last][1], dict.fromkeys(range(count), 0.0))
                real = 1.0 / (1.0 + math.exp(-f.real))
                for player in said:
                    late = {p: max(0, (player - p) % count - (last - first)) for p in colours.values()}
                    fits = sum(math.exp(f.paints.get(c, -12.0) - LIMITS.too_late * late[p]) for c, p in colours.items())
                    said[player] += math.log(1.0 - real + real * fits)
        return out

    def _piece(self, face: Face) -> Piece:
        """What was seen of a dial's piece and of the figures on its sections."""
        name = face.dial.name
        found = stands_on(self._seen.get(name, {}).get(name, {}))
        return Piece(face=face, stops=self._stops.get(name, []),
                     seen_s=self._seen[name][name][found[0]].found_s if found is not None else -math.inf,
                     figures=self._beliefs.get(name, TableBelief()).figures.values())

    # -- figures ----------------------------------------------------------------------------------------------------

    def _took(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
              colours: Mapping[str, int], now: Moment) -> Iterator[Decision]:
        """The figures that people took home because a move of the piece made them."""
        standing = self.steps.closed(states[-1]).standing.values()
        for n in range(max(0, len(log.groups) - DIAL.newest), len(log.groups)):
            before = states[log.span(n)[0]]
            for question in before.box.questions(before):
                answers = [a for a in question.answers if isinstance(a, FigureEvent) and a not in log.denied]
                if not question.before or not answers or len(answers) != len(question.answers):
                    continue
                gone = [a for a in answers if taken(a, standing) and missing(belief, a, colours)]
                if len(answers) == 1 or len(gone) == 1:
                    event = answers[0] if len(answers) == 1 else gone[0]
                    sure = DIAL.sure if len(answers) == 1 else DIAL.forced
                    yield Decision(events=(event,), confidence=sure, asked=False, at=event.at, frame=now.frame,
                                   alternatives=(((event,), sure), ((), 1.0 - sure)),
                                   after=log.groups[n - 1].last_seq if n else 0)
                    return

    def _claimed(self, face: Face, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
                 colours: Mapping[str, int], now: Moment) -> Iterator[Decision]:
        """Figures on sections that the log does not have yet."""
        dial, own = face.dial, self._beliefs.get(face.dial.name, TableBelief())
        claim = type(dial.claim(0, "", dial.sections[0]))
        for group in log.groups[-DIAL.newest:]:  # the tile is another player's than was thought when this was told
            tile = group.tile.event if group.tile is not None else None
            if not isinstance(tile, TilePlaced):
                continue
            for line in group.rest:
                if type(line.event) is claim and not line.pinned and line.event != by(line.event, tile.player):
                    yield Decision(events=(), confidence=DIAL.sure, asked=False, alternatives=(), at=face.square(0),
                                   frame=now.frame, replaces=line.seq)
                    return
        misplaced = self._misplaced(face, claim, belief, log, colours)
        if misplaced is not None:  # it is told anew, in the turn in which it came
            yield Decision(events=(), confidence=DIAL.sure, asked=False, alternatives=(), at=face.square(0),
                           frame=now.frame, replaces=misplaced.seq)
            return
        has = [(f.player, f.where) for f in states[-1].standing.values() if f.feature == dial.feature]
        stays = self._stays.get(dial.name, {})
        came = self._came.get(dial.name, {})
        seen: dict[tuple[int, str], list[FigureTrack]] = {}
        for f in own.figures.values():
            place = face.section(*f.foot)
            stands = stays.get(f.id, Stay()).stands(now.t_s, now.last) or not f.present and self._sent_home(face, f)
            if place is not None and stands and f.real > 0.0 and f.paint_among(colours):
                seen.setdefault((colours[f.paint_among(colours)], dial.sections[place[0]]), []).append(f)
        for (player, section), tracks in sorted(seen.items(), key=lambda s: s[0]):
            here = [f for f in tracks if stays[f.id].looks]
            if here and len(here) <= has.count((player, section)):
                continue
            newest = max(here or tracks, key=lambda f: stays[f.id].since_s if here else came[f.id])
            if newest.real < LIMITS.agreed:
                continue
            stay = stays[newest.id]
            known = any(line.event == dial.claim(player, getattr(line.event, "figure", ""), section)
                        for line in log.lines)
            if known and not here:
                continue
            if not here or not known and came.get(newest.id, math.inf) < stay.since_s:
                # gone before it was known whose turn it was, or a look has missed it since
                stay = replace(stay, since_s=came[newest.id], absent_s=newest.before_s)
            turns, late = _turns_of(stay, player, belief, log)
            if late and (now.t_s - stay.since_s < LIMITS.ask_after_s and not now.last or not here):
                continue  # that turn's tile may not have been found yet
            for n in turns[:1]:
                group, elsewhere = log.groups[n], False
                if any(type(line.event) is claim for line in group.rest):  # one a turn: it came in an earlier one
                    n = _free_turn(log, n, player, claim)
                    if n < 0 or not here or now.t_s - stay.since_s < LIMITS.ask_after_s and not now.last \
                            or [where for _, where in has].count(section) >= dial.spaces[section]:
                        break
                    group, elsewhere = log.groups[n], True
                assert group.tile is not None
                ways = [(dial.claim(player, piece, section), p)
                        for piece, p in _pieces(newest, own, belief, self.steps.closed(states[log.span(n)[0]]), player)]
                if any(log.denied_in(n, event) or elsewhere and event in log.denied for event, _ in ways):
                    break
                mine = group.figures()  # one figure a turn: the tile's print may have been taken for one
                there = max((f.real for f in belief.by_square.get(group.at or (0, 0), ()) if f.present), default=0.0)
                # with a surer figure on the tile both may stand there, although that is one too many: people are asked
                instead = not mine or newest.real >= there + DIAL.surer and there < LIMITS.settles
                if mine and (mine[-1].pinned or not instead and newest.real < LIMITS.sure):
                    break
                # who never was gone for long may not have been taken home yet
                asked = elsewhere or not instead or late > 1 or known and newest.back_s < stay.since_s \
                    or n < len(log.groups) - DIAL.newest  # it was hardly seen for long
                sure, (event, p) = 0.5 if asked else DIAL.sure, ways[0]
                options: list[tuple[tuple[Event, ...], float]] = [((e,), sure * q) for e, q in ways]
                yield Decision(events=(event,), confidence=sure * p, asked=asked or p < DIAL.piece,
                               alternatives=(*options, ((), 1.0 - sure)), at=newest.at, frame=now.frame,
                               after=None if mine and not asked else group.tile.seq,
                               replaces=mine[-1].seq if mine and not asked else None)
                return

    def _sent_home(self, face: Face, f: FigureTrack) -> bool:
        """Whether the piece has stopped on a figure's section since it came."""
        place, came_s = face.section(*f.foot), self._came.get(face.dial.name, {}).get(f.id, math.inf)
        return place is not None and any(
            s.section == place[0] and s.since_s > came_s for s in self._stops.get(face.dial.name, []))

    def _misplaced(self, face: Face, claim: type[Event], belief: TableBelief, log: LoggedGame,
                   colours: Mapping[str, int]) -> LoggedEvent | None:
        """A claim in the log of which a later turn of its player is known by now: it came when that turn's tile lay,
        which was thought to be another player's."""
        dial = face.dial
        for n, group in enumerate(log.groups):
            for line in group.rest if n >= len(log.groups) - DIAL.newest else ():
                event, tile = line.event, group.tile.event if group.tile is not None else None
                if type(event) is not claim or line.pinned or line.asked or not isinstance(tile, TilePlaced) \
                        or sum(other.event == event for other in log.lines) > 1:  # it went home and came back
                    continue
                tracks = [f for f in self._beliefs.get(dial.name, TableBelief()).figures.values()
                          if f.id in self._came.get(dial.name, {}) and f.real >= LIMITS.agreed
                          and colours.get(f.paint_among(colours)) == tile.player
                          and (place := face.section(*f.foot)) is not None
                          and event == dial.claim(tile.player, getattr(event, "figure", ""), dial.sections[place[0]])]
                if len(tracks) != 1:
                    continue
                came_s = self._came[dial.name][tracks[0].id]
                turns, late = _turns_of(Stay(since_s=came_s, absent_s=tracks[0].before_s), tile.player, belief, log)
                if late or not turns or turns[0] <= n or (laid_s(belief, log, turns[0]) or math.inf) > came_s:
                    continue
                if len(log.groups[turns[0]].lines) == 1 and not log.denied_in(turns[0], event):
                    return line
        return None


def _claims(face: Face, f: FigureTrack, log: LoggedGame, colours: Mapping[str, int]) -> bool:
    """Whether the log has a figure's player take its section."""
    place, player = face.section(*f.foot), colours.get(f.paint_among(colours), -1)
    return place is not None and any(
        line.event == face.dial.claim(player, getattr(line.event, "figure", ""), face.dial.sections[place[0]])
        for line in log.lines)


def _free_turn(log: LoggedGame, n: int, player: int, claim: type[Event]) -> int:
    """The newest of a player's turns before one in which the log has no figure of theirs; -1 if there is none."""
    return next((m for m in range(n - 1, -1, -1) if (tile := log.groups[m].tile) is not None
                 and getattr(tile.event, "player", None) == player and not log.groups[m].figures()
                 and not any(type(line.event) is claim for line in log.groups[m].rest)), -1)


def _turns_of(stay: Stay, player: int, belief: TableBelief, log: LoggedGame) -> tuple[list[int], int]:
    """The turns of a player in which a figure may have come, the likeliest first, and how many tiles after theirs lay
    by then without it: 0 if there are turns that it fits. People are in a hurry: it may be one."""
    laid = {n: laid_s(belief, log, n) for n in range(len(log.groups))}
    mine = [n for n, at_s in reversed(laid.items()) if at_s is not None and (tile := log.groups[n].tile) is not None
            and isinstance(tile.event, TilePlaced) and tile.event.player == player]
    surely = [n for n in mine if (laid[n] or 0.0) <= stay.since_s]
    maybe = [n for n in mine if n not in surely and bare_s(belief, log, n) <= stay.since_s]
    late = {n: sum(m > n and (at_s or math.inf) <= (stay.absent_s or -math.inf) for m, at_s in laid.items())
            for n in mine}
    fits = [n for n in (*surely, *maybe) if not late[n]]
    return fits or surely, 0 if fits or not surely else late[surely[0]]


def _pieces(f: FigureTrack, own: TableBelief, belief: TableBelief, state: View,
            player: int) -> list[tuple[str, float]]:
    """Which of a player's pieces a figure on a section may be, with probabilities, the likeliest first: those that the
    rules allow there and that are in hand, told by how all figures of the table look (``own`` are the board's)."""
    followers = [name for name in state.box.counts if state.box.pieces[name].follower]
    names = [name for name in followers if in_hand(state, player, name) > 0] or followers
    if len(names) < 2:
        return [(name, 1.0) for name in names]
    board = [replace(other, id=-other.id) for other in own.figures.values()]
    said = kinds((*belief.figures.values(), *board), state.box.counts)
    logs = said[-f.id].kinds if -f.id in said else {}
    weights = {name: math.exp(logs.get(name, 0.0) - LIMITS.seldom_piece * (state.box.counts[name] == 1))
               for name in names}
    total = sum(weights.values())
    return sorted(((name, w / total) for name, w in weights.items()), key=lambda w: -w[1])
