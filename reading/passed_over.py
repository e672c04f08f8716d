"""Whose tile it was if a player was passed over: one who only put a tile away, say, which no look shows.

What is seen elsewhere of a tile's player says that somebody was passed over, but not when: if nothing is seen of the
player of the tile before, that may have been one further on already. Then people are asked. (A figure on the tile
itself is no reason to ask: where the log passes somebody over before one of those, a tile is likelier to be found
later.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reading.belief import TableBelief
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, Moment
from scoring.engine import next_player
from scoring.events import TilePlaced
from scoring.state import GameState
from scoring.tiles import Square

_SURE = 0.97  # probability that the tile is the one that was read, whosever it is


def passed_over(log: LoggedGame, states: Sequence[GameState], whose: Mapping[Square, Mapping[int, float]],
                now: Moment) -> Iterator[Doubt]:
    """Doubts about the player of a tile after which the log passes somebody over. ``states`` are the states after each
    event of the log, preceded by the initial one; ``whose`` is as in `reading.ordering.Window`."""
    groups, count = log.groups, len(states[0].scores)
    for n, (group, then) in enumerate(zip(groups, groups[1:], strict=False)):
        later = len(groups) - 2 - n
        if n < len(groups) - LIMITS.late_turns - LIMITS.open_turns or later < LIMITS.patience_turns and not now.last:
            continue
        tile, following = (g.tile.event if g.tile is not None else None for g in (group, then))
        if not isinstance(tile, TilePlaced) or not isinstance(following, TilePlaced):
            continue
        line, other = group.tile, (following.player - 1) % count
        if line is None or line.asked or group.pinned or group.figures() or other == tile.player \
                or following.part != 1:
            continue
        said, surely = whose.get(tile.at, {}), whose.get(following.at, {})
        due = next_player(states[log.span(n)[1]])
        if following.player == due or surely.get(following.player, 0.0) - surely.get(due, 0.0) < LIMITS.agreed \
                or said.get(tile.player, 0.0) - said.get(other, 0.0) >= LIMITS.agreed:
            continue
        by = replace(tile, player=other)
        if by in log.denied:
            continue
        yield Doubt(gain=math.log(2.0), due=True, decision=Decision(
            events=(tile,), confidence=_SURE, asked=True, alternatives=(((tile,), 0.5), ((by,), 0.5)), at=tile.at,
            frame=now.frame, replaces=line.seq))


def turns_when(before_s: float | None, came_s: float, tiles: Sequence[tuple[float, Square]],
               belief: TableBelief) -> tuple[int, int]:
    """The first and the last turn in which a figure may have come, by the tiles' order: those whose tile lay there
    when it was seen, or may have, up to the one at whose end it was not there; -1 before the first tile."""
    bare = [track.laid.bare_s if (track := belief.squares[at]).laid is not None else None for _, at in tiles]
    last = max((n for n, (since_s, _) in enumerate(tiles)
                if since_s <= came_s or (b := bare[n]) is not None and b <= came_s), default=-1)
    first = sum(since_s <= (before_s if before_s is not None else -math.inf) for since_s, _ in tiles) - 1
    return min(first, last), last
