#!/usr/bin/env python3
"""Prints the description of a package that `hardware/release_file.py` seals into it, for making a release.

    hardware/about.py FILE.deb CHANGELOG.md
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it runs as a script
    from hardware.release_file import Release


def changes(changelog: str, version: str) -> str:
    """A version's section of the changelog, else the upcoming section; empty without either."""
    for title in (re.escape(version), "Upcoming"):
        found = re.search(rf"^## {title}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
        if found and found[1].strip():
            return found[1].strip() + "\n"
    return ""


def about(package: Path, changelog: str) -> Release:
    """Read from a package's control fields. Raises CalledProcessError for an invalid package."""
    def field(name: str) -> str:
        return subprocess.run(["dpkg-deb", "--field", str(package), name], capture_output=True, text=True,
                              check=True).stdout.strip()

    version = field("Version").partition("+")[0]
    return {"version": version, "arch": field("Architecture"), "python": field("Bastide-Python"),
            "suite": field("Bastide-Suite"), "installed_kb": int(field("Installed-Size")),
            "changes": changes(changelog, version)}


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        sys.exit(__doc__)
    json.dump(about(Path(argv[0]), Path(argv[1]).read_text("utf-8")), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
