"""What COMMANDS.md names and this version cannot do yet: the options parse, the command says so and fails."""

from __future__ import annotations

import argparse

from bastide.errors import Failure


def not_yet(what: str, instead: str) -> int:
    """Say honestly that the command is missing, and what to do meanwhile."""
    raise Failure(f"{what} is not in this version yet; {instead}")


def add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="FILE")
