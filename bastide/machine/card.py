"""``bastide.txt`` on the card's boot partition: Wi-Fi, name, language and an administrator's PIN, without a shell.

It is read once, when the machine starts. Everything in it is validated first; with one invalid line nothing is applied,
and the error message is written below that line. Applied lines are marked, and secrets are removed from the file.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bastide.errors import Failure, UsageError
from bastide.files.keys import NAME as SECRETS
from bastide.files.keys import KeyFile, set_pins
from bastide.files.writing import sync_folder, write_whole
from web.rights import Refused, checked_pin

NAME = "bastide.txt"
MOST_BYTES = 20_000
LANGUAGES = ("en", "de", "fr")
REPORT = "bastide-card.json"  # in /run, for the console screen
OPEN = "open"  # as a Wi-Fi's password: an open network
SECRET = ("wifi-password", "pin")
_OURS = "# bastide: "
_BLANKED = b"\0" * 8  # marks a file that is being overwritten, even after a power cut; never occurs in text
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z _-]*?)\s*=(.*)", re.S)
TEMPLATE = """\
# What this table should know before it starts: write it behind the = and put the card into the Pi.
# It is read once, at the next start. Passwords and PINs are then taken out of this file.

# Your Wi-Fi, where there is no cable. The country is two letters, like DE; a network without a password takes: open
wifi =
wifi-password =
# yes, if it does not tell its name
wifi-hidden =
country =

# The table's name in your network: with "bastide" its page is at http://bastide.local
name =

# The page's language: en, de or fr
language =

# The administrator's PIN, 4 to 12 digits. A lost one is reset here.
pin =
"""


@dataclass
class Card:
    """A parsed file: its settings, and the errors of its lines, by number from 0."""

    lines: list[str]
    values: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)


def _wifi(value: str) -> str:
    return "" if 1 <= len(value.encode()) <= 32 and value.isprintable() else "a Wi-Fi's name has 1 to 32 characters"


def _password(value: str) -> str:
    good = value == OPEN or re.fullmatch(r"[ -~]{8,63}|[0-9a-fA-F]{64}", value)
    return "" if good else \
        "a Wi-Fi's password has 8 to 63 characters without accents; a network without one takes: open"


def _country(value: str) -> str:
    return "" if re.fullmatch(r"[A-Za-z]{2}", value) else "a country is two letters, like DE, FR or US"


def _name(value: str) -> str:
    return "" if re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", value.lower()) else \
        "a name has letters, digits and hyphens only, like bastide or table-2"


def _language(value: str) -> str:
    return "" if value.lower() in LANGUAGES else f"a language is one of {', '.join(LANGUAGES)}"


def _pin(value: str) -> str:
    try:
        checked_pin(value)
    except Refused as e:
        return e.text
    return ""


def _hidden(value: str) -> str:
    return "" if value.lower() in ("yes", "no") else "a hidden Wi-Fi is said with: wifi-hidden = yes"


CHECKS = {"wifi": _wifi, "wifi-password": _password, "wifi-hidden": _hidden, "country": _country, "name": _name,
          "language": _language, "pin": _pin}


def understood(data: bytes) -> Card:
    """Parse and validate a file. Raises UsageError if it is not text."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"the file is too large: the limit is {MOST_BYTES // 1000} kB")
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the file is not plain text: save it as text in UTF-8") from None
    card = Card([line for line in text.replace("\0", "").splitlines() if not line.startswith(_OURS)])
    for n, line in enumerate(card.lines):
        if line.strip() and not line.lstrip().startswith("#"):
            _take(card, n, line)
    for key, of in (("wifi-password", "that this password is for"), ("wifi-hidden", "that is hidden")):
        if key in card.values and "wifi" not in card.values:
            card.wrong.setdefault(card.places[key], f"the Wi-Fi {of} is missing: wifi = NAME")
    if "wifi" in card.values and "wifi-password" not in card.values:
        card.wrong.setdefault(card.places["wifi"], "its password is missing; a network without one takes: "
                              "wifi-password = open")
    return card


def _take(card: Card, n: int, line: str) -> None:
    found = _LINE.fullmatch(line)
    key = re.sub(r"[ _-]+", "-", found[1].lower()) if found else ""
    if found is None or key not in CHECKS:
        card.wrong[n] = f"this is not understood; a line is one of {', '.join(f'{k} =' for k in CHECKS)}"
        return
    value = found[2].strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    if not value:
        return
    if key in card.values:
        card.wrong[n] = f"{key} is there twice"
    elif problem := CHECKS[key](value):
        card.wrong[n] = problem
    card.values[key] = value
    card.places.setdefault(key, n)


def read_card(path: Path, *, root: Path = Path("/"), data: Path = Path("/var/lib/bastide"), live: bool = True
              ) -> list[str]:
    """Apply a card's file, all of it or nothing; returns the sentences for the screen, none if the file sets nothing.

    ``root`` is the system's root folder; with ``live`` the running system's host name is changed at once. Raises
    UsageError for a file of another name, because it is rewritten, and Failure for read or write errors.
    """
    if path.name.lower() != NAME or path.is_symlink():
        raise UsageError(f"{path}: is not the card's {NAME}; no other file is read, because it is written into")
    _finish(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as e:
        raise Failure(f"{path}: cannot be read ({e.strerror or e})") from e
    try:
        card = understood(raw)
    except UsageError as e:
        return [f"{path.name}: {e}; nothing was done"]
    if card.wrong:
        below = {n: f"{_OURS}{text}; nothing was done.\n" for n, text in card.wrong.items()}
        _rewrite(path, raw, "".join(f"{line}\n{below.get(n, '')}" for n, line in enumerate(card.lines)), hide=False)
        return [f"{path.name}, line {n + 1}: {text}; nothing was done" for n, text in sorted(card.wrong.items())]
    if not card.values:
        return []
    done = _apply(card.values, root, data)
    _rewrite(path, raw, _taken(card), hide=True)
    if live and "name" in card.values:
        subprocess.run(["hostname", card.values["name"].lower()], check=False)
    return done


def _taken(card: Card) -> str:
    out = []
    at = {n: key for key, n in card.places.items()}
    for n, line in enumerate(card.lines):
        if key := at.get(n):
            out.append(f"# taken: {key}, and removed from here" if key in SECRET else f"# taken: {line.strip()}")
            out.append(f"{key} =")
        else:
            out.append(line)
    return "\n".join(out) + "\n"


def _files(values: Mapping[str, str], root: Path) -> dict[Path, tuple[str, int]]:
    """The files to write, with their contents and modes."""
    etc = root / "etc"
    files: dict[Path, tuple[str, int]] = {}
    if "wifi" in values:
        files[etc / "NetworkManager/system-connections/bastide-wifi.nmconnection"] = (_connection(values), 0o600)
    if "country" in values:
        files[etc / "modprobe.d/bastide-wifi.conf"] = (
            f"options cfg80211 ieee80211_regdom={values['country'].upper()}\n", 0o644)
    if "name" in values:
        name = values["name"].lower()
        hosts = etc / "hosts"
        known = hosts.read_text("utf-8").splitlines() if hosts.exists() else ["127.0.0.1\tlocalhost"]
        kept = [line for line in known if not line.startswith("127.0.1.1")]
        files[etc / "hostname"] = (f"{name}\n", 0o644)
        files[hosts] = ("\n".join([*kept, f"127.0.1.1\t{name}"]) + "\n", 0o644)
    if "language" in values:
        files[etc / "bastide/card.conf"] = (f"BASTIDE_LANGUAGE={values['language'].lower()}\n", 0o644)
    return files


def _connection(values: Mapping[str, str]) -> str:
    """A connection of NetworkManager (nm-settings-keyfile(5)): the name as a byte list, so that no character is
    special."""
    name, password = values["wifi"], values["wifi-password"]
    ident = uuid.uuid5(uuid.NAMESPACE_DNS, "wifi.bastide.local")
    out = ["[connection]", "id=bastide-wifi", f"uuid={ident}", "type=wifi", "", "[wifi]", "mode=infrastructure",
           f"ssid={''.join(f'{b};' for b in name.encode())}"]
    if values.get("wifi-hidden", "").lower() == "yes":
        out += ["hidden=true"]
    out += [""]
    if password != OPEN:
        out += ["[wifi-security]", "key-mgmt=wpa-psk", "psk=" + password.replace("\\", "\\\\").replace(" ", "\\s"), ""]
    return "\n".join([*out, "[ipv4]", "method=auto", "", "[ipv6]", "method=auto", ""])


def _apply(values: Mapping[str, str], root: Path, data: Path) -> list[str]:
    """Apply everything or nothing: when a step fails the earlier ones are rolled back. Raises Failure."""
    files = _files(values, root)
    before: dict[Path, tuple[bytes, int] | None] = {}
    try:
        for path, (text, mode) in files.items():
            before[path] = (path.read_bytes(), path.stat().st_mode & 0o777) if path.exists() else None
            _write(path, text.encode(), mode)
        if "pin" in values:
            _set_pin(data, values["pin"])
    except (OSError, Failure, UsageError) as e:
        for path, old in before.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                _write(path, *old)
        raise Failure(f"bastide.txt could not be carried out ({e}); nothing was done") from e
    said = {"wifi": "the Wi-Fi {}", "name": "the name {}", "language": "the language {}", "country": "the country {}",
            "pin": "the administrator's PIN"}
    return ["taken from bastide.txt: " + ", ".join(said[k].format(values[k]) for k in said if k in values)]


def _set_pin(data: Path, pin: str) -> None:
    """Set the administrator's PIN. If there is no table's PIN, anybody could set it: then it becomes a random one,
    until the administrator sets it on the page."""
    keys = KeyFile(data)
    unknown = None if keys.get().table is not None else "".join(secrets.choice("0123456789") for _ in range(10)) + "07"
    set_pins(keys, admin=pin, table=unknown)
    owner = data.stat()
    if os.geteuid() == 0:
        os.chown(data / SECRETS, owner.st_uid, owner.st_gid)


def _write(path: Path, data: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, mode=mode, durable=True)


def _rewrite(path: Path, old: bytes, text: str, *, hide: bool) -> None:
    """Rewrite the file. With ``hide`` its old bytes are overwritten first, so that no password remains on the card.
    Raises Failure."""
    new = text.replace("\n", "\r\n").encode()  # for Windows editors too
    if new == old:
        return
    part = path.with_name(f"{path.name}.new")
    try:
        write_whole(part, new, durable=True)
        if hide:
            with open(path, "r+b") as f:
                f.write(b"\0" * len(old))
                f.flush()
                os.fsync(f.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as e:
        raise Failure(f"{path}: cannot be written ({e.strerror or e}), so its secrets are still in it") from e


def _finish(path: Path) -> None:
    """Complete a rewrite that a power cut interrupted: the new file, beside a partly overwritten old one."""
    part = path.with_name(f"{path.name}.new")
    try:
        if not part.exists():
            return
        old = path.read_bytes() if path.exists() else b""
        if old.strip(b"\0") and _BLANKED not in old:
            part.unlink()  # the old one is intact, and is read again
        else:
            os.replace(part, path)
    except OSError as e:
        raise Failure(f"{path}: cannot be read ({e.strerror or e})") from e


def report(sentences: list[str], folder: Path = Path("/run")) -> None:
    """Store the messages for the console screen."""
    _write(folder / REPORT, json.dumps(sentences).encode(), 0o644)


def reported(folder: Path = Path("/run")) -> list[str]:
    """The messages of this start."""
    try:
        told = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [s for s in told if isinstance(s, str)] if isinstance(told, list) else []
