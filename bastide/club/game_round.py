"""A tournament's round at one table: which game it is, the chess clock, and who has confirmed the result.

It is on disk before it is acknowledged, so a restart continues it; a clock that was running then stays stopped until
somebody presses again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bastide.club.documents import Command, RoundOrder
from bastide.files.writing import write_whole
from web.protocol import CommandError
from web.reveal import untold
from web.views import RoundView, View

if TYPE_CHECKING:
    from bastide.table.session import TableSession

NAME = "round.json"
AID = "score"


class ChessClock:
    """The players' time in seconds, negative when exceeded. At most one clock runs; a press passes it to the next
    player."""

    def __init__(self, left_s: Sequence[float], clock: Callable[[], float] = time.monotonic) -> None:
        self._left, self._clock = list(left_s), clock
        self.running: int | None = None
        self._since = 0.0

    def left(self) -> list[float]:
        """What each player has left now."""
        found = list(self._left)
        if self.running is not None:
            found[self.running] -= self._clock() - self._since
        return [round(s, 1) for s in found]

    def press(self, first: int = 0) -> None:
        """End the turn of whose clock runs; when none does, ``first``'s begins."""
        next_ = first if self.running is None else (self.running + 1) % len(self._left)
        self.stop()
        self.running, self._since = next_ % len(self._left), self._clock()

    def stop(self) -> None:
        """Stop the clocks."""
        self._left, self.running = self.left(), None


class _Playing(TypedDict):
    """The current round: the number of its game at this table, and the scores confirmed by each player."""

    id: str
    number: int
    game: int
    locked: bool
    agreed: dict[int, list[int]]


class GameRound:
    """The round that is played at a table, if any. Thread-safe.

    The session passes commands to it (`takes`) and shows its state (`shown`).
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock, self._lock = folder / NAME, clock, threading.RLock()
        self._round: _Playing | None = None
        self._timer: ChessClock | None = None
        try:
            kept = json.loads(self._path.read_text("utf-8"))
            self._round = {"id": str(kept["id"]), "number": int(kept["number"]), "game": int(kept["game"]),
                           "locked": bool(kept["locked"]),
                           "agreed": {int(k): list(v) for k, v in kept["agreed"].items()}}
            if kept.get("left_s"):
                self._timer = ChessClock([float(s) for s in kept["left_s"]], clock)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._round = None  # no round here

    # -- the organiser's commands -----------------------------------------------------------------------------------

    def carry_out(self, session: TableSession, command: Command) -> None:
        """A command that came over the broker (schema ``command``). Raises CommandError."""
        view = session.view()
        busy = view["phase"] != "over" and view["turn"]["number"] > 1
        match command["do"]:
            case "next_game":
                if busy:
                    raise CommandError("game_runs", "a game is in progress; end it at the table first")
                players = [{"name": p["name"], "colour": p["colour"]} for p in view["players"]]
                session.command({"do": "new_game", "who": "broker", "setup": {
                    "players": players, "edition": view["edition"], "rules": view["rules"],
                    "expansions": view["expansions"], "aid": view["aid"], "art": view["art"]}})
            case "begin_round":
                with self._lock:
                    if self._round is not None and self._round["id"] == command["round"]["id"]:
                        return  # a repeated command
                if busy:
                    raise CommandError("game_runs", "a game is in progress; end it at the table first")
                self._begin(session, command["round"])
            case "end_round":
                with self._lock:
                    if self._round is None or self._round["id"] != command["id"] or not self._round["locked"]:
                        return
                    self._round["locked"] = False
                    if self._timer:
                        self._timer.stop()
                    self._keep()
                session.show_again()

    def _begin(self, session: TableSession, wanted: RoundOrder) -> None:
        # Not under our lock: the session holds its own while it asks us whether the command is allowed (deadlock).
        view = session.command({"do": "new_game", "who": "broker", "by": self, "setup": {
            "players": list(wanted["players"]), "edition": wanted.get("edition", session.view()["edition"]),
            "expansions": list(wanted.get("expansions", ())), "aid": AID}})
        seats, time_s = len(wanted["players"]), float(wanted.get("clock_s", 0))
        with self._lock:
            self._round = {"id": wanted["id"], "number": wanted["number"], "game": view["game"], "locked": True,
                           "agreed": {}}
            self._timer = ChessClock([time_s] * seats, self._clock) if time_s else None
            self._keep()
        session.show_again()

    # -- commands at the table --------------------------------------------------------------------------------------

    def takes(self, view: View, data: Mapping[str, object]) -> bool:
        """Whether this command belongs to the round, which then has carried it out. Raises CommandError, also for
        commands that the organiser has locked."""
        do = data.get("do")
        if data.get("by") is self:
            return False
        with self._lock:
            if self._round is None:
                if do in ("confirm", "clock"):
                    raise CommandError("no_round", "no round of a tournament is played here")
                return False
            if do in ("new_game", "open_game") and self._round["locked"]:
                raise CommandError("locked", "the tournament's round is not over; the organiser ends it")
            if do not in ("confirm", "clock"):
                return False
            if view["game"] != self._round["game"]:
                raise CommandError("no_round", "no round of a tournament is played here")
            if do == "confirm":
                self._confirm(view, data.get("player"))
            else:
                self._press(view, data.get("act"))
            self._keep()
            return True

    def _confirm(self, view: View, player: object) -> None:
        assert self._round is not None
        if view["phase"] != "over":
            raise CommandError("not_over", "the game is not over yet")
        if untold(view):  # a result that was not revealed cannot be confirmed
            raise CommandError("not_over", "the final scoring has not been shown yet; walk through it first")
        if type(player) is not int or not 0 <= player < len(view["players"]):
            raise CommandError("malformed", "player: must be the number of one")
        self._round["agreed"][player] = [p["score"] for p in view["players"]]

    def _press(self, view: View, act: object) -> None:
        if self._timer is None:
            raise CommandError("no_clock", "this round is played without a clock")
        if act not in ("press", "stop"):
            raise CommandError("malformed", "act: must be one of press, stop")
        if view["phase"] == "over" or act == "stop":
            self._timer.stop()
        else:
            self._timer.press(view["turn"]["player"])

    # -- state ------------------------------------------------------------------------------------------------------

    def shown(self, view: View) -> RoundView | None:
        """The round for screens: ``id``, ``number``, ``locked``, ``confirmed`` and the current ``clock``; None when
        another game is on the table. A confirmation is void when a correction has changed the scores."""
        with self._lock:
            if self._round is None or self._round["game"] != view["game"]:
                return None
            over, scores = view["phase"] == "over", [p["score"] for p in view["players"]]
            if over and self._timer and self._timer.running is not None:
                self._timer.stop()
            found: RoundView = {"id": self._round["id"], "number": self._round["number"],
                               "locked": self._round["locked"],
                               "confirmed": [over and self._round["agreed"].get(n) == scores
                                             for n in range(len(scores))]}
            if self._timer is not None:
                found["clock"] = {"left_s": self._timer.left(), "running": self._timer.running}
            return found

    def _keep(self) -> None:
        try:
            write_whole(self._path, json.dumps(
                {**(self._round or {}), "left_s": self._timer.left() if self._timer else None}).encode())
        except OSError as e:
            raise CommandError("not_saved", f"the round cannot be saved ({e.strerror}); free some space") from e
