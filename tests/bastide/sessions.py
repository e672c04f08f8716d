"""A live session for tests."""

from __future__ import annotations

from typing import Any

import pytest

from bastide.table.demo_game import PLAYERS, demo_game
from bastide.table.session import TableSession
from scoring.events import Event, Setup
from scoring.rules import edition
from web.protocol import CommandError

SETUP = Setup(players=PLAYERS, rules=edition())
JPEG = b"\xff\xd8 a picture"


def seen(session: TableSession, *events: Event, asked: bool = False, **how: Any) -> tuple[int, ...]:
    return session.commit(events, confidence=0.6 if asked else 0.99, asked=asked, **how)


def played(session: TableSession, turns: int, seed: int = 3) -> list[tuple[int, Event]]:
    """The first turns of a demo game as a camera sees them: tiles and figures, no ends of turns."""
    out = []
    for turn in demo_game(seed, turns=turns).turns:
        for event in turn.events:
            out.append((seen(session, event)[0], event))
    return out


def error(session: TableSession, command: Any) -> CommandError:
    with pytest.raises(CommandError) as raised:
        session.command(command)
    assert raised.value.text and "\n" not in raised.value.text
    return raised.value


def history(session: TableSession) -> list[int]:
    return [h["seq"] for h in session.view()["history"]]
