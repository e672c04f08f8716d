"""Neutral pieces on simulated tables: their true and their detected positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from recorded import OWN

from scoring.engine import new_game, step
from scoring.events import TurnEnded
from scoring.expansions.dragon import DRAGON
from scoring.tiles import Square
from scoring.transcript import read
from vision.figurenet import CROP_PX, MARGIN, TILE_PX
from vision.figures import Seen, find_figures
from vision.lattice import apply, rectify
from vision.looks import FigureLook
from vision.neutral import LIMITS, Kind, Neutrals, _Blob, _shifted, _stands_on, best_of
from vision.occupancy import hidden_by
from vision.simulator import Options, Simulator, load
from vision.simulator.options import TILE_HEIGHT_MM
from vision.simulator.truth import StopTruth
from vision.tile_background import INNER_PX, Bare, Differences, TileBackground, inner
from vision.tile_background import LIMITS as BACKGROUND

GAME = next(p for p in OWN if p.name.startswith("dragon-010"))
AT = (0, 0)
KINDS = [Kind(name=n.name, wood_mm=n.wood_mm, paints=n.paints) for n in DRAGON.neutrals]
PAINTS = [paint for kind in KINDS for paint in kind.paints]


@cache
def played(seed: int, turns: int, level: str = "normal") -> Simulator:
    return Simulator(load(GAME), seed, Options(level=level, turns=turns, fps=2))


def test_a_hand_takes_them_where_the_rules_have_them_stand() -> None:
    sim = played(1, 21)
    game = read(load(GAME))
    state = new_game(game.setup)
    for turn in game.turns[:21]:
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
    stops = sim.truth.stops
    last = {s.piece.figure: s.at for s in stops if s.gone is None}
    assert last == {n.name: n.at(state) for n in state.box.neutrals if n.at(state) is not None}
    walk = [s.at for s in stops if s.turn == 20 and s.piece.figure == "dragon"]
    assert len(walk) == 6
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in zip(walk, walk[1:], strict=False))
    for piece in {s.piece.figure for s in stops}:
        times = [(s.down, s.gone) for s in stops if s.piece.figure == piece]
        assert all(down < (gone or 1 << 30) for down, gone in times)
        assert all(a[1] is not None and a[1] < b[0] for a, b in zip(times, times[1:], strict=False))


def test_they_stand_on_the_picture() -> None:
    sim = played(1, 17)
    stop = next(s for s in sim.truth.stops if s.piece.figure == "dragon" and s.gone is not None)
    x, y = sim.truth.camera.project([(stop.piece.x_mm, stop.piece.y_mm, 10.0)])[0].round().astype(int)
    before, there, after = (sim.still(n)[y - 4:y + 5, x - 4:x + 5].astype(float).mean(axis=(0, 1))
                            for n in (stop.down - 1, stop.down, stop.gone))
    assert np.abs(before - after).max() < 12 < np.abs(before - there).max()


@pytest.mark.parametrize("seed", [1, 2, 8, 10, 12])  # in 1 the network hardly sees a foot
def test_plain_wood_on_a_town_of_its_colour_stands_where_it_stands(seed: int) -> None:
    """Its region must not run into the print: its foot would be the region's, on the next tile even."""
    assert_fairy_on_town(played(seed, 17, "easy"), None)


@pytest.mark.parametrize(("pieces", "least"), [(False, 3.0), (True, 2.0)])
@pytest.mark.parametrize("seed", [1, 19])  # in 19 the town has just her tone
def test_print_that_was_there_before_her_is_not_hers(
        monkeypatch: pytest.MonkeyPatch, seed: int, pieces: bool, least: float) -> None:
    sim = played(seed, 17, "easy")
    if not pieces:  # no foot is sought where a tile only looks different
        monkeypatch.setattr("vision.figures.unexplained", lambda *_: [])
    assert_fairy_on_town(sim, before(sim, fairy(sim).down - 1), least)


@pytest.mark.parametrize("other", [BACKGROUND.other, 0.03])
def test_a_dragon_of_a_players_paint_is_found_where_the_network_sees_no_foot(
        monkeypatch: pytest.MonkeyPatch, other: float) -> None:
    """It was trained on followers: here it sees none anywhere. Before the walk nothing hid the tiles; as if each piece
    covered most of its tile, hardly a pixel may differ in ``other`` tests."""
    monkeypatch.setattr("vision.figures.peaks", lambda *_: [])
    monkeypatch.setattr("vision.tile_background.LIMITS", replace(BACKGROUND, other=other))
    sim, sense = played(1, 21), Neutrals(KINDS, played(1, 21).script.colours)
    colours = [*sim.script.colours, *sense.paints]
    stops = [s for s in sim.truth.stops if s.piece.figure == "dragon" and s.turn == 16]
    assert len(stops) == 6 and stops[0].piece.colour in sim.script.colours
    for stop in stops:
        poses, photo, bare = sim.truth.poses_px(stop.down), sim.still(stop.down), before(sim, stop.down - 1)
        seen = find_figures(photo, poses, colours=colours, bare=bare, pieces=PAINTS)
        told = sense.told(photo, poses, seen, poses, bare)
        odds = {at: best["dragon"].there for at, found in told.items() if "dragon" in (best := best_of(found))}
        assert max(odds, key=lambda at: odds[at]) == stop.at and odds.pop(stop.at) > 3.0
        assert all(v < 0.0 for v in odds.values())
        for nothing in (find_figures(photo, poses, colours=colours, pieces=PAINTS),  # is known of the tiles
                        find_figures(photo, poses, colours=colours, bare=bare)):  # and no piece is sought
            assert not any(nothing.values())


@pytest.mark.parametrize("seed", [1, 8])
def test_plain_wood_is_found_where_the_network_sees_no_foot(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr("vision.figures.peaks", lambda *_: [])
    sim = played(seed, 17, "easy")
    assert_fairy_on_town(sim, before(sim, fairy(sim).down - 1), 2.0)
    number = next(t.end for t in sim.truth.turns if t.end < fairy(sim).down - 1)
    poses, photo, there = sim.truth.poses_px(number), sim.still(number), before(sim, sim.truth.frames - 1)
    sense = Neutrals(KINDS, sim.script.colours)  # where she stood a tile looks different, too: she has gone
    seen = find_figures(photo, poses, colours=[*sim.script.colours, *sense.paints], bare=there, pieces=PAINTS)
    assert any(s.by_change for s in seen[fairy(sim).at])
    assert not best_of(sense.told(photo, poses, seen, poses, there)[fairy(sim).at])


def changed_there(monkeypatch: pytest.MonkeyPatch, paint: str, sharper: float) -> list[_Blob]:
    """What a tile's long change in a paint is taken for, whose outline is so much sharper than before."""
    monkeypatch.setattr("vision.neutral.sharper", lambda *_: sharper)
    sense, pose = Neutrals(KINDS, ("blue",)), np.diag([TILE_PX, TILE_PX, 1.0])
    bare = Bare(bgr=np.zeros((INNER_PX, INNER_PX, 3), np.float32), free=np.ones((INNER_PX, INNER_PX), bool))
    long = np.zeros((CROP_PX, CROP_PX), bool)
    long[30:45, 20:62] = True
    monkeypatch.setattr(Neutrals, "_region", lambda *_: ([0], long))
    look = FigureLook(foot=(0.5, 0.5), spread=0.03, there=-1.0, lying=0.0,
                      colours={p: 0.0 if p == paint else -2.0 for p in ("blue", *sense.paints)})
    foot = Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=long & False, uvl=np.zeros(3),
                by_change=True)
    before_ = Differences(np.zeros((CROP_PX, CROP_PX, 3), np.uint8), {AT: pose}, {AT: bare})
    return sense._blobs(AT, np.zeros(2), [foot], {0: long}, before_)


def test_a_dragon_is_sought_in_its_own_paint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand, which looks like plain wood, is as long."""
    (red,), (natural,) = (changed_there(monkeypatch, paint, 1.0) for paint in ("red", "natural"))
    assert red.odds["dragon"] > natural.odds["dragon"] == -LIMITS.most


@pytest.mark.parametrize(("sharper", "pieces"), [(1.0, 1), (math.nan, 1), (0.0, 0), (-1.0, 0)])
def test_what_has_no_outline_of_its_own_has_gone(monkeypatch: pytest.MonkeyPatch, sharper: float, pieces: int) -> None:
    assert len(changed_there(monkeypatch, "red", sharper)) == pieces


@pytest.mark.parametrize("light", [0.35, 0.7, 1.35])
def test_a_shadow_and_a_spot_of_light_are_no_pieces(light: float) -> None:
    """Each tile has one, with a sharp edge, as large as a piece."""
    sim = played(3, 21, "easy")
    number = max(t.end for t in sim.truth.turns if t.end < sim.truth.stops[0].down)
    poses, photo, bare = sim.truth.poses_px(number), sim.still(number), before(sim, number)
    lit = np.zeros(photo.shape[:2], np.float32)
    for n, pose in enumerate(poses.values()):
        wide, long = (0.14, 0.25) if n % 2 else (0.22, 0.12)
        corners = np.array([(0.5 + x * wide, 0.5 + y * long) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
        cv2.fillPoly(lit, [apply(pose, corners).round().astype(int)], 1.0)
    changed = np.clip(photo * (1 + (light - 1) * cv2.GaussianBlur(lit, (0, 0), 1.0)[..., None]), 0, 255)
    sense = Neutrals(KINDS, sim.script.colours)
    image = changed.astype(np.uint8)
    seen = find_figures(image, poses, colours=[*sim.script.colours, *sense.paints], bare=bare, pieces=PAINTS)
    assert any(s.by_change for found in seen.values() for s in found)
    told = sense.told(image, poses, seen, poses, bare)
    assert all(look.there < 0.0 for found in told.values() for look in best_of(found).values())


def test_what_looks_different_is_sought_in_a_pieces_paint() -> None:
    """Other paints of pieces than players' are sought where the network sees a foot, too."""
    sense = Neutrals(KINDS, ("red", "blue"))
    none = np.zeros((CROP_PX, CROP_PX), bool)

    def seeds(paint: str, by_change: bool, there: float = -8.0) -> int:
        look = FigureLook(foot=(0.5, 0.5), spread=0.03, there=there, lying=0.0,
                          colours={p: 0.0 if p == paint else -5.0 for p in ("red", "blue", *sense.paints)})
        return len(sense._seeds([Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=none,
                                      uvl=np.zeros(3), by_change=by_change)]))

    assert [seeds(paint, True) for paint in ("red", "blue", "natural", "purple")] == [1, 0, 1, 1]
    assert not seeds("red", False) and not seeds("natural", False) and seeds("natural", False, -5.0)


@pytest.mark.parametrize(("seed", "known", "least"), [(1, False, 3.0), (19, True, 1.0)])
def test_she_is_found_while_the_background_around_her_is_learned(seed: int, known: bool, least: float) -> None:
    """What is never learned is her place with a rim of print, and what changed around her is adopted after a while."""
    sim, model = played(seed, 17, "easy"), TileBackground()
    sense = Neutrals(KINDS, sim.script.colours)
    colours = [*sim.script.colours, *sense.paints]
    for number in [fairy(sim).down - 1] * 3 * known + [sim.truth.frames - 1] * (BACKGROUND.adopted + 2):
        poses, photo, bare = sim.truth.poses_px(number), sim.still(number), model.bare()
        found = find_figures(photo, poses, colours=colours, bare=bare, pieces=PAINTS)
        told = sense.told(photo, poses, found, poses, bare)
        model.update(photo, poses, hidden_by(told, -5.0))
    assert_fairy_on_town(sim, model.bare(), least)


def before(sim: Simulator, number: int) -> dict[Square, Bare]:
    """What the tiles look like in a frame, in which nothing is over them."""
    poses, photo, free = sim.truth.poses_px(number), sim.still(number), np.ones((INNER_PX, INNER_PX), bool)
    return {at: Bare(bgr=inner(rectify(photo, pose, TILE_PX, MARGIN)).astype(np.float32), free=free)
            for at, pose in poses.items()}


def fairy(sim: Simulator) -> StopTruth:
    """Where she stands at the end."""
    return next(s for s in sim.truth.stops if s.piece.figure == "fairy" and s.gone is None)


def assert_fairy_on_town(sim: Simulator, bare: Mapping[Square, Bare] | None, least: float = 3.0) -> None:
    truth, stop = sim.truth, fairy(sim)
    poses, sense, image = truth.poses_px(truth.frames - 1), Neutrals(KINDS, sim.script.colours), sim.still()
    assert stop.piece.colour == "natural"
    colours = [*sim.script.colours, *sense.paints]
    detected = find_figures(image, poses, colours=colours, bare=bare, pieces=PAINTS)
    found = sense.told(image, poses, detected, poses, bare)
    seen = best_of(found[stop.at])["fairy"]
    foot = truth.camera.project([(stop.piece.x_mm, stop.piece.y_mm, TILE_HEIGHT_MM)])
    assert seen.there > least and np.linalg.norm(apply(np.linalg.inv(poses[stop.at]), foot)[0] - seen.foot) < 0.15


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_they_are_told_from_players_figures(seed: int) -> None:
    """A red dragon has a player's colour: its length distinguishes it."""
    sim = played(seed, 17)
    truth, number = sim.truth, sim.truth.frames - 1
    poses = truth.poses_px(number)
    image, colours = sim.still(), sim.script.colours
    sense = Neutrals(KINDS, colours)
    found = sense.told(image, poses, find_figures(image, poses, colours=[*colours, *sense.paints]), poses)
    for kind in KINDS:
        odds = {at: best[kind.name].there for at, seen in found.items() if kind.name in (best := best_of(seen))}
        true = next(s.at for s in truth.stops if s.piece.figure == kind.name and s.gone is None)
        assert max(odds, key=lambda at: odds[at]) == true and odds[true] > 1.0, (kind.name, odds)
        assert all(v < 0 for at, v in odds.items() if at != true)
    stand = {(truth.figures[n].standing.at, colours[truth.figures[n].standing.player])
             for n in truth.frame(number).figures}
    seen = {(at, max(s.look.colours, key=lambda c: s.look.colours[c]))
            for at, figures in found.items() for s in figures if not s.neutral and s.look.there > 0}
    assert seen == stand


def test_what_one_tiles_crop_shows_of_a_piece_is_where_it_is_in_anothers() -> None:
    mask = np.zeros((CROP_PX, CROP_PX), bool)
    mask[10:20, 60:90] = True  # over the eastern border
    moved = _shifted(mask, 1, 0)
    assert moved[15, 12] and moved[15, 35] and not moved[15, 45:].any() and moved.sum() == mask.sum()
    assert not _shifted(mask, -1, 0).any() and (_shifted(mask, 0, 0) == mask).all()
    up = _shifted(mask, 0, -1)
    assert up[65, 75] and not up[:55].any()


@pytest.mark.parametrize(("covered", "fits"), [(0.26, True), (0.81, False), (0.05, False), (math.inf, True)])
def test_a_region_without_an_outline_is_as_large_as_the_piece_may_be(covered: float, fits: bool) -> None:
    """A town of the dragon's colour was the dragon: nearly the whole tile, as long as it and twice as wide."""
    dragon = next(kind for kind in KINDS if kind.name == "dragon")
    odds, paint = Neutrals(KINDS, ("blue",))._odds(dragon, 0.97, {"red": 0.0, "blue": -6.0}, covered, 0.2)
    assert paint == "red" and (odds > 0.0) == fits


@pytest.mark.parametrize(("foot", "examined", "home"), [
    ((0.23, 1.23), False, (0, 2)), ((0.23, 1.05), False, (0, 1)), ((0.23, 1.05), True, (0, 2)),
    ((0.23, 0.5), False, (0, 1)), ((1.17, 1.21), False, (1, 2))])
def test_a_foot_that_is_clearly_on_the_next_tile_is_not_on_the_one_that_was_examined(
        foot: tuple[float, float], examined: bool, home: Square) -> None:
    """A dragon that reaches over a border was taken for one on either side in turn, and one that reaches over a corner
    of four tiles for one that had walked over the opposite tile."""
    board = {(x, y): np.array([[80.0, 0.0, 80.0 * x], [0.0, 80.0, 80.0 * y], [0.0, 0.0, 1.0]])
             for x, y in ((0, 1), (0, 2), (1, 2))}
    blob = _Blob(at=(0, 1), feet=[0], mask=np.zeros((CROP_PX, CROP_PX), bool), length=0.7, odds={}, paints={},
                 px=(foot[0] * 80, (1 + foot[1]) * 80))
    assert _stands_on(blob, board if examined else {(0, 1): board[0, 1]}, board) == home


@pytest.mark.parametrize("examined", [False, True])
def test_a_piece_whose_own_tile_was_not_examined_only_hides_the_print_of_the_next(
        examined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    board = {(0, y): np.array([[80.0, 0.0, 0.0], [0.0, 80.0, 80.0 * y], [0.0, 0.0, 1.0]]) for y in (1, 2)}
    poses = board if examined else {(0, 1): board[0, 1]}
    mask = np.zeros((CROP_PX, CROP_PX), bool)
    mask[60:80, 30:60] = True
    foot = Seen(look=FigureLook(foot=(0.23, 0.95), spread=0.03, there=3.0, lying=0.0, colours={"red": 0.0}), px=(0, 0),
                outline_px=np.zeros((0, 2)), silhouette=mask, uvl=np.zeros(3))
    blob = _Blob(at=(0, 1), feet=[0], mask=mask, length=0.9, odds={"dragon": 4.0}, paints={"dragon": "red"},
                 px=(0.23 * 80, 2.23 * 80))
    sense = Neutrals(KINDS, ("blue",))
    monkeypatch.setattr(Neutrals, "_blobs", lambda *_: [blob])
    found = {at: (foot,) if at == (0, 1) else () for at in poses}
    out = sense.told(np.zeros((300, 100, 3), np.uint8), poses, found, board)
    assert not best_of(out[0, 1]) and hidden_by(out, -3.0)[0, 1].any()
    if examined:
        assert best_of(out[0, 2])["dragon"].foot == pytest.approx((0.23, 0.23))


PIECE = np.zeros((CROP_PX, CROP_PX), bool)
PIECE[38:50, 30:55] = True  # 12 x 25 px: a fairy
PRINT = np.zeros((CROP_PX, CROP_PX), bool)
PRINT[45:90, 25:90] = True  # of its colour, below it and around
UNKNOWN = np.full((CROP_PX, CROP_PX), np.nan)
SEED = np.zeros((CROP_PX, CROP_PX), bool)
SEED[41:46, 40:45] = True


def region(print_: np.ndarray, around: np.ndarray, by_change: bool = False) -> np.ndarray:
    """The region that is grown from a foot on the piece."""
    uvl = np.where((PIECE | print_)[..., None], np.float32([0.4, -0.6, -1.0]), np.float32([-2.0, 2.0, -3.0]))
    foot = Seen(look=FigureLook(foot=(0.4, 0.45), spread=0.03, there=-3.0, lying=0.0, colours={"natural": 0.0}),
                px=(0, 0), outline_px=np.zeros((0, 2)), silhouette=np.zeros((CROP_PX, CROP_PX), bool), uvl=np.zeros(3),
                by_change=by_change)
    feet, mask = Neutrals(KINDS, ("blue",))._region(uvl, around, SEED, 0, [(0, foot)], 0.2)
    assert feet == [0]
    return mask


def differs(where: np.ndarray, known: slice = slice(None)) -> np.ndarray:
    """Differences from what was there before, of which the rows ``known`` are known."""
    out = UNKNOWN.copy()
    out[known] = np.where(where, 5.0, 0.2)[known]
    return out


STRIP = np.zeros((CROP_PX, CROP_PX), bool)
STRIP[38:50, 20:30] = True  # print of its colour beside it, with which it has the outline of a larger piece


@pytest.mark.parametrize(("by_change", "found"), [(True, PIECE), (False, PIECE | STRIP)])
def test_what_was_seen_by_a_change_is_what_has_changed(by_change: bool, found: np.ndarray) -> None:
    assert (region(STRIP, differs(PIECE), by_change) == found).mean() > 0.998


@pytest.mark.parametrize(("print_", "around", "found"), [
    (PRINT & False, UNKNOWN, True), (PRINT, UNKNOWN, False),
    (PRINT, differs(PIECE), True),
    (PRINT, differs(PIECE, slice(0, 50)), True),  # print of the next tile, which is not known: only what changed
    (PRINT, np.where(PIECE & (np.arange(CROP_PX) > 45), np.nan, differs(PIECE)), True),  # her place is known in part
    (PRINT & False, differs(PIECE & (np.arange(CROP_PX) > 45)), True),  # a half of it was learned: it is plain to see
    (PRINT, differs(PRINT | PIECE), False)])  # all of it may be new
def test_a_region_is_the_piece_if_what_is_known_of_the_tile_tells_it_from_print(
        print_: np.ndarray, around: np.ndarray, found: bool) -> None:
    assert (region(print_, around) == (PIECE if found else SEED)).mean() > 0.998
