"""In a browser: an administrator sees every signed-in device and every wrong PIN, and signs one out with a tap."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pageviews import LIVE, picture
from pins import ADMIN, PIN, with_pins
from test_page_access import violations
from test_web_access import Device
from webtable import table

from bastide.log.store import Store
from web.access import Access
from web.app import create_app
from web.rights import Memory
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.usefixtures("cheap_hashes")
IPAD, PHONE = "Mozilla/5.0 (iPad; CPU OS 17_1)", "Mozilla/5.0 (Linux; Android 14; Pixel 8)"
SCREENS = (("en-GB", 1280, 800), ("de-DE", 390, 844), ("fr-FR", 800, 1280), ("de-DE", 1920, 1080))


class Others:
    """Devices beside the browser's: two that are signed in, and strangers who guess."""

    def __init__(self, app):
        self.app = app
        self.anna, self.ben = Device(self, "192.168.1.20", None), Device(self, "192.168.1.21", None)
        for device, agent, name in ((self.anna, IPAD, "Anna"), (self.ben, PHONE, "Maximiliane von und zu H")):
            device.token = device.do("POST", "/api/session", {"pin": PIN}, **{"User-Agent": agent}).get_json()["token"]
            device.do("PUT", "/api/session", {"name": name})
        for n in range(7):
            Device(self, f"192.168.1.{66 + n % 2}", None).do("POST", "/api/session", {"pin": "9999"})


@pytest.fixture
def served(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        app = create_app(table(store, 6), access=Access(with_pins(admin=ADMIN)))
        with PageServer(app, port=0) as server:
            yield server, Others(app)


def sign_in(page, pin):
    page.locator("#pin").fill(pin)
    page.keyboard.press("Enter")
    expect(page.locator("#pin-dialog")).to_have_count(0)


@pytest.mark.parametrize(("language", "width", "height"), SCREENS)
def test_devices_are_seen_and_signed_out(served, visit, language, width, height):
    server, others = served
    page = visit(server.url, width, height, locale=language)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.machine']").click()
    sign_in(page, ADMIN)
    page.locator("[data-key='machine-devices']").click()
    rows = page.locator(".devices li")
    expect(rows).to_have_count(3)
    expect(page.locator(".devices")).to_contain_text("Anna, iPad")
    expect(page.locator("#machine")).to_contain_text("192.168.1.66")
    picture(page, f"devices-{width}x{height}-{language[:2]}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows.filter(has_text="Anna").get_by_role("button").click()
    expect(rows).to_have_count(2)
    assert others.anna.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")
    assert others.ben.do("POST", "/api/commands", {"do": "undo"}).status_code == 200


def test_a_device_has_a_name_and_signs_itself_out(served, visit):
    server, _ = served
    page = visit(server.url, 390, 844, locale="de-DE")
    page.locator("[data-key='bar.undo']").click()
    sign_in(page, ADMIN)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-Dörte']").click()
    expect(page.locator(".menu .warn")).to_contain_text("7")
    expect(page.locator("[data-key='pick-Dörte']")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-key='signout']").scroll_into_view_if_needed()
    picture(page, "signout-390x844-de")
    door = server._app.extensions["access"]
    page.locator("[data-key='signout']").click()
    expect(page.locator("[data-key='signout']")).to_have_count(0)
    assert "Dörte" not in {d.name for d in door.devices.listed(0)} and len(door.devices.listed(0)) == 2
    page.keyboard.press("Escape")
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.machine']").click()
    sign_in(page, ADMIN)
    page.locator("[data-key='machine-devices']").click()
    expect(page.locator(".devices")).to_contain_text("Dörte, Linux")
    assert [d.name for d in door.devices.listed(0)].count("Dörte") == 1, "the name that was chosen here stays"


@pytest.mark.parametrize(("language", "width", "height"), SCREENS[:3])
def test_the_administrators_pin_is_set_changed_and_asked_for_on_the_page(tmp_path, visit, language, width, height):
    """After losing the cookie there is a way back without a shell: the administrator's PIN, or the card."""
    with Store(tmp_path / "t.sqlite") as store, PageServer(create_app(table(store, 6), access=Access(with_pins())),
                                                           port=0) as server:
        # The PIN was set by a command: whoever enters it plays, and is told what else there is.
        page = visit(server.url, width, height, locale=language)
        page.locator("[data-key='bar.more']").click()
        page.locator("[data-key='menu.machine']").click()
        page.locator("#pin").fill(PIN)
        page.keyboard.press("Enter")
        expect(page.locator("#pin-note")).to_contain_text("bastide.txt")
    with Store(tmp_path / "u.sqlite") as store:
        app = create_app(table(store, 6), access=Access(Memory()))
        with PageServer(app, port=0) as server:
            page = visit(server.url, width, height, locale=language)
            sign_in(page, PIN)  # the first PIN, set here: this device owns the table
            LIVE["aim"](page)
            page.locator("[data-key='machine-devices']").click()
            page.locator("#pins-admin").fill("1111")
            page.locator("[data-key='pins-admin-go']").click()
            expect(page.locator("#machine .outcome.bad")).to_be_visible()
            page.locator("#pins-admin").fill(PIN)
            page.locator("[data-key='pins-admin-go']").click()
            expect(page.locator("#machine .outcome.bad")).to_be_visible()
            page.locator("#pins-admin").fill(ADMIN)
            page.locator("[data-key='pins-admin-go']").click()
            expect(page.locator("#machine .outcome.good")).to_be_visible()
            page.locator("#machine .outcome").scroll_into_view_if_needed()
            picture(page, f"pins-{width}x{height}-{language[:2]}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert not violations(page)
            page.context.clear_cookies()  # the device is lost
            page.reload()
            page.locator("[data-key='bar.more']").click()
            page.locator("[data-key='menu.machine']").click()
            page.locator("#pin").fill(PIN)
            page.keyboard.press("Enter")
            expect(page.locator("#pin")).to_have_value("")  # it is right, and the administrator's is asked for
            page.locator("#pin").fill(PIN)
            page.keyboard.press("Enter")
            expect(page.locator("#pin-error")).to_contain_text("bastide.txt")
            sign_in(page, ADMIN)
            page.locator("[data-key='machine-devices']").click()
            page.locator("#pins-pin").fill("7391")
            page.locator("[data-key='pins-pin-go']").click()
            expect(page.locator("#machine .outcome.good")).to_be_visible()
            other = Device(SimpleNamespace(app=app), "192.168.1.9", None)
            assert other.code("POST", "/api/session", {"pin": PIN})[1] == "wrong_pin"
            assert other.do("POST", "/api/session", {"pin": "7391"}).get_json()["right"] == "play"
