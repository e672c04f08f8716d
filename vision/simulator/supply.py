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
        self._begun: set[int] = set()  # turns whose first visit has begun
        self._held: list[list[tuple[int, str]]] = [[] for _ in self._heaps]
        if props:
            table.dress(props)

    def take(self, visit: Visit) -> None:
        """What the visit needs leaves the supply. Before the first visit of a turn those go back to their owners whom
        the turn before set free in the end, and those whom this one does at its beginning."""
        turn = self._turns[visit.acts[-1].turn]
        if turn.index not in self._begun and self._heaps:
            self._begun.add(turn.index)
            before = self._turns.get(turn.index - 1)
            for holder, held in enumerate(before.held if before is not None else ()):
                self._free(holder, Counter(self._held[holder]) - Counter(held))
            for holder, owner, figure in turn.freed:
                self._free(holder, Counter([(owner, figure)]))
        for act in visit.acts:
            if act.kind == "figure" and self._heaps and self._left[visit.player] > 0:
                self._left[visit.player] -= 1
                self._table.take_piece(number(visit.player, self._left[visit.player]))

    def give_back(self, visit: Visit) -> None:
        """Returned figures lie in supply again; figures on the score track move before the next visit."""
        before = self._turns.get(visit.acts[-1].turn - 1)
        if self._props and self._props.track and before is not None:
            for n, score in enumerate(before.scores):
                self._table.put_piece(track_number(n), on_track(self._props.track, n, self._props.colours[n], score))
        for act in visit.acts:
            if act.kind != "home" or act.piece is None or not self._heaps:
                continue
            figure = self._figures[act.piece]
            if figure.player == visit.player:
                self._back(figure.player)
            else:
                self._hold(visit.player, [*self._held[visit.player], (figure.player, figure.figure)])

    def lie(self) -> list[Counter[str]]:
        """By player the colours of the figures that lie with them."""
        colours = self._props.colours if self._props is not None else ()
        return [Counter({colours[player]: self._left[player]}) + Counter(colours[owner] for owner, _ in held)
                for player, held in enumerate(self._held)]

    def _free(self, holder: int, freed: Counter[tuple[int, str]]) -> None:
        """These figures lie with their owners again."""
        if freed:
            self._hold(holder, list((Counter(self._held[holder]) - freed).elements()))
        for owner, _ in freed.elements():
            self._back(owner)

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
        for n, (owner, figure) in enumerate(held):
            x, y = beside(heap, n)
            self._table.put_piece(_prisoner_number(player, n), Piece(
                figure=figure, colour=self._props.colours[owner], x_mm=x, y_mm=y, z_mm=0.0, yaw_deg=_APART_DEG * n,
                lying=True))


def beside(heap: Sequence[Piece], n: int) -> tuple[float, float]:
    """Where on the table (mm) the ``n``-th figure of others lies that the owner of a heap holds."""
    x, y = (sum(getattr(p, axis) for p in heap) / len(heap) for axis in ("x_mm", "y_mm"))
    a = math.radians(_APART_DEG * n)
    return x + _RING_MM * math.cos(a), y + _RING_MM * math.sin(a)


def _prisoner_number(player: int, n: int) -> int:
    return -(400_000 + 1000 * player + n)
