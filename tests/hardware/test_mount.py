"""The printable mount compiles for every camera, each part is one closed body, and the camera's screws fit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

MOUNT = Path(__file__).parents[2] / "hardware/mount/mount.scad"
SCREWS = {"module1": (21, 12.5), "module2": (21, 12.5), "module3": (21, 12.5), "hq": (30, 30)}  # mm, from the drawings

pytestmark = pytest.mark.skipif(shutil.which("openscad") is None and not os.environ.get("CI"),
                                reason="OpenSCAD is not installed: sudo apt install -y openscad")


def compiled(out: Path, part: str, **values: str) -> np.ndarray:
    """The triangles (n, 3, 3) of a part in millimetres."""
    settings = [f'part="{part}"', "$fn=24", *(f"{k}={v}" for k, v in values.items())]
    stl = out / "part.stl"
    done = subprocess.run(["openscad", "-q", *(x for s in settings for x in ("-D", s)), "-o", str(stl), str(MOUNT)],
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    numbers = re.findall(r"vertex (\S+) (\S+) (\S+)", stl.read_text("ascii"))
    return np.array(numbers, float).reshape(-1, 3, 3)


def volume(triangles: np.ndarray) -> float:
    return float(np.einsum("ij,ij->i", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6)


def closed(triangles: np.ndarray) -> bool:
    """Every edge belongs to as many triangles one way as the other."""
    points = [tuple(p) for p in triangles.reshape(-1, 3).round(4)]
    edges = Counter((points[3 * n + a], points[3 * n + (a + 1) % 3])
                    for n in range(len(triangles)) for a in range(3))
    return all(count == edges[b, a] for (a, b), count in edges.items())


@pytest.mark.parametrize(("part", "values"), [
    ("clamp", {}), ("clamp", {"tube": "12"}), ("clamp", {"tube": "60"}), ("tripod", {}), ("knob", {}),
])
def test_a_part_is_one_closed_body_that_a_printer_takes(tmp_path: Path, part: str, values: dict[str, str]) -> None:
    triangles = compiled(tmp_path, part, **values)
    size = np.ptp(triangles.reshape(-1, 3), axis=0)
    assert closed(triangles) and size.max() < 150 and 0.05 < volume(triangles) / size.prod() < 1


@pytest.mark.parametrize("camera", SCREWS)
def test_the_holder_takes_the_camera_s_screws(tmp_path: Path, camera: str) -> None:
    triangles = compiled(tmp_path, "holder", camera=f'"{camera}"')
    assert closed(triangles)
    points = triangles.reshape(-1, 3)
    tips = points[np.isclose(points[:, 2], points[:, 2].min())]  # the standoffs' ends, on which the board lies
    middles = []
    for sx in (-1, 1):
        for upper in (True, False):
            half = tips[(np.sign(tips[:, 0]) == sx) & ((tips[:, 1] > np.median(tips[:, 1])) == upper)]
            middles.append((half.min(axis=0) + half.max(axis=0))[:2] / 2)
    across = middles[2][0] - middles[0][0]
    along = middles[0][1] - middles[1][1]
    assert (across, along) == pytest.approx(SCREWS[camera], abs=0.05)


def test_what_it_cannot_make_is_refused(tmp_path: Path) -> None:
    for setting in ('camera="phone"', "tube=5", 'part="lid"'):
        done = subprocess.run(["openscad", "-q", "-D", setting, "-o", str(tmp_path / "x.stl"), str(MOUNT)],
                              capture_output=True, text=True, timeout=240)
        assert "Assertion" in done.stderr, setting
