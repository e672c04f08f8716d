"""bastide.txt on the card: applied completely or not at all, errors below the invalid lines, no secrets left."""

from __future__ import annotations

import configparser
import os
import random
import re
from pathlib import Path

import pytest

from bastide.cli import main
from bastide.errors import Failure
from bastide.files.keys import KeyFile
from bastide.machine import card as card_module
from bastide.machine.card import CHECKS, OPEN, TEMPLATE, read_card, understood
from web.rights import Refused, Right, Rights

PIN, PASSWORD = "4711", "ch33se board"
GOOD = f"wifi = Caffè Roma\nwifi-password = {PASSWORD}\ncountry = de\nname = Table-2\nlanguage = DE\npin = {PIN}\n"


class Pi:
    """A system in a folder, with its card."""

    def __init__(self, folder: Path) -> None:
        self.root, self.data, self.file = folder / "root", folder / "data", folder / "boot" / "bastide.txt"
        for made in (self.root / "etc", self.data, self.file.parent):
            made.mkdir(parents=True)
        (self.root / "etc/hostname").write_text("bastide\n", "utf-8")
        (self.root / "etc/hosts").write_text("127.0.0.1\tlocalhost\n127.0.1.1\tbastide\n", "utf-8")

    def start(self, text: str | bytes | None = None) -> list[str]:
        if text is not None:
            self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_card(self.file, root=self.root, data=self.data, live=False)

    def everything(self) -> dict[str, bytes]:
        return {p.relative_to(self.root.parent).as_posix(): p.read_bytes()
                for top in (self.root, self.data) for p in sorted(top.rglob("*")) if p.is_file()}

    def admin(self, pin: str) -> bool:
        try:
            return Rights(KeyFile(self.data)).check(pin, "192.168.1.9") is Right.OWNER
        except Refused:
            return False


@pytest.fixture
def pi(tmp_path: Path) -> Pi:
    return Pi(tmp_path)


def test_a_card_sets_everything_once_and_keeps_no_secret(pi: Pi) -> None:
    said = pi.start(TEMPLATE + GOOD)
    assert len(said) == 1 and "the Wi-Fi Caffè Roma" in said[0] and PIN not in said[0] and PASSWORD not in said[0]
    wifi = pi.root / "etc/NetworkManager/system-connections/bastide-wifi.nmconnection"
    assert wifi.stat().st_mode & 0o777 == 0o600  # NetworkManager takes no other
    told = configparser.RawConfigParser(interpolation=None)
    told.read_string(wifi.read_text("utf-8"))
    assert bytes(int(b) for b in told["wifi"]["ssid"].split(";") if b).decode() == "Caffè Roma"
    assert told["wifi-security"]["psk"].replace("\\s", " ") == PASSWORD
    assert (pi.root / "etc/hostname").read_text() == "table-2\n"
    assert (pi.root / "etc/hosts").read_text().splitlines()[-1] == "127.0.1.1\ttable-2"
    assert "bastide\n" not in (pi.root / "etc/hosts").read_text()
    assert (pi.root / "etc/bastide/card.conf").read_text() == "BASTIDE_LANGUAGE=de\n"
    assert "regdom=DE" in (pi.root / "etc/modprobe.d/bastide-wifi.conf").read_text()
    assert pi.admin(PIN) and not pi.admin("2580")
    left = pi.file.read_text("utf-8")
    assert PIN not in left and PASSWORD not in left and "# taken: wifi = Caffè Roma" in left
    assert [p.name for p in pi.file.parent.iterdir()] == ["bastide.txt"]
    before = pi.everything()
    assert pi.start() == [] and pi.everything() == before and pi.file.read_text("utf-8") == left


def test_with_an_administrator_from_the_card_nobody_else_takes_the_table(pi: Pi) -> None:
    """Without a PIN anybody can set the first one; with one from the card nobody can."""
    pi.start(f"pin = {PIN}\n")
    rights = Rights(KeyFile(pi.data))
    assert rights.pin_is_set
    with pytest.raises(Refused):
        rights.set_pins("2580", by="a guest", first=True)


def test_a_lost_pin_is_set_anew_by_the_card_alone(pi: Pi) -> None:
    Rights(KeyFile(pi.data)).set_pins("2580", "8520", by="the page")
    series = KeyFile(pi.data).get().series
    assert pi.start(f"PIN={PIN}\r\n") == ["taken from bastide.txt: the administrator's PIN"]
    assert pi.admin(PIN) and not pi.admin("8520") and KeyFile(pi.data).get().series > series
    assert Rights(KeyFile(pi.data)).check("2580", "192.168.1.9") is Right.PLAY  # the table's stays


@pytest.mark.parametrize(("line", "says"), [
    ("wifi = " + "x" * 33, "1 to 32"), ("wifi-password = short", "8 to 63"), ("wifi-password = päßwörter", "8 to 63"),
    ("country = Germany", "two letters"), ("name = My Table!", "hyphens"), ("name = -x", "hyphens"),
    ("language = es", "one of en, de, fr"), ("pin = 123", "4 to 12 digits"), ("pin = 1234", "first that anybody"),
    ("wlan = home", "is not understood"), ("hello", "is not understood"), ("= x", "is not understood"),
    ("ssid: home", "is not understood"), ("pin = 4712\nPIN = 4713", "twice"),
    ("wifi-password = 12345678", "missing: wifi ="), ("wifi = home", "wifi-password = open"),
])
def test_with_one_wrong_line_nothing_is_done_and_it_says_why_below(pi: Pi, line: str, says: str) -> None:
    key = line.partition("=")[0].strip().lower() or line
    kept = "".join(f"{g}\n" for g in GOOD.splitlines()
                   if not g.startswith(key) and not (key.startswith("wifi") and g.startswith("wifi")))
    before = pi.everything()
    said = pi.start(kept + line + "\n")
    assert pi.everything() == before
    assert said and all("nothing was done" in s for s in said) and any(says in s for s in said)
    left = pi.file.read_text("utf-8").splitlines()
    below = [n for n, text in enumerate(left) if text.startswith("# bastide: ")]
    assert below and left[below[-1] - 1] == line.splitlines()[-1] and says in left[below[-1]]
    assert pi.start() == said  # said again, and only once in the file
    assert [n for n, t in enumerate(pi.file.read_text("utf-8").splitlines()) if t.startswith("# bastide: ")] == below
    pi.file.write_text("\n".join(t for t in left if t not in line.splitlines()) + "\n", "utf-8")
    assert pi.start() and "# bastide" not in pi.file.read_text("utf-8")  # mended: taken, and no complaint is left


@pytest.mark.parametrize("encoded", [
    lambda t: t.encode("utf-8-sig"), lambda t: t.encode("utf-16"), lambda t: t.replace("\n", "\r\n").encode(),
    lambda t: t.rstrip("\n").encode(), lambda t: t.replace("wifi-password", "WIFI_Password").encode(),
    lambda t: t.replace("language = DE", 'language = "de"').encode(),
])
def test_what_editors_make_of_it_is_read(pi: Pi, encoded: object) -> None:
    assert callable(encoded)
    assert len(pi.start(encoded(GOOD))) == 1 and pi.admin(PIN)
    left = pi.file.read_bytes()
    assert PIN.encode() not in left and PASSWORD.encode() not in left


def test_an_open_network_and_a_password_with_odd_letters(pi: Pi) -> None:
    pi.start(f"wifi = home\nwifi-password = {OPEN}\n")
    wifi = pi.root / "etc/NetworkManager/system-connections/bastide-wifi.nmconnection"
    assert "psk" not in wifi.read_text()
    pi.start('wifi = a;b\\c\nwifi-password = " a=b#c\\d; "\n')
    told = wifi.read_text("utf-8")
    assert "psk=\\sa=b#c\\\\d;\\s" in told and "ssid=97;59;98;92;99;" in told


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x80\x81pin = 4711", b"pin = 4711\n" * 3000, b"", b"\0" * 100])
def test_no_file_makes_it_fail(pi: Pi, data: bytes) -> None:
    before = pi.everything()
    said = pi.start(data)
    assert pi.everything() == before and (not said or "nothing was done" in said[0])


def test_random_bytes_do_nothing_or_say_why(pi: Pi) -> None:
    rng, before = random.Random(5), pi.everything()
    pieces = [*(f"{k} = " for k in CHECKS), "4711", "\n", "=", "#", '"', " ", "\x00", "ä", "wifi", "\\", "x" * 40]
    for _ in range(150):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(12)))
        if not (read := understood(text.encode())).wrong and read.values:
            continue  # it happens to be right
        pi.start(text)
        assert pi.everything() == before, text


def test_a_failure_half_way_is_rolled_back(pi: Pi, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pi.everything()

    def broken(data: Path, pin: str) -> None:
        raise Failure("the disk is full")
    monkeypatch.setattr(card_module, "_set_pin", broken)
    with pytest.raises(Failure, match="nothing was done"):
        pi.start(GOOD)
    assert pi.everything() == before and PIN in pi.file.read_text("utf-8")
    monkeypatch.undo()
    assert pi.start() and pi.admin(PIN)  # the next start does it


@pytest.mark.parametrize("at", ["written over", "written over in part", "new one whole"])
def test_a_power_cut_while_it_is_blanked(pi: Pi, at: str) -> None:
    pi.start(GOOD)
    done = pi.file.read_bytes()
    pi.file.with_name("bastide.txt.new").write_bytes(done)
    if at != "new one whole":
        pi.file.write_bytes(b"\0" * 300 if at == "written over" else b"\0" * 20 + GOOD.encode()[20:])
        assert pi.start() == [] and pi.file.read_bytes() == done
    else:
        pi.file.write_bytes(GOOD.encode())
        assert pi.start() and PIN not in pi.file.read_text("utf-8")  # taken again, which changes nothing
    assert [p.name for p in pi.file.parent.iterdir()] == ["bastide.txt"]


def test_a_card_that_cannot_be_written_says_that_its_secrets_are_still_there(pi: Pi,
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    pi.file.write_text(GOOD, "utf-8")
    real = os.replace

    def refused(old: object, new: object) -> None:
        if Path(str(new)) == pi.file:
            raise OSError(30, "Read-only file system")
        real(str(old), str(new))
    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(Failure, match="secrets are still in it"):
        pi.start()


def test_the_template_asks_for_nothing_and_names_every_key(pi: Pi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", "template"]) == 0
    told = capsys.readouterr().out
    assert told.replace("\r\n", "\n") == TEMPLATE
    assert re.findall(r"^([a-z-]+) =$", TEMPLATE, re.M) == list(CHECKS)
    assert pi.start(told) == [] and pi.file.read_text("utf-8").replace("\r\n", "\n") == TEMPLATE


def test_the_command_does_the_same(pi: Pi, capsys: pytest.CaptureFixture[str]) -> None:
    pi.file.write_text("language = fr\nname = x y\n", "utf-8")
    argv = ["card", "read", str(pi.file), "--root", str(pi.root), "--data", str(pi.data)]
    assert main(argv) == 0 and "line 2: a name has" in capsys.readouterr().out
    pi.file.write_text("language = fr\n", "utf-8")
    assert main(argv) == 0 and "the language fr" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["shadow", "bastide.txt"])
def test_no_other_file_is_written_into(pi: Pi, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Named by mistake, or where a link leads to."""
    other = pi.root / "etc" / "shadow"
    other.write_text("root:*:20000:0:99999:7:::\n", "utf-8")
    asked = other if name == "shadow" else pi.file
    if asked is pi.file:
        pi.file.symlink_to(other)
    before = pi.everything()
    assert main(["card", "read", str(asked), "--data", str(pi.data), "--root", str(pi.root)]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and pi.everything() == before
