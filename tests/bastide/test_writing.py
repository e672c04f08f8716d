"""Atomic writes: rewritten files, a watched game, remains of a restore."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bastide.backup import backups, support
from bastide.commands import watch_command
from bastide.errors import Failure, UsageError
from bastide.files import writing
from bastide.files.writing import write_whole
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from scoring.transcript import write
from web.protocol import Unavailable


def test_a_disk_that_gets_full_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(b"old")
    os.chmod(file, 0o640)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(writing.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_whole(file, b"new")
    assert file.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["game.json"]
    (tmp_path / "link").symlink_to(file)
    write_whole(tmp_path / "link", b"new")
    assert file.read_bytes() == b"new" and (tmp_path / "link").is_symlink() and file.stat().st_mode & 0o777 == 0o640
    write_whole(Path(os.devnull), b"x")
    assert not Path(os.devnull).is_file()


def test_a_file_for_its_owner_is_so_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in its place is replaced, and its target not written to."""
    other, file = tmp_path / "other", tmp_path / "pins.json"
    other.write_bytes(b"theirs")
    file.symlink_to(other)
    (tmp_path / ".pins.json.part").symlink_to(other)  # where it is written first
    seen, replace = [], os.replace

    def watched(part: Path, name: Path) -> None:
        seen.append((Path(part).stat().st_mode & 0o777, Path(part).read_bytes()))
        replace(part, name)

    monkeypatch.setattr(writing.os, "replace", watched)
    old = os.umask(0)
    try:
        write_whole(file, b"secret", mode=0o600, durable=True)
    finally:
        os.umask(old)
    assert seen == [(0o600, b"secret")] and other.read_bytes() == b"theirs"
    assert not file.is_symlink() and file.read_bytes() == b"secret" and file.stat().st_mode & 0o777 == 0o600


def test_an_archive_that_is_given_up_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    file.write_bytes(b"old")
    with pytest.raises(ValueError, match="given up"), writing.replacing(file) as part:
        part.write_bytes(b"half of it")
        raise ValueError("given up")
    assert file.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["backup.zip"]


def test_a_watched_game_is_beside_its_file_before_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a kill or a power cut the game so far is there."""
    from bastide.cli import parser

    monkeypatch.setattr(watch_command, "KEPT_EVERY_S", 0.0)
    seen: list[dict[str, Any]] = []
    whole = writing.write_whole

    def noted(path: Path, data: bytes) -> None:
        whole(path, data)
        seen.append({"name": path.name, **json.loads(path.read_text("utf-8"))})

    monkeypatch.setattr(writing, "write_whole", noted)
    (tmp_path / "game.json").write_text(json.dumps(write(demo_game(3, turns=1))), "utf-8")
    args = parser().parse_args(["watch", "--source", f"sim:transcript={tmp_path / 'game.json'}&seed=3"
                                "&level=easy&size=1152x648", "--out", str(tmp_path / "out.json"), "--data",
                                str(tmp_path / "data"), "--json"])
    assert watch_command.run(args) == 0
    assert [s["name"] for s in seen][-1] == "out.json" and seen[0]["name"] == "out.json.so-far"
    assert seen[-2]["turns"] == seen[-1]["turns"] != [] and not (tmp_path / "out.json.so-far").exists()


@pytest.mark.parametrize("command", ["backup", "support"])
def test_a_device_is_not_replaced_by_an_archive(tmp_path: Path, command: str) -> None:
    with Store(tmp_path / "data" / "log.sqlite"):
        pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="must be a file"):
        if command == "backup":
            backups.write_backup(tmp_path / "data", pipe, settings=tmp_path / "none")
        else:
            support.write_support(tmp_path / "data", pipe, tmp_path / "none")
    assert pipe.is_fifo()


def test_what_a_killed_restore_left_is_swept(tmp_path: Path) -> None:
    old, young = tmp_path / ".data.restore-a", tmp_path / ".data.restore-b"
    for folder in (old, young):
        (folder / "data").mkdir(parents=True)
    os.utime(old, (1e9, 1e9))
    with pytest.raises(UsageError):
        backups.restore_backup(tmp_path / "none.zip", tmp_path / "data")
    assert not old.exists() and young.exists()


def test_a_disk_that_is_gone_is_told_to_those_who_only_look(tmp_path: Path) -> None:
    from bastide.table.session import TableSession
    from web.app import create_app

    with Store(tmp_path / "data" / "log.sqlite") as store:
        app = create_app(TableSession(store, demo_game(3, turns=1).setup))
        (tmp_path / "data" / "log.sqlite").rename(tmp_path / "gone")
        answer = app.test_client().get("/api/games", headers={"Host": "localhost"})
    assert answer.status_code == 507 and answer.get_json()["error"]["code"] == "not_saved"
    assert issubclass(Failure, Unavailable)
