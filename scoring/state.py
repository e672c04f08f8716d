"""The state of a game, which is derived from the log and never stored, and the draft, a builder of the next state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scoring.events import Setup
from scoring.scores import ScoreEvent, leaders
from scoring.tiles import Square

if TYPE_CHECKING:
    from scoring.box import Box
    from scoring.contributions import Question, View

Place = tuple[Square, int]  # a segment on the board: its square and its index on the tile
NO_SEGMENT = -1  # the segment of a figure that is on a tile but not on a feature


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A tile on the board. ``player`` and ``turn`` are None for start tiles."""

    tile: str
    rot: int
    player: int | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A maximal set of connected segments of one kind (R-FEAT-01).

    ``squares`` is a set, so a tile touched twice counts once by construction. ``open`` counts the edges without a
    neighbour (round a cloister: the empty squares). ``marks`` sums those of its segments. ``figures`` are keys of
    ``standing``, the oldest first. ``cities`` are segments of the cities that a field borders, for `root` to look up.
    """

    id: int
    kind: str
    places: tuple[Place, ...]
    squares: frozenset[Square]
    open: int
    marks: Mapping[str, int]
    figures: tuple[int, ...] = ()
    cities: frozenset[int] = frozenset()
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFigure:
    """A figure on the board; ``segment`` is the index on its tile (NO_SEGMENT: on no feature)."""

    id: int
    player: int
    figure: str
    at: Square
    feature: str
    where: str
    segment: int
    turn: int

    @property
    def place(self) -> Place:
        return self.at, self.segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A breach of the rules that was played nevertheless."""

    code: str
    text: str
    squares: tuple[Square, ...]
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A segment that a figure may claim."""

    at: Square
    feature: str
    where: str
    segment: int

    @property
    def segment_index(self) -> int:
        return self.segment


@dataclass(frozen=True, slots=True, kw_only=True)
class GameState:
    """The state of a game. ``turn`` counts turn parts begun, from 0 (-1: none yet); ``player`` is the active one.

    ``standing`` maps figure numbers to figures; ``base`` and ``parent`` are the union-find forest that leads from a
    segment to its feature (see `root`), in order of merging; ``features`` are ordered by their last change; ``left``
    are the tiles in the box (negative if over-placed); ``touched`` are segments whose features this part may have
    completed; ``asked`` are questions left open by earlier turns; ``ext`` is each expansion's own state; ``happened``
    holds the turn part of each event so far.
    """

    setup: Setup
    box: Box
    scores: tuple[int, ...]
    left: Mapping[str, int]
    tiles: Mapping[Square, Placed] = field(default_factory=dict)
    base: Mapping[Square, int] = field(default_factory=dict)
    parent: Mapping[int, int] = field(default_factory=dict)
    features: Mapping[int, Feature] = field(default_factory=dict)
    standing: Mapping[int, StandingFigure] = field(default_factory=dict)
    ext: Mapping[str, object] = field(default_factory=dict)
    score_events: tuple[ScoreEvent, ...] = ()
    issues: tuple[Issue, ...] = ()
    asked: tuple[Question, ...] = ()
    turn: int = -1
    player: int = 0
    part: int = 1
    last_tile: Square | None = None
    turn_open: bool = False
    laid: bool = False
    actions: int = 0
    again: bool = False
    slot: int = -1
    touched: tuple[int, ...] = ()
    events_before: int = 0
    next_segment: int = 0
    next_figure: int = 0
    over: bool = False
    happened: tuple[int, ...] = ()

    @property
    def figures(self) -> tuple[StandingFigure, ...]:
        """Every figure on the board, in order of deployment."""
        return tuple(self.standing.values())

    @property
    def board(self) -> GameState:
        """The state itself, of which the board is a part: ``tiles`` and ``features``."""
        return self

    @property
    def supply(self) -> tuple[Mapping[str, int], ...]:
        """The supply of each player; negative if there are more pieces on the table than exist (R-SUPPLY-01)."""
        return supplies(self)


class Draft:
    """The next state under construction, with its own copies of a state's containers. Not to be used after `freeze`."""

    __slots__ = ("actions", "again", "asked", "base", "box", "events_before", "ext", "features", "happened", "issues",
                 "laid", "last_tile", "left", "next_figure", "next_segment", "over", "parent", "part", "player",
                 "score_events", "scores", "setup", "slot", "standing", "tiles", "touched", "turn", "turn_open")

    def __init__(self, state: GameState) -> None:
        self.setup = state.setup
        self.box = state.box
        self.scores = list(state.scores)
        self.left = dict(state.left)
        self.tiles = dict(state.tiles)
        self.base = dict(state.base)
        self.parent = dict(state.parent)
        self.features = dict(state.features)
        self.standing = dict(state.standing)
        self.ext = dict(state.ext)
        self.score_events = list(state.score_events)
        self.issues = list(state.issues)
        self.asked = list(state.asked)
        self.turn = state.turn
        self.player = state.player
        self.part = state.part
        self.last_tile = state.last_tile
        self.turn_open = state.turn_open
        self.laid = state.laid
        self.actions = state.actions
        self.again = state.again
        self.slot = state.slot
        self.touched = list(state.touched)
        self.events_before = state.events_before
        self.next_segment = state.next_segment
        self.next_figure = state.next_figure
        self.over = state.over
        self.happened = list(state.happened)

    def freeze(self) -> GameState:
        """Convert the draft to a state. The draft must not be changed afterwards."""
        return GameState(
            setup=self.setup, box=self.box, scores=tuple(self.scores), left=self.left, tiles=self.tiles,
            base=self.base, parent=self.parent, features=self.features, standing=self.standing, ext=self.ext,
            score_events=tuple(self.score_events), issues=tuple(self.issues), asked=tuple(self.asked), turn=self.turn,
            player=self.player, part=self.part, last_tile=self.last_tile, turn_open=self.turn_open, laid=self.laid,
            actions=self.actions, again=self.again, slot=self.slot, touched=tuple(self.touched),
            events_before=self.events_before, next_segment=self.next_segment, next_figure=self.next_figure,
            over=self.over, happened=tuple(self.happened),
        )

    def issue(self, code: str, text: str, *squares: Square) -> None:
        """Report a breach of the rules."""
        self.issues.append(Issue(code=code, text=text, squares=squares, turn=self.turn))

    def pay(self, event: ScoreEvent) -> None:
        """Record a score event and add its points."""
        for player, points in event.points:
            self.scores[player] += points
        self.score_events.append(event)


def root(view: View, segment: int) -> int:
    """The feature that contains a segment (given by its running number)."""
    parent = view.parent
    while segment in parent:
        segment = parent[segment]
    return segment


def feature_at(view: View, at: Square, index: int) -> Feature:
    """The feature of a tile's segment. Raises KeyError if there is none."""
    return view.features[root(view, view.base[at] + index)]


def feature_of(view: View, figure: StandingFigure) -> Feature | None:
    """The feature that a figure stands on, if any."""
    return None if figure.segment == NO_SEGMENT else feature_at(view, figure.at, figure.segment)


def standing(view: View, owner: int, figure: str, at: Square, feature: str, where: str) -> StandingFigure | None:
    """The figure that matches a description; ``feature`` and ``where`` may be empty."""
    for f in view.standing.values():
        if (f.player, f.figure, f.at) == (owner, figure, at) and feature in ("", f.feature) and where in ("", f.where):
            return f
    return None


def figures_on(view: View, feature: Feature) -> tuple[StandingFigure, ...]:
    """The figures on a feature."""
    standing = view.standing
    return tuple([standing[i] for i in feature.figures])


def standing_at(view: View, *squares: Square) -> list[StandingFigure]:
    """The figures on the tiles of these squares."""
    kinds = view.box.kinds
    return [f for f in view.standing.values()
            if f.at in squares and (f.feature not in kinds or kinds[f.feature].on_tile)]


def weights(view: View, figures: Sequence[StandingFigure]) -> dict[int, int]:
    """Each player's weight in a majority (R-MAJ-03, R-LARGE-02). Players without followers are omitted."""
    pieces = view.box.pieces
    out: dict[int, int] = {}
    for f in figures:
        weight = pieces[f.figure].weight
        if weight:
            out[f.player] = out.get(f.player, 0) + weight
    return out


def owners(view: View, feature: Feature) -> tuple[int, ...]:
    """Who has the majority in a feature."""
    return leaders(weights(view, figures_on(view, feature)))


def supplies(view: View) -> tuple[dict[str, int], ...]:
    """The supply of each player: all pieces in the box minus those on the board or held elsewhere."""
    counts = view.box.counts
    out = tuple([dict(counts) for _ in view.setup.players])
    for f in view.standing.values():
        if f.figure in counts:
            out[f.player][f.figure] -= 1
    for player, piece, count in view.box.off_board(view):
        if piece in view.box.counts:
            out[player][piece] -= count
    return out


def in_hand(view: View, player: int, piece: str) -> int:
    """The number of pieces of a kind in a player's supply."""
    count = view.box.counts.get(piece, 0)
    for f in view.standing.values():
        if f.player == player and f.figure == piece:
            count -= 1
    for p, name, n in view.box.off_board(view):
        if p == player and name == piece:
            count -= n
    return count


def named(view: View, places: Sequence[Place]) -> tuple[tuple[int, int, str], ...]:
    """Segments as sorted (x, y, where)."""
    tiles, shape = view.tiles, view.box.shape
    if len(places) == 1:
        (at, n), = places
        return ((*at, shape(tiles[at].tile, tiles[at].rot).where[n]),)
    found = []
    for at, n in places:
        placed = tiles[at]
        found.append((*at, shape(placed.tile, placed.rot).where[n]))
    found.sort()
    return tuple(found)
