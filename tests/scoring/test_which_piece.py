"""The rules' constraints on a detected figure: which pieces it may be, and whose turn comes next."""

from __future__ import annotations

import pytest
from test_figures import MEADOW, played

from scoring.engine import legal_figures, next_player

ROAD = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0", "tile 0 base.U 2,0 0")


def kinds(boxes: tuple[str, ...], *lines: str) -> dict[str, tuple[str, ...]]:
    """By kind of feature of the tile last laid: which pieces may stand there."""
    state = played(boxes, *lines).freeze()
    placed = state.tiles[state.last_tile]  # type: ignore[index]
    shape = state.box.shape(placed.tile, placed.rot)
    return {shape.kinds[n]: names for n, names in legal_figures(state).items()}


@pytest.mark.parametrize(("boxes", "road"), [
    ((), ()), (("inns",), ()), (("traders",), ("builder",)), (("inns", "traders"), ("builder",))])
def test_beside_an_own_follower_only_company_may_stand(boxes: tuple[str, ...], road: tuple[str, ...]) -> None:
    """R-DEPLOY-04, R-BUILD-01."""
    assert kinds(boxes, *ROAD).get("road", ()) == road


@pytest.mark.parametrize(("boxes", "on_free"), [
    ((), ("follower",)), (("inns",), ("follower", "large")), (("traders",), ("follower",)),
    (("inns", "traders"), ("follower", "large"))])
def test_on_what_is_free_any_follower_may_stand(boxes: tuple[str, ...], on_free: tuple[str, ...]) -> None:
    """R-DEPLOY-03, R-LARGE-01."""
    assert kinds(boxes, "tile 0 base.B 0,1 0") == {"cloister": on_free, "field": on_free}


def test_what_is_not_in_hand_may_stand_nowhere() -> None:
    """R-DEPLOY-01."""
    lines = ("tile 0 base.B 0,1 0", "deploy 0 large 0,1 cloister I", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0")
    assert kinds(("inns",), *lines)["cloister"] == ("follower",)


def test_on_an_own_farm_a_pig_may_stand() -> None:
    """R-PIG-01."""
    lines = ("tile 0 base.B 0,1 0", f"deploy 0 follower 0,1 {MEADOW}", "tile 1 base.U 1,0 0", "tile 0 base.B 0,2 0")
    assert kinds(("inns", "traders"), *lines) == {"cloister": ("follower", "large"), "field": ("pig",)}


def test_whoever_extends_an_own_builder_lays_the_next_tile_too() -> None:
    """R-BUILD-05, R-BUILD-06, R-TURN-07."""
    lines = (*ROAD, "deploy 0 builder 2,0 road E.W", "tile 1 base.B 0,2 0")
    assert next_player(played(("traders",), *lines)) == 0
    lines = (*lines, "tile 0 base.U 3,0 0")
    assert next_player(played(("traders",), *lines)) == 0
    assert next_player(played(("traders",), *lines, "end_turn")) == 0
    assert next_player(played(("traders",), *lines, "tile 0 base.U 4,0 0 part=2")) == 1
    assert next_player(played(("traders",), *lines, "tile 0 base.U 4,0 0 part=2", "end_turn")) == 1
