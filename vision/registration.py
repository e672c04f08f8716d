"""Re-registration: where the tiles lie now. They may be in place, pushed a little, moved with the table or by a bumped
camera, or lost.

No knowledge of the game or artwork is used: every tile is compared with its own last snapshot. Keypoints of the board
are matched over the whole picture; tiles with a common motion form a group, and each tile follows the motion (or none)
that fits its print best. D. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60 (2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import STEP, Square
from vision.frames import Image
from vision.keypoints import detected
from vision.lattice import SAME_PLACE, UNIT, Array, Lattice, apply, inside, names, renamed, turned_square
from vision.senses import snapshot

Print = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationLimits:
    """Correlations of snapshots, tiles and pixels of the working picture."""

    width_px: int = 960
    snapshot_px: int = 32
    same: float = 0.55  # correlation from which it is the same tile; others reach 0.45 (webcam, 31 tiles)
    better: float = 0.08  # by which a tile's correlation must be better with a motion than without
    partly: float = 0.3  # correlation from which a tile is partly seen in its place (chosen: with a quarter in view)
    keypoints: int = 1500
    ratio: float = 0.8  # Lowe's ratio test
    group: int = 8  # least number of keypoints for a motion
    motions: int = 4
    apart: float = 0.06  # tiles from its group's motion
    scale: float = 0.15  # limit of the board's change of scale in the picture
    strays: float = 1.0  # tiles by which a corner's motion may differ from that of most tiles
    agree: float = 0.5  # fraction of the tiles in view that must match at the new poses
    own: float = 0.5  # tiles: centres of two squares' tiles closer than this are one tile's
    solid: float = 0.85  # tiles: least distance between the centres of two tiles (1, less errors): they never overlap
    slack: float = 0.04  # tiles: search range of a snapshot, for inexact poses


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """``poses`` of all tiles now; ``seen`` those that match their snapshots there; ``moved`` (3, 3) the motion of most
    of them, px to px."""

    poses: Mapping[Square, Array]
    seen: frozenset[Square]
    moved: Array


class Register:
    """Keeps the tiles' snapshots and finds them again. Not thread-safe."""

    def __init__(self, limits: RegistrationLimits | None = None) -> None:
        self.limits = limits if limits is not None else RegistrationLimits()
        self._prints: dict[Square, Print] = {}
        self._before: Image | None = None  # the working picture in which the tiles lie at ``_lay``
        self._to_full = np.eye(3)  # from its pixels to those of a picture of the current size
        self._lay: dict[Square, Array] = {}

    def keep(self, bgr: Image, poses: Mapping[Square, Array], fresh: Mapping[Square, Array], *,
             in_place: bool = True) -> None:
        """All tiles lie at ``poses``; the ``fresh`` ones were just looked at. Unless the board is seen ``in_place``,
        the picture is not the one in which it is looked for after a bump: it may show where it went."""
        for at in [at for at in self._prints if at not in poses]:
            del self._prints[at]
        for at, pose in fresh.items():
            self._prints[at] = snapshot(bgr, pose, self.limits.snapshot_px)
        if self._before is not None and not in_place:
            self._lay = {at: self._lay.get(at, pose) for at, pose in poses.items()}  # a tile was laid or taken up
            return
        self._before, scale = self._working(bgr)
        self._to_full, self._lay = np.diag([1 / scale, 1 / scale, 1.0]), dict(poses)

    def aligned(self, bgr: Image, found: Lattice, lay: Mapping[Square, Array]) -> Lattice | None:
        """A board that was found again, its squares named as before (``lay``: where those tiles lay) by matching the
        tiles' snapshots; None if too few match."""
        best: tuple[int, Lattice] | None = None
        squares = list(found.shifts)
        for quarter in range(4):
            turned = [turned_square(at, quarter) for at in squares]
            shifts = {(t[0] - n[0], t[1] - n[1]) for t in lay for n in turned[:12]}
            for shift in shifts:
                to = names(quarter, shift)
                if sum(to(at) in lay for at in squares) < 0.5 * min(len(squares), len(lay)):
                    continue
                lattice = renamed(found, to, quarter)
                poses = {at: lattice.pose(at, s) for at, s in lattice.shifts.items() if at in lay}
                count = sum(like > self.limits.same for like in self.alike(bgr, poses).values())
                if best is None or count > best[0]:
                    best = count, lattice
        few = min(len(lay), len(squares))
        if best is None or best[0] < max(min(2, few), self.limits.agree * few):
            return None
        lattice = best[1]
        for at in lay.keys() - lattice.shifts.keys():
            lattice.shifts[at] = lattice.shift_of(at, lattice.predict(at))
        return lattice

    def resize(self, larger: Array) -> None:
        """The pictures' size has changed: ``larger`` (3, 3) maps the old pixels to the new ones."""
        self._to_full = larger @ self._to_full
        self._lay = {at: larger @ pose for at, pose in self._lay.items()}

    def alike(self, bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, float]:
        """Correlation of each tile with its last snapshot at these poses; tiles outside the picture are left out."""
        out = {}
        for at, pose in poses.items():
            if at in self._prints and float(inside(bgr.shape, pose, 8).mean()) > 0.9:
                out[at] = self._like(bgr, pose, self._prints[at])
        return out

    def find(self, bgr: Image, one: Collection[Square] = ()) -> Registration | None:
        """The tiles after a push or a bump, or None when the board cannot be matched. ``one`` are squares of one piece
        of cardboard: they have one motion."""
        if self._before is None or not self._lay:
            return None
        motions = [np.eye(3), *self._motions(bgr)]
        likes = [self.alike(bgr, {at: m @ pose for at, pose in self._lay.items()}) for m in motions]
        # a tile stays where it is unless it matches clearly better elsewhere
        best = {at: max(range(len(motions)), key=lambda n: likes[n].get(at, -1.0) - (self.limits.better if n else 0.0))
                for at in self._lay}
        one = best.keys() & set(one)
        votes = Counter(best[at] for at in one if likes[best[at]].get(at, -1.0) > self.limits.same)
        best.update(dict.fromkeys(one, max(votes, key=lambda n: (votes[n], -n), default=0)))
        counts = [sum(likes[n].get(at, -1.0) > self.limits.same for at, m in best.items() if m == n)
                  for n in range(len(motions))]
        main = int(np.argmax(counts))
        self._together(best, motions, main)
        self._taken_along(best, motions, main, likes, one)
        self._solid(best, motions, main)
        if any(best[at] == main for at in one):
            best.update(dict.fromkeys(one, main))
        seen = frozenset(at for at, n in best.items() if likes[n].get(at, -1.0) > self.limits.same)
        in_view = max(len(like) for like in likes)
        if not seen or len(seen) < self.limits.agree * in_view:
            return None
        poses = {at: motions[best[at]] @ pose for at, pose in self._lay.items()}
        return Registration(poses=poses, seen=seen, moved=motions[main])

    def stayed(self, poses: Mapping[Square, Array], lay: Mapping[Square, Array], unseen: Set[Square]) -> set[Square]:
        """Those tiles of ``lay`` (where they were) that did not go to their ``poses``: the ``unseen`` are not there,
        and what is seen at the poses of others is one of these, in its place. Their snapshots matched something else,
        and are dropped."""
        out, more = set[Square](), set(unseen)
        while more:
            out |= more
            more = {at for at in lay.keys() & poses.keys() - out
                    if any(_off(poses[at], lay[other]) < SAME_PLACE for other in out)}
        for at in out:
            self._prints.pop(at, None)
        return out

    def _together(self, best: dict[Square, int], motions: list[Array], main: int) -> None:
        """No tile moves far from the others: a match there is another tile of that kind."""
        for at in [at for at, n in best.items() if n != main]:
            own, usual = (apply(motions[n] @ self._lay[at], UNIT) for n in (best[at], main))
            side = float(np.linalg.norm(usual[1] - usual[0]))
            if float(np.linalg.norm(own - usual, axis=1).max()) > self.limits.strays * side:
                best[at] = main

    def _taken_along(self, best: dict[Square, int], motions: list[Array], main: int, likes: list[dict[Square, float]],
                     one: Set[Square]) -> None:
        """What is hidden, but for ``one`` piece of cardboard, goes with most of the others, or with neighbours that
        were pushed: with several of them, or with one that lies where it was. What is partly seen in its place stays.
        """
        known = {at: n for at, n in best.items() if likes[n].get(at, -1.0) > self.limits.same}
        hidden = best.keys() - known.keys() - one
        best.update(dict.fromkeys(hidden, main))
        while hidden:  # one that is taken along may push the next one
            along: dict[Square, int] = {}
            for at in hidden:
                votes = Counter(known[there] for x, y in STEP.values() if (there := (at[0] + x, at[1] + y)) in known)
                n = max(sorted(votes), key=lambda n: (votes[n], n == main), default=main)
                partly = likes[main].get(at, -1.0) > max(self.limits.partly,
                                                         likes[n].get(at, -1.0) + self.limits.better)
                if n == main or partly:
                    continue
                pushed = {there: _middle(motions[n] @ self._lay[there]) for there in known if known[there] == n}
                stays = motions[main] @ self._lay[at]
                if votes[n] > 1 or self._blocked(at, _middle(stays), pushed, stays):
                    along[at] = n
            if not along:
                return
            known |= along
            best.update(along)
            hidden -= along.keys()

    def _solid(self, best: dict[Square, int], motions: list[Array], main: int) -> None:
        """No tile moves into another one: what matches there is a tile with the same print, or a piece that was carried
        from one to the other."""
        middles = {at: _middle(motions[n] @ self._lay[at]) for at, n in best.items()}
        moving = [at for at, n in best.items() if n != main]
        while moving:  # one that stays may be in the way of another one
            blocked = [at for at in moving if self._blocked(at, middles[at], middles, motions[main] @ self._lay[at])]
            for at in blocked:
                best[at], middles[at] = main, _middle(motions[main] @ self._lay[at])
            moving = [at for at in moving if best[at] != main] if blocked else []

    def _blocked(self, at: Square, middle: Array, others: Mapping[Square, Array], usual: Array) -> bool:
        """Whether a tile with that ``middle`` would lie in another one; ``usual`` is its pose if it goes with most."""
        corners = apply(usual, UNIT)
        near = self.limits.solid * float(np.linalg.norm(corners[1] - corners[0]))
        return any(other != at and np.linalg.norm(middle - there) < near for other, there in others.items())

    def _like(self, bgr: Image, pose: Array, print_: Print) -> float:
        best = -1.0
        slack = self.limits.slack
        for dx, dy in ((0.0, 0.0), (slack, 0.0), (-slack, 0.0), (0.0, slack), (0.0, -slack)):
            moved = pose @ np.array([[1, 0, dx], [0, 1, dy], [0, 0, 1.0]])
            best = max(best, float((snapshot(bgr, moved, self.limits.snapshot_px) * print_).sum()))
            if best > 0.9:
                break
        return best

    def _motions(self, bgr: Image) -> list[Array]:
        """Motions (3, 3) of groups of the board's keypoints, in px of the whole picture, largest group first."""
        assert self._before is not None
        limits, back = self.limits, np.linalg.inv(self._to_full)
        now, scale = self._working(bgr)
        mask = np.zeros(self._before.shape, np.uint8)
        for pose in self._lay.values():
            cv2.fillConvexPoly(mask, apply(back, apply(pose, UNIT)).round().astype(np.int32), 255)
        sift = cv2.SIFT.create(nfeatures=limits.keypoints, contrastThreshold=0.015)
        one, first = detected(sift, self._before, limits.keypoints, mask)
        other, second = detected(sift, now, limits.keypoints)
        if not len(first) or len(second) < 2:
            return []
        pairs = [p for p in cv2.BFMatcher(cv2.NORM_L2).knnMatch(first, second, k=2) if len(p) == 2]
        good = [m for m, n in pairs if m.distance < limits.ratio * n.distance]
        start = apply(self._to_full, [one[m.queryIdx].pt for m in good])
        end = np.array([other[m.trainIdx].pt for m in good], float).reshape(-1, 2) / scale
        corners = [apply(pose, UNIT) for pose in self._lay.values()]
        side = float(np.median([np.linalg.norm(c[1] - c[0]) for c in corners]))
        left = np.ones(len(start), bool)
        out: list[Array] = []
        while left.sum() >= limits.group and len(out) < limits.motions:
            fit, inliers = cv2.estimateAffinePartial2D(
                start[left], end[left], method=cv2.RANSAC, ransacReprojThreshold=limits.apart * side, maxIters=2000,
                confidence=0.999)
            if fit is None or inliers.sum() < limits.group:
                break
            mine = np.flatnonzero(left)[inliers.ravel().astype(bool)]
            if abs(float(np.hypot(fit[0, 0], fit[1, 0])) - 1) < limits.scale:
                out.append(_refined(np.vstack([fit, [0, 0, 1.0]]), start[mine], end[mine], limits.apart * side))
            left[mine] = False
        return out

    def _working(self, bgr: Image) -> tuple[Image, float]:
        """A small grey copy, and its pixels per pixel of the picture."""
        scale = min(1.0, self.limits.width_px / bgr.shape[1])
        small = cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8), scale


def _middle(pose: Array) -> Array:
    """(2,) of a tile's middle in the picture."""
    return np.asarray(apply(pose, [(0.5, 0.5)])[0], float)


def _off(pose: Array, other: Array) -> float:
    """The distance of a tile's middle from that of another one, in tiles."""
    return float(np.linalg.norm(apply(np.linalg.inv(other) @ pose, [(0.5, 0.5)])[0] - 0.5))


def _refined(fit: Array, start: Array, end: Array, apart: float) -> Array:
    """Refines a motion to a homography, as of a table pushed under an oblique camera, if there are enough keypoints."""
    if len(start) < 40:
        return fit
    found, _ = cv2.findHomography(start, end, cv2.RANSAC, apart)
    better = fit if found is None else np.asarray(found, float)
    return fit if np.abs(apply(better, start) - apply(fit, start)).max() > 4 * apart else better
