"""Lessons: right ones are kept, a mislabelled one is detected and dropped."""

from __future__ import annotations

import random
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_set

from scoring.tiles import product
from vision.lessons import FEWEST, Lesson, distinct, learned_tileset, upright, vet
from vision.tileset import TileSet, drawn_tileset, load_tileset

KINDS = tuple(t.id for t in product("base").tiles)
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "tiles"


def lessons_of(tileset: TileSet) -> list[Lesson]:
    return [Lesson(tile=s.tile, bgr=s.bgr, origin=f"lesson {n}") for n, s in enumerate(tileset.specimens)]


def sets() -> list[object]:
    out: list[object] = [pytest.param(base_set, id="drawn"),
                         pytest.param(lambda: drawn_tileset(KINDS, variants=2), id="drawn, two copies")]
    for name in ("c1", "new"):
        skip = pytest.mark.skipif(not (SHARED / name).is_dir(), reason="../shared/tiles is not here")
        out.append(pytest.param(lambda name=name: load_tileset(SHARED / name), id=name, marks=skip))
    return out


@pytest.mark.parametrize("make", sets())
def test_a_wrong_name_is_noticed_and_takes_no_right_lesson_with_it(make: object) -> None:
    lessons = lessons_of(make())  # type: ignore[operator]
    kept, refused = vet(lessons)
    assert (len(kept), refused) == (len(lessons), ())
    rng = random.Random(7)
    missed = 0
    for _ in range(12):
        n = rng.randrange(len(lessons))
        wrong = rng.choice([t for t in KINDS if t != lessons[n].tile])
        poisoned = Lesson(tile=wrong, bgr=np.ascontiguousarray(np.rot90(lessons[n].bgr, rng.randrange(4))))
        kept, refused = vet([*lessons[:n], poisoned, *lessons[n + 1:]])
        missed += not any(r.lesson is poisoned for r in refused)
        assert all(r.lesson is poisoned for r in refused)
    assert missed <= 1  # a lone pennant against its lone twin cannot be told by pictures


def test_a_turned_picture_is_noticed() -> None:
    lessons = lessons_of(base_set())
    n = next(n for n, lesson in enumerate(lessons) if lesson.tile == "base.D")
    lessons[n] = Lesson(tile="base.D", bgr=np.ascontiguousarray(np.rot90(lessons[n].bgr)))
    assert [(r.lesson.tile, r.why) for r in vet(lessons)[1]] == [("base.D", "sides")]


def test_a_blurred_picture_teaches_nothing() -> None:
    lessons = lessons_of(base_set())
    lessons[5] = Lesson(tile=lessons[5].tile, bgr=cv2.GaussianBlur(lessons[5].bgr, (0, 0), 9))
    assert [(r.lesson is lessons[5], r.why) for r in vet(lessons)[1]] == [(True, "blurred")]


def test_few_lessons_are_no_tile_set() -> None:
    lessons = lessons_of(base_set())
    assert learned_tileset("few", lessons[:FEWEST - 1]) is None
    enough = learned_tileset("enough", lessons[:FEWEST])
    assert enough is not None and len(enough.specimens) == FEWEST and not enough.drawn


def test_the_same_drawing_is_kept_once_and_others_up_to_the_box() -> None:
    two = lessons_of(drawn_tileset(["base.U"], variants=2))
    assert len(distinct([two[0], two[0], two[0]], most={})) == 1
    other = Lesson(tile="base.U", bgr=255 - two[0].bgr)
    assert len(distinct([two[0], other], most={"base.U": 2})) == 2
    newest = distinct([two[0], other], most={"base.U": 1})
    assert newest == (other,)


def test_upright_undoes_the_turn() -> None:
    lying = drawn_tileset(["base.D"]).specimens[0].bgr
    photo = np.zeros((400, 400, 3), np.uint8)
    photo[50:242, 60:252] = np.rot90(lying, -1)
    pose = np.array([[192.0, 0, 59.5], [0, 192.0, 49.5], [0, 0, 1]])
    assert np.abs(upright(photo, pose, 1).astype(int) - lying).mean() < 6
