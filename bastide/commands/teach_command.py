"""``bastide teach``: learn the owner's tile set from the teaching sheet, by photographs or tile after tile."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bastide.errors import Failure, UsageError

HELP = "learn your own tile set from the teaching sheet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("image", nargs="*", metavar="IMAGE", help="photographs of the teaching sheet with tiles")
    parser.add_argument("--source", metavar="URI", help="a camera over the sheet: lay the tiles one after the other")
    parser.add_argument("--out", required=True, metavar="DIR", help="the tile folder, for --tiles")
    parser.add_argument("--expansions", metavar="A,B", help="the boxes whose tiles are taught (default: base)")
    parser.add_argument("--add", action="store_true", help="add to the existing pictures of a kind: another copy")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    from bastide.camera.teaching import Teaching, teach_from_camera, teach_from_image
    from bastide.inputs import expansions
    from bastide.tiles.art import box_contents

    if bool(args.image) == bool(args.source):
        raise UsageError("teach needs either photographs of the teaching sheet or --source")
    teaching = Teaching(Path(args.out), wanted=tuple(box_contents(expansions(args.expansions))), add=args.add)
    if args.source:
        teach_from_camera(args.source, teaching)
    for image in args.image:
        teach_from_image(image, teaching)
    result = teaching.save()
    if args.json:
        print(json.dumps(result))
    else:
        for refused in result["refused"]:
            print(f"{refused['tile']}: {refused['why']}; lay it as printed on the sheet and teach it again",
                  file=sys.stderr)
        for tile in result["coarse"]:
            print(f"{tile}: its picture has a low resolution; move the camera closer or use a larger picture",
                  file=sys.stderr)
        print(f"{len(result['taught'])} pictures written to {args.out}")
        if result["missing"]:
            print(f"not taught yet: {', '.join(result['missing'])}")
    if not result["taught"]:
        raise Failure("nothing was taught; see the lines above" if result["refused"] else
                      "the teaching sheet was found, but no tile on it: place tiles in its cells, in good light")
    return 0
