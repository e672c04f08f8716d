"""The tournament run by the hub: assigns games to tables and collects results.

Commands are derived from each table's state: one that was away, or lost a command, gets it again with its next state.
So there is no record of what was sent.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, cast

from bastide.club.documents import Command, State
from bastide.club.message import VERSION, slug
from bastide.club.results import Results
from bastide.club.tournament import (
    BadRounds,
    Game,
    read_rounds,
    rounds_csv,
    rounds_json,
    standings,
    standings_csv,
    standings_json,
)
from scoring.errors import InvalidNotation
from scoring.expansions import boxes
from scoring.rules import DEFAULT_EDITION, edition
from web.club_states import PlayState, ResultRow, ResultsFile, RoundRow, TournamentState
from web.protocol import CommandError

COLOURS = ("red", "blue", "yellow", "green", "black", "pink")
CLOCK_S = 15 * 60.0
AGAIN_S = 8.0  # a command that a table has not carried out is repeated after so long
_KEPT = "tournament"


class Organiser:
    """One tournament at a time. ``send(table, command)`` sends to a table's slug. Thread-safe."""

    def __init__(self, results: Results, send: Callable[[str, Command], None],
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._results, self._send, self._clock = results, send, clock
        self._lock = threading.RLock()
        self._sent: dict[tuple[str, str], float] = {}
        self._said: dict[str, State] = {}  # the newest state of each table
        kept = _Kept() if (known := results.kept(_KEPT)) is None else cast(_Kept, known)  # written by `_keep`
        self._event: str = kept.get("event", "")
        self._games: tuple[Game, ...] = tuple(_game(g) for g in kept.get("games", ()))
        self._state: dict[int, str] = {int(n): s for n, s in kept.get("rounds", {}).items()}  # open, ended
        self._play: PlayState = kept.get("play", {})

    # -- the organiser's commands -----------------------------------------------------------------------------------

    def load(self, text: object, play: Mapping[str, object]) -> None:
        """Load rounds from a pairing program. Games already played keep their results if players and table are the
        same. Raises CommandError."""
        try:
            games = read_rounds(str(text))
        except BadRounds as e:
            raise CommandError("bad_rounds", str(e)) from e
        wanted = _play(play)
        with self._lock:
            known = {(g.round, slug(g.table), g.players): g for g in self._games}
            self._games = tuple(self._merged(g, known) for g in games)
            numbers = {g.round for g in games}
            self._state = {n: s for n, s in self._state.items() if n in numbers}
            self._play = wanted
            self._event = self._event or secrets.token_hex(4)
            self._keep()

    @staticmethod
    def _merged(game: Game, known: Mapping[tuple[int, str, tuple[str, ...]], Game]) -> Game:
        before = known.get((game.round, slug(game.table), game.players))
        if before is None or game.scores is not None:
            return game
        return replace(game, scores=before.scores, confirmed=before.confirmed)

    def do(self, what: object, number: object) -> None:
        """``begin`` or ``end`` a round, or ``forget`` the tournament. Raises CommandError."""
        with self._lock:
            if what == "forget":
                self._games, self._state, self._event = (), {}, ""
                self._keep()
                return
            if type(number) is not int or number not in {g.round for g in self._games}:
                raise CommandError("unknown_round", "there is no such round")
            if what not in ("begin", "end"):
                raise CommandError("malformed", "do: must be one of begin, end, forget")
            if what == "begin":
                for n in self._state:
                    self._state[n] = "ended"
            self._state[number] = "open" if what == "begin" else "ended"
            self._sent.clear()
            self._keep()
            for name, said in list(self._said.items()):
                self._tell(name, said)

    def _keep(self) -> None:
        self._results.keep(_KEPT, {"event": self._event, "games": rounds_json(self._games), "rounds": self._state,
                                   "play": self._play})

    # -- the tables' states -----------------------------------------------------------------------------------------

    def heard(self, state: State) -> bool:
        """Process a table's newest state; returns whether results have changed."""
        name = slug(state["table"])
        with self._lock:
            before = self._tables_now()
            self._said[name] = state
            changed = self._noted(name, state) or before != self._tables_now()
            if changed:
                self._keep()
            self._tell(name, state)
        return changed

    def _tables_now(self) -> list[str]:
        return [self._table(g) for g in self._games if self._state.get(g.round) == "open"]

    def _table(self, game: Game) -> str:
        """The status of a game's table in an open round: playing, or why not: no state received yet (``unheard``),
        started without ``--mqtt-commands`` (``deaf``), or another game is being played (``busy``)."""
        said = [s for name, s in self._said.items() if _meant(game.table, name)]
        if game.bye or game.scores is not None:
            return "done"
        if not said:
            return "unheard"
        if any(s["round"]["id"] == self._id(game) for s in said if "round" in s):
            return "playing"
        return "busy" if any(s["commands"] for s in said) else "deaf"

    def _id(self, game: Game) -> str:
        return f"{self._event}-{game.round}-{slug(game.table)}"

    def _noted(self, name: str, state: State) -> bool:
        round_ = state.get("round")
        if not round_ or not self._event:
            return False
        for n, game in enumerate(self._games):
            if self._id(game) != round_["id"] or not _meant(game.table, name) \
                    or [p["name"] for p in state["players"]] != list(game.players):
                continue
            over = state["phase"] == "over"
            now = replace(game, scores=tuple(p["score"] for p in state["players"]) if over else None,
                          confirmed=over and bool(round_["confirmed"]) and all(round_["confirmed"]))
            if now != game:
                self._games = (*self._games[:n], now, *self._games[n + 1:])
                return True
        return False

    def _tell(self, name: str, state: State) -> None:
        """Send this table the command that it has not carried out yet."""
        if not state["commands"] or not self._event:
            return
        round_ = state.get("round")
        wanted = next((g for g in self._games if _meant(g.table, name) and not g.bye
                       and self._state.get(g.round) == "open"), None)
        if wanted is not None and wanted.scores is None and (round_ is None or round_["id"] != self._id(wanted)):
            self._order(name, self._id(wanted), {
                "v": VERSION, "do": "begin_round", "round": {
                    "id": self._id(wanted), "number": wanted.round, **self._play,
                    "players": [{"name": p, "colour": c} for p, c in zip(wanted.players, COLOURS, strict=False)]}})
        elif wanted is None and round_ is not None and round_["locked"] and round_["id"].startswith(f"{self._event}-"):
            self._order(name, round_["id"], {"v": VERSION, "do": "end_round", "id": round_["id"]})

    def _order(self, name: str, id_: str, order: Command) -> None:
        key, now = (name, f"{order['do']} {id_}"), self._clock()
        if now - self._sent.get(key, float("-inf")) >= AGAIN_S:
            self._sent[key] = now
            self._send(name, order)

    # -- output -----------------------------------------------------------------------------------------------------

    def told(self) -> TournamentState:
        """Rounds with their games and status (``at`` in an open round: `_table`), and the standings."""
        with self._lock:
            games, states = self._games, dict(self._state)
            at = {(g.round, g.players): self._table(g) for g in games if states.get(g.round) == "open"}
        rounds: list[RoundRow] = []
        for number in sorted({g.round for g in games}):
            rows: list[ResultRow] = [{**row, "at": at.get((game.round, game.players))}
                    for game, row in zip(games, rounds_json(games), strict=True) if game.round == number]
            rounds.append({"number": number, "state": states.get(number, "waiting"), "games": rows})
        return {"rounds": rounds, "standings": standings_json(standings(games)), "play": self._play}

    def export(self, form: str) -> str | ResultsFile:
        """``rounds.csv``, ``rounds.json`` or ``standings.csv``."""
        with self._lock:
            games = self._games
        match form:
            case "rounds.csv":
                return rounds_csv(games)
            case "standings.csv":
                return standings_csv(standings(games))
            case _:
                return {"rounds": rounds_json(games), "standings": standings_json(standings(games))}


def _meant(table: str, name: str) -> bool:
    """Whether a table in the rounds matches this slug; pairing programs only number them."""
    if table.isascii() and table.isdigit():
        return re.fullmatch(rf"(?:.*\D)?0*{int(table)}", name) is not None
    return slug(table) == name


class _Kept(TypedDict, total=False):
    """A stored tournament."""

    event: str
    games: Sequence[ResultRow]
    rounds: Mapping[str, str]
    play: PlayState


def _game(row: ResultRow) -> Game:
    scores = row["scores"]
    return Game(round=row["round"], table=row["table"], players=tuple(row["players"]),
                scores=None if scores is None else tuple(scores), confirmed=row["confirmed"])


def _play(said: Mapping[str, object]) -> PlayState:
    """Edition, boxes and time of all games. Raises CommandError."""
    clock = said.get("clock_s", CLOCK_S)
    if isinstance(clock, bool) or not isinstance(clock, int | float) or not 0 <= clock <= 36000:
        raise CommandError("malformed", "clock_s: must be seconds from 0 (no clock) to 36000")
    names = said.get("expansions", [])
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise CommandError("malformed", "expansions: must be a list of names")
    try:
        rules = edition(str(said.get("edition") or DEFAULT_EDITION))
        boxes(names, rules.expansions)
    except InvalidNotation as e:
        raise CommandError("malformed", str(e)) from e
    return {"edition": rules.edition, "expansions": names, "clock_s": clock}
