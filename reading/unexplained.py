"""Figures that were surely seen and that are neither in the log nor in a history: they are asked about, whatever the
rules say."""

from __future__ import annotations

from collections.abc import Mapping

from reading.belief import TableBelief, figures_seen_on
from reading.evidence import choices
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, LoggedTurn, denies
from reading.policy import Decision, Doubt, Moment
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Square


def unexplained(belief: TableBelief, log: LoggedGame, state: GameState, colours: Mapping[str, int],
                now: Moment) -> list[Doubt]:
    """A question for each of them, with the likeliest position and piece, and "nobody" as an alternative; also for one
    that is asked about already, which no history takes back then."""
    out = []
    for at in sorted(belief.by_square):
        group = log.group_at(at)
        for f in figures_seen_on(belief, at) if group is not None else ():
            made = _asked(f, group, at, log, state, colours, now) if group is not None else None
            if made is not None:
                out.append(Doubt(decision=made, gain=1.0, due=True))
    return out


def _asked(f: FigureTrack, group: LoggedTurn, at: Square, log: LoggedGame, state: GameState, colours: Mapping[str, int],
           now: Moment) -> Decision | None:
    tile = group.tile.event if group.tile is not None else None
    if f.real < LIMITS.sure or not f.paint or not isinstance(tile, TilePlaced) or group.tile is None:
        return None
    stays = now.last and f.missed == 0.0  # the last look at its tile saw it, and no further one will come
    if not stays and (f.weight < 1.5 or now.t_s - f.came_s < LIMITS.ask_after_s):  # later looks may decide
        return None
    player = colours.get(f.paint)
    has = {line.event.player: line for line in group.figures() if isinstance(line.event, FigurePlaced)}
    if player is None or any(line.pinned for line in group.figures()):
        return None
    if player in has:
        line = has[player]
        return _question(line.event, at, now, replaces=line.seq) if line.asked and f.present else None
    if any((s.at, s.player) == (at, player) for s in state.standing.values()):
        return None  # who came there in another turn
    claims = [c.event for c in choices([f], state, at, (tile.tile, tile.rot), player, colours)]
    event = next((e for e in claims if e is not None), None)
    if event is None or denies(log.denied, event) or _nobody(event, log):
        return None
    last = group is log.groups[-1] and not group.others()
    return _question(event, at, now, after=None if last else group.tile.seq)


def _question(event: Event, at: Square, now: Moment, after: int | None = None, replaces: int | None = None) -> Decision:
    return Decision(events=(event,), confidence=0.5, asked=True, alternatives=(((event,), 0.5), ((), 0.5)), at=at,
                    frame=now.frame, after=after, replaces=replaces)


def _nobody(event: FigurePlaced, log: LoggedGame) -> bool:
    """Whether people, asked whether a player's figure stands there, have said that nobody does, whatever the paint of
    what looks like a figure (a shadow has none)."""
    return any(isinstance(d, FigurePlaced) and (d.at, d.feature, d.where) == (event.at, event.feature, event.where)
               for d in log.refused)
