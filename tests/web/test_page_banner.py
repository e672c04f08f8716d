"""The banner: the machine's health, the guide's step; and updates from a file."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from pageviews import LIVE, picture, until
from readers import LOCALES, READERS, faults
from test_page_access import violations
from webtable import table

from bastide.log.store import Store
from bastide.machine.findings import line
from web.app import create_app
from web.protocol import CommandError
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
LOW = line("power", "fail", "power.low", "supply")
LIGHT = line("light", "warn", "light.changed", "balance")


class Updates:
    """A fake that answers at once like the real one (tests/hardware/test_update.py), and records the requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.bytes = b""
        self.signed = self.plays = False
        self.offer: dict[str, object] | None = None
        self.last: dict[str, object] | None = None
        self.steps: list[str] = []

    def state(self) -> dict[str, object]:
        if self.steps:
            step = self.steps.pop(0)
            self.last = {"id": "5f1c", "at_s": 1_790_000_000.0, "step": step, "code": None, "text": "0.2.0 runs now",
                         "result": "updated" if step == "ended" else None, "from": "0.1.0", "to": "0.2.0"}
        busy = self.last is not None and self.last["step"] != "ended"
        return {"possible": True, "version": "0.1.0", "before": "0.0.9", "game_runs": self.plays, "most": 500_000_000,
                "upload": len(self.bytes), "busy": busy, "offer": self.offer, "last": self.last}

    def piece(self, at: int, data: bytes) -> dict[str, object]:
        self.bytes = self.bytes[:at] + data
        return self.state()

    def look(self) -> dict[str, object]:
        if not self.signed:
            raise CommandError("not_signed", "no signature of the release key is on this file")
        self.offer = {"version": "0.2.0", "bytes": len(self.bytes), "changes": "- Watching is faster\n- Two new paints"}
        return self.state()

    def install(self) -> dict[str, object]:
        self.asked.append("install")
        self.offer, self.steps = None, ["checking", "testing", "ended"]
        return self.state()

    def back(self) -> dict[str, object]:
        self.asked.append("back")
        return self.state()

    def forget(self) -> dict[str, object]:
        self.offer = None
        return self.state()


@pytest.fixture
def served(tmp_path):
    told, updates = {"lines": [asdict(LOW), asdict(LIGHT)]}, Updates()
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 6)
        with PageServer(create_app(session, pulse=lambda: told, updates=updates), port=0) as server:
            yield session, server, told, updates


@pytest.mark.parametrize(("language", "size"), READERS)
def test_what_is_wrong_with_the_machine_stands_above_the_board(served, visit, language, size):
    session, server, told, _ = served
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    banner = page.locator("#banner")
    expect(banner).to_contain_text({"en": "The voltage is too low now", "de": "Spannung", "fr": "tension"}[language])
    until(page, "document.querySelector('main').getBoundingClientRect().bottom <= innerHeight + 1")
    picture(page, f"banner-{language}")
    assert not faults(page, language)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.locator("[data-key='banner-hide']").click()
    page.locator("[data-key='banner-balance']").wait_for()
    measured = []
    session.seeing.balance, session.seeing.relit = lambda: measured.append(1), True
    with session.seeing.attached():
        told["lines"] = []
        page.locator("[data-key='banner-balance']").click()
        expect(banner).to_be_hidden()
    assert measured == [1] and not session.seeing.relit


def test_an_update_is_refused_offered_installed_and_told(served, visit):
    _, server, _, updates = served
    page = visit(server.url, 390, 844)
    LIVE["aim"](page)
    page.locator("[data-key='machine-updates']").click()
    file = {"name": "bastide.deb", "mimeType": "application/x-debian-package", "buffer": b"x" * 120_000}
    page.locator("#update-file").set_input_files(file)
    expect(page.locator("#machine .outcome.bad")).to_contain_text("not signed by anybody this table trusts")
    updates.signed = updates.plays = True
    page.locator("#update-file").set_input_files(file)
    expect(page.locator(".outcome.good")).to_contain_text("Two new paints")
    assert updates.bytes == file["buffer"]
    assert page.locator(".outcome.good > .symbol").bounding_box()["width"] == 24, "a sign that can be seen"
    expect(page.locator("[data-key='update-install']")).to_be_disabled()
    expect(page.locator("#machine .warn")).to_contain_text("A game is being played")
    updates.plays = False
    page.locator("[data-key='machine-updates']").click()
    picture(page, "updates-phone")
    assert not violations(page)
    page.locator("[data-key='update-install']").click()
    expect(page.locator("#machine .outcome.good")).to_contain_text("Updated from 0.1.0 to 0.2.0")
    assert updates.asked == ["install"]
