"""OpenCV 4 and 5 give the same readings: the major version that is not installed is fetched and reads the same table.

The wheel goes into a folder of its own; nothing of the environment changes. Without a package index it is skipped,
except in continuous integration.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import pytest

from bastide.table.demo_game import demo_game
from hardware.sources import open_source
from scoring.transcript import write

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
OTHER = {"4": ">=5,<6", "5": ">=4.14,<5"}[cv2.__version__.partition(".")[0]]
PHOTOGRAPHS = ("k05", "k07")


@pytest.fixture(scope="module")
def other_opencv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opencv")
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check",
                           "--target", str(folder), f"opencv-python-headless{OTHER}"], capture_output=True, text=True)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip("the other OpenCV could not be fetched")
    assert not done.returncode, done.stderr[-500:]
    return folder


def reading(picture: Path, *options: str, opencv: Path | None = None) -> dict[str, list[dict[str, object]]]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if opencv is not None:
        environment["PYTHONPATH"] = str(opencv)
    code = "import cv2, sys; from bastide.cli import main; print(cv2.__version__, file=sys.stderr); sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "read", str(picture), *options, "--json"], cwd=ROOT,
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(cv2.__version__) == (opencv is None), done.stderr
    data = json.loads(done.stdout)
    # Right to the last digit nobody needs: the versions round differently.
    return {"tiles": [{k: t[k] for k in ("tile", "at", "rot")} for t in data["tiles"]],
            "figures": [{k: f[k] for k in ("colour", "figure", "at", "feature", "where")} for f in data["figures"]]}


def test_a_simulated_table_reads_the_same(other_opencv: Path, tmp_path: Path) -> None:
    transcript, picture = tmp_path / "game.json", tmp_path / "table.png"
    transcript.write_text(json.dumps(write(demo_game(2, turns=12))))
    last = None
    with open_source(f"sim:transcript={transcript}&seed=4&fps=1") as camera:
        while (frame := camera.read()) is not None:
            last = frame
    assert last is not None
    cv2.imwrite(str(picture), last.bgr)
    ours = reading(picture)
    assert len(ours["tiles"]) >= 10
    assert reading(picture, opencv=other_opencv) == ours


@pytest.mark.skipif(not (SHARED / "photos").is_dir(), reason="../shared/photos is not here")
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_a_photograph_reads_the_same(name: str, other_opencv: Path) -> None:
    picture, options = SHARED / "photos" / f"{name}.jpg", ("--tiles", str(SHARED / "tiles" / "c1"))
    assert reading(picture, *options, opencv=other_opencv) == reading(picture, *options)
