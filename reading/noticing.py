"""Notices: differences between what the logged game says must be visible and what is, for people to put right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from reading.belief import TableBelief
from reading.held import HeldFigures
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.pieces import foreign
from reading.policy import Moment
from reading.shapes import Reading, shape
from scoring.events import FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Square


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that people should put right. ``code`` is take_back, missing, foreign (a figure of another box),
    out_of_step, unread, held (figures of others that ``player`` holds out of view, ``count`` of them, on no square) or
    held_more (``count`` of the ``owner``'s lie with ``player``, and the log does not have them as taken); ``player``,
    ``feature`` and ``where`` name a figure; ``before`` and ``now`` are pictures of the square, added by the
    watcher."""

    code: str
    at: Square | None
    count: int = 1
    player: int | None = None
    owner: int | None = None
    feature: str = ""
    where: str = ""
    before: npt.NDArray[np.uint8] | None = field(default=None, compare=False)
    now: npt.NDArray[np.uint8] | None = field(default=None, compare=False)


def notices(belief: TableBelief, closed: GameState, told: LoggedGame, unexplained: frozenset[Square],
            held: HeldFigures, colours: Mapping[str, int], now: Moment) -> tuple[Notice, ...]:
    """The differences between what must be visible given the log and what is. ``unexplained`` are squares with tiles
    that no history explains, ``held`` the figures that players hold."""
    out = [*_figure_notices(belief, closed, told, colours, now),
           *_foreign_notices(belief, closed, colours, now),
           *_tile_notices(belief, told, unexplained, now),
           *(Notice(code="held", at=None, player=player, count=count) for player, count in held.unseen().items())]
    if all(isinstance(line.event, TilePlaced | FigurePlaced) for line in told.asked):  # an answer may explain it
        out += [Notice(code="held_more", at=None, player=player, owner=owner, count=count)
                for (player, owner), count in held.unlogged(closed).items()]
    return tuple(sorted(out, key=order))


def order(notice: Notice) -> tuple[object, ...]:
    """By what sort of notice it is, where, and whose."""
    return notice.code, notice.at or (), notice.player or 0, notice.owner or 0


def _figure_notices(belief: TableBelief, closed: GameState, told: LoggedGame, colours: Mapping[str, int],
                    now: Moment) -> Iterator[Notice]:
    stand = {(f.at, f.player): f for f in closed.standing.values()}
    seen = set()
    put: dict[tuple[Square, int], FigurePlaced] = {
        (e.at, e.player): e for line in told.lines if isinstance(e := line.event, FigurePlaced)}
    for f in belief.figures.values():
        paint = f.paint_among(colours)
        if not paint or f.real < 0.0:
            continue
        key = f.at, colours[paint]
        if f.present:
            seen.add(key)
        event = put.get(key)
        if f.present and key not in stand and event is not None and now.t_s - f.came_s > LIMITS.notice_s \
                and _turns_since_scored(closed, key) >= LIMITS.late_home_turns:
            yield Notice(code="take_back", at=f.at, player=key[1], feature=event.feature, where=event.where)
    for key, figure in sorted(stand.items()):
        if key in seen or sum(weight for _, weight in belief.bare_looks.get(key[0], ())) < LIMITS.gone:
            continue
        if figure.segment < 0 or key[0] not in belief.figures_s:
            continue
        yield Notice(code="missing", at=key[0], player=key[1], feature=figure.feature, where=figure.where)


def _foreign_notices(belief: TableBelief, closed: GameState, colours: Mapping[str, int],
                     now: Moment) -> Iterator[Notice]:
    """Figures that the game does not have; each is still read as the follower that somebody may have meant."""
    told = set()
    for f in foreign(belief.figures.values(), closed.box.counts):
        paint = f.paint_among(colours)
        if f.present and paint and f.at not in told and f.seen_s - f.came_s > LIMITS.notice_s \
                and f.at in belief.lying():
            told.add(f.at)
            yield Notice(code="foreign", at=f.at, player=colours[paint])


def _turns_since_scored(closed: GameState, key: tuple[Square, int]) -> int:
    """Turn parts since a figure's feature was scored; 0 if that was in the open turn or never."""
    turns = [e.turn for e in closed.score_events if any((x, y) == key[0] for x, y, _ in e.places)]
    return closed.turn - max(turns) if turns else 0


def _tile_notices(belief: TableBelief, told: LoggedGame, unexplained: frozenset[Square],
                  now: Moment) -> Iterator[Notice]:
    for at in unexplained:
        track = belief.squares.get(at)
        if track is not None and track.laid is not None and now.t_s - track.laid.since_s > LIMITS.notice_s \
                and track.laid.presence > 2.0:
            yield Notice(code="unread", at=at)
    for at, track in belief.squares.items():
        if track.strange_s is not None and now.t_s - track.strange_s > LIMITS.notice_s and track.laid is None \
                and told.group_at(at) is None:
            yield Notice(code="unread", at=at)
    for group in told.groups:
        if group.at is None or group.tile is None or not isinstance(group.tile.event, TilePlaced):
            continue
        at = group.at
        track = belief.squares.get(at)
        if track is None:
            continue
        if track.laid is None and track.past or track.laid is not None and _reads_otherwise(
                track.laid.readings, (group.tile.event.tile, group.tile.event.rot)):
            yield Notice(code="out_of_step", at=at)


def _reads_otherwise(readings: tuple[dict[Reading, float], float], told: Reading) -> bool:
    said, rest = readings
    return max((v for r, v in said.items() if shape(*r) == shape(*told)), default=rest) < -LIMITS.amend - LIMITS.turned
