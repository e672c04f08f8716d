"""Recorded games with known-correct scores: those of this checkout, and those of ../shared where they are at hand.

Our own are 24 games of two to six players, base, River, Inns, Traders, Dragon, Tower and all together, chosen so that
every kind of move, figure, scoring reason and value of a rule that the 184 of ../shared have is among them.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

OWN = sorted((Path(__file__).parent / "scoring" / "games").glob("*.json.gz"))
_ALL = Path(__file__).parents[2] / "shared" / "games" / "dev"
MORE = sorted(p for p in _ALL.glob("*.json.gz") if p.name not in {own.name for own in OWN})
GAMES = sorted([*OWN, *MORE], key=lambda p: p.name)


def load(path: Path) -> dict[str, Any]:
    """A transcript, packed or not."""
    data = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return found


def name(path: Path) -> str:
    """What a game is called among the tests."""
    return path.name.split(".")[0]
