"""OpenCV 4 and 5 give the same readings: the major version not installed is fetched and reads the same table.

The wheel goes into a folder of its own; nothing of the environment changes. Without a package index it is skipped,
except in continuous integration.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import pytest

from bastide.table.demo_game import demo_game
from scoring.transcript import write
from vision.simulator import Simulator

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
OTHER = {"4": ">=5,<6", "5": ">=4.14,<5"}[cv2.__version__.partition(".")[0]]
PHOTOGRAPHS = ("k05", "k07")


READ = """
import contextlib, cv2, io, json, sys
from bastide.cli import main
print(cv2.__version__, file=sys.stderr)
for argv in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = main(["read", *argv, "--json"])
    if code:
        sys.exit(code)
    print(json.dumps(json.loads(said.getvalue())))
"""


@pytest.fixture
def other_opencv(tmp_path: Path) -> Path:
    folder = tmp_path / "opencv"
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check",
                           "--target", str(folder), f"opencv-python-headless{OTHER}"], capture_output=True, text=True)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip("the other OpenCV could not be fetched")
    assert not done.returncode, done.stderr[-500:]
    return folder


def readings(pictures: dict[str, list[str]], opencv: Path | None = None) -> dict[str, dict[str, Any]]:
    """What ``bastide read`` says of every picture, all in one process of that OpenCV."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if opencv is not None:
        environment["PYTHONPATH"] = str(opencv)
    done = subprocess.run([sys.executable, "-c", READ, json.dumps(list(pictures.values()))], cwd=ROOT,
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(cv2.__version__) == (opencv is None), done.stderr
    out = {}
    for name, line in zip(pictures, done.stdout.splitlines(), strict=True):
        data = json.loads(line)
        # Not exact: the versions round differently.
        out[name] = {"tiles": [{k: t[k] for k in ("tile", "at", "rot")} for t in data["tiles"]], "figures": [
            {k: f[k] for k in ("colour", "figure", "at", "feature", "where")} for f in data["figures"]]}
    return out


def test_a_simulated_table_and_photographs_read_the_same(other_opencv: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.png"
    cv2.imwrite(str(table), Simulator(write(demo_game(2, turns=12)), 4).still())
    pictures = {"table": [str(table)]}
    if (SHARED / "photos").is_dir():
        pictures |= {name: [str(SHARED / "photos" / f"{name}.jpg"), "--tiles", str(SHARED / "tiles" / "c1")]
                     for name in PHOTOGRAPHS}
    ours, others = readings(pictures), readings(pictures, other_opencv)
    assert all(len(found["tiles"]) >= 10 for found in ours.values())
    assert others == ours
