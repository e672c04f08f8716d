"""What a box adds to the game: a frozen value each; the core iterates over them and names none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.errors import InvalidNotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A kind of figure: how many each player has, what it weighs in a majority (0: it is no follower)."""

    count: int
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The contributions of one box: its products' tiles and its pieces per player."""

    name: str
    products: tuple[str, ...] = ()
    pieces: Mapping[str, Piece] = field(default_factory=dict)


BASE = Expansion(name="base", products=("base",), pieces={"follower": Piece(count=7, weight=1)})
KNOWN: Mapping[str, Expansion] = {e.name: e for e in (BASE,)}


def chosen(names: tuple[str, ...]) -> tuple[Expansion, ...]:
    """The expansions in play, the base game always among them. Raises InvalidNotation listing the known ones."""
    for name in names:
        if name not in KNOWN:
            raise InvalidNotation(f"unknown expansion {name!r}; known are {', '.join(KNOWN)}")
    return tuple(e for name, e in KNOWN.items() if name in names or name == "base")


def pieces(names: tuple[str, ...]) -> dict[str, Piece]:
    """Every figure kind in play."""
    return {kind: piece for e in chosen(names) for kind, piece in e.pieces.items()}
