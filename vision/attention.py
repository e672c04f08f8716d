"""When the tracker looks at which square, and the outcome of one frame."""

from __future__ import annotations

from dataclasses import dataclass

from vision.looks import TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """When to look. Seconds, tiles, parts of a square or of all tiles."""

    still_s: float = 0.45  # a square is looked at after so long without movement over it
    grow: float = 0.12  # tiles around a square in which movement counts
    touched: float = 0.01  # part of that which must have moved for the square to be due
    again_s: float = 25.0  # the whole board is looked at after so long without a look, as a photograph is
    twice_s: float = 1.2  # what changed is looked at once more after so long: one frame is one opinion
    contradicted_s: float = 2.0  # a square of which two looks disagree is looked at once more after so long
    search_s: float = 3.0  # between searches for a board that was not found
    search_still: float = 0.03  # part of the picture that may move meanwhile
    help_s: float = 15.0  # of a still picture without a board, before people are asked where it lies
    lost_s: float = 5.0  # of stillness without the board where it lay, before that is said
    moved_part: float = 0.3  # of the tiles, that differ from their snapshots: the board may have moved
    askew: float = 0.3  # tiles by which a tile's corner may lie off the board's perspective to have a say in it
    straight: float = 0.7  # of the corners that must, for the perspective to be fitted anew
    sized: float = 0.2  # logarithm by which the tiles of a lost board may look larger or smaller when it is found
    anew: float = 0.8  # of the tiles' number that a board must have to be taken for the one that was lost
    same: float = 0.55  # correlation with its snapshot from which a tile is where it was
    arm_part: float = 0.7  # of the tiles that differ: with fewer an arm lies over some of them
    stack: int = 2  # tiles that stacks and other things may be taken for
    there: float = 0.0  # log-odds from which a square counts as one with a tile
    lies: float = 3.0  # and from which one surely has a tile
    plainly: float = 4.0  # and from which a tile may have the table's colours
    seen: float = 0.5  # part of a square that must be in the picture for its tile to be read
    hidden_lab: float = 16.0  # Lab units from how the bare square or the table looked: something covers it
    bare_lab: float = 9.0  # Lab units within which a square's parts look as they did when it was bare
    bare_part: float = 0.95  # of its parts that must, for nothing to have come
    bare_odds: float = -6.0  # log-odds of a tile then
    table_odds: float = -4.0  # log-odds of a tile on a square that has the colours of the table and no others
    table_sigma: float = 3.0  # how far from the table's mean colour is still table
    table_tiles: float = 0.05  # of the tiles that look like the table: with more its colours say nothing
    bare_kept: float = 0.8  # of a square that must look bare for its colours to be remembered: light changes slowly
    table_least: int = 3  # bare squares that make a table's colours known
    figure_least: float = -2.0  # log-odds of a figure below which none was seen: noise is no sighting
    shown: int = 12  # readings of a tile that are handed on


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The outcome of one frame. ``status``: searching, following, moving, lost; ``since_s`` is how long the board has
    been lost or not found while the picture was still."""

    status: str
    look: TableLook | None = None
    since_s: float = 0.0
