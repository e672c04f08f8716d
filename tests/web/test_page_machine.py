"""The administrator's view, in a browser: aim, calibration, and their errors."""

from __future__ import annotations

import zipfile
from dataclasses import replace

import numpy as np
import pytest
from pageviews import LIVE, picture, until
from readers import LOCALES, READERS, faults
from servertexts import told
from test_page_access import violations
from webtable import table

from bastide.backup.backups import check_backup
from bastide.backup.page_backups import PageBackups
from bastide.log.store import Store
from bastide.table.seeing import Seeing
from calibration.aim import look
from calibration.apply import usual_lens
from vision.images import encode_jpeg
from web.access import Access
from web.app import create_app
from web.protocol import CommandError
from web.rights import Memory, hashed
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect

PICTURE = np.full((360, 640, 3), 118, np.uint8)
DISTANCES = {"blue-red": 62.1, "black-blue": 9.4, "red-yellow": 15.2}
TABLE = {"method": "cards", "rms_mm": 0.412, "worst_mm": 0.9, "worst_corner_mm": 2.31, "height_mm": 902.4,
         "tilt_deg": 1.93, "seconds": 1.24}
PARTS = {"across": 14.1, "down": 9.0, "cm": 31, "edge_px": 5.1, "tile_px": 31, "deg": 7.2, "level": 44, "tiles": 0.6,
         "count": 2, "names": "card 3, card 4", "mm": 6.2, "distance": 9.4, "n": 3, "a": "red", "b": "blue",
         "colour": "yellow", "colours": "red,grey", "least": 3}


def advice() -> list[dict[str, object]]:
    """Every message of the calibration package."""
    said = {**told("Advice", "calibration"), **told("CalibrationError", "calibration")}
    return [{"code": c, "text": text, "bad": n % 2 == 0,
             "parts": {**PARTS, "where": "left lamp" if c == "aim.glare" else "top"}}
            for n, (c, text) in enumerate(said.items()) if not c.startswith(("lens.", "drift."))]


class Tuning:
    """A fake that answers at once like the real one (tests/bastide/test_tuning.py), and records the requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.running: str | None = None
        self.outcome: dict[str, dict[str, object]] = {}
        self.used: list[dict[str, object]] = []
        self.said: list[dict[str, object]] = []

    def aim(self) -> dict[str, object]:
        found = look(PICTURE, usual_lens((640, 360))).to_json()
        return {"look": len(self.said), "aim": {**found, "advice": self.said or found["advice"], "tiles": [14.1, 9.0],
                                                "height_mm": 903.0, "tilt_deg": 7.2, "tile_px": 31.0}}

    def state(self) -> dict[str, object]:
        running, self.running = self.running, None
        if running:
            self.outcome[running] = {
                "table": {"ok": True, **TABLE, "advice": []},
                "colours": {"ok": True, "distances": DISTANCES, "confused": ["black-blue"], "advice": advice()[-8:]},
                "supply": {"ok": True, "colour": self.asked[-1][1], "paints": {self.asked[-1][1]: [30, 160, 150]},
                           "shapes": {self.asked[-1][1]: "disc"}, "confused": [], "followers": [{}] * 5, "advice": []},
                "trial": {"ok": True, "tiles": {"wanted": 3, "right": 2, "wrong": [
                    {"at": [1, 0], "tile": "base.L", "read": "base.W"}]}, "sure": 0.91, "extra": 0, "seconds": 1.2,
                    "figures": {"wanted": 1, "right": 1, "wrong": []}, "advice": advice()[-2:]},
            }[running] if self.asked[-1][1] != "tiles" else {"ok": False, "error": advice()[-9]}
            self.used = [] if running == "trial" else [
                {"kind": running, "made": "2026-11-21T18:00:00+00:00", "file": "data/x.json",
                 "here": True, **({"rms_mm": 0.41, "worst_corner_mm": 2.3} if running == "table" else
                    {"confused": ["black-blue"], "distances": DISTANCES})}]
        return {"camera": True, "running": running, "done": dict(self.outcome), "used": list(self.used),
                "cameras": [{"name": "module3", "title": "Camera Module 3"}], "methods": ["charuco"],
                "limits": {"confused": 11.0, "near": 18.0}, "trial": {
                    "tiles": [{"at": [-1, 0], "tile": "base.W", "rot": 0}, {"at": [0, 0], "tile": "base.D", "rot": 0},
                              {"at": [1, 0], "tile": "base.L", "rot": 0}],
                    "figures": [{"player": 0, "at": [-1, 0], "feature": "road", "where": "E"}]}}

    def calibrate(self, what: str, by: str, camera: str) -> dict[str, object]:
        self.asked.append((what, by, camera))
        if camera == "busy":
            raise CommandError("busy", "a calibration is in progress; wait for it")
        self.running = what
        return {**self.state(), "running": what} if self.outcome.pop(what, None) else self._begun(what)

    def _begun(self, what: str) -> dict[str, object]:
        self.running = None
        out = {**self.state(), "running": what}
        self.running = what
        return out

    def forget(self, kind: str) -> dict[str, object]:
        self.asked.append(("forget", kind))
        self.used, self.outcome = [], {}
        return self.state()


@pytest.fixture
def served(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session, tuning = table(store, 6), Tuning()
        session.seeing = Seen()
        with PageServer(create_app(session, tuning=tuning), port=0) as server:
            yield session, server, tuning


class Seen(Seeing):
    """A camera that always shows the same."""

    def seen(self):
        return {"camera": True, "watching": True, "picture": 1, "size": [640, 360], "tiles": [], "open": [],
                "readings": [], "figures": [], "moving": []}

    def picture(self, number):
        return encode_jpeg(PICTURE)


def test_the_table_is_calibrated_with_one_tap_and_taken_back_with_another(served, visit):
    _, server, tuning = served
    page = visit(server.url)
    LIVE["calibrate"](page)
    page.locator("[data-key='by-cards']").click()
    page.locator("[data-key='camera']").select_option("module3")
    page.locator("[data-key='go-table']").click()
    expect(page.locator(".outcome.good")).to_contain_text("0.41 mm off on average, 2.3 mm at the worst corner")
    assert tuning.asked == [("table", "cards", "module3")]
    expect(page.locator(".used")).to_contain_text("0.41 mm")
    page.locator("[data-key='go-colours']").click()
    expect(page.locator(".distances .same")).to_contain_text("cannot be told apart")
    expect(page.locator(".distances tr")).to_have_count(3)
    page.locator("[data-key^='supply-']").first.click()
    expect(page.locator(".supplied")).to_contain_text("5 discs")
    assert tuning.asked[-1][:2] == ("supply", served[0].setup.players[0].colour)
    picture(page, "calibrated")
    assert not violations(page)
    page.locator("[data-key='by-tiles']").click()
    page.locator("[data-key='go-table']").click()
    expect(page.locator(".outcome.bad").first).to_be_visible()
    page.locator("[data-key='forget-table']").click()
    expect(page.locator(".used")).to_have_count(0)


@pytest.mark.parametrize(("language", "size"), READERS)
def test_the_self_test_shows_what_to_lay_and_says_what_was_read(served, visit, language, size):
    _, server, tuning = served
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    LIVE["aim"](page)
    page.locator("[data-key='machine-trial']").click()
    expect(page.locator(".trial-board svg")).to_have_count(3)
    expect(page.locator(".trial-board .figure")).to_have_count(1)
    page.locator("[data-key='trial-go']").click()
    expect(page.locator(".outcome.bad")).to_contain_text({"en": "2 of 3 tiles read right", "de": "2 von 3 Plättchen",
                                                          "fr": "2 tuiles sur 3"}[language])
    expect(page.locator(".trial-board .wrong")).to_have_count(1)
    expect(page.locator(".outcome.bad")).to_be_in_viewport()  # on a phone it is below the tiles
    assert tuning.asked == [("trial", "", "")]
    picture(page, f"trial-{language}")
    assert not faults(page, language)


@pytest.mark.parametrize(("language", "size"), [("de", (390, 844)), ("fr", (1280, 800))], ids=["de-phone", "fr-tablet"])
def test_every_advice_is_said_in_the_readers_language(served, visit, language, size):
    _, server, tuning = served
    tuning.said = advice()
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    LIVE["aim"](page)
    expect(page.locator(".advice li")).to_have_count(len(tuning.said))
    until(page, "document.querySelector('.aim-picture').naturalWidth > 0")
    picture(page, f"aim-{language}-{size[0]}")
    assert not faults(page, language, "advice", "where")


def test_without_a_camera_and_without_the_right_it_is_said_what_is_missing(serve, visit):
    _, server = serve(4)
    page = visit(server.url)
    LIVE["aim"](page)
    expect(page.locator(".aim-about")).to_contain_text("no camera watches this table")
    page.locator("[data-key='machine-calibrate']").click()
    expect(page.locator("#machine h3").first).to_have_text("No camera watches this table.")
    page.keyboard.press("Escape")
    expect(page.locator("#machine")).to_be_hidden()


def test_a_backup_is_made_and_another_one_uploaded_checked_and_restored(tmp_path, visit):
    runs, given = [True], []
    with Store(tmp_path / "data" / "log.sqlite") as store:
        session = table(store, 6)
        safe = PageBackups(tmp_path / "data", running=lambda: runs[0], again=given.append)
        with PageServer(create_app(session, backups=safe), port=0) as server:
            page = visit(server.url)
            LIVE["backup"](page)
            expect(page.locator("#machine .warn")).to_contain_text("A game is being played")
            page.locator("[data-key='backup-make']").click()
            with page.expect_download() as fetched:
                page.locator("[data-key='backup-fetch']").click()
            file = tmp_path / "fetched.zip"
            fetched.value.save_as(file)
            assert check_backup(file).games == 1
            page.locator("[data-key='support-make']").click()
            with page.expect_download() as packed:
                page.locator("[data-key='support-fetch']").click()
            assert "about.json" in zipfile.ZipFile(packed.value.path()).namelist()
            spoiled = tmp_path / "spoiled.zip"
            spoiled.write_bytes(file.read_bytes()[:-300])
            page.locator("#backup-file").set_input_files(spoiled)
            expect(page.locator(".outcome.bad")).to_contain_text("not an intact backup of bastide: nothing was changed")
            page.locator("#backup-file").set_input_files(file)
            expect(page.locator("[data-key='backup-put']")).to_be_disabled()
            picture(page, "backup")
            assert not violations(page)
            runs[0] = False
            page.locator("[data-key='machine-backup']").click()
            page.locator("[data-key='backup-put']").click()
            expect(page.locator("#toast")).to_contain_text("Restoring")
            assert len(given) == 1 and given[0].read_bytes() == file.read_bytes()


def test_the_administrators_pin_is_asked_for_and_the_tables_is_not_enough(tmp_path, visit, monkeypatch):
    monkeypatch.setattr("web.rights._SCHEME", "scrypt:1024:8:1")
    keys = Memory()
    keys.put(replace(keys.get(), table=hashed("2580"), admin=hashed("907143")))
    with Store(tmp_path / "data" / "log.sqlite") as store:
        session = table(store, 6)
        safe = PageBackups(tmp_path / "data", running=lambda: True, again=lambda _: None)
        with PageServer(create_app(session, backups=safe, access=Access(keys)), port=0) as server:
            page = visit(server.url)
            page.locator("[data-key='bar.undo']").click()
            page.locator("#pin").fill("2580")
            page.keyboard.press("Enter")
            expect(page.locator("#pin-dialog")).to_have_count(0)
            page.locator("[data-key='bar.more']").click()
            page.locator("[data-key='menu.machine']").click()
            expect(page.locator("#pin-title")).to_have_text("The administrator's PIN")
            page.locator("#pin").fill("2580")
            page.keyboard.press("Enter")
            expect(page.locator("#pin-error")).to_contain_text("This needs the administrator's")
            page.locator("#pin").fill("907143")
            page.keyboard.press("Enter")
            expect(page.locator("#pin-dialog")).to_have_count(0)
            page.locator("[data-key='machine-backup']").click()
            expect(page.locator("[data-key='backup-make']")).to_be_visible()
