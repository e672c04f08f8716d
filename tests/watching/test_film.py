"""Short films watched from frames to the log: disturbances of a table, and the resulting log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import cv2
import films
import numpy as np
import pytest
from films import SIZE, TILE_PX, Film, corner, lay

from scoring.events import FigurePlaced, TilePlaced
from vision.lattice import UNIT, apply


@pytest.fixture
def begin() -> Iterator[Callable[..., Film]]:
    made: list[Film] = []

    def film(**options: float) -> Film:
        made.append(Film(**options))  # type: ignore[arg-type]
        return made[-1]

    yield film
    for one in made:
        one.close()


def shifted(image: films.Picture, x: int, y: int) -> films.Picture:
    matrix = np.array([[1.0, 0, x], [0, 1.0, y]])
    return np.asarray(cv2.warpAffine(image, matrix, SIZE, borderMode=cv2.BORDER_REFLECT), np.uint8)


def off(film: Film, step_px: tuple[int, int] = (0, 0), scale: float = 1.0) -> float:
    """Largest error of the tiles' corners, in tiles."""
    far = [np.abs(apply(pose, UNIT) - scale * (UNIT * TILE_PX + corner(at) + step_px)).max()
           for at, pose in film.watcher.poses.items()]
    return float(max(far)) / TILE_PX / scale


def tiles(film: Film) -> list[tuple[str, tuple[int, int], int, int]]:
    return [(e.tile, e.at, e.rot, e.player) for e in film.events if isinstance(e, TilePlaced)]


def test_a_table_through_an_evening(begin: Callable[..., Film]) -> None:
    """One film, since each of its pictures costs a look: bumps, lamps, a resized picture and a board out of sight."""
    film = begin()
    image = lay(lay(films.cloth(), "base.D", (0, 0)), "base.U", (0, 1))
    film.feed(image, 4)
    # a tile is turned while its turn is open
    film.feed(lay(image, "base.D", (1, 0), 0), 2)
    image = lay(image, "base.D", (1, 0), 2)
    film.feed(image, 6)
    # two tiles come at once
    image = lay(lay(image, "base.E", (0, -1), 2), "base.D", (-1, 0), 2)
    film.feed(image, 5)
    assert off(film) < 0.06 and len(film.watcher.poses) == 5
    # the camera is bumped, then a lamp is switched: nothing was laid
    before = tiles(film)
    after = shifted(image, 34, 8)
    film.feed(after, 4)
    assert off(film, (34, 8)) < 0.06 and film.status == "watching"
    dim = (after * 0.6).astype(np.uint8)
    film.feed(dim, 3)
    assert off(film, (34, 8)) < 0.06 and len(film.watcher.poses) == 5
    # pictures of another size show the same game
    small = cv2.resize(dim, None, fx=0.75, fy=0.75, interpolation=cv2.INTER_AREA)
    film.feed(small, 3)
    assert off(film, (34, 8), 0.75) < 0.08 and set(tiles(film)) >= set(before)
    # the board is taken away, is missed, and comes back
    away = np.asarray(cv2.resize(films.cloth(9), (small.shape[1], small.shape[0])), np.uint8)
    film.feed(away, 12)
    assert film.status == "adrift"
    film.feed(small, 6)
    assert film.status == "watching" and off(film, (34, 8), 0.75) < 0.08
    film.end()
    laid = tiles(film)
    assert {(tile, at, rot) for tile, at, rot, _ in laid} == {
        ("base.U", (0, 1), 0), ("base.D", (1, 0), 2), ("base.E", (0, -1), 2), ("base.D", (-1, 0), 2)}
    assert [player for *_, player in laid] == [0, 1, 2, 0]
    assert not any(isinstance(e, FigurePlaced) for e in film.events)


@pytest.mark.parametrize("fps", [2.0, 15.0])
def test_the_log_is_the_same_at_every_rate(begin: Callable[..., Film], fps: float) -> None:
    film = begin(fps=fps)
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 3)
    for tile, at in (("base.U", (0, 1)), ("base.V", (1, 0))):
        image = lay(image, tile, at)
        film.feed(image, 4)
    film.end()
    assert tiles(film) == [("base.U", (0, 1), 0, 0), ("base.V", (1, 0), 0, 1)]


def test_where_no_board_is_seen_people_tap_the_tile(begin: Callable[..., Film]) -> None:
    film = begin(fps=2.0)
    film.watcher.tracker.search.find = lambda bgr: None  # as where it is too unlike any board
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 12)
    assert film.status == "searching"
    film.feed(image, 6)
    assert film.status == "no_board" and not film.watcher.poses
    x, y = corner((0, 0))
    film.watcher.point((x + 30.0, y + 40.0))
    film.feed(image, 2)
    assert film.status == "watching" and off(film) < 0.09
