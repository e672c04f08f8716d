"""A cache across successive views of one game: what earlier views computed is reused while its inputs are the same
objects."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from scoring.board import bordered_cities
from scoring.contributions import Kind, View
from scoring.scores import ScoreEvent, category, leaders
from scoring.state import Feature, Place, StandingFigure, figures_on, named, weights
from scoring.tiles import Square
from scoring.views import FeatureView, ScoreView

if TYPE_CHECKING:
    from scoring.telling import Told

T = TypeVar("T")
Places = tuple[tuple[int, int, str], ...]

_NO_ROW = cast(FeatureView, {})  # of a feature whose row has yet to be made


class Border(NamedTuple):
    """A farm and the completed cities that it borders, each once, by their number."""

    farm: Feature
    cities: tuple[Feature, ...]


class Shares(NamedTuple):
    """Players with what their figures weigh on a feature, and those who have the majority."""

    weights: tuple[tuple[int, int], ...]
    leaders: tuple[int, ...]


NOBODY = Shares((), ())


class Rows:
    """Cached rows, one per object of a list; a row is reused while the list holds the same object, and dropped
    otherwise.

    Reuse also keeps allocation low: most of what a view needs is memory that the previous view already holds.
    """

    __slots__ = ("_made", "_sources")

    def __init__(self) -> None:
        self._sources: Collection[Any] = ()  # holding the object keeps its id from being reused
        self._made: dict[int, Any] = {}

    def of(self, sources: Collection[Any], make: Callable[[Any], Any]) -> list[Any]:
        """The row of each of these objects, in order; ``make(source)`` for those not cached yet."""
        before, made, rows = self._made, {}, []
        for source in sources:
            number = id(source)
            row = before[number] if number in before else make(source)
            made[number] = row
            rows.append(row)
        self._sources, self._made = list(sources), made
        return rows


class Growing:
    """Cached rows of an append-only sequence; if its beginning changes, all rows are rebuilt. It may be given as
    columns of equal length."""

    __slots__ = ("_made_of", "rows")

    def __init__(self) -> None:
        self._made_of: list[list[Any]] = []
        self.rows: list[Any] = []

    def new(self, *columns: Iterable[Any]) -> int:
        """How many items have rows already; the rest are to be appended, in order."""
        given, count = list(map(list, columns)), len(self.rows)
        for column, known in zip(given, self._made_of, strict=False):
            if column[:count] != known:  # as for `Rows`
                self.rows, count = [], 0
        self._made_of = given
        return count


class Memory:
    """The cache of one game. Rows are shared between views: read, never mutate.

    A row is reused while the object it was made from is the same one. States are immutable values, so unchanged parts
    are identical objects; after a correction everything is rebuilt. Without a memory the same functions compute from
    scratch.

    A view costs about three folds of its game (``./run bench fold_speed``, ``views x``). One memo for each feature in
    place of these tables was tried, and cost 3.6 to 4.2 against 2.8 to 3.1.
    """

    __slots__ = ("_bordered", "_bordered_by", "_borders", "_by_stage", "_claimed", "_farms", "_figures", "_growing",
                 "_joined", "_joint", "_known", "_latest", "_places", "_round", "_rows", "_rows_version", "_seen",
                 "_shares", "_since", "_staged", "_summed", "_sums", "_tables", "_version", "_without_row", "told")

    def __init__(self) -> None:
        self.told: Told | None = None
        self._since: object = None
        self._version = 0  # grows whenever other cities are complete than in the view before
        self._forget()

    def _forget(self) -> None:
        self._joint: dict[tuple[str, object], tuple[tuple[object, ...], Any]] = {}
        self._latest: dict[tuple[str, str], tuple[object, Any]] = {}
        self._staged: dict[tuple[object, ...], ScoreEvent] = {}
        self._borders: dict[int, tuple[Border, int]] = {}
        self._tables: defaultdict[str, Rows] = defaultdict(Rows)
        self._growing: defaultdict[str, Growing] = defaultdict(Growing)
        self._sums: dict[str, list[int]] = {}
        self._shares: dict[int, tuple[Feature, tuple[StandingFigure, ...], Shares]] = {}
        self._known: dict[int, Feature] = {}  # features by their number, as they were in the view before, in that order
        self._figures: list[StandingFigure] = []
        self._joined = 0  # how many segments had become part of others
        self._rows: dict[int, FeatureView] = {}  # rows of those that can be claimed, in the same order
        self._without_row: set[int] = set()  # of which these are out of date
        self._rows_version = 0
        self._summed: dict[str, tuple[Sequence[ScoreEvent], dict[str, list[int]]]] = {}
        self._places: dict[int, tuple[tuple[Place, ...], Places]] = {}
        self._farms: dict[int, Feature] = {}  # what borders cities
        self._claimed: defaultdict[str, dict[int, Feature]] = defaultdict(dict)  # features with figures, by stage
        self._by_stage: dict[str, list[Feature]] = {}
        self._bordered: list[Border] = []  # borders of these farms while no other cities are complete
        self._bordered_by: object = None
        self._round: set[Square] = set()  # the squares of the cities that were completed last
        self._seen: View | None = None

    def is_told(self, told: Told) -> Told:
        """Note the log's current history; if it rewrites earlier entries, the whole cache is dropped."""
        if told.since is not self._since:
            self._forget()
        self.told, self._since = told, told.since
        return told

    def table(self, kind: str) -> Rows:
        """The rows of one kind."""
        return self._tables[kind]

    def growing(self, kind: str) -> Growing:
        """The rows of a sequence that grows."""
        return self._growing[kind]

    def latest(self, kind: str, name: str, source: object, make: Callable[..., Any], *given: object) -> Any:
        """``make(*given)``, cached while the source is the very object of the last call."""
        known = self._latest.get((kind, name))
        if known is not None and known[0] is source:
            return known[1]
        made = make(*given)
        self._latest[kind, name] = source, made
        return made

    def figures(self, view: View) -> list[StandingFigure]:
        """The figures on the board: the same list as long as they are the same."""
        now = list(view.standing.values())
        if len(now) != len(self._figures) or not all(map(is_, now, self._figures)):
            self._figures = now
        return self._figures

    def places(self, view: View, feature: Feature) -> Places:
        """A feature's segments as sorted (x, y, where). Features grow at the end, so the earlier part is already
        sorted."""
        known, places = self._places.get(feature.id), feature.places
        if known is None:
            found = named(view, places)
        elif known[0] is places:
            return known[1]
        elif places[:len(known[0])] == known[0]:
            rows = list(known[1])
            for place in named(view, places[len(known[0]):]):
                insort(rows, place)
            found = tuple(rows)
        else:
            found = named(view, places)
        self._places[feature.id] = places, found
        return found

    def shares(self, view: View, feature: Feature) -> Shares:
        """What each player's figures weigh on a feature, and who leads."""
        if not feature.figures:
            return NOBODY
        known = self._shares.get(feature.id)
        if known is not None and known[0] is feature:
            return known[2]
        figures = figures_on(view, feature)
        if known is not None and known[1] == figures:
            found = known[2]
        else:
            weigh = weights(view, figures)
            found = Shares(tuple(sorted(weigh.items())), leaders(weigh)) if weigh else NOBODY
        self._shares[feature.id] = feature, figures, found
        return found

    def staged(self, event: ScoreEvent, stage: str) -> ScoreEvent:
        """The event as one of a final-scoring stage; an equal event may carry an earlier turn number."""
        e = event
        key = (stage, e.player, e.feature, e.reason, e.points, e.items, e.majority, e.places, e.tiles, e.rule, e.cities)
        known = self._staged.get(key)
        if known is None:
            known = self._staged[key] = replace(event, stage=stage)
        return known

    def features(self, view: View, make: Callable[[Feature], FeatureView]) -> list[FeatureView]:
        """Rows of all claimable features, in their order; ``make(feature)`` for those that are new or have changed. A
        farm's row includes how many completed cities it borders."""
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

    def summed(self, stage: str, events: Sequence[ScoreEvent], players: int) -> dict[str, list[int]]:
        """The points of a stage's events by category and player."""
        known = self._summed.get(stage)
        if known is None or known[0] is not events:
            known = self._summed[stage] = events, {}
            add(known[1], events, players)
        return known[1]

    def joint_row(self, kind: str, key: object, sources: tuple[object, ...], make: Callable[..., Any],
                  *given: object) -> Any:
        """A row that was made from several."""
        known = self._joint.get((kind, key))
        if known is not None and len(known[0]) == len(sources) and all(map(is_, known[0], sources)):
            return known[1]
        made = make(*given)
        self._joint[kind, key] = sources, made
        return made

    def claimed(self, view: View, stage: str) -> list[Feature]:
        """Features with figures on them whose kind scores in that stage, in the order of their oldest figure: the same
        list as long as these are the same."""
        if view is not self._seen:
            self.look(view)
        kept = self._by_stage.get(stage)
        if kept is None:
            kept = self._by_stage[stage] = sorted(self._claimed[stage].values(), key=attrgetter("figures"))
        return kept

    def look(self, view: View) -> None:
        """Find what differs from the previous view; called once per view, in time proportional to the change.

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
            self._bordered_by = None
        self._seen, self._joined = view, joined

    def _change(self, view: View, changed: Iterable[Feature], gone: Iterable[int]) -> list[Feature]:
        """These features are new or have changed, and those numbers stand for none any more. The complete cities that
        were there or are."""
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
        """Remove a feature that no longer exists; whether it was a completed city."""
        if f.figures:
            stage = kinds[f.kind].stage
            self._claimed[stage].pop(f.id, None)
            self._by_stage.pop(stage, None)
        if f.cities:
            self._farms.pop(f.id, None)
        return not f.open and f.kind == "city"

    def concerns(self, farm: Feature, version: int) -> bool:
        """Whether what has happened to completed cities since then may matter to a farm: it shares no tile with others
        that it borders."""
        return version < self._version and (version < self._version - 1 or not self._round.isdisjoint(farm.squares))

    def border(self, view: View, farm: Feature) -> Border:
        """The completed cities that a farm borders (R-FARM-03, R-FARM-04, A-10): the same object while they are."""
        if view is not self._seen:
            self.look(view)
        now = self._version
        border, version = self._borders.get(farm.id, (None, 0))
        known = border if border is not None and border.farm is farm else None
        if known is not None and version == now:
            return known
        if known is None or self.concerns(farm, version):
            cities = tuple([view.features[i] for i in bordered_cities(view, farm)])
            if known is None or len(cities) != len(known.cities) or not all(map(is_, cities, known.cities)):
                known = Border(farm, cities)
        if version != now or known is not border:
            self._borders[farm.id] = known, now
        return known

    def borders(self, view: View, farms: Collection[Feature]) -> list[Border]:
        """The same for many farms: the same list as long as it is the same farms and cities."""
        if view is not self._seen:
            self.look(view)
        if farms is not self._bordered_by:
            border, borders, now = self.border, self._borders, self._version
            self._bordered_by, self._bordered = farms, [
                known[0] if (known := borders.get(farm.id)) and known[1] == now and known[0].farm is farm
                else border(view, farm) for farm in farms]
        return self._bordered

    def booked(self, events: Sequence[ScoreEvent], players: int, make: Callable[[ScoreEvent], ScoreView]
               ) -> tuple[list[ScoreView], dict[str, list[int]]]:
        """The rows of these score events, and their points by category and player."""
        known = self._growing["booked"]
        new = events[known.new(events):]
        if not known.rows:
            self._sums = {k: [0] * players for k in ("road", "city", "cloister", "field")}
        known.rows += map(make, new)
        add(self._sums, new, players)
        return known.rows[:], {k: row[:] for k, row in self._sums.items()}


def add(table: dict[str, list[int]], events: Sequence[ScoreEvent], players: int) -> None:
    """Add the points of events to the row of the category of each."""
    reason = None
    for event in events:
        if event.reason != reason:
            reason = event.reason
            row = table.setdefault(category(event), [0] * players)
        for player, points in event.points:
            row[player] += points
