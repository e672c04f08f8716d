"""Tiles that lie are looked after: a bumped camera, a knocked board, figures that stay or go, hands that rest."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import films
import numpy as np
import pytest
from films import SIZE, TILE_PX, Film, arm, corner, lay, stand

from scoring.engine import step
from scoring.events import TilePlaced
from scoring.tiles import catalogue
from vision.lattice import UNIT, apply
from vision.motion import Motion
from vision.simulator import Options
from vision.steady import Moved, find_moved
from vision.tileset import drawn_tileset

TILES = (("base.U", (0, 1), 0), ("base.V", (1, 0), 0), ("base.D", (-1, 0), 2), ("base.E", (0, -1), 2))


@pytest.fixture(scope="module")
def tileset():
    return drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))


@pytest.fixture(scope="module")
def played(tileset):
    """A film in which five tiles lie, and its picture."""
    def begun():
        film, image = Film(tileset), lay(films.cloth(), "base.D", (0, 0))
        film.feed(image, 4)
        for tile, at, rot in TILES:
            image = lay(image, tile, at, rot)
            film.feed(image, 4)
        assert {(p.tile, at) for at, p in film.state.tiles.items()} >= {(t, at) for t, at, _ in TILES}
        return film, image

    return begun


def moved(image, step_px, angle_deg):
    matrix = cv2.getRotationMatrix2D((SIZE[0] / 2, SIZE[1] / 2), angle_deg, 1.0)
    matrix[:, 2] += step_px
    return cv2.warpAffine(image, matrix, SIZE, borderMode=cv2.BORDER_REPLICATE), np.vstack([matrix, [0, 0, 1]])


def off(film, truth):
    """How far the corners of all tiles lie from where they should, in tiles."""
    far = [np.abs(apply(pose, UNIT) - apply(truth, UNIT * TILE_PX + corner(at))).max()
           for at, pose in film.watcher.poses.items()]
    return max(far) / TILE_PX


@pytest.mark.parametrize(("step_px", "angle"), [((34, 8), 0.0), ((-20, -26), 1.8), ((5, -3), -0.5)])
def test_a_bumped_camera_is_noticed_and_the_game_goes_on(played, step_px, angle):
    film, image = played()
    after, truth = moved(image, step_px, angle)
    assert not film.feed(after, 4)
    assert off(film, truth) < 0.06
    laid, _ = moved(lay(image, "base.D", (-1, -1), 1), step_px, angle)
    (proposal,) = film.feed(laid, 6)
    assert proposal.events[0].at == (-1, -1) and not film.notices


def test_a_tile_laid_while_the_camera_was_bumped_is_not_lost(played):
    film, image = played()
    laid, _ = moved(lay(image, "base.D", (-1, -1), 1), (16, 10), 0.7)
    proposals = film.feed(laid, 8)
    assert [p.events[0].at for p in proposals] == [(-1, -1)]


def test_a_board_pushed_by_a_whole_tile_is_no_new_tiles(played):
    """Further than its print can be followed: its tiles lie on squares where others could have been laid."""
    film, image = played()
    after, truth = moved(image, (TILE_PX, 2), 0.0)
    assert not film.feed(after, 30)
    assert off(film, truth) < 0.06
    assert not film.feed(image, 30) and off(film, np.eye(3)) < 0.06


def test_a_part_of_the_board_that_a_sleeve_pushed_is_followed_and_nothing_is_made_of_it(tileset):
    """Three tiles of ten, by a third of a tile: too few to move the board, too far for each tile to find itself."""
    film, image = Film(tileset), lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    row = [("base.U", (0, -1), 0), ("base.U", (0, 1), 0), ("base.E", (1, 0), 3), ("base.E", (1, 1), 1),
           ("base.V", (0, 2), 0), ("base.K", (-1, 2), 2), ("base.E", (-2, 2), 0)]
    for tile, at, rot in row:
        image = lay(image, tile, at, rot)
        film.feed(image, 4)
    assert set(film.state.tiles) == {(0, 0), *(at for _, at, _ in row)}
    pushed = films.cloth()
    for tile, at, rot in (("base.D", (0, 0), 0), *row):
        x, y = corner(at)
        step_px = (-20, 6) if at in ((0, 2), (-1, 2), (-2, 2)) else (0, 0)
        x, y = x + step_px[0], y + step_px[1]
        pushed[y:y + TILE_PX, x:x + TILE_PX] = lay(films.cloth(), tile, at, rot)[
            corner(at)[1]:corner(at)[1] + TILE_PX, corner(at)[0]:corner(at)[0] + TILE_PX]
    assert not film.feed(pushed, 12) and not film.notices
    for at in ((0, 2), (-1, 2), (-2, 2)):
        found = apply(film.watcher.poses[at], [[0.5, 0.5]])[0]
        assert np.abs(found - (np.array(corner(at)) + TILE_PX / 2 + (-20, 6))).max() < 0.06 * TILE_PX


def test_what_cannot_be_found_again_is_not_read_until_it_is_put_back(played):
    film, image = played()
    away, _ = moved(image, (470, 240), 0.0)  # most of the board is out of the picture
    assert not film.feed(away, 30) and film.seen.status != "watching"
    assert not film.feed(image, 8) and off(film, np.eye(3)) < 0.06
    (proposal,) = film.feed(lay(image, "base.D", (-1, -1), 1), 6)
    assert proposal.events[0].at == (-1, -1)


def test_a_tile_at_the_border_that_comes_as_a_shadow_goes_is_no_arm(tileset):
    film = Film(tileset)
    image = lay(films.cloth(), "base.D", (0, 0))
    column = [("base.U", (0, -1)), ("base.U", (0, -2))]
    film.feed(image, 4)
    for tile, at in column:
        image = lay(image, tile, at)
        film.feed(image, 4)
    y, x = np.mgrid[0:SIZE[1], 0:SIZE[0]]
    blot = 1 - 0.4 * (0.5 - 0.5 * np.tanh((np.hypot(x - 520, y - 60) - 110) / 25))[..., None]
    assert not film.feed((image * blot).astype(np.uint8), 20)
    (proposal,) = film.feed(lay(image, "base.U", (0, -3)), 24)
    assert proposal.events[0].at == (0, -3) and film.seen.status == "watching"


def test_a_knocked_board_is_found_again_on_the_table_that_stayed(played):
    film, _ = played()
    bare = films.cloth()
    board = np.zeros(bare.shape, np.uint8)
    mask = np.zeros(bare.shape[:2], np.uint8)
    for tile, at, rot in (("base.D", (0, 0), 0), *TILES):
        board = lay(board, tile, at, rot)
        x, y = corner(at)
        mask[y:y + TILE_PX, x:x + TILE_PX] = 255
    (board, truth), (mask, _) = moved(board, (14, 9), 1.2), moved(mask, (14, 9), 1.2)
    knocked = np.where(mask[..., None] > 127, board, bare)
    assert not film.feed(knocked, 8)
    assert off(film, truth) < 0.06 and not film.notices


def test_a_tile_that_does_not_lie_there_any_more_is_shown_before_and_now_until_it_does(played):
    film, image = played()
    gone = image.copy()
    x, y = corner((1, 0))
    gone[y:y + TILE_PX, x:x + TILE_PX] = films.cloth()[y:y + TILE_PX, x:x + TILE_PX]
    film.state = step(film.state, TilePlaced(player=1, tile="base.W", at=(0, 2), rot=0))  # it is not the last tile
    film.feed(gone, 8)
    (notice,) = film.notices
    assert notice.code == "out_of_step" and notice.at == (1, 0) and notice.before.shape == notice.now.shape
    assert np.abs(notice.before.astype(int) - notice.now).mean() > 10
    film.feed(image, 8)
    assert not film.notices


def test_an_arm_that_rests_for_long_is_no_table(tileset):
    film = Film(tileset)
    start = lay(films.cloth(), "base.D", (0, 0))
    film.feed(start, 4)
    laid = lay(start, "base.U", (0, 1))
    assert not film.feed(arm(laid, (430, 230)), 30)
    assert film.seen.status == "hand"
    (proposal,) = film.feed(laid, 4)
    assert proposal.events[0].tile == "base.U"


def test_a_scored_follower_that_stays_is_told_until_it_goes_home(tileset):
    film = Film(tileset)
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    image = lay(image, "base.E", (0, -1), 2)  # it completes a town of two tiles
    film.feed(image, 4)
    town = next(n for n, s in enumerate(catalogue()["base.E"].segments) if s.kind == "city")
    knight = stand(image, "base.E", (0, -1), 2, town, films.COLOURS[film.state.player])
    (proposal,) = film.feed(knight, 6)
    assert proposal.events[0].feature == "city"
    scores = None
    for bare, with_it in (("base.U", (0, 1)), ("base.V", (1, 0))):
        image, knight = lay(image, bare, with_it), lay(knight, bare, with_it)
        film.feed(knight, 8)
        scores = film.state.scores if scores is None else scores
        assert film.state.scores == scores and not film.state.figures
        (notice,) = film.notices
        assert (notice.code, notice.at, notice.feature) == ("take_back", (0, -1), "city")
    assert not film.feed(image, 8) and not film.notices and film.state.scores == scores


def test_a_follower_that_vanished_is_missed_and_nothing_else_changes(tileset):
    film = Film(tileset)
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    image = lay(image, "base.V", (1, 0))
    film.feed(image, 4)
    road = next(n for n, s in enumerate(catalogue()["base.V"].segments) if s.kind == "road")
    thief = stand(image, "base.V", (1, 0), 0, road, films.COLOURS[film.state.player])
    assert len(film.feed(thief, 6)) == 1
    image, thief = lay(image, "base.U", (0, 1)), lay(thief, "base.U", (0, 1))
    assert len(film.feed(thief, 6)) == 1 and not film.notices
    assert not film.feed(image, 28)
    (notice,) = film.notices
    assert (notice.code, notice.at, len(film.state.figures)) == ("missing", (1, 0), 1)
    assert not film.feed(thief, 10) and not film.notices


def test_a_figure_that_nobody_saw_come_is_asked_about_when_it_goes(tileset):
    film = Film(tileset)
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    for tile, at in (("base.V", (1, 0)), ("base.U", (0, 1))):
        image = lay(image, tile, at)
        film.feed(image, 4)
    road = next(n for n, s in enumerate(catalogue()["base.V"].segments) if s.kind == "road")
    thief = stand(image, "base.V", (1, 0), 0, road, "blue")
    assert not film.feed(thief, 8)  # put there too late to be this turn's: nothing is written
    (late,) = film.feed(image, 8)
    assert late.asked and late.after == (1, 0)
    assert (late.events[0].player, late.events[0].feature) == (1, "road")


@pytest.mark.parametrize("seed", range(3))
def test_no_move_made_in_a_hurry_is_lost_and_none_is_taken_from_under_a_hand(tileset, seed):
    """Tiles come under arms that hardly leave between two of them; each is proposed once, after its arm has gone."""
    rng = np.random.default_rng(seed)
    film, image = Film(tileset), lay(films.cloth(seed), "base.D", (0, 0))
    film.feed(image, 4)
    found = []
    order = [TILES[n] for n in rng.permutation(len(TILES))]
    for tile, at, rot in order:
        x, y = corner(at)
        tip = x + int(rng.integers(10, 54)), y + int(rng.integers(4, 40))
        for _ in range(int(rng.integers(1, 4))):
            tip = tip[0] + int(rng.integers(-3, 4)), tip[1]
            found += film.feed(arm(image, tip), 1)
        image = lay(image, tile, at, rot)
        under = film.feed(arm(image, tip), int(rng.integers(1, 8)))
        assert at not in [p.events[0].at for p in under]
        found += under + film.feed(image, int(rng.integers(1, 3)))
    found += film.feed(image, 10)
    assert sorted(p.events[0].at for p in found) == sorted(at for _, at, _ in TILES)
    assert all(film.state.tiles[at].tile == tile for tile, at, _ in TILES)


def test_a_tile_that_is_mostly_hidden_is_asked_about_and_not_left_out(tileset):
    film, image = Film(tileset), lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    laid = lay(image, "base.B", (0, 1))
    x, y = corner((0, 1))
    cv2.circle(laid, (x + 32, y + 32), 20, (120, 40, 20), -1)  # a box's lid, a cookie
    proposal, *_ = film.feed(laid, 20)  # and perhaps a figure
    assert proposal.events[0].at == (0, 1) and proposal.asked


def test_what_goes_wrong_is_named_or_refused():
    assert Options(mishaps="level", level="hard").goes_wrong.bump > 0
    assert Options(mishaps="bump,late").goes_wrong.knock == 0
    with pytest.raises(ValueError):
        _ = Options(mishaps="earthquake").goes_wrong


@pytest.mark.parametrize(("step_px", "angle"), [((34, 8), 0.0), ((5, -3), -0.5), ((60, -40), 38.0)])
def test_a_board_of_artwork_that_nobody_taught_is_found_again_by_what_was_seen_of_it(played, step_px, angle):
    class Stranger:
        """Knows no tile that lies here."""

        ids = [p for p in catalogue() if p.startswith("base.")]
        settler = property(lambda self: self)

        def settle(self, image, pose):
            return SimpleNamespace(pose=pose, scores=np.zeros((len(self.ids), 4)), best=0.0)

    film, image = played()
    now, truth = moved(image, step_px, angle)
    found = find_moved(image, now, film.watcher.poses, film.state, Stranger())
    assert found is not None and not found.astray
    assert found.camera or angle > 30  # the plain cloth tells nothing by its keypoints
    for at, pose in found.poses.items():
        assert np.abs(apply(pose, UNIT) - apply(truth, UNIT * TILE_PX + corner(at))).max() < 0.06 * TILE_PX
    elsewhere = lay(films.cloth(9), "base.C", (2, 2))
    assert find_moved(image, elsewhere, film.watcher.poses, film.state, Stranger()) is None


def test_a_bump_that_is_taken_for_an_arm_is_found_out_as_soon_as_it_is_still(played, monkeypatch):
    film, image = played()
    after, truth = moved(image, (34, 8), 0.4)
    monkeypatch.setattr(Motion, "_hands", lambda self, changed: (changed, np.zeros_like(changed)))
    film.feed(arm(image, (420, 230)), 12)
    assert off(film, np.eye(3)) < 0.06 and not film.notices  # it is one, and nothing moved
    film.feed(after, 12)
    assert off(film, truth) < 0.06


def test_a_camera_that_is_bumped_right_after_the_board_was_knocked_is_followed_as_well(played, monkeypatch):
    film, image = played()
    knocked = films.cloth()
    for tile, at, rot in (("base.D", (0, 0), 0), *TILES):
        knocked = lay(knocked, tile, at, rot)
    first, truth = moved(knocked, (4, 26), 0.0)
    x, y = films.cloth(), np.zeros(first.shape[:2], bool)
    for at in ((0, 0), *(at for _, at, _ in TILES)):
        left, top = corner(at)
        y[top + 26:top + 26 + TILE_PX, left + 4:left + 4 + TILE_PX] = True
    on_table = np.where(y[..., None], first, x)
    for _ in range(12):
        film.feed(on_table, 1)
        if off(film, truth) < 0.06:
            break
    assert off(film, truth) < 0.06
    after, bump = moved(on_table, (34, 8), 0.6)
    film.feed(after, 12)
    assert off(film, bump @ truth) < 0.06 and not film.notices


def test_a_board_that_was_followed_to_a_wrong_place_is_looked_for_again(played, monkeypatch):
    film, image = played()
    astray = np.array([[1, 0, 66.0], [0, 1, -24.0], [0, 0, 1]])
    poses = {at: astray @ pose for at, pose in film.watcher.poses.items()}
    with monkeypatch.context() as patched:
        patched.setattr("vision.upkeep.find_moved", lambda *_: Moved(
            grid=astray, poses=poses, astray=frozenset(), camera=True))
        now, truth = moved(image, (34, 8), 0.4)
        film.feed(now, 3)
    assert off(film, truth) > 0.5
    film.feed(now, 60)
    assert off(film, truth) < 0.06 and film.seen.status == "watching"


def test_a_tile_that_came_while_the_board_was_lost_is_asked_about_since_nobody_saw_when(played):
    film, image = played()
    away, _ = moved(image, (470, 240), 0.0)
    assert not film.feed(away, 30) and film.seen.status == "adrift"
    back, _ = moved(lay(image, "base.D", (-1, -1), 1), (60, 30), 8.0)
    (proposal,) = film.feed(back, 120)
    assert proposal.events[0].at == (-1, -1) and proposal.confidence > 0.99 and proposal.asked


def test_tiles_that_show_all_their_print_lie_below_no_arm(played, monkeypatch):
    film, image = played()
    monkeypatch.setattr(Motion, "_hands", lambda self, changed: (changed, np.zeros_like(changed)))
    x, y = corner((0, 0))
    shade = image.copy()
    shade[y:y + 2 * TILE_PX, x:x + TILE_PX] = (0.7 * shade[y:y + 2 * TILE_PX, x:x + TILE_PX]).astype(np.uint8)
    film.feed(shade, 6)
    assert film.seen.status == "hand"
    film.feed(shade, 8)
    assert film.seen.status == "watching"
    film.feed(arm(shade, (430, 230)), 20)
    assert film.seen.status == "hand"


def test_a_tile_that_is_taken_for_an_arm_is_read_as_soon_as_it_is_still(played, monkeypatch):
    film, image = played()
    monkeypatch.setattr(Motion, "_hands", lambda self, changed: (changed, np.zeros_like(changed)))
    laid = lay(image, "base.D", (-1, -1), 1)
    assert not film.feed(arm(laid, (corner((-1, -1))[0] + 30, corner((-1, -1))[1] + 20)), 20)
    (proposal,) = film.feed(laid, 12)
    assert proposal.events[0].at == (-1, -1) and proposal.events[0].tile == "base.D"
