"""The board as connected features: joining tiles, counting open edges (R-FEAT-01, R-FEAT-02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.contributions import Attempt, View
from scoring.state import Claim, Draft, Feature, Placed, root
from scoring.tiles import EDGES, OPPOSITE, Square, Tile, neighbour

ATOMS = {"N": ("N", "NL", "NR"), "E": ("E", "EL", "ER"), "S": ("S", "SL", "SR"), "W": ("W", "WL", "WR")}
_FACING = tuple((n, side, tuple((a, OPPOSITE[a]) for a in ATOMS[side])) for n, side in enumerate(EDGES))
_ROUND = tuple((dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)


def around(at: Square) -> tuple[Square, ...]:
    """The eight squares surrounding a square (R-CLOI-01)."""
    x, y = at
    return tuple((x + dx, y + dy) for dx, dy in _ROUND)


def has_neighbour(view: View, at: Square) -> bool:
    """Whether an orthogonal neighbour of the square has a tile (R-PLACE-01, R-PLACE-02)."""
    x, y = at
    tiles = view.tiles
    return (x, y - 1) in tiles or (x + 1, y) in tiles or (x, y + 1) in tiles or (x - 1, y) in tiles


def mismatches(view: View, tile: Tile, at: Square, rot: int) -> tuple[Square, ...]:
    """The neighbouring squares whose touching edge is of another kind (R-PLACE-03)."""
    (x, y), tiles, shape = at, view.tiles, view.box.shape
    wrong: tuple[Square, ...] = ()
    for n, square in enumerate(((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))):
        if square in tiles:
            other = tiles[square]
            if shape(other.tile, other.rot).edges[n - 2] != tile.edges[n - rot]:
                wrong = (*wrong, square)
    return wrong


def claims(view: View, figure: str, at: Square) -> Iterator[Claim]:
    """The segments of a tile that this figure of the active player may claim (R-DEPLOY-01 to -06)."""
    placed = view.tiles[at]
    shape = view.box.shape(placed.tile, placed.rot)
    for n, kind in enumerate(shape.kinds):
        attempt = Attempt(player=view.player, figure=figure, at=at, feature=kind, where=shape.where[n], segment=n)
        if next(view.box.deploying(view, attempt), None) is None:
            yield Claim(at=at, feature=kind, where=shape.where[n], segment=n)


def lay(d: Draft, at: Square, placed: Placed) -> None:
    """Place a tile on an empty square: features are extended, merged and closed, in time proportional to those touched.

    An edge that faces any tile is closed, even if the two do not match (R-ROAD-02, R-CITY-01: the test is the
    neighbour). Segments of one kind join wherever their edges or half-edges meet. Features that may now be complete are
    recorded as touched.
    """
    shape_of, tiles, base, features = d.box.shape, d.tiles, d.base, d.features
    shape = shape_of(placed.tile, placed.rot)
    first = d.next_segment
    d.next_segment += len(shape.kinds)
    ends = list(shape.ends)
    joins: list[list[int]] = [[] for _ in shape.kinds]
    closed: dict[int, int] = {}
    for _, side, facing in _FACING:
        square = neighbour(at, side)
        other = tiles.get(square)
        if other is None:
            continue
        theirs = shape_of(other.tile, other.rot)
        for atom, opposite in facing:
            here, there = shape.owner.get(atom), theirs.owner.get(opposite)
            if here is not None:
                ends[here] -= 1
            if there is not None:
                known = root(d, base[square] + there)
                closed[known] = closed.get(known, 0) + 1
                if here is not None and shape.kinds[here] == theirs.kinds[there]:
                    joins[here].append(known)
    tiles[at] = placed
    base[at] = first
    for n in shape.around:
        ends[n] = sum(square not in tiles for square in around(at))
    closes = False
    for n, kind in enumerate(shape.kinds):
        left = _join(d, first + n, kind, (at, n), ends[n], shape.marks[n],
                     frozenset(first + c for c in shape.cities[n]), joins[n], closed)
        closes = closes or not left
    for known, count in closed.items():  # the rest face an edge of another kind: closed, but not merged
        f = features[root(d, known)]
        _change(d, f, open=f.open - count)
        if f.open == count:
            d.touched.append(f.id)
    for square in around(at):
        near = tiles.get(square)
        for n in shape_of(near.tile, near.rot).around if near else ():
            f = features[root(d, base[square] + n)]
            _change(d, f, open=f.open - 1)
            if f.open == 1:
                d.touched.append(f.id)
    if closes:
        d.touched.extend(range(first, first + len(shape.kinds)))


def _join(d: Draft, segment: int, kind: str, place: tuple[Square, int], ends: int, marks: Mapping[str, int],
          cities: frozenset[int], joins: list[int], closed: dict[int, int]) -> int:
    """Merge the new segment with the features it touches, in one step; the largest keeps its id. Returns the number of
    open edges of the result."""
    features = d.features
    ends -= sum(closed.pop(known, 0) for known in joins)
    roots = {root(d, known) for known in joins}
    if not roots:
        features[segment] = Feature(id=segment, kind=kind, places=(place,), squares=frozenset((place[0],)), open=ends,
                                    marks=marks, cities=cities)
        return ends
    old = sorted((features.pop(r) for r in roots), key=lambda f: (-len(f.places), f.id))
    keep = old[0].id
    d.parent[segment] = keep
    for f in old[1:]:
        d.parent[f.id] = keep
    ends += sum([f.open for f in old])
    features[keep] = Feature(
        id=keep, kind=kind, places=(*[p for f in old for p in f.places], place),
        squares=frozenset((place[0],)).union(*[f.squares for f in old]), open=ends,
        marks=_added([f.marks for f in old], marks), figures=tuple(sorted([i for f in old for i in f.figures])),
        cities=cities.union(*[f.cities for f in old]), done=False,
    )
    return ends


def _added(many: list[Mapping[str, int]], more: Mapping[str, int]) -> Mapping[str, int]:
    carried = [m for m in (*many, more) if m]
    if len(carried) < 2:
        return carried[0] if carried else more
    out: dict[str, int] = {}
    for marks in carried:
        for mark, count in marks.items():
            out[mark] = out.get(mark, 0) + count
    return out


def _change(d: Draft, f: Feature, *, open: int | None = None, figures: tuple[int, ...] | None = None,
            done: bool | None = None) -> None:
    """Replace a feature by its new value and move it to the end, so that features are ordered by their last change."""
    del d.features[f.id]
    d.features[f.id] = Feature(
        id=f.id, kind=f.kind, places=f.places, squares=f.squares, open=f.open if open is None else open, marks=f.marks,
        figures=f.figures if figures is None else figures, cities=f.cities, done=f.done if done is None else done)


def set_figures(d: Draft, feature: Feature, figures: tuple[int, ...]) -> None:
    """Replace the figures on a feature."""
    _change(d, feature, figures=figures)


def set_done(d: Draft, feature: Feature) -> None:
    """Mark the feature's completion as handled."""
    _change(d, feature, done=True)


def is_complete(view: View, feature: Feature) -> bool:
    """Whether the feature is closed: no open edge, or all eight neighbours (R-ROAD-02, R-CITY-01, R-CLOI-01)."""
    kind = view.box.kinds.get(feature.kind)
    return kind is not None and kind.closes != "never" and feature.open == 0


def bordered_cities(view: View, farm: Feature) -> tuple[int, ...]:
    """Ids of the completed cities that a farm borders, each once (R-FARM-03, R-FARM-04, A-10)."""
    found, parent, features = set(), view.parent, view.features
    for segment in farm.cities:
        while segment in parent:  # as in `root`, inlined for speed
            segment = parent[segment]
        found.add(segment)
    return tuple(sorted([i for i in found if features[i].open == 0]))
