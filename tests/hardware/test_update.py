"""Updates: never in a game, and whatever fails leaves the version before in its place. Versions are stand-ins here."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

HARDWARE = Path(__file__).parents[2] / "hardware"
SCRIPT, UNIT = HARDWARE / "update.sh", HARDWARE / "bastide.service"


class Table:
    """A table's page that reports a state of its game, or does not answer."""

    def __init__(self) -> None:
        self.view: dict[str, object] | None = {"phase": "over", "version": 40}
        self.asked, self.gate = threading.Event(), threading.Event()
        self.gate.set()
        table = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                table.asked.set()
                table.gate.wait(30.0)
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


def update(root: Path, table: Table, *what: object, restart: str = "true",
           **more: str) -> subprocess.CompletedProcess[str]:
    """A release with one argument, else the options as they are."""
    if len(what) == 1 and what[0] != "--back":
        what = ("--unsigned", *what)
    return subprocess.run([str(SCRIPT), *map(str, what)], capture_output=True, text=True, timeout=120,
                          env={**environment(root, table, restart), **more})


def environment(root: Path, table: Table, restart: str = "true") -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "BASTIDE_ROOT": str(root / "versions"), "BASTIDE_USER": "",
            "BASTIDE_DATA": str(root / "data"), "BASTIDE_URL": table.url, "BASTIDE_ACTIVE": "false",
            "BASTIDE_RESTART": restart, "BASTIDE_STEADY": "0", "BASTIDE_WITHIN": "2",
            "BASTIDE_INSTALLED": str(root / "installed"),
            "BASTIDE_SETTINGS": str(root / "bastide.conf"), "BASTIDE_KEYS": str(root / "release.signers"),
            "BASTIDE_UNIT": str(root / "bastide.service"), "BASTIDE_COMMAND": str(root / "command"),
            "BASTIDE_PACKAGED": str(root / "no.service")}


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
    assert update(tmp_path, table, version(tmp_path / "a"), restart="false").returncode == 1
    assert current(tmp_path) == installed
    assert update(tmp_path, table, version(tmp_path / "b")).returncode == 0
    assert current(tmp_path) in (tmp_path / "versions").iterdir()
    started = re.findall(r"^ExecStart=(\S*)(.*)$", drop.read_text("utf-8"), re.M)
    program = f"{tmp_path}/versions/current/.venv/bin/bastide"
    assert started[0] == ("", "") and started[1][0] == program  # the empty one takes the unit's own away
    assert f"ExecStart={installed}/.venv/bin/bastide{started[1][1]}" in told.splitlines()
    assert os.readlink(tmp_path / "command") == program
    assert update(tmp_path, table, "--back").returncode == 0 and current(tmp_path) == installed


def test_a_second_update_waits_a_moment_for_the_lock(tmp_path: Path, table: Table) -> None:
    """bastide-update.path starts the script at every switch; it has the lock for a moment when the update is over."""
    new, lock = version(tmp_path / "a"), tmp_path / "versions" / ".lock"
    lock.parent.mkdir()
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = update(tmp_path, table, new, BASTIDE_LOCKED="0")
        assert refused.returncode == 1 and refused.stderr == "update: another update is running\n"
        waiting = subprocess.Popen([str(SCRIPT), "--unsigned", str(new)], stdout=subprocess.DEVNULL,
                                   env={**environment(tmp_path, table), "BASTIDE_LOCKED": "60"})
        blocked = f":{lock.stat().st_ino} "
        while not any("->" in line and blocked in line for line in Path("/proc/locks").read_text().splitlines()):
            assert waiting.poll() is None
    assert waiting.wait(60) == 0 and current(tmp_path) is not None


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
    done = update(tmp_path, table, version(tmp_path / "b", run), restart=restart)
    assert done.returncode == 1 and says in done.stderr and "the old one runs" in done.stderr
    assert current(tmp_path) == first and first is not None and first.is_dir()
    if restart == "true":
        assert versions(tmp_path) == before


def test_what_is_no_version_is_refused(tmp_path: Path, table: Table) -> None:
    assert "no whole checkout" in update(tmp_path, table, tmp_path).stderr
    assert "no version before" in update(tmp_path, table, "--back").stderr


# -- whether a game is played ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["--port {port}", "--source usb:0 --port={port}", "--port {port} --source usb:0"])
def test_the_port_of_the_configuration_is_asked(tmp_path: Path, table: Table, options: str) -> None:
    """It restarted a table in play that was served at another port than 8000."""
    table.view = {"phase": "playing", "version": 12}
    (tmp_path / "bastide.conf").write_text("# options\nBASTIDE_OPTIONS=" + options.format(
        port=table.server.server_port) + "\n", "utf-8")
    done = update(tmp_path, table, version(tmp_path / "a"), BASTIDE_URL="")
    assert done.returncode == 1 and "a game is running" in done.stderr and current(tmp_path) is None
    table.view = {"phase": "over", "version": 12}
    assert update(tmp_path, table, tmp_path / "a", BASTIDE_URL="").returncode == 0


def test_a_table_that_does_not_answer_in_time_is_no_idle_one(tmp_path: Path, table: Table) -> None:
    table.gate.clear()
    try:
        done = update(tmp_path, table, version(tmp_path / "a"), BASTIDE_PATIENCE="0.2")
        assert table.asked.is_set()
    finally:
        table.gate.set()
    assert done.returncode == 1 and "does not say whether a game is played" in done.stderr
    assert current(tmp_path) is None


@pytest.mark.parametrize("view", [None, [], {}, "hello"])
def test_an_answer_that_says_nothing_of_a_game_is_no_idle_table(tmp_path: Path, table: Table, view: object) -> None:
    table.view = view  # type: ignore[assignment]
    done = update(tmp_path, table, version(tmp_path / "a"))
    assert done.returncode == 1 and "does not say" in done.stderr and current(tmp_path) is None


def test_a_service_that_runs_and_cannot_be_reached_is_no_idle_table(tmp_path: Path, table: Table) -> None:
    with socket.socket() as s:  # a closed port
        s.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{s.getsockname()[1]}"
        done = update(tmp_path, table, version(tmp_path / "a"), BASTIDE_URL=nobody, BASTIDE_ACTIVE="true")
        assert done.returncode == 1 and "does not say" in done.stderr and current(tmp_path) is None
        done = update(tmp_path, table, tmp_path / "a", BASTIDE_URL=nobody)  # it does not run
        assert "does not say" not in done.stderr and "did not start" in done.stderr


# -- who vouches for a version --------------------------------------------------------------------------------------

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed here")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A release key, known to the table."""
    return new_key(tmp_path, "release", tmp_path / "release.signers")


def new_key(folder: Path, name: str, signers: Path | None = None) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    if signers is not None:
        public = (folder / f"{name}.pub").read_text("utf-8").split()
        signers.write_text(f'# keys\nbastide namespaces="bastide-release" {public[0]} {public[1]}\n', "utf-8")
    return folder / name


def release(folder: Path, key: Path, *, number: str = "0.2.0", run: str = "exit 0", namespace: str = "bastide-release"
            ) -> Path:
    """A signed release; running anything of it leaves a trace beside it."""
    made = version(folder / f"v{number}", f"touch {folder}/was-run\n{run}")
    (made / "bastide").mkdir()
    (made / "bastide" / "__init__.py").write_text(f'__version__ = "{number}"\n', "utf-8")
    archive = folder / f"bastide-{number}.tar.gz"
    subprocess.run(["tar", "-czf", str(archive), "-C", str(folder), made.name], check=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", namespace, str(archive)], check=True,
                   capture_output=True)
    return archive


def taken(root: Path, table: Table, archive: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SCRIPT), str(archive)], capture_output=True, text=True, timeout=120,
                          env=environment(root, table))


@needs_ssh
def test_a_signed_release_is_taken_and_an_older_one_is_not(tmp_path: Path, table: Table, key: Path) -> None:
    assert taken(tmp_path, table, release(tmp_path, key)).returncode == 0
    first = current(tmp_path)
    assert first is not None and (tmp_path / "was-run").exists()
    done = taken(tmp_path, table, release(tmp_path, key, number="0.1.9"))  # signed, and replayed by somebody
    assert done.returncode == 1 and "older than 0.2.0" in done.stderr and current(tmp_path) == first
    assert taken(tmp_path, table, release(tmp_path, key, number="0.10.0")).returncode == 0


@needs_ssh
@pytest.mark.parametrize("what", ["changed", "signature gone", "another key", "another purpose", "no key known",
                                  "only comments", "unsigned folder"])
def test_nothing_runs_of_what_the_release_key_has_not_signed(tmp_path: Path, table: Table, key: Path,
                                                             what: str) -> None:
    signer = new_key(tmp_path, "other") if what == "another key" else key
    archive = release(tmp_path, signer, namespace="file" if what == "another purpose" else "bastide-release")
    if what == "changed":
        data = bytearray(archive.read_bytes())
        data[len(data) // 2] ^= 1
        archive.write_bytes(data)
    elif what == "signature gone":
        archive.with_name(f"{archive.name}.sig").unlink()
    elif what == "no key known":
        (tmp_path / "release.signers").unlink()
    elif what == "only comments":
        (tmp_path / "release.signers").write_text("# none yet\n", "utf-8")
    elif what == "unsigned folder":
        archive = tmp_path / "v0.2.0"
    done = taken(tmp_path, table, archive)
    assert done.returncode == 1 and done.stderr.startswith("update: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "was-run").exists() and current(tmp_path) is None and versions(tmp_path) == []


def test_a_checkout_of_ones_own_says_that_nobody_vouches_for_it(tmp_path: Path, table: Table) -> None:
    done = update(tmp_path, table, version(tmp_path / "a"))
    assert done.returncode == 0 and "nobody has signed" in done.stdout
    assert subprocess.run([str(SCRIPT)], capture_output=True, env=environment(tmp_path, table)).returncode == 2
