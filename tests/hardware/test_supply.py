"""What is installed is what was chosen: lists with hashes for every platform, nothing built, a bill a release."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
LISTS = ("requirements.lock", "requirements-dev.lock", "requirements-pi.lock")
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")


def locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """The requirements of a list, each with its hashes."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    out = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            asked, *hashes = re.split(r"\s+--hash=", line.strip())
            out.append((Requirement(asked), hashes))
    return out


def chosen(name: str, python: str, machine: str) -> dict[str, str]:
    """What a list comes to on one platform: versions by name."""
    there = {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": machine,
             "sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "implementation_name": "cpython",
             "platform_python_implementation": "CPython"}
    out: dict[str, str] = {}
    for asked, _ in locked(name):
        if asked.marker is None or asked.marker.evaluate(there):
            assert asked.name not in out, f"{asked.name} twice on Python {python}"
            out[asked.name] = str(asked.specifier).removeprefix("==")
    return out


@pytest.mark.parametrize("name", LISTS)
def test_every_line_is_one_version_with_hashes(name: str) -> None:
    lines = locked(name)
    assert lines
    for asked, hashes in lines:
        assert re.fullmatch(r"==[\w.+!]+", str(asked.specifier)) and asked.url is None, asked
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes), asked


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lists_hold_what_the_project_asks_for(python: str, machine: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    program, tools = (chosen(name, python, machine) for name in LISTS[:2])
    for wanted, there in ((project["dependencies"], program),
                          (project["dependencies"] + project["optional-dependencies"]["dev"], tools)):
        for text in wanted:
            asked = Requirement(text)
            assert asked.specifier.contains(there[asked.name]), asked
    assert program.items() <= tools.items(), "what is tested is what is installed"
    held = [Requirement(line) for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
            if line and not line.startswith("#")]
    assert all(SpecifierSet(str(r.specifier)).contains(tools[r.name]) for r in held)


def test_the_check_knows_its_platforms() -> None:
    assert Marker("python_full_version < '3.12'").evaluate({"python_full_version": "3.11.0"})
    assert len({tuple(chosen(LISTS[0], p, "aarch64").items()) for p in PYTHONS}) > 1


def test_nothing_is_installed_but_from_the_lists_and_nothing_is_built() -> None:
    """Every call of pip in what people and the installer run."""
    calls = [line for name in ("run", "hardware/install.sh", "hardware/update.sh")
             for line in re.sub(r"\\\n\s*", " ", (ROOT / name).read_text("utf-8")).splitlines()
             if re.search(r"\bpip install\b", line)]
    assert calls
    for call in calls:
        assert "--require-hashes" in call and "--only-binary :all:" in call and "--no-deps" in call, call


def test_the_installer_runs_pip_as_the_services_user() -> None:
    text = re.sub(r"\\\n\s*", " ", (ROOT / "hardware/install.sh").read_text("utf-8"))
    made = [line for line in text.splitlines() if '"$CODE/run"' in line]
    assert made and all("runuser -u bastide --" in line and "env -i" in line for line in made)
    assert 'chown -R root: "$CODE/.venv"' in text


def test_a_release_has_a_bill_of_materials_and_signatures(tmp_path: Path) -> None:
    """Of a copy of this checkout; the archive verifies, and the bill names every package with its hashes."""
    if shutil.which("ssh-keygen") is None or shutil.which("git") is None:
        pytest.skip("ssh-keygen or git is not installed here")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("hardware/release.sh", "requirements.lock", "pyproject.toml", "bastide/__init__.py", "README.md"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / ".gitignore").write_text(".venv\n", "utf-8")
    (copy / ".venv" / "bin").mkdir(parents=True)
    (copy / ".venv" / "bin" / "cyclonedx-py").symlink_to(ROOT / ".venv" / "bin" / "cyclonedx-py")
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for argv in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "all"]):
        subprocess.run(["git", *argv], cwd=copy, check=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run([str(copy / "hardware/release.sh"), str(tmp_path / "key"), str(out)], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    (archive,), (bill,) = out.glob("*.tar.gz"), out.glob("*.cdx.json")
    public = (tmp_path / "key.pub").read_text("utf-8").split()
    (tmp_path / "signers").write_text(f'bastide namespaces="bastide-release" {public[0]} {public[1]}\n', "utf-8")
    for file in (archive, bill):
        with open(file, "rb") as f:
            subprocess.run(["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "signers"), "-I", "bastide", "-n",
                            "bastide-release", "-s", f"{file}.sig"], stdin=f, check=True, capture_output=True)
    told = json.loads(bill.read_text("utf-8"))
    named = {c["name"].lower().replace("_", "-"): c for c in told["components"]}
    assert told["bomFormat"] == "CycloneDX" and {r.name for r, _ in locked("requirements.lock")} <= set(named)
    assert told["metadata"]["component"]["name"] == "bastide"
    again = subprocess.run([str(copy / "hardware/release.sh"), str(tmp_path / "key"), str(out)], capture_output=True,
                           text=True)
    assert again.returncode == 1 and "released once" in again.stderr
    (copy / "README.md").write_text("changed", "utf-8")
    changed = subprocess.run([str(copy / "hardware/release.sh"), str(tmp_path / "key"), str(out)], capture_output=True,
                             text=True)
    assert changed.returncode == 1 and "not committed" in changed.stderr
