"""A release in one file: what its signature covers, what the page asks for, and a version that really does not serve.

Packages are real ones of dpkg-deb with a stand-in for the program; their pages are processes of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bastide import __version__
from bastide.machine.updates import Updates
from hardware.release_file import NotTaken, check, seal
from web.protocol import CommandError

SCRIPT = Path(__file__).parents[2] / "hardware" / "update.sh"
pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("ssh-keygen", "dpkg-deb", "dpkg"))),
                                reason="ssh-keygen or dpkg is not installed here")
NEXT = "99.0.0"
GOOD, CRASHES, HANGS, DIES = "serves", "crashes", "hangs", "dies"

# What a version's page is here: /api/state over HTTP, and its version in it.
PAGE = '''
import json, os, signal, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
how, version, port = sys.argv[1:]
if how == "crashes":
    sys.exit(3)
if how == "hangs":
    print("up", flush=True)
    signal.pause()
class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"phase": "over", "version": 4, "program": version}).encode())
        self.wfile.flush()
        if how == "dies":
            os._exit(1)
    def log_message(self, *args): ...
served = HTTPServer(("127.0.0.1", int(port)), Page)
print("up", flush=True)
served.serve_forever()
'''
RUN = '''#!/bin/sh
case "$*" in
  *--version*) touch "{trace}" ;;
  *demo*) {demo} ;;
  "bastide serve"*) exec "{python}" "{page}" {how} {version} "$3" ;;
esac
'''
# What systemd does: the old process ends, then the new one begins; the restart is done when it is up or dead.
RESTART = '''#!/bin/sh
exec "{python}" - <<'PY'
import contextlib, os, select, signal, subprocess, sys
with contextlib.suppress(FileNotFoundError, ProcessLookupError):
    old = os.pidfd_open(int(open("{root}/pid").read()))
    signal.pidfd_send_signal(old, signal.SIGKILL)
    select.select([old], [], [])
new = subprocess.Popen(["{root}/versions/current/run", "bastide", "serve", "{port}"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL)
with open("{root}/pid", "w") as f:
    f.write(str(new.pid))
sys.exit(new.stdout.readline() != b"up\\n")
PY
'''


def tree(folder: Path, version: str, how: str, root: Path, demo: str = "true") -> Path:
    (folder / "bastide").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("", "utf-8")
    (folder / "bastide" / "__init__.py").write_text(f'__version__ = "{version}"\n', "utf-8")
    (folder / ".venv").mkdir()
    (folder / ".venv" / ".installed-program").touch()
    (folder / "page.py").write_text(PAGE, "utf-8")
    (folder / "run").write_text(RUN.format(trace=root / "was-run", demo=demo, python=sys.executable, how=how,
                                           page="$(dirname \"$0\")/page.py", version=version), "utf-8")
    (folder / "run").chmod(0o755)
    return folder


def about(version: str = NEXT, **other: object) -> dict[str, Any]:
    arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    python = subprocess.run(["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True,
                            text=True, check=True).stdout.strip()
    return {"version": version, "arch": arch, "python": python, "suite": "here", "installed_kb": 100,
            "changes": "- all is new\n", **other}


class Table:
    """An installed table: its folders, its key, its page."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.data.mkdir()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(root / "key")], check=True)
        kind, public = (root / "key.pub").read_text("utf-8").split()[:2]
        self.signers = root / "release.signers"
        self.signers.write_text(f'bastide namespaces="bastide-release" {kind} {public}\n', "utf-8")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        (root / "restart").write_text(RESTART.format(root=root, port=self.port, python=sys.executable), "utf-8")
        (root / "restart").chmod(0o755)
        (root / "watcher").touch()
        (root / "bin").mkdir()
        self.playing = False
        self.updates = Updates(self.data, running=lambda: self.playing, versions=root / "versions",
                               signers=self.signers, watchers=(root / "watcher",))

    def package(self, version: str = NEXT, how: str = GOOD, *, sealed: bool = True, demo: str = "true",
                **other: object) -> Path:
        staged = self.root / f"staged-{version}-{how}"
        tree(staged / "opt" / "bastide", version, how, self.root, demo)
        (staged / "DEBIAN").mkdir()
        (staged / "DEBIAN" / "control").write_text(
            f"Package: bastide\nVersion: {version}\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: stand-in\n",
            "utf-8")
        made = self.root / f"bastide_{version}_{how}.deb"
        subprocess.run(["dpkg-deb", "-Zgzip", "--root-owner-group", "-b", str(staged), str(made)], check=True,
                       capture_output=True)
        if sealed:
            seal(made, about(version, **other), self.root / "key")
        return made

    def update(self, *argv: object) -> subprocess.CompletedProcess[str]:
        root = self.root
        env = {"PATH": f"{root}/bin:/usr/local/bin:/usr/bin:/bin", "BASTIDE_ROOT": str(root / "versions"),
               "BASTIDE_USER": "",
               "BASTIDE_DATA": str(self.data), "BASTIDE_URL": self.url, "BASTIDE_ACTIVE": "false",
               "BASTIDE_RESTART": str(root / "restart"), "BASTIDE_STEADY": "0.1", "BASTIDE_WITHIN": "2",
               "BASTIDE_INSTALLED": str(root / "installed"), "BASTIDE_SETTINGS": str(root / "bastide.conf"),
               "BASTIDE_KEYS": str(self.signers), "BASTIDE_UNIT": str(root / "bastide.service"),
               "BASTIDE_PACKAGED": str(root / "no.service"), "BASTIDE_COMMAND": str(root / "command")}
        return subprocess.run([str(SCRIPT), *map(str, argv)], capture_output=True, text=True, timeout=120, env=env)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serves(self) -> str:
        """The version whose page is there; a restart has waited for it."""
        with urllib.request.urlopen(f"{self.url}/api/state", timeout=60) as answer:
            return str(json.load(answer)["program"])

    def current(self) -> Path | None:
        link = self.root / "versions" / "current"
        return link.resolve() if link.exists() else None

    def bring(self, package: Path) -> None:
        data = package.read_bytes()
        half = len(data) // 2
        self.updates.piece(0, data[:half])
        assert self.updates.piece(half, data[half:])["upload"] == len(data)

    def last(self) -> dict[str, Any]:
        last = self.updates.state()["last"]
        assert isinstance(last, dict)
        return last


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path)
    yield made
    if (tmp_path / "pid").exists():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_sealed_package_is_still_a_package_and_says_what_it_is(table: Table) -> None:
    made = table.package()
    assert check(made, table.signers)["changes"] == "- all is new\n"
    told = subprocess.run(["dpkg-deb", "--field", str(made), "Version"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == NEXT
    listed = subprocess.run(["dpkg-deb", "--contents", str(made)], capture_output=True, text=True, check=True).stdout
    assert "./opt/bastide/run" in listed
    with pytest.raises(ValueError, match="sealed already"):
        seal(made, about(), table.root / "key")
    plain = table.package("99.0.1", sealed=False)
    for wrong in ({"version": "1"}, {"arch": "sparc"}, {"changes": None}, {"installed_kb": True}):
        with pytest.raises(ValueError):
            seal(plain, {**about(), **wrong}, table.root / "key")


def spoiled(made: Path, what: str, table: Table) -> None:
    data = bytearray(made.read_bytes())
    if what == "program":
        data[len(data) // 3] ^= 1
    elif what == "description":
        data[data.index(b"all is new")] ^= 1
    elif what == "signature":
        at = data.rindex(b"-----BEGIN SSH SIGNATURE") + 60
        data[at] ^= 3
    elif what == "something behind it":
        data += b"_more           0           0     0     100644  4         `\nrest"
    elif what == "cut":
        del data[-200:]
    elif what == "another key":
        other = table.root / "other"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
        made.unlink()
        made = table.package("99.0.2", sealed=False)
        seal(made, about("99.0.2"), other)
        data = bytearray(made.read_bytes())
    made.write_bytes(data)


@pytest.mark.parametrize("what", ["program", "description", "signature", "something behind it", "cut", "another key"])
def test_every_byte_is_covered(table: Table, what: str) -> None:
    made = table.package()
    spoiled(made, what, table)
    made = next(table.root.glob("*.deb"))
    with pytest.raises(NotTaken) as refused:
        check(made, table.signers)
    assert refused.value.code in ("not_signed", "not_a_release")
    if what == "program":  # and root's side goes by it
        done = table.update(made)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and done.stderr.startswith("update: ")
        assert not (table.root / "was-run").exists() and table.current() is None
        assert table.last()["result"] == "refused" and table.last()["code"] == refused.value.code


@pytest.mark.parametrize(("other", "code"), [
    ({"arch": "amd64" if os.uname().machine == "aarch64" else "arm64"}, "other_system"),
    ({"python": "3.99"}, "other_system"), ({"installed_kb": 900_000}, "no_room"), ({}, "no_key"),
    ({"version": "0.0.1"}, "older"),
])
def test_what_is_not_for_this_table_is_refused_in_a_sentence(table: Table, other: dict[str, Any], code: str) -> None:
    tree(table.root / "installed", "1.0.0", GOOD, table.root)
    made = table.package(other.get("version", NEXT), **{k: v for k, v in other.items() if k != "version"})
    if code == "no_key":
        table.signers.write_text("# none yet\n", "utf-8")
    (table.root / "bin" / "df").write_text("#!/bin/sh\necho; echo disk 1 1 950000 1 /\n", "utf-8")
    (table.root / "bin" / "df").chmod(0o755 if code == "no_room" else 0o644)
    done = table.update(made)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and not (table.root / "was-run").exists()
    assert table.last()["code"] == code and table.last()["text"] in done.stderr


def test_the_page_brings_a_release_looks_at_it_and_asks(table: Table) -> None:
    tree(table.root / "installed", "1.0.0", GOOD, table.root)
    with pytest.raises(CommandError) as refused:
        table.updates.look()
    assert refused.value.code == "nothing_came"
    table.bring(table.package())
    with pytest.raises(CommandError) as refused:
        table.updates.install()
    assert refused.value.code == "not_looked_at"
    offer = table.updates.look()["offer"]
    assert offer["version"] == NEXT and offer["changes"] == "- all is new\n"
    table.playing = True
    with pytest.raises(CommandError) as refused:
        table.updates.install()
    assert refused.value.code == "game_runs"
    table.playing = False
    assert table.updates.install()["busy"]
    with pytest.raises(CommandError) as refused:
        table.updates.piece(0, b"x")
    assert refused.value.code == "busy"
    assert table.update("--requested").returncode == 0
    state = table.updates.state()
    assert not state["busy"] and state["before"] == "1.0.0" and state["upload"] == 0
    assert (state["last"]["result"], state["last"]["from"], state["last"]["to"]) == ("updated", "1.0.0", NEXT)
    assert table.serves() == NEXT
    table.updates.back()
    assert table.update("--requested").returncode == 0
    assert table.serves() == "1.0.0" and table.last()["result"] == "went_back"
    # Nothing that the service's user may have put there makes root follow a link or loop.
    (table.data / ".update" / "request.json").symlink_to(table.root / "key")
    assert table.update("--requested").returncode == 0 and not os.path.lexists(table.data / ".update/request.json")


@pytest.mark.parametrize("how", [CRASHES, HANGS, DIES])
def test_a_version_that_does_not_serve_goes_back_by_itself(table: Table, how: str) -> None:
    """Real processes: it passed its own test, took the old one's place, and no page came or stayed."""
    tree(table.root / "installed", "1.0.0", GOOD, table.root)
    assert table.update(table.package("98.0.0")).returncode == 0 and table.serves() == "98.0.0"
    first = table.current()
    done = table.update(table.package(NEXT, how))
    assert done.returncode == 1 and done.stderr.endswith("the old one runs again\n"), done.stderr
    assert table.current() == first and table.serves() == "98.0.0"
    last = table.last()
    assert (last["step"], last["result"], last["code"]) == ("ended", "returned", "did_not_serve")
    assert table.updates.state()["before"] == "1.0.0"
    assert [p.name for p in (table.root / "versions").iterdir() if re.match(r"\d", p.name)] == [first and first.name]


def test_a_version_that_fails_its_own_test_never_takes_the_place(table: Table) -> None:
    tree(table.root / "installed", "1.0.0", GOOD, table.root)
    done = table.update(table.package(demo="false"))
    assert done.returncode == 1 and table.current() is None and not (table.root / "pid").exists()
    assert (table.last()["result"], table.last()["code"]) == ("failed", "failed_test")


@pytest.mark.parametrize(("how", "result", "runs"), [(GOOD, "updated", NEXT), (CRASHES, "returned", "1.0.0")])
def test_a_power_cut_after_the_switch_is_watched_by_the_next_start(table: Table, how: str, result: str,
                                                                  runs: str) -> None:
    old = tree(table.root / "installed", "1.0.0", GOOD, table.root)
    versions = table.root / "versions"
    new = tree(versions / "20260101-000000-1", NEXT, how, table.root)
    (versions / "current").symlink_to(new)
    (versions / "pending").write_text(f"{old}\n1.0.0\n{NEXT}\nabc\n", "utf-8")
    if how == GOOD:  # the system has started it
        subprocess.run([str(table.root / "restart")], check=True)
    done = table.update("--requested")
    assert (done.returncode == 0) is (how == GOOD) and not (versions / "pending").exists()
    assert table.last()["result"] == result and table.serves() == runs


def test_started_for_an_update_that_has_ended_it_does_nothing(table: Table) -> None:
    done = table.update("--requested")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (table.root / "versions" / "state.json").exists()


def test_what_the_page_may_show_without_any_of_it(tmp_path: Path) -> None:
    state = Updates(tmp_path, running=lambda: False, versions=tmp_path / "none", watchers=()).state()
    assert not state["possible"] and not state["busy"] and state["last"] is None and state["version"] == __version__
    with pytest.raises(CommandError) as refused:
        Updates(tmp_path, running=lambda: False, versions=tmp_path / "none", watchers=()).back()
    assert refused.value.code == "not_possible"


def test_the_document_knows_every_code() -> None:
    script = SCRIPT.read_text("utf-8")
    codes = set(re.findall(r"\b(?:fail|drop) ([a-z_]+) ", script)) | set(re.findall(r'NotTaken\("(\w+)"', (
        SCRIPT.parent / "release_file.py").read_text("utf-8"))) | {"game_runs", "no_answer", "did_not_serve"}
    told = (SCRIPT.parents[1] / "docs" / "updates.md").read_text("utf-8")
    assert codes and not [c for c in codes if f"`{c}`" not in told]
