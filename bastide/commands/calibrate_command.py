"""``bastide calibrate``: lens, table, colours, one player's supply."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bastide.errors import Failure, UsageError
from bastide.files.writing import write_whole
from bastide.inputs import DEFAULT_BOARD

HELP = "calibrate lens, table, colours or one player's supply"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["lens", "table", "colours", "supply"])
    parser.add_argument("images", nargs="*", metavar="IMAGE", help="views of the ChArUco board (lens)")
    parser.add_argument("--source", metavar="URI", help="a camera (lens), or a camera or a picture (table, colours)")
    parser.add_argument("--camera", metavar="NAME", help="a preset: module2, module3, module3-wide, hq-6mm, ...")
    parser.add_argument("--lens", metavar="FILE", help="from bastide calibrate lens (table)")
    parser.add_argument("--board", metavar="SPEC", help=f"the ChArUco board (default {DEFAULT_BOARD})")
    parser.add_argument("--mat", action="store_true", help="the printed mat or the four corner cards (table)")
    parser.add_argument("--tiles", metavar="DIR", help="pictures of your own tiles (table without a target)")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--players", metavar="FILE", help="whose colours are in view (colours; default: all found)")
    parser.add_argument("--colour", metavar="NAME", help="whose pieces lie in view (supply); other colours in the file "
                        "of --out stay")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    from bastide.camera.calibrating import calibrate_colours, calibrate_lens, calibrate_supply, calibrate_table
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
        make = {"lens": calibrate_lens, "table": calibrate_table, "colours": calibrate_colours,
                "supply": calibrate_supply}[args.what]
        document, summary = make(args)
    except CalibrationError as e:
        text = str(e)
        raise (UsageError(text) if text.startswith("--") else Failure(text)) from e
    try:
        write_whole(out, document.write().encode())
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    if args.json:
        print(json.dumps({**summary, "out": args.out}))
        return 0
    show(args.what, summary)
    for advice in summary["advice"]:
        print(advice["text"], file=sys.stderr)
    print(f"written to {args.out}")
    return 0


def show(what: str, summary: dict[str, Any]) -> None:
    """The result for people; docs/calibration.md says what each number means."""
    if what == "lens":
        used = sum(v["used"] for v in summary["views"])
        print(f"residual {summary['rms_px']:.3f} px over {used} of {len(summary['views'])} views, field of view "
              f"{summary['fov_deg'][0]:.1f} x {summary['fov_deg'][1]:.1f} degrees, focal length "
              f"{summary['focal_px']:.1f} px")
        for view in summary["views"]:
            if not view["used"]:
                why = "the same view as another one" if view["repeats"] else \
                    "the board was not seen" if view["rms_px"] is None else f"residual {view['rms_px']:.2f} px"
                print(f"  not used: {view['name']} ({why})")
        for row in summary["coverage"]:
            print("  " + " ".join(f"{n:4d}" if n else "   ." for n in row))
    elif what == "table":
        print(f"by {summary['method']}: {summary['rms_mm']:.2f} mm RMS, worst point {summary['worst_mm']:.2f} mm, "
              f"worst corner of the picture {summary['worst_corner_mm']:.1f} mm ({summary['seconds']:.1f} s)")
        print(f"the camera is {summary['height_mm'] / 10:.1f} cm over the table and {summary['tilt_deg']:.1f} degrees "
              "off straight down")
    else:
        for name, rgb in summary["paints"].items():
            near = min(((d, pair) for pair, d in summary["distances"].items() if name in pair.split("-")),
                       default=None)
            told = "" if near is None else f"  nearest {near[1]} at {near[0]:.1f}"
            print(f"  {name:<7} rgb {rgb[0]:3d} {rgb[1]:3d} {rgb[2]:3d}{told}"
                  + (f"  {summary['shapes'][name]}s" if name in summary["shapes"] else ""))
