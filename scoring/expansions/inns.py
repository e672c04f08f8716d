"""Inns & Cathedrals: the large follower of weight two, roads with inns, cities with cathedrals."""

from __future__ import annotations

from scoring.contributions import ANYWHERE, Expansion, Piece, Rate
from scoring.rules import Rules
from scoring.state import Feature
from scoring.tiles import Segment


def marks(segment: Segment) -> tuple[tuple[str, int], ...]:
    return tuple((sign, 1) for sign in segment.signs if sign in ("inn", "cathedral"))


def inn(rules: Rules, feature: Feature, complete: bool, rate: Rate) -> Rate:
    """R-INN-01 to R-INN-04: 2 per tile when complete, however many inns; nothing otherwise."""
    if not feature.marks.get("inn") or feature.kind != "road":
        return rate
    if complete:
        return Rate(each=2, reason=rate.reason, rule="R-INN-02")
    return _unfinished(rules, rate, "R-INN-04")


def cathedral(rules: Rules, feature: Feature, complete: bool, rate: Rate) -> Rate:
    """R-CATH-01 to R-CATH-03: 3 per tile and pennant when complete, however many cathedrals; nothing otherwise."""
    if not feature.marks.get("cathedral") or feature.kind != "city":
        return rate
    if complete:
        return Rate(each=3, reason="city", rule="R-CATH-01")
    return _unfinished(rules, rate, "R-CATH-03")


def _unfinished(rules: Rules, rate: Rate, rule: str) -> Rate:
    return Rate(each=0, reason=rate.reason, rule=rule) if rules.word("unfinished_inn_cathedral") == "zero" else rate


INNS = Expansion(
    name="inns",
    products=("inns",),
    pieces=(Piece(name="large", count=lambda players: 1, weight=2, follower=True, stands=ANYWHERE),),
    marks=marks,
    rates=(inn, cathedral),
    options=("unfinished_inn_cathedral",),
    cues={"large": "a follower a fifth taller and a sixth wider than the others, and no thicker; one per colour"},
)
