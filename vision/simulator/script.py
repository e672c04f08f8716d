"""What happens on the table, turn by turn: tiles laid, figures put down, figures going home."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoring import engine
from scoring.errors import ScoringError
from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.state import GameState, StandingFigure
from scoring.transcript import Game, read
from vision.frames import SourceError

Square = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A tile on a square with its quarter turns clockwise."""

    tile: str
    at: Square
    rot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A figure on a segment; ``where`` is on the board. Equal values are the same place, not the same piece."""

    player: int
    figure: str
    at: Square
    feature: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A neutral piece is moved to these squares, one after the other, to stand ``beside`` a figure."""

    piece: str
    path: tuple[Square, ...]
    beside: Standing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One tile drawn: ``laid`` is None when it was put aside. ``home`` leave the board at the end of the turn, after
    the ``walks``."""

    index: int
    player: int
    laid: Laid | None
    figure: Standing | None
    home: tuple[Standing, ...]
    scores: tuple[int, ...] = ()  # of all players when it is over
    walks: tuple[Walk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    colours: tuple[str, ...]
    start: Laid | None
    turns: tuple[Turn, ...]


def load(path: Path) -> Mapping[str, object]:
    """A transcript/1 file, gzip'd or not, as data. Raises SourceError."""
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        data = json.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"cannot read the transcript {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SourceError(f"{path} is not a transcript: {error}") from None
    if not isinstance(data, dict):
        raise SourceError(f"{path} is not a transcript: it should be a JSON object")
    return data


def script_of(data: Mapping[str, object], turns: int | None = None) -> Script:
    """The script of a transcript, to its end or for so many turns. Raises SourceError when it cannot be read."""
    try:
        game = read(data)
        standing, scores, walks = _standing(game)
    except ScoringError as error:
        raise SourceError(f"the transcript cannot be simulated: {error}") from None
    start = game.setup.start
    steps: list[Turn] = []
    before: Counter[Standing] = Counter()
    for index, turn in enumerate(game.turns[:turns]):
        laid, figure = None, None
        for event in turn.events:
            if isinstance(event, TilePlaced):
                laid = Laid(tile=event.tile, at=event.at, rot=event.rot)
            elif isinstance(event, FigurePlaced):
                figure = Standing(player=turn.player, figure=event.figure, at=event.at, feature=event.feature,
                                  where=event.where)
        after = standing[index]
        put = Counter([figure] if figure else [])
        steps.append(Turn(index=index, player=turn.player, laid=laid, figure=figure,
                          home=tuple(((before + put) - after).elements()), scores=scores[index],
                          walks=walks[index]))
        before = after
    return Script(colours=tuple(p.colour for p in game.setup.players), turns=tuple(steps),
                  start=Laid(tile=start.tile, at=start.at, rot=start.rot) if start else None)


def _standing(game: Game) -> tuple[list[Counter[Standing]], list[tuple[int, ...]], list[tuple[Walk, ...]]]:
    """By the rules engine: the figures on the board after each turn, the scores, and the moves of neutral pieces."""
    state = engine.new_game(game.setup)
    result, scores, walks = [], [], []
    for turn in game.turns:
        taken: list[Walk] = []
        for event in (*turn.events, TurnEnded()):
            before, state = state, engine.step(state, event)
            taken += _walks(event, before, state)
        result.append(Counter(_named(f) for f in state.figures))
        scores.append(tuple(state.scores))
        walks.append(tuple(taken))
    return result, scores, walks


def _named(f: StandingFigure) -> Standing:
    return Standing(player=f.player, figure=f.figure, at=f.at, feature=f.feature, where=f.where)


def _walks(event: Event, before: GameState, after: GameState) -> Iterator[Walk]:
    """Where an event moved the neutral pieces."""
    for piece in after.box.neutrals:
        at = piece.at(after)
        if at is None or at == piece.at(before) and piece.by(after) == piece.by(before):
            continue
        beside = after.standing.get(piece.by(after) or 0)
        yield Walk(piece=piece.name, path=piece.goes(event) or (at,), beside=_named(beside) if beside else None)
