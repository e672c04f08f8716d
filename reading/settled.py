"""What tiles and figures that people have settled say of the others of their kinds in the same set.

The networks have learned what all editions share, and where they misread the print of a kind, they do so on every tile
of it. So a settled tile that was read as another kind is evidence that all of its kind are. Likewise a figure whose
piece is settled shows how wide such wood looks at this table (`reading.pieces`). Without answers nothing is known of
either, and looks count as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reading.belief import SquareTrack, TableBelief
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.shapes import Reading, shape
from reading.tile_track import Looks, Misprint, TileTrack
from scoring.events import FigurePlaced, TilePlaced
from scoring.tiles import Square

_Told = tuple[Reading, Looks]
_Like = tuple[str, int]  # another kind, and by how many quarters more it is turned
_SURE = 30.0  # nats of log-odds beyond which a probability is 1


class Settled:
    """The belief with what is settled applied to all its tracks. A track that no look has changed stays the same
    object, so what is derived from it remains cached."""

    def __init__(self) -> None:
        self._tiles: tuple[_Told, ...] = ()
        self._misprints: tuple[Misprint, ...] = ()
        self._squares: dict[Square, tuple[SquareTrack, SquareTrack]] = {}
        self._figures: dict[int, tuple[FigureTrack, FigureTrack]] = {}

    def applied(self, belief: TableBelief, log: LoggedGame, colours: Mapping[str, int]) -> TableBelief:
        """The belief whose tiles may be misprints and whose settled figures are known pieces; the same object while
        nothing is settled. What was seen of a settled tile itself stays as it is."""
        if not any(line.pinned for line in log.lines):
            return belief
        tiles = tuple(_tiles(belief, log))
        if len(tiles) != len(self._tiles) or any(a[0] != b[0] or a[1] is not b[1]
                                                 for a, b in zip(tiles, self._tiles, strict=True)):
            self._tiles, found = tiles, misprints(tiles)
            if found != self._misprints:
                self._misprints = found
                self._squares.clear()
        pieces = dict(_pieces(belief, log, colours))
        squares, figures = belief.squares, belief.figures
        if self._misprints:
            own = {line.event.at for line in log.lines if line.pinned and isinstance(line.event, TilePlaced)}
            squares = {at: track if at in own else self._square(at, track) for at, track in squares.items()}
        if pieces:
            figures = {i: self._figure(track, pieces[i]) if i in pieces else track for i, track in figures.items()}
        return replace(belief, squares=squares, figures=figures)

    def _square(self, at: Square, track: SquareTrack) -> SquareTrack:
        known = self._squares.get(at)
        if known is None or known[0] is not track:
            laid = track.laid
            mine = () if laid is None else tuple(m for m in self._misprints if _concerns(m, laid))
            told = track if laid is None or not mine else replace(track, laid=replace(laid, misprints=mine))
            known = self._squares[at] = track, told
        return known[1]

    def _figure(self, track: FigureTrack, piece: str) -> FigureTrack:
        known = self._figures.get(track.id)
        if known is None or known[0] is not track or known[1].piece != piece:
            known = self._figures[track.id] = track, replace(track, piece=piece)
        return known[1]


def _pieces(belief: TableBelief, log: LoggedGame, colours: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    """The tracks of figures that people have settled, with their pieces."""
    for line in log.lines:
        event = line.event
        if line.pinned and isinstance(event, FigurePlaced):
            tracks = [f.id for f in belief.by_square.get(event.at, ())
                      if f.real > 0.0 and colours.get(f.paint_among(colours)) == event.player]
            if len(tracks) == 1:
                yield tracks[0], event.figure


def misprints(settled: Iterable[_Told]) -> tuple[Misprint, ...]:
    """What settled tiles, each with the looks at its whole print, say of their kinds."""
    by_kind: dict[str, list[tuple[dict[_Like, float], float]]] = {}  # for each tile the log-odds of the other kinds
    for (tile, rot), looks in settled:
        said, rest = looks.readings
        own = max((v for r, v in said.items() if shape(*r) == shape(tile, rot)), default=rest)
        others = {(r[0], (r[1] - rot) % 4): v - own for r, v in said.items() if shape(*r) != shape(tile, rot)}
        by_kind.setdefault(tile, []).append((others, rest - own))
    out = []
    for tile, read in sorted(by_kind.items()):
        odds = {like: sum(others.get(like, rest) for others, rest in read)
                for like in {like for others, _ in read for like in others}}
        weights = {like: LIMITS.misprinted * math.exp(min(v, _SURE)) for like, v in odds.items()}
        total = 1.0 + sum(weights.values())
        out += [Misprint(tile=tile, like=like, turns=turns, probability=round(LIMITS.all_printed * w / total, 3))
                for (like, turns), w in sorted(weights.items())]
    return tuple(m for m in out if m.probability >= LIMITS.misprint_least)


def _tiles(belief: TableBelief, log: LoggedGame) -> Iterator[_Told]:
    """The tiles that people have settled, with the looks at their whole print."""
    for group in log.groups:
        line, at = group.tile, group.at
        if line is None or at is None or not line.pinned or not isinstance(line.event, TilePlaced):
            continue
        track = belief.squares.get(at)
        looks = track.laid.looks.get("") if track is not None and track.laid is not None else None
        if looks is not None:
            yield (line.event.tile, line.event.rot), looks


def _concerns(m: Misprint, laid: TileTrack) -> bool:
    """Whether a tile may be such a misprint: it looks like the other kind."""
    said, _ = laid.readings
    return any(tile == m.like and v > -LIMITS.worth_trying for (tile, _), v in said.items())
