"""A cache across successive views of one game: what earlier views computed is reused while its inputs are the same
objects."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from scoring.board import bordered_cities
from scoring.contributions import Kind, Question, View
from scoring.scores import ScoreEvent, category, leaders
from scoring.state import Feature, Place, StandingFigure, figures_on, named, weights
from scoring.tiles import Square
from scoring.views import FeatureView, FigureView, OpenQuestionView, ScoreView, StageView, TileView

if TYPE_CHECKING:
    from scoring.history_rows import HistoryRows

S = TypeVar("S")
T = TypeVar("T")
Places = tuple[tuple[int, int, str], ...]
Scored = tuple[ScoreEvent, ...]

_NO_ROW = cast(FeatureView, {})  # of a feature whose row is not computed yet


class Border(NamedTuple):
    """A farm and the completed cities that it borders, each once, in order of their ids."""

    farm: Feature
    cities: tuple[Feature, ...]


class Shares(NamedTuple):
    """Players with the weights of their figures on a feature, and those who have the majority."""

    weights: tuple[tuple[int, int], ...]
    leaders: tuple[int, ...]


NOBODY = Shares((), ())


class Memo:
    """Results computed for one feature, each with its input: a result is valid while its input is the same object.
    Features are immutable values; a change replaces them."""

    __slots__ = ("border", "bordered_at", "figures", "paid", "paid_for", "places", "places_of", "shares", "shares_of")

    def __init__(self) -> None:
        self.places_of: tuple[Place, ...] = ()
        self.places: Places = ()
        self.shares_of: Feature | None = None
        self.figures: tuple[StandingFigure, ...] = ()
        self.shares = NOBODY
        self.border: Border | None = None
        self.bordered_at = -1  # the version (`ViewCache._version`) for which the border was last valid
        self.paid_for: tuple[object, ...] = ()
        self.paid: ScoreEvent | None = None


class Latest(Generic[T]):
    """The last result of a computation, with its input."""

    __slots__ = ("_made", "_source")

    def __init__(self) -> None:
        self._source: object = None
        self._made: T | None = None

    def of(self, source: object, make: Callable[[], T]) -> T:
        """``make()``, cached while the source is the same object as in the last call."""
        if self._made is None or self._source is not source:
            self._source, self._made = source, make()
        return self._made


class Rows(Generic[S, T]):
    """Cached rows, one per object of a list; a row is reused while the list holds the same object, and dropped
    otherwise.

    Reuse also keeps allocation low: most objects of a view are shared with the previous one.
    """

    __slots__ = ("_made", "_sources")

    def __init__(self) -> None:
        self._sources: Collection[S] = ()  # holding the object keeps its id from being reused
        self._made: dict[int, T] = {}

    def of(self, sources: Collection[S], make: Callable[[S], T]) -> list[T]:
        """The row of each of these objects, in order; ``make(source)`` for those not cached yet."""
        before, made, rows = self._made, dict[int, T](), []
        for source in sources:
            number = id(source)
            row = before[number] if number in before else make(source)
            made[number] = row
            rows.append(row)
        self._sources, self._made = list(sources), made
        return rows


class Growing(Generic[T]):
    """Cached rows of an append-only sequence; if its beginning changes, all rows are rebuilt. It may be given as
    columns of equal length."""

    __slots__ = ("_made_of", "rows")

    def __init__(self) -> None:
        self._made_of: list[list[object]] = []
        self.rows: list[T] = []

    def new(self, *columns: Iterable[object]) -> int:
        """The number of items that have rows already; the caller appends the others in order."""
        given, count = list(map(list, columns)), len(self.rows)
        for column, known in zip(given, self._made_of, strict=False):
            if column[:count] != known:  # as for `Rows`
                self.rows, count = [], 0
        self._made_of = given
        return count


class ViewCache:
    """The cache for successive views of one game. Rows are shared between views: read, never mutate.

    States are immutable values, so unchanged parts are identical objects; after a correction everything is rebuilt.
    Without a cache the same functions compute from scratch, which takes six to nine times as long
    (``./run bench fold_speed``: a view costs ``views x`` folds of its game with a cache and ``anew x`` without).

    Results about one feature are in its `Memo`; others are the rows of all features, of append-only and other lists.
    """

    __slots__ = ("_bordered", "_by_stage", "_claimed", "_farms", "_joined", "_known", "_memos", "_round", "_rows",
                 "_rows_version", "_seen", "_since", "_sums", "_version", "_without_row", "booked_rows",
                 "figures", "questions", "scored", "shown", "staged", "summed", "tiles", "told")

    def __init__(self) -> None:
        self.told: HistoryRows | None = None
        self._since: object = None
        self._version = 0  # incremented when the set of completed cities has changed since the previous view
        self._forget()

    def _forget(self) -> None:
        self._memos: defaultdict[int, Memo] = defaultdict(Memo)  # by feature id
        self.tiles = Growing[TileView]()
        self.figures = Rows[StandingFigure, FigureView]()
        self.questions = Rows[Question, OpenQuestionView]()
        self.booked_rows = Growing[ScoreView]()
        self._sums: dict[str, list[int]] = {}
        # of the final scoring, by stage: its events, their rows, the stage in the view, its points
        self.scored: defaultdict[str, Latest[Scored]] = defaultdict(Latest)
        self.staged: defaultdict[str, Rows[ScoreEvent, ScoreView]] = defaultdict(Rows)
        self.shown: defaultdict[str, Latest[StageView]] = defaultdict(Latest)
        self.summed: defaultdict[str, Latest[dict[str, list[int]]]] = defaultdict(Latest)
        self._known: dict[int, Feature] = {}  # features of the previous view by id, in its order
        self._joined = 0  # number of segments that had been merged into others
        self._rows: dict[int, FeatureView] = {}  # rows of the claimable ones, in the same order
        self._without_row: set[int] = set()  # ids of outdated rows
        self._rows_version = 0
        self._farms: dict[int, Feature] = {}  # farms that border cities
        self._claimed: defaultdict[str, dict[int, Feature]] = defaultdict(dict)  # features with figures, by stage
        self._by_stage: dict[str, list[Feature]] = {}
        self._bordered: Latest[list[Border]] = Latest()  # borders of some farms, valid until another city is completed
        self._round: set[Square] = set()  # squares of the cities whose completion changed last
        self._seen: View | None = None

    def is_told(self, told: HistoryRows) -> HistoryRows:
        """Record the log's current history; if it rewrites earlier entries, the whole cache is dropped."""
        if told.since is not self._since:
            self._forget()
        self.told, self._since = told, told.since
        return told

    def places(self, view: View, feature: Feature) -> Places:
        """A feature's segments as sorted (x, y, where). Features grow at the end, so the earlier part is already
        sorted."""
        memo, places = self._memos[feature.id], feature.places
        if memo.places_of is not places:
            count = len(memo.places_of)
            if count and places[:count] == memo.places_of:
                rows = list(memo.places)
                for place in named(view, places[count:]):
                    insort(rows, place)
                memo.places = tuple(rows)
            else:
                memo.places = named(view, places)
            memo.places_of = places
        return memo.places

    def shares(self, view: View, feature: Feature) -> Shares:
        """The weights of each player's figures on a feature, and who has the majority."""
        if not feature.figures:
            return NOBODY
        memo = self._memos[feature.id]
        if memo.shares_of is not feature:
            figures = figures_on(view, feature)
            if memo.figures != figures:
                weigh = weights(view, figures)
                memo.shares = Shares(tuple(sorted(weigh.items())), leaders(weigh)) if weigh else NOBODY
            memo.shares_of, memo.figures = feature, figures
        return memo.shares

    def paid(self, feature: Feature, sources: tuple[object, ...],
             make: Callable[[], ScoreEvent | None]) -> ScoreEvent | None:
        """The event of a feature in the final scoring, cached while the sources are the same objects as last time."""
        memo = self._memos[feature.id]
        if len(memo.paid_for) != len(sources) or not all(map(is_, memo.paid_for, sources)):
            memo.paid, memo.paid_for = make(), sources
        return memo.paid

    def features(self, view: View, make: Callable[[Feature], FeatureView]) -> list[FeatureView]:
        """Rows of all claimable features, in their order; ``make(feature)`` for those that are new or have changed. A
        farm's row includes the number of completed cities that it borders."""
        if view is not self._seen:
            self.look(view)
        rows, waiting = self._rows, self._without_row
        now, before = self._version, self._rows_version
        if now != before:
            for f in self._farms.values():
                if f.id not in waiting and self.concerns(f, before) and \
                        rows[f.id]["cities"] != len(self.border(view, f).cities):
                    waiting.add(f.id)
            self._rows_version = now
        for number in waiting:
            if number in rows:
                rows[number] = make(self._known[number])
        waiting.clear()
        return list(rows.values())

    def claimed(self, view: View, stage: str) -> list[Feature]:
        """Features with figures whose kind scores in that stage, ordered by their oldest figure; the same list object
        while unchanged."""
        if view is not self._seen:
            self.look(view)
        kept = self._by_stage.get(stage)
        if kept is None:
            kept = self._by_stage[stage] = sorted(self._claimed[stage].values(), key=attrgetter("figures"))
        return kept

    def look(self, view: View) -> None:
        """Find the changes since the previous view; called once per view, in time proportional to the changes.

        Features are ordered by their last change, so changes are at the end; comparing the rest by identity confirms
        that nothing else changed. That fails after a hypothetical view (an open turn closed as if it ended there), and
        then everything is compared.
        """
        known, found, now, joined = self._known, view.features, list(view.features.values()), len(view.parent)
        changed = []
        for f in reversed(now):
            if known.get(f.id) is f:
                break
            changed.append(f)
        changed.reverse()
        cities = self._change(view, changed, islice(reversed(view.parent), max(0, joined - self._joined)))
        if len(known) != len(now) or not all(map(is_, known.values(), now)):
            other = [f for f in now if known.get(f.id) is not f]
            cities += self._change(view, other, [n for n in known if n not in found])
            self._known = {f.id: known[f.id] for f in now}
            self._rows = {n: self._rows[n] for n in self._known if n in self._rows}
        if cities:
            self._round = {at for f in cities for at in f.squares}
            self._version += 1
            self._bordered = Latest()
        self._seen, self._joined = view, joined

    def _change(self, view: View, changed: Iterable[Feature], gone: Iterable[int]) -> list[Feature]:
        """Update the rows: these features are new or have changed, those ids no longer exist. Returns the completed
        cities among the old and new ones."""
        known, kinds = self._known, view.box.kinds
        cities = []
        for f in [known.pop(n) for n in gone if n in known]:
            if self._rows.pop(f.id, None) is not None and self._drop(f, kinds):
                cities.append(f)
        for f in changed:
            number, kind = f.id, kinds.get(f.kind)
            old = known.pop(number) if number in known else None
            known[number] = f
            if kind is None or not kind.claimable:
                continue
            if old is not None:
                del self._rows[number]
                if self._drop(old, kinds):
                    cities.append(old)
            self._rows[number] = _NO_ROW
            self._without_row.add(number)
            if f.figures:
                self._claimed[kind.stage][number] = f
                self._by_stage.pop(kind.stage, None)
            if f.cities:
                self._farms[number] = f
            if not f.open and f.kind == "city":
                cities.append(f)
        return cities

    def _drop(self, f: Feature, kinds: Mapping[str, Kind]) -> bool:
        """Remove a feature that no longer exists; returns whether it was a completed city."""
        if f.figures:
            stage = kinds[f.kind].stage
            self._claimed[stage].pop(f.id, None)
            self._by_stage.pop(stage, None)
        if f.cities:
            self._farms.pop(f.id, None)
        return not f.open and f.kind == "city"

    def concerns(self, farm: Feature, version: int) -> bool:
        """Whether changes of completed cities since that version may affect a farm: it can only border cities with
        which it shares a tile."""
        return version < self._version and (version < self._version - 1 or not self._round.isdisjoint(farm.squares))

    def border(self, view: View, farm: Feature) -> Border:
        """The completed cities that a farm borders (R-FARM-03, R-FARM-04, A-10); the same object while unchanged."""
        if view is not self._seen:
            self.look(view)
        memo, now = self._memos[farm.id], self._version
        known = memo.border if memo.border is not None and memo.border.farm is farm else None
        if known is not None and memo.bordered_at == now:
            return known
        if known is None or self.concerns(farm, memo.bordered_at):
            cities = tuple([view.features[i] for i in bordered_cities(view, farm)])
            if known is None or len(cities) != len(known.cities) or not all(map(is_, cities, known.cities)):
                known = Border(farm, cities)
        memo.border, memo.bordered_at = known, now
        return known

    def borders(self, view: View, farms: Collection[Feature]) -> list[Border]:
        """The same for many farms; the same list object while farms and cities are unchanged."""
        if view is not self._seen:
            self.look(view)
        return self._bordered.of(farms, lambda: [self.border(view, farm) for farm in farms])

    def booked(self, events: Sequence[ScoreEvent], players: int, make: Callable[[ScoreEvent], ScoreView]
               ) -> tuple[list[ScoreView], dict[str, list[int]]]:
        """The rows of these score events, and their points by category and player."""
        known = self.booked_rows
        new = events[known.new(events):]
        if not known.rows:
            self._sums = {k: [0] * players for k in ("road", "city", "cloister", "field")}
        known.rows += map(make, new)
        add(self._sums, new, players)
        return known.rows[:], {k: row[:] for k, row in self._sums.items()}


def by_category(events: Sequence[ScoreEvent], players: int) -> dict[str, list[int]]:
    """The points of score events by category and player."""
    table: dict[str, list[int]] = {}
    add(table, events, players)
    return table


def add(table: dict[str, list[int]], events: Sequence[ScoreEvent], players: int) -> None:
    """Add the points of score events to the rows of their categories."""
    reason = None
    for event in events:
        if event.reason != reason:
            reason = event.reason
            row = table.setdefault(category(event), [0] * players)
        for player, points in event.points:
            row[player] += points
