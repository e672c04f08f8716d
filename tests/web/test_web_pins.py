"""Security of PINs: storage, rate limiting, and the file of secrets."""

from __future__ import annotations

import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace

import pytest
from pins import ADMIN, PIN, with_pins

from bastide.files.keys import KeyFile, is_hash
from web.rights import (
    ALL_TRIES,
    ALL_WINDOW_S,
    APART_WAIT_S,
    COMMAND_LINE,
    FREE_TRIES,
    HASHING,
    LANE_S,
    LATEST,
    MOST_FAILED,
    Memory,
    Refused,
    Right,
    Rights,
    Tries,
    checked_pin,
    hashed,
)

pytestmark = pytest.mark.usefixtures("cheap_hashes")
PATIENCE_S = 30.0  # only what does not work takes so long


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
    """At most so many wrong PINs get through in a window, however many addresses there are."""
    clock = Clock()
    tries = Tries(clock)
    for n in range(ALL_TRIES):
        assert tries.wait_s(f"10.0.0.{n}") == 0
        tries.wrong(f"10.0.0.{n}")
    through, begun = 0, clock.now
    while clock.now < begun + ALL_WINDOW_S - 1:
        for n in range(5):
            if tries.wait_s(who := f"10.1.{through % 250}.{n}") == 0:
                tries.wrong(who)
                through += 1
        clock.now += 1.0
    assert through <= ALL_WINDOW_S / LANE_S + 1
    for n in range(3 * LATEST):
        tries.wrong(str(n))
    assert len(tries._wrong) == LATEST


def test_guesses_of_others_do_not_lock_out_a_clean_address():
    """Forty wrong PINs from eight addresses: the owner at a new device waits for seconds."""
    clock = Clock()
    rights = Rights(with_pins(), clock=clock)
    for n in range(ALL_TRIES):
        with pytest.raises(Refused, match="not the PIN"):
            rights.check("9999", f"192.168.1.{60 + n % 8}")
    with pytest.raises(Refused, match="wait") as refused:
        rights.check(PIN, "192.168.1.60")
    assert refused.value.wait_s > LANE_S
    assert rights.check(PIN, "192.168.1.20") == Right.PLAY
    with pytest.raises(Refused, match="not the PIN"):
        rights.check("9998", "192.168.1.21")
    with pytest.raises(Refused, match="wait") as refused:
        rights.check(PIN, "192.168.1.22")
    assert refused.value.wait_s <= LANE_S
    clock.now += refused.value.wait_s
    assert rights.check(PIN, "192.168.1.22") == Right.PLAY


def test_known_devices_and_the_machine_itself_do_not_wait_for_strangers_mistakes():
    clock = Clock()
    rights = Rights(with_pins(), clock=clock)
    for n in range(ALL_TRIES + 1):  # also from the address that the device has
        with pytest.raises(Refused):
            rights.check("9999", f"192.168.1.{20 + n % 8}")
    assert rights.check(PIN, "192.168.1.20", "device x") == rights.check(PIN, "127.0.0.1", "machine") == Right.PLAY
    for _ in range(20):  # its own mistakes cost it seconds
        with pytest.raises(Refused):
            rights.check("9999", "192.168.1.20", "device x")
        clock.now += APART_WAIT_S
    assert rights.check(PIN, "192.168.1.20", "device x") == Right.PLAY


@pytest.fixture
def slow_hash(monkeypatch):
    """A PIN that is being compared until the test is over: ``begun`` is set as soon as it is."""
    begun, over = threading.Event(), threading.Event()

    def matches(kept, pin):
        begun.set()
        over.wait(PATIENCE_S)
        return False

    with ThreadPoolExecutor() as pool:
        def compare(rights):
            monkeypatch.setattr("web.rights._matches", matches)
            monkeypatch.setattr("web.rights._PATIENCE_S", 2 * PATIENCE_S)
            pool.submit(rights.check, "9999", "192.168.1.30")
            assert begun.wait(PATIENCE_S)
            return pool

        yield compare
        over.set()


def test_a_throttled_client_is_refused_while_another_pin_is_hashed(slow_hash):
    rights = Rights(with_pins(), clock=Clock())
    for _ in range(FREE_TRIES):
        with pytest.raises(Refused, match="not the PIN"):
            rights.check("9999", "192.168.1.66")
    asked = slow_hash(rights).submit(rights.check, PIN, "192.168.1.66")
    with pytest.raises(Refused, match="too many wrong PINs"):
        asked.result(PATIENCE_S)


def test_a_pin_that_is_set_cannot_be_set_first_and_the_refusal_is_immediate(slow_hash):
    rights = Rights(with_pins())
    asked = slow_hash(rights).submit(rights.set_pins, "4711", by="192.168.1.66", first=True)
    with pytest.raises(Refused, match="set in the meantime"):
        asked.result(PATIENCE_S)


def test_few_wait_to_have_a_pin_hashed(slow_hash):
    """Each has one of the page's threads meanwhile."""
    rights = Rights(with_pins())
    pool = slow_hash(rights)
    others = [pool.submit(rights.set_pins, "4711", by="192.168.1.66") for _ in range(HASHING + 1)]
    with pytest.raises(Refused, match="many are trying"):
        next(as_completed(others, PATIENCE_S)).result()


def test_wrong_pins_are_told_to_the_log_and_to_administrators(caplog):
    rights = Rights(with_pins())
    for address in ("192.168.1.66", "192.168.1.67", "192.168.1.66"):
        with pytest.raises(Refused):
            rights.check("9999", address)
    assert [(f["address"], f["count"]) for f in rights.failed()] == [("192.168.1.66", 2), ("192.168.1.67", 1)]
    assert "192.168.1.67" in caplog.text and "9999" not in caplog.text
    for n in range(3 * MOST_FAILED):
        rights._note(str(n), 1, False)
    assert len(rights.failed()) == MOST_FAILED


@pytest.mark.parametrize("parameters", ["32769:8:1", "0:8:1", "1:8:1", "32768:0:1", "32768:8:0", "524288:8:1",
                                        "32768:99:9", "999999:8:1", "65536:64:1"])
def test_a_hash_that_cannot_be_compared_is_no_hash(tmp_path, parameters):
    """Unchecked, every sign-in ended in an error, or in all memory gone."""
    right = hashed(PIN)
    wrong = f"scrypt:{parameters}${right.partition('$')[2]}"
    assert is_hash(right) and not is_hash(wrong)
    keys = KeyFile(tmp_path)
    kept = keys.get()
    (tmp_path / "secrets.json").write_text(json.dumps({"version": 1, **asdict(kept), "table": wrong}), "utf-8")
    again = KeyFile(tmp_path)
    assert again.get().table is None and (tmp_path / "secrets.damaged.json").exists()
    if parameters in ("524288:8:1", "65536:64:1"):  # could be computed, in seconds and with half a gigabyte
        return
    for kind in ({"table": wrong}, {"table": right, "admin": wrong}):  # and should one get in all the same
        memory = with_pins()
        memory.put(replace(memory.get(), **kind))
        if kind["table"] is right:
            assert Rights(memory).check(PIN, "10.0.0.1") == Right.PLAY
        with pytest.raises(Refused, match="not the PIN"):
            Rights(memory).check("9999", "10.0.0.1")


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
    Rights(keys).set_pins(PIN, by=COMMAND_LINE)
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


def test_without_the_cookie_the_pin_that_was_set_on_a_page_administers():
    """Unless it was set in a shell, or there is an administrator's PIN: then the table's is for guests."""
    keys = Memory()
    rights = Rights(keys)
    rights.set_pins(PIN, by="192.168.1.20", first=True)
    assert rights.check(PIN, "192.168.1.20") == Right.ADMIN
    rights.set_pins(admin="907143", by="192.168.1.20")
    assert rights.check(PIN, "192.168.1.20") == Right.PLAY and rights.check("907143", "192.168.1.20") == Right.OWNER
    at_a_shell = Rights(Memory())
    at_a_shell.set_pins(PIN, by=COMMAND_LINE)
    assert at_a_shell.check(PIN, "192.168.1.20") == Right.PLAY
