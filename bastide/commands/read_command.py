"""``bastide read``: tiles and figures on one photograph."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bastide.errors import Failure
from bastide.inputs import expansions

HELP = "read the tiles and figures on one photograph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("image", metavar="IMAGE")
    parser.add_argument("--tiles", metavar="DIR", help="pictures of your own tiles")
    parser.add_argument("--expansions", metavar="A,B")
    parser.add_argument("--calibration", metavar="FILE", action="append",
                        help="from bastide calibrate; repeatable, for table and colours")
    parser.add_argument("--overlay", metavar="OUT.png", help="write the photograph with the detected tiles and figures")
    parser.add_argument("--data", metavar="DIR", default="data", help="where learned tiles are kept (default: data)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--times", action="store_true", help="print the time of each stage")


def run(args: argparse.Namespace) -> int:
    from bastide.camera.calibrated import load_calibrations, view_for
    from bastide.camera.capture import photograph
    from bastide.tiles.art import box_contents, load_tiles, tile_book
    from bastide.watching.watcher import blocks
    from scoring.box import box_for
    from scoring.rules import edition
    from scoring.tiles import catalogue
    from vision.images import ImageError, write_image
    from vision.overlay import draw_reading
    from vision.read import read_photo
    from vision.tileset import merged

    names = expansions(args.expansions)
    image = photograph(args.image)
    view = view_for(load_calibrations(args.calibration), image)
    tiles = merged(load_tiles(args.tiles, names), tile_book(args.data, args.tiles).tileset())
    counts = box_contents(names)
    piles = blocks(box_for(names, edition(), 2), [catalogue()[tile] for tile in counts])
    reading = read_photo(image, tiles, counts=counts, view=view, stacks=piles)
    if args.overlay:
        try:
            write_image(args.overlay, draw_reading(image, reading, view=view))
        except ImageError as e:
            raise Failure(str(e)) from e
    if args.times:
        print(", ".join(f"{stage} {spent:.2f} s" for stage, spent in reading.seconds.items()), file=sys.stderr)
    document: dict[str, Any] = dict(reading.to_json())
    if args.json:
        print(json.dumps(document))
        return 0
    for t in document["tiles"]:
        print(f"{t['tile']:<10} at {t['at'][0]:>3},{t['at'][1]:>3}  turned {t['rot']}  {t['confidence']:.2f}")
    for f in document["figures"]:
        place = f"{f['feature']} {f['where']}"
        print(f"{f['colour']:<10} at {f['at'][0]:>3},{f['at'][1]:>3}  {place}  {f['confidence']:.2f}")
    for issue in document["issues"]:
        print(issue.get("text", issue) if isinstance(issue, dict) else issue, file=sys.stderr)
    print(f"{len(document['tiles'])} tiles, {len(document['figures'])} figures")
    return 0
