"""The command line. One module per verb in bastide/commands/; here are parsing, errors and exit codes.

Exit codes: 0 done, 1 failed, 2 wrong usage or unreadable input; always one sentence on standard error, no traceback.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from bastide import __version__
from bastide.errors import Failure, UsageError

ROOMS = ("scoring", "vision", "reading", "calibration", "hardware", "web", "bastide")
VERBS = ("demo", "serve", "watch", "read", "score", "rules", "teach", "aim", "calibrate", "print", "doctor", "export",
         "backup", "restore", "support", "pin", "hub", "card")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def parser(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """The command line as a parser, as far as these verbs go; every verb's module adds its own options."""
    top = _Parser(prog="bastide", description="Watches a game of tiles on the table and keeps the score.")
    top.add_argument("--version", action="version", version=f"bastide {__version__}")
    top.add_argument("--debug", action="store_true", help="show the full traceback of an unexpected error")
    commands = top.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=_Parser)
    for verb in verbs:
        module = importlib.import_module(f"bastide.commands.{verb}_command")
        sub = commands.add_parser(verb, help=module.HELP, description=module.HELP)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return top


def asked(argv: Sequence[str]) -> tuple[str, ...]:
    """The verbs needed to parse this: the given one, or all of them for the help.

    Loading the modules of the others takes longer than a short command.
    """
    for argument in argv:
        if argument in VERBS:
            return (argument,)
        if argument == "--version":
            return ()  # it exits the program
        if argument != "--debug":
            break
    return VERBS


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    # Set before NumPy is loaded: products of small matrices gain nothing from threads, and lose much on a busy device.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):  # unencodable characters must not raise
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        check_rooms()
        argv = sys.argv[1:] if argv is None else argv
        args = parser(asked(argv)).parse_args(argv)
    except Failure as e:
        print(f"bastide: {e}", file=sys.stderr)
        return 1
    try:
        return int(args.run(args) or 0)
    except UsageError as e:
        print(f"bastide {args.verb}: {e}", file=sys.stderr)
        return 2
    except Failure as e:
        print(f"bastide {args.verb}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"bastide {args.verb}: interrupted", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as e:
        if args.debug:
            raise
        if isinstance(e, OSError) and e.errno == errno.ENOSPC:
            print(f"bastide {args.verb}: the disk is full; free some space and try again", file=sys.stderr)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        print(f"bastide {args.verb}: unexpected error ({type(e).__name__}: {e}); "
              "run it again with --debug before the command for the traceback", file=sys.stderr)
        return 1


def check_rooms() -> None:
    """Make sure that every room comes from this checkout: the folder names are common words on package indexes."""
    here = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        spec = importlib.util.find_spec(room)
        where = Path(spec.origin).resolve().parent.parent if spec and spec.origin else None
        if where != here:
            raise Failure(f"the package {room}/ is imported from {where or 'nowhere'} instead of {here}; "
                          "start bastide from its own virtual environment (./run bastide ...)")
