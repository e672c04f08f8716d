"""Accuracy of the networks on pictures of single unseen tiles: folders of scans, named by kind.

    ./run bench tile_folders [FOLDER...] [--structure FILE.onnx] [--signs FILE.onnx]

For every folder: the number of misread kinds with unknown rotation (kinds that the network cannot distinguish count as
one), the mean log-loss of the right kind in nats, and for every sign the area under the ROC curve and the log-loss.
Each picture is read four times: unchanged, blurred, at 70 px, and that a third darker, in random rotations, on random
backgrounds. Without FOLDER the ones in ../shared, which are not part of the project.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Tile, catalogue
from vision.frames import Image
from vision.signs import CROP_PX as SIGN_PX
from vision.signs import MARGIN as SIGN_MARGIN
from vision.signs import SIGNS, SignNet, signs_of
from vision.structure import CROP_PX, MARGIN, StructureNet

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
FOLDERS = ("tiles/c1", "tiles/new", *(f"sequences/{n}-normal/tiles" for n in ("scans", "inns", "traders")))
VIEWS = 4


def pictures(folder: Path) -> list[tuple[Tile, Image]]:
    """The pictures of a folder with the kinds in their names."""
    out = []
    for file in sorted(folder.iterdir()):
        kind = catalogue().get(file.stem.split("~")[0])
        bgr = cv2.imread(str(file)) if kind is not None else None
        if kind is not None and bgr is not None:
            out.append((kind, bgr))
    return out


def crops(bgrs: list[Image], size_px: int, margin: float) -> Image:
    """(VIEWS * N, size_px, size_px, 3): VIEWS variants of every picture, with a margin of background."""
    rng = np.random.default_rng(0)
    side = round(size_px / (1 + 2 * margin))
    edge = (size_px - side) // 2
    out = []
    for bgr in bgrs:
        for view in range(VIEWS):
            small = cv2.resize(bgr, (70, 70), interpolation=cv2.INTER_AREA) if view >= 2 else bgr
            small = cv2.resize(np.rot90(small, rng.integers(4)), (side, side), interpolation=cv2.INTER_AREA)
            if view == 1:
                small = cv2.GaussianBlur(small, (0, 0), 0.8)
            if view == 3:
                small = (small * 0.67).astype(np.uint8)
            crop = np.full((size_px, size_px, 3), rng.integers(40, 160, 3), np.uint8)
            crop[edge:edge + side, edge:edge + side] = small
            out.append(crop)
    return np.array(out)


def structure(net: StructureNet, shown: list[tuple[Tile, Image]]) -> str:
    """Misread kinds and log-loss among all kinds of the boxes in the folder."""
    boxes = {kind.product for kind, _ in shown}
    kinds = [t for t in catalogue().values() if t.product in boxes]
    loglik = net.ask(crops([bgr for _, bgr in shown], CROP_PX, MARGIN), turns=4).loglik(kinds)
    total = loglik - np.logaddexp.reduce(loglik.reshape(len(loglik), -1), axis=1)[:, None, None]
    each = np.logaddexp.reduce(total, axis=2)
    own = np.array([kinds.index(kind) for kind, _ in shown]).repeat(VIEWS)
    rows = np.arange(len(own))
    wrong = [(kinds[own[n]].id, kinds[int(each[n].argmax())].id) for n in rows
             if each[n].max() - each[n, own[n]] > 1e-6]
    said = f"{len(wrong)} of {len(own)} misread, log-loss {-each[rows, own].mean():.3f}"
    for pair in sorted(set(wrong), key=lambda p: (-wrong.count(p), p))[:6]:
        said += f"\n    {pair[0]} as {pair[1]}: {wrong.count(pair)}"
    return said


def signs(net: SignNet, shown: list[tuple[Tile, Image]]) -> list[str]:
    """One line for every sign that a kind of the folder has."""
    logits = net.ask(crops([bgr for _, bgr in shown], SIGN_PX, SIGN_MARGIN))
    has = np.array([signs_of(kind) for kind, _ in shown]).repeat(VIEWS, axis=0)
    out = []
    for n, name in enumerate(SIGNS):
        with_it, without = logits[has[:, n], n], logits[~has[:, n], n]
        if len(with_it) and len(without):
            loss = np.logaddexp(0, np.concatenate([-with_it, without])).mean()
            out.append(f"    {name}: area under the curve {_curve(with_it, without):.4f}, log-loss {loss:.3f}")
    return out


def _curve(yes: npt.NDArray[np.float64], no: npt.NDArray[np.float64]) -> float:
    return float((yes[:, None] > no[None]).mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--structure", type=Path, help="another network of tiles")
    parser.add_argument("--signs", type=Path, help="another network of signs")
    options = parser.parse_args()
    tiles = StructureNet(options.structure.read_bytes() if options.structure else None)
    marks = SignNet(options.signs.read_bytes() if options.signs else None)
    folders = options.folders or [SHARED / f for f in FOLDERS]
    for folder in folders:
        shown = pictures(folder) if folder.is_dir() else []
        if not shown:
            print(f"{folder}: no pictures of tiles named by kind")
            continue
        print(f"{folder.relative_to(SHARED) if folder.is_relative_to(SHARED) else folder}: {len(shown)} pictures, "
              f"{structure(tiles, shown)}")
        print(*signs(marks, shown), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
