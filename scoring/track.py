"""The printed scoring track: the marker's position for a score; scores are unbounded (R-TRACK-01 to R-TRACK-04)."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.rules import Rules

SPACES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The position of the marker, its laps, and how the edition shows the laps."""

    space: int
    laps: int
    lying: bool
    cards: tuple[int, ...]


def marker(score: int, rules: Rules) -> Marker:
    """The marker for a score. ``cards`` are the visible sides, each 50 or 100; ``lying``: laid on its side after 50."""
    laps, space = divmod(score, SPACES)
    with_cards = rules.score_lap_marker == "cards_50_100"
    cards = (100,) * (laps // 2) + (50,) * (laps % 2) if with_cards else ()
    return Marker(space=space, laps=laps, lying=laps > 0 and not with_cards, cards=cards)
