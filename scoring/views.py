"""What a view of a game is made of: the JSON that every screen, export and program gets, as types.

`scoring.projection` makes it, whoever shows it adds to it (`web.views`), and the OpenAPI document and the types of the
page's modules are made from these classes (`web.described`). Squares are ``[column, row]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from scoring.contributions import Held, Shape

Place = tuple[int, int, str]  # column, row, and which segment of the tile there


class Named(NamedTuple):
    """What a type is called where it is described (`web.openapi`)."""

    name: str


Move = Annotated[Mapping[str, object], Named("Move")]  # an event as `scoring.events` writes it


class TurnView(TypedDict):
    """The turn part that is shown; ``part`` 2 is the second tile of a double turn."""

    number: int
    player: int
    part: int
    open: bool


class NextTileView(TypedDict):
    """Whose tile comes next."""

    player: int
    part: int
    waiting: Annotated[bool, "whether that turn part has begun and its tile does not lie"]


class PlayerView(TypedDict):
    """A player; ``projected`` is the score if the game ended now, ``supply`` the pieces in hand by their names."""

    index: int
    name: str
    colour: str
    score: int
    projected: int
    supply: Mapping[str, int]
    active: bool
    uncertain: bool


class LeftView(TypedDict):
    """The tiles that are still in the box, by kind."""

    total: int
    kinds: Mapping[str, int]


class TileView(TypedDict):
    """A tile that lies; without entry, turn and player where it lay before the first turn."""

    at: list[int]
    tile: str
    rot: int
    seq: int | None
    turn: int | None
    player: int | None
    asked: bool
    last: bool


class FigureView(TypedDict):
    """A figure on the board, ``spot`` in hundredths of its tile's side; one that is ``apart`` is drawn by its box."""

    player: int
    figure: str
    at: list[int]
    feature: str
    where: str
    spot: list[float]
    lying: bool
    apart: bool
    seq: NotRequired[int | None]


class BoardView(TypedDict):
    """What lies on the table. The expansions in play add their own facts, each under a name of its own; ``drawn`` is
    how their pieces are drawn, ``held`` what each player holds."""

    tiles: list[TileView]
    figures: list[FigureView]
    drawn: NotRequired[Sequence[Shape]]
    held: NotRequired[Sequence[Sequence[Held]]]


class FeatureView(TypedDict):
    """A feature that can be claimed: who owns it, and what it is worth now and when complete."""

    id: str
    kind: str
    places: Sequence[Place]
    tiles: int
    open: int
    complete: bool
    pennants: int
    owners: Sequence[int]
    weights: Sequence[tuple[int, int]]
    points_now: int
    points_complete: int
    cities: NotRequired[int]


class PointsView(TypedDict):
    """Points for one player."""

    player: int
    points: int


class ItemView(TypedDict):
    """A term of a sum; with a player, it is that one's alone."""

    what: str
    count: int
    each: int
    points: int
    player: NotRequired[int]


class ShareView(TypedDict):
    """What somebody weighs in a majority."""

    player: int
    weight: int


class PhraseView(TypedDict):
    """A clause of an explanation: the ``key`` of its text, and what goes into it."""

    key: str
    tiles: NotRequired[int]
    cities: NotRequired[int]
    of: NotRequired[str]
    players: NotRequired[list[int]]
    weights: NotRequired[list[list[int]]]
    formula: NotRequired[str]
    count: NotRequired[int]
    what: NotRequired[str]
    each: NotRequired[int]
    points: NotRequired[int]
    rule: NotRequired[str]


class ScoreView(TypedDict):
    """Points with all that they are made of; ``player`` is whose turn it was, ``because`` says it in phrases."""

    turn: int | None
    player: int | None
    feature: str
    reason: str
    points: list[PointsView]
    items: list[ItemView]
    formula: str
    majority: list[ShareView]
    places: Sequence[Place]
    cities: Sequence[Sequence[Place]]
    tiles: int
    rule: str
    because: list[PhraseView]


class StageView(TypedDict):
    """A stage of the final scoring."""

    name: str
    events: list[ScoreView]


class CategoryView(TypedDict):
    """What each player has of a category of points, over the whole game."""

    category: str
    points: list[int]


class FinalView(TypedDict):
    """The final scoring; ``tie`` says what a tie of the winners means."""

    stages: list[StageView]
    table: list[CategoryView]
    totals: list[int]
    winners: list[int]
    tie: str | None


class IssueView(TypedDict):
    """What the rules have against something that happened; or what people are asked to put right on the table."""

    code: str
    text: str
    squares: list[list[int]]
    turn: int | None
    parts: NotRequired[Mapping[str, object]]
    before: NotRequired[str]
    now: NotRequired[str]


class OpenQuestionView(TypedDict):
    """Something that the table does not show, with the events that would answer it."""

    id: str
    code: str
    text: str
    player: int
    turn: int
    at: list[int] | None
    must: bool
    before: bool
    answers: list[Move]


class HappenedView(TypedDict):
    """Something that happened: the entry that says so, and the fields of the move, whose ``do`` is the ``kind``."""

    seq: int
    turn: int
    kind: str
    notation: str
    source: str
    confidence: float
    asked: bool
    amended: bool
    player: NotRequired[int]
    at: NotRequired[list[int]]
    tile: NotRequired[str]
    rot: NotRequired[int]
    figure: NotRequired[str]
    feature: NotRequired[str]
    where: NotRequired[str]


class GameView(TypedDict):
    """A whole game, as if its open turn ended now."""

    version: Annotated[int, "grows with every entry of the game's log"]
    edition: str
    expansions: list[str]
    phase: Literal["playing", "over"]
    turn: TurnView
    next_tile: NextTileView
    players: list[PlayerView]
    left: LeftView
    board: BoardView
    features: list[FeatureView]
    feed: list[ScoreView]
    final: FinalView | None
    projected_final: FinalView
    issues: list[IssueView]
    open_questions: list[OpenQuestionView]
    history: list[HappenedView]


class MoveView(TypedDict):
    """Something that may be done."""

    code: Annotated[str, "what it is called; several may be one `do`"]
    do: str
    when: Annotated[str, "before the next tile, after the last, or any time"]
    player: int
    must: Annotated[bool, "the rules wait for it"]
    question: Annotated[str | None, "to be answered by this id"]
    answers: Annotated[list[Move], "all that the rules allow, ready to be sent; empty for a tile, see /api/fits"]


class MovesView(TypedDict):
    """What can be done now."""

    next_tile: NextTileView
    moves: list[MoveView]


class TurnsOnSquare(TypedDict):
    """A square where a tile fits, with the quarter turns in which it does."""

    at: list[int]
    rots: list[int]


class PlacesView(TypedDict):
    """Where a kind of tile may be laid, and how many of it are left."""

    tile: str
    left: int
    places: list[TurnsOnSquare]


class KindThere(TypedDict):
    """A kind of tile that fits on a square: how many are left, and in which quarter turns it fits."""

    tile: str
    left: int
    rots: list[int]


class KindsView(TypedDict):
    """What may be laid on a square: of ``total`` tiles that are left ``fit`` do."""

    at: list[int]
    total: int
    fit: int
    kinds: list[KindThere]


class GapRow(TypedDict):
    """A square where a tile may be laid next: how many kinds, and how many tiles, fit there."""

    at: list[int]
    kinds: int
    fit: int


class GapsView(TypedDict):
    """Every square where a tile may be laid next; ``total`` are left."""

    total: int
    gaps: list[GapRow]


class Objection(TypedDict):
    """What the rules have against a tile where it is."""

    code: str
    text: str


class ObjectionsThere(TypedDict):
    """What the rules have against a tile in one of its quarter turns; nothing where it fits."""

    rot: int
    objections: list[Objection]


class ObjectionsView(TypedDict):
    """What the rules have against a kind of tile on a square."""

    tile: str
    at: list[int]
    turns: list[ObjectionsThere]


class MomentView(GameView):
    """A game at an earlier moment: ``moves`` are what could be done, ``after`` is the entry after which something is
    inserted that happened just then."""

    moves: list[MoveView]
    after: int
