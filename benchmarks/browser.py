"""The browser of the benchmarks that look at the page."""

from __future__ import annotations

import shutil
import sys
from typing import Any


def chromium(playwright: Any) -> Any:
    """A running Chromium. Exits with a message if there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        sys.exit("no chromium: apt install chromium")
    return playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
