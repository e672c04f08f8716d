"""The screen on the Pi's HDMI console: the page's address with a QR code, and the outcome of ``bastide.txt``."""

from __future__ import annotations

import ipaddress
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import segno

from bastide.machine.card import reported

EVERY_S = 3.0
QUIET = 4  # modules of white around a QR code (ISO/IEC 18004)
_CLEAR = "\x1b[2J\x1b[H"
_PAPER, _INK = "\x1b[30;47m", "\x1b[0m"  # dark modules on white, independent of the console's colours
WORDS = {
    "en": ("The scores are here:", "Scan the code with a phone in the same network, or type the address.",
           "No network yet: plug in a cable, or write your Wi-Fi into bastide.txt on the card."),
    "de": ("Hier sind die Punkte:", "Mit einem Handy im selben Netz den Code scannen oder die Adresse eintippen.",
           "Noch kein Netz: Kabel einstecken oder das WLAN in bastide.txt auf der Karte eintragen."),
    "fr": ("Les points sont ici :", "Scannez le code avec un téléphone du même réseau, ou tapez l'adresse.",
           "Pas encore de réseau : branchez un câble, ou notez votre Wi-Fi dans bastide.txt sur la carte."),
}


def qr(text: str) -> str:
    """A QR code for a console: two rows of modules per line, as half blocks, which every console font has."""
    rows = [list(row) for row in segno.make(text, error="m", micro=False).matrix]
    width = len(rows[0]) + 2 * QUIET
    blank = [[0] * width for _ in range(QUIET)]
    padded = [*blank, *([0] * QUIET + row + [0] * QUIET for row in rows), *blank]
    if len(padded) % 2:
        padded.append([0] * width)
    glyph = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    return "\n".join(_PAPER + "".join(glyph[bool(a), bool(b)] for a, b in zip(upper, lower, strict=True)) + _INK
                     for upper, lower in zip(padded[::2], padded[1::2], strict=True))


def screen(name: str, addresses: Sequence[str], port: int, said: Sequence[str], language: str) -> str:
    """The whole screen. ``addresses`` are this machine's, ``said`` is the outcome of the card's file."""
    here, scan, nowhere = WORDS.get(language, WORDS["en"])
    at = "" if port == 80 else f":{port}"
    hosts = [f"[{a}]" if ":" in a else a for a in addresses]
    out = ["", "  bastide", ""]
    if hosts:
        out += [f"  {here}", "", *(f"  http://{h}{at}" for h in (f"{name}.local", *hosts)), ""]
        out += ["  " + line for line in qr(f"http://{hosts[0]}{at}/").splitlines()]
        out += ["", f"  {scan}"]
    else:
        out += [f"  {nowhere}"]
    return "\n".join([*out, "", *(f"  {printable(s)}" for s in said)]) + "\n"


def printable(text: str) -> str:
    """Text from the card's file without characters that a console would interpret."""
    return "".join(c if c.isprintable() else "?" for c in text)


def announced_port(path: Path = Path("/etc/avahi/services/bastide.service")) -> int:
    """The page's port in the installation's Avahi service file."""
    try:
        found = re.search(r"<port>(\d{1,5})</port>", path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        found = None
    return int(found[1]) if found else 8000


def addresses() -> list[str]:
    """This machine's addresses for others to type: IPv4 first, without loopback and link-local ones."""
    told = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    found = [ipaddress.ip_address(a) for a in told]
    return [str(a) for a in sorted(found, key=lambda a: a.version) if not a.is_loopback and not a.is_link_local][:3]


def show(out: TextIO, *, name: Callable[[], str], port: int, language: str, once: bool = False) -> None:
    """Keep the screen up to date until terminated."""
    shown = ""
    while True:
        now = screen(name(), addresses(), port, reported(), language)
        if now != shown:
            out.write(_CLEAR + now)
            out.flush()
            shown = now
        if once:
            return
        time.sleep(EVERY_S)
