"""Watches one table: frames and the game's state in, proposed events out. It proposes, the rules weigh, people decide.

    looking for the start tile -> watching -> (movement: hand) -> settling -> reading -> watching

It reads only a still table, only squares where something changed or a tile could have been laid unseen, and figures
only on the tile laid last. Every tile keeps its own pose; the lattice bends with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scoring.engine import legal_claims, open_squares, step
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Square, catalogue
from vision.frames import Frame, Image
from vision.keypoints import SightingFinder
from vision.lattice import UNIT, Array, Lattice, apply, rectify
from vision.motion import Look, Mask, Motion
from vision.placements import FLOOR, Placement, PlacementReader
from vision.standing import CROP_PX, MARGIN, FigureReading, named, paint_mask, read_figure
from vision.tileset import TileSet

STILL_FRAMES = 2  # frames without movement before anything is read
SURE = 0.97  # posterior from which a reading needs no question
CROP_SHOWN_PX = 160
_TOUCHED = 0.12  # part of a square that must have changed before it is read again
_UNDER_HAND = 0.03  # part of a square that a hand may cover while it is read
_GLANCES = 3  # still frames from one glance at an empty square to the next
_CONFIRMED = 0.62  # correlation from which an unexpected tile is read without any change having been seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the watcher believes happened: one event with its confidence, the other readings with their probabilities,
    the rectified picture, the frame. ``replaces`` is the square whose earlier reading this one improves on."""

    events: tuple[Event, ...]
    confidence: float
    asked: bool
    alternatives: tuple[tuple[tuple[Event, ...], float], ...]
    crop: Image
    frame: int
    replaces: Square | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one frame came to: ``status`` is watching, hand, settling, reading or lost."""

    status: str
    proposals: tuple[Proposal, ...] = ()


@dataclass(slots=True)
class _Last:
    """The tile laid last: its bare picture if it was seen without a figure."""

    at: Square
    pose: Array
    known: Image
    bare: bool = False  # ``known`` is the tile itself seen without a figure, not its taught picture
    read: bool = False


class TableWatcher:
    """One fixed camera over one table. ``feed`` is deterministic and never raises on a frame."""

    def __init__(self, tileset: TileSet, colours: tuple[str, ...], start_tile: str) -> None:
        self._tileset = tileset
        self._colours = colours
        self._start = start_tile
        self._finder = SightingFinder(tileset.only([start_tile]))
        self._reader = PlacementReader(tileset)
        self._motion: Motion | None = None
        self._shape: tuple[int, ...] = ()
        self._lattice: Lattice | None = None
        self._view: Image | None = None  # the frame that was settled last, in colour
        self._last: _Last | None = None
        self._tries = 0
        self._round: list[Square] = []

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile found so far."""
        if self._lattice is None:
            return {}
        return {at: self._lattice.pose(at, shift) for at, shift in self._lattice.shifts.items()}

    def feed(self, frame: Frame, state: GameState) -> Observation:
        """Look at one frame. ``state`` is the game with every proposal made so far committed."""
        bgr = frame.bgr
        if self._motion is None:
            self._motion, self._shape = Motion(bgr.shape), bgr.shape
        if bgr.shape != self._shape:
            return Observation(status="lost")
        look = self._motion.feed(bgr, self._watched())
        if self._lattice is None:
            return self._find_board(bgr, look, state)
        if look.still < STILL_FRAMES:
            return Observation(status="hand" if look.moving > 0.004 else "settling")
        proposals = self._read(frame, look, state)
        self._motion.settle(keep=look.hands)
        if self._view is None or not self._over_board(look.hands):
            self._view = bgr.copy()
        status = "reading" if proposals else "hand" if self._over_board(look.hands) else "watching"
        return Observation(status=status, proposals=tuple(proposals))

    # -- the start tile ---------------------------------------------------------------------------------------------

    def _find_board(self, bgr: Image, look: Look, state: GameState) -> Observation:
        assert self._motion is not None
        self._tries += 1
        if look.still < STILL_FRAMES or (self._tries > 12 and self._tries % 4):
            return Observation(status="settling")
        at, placed = next(iter(state.tiles.items()))
        kind = self._reader.ids.index(self._start) if self._start in self._reader.ids else -1
        for sighting in self._finder.find(bgr)[:5]:
            upright = np.vstack([sighting.pose, [0, 0, 1.0]])
            middle = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])
            turned = np.linalg.matrix_power(np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]), placed.rot)
            pose = upright @ middle @ turned @ np.linalg.inv(middle)
            settled = self._reader.settler.settle(bgr, pose)
            if kind >= 0 and settled.scores[kind, placed.rot] < max(FLOOR + 0.1, settled.best - 0.03):
                continue
            step_back = np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]])
            self._lattice = Lattice(grid=settled.pose @ step_back, shifts={at: (0.0, 0.0, 0.0)})
            self._motion.settle()
            self._view = bgr.copy()
            return Observation(status="watching")
        return Observation(status="settling")

    # -- where to look ----------------------------------------------------------------------------------------------

    def _watched(self) -> Mask | None:
        """The area in which movement matters: the board and two tiles around it."""
        if self._lattice is None or self._motion is None:
            return None
        out = np.zeros(self._motion.size[::-1], np.uint8)
        for pose in self.poses.values():
            corners = apply(pose, UNIT * 5.0 - 2.0) * self._motion.scale
            cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
        return out.astype(bool)

    def _over_board(self, mask: Mask) -> bool:
        watched = self._watched()
        return bool((mask & watched).sum() > 12) if watched is not None else False

    def _touched(self, changed: Mask, pose: Array) -> float:
        """Part of a square that changed."""
        assert self._motion is not None
        area = np.zeros(changed.shape, np.uint8)
        corners = apply(pose, UNIT * 0.8 + 0.1) * self._motion.scale
        cv2.fillConvexPoly(area, corners.round().astype(np.int32), 1)
        inside = area.astype(bool)
        return float(changed[inside].mean()) if inside.any() else 0.0

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, frame: Frame, look: Look, state: GameState) -> list[Proposal]:
        out: list[Proposal] = []
        for _ in range(4):  # two players in a hurry, or a camera that slept
            placement = self._new_tile(frame.bgr, look, state)
            if placement is None:
                break
            before = state
            state, proposal = self._propose_tile(frame, placement, state)
            out.append(proposal)
            figure = self._figure(frame, state)
            if figure is not None:
                state, proposal = figure
                out.append(proposal)
            if before.turn == state.turn:
                break
        if not out and self._last is not None and not self._last.read and state.turn_open \
                and self._touched(look.changed, self._last.pose) > 0.004 \
                and self._touched(look.hands, self._last.pose) < _UNDER_HAND:
            figure = self._figure(frame, state)
            if figure is not None:
                out.append(figure[1])
        return out

    def _new_tile(self, bgr: Image, look: Look, state: GameState) -> Placement | None:
        """The likeliest new tile on the empty squares around the board, or None."""
        assert self._lattice is not None
        squares = sorted(open_squares(state))
        poses = {at: self._lattice.predict(at) for at in squares}
        free = [at for at in squares if self._touched(look.hands, poses[at]) < _UNDER_HAND]
        hot = [at for at in free if self._touched(look.changed, poses[at]) > _TOUCHED]
        if not hot and look.still % _GLANCES == 0:
            hot = self._glance(bgr, free, poses)
        found = [p for at in hot if (p := self._try(bgr, poses[at], at, state)) is not None]
        found = [p for p in found if self._apart(p)]
        return max(found, key=lambda p: (p.legal, p.score), default=None)

    def _try(self, bgr: Image, pose: Array, at: Square, state: GameState) -> Placement | None:
        """Read one square, not counting what a figure on it may hide."""
        corners = apply(pose, UNIT * 2.0 - 0.5)
        low = np.clip(np.floor(corners.min(axis=0)), 0, None).astype(int)
        high = np.ceil(corners.max(axis=0)).astype(int)
        part = bgr[low[1]:high[1], low[0]:high[0]]
        strange = np.zeros(bgr.shape[:2], np.uint8)
        if part.size:
            strange[low[1]:high[1], low[0]:high[0]] = paint_mask(part, self._colours)
        return self._reader.read(bgr, pose, at, state, strange)

    def _glance(self, bgr: Image, squares: list[Square], poses: dict[Square, Array]) -> list[Square]:
        """One empty square after the other gets a short look: a tile that came unseen is found within seconds."""
        self._round = [at for at in self._round if at in squares] or list(squares)
        if not self._round:
            return []
        at = self._round.pop(0)
        return [at] if self._reader.glance(bgr, poses[at]) > _CONFIRMED else []

    def _apart(self, placement: Placement) -> bool:
        """Whether a reading lies on its own square, not on a tile that lies there already."""
        centre = apply(placement.pose, [[0.5, 0.5]])[0]
        off = [np.abs(apply(np.linalg.inv(pose), [centre])[0] - 0.5).max() for pose in self.poses.values()]
        return min(off) > 0.7

    def _propose_tile(self, frame: Frame, placement: Placement, state: GameState) -> tuple[GameState, Proposal]:
        assert self._lattice is not None
        players = len(state.setup.players)
        player = (state.player + 1) % players if state.turn_open else state.player
        at = placement.at
        readings: list[tuple[tuple[Event, ...], float]] = [
            ((TilePlaced(player=player, tile=tile, at=at, rot=rot),), p) for tile, rot, p in placement.options]
        events = readings[0][0]
        self._lattice.shifts[at] = self._lattice.shift_of(at, placement.pose)
        self._bend()
        self._last = _Last(at=placement.at, pose=placement.pose, known=self._known(placement))
        asked = placement.confidence < SURE or not placement.legal
        crop = rectify(frame.bgr, placement.pose, CROP_SHOWN_PX // 2, 0.5)
        proposal = Proposal(events=events, confidence=placement.confidence, asked=asked, crop=crop, frame=frame.id,
                            alternatives=tuple(readings[:5]))
        return step(state, events[0]), proposal

    def _bend(self) -> None:
        """Fit the perspective of the whole board anew, so that far squares are predicted well."""
        assert self._lattice is not None
        poses = self.poses
        if len(poses) < 4:
            return
        steps = np.concatenate([UNIT + at for at in poses])
        pixels = np.concatenate([apply(pose, UNIT) for pose in poses.values()])
        grid, _ = cv2.findHomography(steps, pixels, 0)
        if grid is not None:
            self._lattice.grid = grid
            self._lattice.shifts = {at: self._lattice.shift_of(at, pose) for at, pose in poses.items()}

    def _known(self, placement: Placement) -> Image:
        """The tile as it should look without a figure, with what was round it before it came."""
        around = rectify(self._view, placement.pose, CROP_PX, MARGIN) if self._view is not None else None
        picture = next(s.bgr for s in self._tileset.specimens if s.tile == placement.tile)
        turned = np.rot90(cv2.resize(picture, (CROP_PX, CROP_PX), interpolation=cv2.INTER_AREA), -placement.rot)
        side = round(CROP_PX * (1 + 2 * MARGIN))
        out = np.zeros((side, side, 3), np.uint8) if around is None else around
        edge = (side - CROP_PX) // 2
        out[edge:edge + CROP_PX, edge:edge + CROP_PX] = turned
        return out

    def _figure(self, frame: Frame, state: GameState) -> tuple[GameState, Proposal] | None:
        """The figure on the tile laid last. A tile seen bare becomes its own reference."""
        last = self._last
        if last is None or last.at not in state.tiles:
            return None
        placed = state.tiles[last.at]
        tile = catalogue()[placed.tile]
        crop = rectify(frame.bgr, last.pose, CROP_PX, MARGIN)
        free = [c.segment for c in legal_claims(state)]
        reading = read_figure(crop, last.known, last.pose, frame.bgr.shape, tile, placed.rot, self._colours,
                              state.player, free, bare=last.bare)
        if reading is None:
            last.known, last.bare = crop, True
            return None
        last.read = True
        return self._propose_figure(frame, reading, state, crop)

    def _propose_figure(self, frame: Frame, reading: FigureReading, state: GameState,
                        crop: npt.NDArray[np.uint8]) -> tuple[GameState, Proposal]:
        assert self._last is not None
        at = self._last.at
        placed = state.tiles[at]
        tile = catalogue()[placed.tile]
        readings: list[tuple[tuple[Event, ...], float]] = []
        for player, p in reading.colours[:2]:
            for segment, q in reading.options[:4]:
                feature, place = named(tile, placed.rot, segment)
                event = FigurePlaced(player=player, figure="follower", at=at, feature=feature, where=place)
                readings.append(((event,), p * q))
        readings.sort(key=lambda r: -r[1])
        confidence = readings[0][1]
        segment = reading.options[0][0]
        free = {c.segment for c in legal_claims(state)}
        asked = confidence < SURE or segment not in free or reading.colours[0][0] != state.player
        readings.append(((), max(0.0, 1.0 - sum(r[1] for r in readings))))
        events = readings[0][0]
        proposal = Proposal(events=events, confidence=confidence, asked=asked, alternatives=tuple(readings[:4]),
                            crop=crop, frame=frame.id)
        return step(state, events[0]), proposal
