"""``bastide backup``: everything in one file."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "save everything in one file: games, pictures, tiles, calibrations, settings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--calibration", metavar="FILE", action="append", default=[],
                        help="a file outside the data folder; those used by bastide serve are included automatically")
    parser.add_argument("--tiles", metavar="DIR", action="append", default=[],
                        help="a tile folder elsewhere; those used by bastide serve are included automatically")


def run(args: argparse.Namespace) -> int:
    from bastide.backup.backups import write_backup

    contents = write_backup(Path(args.data), Path(args.out), calibrations=[Path(c) for c in args.calibration],
                            tiles=[Path(t) for t in args.tiles])
    print(f"{args.out}: {contents.games} games with {contents.entries} entries, {contents.files} files, "
          f"{contents.size / 1e6:.1f} MB uncompressed; read back and verified")
    return 0
