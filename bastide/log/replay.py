"""The past of a game: its turns, the view after each of them, corrections and their authors, and the game as a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bastide.log.history import UNDO
from scoring.engine import apply, new_game
from scoring.errors import IllegalMove
from scoring.events import Event, GameEnded, MoveJson, Setup, TilePlaced, TurnEnded, to_json
from scoring.log import Amended, Inserted, LogEntry, Retracted, Settled, Unread, effective, state_of
from scoring.moves import moves_json
from scoring.projection import live_view
from scoring.scores import formula
from scoring.state import Draft, GameState
from scoring.transcript import Game, turns_of, write
from scoring.views import MomentView
from web.states import CorrectionRow

_FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four as wide characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTurn:
    """One turn (or part of a double turn): its number, its player, what was laid, the entries that made it."""

    turn: int
    player: int
    tile: str | None
    at: tuple[int, int] | None
    seqs: tuple[int, ...]


def played(setup: Setup, entries: Sequence[LogEntry]) -> tuple[PlayedTurn, ...]:
    """The turns of a game in order, numbered as its score events number them."""
    d = Draft(new_game(setup))
    seqs: dict[int, list[int]] = {}
    laid: dict[int, Event] = {}
    players: dict[int, int] = {}
    for seq, event in effective(entries):
        try:
            apply(d, event)
        except IllegalMove:  # as in the fold of the whole log
            continue
        if d.turn < 0 or isinstance(event, TurnEnded | GameEnded):
            continue
        seqs.setdefault(d.turn, []).append(seq)
        players.setdefault(d.turn, d.player)
        if isinstance(event, TilePlaced):
            laid[d.turn] = event
    return tuple(PlayedTurn(turn=n, player=players[n], tile=getattr(laid.get(n), "tile", None),
                            at=getattr(laid.get(n), "at", None), seqs=tuple(found)) for n, found in seqs.items())


def view_at(setup: Setup, entries: Sequence[LogEntry], seq: int, *, before: bool = False) -> MomentView | None:
    """The view, with all corrections, right after entry ``seq`` (0: before all), or right ``before`` it. None for an
    unknown entry.

    ``after`` in it is the entry after which to insert an event of that moment, ``moves`` the moves possible then
    (`scoring.moves`).
    """
    by_seq, happened = {e.seq: e for e in entries}, effective(entries)
    order = [number for number, _ in happened]
    if seq not in order and (seq or before):
        return None
    count = order.index(seq) + (not before) if seq else 0
    kept = [LogEntry(seq=number, body=event, at_s=by_seq[number].at_s, source=by_seq[number].source,
                     confidence=by_seq[number].confidence) for number, event in happened[:count]]
    state = state_of(setup, kept)
    return {**live_view(state, kept, len(kept)), "moves": moves_json(state)["moves"],
            "after": order[count - 1] if count else 0}


def view_after(setup: Setup, entries: Sequence[LogEntry], turn: PlayedTurn) -> MomentView:
    """The view, with all corrections, at the end of that turn."""
    found = view_at(setup, entries, turn.seqs[-1])
    assert found is not None  # a played turn has happened
    return found


def corrections(entries: Sequence[LogEntry]) -> list[CorrectionRow]:
    """All corrections by people, newest first: time, author, entry, its content before and after."""
    said: dict[int, Event] = {}
    target: dict[int, int] = {}
    out: list[CorrectionRow] = []
    for e in entries:
        row: CorrectionRow = {"seq": e.seq, "at_s": e.at_s, "who": e.who.removeprefix(UNDO)}
        match e.body:
            case Amended(seq=seq, body=after):
                seq = target[e.seq] = target.get(seq, seq)
                row |= {"do": "amend", "of": seq, "before": _json(said.get(seq)), "after": to_json(after)}
                said[seq] = after
            case Retracted(seq=seq):
                kind: Literal["undo", "retract"] = "undo" if e.who.startswith(UNDO) else "retract"
                row |= {"do": kind, "of": seq, "before": _json(said.get(target.get(seq, seq))), "after": None}
            case Inserted(after=seq, body=event):
                row |= {"do": "insert", "of": seq, "before": None, "after": to_json(event)}
                said[e.seq] = event
            case Settled(seq=seq, code=code):
                row |= {"do": "settle", "of": seq, "code": code, "before": None, "after": None}
            case Unread():
                continue
            case event:
                said[e.seq] = event
                continue
        if e.source == "hand":
            out.append(row)
    return out[::-1]


def _json(event: Event | None) -> MoveJson | None:
    return to_json(event) if event is not None else None


def transcript(setup: Setup, entries: Sequence[LogEntry]) -> str:
    """The game as transcript/1."""
    events = tuple(event for _, event in effective(entries))
    return json.dumps(write(Game(setup=setup, turns=turns_of(setup, events))), indent=1, ensure_ascii=False)


def scores_csv(state: GameState) -> str:
    """Every score event, one line per player who got points."""
    def plain(text: str) -> str:
        """Defuse CSV injection: spreadsheets evaluate text that looks like a formula, such as a player's name."""
        return f"'{text}" if text.lstrip().startswith(_FORMULAS) or text.startswith(("\t", "\r", "\n")) else text

    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["turn", "player", "points", "reason", "feature", "tiles", "formula", "rule"])
    for event in state.score_events:
        for player, points in event.points:
            texts = (event.reason, event.feature or "")
            rows.writerow([event.turn + 1, plain(state.setup.players[player].name), points, *map(plain, texts),
                           event.tiles, plain(formula(event.items)), event.rule])
    return out.getvalue()


def before_the_end(entries: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
    """The log without the end of the game."""
    ends = [seq for seq, event in effective(entries) if isinstance(event, GameEnded)]
    return (*entries, *(LogEntry(seq=len(entries) + n, body=Retracted(seq=seq)) for n, seq in enumerate(ends, 1)))
