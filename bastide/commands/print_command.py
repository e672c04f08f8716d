"""``bastide print``: the printable sheets."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

from bastide.errors import Failure, UsageError
from bastide.files.writing import write_whole
from bastide.inputs import expansions

HELP = "make the printable sheets as PDF: mat, corner cards, ChArUco board, teaching sheet, QR code of the page"
WHAT = ("mat", "cards", "charuco", "teaching-sheet", "qr")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--paper", choices=["A4", "Letter"], default="A4")
    parser.add_argument("--expansions", metavar="A,B", help="the boxes on the teaching sheet (default: base)")
    parser.add_argument("--url", help="the address in the QR code (default: this machine's, port 8000)")
    parser.add_argument("--out", required=True, metavar="FILE.pdf")


def run(args: argparse.Namespace) -> int:
    try:
        from bastide.export.sheets import sheet
    except ImportError as e:
        raise Failure(f"printing needs {e.name}; install bastide again (./run demo --once)") from e

    if args.url is not None and args.what != "qr":
        raise UsageError("--url: is for print qr only")
    if args.expansions is not None and args.what != "teaching-sheet":
        raise UsageError("--expansions: is for print teaching-sheet only")
    url = args.url or f"http://{own_name()}:8000/"
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc or len(url) > 200:
        raise UsageError(f"--url {url}: must be the page's address, like http://table.local:8000/")
    pdf = sheet(args.what, args.paper, products=expansions(args.expansions), url=url)
    out = Path(args.out)
    try:
        write_whole(out, pdf)
    except IsADirectoryError:
        raise UsageError(f"--out {out}: is a folder, not a file") from None
    except FileNotFoundError:
        raise UsageError(f"--out {out}: the folder {out.parent} does not exist") from None
    except OSError as e:
        raise Failure(f"{out}: cannot be written ({e.strerror or e})") from e
    print(f"{out}: print it at 100 % on {args.paper}" + ("" if args.what == "qr" else
          ", then measure the line that says 100 mm"))
    if args.what == "qr" and args.url is None:
        print(f"the QR code contains {url}; use --url for another address", file=sys.stderr)
    return 0


def own_name() -> str:
    """This machine's mDNS name on the local network, or its IP address without one."""
    name = socket.gethostname().partition(".")[0]
    try:
        ipaddress.ip_address(name)
        return name
    except ValueError:
        return f"{name}.local"
