"""What a PIN is worth: how it is kept, how slow guessing is, what becomes of the file of secrets."""

from __future__ import annotations

import os
import stat

import pytest
from pins import ADMIN, PIN, with_pins

from bastide.keys import KeyFile
from web.rights import ALL_TRIES, ALL_WINDOW_S, FREE_TRIES, LATEST, Refused, Right, Rights, Tries, checked_pin, hashed

pytestmark = pytest.mark.usefixtures("cheap_hashes")


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_guessing_is_slow():
    clock = Clock()
    rights = Rights(with_pins(), clock=clock)
    for _ in range(FREE_TRIES):
        with pytest.raises(Refused, match="not the PIN"):
            rights.check("9999", "192.168.1.66")
    with pytest.raises(Refused, match="wait") as refused:
        rights.check(PIN, "192.168.1.66")  # not even the right one
    assert refused.value.code == "too_often" and 0 < refused.value.wait_s <= 5
    assert rights.check(PIN, "192.168.1.67") == Right.PLAY
    clock.now += refused.value.wait_s
    with pytest.raises(Refused, match="not the PIN"):
        rights.check("9998", "192.168.1.66")
    clock.now += 6
    with pytest.raises(Refused, match="wait"):
        rights.check("9997", "192.168.1.66")
    clock.now += 5
    assert rights.check(PIN, "192.168.1.66") == Right.PLAY


def test_many_addresses_together_are_slow_too_and_memory_is_bounded():
    clock = Clock()
    tries = Tries(clock)
    for n in range(ALL_TRIES):
        assert tries.wait_s(f"10.0.0.{n}") == 0
        tries.wrong(f"10.0.0.{n}")
    assert tries.wait_s("10.0.9.9") == ALL_WINDOW_S
    clock.now += ALL_WINDOW_S
    assert tries.wait_s("10.0.9.9") == 0
    for n in range(3 * LATEST):
        tries.wrong(str(n))
    assert len(tries._wrong) == LATEST


def test_a_pin_is_kept_as_a_salted_scrypt_hash_and_compared_in_both_places(monkeypatch):
    assert hashed(PIN).startswith("scrypt:") and PIN not in hashed(PIN) and hashed(PIN) != hashed(PIN)
    compared = []
    monkeypatch.setattr("web.rights.check_password_hash", lambda kept, pin: compared.append(kept) and False)
    for keys in (with_pins(), with_pins(admin=ADMIN)):
        compared.clear()
        with pytest.raises(Refused):
            Rights(keys).check("9999", "10.0.0.1")
        assert len(compared) == 2


def test_obvious_pins_are_refused():
    for pin in ("0000", "777777", "1234", "4321", "7890", "987654"):
        with pytest.raises(Refused):
            checked_pin(pin)
    assert checked_pin("1357") == "1357"


def test_the_secrets_are_for_their_owner_only_and_survive(tmp_path):
    keys = KeyFile(tmp_path / "data")
    Rights(keys).set_pins(PIN, by="a test")
    file = tmp_path / "data" / "secrets.json"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert PIN not in file.read_text("utf-8")
    again = KeyFile(tmp_path / "data")
    assert again.get() == keys.get() and Rights(again).check(PIN, "10.0.0.1") == Right.PLAY
    Rights(again).set_pins("7391", by="another process")
    with pytest.raises(Refused):
        Rights(keys).check(PIN, "10.0.0.1")
    file.chmod(0o644)
    KeyFile(tmp_path / "data")
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1}', '{"version": 1, "signing": 3, "overlay": 1}',
                                  '{"version": 1, "signing": "", "overlay": ""}'])
def test_damaged_secrets_are_set_aside_and_open_nothing(tmp_path, text):
    (tmp_path / "secrets.json").write_text(text, "utf-8")
    keys = KeyFile(tmp_path)
    assert keys.get().table is None and len(keys.get().signing) == 64
    assert (tmp_path / "secrets.damaged.json").read_text("utf-8") == text
