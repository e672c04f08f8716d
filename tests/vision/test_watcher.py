"""The watcher: simulated tables played through it, and its parts on small pictures of their own."""

from __future__ import annotations

import json

import cv2
import films
import numpy as np
import pytest
from films import Film, lay

from bastide.demo_game import demo_game
from scoring.engine import new_game, step
from scoring.events import FigurePlaced, TilePlaced
from scoring.geometry import spot_of
from scoring.tiles import catalogue, where
from scoring.transcript import write
from vision.artwork import draw_tile
from vision.frames import Frame
from vision.interpret import in_order
from vision.motion import Area, Motion
from vision.placements import Placement, shape
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
    asked = []
    for frame in simulator:
        seen = watcher.feed(frame, state)
        for proposal in seen.proposals:
            assert proposal.replaces is None  # nobody turns a tile in this film
            state = step(state, proposal.events[0])
            asked += [proposal.events[0]] if proposal.asked else []
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


@pytest.fixture
def cloth():
    return films.cloth()


def test_nothing_is_committed_under_a_hand_that_rests_and_all_of_it_after(tileset, cloth):
    film = Film(tileset)
    start = lay(cloth, "base.D", (0, 0))
    assert not film.feed(start, 4)
    laid = lay(start, "base.U", (0, 1))
    arm = laid.copy()
    cv2.fillPoly(arm, [np.array([[380, 479], [415, 230], [445, 230], [500, 479]])], (110, 140, 205))
    assert not film.feed(arm, 8)
    (proposal,) = film.feed(laid, 4)
    assert proposal.events[0].at == (0, 1) and proposal.events[0].tile == "base.U" and not proposal.asked


def test_a_tile_that_is_turned_while_the_turn_lasts_is_read_again(tileset, cloth):
    film = Film(tileset)
    start = lay(cloth, "base.D", (0, 0))
    film.feed(start, 4)
    (first,) = film.feed(lay(start, "base.D", (1, 0), 0), 4)
    assert first.events[0].rot == 0
    (again,) = film.feed(lay(start, "base.D", (1, 0), 2), 8)
    assert again.replaces == (1, 0) and again.events[0].tile == "base.D" and again.events[0].rot == 2


def test_a_figure_as_bright_as_its_tile_is_seen_when_the_hand_has_gone(tileset, cloth):
    film, image = Film(tileset), lay(cloth, "base.D", (0, 0))
    film.feed(image, 4)
    image = lay(image, "base.E", (1, 0), 0)
    film.feed(image, 6)
    film.feed(films.arm(image, (500, 215)), 4)
    player = film.state.player
    blue = films.stand(image, "base.E", (1, 0), 0, 1, COLOURS[player])
    there = (blue != image).any(axis=2)
    bright = cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb)
    bright[there, 1:] = cv2.cvtColor(blue, cv2.COLOR_BGR2YCrCb)[there, 1:]
    (proposal,) = film.feed(cv2.cvtColor(bright, cv2.COLOR_YCrCb2BGR), 8)
    assert isinstance(proposal.events[0], FigurePlaced) and proposal.events[0].player == player


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


def whole(look):
    return look.still(Area(rows=slice(None), columns=slice(None), inside=np.ones(look.moved.shape, bool)))


def test_stillness_is_counted_where_it_is_still_and_starts_anew_where_something_moved(table):
    motion = Motion(table.shape)
    assert whole(motion.feed(table, 0.0)) == (0, 0.0)
    assert [whole(motion.feed(table, 0.25 * n)) for n in (1, 2)] == [(1, 0.25), (2, 0.5)]
    moved = table.copy()
    moved[100:140, 200:260] = 250
    look = motion.feed(moved, 0.75)
    assert whole(look)[0] == 0
    far = Area(rows=slice(200, 260), columns=slice(20, 80), inside=np.ones((60, 60), bool))
    assert look.still(far) == (3, 0.75)


def test_lamps_change_nothing_things_do(table):
    motion = Motion(table.shape)
    motion.feed(table, 0.0)
    motion.settle()
    lamp = np.linspace(0.85, 1.1, table.shape[1])[None, :, None]
    assert motion.feed(np.clip(table * lamp, 0, 255).astype(np.uint8), 0.25).changed.mean() < 0.01
    off = (np.clip(table * lamp, 0, 255) * 0.5).astype(np.uint8)  # the other lamp
    look = motion.feed(off, 0.5)
    assert look.changed.mean() < 0.01 and not look.hands.any()
    thing = table.copy()
    thing[100:130, 200:230] = (20, 20, 160)
    changed = motion.feed(thing, 0.5).changed
    assert changed[105:125, 205:225].mean() > 0.9 and changed[200:, :100].mean() < 0.01


def test_only_what_is_settled_becomes_the_settled_view(table):
    motion = Motion(table.shape)
    motion.feed(table, 0.0)
    motion.settle()
    thing = table.copy()
    thing[100:130, 200:230] = thing[100:130, 300:330] = (20, 20, 160)
    left = np.zeros(motion.size[::-1], bool)
    left[90:140, 190:240] = True
    motion.feed(thing, 0.25)
    motion.settle(left)
    changed = motion.feed(thing, 0.5).changed
    assert changed[105:125, 205:225].mean() < 0.1 and changed[105:125, 305:325].mean() > 0.9


def test_what_reaches_in_from_the_border_is_a_hand_until_it_has_lain_there_long(table):
    motion = Motion(table.shape)
    motion.feed(table, 0.0)
    motion.settle()
    arm = table.copy()
    arm[0:150, 200:240] = (120, 150, 210)
    assert motion.feed(arm, 0.25).hands[20:140, 205:235].mean() > 0.9
    looks = [motion.feed(arm, 0.25 * n) for n in range(2, 90)]
    assert looks[3].hands.any() and looks[30].hands.any() and not looks[-1].hands.any()


def test_an_arm_over_a_table_that_has_lain_for_long_is_an_arm(table):
    motion = Motion(table.shape)
    motion.feed(table, 0.0)
    motion.settle()
    for n in range(1, 120):
        motion.feed(table, 0.25 * n)
    arm = table.copy()
    arm[0:150, 200:240] = (120, 150, 210)
    assert all(motion.feed(arm, 30 + 0.25 * n).hands[20:140, 205:235].mean() > 0.9 for n in range(20))


def test_a_bump_over_a_grained_table_is_no_arm(table):
    table = np.clip((table - table.mean()) * 4 + 128, 0, 255).astype(np.uint8)
    motion = Motion(table.shape)
    motion.feed(table, 0.0)
    motion.settle()
    look = motion.feed(np.roll(table, 5, axis=1), 0.25)
    assert look.changed.mean() > 0.2 and not look.hands.any()


def placement(at, tile="base.U"):
    return Placement(at=at, pose=np.eye(3), options=((tile, 0, 1.0),), score=0.9, legal=True)


def test_tiles_that_came_together_are_ordered_by_what_they_touch_and_whose_figures_stand_there():
    near, far = placement((0, 1)), placement((0, 2))
    order, sure = in_order([far, near], {(0, 0): None}, 0, 2, lambda p: {})
    assert [p.at for p in order] == [(0, 1), (0, 2)] and sure  # the far one touches nothing before the near one lies
    west, east = placement((-1, 0)), placement((1, 0))
    order, sure = in_order([west, east], {(0, 0): None}, 0, 2, lambda p: {})
    assert not sure
    order, sure = in_order([west, east], {(0, 0): None}, 0, 2, lambda p: {0: 0.99, 1: 0.01} if p is east else {})
    assert [p.at for p in order] == [(1, 0), (-1, 0)] and sure


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


@pytest.mark.parametrize("bare", [True, False])
def test_green_wood_is_seen_on_grass(bare):
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])
    known = picture("base.V")
    crop = put(known, "base.V", 0, 0, "green")
    reading = read_figure(crop, known, pose, (864, 1536), catalogue()["base.V"], 0, ("red", "green"), 1, range(3),
                          bare=bare)
    assert reading is not None and reading.colours[0][0] == 1
    assert catalogue()["base.V"].segments[reading.options[0][0]].kind == "field" and reading.lying > 0.5


@pytest.mark.parametrize("colour", ["red", "blue", "black"])
def test_a_figure_is_seen_in_poor_light_too(colour):
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])
    known = picture("base.O")
    crop = put(known, "base.O", 0, 0, colour)
    dim, seen = (np.clip(p * np.array([0.34, 0.26, 0.24]), 0, 255).astype(np.uint8) for p in (crop, known))
    seen[EDGE:-EDGE, EDGE:-EDGE] = known[EDGE:-EDGE, EDGE:-EDGE]  # the print was taught in usual light
    reading = read_figure(dim, seen, pose, (864, 1536), catalogue()["base.O"], 0, (colour,), 0, range(4), bare=False)
    assert reading is not None and reading.options[0][0] == 0


def test_a_tile_that_came_beside_another_hides_no_figure_that_touches_it():
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])
    bare = np.full_like(picture("base.E"), (60, 70, 120))  # the table, as it was before both came
    known, beside = bare.copy(), np.full_like(bare, (40, 160, 90))
    known[EDGE:-EDGE, EDGE:-EDGE] = picture("base.E")[EDGE:-EDGE, EDGE:-EDGE]
    crop = known.copy()
    crop[EDGE:-EDGE, :EDGE] = beside[EDGE:-EDGE, :EDGE]
    cv2.rectangle(crop, (EDGE - 4, EDGE + 50), (EDGE + 28, EDGE + 72), PAINT["red"][::-1], -1)
    reading = read_figure(crop, known, pose, (864, 1536), catalogue()["base.E"], 0, COLOURS, 0, range(2), bare=False)
    assert reading is not None and reading.colours[0][0] == 0
    assert catalogue()["base.E"].segments[reading.options[0][0]].kind == "field"


@pytest.mark.parametrize("colour", ["red", "green", "blue", "yellow", "black", "grey"])
def test_paler_print_than_the_taught_picture_is_no_figure(colour):
    pose = np.array([[60.0, 0, 770], [0, 60.0, 440], [0, 0, 1]])
    known = picture("base.I")
    grey = cv2.cvtColor(known, cv2.COLOR_BGR2GRAY)[..., None]
    pale = cv2.GaussianBlur((0.6 * known + 0.4 * grey).astype(np.uint8), (0, 0), 1.2)
    assert read_figure(pale, known, pose, (864, 1536), catalogue()["base.I"], 0, (colour,), 0, range(3),
                       bare=False) is None


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
    assert paint_mask((spot * 0.5).astype(np.uint8), COLOURS)[37:43, 37:43].all(), "in a dim light as well"


def test_a_game_goes_on_with_another_watcher(tileset):
    game = demo_game(4, turns=6)
    simulator = Simulator(json.loads(json.dumps(write(game))), 4, Options(level="normal", fps=4.0))
    watcher = TableWatcher(tileset, COLOURS, "base.D")
    state = new_game(game.setup)
    halfway = simulator.truth.turns[2].end
    asked = 0
    for frame in simulator:
        if frame.id == halfway:
            watcher = TableWatcher(tileset, COLOURS, "base.D")
        for proposal in watcher.feed(frame, state).proposals:
            state = step(state, proposal.events[0])
            asked += proposal.asked
    wanted = [e for t in game.turns for e in t.events if isinstance(e, TilePlaced)]
    right = sum(e.at in state.tiles and state.tiles[e.at].tile == e.tile and state.tiles[e.at].player == e.player
                for e in wanted)
    assert right + asked >= len(wanted) and right >= len(wanted) - 1
