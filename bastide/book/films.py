"""The time-lapse of a game: the table as the camera saw it turn by turn, with the scores under it, in half a minute.

Made on this device from the pictures kept with the moves (`bastide.log.pictures`), of which only the newest games have
any; so a thread makes it when a game ends or is replaced by another one. A game without pictures is shown in drawn
tiles.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw

from bastide.book.frames import frames
from bastide.errors import Failure
from bastide.export.result_sheet import font
from bastide.log.replay import PlayedTurn, played
from bastide.log.store import Store
from bastide.log.stored import StoredGame
from scoring.log import state_of
from scoring.state import GameState
from scoring.tiles import Square
from vision.artwork.board import CLOTH_BGR, draw_board
from vision.film import SUFFIX, fitted, write_film
from vision.frames import Image
from vision.images import decoded
from vision.simulator.pieces import colour_bgr
from web.protocol import LiveSession

FOLDER = "films"
KEPT = 40  # films; 1 to 4 MB each
FPS = 6
LENGTH_S, LAST_S = 30.0, 3.0  # of the film, and of its last picture
LONGEST_EACH_S = 1.0  # limit for pictures of short games
SIZE = (960, 720)  # pixels: width, height
BAR_PX = 64  # of the height, for the scores
TILE_PX = 60  # at most, where the table is drawn
CLOSING_S = 5.0  # at most, for a picture that is being written
NICE = 10  # lower priority than the table's loop
_PAPER, _INK = (239, 230, 211), (42, 32, 24)
_log = logging.getLogger("bastide.book")


class Films:
    """The films of one data folder, as ``films/N.webm``. Thread-safe."""

    def __init__(self, data: Path, store: Store) -> None:
        self._folder, self._store = data / FOLDER, store
        self._lock = threading.Lock()  # one at a time
        self._making: dict[int, threading.Thread] = {}
        self._ending = threading.Event()

    def file(self, game: int) -> Path | None:
        """The film of a game, if it has been made."""
        found = self._folder / f"{game}{SUFFIX}"
        return found if found.is_file() else None

    def state(self, game: int) -> str:
        """``there``, ``making`` or ``none``."""
        return "making" if game in self._making else "there" if self.file(game) else "none"

    def begin(self, game: int) -> None:
        """Make a film in a thread of its own; no-op while it is being made."""
        if game not in self._making and not self._ending.is_set():
            thread = self._making[game] = threading.Thread(target=self._made, args=(game,), name="film", daemon=True)
            thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait until nothing is being made."""
        for thread in list(self._making.values()):
            thread.join(timeout_s)

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Abort and start nothing more."""
        self._ending.set()
        self.wait(timeout_s)

    def make(self, game: int) -> Path:
        """Make the film of a game, replacing an existing one. Raises Failure."""
        with self._lock:
            found = self._store.load(game)
            path = self._folder / f"{game}{SUFFIX}"
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_film(path, self._unless_ending(pictures(found, self._store)), fps=FPS, size=SIZE)
                self._tidy()
            except OSError as e:
                raise Failure(f"{path}: the film cannot be written ({e.strerror or e}); free some space") from e
            return path

    def _unless_ending(self, shown: Iterator[tuple[Image, int]]) -> Iterator[tuple[Image, int]]:
        for picture, count in shown:
            if self._ending.is_set():
                raise Failure("the program ends; it can be made from the book")
            yield picture, count

    def _made(self, game: int) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)  # on Linux per thread
        try:
            self.make(game)
        except Failure as e:
            _log.warning("no time-lapse of game %d: %s", game, e)
        except Exception:  # a background task must not affect anything else
            _log.exception("no time-lapse of game %d", game)
        finally:
            self._making.pop(game, None)

    def _tidy(self) -> None:
        """Keep only the newest, and nothing that was left unfinished when the program was killed."""
        for unfinished in self._folder.glob(f".*{SUFFIX}"):
            unfinished.unlink(missing_ok=True)
        there = sorted(self._folder.glob(f"[0-9]*{SUFFIX}"), key=lambda p: p.stat().st_mtime)
        for old in there[:-KEPT]:
            old.unlink(missing_ok=True)


class AtTheEnd:
    """Makes the film of every watched game when it ends or is replaced by another one. A context manager."""

    def __init__(self, films: Films, store: Store, session: LiveSession) -> None:
        self._films, self._store = films, store
        self._views = session.subscribe()
        self._thread = threading.Thread(target=self._run, name="films", daemon=True)

    def __enter__(self) -> AtTheEnd:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._views.close()
        self._thread.join(CLOSING_S)
        self._films.close()

    def _run(self) -> None:
        last, over = 0, True  # ignore games that were over before
        while not self._views.closed:
            view = self._views.get(60.0)
            if view is None:
                continue
            left = last > 0 and view["game"] != last
            if left and not self._films.file(last) or not left and view["phase"] == "over" and not over:
                self._wanted(last)
            last, over = view["game"], view["phase"] == "over"

    def _wanted(self, game: int) -> None:
        with suppress(Failure):
            if self._store.pictures.stills(game):
                self._films.begin(game)


def pictures(game: StoredGame, store: Store) -> Iterator[tuple[Image, int]]:
    """The pictures of a film with how many frames each is shown. Raises Failure for a game without a turn."""
    turns = [t for t in played(game.setup, game.entries) if t.at]
    if not turns:
        raise Failure(f"no tile was laid in game {game.id}: there is nothing to show")
    kept = store.pictures.stills(game.id)
    seen = [t for t in turns if not kept.isdisjoint(t.seqs)]
    shown = _spread(seen or turns, round((LENGTH_S - LAST_S) * FPS))
    end = state_of(game.setup, game.entries)
    scores = {f["turn"]: f["scores"] for f in frames(game.setup, game.entries)}
    each = max(1, round(min(LONGEST_EACH_S, (LENGTH_S - LAST_S) / len(shown)) * FPS))
    drawn = None if seen else _Drawn(end)
    for n, turn in enumerate(shown):
        picture = drawn.up_to(turn.turn) if drawn else _photo(store, game.id, turn)
        if picture is not None:
            last = n == len(shown) - 1
            points = end.scores if last and end.over else scores.get(turn.turn, [0] * len(end.scores))
            yield _with_scores(picture, end, points), round(LAST_S * FPS) if last else each


def _spread(turns: Sequence[PlayedTurn], most: int) -> list[PlayedTurn]:
    """At most ``most`` of them, evenly spaced, including the last one."""
    step = max(1.0, len(turns) / most)
    return [turns[len(turns) - 1 - int(n * step)] for n in range(min(len(turns), most))][::-1]


def _photo(store: Store, game: int, turn: PlayedTurn) -> Image | None:
    kept = store.pictures.stills(game).intersection(turn.seqs)
    found = store.pictures.still(game, max(kept)) if kept else None
    return decoded(found[0], f"turn {turn.turn + 1}") if found else None


class _Drawn:
    """The board in drawn tiles as it grew: drawn once, with squares masked that were still empty."""

    def __init__(self, end: GameState) -> None:
        self._end = end
        squares = list(end.tiles)
        self._left, self._top = min(x for x, _ in squares), min(y for _, y in squares)
        across = max(max(v) - min(v) + 2 for v in zip(*squares, strict=True))
        self._px = max(16, min(TILE_PX, (SIZE[1] - BAR_PX) // across))
        self._board = draw_board({at: (end.box.tile(p.tile), p.rot) for at, p in end.tiles.items()}, (),
                                 tile_px=self._px)
        rows = (max(y for _, y in squares) - self._top + 1) * self._px
        self._edge = (self._board.shape[0] - rows) // 2

    def up_to(self, turn: int) -> Image:
        out = self._board.copy()
        for at, placed in self._end.tiles.items():
            if placed.turn is not None and placed.turn > turn:
                out[self._part(at)] = CLOTH_BGR
        return out

    def _part(self, at: Square) -> tuple[slice, slice]:
        row, column = ((v - low) * self._px + self._edge for v, low in ((at[1], self._top), (at[0], self._left)))
        return slice(row, row + self._px), slice(column, column + self._px)


def _with_scores(picture: Image, state: GameState, scores: Sequence[int]) -> Image:
    """The picture above a bar with every player's colour, name and points."""
    width, height = SIZE
    bar = Picture.new("RGB", (width, BAR_PX), _PAPER)
    draw, each = ImageDraw.Draw(bar), width // len(scores)
    written = font(26 if len(scores) <= 4 else 20)
    for n, player in enumerate(state.setup.players):
        b, g, r = colour_bgr(player.colour)
        left, number = n * each + 10, str(scores[n])
        draw.rectangle((left, 18, left + 26, 46), fill=(r, g, b), outline=_INK)
        room = each - 66 - draw.textlength(number, written)
        draw.text((left + 34, BAR_PX // 2), _cut(player.name, room, draw, written), _INK, written, anchor="lm")
        draw.text((left + each - 20, BAR_PX // 2), number, _INK, written, anchor="rm")
    return np.vstack([fitted(picture, (width, height - BAR_PX), CLOTH_BGR), np.asarray(bar)[..., ::-1]])


def _cut(name: str, room: float, draw: ImageDraw.ImageDraw, written: object) -> str:
    """A name truncated to the available width."""
    if draw.textlength(name, written) <= room:  # type: ignore[arg-type]
        return name
    while name and draw.textlength(f"{name}…", written) > room:  # type: ignore[arg-type]
        name = name[:-1]
    return f"{name}…" if name else ""
