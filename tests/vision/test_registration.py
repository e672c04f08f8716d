"""Tiles are found again where they were pushed to, by their own last snapshots."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from drawings import drawing

from vision.lattice import UNIT, apply
from vision.registration import Register

PX, SIZE = 72, (960, 600)
BOARD = {(0, 0): ("base.D", 0), (1, 0): ("base.V", 0), (0, 1): ("base.U", 0), (-1, 0): ("base.D", 2),
         (0, -1): ("base.E", 2), (1, 1): ("base.K", 1)}


def cloth(seed=4):
    noise = np.random.default_rng(seed).normal(0, 25, (SIZE[1], SIZE[0], 3)).astype(np.float32)
    return np.clip(cv2.GaussianBlur(noise, (0, 0), 2) * 2 + (60, 70, 120), 0, 255).astype(np.uint8)


def pose_of(at):
    return np.array([[PX, 0, 420.0 + PX * at[0]], [0, PX, 250.0 + PX * at[1]], [0, 0, 1]])


def drawn(board, motions=None, bare=None):
    """A picture of the board; each tile goes with its own motion (3, 3)."""
    out = cloth() if bare is None else bare.copy()
    for at, (tile, rot) in board.items():
        motion = (motions or {}).get(at, np.eye(3)) @ pose_of(at)
        art = np.rot90(drawing(tile, PX), -rot)
        full = motion @ np.diag([1 / PX, 1 / PX, 1.0])
        warped = cv2.warpPerspective(art, full, SIZE, flags=cv2.INTER_LINEAR)
        mask = cv2.warpPerspective(np.full(art.shape[:2], 255, np.uint8), full, SIZE)
        out = np.where(mask[..., None] > 127, warped, out)
    return out


def motion(dx, dy, angle=0.0, scale=1.0):
    return np.vstack([cv2.getRotationMatrix2D((450, 280), angle, scale) + [[0, 0, dx], [0, 0, dy]], [0, 0, 1]])


def register_of(board):
    register, poses = Register(), {at: pose_of(at) for at in board}
    register.keep(drawn(board), poses, poses)
    return register


def off(found, truth):
    return max(float(np.abs(apply(found.poses[at], UNIT) - apply(truth(at), UNIT)).max()) for at in found.poses) / PX


@pytest.mark.parametrize(("dx", "dy", "angle"), [(0, 0, 0.0), (30, 8, 0.0), (-60, 44, 3.0), (10, -20, 35.0)])
def test_a_board_that_was_pushed_or_a_camera_that_was_bumped_is_found(dx, dy, angle):
    m = motion(dx, dy, angle)
    found = register_of(BOARD).find(drawn(BOARD, dict.fromkeys(BOARD, m)))
    assert found is not None and found.seen == BOARD.keys()
    assert off(found, lambda at: m @ pose_of(at)) < 0.05


def test_one_tile_alone_is_found_where_it_was_pushed_to():
    one, m = {(0, 0): BOARD[0, 0]}, motion(40, -25, 6.0)
    found = register_of(one).find(drawn(one, {(0, 0): m}))
    assert found is not None and off(found, lambda at: m @ pose_of(at)) < 0.06


def test_a_part_that_a_sleeve_pushed_goes_its_own_way():
    pushed, m = {(1, 0), (1, 1)}, motion(22, 5)
    found = register_of(BOARD).find(drawn(BOARD, dict.fromkeys(pushed, m)))
    assert found is not None and np.allclose(found.moved, np.eye(3))
    assert off(found, lambda at: (m if at in pushed else np.eye(3)) @ pose_of(at)) < 0.05


@pytest.mark.parametrize("hidden", [(2, 0), (1, 0)])
def test_a_part_that_was_pushed_takes_along_what_a_hand_covers(hidden):
    """Where that was before, it would be in the way of the others."""
    kinds = ("base.D", "base.V", "base.K", "base.E", "base.U", "base.B")
    row = {(x, y): (kinds[(x + 2 + 3 * y) % 6], y) for x in range(-2, 3) for y in (0, 1)}
    pushed, m = {at for at in row if at[0] >= 1}, motion(0.45 * PX, 5)
    picture = drawn(row, dict.fromkeys(pushed, m))
    cv2.fillConvexPoly(picture, apply(m @ pose_of(hidden), UNIT).round().astype(int), (90, 120, 190))
    found = register_of(row).find(picture)
    assert found is not None and found.seen == row.keys() - {hidden}
    assert off(found, lambda at: (m if at in pushed else np.eye(3)) @ pose_of(at)) < 0.05


def test_the_squares_of_one_piece_of_cardboard_do_not_part():
    """A hand lay over two of them when they were last looked at, and now lies beside them."""
    one = [(0, 0), (1, 0), (0, 1), (1, 1)]
    covered, m = {(0, 1), (1, 1)}, motion(-30, 12)
    found = register_of(BOARD).find(drawn(BOARD, dict.fromkeys(covered, m)), one=[*one, (9, 9)])
    assert found is not None and all(np.allclose(found.poses[at], pose_of(at)) for at in BOARD)
    m = motion(22, 5)
    found = register_of(BOARD).find(drawn(BOARD, dict.fromkeys(one, m)), one=one)
    assert found is not None and off(found, lambda at: (m if at in one else np.eye(3)) @ pose_of(at)) < 0.05


def test_a_covered_tile_goes_with_the_others_though_another_one_of_its_kind_was_laid():
    m, covered = motion(30, 8, 3.0), (1, 1)
    now = {at: tile for at, tile in BOARD.items() if at != covered} | {(-1, -1): ("base.K", 2)}
    found = register_of(BOARD).find(drawn(now, dict.fromkeys(now, m)))
    assert found is not None and found.seen == BOARD.keys() - {covered}
    assert off(found, lambda at: m @ pose_of(at)) < 0.05


def test_another_board_a_bare_table_and_a_far_larger_board_are_not_this_one():
    register = register_of(BOARD)
    other = {at: ("base.B" if n % 2 else "base.X", 1) for n, at in enumerate(BOARD)}
    assert register.find(drawn(other)) is None
    assert register.find(cloth(9)) is None
    assert register.find(drawn(BOARD, dict.fromkeys(BOARD, motion(0, 0, scale=1.4)))) is None


def test_what_lies_out_of_the_picture_follows_the_others():
    m = motion(330, 0)  # the eastern tiles leave the picture
    found = register_of(BOARD).find(drawn(BOARD, dict.fromkeys(BOARD, m)))
    assert found is not None and len(found.seen) >= 4
    assert off(found, lambda at: m @ pose_of(at)) < 0.06


@pytest.mark.parametrize("factor", [0.5, 0.75, 2.0])
def test_pictures_of_another_size_are_of_the_same_board(factor):
    register, larger = register_of(BOARD), np.diag([factor, factor, 1.0])
    register.resize(larger)
    m = motion(25, 10)
    picture = cv2.resize(drawn(BOARD, dict.fromkeys(BOARD, m)), None, fx=factor, fy=factor,
                         interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR)
    found = register.find(picture)
    assert found is not None and off(found, lambda at: larger @ m @ pose_of(at)) < 0.06 * factor


def test_a_tile_that_was_turned_is_not_like_its_snapshot_and_a_dark_one_is():
    register, poses = register_of(BOARD), {at: pose_of(at) for at in BOARD}
    turned = drawn({**BOARD, (1, 0): ("base.V", 1)})
    likes = register.alike(turned, poses)
    assert likes[1, 0] < register.limits.same < min(like for at, like in likes.items() if at != (1, 0))
    dark = register.alike((drawn(BOARD) * 0.4).astype(np.uint8), poses)
    assert min(dark.values()) > 0.9


def test_a_tile_that_is_turned_beside_one_of_the_same_print_did_not_move_onto_it():
    board = {(0, 0): ("base.D", 0), (1, 0): ("base.D", 0)}
    register = register_of(board)
    found = register.find(drawn({**board, (1, 0): ("base.D", 2)}))
    assert found is not None and found.seen == {(0, 0)}
    assert off(found, pose_of) < 0.05


def test_a_tile_does_not_go_with_a_piece_that_is_carried_from_it_to_the_next():
    """Most of what its snapshot shows is the piece."""
    wood = np.random.default_rng(3).integers(0, 255, (PX // 9 + 1, PX // 9 + 1, 3), np.uint8)
    wood = cv2.resize(wood, (round(0.94 * PX), round(0.94 * PX)), interpolation=cv2.INTER_NEAREST)

    def with_piece(x, y):
        out = drawn(BOARD)
        out[y:y + len(wood), x:x + len(wood)] = wood
        return out

    x, y = 420 + 3, 250 + 3
    register, poses = Register(), {at: pose_of(at) for at in BOARD}
    register.keep(with_piece(x, y), poses, poses)
    found = register.find(with_piece(x + round(0.77 * PX), y - round(0.49 * PX)))
    assert found is not None and (0, 0) not in found.seen
    assert off(found, pose_of) < 0.05


def test_a_tile_does_not_go_where_another_one_has_to_stay():
    """Two tiles match the motion of a piece, and the second has no room."""
    column = {(0, n): ("base.V", 0) for n in range(3)}
    register, motions = register_of(column), [np.eye(3), motion(0, PX)]
    best = {(0, 0): 1, (0, 1): 1, (0, 2): 0}
    register._solid(best, motions, 0)
    assert best == dict.fromkeys(column, 0)
    away = {(0, 0): 0, (0, 1): 0, (0, 2): 1}
    register._solid(away, motions, 0)
    assert away == {(0, 0): 0, (0, 1): 0, (0, 2): 1}


def test_a_tile_that_is_found_while_the_board_is_not_in_place_is_known_afterwards():
    """Most of what is looked at has moved, but one look finds a tile on a square that had none."""
    found_late, m = (1, 1), motion(30, 8)
    known = {at: tile for at, tile in BOARD.items() if at != found_late}
    register, poses = register_of(known), {at: pose_of(at) for at in BOARD}
    now = drawn(BOARD, dict.fromkeys(known, m))
    register.keep(now, poses, {found_late: poses[found_late]}, in_place=False)
    found = register.find(now)
    assert found is not None and found.poses.keys() == BOARD.keys() and known.keys() <= found.seen
    assert off(found, lambda at: found.poses[at] if at == found_late else m @ pose_of(at)) < 0.05
    register.keep(now, {at: poses[at] for at in known}, {}, in_place=False)
    assert register.find(now).poses.keys() == known.keys()


@pytest.mark.parametrize(("dx", "stay"), [(0.4, {(0, 1)}), (0.95, {(0, 1), (-1, 1)}), (-0.95, {(0, 1), (1, 1)})])
def test_a_tile_that_is_seen_in_another_ones_place_did_not_go_there(dx, stay):
    """Of a row that went along with something, one is not seen where it went; a row that was pushed goes on."""
    lay = {(x, 1): pose_of((x, 1)) for x in range(-2, 3)}
    poses = {at: motion(dx * PX, 0) @ pose for at, pose in lay.items()}
    register = Register()
    register.keep(cloth(), lay, lay)
    at = (-1, 1) if dx > 0 else (1, 1)
    seen = {(0, 1): poses[0, 1], at: poses[at]}
    assert register.stayed(seen, lay, {(0, 1)}) == stay
    assert not stay & register.alike(cloth(), lay).keys()  # their snapshots showed something else
