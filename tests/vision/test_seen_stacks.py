"""Piles of blocks on simulated tables: whether there is one, where its top appears, and that it is no figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from recorded import OWN

from bastide.tiles.art import box_contents, load_tiles
from bastide.watching.watcher import blocks
from scoring.engine import new_game
from scoring.geometry import rotate_point
from scoring.tiles import catalogue
from scoring.transcript import read
from vision.figurenet import MARGIN, TILE_PX
from vision.figures import Seen, find_figures
from vision.frames import Image
from vision.lattice import Array, Lattice, apply, neighbours
from vision.looks import FigureLook, StackLook
from vision.nadir import board_grid, upright
from vision.neutral import Kind as NeutralKind
from vision.neutral import Neutrals
from vision.read import read_photo
from vision.simulator import Options, Simulator, load
from vision.simulator.script import Square, script_of
from vision.stacks import Kind, Stacks, _behind, look_at
from vision.tracking import make_tracker
from vision.view import View

PATH = next(p for p in OWN if p.name.startswith("tower-005"))
(STACK,) = new_game(read(load(PATH)).setup).box.stacks
KIND = Kind(name=STACK.name, wood_mm=STACK.wood_mm, paints=STACK.paints,
            spots={t.id: p for t in catalogue().values() if (p := STACK.spot(t)) is not None})


@cache
def table(level: str, seed: int, turns: int) -> tuple[Simulator, Image, dict[Square, Array]]:
    sim = Simulator(load(PATH), seed, Options(level=level, turns=turns, fps=2))
    return sim, sim.still(), sim.truth.poses_px(sim.truth.frames - 1)


def spot_of(sim: Simulator, at: Square) -> tuple[float, float] | None:
    laid = sim.truth.tiles[at].laid
    spot = KIND.spots.get(laid.tile)
    x, y = rotate_point(*spot, laid.rot) if spot else (0.0, 0.0)
    return (x / 100, y / 100) if spot else None


def heights(sim: Simulator) -> dict[Square, int]:
    out: dict[Square, int] = {}
    for stop in sim.truth.stops:
        if stop.piece.block_mm is not None:
            out[stop.at] = out.get(stop.at, 0) + 1
    return out


@pytest.mark.parametrize(("level", "seed"), [("easy", 31), ("normal", 32), ("hard", 33)])
def test_a_pile_is_seen_where_there_is_one(level: str, seed: int) -> None:
    sim, image, poses = table(level, seed, 26)
    grid, high = board_grid(poses), heights(sim)
    up = upright(grid, poses, image.shape, None)
    seen = {at: look_at(image, pose, spot, grid, up, KIND.wood_mm)[0] for at, pose in poses.items()
            if (spot := spot_of(sim, at)) is not None}
    assert len(high) >= 3 and len(seen) > len(high)
    assert all((look.there > 1.0) == (at in high) for at, look in seen.items()), {
        at: (look.there, high.get(at)) for at, look in seen.items()}
    for at, look in seen.items():
        assert np.exp(look.heights).sum() == pytest.approx(1.0)
        if at not in high:
            assert np.argmax(look.heights) == 0
            continue
        block = [s.piece for s in sim.truth.stops if s.at == at and s.piece.block_mm is not None][-1]
        assert block.block_mm is not None
        px = sim.truth.camera.project([(block.x_mm, block.y_mm, block.z_mm + block.block_mm[1])])
        true = apply(np.linalg.inv(poses[at]), px)[0]
        assert np.hypot(*(look.top - true)) < 0.03, (at, look.top, true)  # 1.3 mm
        assert look.heights[high[at]] > -6.0  # one look says little of how high it is


def displacements(sim: Simulator, image: Image, poses: dict[Square, Array], view: View | None) -> tuple[Array, Array]:
    """(N, 2) by how much a block displaces each place's top, as expected and in truth."""
    grid = board_grid(poses)
    up = upright(grid, poses, image.shape, view)
    ours, true = [], []
    for at, pose in poses.items():
        if (spot := spot_of(sim, at)) is not None:
            x, y = sim.truth.pose(at, sim.truth.turns[-1].turn).at((spot[0] - 0.5) * 45, (spot[1] - 0.5) * 45)
            px = sim.truth.camera.project([(x, y, 2.2), (x, y, 2.2 + KIND.wood_mm[1])])
            low, high = apply(np.linalg.inv(pose), px)
            ours.append(look_at(image, pose, spot, grid, up, KIND.wood_mm)[0].floor)
            true.append(high - low)
    return np.array(ours), np.array(true)


@pytest.mark.parametrize(("level", "seed"), [("easy", 31), ("normal", 32), ("hard", 33)])
def test_what_one_block_adds_is_foreseen(level: str, seed: int) -> None:
    """A camera of unknown tilt, up to 5 degrees, is off by 65 mm, which is 0.02 tiles for a block; an unknown focal
    length adds a quarter of the displacement."""
    sim, image, poses = table(level, seed, 26)
    ours, true = displacements(sim, image, poses, None)
    far = np.hypot(*true.T)
    assert (np.hypot(*(ours - true).T) < 0.02 + far / 4).all()
    camera = sim.truth.camera
    view = View(size=camera_size(image), matrix=camera.matrix, distortion=np.zeros(5), rotation=camera.rotation,
                translation=camera.rotation @ (-np.array(camera.position_mm) * (1, 1, -1)))
    known, true = displacements(sim, image, poses, view)
    assert (np.hypot(*(known - true).T) < 0.003 + far / 10).all()


def camera_size(image: Image) -> tuple[int, int]:
    return image.shape[1], image.shape[0]


@pytest.mark.parametrize(("level", "seed"), [("normal", 32), ("hard", 33)])
def test_a_block_is_no_figure(level: str, seed: int) -> None:
    """The network takes most blocks for cubes; a follower beside one stays what it is."""
    sim, image, poses = table(level, seed, 26)
    number, colours = sim.truth.frames - 1, sim.script.colours
    kinds = sorted({sim.truth.tiles[at].laid.tile for at in poses})
    loglik = {}
    for at in poses:
        laid = sim.truth.tiles[at].laid
        loglik[at] = np.full((len(kinds), 4), -12.0)
        loglik[at][kinds.index(laid.tile), laid.rot] = 0.0
    sense = Stacks([KIND])
    found = find_figures(image, poses, colours=colours)
    piles = sense.look(image, poses, loglik, [catalogue()[k] for k in kinds], poses)
    assert {at for at, looks in piles.items() if looks[KIND.name].there > 0} == set(heights(sim))
    left = sense.past_blocks(image, poses, piles, found, poses)
    stand = {(sim.truth.figures[n].standing.at, colours[sim.truth.figures[n].standing.player])
             for n in sim.truth.frame(number).figures}
    before, after = (told(figures) for figures in (found, left))
    assert len({at for at, _ in before - stand} & set(heights(sim))) >= 2
    assert not {at for at, _ in after - stand} & set(heights(sim))
    assert before & stand == after & stand


def test_wood_of_the_blocks_paint_is_less_likely_a_figure() -> None:
    """Also before a pile was seen well enough to compare it with its own wood."""
    sim, image, poses = table("hard", 33, 26)
    players, stand = sim.script.colours, {sim.truth.figures[n].standing.at
                                          for n in sim.truth.frame(sim.truth.frames - 1).figures}
    sense = Neutrals((), players, others=KIND.paints)
    found = find_figures(image, poses, colours=[*players, *sense.paints])
    left = sense.told(image, poses, found, poses)
    less = {at: found[at][0].look.there - left[at][0].look.there
            for at in poses if found[at] and found[at][0].look.there > 0}
    blocks = less.keys() & set(heights(sim)) - stand
    assert len(blocks) >= 2 and all(less[at] > 3 for at in blocks)
    followers = less.keys() & stand - set(heights(sim))
    assert len(followers) >= 3 and all(less[at] < 0.7 for at in followers)
    assert all(set(s.look.colours) == set(players) for seen in left.values() for s in seen)


def test_figures_are_told_from_wood_of_every_paint_that_stands_on_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Sequence[str]] = {}
    monkeypatch.setattr("vision.tracking.find_figures", lambda bgr, poses, **given: asked.update(given) or {})
    box = new_game(read(load(PATH)).setup).box
    (block,) = blocks(box, [catalogue()["tower.01"]])
    fairy = NeutralKind(name="fairy", wood_mm=(18.0, 27.0, 10.0), paints=("white", "red"))
    tracker = make_tracker([catalogue()["tower.01"]], None, ("red", "blue"), None, [fairy], [block])
    tracker.figures(np.zeros((90, 160, 3), np.uint8), {}, Lattice(grid=np.eye(3)))
    assert asked["colours"] == ["red", "blue", "white", *STACK.paints]
    assert set(asked["pieces"]) == {"white", "red"}  # blocks are sought by `vision.stacks`


def test_a_block_that_appears_over_the_next_tile_is_no_figure() -> None:
    """As the top of a high pile does; what was found is named as the network names it there, from its own square."""
    sim, image, poses = table("normal", 32, 26)
    kinds = sorted({sim.truth.tiles[at].laid.tile for at in poses})
    loglik = {}
    for at in poses:
        loglik[at] = np.full((len(kinds), 4), -12.0)
        loglik[at][kinds.index(sim.truth.tiles[at].laid.tile), sim.truth.tiles[at].laid.rot] = 0.0
    sense = Stacks([KIND])
    piles = sense.look(image, poses, loglik, [catalogue()[k] for k in kinds], poses)
    found = find_figures(image, poses, colours=sim.script.colours)
    stand = {(sim.truth.figures[n].standing.at) for n in sim.truth.frame(sim.truth.frames - 1).figures}
    at, block = next((at, s) for at in set(heights(sim)) - stand for s in found.get(at, ()) if s.look.there > 0)
    beside = next(n for n in neighbours([at]) if n in poses)
    foot = apply(np.linalg.inv(poses[beside]) @ poses[at], [block.look.foot])[0]
    shifted = cv2.warpPerspective(block.silhouette.astype(np.uint8), crop_of(poses[beside]) @ np.linalg.inv(
        crop_of(poses[at])), block.silhouette.shape[::-1]).astype(bool)
    elsewhere = replace(block, silhouette=shifted, look=replace(block.look, foot=(float(foot[0]), float(foot[1]))))
    (left,) = sense.past_blocks(image, poses, piles, {beside: (elsewhere,)}, poses)[beside]
    assert shifted.any() and left.look.there < elsewhere.look.there - 3


def test_nothing_stands_on_a_top_that_is_seen() -> None:
    """Whatever paint its wood seems to have; what stands beside it is no less likely."""
    sim, image, poses = table("normal", 32, 26)
    at = next(iter(heights(sim)))
    own, laid = {at: poses[at]}, sim.truth.tiles[at].laid
    loglik, sense = {at: np.full((1, 4), -12.0)}, Stacks([KIND])
    loglik[at][0, laid.rot] = 0.0
    piles = sense.look(image, own, loglik, [catalogue()[laid.tile]], poses)
    pile = piles[at][KIND.name]
    red = next(s for found in find_figures(image, poses, colours=sim.script.colours).values() for s in found)
    bare = replace(red, silhouette=np.zeros_like(red.silhouette))  # no wood to compare
    x, y = pile.top
    on_top, beside = (replace(bare, look=replace(red.look, foot=(x + off, y))) for off in (0.05, 0.17))
    (first, second) = sense.past_blocks(image, own, piles, {at: (on_top, beside)}, poses)[at]
    assert pile.there > 3.0 and first.look.there == pytest.approx(on_top.look.there - pile.there)
    assert second.look.there == beside.look.there
    (covered, _) = sense.past_blocks(image, own, {}, {at: (on_top, beside)}, poses)[at]
    assert covered.look.there == on_top.look.there


def crop_of(pose: np.ndarray) -> np.ndarray:
    """From the picture to a tile's crop, (3, 3)."""
    side = np.array([[TILE_PX, 0, MARGIN * TILE_PX], [0, TILE_PX, MARGIN * TILE_PX], [0, 0, 1.0]])
    return side @ np.linalg.inv(pose)


def told(figures: Mapping[Square, Sequence[Seen]]) -> set[tuple[Square, str]]:
    """The squares and paints of the likely figures."""
    return {(at, max(s.look.colours, key=lambda c: s.look.colours[c]))
            for at, seen in figures.items() for s in seen if s.look.there > 0}


def test_a_pile_that_a_follower_covers_still_is_one() -> None:
    """Its blocks are no figures then either; the follower is one."""
    path = next(p for p in OWN if p.name.startswith("tower-000"))
    turn = next(t for t in script_of(load(path)).turns if t.figure is not None and t.figure.feature == STACK.top)
    sim = Simulator(load(path), 2, Options(level="normal", turns=turn.index + 1, fps=2))
    guard = next(f for f in sim.truth.figures if f.standing == turn.figure)
    at, laid = guard.standing.at, sim.truth.tiles[guard.standing.at].laid
    loglik, sense = {at: np.full((1, 4), -12.0)}, Stacks([KIND])
    loglik[at][0, laid.rot] = 0.0
    for number in (guard.down - 1, guard.down + 4):
        poses = sim.truth.poses_px(number)
        image, own = sim.still(number), {at: poses[at]}
        piles = sense.look(image, own, loglik, [catalogue()[laid.tile]], poses)
        found = find_figures(image, own, colours=sim.script.colours, board=poses)
        left = sense.past_blocks(image, own, piles, found, own)
        there = {f.standing.player for n in sim.truth.frame(number).figures
                 if (f := sim.truth.figures[n]).standing.at == at}
        assert told(left) == {(at, sim.script.colours[player]) for player in there}, number


@pytest.mark.parametrize(("level", "seed"), [("easy", 31), ("hard", 33)])
def test_a_photograph_shows_no_figures_where_blocks_are(level: str, seed: int) -> None:
    """Whoever stands on the table is read all the same."""
    sim, image, _ = table(level, seed, 26)
    tiles, counts = load_tiles(None, ("base", "tower")), box_contents(("base", "tower"))
    plain, knowing = (read_photo(image, tiles, counts=counts, stacks=stacks) for stacks in ((), (KIND,)))
    high, stand = heights(sim), len(sim.truth.frame(sim.truth.frames - 1).figures)
    assert len(high) >= 3 and len(plain.figures) > stand
    assert len(knowing.figures) == stand, (knowing.figures, stand)


def test_a_top_far_from_its_line_is_found_where_it_was_seen_last() -> None:
    sim, image, poses = table("normal", 32, 26)
    grid = board_grid(poses)
    up = upright(grid, poses, image.shape, None)
    tall = heights(sim)
    at = max(tall, key=lambda square: tall[square])
    spot = spot_of(sim, at)
    assert spot is not None
    top = look_at(image, poses[at], spot, grid, up, KIND.wood_mm)[0].top
    away = -0.5 * up  # the point below the camera is taken to be beyond the pile
    assert math.dist(look_at(image, poses[at], spot, grid, away, KIND.wood_mm)[0].top, top) > 0.05
    again = look_at(image, poses[at], spot, grid, away, KIND.wood_mm, last=(top[0] + 0.03, top[1]))[0]
    assert again.there > 3.0
    assert math.dist(again.top, top) < 0.02


@pytest.mark.parametrize(("rows", "least", "most"), [(0, -6.0, -6.0), (3, -5.0, -2.0), (9, -0.4, -0.2)])
def test_a_top_that_a_figure_hides_is_not_missed(rows: int, least: float, most: float) -> None:
    """The top of one block is 0.42 of a tile wide here, 21 cells."""
    nothing = StackLook(there=-6.0, top=(0.9, 0.9), yaw=0.0, floor=(0.0, 0.0), heights=(-0.002, *12 * [-8.0]))
    mask = np.zeros((50, 50), bool)
    mask[15:15 + rows, :] = True
    told = _behind(nothing, (0.5, 0.5), 0.42, mask)
    assert least <= told.there <= most
    assert told.heights[0] == pytest.approx(-np.logaddexp(0.0, told.there))
    assert (told.heights[1] - nothing.heights[1] > 1.0) == (rows > 0)
    beside = np.zeros((50, 50), bool)
    beside[:14] = True
    assert _behind(nothing, (0.5, 0.5), 0.42, beside).there == -6.0


def test_where_a_pile_may_be_begun_what_is_new_may_be_its_block() -> None:
    sim, image, poses = table("normal", 32, 26)
    at = next(at for at in poses if spot_of(sim, at) is not None and at not in heights(sim))
    x, y = spot_of(sim, at) or (0.0, 0.0)
    laid = sim.truth.tiles[at].laid
    loglik = np.full((1, 4), -12.0)
    loglik[0, laid.rot] = 0.0
    sense = Stacks([KIND])
    sense.look(image, {at: poses[at]}, {at: loglik}, [catalogue()[laid.tile]], poses)
    look = FigureLook(foot=(x, y), spread=0.03, there=4.0, lying=0.0, colours={"red": 0.0})
    new = Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=np.zeros((96, 96), bool),
               uvl=np.zeros(3), new=2.5)
    beside = replace(new, look=replace(look, foot=((x + 0.4) % 1.0, y)))
    (there, elsewhere), = sense.past_blocks(image, poses, {}, {at: (new, beside)}, poses).values()
    assert there.look.there == 1.5 and elsewhere.look.there == 4.0
    sense._tops["tower", at] = (x, y)  # a block has been seen there: a figure may stand on it
    (above, _), = sense.past_blocks(image, poses, {}, {at: (new, beside)}, poses).values()
    assert above.look.there == 4.0


def test_a_look_for_a_pile_knows_what_figures_hide() -> None:
    sim, image, poses = table("normal", 32, 26)
    at = next(at for at in poses if spot_of(sim, at) is not None and at not in heights(sim))
    laid = sim.truth.tiles[at].laid
    loglik = np.full((1, 4), -12.0)
    loglik[0, laid.rot] = 0.0
    look = FigureLook(foot=(0.5, 0.5), spread=0.03, there=6.0, lying=0.0, colours={"red": 0.0})
    figure = Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=np.ones((96, 96), bool),
                  uvl=np.zeros(3))
    missed, hidden = (Stacks([KIND]).look(image, {at: poses[at]}, {at: loglik}, [catalogue()[laid.tile]], poses, seen)
                      [at][KIND.name].there for seen in ({}, {at: (figure,)}))
    assert missed < -1.0 < -0.4 < hidden < 0.0
