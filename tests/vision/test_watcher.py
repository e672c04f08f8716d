"""The watcher: simulated tables played through it, and its parts on small pictures of their own."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from bastide.demo_game import demo_game
from scoring.engine import new_game, step
from scoring.events import FigurePlaced, TilePlaced
from scoring.geometry import spot_of
from scoring.tiles import catalogue, where
from scoring.transcript import write
from vision.artwork import draw_tile
from vision.frames import Frame
from vision.motion import Motion
from vision.placements import shape
from vision.simulator import Options, Simulator
from vision.standing import CROP_PX, MARGIN, PAINT, paint_mask, read_figure
from vision.tileset import drawn_tileset
from vision.watcher import TableWatcher

COLOURS = ("red", "blue", "yellow")
EDGE = round(CROP_PX * MARGIN)


@pytest.fixture(scope="module")
def tileset():
    return drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))


@pytest.mark.parametrize("seed", [4, 9])
def test_a_short_game_is_read_right_or_asked(tileset, seed):
    game = demo_game(seed, turns=4)
    simulator = Simulator(json.loads(json.dumps(write(game))), seed, Options(level="normal"))
    watcher = TableWatcher(tileset, COLOURS, "base.D")
    state = new_game(game.setup)
    asked, under_hand = [], []
    for frame in simulator:
        seen = watcher.feed(frame, state)
        for proposal in seen.proposals:
            state = step(state, proposal.events[0])
            asked += [proposal.events[0]] if proposal.asked else []
            under_hand += [frame.id] if hand_over_board(simulator, frame.id) else []
    truth = [e for t in game.turns for e in t.events]
    for event in truth:
        if isinstance(event, TilePlaced):
            found = state.tiles.get(event.at)
            right = found is not None and shape(catalogue()[found.tile], found.rot) == shape(
                catalogue()[event.tile], event.rot) and found.player == event.player
            assert right or any(isinstance(a, TilePlaced) and a.at == event.at for a in asked), event
    figures = {(f.player, f.at, f.feature, f.where) for f in state.figures}
    for event in truth:
        if isinstance(event, FigurePlaced) and (event.player, event.at, event.feature, event.where) not in figures:
            ended = any(e.places and [event.at[0], event.at[1], event.where] in [list(p) for p in e.places]
                        for e in state.score_events)
            assert ended or any(a.at == event.at for a in asked), event
    assert len(state.tiles) == 5
    assert not under_hand


def hand_over_board(simulator, frame_id):
    """Whether the middle of a visit: at its first and last frames the hand may be out of the picture."""
    hands = [simulator.truth.frame(n).hand for n in (frame_id - 2, frame_id, frame_id + 2)
             if 0 <= n < simulator.truth.frames]
    return all(hands) and len(hands) == 3


def test_a_frame_of_another_size_is_no_frame_of_this_table(tileset):
    watcher = TableWatcher(tileset, COLOURS, "base.D")
    state = new_game(demo_game(1, turns=1).setup)
    grey = np.full((216, 384, 3), 90, np.uint8)
    watcher.feed(Frame(id=0, t_s=0.0, source="test", bgr=grey), state)
    seen = watcher.feed(Frame(id=1, t_s=0.1, source="test", bgr=grey[:100]), state)
    assert seen.status == "lost" and not seen.proposals


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    return cv2.GaussianBlur(rng.integers(60, 200, (270, 480, 3)).astype(np.uint8), (0, 0), 3)


def test_a_table_is_still_after_two_equal_frames_and_not_while_something_moves(table):
    motion = Motion(table.shape)
    assert motion.feed(table, None).still == 0
    assert [motion.feed(table, None).still for _ in range(2)] == [1, 2]
    moved = table.copy()
    moved[100:140, 200:260] = 250
    assert motion.feed(moved, None).still == 0


def test_lamps_change_nothing_things_do(table):
    motion = Motion(table.shape)
    motion.feed(table, None)
    motion.settle()
    lamp = np.linspace(0.85, 1.1, table.shape[1])[None, :, None]
    assert motion.feed(np.clip(table * lamp, 0, 255).astype(np.uint8), None).changed.mean() < 0.01
    thing = table.copy()
    thing[100:130, 200:230] = (20, 20, 160)
    changed = motion.feed(thing, None).changed
    assert changed[105:125, 205:225].mean() > 0.9 and changed[200:, :100].mean() < 0.01


def test_what_reaches_in_from_the_border_is_a_hand_until_it_has_lain_there_long(table):
    motion = Motion(table.shape)
    motion.feed(table, None)
    motion.settle()
    arm = table.copy()
    arm[0:150, 200:240] = (120, 150, 210)
    assert motion.feed(arm, None).hands[20:140, 205:235].mean() > 0.9
    looks = [motion.feed(arm, None) for _ in range(12)]
    assert looks[3].hands.any() and not looks[-1].hands.any()


def picture(tile, rot=0):
    """A tile with a margin of table around it, as the watcher cuts it out."""
    side = CROP_PX + 2 * EDGE
    out = np.full((side, side, 3), (70, 60, 50), np.uint8)
    out[EDGE:EDGE + CROP_PX, EDGE:EDGE + CROP_PX] = draw_tile(catalogue()[tile], CROP_PX, rot=rot)
    return out


def put(image, tile, rot, segment, colour):
    """Draw a figure on a segment: a block when it stands, a star when it lies."""
    x, y = (EDGE + CROP_PX * v / 100 for v in spot_of(catalogue()[tile], segment, rot))
    paint = PAINT[colour][::-1]
    out = image.copy()
    if catalogue()[tile].segments[segment].kind == "field":
        angles = np.arange(10) * np.pi / 5
        radii = np.where(np.arange(10) % 2, 0.1, 0.2) * CROP_PX
        star = np.stack([x + radii * np.cos(angles), y + radii * np.sin(angles)], axis=1)
        cv2.fillPoly(out, [star.round().astype(np.int32)], paint)
    else:
        box = cv2.boxPoints(((x, y), (0.34 * CROP_PX, 0.2 * CROP_PX), 20))
        cv2.fillPoly(out, [box.round().astype(np.int32)], paint)
    return out


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("tile", ["base.D", "base.J", "base.N", "base.B", "base.X"])
def test_a_figure_is_read_by_its_paint_its_foot_and_its_posture(tile, bare):
    kinds = catalogue()[tile].segments
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])  # near the middle of the picture: no lean
    for segment, s in enumerate(kinds):
        if s.kind == "river":
            continue
        for player, colour in enumerate(COLOURS):
            crop = put(picture(tile), tile, 0, segment, colour)
            reading = read_figure(crop, picture(tile), pose, (864, 1536), catalogue()[tile], 0, COLOURS, player,
                                  range(len(kinds)), bare=bare)
            assert reading is not None, (s.kind, colour)
            assert reading.colours[0][0] == player
            assert reading.options[0][0] == segment, (s.kind, where(s, 0), colour, reading)


def test_a_bare_tile_and_a_shadow_are_no_figure():
    known = picture("base.J")
    shadow = known.copy()
    shadow[60:110, 60:110] = (shadow[60:110, 60:110] * 0.6).astype(np.uint8)
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])
    for crop in (known, shadow):
        assert read_figure(crop, known, pose, (864, 1536), catalogue()["base.J"], 0, COLOURS, 0, range(5),
                           bare=True) is None


def test_paint_that_covers_a_table_is_not_taken_for_figures():
    red = np.full((80, 80, 3), PAINT["red"][::-1], np.uint8)
    assert not paint_mask(red, COLOURS).any()
    spot = np.full((80, 80, 3), (60, 140, 90), np.uint8)
    spot[30:50, 30:50] = PAINT["red"][::-1]
    assert paint_mask(spot, COLOURS)[35:45, 35:45].all()
