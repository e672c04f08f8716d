"""``bastide calibrate``: lens, table, colours, one player's supply."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bastide.errors import Failure, UsageError
from bastide.files.writing import write_whole
from bastide.inputs import DEFAULT_BOARD

if TYPE_CHECKING:
    from bastide.camera.calibrating import ColoursTold, LensTold, TableTold
    from calibration.documents import Document

HELP = "calibrate lens, table, colours or one player's supply"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["lens", "table", "colours", "supply"])
    parser.add_argument("images", nargs="*", metavar="IMAGE", help="pictures of the ChArUco board (lens)")
    parser.add_argument("--source", metavar="URI", help="a camera (lens), or a camera or a picture (table, colours)")
    parser.add_argument("--camera", metavar="NAME", help="a preset: module2, module3, module3-wide, hq-6mm, ...")
    parser.add_argument("--lens", metavar="FILE", help="from bastide calibrate lens (table)")
    parser.add_argument("--board", metavar="SPEC", help=f"the ChArUco board (default {DEFAULT_BOARD})")
    parser.add_argument("--mat", action="store_true", help="the printed mat or the four corner cards (table)")
    parser.add_argument("--tiles", metavar="DIR", help="pictures of your own tiles (table without a target)")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--players", metavar="FILE",
                        help="players whose colours are in view (colours; default: all found)")
    parser.add_argument("--colour", metavar="NAME", help="the colour of the pieces in view (supply); other colours "
                        "in the file of --out are kept")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    from calibration.documents import CalibrationError

    out = Path(args.out)
    if out.is_dir():
        raise UsageError(f"{args.out}: is a folder, not a file")
    if not out.parent.is_dir():
        raise UsageError(f"{args.out}: there is no folder {out.parent}")
    if args.what == "lens":
        if bool(args.images) == bool(args.source):
            raise UsageError("calibrate lens needs pictures of the ChArUco board, or --source with a camera, "
                             "not both")
    elif args.images or not args.source:
        raise UsageError(f"calibrate {args.what} needs --source, a camera or a picture")
    try:
        made = _made(args)
    except CalibrationError as e:
        text = str(e)
        raise (UsageError(text) if text.startswith("--") else Failure(text)) from e
    try:
        write_whole(out, made.document.write().encode())
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    if args.json:
        print(json.dumps({**made.told, "out": args.out}))
        return 0
    print("\n".join(made.lines))
    for advice in made.told["advice"]:
        print(advice["text"], file=sys.stderr)
    print(f"written to {args.out}")
    return 0


class Made(NamedTuple):
    """A calibration with its report, as data and as text."""

    document: Document
    told: LensTold | TableTold | ColoursTold
    lines: list[str]


def _made(args: argparse.Namespace) -> Made:
    from bastide.camera.calibrating import calibrate_colours, calibrate_lens, calibrate_supply, calibrate_table

    if args.what == "lens":
        document, lens = calibrate_lens(args)
        return Made(document, lens, lens_lines(lens))
    if args.what == "table":
        document, table = calibrate_table(args)
        return Made(document, table, table_lines(table))
    document, colours = calibrate_colours(args) if args.what == "colours" else calibrate_supply(args)
    return Made(document, colours, colours_lines(colours))


def lens_lines(told: LensTold) -> list[str]:
    """A lens as text; docs/calibration.md explains each number."""
    used = sum(v["used"] for v in told["views"])
    out = [f"residual {told['rms_px']:.3f} px over {used} of {len(told['views'])} views, field of view "
           f"{told['fov_deg'][0]:.1f} x {told['fov_deg'][1]:.1f} degrees, focal length {told['focal_px']:.1f} px"]
    for view in told["views"]:
        if not view["used"]:
            why = "the same view as another one" if view["repeats"] else \
                "the board was not seen" if view["rms_px"] is None else f"residual {view['rms_px']:.2f} px"
            out.append(f"  not used: {view['name']} ({why})")
    return out + ["  " + " ".join(f"{n:4d}" if n else "   ." for n in row) for row in told["coverage"]]


def table_lines(told: TableTold) -> list[str]:
    """The table as text."""
    return [f"by {told['method']}: {told['rms_mm']:.2f} mm RMS, worst point {told['worst_mm']:.2f} mm, worst corner of "
            f"the picture {told['worst_corner_mm']:.1f} mm ({told['seconds']:.1f} s)",
            f"the camera is {told['height_mm'] / 10:.1f} cm over the table and {told['tilt_deg']:.1f} degrees off "
            "straight down"]


def colours_lines(told: ColoursTold) -> list[str]:
    """The players' colours as text."""
    out = []
    for name, rgb in told["paints"].items():
        near = min(((d, pair) for pair, d in told["distances"].items() if name in pair.split("-")), default=None)
        nearest = "" if near is None else f"  nearest {near[1]} at {near[0]:.1f}"
        out.append(f"  {name:<7} rgb {rgb[0]:3d} {rgb[1]:3d} {rgb[2]:3d}{nearest}"
                   + (f"  {told['shapes'][name]}s" if name in told["shapes"] else ""))
    return out
