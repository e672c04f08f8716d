"""``bastide support``: makes a support file, or recomputes the game in one."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write a file with diagnostics for support; --replay recomputes its game"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", default="bastide-support.zip")
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--replay", metavar="FILE", help="recompute the game of a support file and compare the scores")


def run(args: argparse.Namespace) -> int:
    from bastide.backup.support import replay, write_support

    if args.replay:
        found = replay(Path(args.replay))
        print(f"{args.replay}: {found['entries']} entries, scores {found['scores']}, at the end {found['final']}")
        if found["same"]:
            print("the same as recorded")
            return 0
        print(f"recorded: {found['recorded']}, at the end {found['recorded_final']}")
        return 1
    names = write_support(Path(args.data), Path(args.out))
    print(f"{args.out}: {', '.join(names)}; no PINs or passwords, no names, pictures of the board only")
    return 0
