"""``bastide restore``: put a backup in place."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "put a backup in place"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--data", metavar="DIR", default="data", help="where the log is kept (default: data)")
    parser.add_argument("--replace", action="store_true", help="even if there are games; they are kept beside it")


def run(args: argparse.Namespace) -> int:
    from bastide.backup.backups import SETTINGS, restore_backup
    from bastide.backup.external_files import CALIBRATIONS, PLAYERS, TAUGHT
    from bastide.backup.unpacking import SERVICE

    contents = restore_backup(Path(args.file), Path(args.data), swap=args.replace)
    print(f"{args.data}: {contents.games} games with {contents.entries} entries are back")
    data = Path(args.data)
    if (data / SERVICE).is_file():
        print(f"the service's options were those in {data / SERVICE}; compare them with {SETTINGS}")
    for folder, what, option in ((CALIBRATIONS, "calibrations", "--calibration"), (TAUGHT, "tile pictures", "--tiles"),
                                 (PLAYERS, "players", "--players")):
        for path in sorted((data / folder).glob("*")):
            print(f"{what} from another folder: {option} {path}")
    return 0
