"""What figures occlude: a road that nobody sees is none for sure, whatever the network says."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.tiles import catalogue
from vision.lattice import UNIT
from vision.looks import CELLS
from vision.occlusion import Unseen, occluded, unseen
from vision.senses import TileEvidence, TileSense, log_normal
from vision.structure import LETTERS, StructureEstimate, truth_of

SOUTH = 2


def kinds(*ids):
    return [catalogue()[tile] for tile in ids]


def figure(x, y, half=0.17):
    """(CELLS, CELLS) mask of a figure around that point of the tile."""
    middles = (np.arange(CELLS) + 0.5) / CELLS
    return (np.abs(middles[:, None] - y) < half) & (np.abs(middles[None, :] - x) < half)


def seen(tile, *, sure=6.0):
    """What the network says of a tile at rot 0 that it is sure of."""
    true = truth_of(tile, 0)
    sides = np.full((1, 4, len(LETTERS)), -sure)
    for side, letter in enumerate(true[:4]):
        sides[0, side, letter] = 0.0
    marks = np.array([true[4:]])
    return StructureEstimate(sides=sides, yes=np.where(marks == 1, 0.0, -sure), no=np.where(marks == 1, -sure, 0.0),
                             present=np.ones(1), corners=UNIT[None])


def told(read, mask, *ids):
    """By tile the log-likelihood at rot 0 once a figure is known to be at ``mask`` on what was read as ``read``."""
    sense = TileSense(kinds(*ids))
    said = seen(catalogue()[read])
    own = log_normal(said.loglik(sense.kinds)[0])
    evidence = TileEvidence(pose=np.eye(3), there=7.0, loglik=own, seen=1.0, sources={"network": own}, structure=said)
    sense.look_past(np.zeros((8, 8, 3), np.uint8), {(0, 0): evidence}, {(0, 0): mask})
    assert np.exp(evidence.loglik).sum() == pytest.approx(1.0)
    return dict(zip(ids, evidence.loglik[:, 0].tolist(), strict=True))


def test_a_road_may_be_below_a_follower_and_a_field_too():
    for read in ("base.R", "base.T"):
        after = told(read, figure(0.5, 0.86), "base.R", "base.T", "base.N")
        assert after["base.R"] == pytest.approx(after["base.T"], abs=0.01)
        assert after["base.R"] > after["base.N"] + 4.0  # whose town ends at another side


@pytest.mark.parametrize("mask", [figure(0.5, 0.45), figure(0.68, 0.86)], ids=["above", "beside"])
def test_a_road_in_view_is_one(mask):
    after = told("base.T", mask, "base.R", "base.T")
    assert after["base.T"] > after["base.R"] + 4.0


def test_a_tile_gains_as_much_that_has_no_counterpart_with_a_road():
    """The network does not see goods: it cannot prefer the tile with goods because there is one with goods and a
    road."""
    after = told("traders.18", figure(0.5, 0.86, 0.2), "base.G", "traders.15", "traders.18")
    assert after["base.G"] == pytest.approx(after["traders.15"], abs=0.01)
    assert after["traders.18"] == pytest.approx(after["traders.15"], abs=0.01)


def test_the_longer_a_road_the_more_of_it_must_be_occluded():
    curve, straight = (catalogue()["base.V"], 0), (catalogue()["base.U"], 0)
    assert occluded(figure(0.5, 0.86), curve, straight) < 0.5
    assert occluded(np.ones((CELLS, CELLS), bool), curve, straight) == 1.0
    assert occluded(np.ones((CELLS, CELLS), bool), straight, straight) == 0.0


def test_a_pennant_in_view_still_tells_two_tiles_apart():
    with_pennant, without = kinds("base.Q", "base.T")
    assert occluded(np.ones((CELLS, CELLS), bool), (with_pennant, 0), (without, 0)) == 0.0


def test_a_cloister_may_be_below_a_monk():
    mask = figure(0.5, 0.4)
    assert occluded(mask, (catalogue()["base.R"], 0), (catalogue()["dragon.13"], 0)) > 0.85
    for read in ("base.R", "dragon.13"):
        after = told(read, mask, "base.R", "dragon.13", "base.N")
        assert after["base.R"] == pytest.approx(after["dragon.13"], abs=0.01)
        assert after["base.R"] > after["base.N"] + 4.0


def test_what_signs_and_pictures_say_stays():
    """Only the network's word is taken back."""
    sense = TileSense(kinds("base.R", "base.T"))
    said = seen(catalogue()["base.T"])
    own = log_normal(said.loglik(sense.kinds)[0])
    other = np.array([[0.0] * 4, [-3.0] * 4])
    evidence = TileEvidence(pose=np.eye(3), there=7.0, loglik=log_normal(own + other), seen=1.0, structure=said,
                            sources={"network": own, "signs": other})
    sense.look_past(np.zeros((8, 8, 3), np.uint8), {(0, 0): evidence}, {(0, 0): figure(0.5, 0.86)})
    assert evidence.loglik[0, 0] - evidence.loglik[1, 0] == pytest.approx(3.0, abs=0.01)


def test_joined_towns_and_the_share_of_either_letter_stay():
    said = seen(catalogue()["base.T"])
    after = said.without([SOUTH], cloister=False)
    assert (after.yes[:, :6] == said.yes[:, :6]).all() and (after.yes[:, 18:] == said.yes[:, 18:]).all()
    either = [LETTERS.index("R"), LETTERS.index("F")]
    assert np.exp(after.sides[0, SOUTH, either]).sum() == pytest.approx(np.exp(said.sides[0, SOUTH, either]).sum())


def test_only_what_is_below_a_figure_is_open():
    own = np.zeros((2, 4))
    own[1, 0] = 5.0
    assert unseen(own, kinds("base.R", "base.T"), figure(0.5, 0.86)) == Unseen(sides=(SOUTH,))
    assert not unseen(own, kinds("base.R", "base.T"), figure(0.5, 0.4))
    assert not unseen(own, kinds("base.B", "base.T"), figure(0.5, 0.86))
