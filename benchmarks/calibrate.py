"""Accuracy of calibrations: a table row for every set.

    python benchmarks/calibrate.py [FOLDER ...]

Our own renderings (lens distortion, noise, uneven light, crooked cameras), and folders of ChArUco views with ground
truth (``truth.json`` with ``cameras``, ``calibration/board.json``); default every one under ../shared/sequences. RMS is
the reprojection error of the lens's views; mm is the error of table points over the whole picture after rigid alignment
with the truth, mean and worst; seconds are processor seconds of one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from calibration.apply import usual_lens  # noqa: E402
from calibration.boards import parse_board  # noqa: E402
from calibration.documents import CalibrationError, LensResult, TableResult  # noqa: E402
from calibration.lens import calibrate_lens  # noqa: E402
from calibration.plane import undistorted  # noqa: E402
from calibration.presets import preset_lens, preset_of  # noqa: E402
from calibration.rehearsal import (  # noqa: E402
    Lying,
    card_sheets,
    charuco_sheet,
    flat,
    mat_sheet,
    overhead,
    photograph,
    turned,
)
from calibration.table import find_table  # noqa: E402
from calibration.targets import CHARUCO  # noqa: E402
from vision.images import read_image  # noqa: E402
from vision.simulator.camera import Camera  # noqa: E402
from vision.view import rays_of  # noqa: E402

SHARED = Path(__file__).resolve().parents[2] / "shared"
CAMERAS = {
    "module 3, 80 cm": dict(fov_deg=66.0, height_mm=800.0, tilt_deg=(1.5, -1.0, 0.5), k1=0.003, k2=0.002),
    "crooked webcam": dict(fov_deg=70.0, height_mm=750.0, tilt_deg=(7.0, -4.0, 2.0), k1=-0.12, k2=0.03),
    "wide, 60 cm": dict(fov_deg=102.0, height_mm=600.0, tilt_deg=(2.0, 2.0, -1.0), k1=-0.09, k2=0.012),
}


def over_the_picture(table: TableResult, size: tuple[int, int], truth: np.ndarray) -> tuple[float, float]:
    """Mean and largest error in mm of points all over the picture. ``truth`` (63, 2) mm of ``grid_px``."""
    matrix = table.lens.matrix
    px = undistorted(grid_px(size), table.lens) @ matrix[:2, :2].T + matrix[:2, 2]
    back = np.column_stack([px, np.ones(len(px))]) @ np.linalg.inv(np.array(table.px_from_mm).reshape(3, 3)).T
    mine = back[:, :2] / back[:, 2:]
    a, b = mine.mean(axis=0), truth.mean(axis=0)
    u, _, v = np.linalg.svd((mine - a).T @ (truth - b))
    off = np.linalg.norm((mine - a) @ u @ v + b - truth, axis=1)
    return float(off.mean()), float(off.max())


def grid_px(size: tuple[int, int]) -> np.ndarray:
    x, y = np.meshgrid(np.linspace(0, size[0] - 1, 9), np.linspace(0, size[1] - 1, 7))
    return np.column_stack([x.ravel(), y.ravel()])


def row(name: str, what: str, rms: str, mean: float | None, worst: float | None, own: str, seconds: float) -> None:
    mm = "" if mean is None else f"{mean:8.2f} {worst:8.2f}"
    print(f"{name:<18} {what:<26} {rms:>8} {mm:>17} {own:>22} {seconds:6.2f}", flush=True)


def tables(name: str, lens: LensResult, scenes: dict[str, np.ndarray], truth: np.ndarray, label: str) -> None:
    for method, picture in scenes.items():
        size = (picture.shape[1], picture.shape[0])
        start = time.process_time()
        try:
            table = find_table(picture, lens, (method,)).plane.result
        except CalibrationError:  # better than a wrong table
            print(f"{name:<18} {method + ', ' + label:<26} refused: not known well enough")
            continue
        seconds = time.process_time() - start
        own = f"{table.rms_mm:.2f} / {table.worst_corner_mm:.1f}"
        row(name, f"{method}, {label}", "", *over_the_picture(table, size, truth), own, seconds)


def rendered(views: int) -> None:
    rng = np.random.default_rng(5)
    sheet = charuco_sheet(CHARUCO)
    for name, options in CAMERAS.items():
        camera: Camera = overhead(**options)  # type: ignore[arg-type]
        size = (camera.width, camera.height)
        truth = camera.table_mm(grid_px(size))
        reach = np.ptp(truth, axis=0) / 2
        pictures = []
        for n in range(views):
            x, y = (n % 4 - 1.5) / 1.5 * 0.75 * reach[0], (n // 4 % 3 - 1) * 0.65 * reach[1]
            turn = turned(rng.uniform(0, 360), rng.uniform(-30, 30), rng.uniform(-30, 30))
            pictures.append((str(n), photograph(camera, [Lying(sheet=sheet, rotation=turn, at_mm=(x, y, 90.0))],
                                                seed=n)))
        start = time.process_time()
        found = calibrate_lens(pictures, CHARUCO)
        row(name, f"lens, {views} views", f"{found.lens.rms_px:.3f}", None, None, "", time.process_time() - start)
        corners = 0.75 * reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        cards = [flat(s, x, y, 40.0 * n) for n, (s, (x, y)) in enumerate(zip(card_sheets(), corners, strict=True))]
        scenes = {"charuco": photograph(camera, [flat(sheet, 40, -20, 33)], seed=91),
                  "mat": photograph(camera, [flat(mat_sheet(), -30, 10, 200)], seed=92),
                  "cards": photograph(camera, cards, seed=93)}
        tables(name, found.lens, scenes, truth, "own lens")
        preset = preset_of("module3-wide" if options["fov_deg"] > 90 else "module3")
        assert preset is not None
        guess = usual_lens(size) if "webcam" in name else preset_lens(preset, size)
        tables(name, guess, scenes, truth, "no lens" if "webcam" in name else "preset")


def with_truth(folder: Path) -> None:
    board = json.loads((folder / "calibration" / "board.json").read_text("utf-8"))
    camera = json.loads((folder / "truth.json").read_text("utf-8"))["cameras"][0]
    spec = parse_board(f"charuco:{board['squares'][0]}x{board['squares'][1]}:{board['square_mm']:g}:"
                       f"{board['marker_mm']:g}:{board['dictionary']}")
    pictures = [(v, read_image(str(folder / "calibration" / v))) for v in board["views"]]
    start = time.process_time()
    found = calibrate_lens(pictures, spec)
    row(folder.name, f"lens, {len(pictures)} views", f"{found.lens.rms_px:.3f}", None, None, "",
        time.process_time() - start)
    flat_view = read_image(str(folder / "calibration" / board["flat"]))
    size = (flat_view.shape[1], flat_view.shape[0])
    scale = size[0] / camera["width"]
    matrix = np.diag([scale, scale, 1.0]) @ np.array(camera["K"])
    rays = rays_of(grid_px(size), matrix, camera["dist"])
    turn, move = np.array(camera["R"]), np.array(camera["t"])
    onto = np.column_stack([rays, np.ones(len(rays))]) @ np.linalg.inv(np.column_stack([turn[:, :2], move])).T
    truth = onto[:, :2] / onto[:, 2:]
    truth *= np.sign(np.linalg.det(np.diff(truth[[0, 8, 62]], axis=0)))  # y up or down: as in the picture
    if np.linalg.det(np.diff(truth[[0, 8, 62]], axis=0)) < 0:
        truth[:, 1] *= -1
    tables(folder.name, found.lens, {"charuco": flat_view}, truth, "own lens")
    preset = preset_of("module3")
    assert preset is not None
    tables(folder.name, preset_lens(preset, size), {"charuco": flat_view}, truth, "preset")


def main() -> None:
    parser = argparse.ArgumentParser(description="How well a camera is known after calibrating.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--views", type=int, default=12, help="rendered views per camera")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    print(f"{'set':<18} {'what':<26} {'RMS px':>8} {'mm mean':>8} {'worst':>8} {'own mm RMS / corner':>22} {'s':>6}")
    folders = args.folders or [f for f in sorted(SHARED.glob("sequences/*")) if (f / "calibration").is_dir()]
    for folder in folders:
        with_truth(folder)
    if not args.folders:
        rendered(args.views)


if __name__ == "__main__":
    main()
