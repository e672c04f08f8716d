"""What an expansion may contribute to the game: extension points that the core iterates over. The core names no
expansion.

Every contribution is a value or a pure function of a view (a state, or the draft of the next one); only handlers,
steps and hooks get the draft itself and may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NotRequired, TypeAlias, TypedDict, TypeVar

from scoring.appearance import Appearance, appearance
from scoring.tiles import Point, Segment, Square, Tile

if TYPE_CHECKING:
    from scoring.events import Event, Setup, StartTile
    from scoring.rules import Rules
    from scoring.scores import Item, ScoreEvent
    from scoring.state import Draft, Feature, GameState
    from scoring.view_cache import ViewCache

    View: TypeAlias = GameState | Draft
    Counts: TypeAlias = Callable[[Rules, Feature, bool], tuple[tuple[str, int], ...]]
else:
    View: TypeAlias = object
    Counts: TypeAlias = object

E = TypeVar("E", bound="Event")

ANYWHERE = ("anywhere",)  # for a piece that may stand on every claimable kind

# When an event occurs in a turn part:
BEFORE = "before"  # before its tile is placed, or with it: it begins the part
IN_TURN = "turn"  # at any time in its player's own turn; begins that turn if necessary
AFTER = "after"  # after the tile of its part was placed
ANY = "any"  # at any time


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A kind of piece that every player has ``count`` of (a function of the number of players).

    ``weight`` is its weight in a majority. ``stands`` are the kinds of features it may stand on, or ANYWHERE (empty: it
    is not a figure). A ``company`` piece may stand only where a follower of its player stands, and is returned with
    the last one.
    """

    name: str
    count: Callable[[int], int]
    weight: int = 0
    follower: bool = False
    stands: tuple[str, ...] = ()
    company: bool = False

    def stands_on(self, kind: str) -> bool:
        """Whether it may stand on that kind of feature."""
        return self.stands == ANYWHERE or kind in self.stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A neutral piece, which stands on a tile of the board.

    ``wood_mm`` are its width, height and depth, ``paints`` the colours (paints of wood by name) it was made in: the
    camera's prior until it has seen the piece. ``at`` is its square, ``by`` the id of the figure it stands beside.
    ``goes`` are the squares through which an event moves it, in order. ``ways`` are the events by which a player may
    move it in a state, one for each different outcome, without the automatic moves of the rules. ``awaited`` is the
    issue of a turn that ended although the rules make it move on; empty if they never do.
    """

    name: str
    wood_mm: tuple[float, float, float]
    paints: tuple[str, ...]
    at: Callable[[View], Square | None]
    by: Callable[[View], int | None] = lambda _: None
    goes: Callable[[Event], tuple[Square, ...]] = lambda _: ()
    ways: Callable[[View], Iterable[Event]] = lambda _: ()
    awaited: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A kind of neutral piece that players pile up on a place printed on some tiles.

    ``wood_mm`` are the width of one piece, the height by which it raises the pile, and its depth; ``paints`` as in
    `Neutral`. ``spot`` is the place on a tile in drawing units at rot 0, None if the tile has none. ``heights`` are the
    piles of a state by square; ``raised`` is the state if the pile on a square was one piece higher. A figure on a
    feature of the kind ``top`` stands on the pile of its square.
    """

    name: str
    wood_mm: tuple[float, float, float]
    paints: tuple[str, ...]
    spot: Callable[[Tile], Point | None]
    heights: Callable[[View], Mapping[Square, int]]
    raised: Callable[[GameState, Square], GameState]
    top: str = ""

    def grown(self, before: View, after: View) -> frozenset[Square]:
        """The squares whose piles are higher in a later state."""
        known = self.heights(before)
        return frozenset(at for at, height in self.heights(after).items() if height > known.get(at, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """A disc in the middle of a start board, divided into equal sections. A neutral piece stands on one of them and
    moves around; figures may stand on others, on features of the kind ``feature``.

    ``name``, ``wood_mm`` and ``paints`` are the piece's, as in `Neutral`. ``board`` are the kinds of tile that make up
    the board, ``reach`` is the disc's radius in tiles. ``sections`` are named clockwise; the middle of the first one is
    ``first_deg`` degrees clockwise from the north of the unturned board. ``spaces`` is the number of figures that a
    section has room for. ``at`` is the piece's section. ``moves`` says whether a kind of tile makes it move, ``ways``
    are the events by which the player of the next tile may move it, ``awaited`` is the issue of a tile laid before that
    was told. ``claim`` is the event by which a player puts a figure onto a section.
    """

    name: str
    wood_mm: tuple[float, float, float]
    paints: tuple[str, ...]
    board: frozenset[str]
    reach: float
    sections: tuple[str, ...]
    first_deg: float
    spaces: Mapping[str, int]
    feature: str
    at: Callable[[View], str]
    moves: Callable[[Tile], bool]
    ways: Callable[[View], Iterable[Event]]
    awaited: str
    claim: Callable[[int, str, str], Event]

    def angle_deg(self, section: str) -> float:
        """The middle of a section, clockwise from the north of the unturned board."""
        return (self.first_deg + 360.0 * self.sections.index(section) / len(self.sections)) % 360.0

    def section(self, angle_deg: float) -> tuple[str, float]:
        """The section at an angle as in `angle_deg`, and how far that is from the section's middle (0: there, 1: at
        its border)."""
        step = 360.0 / len(self.sections)
        n = round((angle_deg - self.first_deg) / step)
        return self.sections[n % len(self.sections)], abs(angle_deg - self.first_deg - n * step) / (0.5 * step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The points per counted unit of a feature, the reason, and the rule id."""

    each: int
    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of feature or place. ``closes`` is ``edges`` (no open edge), ``around`` (eight neighbours) or ``never``.
    Figures on a kind that is not ``on_tile`` are not affected by events on their square, and its expansion draws
    them. ``spot`` is where a figure is drawn on a tile that has no segment for the place.

    ``counts`` returns the counted units, as (what, count); ``rate`` the points of each; ``stage`` is its stage of the
    final scoring.
    """

    name: str
    closes: str
    claimable: bool = True
    on_tile: bool = True
    counts: Counts | None = None
    rate: Callable[[Rules, Feature, bool], Rate] | None = None
    stage: str = ""
    spot: Point = (50.0, 50.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A breach of the rules by a move; it becomes an issue if the move was made anyway."""

    code: str
    text: str
    squares: tuple[Square, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A figure about to be deployed. ``segment`` is None if the place is not part of a feature."""

    player: int
    figure: str
    at: Square
    feature: str
    where: str
    segment: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A slot of the turn, placed right after the slot ``after``; ``run`` is called on entering it."""

    name: str
    after: str = ""
    run: Callable[[Draft], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler(Generic[E]):
    """How an event changes the draft. The turn is advanced to ``step`` first (empty: not advanced).

    ``when`` is BEFORE, IN_TURN, AFTER or ANY, and decides which turn part it belongs to (`scoring.turns`). ``late``
    tells whether one that precedes a tile may still be reported for the tile already placed. ``whose`` returns the
    player if the JSON does not name one, or None. ``action`` events are the single figure action of a part.
    """

    event: type[E]
    apply: Callable[[Draft, E], None]
    step: str = ""
    when: str = AFTER
    late: Callable[[View], bool] | None = None
    whose: Callable[[View, Mapping[str, object]], int | None] | None = None
    action: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of the final scoring: a name and the events it adds, as if the game ended now. Values that depend on
    features alone may come from the cache."""

    name: str
    events: Callable[[View, ViewCache], Iterable[ScoreEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about an event that the table does not show: text, player, and the possible answers as events.

    ``at`` is the square it is about and ``turn`` the turn part. A ``lasting`` one stays open when the turn ends; an
    ``offer`` is optional: an event that may have happened unseen. The answer to a ``before`` question happened before
    the tile was placed. Unless ``must``, "nothing happened" is an answer too.
    """

    code: str
    text: str
    player: int
    answers: tuple[Event, ...] = ()
    at: Square | None = None
    turn: int = -1
    lasting: bool = False
    offer: bool = False
    before: bool = False
    must: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A possible move: a type of event, and the ``answers`` that the rules allow, ready to report.

    ``code`` distinguishes the uses of one type of event. Without answers there are too many kinds of tiles to list: a
    client queries what fits.
    """

    code: str
    event: type[Event]
    player: int
    answers: tuple[Event, ...] = ()


class Shape(TypedDict):
    """The drawing of a component other than tiles and figures: an SVG element, 100 units per square, with attributes
    (``look``) and children (``inside``). ``says`` is a text: its ``key`` and placeholder values; a ``text`` element
    shows it, others have it as their title. ``player`` adds that player's follower, in a 32 x 32 view box."""

    tag: str
    look: NotRequired[Mapping[str, str | float]]
    says: NotRequired[Mapping[str, str | int]]
    inside: NotRequired[Sequence[Shape]]
    player: NotRequired[int]


class Held(TypedDict):
    """Components held by a player, shown beside the name: the ``key`` of the text, the number, and the name of an icon,
    or ``figures`` as (owner, figure)."""

    key: str
    n: int
    icon: NotRequired[str]
    figures: NotRequired[Sequence[tuple[int, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A possible start tile. It is used if the option ``start`` has this ``value``; with ``takes_over`` whenever the
    expansion is in play."""

    value: str
    tile: StartTile
    takes_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The contributions of one box. All are optional; the order of the boxes does not matter.

    products    tile products whose tiles go into the box when the expansion is chosen
    stands_alone whether it brings its own tiles instead of the base game's
    tiles       further tile kinds that are not drawn (a start board)
    pieces, neutrals, stacks, dials, kinds, steps, handlers
    marks       the marks of a segment, as (mark, count); features sum them
    placing     objections of the rules to a tile on a square
    deploying   objections of the rules to a figure on a place
    reaches     whether a figure may be deployed elsewhere than on the last tile
    spots       whether a tile has that place, if it is not a segment
    rates       adjustments of the points per counted unit
    bonuses     further score events when features with figures are scored (during the game or at the end)
    farm_extras extra points of one player of a farm per city; depends only on the farm and its figures
    laid        after a tile was placed; completed: after a feature became complete, before it is scored
    put_away    after a drawn tile was discarded, with its kind
    held_back   whether a kind is set aside for now and cannot be drawn
    stages      final scoring
    initial     the expansion's own part of the state; off_board: pieces neither in supply nor standing on the board
    starts      possible start tiles
    open_with   the tiles placed for a start tile that represents a whole board
    questions   required questions about unseen events; offers: events that may happen unseen at any time
    moves       the moves that the rules allow now: before the tile if this part has none yet, else after it
    shows       the state of components other than tiles and figures, as data for readers of a view
    draws       the same as drawings on the board
    holds       the components held by a player, as shown beside the name
    phrases     English text of what was scored, by the reason of the score event; the page has its own by the same key
    options     names of the rules that only matter with this expansion; cues: what a camera looks for

    ``appearance`` has its texts and drawings.
    """

    name: str
    products: tuple[str, ...] = ()
    stands_alone: bool = False
    tiles: tuple[Tile, ...] = ()
    pieces: tuple[Piece, ...] = ()
    neutrals: tuple[Neutral, ...] = ()
    stacks: tuple[Stack, ...] = ()
    dials: tuple[Dial, ...] = ()
    kinds: tuple[Kind, ...] = ()
    steps: Callable[[Rules], tuple[Step, ...]] | None = None
    handlers: tuple[Handler[Any], ...] = ()
    marks: Callable[[Segment], tuple[tuple[str, int], ...]] | None = None
    placing: tuple[Callable[[View, Tile, Square, int], Problem | None], ...] = ()
    deploying: tuple[Callable[[View, Attempt], Problem | None], ...] = ()
    reaches: tuple[Callable[[View, Attempt], bool], ...] = ()
    spots: Callable[[View, Square, str, str], bool] | None = None
    rates: tuple[Callable[[Rules, Feature, bool, Rate], Rate], ...] = ()
    bonuses: tuple[Callable[[View, Sequence[Feature]], Iterable[ScoreEvent]], ...] = ()
    farm_extras: tuple[Callable[[View, Feature, int], Item | None], ...] = ()
    laid: tuple[Callable[[Draft], None], ...] = ()
    completed: tuple[Callable[[Draft, Feature], None], ...] = ()
    put_away: tuple[Callable[[Draft, str], None], ...] = ()
    held_back: tuple[Callable[[View, Tile], bool], ...] = ()
    stages: tuple[Stage, ...] = ()
    initial: Callable[[Setup], object] | None = None
    off_board: Callable[[View], Iterable[tuple[int, str, int]]] | None = None
    starts: tuple[Start, ...] = ()
    open_with: Callable[[StartTile], tuple[StartTile, ...]] | None = None
    questions: Callable[[View], Iterable[Question]] | None = None
    offers: Callable[[View], Iterable[Question]] | None = None
    moves: Callable[[View], Iterable[Choice]] | None = None
    shows: Callable[[View], Mapping[str, object]] | None = None
    draws: Callable[[View], Iterable[Shape]] | None = None
    holds: Callable[[View, int], Iterable[Held]] | None = None
    phrases: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    cues: Mapping[str, str] = field(default_factory=dict)

    @property
    def appearance(self) -> Appearance:
        return appearance(self.name)
