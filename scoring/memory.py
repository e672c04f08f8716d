"""What earlier views of the same game have worked out, to be used again as long as it is still true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple

from scoring.contributions import View
from scoring.scores import ScoreEvent, leaders
from scoring.state import Feature, Place, figures_on, named, root, weights
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
    """Rows by the very object that each was made from. The objects are kept, so that none is mistaken for another.

    ``version`` is for whoever has to look through them now and then.
    """

    __slots__ = ("_kept", "_made", "version")

    def __init__(self) -> None:
        self.version = 0
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
        rows = list(map(self._made.get, map(id, sources)))
        if None in rows:
            made, kept, there = self._made, self._kept, list(sources)
            for n, row in enumerate(rows):
                if row is None:
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

    __slots__ = ("_borders", "_claimed", "_done", "_growing", "_joint", "_places", "_round", "_seen", "_since", "_sums",
                 "_tables", "_version", "told")

    def __init__(self) -> None:
        self.told: Told | None = None
        self._since: object = None
        self._version = 0
        self._forget()

    def _forget(self) -> None:
        self._joint: dict[tuple[str, object], tuple[tuple[object, ...], Any]] = {}
        self._borders: dict[int, tuple[Border, int]] = {}
        self._tables: defaultdict[str, Rows] = defaultdict(Rows)
        self._growing: defaultdict[str, Growing] = defaultdict(Growing)
        self._sums: dict[str, list[int]] = {}
        self._places: dict[int, tuple[tuple[Place, ...], Places]] = {}
        self._done: list[Feature] = []
        self._round: set[Square] = set()  # the squares of the cities that were completed last
        self._seen: View | None = None
        self._claimed: tuple[View | None, dict[str, list[Feature]]] = None, {}

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
        else:
            old = len(known[0])
            same = old < len(places) and all(map(is_, known[0], places))
            found = tuple(sorted(known[1] + named(view, places[old:]))) if same else named(view, places)
        self._places[feature.id] = places, found
        return found

    def shares(self, view: View, feature: Feature) -> Shares:
        """What each player's figures weigh on a feature, and who leads."""
        if not feature.figures:
            return NOBODY
        found: Shares | None = self._tables["shares"].get(feature)
        if found is None:
            weigh = weights(view, figures_on(view, feature))
            found = self._tables["shares"].put(feature, Shares(tuple(sorted(weigh.items())), leaders(weigh)))
        return found

    def listed(self, places: Places) -> list[list[Any]]:
        """The same as JSON has it."""
        found: list[list[Any]] | None = self._tables["listed"].get(places)
        return found or self._tables["listed"].put(places, [list(p) for p in places])

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
        seen, stages = self._claimed
        if seen is not view:
            kinds, stages = view.box.kinds, {}
            found = [f for f in view.features.values() if f.figures and f.kind in kinds]
            for f in sorted(found, key=attrgetter("figures")):
                stages.setdefault(kinds[f.kind].stage, []).append(f)
            self._claimed = view, stages
        return stages.get(stage, [])

    def cities(self, view: View) -> int:
        """A number that grows whenever other cities are complete than in the view before."""
        if view is not self._seen:
            done = [f for f in view.features.values() if f.open == 0 and f.kind == "city"]
            if len(done) != len(self._done) or not all(map(is_, done, self._done)):
                both = set(map(id, done)) & set(map(id, self._done))
                self._round = {at for f in (*done, *self._done) if id(f) not in both for at in f.squares}
                self._version += 1
            self._seen, self._done = view, done
        return self._version

    def concerns(self, farm: Feature, version: int) -> bool:
        """Whether what has happened to completed cities since then may matter to a farm: it shares no tile with others
        that it borders."""
        return version < self._version and (version < self._version - 1 or not self._round.isdisjoint(farm.squares))

    def border(self, view: View, farm: Feature) -> Border:
        """The completed cities that a farm borders (R-FARM-03, R-FARM-04, A-10): the same object while they are."""
        now = self.cities(view)
        border, version = self._borders.get(farm.id, (None, 0))
        known = border if border is not None and border.farm is farm else None
        if known is None or self.concerns(farm, version):
            found = [view.features[i] for i in sorted({root(view, c) for c in farm.cities})]
            cities = tuple([c for c in found if c.open == 0])
            if known is None or len(cities) != len(known.cities) or not all(map(is_, cities, known.cities)):
                known = Border(farm, cities)
        if version != now or known is not border:
            self._borders[farm.id] = known, now
        return known

    def booked(self, events: Sequence[ScoreEvent], players: int, make: Callable[[ScoreEvent], dict[str, Any]],
               name: Callable[[ScoreEvent], str]) -> tuple[list[dict[str, Any]], dict[str, list[int]]]:
        """The rows of these score events, and their points added up under the name that each has."""
        known = self._growing["booked"]
        first = known.new(events)
        if first == 0:
            self._sums = {k: [0] * players for k in ("road", "city", "cloister", "field")}
        for event in events[first:]:
            known.add(event, make(event))
        add(self._sums, events[first:], name)
        return known.rows[:], {k: row[:] for k, row in self._sums.items()}


def add(table: dict[str, list[int]], events: Sequence[ScoreEvent], name: Callable[[ScoreEvent], str]) -> None:
    """Add the points of events to the row of the name that each has."""
    for event in events:
        row = table.get(name(event))
        if row is None:
            row = table[name(event)] = [0] * len(next(iter(table.values())))
        for player, points in event.points:
            row[player] += points
