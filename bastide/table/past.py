"""The past of a session's game while it goes on: turns, earlier views, pictures of the table, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bastide.log.replay import (
    PlayedTurn,
    before_the_end,
    corrections,
    played,
    scores_csv,
    transcript,
    view_after,
    view_at,
)
from bastide.log.store import Store
from bastide.log.table_pictures import table_picture
from scoring.log import state_of
from web.states import CorrectionRow, GameRow, TurnRow
from web.views import PastView

if TYPE_CHECKING:
    from bastide.table.session import TableSession


class Past:
    """What a session's game has been (`web.protocol.LookingBack`). Every method may be called from any thread."""

    def __init__(self, session: TableSession, store: Store) -> None:
        self._session, self._store = session, store
        self._known: tuple[tuple[int, int], tuple[PlayedTurn, ...]] | None = None

    def _turns(self) -> tuple[PlayedTurn, ...]:
        """The turns played so far, with all corrections; cached for each state of the log."""
        entries = self._session.entries
        key = self._session.game, len(entries)
        known = self._known
        if known is None or known[0] != key:
            known = self._known = key, played(self._session.setup, entries)
        return known[1]

    def turns(self) -> list[TurnRow]:
        """The turns in order: number, player, the tile and its square, whether there is a picture of the table."""
        kept = self._store.pictures.stills(self._session.game)
        return [{"turn": t.turn, "player": t.player, "tile": t.tile, "at": list(t.at) if t.at else None,
                 "picture": not kept.isdisjoint(t.seqs)} for t in self._turns()]

    def view_after(self, turn: int) -> PastView | None:
        """The view as it was when a turn was over, or None when there was no such turn."""
        found = next((t for t in self._turns() if t.turn == turn), None)
        if found is None:
            return None
        old = view_after(self._session.setup, self._session.entries, found)
        return {**self._session.view(), **old, "questions": [], "doubts": []}

    def view_at(self, seq: int, *, before: bool = False) -> PastView | None:
        """The view as it was when an entry had happened (0: nothing had), or right before it; None for an entry that
        is not there. ``after`` is the entry after which something is inserted that happened just then."""
        old = view_at(self._session.setup, self._session.entries, seq, before=before)
        return {**self._session.view(), **old, "questions": [], "doubts": []} if old else None

    def picture(self, turn: int | None = None, part: tuple[int, int, int, int] | None = None) -> bytes | None:
        """The table as the camera saw it in a turn (None: last), whole or a part of the board from above, as JPEG.

        ``part`` is a rectangle of squares: x, y, width, height. None when there is no such picture.
        """
        return table_picture(self._store, self._session.game, self._turns(), turn, part)

    def games(self) -> list[GameRow]:
        """All games that are on disk, newest first: game, created_s, players, entries, over, which is shown, and the
        scores and winners (numbers of players) of those that can be worked out."""
        known, games = self._session.book.results(), self._store.games()
        untold = self._session.untold()  # after the games: what ends meanwhile is not told either
        return [cast(GameRow, {
            "game": g.id, "created_s": g.created_s, "players": list(g.players), "entries": g.entries,
            "over": g.over and g.id != untold, "shown": g.id == self._session.game, **known.get(g.id, {})})
            for g in games]

    def corrections(self) -> list[CorrectionRow]:
        """What people have changed, newest first."""
        return corrections(self._session.entries)

    def export(self, form: str) -> str:
        """The game as ``transcript`` or as ``csv`` of its scores; without its end until that has been revealed."""
        setup, entries = self._session.setup, self._session.entries
        if self._session.untold() is not None:
            entries = before_the_end(entries)
        return scores_csv(state_of(setup, entries)) if form == "csv" else transcript(setup, entries)
