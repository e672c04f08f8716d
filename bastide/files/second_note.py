"""What is noted of the newest backup on a second medium: the one writes it, the doctor reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NOTE = "second.json"


def read_note(data: Path) -> dict[str, Any]:
    """How the newest backup on the second medium went; empty when there was none."""
    try:
        found = json.loads((data / NOTE).read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}
