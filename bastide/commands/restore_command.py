"""``bastide restore``: restores a backup."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "restore a backup"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--replace", action="store_true",
                        help="restore even if the folder has games, which are kept beside it")


def run(args: argparse.Namespace) -> int:
    from bastide.backup.backups import SETTINGS, restore_backup
    from bastide.backup.external_files import CALIBRATIONS, PLAYERS, TAUGHT
    from bastide.backup.unpacking import SERVICE

    contents = restore_backup(Path(args.file), Path(args.data), swap=args.replace)
    print(f"{args.data}: {contents.games} games with {contents.entries} entries restored")
    data = Path(args.data)
    if (data / SERVICE).is_file():
        print(f"the service's options in the backup are in {data / SERVICE}; compare them with {SETTINGS}")
    for folder, what, option in ((CALIBRATIONS, "calibrations", "--calibration"), (TAUGHT, "tile pictures", "--tiles"),
                                 (PLAYERS, "players", "--players")):
        for path in sorted((data / folder).glob("*")):
            print(f"{what} from another folder: {option} {path}")
    return 0
