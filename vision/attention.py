"""When the tracker reads which square, and the outcome of one frame."""

from __future__ import annotations

from dataclasses import dataclass

from vision.looks import TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Thresholds of when to read a square. Seconds, tiles, fractions of a square or of all tiles."""

    still_s: float = 0.45  # a square is read after so long without motion over it
    grow: float = 0.12  # margin around a square in which motion counts, in tiles
    touched: float = 0.01  # fraction of that area in which motion makes the square due
    again_s: float = 25.0  # the whole board is read like a photograph after so long without a look
    twice_s: float = 1.2  # what changed is read once more after so long: one frame is one opinion
    contradicted_s: float = 2.0  # a square whose two last looks disagree is read once more after so long
    search_s: float = 3.0  # between searches for a board that was not found
    search_still: float = 0.03  # fraction of the picture that may be in motion meanwhile
    help_s: float = 15.0  # of a still picture without a board, before people are asked where it lies
    lost_s: float = 5.0  # of stillness without the board in its place, before it is reported as lost
    moved_part: float = 0.3  # fraction of tiles that differ from their snapshots from which the board may have moved
    askew: float = 0.3  # tiles: deviation up to which a corner is an inlier of the perspective's fit
    straight: float = 0.7  # fraction of inliers needed to refit the perspective
    sized: float = 0.2  # logarithm of the scale by which the tiles of a lost board may differ when it is found
    anew: float = 0.8  # fraction of its tiles that a found board must have to be taken for the lost one
    same: float = 0.55  # correlation with its snapshot from which a tile is where it was
    arm_part: float = 0.7  # fraction of tiles that differ below which an arm may just occlude some of them
    stack: int = 2  # a board of at most so many tiles may be a stack or another object
    there: float = 0.0  # log-odds from which a square counts as occupied by a tile
    lies: float = 3.0  # and from which it surely is
    plainly: float = 4.0  # and from which one is accepted in the table's colours, unless it lacks print's texture
    seen: float = 0.5  # fraction of a square that must be in the picture for its tile to be read
    hidden_lab: float = 16.0  # Lab units from the bare square's or the table's colours (or more texture): occluded
    bare_lab: float = 9.0  # Lab units within which a cell of a square looks as it did when bare
    bare_part: float = 0.95  # fraction of its cells that must, for the square to be still bare
    bare_odds: float = -6.0  # log-odds of a tile then
    table_odds: float = -4.0  # log-odds of a tile on a square that has the colours of the table and no others
    table_sigma: float = 3.0  # standard deviations from the table's mean colour that are still table
    table_tiles: float = 0.05  # fraction of tiles that look like the table above which its colours are not used
    bare_kept: float = 0.8  # fraction of a square that must look bare for updating its colours: light changes slowly
    table_least: int = 3  # least number of bare squares for a background model
    lit_part: float = 0.5  # fraction of the bare squares that must be still for measuring a change of light (chosen)
    figure_least: float = -2.0  # log-odds below which a detected figure is noise
    held: float = 0.6  # tiles from a covered tile within which a figure may be a piece in the hand that covers it
    held_odds: float = 0.5  # log-odds that it is a figure then, at most (chosen)
    shown: int = 12  # readings of a tile that are reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The outcome of one frame. ``status``: searching, following, moving, lost; ``since_s`` is how long the board has
    been lost or not found while the picture was still."""

    status: str
    look: TableLook | None = None
    since_s: float = 0.0
