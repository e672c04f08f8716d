"""A machine whose clock jumps: sessions stay valid, but not for ever."""

from __future__ import annotations

import json

import pytest
from itsdangerous import TimestampSigner
from webtable import table

from bastide.log.store import Store
from web.access import DAYS_SIGNED_IN, Access
from web.app import create_app
from web.rights import Memory, Rights

DAY = 24 * 3600
NOW = 1_795_000_000


@pytest.fixture
def clock(monkeypatch):
    now = [NOW]
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda self: now[0])
    monkeypatch.setattr("web.rights._SCHEME", "scrypt:1024:8:1")
    return now


@pytest.fixture
def device(tmp_path, clock):
    with Store(tmp_path / "t.sqlite") as store:
        keys = Memory()
        Rights(keys).set_pins("2580", "864209", by="a test")
        yield create_app(table(store, 2), access=Access(keys)).test_client()


def signed_in(device):
    answer = device.post("/api/session", data=json.dumps({"pin": "2580"}), content_type="application/json",
                         environ_base={"REMOTE_ADDR": "192.168.1.20"})
    assert answer.get_json()["right"] == "play"
    return answer.headers["Set-Cookie"]


def right(device):
    return device.get("/api/session", environ_base={"REMOTE_ADDR": "192.168.1.20"}).get_json()["right"]


@pytest.mark.parametrize(("days", "held"), [(0, "play"), (-1, "play"), (-400, "play"), (DAYS_SIGNED_IN - 1, "play"),
                                            (DAYS_SIGNED_IN + 1, "watch")])
def test_a_session_outlives_a_clock_that_goes_back_but_not_its_days(device, clock, days, held):
    signed_in(device)
    clock[0] += days * DAY
    assert right(device) == held


def test_the_browser_is_told_how_long_and_not_until_when(device):
    """The tablet's clock may be months ahead of the table's. Max-Age goes before Expires (RFC 6265, 5.3)."""
    cookie = signed_in(device)
    assert f"Max-Age={DAYS_SIGNED_IN * DAY};" in cookie
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie


def test_a_cookie_with_a_forged_time_has_no_session(device, clock):
    name, _, value = signed_in(device).partition(";")[0].partition("=")
    payload, _, signature = value.rsplit(".", 2)
    device.set_cookie(name, f"{payload}.AAAAAA.{signature}")
    assert right(device) == "watch"
