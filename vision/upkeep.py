"""Tiles laid before: what people do to them while the game goes on is noticed, and the board is kept in step with it.

Figures that go, come or stay (`vision.vigil`), tiles that were pushed, a board that was knocked and a camera that was
bumped (`vision.steady`). What does not fit any more is kept as it was before, to be shown beside what is there now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.state import GameState
from scoring.tiles import Square
from vision.board import Board
from vision.frames import Frame, Image
from vision.interpret import Proposal, late_proposal
from vision.kinds import Kinds
from vision.lattice import UNIT, Array, apply, rectify
from vision.motion import Area, Look, Mask, Motion
from vision.placements import FLOOR, PlacementReader
from vision.standing import CROP_PX, MARGIN, paint_mask
from vision.steady import MOVED, find_moved, lies_there, print_alike, step_of
from vision.view import View
from vision.vigil import Notice, Vigil

CROP_SHOWN_PX = 160
_TOUCHED = 0.004  # part of a tile that must have changed before it is looked at again: a figure's limb
_PUSHED = 0.12  # and before its place is
_STILL_FRAMES, _STILL_S = 3, 0.5  # how long it must have been still
_LIKE = 0.1  # correlation by which a tile that lies may be worse than the best picture
_LOST = 0.08  # correlation below the least at which a tile is read: something else is there
_SHIFTED, _SHIFTED_PART = 0.1, 0.3  # of a tile's area, and of the tiles: the camera or the board may have moved
_SHIFTED_FEW = 3  # tiles that are enough on a large board: a sleeve pushes a corner of it
_AGAIN_S, _ARM_AGAIN_S = 1.0, 3.0
_MOST = 0.8  # part of the tiles that a bump moves at least
ARM_STILL_S = 1.5  # how long what looks like an arm must have been still to be a bump
_BELOW, UNCOVERED = 0.5, 0.85  # of a tile; and correlation of its print with its last picture: no arm leaves so much
_THERE = 0.4  # correlation with what could not be read, from which it lies there still
_FEW = 4  # an arm may hide fewer tiles than these altogether
_IN_CROP = np.array([[CROP_PX, 0, MARGIN * CROP_PX], [0, CROP_PX, MARGIN * CROP_PX], [0, 0, 1.0]])  # a tile's pose


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One frame with everything that is known of it. ``before`` is the view that was settled last, in colour."""

    frame: Frame
    look: Look
    state: GameState
    board: Board
    motion: Motion
    before: Image | None
    reader: PlacementReader


class Upkeep:
    """Looks after the tiles that lie."""

    def __init__(self, vigil: Vigil, kinds: Kinds) -> None:
        self.vigil, self.kinds = vigil, kinds
        self._astray: dict[Square, Image] = {}  # tiles that do not lie where they lay, as they were seen before
        self._searched_s = -1e9
        self.unread: dict[Square, tuple[Image, Image | None]] = {}  # read in vain: the square before it came, and it
        self.adrift = False  # the board is not where it lay, and nobody knows where
        self.shaken = False  # much of the board has changed at once, and it is not known yet whether it moved

    def look_back(self, scene: Scene, last: Square | None) -> list[Proposal]:
        """Look at tiles that have changed and are still again, all but the ``last`` one."""
        out: list[Proposal] = []
        frame, look, state = scene.frame, scene.look, scene.state
        due: list[tuple[Square, Array, Area, float]] = []
        for at, pose in scene.board.poses.items():
            area = scene.board.area(pose, 0.05)
            changed = area.part(look.changed) if at != last else 0.0
            if changed <= _TOUCHED:
                continue
            frames, seconds = look.still(area)
            below = float(area.of(look.hands).mean())
            if below and (below < _BELOW or seconds < ARM_STILL_S or not self._uncovered(scene, at, pose)):
                continue
            if frames >= _STILL_FRAMES and seconds >= _STILL_S:
                due.append((at, pose, area, changed))
        if sum(changed > _PUSHED for *_, changed in due) >= max(_FEW - 1, _SHIFTED_PART * len(scene.board.poses)) and \
                not self._in_place(scene):
            self.adrift = True
            return out
        for at, pose, area, changed in due:
            pushed = False
            if changed > _PUSHED or at in self._astray:  # a pushed tile is compared with itself where it lies now
                lay, pose = pose, self._push(scene, at, pose)
                pushed = step_of(lay, pose) > MOVED
            seen = self.vigil.picture(at)
            late = None if at in self._astray else self.vigil.look(frame.bgr, frame.t_s, at, pose, state)
            if late is not None and not pushed and seen is not None and \
                    step_of(pose, lies := self._push(scene, at, pose)) > MOVED:  # print that has moved is no figure
                self.vigil.keep(at, seen)
                late = self.vigil.look(frame.bgr, frame.t_s, at, lies, state)
            if late is not None and not pushed:  # edges that do not meet as before may look like anything
                out.append(late_proposal(late, at, state, shown(frame.bgr, pose), frame.id, self.kinds))
            scene.motion.settle(area)
        return out

    def _push(self, scene: Scene, at: Square, pose: Array) -> Array:
        """A tile that was touched lies a little elsewhere, or does not lie there any more: its pose now."""
        placed, reader, before = scene.state.tiles[at], scene.reader, self.vigil.picture(at)
        if placed.tile not in reader.ids:
            return pose
        found = reader.settler.settle(scene.frame.bgr, pose)
        own = float(found.scores[reader.ids.index(placed.tile), placed.rot])
        if own > FLOOR and own > found.best - _LIKE:
            scene.board.place({at: found.pose})
            self._astray.pop(at, None)
            return found.pose
        if own < FLOOR - _LOST and (before is not None or scene.before is not None):
            self._astray.setdefault(at, before if before is not None else _square(np.asarray(scene.before), pose))
        return pose

    def reregister(self, scene: Scene) -> Image | None:
        """When much of the board has changed at once and is still: was the camera bumped, the board knocked? The
        settled view as it looks from now on, None when nothing moved."""
        frame, look, board, before = scene.frame, scene.look, scene.board, scene.before
        if before is None:
            return None
        if self.adrift and self._in_place(scene):
            self.adrift = False  # it was put back, or it was an arm
        if not look.changed.any():
            self.shaken = False
            return None
        poses = board.poses
        areas = [board.area(pose, -0.05) for pose in poses.values()]
        few = np.clip(_SHIFTED_PART * len(poses), 1, _SHIFTED_FEW)
        touched = _touched(areas, look.changed & ~look.hands)
        arm = len(touched) < few
        if arm:  # a bump moves everything up to the border, as arms do; but an arm does not move the tiles
            touched = _touched(areas, look.changed)
        if len(touched) < few or arm and look.still(*touched)[1] < ARM_STILL_S:
            self.shaken = False
            return None
        if look.still(*touched)[0] < 2:
            self.shaken = True
            return None
        if frame.t_s - self._searched_s < (_ARM_AGAIN_S if arm else _AGAIN_S):
            return None
        self._searched_s, self.shaken = frame.t_s, False
        moved = find_moved(before, frame.bgr, poses, scene.state, scene.reader)
        if arm and (moved is None or
                    np.mean([step_of(poses[at], pose) > MOVED for at, pose in moved.poses.items()]) < _MOST):
            self.adrift |= len(poses) >= _FEW and not self._in_place(scene)
            return None
        if moved is None:
            self.adrift = len(poses) >= _FEW and not self._in_place(scene)
            return None
        self.adrift = False
        for at in moved.astray:
            self._astray.setdefault(at, _square(before, poses[at]))
        for at in moved.poses.keys() - moved.astray:
            self._astray.pop(at, None)
        board.shift(moved.grid, moved.poses)
        if not moved.camera:
            view = before
            for pose in (*poses.values(), *moved.poses.values()):  # or the next move would be told from where they lay
                scene.motion.settle(board.area(pose, 0.1))
                view = pasted(view, frame.bgr, pose)
            return view
        scale = np.diag([scene.motion.scale, scene.motion.scale, 1.0])
        scene.motion.shift(scale @ moved.grid @ np.linalg.inv(scale))
        return np.asarray(cv2.warpPerspective(before, moved.grid, before.shape[1::-1],
                                              borderMode=cv2.BORDER_REPLICATE), np.uint8)

    def _in_place(self, scene: Scene) -> bool:
        """Whether the tiles lie where they are taken to lie, by the last picture of each: the settled view may be of
        the same mistake."""
        poses = scene.board.poses
        seen = {at: self._picture(scene, at, pose) for at, pose in poses.items()}
        return lies_there(seen, scene.frame.bgr, poses)

    def _uncovered(self, scene: Scene, at: Square, pose: Array) -> bool:
        """Whether a tile below what looks like an arm shows all its print: its light has changed, as in a shadow."""
        known = scene.before is not None
        return known and print_alike(*self._picture(scene, at, pose), scene.frame.bgr, pose) > UNCOVERED

    def _picture(self, scene: Scene, at: Square, pose: Array) -> tuple[Image, Array]:
        """A picture of a tile from before, and its pose in that."""
        own = self.vigil.picture(at)
        return (np.asarray(scene.before), pose) if own is None else (own, _IN_CROP)

    def notices(self, scene: Scene) -> tuple[Notice, ...]:
        """What people should put right, on a frame on which the table is still."""
        frame, state, poses = scene.frame, scene.state, scene.board.poses
        self._astray = {at: before for at, before in self._astray.items() if at in poses}
        found = self.vigil.notices(frame.bgr, frame.t_s, poses, state)
        return (*found, *self._strange(scene),
                *(Notice(code="out_of_step", at=at, before=before, now=_square(frame.bgr, poses[at]))
                  for at, before in self._astray.items()))

    def wonder(self, at: Square, pose: Array, before: Image) -> None:
        """Something of a tile's size on an open square was read in vain."""
        known = self.unread.get(at)  # what is taken away is read in vain as well
        self.unread[at] = known[0] if known is not None else _square(before, pose), None

    def _strange(self, scene: Scene) -> list[Notice]:
        """What lies on open squares and cannot be read, until it is gone or people say what it is."""
        out, squares = [], scene.board.open_squares(scene.state)
        for at, (before, seen) in list(self.unread.items()):
            now = _square(scene.frame.bgr, squares[at]) if at in squares else None
            # what was taken away leaves a square with less to see
            if now is None or print_alike(before, _IN_CROP, now, _IN_CROP) > _THERE or not (
                    now.std() > before.std() if seen is None
                    else print_alike(seen, _IN_CROP, now, _IN_CROP) > _THERE):
                del self.unread[at]
                continue
            seen = now if seen is None else seen
            self.unread[at] = before, seen
            out.append(Notice(code="unread", at=at, before=before, now=seen))
        return out


def _touched(areas: list[Area], changed: Mask) -> list[Area]:
    return [area for area in areas if area.of(changed).sum() > _SHIFTED * area.inside.sum()]


def _square(bgr: Image, pose: Array) -> Image:
    return rectify(bgr, pose, CROP_PX, MARGIN)


def painted_near(bgr: Image, pose: Array, colours: Sequence[str], view: View | None) -> Image:
    """255 where on a square or around it something may be a figure by its colour, else 0: (height, width)."""
    corners = apply(pose, UNIT * 2.0 - 0.5)
    low = np.clip(np.floor(corners.min(axis=0)), 0, None).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)), 0, None).astype(int)
    part = bgr[low[1]:high[1], low[0]:high[0]]
    out = np.zeros(bgr.shape[:2], np.uint8)
    if part.size:
        out[low[1]:high[1], low[0]:high[0]] = paint_mask(part, colours, view)
    return out


def pasted(view: Image, bgr: Image, pose: Array) -> Image:
    """A view with one square as it is in another picture."""
    out, mask = view.copy(), np.zeros(view.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, apply(pose, UNIT).round().astype(np.int32), 1)
    cv2.copyTo(bgr, mask, out)
    return out


def shown(bgr: Image, pose: Array) -> Image:
    """A square with half a tile around it, as people are shown it."""
    return rectify(bgr, pose, CROP_SHOWN_PX // 2, 0.5)
