"""Property test of the calibration on random cameras: is every guarantee kept?

    python benchmarks/calibrate_random.py [--first SEED] [--count N] [CLASS ...]

Every rig is random, by its seed: lens (barrel, pincushion, off-axis, a non-polynomial fisheye), size and orientation of
the picture, board and paper, light, noise and compression, positions and occlusion of the sheets. The guarantees:
reprojection RMS at most 0.35 px, table points within 1 mm all over the picture with the lens's own calibration, ten
processor seconds for the table, a bent view left out. mm are the worst of 63 points all over the picture after rigid
alignment with the truth, in brackets the calibration's own estimate for its worst corner.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from calibrate import grid_px, over_the_picture  # noqa: E402

from calibration.boards import parse_board  # noqa: E402
from calibration.documents import CalibrationError, LensResult  # noqa: E402
from calibration.lens import calibrate_lens  # noqa: E402
from calibration.rehearsal import (  # noqa: E402
    Lying,
    Sheet,
    card_sheets,
    charuco_sheet,
    flat,
    mat_sheet,
    photograph,
    turned,
)
from calibration.table import find_table  # noqa: E402
from calibration.targets import Board  # noqa: E402
from vision.frames import Image  # noqa: E402
from vision.simulator.camera import Camera, focal_of  # noqa: E402

Array = npt.NDArray[np.float64]
BOARDS = ("charuco:11x8:20:15:DICT_4X4_50", "charuco:5x7:35:26:DICT_5X5_50", "charuco:7x5:38:28:DICT_6X6_250",
          "charuco:14x9:18:13:DICT_4X4_100", "charuco:8x11:24:18:DICT_5X5_100", "charuco:9x6:28:20:DICT_4X4_250",
          "charuco:12x9:30:22:DICT_5X5_100", "charuco:6x8:30:24:DICT_APRILTAG_36h11")
RMS_PX, WORST_MM, SECONDS = 0.35, 1.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens(Camera):
    """A camera with OpenCV's tangential and third radial coefficients, or (``squeeze``) with a fisheye's compressed
    angles."""

    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0
    squeeze: float = 0.0

    def bend(self, n: Array) -> Array:
        """(N, 2) image points, in focal lengths, of rays at depth 1."""
        r2 = (n * n).sum(1)
        if self.squeeze:
            r = np.sqrt(np.maximum(r2, 1e-18))
            return np.asarray(n * (np.tan(self.squeeze * np.arctan(r)) / self.squeeze / r)[:, None])
        x, y = n.T
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        return np.column_stack([x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x),
                                y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y])

    def undistort(self, points_px: npt.ArrayLike) -> Array:
        """(N, 2) undistorted px: Newton's method in two dimensions."""
        d = (np.asarray(points_px, float).reshape(-1, 2) - self.centre_px) / self.focal_px
        n, step = 0.8 * d, 1e-6
        for _ in range(30):
            off = self.bend(n) - d
            slope = np.stack([(self.bend(n + e) - self.bend(n - e)) / (2 * step)
                              for e in np.eye(2) * step], axis=-1)
            n = n - np.clip(np.linalg.solve(slope, off[..., None])[..., 0], -0.3, 0.3)
        assert np.abs(self.bend(n) - d).max() < 1e-9, "a lens that folds the picture over is none"
        return n * self.focal_px + self.centre_px


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A camera, its board, and the quality of its pictures."""

    camera: Lens
    board: str
    gain: float = 1.0
    noise: float = 3.0
    quality: int = 90
    covered: bool = False
    bent: bool = False
    views: int = 14


def drawn(kind: str, rng: np.random.Generator) -> Rig:
    """A random rig of a class."""
    size, fov = (1536, 864), rng.uniform(56, 76)
    k1, k2, p1, p2, k3, squeeze = rng.uniform(-0.1, 0.03), rng.uniform(-0.005, 0.03), 0.0, 0.0, 0.0, 0.0
    rig = dict[str, float | int | bool]()
    if kind == "strong":
        fov, k1, k2 = rng.uniform(85, 105), rng.uniform(-0.16, -0.09), rng.uniform(0.008, 0.02)
    elif kind == "off axis":
        p1, p2, k3 = *rng.uniform(-0.003, 0.003, 2), rng.uniform(-0.02, 0.01)
    elif kind == "fisheye":
        fov, squeeze = rng.uniform(90, 110), rng.uniform(0.55, 0.85)
    elif kind == "small":
        size = (640, 480)
    elif kind == "large":
        size, rig = (4608, 2592), {"views": 9}
    elif kind == "odd":
        size = (int(rng.integers(900, 1900)) | 1, int(rng.integers(700, 1200)) | 1)
    elif kind == "upright":
        size, fov = (864, 1536), rng.uniform(40, 52)
    elif kind == "dim":
        rig = {"gain": rng.uniform(0.15, 0.3), "noise": rng.uniform(4, 7), "quality": 75}
    elif kind == "covered":
        rig = {"covered": True}
    elif kind == "bent":
        rig = {"bent": True}
    elif kind != "plain":
        raise SystemExit(f"no class {kind}; known are {', '.join(KINDS)}")
    w, h = size
    height = float(rng.uniform(780, 1000) * 0.55 / np.tan(np.radians(max(fov, 60)) / 2))
    a, b = np.radians(rng.uniform(-6, 6, 2))
    dx, dy = rng.uniform(-0.015, 0.015, 2) * w
    camera = Lens(width=w, height=h, focal_px=focal_of(w, fov), centre_px=(w / 2 + dx, h / 2 + dy), k1=k1, k2=k2,
                  p1=p1, p2=p2, k3=k3, squeeze=squeeze,
                  tilt=(float(a), float(b), float(np.radians(rng.uniform(-180, 180)))),
                  position_mm=(height * float(np.tan(b)), -height * float(np.tan(a)), height))
    # the angle of view is that of the distorted picture
    wide = np.array([[np.tan(np.radians(fov) / 2) * n, 0.0] for n in (1.0, 1.25, 1.26)])
    edge, corner, beyond = (float(v) for v in camera.bend(wide)[:, 0])
    if (beyond - corner) / (wide[2, 0] - wide[1, 0]) < 0.45:  # no real lens compresses its corners more
        return drawn(kind, rng)
    camera = replace(camera, focal_px=w / 2 / edge)
    return Rig(camera=camera, board=BOARDS[rng.integers(len(BOARDS))], **rig)  # type: ignore[arg-type]


KINDS = ("plain", "strong", "off axis", "fisheye", "small", "large", "odd", "upright", "dim", "covered", "bent")


def taken(rig: Rig, things: Sequence[Lying], rng: np.random.Generator) -> Image:
    """The picture of objects on the table, as decoded from a file."""
    clean = photograph(rig.camera, things, seed=int(rng.integers(1 << 30)), noise=0.0,
                       light=float(rng.uniform(0.1, 0.5)), blur_px=0.6 * max(1.0, rig.camera.width / 2304))
    dim = clean * rig.gain + rng.normal(0, rig.noise, clean.shape)
    coded = cv2.imencode(".jpg", np.clip(dim, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, rig.quality])[1]
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)


def hand(at: Array, rng: np.random.Generator) -> Lying:
    """A grey occluder over a place."""
    sheet = Sheet(texture=np.full((round(rng.uniform(320, 560)), round(rng.uniform(400, 800))), 130, np.uint8))
    return Lying(sheet=sheet, rotation=turned(rng.uniform(0, 360)), at_mm=(float(at[0]), float(at[1]), 40.0))


def views_of(rig: Rig, board: Board, rng: np.random.Generator) -> list[tuple[str, Image]]:
    """Views of the board all over the picture, tilted, at several distances; the last one bent if the rig says so."""
    camera, sheet, out = rig.camera, charuco_sheet(board), []
    columns = 4 if camera.width > camera.height else 3
    rows = 3 if columns == 4 else 4
    top = camera.position_mm[2]
    for n in range(rig.views):
        place = np.array([n % columns + 0.5, n // columns % rows + 0.5]) / (columns, rows)
        px = (0.5 + (place - 0.5) * 0.94 + rng.uniform(-0.03, 0.03, 2)) * (camera.width, camera.height)
        up = float(rng.uniform(0.08, 0.35) * top)
        x, y = camera.table_mm([px], up)[0]
        # roughly facing the camera, as people hold it
        lean = np.degrees(np.arctan2(np.array([x, y]) - camera.position_mm[:2], top - up)) * 0.7
        turn = turned(rng.uniform(0, 360), rng.uniform(-30, 30) - lean[1], rng.uniform(-30, 30) + lean[0])
        lying = Lying(sheet=sheet, rotation=turn, at_mm=(float(x), float(y), up))
        things = [lying]
        if rig.covered:
            off = turn[:2, :2] @ (rng.uniform(-0.5, 0.5, 2) * board.size_mm)
            things.append(replace(hand(np.array([x, y]) + off, rng), at_mm=(*(np.array([x, y]) + off), up + 60.0)))
        picture = taken(rig, things, rng)
        if rig.bent and n == rig.views - 1:
            h, w = picture.shape[:2]
            wave = np.clip(np.arange(w)[None] + 5 * np.sin(np.arange(h) / 55)[:, None], 0, w - 1).astype(int)
            picture = picture[np.arange(h)[:, None], wave]
        out.append((f"view{n:02d}", picture))
    return out


def tables(rig: Rig, board: Board, lens: LensResult, rng: np.random.Generator) -> list[tuple[str, str, bool, float]]:
    """Per target the result, whether the guarantee is kept, and the seconds."""
    camera = rig.camera
    px = grid_px((camera.width, camera.height))
    truth = camera.table_mm(px)
    corner = [camera.table_mm([[x * camera.width, y * camera.height]])[0]
              for x, y in ((0.14, 0.16), (0.86, 0.16), (0.86, 0.84), (0.14, 0.84))]
    spread = rng.uniform(-0.15, 0.15, 2) * np.ptp(truth, axis=0) / 2
    middle = truth.mean(axis=0) + spread
    scenes: dict[str, tuple[str, list[Lying]]] = {
        "charuco": ("charuco", [flat(charuco_sheet(board), middle[0], middle[1], float(rng.uniform(0, 360)))]),
        "mat": ("mat", [flat(mat_sheet(), middle[0], middle[1], float(rng.uniform(0, 360)))]),
        "cards": ("cards", [flat(s, at[0], at[1], float(rng.uniform(0, 360)))
                            for s, at in zip(card_sheets(), corner, strict=True)]),
    }
    if rig.covered:
        for name, (_, things) in list(scenes.items()):
            things.append(hand(np.array(things[0].at_mm[:2]) + rng.uniform(-25, 25, 2), rng))
            if name == "mat":
                things[-1] = replace(things[-1], at_mm=(*(middle + rng.choice([-100, 100], 2) * (1.0, 0.6)), 40.0))
    out = []
    for name, (method, things) in scenes.items():
        picture = taken(rig, things, rng)
        begun = time.process_time()
        try:
            table = find_table(picture, lens, (method,), board=board).plane.result
        except CalibrationError as e:
            out.append((f"{name}: {str(e)[:60]}", "-", False, time.process_time() - begun))
            continue
        seconds = time.process_time() - begun
        worst = over_the_picture(table, (camera.width, camera.height), truth)[1]
        out.append((name, f"{worst:.2f} ({table.worst_corner_mm:.1f})", worst <= WORST_MM and seconds <= SECONDS,
                    seconds))
    return out


def rehearse(kind: str, seed: int) -> tuple[int, int]:
    """Test and print one rig; returns the number of guarantees and of violations."""
    rng = np.random.default_rng((seed, KINDS.index(kind)))
    rig = drawn(kind, rng)
    board, camera = parse_board(rig.board), rig.camera
    pictures = views_of(rig, board, rng)
    begun = time.process_time()
    try:
        found = calibrate_lens(pictures, board)
    except CalibrationError as e:
        print(f"{kind:<9} {seed:4d} {camera.width}x{camera.height} {rig.board[8:]}: NO LENS: {e}", flush=True)
        return 1, 1
    seconds = time.process_time() - begun
    lens = found.lens
    kept: list[bool] = [lens.rms_px <= RMS_PX]
    used = sum(v.used for v in found.views)
    if rig.bent:
        kept.append(not found.views[-1].used and used >= len(pictures) - 3)
    row = (f"{kind:<9} {seed:4d} {camera.width:4d}x{camera.height:<4d} {rig.board[8:]:<30} {lens.fov_deg[0]:5.1f} deg "
           f"{used:2d}/{len(pictures)} views {lens.rms_px:.3f} px {100 * (lens.focal_px / camera.focal_px - 1):6.2f} % "
           f"{seconds:4.1f} s")
    for name, worst, good, spent in tables(rig, board, lens, rng):
        kept.append(good)
        row += f" | {name} {worst} {spent:.1f} s{'' if good else ' !'}"
    print(row + ("" if all(kept) else "   BROKEN"), flush=True)
    return len(kept), kept.count(False)


def main(every: Callable[[str, int], tuple[int, int]] = rehearse) -> None:
    parser = argparse.ArgumentParser(description="Is every promise of the calibration kept on random cameras?")
    parser.add_argument("kinds", nargs="*", metavar="CLASS", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=2, help="rigs per class")
    args = parser.parse_args()
    if unknown := [kind for kind in args.kinds if kind not in KINDS]:
        parser.error(f"there is no class {unknown[0]!r}; there are: {', '.join(KINDS)}")
    cv2.setNumThreads(1)
    promised = broken = 0
    for kind in args.kinds or KINDS:
        for seed in range(args.first, args.first + args.count):
            of, off = every(kind, seed)
            promised, broken = promised + of, broken + off
    print(f"{promised} promises, {broken} broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
