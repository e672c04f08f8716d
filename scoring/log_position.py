"""The position in the log at which an event reported out of order belongs according to the rules.

Example: a tile is placed, then somebody remembers that the wheel was turned before it; or the dragon has moved, then
somebody reports a follower that was deployed earlier. Appended at the end, such an event would apply to the wrong board
or the wrong player.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from scoring.contributions import AFTER, BEFORE, Question
from scoring.engine import waiting
from scoring.events import Event, GameEnded, MoveJson, TilePlaced, TurnEnded, event_types, from_json, to_json
from scoring.state import GameState
from scoring.turns import last_player, last_turn, next_part

EffectiveEvents = Sequence[tuple[int, Event]]  # a log's effective events with their entries' numbers


def spoken(state: GameState, data: object) -> Event:
    """The event described by JSON. If it names no player, it belongs to the player of the next tile (for events that
    precede a tile, with that part) or of the last one (for events that follow it). Raises InvalidNotation."""
    do = data.get("do") if isinstance(data, Mapping) else None
    kind = event_types().get(do) if isinstance(do, str) else None
    handler = state.box.handlers.get(kind) if kind else None
    if handler is None or not isinstance(data, Mapping):
        return from_json(data, player=state.player)
    if handler.when == BEFORE:
        player, part = (state.player, state.part) if handler.late and handler.late(state) else next_part(state)
        left_open = next((q.player for q in _left_open(state) if type(q.answers[0]) is kind), None)
        return from_json(data, player=player if left_open is None else left_open, part=part)
    named = handler.whose(state, data) if handler.whose else None
    acting = last_player(state) if handler.when == AFTER else state.player
    return from_json(data, player=acting if named is None else named)


def place(state: GameState, told: EffectiveEvents, event: Event) -> int | None:
    """The number of the entry after which an event reported now belongs (0: before everything; None: at the end).
    ``told`` are the effective events of the log that leads to ``state``."""
    handler = state.box.handlers.get(type(event))
    if handler is None or state.over or not handler.step:
        return None
    player = getattr(event, "player", None)
    if handler.when == BEFORE:
        late = handler.late and handler.late(state) and player == state.player
        late = late or any(event in q.answers for q in _left_open(state))
        return place_in(state, told, event, state.turn) if late else None
    if handler.when == AFTER:
        turn = last_turn(state)
        return place_in(state, told, event, turn) if turn >= 0 and player == last_player(state) else None
    answers = any(q.turn == state.turn and event in q.answers for q in state.asked)
    return place_in(state, told, event, state.turn) if answers else None


def _left_open(state: GameState) -> list[Question]:
    """Questions about events before its tile that the part just ended left open, until another part begins."""
    return [] if state.turn_open else [q for q in state.asked if q.turn == state.turn and q.before and q.answers]


def place_in(state: GameState, told: EffectiveEvents, event: Event, turn: int) -> int | None:
    """The entry of that turn part after which the event belongs: before the events that the rules place later in a
    turn. None: at the end of the log."""
    slots = state.box.slots
    own = slots.get(state.box.handlers[type(event)].step, len(slots))
    last = None
    for n, ((seq, other), happened) in enumerate(zip(told, state.happened, strict=True)):
        if happened != turn:
            continue
        handler = state.box.handlers.get(type(other))
        later = handler is not None and slots.get(handler.step, -1) > own
        if later or isinstance(other, TurnEnded | GameEnded):
            return told[n - 1][0] if n else 0
        last = seq
    return None if last is None or last == told[-1][0] else last


def missed(state: GameState, told: EffectiveEvents, data: object, turn: int) -> tuple[Event, int | None] | None:
    """The event described by JSON, which was missed in that turn part, and its position there; None if the part has no
    tile. If it names no player, it belongs to the player of the tile. Raises InvalidNotation."""
    tile = next((e for (_, e), n in zip(told, state.happened, strict=True) if n == turn and isinstance(e, TilePlaced)),
                None)
    if tile is None:
        return None
    event = from_json(data, player=tile.player, part=tile.part)
    handler = state.box.handlers.get(type(event))
    named = handler.whose(state, to_json(event)) if handler and handler.whose else None
    if named is not None and isinstance(data, Mapping) and "player" not in data:
        event = from_json(data, player=named, part=tile.part)
    return event, place_in(state, told, event, turn) if handler else None


def place_of_answer(state: GameState, told: EffectiveEvents, question: Question, event: Event) -> int | None:
    """The entry after which an answer belongs: in the turn part that the question is about."""
    handler = state.box.handlers.get(type(event))
    if handler is None or not handler.step or question.turn < 0:
        return None
    return place_in(state, told, event, question.turn)


def question_id(question: Question) -> str:
    """The id of a question for clients; it differs for another player or another turn."""
    return f"{question.code}.{question.turn}.{question.player}"


def unanswered(state: GameState, told: EffectiveEvents, settled: Collection[tuple[int, str]]) -> Iterator[Question]:
    """The open questions, without those of which people have said that nothing happened: ``settled`` are the numbers
    of the entries of tiles, each with the question's code."""
    for question in waiting(state):
        if not settled or (tile_of(state, told, question), question.code) not in settled:
            yield question


def tile_of(state: GameState, told: EffectiveEvents, question: Question) -> int | None:
    """The entry of the tile in whose turn part something may have happened that a question is about; None if that must
    have happened, or if the part has no tile."""
    if question.must:
        return None
    return next((seq for (seq, e), turn in zip(told, state.happened, strict=True)
                 if turn == question.turn and isinstance(e, TilePlaced)), None)


def open_question(state: GameState, name: str) -> Question | None:
    """The open question of that id."""
    return next((q for q in waiting(state) if question_id(q) == name), None)


def answered(question: Question, choice: object) -> MoveJson | None:
    """The answer of that index as JSON, or None if there is none."""
    if type(choice) is int and 0 <= choice < len(question.answers):
        return to_json(question.answers[choice])
    return None
