"""How often things go wrong at a simulated table, by level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishaps:
    """Rates of mishaps: probabilities per turn, except ``lamp``, ``bump``, ``knock``, ``shove`` and ``switch``, which
    are numbers per 72 turns, and ``track``, ``marks`` (1 or 0) and ``beside`` (how many).

    ``nudge`` pushes a tile beside the one that is laid, ``late`` leaves a scored figure for some turns, ``forgotten``
    to the end; in a ``gap`` the camera delivers no frames until the next tile lies too; ``bump`` moves the camera,
    ``knock`` many tiles at once, ``shove`` the whole board by up to several tiles. ``jump`` is an abrupt change of
    exposure and white balance, ``switch`` a lamp that is switched on. ``rest`` is an arm or a knee that stays for some
    turns, ``crowd`` (chance per visit) another player's hand in view at the same time, ``beside`` figures that lie
    close to the board, ``marks`` lines, squares and rings on the table. ``foreign`` (chance per
    follower) is a piece of a box that is not in play, put down instead. ``*_mm`` are the furthest moves.
    """

    lamp: float = 0.0
    shadow: float = 0.0
    nudge: float = 0.0
    late: float = 0.0
    forgotten: float = 0.0
    gap: float = 0.0
    bump: float = 0.0
    knock: float = 0.0
    shove: float = 0.0
    jump: float = 0.0
    switch: float = 0.0
    rest: float = 0.0
    crowd: float = 0.0
    beside: float = 0.0
    marks: float = 0.0
    foreign: float = 0.0
    track: float = 0.0  # 1: a score track with its figures is in view
    nudge_mm: float = 1.5
    bump_mm: float = 25.0
    knock_mm: float = 12.0
    shove_mm: float = 150.0


NONE = Mishaps()
AT_LEVEL: Mapping[str, Mishaps] = {
    "easy": Mishaps(lamp=0.5, shadow=0.02, nudge=0.02, late=0.05, track=1.0),
    "normal": Mishaps(lamp=1, shadow=0.05, nudge=0.06, late=0.15, forgotten=0.03, gap=0.008, bump=0.5, knock=0.3,
                      track=1.0),
    "hard": Mishaps(lamp=3, shadow=0.15, nudge=0.12, late=0.25, forgotten=0.08, gap=0.02, bump=1.5, knock=1.0,
                    track=1.0, nudge_mm=2.5, knock_mm=20.0),
    # as at the table of the real game: pushed nine times in 28 moves, followers taken back late or left in three of
    # four cases, others lying beside the board
    "life": Mishaps(lamp=1, shadow=0.1, nudge=0.12, late=0.5, forgotten=0.1, gap=0.01, bump=0.5, knock=1.0, shove=4,
                    jump=0.1, switch=1, rest=0.1, crowd=0.25, beside=4, marks=1, track=1.0, nudge_mm=2.5),
    "slides": Mishaps(shadow=0.1, nudge=0.12, late=0.5, forgotten=0.1, gap=0.01, knock=2.0, shove=12, jump=0.5,
                      switch=1, rest=0.1, beside=4, marks=1, track=1.0, nudge_mm=2.5),
}
OFTEN = Mishaps(lamp=8, shadow=0.3, nudge=0.4, late=0.6, forgotten=0.3, gap=0.15, bump=8, knock=8, shove=12, jump=0.5,
                switch=6, rest=0.4, crowd=0.8, beside=6, marks=1, foreign=0.3, track=1.0)
NAMES = tuple(f.name for f in fields(Mishaps) if not f.name.endswith("_mm"))


def wanted(text: str, level: str) -> Mishaps:
    """The rates for ``none``, ``level`` (the level's own), or comma-separated names (those, at a high rate). Raises
    ValueError."""
    if text == "none":
        return NONE
    if text == "level":
        return AT_LEVEL[level]
    names = text.split(",")
    if not set(names) <= set(NAMES):
        raise ValueError
    sizes = AT_LEVEL[level]
    return replace(NONE, nudge_mm=sizes.nudge_mm, knock_mm=sizes.knock_mm,
                   **{n: getattr(OFTEN, n) for n in names})
