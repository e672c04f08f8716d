"""The devices that are signed in: listed, named, signed out; a cookie is worthless afterwards."""

from __future__ import annotations

import stat
from collections import Counter

import pytest
from pins import ADMIN, PIN, with_pins
from test_web_access import Device, Table
from webtable import table

from bastide.files.keys import KeyFile, SessionFile
from bastide.log.store import Store
from web.devices import MOST, Devices, kind_of
from web.rights import ALL_TRIES, FREE_TRIES, Memory, Right, Rights

pytestmark = pytest.mark.usefixtures("cheap_hashes")
IPAD = "Mozilla/5.0 (iPad; CPU OS 17_1 like Mac OS X) AppleWebKit/605.1.15"


@pytest.fixture
def session(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        yield table(store, 4)


def cookie_of(device: Device) -> str:
    found = next(iter(device.client._cookies.values()))
    return str(found.value)


def rows(device: Device) -> list[dict]:
    return device.do("POST", "/api/sessions", {"do": "look"}).get_json()["sessions"]


def test_signing_out_ends_the_session_also_for_a_cookie_that_was_kept(session):
    t = Table(session, with_pins())
    d = t.device(pin=PIN)
    kept, token = cookie_of(d), d.token
    assert d.do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert d.do("DELETE", "/api/session").get_json()["right"] == "watch"
    thief = t.device("192.168.1.66").with_cookie(kept)
    thief.token = token
    assert thief.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")
    assert thief.do("GET", "/api/session").get_json()["token"] is None


def test_an_administrator_sees_every_device_and_ends_one_or_all_others(session):
    t = Table(session, with_pins(admin=ADMIN))
    admin, players = t.device("192.168.1.10", ADMIN), [t.device(f"192.168.1.{n}", PIN) for n in (20, 21, 22)]
    assert players[0].code("POST", "/api/sessions", {"do": "look"}) == (403, "admin_needed")
    assert t.device().code("POST", "/api/sessions", {"do": "look"}) == (401, "pin_needed")
    found = rows(admin)
    assert {(r["address"], r["right"], r["mine"]) for r in found} == {
        ("192.168.1.10", "admin", True), *((f"192.168.1.{n}", "play", False) for n in (20, 21, 22))}
    assert not any("token" in key for r in found for key in r)
    one = next(r["session"] for r in found if r["address"] == "192.168.1.21")
    left = admin.do("POST", "/api/sessions", {"do": "end", "session": one}).get_json()["sessions"]
    assert len(left) == 3 and players[1].code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")
    assert players[0].do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert admin.code("POST", "/api/sessions", {"do": "end", "session": one}) == (404, "no_session")
    for bad in ({"do": "end"}, {"do": "end", "session": 3}, {"do": "x"}, {}):
        assert admin.code("POST", "/api/sessions", bad) == (400, "malformed")
    assert [r["mine"] for r in admin.do("POST", "/api/sessions", {"do": "end_others"}).get_json()["sessions"]] == [True]
    assert players[0].code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")


def test_the_tables_pin_alone_locks_nobody_out(session):
    """Without an administrator's PIN the table's PIN gives administration, but not ownership."""
    t = Table(session, Memory())
    first = t.device("192.168.1.10")
    first.token = first.do("POST", "/api/pin", {"pin": PIN}).get_json()["token"]
    told = t.device("192.168.1.20", PIN)
    assert told.do("GET", "/api/session").get_json()["right"] == "admin"
    assert {(r["address"], r["right"]) for r in rows(told)} == {("192.168.1.10", "admin"), ("192.168.1.20", "admin")}
    owner = next(r["session"] for r in rows(told) if not r["mine"])
    for method, path, body in (("PUT", "/api/pin", {"admin": ADMIN}), ("PUT", "/api/pin", {"pin": "7391"}),
                               ("POST", "/api/sessions", {"do": "end", "session": owner}),
                               ("POST", "/api/sessions", {"do": "end_others"}),
                               ("POST", "/api/backup", {"do": "restore"})):
        assert told.code(method, path, body) == (403, "owner_needed"), path
    assert first.do("PUT", "/api/pin", {"admin": ADMIN}).get_json()["owner"]
    assert t.device("192.168.1.20", PIN).do("GET", "/api/session").get_json()["right"] == "play"
    again = t.device("192.168.1.30", ADMIN)  # another device of the owner's
    assert again.do("POST", "/api/sessions", {"do": "end_others"}).status_code == 200


def test_sessions_outlive_a_restart_and_a_revoked_one_does_not_come_back(session, tmp_path):
    def begun():
        t = Table(session, KeyFile(tmp_path))
        t.access.devices = Devices(SessionFile(tmp_path))
        return t

    Rights(KeyFile(tmp_path)).set_pins(PIN, ADMIN, by="a test")
    t = begun()
    admin, player = t.device("192.168.1.10", ADMIN), t.device("192.168.1.20", PIN)
    assert stat.S_IMODE((tmp_path / "sessions.json").stat().st_mode) == 0o600
    again = begun()
    kept, signed_out = cookie_of(player), next(r["session"] for r in rows(admin) if not r["mine"])
    later = again.device("192.168.1.20").with_cookie(kept)
    later.token = player.token
    assert later.do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert admin.do("POST", "/api/sessions", {"do": "end", "session": signed_out}).status_code == 200
    third = begun().device("192.168.1.20").with_cookie(kept)
    third.token = player.token
    assert third.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sessions": 3}', '{"sessions": [3, {"id": 1}, {"id": "a b"}]}',
                                  '{"sessions": [{"id": "abcdefghij", "token": "", "right": 2, "series": 0}]}',
                                  '{"sessions": [{"id": "abcdefghij", "token": "0123456789abcdef", "right": 9, '
                                  '"series": 0}]}', '{"sessions": [{"id": ["x"], "token": {}, "right": [], "x": 1}]}'])
def test_damaged_sessions_sign_nobody_in(tmp_path, text):
    (tmp_path / "sessions.json").write_text(text, "utf-8")
    assert Devices(SessionFile(tmp_path)).listed(0) == []
    Devices(SessionFile(tmp_path)).begin(Right.PLAY, 0, address="10.0.0.1", agent="")
    assert len(Devices(SessionFile(tmp_path)).listed(0)) == 1


def test_players_evict_no_administrator_and_sessions_are_bounded():
    devices = Devices()
    admin = devices.begin(Right.ADMIN, 1, address="10.0.0.1", agent="")
    for n in range(3 * MOST):
        devices.begin(Right.PLAY, 1, address=f"10.0.1.{n}", agent="")
    assert len(devices.listed(1)) == MOST and devices.get(admin.id, 1) is not None
    devices.begin(Right.PLAY, 2, address="10.0.0.1", agent="")
    assert devices.listed(1) == [] and devices.get(admin.id, 2) is None


def test_what_is_done_is_signed_with_what_is_known_of_the_device(session):
    """Changes cannot be signed with another name: the author comes from the session, not from the request."""
    t = Table(session, with_pins())
    anna = t.device("192.168.1.20")
    anna.token = anna.do("POST", "/api/session", {"pin": PIN}, **{"User-Agent": IPAD}).get_json()["token"]
    assert anna.do("PUT", "/api/session", {"name": "  Anna "}).get_json()["name"] == "Anna"
    anna.do("POST", "/api/commands", {"do": "undo", "who": "Ben"})
    assert session.past.corrections()[0]["who"] == "Anna (iPad)"
    ben = t.device("192.168.1.21", PIN)
    ben.do("POST", "/api/commands", {"do": "end_turn", "who": "Ben"})
    assert session.entries[-1].who == "Ben"
    for bad in ("x" * 25, 3, None, "a\nb\u202e", ["x"]):
        assert anna.code("PUT", "/api/session", {"name": bad}) == (400, "bad_name")
    assert t.device().code("PUT", "/api/session", {"name": "Eve"}) == (401, "pin_needed")
    anna.token = anna.do("POST", "/api/session", {"pin": PIN}, **{"User-Agent": IPAD}).get_json()["token"]
    assert anna.do("GET", "/api/session").get_json()["name"] == "Anna", "signing in again keeps the name"
    assert len(t.access.devices.listed(0)) == 2, "and ends the session of before"


@pytest.mark.parametrize("who", ["undo:", "undo:undo:", "undo:undo:undo:Anna"])
def test_nobody_can_pose_as_an_undo(session, who):
    """What a command calls itself once counted as an undo, and the next one then failed for ever."""
    d = Table(session, with_pins()).device(pin=PIN)
    for _ in range(12):
        assert d.do("POST", "/api/commands", {"do": "end_turn", "who": who}).status_code == 200
    for _ in range(12):
        assert d.do("POST", "/api/commands", {"do": "undo", "who": who}).status_code == 200


def test_throttling_locks_out_neither_a_session_nor_a_known_device_nor_the_machine(session):
    t = Table(session, with_pins(admin=ADMIN))
    player, gone = t.device("192.168.1.20", PIN), t.device("192.168.1.21", PIN)
    gone.do("DELETE", "/api/session")
    for n in range(ALL_TRIES + 20):
        t.device(f"192.168.1.{20 + n % 9}").do("POST", "/api/session", {"pin": "9999"})
    assert t.device("192.168.1.20").code("POST", "/api/session", {"pin": PIN}) == (429, "too_often")
    assert player.do("POST", "/api/commands", {"do": "undo"}).status_code == 200
    assert player.do("POST", "/api/session", {"pin": ADMIN}).get_json()["right"] == "admin"
    assert gone.do("POST", "/api/session", {"pin": PIN}).get_json()["right"] == "play"
    assert t.device("127.0.0.1").do("POST", "/api/session", {"pin": PIN}).get_json()["right"] == "play"
    failed = t.device("127.0.0.1", ADMIN).do("POST", "/api/sessions", {"do": "look"}).get_json()["failed"]
    assert {f["address"] for f in failed} <= {f"192.168.1.{n}" for n in range(20, 29)} and len(failed) >= 8


def test_the_administrators_pin_is_guessed_slowly_with_the_tables_pin_too(session):
    """Each sign-in makes another device, with five tries of its own."""
    t, guesses = Table(session, with_pins(admin=ADMIN)), Counter()
    while guesses["too_often"] < 3 and guesses.total() < 3 * ALL_TRIES:
        guest = t.device("192.168.1.30", PIN)
        for n in range(FREE_TRIES):
            guesses[guest.code("POST", "/api/session", {"pin": f"55{n}1"})[1]] += 1
    assert guesses["wrong_pin"] <= ALL_TRIES + 1 and guesses["too_often"]
    assert t.device("127.0.0.1").do("POST", "/api/session", {"pin": ADMIN}).status_code == 200, "the machine waits"


def test_what_the_disk_does_not_take_is_said_and_ended_all_the_same(session):
    class Full:
        full = False

        def load(self):
            return []

        def save(self, rows):
            if self.full:
                raise OSError(28, "No space left on device")

    t, keeper = Table(session, with_pins()), Full()
    t.access.devices = Devices(keeper)
    keeper.full = True
    d = t.device(pin=PIN)
    assert d.do("POST", "/api/commands", {"do": "undo"}).status_code == 200, "a full disk keeps nobody from playing"
    assert d.code("DELETE", "/api/session") == (507, "not_saved")
    assert d.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")


def test_kinds_of_devices():
    assert kind_of(IPAD) == "iPad" and kind_of("Mozilla/5.0 (Linux; Android 14; Pixel 8)") == "Android"
    assert kind_of("curl/8") == kind_of("") == "" and kind_of("(X11; Linux x86_64)") == "Linux"


def test_a_session_before_this_version_signs_in_again(session):
    """A cookie that carried its right itself is worth nothing now."""
    t = Table(session, with_pins())
    with t.app.test_request_context():
        old = t.access._signer.dumps({"right": 2, "token": "x" * 24, "series": 0, "_permanent": True})
    d = t.device().with_cookie(old)
    d.token = "x" * 24
    assert d.code("POST", "/api/commands", {"do": "undo"}) == (401, "pin_needed")
    assert d.do("GET", "/api/session").get_json()["right"] == "watch"
