"""What happens on the table, turn by turn: tiles laid, figures put down, figures going home."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoring import engine
from scoring.contributions import Dial, Stack
from scoring.errors import ScoringError
from scoring.events import Event, FigurePlaced, FigureTaken, TilePlaced, TurnEnded
from scoring.state import GameState, StandingFigure
from scoring.transcript import Game, read
from vision.frames import SourceError

Square = tuple[int, int]
Holdings = tuple[tuple[tuple[int, str], ...], ...]  # by player the figures of others (owner, figure) that they hold


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
    the ``walks``, except those that were ``taken`` by a move: by the player of the turn. ``raised`` are the squares
    whose piles got one block more, ``held`` the figures (owner, figure) that each player holds afterwards, ``freed``
    those (holder, owner, figure) that went back to their owners before anybody was taken. Before the tile is laid the
    piece of a dial goes to these ``sections``, then those who go home ``early`` leave the board."""

    index: int
    player: int
    laid: Laid | None
    figure: Standing | None
    home: tuple[Standing, ...]
    scores: tuple[int, ...] = ()  # of all players when it is over
    walks: tuple[Walk, ...] = ()
    taken: tuple[Standing, ...] = ()
    raised: tuple[tuple[Square, Stack], ...] = ()
    held: Holdings = ()
    freed: tuple[tuple[int, int, str], ...] = ()
    sections: tuple[str, ...] = ()
    early: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBoard:
    """A start board of several squares, which is one piece: by square its tile and the edges as they lie. ``turns`` are
    its quarter turns clockwise, ``middle`` its middle (0, 0 is the middle of the first square), ``section`` the one on
    which the piece of its ``dial`` begins."""

    tiles: Mapping[Square, Laid]
    edges: Mapping[Square, str]
    turns: int
    middle: tuple[float, float]
    dial: Dial | None
    section: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """``tops`` are the kinds of features on top of piles, ``owned`` the pieces that players have. A game begins with
    one tile (``start``) or a ``board``."""

    colours: tuple[str, ...]
    start: Laid | None
    turns: tuple[Turn, ...]
    tops: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    board: StartBoard | None = None


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
        played = _played(game)
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
        told = played[index]
        figure = figure or told.on_dial
        after = told.standing
        put = Counter([figure] if figure else [])
        left = tuple(((before + put) - after).elements())
        taken = tuple((Counter(left) & Counter(told.taken)).elements())
        early = tuple((Counter(left) & Counter(told.early)).elements())
        steps.append(Turn(index=index, player=turn.player, laid=laid, figure=figure,
                          home=tuple((Counter(left) - Counter(taken) - Counter(early)).elements()),
                          scores=told.scores, sections=told.sections, early=early,
                          walks=told.walks, taken=taken, raised=told.raised, held=told.held, freed=told.freed))
        before = after
    begun = engine.new_game(game.setup)
    board = _start_board(begun) if len(begun.tiles) > 1 else None
    return Script(colours=tuple(p.colour for p in game.setup.players), turns=tuple(steps), board=board,
                  owned=frozenset(begun.box.counts),
                  start=Laid(tile=start.tile, at=start.at, rot=start.rot) if start and board is None else None,
                  tops=frozenset(s.top for s in begun.box.stacks if s.top))


def _start_board(begun: GameState) -> StartBoard:
    tiles = {at: Laid(tile=p.tile, at=at, rot=p.rot) for at, p in begun.tiles.items()}
    dial = next((d for d in begun.box.dials if d.board.issuperset(t.tile for t in tiles.values())), None)
    x, y = (sum(at[axis] for at in tiles) / len(tiles) for axis in (0, 1))
    return StartBoard(tiles=tiles, edges={at: begun.box.shape(t.tile, t.rot).edges for at, t in tiles.items()},
                      turns=next(iter(tiles.values())).rot, middle=(x, y), dial=dial,
                      section="" if dial is None else dial.at(begun))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    """By the rules engine, after a turn: the figures on the board, the scores and what players hold; what the turn's
    events freed, moved, took and raised."""

    standing: Counter[Standing]
    scores: tuple[int, ...]
    held: Holdings
    freed: tuple[tuple[int, int, str], ...]
    walks: tuple[Walk, ...]
    taken: tuple[Standing, ...]
    raised: tuple[tuple[Square, Stack], ...]
    sections: tuple[str, ...]
    early: tuple[Standing, ...]
    on_dial: Standing | None


def _played(game: Game) -> list[_Played]:
    state = engine.new_game(game.setup)
    out = []
    for turn in game.turns:
        walks: list[Walk] = []
        taken: list[Standing] = []
        raised: list[tuple[Square, Stack]] = []
        sections: list[str] = []
        early: list[Standing] = []
        freed: list[tuple[int, int, str]] = []
        on_dial: Standing | None = None
        waits = any(isinstance(e, TilePlaced) for e in turn.events)
        for event in (*turn.events, TurnEnded()):
            before, state = state, engine.step(state, event)
            if isinstance(event, TilePlaced):
                waits = False
            if waits:
                early += [_named(f) for n, f in before.standing.items() if n not in state.standing]
            for dial in state.box.dials:
                sections += [dial.at(state)] if dial.at(state) != dial.at(before) else []
                on_dial = next((_named(f) for n, f in state.standing.items() if n not in before.standing
                                and f.feature == dial.feature), on_dial)
            walks += _walks(event, before, state)
            raised += _raised(before, state)
            freed += _freed(before, state) if not taken else ()
            if isinstance(event, FigureTaken):
                taken.append(Standing(player=event.owner, figure=event.figure, at=event.at, feature=event.feature,
                                      where=event.where))
        out.append(_Played(standing=Counter(_named(f) for f in state.figures), scores=tuple(state.scores),
                           held=_held(state), freed=tuple(freed), walks=tuple(walks), taken=tuple(taken),
                           raised=tuple(raised), sections=tuple(sections), early=tuple(early), on_dial=on_dial))
    return out


def _held(state: GameState) -> Holdings:
    return tuple(tuple(state.box.held_figures(state, player)) for player in range(len(state.setup.players)))


def _freed(before: GameState, after: GameState) -> Iterator[tuple[int, int, str]]:
    """The figures (holder, owner, figure) that are not held any more."""
    for holder, (had, has) in enumerate(zip(_held(before), _held(after), strict=True)):
        yield from ((holder, *figure) for figure in (Counter(had) - Counter(has)).elements())


def _raised(before: GameState, after: GameState) -> Iterator[tuple[Square, Stack]]:
    """The piles that an event raised, once for each block."""
    for stack in after.box.stacks:
        old = stack.heights(before)
        for at, height in stack.heights(after).items():
            yield from [(at, stack)] * (height - old.get(at, 0))


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
