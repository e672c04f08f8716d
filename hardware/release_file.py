"""A release in one file: a Debian package with an embedded description and signature. Standard library only, because
root runs it with the system's Python before anything of a release is trusted.

The package is an ``ar`` archive; after the members that dpkg knows come ``_bastide-about`` (JSON: description and
changes) and, as the last one, ``_bastide-sig``: ssh-keygen's signature of every byte before its own header. dpkg
ignores both.

    python3 -I release_file.py seal FILE.deb ABOUT.json KEY      describe and sign
    python3 -I release_file.py check FILE.deb SIGNERS            verify; print the description
    python3 -I release_file.py verify FILE SIGNATURE SIGNERS     verify any file with its signature in another
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, TypedDict

FORMAT, NAMESPACE, SIGNER = "bastide-release/1", "bastide-release", "bastide"
ABOUT, SIGNATURE = "_bastide-about", "_bastide-sig"
MOST_BYTES = 500_000_000  # a package has about 100 MB
_MOST_ABOUT, _MOST_SIGNATURE = 200_000, 10_000
_MAGIC, _HEADER = b"!<arch>\n", 60
VERSION = re.compile(r"\d{1,5}\.\d{1,5}\.\d{1,5}")
_FIELDS: Mapping[str, re.Pattern[str]] = {
    "version": VERSION, "arch": re.compile(r"amd64|arm64"), "python": re.compile(r"3\.\d{1,2}"),
    "suite": re.compile(r"[a-z]{1,20}")}


class NotTaken(Exception):
    """Why a file is rejected as a release for this table. ``code`` is a word for programs."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Release(TypedDict):
    """Description of a package: its version, architecture, Python, Debian suite, size and changes."""

    version: str
    arch: str
    python: str
    suite: str
    installed_kb: int
    changes: str


class About(Release):
    """The same, as sealed into a package."""

    format: str


def check(path: Path, signers: Path) -> About:
    """A package's description, after verifying its signature. Nothing of it is unpacked.

    ``signers`` is an allowed-signers file of ssh-keygen. Raises NotTaken, and OSError for a read error.
    """
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        if size > MOST_BYTES:
            raise NotTaken("not_a_release", "the file is too large to be a release")
        members = _members(f, size)
        if [name for name, _, _ in members[-2:]] != [ABOUT, SIGNATURE]:
            raise NotTaken("not_signed", "the file is not signed with the release key")
        (_, about_at, about_bytes), (_, signature_at, signature_bytes) = members[-2:]
        if about_bytes > _MOST_ABOUT or signature_bytes > _MOST_SIGNATURE:
            raise NotTaken("not_a_release", "the file is no release of bastide")
        f.seek(signature_at)
        _verify(f, signature_at - _HEADER, f.read(signature_bytes), signers)
        f.seek(about_at)
        return _about(f.read(about_bytes))


def verify(path: Path, signature: Path, signers: Path) -> None:
    """Verify a whole file with a detached ssh-keygen signature. Raises NotTaken, and OSError for a read error."""
    with open(path, "rb") as f, open(signature, "rb") as s:
        size = os.fstat(f.fileno()).st_size
        if size > MOST_BYTES:
            raise NotTaken("not_a_release", "the file is too large to be a release")
        _verify(f, size, s.read(_MOST_SIGNATURE), signers)


def seal(path: Path, about: Mapping[str, object], key: Path) -> None:
    """Describe a package and sign it with ssh-keygen's private key (or the public one, with an agent), in one step.

    Raises ValueError for an invalid description, OSError, and CalledProcessError from ssh-keygen.
    """
    told = json.dumps({"format": FORMAT, **about}, ensure_ascii=False, sort_keys=True).encode()
    try:
        _about(told)
    except NotTaken as e:
        raise ValueError(str(e)) from e
    part = path.with_name(f"{path.name}.part")
    try:
        shutil.copyfile(path, part)
        with open(part, "r+b") as f:
            members = _members(f, os.fstat(f.fileno()).st_size)
            if any(name in (ABOUT, SIGNATURE) for name, _, _ in members):
                raise ValueError(f"{path} is sealed already")
            f.seek(0, os.SEEK_END)
            _append(f, ABOUT, told)
            f.flush()
            f.seek(0)
            signature = subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE], stdin=f,
                                       stdout=subprocess.PIPE, check=True).stdout
            f.seek(0, os.SEEK_END)
            _append(f, SIGNATURE, signature)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def knows_a_key(signers: Path) -> bool:
    """Whether the file has a signer; one with only comments is the same as none."""
    try:
        lines = signers.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def _members(f: BinaryIO, size: int) -> list[tuple[str, int, int]]:
    """Name, offset and size of an archive's members, which must fill it completely. Raises NotTaken."""
    bad = NotTaken("not_a_release", "the file is no release of bastide, or it is broken")
    f.seek(0)
    if f.read(len(_MAGIC)) != _MAGIC:
        raise bad
    out, at = [], len(_MAGIC)
    while at < size:
        f.seek(at)
        header = f.read(_HEADER)
        name, length = header[:16].rstrip(b" ").removesuffix(b"/"), header[48:58].rstrip(b" ")
        if len(header) != _HEADER or header[58:] != b"`\n" or not re.fullmatch(rb"[\w.+-]{1,16}", name) or \
                not re.fullmatch(rb"\d{1,10}", length):
            raise bad
        out.append((name.decode(), at + _HEADER, int(length)))
        at += _HEADER + int(length) + int(length) % 2
    # A last member of odd length may lack its padding byte.
    names = [name for name, _, _ in out]
    if at - size not in (0, 1) or len(set(names)) != len(names) or names[:1] != ["debian-binary"]:
        raise bad
    return out


def _append(f: BinaryIO, name: str, data: bytes) -> None:
    """Append a member as dpkg-deb does: no time, no owner, padded to an even length."""
    if f.tell() % 2:
        f.write(b"\n")
    f.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2))


def _verify(f: BinaryIO, length: int, signature: bytes, signers: Path) -> None:
    """Raises NotTaken unless somebody in ``signers`` has signed the file's first ``length`` bytes."""
    if not knows_a_key(signers):
        raise NotTaken("no_key", f"there is no release key in {signers}; hardware/release.signers says how one comes "
                       "there")
    f.seek(0)
    if not _verified(f, length, signature, signers):
        raise NotTaken("not_signed", "the file is not signed with the release key; nothing of it was unpacked or run")


def _verified(f: BinaryIO, length: int, signature: bytes, signers: Path) -> bool:
    with tempfile.NamedTemporaryFile() as s:
        s.write(signature)
        s.flush()
        verify = subprocess.Popen(["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", SIGNER, "-n", NAMESPACE,
                                   "-s", s.name],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert verify.stdin is not None
        try:
            with verify.stdin as pipe:
                while length and (piece := f.read(min(length, 1 << 20))):
                    pipe.write(piece)
                    length -= len(piece)
        except BrokenPipeError:
            pass  # it has already decided
        return verify.wait() == 0 and length == 0


def _about(data: bytes) -> About:
    """Parse and validate the description. Raises NotTaken."""
    bad = NotTaken("not_a_release", "the file does not say what it is")
    try:
        about = json.loads(data)
    except (ValueError, RecursionError):
        raise bad from None
    if not isinstance(about, dict) or about.get("format") != FORMAT or not isinstance(about.get("changes"), str) or \
            type(about.get("installed_kb")) is not int or not 0 < about["installed_kb"] < 10_000_000 or \
            not all(isinstance(about.get(k), str) and p.fullmatch(about[k]) for k, p in _FIELDS.items()):
        raise bad
    return {"format": FORMAT, "version": about["version"], "arch": about["arch"], "python": about["python"],
            "suite": about["suite"], "installed_kb": about["installed_kb"], "changes": about["changes"]}


def numbers(version: str) -> tuple[int, ...]:
    """A version as a sort key: 0.10.0 is newer than 0.9.1."""
    return tuple(int(n) for n in version.split("."))


def main(argv: list[str]) -> int:
    try:
        if len(argv) == 3 and argv[0] == "check":
            print(json.dumps(check(Path(argv[1]), Path(argv[2]))))
            return 0
        if len(argv) == 4 and argv[0] == "verify":
            verify(Path(argv[1]), Path(argv[2]), Path(argv[3]))
            return 0
        if len(argv) == 4 and argv[0] == "seal":
            seal(Path(argv[1]), json.loads(Path(argv[2]).read_text("utf-8")), Path(argv[3]))
            return 0
    except NotTaken as e:
        print(f"{e.code}\t{e}", file=sys.stderr)
        return 1
    except (OSError, ValueError, subprocess.CalledProcessError) as e:
        print(f"failed\t{e}", file=sys.stderr)
        return 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
