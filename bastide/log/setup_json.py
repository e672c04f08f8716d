"""A game's set-up as the log keeps it."""

from __future__ import annotations

from dataclasses import replace

from scoring.events import Player, Setup, StartTile
from scoring.rules import edition, options, with_options


def setup_to_json(setup: Setup) -> dict[str, object]:
    """A game's set-up as JSON-ready data."""
    rules = {name: setup.rules.value(name) for name in options()}
    start = setup.start
    return {"players": [{"name": p.name, "colour": p.colour} for p in setup.players], "edition": setup.rules.edition,
            "rules": rules, "expansions": list(setup.expansions),
            "start": {"tile": start.tile, "at": list(start.at), "rot": start.rot} if start else None}


def setup_from_json(data: dict[str, object]) -> Setup:
    """The set-up that `setup_to_json` wrote. Raises KeyError or InvalidNotation."""
    start = data.get("start")
    return Setup(
        players=tuple(Player(name=p["name"], colour=p["colour"]) for p in data["players"]),  # type: ignore[attr-defined]
        rules=with_options(edition(str(data["edition"])), data["rules"]),  # type: ignore[arg-type]
        expansions=tuple(data["expansions"]),  # type: ignore[arg-type]
        start=StartTile(tile=start["tile"], at=tuple(start["at"]), rot=start["rot"]) if start else None,  # type: ignore
    )


def unnamed(setup: Setup) -> Setup:
    """The set-up with players who are called by their colours."""
    return replace(setup, players=tuple(replace(p, name=p.colour.capitalize()) for p in setup.players))
