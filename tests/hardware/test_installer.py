"""The installer and the unit, as far as that needs no fresh system; tests/install/run_install.sh has the rest."""

from __future__ import annotations

import ipaddress
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from web.rights import is_local
from web.server import THREADS

ROOT = Path(__file__).parents[2]
INSTALL, UNIT = ROOT / "hardware/install.sh", ROOT / "hardware/bastide.service"
SCRIPTS = [ROOT / "run", ROOT / ".ci/run", *sorted((ROOT / "hardware").glob("*.sh")),
           *sorted(p for p in (ROOT / "hardware/debian").iterdir() if p.suffix == ".sh" or p.name.startswith("p")),
           *sorted((ROOT / "hardware/image").glob("*.sh")),
           *sorted((ROOT / "hardware/image/overlay/usr/lib/bastide-card").iterdir()),
           *sorted((ROOT / "tests").rglob("*.sh"))]
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")


def install(*argv: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the installer where it must refuse. ``path`` holds commands that it finds first."""
    environment = {"PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin", "LC_ALL": "C"}
    return subprocess.run([str(INSTALL), *argv], env=environment, capture_output=True, text=True, timeout=60)


def fake(folder: Path, **commands: str) -> Path:
    for name, body in commands.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        path.chmod(0o755)
    return folder


def test_every_room_of_the_program_is_installed() -> None:
    rooms = re.search(r"^ROOMS=\((.*)\)$", INSTALL.read_text("utf-8"), re.M)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    assert rooms is not None and set(rooms[1].split()) == {p.partition(".")[0] for p in packages}


def test_a_package_has_every_room_every_unit_and_what_a_tree_is_checked_for() -> None:
    """What hardware/debian/build.sh takes; tests/install/run_package.sh installs the whole of it."""
    build = re.sub(r"\\\n\s*", " ", (ROOT / "hardware/debian/build.sh").read_text("utf-8"))
    taken = re.search(r"git archive --format=tar HEAD ([^|]*)\|", build)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    needed = {p.partition(".")[0] for p in packages} | {"run", "pyproject.toml", "requirements.lock", "CHANGELOG.md"}
    assert taken is not None and needed <= set(taken[1].split())
    copied = re.search(r"cp (.*) \"\$units/system\"", build)
    assert copied is not None
    named = subprocess.run(["bash", "-c", f"echo {copied[1]}"], capture_output=True, text=True, check=True).stdout
    units = {f"hardware/{p.name}" for p in (ROOT / "hardware").glob("bastide*.*") if p.suffix in (".service", ".path")}
    assert set(named.split()) == units
    scripts = "".join((ROOT / "hardware/debian" / n).read_text("utf-8") for n in ("postinst", "postrm"))
    assert all(unit.partition("/")[2] in scripts for unit in units - {
        "hardware/bastide-update.service", "hardware/bastide-screen.service"})  # started by the path, or by hand


@pytest.mark.parametrize("arch", ["armhf", "armel", "i386"])
def test_a_32_bit_system_is_refused_before_anything_is_done(tmp_path: Path, arch: str) -> None:
    touched = tmp_path / "touched"
    commands = fake(tmp_path, id="echo 0", dpkg=f"echo {arch}", apt_get=f"touch {touched}", useradd=f"touch {touched}")
    done = install(path=commands)
    assert done.returncode == 1 and done.stdout == "" and not touched.exists()
    assert re.fullmatch(rf"install: this is a 32 bit system \({arch}\).*64-bit.*\n", done.stderr)


@pytest.mark.parametrize(("argv", "says"), [
    (["--name", "My Table"], "small letters"), (["--source", "usb:0; rm"], "no spaces"), (["--purge"], "--uninstall"),
])
def test_wrong_options_are_one_sentence(tmp_path: Path, argv: list[str], says: str) -> None:
    done = install(*argv, path=fake(tmp_path, id="echo 0"))
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1


def test_without_root_it_says_how(tmp_path: Path) -> None:
    done = install(path=fake(tmp_path, id="echo 1000"))
    assert done.returncode == 1 and "sudo hardware/install.sh" in done.stderr
    unknown = install("--frobnicate")
    assert unknown.returncode == 2 and "--uninstall" in unknown.stderr and install("--help").returncode == 0


def test_a_foreign_machine_is_refused(tmp_path: Path) -> None:
    done = install(path=fake(tmp_path, id="echo 0", dpkg="echo riscv64", apt_get=""))
    assert done.returncode == 1 and "riscv64" in done.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=[p.relative_to(ROOT).as_posix() for p in SCRIPTS])
def test_shell_scripts_are_clean(script: Path) -> None:
    checker = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run([str(checker), str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that is there."""
    path = tmp_path / "bastide.service"
    path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text("utf-8"), flags=re.M), "utf-8")
    return path


@analyze
def test_the_unit_verifies_and_is_exposed_little(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
                          capture_output=True, text=True)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found and float(found[1]) < 3, done.stdout[-300:] + done.stderr


def test_the_unit_and_the_installer_mean_the_same_places() -> None:
    unit, script = UNIT.read_text("utf-8"), INSTALL.read_text("utf-8")
    assert "CODE=/opt/bastide DATA=/var/lib/bastide SETTINGS=/etc/bastide/bastide.conf" in script
    for said in ("ExecStart=/opt/bastide/.venv/bin/bastide serve --data /var/lib/bastide", "StateDirectory=bastide",
                 "EnvironmentFile=-/etc/bastide/bastide.conf", "Type=notify", "WatchdogSec=", "Restart=always",
                 "NoNewPrivileges=yes", "ProtectSystem=strict", "LogNamespace=bastide", "User=bastide"):
        assert said in unit


def unit_values(key: str) -> list[str]:
    """What the unit says under a key, all lines together."""
    return [word for line in UNIT.read_text("utf-8").splitlines() if line.startswith(f"{key}=")
            for word in line.partition("=")[2].split()]


def test_the_unit_speaks_with_local_networks_only() -> None:
    """Whom the page answers on a usual home network the unit lets through; nobody else, and nothing is sent there."""
    allowed = [ipaddress.ip_network(w) for w in unit_values("IPAddressAllow") if w != "localhost"]
    assert unit_values("IPAddressDeny") == ["any"] and "localhost" in unit_values("IPAddressAllow")
    for address, home in (("192.168.178.20", True), ("10.1.2.3", True), ("172.31.0.9", True), ("169.254.7.7", True),
                          ("100.64.1.1", True), ("fe80::1", True), ("fd00::5", True), ("8.8.8.8", False),
                          ("172.32.0.1", False), ("2001:4860:4860::8888", False), ("192.169.0.1", False)):
        found = ipaddress.ip_address(address)
        assert any(found in network for network in allowed if network.version == found.version) is home, address
        assert is_local(address) is home, address


def test_the_unit_saves_the_machine_rather_than_the_program() -> None:
    (high,), (most,), (first,) = (unit_values(k) for k in ("MemoryHigh", "MemoryMax", "OOMScoreAdjust"))
    assert 30 <= int(high.removesuffix("%")) < int(most.removesuffix("%")) <= 85
    assert int(first) > 0, "nothing that the system starts by itself has more than 0"
    assert int(unit_values("TasksMax")[0]) > THREADS
