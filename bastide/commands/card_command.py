"""``bastide card``: start-up tasks of a table on a card of its own (docs/install.md)."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from pathlib import Path

from bastide.errors import Failure
from bastide.inputs import port

HELP = "apply bastide.txt of the SD card, or show the page's address on the screen"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
    read = acts.add_parser("read", help="apply the settings in bastide.txt, as the service does at every start")
    read.add_argument("file", type=Path, help="bastide.txt on the boot partition")
    read.add_argument("--data", metavar="DIR", type=Path, default=Path("/var/lib/bastide"))
    read.add_argument("--root", metavar="DIR", type=Path, default=Path("/"),
                      help="root folder of the system (default: /)")
    shown = acts.add_parser("show", help="the page's address and QR code")
    shown.add_argument("--port", type=port, help="the page's port (default: the one announced on the network)")
    shown.add_argument("--once", action="store_true", help="show it once and exit")
    acts.add_parser("template", help="an empty bastide.txt")


def run(args: argparse.Namespace) -> int:
    if args.act == "template":
        from bastide.machine.card import TEMPLATE

        sys.stdout.write(TEMPLATE.replace("\n", "\r\n"))
        return 0
    if args.act == "show":
        from bastide.machine.console import announced_port, show

        show(sys.stdout, name=socket.gethostname, port=args.port or announced_port(),
             language=os.environ.get("BASTIDE_LANGUAGE", ""),
             once=args.once)
        return 0
    from bastide.machine.card import read_card, report

    here = args.root == Path("/")
    try:
        said = read_card(args.file, root=args.root, data=args.data, live=here)
    except Failure as e:
        if here:
            report([str(e)])
        raise
    if here:
        report(said)
    for sentence in said:
        print(sentence)
    return 0
