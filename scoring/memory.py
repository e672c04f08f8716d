"""What earlier views of the same game have worked out, to be used again as long as it is still true."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from operator import attrgetter, is_, is_not, not_
from typing import TYPE_CHECKING, Any, NamedTuple

from scoring.board import bordered_cities
from scoring.contributions import View
from scoring.scores import ScoreEvent, category, leaders
from scoring.state import Feature, Place, figures_on, named, weights
from scoring.tiles import Square

if TYPE_CHECKING:
    from scoring.telling import Told

Places = tuple[tuple[int, int, str], ...]


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
    """Rows by the very object that each was made from. The objects are kept, so that none is mistaken for another."""

    __slots__ = ("_kept", "_made")

    def __init__(self) -> None:
        self._kept: dict[int, object] = {}
        self._made: dict[int, Any] = {}

    def get(self, source: object) -> Any:
        """The row of an object, or None."""
        return self._made.get(id(source))

    def put(self, source: object, row: Any) -> Any:
        """Keep the row of an object, and hand it back."""
        self._kept[id(source)] = source
        self._made[id(source)] = row
        return row

    def of(self, sources: Collection[Any], make: Callable[[Any], Any]) -> list[Any]:
        """A row for each of these objects, in their order; ``make(source)`` where there is none yet."""
        if not sources:
            return []
        rows = list(map(self._made.get, map(id, sources)))
        if not all(rows):
            made, kept, there = self._made, self._kept, list(sources)
            for n in compress(range(len(rows)), map(not_, rows)):
                if rows[n] is None:  # else a row of nothing
                    source = there[n]
                    rows[n] = made[id(source)] = make(source)
                    kept[id(source)] = source
        return rows


class Growing:
    """Rows of a sequence that only grows while a game goes on; when it begins otherwise, all of them are made anew."""

    __slots__ = ("_made_of", "rows")

    def __init__(self) -> None:
        self._made_of: list[object] = []
        self.rows: list[Any] = []

    def new(self, sources: Collection[Any]) -> int:
        """How many of these have their rows already. The others' are to be added, in order."""
        if len(self._made_of) > len(sources) or not all(map(is_, self._made_of, sources)):
            self._made_of, self.rows = [], []
        return len(self._made_of)

    def add(self, source: object, row: Any) -> None:
        self._made_of.append(source)
        self.rows.append(row)


class Memory:
    """Rows of one game. They are shared between views: read, never change.

    A row is used again as long as what it was made from is the same object. States are values, so what has not
    changed is the same object, and everything is made anew after a correction. Without a memory the same functions
    work everything out.
    """

    __slots__ = ("_bordered", "_borders", "_by_stage", "_claimed", "_done", "_growing", "_joint", "_listed",
                 "_places", "_round", "_rows", "_rows_version", "_seen", "_seen_as", "_shares", "_since", "_staged",
                 "_summed", "_sums", "_tables", "_version", "_without_row", "told")

    def __init__(self) -> None:
        self.told: Told | None = None
        self._since: object = None
        self._version = 0
        self._forget()

    def _forget(self) -> None:
        self._joint: dict[tuple[str, object], tuple[tuple[object, ...], Any]] = {}
        self._staged: dict[tuple[object, ...], ScoreEvent] = {}
        self._borders: dict[int, tuple[Border, int]] = {}
        self._tables: defaultdict[str, Rows] = defaultdict(Rows)
        self._growing: defaultdict[str, Growing] = defaultdict(Growing)
        self._sums: dict[str, list[int]] = {}
        self._shares: dict[int, tuple[Feature, Shares]] = {}
        self._seen_as: dict[int, Feature] = {}  # features by their number, as they were in the view before
        self._rows: dict[int, dict[str, Any]] = {}  # and their rows
        self._without_row: set[int] = set()  # of which these are out of date
        self._rows_version = 0
        self._summed: dict[str, tuple[Sequence[ScoreEvent], dict[str, list[int]]]] = {}
        self._listed = Rows()
        self._places: dict[int, tuple[tuple[Place, ...], Places]] = {}
        self._done: dict[int, Feature] = {}  # cities that are complete
        self._claimed: defaultdict[str, dict[int, Feature]] = defaultdict(dict)  # features with figures, by stage
        self._by_stage: dict[str, list[Feature]] = {}
        self._bordered = Rows()  # borders of farms while no other cities are complete
        self._round: set[Square] = set()  # the squares of the cities that were completed last
        self._seen: View | None = None

    def is_told(self, told: Told) -> Told:
        """What the log comes to now. When it tells earlier entries otherwise, nothing else is remembered."""
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

    def places(self, view: View, feature: Feature) -> Places:
        """A feature's segments as (x, y, where). It grows at its end, so what it had before stays sorted."""
        known, places = self._places.get(feature.id), feature.places
        if known is None:
            found = named(view, places)
        elif known[0] is places:
            return known[1]
        elif len(known[0]) < len(places) and all(map(is_, known[0], places)):
            sorted_in, rows = list(known[1]), self.listed(known[1])[:]
            for place in named(view, places[len(known[0]):]):
                insort(sorted_in, place)
                insort(rows, list(place))
            found = tuple(sorted_in)
            self._listed.put(found, rows)
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
            return known[1]
        weigh = weights(view, figures_on(view, feature))
        found = Shares(tuple(sorted(weigh.items())), leaders(weigh)) if weigh else NOBODY
        self._shares[feature.id] = feature, found
        return found

    def listed(self, places: Places) -> list[list[Any]]:
        """The same as JSON has it."""
        found: list[list[Any]] | None = self._listed.get(places)
        return found or self._listed.put(places, [list(p) for p in places])

    def staged(self, event: ScoreEvent, stage: str) -> ScoreEvent:
        """The event as one of a stage of the final scoring; one that says the same may tell an earlier turn."""
        e = event
        key = (stage, e.player, e.feature, e.reason, e.points, e.items, e.majority, e.places, e.tiles, e.rule, e.cities)
        known = self._staged.get(key)
        if known is None:
            known = self._staged[key] = replace(event, stage=stage)
        return known

    def features(self, view: View, make: Callable[[Feature], dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of all features, in their order; ``make(feature)`` for those that are new or have changed. A farm's
        row tells how many completed cities it borders."""
        found, rows, waiting = view.features, self._rows, self._without_row
        now, before = self.cities(view), self._rows_version
        if now != before:
            for f in found.values():
                if f.cities and f.id not in waiting and self.concerns(f, before):
                    row = rows[f.id]
                    if row and row["cities"] != len(self.border(view, f).cities):
                        waiting.add(f.id)
            self._rows_version = now
        for number in waiting & found.keys():
            rows[number] = make(found[number])
        waiting.clear()
        return list(filter(None, map(rows.get, found)))

    def summed(self, stage: str, events: Sequence[ScoreEvent], players: int) -> dict[str, list[int]]:
        """The points of a stage's events by category and player."""
        known = self._summed.get(stage)
        if known is None or len(known[0]) != len(events) or not all(map(is_, known[0], events)):
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
        """Features with figures on them whose kind scores in that stage, in the order of their oldest figure."""
        self.look(view)
        kept = self._by_stage.get(stage)
        if kept is None:
            kept = self._by_stage[stage] = sorted(self._claimed[stage].values(), key=attrgetter("figures"))
        return kept

    def cities(self, view: View) -> int:
        """A number that grows whenever other cities are complete than in the view before."""
        self.look(view)
        return self._version

    def look(self, view: View) -> None:
        """See what is different from the view before, once for each view."""
        if view is self._seen:
            return
        found, seen_as, claimed, done = view.features, self._seen_as, self._claimed, self._done
        changed = list(compress(found.values(), map(is_not, found.values(), map(seen_as.get, found))))
        kinds = view.box.kinds
        other: list[Feature] = []  # cities that are complete and were not, or the other way round
        gone = [seen_as[f.id] for f in changed if f.id in seen_as]
        for f in changed:
            seen_as[f.id] = f
        if len(seen_as) > len(found):  # some have become part of others, or lie no more
            gone += [seen_as.pop(n) for n in [n for n in seen_as if n not in found]]
        for f in gone:
            if f.figures and f.kind in kinds:
                del claimed[kinds[f.kind].stage][f.id]
            if f.id in done:
                other.append(done.pop(f.id))
        for f in changed:
            if f.figures and f.kind in kinds:
                claimed[kinds[f.kind].stage][f.id] = f
            if f.kind == "city" and f.open == 0:
                done[f.id] = f
                other.append(f)
        self._without_row.update([f.id for f in changed])
        if other:
            self._round = {at for f in other for at in f.squares}
            self._version += 1
            self._bordered = Rows()
        self._seen, self._by_stage = view, {}

    def concerns(self, farm: Feature, version: int) -> bool:
        """Whether what has happened to completed cities since then may matter to a farm: it shares no tile with others
        that it borders."""
        return version < self._version and (version < self._version - 1 or not self._round.isdisjoint(farm.squares))

    def border(self, view: View, farm: Feature) -> Border:
        """The completed cities that a farm borders (R-FARM-03, R-FARM-04, A-10): the same object while they are."""
        now = self.cities(view)
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
        """The same for many farms."""
        self.look(view)
        return self._bordered.of(farms, partial(self.border, view))

    def booked(self, events: Sequence[ScoreEvent], players: int, make: Callable[[ScoreEvent], dict[str, Any]]
               ) -> tuple[list[dict[str, Any]], dict[str, list[int]]]:
        """The rows of these score events, and their points by category and player."""
        known = self._growing["booked"]
        first = known.new(events)
        if first == 0:
            self._sums = {k: [0] * players for k in ("road", "city", "cloister", "field")}
        new = events[first:]
        for event in new:
            known.add(event, make(event))
        add(self._sums, new, players)
        return known.rows[:], {k: row[:] for k, row in self._sums.items()}


def add(table: dict[str, list[int]], events: Sequence[ScoreEvent], players: int) -> None:
    """Add the points of events to the row of the category of each."""
    for event in events:
        key = category(event)
        row = table.get(key)
        if row is None:
            row = table[key] = [0] * players
        for player, points in event.points:
            row[player] += points
