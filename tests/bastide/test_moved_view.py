"""A moved view is detected within ten seconds, and either re-registered or reported, by watcher and drift together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "watching"))

from films import SIZE, TILE_PX, Film, cloth, lay  # noqa: E402

from bastide.watching.view_monitor import TILE_MM, ViewMonitor  # noqa: E402
from scoring.events import TilePlaced  # noqa: E402
from scoring.tiles import Square  # noqa: E402
from vision.frames import Frame  # noqa: E402
from vision.lattice import UNIT, apply  # noqa: E402
from vision.registration import Register  # noqa: E402

PX = TILE_PX / TILE_MM  # per mm
TILES = (("base.U", (0, 1), 0), ("base.V", (1, 0), 0), ("base.D", (-1, 0), 2), ("base.E", (0, -1), 2))


class Table:
    """A film whose frames go to the watcher and the drift detection, as in the table's loop."""

    def __init__(self) -> None:
        self.film = Film()
        self.view_monitor = ViewMonitor()
        self.notices: list[str] = []
        self.image = lay(cloth(), "base.D", (0, 0))
        for tile, at, rot in TILES:
            self.image = lay(self.image, tile, at, rot)
        self.show(self.image, 6)
        self.before = {at: apply(pose, UNIT) for at, pose in self.film.watcher.poses.items()}
        assert len(self.before) == 5

    def show(self, image: np.ndarray, seconds: float) -> None:
        for _ in range(round(seconds * self.film.fps)):
            self.film.feed(image, 1 / self.film.fps)
            frame = Frame(id=self.film.n, t_s=self.film.t_s, source="test", bgr=image)
            self.view_monitor.look(frame, self.film.watcher.poses, calm=self.film.status == "watching")
            if self.view_monitor.notice:
                self.notices.append(self.view_monitor.notice.text)

    def laid(self) -> set[Square]:
        """The squares on which tiles were laid, as the log says."""
        return {e.at for e in self.film.events if isinstance(e, TilePlaced)}

    def moved_mm(self) -> float:
        """How far the watcher believes the tiles to have moved."""
        now = self.film.watcher.poses
        return float(np.median([np.linalg.norm(apply(now[at], UNIT) - was, axis=1) for at, was in
                                self.before.items()])) / PX


@pytest.fixture
def table() -> Iterator[Table]:
    made = Table()
    yield made
    made.film.close()


def shifted(image: np.ndarray, x_mm: float, y_mm: float) -> np.ndarray:
    return cv2.warpAffine(image, np.array([[1.0, 0, x_mm * PX], [0, 1.0, y_mm * PX]]), SIZE,
                          borderMode=cv2.BORDER_REPLICATE)


@pytest.mark.parametrize("step_mm", [(3.0, 0.0), (-17.0, 17.0)])
def test_a_bump_is_followed_within_ten_seconds_and_nobody_is_bothered(table: Table, step_mm: tuple[float, float],
                                                                     ) -> None:
    table.show(shifted(table.image, *step_mm), 10)
    assert table.moved_mm() == pytest.approx(np.hypot(*step_mm), abs=1.0)
    assert table.view_monitor.notice is None and table.laid() <= {at for _, at, _ in TILES}


def test_a_board_that_left_the_picture_is_missed_until_it_is_back(table: Table) -> None:
    table.show(shifted(table.image, 330.0, 0.0), 15)
    assert table.film.status == "adrift"
    table.show(table.image, 8)
    assert table.view_monitor.notice is None and table.film.status == "watching" and table.moved_mm() < 1.0
    assert table.laid() <= {at for _, at, _ in TILES}


def test_what_is_not_found_again_is_to_be_put_back_by_so_much(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of tiles whose print is too plain to follow."""
    monkeypatch.setattr(Register, "find", lambda *_: None)
    table.film.watcher.tracker.search.find = lambda bgr: None
    table.show(shifted(table.image, 60.0, 0.0), 10)
    assert table.view_monitor.notice is not None and "60 mm to the left" in table.view_monitor.notice.text
    table.show(table.image, 6)
    assert table.view_monitor.notice is None and table.film.status == "watching" and table.moved_mm() < 1.0


def test_another_light_is_no_movement(table: Table) -> None:
    table.show((table.image * 0.7).astype(np.uint8), 10)
    assert not table.notices and table.film.status == "watching" and table.moved_mm() < 1.0
