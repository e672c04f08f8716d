"""docs/extending.md, executed literally: its code is written into a copy, and works there."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_architecture import wrong_arrows

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
TEXT = (ROOT / "docs" / "extending.md").read_text("utf-8")


def block(first: str) -> str:
    """The code block whose first line is this one, without it: ``# FILE``."""
    found = [b for b in re.findall(r"```\w+\n(.*?)```", TEXT, re.DOTALL) if b.splitlines()[0] == first]
    assert len(found) == 1, f"{len(found)} blocks begin with {first!r}"
    return found[0].partition("\n")[2]


def run(folder: Path, *arguments: str) -> str:
    """Run Python in a copy that imports nothing of this checkout; returns its output."""
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout without what puts it all together."""
    for room in ("scoring", "vision", "hardware", "web"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "*.onnx"))
    return tmp_path


ABBOT = {"abbot.py": "scoring/expansions/abbot.py", "abbot.toml": "scoring/catalogue/abbot.toml",
         "abbot_seen.toml": "scoring/expansions/abbot.toml"}


@pytest.mark.parametrize("file", ["scoring/expansions/abbot.py", "hardware/snapshot.py"])
def test_what_is_added_keeps_to_the_arrows(file: str) -> None:
    assert not list(wrong_arrows(file, ast.parse(block(f"# {file}"))))


@pytest.mark.parametrize("name", ABBOT)
def test_the_document_shows_the_files(name: str) -> None:
    assert block(f"# {ABBOT[name]}") == (HERE / name).read_text("utf-8")


def test_an_expansion(copy: Path) -> None:
    """Three new files and one entry in a list."""
    for name, place in ABBOT.items():
        shutil.copy(HERE / name, copy / place)
    listed = copy / "scoring/expansions/__init__.py"
    text = listed.read_text("utf-8")
    imported, entry = block("# scoring/expansions/__init__.py").strip().splitlines()
    known = re.findall(r"^KNOWN.*\)\}$", text, re.MULTILINE)
    assert len(known) == 1 and entry.endswith(", ABBOT)}") and entry[:40] == known[0][:40]
    text = text.replace(known[0], known[0].replace(")}", ", ABBOT)}"))
    text = text.replace("\nfrom scoring.expansions.base", f"\n{imported}\nfrom scoring.expansions.base")
    listed.write_text(text, "utf-8")
    for test in (HERE / "play_abbot.py", ROOT / "tests/scoring/random_games.py"):
        shutil.copy(test, copy)
    said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "play_abbot.py")
    assert "8 passed" in said
    seen = run(copy, "-c", "from scoring.tiles import catalogue\nfrom vision.looks import segments\n"
               "tile = catalogue()['abbot.01']\n"
               "print([tile.segments[n].kind for n in segments((0.5, 0.48), 0.05, 0.0, tile, 0)])")
    assert seen.strip() == "['field', 'garden']"  # the camera knows where he may stand


def test_an_edition(copy: Path) -> None:
    """A table in one file."""
    printings = copy / "scoring/editions/printings.toml"
    printings.write_text(printings.read_text("utf-8") + "\n" + block("# scoring/editions/printings.toml"), "utf-8")
    said = run(copy, "-c", "from scoring.rules import citations, edition, found_by\n"
               "rules = edition('cottage2030')\n"
               "print(rules.farm_points_per_city, rules.two_tile_city, rules.max_players, found_by('cottage'))\n"
               "print(citations(rules)['two_tile_city'].source)")
    assert said.splitlines() == ["3 half 5 ('cottage2030',)", "Cottage Press 2030, page 4"]


def test_a_camera(copy: Path) -> None:
    """A driver and an entry in a list; it keeps the contract of all drivers."""
    (copy / "hardware/snapshot.py").write_text(block("# hardware/snapshot.py"), "utf-8")
    sources = copy / "hardware/sources.py"
    sources.write_text(sources.read_text("utf-8") + "\n\n" + block("# hardware/sources.py"), "utf-8")
    for folder in ("hardware", "pi"):
        shutil.copytree(ROOT / "tests" / folder, copy / "tests" / folder)
    shutil.copy(HERE / "snapshots.py", copy / "tests/hardware")
    contract = copy / "tests/hardware/test_contract.py"
    text = contract.read_text("utf-8")
    for before, after in (('LIVE = ("usb", ', 'LIVE = ("snapshot", "usb", '),
                          ('{"http": ', '{"snapshot": SnapshotCamera, "http": '),
                          ("from rtsp import", "from snapshots import SnapshotCamera\nfrom rtsp import")):
        assert text.count(before) == 1
        text = text.replace(before, after)
    contract.write_text(text, "utf-8")
    said = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "snapshot", str(contract))
    assert "4 passed" in said
    said = run(copy, "-c", "from hardware.sources import open_source\nfrom vision.frames import SourceError\n"
               "for address in ('snapshot:http://127.0.0.1:1/capture', 'snapshot:file:///etc/hostname'):\n"
               "    try:\n        open_source(address).__enter__()\n"
               "    except SourceError as e:\n        print(e)")
    assert said.splitlines() == [
        "snapshot:http://127.0.0.1:1/capture does not answer: is the camera on and in the same network?",
        "snapshot:file:///etc/hostname needs the address of a picture: snapshot:http://192.168.1.30/capture"]


def test_a_language() -> None:
    """Every language is where the document says, and in every list that it names."""
    text = TEXT[TEXT.index("## A language"):]
    modules = re.findall(r"^\| `(web/static/js/lang/[\w/]*)en\.js` \|", text, re.MULTILINE)
    assert len(modules) == len(list((ROOT / "web/static/js/lang").rglob("en.js"))) == 5
    named = set(re.findall(r"\b(\w\w): \"", re.findall(r"LANGUAGES = \{(.*?)\}", (
        ROOT / "web/static/js/i18n.js").read_text("utf-8"))[0]))
    assert {"en", "de", "fr"} <= named
    for language in named:
        assert all((ROOT / m / f"{language}.js").is_file() for m in modules), language
        for file in ("web/static/js/overlay/overlay.js", "web/firstview.py", "tests/web/test_web_languages.py"):
            assert f"`{file}`" in text and f'"{language}"' in (ROOT / file).read_text("utf-8"), (file, language)
