"""Teaching one's own tiles in a browser, in the first steps and later, against a camera that sees the sheet."""

from __future__ import annotations

import numpy as np
import pytest
from cameras_for_pages import Showing, watched
from drawings import base_pictures
from pageviews import LIVE, picture, until
from readers import LOCALES, faults
from sheets import photograph, teaching_sheet
from webtable import table

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.page_teaching import PageTeaching
from bastide.guide.guide import Guide
from bastide.log.store import Store
from bastide.tiles.art import ArtSets
from calibration.targets import teaching_pages
from vision.lessons import FEWEST
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
PAGE = teaching_pages()[0]
SEEN_MS = 60_000  # only for a sheet that is never seen


@pytest.fixture(scope="module")
def shown():
    """The sheet with one tile turned, as a camera sees it."""
    rng = np.random.default_rng(9)
    lying = {**base_pictures(), "base.K": np.ascontiguousarray(np.rot90(base_pictures()["base.K"]))}
    return photograph(teaching_sheet(PAGE, lying, rng), rng, size=(1280, 720))


@pytest.fixture
def served(tmp_path, shown):
    arts, camera = ArtSets(tmp_path, None), CalibratedCamera(Showing(shown), ())
    with Store(tmp_path / "t.sqlite") as store, watched(camera):
        session = table(store, 0)
        session.arts = arts
        teaching = PageTeaching(camera, arts.teaches, present=lambda: True,
                                wanted=lambda: tuple(arts.counts(session.setup.expansions)),
                                known=lambda: session.own_tiles()["tiles"])
        guide = Guide(tmp_path, {"tiles": lambda: len(session.own_tiles()["tiles"]) >= FEWEST})
        with PageServer(create_app(session, teaching=teaching, guide=guide), port=0) as server:
            yield session, server
        teaching.close()


@pytest.mark.parametrize(("language", "size"), [("fr", (390, 844))])  # the longest words on the smallest screen
def test_a_tile_that_lies_turned_is_mended_by_a_tap_and_the_set_is_kept(served, visit, language, size):
    session, server = served
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    page.locator("#begin [data-key='step-4']").click()  # a table that nobody has set up is led at once
    page.locator("#begin .teach-tile").nth(11).wait_for(timeout=SEEN_MS)
    doubtful = page.locator(".teach-tile.doubtful")
    expect(doubtful).to_have_count(1, timeout=SEEN_MS)
    until(page, "document.querySelector('#begin .aim-picture').naturalWidth > 0")
    picture(page, f"teach-{language}")
    doubtful.click()
    mend = page.locator(".teach-mend")
    expect(mend).to_be_in_viewport()
    picture(page, f"teach-mend-{language}")
    assert not faults(page, language, "teach")
    page.locator("[data-key='teach-turn']").click()
    expect(page.locator(".teach-tile.sure")).to_have_count(1)
    page.locator("[data-key='teach-right']").click()
    expect(mend).to_have_count(0)
    page.locator("[data-key='teach-keep']").click()
    expect(page.locator(".outcome.good")).to_be_in_viewport()
    assert len(session.own_tiles()["tiles"]) == 12
    picture(page, f"taught-{language}")
    expect(page.locator(".begin-learned")).to_contain_text("12")
    expect(page.locator("#begin [data-key='step-4'].is-done")).to_be_visible()
    page.keyboard.press("Escape")
    LIVE["aim"](page)  # and later: new tiles, from the machine's view
    page.locator("[data-key='machine-tiles']").click()
    page.locator("#machine [data-key='teach-again']").click()
    page.locator("#machine .teach-tile").first.wait_for(timeout=SEEN_MS)
    if language == "en":
        page.locator(".teach-tile").first.click()
        page.locator("[data-key='teach-other']").click()
        page.locator("[data-key='kind-base.W']").click()
        expect(page.locator(".teach-mend h4")).to_contain_text("This is")
        page.locator("[data-key='teach-leave']").click()
        picture(page, "teach-machine")
