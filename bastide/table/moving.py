"""Moves a figure along when the tile under it is corrected."""

from __future__ import annotations

from dataclasses import replace

from scoring.events import FigurePlaced, TilePlaced
from scoring.geometry import spot_of
from scoring.tiles import catalogue, segment_index, where
from vision.shapes import distance_to_segment


def moved_figure(figure: FigurePlaced, old: TilePlaced, new: TilePlaced) -> FigurePlaced:
    """The figure on a tile that turned out to be another: at the same spot, on the nearest segment of its kind.

    When the new tile has no such segment, the figure stays as it was read and the engine reports it.
    """
    was, now = catalogue()[old.tile], catalogue()[new.tile]
    index = segment_index(was, old.rot, figure.feature, figure.where)
    places = [n for n, s in enumerate(now.segments) if s.kind == figure.feature]
    if index is None or not places:
        return replace(figure, at=new.at)
    x, y = spot_of(was, index, old.rot)
    best = min(places, key=lambda n: distance_to_segment(now, n, x, y, new.rot))
    return replace(figure, at=new.at, where=where(now.segments[best], new.rot))
