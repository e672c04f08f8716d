"""Teaching never hurts: the evidence of pictures is added to the network's; kinds without pictures lose nothing."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_set

from bastide.tiles.art import load_tiles
from scoring.tiles import catalogue
from vision.fitting import PictureFit
from vision.lattice import UNIT, apply
from vision.senses import TileSense, lead, log_normal
from vision.structure import told_apart
from vision.tileset import TileSet, drawn_tileset

_spec = importlib.util.spec_from_file_location("read_tables", Path(__file__).with_name("read_tables.py"))
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)
KINDS = [catalogue()[t] for t in tables.BASE]


@pytest.fixture(scope="module")
def board():
    """(picture, poses, what lies there)."""
    laid = tables.legal_board(3, 2, 7)
    picture, grid = tables.photograph(base_set(), laid, seed=7, jitter=0.0)
    step = {at: np.array([[1, 0, at[0]], [0, 1, at[1]], [0, 0, 1.0]]) for at in laid}
    return picture, {at: grid @ step[at] for at in laid}, laid


def taught(tiles, kinds):
    return TileSet(name="taught", size_px=tiles.size_px, specimens=tuple(
        type(s)(tile=s.tile, bgr=s.bgr) for s in tiles.specimens if s.tile in kinds))


def test_a_kind_without_a_picture_is_read_as_before_when_others_have_one(board):
    picture, poses, laid = board
    bare = TileSense(KINDS).look(picture, poses)
    here = {tile for tile, _ in laid.values()}
    others = [k.id for k in KINDS if k.id not in here][:6]
    with_others = TileSense(KINDS, taught(base_set(), others)).look(picture, poses)
    index = {k.id: n for n, k in enumerate(KINDS)}
    for at, (tile, rot) in laid.items():
        mine = index[tile], rot
        assert with_others[at].loglik[mine] > bare[at].loglik[mine] - 0.05, (at, tile)
        assert with_others[at].there == bare[at].there


def test_pictures_do_not_tell_a_kind_from_its_twin_with_a_pennant_that_has_none():
    twin = {"base.F": "base.G", "base.M": "base.N", "base.O": "base.P"}
    laid = {(n, 0): (tile, 0) for n, tile in enumerate(twin.values())}
    picture, grid = tables.photograph(base_set(), laid, seed=3, jitter=0.0)
    poses = [grid @ np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]]) for x, y in laid]
    index = {k.id: n for n, k in enumerate(KINDS)}
    sense = TileSense(KINDS, taught(base_set(), [k.id for k in KINDS if k.id not in twin]))
    said = sense._fits(sense._sources[0], picture, poses)
    for row, (without_picture, pictured) in zip(said, twin.items(), strict=True):
        assert 0.0 < row[index[pictured]].max() - row[index[without_picture]].max() < 1.0, pictured


def test_its_own_pictures_make_no_square_worse(board):
    picture, poses, laid = board
    bare = TileSense(KINDS).look(picture, poses)
    known = TileSense(KINDS, taught(base_set(), [k.id for k in KINDS])).look(picture, poses)
    index = {k.id: n for n, k in enumerate(KINDS)}
    for at, (tile, rot) in laid.items():
        mine = index[tile], rot
        assert known[at].loglik[mine] > bare[at].loglik[mine] - 0.05, (at, tile)
        assert known[at].loglik.max() - known[at].loglik[mine] < 0.7, "it, or a kind that looks the same to the rules"


def test_pictures_of_another_printing_turn_nothing_that_is_sure(board):
    """Noise labelled as every kind: it matches nothing on the table."""
    picture, poses, laid = board
    rng = np.random.default_rng(5)
    tiles = base_set()
    foreign = TileSet(name="foreign", size_px=tiles.size_px, specimens=tuple(
        type(s)(tile=s.tile, bgr=rng.integers(0, 255, s.bgr.shape).astype(np.uint8)) for s in tiles.specimens))
    bare, misled = (TileSense(KINDS, t).look(picture, poses) for t in (None, foreign))
    for at in laid:
        if lead(bare[at].loglik) > 3.0:
            assert misled[at].loglik.argmax() // 4 == bare[at].loglik.argmax() // 4


def test_what_a_figure_hides_says_nothing_of_the_print(board):
    """Paint over half of a square makes its own picture fit worse than paint that is known to be a figure's."""
    picture, poses, laid = board
    sense = TileSense(KINDS, taught(base_set(), [k.id for k in KINDS]))
    sense.limits = replace(sense.limits, doubtful=1e9)  # pictures are asked about every square
    hidden = np.zeros((50, 50), bool)
    hidden[:, :25] = True
    index = {k.id: n for n, k in enumerate(KINDS)}
    weighed = 0
    for at, (tile, _) in laid.items():
        painted = picture.copy()
        half = apply(poses[at], np.array([[0, 0], [0.5, 0], [0.5, 1], [0, 1]]))
        cv2.fillPoly(painted, [half.round().astype(np.int32)], (170, 170, 170))
        found = sense.look(painted, {at: poses[at]})
        if found[at].there < 0:  # too little of it is left to be taken for a tile
            continue
        weighed += 1
        found[at].pose = poses[at]
        spoiled = found[at].sources["pictures"][index[tile]].max()
        sense.look_past(painted, found, {at: hidden})
        fits = found[at].sources["pictures"][index[tile]].max()
        assert fits > spoiled + 2.0, (at, tile)
        assert np.exp(found[at].loglik).sum() == pytest.approx(1)
    assert weighed >= len(laid) // 2


def test_a_pose_that_is_a_little_off_is_pulled_to_the_corners(board):
    picture, poses, laid = board
    off = {at: pose @ np.array([[1, 0, 0.12], [0, 1, -0.1], [0, 0, 1.0]]) for at, pose in poses.items()}
    seen = TileSense(KINDS).look(picture, off)
    for at, pose in poses.items():
        assert np.abs(apply(np.linalg.inv(pose) @ seen[at].pose, UNIT) - UNIT).max() < 0.08, at


def test_what_was_said_already_stays_as_it_was_said(board):
    picture, poses, _ = board
    off = {at: pose @ np.array([[1, 0, 0.12], [0, 1, -0.1], [0, 0, 1.0]]) for at, pose in poses.items()}
    sense = TileSense(KINDS)
    said = sense.said(picture, list(off.values()), turns=4)
    before = said.corners.copy()
    seen = sense.look(picture, off, said)
    assert (said.corners == before).all(), "corners belong to the poses that were asked about"
    assert all(np.abs(apply(np.linalg.inv(poses[at]) @ seen[at].pose, UNIT) - UNIT).max() < 0.08 for at in poses)


def test_the_bare_table_is_no_tile_and_a_square_out_of_the_picture_is_not_seen(board):
    picture, poses, _ = board
    away = np.array([[90, 0, picture.shape[1] + 50.0], [0, 90, 10], [0, 0, 1]])
    table = np.array([[40.0, 0, 5], [0, 40, 5], [0, 0, 1]])
    seen = TileSense(KINDS).look(picture, {(8, 8): away, (9, 9): table, (0, 0): poses[0, 0]})
    assert seen[8, 8].seen == 0.0 and seen[9, 9].there < 0 < seen[0, 0].there
    assert TileSense(KINDS).look(picture, {}) == {}


def test_the_network_is_never_so_sure_that_pictures_could_not_say_otherwise():
    sense = TileSense(KINDS)
    plain = np.full((len(KINDS), 4), -21.0)
    plain[3, 1] = 0.0
    said = sense._doubted(plain)
    assert said.argmax() == 3 * 4 + 1 and 3.0 < said[3, 1] - said[0, 0] < 9.0
    assert np.exp(said).sum() == pytest.approx(1.0)


def test_log_likelihoods_sum_to_one():
    said = log_normal(np.random.default_rng(1).normal(0, 9, (5, 4)))
    assert np.exp(said).sum() == pytest.approx(1.0)
    assert lead(np.zeros((1, 4))) == np.inf


def test_drawings_are_asked_only_where_the_network_cannot_tell_kinds_apart():
    base = [t for t in catalogue().values() if t.product == "base"]
    inns = base + [t for t in catalogue().values() if t.product == "inns"]
    assert told_apart(base) and not told_apart(inns)  # an inn is a road to the network
    drawn = drawn_tileset(["base.D", "base.U"], size_px=48)
    assert not TileSense(base, drawn)._sources and len(TileSense(inns, drawn)._sources) == 1
    assert not load_tiles(None, ("base",)).specimens
    assert set(load_tiles(None, ("base", "inns")).ids) == {t.id for t in inns}


def test_pictures_of_another_print_are_given_up_once_several_tiles_have_matched_none(board, monkeypatch):
    """Not after many looks at one tile, which may be covered, or read at a wrong size while few lie."""
    picture, poses, laid = board
    sense = TileSense(KINDS, taught(base_set(), [k.id for k in KINDS]))
    sense.limits = replace(sense.limits, doubtful=1e9)  # pictures are asked about every square
    first, *others = laid
    asked, fits = [], PictureFit.fits
    monkeypatch.setattr(PictureFit, "fits", lambda self, bgr, poses, seen=None: asked.extend(poses) or np.full(
        (len(poses), len(self.ids), 4), -19.0))
    for _ in range(40):
        sense.look(picture, {first: poses[first]})
    assert len(asked) == 40
    table = replace(sense.limits, tries=3 * len(others))
    sense.limits = table  # so many as the first tile and all but one of the others are worth
    for _ in range(9):
        sense.look(picture, {at: poses[at] for at in others})
    assert len(asked) < 40 + 9 * len(others)
    given_up = len(asked)
    sense.look(picture, poses)
    assert len(asked) == given_up
    other = TileSense(KINDS, taught(base_set(), [k.id for k in KINDS]))
    other.limits = sense.limits
    monkeypatch.setattr(PictureFit, "fits", lambda self, *given: asked.append(1) or fits(self, *given))
    for n in range(12):
        found = other.look(picture, poses)
        assert all("pictures" in e.sources for e in found.values()), n  # one has matched: all are asked, for good


def test_somebody_must_say_what_may_lie_on_the_table():
    with pytest.raises(ValueError, match="no kind of tile"):
        TileSense([])
