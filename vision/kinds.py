"""Which piece a figure is, where a game has several that may stand there: by the rules, then by the size of its wood.

A silhouette's length is held against what each piece's would be at that place (`vision.wood`). How much longer or
shorter this table's wood looks than the usual one is not known at first: every figure that was seen says something of
it, whichever piece it was (a mixture, summed over all offsets), and what people have put right says it surely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.contributions import Piece
from scoring.engine import legal_figures
from scoring.state import GameState, in_hand
from scoring.tiles import Square

# Of the logarithm of a length: from figure to figure of one table (black and grey wood is lost in shadow and on walls),
# and from table to table about what is usual. From 562 figures on 12 simulated tables of development seeds (402 to 413,
# all levels), every second one large.
SPREAD, SPREAD_PALE = 0.03, 0.045
USUAL, UNUSUAL = -0.055, 0.045
_PALE = ("black", "grey", "white")
_STRAYS = 0.0005  # against the likeliest length: half hidden, or with a neighbour's paint
_SELDOM = 1 / 3  # as often as the piece of which most are in hand: how often large ones were put down in recorded games
_OFFSETS = np.linspace(-0.3, 0.2, 101)


@dataclass(slots=True)
class _Seen:
    """A figure that was read: by piece, the logarithm of its length over what that piece's would be; and how likely
    each piece was by the rules."""

    player: int
    longer: Mapping[str, float]
    odds: Mapping[str, float]
    proposed: str


@dataclass(slots=True)
class Kinds:
    """The figures of one table as far as they were measured; ``colours`` are the players'."""

    colours: tuple[str, ...] = ()
    _seen: dict[Square, _Seen] = field(default_factory=dict)

    def weigh(self, longer: Mapping[str, float], state: GameState, player: int, at: Square,
              segment: int) -> tuple[tuple[str, float], ...]:
        """(piece, probability) of a figure of this player on a segment, best first; ``longer`` may be empty."""
        odds = possible(state, player, at, segment)
        if len(odds) < 2 or not odds.keys() <= longer.keys():
            return tuple(sorted(odds.items(), key=lambda o: -o[1]))
        known = self._offsets(state, at)
        weights = {name: odd * float((self._density(player, longer[name]) * known).sum()) for name, odd in odds.items()}
        total = sum(weights.values())
        return tuple(sorted(((name, w / total) for name, w in weights.items()), key=lambda o: -o[1]))

    def note(self, longer: Mapping[str, float], state: GameState, player: int, at: Square, segment: int,
             proposed: str) -> None:
        """A figure was proposed: its size says something of the others'."""
        odds = possible(state, player, at, segment)
        if odds.keys() <= longer.keys():
            self._seen[at] = _Seen(player=player, longer=longer, odds=odds, proposed=proposed)

    def _offsets(self, state: GameState, but: Square) -> npt.NDArray[np.float64]:
        """How likely each offset of this table is, from all figures but the one on that square."""
        standing = {(f.at, f.player): f.figure for f in state.figures}
        for at, seen in self._seen.items():  # people may have said which piece it is
            now = standing.get((at, seen.player), seen.proposed)
            if now != seen.proposed and now in seen.longer:
                seen.odds = {now: 1.0}
        logs = -0.5 * ((_OFFSETS - USUAL) / UNUSUAL) ** 2
        for at, seen in self._seen.items():
            if at != but:
                logs += np.log(sum(odd * self._density(seen.player, seen.longer[name])
                                   for name, odd in seen.odds.items()))
        out = np.exp(logs - logs.max())
        return np.asarray(out / out.sum())

    def _density(self, player: int, longer: float) -> npt.NDArray[np.float64]:
        """How likely that logarithm is at each offset of the table; up to a factor."""
        spread = SPREAD_PALE if self.colours[player:player + 1] and self.colours[player] in _PALE else SPREAD
        return np.asarray(SPREAD / spread * np.exp(-0.5 * ((longer - _OFFSETS) / spread) ** 2) + _STRAYS)


def possible(state: GameState, player: int, at: Square, segment: int) -> dict[str, float]:
    """The pieces that a figure there may be, with their odds: what the rules allow; where they allow none, what may
    stand there and is in hand."""
    found: Sequence[str] = legal_figures(state).get(segment, ()) if (player, at) == (state.player, state.last_tile) \
        else ()
    box, placed = state.box, state.tiles[at]
    if not found:
        kind = box.shape(placed.tile, placed.rot).kinds[segment]
        stands = [name for name in box.counts if box.pieces[name].stands_on(kind)]
        found = [name for name in stands if in_hand(state, player, name) > 0] or stands[:1]
    most = max(found, key=lambda name: in_hand(state, player, name))
    odds = {name: 1.0 if name == most else _SELDOM for name in found}
    return {name: odd / sum(odds.values()) for name, odd in odds.items()}


def pieces_of(state: GameState) -> tuple[Piece, ...]:
    """The kinds of followers that are played with: one may stand wherever another may, and only its size tells."""
    return tuple(state.box.pieces[name] for name in state.box.counts if state.box.pieces[name].follower)

