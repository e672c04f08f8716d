"""Lens distortion is reported while a game is watched: after two consistent estimates, and not for a calibrated
lens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from test_table_loop import Camera, Watcher

from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.watching.following import follow
from bastide.watching.lens_notice import CODE, LensNotice
from reading.watcher import Observation
from scoring.log import LogEntry
from scoring.tiles import Square
from vision.frames import Frame
from vision.lattice import UNIT, Array

SIZE = (1600, 1200)
FRAME = Frame(id=1, t_s=1.0, source="test",
              bgr=np.random.default_rng(1).integers(40, 200, (SIZE[1], SIZE[0], 3), np.uint8))


def lying(count: int, k1: float, seed: int = 1) -> dict[Square, Array]:
    """Poses of tiles, laid by hand column by column, as a lens with OpenCV's ``k1`` shows them."""
    rng = np.random.default_rng(seed)
    focal, middle = 0.75 * SIZE[0], (np.array(SIZE) - 1) / 2
    matrix = np.array([[focal, 0, middle[0]], [0, focal, middle[1]], [0, 0, 1]])
    out = {}
    for n in range(count):
        at = (n // 7, n % 7)
        flat = (UNIT + at + rng.normal(0, 0.02, 2)) * 155 + (30, 50)
        rays = np.column_stack([(flat - middle) / focal, np.ones(4)])
        bent, _ = cv2.projectPoints(rays[:, None], np.zeros(3), np.zeros(3), matrix, np.array([k1, 0, 0, 0, 0.0]))
        out[at] = cv2.getPerspectiveTransform(UNIT.astype(np.float32), bent[:, 0].astype(np.float32)).astype(float)
    return out


def test_the_lens_is_told_once_two_judgements_say_so() -> None:
    notice = LensNotice(lambda: False)
    notice.look(FRAME, lying(11, -0.2))
    notice.look(FRAME, lying(56, -0.2))
    assert notice.rows() == []
    for _ in range(3):
        notice.look(FRAME, lying(56, -0.2))  # nothing came since
    assert notice.rows() == []
    notice.look(FRAME, lying(63, -0.2))
    (row,) = notice.rows()
    assert row["code"] == CODE and row["parts"]["straight"] < row["parts"]["now"] and "calibrate lens" in row["text"]
    for count in (69, 75):  # the board has been straight since: another camera, say
        notice.look(FRAME, lying(count, 0.0))
    assert notice.rows() == []


def test_a_straight_lens_and_a_calibrated_one_are_not_told() -> None:
    straight, known = LensNotice(lambda: False), LensNotice(lambda: True)
    for count in (42, 56, 63):
        straight.look(FRAME, lying(count, 0.0))
        known.look(FRAME, lying(count, -0.2))
    assert straight.rows() == known.rows() == []


def test_it_is_withdrawn_when_the_lens_is_calibrated() -> None:
    calibrated = False
    notice = LensNotice(lambda: calibrated)
    for count in (56, 63):
        notice.look(FRAME, lying(count, -0.2))
    assert notice.rows()
    calibrated = True
    assert notice.rows() == []


def test_people_are_told_while_a_game_is_watched(tmp_path: Path) -> None:
    counts = [56, 63, 63]
    said = []

    class Growing(Watcher):
        def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation:
            self.poses = lying(counts.pop(0), -0.2)
            return Observation(status="watching", notices=())

    class Large(Camera):
        def read(self, timeout_s: float = 5.0) -> Frame | None:
            return FRAME if super().read(timeout_s) is not None else None

    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, demo_game(3, turns=4).setup)
        follow(Large(3), Growing(()), session, lens_known=lambda: False,  # type: ignore[arg-type]
               on_frame=lambda _: said.append([i["code"] for i in session.view()["issues"]]))
    assert said == [[], [CODE], [CODE]]
