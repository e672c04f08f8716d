"""Access control: watching is open, changing needs the PIN, and there is no way around it."""

from __future__ import annotations

import json
import re

import pytest
from pins import ADMIN, PIN, with_pins
from webtable import after, table

from bastide.log.store import Store
from web.access import Access
from web.app import create_app
from web.rights import Memory, is_local, network

LAN = {"REMOTE_ADDR": "192.168.1.20"}
OPEN = {("POST", "/api/session"), ("DELETE", "/api/session"), ("POST", "/api/pin"), ("POST", "/api/preview")}


pytestmark = pytest.mark.usefixtures("cheap_hashes")


class Table:
    """A table with access control, called without a network."""

    def __init__(self, session, keys=None, **options):
        self.session = session
        self.access = Access(keys, **options)
        self.app = create_app(session, access=self.access)

    def device(self, address="192.168.1.20", pin=None):
        return Device(self, address, pin)


class Device:
    """One browser: its address, its cookie, its token."""

    def __init__(self, table, address, pin):
        self.client = table.app.test_client()
        self.environ = {"REMOTE_ADDR": address}
        self.token = None
        if pin:
            self.token = self.do("POST", "/api/session", {"pin": pin}).get_json()["token"]

    def with_cookie(self, value):
        """The same device, which sends this cookie and keeps none."""
        self.client, self.cookie = self.client.application.test_client(use_cookies=False), value
        return self

    cookie = None

    def do(self, method, path, body=None, **headers):
        sent = {"Host": "bastide.local:8000", **headers}
        if self.cookie:
            sent["Cookie"] = f"bastide={self.cookie}"
        if self.token:
            sent.setdefault("X-CSRF-Token", self.token)
        data = {} if body is None else {"data": body if isinstance(body, bytes) else json.dumps(body).encode(),
                                        "content_type": "application/json"}
        return self.client.open(path, method=method, headers=sent, environ_base=self.environ, **data)

    def code(self, *args, **headers):
        answer = self.do(*args, **headers)
        return answer.status_code, (answer.get_json() or {}).get("error", {}).get("code")


@pytest.fixture
def session(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        yield table(store, 4)


def rules(app):
    """Every method and route of the application, with values for the variables."""
    for rule in app.url_map.iter_rules():
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"}):
            yield method, re.sub(r"<[^>]*int[^>]*>", "1", re.sub(r"<path:[^>]+>", "js/app.js", rule.rule))


def test_every_route_that_changes_something_refuses_without_rights(session):
    """All routes, including future ones: any that is not in OPEN and not GET must be refused, and change nothing."""
    t = Table(session, with_pins())
    anonymous, tried = t.device(), 0
    before = (session.view(), t.access.rights.keys.get())
    for method, path in rules(t.app):
        if method == "GET" or (method, path) in OPEN:
            continue
        tried += 1
        assert anonymous.code(method, path, {"do": "undo", "pin": "7391"}) == (401, "pin_needed"), path
        signed = t.device("192.168.1.21", PIN)
        signed.token = None
        assert signed.code(method, path, {"do": "undo", "pin": "7391"})[0] == 403, path
        signed.token = "another"
        assert signed.code(method, path, {"do": "undo", "pin": "7391"})[0] == 403, path
    assert tried >= 2
    assert (session.view(), t.access.rights.keys.get()) == before


def test_no_method_that_nobody_wrote_gets_in(session):
    """Every path of the application with every method, odd ones too: what is not a route changes nothing."""
    t = Table(session, with_pins())
    devices = (t.device(), t.device("192.168.1.21", PIN), t.device("203.0.113.9"))
    before = (session.view(), t.access.rights.keys.get())
    routes, tried = set(rules(t.app)), 0
    paths = sorted({path for _, path in routes})
    assert len(paths) == len({r.rule for r in t.app.url_map.iter_rules()}) > 20
    for path in paths:
        for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "LINK", "X"):
            if (method, path) in routes:
                continue
            for device in devices:
                tried += 1
                answer = device.do(method, path, {"do": "undo", "pin": "7391"})
                assert answer.status_code in (400, 401, 403, 404, 405), (method, path)
        for method in ("HEAD", "OPTIONS"):
            with devices[1].do(method, path) as answer:
                assert answer.status_code in (200, 404, 405) and "Set-Cookie" not in answer.headers
    assert tried > 500
    assert (session.view(), t.access.rights.keys.get()) == before


def test_a_method_may_not_be_changed_on_the_way(session):
    t = Table(session, with_pins())
    d, before = t.device(), session.view()
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert d.do("GET", "/api/commands?_method=POST", {"do": "undo"}, **{header: "POST"}).status_code == 405
    assert session.view() == before


def test_what_is_open_changes_nothing_but_its_own_device(session):
    t = Table(session, with_pins())
    d = t.device()
    before = (session.view(), t.access.rights.keys.get())
    undo = {"commands": [{"do": "undo"}]}
    assert d.do("POST", "/api/preview", undo).get_json()["previews"][0]["scores"] is not None
    assert d.code("POST", "/api/pin", {"pin": "7391"}) == (409, "pin_set")
    assert d.code("POST", "/api/session", {"pin": "0000"}) == (403, "wrong_pin")
    assert d.do("DELETE", "/api/session").get_json()["right"] == "watch"
    assert (session.view(), t.access.rights.keys.get()) == before


def test_no_get_changes_anything(session):
    """Not even a cookie."""
    t = Table(session, with_pins())
    for device in (t.device(), t.device("192.168.1.21", PIN)):
        before = (session.view(), t.access.rights.keys.get(), len(session.entries))
        asked = 0
        for method, path in rules(t.app):
            if method == "GET":
                with device.do("GET", path, Accept="*/*") as answer:
                    assert answer.status_code in (200, 404) and "Set-Cookie" not in answer.headers, path
                asked += 1
        assert asked > 10
        assert (session.view(), t.access.rights.keys.get(), len(session.entries)) == before


def test_an_unmarked_view_takes_administration(session):
    t = Table(session, with_pins(admin=ADMIN))
    t.app.add_url_rule("/api/forgotten", view_func=lambda: {}, methods=["POST"], endpoint="forgotten")
    assert t.device().code("POST", "/api/forgotten", {}) == (401, "pin_needed")
    assert t.device(pin=PIN).code("POST", "/api/forgotten", {}) == (403, "admin_needed")
    assert t.device(pin=ADMIN).code("POST", "/api/forgotten", {})[0] == 200


def test_the_pin_lets_a_device_play(session):
    t = Table(session, with_pins())
    d = t.device()
    assert d.do("GET", "/api/session").get_json()["right"] == "watch"
    assert d.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")
    answer = d.do("POST", "/api/session", {"pin": PIN})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and PIN not in cookie
    d.token = answer.get_json()["token"]
    before = session.view()["version"]
    assert d.do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert session.view()["version"] > before
    assert d.code("PUT", "/api/pin", {"pin": "7391"}) == (403, "admin_needed")
    assert d.do("DELETE", "/api/session").get_json()["right"] == "watch"
    assert d.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")


def test_a_forged_or_old_cookie_has_no_session(session):
    t = Table(session, with_pins())
    d = t.device(pin=PIN)
    cookie = d.client.get_cookie("bastide", domain="localhost") or d.client.get_cookie("bastide")
    value = cookie.value if cookie else next(iter(d.client._cookies.values())).value
    for forged, status in ((value[:-2] + "xx", 401), ("eyJyaWdodCI6Mn0.aaaa.bbbb", 401), ("", 401), (value, 200)):
        stranger = t.device("192.168.1.66").with_cookie(forged)
        stranger.token = d.token
        assert stranger.code("POST", "/api/commands", {"do": "undo"})[0] == status
    t.access.rights.set_pins("7391", by="a test")
    assert d.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")


def test_before_a_pin_is_set_nobody_changes_the_game_and_the_first_to_set_it_administers(session):
    t = Table(session, Memory())
    for address in ("192.168.1.20", "127.0.0.1"):
        assert t.device(address).code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_unset")
    first, second = t.device(), t.device("192.168.1.30")
    assert first.do("GET", "/api/session").get_json()["pin"] == "unset"
    for bad in ("123", "1111", "1234", "9876", "12a4", "1" * 13, 2580, None, "٣٤٧١"):
        assert first.code("POST", "/api/pin", {"pin": bad}) == (400, "bad_pin"), bad
    first.token = first.do("POST", "/api/pin", {"pin": PIN}).get_json()["token"]
    assert second.code("POST", "/api/pin", {"pin": "7391"}) == (409, "pin_set")
    told = second.do("GET", "/api/session").get_json()
    assert told["pin"] == "set" and told["set_from"] == "192.168.1.20" and told["set_at_s"] > 0
    assert first.do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert first.code("PUT", "/api/pin", {"admin": PIN}) == (400, "bad_pin")
    assert first.do("PUT", "/api/pin", {"admin": ADMIN}).get_json()["right"] == "admin"
    assert t.device("192.168.1.40", ADMIN).do("GET", "/api/session").get_json()["right"] == "admin"


def test_a_pin_that_the_disk_does_not_take_is_told(session):
    class Full(Memory):
        def put(self, kept):
            raise OSError(28, "No space left on device")

    t = Table(session, Full())
    assert t.device().code("POST", "/api/pin", {"pin": PIN}) == (507, "not_saved")
    assert not t.access.rights.pin_is_set


def test_without_keys_only_the_machine_itself_plays(session):
    t = Table(session)
    assert t.device("127.0.0.1").do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert t.device().code("POST", "/api/commands", {"do": "undo"}) == (403, "watching_only")
    proxied = t.device("127.0.0.1").code("POST", "/api/commands", {"do": "undo"}, **{"X-Forwarded-For": "8.8.8.8"})
    assert proxied == (403, "not_local")
    assert t.device("127.0.0.1").code("POST", "/api/pin", {"pin": PIN}) == (409, "no_pin")


@pytest.mark.parametrize(("host", "welcome"), [
    ("192.168.1.5:8000", True), ("localhost", True), ("bastide.local", True), ("[::1]:8000", True),
    ("[fe80::1]:8000", True), ("table.example", True), ("TABLE.example.:80", True), ("evil.example", False),
    ("localhost.evil.example", False), ("192.168.1.5.evil.example", False), ("local", False), ("", False),
    ("evil.example:localhost", False), ("a@localhost.evil.example", False), ("[::1", False),
])
def test_only_our_own_names_are_answered(session, host, welcome):
    t = Table(session, with_pins(), hosts=["table.example"])
    assert t.access.known_host(host) is welcome
    answer = t.device().do("GET", "/api/state", Host=host)
    assert (answer.status_code == 200) is welcome
    if host and not welcome and "[" not in host:
        assert answer.status_code in (400, 421)


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://bastide.local:9000"},
    {"Origin": ""}, {"Origin": "http://[::1"}, {"Origin": "http://[zz]"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
])
def test_another_sites_page_can_do_nothing(session, headers):
    t = Table(session, with_pins())
    d = t.device(pin=PIN)
    before = session.view()
    assert d.code("POST", "/api/commands", {"do": "undo"}, **headers) == (403, "other_site")
    assert session.view() == before
    assert d.do("POST", "/api/commands", {"do": "undo"}, Origin="http://bastide.local:8000").status_code == 200


def test_another_sites_page_cannot_look_either(session):
    d = Table(session, with_pins()).device()
    for path in ("/api/state", "/api/events", "/api/picture.jpg", "/api/session"):
        assert d.code("GET", path, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})[0] == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert d.do("GET", "/", **link).status_code == d.do("GET", "/api/export/game.json", **link).status_code == 200
    answer = d.do("GET", "/api/state")
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert not [h for h in answer.headers.keys() if h.startswith("Access-Control")]  # noqa: SIM118


def test_from_elsewhere_nothing_is_shown(session):
    t = Table(session, with_pins())
    for address in ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "not an address"):
        for path in ("/", "/api/state", "/static/js/app.js"):
            assert t.device(address).code("GET", path) == (403, "not_local"), address
        assert t.device(address).code("POST", "/api/session", {"pin": PIN}) == (403, "not_local")


def test_which_addresses_are_of_the_local_network():
    for address in ("127.0.0.1", "::1", "10.1.2.3", "192.168.178.20", "172.16.0.9", "169.254.7.7", "fe80::1%eth0",
                    "fd00::5", "::ffff:192.168.1.1"):
        assert is_local(address), address
    for address in ("8.8.8.8", "2001:4860:4860::8888", "", None, "x", "0.0.0.0", "224.0.0.1"):
        assert not is_local(address), address
    assert network("fd00::1:2") == network("fd00::9") != network("fd00:0:0:1::9")


def test_a_pin_is_asked_by_the_page_once_on_a_device(session, visit):
    """In a browser: the first device sets the PIN, the second one is asked for it when it changes something."""
    from web.server import PageServer
    for event in after(4)[:3]:
        session.commit((event,), confidence=0.98, asked=False)
    expect = pytest.importorskip("playwright.sync_api").expect
    with PageServer(create_app(session, access=Access(Memory())), port=0) as server:
        first = visit(server.url)
        dialog = first.locator("#pin-dialog")
        expect(dialog).to_be_visible()
        dialog.locator("input").fill("1234")
        dialog.get_by_role("button", name="Set the PIN").click()
        expect(dialog.get_by_role("alert")).to_contain_text("hard to guess")
        dialog.locator("input").fill(PIN)
        dialog.get_by_role("button", name="Set the PIN").click()
        expect(dialog).to_have_count(0)
        before = session.view()["version"]
        first.locator("#bar").get_by_role("button", name="Undo").click()
        expect(first.locator("#toast")).to_contain_text("Taken back")
        second = visit(server.url, 390, 844)
        expect(second.locator("#pin-dialog")).to_have_count(0)
        second.locator("#bar").get_by_role("button", name="Undo").click()
        dialog = second.locator("#pin-dialog")
        expect(dialog).to_contain_text("from this machine")
        dialog.locator("input").fill("9999")
        dialog.get_by_role("button", name="Enter").click()
        expect(dialog.get_by_role("alert")).to_have_text("That is not the PIN.")
        dialog.locator("input").fill(PIN)
        dialog.get_by_role("button", name="Enter").click()
        expect(second.locator("#toast")).to_contain_text("Taken back")
        assert session.view()["version"] > before + 1
        second.reload()
        second.locator("#bar").get_by_role("button", name="Undo").click()
        expect(second.locator("#toast")).to_contain_text("Taken back")
        expect(second.locator("#pin-dialog")).to_have_count(0)


def test_bodies_are_bounded_and_decoded_with_care(session):
    t = Table(session, with_pins())
    d = t.device(pin=PIN)
    before = session.view()
    for body in (b"[" * 16_000, b'{"do": NaN}', b'{"do": "undo", "based_on": 1e999}', b"\xff\xfe", b'{"do": "\\ud800"}',
                 b'{"do": "amend", "seq": 1, "body": {"do": "tile", "tile": "../../etc/passwd"}}'):
        assert d.do("POST", "/api/commands", body).status_code in (400, 404), body[:40]
    assert d.code("POST", "/api/commands", b"x" * 20_000)[0] == 413
    assert d.code("POST", "/api/session", b"x" * 20_000)[0] == 413
    assert session.view() == before


@pytest.mark.parametrize("path", [
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fbastide/files/keys.py", "/static//etc/passwd",
    "/static/js/%00", "/api/crops/..%2f1.jpg", "/api/crops/-1.jpg", "/api/turns/99999999999/picture.jpg",
    "/api/export/../../etc/passwd", "/static/" + "a/" * 3000,
])
def test_no_path_from_a_client_reaches_the_disk(session, path, monkeypatch):
    t = Table(session, with_pins())
    opened = []
    monkeypatch.setattr("builtins.open", lambda *a, **k: opened.append(a) or pytest.fail(str(a)))
    assert t.device().do("GET", path).status_code in (308, 404)
    assert not opened
