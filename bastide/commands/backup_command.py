"""``bastide backup``: everything in one file."""

from __future__ import annotations

import argparse

from bastide.commands._later import add_out, not_yet

HELP = "everything in one file (not in this version yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    return not_yet("backup", "stop bastide and copy its data folder")
