"""Asks a table's page for the state of its game: playing, idle, silent (it is there but does not answer) or nobody.

    python3 -I ask_table.py URL SECONDS

Standard library only: root runs it with the system's Python, and a package does before it is unpacked.
"""

import json
import sys
import urllib.error
import urllib.request


def asked(url: str, patience_s: float) -> str:
    """One of the four words. A table that answers without stating whether it plays counts as silent: it may be
    playing."""
    try:
        with urllib.request.urlopen(f"{url}/api/state", timeout=patience_s) as answer:
            view = json.load(answer)
        if not view.get("phase"):
            return "silent"
        return "playing" if view["phase"] == "playing" and view.get("version", 0) > 0 else "idle"
    except urllib.error.URLError as e:
        return "nobody" if isinstance(e.reason, ConnectionRefusedError) else "silent"
    except (OSError, ValueError, AttributeError, TypeError):
        return "silent"


def main(url: str, patience_s: str) -> None:
    print(asked(url, float(patience_s)))


if __name__ == "__main__":
    main(*sys.argv[1:])
