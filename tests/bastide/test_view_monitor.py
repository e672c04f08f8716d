"""People are asked to restore the view only if the watcher could not re-register."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from bastide.watching.view_monitor import ViewMonitor
from vision.frames import Frame, Image

POSE = np.array([[60.0, 0, 400], [0, 60.0, 250], [0, 0, 1]])


@pytest.fixture
def table() -> Image:
    rng = np.random.default_rng(2)
    rough = cv2.resize(rng.normal(0, 30, (72, 128, 3)).astype(np.float32), (1024, 576), interpolation=cv2.INTER_CUBIC)
    return np.clip(120 + rough, 0, 255).astype(np.uint8)


def pushed(picture: Image, x: float, y: float) -> Image:
    return np.asarray(cv2.warpAffine(picture, np.array([[1.0, 0, x], [0, 1.0, y]]), (1024, 576),
                                     borderMode=cv2.BORDER_REFLECT), np.uint8)


def looks(view_monitor: ViewMonitor, picture: Image, poses: dict[tuple[int, int], np.ndarray], begin: float) -> None:
    for n in range(4):
        view_monitor.look(Frame(id=n, t_s=begin + 2 * n, source="", bgr=picture), poses)


def test_a_table_that_moved_alone_is_to_be_put_back_and_then_all_is_well(table: Image) -> None:
    view_monitor = ViewMonitor()
    looks(view_monitor, table, {}, 0)
    looks(view_monitor, table, {(0, 0): POSE}, 10)
    assert view_monitor.notice is None
    looks(view_monitor, pushed(table, 20, 0), {(0, 0): POSE}, 20)  # 60 px are 45 mm
    assert view_monitor.notice is not None and "15 mm to the left" in view_monitor.notice.text
    looks(view_monitor, pushed(table, 0, 0.5), {(0, 0): POSE}, 30)
    assert view_monitor.notice is None


def test_a_board_re_registered_by_the_watcher_is_not_reported(table: Image) -> None:
    view_monitor = ViewMonitor()
    looks(view_monitor, table, {(0, 0): POSE}, 0)
    moved = np.array([[1, 0, 20], [0, 1, -9], [0, 0, 1.0]]) @ POSE
    looks(view_monitor, pushed(table, 20, -9), {(0, 0): moved, (1, 0): POSE}, 10)
    assert view_monitor.notice is None
    looks(view_monitor, table, {(0, 0): moved}, 20)
    assert view_monitor.notice is not None, "and the view since then is the one to keep"


def test_another_light_is_no_notice(table: Image) -> None:
    view_monitor = ViewMonitor()
    looks(view_monitor, table, {(0, 0): POSE}, 0)
    looks(view_monitor, (table * 0.6).astype(np.uint8), {(0, 0): POSE}, 10)
    assert view_monitor.notice is None


def test_the_drift_is_measured_more_often_while_somebody_pushes(table: Image) -> None:
    view_monitor = ViewMonitor()
    looks(view_monitor, table, {(0, 0): POSE}, 0)
    first = view_monitor.compared()
    assert first is not None and first[2] is not None and first[2].verdict == "same"
    moved = Frame(id=9, t_s=9.0, source="", bgr=pushed(table, 20, 0))  # the last look was at 6 s
    view_monitor.look(moved, {(0, 0): POSE}, live=True)
    nearer = Frame(id=10, t_s=10.0, source="", bgr=pushed(table, 8, 0))
    view_monitor.look(nearer, {(0, 0): POSE})
    told = view_monitor.compared()
    assert told is not None and told[2] is not None and told[2].shift_mm[0] == pytest.approx(15.0, abs=0.5)
    view_monitor.look(nearer, {(0, 0): POSE}, live=True)
    told = view_monitor.compared()
    assert told is not None and told[2] is not None and told[2].shift_mm[0] == pytest.approx(6.0, abs=0.5)
    assert told[0] == first[0], "it is still the view of before that is compared with"
    edges = told[1].edges()
    assert edges.shape == (432, 768, 4) and 0.005 < (edges[..., 3] > 0).mean() < 0.5
    view_monitor.look(Frame(id=11, t_s=12.0, source="", bgr=np.full_like(table, 90)), {(0, 0): POSE}, live=True)
    lost = view_monitor.compared()
    assert lost is not None and lost[2] is None, "a picture that shows nothing says nothing"
