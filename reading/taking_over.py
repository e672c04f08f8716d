"""Takes over a game that began before the camera watched: the tiles on the table, in a possible order of laying."""

from __future__ import annotations

from collections.abc import Mapping

from reading.belief import TableBelief, figures_seen_on
from reading.evidence import choices, readings_of
from reading.policy import Decision, Moment
from scoring.board import mismatches
from scoring.engine import next_player, step
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import EDGES, Square, catalogue, neighbour

_MISMATCH = 8.0


def taken_over(belief: TableBelief, state: GameState, squares: frozenset[Square], colours: Mapping[str, int],
               now: Moment) -> tuple[Decision, ...]:
    """All tiles of a board with the figures on them, as if laid one after the other; a figure's owner laid its tile.
    Only the first one carries a question, which stands for all."""
    out: list[Decision] = []
    left = set(squares)
    while True:
        ready = [at for at in sorted(left) if any(neighbour(at, side) in state.tiles for side in EDGES)]
        ways = []
        for at in ready:
            laid = belief.squares[at].laid
            assert laid is not None
            beside = sum(neighbour(at, side) in state.tiles for side in EDGES)
            for (tile, rot), said in readings_of(laid, state.box, ()).items():
                wrong = len(mismatches(state, catalogue()[tile], at, rot))
                ways.append((said - _MISMATCH * wrong + 0.5 * beside, at, tile, rot))
        if not ways:
            return tuple(out)
        _, at, tile, rot = max(ways)
        tracks = [f for f in figures_seen_on(belief, at) if f.real > 0 and f.present]
        player = next_player(state)
        for f in tracks:
            player = colours.get(f.paint_among(colours), player)
        events: list[Event] = [TilePlaced(player=player, tile=tile, at=at, rot=rot)]
        after = step(state, events[0])
        claims = [c.event for c in choices(tracks, after, at, (tile, rot), player, colours, )]
        events += [e for e in claims if isinstance(e, FigurePlaced)][:1]
        for event in events:
            state = step(state, event)
            out.append(Decision(events=(event,), confidence=0.9, asked=not out, alternatives=(((event,), 0.9),), at=at,
                                frame=now.frame))
        left.discard(at)
