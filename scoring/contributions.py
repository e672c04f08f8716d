"""What an expansion may contribute to the game: the slots that the core iterates over. The core names no expansion.

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

ANYWHERE = ("anywhere",)  # where a piece stands that may stand on every claimable kind

# When an event happens in a turn part:
BEFORE = "before"  # before its tile is laid (or as it is): it begins the part
IN_TURN = "turn"  # at any time in its player's own turn; starts that turn if necessary
AFTER = "after"  # after the tile of its part was laid
ANY = "any"  # whenever


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something every player has ``count`` of (a function of the number of players).

    ``weight`` is what it counts in a majority. ``stands`` are the kinds of features it may stand on, or ANYWHERE
    (empty: it is no figure). A ``company`` piece may stand only where a follower of its player stands, and goes home
    with the last one. ``wood_mm`` is how wide, high and deep it is when it stands, as such boxes have it: what a camera
    that sees several kinds can measure. A follower lies in a field, other figures stand there too.
    """

    name: str
    count: Callable[[int], int]
    weight: int = 0
    follower: bool = False
    stands: tuple[str, ...] = ()
    company: bool = False
    wood_mm: tuple[float, float, float] = (16.0, 16.0, 9.9)

    def stands_on(self, kind: str) -> bool:
        """Whether it may stand on that kind of feature."""
        return self.stands == ANYWHERE or kind in self.stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A neutral piece, which stands on a tile of the board.

    ``wood_mm`` are its width, height and depth, ``paints`` the colours (paints of wood by name) that makers gave it: a
    camera's prior until it has seen it. ``at`` is where it stands, ``by`` the id of the figure it stands beside.
    ``goes`` are the squares through which an event moves it, in order. ``ways`` are the events by which a player may
    move it in a state, one for each different outcome; moves that the rules make themselves are not among them.
    """

    name: str
    wood_mm: tuple[float, float, float]
    paints: tuple[str, ...]
    at: Callable[[View], Square | None]
    by: Callable[[View], int | None] = lambda _: None
    goes: Callable[[Event], tuple[Square, ...]] = lambda _: ()
    ways: Callable[[View], Iterable[Event]] = lambda _: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What each counted unit of a feature pays, the reason, and the rule id."""

    each: int
    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of feature or place. ``closes`` is ``edges`` (no open edge), ``around`` (eight neighbours) or ``never``.
    What is not ``on_tile`` is out of reach of whatever happens to the figures on a square, and its expansion draws who
    stands there. ``spot`` is where a figure is drawn on a tile that has no segment for the place.

    ``counts`` tells what is counted, as (what, count); ``rate`` what each pays; ``stage`` when it scores at the end.
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
    """An objection of the rules; it becomes an issue if the move was made anyway."""

    code: str
    text: str
    squares: tuple[Square, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A figure about to be put down. ``segment`` is None where the place is not part of a feature."""

    player: int
    figure: str
    at: Square
    feature: str
    where: str
    segment: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A slot of the turn, placed right after the slot ``after``; ``run`` happens automatically on entering it."""

    name: str
    after: str = ""
    run: Callable[[Draft], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler(Generic[E]):
    """How an event changes the draft. The turn moves on to ``step`` first; empty: whenever it comes.

    ``when`` is BEFORE, IN_TURN, AFTER or ANY, and tells which turn part it belongs to (`scoring.turns`). With ``late``
    one that comes before a tile may still be told for the tile that lies. ``whose`` says whose event it is where its
    JSON does not name a player, or None. ``action`` events are the one wood action of a part.
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
    """A stage of the final scoring: a name and the events it adds, as if the game ended now. What hangs on features
    alone may be looked up in the memory."""

    name: str
    events: Callable[[View, ViewCache], Iterable[ScoreEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something the table does not show: what is asked, of whom, and the events that would answer it.

    ``at`` is the square it is about and ``turn`` the turn part. A ``lasting`` one stays open when the turn ends; an
    ``offer`` is nothing that the rules wait for, only something that may have happened unseen. The answer to one that
    comes ``before`` happened before the tile was laid. Unless ``must``, nothing at all is an answer too.
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
    """Something that a player may do now: a kind of event, and the ``answers`` that the rules allow, ready to be told.

    ``code`` tells apart what one kind of event is used for. Without answers the kinds of tiles are too many to be
    listed: a client asks what fits.
    """

    code: str
    event: type[Event]
    player: int
    answers: tuple[Event, ...] = ()


class Shape(TypedDict):
    """Something that lies on the table beside tiles and figures, drawn: an SVG element, 100 units a square, with its
    attributes (``look``) and what is in it. ``says`` is a text: its ``key`` and the values that go into it; a ``text``
    shows it, others have it as their title. ``player`` has that player's follower drawn in it, in a box of 32 by 32."""

    tag: str
    look: NotRequired[Mapping[str, str | float]]
    says: NotRequired[Mapping[str, str | int]]
    inside: NotRequired[Sequence[Shape]]
    player: NotRequired[int]


class Held(TypedDict):
    """What a player holds, as the page shows it beside the name: the ``key`` of its text, how many, and an icon of that
    name, or ``figures`` as (owner, figure)."""

    key: str
    n: int
    icon: NotRequired[str]
    figures: NotRequired[Sequence[tuple[int, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What may lie there before turn 1. ``value`` of the rule ``start`` asks for it; with ``takes_over`` having the
    expansion is enough."""

    value: str
    tile: StartTile
    takes_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The contributions of one box. All are optional; the order in which boxes are named never matters.

    products    tile products whose tiles go into the box when the expansion is chosen
    stands_alone whether it brings its own tiles instead of the base game's
    tiles       further tile kinds that are no cards (a start board)
    pieces, neutrals, kinds, steps, handlers
    marks       what a segment carries, as (mark, count); features add them up
    placing     what the rules have against a tile on a square
    deploying   what the rules have against a figure on a place
    reaches     whether a figure may be put elsewhere than on the tile just laid
    spots       whether a tile has that place, where it is no segment
    rates       changes of what a counted thing pays
    bonuses     further score events when features with figures are scored (during the game or at the end)
    farm_extras what a city pays more to one player of a farm: hangs on the farm and who stands there only
    laid        after a tile was laid; completed: after a feature became complete, before it is scored
    put_away    after a drawn tile was put away, with its kind
    held_back   whether a kind lies aside for now and cannot be drawn
    stages      final scoring
    initial     the expansion's own part of the state; off_board: pieces neither in supply nor standing on the board
    starts      what may lie there before turn 1
    open_with   what lies there instead of a start tile that stands for a whole board
    questions   what cannot be seen and is waited for; offers: what may happen unseen at any time
    moves       what the rules let a player do now: before the tile where none of this part lies, else after it
    shows       the pieces that stand beside tiles and figures, as facts for whoever reads a view
    draws       the same as drawn on the board
    holds       what a player holds, as shown beside the name
    phrases     what was scored, in English, by the reason of its score event; the page has its own by the same reason
    options     names of the rules that only matter with this expansion; cues: what a camera looks for

    ``appearance`` is what people see of it.
    """

    name: str
    products: tuple[str, ...] = ()
    stands_alone: bool = False
    tiles: tuple[Tile, ...] = ()
    pieces: tuple[Piece, ...] = ()
    neutrals: tuple[Neutral, ...] = ()
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
