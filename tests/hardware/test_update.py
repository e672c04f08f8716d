"""Updates: never in a game, and whatever fails leaves the version before in its place. Versions are stand-ins here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

HARDWARE = Path(__file__).parents[2] / "hardware"
SCRIPT, UNIT = HARDWARE / "update.sh", HARDWARE / "bastide.service"


class Table:
    """A table's page: what it says of its game, or nothing at all."""

    def __init__(self) -> None:
        self.view: dict[str, object] | None = {"phase": "over", "version": 40}
        table = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                self.send_response(200 if table.view is not None else 500)
                self.end_headers()
                self.wfile.write(json.dumps(table.view).encode())

            def log_message(self, *args: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Page)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def table() -> Iterator[Table]:
    made = Table()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def version(folder: Path, run: str = "exit 0") -> Path:
    folder.mkdir()
    (folder / "pyproject.toml").write_text("", "utf-8")
    (folder / "run").write_text(f"#!/bin/sh\n{run}\n", "utf-8")
    (folder / "run").chmod(0o755)
    return folder


def update(root: Path, table: Table, what: object, restart: str = "true") -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SCRIPT), str(what)], capture_output=True, text=True, timeout=120,
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin", "BASTIDE_ROOT": str(root / "versions"),
                               "BASTIDE_DATA": str(root / "data"), "BASTIDE_URL": table.url,
                               "BASTIDE_RESTART": restart, "BASTIDE_INSTALLED": str(root / "installed"),
                               "BASTIDE_UNIT": str(root / "bastide.service"), "BASTIDE_COMMAND": str(root / "command")})


def current(root: Path) -> Path | None:
    link = root / "versions" / "current"
    return link.resolve() if link.exists() else None


def versions(root: Path) -> list[str]:
    return sorted(p.name for p in (root / "versions").iterdir() if p.is_dir() and not p.is_symlink())


def test_an_update_takes_its_place_and_can_be_taken_back(tmp_path: Path, table: Table) -> None:
    assert update(tmp_path, table, version(tmp_path / "a")).returncode == 0
    first = current(tmp_path)
    assert update(tmp_path, table, version(tmp_path / "b")).returncode == 0
    second = current(tmp_path)
    assert first is not None and second is not None and first != second
    assert update(tmp_path, table, "--back").returncode == 0 and current(tmp_path) == first


def test_the_service_runs_what_is_current_and_what_was_installed_when_the_first_update_fails(tmp_path: Path,
                                                                                        table: Table) -> None:
    installed, unit = version(tmp_path / "installed"), tmp_path / "bastide.service"
    told = UNIT.read_text("utf-8").replace("/opt/bastide/", f"{installed}/")
    unit.write_text(told, "utf-8")
    (tmp_path / "command").symlink_to(installed / ".venv/bin/bastide")
    drop = tmp_path / "bastide.service.d" / "version.conf"
    assert update(tmp_path, table, version(tmp_path / "a"), "false").returncode == 1
    assert current(tmp_path) == installed
    assert update(tmp_path, table, version(tmp_path / "b")).returncode == 0
    assert current(tmp_path) in (tmp_path / "versions").iterdir()
    started = re.findall(r"^ExecStart=(\S*)(.*)$", drop.read_text("utf-8"), re.M)
    program = f"{tmp_path}/versions/current/.venv/bin/bastide"
    assert started[0] == ("", "") and started[1][0] == program  # the empty one takes the unit's own away
    assert f"ExecStart={installed}/.venv/bin/bastide{started[1][1]}" in told.splitlines()
    assert os.readlink(tmp_path / "command") == program
    assert update(tmp_path, table, "--back").returncode == 0 and current(tmp_path) == installed


def test_there_is_no_update_in_a_game(tmp_path: Path, table: Table) -> None:
    assert update(tmp_path, table, version(tmp_path / "a")).returncode == 0
    first = current(tmp_path)
    table.view = {"phase": "playing", "version": 12}
    done = update(tmp_path, table, version(tmp_path / "b"))
    assert done.returncode == 1 and "a game is running" in done.stderr and current(tmp_path) == first
    table.view = {"phase": "playing", "version": 0}  # nothing has happened in it
    assert update(tmp_path, table, tmp_path / "b").returncode == 0


@pytest.mark.parametrize(("run", "restart", "says"), [
    ("exit 1", "true", "could not be installed"),
    ('case "$*" in *demo*) exit 1;; esac', "true", "failed its own test"),
    ('case "$*" in *restore*) exit 1;; esac', "true", "cannot read the games"),
    ("exit 0", "false", "did not start"),
])
def test_a_version_that_fails_leaves_the_old_one(tmp_path: Path, table: Table, run: str, restart: str,
                                                 says: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "log.sqlite").write_bytes(b"games")
    good = 'case "$*" in *backup*) for f; do :; done; echo backup > "$f";; esac'
    assert update(tmp_path, table, version(tmp_path / "a", good)).returncode == 0
    first, before = current(tmp_path), versions(tmp_path)
    done = update(tmp_path, table, version(tmp_path / "b", run), restart)
    assert done.returncode == 1 and says in done.stderr and "the old one runs" in done.stderr
    assert current(tmp_path) == first and first is not None and first.is_dir()
    if restart == "true":
        assert versions(tmp_path) == before


def test_what_is_no_version_is_refused(tmp_path: Path, table: Table) -> None:
    assert "no whole checkout" in update(tmp_path, table, tmp_path).stderr
    assert "no version before" in update(tmp_path, table, "--back").stderr
