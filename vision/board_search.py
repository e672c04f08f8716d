"""Finds the board in a picture, and names its squares as before when it is found anew.

What is found may be something else: a stack, or a tile in a hand. The reader of the game rejects it, and the board is
searched elsewhere. Squares are named from the first tile found, so that the same board would be named from another tile
each time; wherever a tile lies where one lay before, it keeps its name and the board its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scoring.tiles import Square
from vision.background import painted_over
from vision.frames import Image
from vision.lattice import UNIT, Array, Lattice, apply, named_as

Finder = Callable[[Image], Lattice | None]
START_BOARD = 0  # the number of boards whose squares are named by the start board that is part of them
KEPT = 30  # boards whose places are remembered: the real one, and what was taken for it since (chosen)


@dataclass(slots=True)
class BoardSearch:
    """``find`` finds a board in a picture, ``find_at`` one at a point (px). ``number`` is that of the board that is
    tracked: two with the same number have the same names for their squares. Not thread-safe."""

    find: Finder
    find_at: Callable[[Image, tuple[float, float]], Lattice | None] | None = None
    number: int = START_BOARD
    _numbers: int = START_BOARD
    _refused: list[Array] = field(default_factory=list)  # corners (4, 2) of rejected boards' tiles, px
    _rejected: set[int] = field(default_factory=set)  # the numbers of boards that were rejected at some time
    _lay: dict[int, Mapping[Square, Array]] = field(default_factory=dict)  # where boards lay by number, the newest last

    def elsewhere(self, bgr: Image) -> Lattice | None:
        """A board in the picture that is none of those rejected."""
        lattice = self.find(painted_over(bgr, self._refused))
        if lattice is None or not lattice.shifts:
            self._refused.clear()  # nothing else found: the rejection may have been wrong
            return None
        return lattice

    def refuse(self, poses: Mapping[Square, Array]) -> None:
        """The board that is tracked, at these poses, is none of this game."""
        self._refused += [apply(pose, UNIT) for pose in poses.values()]
        self._rejected.add(self.number)
        self._remember(poses)

    def track(self, found: Lattice, poses: Mapping[Square, Array]) -> Lattice:
        """Track a board that was found while one at these ``poses`` was tracked (empty: none). Returns it with its
        squares' former names, if it has any."""
        self._remember(poses)
        if found.board:
            self.number = START_BOARD
            return found
        # a tile that was in a hand, and lies beside the board now, may have been taken for the board, too
        known = _named(found, self._lay)
        if known is not None:
            self.number, _, lattice = known
            return lattice
        self._numbers += 1
        self.number = self._numbers
        return found

    def known_before(self, tracked: Lattice) -> Lattice | None:
        """The board that is tracked, with the names of one known before it, as which it is tracked from now on. None
        unless at least half of its tiles lie where tiles of that one lay. What was rejected names nothing."""
        half = len(tracked.shifts) / 2
        known = _named(tracked, {number: lay for number, lay in self._lay.items() if number < self.number
                                 and number not in self._rejected and len(lay) >= half})
        if known is None or known[1] < half:
            return None
        self.number, _, lattice = known
        return lattice

    def _remember(self, poses: Mapping[Square, Array]) -> None:
        """The tracked board lies at these poses and is tracked no longer."""
        if poses:
            self._lay.pop(self.number, None)
            self._lay[self.number] = poses
            for number in [*self._lay][:-KEPT]:
                del self._lay[number]

    def carry(self, to: Array) -> None:
        """The table has moved in the picture, or the pictures' size has changed: ``to`` (3, 3) maps the old pixels to
        the new ones."""
        self._refused = [apply(to, corners) for corners in self._refused]
        self._lay = {n: {at: to @ pose for at, pose in lay.items()} for n, lay in self._lay.items()}


def _named(found: Lattice, lay: Mapping[int, Mapping[Square, Array]]) -> tuple[int, int, Lattice] | None:
    """The number of the known board where most tiles of the one found lie (of equals the one known first), how many
    they are, and the board with its names; None if no tile lies where one ``lay``."""
    known = [(number, *again) for number, poses in lay.items() if (again := named_as(found, poses)) is not None]
    return min(known, key=lambda k: (-k[1], k[0]), default=None)
