"""``python -m vision.artwork --sheet PRODUCT OUT.png``: all tiles of a product on one picture."""

from __future__ import annotations

import argparse
import math
import sys

import cv2
import numpy as np

from scoring.tiles import Tile, product, products
from vision.artwork import Image, draw_tile

_BACKGROUND = (226, 232, 234)


def sheet(tiles: tuple[Tile, ...], size_px: int, columns: int) -> Image:
    """The tiles in rows, each with its id below."""
    gap, label = 8, 18
    rows = math.ceil(len(tiles) / columns)
    page = np.full((gap + rows * (size_px + label + gap), gap + columns * (size_px + gap), 3), _BACKGROUND, np.uint8)
    for n, tile in enumerate(tiles):
        top = gap + (n // columns) * (size_px + label + gap)
        left = gap + (n % columns) * (size_px + gap)
        page[top:top + size_px, left:left + size_px] = draw_tile(tile, size_px)
        cv2.putText(page, f"{tile.id} x{tile.count}", (left + 2, top + size_px + 13), cv2.FONT_HERSHEY_SIMPLEX, 0.42,
                    (40, 46, 52), 1, cv2.LINE_AA)
    return page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m vision.artwork", description="Render all tiles of a product.")
    parser.add_argument("--sheet", choices=products(), required=True, metavar="PRODUCT", help=", ".join(products()))
    parser.add_argument("--size", type=int, default=150, metavar="PX", help="side of a tile in pixels (default 150)")
    parser.add_argument("--columns", type=int, default=6, help="tiles in a row (default 6)")
    parser.add_argument("out", metavar="OUT.png")
    options = parser.parse_args(arguments)
    page = sheet(product(options.sheet).tiles, options.size, options.columns)
    try:
        written = cv2.imwrite(options.out, page, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    except cv2.error:  # unknown file extension
        written = False
    if not written:
        print(f"cannot write {options.out}: no such folder, or not a name of a picture", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
