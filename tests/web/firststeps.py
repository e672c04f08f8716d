"""A table that is not set up, and two cameras over it: one sees the practice road laid, the other has its cap on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from bastide.guide.practice import plan
from bastide.table.setup import TWO
from scoring.events import FigurePlaced, Setup, TilePlaced
from scoring.rules import edition
from scoring.transcript import Game, turns_of, write
from vision.images import write_image

sys.path.append(str(Path(__file__).parents[1] / "bastide"))
from processes import Served  # noqa: E402

PHONE = (390, 844)
WATCH_MS = 120_000  # only for a table that never sees the road
STEPS = ("welcome", "camera", "aim", "table", "tiles", "figures", "players", "practice", "play")


class Empty(Served):
    """A table that is not set up: no PIN either."""

    def __init__(self, *argv: object) -> None:
        super().__init__(*argv, patience_s=1500.0)  # a walk of many steps on a busy machine
        at = self._argv.index("--pin")
        del self._argv[at:at + 2]


def practice_cameras(folder: Path) -> tuple[str, str]:
    """The addresses of the good camera and of the bad one; what they show is kept in ``folder``."""
    setup = Setup(players=TWO, rules=edition())
    first, second = plan(setup)
    events = (TilePlaced(player=0, tile=first["tile"], at=tuple(first["at"]), rot=first["rot"]),
              FigurePlaced(player=0, figure="follower", at=tuple(first["at"]), feature="road", where=first["follower"]),
              TilePlaced(player=1, tile=second["tile"], at=tuple(second["at"]), rot=second["rot"]))
    game = folder / "road.json"
    game.write_text(json.dumps(write(Game(setup=setup, turns=turns_of(setup, events)))), "utf-8")
    (folder / "dark").mkdir()
    for n in range(40):
        write_image(str(folder / "dark" / f"{n:02}.png"), np.full((180, 320, 3), n % 3, np.uint8))
    return (f"sim:transcript={game}&seed=1&level=easy&size=1152x648&pace=1&tail_s=120",
            f"folder:{folder / 'dark'}?fps=1")
