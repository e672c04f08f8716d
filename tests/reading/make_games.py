"""Make the generated games under games/: ``python tests/reading/make_games.py``. The same every time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from generated import Life, filmed  # noqa: E402

from bastide.table.demo_game import demo_game  # noqa: E402
from reading.record import write_looks  # noqa: E402
from scoring.transcript import write  # noqa: E402

SLIDES = Life(every_s=5.0, whole_s=0.0, turn_s=(5.0, 10.0), arms=0.05, unseen=0.05)  # a look a turn, at everything
GAMES: dict[str, tuple[int, tuple[str, ...], Life]] = {
    "base-1": (1, ("base",), Life()),
    "base-2": (2, ("base",), Life()),
    "base-2-slow": (2, ("base",), Life(every_s=4.0)),
    "base-4-fast": (4, ("base",), Life(every_s=0.7)),
    "base-4": (4, ("base",), Life()),
    "slides-6": (6, ("base",), SLIDES),
    "slides-7": (7, ("base",), SLIDES),
    "river-8": (8, ("base", "river"), Life()),
    "inns-9": (9, ("base", "inns"), Life()),
}


def main() -> None:
    for name, (seed, expansions, life) in GAMES.items():
        game = demo_game(seed, expansions=expansions)
        events = [e for t in game.turns for e in t.events if e.DO in ("tile", "deploy")]
        looks, shown = filmed(game.setup, events, seed, life)
        about: dict[str, Any] = {"game": name, "transcript": write(game), "shown": sorted(map(list, shown))}
        write_looks(HERE / "games" / f"{name}.json.gz", about, looks)


if __name__ == "__main__":
    main()
