"""The shapes of the tiles against their topology, and the questions asked of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from scoring import geometry
from scoring.tiles import EDGES, Segment, Tile, catalogue, turn
from vision import shapes

TILES = list(catalogue().values())
KIND_OF = {"C": "city", "R": "road", "I": "river", "F": "field"}
CLEAR = 4.0  # units that a figure's place keeps from every other segment
every_tile = pytest.mark.parametrize("tile", TILES, ids=[t.id for t in TILES])


def pieces(area: npt.NDArray[np.bool_]) -> int:
    """How many pieces a set of cells falls into; cells that meet at a corner hang together."""
    return int(ndimage.label(area, np.ones((3, 3)))[1])


@cache
def touching(tile: Tile) -> dict[tuple[int, int], int]:
    """Length in cells of the border that two segments share in the picture."""
    seen, found = shapes.labels(tile), Counter[tuple[int, int]]()
    for one, other in ((seen[:, :-1], seen[:, 1:]), (seen[:-1], seen[1:])):
        at = one != other
        pairs = zip(np.minimum(one, other)[at].tolist(), np.maximum(one, other)[at].tolist(), strict=True)
        found.update(pairs)
    return found


def rim_points(tile: Tile) -> Iterator[tuple[str, float, Segment]]:
    """(edge, part of the way along it clockwise, the segment seen just inside)."""
    for k, side in enumerate(EDGES):
        for along in (0.06, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.94):
            x, y = geometry.rotate_point(100 * along, 1.0, k)
            yield side, along, tile.segments[shapes.segment_at(tile, x, y)]


@every_tile
def test_every_segment_has_a_shape_and_together_they_cover_the_tile(tile: Tile) -> None:
    assert all(s.path for s in tile.segments)
    for s in tile.segments:
        lines = geometry.flatten(s.path)
        assert all(-1 <= c <= 101 for line in lines for p in line for c in p)
        if not s.width:
            assert all(line[0] == line[-1] for line in lines), "an area is a closed path"
    assert shapes.NONE not in shapes.labels(tile)


@every_tile
def test_what_lies_at_the_edges_is_what_the_topology_says(tile: Tile) -> None:
    for side, along, seen in rim_points(tile):
        kind = KIND_OF[tile.edges[EDGES.index(side)]]
        if kind == "city" or (along == 0.5 and kind != "field"):
            assert (seen.kind, side in seen.atoms) == (kind, True), (side, along)
        elif along == 0.5:
            assert seen.kind == "field", side
        elif kind == "river" and abs(along - 0.5) < 0.2:
            assert seen.kind in ("field", "river")
        else:
            half = side + ("L" if along < 0.5 else "R")
            assert seen.kind == "field" and half in seen.atoms, (half, along)


@every_tile
def test_figures_stand_well_inside_their_own_segment(tile: Tile) -> None:
    for n, s in enumerate(tile.segments):
        assert shapes.segment_at(tile, *s.spot) == n, (s.kind, s.atoms)
        for other in range(len(tile.segments)):
            if other != n:
                assert shapes.distance_to_segment(tile, other, *s.spot) >= CLEAR, (s.kind, s.atoms, other)
        x, y = s.spot
        assert min(x, y, 100 - x, 100 - y) >= 6, "a figure does not hang over the tile's edge"


@every_tile
def test_a_field_touches_exactly_the_cities_that_it_supplies(tile: Tile) -> None:
    shared = touching(tile)
    for n, field in enumerate(tile.segments):
        for m, city in enumerate(tile.segments):
            if field.kind == "field" and city.kind == "city":
                length = shared.get((min(n, m), max(n, m)), 0)
                assert length >= 12 if m in field.cities else length <= 3, (field.atoms, city.atoms, length)


@every_tile
def test_a_segment_is_seen_in_one_piece_unless_a_later_one_leads_over_it(tile: Tile) -> None:
    for n, s in enumerate(tile.segments):
        bridged = s.width and len(s.atoms) == 2
        assert pieces(shapes.labels(tile) == n) <= (2 if bridged else 1), (s.kind, s.atoms)


@every_tile
def test_roads_that_end_on_one_tile_stay_apart(tile: Tile) -> None:
    """Their ends do not run together: a follower stands on one of them."""
    shared = touching(tile)
    gate = tile.id == "traders.23"  # both end side by side at one gate
    for n, a in enumerate(tile.segments):
        for m, b in enumerate(tile.segments):
            if n < m and a.kind == b.kind == "road" and len(a.atoms) == len(b.atoms) == 1 and not gate:
                assert shared.get((n, m), 0) == 0


@every_tile
def test_signs_have_their_places(tile: Tile) -> None:
    spare = 0
    for s in tile.segments:
        need = s.pennants + len(s.signs)
        assert need <= len(s.marks), (s.kind, s.atoms)
        spare += len(s.marks) - need
        assert all(4 <= c <= 96 for mark in s.marks for c in mark)
        for n, a in enumerate(s.marks):
            assert all(math.dist(a, b) >= 8 for b in s.marks[:n])
    symbols = tile.flags & {"volcano", "dragon", "portal", "tower", "wheel_icon"}
    assert spare == len(symbols) == (geometry.flag_spot(tile) is not None)


def test_pennants_lie_on_their_city() -> None:
    for tile in TILES:
        for n, s in enumerate(tile.segments):
            for x, y in s.marks if s.kind == "city" else ():
                assert shapes.segment_at(tile, x, y) == n


def test_a_turned_tile_is_asked_where_it_lies() -> None:
    tile = catalogue()["base.J"]  # city N, road E-S
    for rot in range(4):
        for n in range(len(tile.segments)):
            x, y = geometry.spot_of(tile, n, rot)
            assert shapes.segment_at(tile, x, y, rot) == n
            assert shapes.distance_to_segment(tile, n, x, y, rot) == 0.0
        side = turn("N", rot)
        x, y = {"N": (50, 3), "E": (97, 50), "S": (50, 97), "W": (3, 50)}[side]
        assert tile.segments[shapes.segment_at(tile, x, y, rot)].kind == "city"


def test_points_off_the_tile_belong_to_its_border() -> None:
    tile = catalogue()["base.E"]
    assert tile.segments[shapes.segment_at(tile, 50, -7)].kind == "city"
    assert tile.segments[shapes.segment_at(tile, 120, 80)].kind == "field"


def test_distance_counts_only_what_is_seen() -> None:
    tile = catalogue()["base.D"]  # road E-W: straight lines are easy to check at the edge
    road = next(n for n, s in enumerate(tile.segments) if s.kind == "road")
    assert shapes.distance_to_segment(tile, road, 0.5, 50) == 0.0
    assert shapes.distance_to_segment(tile, road, 0.5, 60) == pytest.approx(5.5, abs=0.6)
    crossing = catalogue()["river.06"]  # the river passes below the road
    river = next(n for n, s in enumerate(crossing.segments) if s.kind == "river")
    assert shapes.distance_to_segment(crossing, river, 50, 50) == pytest.approx(4.5, abs=0.6)
