"""Where the board lies in what the tracker sees, and the belief about it in the game's squares.

What is taken for the board may be something else for a moment: a stack, or a tile in a hand. Once tiles are logged the
alignment is kept until they are seen again; before, another board may be the right one, and the first is kept aside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from reading.alignment import Alignment, agreement, aligned_by_start, aligned_by_tiles
from reading.belief import TableBelief, updated
from reading.limits import LIMITS
from reading.log_states import LogStates
from reading.logged_game import LoggedGame
from reading.shapes import Reading
from scoring.tiles import Square
from vision.looks import SquareLook, TableLook


class BoardPlace:
    """``alignment`` maps the looks' squares to the game's, None until the start tile is found; ``belief`` is in the
    game's squares from then on. ``past_dials`` takes a look in the game's squares and leaves out what stands on
    dials; ``hiding`` is as in `reading.belief.updated`."""

    def __init__(self, prefix: LogStates, past_dials: Callable[[TableLook], TableLook],
                 hiding: Collection[str] = ()) -> None:
        self.alignment: Alignment | None = None
        self.unsure = False  # whether several tiles may be the start tile, of which later looks tell one
        self.belief = TableBelief()
        self._prefix, self._past_dials, self._hiding = prefix, past_dials, hiding
        self._number: int | None = None  # the number of the board that is aligned (`TableLook.board_number`)
        # the number of the board, and what is known of it, while something else is taken for the board
        self._aside: tuple[int, Alignment, TableBelief] | None = None
        self._strange: dict[Square, SquareLook] = {}  # what looks have shown of a board that is not known again yet

    def look(self, look: TableLook, log: LoggedGame) -> TableLook | None:
        """Update the belief with a look; returns the look in the game's squares, or None if it does not show the board
        of this game."""
        if self._aside is not None and self._aside[0] == look.board_number and not log.begun and (
                self.alignment is None or look.board_number != self._number):
            known = self._aside
            self._set_aside()
            self._number, self.alignment, self.belief = known
        placed = self._found(look, log) if self.alignment is None else self._followed(look, self.alignment, log)
        if placed is not None and look.squares:
            self._number = look.board_number
        return placed

    def _found(self, look: TableLook, log: LoggedGame) -> TableLook | None:
        laid = {at: max((p, reading) for reading, p in t.readings[0].items())[1]
                for at, t in self.belief.lying().items() if t.readings[0]}
        if look.whole and look.squares:
            agree, could = agreement(look, laid)
            if agree < LIMITS.board_known * could:  # what was taken for the board was something else
                self.belief = TableBelief()
        self.belief = updated(self.belief, look, self._hiding)
        return self._begun(look, log, self._known(log))

    def _followed(self, look: TableLook, alignment: Alignment, log: LoggedGame) -> TableLook | None:
        other = bool(look.squares) and len({look.board_number, self._number} - {None}) > 1
        if other and not look.whole:  # of what was not known to be the board so far
            return self._elsewhere(look, self._known(log), log)
        placed = alignment.look(look)
        seen = self._past_dials(placed)
        if look.whole and look.squares:
            known = self._known(log)
            agree, could = agreement(seen, known)
            if other and not log.begun or could >= min(3, len(known)) and agree < LIMITS.board_known * could:
                return self._elsewhere(look, known, log)
        self.belief = updated(self.belief, seen, self._hiding)
        return placed

    def _begun(self, look: TableLook, log: LoggedGame, known: Mapping[Square, Reading]) -> TableLook | None:
        """The look in the game's squares if the belief shows where the board lies."""
        self.unsure = False
        if len(known) > 2 and log.begun:  # a game that is being continued
            there = aligned_by_tiles(look, known)
            self.alignment = there[0] if there is not None and there[1] >= LIMITS.board_known else None
        else:
            start = {at: (p.tile, p.rot) for at, p in self._prefix.after([]).tiles.items()}
            found = aligned_by_start(self.belief, start, look.t_s)
            self.unsure = len(found) > 1
            self.alignment = found[0] if len(found) == 1 else None
        if self.alignment is None:
            return None
        self.belief = self.alignment.belief(self.belief)
        placed = self.alignment.look(look)
        self._past_dials(placed)
        return placed

    def _elsewhere(self, look: TableLook, known: Mapping[Square, Reading], log: LoggedGame) -> TableLook | None:
        """A look that does not show the known board in its place: find it elsewhere."""
        self._strange = dict(look.squares) if look.whole else {**self._strange, **look.squares}
        there = aligned_by_tiles(replace(look, squares=self._strange), known)
        if there is not None and there[1] >= LIMITS.board_known:
            self.alignment = there[0]
            placed = self.alignment.look(replace(look, squares=self._strange))
            self._strange = {}
            self.belief = updated(self.belief, self._past_dials(placed), self._hiding)
            return placed
        if log.begun:
            self.belief = self.belief.past_gaps(look)
            return None
        if self._number != look.board_number:
            self._set_aside()
        self.belief = updated(TableBelief(), look, self._hiding)  # nothing is logged yet: begin again
        self.alignment = None
        return self._begun(look, log, known)

    def _set_aside(self) -> None:
        """Put aside what is known of the board that is aligned."""
        if self.alignment is None or self._number is None:
            self._aside = None
        else:
            self._aside = self._number, self.alignment, self.belief

    def _known(self, log: LoggedGame) -> dict[Square, Reading]:
        """The known tiles: those of the log, and those believed beyond it."""
        out = {at: (p.tile, p.rot) for at, p in self._prefix.after([line.event for line in log.lines]).tiles.items()}
        for at, laid in self.belief.lying().items() if self.alignment is not None else ():
            said, _ = laid.readings
            ranked = sorted(said.items(), key=lambda s: (-s[1], s[0]))
            if at not in out and ranked and laid.presence > 0:
                out[at] = ranked[0][0]
        return out
