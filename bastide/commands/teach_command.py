"""``bastide teach``: learn the owner's tile set."""

from __future__ import annotations

import argparse

from bastide.commands._later import not_yet

HELP = "learn your own tile set from pictures (not in this version yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("image", nargs="?", metavar="IMAGE")
    parser.add_argument("--source", metavar="URI")
    parser.add_argument("--out", required=True, metavar="DIR")


def run(args: argparse.Namespace) -> int:
    return not_yet("teaching", "put one upright square picture per tile, named by its id, into a folder for --tiles")
