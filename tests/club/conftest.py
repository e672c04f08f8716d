"""A broker and a table for the tests of a club evening."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("web", "bastide")]
