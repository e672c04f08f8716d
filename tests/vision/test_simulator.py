"""The simulated table: equal seeds give equal frames, and the ground truth matches the pixels."""

from __future__ import annotations

import itertools
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import drawing

from scoring.tiles import catalogue
from vision.artwork import segment_masks
from vision.frames import SourceError
from vision.simulator import LEVELS, Options, Simulator, load, options_from
from vision.simulator.pieces import colour_bgr

GAME = {
    "format": "transcript/1",
    "setup": {"expansions": ["base"], "rules": {},
              "players": [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]},
    "start": {"tile": "base.D", "at": [0, 0], "rot": 0},
    "turns": [
        {"player": 0, "part": 1, "moves": [
            {"do": "tile", "tile": "base.E", "at": [0, -1], "rot": 2},
            {"do": "deploy", "figure": "follower", "at": [0, -1], "feature": "city", "where": "S"}]},
        {"player": 1, "part": 1, "moves": [
            {"do": "tile", "tile": "base.U", "at": [1, 0], "rot": 0},
            {"do": "deploy", "figure": "follower", "at": [1, 0], "feature": "field", "where": "NL NR EL WR"}]},
        {"player": 0, "part": 1, "moves": [
            {"do": "tile", "tile": "base.B", "at": [0, 1], "rot": 0},
            {"do": "deploy", "figure": "follower", "at": [0, 1], "feature": "cloister", "where": "I"}]},
        {"player": 1, "part": 1, "moves": [{"do": "tile", "tile": "base.B", "at": [2, 1], "rot": 3}]},
    ],
}
SIZE = (960, 540)


def simulator(level: str = "normal", seed: int = 5, **more: object) -> Simulator:
    return Simulator(GAME, seed, Options(level=level, size=SIZE, fps=4, tail_s=1, **more))


def frame(sim: Simulator, number: int) -> np.ndarray:
    return next(itertools.islice(sim, number, None)).bgr


def crop(image: np.ndarray, sim: Simulator, at: tuple[int, int], size: int = 64) -> np.ndarray:
    """The tile as it would look upright and alone, warped back by the truth's corners."""
    quad = sim.truth.corners_px(at).astype(np.float32)
    target = np.array([(0, 0), (size, 0), (size, size), (0, size)], np.float32)
    upright = cv2.warpPerspective(image, cv2.getPerspectiveTransform(quad, target), (size, size))
    return np.rot90(upright, sim.truth.tiles[at].laid.rot)


def alike(a: np.ndarray, b: np.ndarray) -> float:
    grey = (cv2.cvtColor(cv2.GaussianBlur(np.ascontiguousarray(i), (0, 0), 1), cv2.COLOR_BGR2GRAY) for i in (a, b))
    return float(np.corrcoef(*(g[3:-3, 3:-3].ravel().astype(float) for g in grey))[0, 1])


@pytest.mark.parametrize("level", LEVELS)
def test_equal_seeds_give_equal_frames_and_others_differ(level: str) -> None:
    first, again, other = (list(itertools.islice(simulator(level, seed), 0, 40, 8)) for seed in (5, 5, 6))
    for a, b, c in zip(first, again, other, strict=True):
        assert (a.id, a.t_s) == (b.id, b.t_s) and np.array_equal(a.bgr, b.bgr)
        assert not np.array_equal(a.bgr, c.bgr)
        assert a.bgr.shape == (SIZE[1], SIZE[0], 3) and a.bgr.dtype == np.uint8


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_pixels_under_a_true_pose_are_that_tile(level: str, seed: int) -> None:
    sim = simulator(level, seed)
    last = sim.still()
    standing = {f.standing.at for f in sim.truth.figures if f.gone is None}
    for at, tile in sim.truth.tiles.items():
        if at not in standing:  # a figure hides too much of a tile for a number
            seen = crop(last, sim, at)
            scores = [alike(seen, np.rot90(drawing(tile.laid.tile, 64), -turns)) for turns in range(4)]
            if tile.laid.tile != "base.B":  # nearly the same all around
                assert int(np.argmax(scores)) == 0
            assert scores[0] > (0.75 if level != "hard" else 0.6)


def test_the_frames_end_and_every_turn_has_a_still_part() -> None:
    sim = simulator(rest=6)
    ids = [f.id for f in sim]
    assert ids == list(range(sim.truth.frames))
    hand = [sim.truth.frame(n).hand for n in range(sim.truth.frames)]
    assert not hand[0] and not hand[-1]
    for busy, run in itertools.groupby(hand):
        assert busy or len(list(run)) >= 6
    for turn in sim.truth.turns:
        assert turn.tile_down is not None and turn.tile_clear is not None
        assert turn.tile_down < turn.tile_clear <= turn.end
        assert hand[turn.tile_down] and not hand[turn.tile_clear] and not hand[turn.end]


def test_a_tile_lies_from_its_frame_on_and_a_hand_covers_it_then() -> None:
    sim = simulator("easy")
    images = [f.bgr for f in sim]
    turn = sim.truth.turns[1]
    assert turn.tile_down is not None and turn.tile_clear is not None
    at = next(a for a, t in sim.truth.tiles.items() if t.turn == 1)
    art = drawing(sim.truth.tiles[at].laid.tile, 64)
    before = sim.truth.turns[0].end
    assert alike(crop(images[before], sim, at), art) < 0.4  # bare table
    assert alike(crop(images[turn.tile_down], sim, at), art) < 0.75  # under the hand
    assert alike(crop(images[turn.tile_clear], sim, at), art) > 0.7
    assert at not in sim.truth.frame(turn.tile_down - 1).tiles and at in sim.truth.frame(turn.tile_down).tiles


def test_scored_followers_are_taken_home() -> None:
    sim = simulator("easy")
    images = [f.bgr for f in sim]
    knight = sim.truth.figures[0]
    assert knight.turn == 0 and knight.gone is not None
    turn = sim.truth.turns[0]
    assert turn.figure_clear is not None and turn.home_clear is not None
    assert 0 not in sim.truth.frame(turn.home_clear).figures
    red = [np.abs(patch_at(images[n], knight.base_px).astype(int) - colour_bgr("red")).sum(-1).mean()
           for n in (turn.figure_clear, turn.home_clear)]
    assert red[0] < red[1] - 40


def patch_at(image: np.ndarray, px: tuple[float, float], half: int = 2) -> np.ndarray:
    x, y = round(px[0]), round(px[1])
    return image[y - half:y + half + 1, x - half:x + half + 1]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", [1, 4])
def test_standing_followers_lean_away_from_the_camera_and_lying_ones_hardly(level: str, seed: int) -> None:
    sim = simulator(level, seed)
    eye = np.array(sim.truth.camera.position_mm[:2])
    for figure in sim.truth.figures:
        piece = figure.piece
        low, high = sim.truth.camera.project([(piece.x_mm, piece.y_mm, 2.2), (piece.x_mm, piece.y_mm, 18.2)])
        outward = sim.truth.camera.project([(*eye, 2.2)])[0]
        assert np.linalg.norm(high - outward) > np.linalg.norm(low - outward)
        assert piece.lying == (figure.standing.feature == "field")


def test_a_follower_s_colour_shows_at_its_head_not_on_the_far_side_of_its_feet() -> None:
    sim = simulator("easy", seed=4)
    last = sim.still()
    monk = next(f for f in sim.truth.figures if f.standing.feature == "cloister")
    head = sim.truth.camera.project([(monk.piece.x_mm, monk.piece.y_mm, 17.5)])[0]
    b, g, r = patch_at(last, (head[0], head[1]), 1).reshape(-1, 3).mean(0)
    assert r > 2 * g and r > 2 * b


def test_a_still_is_what_the_film_shows_when_no_hand_is_there() -> None:
    sim = simulator("easy")
    turn = sim.truth.turns[1]
    for number in (0, turn.tile_clear, turn.end):
        still, filmed = sim.still(number), frame(sim, number)
        assert np.abs(still.astype(int) - filmed).mean() < 4
        assert np.abs(cv2.blur(still, (9, 9)).astype(int) - cv2.blur(filmed, (9, 9))).max() < 12


def test_figures_stand_on_their_segment() -> None:
    for seed in range(8):
        sim = simulator("hard", seed)
        for figure in sim.truth.figures:
            laid, pose = sim.truth.tiles[figure.standing.at].laid, sim.truth.tiles[figure.standing.at].pose
            a = np.radians(-pose.angle_deg)
            dx, dy = figure.piece.x_mm - pose.x_mm, figure.piece.y_mm - pose.y_mm
            u, v = np.cos(a) * dx - np.sin(a) * dy, np.sin(a) * dx + np.cos(a) * dy
            for _ in range(laid.rot):
                u, v = v, -u
            tile = catalogue()[laid.tile]
            kinds = [s.kind for s, m in zip(tile.segments, segment_masks(tile, 90), strict=True)
                     if m[int(v * 2 + 45), int(u * 2 + 45)]]
            assert figure.standing.feature in kinds


def test_tiles_do_not_lie_on_each_other() -> None:
    for seed in range(5):
        poses = {at: t.pose for at, t in simulator("hard", seed).truth.tiles.items()}
        for (x, y), pose in poses.items():
            for other in ((x + 1, y), (x, y + 1)):
                if other in poses:
                    assert 43.5 < np.hypot(pose.x_mm - poses[other].x_mm, pose.y_mm - poses[other].y_mm) < 50


def test_the_whole_board_is_in_view_whatever_its_size() -> None:
    snake = {**GAME, "turns": [
        {"player": n % 2, "part": 1, "moves": [{"do": "tile", "tile": "base.U", "at": [n + 1, 0], "rot": 1}]}
        for n in range(24)]}
    for level in LEVELS:
        for seed in range(4):
            sim = Simulator(snake, seed, Options(level=level, size=SIZE))
            corners = np.vstack([sim.truth.corners_px(at) for at in sim.truth.tiles])
            assert (corners > 0).all() and (corners < SIZE).all()
            assert 600 <= sim.truth.camera.position_mm[2] <= 900


def test_what_stands_beside_the_board_never_stands_where_a_tile_will_lie() -> None:
    for seed in range(12):
        sim = simulator("hard", seed)
        assert sim.props is not None
        things = [s[0] for s in sim.props.stacks] + [p for p in (sim.props.mug, sim.props.pad) if p]
        things += [p for heap in sim.props.supply for p in heap]
        for thing in things:
            for tile in sim.truth.tiles.values():
                assert np.hypot(thing.x_mm - tile.pose.x_mm, thing.y_mm - tile.pose.y_mm) > 40


def test_figures_in_supply_get_fewer_when_one_is_put_down() -> None:
    for seed in range(20):
        sim = simulator("normal", seed)
        if sim.props and sim.props.supply[0]:
            break
    else:
        pytest.fail("no seed leaves room for the supply")
    heap = sim.props.supply[0]
    before, after = sim.still(0), sim.still(sim.truth.turns[0].figure_clear)
    at = sim.truth.camera.project([(p.x_mm, p.y_mm, 5.0) for p in heap])
    change = [float(np.abs(patch_at(before, p, 1).astype(int) - patch_at(after, p, 1)).mean()) for p in at]
    assert change[-1] > 25 and max(change[:-1]) < 25


def test_camera_projects_and_looks_back() -> None:
    camera = simulator("hard").truth.camera
    points = np.random.default_rng(0).uniform(-180, 180, (50, 2))
    px = camera.project(np.column_stack([points, np.full(50, 2.2)]))
    assert np.allclose(camera.table_mm(px, 2.2), points, atol=0.01)
    h = camera.homography(2.2)
    straight = np.column_stack([points, np.ones(50)]) @ h.T
    assert np.allclose(straight[:, :2] / straight[:, 2:], camera.undistort(px), atol=0.01)


def test_taught_tiles_are_drawn_when_a_folder_is_given(tmp_path: Path) -> None:
    for tile in ("base.D", "base.E", "base.U", "base.B"):
        colour = np.zeros((80, 80, 3), np.uint8)
        colour[:40] = (200, 30, 200)
        cv2.imwrite(str(tmp_path / f"{tile}.png"), colour)
    sim = simulator("easy", tiles=tmp_path)
    seen = crop(frame(sim, 0), sim, (0, 0))
    assert seen[8:24, 10:50, 0].mean() > 130 and seen[45:58, 10:50].mean() < 60
    with pytest.raises(SourceError, match="nowhere"):
        simulator(tiles=tmp_path / "nowhere")


def test_what_cannot_be_simulated_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"turns"):
        Simulator({"format": "transcript/1", "setup": GAME["setup"]})
    with pytest.raises(SourceError, match="cannot read"):
        load(tmp_path / "none.json")
    bad = tmp_path / "bad.json"
    bad.write_text("{", "utf-8")
    with pytest.raises(SourceError, match="not a transcript"):
        load(bad)
    elsewhere = {"player": 0, "part": 1, "moves": [
        {"do": "tile", "tile": "base.E", "at": [0, -1], "rot": 2},
        {"do": "deploy", "figure": "follower", "at": [0, -1], "feature": "road", "where": "N"}]}
    with pytest.raises(SourceError, match=r"turns\[0\]"):
        Simulator({**GAME, "turns": [elsewhere]})
    for given in ({"level": "mild"}, {"size": "big"}, {"fps": "0"}, {"rest": "x"}, {"colour": "blue"}):
        with pytest.raises(SourceError, match=next(iter(given))):
            options_from(given)
