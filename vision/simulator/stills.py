"""The simulated table without hands, turn by turn, with what lies beside the board: for measuring without a film."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vision.frames import Image
from vision.simulator.film import Film
from vision.simulator.simulator import Simulator


def stills(table: Simulator) -> Iterator[tuple[int, Image, Sequence[Counter[str]]]]:
    """At the end of each turn the number of the frame, the table, and by player the colours of the figures that lie
    with them beside the board."""
    still, supply, _ = table.set_table()
    film, visits = Film(table.options, table.rng("still")), iter(table.truth.timeline.visits)
    coming = next(visits, None)
    for turn in table.truth.turns:
        while coming is not None and coming.last <= turn.end:
            supply.take(coming)
            for act in coming.acts:
                table.carry_out(act, still)
            supply.give_back(coming)
            coming = next(visits, None)
        yield turn.end, film.develop(table.bumped(still.shown, turn.end)), supply.lie()
