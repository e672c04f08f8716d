"""``bastide print``: printable targets."""

from __future__ import annotations

import argparse

from bastide.commands._later import add_out, not_yet

HELP = "printable targets as PDF (not in this version yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["mat", "charuco", "teaching-sheet", "qr"])
    parser.add_argument("--paper", choices=["A4", "Letter"], default="A4")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    return not_yet("printing targets", "no target is needed to watch or read a table")
