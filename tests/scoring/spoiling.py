"""Events with something wrong about them."""

from __future__ import annotations

import random
from dataclasses import replace

from scoring.events import Event
from scoring.tiles import HALVES, neighbour


def spoilt(event: Event, rng: random.Random) -> Event:
    """The event with one of its values changed."""
    values: dict[str, object] = {
        "player": rng.randrange(6), "owner": rng.randrange(6), "jailer": rng.randrange(6), "rot": rng.randrange(4),
        "part": rng.randint(1, 2), "tile": rng.choice(("base.C", "dragon.06", "dragon.01", "wheel.31", "river.02")),
        "figure": rng.choice(("follower", "large", "builder", "pig")), "steps": rng.randrange(9),
        "feature": rng.choice(("city", "road", "field", "cloister", "river", "tower")),
        "where": rng.choice(("N", "I", "E W", *HALVES)), "portal": True,
    }
    if hasattr(event, "at"):
        values["at"] = neighbour(event.at, rng.choice("NESW"))
    if hasattr(event, "path"):
        values["path"] = tuple((rng.randint(-3, 3), rng.randint(-3, 3)) for _ in range(rng.randint(1, 8)))
    known = [k for k in values if hasattr(event, k)]
    return replace(event, **{k: values[k] for k in known if rng.random() < 0.5}) if known else event  # type: ignore
