"""The machine without a shell, in a browser: cameras to choose from, and every setting."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

import numpy as np
import pytest
from pageviews import LIVE, picture, until
from readers import LOCALES
from servertexts import catalogue
from test_page_access import TEXTS, violations
from webtable import table

from bastide.camera.cameras import Cameras
from bastide.log.store import Store
from bastide.settings.options import OPTIONS, add_arguments, in_force
from bastide.settings.page_settings import Settings, SettingsFile
from hardware.found import Found
from vision.frames import Frame, SourceError, SourceInfo
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect


class Camera:
    """A camera that shows a board of squares with a given brightness; without a level there is no camera."""

    def __init__(self, uri: str, level: int | None) -> None:
        self.info = SourceInfo(uri=uri, model="", width=640, height=360, live=False)
        self.level, self.frames = level, 0

    def __enter__(self):
        if self.level is None:
            raise SourceError("there is no USB camera 1, or another program is using it")
        return self

    def __exit__(self, *exc):
        pass

    def read(self, timeout_s=5.0):
        rows, columns = np.indices((360, 640))
        grey = np.where((rows // 20 + columns // 20) % 2, self.level + 30, max(0, self.level - 30)).astype(np.uint8)
        self.frames += 1
        return Frame(id=self.frames, t_s=float(self.frames), source=self.info.uri, bgr=np.dstack([grey] * 3))


class Machine:
    """A served table with cameras and settings; ``again`` counts how often it was to be served anew."""

    def __init__(self, stack: ExitStack, folder, *argv: str) -> None:
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        args, file = parser.parse_args(argv), SettingsFile(folder)
        self.again: list[str] = []
        self.settings = Settings(file, args, {}, in_force(args, {}, file.values), lambda: self.again.append("again"))
        levels = {"usb:0": 120, "usb:1": None, "usb:2": 20}
        names = {"usb:0": "HD Pro Webcam C920", "usb:1": "Laptop camera", "usb:2": "USB camera"}

        def choose(uri):
            self.settings.put("source", uri)
            self.settings.restart()

        self.cameras = Cameras(
            None, None, offered=lambda: self.settings.texts("offer-camera"), choose=choose,
            offer=lambda uris: self.settings.put("offer-camera", list(uris)),
            fixed=lambda: self.settings.origin("source") == "command line", status=lambda: "",
            plugged=lambda: [Found(uri=uri, name=name) for uri, name in names.items()],
            make=lambda uri: Camera(uri, levels.get(uri)))
        stack.callback(self.cameras.close)
        session = table(stack.enter_context(Store(folder / "t.sqlite")), 6)
        app = create_app(session, settings=self.settings, cameras=self.cameras)
        self.server = stack.enter_context(PageServer(app, port=0))


@pytest.fixture
def machine(tmp_path):
    with ExitStack() as stack:
        yield lambda *argv: Machine(stack, tmp_path, *argv)


def opened(page, tab):
    LIVE["aim"](page)
    page.locator(f"[data-key='machine-{tab}']").click()


def test_every_camera_shows_a_picture_or_what_is_wrong_and_one_is_chosen_with_one_tap(machine, visit):
    served = machine()
    page = visit(served.server.url)
    opened(page, "cameras")
    good, missing, dark = (page.locator(".camera-card").nth(n) for n in range(3))
    expect(good).to_contain_text("Bright and sharp enough")
    expect(missing).to_contain_text("another program is using it")
    expect(dark).to_contain_text("More light on the table")
    until(page, "document.querySelector('.camera-card img').naturalWidth > 0")
    page.locator("#camera-address").fill("192.168.1.9:8080")
    page.keyboard.press("Enter")
    expect(page.locator(".camera-address .warn")).to_contain_text("not the address of a network camera")
    page.locator("#camera-address").fill("http://anna:geheim@192.168.1.9:8080/video")
    page.keyboard.press("Enter")
    expect(page.locator(".camera-card")).to_have_count(4)
    expect(page.locator(".camera-card").nth(3)).not_to_contain_text("geheim")
    picture(page, "cameras")
    assert not violations(page)
    good.get_by_role("button").click()
    expect(page.locator("#toast")).to_contain_text("Restarting")
    assert served.again == ["again"] and served.settings.value("source") == "usb:0"
    page.wait_for_selector("body[data-ready] .tile")
    expect(page.locator("#machine h3").first).to_have_text("Cameras")  # and the view is open again


def test_a_setting_is_set_refused_reset_and_waits_for_a_new_beginning(machine, visit):
    served = machine("--light", "17")
    page = visit(served.server.url)
    opened(page, "settings")
    expect(page.locator(".setting")).to_have_count(len(OPTIONS))
    expect(page.locator("#setting-light")).to_be_disabled()
    expect(page.locator("#setting-light ~ .setting-word")).to_contain_text("command line")
    page.locator("#setting-port").fill("8090")
    page.locator("#setting-port").press("Tab")
    expect(page.locator(".outcome.waits")).to_contain_text("Not in effect yet: Port")
    page.locator("#setting-source").fill("moon:1")
    page.locator("#setting-source").press("Tab")
    expect(page.locator(".setting.wrong")).to_contain_text("unknown source 'moon:1'")
    assert page.locator("#setting-source").input_value() == "moon:1"
    page.locator("#setting-learn").click()
    expect(page.locator(".outcome.waits")).to_contain_text("Learn the tiles")
    assert served.settings.value("learn") is False and served.settings.value("port") == 8090
    page.locator("[data-key='reset-port']").click()
    expect(page.locator(".outcome.waits")).not_to_contain_text("Port")
    assert not violations(page)
    picture(page, "settings")
    page.locator("[data-key='settings-restart']").click()
    expect(page.locator("#toast")).to_contain_text("Restarting")
    assert served.again == ["again"]


@pytest.mark.parametrize("language", ["de", "fr"])
def test_both_views_speak_the_readers_language_on_a_phone(machine, visit, language):
    served = machine("--light", "17")
    page = visit(served.server.url, 390, 844, locale=LOCALES[language], color_scheme="light")
    for tab in ("cameras", "settings"):
        opened(page, tab)
        page.locator(".camera-card.warn, .setting").first.wait_for()
        picture(page, f"{tab}-{language}-phone")
        shown = [text.lower() for text in page.evaluate(TEXTS)]
        wrong = [p for p in catalogue() if any(p in text for text in shown) and "another program" not in p]
        assert not [p for p in wrong if "there is no usb" not in p]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not violations(page)
        page.keyboard.press("Escape")
