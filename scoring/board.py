"""The board as connected features: what a tile joins, what stays open (R-FEAT-01, R-FEAT-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from scoring.tiles import EDGES, OPPOSITE, Square, Tile, catalogue, edge, neighbour, turn

Place = tuple[Square, int]  # a segment on the board: its square and its index on the tile
_ATOMS = {"N": ("N", "NL", "NR"), "E": ("E", "EL", "ER"), "S": ("S", "SL", "SR"), "W": ("W", "WL", "WR")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A tile on the board. ``player`` and ``turn`` are None for what lay there before the first turn."""

    tile: str
    rot: int
    player: int | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A maximal set of connected segments of one kind. ``open`` counts its edges without a neighbour (for a cloister:
    the empty squares round it). A tile touched twice counts once, by construction of ``squares``."""

    id: int
    kind: str
    places: frozenset[Place]
    squares: frozenset[Square]
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Tiles, and the features they form: ``member`` tells the feature id of every segment."""

    tiles: Mapping[Square, Placed] = field(default_factory=dict)
    features: Mapping[int, Feature] = field(default_factory=dict)
    member: Mapping[Place, int] = field(default_factory=dict)
    next_id: int = 0

    def feature_at(self, at: Square, index: int) -> Feature:
        return self.features[self.member[at, index]]


@cache
def layout(tile: str, rot: int) -> Mapping[str, int]:
    """Which segment of the turned tile owns each edge and half-edge."""
    return {turn(a, rot): n for n, s in enumerate(catalogue()[tile].segments) for a in s.atoms}


def around(at: Square) -> tuple[Square, ...]:
    """The eight squares round one (R-CLOI-01)."""
    return tuple((at[0] + dx, at[1] + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)


def mismatches(board: Board, tile: Tile, at: Square, rot: int) -> tuple[Square, ...]:
    """The neighbouring squares whose touching edge shows another kind (R-PLACE-03)."""
    wrong = []
    for side in EDGES:
        other = board.tiles.get(neighbour(at, side))
        if other and edge(catalogue()[other.tile], other.rot, OPPOSITE[side]) != edge(tile, rot, side):
            wrong.append(neighbour(at, side))
    return tuple(wrong)


def lay(board: Board, at: Square, placed: Placed) -> Board:
    """The board with one more tile: features grow, join and close. The square must be empty.

    An edge that faces any tile is closed, also when the tiles do not match (R-CITY-01: the test is the neighbour).
    """
    tile = catalogue()[placed.tile]
    tiles = {**board.tiles, at: placed}
    features = dict(board.features)
    member = dict(board.member)
    next_id = board.next_id
    for n, s in enumerate(tile.segments):
        gaps = sum(sq not in board.tiles for sq in around(at)) if s.kind == "cloister" else len(s.atoms)
        features[next_id] = Feature(id=next_id, kind=s.kind, places=frozenset({(at, n)}), squares=frozenset({at}),
                                    open=gaps)
        member[at, n] = next_id
        next_id += 1
    mine = layout(placed.tile, placed.rot)
    for side in EDGES:
        nb = neighbour(at, side)
        other = board.tiles.get(nb)
        if other is None:
            continue
        theirs = layout(other.tile, other.rot)
        for atom in _ATOMS[side]:
            here, there = mine.get(atom), theirs.get(OPPOSITE[atom])
            for place in ((at, here), (nb, there)):
                if place[1] is not None:
                    fid = member[place[0], place[1]]
                    features[fid] = replace(features[fid], open=features[fid].open - 1)
            if here is not None and there is not None:
                _join(features, member, member[at, here], member[nb, there])
    for sq in around(at):
        known = board.tiles.get(sq)
        for n, s in enumerate(catalogue()[known.tile].segments if known else ()):
            if s.kind == "cloister":
                fid = member[sq, n]
                features[fid] = replace(features[fid], open=features[fid].open - 1)
    return Board(tiles=tiles, features=features, member=member, next_id=next_id)


def _join(features: dict[int, Feature], member: dict[Place, int], a: int, b: int) -> None:
    if a == b or features[a].kind != features[b].kind:
        return
    keep, gone = (a, b) if len(features[a].places) >= len(features[b].places) else (b, a)
    k, g = features[keep], features.pop(gone)
    features[keep] = replace(k, places=k.places | g.places, squares=k.squares | g.squares, open=k.open + g.open)
    for place in g.places:
        member[place] = keep


def touched(board: Board, at: Square) -> tuple[Feature, ...]:
    """The features that a tile on this square can have completed: its own, and the cloisters round it."""
    ids = [board.member[at, n] for n in range(len(catalogue()[board.tiles[at].tile].segments))]
    for sq in around(at):
        placed = board.tiles.get(sq)
        for n, s in enumerate(catalogue()[placed.tile].segments if placed else ()):
            if s.kind == "cloister":
                ids.append(board.member[sq, n])
    return tuple(board.features[i] for i in dict.fromkeys(ids))
