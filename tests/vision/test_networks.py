"""Networks outlive the games that they are used in: loading them anew for each one fragments the C heap."""

from __future__ import annotations

import gc

import cv2
import numpy as np
import pytest

from bastide.table.demo_game import demo_game
from bastide.watching.watcher import make_watcher
from vision import networks
from vision.structure import CROP_PX, StructureNet
from vision.tileset import TileSet

MODELS = {("structure", 0): 2, ("spots", 896): 1, ("spots", 448): 1, ("spots", 224): 1, ("spots", 112): 1}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[cv2.dnn.Net]:
    """Every network that is loaded, from none on."""
    found, load = list[cv2.dnn.Net](), cv2.dnn.readNetFromONNX

    def loading(model: np.ndarray) -> cv2.dnn.Net:
        found.append(load(model))
        return found[-1]

    gc.collect()  # owners of other tests give theirs back to the lists that are replaced now
    monkeypatch.setattr(networks, "_idle", type(networks._idle)(list))
    monkeypatch.setattr(cv2.dnn, "readNetFromONNX", loading)
    return found


def idle() -> dict[tuple[str, int], int]:
    return {kind: len(nets) for kind, nets in networks._idle.items() if nets}


def test_a_game_is_watched_with_the_networks_of_the_game_before(loads: list[cv2.dnn.Net]) -> None:
    setup = demo_game(5, turns=2).setup
    gc.disable()  # a watcher is in no cycle: it is gone when it is replaced
    try:
        for _ in range(3):
            watcher = make_watcher(TileSet.empty(), setup)
            assert len(loads) == sum(MODELS.values()) and idle() == {}
            del watcher
            assert idle() == MODELS
    finally:
        gc.enable()


def test_no_two_share_a_network(loads: list[cv2.dnn.Net]) -> None:
    one, two = StructureNet(), StructureNet()
    assert one._net is not two._net and len(loads) == 2
    del one
    third = StructureNet()
    assert third._net is not two._net and len(loads) == 2


def test_no_more_wait_than_a_watcher_needs(loads: list[cv2.dnn.Net]) -> None:
    many = [StructureNet() for _ in range(networks.MOST_IDLE + 2)]
    many.clear()
    assert idle() == {("structure", 0): networks.MOST_IDLE}


def test_what_a_network_was_asked_before_changes_no_answer(loads: list[cv2.dnn.Net]) -> None:
    rng = np.random.default_rng(3)
    asked, other = (rng.integers(0, 256, (n, CROP_PX, CROP_PX, 3), np.uint8) for n in (3, 6))
    fresh = StructureNet()
    expected = fresh.ask(asked)
    fresh.ask(other)
    del fresh
    said = StructureNet().ask(asked)
    assert len(loads) == 1
    assert all((getattr(said, part) == getattr(expected, part)).all() for part in ("sides", "yes", "no", "present"))
