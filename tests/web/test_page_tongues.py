"""German and French of what the server says: every line of the check-up, every status, every notice is shown once, and
none of the server's English sentences is to be seen."""

from __future__ import annotations

import numpy as np
import pytest
from pageviews import picture, until
from readers import untranslated
from test_page_access import violations
from webtable import table

from bastide.log.store import Store
from bastide.machine.findings import DO, TEXT, line
from bastide.watching.following import SAID
from bastide.watching.lens_notice import LensNotice
from bastide.watching.notices import rows
from calibration.drift import Drift, put_back
from reading.noticing import Notice
from vision.lens_distortion import Distortion
from web.app import create_app
from web.server import PageServer

LOCALE = {"de": "de-DE", "fr": "fr-FR"}
PARTS = {"path": "/srv/x", "why": "E5", "name": "f-7", "names": "a, b", "date": "2026-01-31", "port": "8000",
         "pairs": "red-blue", "version": "1.2", "picture": "usb", "kind": "table"}
NUMBERS = ("gb", "ms", "games", "entries", "mb", "n", "total", "degrees", "level", "sharp", "days", "px", "mm",
           "corner")


def report():
    """Every sentence that a check-up can hold."""
    parts = {**PARTS, **{k: 3 for k in NUMBERS}}
    whats = ("camera", "disk", "damaged files", "Pi camera", "calibration (table)", "calibration (colours)")
    lines = [line(whats[n % len(whats)], ("fail", "warn", "ok")[n % 3], code, todo, **parts)
             for n, (code, todo) in enumerate(zip(TEXT, [*DO, *[""] * (len(TEXT) - len(DO))], strict=True))]
    checks = [{"what": r.what, "state": r.state, "text": r.text, "do": r.do, "code": r.code, "todo": r.todo,
               "parts": r.parts} for r in lines]
    return {"state": "fail", "at_s": 1795260000.0, "checks": checks}


@pytest.fixture
def served(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 14)
        with PageServer(create_app(session, doctor=report), port=0) as server:
            yield session, server


def test_what_is_looked_for_is_found_where_it_is_said(served, visit):
    _, server = served
    page = visit(server.url)
    page.goto(server.url + "doctor")
    assert len(untranslated(page)) > 30


@pytest.mark.parametrize("language", LOCALE)
def test_the_check_up_and_everything_told_are_in_the_readers_language(served, visit, language):
    session, server = served
    page = visit(server.url, locale=LOCALE[language])
    left = []
    for code, text in [*SAID.items(), ("something.new", "a sentence that nobody has translated")]:
        session.set_status("camera_lost", text, code, {"why": "E5"})
        page.locator(f"#issues[data-code='{code}']").wait_for()
        left += [(code, piece) for piece in untranslated(page)]
        assert "nobody has translated" not in page.locator("#issues").inner_text()
    for shift, turn in (((20.0, -31.0), 1.4), ((-20.0, 31.0), -1.4), ((0.2, 0.1), 0.0)):
        advice = put_back(Drift(verdict="moved", shift_mm=shift, turn_deg=turn, furthest_mm=30.0, to_now=np.eye(3),
                                light=1.0))
        session.set_status("camera_lost", advice.text, advice.code, advice.parts)
        page.locator("#issues[data-code='drift.put_back']").wait_for()
        left += [(advice.text, piece) for piece in untranslated(page)]
    session.set_status("watching")
    lens = LensNotice(lambda: False)
    lens.bend = Distortion(k=-0.1, corner_px=90.0, now=0.09, straight=0.03)
    session.set_notices(lens.rows(), {})
    page.locator("#issues[data-code='lens_bends']").wait_for()
    left += [("lens_bends", piece) for piece in untranslated(page)]
    for code in ("take_back", "missing", "foreign", "out_of_step", "unread", "held", "held_more"):
        session.set_notices(*rows([Notice(code=code, at=None if code.startswith("held") else (0, 0), player=0, owner=1,
                                          feature="city", where="N")], session.setup.players))
        page.locator(f"#issues[data-code='{code}']").wait_for()
        left += [(code, piece) for piece in untranslated(page)]
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")
    page.goto(server.url + "doctor")
    until(page, f"document.documentElement.lang === '{language}' && document.title !== 'bastide: check-up'")
    assert page.locator("li").count() == len(TEXT)
    left += [("/doctor", piece) for piece in untranslated(page)]
    picture(page, f"doctor-{language}")
    assert not left and not violations(page)
