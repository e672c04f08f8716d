"""``bastide restore``: bring back what `backup` kept."""

from __future__ import annotations

import argparse

from bastide.commands._later import not_yet

HELP = "bring back a backup (not in this version yet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    return not_yet("restore", "copy a saved data folder back while bastide is stopped")
