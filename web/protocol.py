"""Interfaces that the page requires of its table: the live session.

The page knows no camera, no log and no disk: it can show any object that satisfies `LiveSession`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from web.machine_states import AimState, BackupState, TuningState
from web.states import (
    ArtSet,
    CorrectionRow,
    Fits,
    GameRow,
    GhostState,
    Json,
    MovesNow,
    OwnPictures,
    PreviewRow,
    SeenState,
    TileCandidate,
    TurnRow,
)
from web.views import PastView, QuestionView, RoundView, View

__all__ = ["Backups", "Book", "CommandError", "LiveSession", "LookingBack", "PastView", "QuestionView", "RoundView",
           "Seeing", "StaleView", "Subscription", "Tuning", "Unavailable", "View"]



class StaleView(Exception):
    """The command was based on a view that is no longer the newest; ``view`` is."""

    def __init__(self, view: View) -> None:
        super().__init__("somebody has changed the game in the meantime")
        self.view = view


class CommandError(Exception):
    """A command that cannot be carried out. ``code`` is for programs, the message is one sentence for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Unavailable(Exception):
    """A resource of the game is temporarily unavailable, such as a removed disk. The message is one sentence."""


class Subscription:
    """Waits for the newest view. A queue of length one: a view not fetched in time is replaced, so it cannot grow."""

    def __init__(self, on_close: Callable[[Subscription], None] | None = None) -> None:
        self._ready = threading.Condition()
        self._newest: View | None = None
        self._closed = False
        self._on_close = on_close

    @property
    def closed(self) -> bool:
        return self._closed

    def put(self, view: View) -> None:
        """Offer a view (called by the session); never blocks."""
        with self._ready:
            self._newest = view
            self._ready.notify()

    def get(self, timeout_s: float) -> View | None:
        """The newest view that has not been fetched yet, or None after the time-out or when closed."""
        with self._ready:
            self._ready.wait_for(lambda: self._newest is not None or self._closed, timeout_s)
            view, self._newest = self._newest, None
            return None if self._closed else view

    def close(self) -> None:
        """End the waiting, also of another thread. Idempotent."""
        with self._ready:
            if self._closed:
                return
            self._closed = True
            self._ready.notify_all()
        if self._on_close is not None:
            self._on_close(self)


class LookingBack(Protocol):
    """The past of a game. Every method may be called from any thread."""

    def turns(self) -> list[TurnRow]:
        """The turns in order: turn, player, tile, at, and whether there is a picture."""
        ...

    def view_after(self, turn: int) -> PastView | None:
        """The view as it was when that turn was over, or None."""
        ...

    def view_at(self, seq: int, *, before: bool = False) -> PastView | None:
        """The view right after an entry (0: before all), or right before it; None for an unknown entry. ``after`` is
        the entry after which to insert an event of that moment, ``moves`` the moves possible then (as
        `LiveSession.moves`)."""
        ...

    def picture(self, turn: int | None = None, part: tuple[int, int, int, int] | None = None) -> bytes | None:
        """The table in that turn (None: last) as JPEG: whole, or the rectangle of squares x, y, width, height from
        above. None without such a picture."""
        ...

    def games(self) -> list[GameRow]:
        """All stored games, newest first: game, created_s, players, entries, over, shown, scores, winners. The command
        ``open_game`` resumes one of them."""
        ...

    def corrections(self) -> list[CorrectionRow]:
        """What people have changed, newest first: seq, at_s, who, do, of, before, after."""
        ...

    def export(self, form: str) -> str:
        """The game as ``transcript`` (JSON) or ``csv``."""
        ...


class Seeing(Protocol):
    """What the camera sees just now. Every method may be called from any thread."""

    def seen(self) -> SeenState:
        """Whether there is a ``camera`` and it is ``watching``; while it is polled also the reading of the picture with
        the number ``picture``: its size, tiles, open, readings, figures, moving, in its pixels."""
        ...

    def picture(self, number: int) -> bytes | None:
        """One of the newest pictures (JPEG), or None."""
        ...

    def ghost(self) -> GhostState:
        """The camera's view at the start of the game compared with the current one: its number ``reference`` and
        ``size``, ``moved`` with the remaining offset (x_mm right, y_mm down, turn_deg clockwise, furthest_mm, ``back``
        whether it is in place)."""
        ...

    def ghost_picture(self, number: int, edges: bool) -> bytes | None:
        """That view (JPEG) or its edges (PNG), or None."""
        ...

    def watch(self, on: bool) -> None:
        """Start or pause watching, while people enter the game by hand. Raises CommandError without a camera."""
        ...

    def point(self, x: float, y: float) -> None:
        """Somebody taps a tile in the camera's picture: the board is there. Raises CommandError without a camera."""
        ...

    def measure(self) -> None:
        """Have the camera measure focus and exposure again. Raises CommandError without a camera."""
        ...


class Tuning(Protocol):
    """Aiming and calibrating the camera in use. Every method may be called from any thread and returns at once; all
    raise CommandError if it cannot be done."""

    def aim(self) -> AimState:
        """``look``, the number of the newest picture, and ``aim``, its measurements, or None."""
        ...

    def state(self) -> TuningState:
        """camera, ``running`` (the calibration in progress), ``done`` (results by kind), ``used`` documents, known
        cameras, methods, limits."""
        ...

    def calibrate(self, what: str, by: str, camera: str) -> TuningState:
        """Start calibrating the table or the colours ``by`` one target on the table (empty: any), with the ``camera``
        of that name (empty: its own); or the "supply" of the player whose colour ``by`` is; returns the state."""
        ...

    def forget(self, kind: str) -> TuningState:
        """Stop using a calibration that was made here; returns the state."""
        ...


class Backups(Protocol):
    """Backups of all data. Every method may be called from any thread and returns at once; all raise CommandError where
    it cannot be done, and return the state: busy, game_runs, most, upload (bytes received), checked, file (with its
    secret URL), error."""

    def state(self) -> BackupState:
        """The state."""
        ...

    def make(self) -> BackupState:
        """Start making a backup."""
        ...

    def support(self) -> BackupState:
        """Start making a support file with diagnostics; a ``file`` without games."""
        ...

    def file(self, ticket: str) -> Path | None:
        """The backup with this secret name, or None."""
        ...

    def piece(self, at: int, data: bytes) -> BackupState:
        """The next bytes of an uploaded backup."""
        ...

    def check(self) -> BackupState:
        """Start checking the upload."""
        ...

    def restore(self) -> BackupState:
        """Replace all data by the checked backup; the server restarts."""
        ...

    def forget(self) -> BackupState:
        """Delete the file that was made and the upload."""
        ...


class Book(Protocol):
    """All stored games and the players' statistics. Every method may be called from any thread; an unknown game raises
    CommandError."""

    def overview(self) -> Json:
        """games (newest first), players, pairs, records, merged, removed, place."""
        ...

    def change(self, data: Mapping[str, object]) -> Json:
        """``do`` one of merge (player, into), part, remove, bring_back (player), count (game, counts), place (place);
        the overview."""
        ...

    def export(self, form: str) -> str:
        """The whole book as ``json`` or ``csv``."""
        ...

    def game(self, number: int) -> Json:
        """A game: row, view (the last), frames (the result of each turn), film, handover, place."""
        ...

    def luck(self, number: int) -> Sequence[Json]:
        """Statistics of each player's draws: drawn, worth, expected, points, above."""
        ...

    def picture(self, number: int, turn: int | None = None,
                part: tuple[int, int, int, int] | None = None) -> bytes | None:
        """The table in a turn, as `LookingBack.picture`."""
        ...

    def file(self, number: int, form: str) -> bytes:
        """The game as ``json``, ``csv``, ``jcz`` or ``png``."""
        ...

    def film(self, number: int) -> Path | None:
        """The time-lapse of a game (WebM), if there is one."""
        ...

    def make_film(self, number: int) -> str:
        """Start making it; returns ``making`` or ``there``."""
        ...


class LiveSession(Protocol):
    """One game at one table. Every method may be called from any thread.

    A view is that of `scoring.projection` with ``status``, ``questions`` and ``update``, a number that grows with every
    publication (``version`` grows with the game alone). Published views are immutable.
    """

    @property
    def past(self) -> LookingBack:
        """The game's past."""
        ...

    @property
    def seeing(self) -> Seeing:
        """What the camera sees."""
        ...

    @property
    def book(self) -> Book:
        """All stored games."""
        ...

    def view(self) -> View:
        """The newest view."""
        ...

    def subscribe(self) -> Subscription:
        """A subscription that starts with the newest view."""
        ...

    def command(self, data: Mapping[str, object]) -> View:
        """Carry out a person's command; returns the new view. Raises StaleView or CommandError."""
        ...

    def preview(self, commands: Sequence[Mapping[str, object]]) -> list[PreviewRow]:
        """The effect of commands: for each ``scores`` (player, before, after) and ``issues``, or ``error``."""
        ...

    def moves(self) -> MovesNow:
        """The moves possible now (`scoring.moves`): ``version``, ``next_tile`` and ``moves`` with code, do, when
        (before, after, any), player, must, question, answers."""
        ...

    def fits(self, tile: str | None, at: tuple[int, int] | None) -> Fits:
        """Where a kind of tile fits (``places``), which ``kinds`` fit on a square, or with both the objections to each
        of its quarter ``turns``; with neither, all ``gaps`` and how many fit there. Raises InvalidNotation."""
        ...

    def game_round(self) -> RoundView | None:
        """The tournament's round being played: id, number, locked, confirmed, and the current ``clock`` (left_s,
        running); None outside a tournament."""
        ...

    def art_sets(self) -> list[ArtSet]:
        """The sets of tile pictures that a new game may choose from: name, kind (drawn, taught, learned, new),
        pictures, kinds, usual. Empty if there is nothing to choose."""
        ...

    def own_tiles(self) -> OwnPictures:
        """The pictures of the owner's tiles that a board can be drawn with: ``tiles``, how many of each kind that has
        any, and a ``tag`` that changes with them."""
        ...

    def own_tile(self, tile: str, copy: int) -> bytes | None:
        """One of them (JPEG), or None."""
        ...

    def candidates(self, seq: int) -> list[TileCandidate]:
        """What a logged tile may be: tile, rot, probability, legal; the reading's best first."""
        ...

    def crop_png(self, seq: int) -> bytes | None:
        """The picture behind an entry (JPEG or PNG), or None."""
        ...

    def notice_picture(self, name: str) -> bytes | None:
        """A picture that a notice among the issues refers to (JPEG), or None."""
        ...
