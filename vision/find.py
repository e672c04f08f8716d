"""Finds the board in a picture, whatever its position and artwork: from a single tile to a table full of them.

Spots (`vision.spotting`) are single detected tiles. Those that continue each other are joined into candidate boards;
the network that knows tiles (`vision.structure`) refines each to its corners and searches outwards from the known ones.
Every tile keeps its own pose, and the next is predicted from its neighbours, so rows may fan out. Taught pictures give
further spots; the rest is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from scoring.tiles import Square
from vision.board_corners import FEW, BoardCorners, pose_of
from vision.frames import Image
from vision.joining import (
    Limits,
    agreeing,
    beside,
    distinct,
    doubled,
    joined,
    pose_of_spot,
    regular,
    scaled,
    spot_of_pose,
    weight_of,
)
from vision.keypoints import SightingFinder
from vision.lattice import UNIT, Array, Lattice, apply, area, inside, neighbours, rectify
from vision.looks import probability
from vision.slanted import slanted_grid
from vision.spotting import Spot, Spotter
from vision.structure import CROP_PX, MARGIN, StructureEstimate, StructureNet, together
from vision.tileset import TileSet

TILE_PX = CROP_PX / (1 + 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A detected board. ``poses`` (3, 3) of the squares with a tile, ``present`` the probability of a tile on each,
    ``said`` the network's output for each of them at the poses in ``asked``; ``refused`` are the rejected squares
    beside them with their probability of a tile."""

    lattice: Lattice
    poses: Mapping[Square, Array]
    present: Mapping[Square, float]
    said: StructureEstimate
    asked: Mapping[Square, Array]
    refused: Mapping[Square, float]
    worth: float  # its score: the tiles' log-odds times the agreement of their sides
    covers: float  # px² of the picture that they cover, times the same agreement


class BoardFinder:
    """Finds boards. Pictures of a ``tileset`` help where no tile is spotted; with ``again``, which returns the set when
    it is needed, they are not kept until then. Not thread-safe."""

    def __init__(self, tileset: TileSet | None = None, limits: Limits | None = None, *,
                 again: Callable[[], TileSet] | None = None) -> None:
        self.limits = limits or Limits()
        self._net = StructureNet()
        self._spotter = Spotter()
        self._tileset: Callable[[], TileSet] | None = None
        if tileset is not None and not tileset.drawn:
            self._tileset = again if again is not None else lambda: tileset
        self._sightings: SightingFinder | None = None

    def find(self, bgr: Image, *, near: Lattice | None = None, aslant: bool = False) -> Found | None:
        """The board on a BGR picture, or None. ``near`` is the board's previous lattice: it is tried first, and when
        the board still lies about there its squares keep their names. ``aslant`` also searches by straight lines, which
        takes time, where tiles look foreshortened or none was seen: for oblique photographs."""
        if near is not None and (again := self._again(bgr, near)) is not None:
            return again
        limits = self.limits
        spots = self._spotter.spots(bgr)
        found: Found | None = None
        lines: Found | None = None
        if len(spots) > limits.best:  # some of the tiles of a large board lead to all others
            found = self._best(bgr, joined(self._pulled(bgr, spots[:limits.best]), limits))
            if found is not None and self._explains(bgr, found, spots):
                return found
        if aslant and (found is None or _foreshortened(found.poses.values()) > limits.foreshortened):
            lines = self._by_lines(bgr, spots[:limits.spots])
            if lines is not None and self._explains(bgr, lines, spots):
                return lines
        parts = joined(self._pulled(bgr, spots, grows=limits.grows), limits)
        if not parts and self._tileset is not None:  # no tile spotted: search for taught pictures
            parts = joined(self._seen(bgr), limits)
        found = self._best(bgr, parts)
        return lines if lines is not None and (found is None or lines.covers > limits.more * found.covers) else found

    def _explains(self, bgr: Image, board: Found, spots: Sequence[Spot]) -> bool:
        """Whether no spot beside the board is a tile on closer inspection."""
        limits, poses = self.limits, list(board.poses.values())
        left = beside(poses, spots[:limits.spots], limits)
        return weight_of(beside(poses, self._pulled(bgr, left), limits)) < limits.unexplained

    def _by_lines(self, bgr: Image, spots: Sequence[Spot]) -> Found | None:
        """The board on the grid that straight lines suggest and whose squares contain these spots."""
        guessed = slanted_grid(bgr, spots, self.ask)
        if guessed is None:
            return None
        board = BoardCorners({}, Lattice(grid=guessed[0]))
        self._settle(bgr, board, guessed[1])
        return self._finished(bgr, board)

    def _best(self, bgr: Image, parts: list[dict[Square, Spot]]) -> Found | None:
        """The best-scoring of the boards grown from these parts."""
        best: Found | None = None
        limits = self.limits
        for part in parts[:limits.candidates]:
            if weight_of(part.values()) < limits.share * weight_of(parts[0].values()):
                break
            if best is not None and _covered(part.values(), best):
                continue
            found = self._grown(bgr, part)
            # A quarter of a tile may look like a tile: then tiles of twice its size cover more, and their sides agree.
            for larger in joined(self._pulled(bgr, doubled(found.poses.values())), limits)[:1] if found else ():
                other = self._grown(bgr, larger)
                if other is not None and found is not None and other.covers > found.covers:
                    found = other
            if found is not None and found.worth > (0.0 if best is None else best.worth):
                best = found
        return best

    def ask(self, bgr: Image, poses: Iterable[Array], *, turns: int = 1) -> StructureEstimate:
        """The network's output for the squares of these poses."""
        crops = [rectify(bgr, pose, TILE_PX, MARGIN) for pose in poses]
        return self._net.ask(np.array(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8), turns=turns)

    # --- seeds

    def _again(self, bgr: Image, near: Lattice) -> Found | None:
        self._spotter.spots(bgr)
        board = BoardCorners({}, near)
        squares = sorted(at for at in near.shifts if _visible(bgr.shape, near.predict(at)) > self.limits.seen)
        if not squares:
            return None
        self._settle(bgr, board, squares)
        if len(board.corners) < max(1.0, self.limits.again * len(squares)):
            return None
        return self._finished(bgr, board)

    def _seen(self, bgr: Image) -> list[Spot]:
        """Sightings of taught pictures, as spots."""
        if self._sightings is None:
            tileset = self._tileset() if self._tileset is not None else TileSet.empty()
            if tileset.drawn:  # its pictures are gone meanwhile
                self._tileset = None
                return []
            self._sightings = SightingFinder(tileset)
        return [Spot(middle=s.centre, u=s.pose[:, 0].copy(), v=s.pose[:, 1].copy(),
                     likely=s.votes / (s.votes + self.limits.votes)) for s in self._sightings.find(bgr)]

    def _pulled(self, bgr: Image, spots: Sequence[Spot], *, grows: Sequence[float] = (1.0,)) -> list[Spot]:
        """The likeliest spots, in each of these sizes, refined to the corners that the network sees, as far as it takes
        them for tiles."""
        limits = self.limits
        poses = [scaled(pose_of_spot(spot), grow) for grow in grows for spot in spots[:limits.best]]
        poses += [pose_of_spot(spot) for spot in spots[limits.best:limits.spots]]
        still: list[tuple[Array, float]] = []  # those that have converged
        for turn in range(limits.pulls):
            if not poses:
                break
            said = self.ask(bgr, poses)
            off = np.abs(said.corners - UNIT).max(axis=(1, 2))
            last = turn == limits.pulls - 1
            good = np.flatnonzero((said.present > (limits.sure if last else limits.faint[turn]))
                                  & (off < (limits.settled if last else limits.astray)))
            done = (off < limits.still) & (said.present > limits.sure) | last
            drawn = {n: regular(poses[n] @ pose_of(said.corners[n])) for n in good.tolist()}
            still += [(drawn[n], float(said.present[n])) for n in drawn if done[n]]
            moving = [n for n in drawn if not done[n]]
            poses, _ = distinct([drawn[n] for n in moving], said.present[moving])
        settled, likely = distinct([pose for pose, _ in still], np.array([p for _, p in still]))
        spotted = [spot_of_pose(pose, float(p)) for pose, p in zip(settled, likely, strict=True)]
        return [replace(s, likely=s.likely * probability(self._spotter.odds(s.middle, s.side))) for s in spotted]

    # --- growing

    def _grown(self, bgr: Image, part: Mapping[Square, Spot]) -> Found | None:
        board = BoardCorners({at: apply(pose_of_spot(spot), UNIT) for at, spot in agreeing(part, self.limits).items()},
                       Lattice(grid=np.eye(3)))
        board.fit()
        seeds = sorted(board.corners)
        board.corners.clear()
        if len(seeds) > 2:
            board.lattice.shifts.clear()  # the common fit is more precise than each by itself
        self._settle(bgr, board, seeds)
        return self._finished(bgr, board)

    def _finished(self, bgr: Image, board: BoardCorners) -> Found | None:
        """Grow to all sides, re-examine what was found and keep the largest connected part."""
        limits = self.limits
        close: dict[Square, tuple[Array, StructureEstimate]] = {}
        for again in range(limits.rounds):
            self._spread(bgr, board)
            order = sorted(board.corners)
            if not order:
                return None
            poses = {at: board.lattice.predict(at) for at in order}
            fresh = [at for at in order if at not in close or _apart(close[at][0], poses[at]) > limits.aside]
            answers = self.ask(bgr, [poses[at] for at in fresh], turns=4)
            close |= {at: (poses[at], answers.rows([n])) for n, at in enumerate(fresh)}
            said = together([close[at][1] for at in order])
            off = np.abs(said.corners - UNIT).max(axis=(1, 2))
            for n, at in enumerate(order):
                if said.present[n] > limits.likely and off[n] < limits.reach:
                    board.corners[at] = apply(close[at][0], said.corners[n])
            loose = [at for n, at in enumerate(order) if said.present[n] < limits.firm or off[n] > limits.ajar]
            if not loose or again == limits.rounds - 1:
                break
            for at in loose:  # once more, at the pose predicted from its neighbours
                del board.corners[at]
            board.asked = {at: p for at, p in board.asked.items() if at in board.corners}
            board.fit()
        board.fit()
        if len(order) < FEW:  # nothing but their own corners says how large they are
            said = self._nearer(bgr, board, close, said)
        poses = {at: board.lattice.predict(at) for at in order}
        odds = self._odds(poses, dict(zip(order, said.present, strict=True)))
        kept = _largest((at for at in order if odds[at] > limits.kept), {at: 1.0 for at in order})
        odds = self._odds({at: poses[at] for at in kept}, dict(zip(order, said.present, strict=True)))
        rows = {at: n for n, at in enumerate(order)}
        agreement = _agreement(kept, rows, said)
        own = {at: odds[at] - limits.beside[min(len(neighbours([at]) & kept), len(limits.beside) - 1)] for at in kept}
        if not kept or (max(own.values()) < limits.lone and (len(kept) < limits.many or agreement < limits.agreed)):
            return None
        around = neighbours(kept)
        doubt = {at: p for at, (_, p) in board.asked.items() if at in around}
        near = self._odds({at: board.lattice.predict(at) for at in doubt}, doubt, kept)
        board.lattice.shifts = {at: s for at, s in board.lattice.shifts.items() if at in kept}
        return Found(lattice=board.lattice, poses={at: poses[at] for at in sorted(kept)},
                     present={at: probability(odds[at]) for at in sorted(kept)},
                     said=said.rows([rows[at] for at in sorted(kept)]), asked={at: close[at][0] for at in sorted(kept)},
                     refused={at: probability(o) for at, o in near.items()},
                     worth=sum(limits.joint + min(o, 5.0) for o in own.values()) * agreement,
                     covers=sum(probability(odds[at]) * abs(area(apply(poses[at], UNIT))) for at in kept) * agreement)

    def _nearer(self, bgr: Image, board: BoardCorners, close: dict[Square, tuple[Array, StructureEstimate]],
                said: StructureEstimate) -> StructureEstimate:
        """Examine tiles again where they appear, as long as that is elsewhere than they were examined: the network sees
        about half of a deviation. Returns what it says of them at last."""
        order = sorted(board.corners)
        for _ in range(self.limits.nearer):
            poses = {at: board.lattice.predict(at) for at in order}
            if all(_apart(close[at][0], poses[at]) <= self.limits.aside for at in order):
                break
            said = self.ask(bgr, list(poses.values()), turns=4)
            close |= {at: (poses[at], said.rows([n])) for n, at in enumerate(order)}
            board.corners |= {at: apply(poses[at], said.corners[n]) for n, at in enumerate(order)}
            board.fit()
        return said

    def _odds(self, poses: Mapping[Square, Array], present: Mapping[Square, float],
              tiles: Iterable[Square] | None = None) -> dict[Square, float]:
        """Log-odds that a tile lies there, from both networks and the number of its neighbours."""
        limits = self.limits
        taken = set(poses if tiles is None else tiles)
        found = {}
        for at, pose in poses.items():
            likely = float(np.clip(present[at], 1e-6, 1 - 1e-6))
            odds = limits.structure[0] * (np.log(likely / (1 - likely)) - limits.structure[1])
            middle = apply(pose, [[0.5, 0.5]])[0]
            spotted = self._spotter.odds(middle, float(np.sqrt(abs(area(apply(pose, UNIT))))))
            odds += limits.spotted[0] * (spotted - limits.spotted[1])
            count = len(neighbours([at]) & taken)
            found[at] = float(odds + limits.beside[min(count, len(limits.beside) - 1)])
        return found

    def _spread(self, bgr: Image, board: BoardCorners) -> None:
        """Search outwards from the known tiles, ring by ring. An empty place is examined again when newly found tiles
        shift its predicted pose."""
        board.fit()
        for _ in range(self.limits.largest):
            expected = {at: board.lattice.predict(at) for at in sorted(neighbours(board.corners))}
            waiting = [at for at, pose in expected.items() if _visible(bgr.shape, pose) > self.limits.seen
                       and (at not in board.asked or _apart(board.asked[at][0], pose) > self.limits.ajar)]
            if not waiting or not self._settle(bgr, board, waiting):
                break
            board.fit()

    def _settle(self, bgr: Image, board: BoardCorners, squares: Sequence[Square]) -> bool:
        """Add the tiles found on these squares to the board; whether there is any."""
        limits, lattice = self.limits, board.lattice
        expected = {at: lattice.predict(at) for at in squares}
        poses = dict(expected)
        came = False
        for second in (False, True):
            order = list(poses)
            if not order:
                break
            said = self.ask(bgr, [poses[at] for at in order])
            for n, at in enumerate(order):
                likely = float(said.present[n])
                board.asked[at] = expected[at], likely
                off = float(np.abs(said.corners[n] - UNIT).max())
                pose = poses.pop(at)
                if likely < (limits.likely if second else limits.hint) or off > limits.reach:
                    board.corners.pop(at, None)
                    continue
                corners = apply(pose, said.corners[n])
                drawn = apply(np.linalg.inv(expected[at]), corners)
                if np.abs(drawn.mean(axis=0) - 0.5).max() > limits.moved or not 0.7 < area(drawn) < 1.4:
                    continue
                if second or (off < limits.exact and likely > limits.likely):
                    board.corners[at] = corners
                    came = True
                else:
                    poses[at] = lattice.pose(at, lattice.shift_of(at, pose_of(corners)))
        return came


def _foreshortened(poses: Iterable[Array]) -> float:
    """Median aspect ratio of the tiles in the picture."""
    ratios = []
    for pose in poses:
        a, b, c, d = apply(pose, UNIT)
        u, v = (b + c - a - d) / 2, (c + d - a - b) / 2
        long, short = np.linalg.svd(np.column_stack([u, v]), compute_uv=False)
        ratios.append(float(long / short))
    return float(np.median(ratios))


def _agreement(board: Iterable[Square], row: Mapping[Square, int], said: StructureEstimate) -> float:
    """0 .. 1: how well the common sides of neighbours agree; less for quarters of tiles mistaken for tiles."""
    squares = set(board)
    shown = np.exp(said.sides)
    agree = joints = 0.0
    for x, y in squares:
        for at, mine, theirs in (((x + 1, y), 1, 3), ((x, y + 1), 2, 0)):
            if at in squares:
                agree += float(shown[row[x, y], mine] @ shown[row[at], theirs])
                joints += 1
    return ((agree + 1) / (joints + 1)) ** 2


def _apart(one: Array, other: Array) -> float:
    """Distance between the corners of two poses, in tiles."""
    return float(np.abs(apply(np.linalg.inv(one), apply(other, UNIT)) - UNIT).max())


def _covered(spots: Iterable[Spot], board: Found) -> bool:
    """Whether these spots are tiles of that board, or parts of them."""
    outlines = [apply(pose, UNIT).astype(np.float32) for pose in board.poses.values()]
    inner = [any(cv2.pointPolygonTest(o, (float(s.middle[0]), float(s.middle[1])), False) >= 0 for o in outlines)
             for s in spots]
    return sum(inner) > 0.5 * len(inner)


def _visible(shape: Sequence[int], pose: Array) -> float:
    return float(inside(shape, pose, 12).mean())


def _largest(squares: Iterable[Square], weight: Mapping[Square, float]) -> set[Square]:
    """The connected part (by sides) with the largest total weight."""
    left, best = set(squares), set[Square]()
    while left:
        part, edge = set[Square](), {next(iter(left))}
        while edge:
            part |= edge
            edge = neighbours(part) & left - part
        left -= part
        if sum(weight[at] for at in part) > sum(weight[at] for at in best):
            best = part
    return best


