"""The types of a view of a game: the JSON that every screen, export and program gets.

`scoring.projection` builds it, `web.views` extends it, and the OpenAPI document and the types of the page's modules
are generated from these classes (`web.described`). Squares are ``[column, row]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from scoring.contributions import Held, Shape

Place = tuple[int, int, str]  # column, row, and place of the segment on the tile


class Named(NamedTuple):
    """The name of a type in the descriptions (`web.openapi`)."""

    name: str


Move = Annotated[Mapping[str, object], Named("Move")]  # an event as `scoring.events` writes it


class TurnView(TypedDict):
    """The current turn part; ``part`` 2 is the second tile of a double turn."""

    number: int
    player: int
    part: int
    open: bool


class NextTileView(TypedDict):
    """Who places the next tile."""

    player: int
    part: int
    waiting: Annotated[bool, "whether that turn part has begun and its tile does not lie"]


class PlayerView(TypedDict):
    """A player; ``projected`` is the score if the game ended now, ``supply`` the pieces in supply by name."""

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
    """A tile on the board; a start tile has no entry, turn and player."""

    at: list[int]
    tile: str
    rot: int
    seq: int | None
    turn: int | None
    player: int | None
    asked: bool
    last: bool


class FigureView(TypedDict):
    """A figure on the board, ``spot`` in hundredths of its tile's side; an ``apart`` one is drawn by its expansion."""

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
    """The board. The expansions in play add their own state, each under its own key; ``drawn`` are drawings of their
    pieces, ``held`` the components held by each player."""

    tiles: list[TileView]
    figures: list[FigureView]
    drawn: NotRequired[Sequence[Shape]]
    held: NotRequired[Sequence[Sequence[Held]]]


class FeatureView(TypedDict):
    """A feature that can be claimed: its owners, and its value now and when complete."""

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
    """A term of a sum; with a player, it counts for that player only."""

    what: str
    count: int
    each: int
    points: int
    player: NotRequired[int]


class ShareView(TypedDict):
    """A player's weight in a majority."""

    player: int
    weight: int


class PhraseView(TypedDict):
    """A clause of an explanation: the ``key`` of its text, and the placeholder values."""

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
    """A score event with all its details; ``player`` is the active player, ``because`` the explanation as phrases."""

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
    """Each player's points of one category over the whole game."""

    category: str
    points: list[int]


class FinalView(TypedDict):
    """The final scoring; ``tie`` tells how a tie of the winners is resolved."""

    stages: list[StageView]
    table: list[CategoryView]
    totals: list[int]
    winners: list[int]
    tie: str | None


class IssueView(TypedDict):
    """A breach of the rules, or something that people are asked to correct on the table."""

    code: str
    text: str
    squares: list[list[int]]
    turn: int | None
    parts: NotRequired[Mapping[str, object]]
    before: NotRequired[str]
    now: NotRequired[str]


class OpenQuestionView(TypedDict):
    """A question about an event that the table does not show, with the possible answers as events. ``nothing``: that
    nothing happened is an answer too. ``seen``: the camera saw what may have led to it, and tells the answer if it sees
    it; people may."""

    id: str
    code: str
    text: str
    player: int
    turn: int
    at: list[int] | None
    must: bool
    nothing: bool
    seen: bool
    before: bool
    answers: list[Move]


class HappenedView(TypedDict):
    """An event of the history: its log entry, and the fields of the move, whose ``do`` is the ``kind``."""

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
    """A possible move."""

    code: Annotated[str, "what it is called; several may be one `do`"]
    do: str
    when: Annotated[str, "before the next tile, after the last, or any time"]
    player: int
    must: Annotated[bool, "the rules wait for it"]
    question: Annotated[str | None, "to be answered by this id"]
    answers: Annotated[list[Move], "all that the rules allow, ready to be sent; empty for a tile, see /api/fits"]


class MovesView(TypedDict):
    """The moves that are possible now."""

    next_tile: NextTileView
    moves: list[MoveView]


class TurnsOnSquare(TypedDict):
    """A square where a tile fits, with the rotations (quarter turns) at which it fits."""

    at: list[int]
    rots: list[int]


class PlacesView(TypedDict):
    """The squares where a kind of tile may be placed, and the number of tiles left of it."""

    tile: str
    left: int
    places: list[TurnsOnSquare]


class KindThere(TypedDict):
    """A kind of tile that fits on a square: the number left, and the rotations (quarter turns) at which it fits."""

    tile: str
    left: int
    rots: list[int]


class KindsView(TypedDict):
    """The kinds that may be placed on a square: ``fit`` of the ``total`` remaining tiles."""

    at: list[int]
    total: int
    fit: int
    kinds: list[KindThere]


class GapRow(TypedDict):
    """An open square: the number of kinds, and of tiles, that fit there."""

    at: list[int]
    kinds: int
    fit: int


class GapsView(TypedDict):
    """Every open square; ``total`` tiles remain."""

    total: int
    gaps: list[GapRow]


class Objection(TypedDict):
    """An objection of the rules to a tile on its square."""

    code: str
    text: str


class ObjectionsThere(TypedDict):
    """The objections of the rules to a tile at one rotation; empty if it fits."""

    rot: int
    objections: list[Objection]


class ObjectionsView(TypedDict):
    """The objections of the rules to a kind of tile on a square."""

    tile: str
    at: list[int]
    turns: list[ObjectionsThere]


class MomentView(GameView):
    """A game at an earlier moment: ``moves`` are those possible then, ``after`` is the entry after which a missed event
    of that moment is inserted."""

    moves: list[MoveView]
    after: int
