"""Watches one table: frames and the game's state in, proposed events out. It proposes, the rules weigh, people decide.

    looking for the start tile -> watching -> (movement: hand) -> settling -> reading -> watching

It reads only where the table has been still and no hand is, only squares where something changed or a tile could have
been laid unseen, and figures only on the tile laid last. Every tile keeps its own pose; the lattice bends with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scoring.engine import next_player, step
from scoring.state import GameState
from scoring.tiles import Square
from vision.board import Board
from vision.frames import Frame, Image
from vision.interpret import Observation, Proposal, in_order, lies_otherwise, tile_proposal
from vision.kinds import Kinds
from vision.latest import FigureReader, Latest, resumed, unclaimed
from vision.lattice import Array
from vision.motion import FURNITURE_S, Look, Motion
from vision.passing import Passing
from vision.placements import PLAIN, Placement, PlacementReader, distinct
from vision.sight import Sight
from vision.startboard import board_finder
from vision.steady import MOVED
from vision.tileset import TileSet
from vision.turns import Missed
from vision.upkeep import ARM_STILL_S, UNCOVERED, Scene, Upkeep, painted_near, pasted, shown
from vision.view import View
from vision.vigil import Notice, Vigil

__all__ = ["Notice", "Observation", "Proposal", "TableWatcher"]

STILL_FRAMES = 2  # frames without movement before a square is read
STILL_S = 0.2
_TOUCHED = 0.12  # part of a square that must have changed before it is read again
_TOUCHED_LAST = 0.004  # and of the tile laid last, on which a figure may come
_TOUCHED_MUCH = 0.15  # as much as a figure covers: the tile itself may have been turned
_TOUCHED_ALL = 0.7  # or taken up
_CONFIRMED = 0.62  # correlation from which an unexpected tile is read without any change having been seen
_TRIES = (STILL_FRAMES, 6, 14)  # still frames after which a changed square is read, and read again
_FIND_AGAIN_S, _STILL_LOST_S = 4.0, 2.0  # the second: before a board that was lost is looked for


class TableWatcher:
    """One fixed camera over one table. ``feed`` is deterministic and never raises on a frame."""

    def __init__(self, tileset: TileSet, colours: tuple[str, ...], start_tile: str, *,
                 view: View | None = None) -> None:
        self.sight = Sight()
        self._figures = FigureReader(colours=colours, view=view, kinds=Kinds(colours), sight=self.sight)
        self._start_tile = start_tile
        self._reader: PlacementReader | None = None
        self.use(tileset)
        self._motion: Motion | None = None
        self._shape: tuple[int, ...] = ()
        self._board: Board | None = None
        self._view: Image | None = None  # the frame that was settled last, in colour
        self._last: Latest | None = None
        self._searched_s = -1e9
        self._fed = 0
        self._tries: dict[Square, int] = {}
        self._round: list[Square] = []
        self._passing = Passing(_TRIES, STILL_S)
        self._bare: dict[Square, int] = {}  # how many tiles lay when this open square was last seen without one
        self._unseen: set[Square] = set()  # open squares of which that is not known, since the board was lost
        self._missed = Missed()
        self._upkeep = Upkeep(Vigil(colours, view), self._figures.kinds)

    def use(self, tileset: TileSet) -> None:
        """Read with these pictures from now on: more has been learned of this table's tiles."""
        foreign = self._reader is not None and self._reader.foreign
        self._reader = PlacementReader(tileset)
        self._reader.foreign |= foreign
        self._finder = board_finder(tileset, self._reader, self._start_tile)

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile found so far."""
        return {} if self._board is None else self._board.poses

    def feed(self, frame: Frame, state: GameState) -> Observation:
        """Look at one frame. ``state`` is the game with every proposal made so far committed."""
        if self._motion is None:
            self._motion, self._shape = Motion(frame.shape), frame.shape
        if frame.shape != self._shape:
            return Observation(status="lost")
        self._fed += 1
        # A camera that makes a small grey picture of its own hands out the full one only when it is looked at.
        self._motion.squares = None if self._board is None else self._board.expected(state)
        look = self._motion.feed(frame.bgr if frame.luma is None else frame.luma, frame.t_s)
        self.sight.look, self.sight.scale = look, self._motion.scale
        if self._board is None:
            return self._find_board(frame, look, state)
        self._board.follow(state)
        scene = Scene(frame=frame, look=look, state=state, board=self._board, motion=self._motion, before=self._view,
                      reader=self._reader)
        self._upkeep.vigil.follow(state)
        if self._view is not None and (moved := self._upkeep.reregister(scene)) is not None:
            self._view = moved
            self._follow_last()
        if self._upkeep.adrift:
            return self._find_again(frame, look, state)
        watched = self._board.watched()
        hand = np.count_nonzero(look.hands & watched) > 12
        calm = not hand and np.count_nonzero(look.moved & watched) < 0.0006 * np.count_nonzero(watched)
        if self._upkeep.shaken:  # a tile that moved with the board would be held against another place
            return Observation(status="hand" if hand else "settling")
        proposals, pending = self._read(scene, calm)
        absorbed = look.changed & (look.still_s > FURNITURE_S) & ~look.hands
        for pose in pending:
            self._board.area(pose, 0.15).put(absorbed, False)
        if absorbed.any():
            self._motion.absorb(absorbed)
        if calm and not pending and (frame.luma is None or self._fed % 2):  # of a Pi's frames few are fetched
            self._view = frame.bgr
        status = "reading" if proposals else "hand" if hand else "settling" if pending or not calm else "watching"
        notices = None
        if status == "watching" and self._fed % 2:
            notices = self._upkeep.notices(scene)
        return Observation(status=status, proposals=tuple(proposals), notices=notices)

    # -- the board --------------------------------------------------------------------------------------------------

    def _find_board(self, frame: Frame, look: Look, state: GameState) -> Observation:
        assert self._motion is not None
        still = float((look.still_frames < STILL_FRAMES).mean()) < 0.002
        fresh = not self._motion.settled or float(look.changed.mean()) > 0.0005
        if not still or not (fresh or frame.t_s - self._searched_s > _FIND_AGAIN_S):
            return Observation(status="settling")
        self._searched_s = frame.t_s
        self._motion.settle()
        lattice = self._finder.find(frame.bgr, state)
        if lattice is None:
            return Observation(status="settling")
        self._board, self._view = Board(lattice, self._motion), frame.bgr
        self._board.bend()
        self._last = resumed(frame.bgr, self.poses, state, self._reader)
        return Observation(status="watching")

    def _find_again(self, frame: Frame, look: Look, state: GameState) -> Observation:
        """The board moved further than its tiles can be followed: nothing is read until it is found or put back."""
        still = float((look.still_s < _STILL_LOST_S).mean()) < 0.002
        if still and frame.t_s - self._searched_s > _FIND_AGAIN_S and self._motion and self._board:
            self._searched_s = frame.t_s
            lattice = (self._finder.find_again if len(state.tiles) > 2 else self._finder.find)(frame.bgr, state)
            if lattice is not None and self._board.apart(lattice) < 2 * MOVED:
                self._upkeep.adrift = False  # it lies where it lay
            elif lattice is not None:
                self._motion.settle()
                self._board, self._view, self._upkeep.adrift = Board(lattice, self._motion), frame.bgr, False
                self._unseen.update(self._board.open_squares(state))
                self._follow_last()
        return Observation(status="adrift" if still else "hand" if look.hands.any() else "settling")

    def _follow_last(self) -> None:
        if self._last is not None:
            self._last.pose = self.poses.get(self._last.at, self._last.pose)
        self._tries.clear()

    # -- where to look ----------------------------------------------------------------------------------------------

    def _due(self, at: Square, pose: Array, look: Look, part: float, grow: float) -> bool | None:
        """Whether a square has changed and should be read now; None when it has changed but is not ready, or was read
        a moment ago. What was read in vain three times becomes part of the settled view."""
        if self._board.area(pose, grow).part(look.changed) <= part:
            self._tries.pop(at, None)
            return False
        around = self._board.area(pose, 0.1)
        frames, seconds = look.still(around)
        if around.of(look.hands).any() or frames < STILL_FRAMES or seconds < STILL_S:
            self._tries.pop(at, None)
            return None
        tries = self._tries.get(at, 0)
        if tries >= len(_TRIES):
            self._motion.settle(self._board.area(pose, 0.05))
            self._tries.pop(at)
            self._unseen.add(at)
            if at not in self.poses and self._view is not None and self._board.lying(pose, look.changed) is not None:
                self._upkeep.wonder(at, pose, self._view)
            return False
        if frames < _TRIES[tries]:
            return None
        self._tries[at] = tries + 1
        return True

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, scene: Scene, calm: bool) -> tuple[list[Proposal], list[Array]]:
        """Proposals, and the poses of squares that have changed and wait to be read."""
        frame, look, state = scene.frame, scene.look, scene.state
        out: list[Proposal] = []
        pending: list[Array] = []
        found: list[Placement] = []
        if self._last is not None:
            state = self._look_again(frame, look, state, out, pending)
        self.sight.open = squares = self._board.open_squares(state)
        for at, pose in squares.items():
            due = self._due(at, pose, look, _TOUCHED, -0.1)
            self._passing.note(at, area := self._board.area(pose, 0.1), look)
            if due is False:
                due = self._passing.due(at, pose, area, look, self._view, frame)
            if due is False and at not in self._unseen:
                self._bare[at] = len(state.tiles)
            if due is not False:
                pending.append(pose)
            shown = due is None and self._shown(frame.bgr, pose, look)
            if (due or shown) and (placement := self._try_near(scene, pose, at, state)) is not None and \
                    (due or placement.score > UNCOVERED):
                found.append(placement)
        if calm and not pending and self._fed % 2:
            found += self._glance(frame.bgr, squares, state)
        self._propose(frame, distinct(found, self.poses.values()), state, out)
        if not found:
            out += self._upkeep.look_back(scene, self._last.at if self._last is not None else None)
        return out, pending

    def _shown(self, bgr: Image, pose: Array, look: Look) -> bool:
        """Whether what looks like an arm over a square is still and shows a tile: one at the picture's rim."""
        area = self._board.area(pose, 0.1)
        return bool(area.of(look.hands).any()) and look.still(area)[1] > ARM_STILL_S and not self._fed % 4 and \
            self._reader.glance(bgr, pose) > _CONFIRMED

    def _try(self, bgr: Image, pose: Array, at: Square, state: GameState) -> Placement | None:
        """Read one square, not counting what a figure on it may hide."""
        strange = painted_near(bgr, pose, self._figures.colours, self._figures.view)
        placement = self._reader.read(bgr, pose, at, state, strange)
        self.sight.square(at, pose, placement, self._reader.like, self._fed)
        return placement

    def _try_near(self, scene: Scene, pose: Array, at: Square, state: GameState) -> Placement | None:
        """Read one square; where that is hard, whatever of a tile's size lies beside its place."""
        there = self._try(scene.frame.bgr, pose, at, state)
        if (there is None or there.score < PLAIN) and (off := scene.board.nearer(pose, scene.look.changed)) is not None:
            beside = self._try(scene.frame.bgr, off, at, state)
            there = max((p for p in (there, beside) if p is not None), key=lambda p: p.score, default=None)
        return there

    def _glance(self, bgr: Image, squares: dict[Square, Array], state: GameState) -> list[Placement]:
        """One empty square after the other gets a short look: a tile that came unseen is found within seconds."""
        dropped = self._board.dropped if self._board is not None else ()
        self._round = [at for at in self._round if at in squares] or [at for at in squares if at not in dropped]
        if not self._round:
            return []
        at = self._round.pop(0)
        if self._reader.glance(bgr, squares[at]) < _CONFIRMED:
            self._unseen -= {at} - self._upkeep.unread.keys()
            return []
        placement = self._try(bgr, squares[at], at, state)
        return [placement] if placement is not None else []

    def _propose(self, frame: Frame, found: list[Placement], state: GameState, out: list[Proposal]) -> None:
        """Tiles in the order in which they were laid, each with its figure."""
        if not found:
            return
        for placement in found if self._view is not None else ():  # what came beside a tile is no figure on it
            self._view = pasted(np.asarray(self._view), frame.bgr, placement.pose)
        players = len(state.setup.players)
        last = self._last
        if last is not None and last.gone and state.turn_open and len(found) == 1:
            state = self._moved(frame, found[0], last, out)
            return
        found = [p for p in found if not self._fills(frame, p, state, out)]
        laid = len(state.tiles)
        order, sure = in_order(found, state.tiles, next_player(state), players, lambda p: self._colours_on(frame, p))
        for placement in order:
            due = next_player(state)
            player = self._figures.whose(self._colours_on(frame, placement), due) if len(order) == 1 else due
            before = state
            self._missed.skip(before, player)
            self._lay(frame, placement, before)
            proposal = tile_proposal(placement, player, shown(frame.bgr, placement.pose), frame.id,
                                     unsure=not sure or player != due or self._late(placement.at, laid))
            self._last.asked = proposal.asked
            out.append(proposal)
            state = step(state, proposal.events[0])
            if (figure := self._figure(frame, state)) is not None:
                out.append(figure)
                state = step(state, figure.events[0])
        self._board.bend()

    def _fills(self, frame: Frame, placement: Placement, state: GameState, out: list[Proposal]) -> bool:
        """Whether a tile that is found late was laid in a turn that nobody saw: then it has its place there."""
        on = self._colours_on(frame, placement) if self._missed.turns else {}
        gap = self._missed.take(placement.at, on, state, late=self._late(placement.at, len(state.tiles)))
        if gap is None:
            return False
        after, player = gap
        tile = tile_proposal(placement, player, shown(frame.bgr, placement.pose), frame.id, unsure=True, after=after)
        out.append(tile)
        late = self._put(frame, placement, state)
        if (figure := self._figures.read(frame, late, step(state, tile.events[0]), self._reader)) is not None:
            out.append(replace(figure, after=placement.at))
        if late.seen is not None:
            self._upkeep.vigil.keep(late.at, late.seen)
        return True

    def _late(self, at: Square, laid: int) -> bool:
        """Whether others of the ``laid`` tiles came since this square was last seen bare: it may be older than they."""
        return at in self._unseen or self._bare.get(at, laid) < laid

    def _lay(self, frame: Frame, placement: Placement, before: GameState) -> None:
        """Remember the tile as the one laid last, and take its square as settled."""
        assert self._board is not None and self._motion is not None
        if self._last is not None and self._last.at != placement.at:
            last = self._last  # another tile is the last one now
            if last.seen is not None:
                self._upkeep.vigil.keep(last.at, last.seen, last.known if last.bare and last.read else None)
        self._last = self._put(frame, placement, before)

    def _put(self, frame: Frame, placement: Placement, before: GameState) -> Latest:
        assert self._board is not None and self._motion is not None
        self._board.place({placement.at: placement.pose})
        known = unclaimed(frame.bgr, placement, self._reader, self._view)
        self._motion.settle(self._board.area(placement.pose, 0.2))
        self._tries.pop(placement.at, None)
        self._board.dropped.discard(placement.at)
        return Latest(at=placement.at, pose=placement.pose, known=known, before=before, placement=placement)

    # -- the tile laid last -----------------------------------------------------------------------------------------

    def _look_again(self, frame: Frame, look: Look, state: GameState, out: list[Proposal],
                    pending: list[Array]) -> GameState:
        """A figure may come, and the tile may be turned or moved while the turn lasts."""
        assert self._motion is not None
        last = self._last
        if last is None or last.at not in state.tiles or state.last_tile != last.at or not state.turn_open:
            return state
        due = self._due(last.at, last.pose, look, _TOUCHED_LAST, 0.1) or self._passed(last, look)
        if due is not False:
            pending.append(last.pose)
        if not due:
            return state
        placed = state.tiles[last.at]
        if not last.read:
            # more than a figure covers: another tile?
            part = float(self._board.area(last.pose, -0.1).of(look.changed).mean())
            again = self._try(frame.bgr, last.pose, last.at, last.before) if part > _TOUCHED_MUCH else None
            last.gone = again is None and part > _TOUCHED_ALL
            if last.gone:
                return state
            if again is not None and lies_otherwise(again, placed.tile, placed.rot):
                self._lay(frame, again, last.before)
                out.append(tile_proposal(again, placed.player if placed.player is not None else state.player,
                                         shown(frame.bgr, again.pose), frame.id, replaces=again.at))
                state = step(last.before, out[-1].events[0])
            if (figure := self._figure(frame, state)) is not None:
                state = self._claimed(frame, state, figure, out)
                out.append(figure)
        around = np.zeros(look.hands.shape, bool)
        self._board.area(last.pose, 0.1).put(around, True)
        self._motion.settle(around & ~look.hands)
        return state

    def _claimed(self, frame: Frame, state: GameState, figure: Proposal, out: list[Proposal]) -> GameState:
        """A figure of another player than the one who was due came on the tile laid last: the tile is that player's,
        and the turns go on from there. The figure is what is asked about."""
        last = self._last
        placed, player = state.tiles[last.at], self._figures.claimant(figure, state.player)
        if player == state.player or last.placement is None or last.placement.tile != placed.tile:
            return state
        self._missed.skip(last.before, player)
        out.append(tile_proposal(last.placement, player, shown(frame.bgr, last.pose), frame.id, unsure=last.asked,
                                 replaces=last.at))
        return step(last.before, out[-1].events[0])

    def _passed(self, last: Latest, look: Look) -> bool | None:
        """Whether a hand came over the tile laid last and is gone: it may have left what is as bright as the tile."""
        area = self._board.area(last.pose, 0.1)
        moved = area.of(look.moved)
        last.passed |= bool(moved.size) and not last.read and float(moved.mean()) > _TOUCHED
        frames, seconds = look.still(area)
        if not last.passed or area.of(look.hands).any() or frames < STILL_FRAMES or seconds < STILL_S:
            return None if last.passed else False
        last.passed = False
        return True

    def _moved(self, frame: Frame, placement: Placement, last: Latest, out: list[Proposal]) -> GameState:
        """The tile laid last was taken up again and lies elsewhere now."""
        old, before = last.at, last.before
        placed = step(before, out[-1].events[0]) if out else before
        self._lay(frame, placement, before)
        out.append(tile_proposal(placement, next_player(before), shown(frame.bgr, placement.pose), frame.id,
                                 replaces=old))
        return placed

    def _colours_on(self, frame: Frame, placement: Placement) -> dict[int, float]:
        known = unclaimed(frame.bgr, placement, self._reader, self._view)
        return self._figures.colours_on(frame, placement, known)

    def _figure(self, frame: Frame, state: GameState) -> Proposal | None:
        assert self._last is not None and self._board is not None
        lay, figure = self._last.pose, self._figures.read(frame, self._last, state, self._reader)
        if self._last.pose is not lay:
            self._board.place({self._last.at: self._last.pose})
        return figure
