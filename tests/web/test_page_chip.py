"""The camera's chip lies on the board of a screen held upright: no tile lies under it, and it covers no switch."""

from __future__ import annotations

import pytest
from pageviews import drawn, picture
from screens import NOTICE

pytest.importorskip("playwright.sync_api")

LONG = {**NOTICE, "parts": {**NOTICE["parts"], "player": "Maximiliane-Friederike von Hohenstein"}}
LONGER = """() => {
    const chip = document.querySelector("#status .chip"), box = chip.getBoundingClientRect();
    const over = [...document.querySelectorAll("#tools button, .zoom button")].some((el) => {
        const r = el.getBoundingClientRect();
        return r.width && r.left < box.right && r.right > box.left && r.top < box.bottom && r.bottom > box.top;
    });
    return over || chip.scrollWidth > chip.clientWidth + 1 || box.height < 44; }"""
UNDER = """() => {
    const chip = document.querySelector("#status .chip").getBoundingClientRect();
    return [...document.querySelectorAll(".tiles .tile use")].filter((el) => {
        const r = el.getBoundingClientRect();
        return r.left + 3 < chip.right && r.right - 3 > chip.left && r.top + 3 < chip.bottom && r.bottom - 3 > chip.top;
    }).length; }"""


SIZES = [(390, 844), (390, 664), (360, 640), (320, 568)]


@pytest.mark.parametrize("tiles", [2, 5, 12, 30, 60])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "fr-FR"])
def test_no_tile_lies_under_the_chip_while_a_long_notice_is_shown(serve, visit, locale, tiles):
    session, server = serve(tiles)
    page = visit(server.url, 390, 844, locale=locale)
    session.set_notices([LONG], {})
    page.locator("#issues:not([hidden])").wait_for()
    covered = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for chip in ("watching", "hand", "reading", "out_of_step"):  # of different widths
            session.set_status(chip)
            page.locator(f"#status .chip.{chip}").wait_for()
            drawn(page)
            picture(page, f"chip-{locale[:2]}-{tiles}-{chip}-{width}")
            if page.evaluate(UNDER) or page.evaluate(LONGER):
                covered.append((width, height, chip))
    assert not covered
