"""What players have beside the board: their figures in hand, the figures of others that they hold, and the score track.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from vision.simulator.pieces import Piece
from vision.simulator.props import Props, number, on_track, track_number
from vision.simulator.script import Standing, Turn
from vision.simulator.table import StillTable
from vision.simulator.timeline import Visit

_RING_MM = 42.0  # from the middle of a player's own figures: where the figures of others lie
_APART_DEG = 26.0


class Supply:
    """Figures in hand lie beside the board: fewer when one is put down, more when one comes home. Next to them lie the
    figures that their player took from others."""

    def __init__(self, table: StillTable, props: Props | None, turns: Sequence[Turn], figures: Sequence[Standing],
                 ) -> None:
        self._table, self._props, self._figures = table, props, figures
        self._turns = {t.index: t for t in turns}
        self._heaps = props.supply if props else ()
        self._left = [len(h) for h in self._heaps]
        self._held: list[list[tuple[int, str]]] = [[] for _ in self._heaps]
        if props:
            table.dress(props)

    def take(self, visit: Visit) -> None:
        """What the visit needs leaves the supply."""
        for act in visit.acts:
            if act.kind == "figure" and self._heaps and self._left[visit.player] > 0:
                self._left[visit.player] -= 1
                self._table.take_piece(number(visit.player, self._left[visit.player]))

    def give_back(self, visit: Visit) -> None:
        """Returned figures lie in supply again; figures on the score track, and those that were set free, move before
        the next visit."""
        before = self._turns.get(visit.acts[-1].turn - 1)
        if self._props and self._props.track and before is not None:
            for n, score in enumerate(before.scores):
                self._table.put_piece(track_number(n), on_track(self._props.track, n, self._props.colours[n], score))
        if self._heaps and before is not None:
            for player, held in enumerate(before.held):
                freed = Counter(self._held[player]) - Counter(held)
                if freed:
                    self._hold(player, list((Counter(self._held[player]) - freed).elements()))
                for owner, _ in freed.elements():
                    self._back(owner)
        for act in visit.acts:
            if act.kind != "home" or act.piece is None or not self._heaps:
                continue
            figure = self._figures[act.piece]
            if figure.player == visit.player:
                self._back(figure.player)
            else:
                self._hold(visit.player, [*self._held[visit.player], (figure.player, figure.figure)])

    def _back(self, player: int) -> None:
        n = self._left[player]
        if n < len(self._heaps[player]):
            self._table.put_piece(number(player, n), self._heaps[player][n])
            self._left[player] += 1

    def _hold(self, player: int, held: list[tuple[int, str]]) -> None:
        """Show these figures of others beside a player's own."""
        heap = self._heaps[player]
        if not heap or self._props is None:
            return
        for n in range(len(self._held[player])):
            self._table.take_piece(_prisoner_number(player, n))
        self._held[player] = held
        x, y = (sum(getattr(p, axis) for p in heap) / len(heap) for axis in ("x_mm", "y_mm"))
        for n, (owner, figure) in enumerate(held):
            a = math.radians(_APART_DEG * n)
            self._table.put_piece(_prisoner_number(player, n), Piece(
                figure=figure, colour=self._props.colours[owner], x_mm=x + _RING_MM * math.cos(a),
                y_mm=y + _RING_MM * math.sin(a), z_mm=0.0, yaw_deg=_APART_DEG * n, lying=True))


def _prisoner_number(player: int, n: int) -> int:
    return -(400_000 + 1000 * player + n)
