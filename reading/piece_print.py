"""Print that looks like a neutral piece, and whatever else does where the piece does not stand."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from scoring.events import Event

Foot = tuple[float, float]  # in tiles of the board


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintLimits:
    """Weights in nats; all chosen on two simulated tables, one of which has such print on several tiles."""

    varies: float = 1.0  # standard deviation of the log-odds of print that looks like the piece
    less: float = 1.0  # against the piece where a look is no clearer than such print
    looks: int = 2  # from which it is known: one may have seen a hand
    apart_s: float = 4.0  # seconds between those that count: as long as a piece must be seen (`Limits.notice_s`)
    lasts_s: float = 120.0  # seconds for which a single look at it is remembered: a few turns
    most: int = 4  # of a square that are remembered, those with the most looks
    near: float = 0.15  # tiles within which print is the same (as `NeutralLimits.again_at`)


PRINT = PrintLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """One place: its ``foot``, the mean log-odds of the ``looks`` that found the piece there while it was seen more
    clearly elsewhere, the time of the newest one that counted, and the event that people ``denied`` if it is known by
    that."""

    foot: Foot
    odds: float
    t_s: float
    looks: int = 1
    denied: Event | None = None

    @property
    def known(self) -> bool:
        return self.denied is not None or self.looks >= PRINT.looks


def at(foot: Foot, prints: Sequence[Print]) -> Print | None:
    """The print at a place; None if there is none."""
    near = min(prints, key=lambda p: math.dist(p.foot, foot), default=None)
    return near if near is not None and math.dist(near.foot, foot) < PRINT.near else None


def apart(odds: float, foot: Foot, prints: Sequence[Print]) -> float:
    """What log-odds of the piece at a place say, apart from the print that is known there: only by as much as they are
    higher do they speak for the piece, which has no usual log-odds of its own."""
    near = at(foot, prints) if prints else None
    if near is None or not near.known:
        return odds
    over = max(0.0, odds - near.odds) / PRINT.varies
    return min(odds, 0.5 * over * over - PRINT.less)


def seen(prints: tuple[Print, ...], foot: Foot, odds: float, t: float) -> tuple[Print, ...]:
    """The prints of a square with one look more at one of them."""
    near = at(foot, prints)
    if near is None or not near.known and t - near.t_s > PRINT.lasts_s:
        new = Print(foot=foot, odds=odds, t_s=t)
    else:
        later = t - near.t_s >= PRINT.apart_s
        new = replace(near, foot=foot, odds=near.odds + (odds - near.odds) / (near.looks + 1),
                      looks=near.looks + later, t_s=t if later else near.t_s)
    return _with(new, near, prints)


def denied(prints: tuple[Print, ...], foot: Foot, odds: float, t: float, event: Event) -> tuple[Print, ...]:
    """The prints of a square with one that people say is no piece, where looks saw it with these log-odds."""
    near = at(foot, prints)
    new = Print(foot=foot, odds=odds, t_s=t, denied=event) if near is None else replace(
        near, odds=max(near.odds, odds), denied=event)
    return _with(new, near, prints)


def without_denied(prints: tuple[Print, ...], refused: Collection[Event]) -> tuple[Print, ...]:
    """The prints of a square without those that are known only by what people no longer say (not ``refused``)."""
    said = (p if p.denied in refused else replace(p, denied=None) for p in prints)
    return tuple(now for p, now in zip(prints, said, strict=True) if p.denied is None or now.known)


def without(prints: tuple[Print, ...], foot: Foot) -> tuple[Print, ...]:
    """The prints of a square without those at a place: the piece stands there."""
    return tuple(p for p in prints if math.dist(p.foot, foot) >= PRINT.near)


def _with(new: Print, near: Print | None, prints: tuple[Print, ...]) -> tuple[Print, ...]:
    rest = sorted((p for p in prints if p is not near), key=lambda p: -p.looks)
    return *rest[:PRINT.most - 1], new
