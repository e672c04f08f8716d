"""``bastide pin``: set, change or remove the table's PINs on the machine itself."""

from __future__ import annotations

import argparse
import getpass
import sys
from dataclasses import replace

from bastide.errors import Failure, UsageError

HELP = "set the PIN required to change the game"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--admin", action="store_true", help="the administrator's PIN instead of the table's")
    parser.add_argument("--clear", action="store_true", help="remove both PINs; the next to open the page sets them")
    parser.add_argument("--overlay", action="store_true", help="print the overlay's read-only key")


def run(args: argparse.Namespace) -> int:
    from bastide.files.keys import KeyFile, set_pins

    try:
        keys = KeyFile(args.data)
        if args.overlay:
            print(keys.get().overlay)
            return 0
        if args.clear:
            kept = keys.get()
            keys.put(replace(kept, table=None, admin=None, series=kept.series + 1, set_at_s=None, set_from=None))
            print("both PINs are removed; whoever opens the page next sets a new one")
            return 0
    except OSError as e:
        raise Failure(f"{args.data}: the PIN cannot be saved there ({e.strerror})") from e
    if args.admin and keys.get().table is None:
        raise UsageError("--admin: set the table's PIN first, without --admin")
    pin = asked("the administrator's PIN" if args.admin else "the table's PIN")
    set_pins(keys, **{"admin" if args.admin else "table": pin})
    print("the PIN is set; every device must sign in with it once")
    return 0


def asked(what: str) -> str:
    """A PIN typed twice without being shown, or one line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    pin = getpass.getpass(f"{what}: ")
    if getpass.getpass("once more: ") != pin:
        raise UsageError("the two entries differ; nothing has changed")
    return pin
