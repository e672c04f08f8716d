"""The tile laid last and who stands on it: whose tile it is, which figure came, how the tile looks without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from scoring.engine import legal_figures
from scoring.events import FigurePlaced
from scoring.state import GameState
from scoring.tiles import Square, catalogue
from vision.frames import Frame, Image
from vision.interpret import Proposal, figure_proposal
from vision.kinds import Kinds, pieces_of
from vision.lattice import Array, rectify
from vision.placements import FLOOR, PLAIN, Placement, PlacementReader
from vision.sight import Sight
from vision.standing import CROP_PX, MARGIN, FigureReading, Silhouette, read_figure
from vision.steady import MOVED, step_of
from vision.upkeep import shown
from vision.view import View

_AS_PRINT = ("black", "grey")  # walls, roads and roofs have these colours too: no proof of a turn that nobody saw
_LIKE = 0.1  # correlation by which the picture of a tile that was pushed may be worse than the best
_THEIRS, _NOT_THEIRS = 0.99, 0.02  # of a figure's colour: it is another player's, and not that of whose turn it is


@dataclass(slots=True)
class Latest:
    """The tile laid last: ``before`` is the game without it, ``known`` its picture without a figure."""

    at: Square
    pose: Array
    known: Image
    before: GameState
    bare: bool = False  # ``known`` is the tile itself seen without a figure, not its taught picture
    read: bool = False
    gone: bool = False
    passed: bool = False  # something moved over it since it was looked at
    seen: Image | None = None  # as it was looked at last
    placement: Placement | None = None  # as it was read; None in a game that goes on
    asked: bool = False  # that reading was asked about


@dataclass(slots=True, kw_only=True)
class FigureReader:
    """Reads the figures of these players; ``view`` is what a calibration knows of the camera."""

    colours: tuple[str, ...]
    view: View | None
    kinds: Kinds
    sight: Sight = field(default_factory=Sight)

    def read(self, frame: Frame, last: Latest, state: GameState, reader: PlacementReader) -> Proposal | None:
        """The figure on the tile laid last, None without one. A tile seen bare becomes its own reference; when it was
        pushed since, its pose changes: print that has moved is no figure."""
        if last.at not in state.tiles:  # the game is over: the rules only take note of it
            return None
        placed = state.tiles[last.at]
        crop = rectify(frame.bgr, last.pose, CROP_PX, MARGIN)
        free, looks, pieces = legal_figures(state), list[Silhouette](), pieces_of(state)
        upright = {n for n, names in free.items() if not any(state.box.pieces[name].follower for name in names)}
        guessed = not last.bare and reader.guesses(placed.tile)

        def seen() -> FigureReading | None:
            return read_figure(crop, last.known, last.pose, frame.bgr.shape, catalogue()[placed.tile], placed.rot,
                               self.colours, state.player, free, bare=last.bare, view=self.view, guessed=guessed,
                               looks=looks, pieces=pieces, upright=upright)

        reading = seen()
        if reading is not None and last.bare and (
                lies := _pushed(frame.bgr, last, placed.tile, placed.rot, reader)) is not None:
            last.pose, crop = lies, rectify(frame.bgr, lies, CROP_PX, MARGIN)
            looks.clear()
            reading = seen()
        self.sight.figures(last.at, last.pose, looks)
        last.seen = crop
        if reading is None:
            last.known, last.bare = crop, True
            return None
        last.read = True
        found = figure_proposal(reading, last.at, state, shown(frame.bgr, last.pose), frame.id, self.kinds)
        unlike = not last.bare and last.placement is not None and last.placement.score < PLAIN  # copies differ
        if (guessed or unlike) and self.colours[reading.colours[0][0]] in _AS_PRINT:  # a garden that nobody has seen
            found = replace(found, asked=True)
        if isinstance(event := found.events[0], FigurePlaced):
            segment = state.box.shape(placed.tile, placed.rot).named[event.feature, event.where]
            self.kinds.note(reading.longer, state, event.player, last.at, segment, event.figure)
        return found

    def whose(self, on: dict[int, float], due: int) -> int:
        """Who laid a tile: whoever is due, or whose figure (by `colours_on`) came with it: a turn that nobody saw is
        noticed so."""
        if not on or on.get(due, 0.0) > _NOT_THEIRS:
            return due
        player, odds = max(on.items(), key=lambda c: c[1])
        return player if odds > _THEIRS and self.colours[player] not in _AS_PRINT else due

    def claimant(self, figure: Proposal, due: int) -> int:
        """Who laid the tile that a figure came on later: whoever is due, or whose figure it surely is."""
        shares: dict[int, float] = {}
        for events, odds in figure.alternatives:
            for event in events:
                player = getattr(event, "player", due)
                shares[player] = shares.get(player, 0.0) + odds
        return self.whose({player: odds / sum(shares.values()) for player, odds in shares.items()}, due)

    def colours_on(self, frame: Frame, placement: Placement, known: Image) -> dict[int, float]:
        """Whose figure may stand on a tile that was just found and looks like ``known`` without one, whoever's turn
        it is."""
        crop = rectify(frame.bgr, placement.pose, CROP_PX, MARGIN)
        reading: FigureReading | None = read_figure(
            crop, known, placement.pose, frame.bgr.shape, catalogue()[placement.tile], placement.rot, self.colours, -1,
            (), bare=False, guessed=True, view=self.view)
        return dict(reading.colours) if reading is not None else {}


def resumed(bgr: Image, poses: Mapping[Square, Array], state: GameState, reader: PlacementReader) -> Latest | None:
    """In a game that goes on, the tile laid last: it may still get its figure."""
    at = state.last_tile
    if at is None or not state.turn_open:
        return None
    placed, pose = state.tiles[at], poses[at]
    taken = any(f.at == at and f.turn == state.turn for f in state.figures)
    known = pictured(bgr, pose, placed.tile, placed.rot, rectify(bgr, pose, CROP_PX, MARGIN), reader)
    return Latest(at=at, pose=pose, known=known, before=state, read=taken)


def unclaimed(bgr: Image, placement: Placement, reader: PlacementReader, view: Image | None) -> Image:
    """A tile as it should look without a figure, with what was round it before it came: in ``view``, where there is
    one."""
    side = round(CROP_PX * (1 + 2 * MARGIN))
    around = np.zeros((side, side, 3), np.uint8) if view is None else rectify(view, placement.pose, CROP_PX, MARGIN)
    return pictured(bgr, placement.pose, placement.tile, placement.rot, around, reader)


def pictured(bgr: Image, pose: Array, tile: str, rot: int, around: Image, reader: PlacementReader) -> Image:
    """The taught picture most like a turned tile, in the middle of ``around``, rectified with its margin."""
    picture = reader.picture(bgr, pose, tile, rot)
    turned = np.rot90(cv2.resize(picture, (CROP_PX, CROP_PX), interpolation=cv2.INTER_AREA), -rot)
    out, edge = around.copy(), (len(around) - CROP_PX) // 2
    out[edge:edge + CROP_PX, edge:edge + CROP_PX] = turned
    return out


def _pushed(bgr: Image, last: Latest, tile: str, rot: int, reader: PlacementReader) -> Array | None:
    """Where the tile laid last lies now, if it was pushed since it was seen bare."""
    found = reader.settler.settle(bgr, last.pose)
    own = float(found.scores[reader.ids.index(tile), rot]) if tile in reader.ids else -1.0
    fits = own > FLOOR and own > found.best - _LIKE
    return found.pose if fits and step_of(last.pose, found.pose) > MOVED else None
