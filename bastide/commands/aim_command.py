"""``bastide aim``: live numbers while a camera is being mounted."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from bastide.inputs import expansions

if TYPE_CHECKING:
    from calibration.aim import Aim

HELP = "show live numbers while mounting a camera: view, tilt, focus, glare, light"
_TILES_S = 5.0  # reading tiles takes seconds, so it is done only at intervals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="URI", help="a camera or a picture")
    parser.add_argument("--lens", metavar="FILE", help="from bastide calibrate lens")
    parser.add_argument("--camera", metavar="NAME", help="a preset: module2, module3, module3-wide, hq-6mm, ...")
    parser.add_argument("--tiles", metavar="DIR", help="pictures of your own tiles, to measure from tiles in view too")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--count", type=_count, metavar="N",
                        help="stop after N measurements (default: when the source ends)")
    parser.add_argument("--json", action="store_true", help="one JSON document per measurement")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number from 1")
    return int(text)


def run(args: argparse.Namespace) -> int:
    from bastide.camera.calibrating import lens_for
    from bastide.camera.capture import shots
    from bastide.tiles.art import box_contents, load_tiles
    from calibration.aim import look
    from vision.read import PhotoReader

    reader = None
    if args.tiles:
        names = expansions(args.expansions)
        reader = PhotoReader(load_tiles(args.tiles, names), counts=box_contents(names))
    tiles_at = -_TILES_S
    with shots(args.source, args.count) as pictures:
        for shot in pictures:
            now = time.monotonic()
            use = reader if now - tiles_at >= _TILES_S else None
            aim = look(shot.bgr, lens_for(args, shot), reader=use)
            if use is not None:
                tiles_at = time.monotonic()
            print(json.dumps(aim.to_json()) if args.json else line(aim), flush=True)
    return 0


def line(aim: Aim) -> str:
    """One measurement as a line of text, with the advice below it."""
    parts = ["view unknown" if aim.tiles is None else f"{aim.tiles[0]:4.1f} x {aim.tiles[1]:4.1f} tiles"]
    if aim.height_mm is not None and aim.tilt_deg is not None:
        parts.append(f"{aim.height_mm / 10:5.1f} cm up, {aim.tilt_deg:4.1f} degrees off")
    parts.append("no edges" if aim.edge_px is None else f"edges {aim.edge_px:3.1f} px")
    parts.append(f"level {aim.level:3.0f}, burnt {100 * aim.burnt:4.1f} %")
    text = " | ".join(parts) + ("  good" if aim.good else "")
    return "\n".join([text, *(f"    {a.text}" for a in aim.advice)])
