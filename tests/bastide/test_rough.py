"""Rough treatment of a machine: deleted folders, power cuts in a backup, full cards, clocks that jump, links."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from processes import ROOT, Served

from bastide.backup.backups import check_backup, write_backup
from bastide.backup.support import write_support
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession

NO_NAMESPACE = 77


def played(folder: Path, turns: int = 8, crop: bytes | None = None) -> int:
    game = demo_game(3, turns=turns)
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False, crop=crop)
        return len(session.entries)


def test_a_folder_that_is_deleted_under_a_running_table(tmp_path: Path) -> None:
    """Nothing is shown that would be lost; the player gets an error."""
    data = tmp_path / "data"
    with Served("serve", "--port", 0, "--host", "127.0.0.1", "--data", data) as served:
        before = served.get()
        served.sign_in()
        for path in sorted(data.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        data.rmdir()
        answer = served.do(do="tile", tile="base.U", at=[0, -1], rot=0)
        assert answer["error"]["code"] == "not_saved" and "moved or removed" in answer["error"]["text"]
        assert served.get()["version"] == before["version"]
        rows = {row["what"]: row["state"] for row in served.get("api/doctor")["checks"]}
        assert rows["disk"] and served.end() == 0


def test_a_backup_killed_at_any_moment_leaves_no_file_that_looks_like_one(tmp_path: Path) -> None:
    played(tmp_path / "data", crop=random.Random(1).randbytes(200_000))
    out, rng = tmp_path / "b.zip", random.Random(2)
    whole = []
    for n in range(4):
        process = subprocess.Popen([sys.executable, "-m", "bastide", "backup", "--data", str(tmp_path / "data"),
                                    "--out", str(out)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            process.communicate(timeout=rng.uniform(0.3, 1.6) if n < 3 else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        assert not out.exists() or check_backup(out).games == 1
        whole.append(out.exists())
    assert whole[-1] and sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "data"]


def test_a_card_that_is_really_full(tmp_path: Path) -> None:
    """A file system of 1.5 MB, filled by the game's own pictures: every move is on disk or was refused."""
    code = f"""
import json, subprocess, sys
from pathlib import Path
sys.path[:0] = [{str(ROOT)!r}]
mount = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", {str(tmp_path)!r}]
if subprocess.run(mount, capture_output=True).returncode:
    sys.exit({NO_NAMESPACE})
from bastide.table.demo_game import demo_game
from bastide.errors import Failure
from bastide.table.session import TableSession
from bastide.log.store import Store
from bastide.backup.support import write_support
from bastide.backup.backups import write_backup
folder, game = Path({str(tmp_path)!r}) / "data", demo_game(3, turns=40)
refused = unpictured = 0
with Store(folder / "log.sqlite") as store:
    session = TableSession(store, game.setup)
    for event in game.events:
        before = session.view()["version"]
        try:
            session.commit((event,), confidence=1.0, asked=False, crop=bytes(60_000))
        except Failure as e:
            assert "free some space" in str(e), e
            refused += session.view()["version"] == before
            unpictured += session.view()["version"] > before
    shown, scores = session.view()["version"], list(session.state.scores)
    for write in (write_backup, write_support):
        try:
            write(folder, folder.parent / "out.zip")
        except Failure as e:
            assert "\\n" not in str(e)
            assert not (folder.parent / "out.zip").exists()
        (folder.parent / "out.zip").unlink(missing_ok=True)
    assert [p.name for p in folder.parent.iterdir()] == ["data"]
with Store(folder / "log.sqlite") as store:
    again = TableSession.resume(store)
    assert store.notice is None and len(again.entries) == shown and list(again.state.scores) == scores
print(json.dumps([shown, refused, unpictured]))
"""
    shown, refused, unpictured = json.loads(in_namespace(code))
    assert shown > 10 and refused + unpictured > 10


def test_a_table_starts_and_goes_on_when_the_card_has_been_filled(tmp_path: Path) -> None:
    """A file system filled to the last block by somebody else: the reserve makes room for the game, also at a start."""
    code = f"""
import os, subprocess, sys
from pathlib import Path
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests" / "bastide")!r}]
mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", {str(tmp_path)!r}]
if subprocess.run(mount, capture_output=True).returncode:
    sys.exit({NO_NAMESPACE})
from processes import Served
folder = Path({str(tmp_path)!r}) / "data"
where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", folder)

def fill():
    with open(folder.parent / "filler", "wb", buffering=0) as f:
        try:
            while f.write(bytes(4096)):
                pass
        except OSError:
            pass

with Served(*where) as first:
    first.do(do="tile", tile="base.U", at=[0, -1], rot=0)
    first.end()
assert (folder / "reserve").stat().st_size > 1_000_000
fill()
with Served(*where) as full:
    assert any("is full" in line for line in full.lines), full.lines
    assert full.get()["version"] == 1 and not (folder / "reserve").exists()
    assert full.do(do="undo")["version"] == 2
    os.unlink(folder.parent / "filler")
    assert full.do(do="tile", tile="base.U", at=[0, -1], rot=0)["version"] == 3
    assert (folder / "reserve").exists()
    fill()
    for n in range(400):
        answer = full.do(do="undo" if n % 2 == 0 else "tile", **({{}} if n % 2 == 0 else
                         dict(tile="base.U", at=[0, -1], rot=0)))
        assert answer.get("version") == 4 + n, answer
    full.kill()
with Served(*where) as again:
    assert again.get()["version"] == 403
    again.end()
"""
    in_namespace(code)


def in_namespace(code: str) -> str:
    """Run Python where it may mount; returns its output. Skips where that is not permitted."""
    try:
        done = subprocess.run(["unshare", "-rm", sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine (util-linux)")
    if done.returncode == NO_NAMESPACE or "unshare" in done.stderr:
        pytest.skip("namespaces are not permitted here")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_clock_that_goes_back_changes_nothing_but_the_times(tmp_path: Path) -> None:
    game, now = demo_game(3, turns=8), [2_000_000_000.0]

    def clock() -> float:
        now[0] -= 1_000_000.0
        return now[0]

    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, game.setup, clock=clock)
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False)
        session.command({"do": "undo"})
        session.command({"do": "undo"})
        shown = session.view()
        assert [h["seq"] for h in session.past.corrections()] == sorted(
            (h["seq"] for h in session.past.corrections()), reverse=True)
    with Store(tmp_path / "log.sqlite") as store:
        again = TableSession.resume(store)
        assert again is not None and again.view()["players"] == shown["players"] and store.notice is None


def test_links_in_the_folder_lead_nowhere(tmp_path: Path) -> None:
    """A backup or a support file may be made by root: link targets are not included."""
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    played(data)
    elsewhere.mkdir()
    (elsewhere / "shadow.json").write_text("root:secret", "utf-8")
    (data / "logs").mkdir()
    os.symlink(elsewhere / "shadow.json", data / "x.json")
    os.symlink(elsewhere / "shadow.json", data / "logs" / "x.jsonl")
    os.symlink(elsewhere, data / "tiles")
    write_backup(data, tmp_path / "b.zip")
    write_support(data, tmp_path / "s.zip", tmp_path / "none")
    for name in ("b.zip", "s.zip"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert not any(b"root:secret" in archive.read(n) for n in archive.namelist())
