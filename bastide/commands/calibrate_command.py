"""``bastide calibrate``: lens, table and colours."""

from __future__ import annotations

import argparse

from bastide.commands._later import not_yet

HELP = "calibrate lens, table or colours (not in this version yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["lens", "table", "colours"])
    parser.add_argument("images", nargs="*", metavar="IMAGE")
    parser.add_argument("--source", metavar="URI")
    parser.add_argument("--lens", metavar="FILE")
    parser.add_argument("--board", metavar="SPEC")
    parser.add_argument("--mat", action="store_true")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    return not_yet("calibration", "watch and read find the table from the tiles themselves")
