"""Backup and restore: everything is restored, and an incomplete backup changes nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bastide.backup.backups import VERSION, check_backup, restore_backup, write_backup
from bastide.backup.external_files import NOTE, remember
from bastide.backup.support import replay, write_support
from bastide.errors import Failure, UsageError
from bastide.files.keys import NAME as SECRETS
from bastide.files.keys import PRIVATE, KeyFile, set_pins
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession

STORES = Path(__file__).parent / "stores"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with everything in it."""
    folder = tmp_path / "data"
    (folder / "tiles" / "own").mkdir(parents=True)
    (folder / "tiles" / "own" / "book.json").write_text("{}", "utf-8")
    (folder / "tiles" / "own" / "base.D~v1n0.png").write_bytes(random.Random(1).randbytes(5000))
    (folder / "calibration.json").write_text('{"kind": "lens"}', "utf-8")
    (folder / "logs").mkdir()
    (folder / "logs" / "bastide.json").write_text("not this", "utf-8")
    with Store(folder / "log.sqlite") as store:
        for seed in (1, 2):
            session = TableSession(store, demo_game(seed, turns=3).setup)
            for event in demo_game(seed, turns=3).events:
                session.commit((event,), confidence=1.0, asked=False, crop=b"jpeg")
    set_pins(KeyFile(folder), table="4711")
    return folder


def games(folder: Path) -> list[object]:
    with Store(folder / "log.sqlite") as store:
        return [store.load(g.id) for g in store.games()]


def test_a_restored_backup_is_what_was_there(data: Path, tmp_path: Path) -> None:
    with Store(data / "log.sqlite"):  # while the table is watched
        contents = write_backup(data, tmp_path / "b.zip")
    assert contents.games == 2 and contents.entries > 6 and contents == check_backup(tmp_path / "b.zip")
    fresh = tmp_path / "elsewhere" / "data"
    restore_backup(tmp_path / "b.zip", fresh)
    assert games(fresh) == games(data)
    with Store(fresh / "log.sqlite") as store:
        assert store.notice is None and store.pictures.crop(1, 1) == (b"jpeg", [])
    for name in ("tiles/own/book.json", "tiles/own/base.D~v1n0.png", "calibration.json"):
        assert (fresh / name).read_bytes() == (data / name).read_bytes()
    assert not (fresh / "logs").exists()
    old, new = KeyFile(data).get(), KeyFile(fresh).get()
    assert (old.table, old.series) == (new.table, new.series) and old.signing != new.signing
    assert [p.name for p in fresh.parent.iterdir()] == ["data"]


def test_no_session_and_no_key_leaves_the_machine_or_comes_back(data: Path, tmp_path: Path) -> None:
    kept = {name: json.dumps({"sessions": [], "signing": "x"}).encode() for name in PRIVATE}
    for name in set(kept) - {SECRETS}:
        (data / name).write_bytes(kept[name])
    write_backup(data, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert not [n for n in archive.namelist() if Path(n).name in PRIVATE]
        files = {n: archive.read(n) for n in archive.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    files["data/sessions.json"] = kept["sessions.json"]  # as in a backup of an earlier version
    manifest["files"]["data/sessions.json"] = {"size": len(kept["sessions.json"]),
                                               "sha256": hashlib.sha256(kept["sessions.json"]).hexdigest()}
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        for name, content in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
    restore_backup(tmp_path / "old.zip", tmp_path / "new")
    assert games(tmp_path / "new") == games(data) and not (tmp_path / "new" / "sessions.json").exists()


def test_what_the_service_uses_from_elsewhere_comes_along(data: Path, tmp_path: Path) -> None:
    home = tmp_path / "home with spaces"
    (home / "other").mkdir(parents=True)
    for name in ("table.json", "other/table.json", "colours.json"):
        (home / name).write_text(json.dumps({"kind": name}), "utf-8")
    conf = tmp_path / "bastide.conf"
    conf.write_text(f"BASTIDE_OPTIONS=--source http://anna:hunter2@10.0.0.2/v --calibration '{home}/table.json' "
                    f"--calibration=calibration.json --calibration /etc/hostname\n", "utf-8")
    more = [home / "other" / "table.json", home / "colours.json"]
    write_backup(data, tmp_path / "b.zip", settings=conf, calibrations=more)
    restore_backup(tmp_path / "b.zip", tmp_path / "new")
    kinds = sorted(json.loads(p.read_text("utf-8"))["kind"] for p in (tmp_path / "new" / "calibrations").iterdir())
    assert kinds == ["colours.json", "other/table.json", "table.json"]
    text = (tmp_path / "new" / "service.conf").read_text("utf-8")
    assert "--source" in text and "10.0.0.2" in text and "hunter2" not in text
    write_backup(tmp_path / "new", tmp_path / "c.zip", settings=conf, calibrations=more)  # and once more
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        names = archive.namelist()
        assert len(names) == len(set(names)) and sum("calibrations/" in n for n in names) == 3
    with pytest.raises(UsageError, match="none.json"):
        write_backup(data, tmp_path / "d.zip", settings=conf, calibrations=[home / "none.json"])


def test_what_a_table_was_started_with_comes_along(data: Path, tmp_path: Path) -> None:
    """Tile pictures, calibrations and players beside the data folder, as the readme has them; also a second time."""
    home = tmp_path / "home"
    (home / "mytiles").mkdir(parents=True)
    (home / "mytiles" / "base.D.png").write_bytes(b"picture")
    (home / "mytiles" / "notes.txt").write_text("mine", "utf-8")
    (home / "seats.json").write_text("[]", "utf-8")
    (home / "table.json").write_text("{}", "utf-8")
    remember(data, calibrations=[str(home / "table.json"), "gone.json"], tiles=str(home / "mytiles"),
             players=str(home / "seats.json"))
    write_backup(data, tmp_path / "b.zip", settings=tmp_path / "none")
    new = tmp_path / "new"
    restore_backup(tmp_path / "b.zip", new)
    kept = {p.relative_to(new).as_posix() for f in ("taught", "players", "calibrations")
            for p in (new / f).rglob("*.*")}
    assert kept == {"taught/mytiles/base.D.png", "players/seats.json", "calibrations/table.json"}
    write_backup(new, tmp_path / "c.zip", settings=tmp_path / "none", tiles=[home / "mytiles"])
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        assert sum("/taught/" in n for n in archive.namelist()) == 1
    (data / NOTE).write_text("[" * 5000, "utf-8")
    write_backup(data, tmp_path / "d.zip", settings=tmp_path / "none")
    with pytest.raises(UsageError, match="no such tile folder"):
        write_backup(data, tmp_path / "e.zip", settings=tmp_path / "none", tiles=[home / "none"])


def test_a_device_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a device, not a backup"):
        restore_backup(Path("/dev/zero"), tmp_path / "data", swap=False)


def test_a_linked_data_folder_stays_where_its_disk_is(data: Path, tmp_path: Path) -> None:
    write_backup(data, tmp_path / "b.zip", settings=tmp_path / "none")
    disk = tmp_path / "disk" / "games"
    disk.mkdir(parents=True)
    (tmp_path / "data-link").symlink_to(disk)
    restore_backup(tmp_path / "b.zip", tmp_path / "data-link")
    assert (tmp_path / "data-link").is_symlink() and (disk / "log.sqlite").is_file()


def test_a_folder_with_other_things_in_it_is_left_alone(data: Path, tmp_path: Path) -> None:
    write_backup(data, tmp_path / "b.zip", settings=tmp_path / "none")
    home = tmp_path / "home"
    home.mkdir()
    (home / "letters.txt").write_text("dear", "utf-8")
    with pytest.raises(UsageError, match="letters.txt"):
        restore_backup(tmp_path / "b.zip", home, swap=True)
    assert [p.name for p in home.iterdir()] == ["letters.txt"]


def test_no_secret_is_in_a_backup_in_clear(data: Path, tmp_path: Path) -> None:
    write_backup(data, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        everything = b"".join(archive.read(n) for n in archive.namelist())
    keys = KeyFile(data).get()
    assert keys.signing.encode() not in everything and keys.overlay.encode() not in everything
    assert keys.table is not None and keys.table.startswith("scrypt:") and keys.table.encode() in everything


def test_games_in_the_folder_are_kept_unless_replacing_is_asked_for(data: Path, tmp_path: Path) -> None:
    write_backup(data, tmp_path / "b.zip")
    other = tmp_path / "other"
    with Store(other / "log.sqlite") as store:
        TableSession(store, demo_game(3, turns=1).setup)
    restore_backup(tmp_path / "b.zip", other)  # nothing has been played there yet
    before = games(other)
    with pytest.raises(UsageError, match="--replace"):
        restore_backup(tmp_path / "b.zip", other)
    with Store(other / "log.sqlite"), pytest.raises(Failure, match="another bastide"):
        restore_backup(tmp_path / "b.zip", other, swap=True)
    assert games(other) == before
    restore_backup(tmp_path / "b.zip", other, swap=True)
    assert games(other) == before == games(data)
    assert len([p for p in tmp_path.iterdir() if p.name.startswith("other.before-")]) >= 1


def test_the_backup_of_every_version_is_restored(tmp_path: Path) -> None:
    for version in range(1, VERSION + 1):
        folder = tmp_path / str(version)
        restore_backup(STORES / f"backup-v{version}.zip", folder)
        with Store(folder / "log.sqlite") as store:
            assert [(g.entries, g.over) for g in store.games()] == [(20, False), (15, True)]


def test_a_backup_with_a_log_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    shutil.copy(STORES / "v1.sqlite", tmp_path / "old" / "log.sqlite")
    write_backup(tmp_path / "old", tmp_path / "b.zip")
    restore_backup(tmp_path / "b.zip", tmp_path / "new")
    with Store(tmp_path / "new" / "log.sqlite") as store:
        assert store.notice is None and [g.entries for g in store.games()] == [20, 15]


Files = dict[str, bytes]


def packed(content_of: Files, **manifest: object) -> bytes:
    """A backup by hand."""
    told = {n: {"size": len(d), "sha256": hashlib.sha256(d).hexdigest()} for n, d in content_of.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in content_of.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps({"format": "bastide-backup", "version": 1, "made_s": 1.0,
                                                      "bastide": "0", "files": told, **manifest}))
    return out.getvalue()


def linked(log: bytes) -> bytes:
    out = io.BytesIO(packed({"data/log.sqlite": log, "data/x.json": b"/etc/passwd"}))
    with zipfile.ZipFile(out) as archive:
        names = {n: archive.read(n) for n in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in names.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name == "data/x.json" else 0o100644) << 16
            archive.writestr(info, content)
    return out.getvalue()


def changed(log: bytes, statement: str) -> bytes:
    """The log with something in it that no log has."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "log.sqlite"
        path.write_bytes(log)
        db = sqlite3.connect(path)
        db.execute(statement)
        db.commit()
        db.execute("PRAGMA journal_mode=DELETE")
        db.close()
        return path.read_bytes()


def pins(table: str) -> bytes:
    return json.dumps({"table": f"{table}$salt${'0' * 128}", "admin": None, "series": 1}).encode()


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "newer": lambda log: packed({"data/log.sqlite": log}, version=VERSION + 1),
    "no version": lambda log: packed({"data/log.sqlite": log}, version="1"),
    "up": lambda log: packed({"data/log.sqlite": log, "data/../../evil.json": b"{}"}),
    "absolute": lambda log: packed({"data/log.sqlite": log, "/tmp/evil.json": b"{}"}),
    "backslash": lambda log: packed({"data/log.sqlite": log, "data/..\\evil.json": b"{}"}),
    "hidden": lambda log: packed({"data/log.sqlite": log, "data/.ssh/keys.json": b"{}"}),
    "secrets": lambda log: packed({"data/log.sqlite": log, "data/secrets.json": b"{}"}),
    "a link": linked,
    "a bomb": lambda log: packed({"data/log.sqlite": log, "data/x.json": bytes(3_000_000)},
                                 files={"data/log.sqlite": {"size": len(log), "sha256": "0"},
                                        "data/x.json": {"size": 9_000_000_000, "sha256": "0"}}),
    "a bomb that lies": lambda log: packed({"data/log.sqlite": log, "data/x.json": bytes(3_000_000)},
                                           files={"data/log.sqlite": {"size": len(log), "sha256":
                                                                      hashlib.sha256(log).hexdigest()},
                                                  "data/x.json": {"size": 10, "sha256": "0"}}),
    "not in its list": lambda log: packed({"data/log.sqlite": log, "data/x.json": b"{}"},
                                          files={"data/log.sqlite": {"size": len(log), "sha256": "0"}}),
    "a bomb that says so": lambda log: packed({"data/log.sqlite": log, "data/x.json": bytes(40_000_000)}),
    "a log that is a bomb": lambda log: packed({"data/log.sqlite": log + bytes(90_000_000)}),
    "a large file": lambda log: packed({"data/log.sqlite": log, "data/x.png": os.urandom(1000) * 60_000}),
    "a script": lambda log: packed({"data/log.sqlite": log, "data/tiles/x.sh": b"#!/bin/sh"}),
    "a library": lambda log: packed({"data/log.sqlite": log, "data/x.so": b"ELF"}),
    "no ending": lambda log: packed({"data/log.sqlite": log, "data/x": b"x"}),
    "a database elsewhere": lambda log: packed({"data/log.sqlite": log, "data/tiles/log.sqlite": log}),
    "a trigger": lambda log: packed({"data/log.sqlite": changed(
        log, "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM games; END")}),
    "a view": lambda log: packed({"data/log.sqlite": changed(log, "CREATE VIEW v AS SELECT 1")}),
    "another table": lambda log: packed({"data/log.sqlite": changed(log, "CREATE TABLE x (a)")}),
    "pictures with a trigger": lambda log: packed({"data/log.sqlite": log, "data/log.pictures.sqlite": changed(
        b"", "CREATE VIEW v AS SELECT 1")}),
    "parameters that no sign-in bears": lambda log: packed({"data/log.sqlite": log, "pins.json": pins(
        "scrypt:32769:8:1")}),
    "parameters that take all memory": lambda log: packed({"data/log.sqlite": log, "pins.json": pins(
        "scrypt:524288:16:1")}),
    "no log": lambda log: packed({"data/x.json": b"{}"}),
    "another log": lambda log: packed({"data/log.sqlite": b"SQLite format 3\0" + bytes(9000)}),
    "nothing": lambda log: b"",
    "no zip": lambda log: b"hello" * 500,
    "another zip": lambda log: packed({"data/log.sqlite": log}, format="other"),
    "a list that is none": lambda log: packed({"data/log.sqlite": log}, files=[1]),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_whole_backup_is_refused_and_changes_nothing(what: str, data: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_bytes(HOSTILE[what]((data / "log.sqlite").read_bytes()))
    before = sorted(p.name for p in tmp_path.rglob("*"))
    with pytest.raises(UsageError) as e:
        restore_backup(bad, tmp_path / "new")
    assert str(bad) in str(e.value) and "\n" not in str(e.value) and len(str(e.value)) < 300
    assert sorted(p.name for p in tmp_path.rglob("*")) == before


def test_every_changed_or_missing_byte_is_noticed(data: Path, tmp_path: Path) -> None:
    """A backup is corrupted anywhere: it is either rejected or restored correctly."""
    write_backup(data, tmp_path / "b.zip")
    whole, before = (tmp_path / "b.zip").read_bytes(), games(data)
    rng = random.Random(3)
    refused = 0
    for n in range(40):
        bad = bytearray(whole)
        if n % 3:
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            del bad[rng.randrange(len(bad)):]
        (tmp_path / "bad.zip").write_bytes(bad)
        try:
            restore_backup(tmp_path / "bad.zip", tmp_path / f"new{n}")
        except UsageError:
            refused += 1
        else:
            assert games(tmp_path / f"new{n}") == before
    assert refused > 30


def test_nothing_to_back_up_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no log"):
        write_backup(tmp_path, tmp_path / "b.zip")
    (tmp_path / "log.sqlite").write_bytes(b"no log at all" * 100)
    with pytest.raises((UsageError, Failure), match="log"):
        write_backup(tmp_path, tmp_path / "b.zip")
    assert not list(tmp_path.glob("*.zip*")) and not list(tmp_path.glob(".b*"))


def test_a_damaged_log_is_backed_up_as_far_as_it_is_whole(data: Path, tmp_path: Path) -> None:
    """Its journal has the rest; both stay as they are."""
    before = games(data)
    log = data / "log.sqlite"
    content = bytearray(log.read_bytes())
    at = content.rindex(b'"confidence"')
    content[at] ^= 0x80
    log.write_bytes(content)
    write_backup(data, tmp_path / "b.zip")
    assert log.read_bytes() == bytes(content)
    restore_backup(tmp_path / "b.zip", tmp_path / "new")
    assert games(tmp_path / "new") == before


def test_damaged_pictures_are_left_out_of_a_backup_and_of_a_support_file(data: Path, tmp_path: Path) -> None:
    """The games are whole without them: a backup was refused, and so was what is attached to a report of the damage."""
    before, pictures = games(data), data / "log.pictures.sqlite"
    pictures.write_bytes(b"\xff" * 4096 + pictures.read_bytes()[4096:])
    content = pictures.read_bytes()
    assert write_backup(data, tmp_path / "b.zip").games == 2
    write_support(data, tmp_path / "s.zip")
    assert replay(tmp_path / "s.zip")["same"] and pictures.read_bytes() == content
    restore_backup(tmp_path / "b.zip", tmp_path / "new")
    assert games(tmp_path / "new") == before
