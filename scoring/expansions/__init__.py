"""The contributions of the boxes, one frozen value each; the core iterates over them and names none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scoring.contributions import Expansion
from scoring.errors import InvalidNotation
from scoring.expansions.base import BASE
from scoring.expansions.dragon import DRAGON
from scoring.expansions.inns import INNS
from scoring.expansions.river import RIVER
from scoring.expansions.tower import TOWER
from scoring.expansions.traders import TRADERS
from scoring.expansions.wheel import WHEEL

KNOWN: Mapping[str, Expansion] = {e.name: e for e in (BASE, RIVER, INNS, TRADERS, DRAGON, TOWER, WHEEL)}


def has_tiles_of_its_own(name: str) -> bool:
    """Whether a box can be played without another one."""
    return name == BASE.name or KNOWN[name].stands_alone


def boxes(names: Iterable[str], usual: Iterable[str] = ()) -> tuple[str, ...]:
    """The boxes in play for these names. Unless one of them can be played without another one, the edition's default
    basic box (the first such one of ``usual``, else the base game) is added in front.

    Raises InvalidNotation listing the known ones.
    """
    named = tuple(dict.fromkeys(names))
    chosen(named)
    if any(map(has_tiles_of_its_own, named)):
        return named
    return tuple(dict.fromkeys((next(filter(has_tiles_of_its_own, usual), BASE.name), *named)))


def chosen(names: tuple[str, ...]) -> tuple[Expansion, ...]:
    """The expansions in play. The base rules are always among them, their tiles only when ``base`` is named.

    Raises InvalidNotation listing the known ones.
    """
    for name in names:
        if name not in KNOWN:
            raise InvalidNotation(f"unknown expansion {name!r}; known are {', '.join(KNOWN)}")
    rules_only = replace(BASE, products=(), starts=()) if BASE.name not in names else BASE
    return (rules_only, *(e for name, e in KNOWN.items() if name in names and name != BASE.name))
