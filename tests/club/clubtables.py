"""Simulated tables for a club evening: each a real session on disk that is really published."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

from brokers import PATIENCE_S, QUICK, Mosquitto

from bastide.club.game_round import GameRound
from bastide.club.identity import Identity
from bastide.club.publisher import Beat, Publisher
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.events import Event, Player, Setup
from scoring.rules import edition

TWO = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))
SOON = Beat(again_s=0.5, look_s=0.05, doubled_s=5.0)


@cache
def moves(seed: int = 3, turns: int = 12, seats: int = 2) -> tuple[Event, ...]:
    """The moves of a game, without ends of turns, as a camera tells them."""
    return tuple(e for t in demo_game(seed, turns=turns, players=TWO[:seats]).turns for e in t.events)


class ClubTable:
    """One table, published from entering to leaving."""

    def __init__(self, folder: Path, broker: Mosquitto, name: str, *, commands: bool = False, aid: str = "coach",
                 beat: Beat = SOON, **more: Any) -> None:
        self.name, self._stack = name, ExitStack()
        self._folder, self._broker, self._commands, self._aid, self._beat = folder, broker, commands, aid, beat
        self._more = more

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        store = self._stack.enter_context(Store(self._folder / "log.sqlite"))
        self.session = TableSession.resume(store) or TableSession(
            store, Setup(players=TWO, rules=edition()), aid=self._aid)
        self.rounds = GameRound(self._folder)
        self.session.play_rounds(self.rounds)
        carry_out = (lambda c: self.rounds.carry_out(self.session, c)) if self._commands else None
        self.publisher = self._stack.enter_context(Publisher(
            self.session, self._broker.address, self.name, Identity(self._folder), carry_out=carry_out,
            game_round=self.session.game_round, beat=self._beat, pace=QUICK, **self._more))
        return self

    def __exit__(self, *exc: Any) -> None:
        self._stack.close()

    def play(self, *events: Event) -> int:
        """Moves as the camera tells them; the update that others must see."""
        for event in events:
            self.session.commit((event,), confidence=0.99, asked=False)
        return int(self.session.view()["update"])


__all__ = ["PATIENCE_S", "QUICK", "SOON", "TWO", "ClubTable", "moves"]
