"""The table's own certificates: accepted by browsers, limited by name constraints, and renewed in time."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import pytest

from bastide.cli import main
from bastide.errors import Failure
from bastide.log.store import Store
from bastide.machine.certificates import AUTHORITY, FOLDER, LEAF_DAYS, MADE, RENEW_DAYS, Certificates, certified

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed here")
DAY_S = 86_400
HOME = ("192.168.1.7", "fd00::7")


def greeted(table: Certificates, name: str) -> str:
    """A handshake in memory, as a browser that trusts the authority does it: the name that the certificate is for."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(table.page)
    client = ssl.create_default_context(cadata=table.authority())
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    there = server.wrap_bio(up, down, server_side=True)
    here = client.wrap_bio(down, up, server_hostname=name)
    for _ in range(4):
        for side in (here, there):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    found = here.getpeercert()
    assert found is not None
    return str(found["subject"][0][0][1])  # type: ignore[index]


def test_a_browser_that_trusts_the_authority_takes_every_name_and_address(tmp_path: Path) -> None:
    table = Certificates(tmp_path)
    assert table.renew("Tisch-2", HOME) and not table.renew("tisch-2.fritz.box", HOME)
    for name in ("tisch-2.local", "tisch-2.lan", "localhost", "192.168.1.7", "fd00::7", "127.0.0.1"):
        assert greeted(table, name) == "tisch-2.local"
    with pytest.raises(ssl.SSLCertVerificationError):
        greeted(table, "example.org")


def test_keys_are_the_services_alone_and_in_no_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    table = Certificates(data)
    table.renew("bastide", HOME)
    folder = data / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {p.name for p in folder.iterdir() if p.stat().st_mode & 0o777 == 0o600} == {p.name for p in folder.iterdir()}
    assert "PRIVATE" in table.page.read_text() and "PRIVATE" in (folder / AUTHORITY).read_text()
    assert "PRIVATE" not in table.authority()
    with Store(data / "log.sqlite"):
        pass
    assert main(["backup", "--data", str(data), "--out", str(tmp_path / "b.zip")]) == 0
    with ZipFile(tmp_path / "b.zip") as saved:
        assert not [n for n in saved.namelist() if FOLDER in n or n.endswith(".pem")]


@pytest.mark.parametrize(("name", "address"), [("shop.example.org", "192.168.1.7"), ("bastide.local", "93.184.216.34")])
def test_the_authoritys_key_certifies_local_names_only(
        tmp_path: Path, name: str, address: str) -> None:
    """Misuse of a stolen key: rejected by OpenSSL, whose checks are similar to browsers'."""
    table = Certificates(tmp_path)
    table.renew("bastide", HOME)
    table._make_leaf("bastide", (name,), (address,))
    (tmp_path / "trusted.pem").write_text(table.authority())
    asked = subprocess.run(["openssl", "verify", "-CAfile", str(tmp_path / "trusted.pem"), str(table.page)],
                           capture_output=True, text=True)
    assert asked.returncode != 0 and "permitted subtree violation" in asked.stdout + asked.stderr
    # Allowed names pass the same check.
    table._make_leaf("bastide", ("bastide.local",), ("192.168.1.7",))
    subprocess.run(["openssl", "verify", "-CAfile", str(tmp_path / "trusted.pem"), str(table.page)], check=True,
                   capture_output=True)


def test_it_renews_itself_and_devices_need_not_be_told_again(tmp_path: Path) -> None:
    now = [time.time()]
    table = Certificates(tmp_path, clock=lambda: now[0])
    table.renew("bastide", HOME)
    trusted = table.authority()
    now[0] += (LEAF_DAYS - RENEW_DAYS - 1) * DAY_S
    assert not table.renew("bastide", HOME)
    now[0] += 2 * DAY_S
    assert table.renew("bastide", HOME) and not table.renew("bastide", HOME)
    assert table.renew("bastide", ("192.168.1.8",)), "the router gave another address"
    assert table.renew("table", ("192.168.1.8",)), "it is called otherwise"
    for spoiled in (table.page, tmp_path / FOLDER / MADE):
        spoiled.unlink()
        assert table.renew("table", ("192.168.1.8",))
    (tmp_path / FOLDER / MADE).write_text("[]")
    assert table.renew("table", ("192.168.1.8",))
    now[0] -= 500 * DAY_S  # the clock was far ahead when it was made
    assert table.renew("table", ("192.168.1.8",))
    assert table.authority() == trusted
    (tmp_path / FOLDER / AUTHORITY).write_text("spoiled")
    assert table.renew("table", ("192.168.1.8",)) and table.authority() != trusted


def test_what_is_beyond_home_is_left_out() -> None:
    names, addresses = certified("table.example.org", ("8.8.8.8", "2001:db8::1", "fe80::1%eth0", "10.0.0.3"))
    assert names[0] == "table.local" and "table.example.org" not in names
    assert addresses == ("10.0.0.3", "127.0.0.1", "fe80::1")
    assert certified("localhost", ())[0] == ("localhost",)


def test_what_cannot_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="cannot be read"):
        Certificates(tmp_path).authority()
    (tmp_path / "taken").write_text("")
    with pytest.raises(Failure, match="cannot be kept"):
        Certificates(tmp_path / "taken").renew("bastide", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="sudo apt install -y openssl"):
        Certificates(tmp_path / "data").renew("bastide", ())
