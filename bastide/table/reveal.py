"""Progress of revealing the final scoring: no screen shows the winner before the presentation gets there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from bastide.errors import Failure
from bastide.log.store import Store
from web.protocol import CommandError
from web.views import RevealView

BEFORE = -1  # the game is over and nothing of the final scoring has been shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The progress: ``step`` counts the events of the final scoring from 0, one more is the winner; ``told``: it is
    complete. ``lead`` is the device that leads, ``by`` its name."""

    step: int = BEFORE
    told: bool = False
    lead: str = ""
    by: str = ""


class Reveal:
    """The walk of one table through the final scoring of its game, kept over a restart."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._game = 0
        self._walk: Walk | None = None

    def begin(self, game: int, *, over: bool) -> None:
        """Show a game from now on. One that was over before counts as revealed, unless its walk was interrupted."""
        self._game = game
        self._walk = (self._kept() or Walk(told=True)) if over else None

    def follow(self, *, over: bool) -> None:
        """The game has changed: its end begins a walk, and taking the end back ends the walk."""
        if over != (self._walk is not None):
            self._put(Walk() if over else None)

    def go(self, data: Mapping[str, object], steps: int) -> None:
        """Walk to ``step`` of so many events (then the winner), or with ``end`` past them. Raises CommandError."""
        if self._walk is None:
            raise CommandError("still_played", "the final scoring is shown when the game is over")
        step, lead = data.get("step"), data.get("lead", "")
        if step != "end" and (type(step) is not int or not BEFORE <= step <= steps):
            raise CommandError("malformed", f"step: must be a number from {BEFORE} to {steps}, or end")
        if not isinstance(lead, str):
            raise CommandError("malformed", "lead: must be text")
        who = "".join(c for c in str(data.get("who", ""))[:40] if c.isprintable())
        self._put(Walk(step=steps if step == "end" else int(step), told=step == "end", lead=lead[:40], by=who))

    def view(self) -> RevealView | None:
        """What a view says of it; None while the game is played."""
        walk = self._walk
        return None if walk is None else {"step": walk.step, "told": walk.told, "lead": walk.lead, "by": walk.by}

    def _put(self, walk: Walk | None) -> None:
        self._walk = walk
        with suppress(Failure):  # a write error must not stop the evening: after a restart everything is revealed
            self._store.walk(json.dumps({"game": self._game, **asdict(walk)}) if walk else "")

    def _kept(self) -> Walk | None:
        """The stored walk of this game. None if there is none, or a damaged one: then everything counts as revealed."""
        try:
            kept = json.loads(self._store.walk())
            match [kept[name] for name in ("game", "step", "told", "lead", "by")]:
                case [self._game, int(step), bool(told), str(lead), str(by)] if step >= BEFORE:
                    return Walk(step=step, told=told, lead=lead, by=by)
        except (Failure, ValueError, KeyError, TypeError, RecursionError):
            pass
        return None
