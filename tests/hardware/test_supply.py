"""What is installed is what was chosen: lists with hashes for every platform, nothing built, a bill a release."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from hardware.release_file import check

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


# What takes minutes and a network, wheels and packages, is stood in for; tests/install/run_package.sh has packages.
FAKE_UV = """#!/bin/sh
while [ "$1" != --out-dir ]; do shift; done
mkdir -p "$2" && echo wheel >"$2/bastide-$VERSION-py3-none-any.whl" && echo sdist >"$2/bastide-$VERSION.tar.gz"
"""
FAKE_BUILD = """#!/bin/sh
mkdir -p "$1/.root/DEBIAN" && cd "$1"
printf '%s\\n' "Package: bastide" "Version: $VERSION+deb12" "Architecture: arm64" "Maintainer: a <a@b.c>" \\
  "Installed-Size: 9" "Bastide-Python: 3.11" "Bastide-Suite: bookworm" "Description: stand-in" >.root/DEBIAN/control
dpkg-deb -b .root "bastide_$VERSION+deb12_arm64.deb" >/dev/null
rm -r .root
"""
FAKE_IMAGE = """#!/bin/sh
[ "$3 $4 $5" = "--pi-archive http://pi keys" ] || exit 1
name=$2/bastide-$VERSION-bookworm-arm64
echo pi4-64bit pi5-64bit >$name.models
dpkg-deb -f "$1" Version >$name.packages
head -c 1024 /dev/zero | xz >$name.img.xz
"""


def test_a_release_from_the_number_to_signatures(tmp_path: Path) -> None:
    """Of a copy of this checkout: every file verifies, the bill names every package, a number is released once."""
    if any(shutil.which(tool) is None for tool in ("ssh-keygen", "git", "dpkg-deb", "xz")):
        pytest.skip("ssh-keygen, git, dpkg-deb or xz is not installed here")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("hardware/release.sh", "hardware/release_file.py", "hardware/about.py", "requirements.lock",
                 "pyproject.toml", "bastide/__init__.py", "README.md", "hardware/imager_list.py",
                 "web/static/icon.svg"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (copy / "CHANGELOG.md").write_text("# Changes\n\n## Upcoming\n\n- all is new\n", "utf-8")
    (copy / ".gitignore").write_text(".venv\n", "utf-8")
    (copy / ".venv" / "bin").mkdir(parents=True)
    (copy / ".venv" / "bin" / "cyclonedx-py").symlink_to(ROOT / ".venv" / "bin" / "cyclonedx-py")
    for made in ("debian", "image"):
        (copy / "hardware" / made).mkdir()
    for script, text in ((copy / ".venv/bin/uv", FAKE_UV), (copy / "hardware/debian/build.sh", FAKE_BUILD),
                         (copy / "hardware/image/build.sh", FAKE_IMAGE)):
        script.write_text(text, "utf-8")
        script.chmod(0o755)
    environment = {**os.environ, "VERSION": "0.2.0", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c",
                   "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c"}

    def git(*argv: str) -> str:
        return subprocess.run(["git", *argv], cwd=copy, check=True, env=environment, capture_output=True,
                              text=True).stdout

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(copy / "hardware/release.sh"), *argv], capture_output=True, text=True,
                              env=environment)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    out = tmp_path / "out"
    out.mkdir()
    key = str(tmp_path / "key")
    for argv, says in ((("version", "0.0.9"), "not newer"), (("version", "1"), "three numbers"),
                       ((key, str(out)), "no section 0.1.0")):
        assert says in run(*argv).stderr
    assert run("version", "0.2.0").returncode == 0
    assert "## Upcoming\n\n## 0.2.0 (" in (copy / "CHANGELOG.md").read_text("utf-8")
    assert "not committed" in run(key, str(out)).stderr
    git("commit", "-qam", "0.2.0")
    card = ("--image", "https://example.org/b", "--pi-archive", "http://pi", "keys") if os.geteuid() == 0 else ()
    if not card:
        assert "takes root" in run(key, str(out), "--image", "https://example.org/b").stderr
    done = run(key, str(out), *card)
    assert done.returncode == 0, done.stderr
    if card:
        told = json.loads((out / "bastide-0.2.0.rpi-imager-manifest").read_text("utf-8"))["os_list"][0]
        assert told["url"] == "https://example.org/b/bastide-0.2.0-bookworm-arm64.img.xz"
        assert told["devices"] == ["pi4-64bit", "pi5-64bit"] and told["extract_size"] == 1024
        assert (out / "bastide-0.2.0-bookworm-arm64.packages").read_text("utf-8") == "0.2.0+deb12\n"
        named = [line.split()[1] for line in (out / "SHA256SUMS").read_text("utf-8").splitlines()]
        for name in ("-bookworm-arm64.img.xz", "-bookworm-arm64.packages", ".rpi-imager-manifest", ".svg"):
            assert f"bastide-0.2.0{name}" in named
            (out / f"bastide-0.2.0{name}").unlink()
        assert len(named) == 9
    made = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert made == ["SHA256SUMS", "SHA256SUMS.sig", "bastide-0.2.0.cdx.json", "bastide-0.2.0.cdx.json.sig",
                    "bastide-0.2.0.tar.gz", "bastide-0.2.0.tar.gz.sig", "bastide_0.2.0+deb12_arm64.deb",
                    "python/bastide-0.2.0-py3-none-any.whl", "python/bastide-0.2.0.tar.gz"]
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "--ignore-missing", "SHA256SUMS"], cwd=out,
                   check=True)
    assert git("tag").split() == ["v0.2.0"]
    public = (tmp_path / "key.pub").read_text("utf-8").split()
    signers = tmp_path / "signers"
    signers.write_text(f'bastide namespaces="bastide-release" {public[0]} {public[1]}\n', "utf-8")
    for file in ("bastide-0.2.0.tar.gz", "bastide-0.2.0.cdx.json", "SHA256SUMS"):
        with open(out / file, "rb") as f:
            subprocess.run(["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "bastide", "-n",
                            "bastide-release", "-s", str(out / f"{file}.sig")], stdin=f, check=True,
                           capture_output=True)
    sealed = check(out / "bastide_0.2.0+deb12_arm64.deb", signers)
    assert (sealed["version"], sealed["changes"]) == ("0.2.0", "- all is new\n")
    told = json.loads((out / "bastide-0.2.0.cdx.json").read_text("utf-8"))
    named = {c["name"].lower().replace("_", "-"): c for c in told["components"]}
    assert told["bomFormat"] == "CycloneDX" and {r.name for r, _ in locked("requirements.lock")} <= set(named)
    component = told["metadata"]["component"]
    assert (component["name"], component["version"]) == ("bastide", "0.2.0")
    assert "released once" in run(key, str(out)).stderr
