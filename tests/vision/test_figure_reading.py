"""The reader of figures: feet, postures, paints and segments, on solid pieces over drawn tiles."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
import read_tables as tables
from drawings import base_set

from scoring.expansions.wheel_board import TILES
from scoring.geometry import spot_of
from scoring.tiles import catalogue
from vision.feet import Peak
from vision.figurenet import CROP_PX, MARGIN, TILE_PX
from vision.figures import Seen, _like_the_others, find_figures, read_figures
from vision.lattice import apply
from vision.looks import FigureLook, segments
from vision.nadir import leans
from vision.occupancy import hidden_by, informed, occupied, on_tile
from vision.paint import COLOURS, Print, colours_of, shown
from vision.simulator.camera import Camera
from vision.simulator.pieces import Piece, draw_piece
from vision.tile_background import LIMITS, TileBackground

MM = 45.0
LAMP = np.array([180.0, -260.0, 900.0])


def camera(tilt: float = 0.0) -> Camera:
    back = 620 * math.sin(tilt)
    return Camera(width=1000, height=800, focal_px=1350, centre_px=(500, 400), k1=0, k2=0,
                  position_mm=(0.0, back, 620 * math.cos(tilt)), tilt=(-tilt, 0.0, 0.0))


def table(board, eye):
    """(picture, pose by square): the board's middle at the table's origin."""
    width, height = (max(at[n] for at in board) + 1 for n in range(2))
    step = np.array([[MM, 0, -MM * width / 2], [0, MM, -MM * height / 2], [0, 0, 1.0]])
    grid = eye.homography() @ step
    picture = np.full((eye.height, eye.width, 3), (120, 128, 132), np.uint8)
    images = dict(base_set().images)
    poses = {}
    for (x, y), (tile, rot) in board.items():
        bgr = np.ascontiguousarray(np.rot90(images[tile], -rot))
        poses[x, y] = grid @ np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]])
        cv2.warpPerspective(bgr, poses[x, y] @ np.diag([1 / len(bgr), 1 / len(bgr), 1.0]), (eye.width, eye.height),
                            dst=picture, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_TRANSPARENT)
    return picture, poses


def stand(picture, eye, board, at, foot, colour, *, lying=False, figure="follower", yaw=20.0):
    width, height = (max(a[n] for a in board) + 1 for n in range(2))
    x, y = (MM * (at[n] + foot[n] - size / 2) for n, size in enumerate((width, height)))
    draw_piece(picture, Piece(figure=figure, colour=colour, x_mm=x, y_mm=y, z_mm=0.0, yaw_deg=yaw, lying=lying), eye,
               LAMP, 0.0)


BOARD = tables.legal_board(4, 3, 5)
PLACES = {(0, 0): ((0.5, 0.55), "red", False), (1, 1): ((0.3, 0.6), "yellow", True),
          (3, 0): ((0.7, 0.4), "black", True), (2, 2): ((0.55, 0.25), "green", False),
          (3, 2): ((0.4, 0.5), "pink", False), (0, 2): ((0.6, 0.6), "blue", True)}


@pytest.mark.parametrize("tilt", [0.0, 0.45])
def test_feet_postures_and_paints_from_above_and_from_the_side(tilt):
    eye = camera(tilt)
    picture, poses = table(BOARD, eye)
    for at, (foot, colour, lying) in PLACES.items():
        stand(picture, eye, BOARD, at, foot, colour, lying=lying, yaw=70 * at[0] + 20)
    looks = read_figures(picture, poses)
    assert set(looks) == set(BOARD)
    sure = {at: [look for look in figures if look.there > 0] for at, figures in looks.items()}
    assert {at for at, figures in sure.items() if figures} == set(PLACES)
    for at, (foot, colour, lying) in PLACES.items():
        look, = sure[at]
        assert math.dist(look.foot, foot) < 0.08, at
        assert max(look.colours, key=look.colours.get) == colour
        assert (look.lying > 0) == lying, at


def test_print_without_a_figure_is_none():
    picture, poses = table(BOARD, camera())
    looks = read_figures(picture, poses)
    assert not any(look.there > 0 for figures in looks.values() for look in figures)


def test_a_figure_over_a_border_is_one_and_stands_where_its_foot_is():
    eye = camera(0.45)
    picture, poses = table(BOARD, eye)
    stand(picture, eye, BOARD, (1, 1), (0.5, 0.1), "red")  # its head is seen on the tile north of it
    sure = [(at, look) for at, looks in read_figures(picture, poses).items() for look in looks if look.there > 0]
    assert [at for at, _ in sure] == [(1, 1)]


def test_the_lean_is_that_of_the_camera():
    eye = camera(0.45)
    _, poses = table(BOARD, eye)
    size = (eye.height, eye.width)
    for at, lean in leans(poses, size).items():
        middle = np.array([MM * (at[0] + 0.5 - 2), MM * (at[1] + 0.5 - 1.5), 0.36 * MM])
        top = apply(np.linalg.inv(poses[at]), eye.project([middle]))[0]
        assert np.abs(0.5 + 0.36 * lean - top).max() < 0.04, at


def look(foot, lying=0.0, there=4.0):
    return FigureLook(foot=foot, spread=0.03, there=there, lying=lying, colours={"red": 0.0})


def likeliest(said):
    return max(said, key=said.get)


def test_what_lies_on_a_field_and_what_stands_on_the_road_through_it():
    tile = catalogue()["base.U"]
    on_road = spot_of(tile, next(n for n, s in enumerate(tile.segments) if s.kind == "road"))
    foot = (on_road[0] / 100, on_road[1] / 100)
    kinds = [s.kind for s in tile.segments]
    assert kinds[likeliest(segments(foot, 0.03, -5.0, tile, 0))] == "road"
    assert kinds[likeliest(segments(foot, 0.03, 5.0, tile, 0))] == "field"


def test_a_farmer_beside_the_road_is_sure_and_one_across_it_is_not():
    tile = catalogue()["base.U"]  # a straight road, a field on either side
    fields = [n for n, s in enumerate(tile.segments) if s.kind == "field"]
    for rot in range(4):
        spots = [spot_of(tile, n, rot) for n in fields]
        beside = segments((spots[0][0] / 100, spots[0][1] / 100), 0.03, 5.0, tile, rot)
        assert beside[fields[0]] - beside[fields[1]] > 4
        across = segments((0.5, 0.5), 0.03, 5.0, tile, rot)
        assert abs(across[fields[0]] - across[fields[1]]) < 1.5


def test_a_disc_says_nothing_of_posture():
    tile = catalogue()["base.U"]
    spot = spot_of(tile, next(n for n, s in enumerate(tile.segments) if s.kind == "field"))
    said = segments((spot[0] / 100, spot[1] / 100), 0.03, 0.0, tile, 0)
    assert [s.kind for s in tile.segments][likeliest(said)] == "field"


def test_a_figure_that_stands_speaks_for_the_tile_with_a_city_there():
    kinds = [catalogue()["base.E"], catalogue()["base.U"]]
    town = next(s for s in kinds[0].segments if s.kind == "city")
    evidence = {(0, 0): np.array([[0.0, -20, -20, -20], [0.0, -20, -20, -20]])}
    picture, poses = table({(0, 0): ("base.E", 0)}, camera())
    stand(picture, camera(), {(0, 0): ("base.E", 0)}, (0, 0), (town.spot[0] / 100, town.spot[1] / 100), "red")
    seen = find_figures(picture, poses)
    told = informed(evidence, kinds, seen, hidden_by(seen))[0, 0]
    assert told[0, 0] > told[1, 0] + 0.5
    assert evidence[0, 0][0, 0] == 0.0  # what was handed in stays
    readings, _ = occupied(seen, kinds, {(0, 0): told})
    assert [(r.feature, r.lying) for r in readings] == [("city", False)]


@pytest.mark.parametrize("part", ["wheel.board.00", "wheel.board.20", "wheel.board.11"])
def test_a_figure_on_a_part_of_a_start_board_is_no_error(part):
    """Its segments belong to the whole board: a single square has no figures to report."""
    kinds = [catalogue()["base.E"], next(t for t in TILES if t.id == part)]
    picture, poses = table({(0, 0): ("base.E", 0)}, camera())
    stand(picture, camera(), {(0, 0): ("base.E", 0)}, (0, 0), (0.5, 0.5), "red")
    seen = find_figures(picture, poses)
    for likely, read in ((0, 1), (1, 0)):
        belief = np.full((2, 4), -30.0)
        belief[likely, 0] = 0.0
        told = informed({(0, 0): belief}, kinds, seen, hidden_by(seen))[0, 0]
        assert np.isfinite(told).all() and told.argmax() == 4 * likely
        readings, rejected = occupied(seen, kinds, {(0, 0): told})
        assert len(readings) + len(rejected) == len(seen[0, 0]) > 0 and len(readings) == read


# --- paint ---------------------------------------------------------------------------------------------------------

LIGHT = np.array([0.062, 0.165, 0.155])


def test_one_lamp_for_all_settles_what_a_colour_alone_cannot():
    warm = np.array([0.45, -0.6, -0.1])
    red, yellow = np.array([3.3, 0.6, -0.4]) + warm, np.array([0.4, -2.4, 0.6]) + warm
    said = colours_of([red, red, yellow, yellow], LIGHT)
    assert [max(s, key=s.get) for s in said] == ["red", "red", "yellow", "yellow"]


def test_a_measured_paint_is_believed_and_an_unknown_colour_is_refused():
    teal = (20, 130, 140)
    seen = [shown(np.full((40, 3), teal[::-1], np.uint8), LIGHT)]
    said, = colours_of(seen, LIGHT, ["green", "blue", "teal"], {"teal": teal})
    assert max(said, key=said.get) == "teal" and set(said) == {"green", "blue", "teal"}
    with pytest.raises(ValueError, match="'teal' is unknown; known are red"):
        colours_of(seen, LIGHT, ["green", "teal"])


def test_all_paints_that_are_sold_have_a_name():
    assert set(COLOURS) >= {"red", "blue", "yellow", "green", "black", "grey", "pink", "white", "purple", "orange",
                            "brown", "natural"}


def test_a_pennant_may_be_below_a_follower():
    """Then the box's contents decide: an occluded pennant gives no evidence."""
    kinds = [catalogue()["base.M"], catalogue()["base.N"]]  # the same but for a pennant
    town = next(s for s in kinds[0].segments if s.pennants)
    board = {(0, 0): ("base.M", 0)}
    picture, poses = table(board, camera())
    stand(picture, camera(), board, (0, 0), (town.spot[0] / 100, town.spot[1] / 100), "red")
    seen = find_figures(picture, poses)
    without = np.array([[-9.0, -30, -30, -30], [0.0, -30, -30, -30]])
    told = informed({(0, 0): without}, kinds, seen, hidden_by(seen))[0, 0]
    assert -4 < told[0, 0] - told[1, 0] < 0
    bare = informed({(0, 0): without}, kinds, {(0, 0): ()}, {})[0, 0]
    assert bare[0, 0] == -9.0


def test_a_pennant_may_be_below_what_stands_on_the_next_tile():
    kinds = [catalogue()["base.M"], catalogue()["base.N"]]  # the same but for a pennant
    without = np.array([[-9.0, -30, -30, -30], [0.0, -30, -30, -30]])
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        rows, columns = ({-1: slice(68, 96), 0: slice(23, 73), 1: slice(0, 28)}[d] for d in (dy, dx))
        mask = np.zeros((96, 96), bool)  # 23 cells on the next tile, and a strip of its own
        mask[rows, columns] = True
        seen = {(5 + dx, 5 + dy): [silhouette(mask)]}
        hidden = hidden_by(seen)
        assert hidden.keys() == {(5, 5), (5 + dx, 5 + dy)}
        assert hidden[5, 5].sum() == 23 * 50 and hidden[5 + dx, 5 + dy].sum() == 5 * 50
        told = informed({(5, 5): without}, kinds, seen, hidden)[5, 5]
        assert -9.0 < told[0, 0] - told[1, 0] < 0
    assert not hidden_by({(0, 0): [silhouette(mask, there=-1.0)]})


def silhouette(mask, there=4.0):
    return Seen(look=look((0.5, 0.5), there=there), px=(0, 0), outline_px=np.zeros((0, 2)), silhouette=mask,
                uvl=np.zeros(3))


def test_a_foot_on_the_border_of_two_tiles_is_not_surely_on_either():
    near = look((0.02, 0.5), -5.0)
    assert on_tile(near, (0, 0), {(0, 0), (1, 0), (0, 1)}) > 0.99  # nothing lies to the west
    assert 0.5 < on_tile(near, (0, 0), {(0, 0), (-1, 0)}) < 0.75
    assert on_tile(look((0.4, 0.5)), (0, 0), {(0, 0), (-1, 0)}) > 0.99


def test_paint_of_this_table_speaks_for_a_figure_and_its_print_against_one():
    print_ = Print(np.full((200, 3), (60, 120, 90), np.uint8), LIGHT)
    meadow = shown(np.full((40, 3), (60, 120, 90), np.uint8), LIGHT)
    blue = shown(np.full((40, 3), (180, 80, 30), np.uint8), LIGHT)
    among_print = print_.density(np.array([meadow, blue]))
    among_figures = [np.logaddexp.reduce(list(said.values())) for said in colours_of([meadow, blue, blue], LIGHT)]
    assert among_figures[0] < among_print[0] and among_figures[1] > among_print[1] + 2


def test_what_a_tile_looked_like_before_speaks_for_what_is_new_and_against_what_was_there_already():
    eye = camera()
    picture, poses = table(BOARD, eye)
    before, after = TileBackground(), TileBackground()
    for _ in range(2):
        before.update(picture, poses, {})
    stand(picture, eye, BOARD, (1, 1), (0.4, 0.5), "red")
    for _ in range(2):
        after.update(picture, poses, {})
    alone, = read_figures(picture, poses)[1, 1][:1]
    new, = read_figures(picture, poses, bare=before.bare())[1, 1][:1]
    old, = read_figures(picture, poses, bare=after.bare())[1, 1][:1]
    assert alone.there + 0.2 < new.there and old.there < alone.there - 2
    hidden = TileBackground()
    for _ in range(2):
        hidden.update(picture, poses, hidden_by(find_figures(picture, poses)))
    unknown, = read_figures(picture, poses, bare=hidden.bare())[1, 1][:1]
    assert unknown.there == alone.there  # it stood there when the tile was seen first


@pytest.fixture
def hardly_seen(monkeypatch):
    """The network sees a foot here and there, but no silhouette."""
    monkeypatch.setattr("vision.figures.owners", lambda felt, n, feet: np.full((CROP_PX, CROP_PX), -1))


def known(picture, poses):
    model = TileBackground()
    for _ in range(2):
        model.update(picture, poses, {})
    return model.bare()


def test_what_is_new_in_a_players_paint_is_the_silhouette_of_a_foot_without_one(hardly_seen):
    eye = camera()
    picture, poses = table(BOARD, eye)
    bare = known(picture, poses)
    stand(picture, eye, BOARD, (1, 1), (0.4, 0.5), "black")
    alone, = find_figures(picture, poses)[1, 1][:1]
    seen, = find_figures(picture, poses, bare=bare)[1, 1][:1]
    assert seen.by_change and seen.silhouette.any() and not alone.silhouette.any()
    assert seen.look.there > alone.look.there + 2 and max(seen.look.colours, key=seen.look.colours.get) == "black"
    neutral, = find_figures(picture, poses, bare=bare, pieces=["black"])[1, 1][:1]
    assert neutral.by_change and not neutral.silhouette.any() and neutral.new == 0.0
    learned, = find_figures(picture, poses, bare=known(picture, poses))[1, 1][:1]
    assert not learned.by_change and not learned.silhouette.any()


def test_what_is_larger_than_a_figure_with_its_shadow_is_none(monkeypatch, hardly_seen):
    monkeypatch.setattr("vision.figures.LIMITS", replace(LIMITS, figure_px=150))
    eye = camera()
    picture, poses = table(BOARD, eye)
    bare = known(picture, poses)
    stand(picture, eye, BOARD, (1, 1), (0.4, 0.5), "black")
    seen, = find_figures(picture, poses, bare=bare)[1, 1][:1]
    assert seen.by_change and not seen.silhouette.any() and seen.new == 0.0


@pytest.mark.parametrize(("shown_", "odds"), [(0.8, LIMITS.like), (0.2, 0.0)])
def test_a_shadow_speaks_against_a_figure_only_where_print_is_seen_in_it(monkeypatch, shown_, odds):
    """Grey wood on print without colour looks like print in a shadow."""
    monkeypatch.setattr("vision.figures.in_shadow", lambda *_: True)
    monkeypatch.setattr("vision.figures.shows_through", lambda *_: shown_)
    eye = camera()
    picture, poses = table(BOARD, eye)
    bare = known(picture, poses)
    stand(picture, eye, BOARD, (1, 1), (0.4, 0.5), "blue")
    seen, = find_figures(picture, poses, bare=bare)[1, 1][:1]
    assert seen.new == odds


def test_a_region_in_which_no_foot_is_seen_is_nobodys_silhouette(monkeypatch, hardly_seen):
    monkeypatch.setattr("vision.figures.peaks", lambda *_: [])
    eye = camera()
    picture, poses = table(BOARD, eye)
    bare = known(picture, poses)
    stand(picture, eye, BOARD, (1, 1), (0.4, 0.5), "black")
    seen, = find_figures(picture, poses, bare=bare, pieces=["white"])[1, 1]
    assert seen.by_change and not seen.silhouette.any() and seen.new == 0.0


def shaded(picture, poses):
    """A shadow lies on the tile (1, 1)."""
    inside = poses[1, 1] @ np.array([[0.3, 0.5, 0.5, 0.3], [0.3, 0.3, 0.6, 0.6], [1] * 4])
    shade = np.ones(picture.shape[:2], np.float32)
    cv2.fillConvexPoly(shade, (inside[:2] / inside[2]).T.round().astype(np.int32), 0.4)
    return (picture * shade[..., None]).astype(np.uint8)


def test_a_shadow_is_nobodys_silhouette(monkeypatch, hardly_seen):
    picture, poses = table(BOARD, camera())
    monkeypatch.setattr("vision.figures.peaks", lambda felt, n, *_: [Peak(
        foot=np.array([0.4, 0.45]), spread=0.03, there=1.0, lying=-3.0, kinds=np.full(6, -1.8))])
    seen, = find_figures(shaded(picture, poses), {(1, 1): poses[1, 1]}, bare=known(picture, poses))[1, 1]
    assert seen.by_change and not seen.silhouette.any() and seen.new == 0.0


def test_a_shadow_is_no_figure(monkeypatch):
    """However much like one the network finds it: where it is, print is only darker."""
    picture, poses = table(BOARD, camera())
    bare, dark = known(picture, poses), shaded(picture, poses)
    there = np.zeros((CROP_PX, CROP_PX), bool)
    low, high = (round((v + MARGIN) * TILE_PX) for v in (0.3, 0.6))
    there[low:high, low:round((0.5 + MARGIN) * TILE_PX)] = True
    monkeypatch.setattr("vision.figures.peaks", lambda *_: [Peak(
        foot=np.array([0.4, 0.5]), spread=0.03, there=1.0, lying=-3.0, kinds=np.full(6, -1.8))])
    monkeypatch.setattr("vision.figures.owners", lambda felt, n, feet: np.where(there, 0, -1))
    alone, shadow = (find_figures(dark, {(1, 1): poses[1, 1]}, bare=b)[1, 1][0] for b in (None, bare))
    assert shadow.new < 0.0 and shadow.look.there < alone.look.there - 2


def test_what_is_cut_from_a_board_among_discs_is_doubted():
    def seen(round_, there):
        return Seen(look=look((0.5, 0.5), there=there), px=(0, 0), outline_px=np.zeros((0, 2)),
                    silhouette=np.zeros((96, 96), bool), uvl=np.zeros(3), round=round_)

    discs = [seen(0.98, 5.0) for _ in range(8)]
    *_, odd = _like_the_others([*discs, seen(0.03, 1.5)])
    assert odd.look.there < 0.5
    *_, one_more = _like_the_others([*discs, seen(0.98, 1.5)])
    assert one_more.look.there > 1.9
    only, = _like_the_others([seen(0.03, 1.5)])
    assert only.look.there == pytest.approx(1.5)


def test_what_a_supply_showed_says_more_than_the_other_figures_of_a_table():
    def seen(colour, round_):
        look = FigureLook(foot=(0.5, 0.5), spread=0.03, there=1.0, lying=0.0, colours={colour: 0.0}, pieces={})
        return Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=np.zeros((1, 1), bool),
                    uvl=np.zeros(3), round=round_)

    table = [*(seen("red", 0.02) for _ in range(6)), seen("pink", 0.98)]
    alone, taught = (_like_the_others(table, shapes)[-1].look.there for shapes in ({}, {"pink": "disc"}))
    assert alone < 0.5 < 1.0 < taught
    assert _like_the_others(table, {"pink": "follower"})[-1].look.there < alone


def test_a_figure_that_lies_beside_the_board_stands_on_no_tile():
    """Its foot is seen just outside a corner of a tile (slides, base-015: a farmer was read on a cloister's meadow)."""
    board = {(0, 0): ("base.B", 0)}
    said = {}
    for foot in ((-0.03, 1.03), (0.1, 0.85)):
        picture, poses = table(board, camera())
        stand(picture, camera(), board, (0, 0), foot, "blue", lying=True)
        said[foot] = max((s.look.there for s in find_figures(picture, poses)[0, 0]), default=-10.0)
    assert said[-0.03, 1.03] < 1.0 < 3.0 < said[0.1, 0.85]
