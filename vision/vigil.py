"""What stands on tiles that were laid before: figures that go home, that stay when they should have gone, that nobody
saw come, and tiles that were pushed.

Of every tile its last picture is kept. Where it changes, both pictures are held against each other in both directions:
a figure that is only in the older one has gone, one that is only in the newer one has come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.engine import step
from scoring.events import TurnEnded
from scoring.state import GameState, StandingFigure
from scoring.tiles import Square, catalogue
from vision.frames import Image
from vision.lattice import Array, rectify
from vision.standing import CROP_PX, MARGIN, FigureReading, read_figure
from vision.view import View

SURELY = 0.95  # of a colour, on a tile whose bare picture is known
_PATIENCE_S = 4.0  # a figure may be moved about before it counts as gone
_AREA = 0.035  # of a tile: what is smaller is no whole figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that people should look at. ``code`` is take_back, missing, out_of_step or unread; ``player``,
    ``feature`` and ``where`` name a figure; ``before`` and ``now`` are pictures of the square."""

    code: str
    at: Square
    player: int | None = None
    feature: str = ""
    where: str = ""
    before: Image | None = None
    now: Image | None = None


@dataclass(slots=True)
class _Kept:
    """A tile's last picture with what stood on it, and its picture without a figure if it was seen so."""

    seen: Image
    bare: Image | None = None
    gone_s: float | None = None  # since when the figure that stood here is not seen any more


@dataclass(slots=True)
class Vigil:
    """Pictures of the tiles that lie, and the figures that were put on them."""

    colours: tuple[str, ...]
    view: View | None = None
    _kept: dict[Square, _Kept] = field(default_factory=dict)
    _owed: dict[Square, StandingFigure] = field(default_factory=dict)  # scored, and not seen to go home
    _before: tuple[StandingFigure, ...] = ()
    _checked: dict[Square, bool] = field(default_factory=dict)

    def keep(self, at: Square, seen: Image, bare: Image | None = None) -> None:
        """A tile's picture as it is now; ``bare`` when it was also seen without a figure."""
        self._kept[at] = _Kept(seen=seen, bare=bare)

    def picture(self, at: Square) -> Image | None:
        """The tile as it was seen last, rectified with its margin; None when it never was."""
        kept = self._kept.get(at)
        return kept.seen if kept is not None else None

    def follow(self, state: GameState) -> None:
        """Which figures went off the board by the rules since the last frame."""
        if len(self._kept) > len(state.tiles):
            self._kept = {at: kept for at, kept in self._kept.items() if at in state.tiles}
        if state.figures is self._before:
            return
        now = {_key(f) for f in state.figures}
        for f in self._before:
            kept = self._kept.get(f.at)
            if _key(f) not in now and f.at in state.tiles and (kept is None or kept.gone_s is None):
                self._owed[f.at] = f
                self._checked.pop(f.at, None)
        for f in state.figures:
            self._owed.pop(f.at, None)
        for at in [at for at in self._owed if at not in state.tiles]:
            del self._owed[at]
        self._before = state.figures

    def look(self, bgr: Image, t_s: float, at: Square, pose: Array, state: GameState) -> FigureReading | None:
        """A tile that changed and is still again: the figure that stood there unknown to the game and has gone now,
        if there was one."""
        now = rectify(bgr, pose, CROP_PX, MARGIN)
        kept = self._kept.get(at)
        placed = state.tiles[at]
        if kept is None or placed.tile not in catalogue():
            self._kept[at] = _Kept(seen=now)
            return None
        args = pose, bgr.shape, catalogue()[placed.tile], placed.rot, self.colours, -1, range(9)
        went = read_figure(kept.seen, now, *args, bare=True, view=self.view)
        came = read_figure(now, kept.seen, *args, bare=True, view=self.view)
        went, came = (r if r and r.colours[0][1] > SURELY and r.size > _AREA else None for r in (went, came))
        late = None
        mine = [f for f in (*state.figures, *self._owed.values()) if f.at == at]
        if came is not None:
            kept.gone_s = None
        elif went is not None:
            if any(f.player == went.colours[0][0] for f in mine):
                kept.gone_s = t_s
                self._owed.pop(at, None)
            elif not mine and kept.gone_s is None:
                late = went
            kept.bare = now
        kept.seen = now
        self._checked.pop(at, None)
        return late

    def notices(self, bgr: Image, t_s: float, poses: Mapping[Square, Array], state: GameState) -> list[Notice]:
        """What people should put right. For a frame on which the table is still."""
        out = []
        for at, f in list(self._owed.items()):
            if at in poses and f.player < len(self.colours) and self._stands(bgr, poses[at], f, state):
                out.append(Notice(code="take_back", at=at, player=f.player, feature=f.feature, where=f.where))
        gone = {at for at, k in self._kept.items() if k.gone_s is not None and t_s - k.gone_s > _PATIENCE_S}
        if gone:
            closed = step(state, TurnEnded()) if state.turn_open else state
            out += [Notice(code="missing", at=f.at, player=f.player, feature=f.feature, where=f.where)
                    for f in closed.figures if f.at in gone]
        return out

    def _stands(self, bgr: Image, pose: Array, figure: StandingFigure, state: GameState) -> bool:
        """Whether a figure that should have gone is seen; looked at once for every change of its tile."""
        at = figure.at
        if at not in self._checked:
            kept, placed = self._kept.get(at), state.tiles[at]
            if kept is None or kept.bare is None:
                self._checked[at] = kept is not None  # it was read there and never seen to go
            else:
                crop = rectify(bgr, pose, CROP_PX, MARGIN)
                found = read_figure(crop, kept.bare, pose, bgr.shape, catalogue()[placed.tile], placed.rot,
                                    self.colours, -1, range(9), bare=True, view=self.view)
                self._checked[at] = found is not None and found.colours[0][0] == figure.player
        return self._checked[at]


def _key(figure: StandingFigure) -> tuple[int, str, Square, str, str]:
    return figure.player, figure.figure, figure.at, figure.feature, figure.where
