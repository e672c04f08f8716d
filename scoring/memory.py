"""What earlier views of the same game have worked out, to be used again as long as it is still true."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from scoring.contributions import View
from scoring.scores import ScoreEvent
from scoring.state import Feature, root

if TYPE_CHECKING:
    from scoring.telling import Told


class Border(NamedTuple):
    """A farm and the completed cities that it borders, each once, by their number."""

    farm: Feature
    cities: tuple[Feature, ...]


class Memory:
    """Rows of one game. They are shared between views: read, never change.

    A row is used again as long as what it was made from is the same object. States are values, so what has not
    changed is the same object, and everything is made anew after a correction. Without a memory the same functions
    work everything out.
    """

    __slots__ = ("_borders", "_events", "_joint", "_rows", "told")

    def __init__(self) -> None:
        self._rows: dict[tuple[str, object], tuple[object, Any]] = {}
        self._joint: dict[tuple[str, object], tuple[tuple[object, ...], Any]] = {}
        self._borders: dict[int, tuple[Border, tuple[Feature, ...]]] = {}
        self._events: dict[int, tuple[ScoreEvent, dict[str, Any]]] = {}
        self.told: Told | None = None

    def row(self, kind: str, key: object, source: object, make: Callable[..., Any], *given: object) -> Any:
        """The row of that kind and key; ``make(*given)`` if it was made from another source."""
        known = self._rows.get((kind, key))
        if known is not None and known[0] is source:
            return known[1]
        made = make(*given)
        self._rows[kind, key] = source, made
        return made

    def joint_row(self, kind: str, key: object, sources: tuple[object, ...], make: Callable[..., Any],
                  *given: object) -> Any:
        """A row that was made from several."""
        known = self._joint.get((kind, key))
        if known is not None and len(known[0]) == len(sources) and all(map(is_, known[0], sources)):
            return known[1]
        made = make(*given)
        self._joint[kind, key] = sources, made
        return made

    def border(self, view: View, farm: Feature) -> Border:
        """The completed cities that a farm borders (R-FARM-03, R-FARM-04, A-10)."""
        features = view.features
        known = self._borders.get(farm.id)
        if known is not None and known[0].farm is farm:
            for city in known[1]:
                if features.get(city.id) is not city:
                    break
            else:
                return known[0]
        round_it = tuple(features[i] for i in sorted({root(view, c) for c in farm.cities}))
        border = Border(farm, tuple(c for c in round_it if c.open == 0))
        self._borders[farm.id] = border, round_it
        return border

    def events(self, events: list[ScoreEvent], make: Callable[[ScoreEvent], dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of these events; those of all others are forgotten."""
        known, kept, out = self._events, {}, []
        for event in events:
            found = known.get(id(event))
            if found is None or found[0] is not event:
                found = event, make(event)
            kept[id(event)] = found
            out.append(found[1])
        self._events = kept
        return out
