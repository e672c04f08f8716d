"""Teaching on the page: tiles on the sheet are detected, doubted, corrected, stored as the owner's set, and used."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cameras_for_pages import Showing, until, watched
from drawings import base_pictures
from sheets import photograph, teaching_sheet

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.page_teaching import PageTeaching
from bastide.tiles.art import ArtSets
from bastide.tiles.tilebook import TileBook
from calibration.targets import teaching_pages
from scoring.events import Player, Setup
from scoring.rules import edition
from vision.frames import Image
from vision.images import encode_png
from vision.lessons import Lesson
from web.protocol import CommandError

PAGES = teaching_pages()[:2]
SETUP = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition())


@cache
def sheet(page: int, **other: str) -> Image:
    """A page with its tiles, in some cells others."""
    own = {c.tile: base_pictures()[other.get(c.tile.partition(".")[2], c.tile)] for c in PAGES[page].cells}
    if "K" in other:
        own["base.K"] = np.ascontiguousarray(np.rot90(base_pictures()["base.K"]))  # anticlockwise
    rng = np.random.default_rng(9)
    return photograph(teaching_sheet(PAGES[page], own, rng), rng, size=(1280, 720))


def teaching(camera: CalibratedCamera, arts: ArtSets, told: list[int], present: bool = True) -> PageTeaching:
    return PageTeaching(camera, arts.teaches, present=lambda: present, taught=lambda: told.append(1),
                        wanted=lambda: tuple(base_pictures()), known=lambda: {})


def test_what_lies_on_the_sheet_is_seen_doubted_mended_and_read_with(tmp_path: Path) -> None:
    shown, told, arts = Showing(sheet(0, K="base.K")), list[int](), ArtSets(tmp_path, None)
    camera = CalibratedCamera(shown, ())
    made = teaching(camera, arts, told)
    with pytest.raises(CommandError) as refused:
        made.keep()
    assert refused.value.code == "nothing_seen"
    with watched(camera):
        seen = until(made, lambda s: len(s["tiles"]) == 12 and any(t["doubt"] for t in s["tiles"]))
        assert [(p["page"], p["seen"], p["cells"]) for p in seen["pages"]] == [(1, 12, 12)]
        assert {t["cell"]: t["tile"] for t in seen["tiles"]} == {c.tile: c.tile for c in PAGES[0].cells}
        assert {t["cell"]: t["doubt"] for t in seen["tiles"] if t["doubt"]} == {"base.K": "sides"}
        assert made.picture(seen["picture"]) is not None
        assert all(made.picture(t["picture"]) for t in seen["tiles"]) and made.picture(10_000_000) is None
        with pytest.raises(CommandError):
            made.say("base.K", "base.K", 4)
        with pytest.raises(CommandError):
            made.say("traders.01", "base.K", 0)
        made.say("base.K", "base.K", 1)
        shown.picture = sheet(1)
        until(made, lambda s: len(s["tiles"]) == 24)
        made.leave_out("base.X")
        kept = until(made, lambda s: len(s["tiles"]) == 23 and not any(t["doubt"] for t in s["tiles"]))
        assert next(t for t in kept["tiles"] if t["cell"] == "base.K")["sure"]
        before = made.keep()
        again = until(made, lambda s: s["picture"] > before["picture"] + 4)
        outcome = again["outcome"]
        assert not again["tiles"], "what was kept and lies there still is not offered again"
    made.close()
    assert outcome is not None and outcome["missing"] == ["base.X"] and not outcome["refused"] and told == [1]
    assert len(outcome["taught"]) == 23 and made.state()["tiles"] == []
    # It is the usual set from now on, also beside what was learned under the same name, and reads what it was taught.
    found = arts.base("", SETUP)
    assert len(found.specimens) == 23 and arts.usual == "own"
    assert [(row["name"], row["kind"], row["pictures"]) for row in arts.listed()][1] == ("own", "taught", 23)
    learned = next(s.bgr for s in found.specimens if s.tile == "base.K").astype(float)
    other = base_pictures()["base.K"].astype(float)
    right, wrong = (np.corrcoef(np.rot90(learned, n).ravel(), other.ravel())[0, 1] for n in (0, 1))
    assert right > 0.6 > wrong, "it was kept as somebody turned it"


def test_another_tile_in_a_cell_takes_the_place_of_what_was_said_of_the_first(tmp_path: Path) -> None:
    shown, arts = Showing(sheet(0)), ArtSets(tmp_path, None)
    camera = CalibratedCamera(shown, ())
    made = teaching(camera, arts, [])
    with watched(camera):
        until(made, lambda s: len(s["tiles"]) == 12)
        made.say("base.D", "base.W", 0)
        shown.picture = np.full_like(sheet(0), 90)  # a hand, an arm: nothing is forgotten
        assert until(made, lambda s: not s["pages"])["tiles"]
        shown.picture = sheet(0)
        until(made, lambda s: s["pages"])
        assert next(t for t in made.state()["tiles"] if t["cell"] == "base.D")["tile"] == "base.W"
        shown.picture = sheet(0, D="base.C")
        until(made, lambda s: next(t for t in s["tiles"] if t["cell"] == "base.D")["tile"] == "base.D")
        made.forget()
        until(made, lambda s: len(s["tiles"]) == 12)
    made.close()


def test_without_a_camera_nothing_is_looked_at(tmp_path: Path) -> None:
    made = teaching(CalibratedCamera(Showing(sheet(0)), ()), ArtSets(tmp_path, None), [], present=False)
    assert made.state()["camera"] is False and made.state()["tiles"] == []


def test_what_was_learned_under_the_name_stays_beside_what_is_taught(tmp_path: Path) -> None:
    arts = ArtSets(tmp_path, None)
    book = arts.book("")
    assert isinstance(book, TileBook)
    book.learn("game 1", [Lesson(tile=tile, bgr=bgr) for tile, bgr in base_pictures().items()][:12])
    assert arts.teaches() == tmp_path / "tiles" / "own-taught"
    arts.teaches().mkdir(parents=True)
    (arts.teaches() / "base.X.png").write_bytes(encode_png(base_pictures()["base.X"]))
    assert arts.taught("") == arts.teaches() and len(arts.listed()) == 3
    assert {s.tile for s in arts.tiles("", SETUP).specimens} >= {"base.X", *list(base_pictures())[:8]}
    elsewhere = ArtSets(tmp_path, str(arts.teaches()))
    assert elsewhere.teaches() == arts.teaches()
