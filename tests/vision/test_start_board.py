"""A start board of several squares on simulated tables: found as a whole, and the piece on its dial."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scoring"))
from random_games import random_game  # noqa: E402

from scoring.engine import new_game, step
from scoring.events import TilePlaced, TurnEnded
from scoring.tiles import Square
from scoring.transcript import Game, turns_of, write
from vision.dial import DialPiece
from vision.figures import Seen, find_figures
from vision.find import BoardFinder
from vision.frames import Frame, Image
from vision.lattice import UNIT, Lattice, apply
from vision.neutral import Kind
from vision.simulator import Options, Simulator
from vision.start_board import StartBoard, StartBoardFinder
from vision.tracking import make_tracker

LEVELS = ("easy", "normal", "hard")


@cache
def game(seed: int) -> Game:
    setup, events = random_game(seed, "wheel", tiles=16)
    return Game(setup=setup, turns=turns_of(setup, tuple(events)))


@cache
def played(seed: int, level: str) -> Simulator:
    return Simulator(write(game(seed)), seed, Options(level=level, fps=2))


def finder(seed: int, turns: int = 0) -> StartBoardFinder:
    begun = new_game(game(seed).setup)
    edges = {at: begun.box.shape(p.tile, p.rot).edges for at, p in begun.tiles.items()}
    for _ in range(turns):
        edges = {(3 - y, x): letters[-1] + letters[:-1] for (x, y), letters in edges.items()}
    return StartBoardFinder(StartBoard(edges))


@cache
def found(seed: int, level: str) -> Lattice:
    lattice = finder(seed).find(played(seed, level).still(0))
    assert lattice is not None
    return lattice


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", [11])
def test_it_is_found_square_by_square(seed: int, level: str) -> None:
    sim, lattice = played(seed, level), found(seed, level)
    assert lattice.board == frozenset(new_game(game(seed).setup).tiles)
    off = [np.abs(apply(lattice.pose(at, lattice.shifts[at]), UNIT) - sim.truth.corners_px(at)).max()
           for at in lattice.board]
    assert max(off) < 0.06 * lattice.usual_side_px()


@pytest.mark.parametrize(("seed", "table", "level"), [(4, 3, "easy"), (5, 1005, "easy"), (1, 1001, "normal"),
                                                      (4, 1004, "hard")])
def test_it_is_found_where_print_as_dark_as_the_table_cuts_off_a_corner(seed: int, table: int, level: str) -> None:
    setup, events = random_game(seed, "wheel", tiles=2)
    sim = Simulator(write(Game(setup=setup, turns=turns_of(setup, tuple(events)))), table, Options(level=level, fps=2))
    lattice = finder(seed).find(sim.still(0))
    assert lattice is not None
    off = [np.abs(apply(lattice.pose(at, lattice.shifts[at]), UNIT) - sim.truth.corners_px(at)).max()
           for at in lattice.board]
    assert max(off) < 0.06 * lattice.usual_side_px()


def test_a_turned_board_has_its_squares_turned() -> None:
    image, plain = played(11, "easy").still(0), found(11, "easy")
    turned = finder(11, 1).find(image)
    assert turned is not None
    for x, y in plain.board:
        here = apply(plain.pose((x, y), plain.shifts[x, y]), [(0.5, 0.5)])[0]
        there = apply(turned.pose((3 - y, x), turned.shifts[3 - y, x]), [(0.5, 0.5)])[0]
        assert math.dist(here, there) < 2.0


def test_other_edges_are_another_board() -> None:
    board = finder(11).board
    other = StartBoard({at: letters.translate(str.maketrans("CFR", "RCF")) for at, letters in board.edges.items()})
    assert StartBoardFinder(other).find(played(11, "easy").still(0)) is None


def dial_piece() -> DialPiece:
    (dial,) = new_game(game(11).setup).box.dials
    return DialPiece(Kind(name=dial.name, wood_mm=dial.wood_mm, paints=dial.paints), dial.reach)


@pytest.mark.parametrize("level", LEVELS)
def test_the_piece_is_seen_where_it_stands(level: str) -> None:
    """The first pictures teach the print; then every section on which it stops is told."""
    seed = 11
    sim, lattice = played(seed, level), found(seed, level)
    state = new_game(game(seed).setup)
    (dial,) = state.box.dials
    piece = dial_piece()
    stops = set()
    for n, (turn, times) in enumerate(zip(game(seed).turns, sim.truth.turns, strict=True)):
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
        if n % 2 or not any(isinstance(e, TilePlaced) for e in turn.events):  # pictures take long to render
            continue
        piece.see(sim.still(times.end), lattice, {})
        at, seen = max(((at, seen[dial.name]) for at, seen in piece.look(lattice.board).items()),
                       key=lambda s: s[1].there)
        stops.add(dial.at(state))
        assert section(at, seen.foot) == dial.at(state) and seen.there > 0.0
    assert len(stops) > 1


def section(at: Square, foot: tuple[float, float]) -> str:
    (dial,) = new_game(game(11).setup).box.dials
    return dial.section(math.degrees(math.atan2(at[0] + foot[0] - 2, 2 - at[1] - foot[1])))[0]


@pytest.mark.parametrize("level", LEVELS)
def test_print_is_no_figure_and_a_figure_is_none_of_the_print(level: str) -> None:
    seed = 11
    sim, lattice = played(seed, level), found(seed, level)
    (dial,) = new_game(game(seed).setup).box.dials
    piece = dial_piece()
    colours = [p.colour for p in game(seed).setup.players]
    poses = {at: lattice.pose(at, lattice.shifts[at]) for at in lattice.board}
    bare = sim.still(0)
    piece.see(bare, lattice, {})
    left = piece.see(bare, lattice, find_figures(bare, poses, colours=colours))
    assert not [f for found_ in left.values() for f in found_ if f.look.there > 2.0]
    there = [f for f in sim.truth.figures if f.standing.feature == dial.feature]
    assert there
    first = there[0]
    image = sim.still(first.down + 8 if first.gone is None else min(first.down + 8, first.gone - 1))
    left = piece.see(image, lattice, find_figures(image, poses, colours=colours))
    assert first.standing.where in {section(at, f.look.foot) for at, found_ in left.items() for f in found_
                                    if f.look.there > 0.0}


def claimed(level: str) -> tuple[Square, Seen, Image, Image]:
    """A figure on the dial, with its square, as it is seen; the picture with it, and one before anybody was there."""
    sim, lattice = played(11, level), found(11, level)
    first = next(f for f in sim.truth.figures if f.standing.feature == new_game(game(11).setup).box.dials[0].feature)
    image = sim.still(first.down + 8 if first.gone is None else min(first.down + 8, first.gone - 1))
    poses = {at: lattice.pose(at, lattice.shifts[at]) for at in lattice.board}
    seen = find_figures(image, poses, colours=[p.colour for p in game(11).setup.players])
    at, figure = max(((at, f) for at, found_ in seen.items() for f in found_
                      if section(at, f.look.foot) == first.standing.where), key=lambda f: f[1].look.there)
    return at, figure, image, sim.still(0)


def faintly(seen: Seen) -> Seen:
    return replace(seen, look=replace(seen.look, there=-1.5))


@pytest.mark.parametrize("level", LEVELS)
def test_covered_print_speaks_for_a_figure_that_is_hardly_seen_but_an_arm_does_not(level: str) -> None:
    at, seen, image, bare = claimed(level)
    lattice, piece = found(11, level), dial_piece()
    piece.see(bare, lattice, {})
    told, = piece.see(image, lattice, {at: (faintly(seen),)})[at]
    assert told.look.there > 1.8
    arm = bare.copy()
    x, y = (int(v) for v in seen.px)
    cv2.line(arm, (x, y), (x, arm.shape[0] - 1), (40, 40, 40), round(1.2 * lattice.usual_side_px()))
    told, = piece.see(arm, lattice, {at: (faintly(seen),)})[at]
    assert told.look.there == faintly(seen).look.there


@pytest.mark.parametrize("level", LEVELS)
def test_in_a_resumed_game_what_a_figure_uncovers_speaks_for_none(level: str) -> None:
    at, seen, image, bare = claimed(level)
    lattice, piece = found(11, level), dial_piece()
    under_way = replace(lattice, shifts={**lattice.shifts, (9, 9): (0.0, 0.0, 0.0)})
    piece.see(image, under_way, {at: (seen,)})
    told, = piece.see(bare, under_way, {at: (faintly(seen),)})[at]
    assert told.look.there == faintly(seen).look.there


def test_what_covers_a_square_of_the_board_is_not_its_print() -> None:
    """The board is known to lie there whatever is over it. When a hand that was taken for print moves on, the board
    seems to go with it."""
    begun, bare, lattice = new_game(game(11).setup), played(11, "easy").still(0), found(11, "easy")
    kinds = [begun.box.tile(tile) for tile in sorted({*begun.left, *(t.tile for t in begun.tiles.values())})]
    tracker = make_tracker(kinds, None, ("red", "blue"), None,
                           start={at: (p.tile, p.rot) for at, p in begun.tiles.items()})
    side = round(lattice.usual_side_px())
    fingers = np.random.default_rng(1).integers(20, 235, (side // 3, side // 3, 3)).astype(np.uint8)
    fingers = cv2.resize(fingers, (3 * side, 3 * side), interpolation=cv2.INTER_CUBIC)
    apart = (np.arange(3 * side) % side < 0.35 * side)[None, :].repeat(3 * side, axis=0)
    left, top = (round(float(v) - 1.5 * side) for v in apply(lattice.predict((0, 0)), [(1.5, 1.5)])[0])
    covered = bare.copy()
    covered[top:top + 3 * side, left:left + 3 * side][apart] = fingers[apart]
    looks = [tracker.feed(Frame(id=n, t_s=0.5 * n, source="", bgr=picture)).look
             for n, picture in enumerate([bare] * 4 + [covered] * 10)]
    assert any(look is not None and look.frame >= 4 and look.squares for look in looks)
    assert min(tracker.register.alike(bare, tracker.poses).values()) > 0.95


def test_a_hand_moves_the_piece_and_takes_figures_home_before_the_tile_is_laid() -> None:
    sim = played(11, "easy")
    acts = [a for visit in sim.truth.timeline.visits for a in visit.acts]
    moved = [t for t in sim.script.turns if t.sections and t.laid]
    assert moved
    for turn in moved:
        down = sim.truth.turns[turn.index].tile_down
        assert down is not None
        assert all(a.frame < down for a in acts if a.turn == turn.index and a.kind in ("lift", "set"))
        early = {n for n, f in enumerate(sim.truth.figures) if f.standing in turn.early and f.gone is not None}
        assert all(a.frame < down for a in acts if a.turn == turn.index and a.kind == "home" and a.piece in early)


def test_sections_and_their_angles_agree() -> None:
    (dial,) = new_game(game(11).setup).box.dials
    for name in dial.sections:
        assert dial.section(dial.angle_deg(name)) == (name, 0.0)
        there, off = dial.section(dial.angle_deg(name) + 29.0)
        assert there == name and 0.9 < off < 1.0


def test_what_the_piece_uncovers_is_no_figure() -> None:
    """While a hand holds the piece, the print on which it stood is seen for the first time."""
    seed, level = 11, "easy"
    sim, lattice = played(seed, level), found(seed, level)
    (dial,) = new_game(game(seed).setup).box.dials
    piece = dial_piece()
    bare = sim.still(0)
    piece.see(bare, lattice, {})
    at, stood = next((at, seen[dial.name]) for at, seen in piece.look(lattice.board).items())
    poses = {square: lattice.pose(square, lattice.shifts[square]) for square in lattice.board}
    some = next(f for figures in find_figures(bare, poses).values() for f in figures)
    there = replace(some, look=replace(some.look, foot=stood.foot, there=6.0))
    lifted = min(a.frame for v in sim.truth.timeline.visits for a in v.acts if a.kind == "lift")
    assert not piece.see(sim.still(lifted), lattice, {at: (there,)})[at]


@pytest.mark.parametrize(("seed", "level", "turn"), [(11, "easy", 2), (12, "normal", 15), (13, "hard", 15)])
def test_it_is_found_among_tiles(seed: int, level: str, turn: int) -> None:
    """The camera's first look at a game that is taken up again."""
    sim = played(seed, level)
    image = sim.still(sim.truth.turns[turn].end)
    tiles = BoardFinder().find(image)
    assert tiles is not None
    lattice = finder(seed).find(image, lambda: tiles.lattice)
    assert lattice is not None
    off = {at: np.abs(apply(lattice.pose(at, shift), UNIT) - sim.truth.corners_px(at)).max()
           for at, shift in lattice.shifts.items()}
    assert max(off[at] for at in lattice.board) < 0.06 * lattice.usual_side_px()
    assert off.keys() > lattice.board and max(off.values()) < 0.2 * lattice.usual_side_px()
