"""A watched game as transcript/1, with the confidence of its readings."""

from __future__ import annotations

from collections.abc import Mapping

from bastide.table.session import TableSession
from scoring.engine import new_game, step
from scoring.events import GameEnded, TurnEnded
from scoring.log import Settled, Unread, effective
from scoring.transcript import Game, Transcript, move, turns_of, write


def transcript_of(session: TableSession) -> Transcript:
    """The game in the session. Moves carry ``confidence``, ``frame`` and, where a person would be asked, ``asked``;
    turns carry their running score and the game its totals as ``expect`` (the program's own figures)."""
    entries = {e.seq: e for e in session.entries}
    readings = {}
    for e in session.entries:
        if not isinstance(e.body, Settled | Unread):
            readings[getattr(e.body, "seq", e.seq)] = e
    events = effective(session.entries)
    about: dict[int, Mapping[str, object]] = {}
    for seq, event in events:
        entry = readings.get(seq, entries[seq])
        about[id(event)] = {"confidence": round(entry.confidence, 4), "frame": entry.frame,
                            **({"asked": True} if entry.asked else {})}
    turns = turns_of(session.setup, tuple(e for _, e in events))
    out = write(Game(setup=session.setup, turns=turns))
    state = new_game(session.setup)
    for turn, row in zip(turns, out["turns"], strict=True):
        row["moves"] = [{**move(e, turn.player), **about[id(e)]} for e in turn.events]
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
        row["expect"] = {"score": list(state.scores)}
    out["expect"] = {"totals": list(step(state, GameEnded()).scores)}
    return out


