"""Rounds from a pairing program, results for it, and standings by the World Championship's rules. Pure functions.

Rounds are CSV with a header: ``round, table, player1, player2`` and, for a played game, ``score1, score2``; more
players may follow. A row without a second player is a bye. The separator may be a comma, semicolon or tab.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from web.club_states import ResultRow, StandingRow

MOST_ROWS = 2000
LONGEST_NAME = 40
SEATS = 6
Cell = str | int  # of the CSV
_SEPARATORS = ",;\t"


class BadRounds(Exception):
    """Invalid rounds. The message is one sentence that names the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """One game of a round: the seats in turn order, and the result (None: none yet)."""

    round: int
    table: str
    players: tuple[str, ...]
    scores: tuple[int, ...] | None = None
    confirmed: bool = False  # by all its players, or given with the rounds

    @property
    def bye(self) -> bool:
        return len(self.players) == 1

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats with the most points; empty without a result."""
        if self.bye:
            return (0,)
        return () if self.scores is None else tuple(
            n for n, s in enumerate(self.scores) if s == max(self.scores))


class Standing(NamedTuple):
    """A line of the standings. A win counts 1, a shared one 1/2, a bye 1."""

    rank: int
    name: str
    played: int
    wins: float
    buchholz: float
    difference: int
    points: int


def read_rounds(text: str) -> tuple[Game, ...]:
    """The games in a CSV of rounds. Raises BadRounds."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or not lines[0].strip():
        raise BadRounds("the table is empty; its first line must be: round,table,player1,player2")
    separator = max(_SEPARATORS, key=lines[0].count)
    rows = csv.reader(lines, delimiter=separator)
    columns = _columns(next(rows))
    games: list[Game] = []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(games) >= MOST_ROWS:
            raise BadRounds(f"there are more than {MOST_ROWS} games")
        games.append(_game(row, columns, rows.line_num))
    _check(games)
    return tuple(games)


def _columns(header: Sequence[str]) -> dict[str, int]:
    found = {re.sub(r"[\s_]+", "", name).lower(): n for n, name in enumerate(header)}
    missing = [name for name in ("round", "table", "player1", "player2") if name not in found]
    if missing:
        raise BadRounds(f"line 1: the column {missing[0]} is missing; the first line must be: "
                        "round,table,player1,player2")
    return found


def _game(row: Sequence[str], columns: dict[str, int], line: int) -> Game:
    def cell(name: str) -> str:
        n = columns.get(name, len(row))
        return " ".join(row[n].split()) if n < len(row) else ""

    round_, table = cell("round"), cell("table")
    if not re.fullmatch(r"[1-9]\d{0,2}", round_):
        raise BadRounds(f"line {line}: round must be a number from 1")
    players = tuple(p for n in range(1, SEATS + 1) if (p := cell(f"player{n}")))
    if not players or not cell("player1"):
        raise BadRounds(f"line {line}: player1 is missing")
    for name in (*players, table):
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise BadRounds(f"line {line}: a name must be text of up to {LONGEST_NAME} letters")
    if not table and len(players) > 1:
        raise BadRounds(f"line {line}: table is missing")
    if len(set(players)) < len(players):
        raise BadRounds(f"line {line}: {players[0]} sits there twice")
    told = [cell(f"score{n}") for n in range(1, len(players) + 1)]
    if len(players) == 1 or not any(told):
        return Game(round=int(round_), table=table, players=players, confirmed=len(players) == 1)
    if not all(re.fullmatch(r"-?\d{1,4}", s) for s in told):
        raise BadRounds(f"line {line}: the scores must be whole numbers, one for each player")
    return Game(round=int(round_), table=table, players=players, scores=tuple(map(int, told)), confirmed=True)


def _check(games: Sequence[Game]) -> None:
    if not games:
        raise BadRounds("there is no game in it, only the first line")
    seated: set[tuple[int, str]] = set()
    taken: set[tuple[int, str]] = set()
    for game in games:
        for name in game.players:
            if (game.round, name) in seated:
                raise BadRounds(f"round {game.round}: {name} plays twice")
            seated.add((game.round, name))
        if not game.bye:
            if (game.round, game.table) in taken:
                raise BadRounds(f"round {game.round}: {game.table} has two games")
            taken.add((game.round, game.table))


@dataclass(slots=True)
class _Tally:
    played: int = 0
    wins: float = 0.0
    difference: int = 0
    points: int = 0
    opponents: list[str] = field(default_factory=list)


def standings(games: Iterable[Game]) -> tuple[Standing, ...]:
    """The ranking: by wins, then Buchholz (the wins of all opponents but the weakest), then point difference. Ties in
    all three share a rank. Games without a result do not count."""
    tallies: dict[str, _Tally] = {}
    for game in games:
        mine = [tallies.setdefault(name, _Tally()) for name in game.players]
        best = game.winners
        if not best:
            continue
        for n, tally in enumerate(mine):
            tally.played += 1
            tally.wins += 1 / len(best) if n in best else 0.0
            tally.opponents += [p for p in game.players if p != game.players[n]]
            if game.scores is not None:
                tally.points += game.scores[n]
                others = [s for k, s in enumerate(game.scores) if k != n]
                tally.difference += game.scores[n] - max(others)
    rows = [(name, t, buchholz(tallies[o].wins for o in t.opponents)) for name, t in tallies.items()]
    rows.sort(key=lambda r: (-r[1].wins, -r[2], -r[1].difference, r[0]))
    out: list[Standing] = []
    for n, (name, t, strength) in enumerate(rows):
        same = bool(out) and (out[-1].wins, out[-1].buchholz, out[-1].difference) == (t.wins, strength, t.difference)
        out.append(Standing(out[-1].rank if same else n + 1, name, t.played, t.wins, strength, t.difference, t.points))
    return tuple(out)


def buchholz(wins: Iterable[float]) -> float:
    """The sum of the opponents' wins without the weakest opponent's."""
    found = sorted(wins)
    return float(sum(found[1:]))


def rounds_csv(games: Iterable[Game]) -> str:
    """Results as CSV that `read_rounds` and pairing programs read."""
    rows = list(games)
    seats = max([2, *(len(g.players) for g in rows)])
    header = ["round", "table", *(f"player{n + 1}" for n in range(seats)), *(f"score{n + 1}" for n in range(seats)),
              "winner", "confirmed"]
    return _csv(header, ([g.round, g.table, *_filled(g.players, seats), *_filled(g.scores or (), seats),
                          " / ".join(g.players[n] for n in g.winners), "yes" if g.confirmed else "no"] for g in rows))


def rounds_json(games: Iterable[Game]) -> list[ResultRow]:
    """The same as JSON."""
    return [{"round": g.round, "table": g.table, "players": list(g.players),
             "scores": None if g.scores is None else list(g.scores), "winners": list(g.winners),
             "confirmed": g.confirmed, "bye": g.bye} for g in games]


def standings_csv(rows: Iterable[Standing]) -> str:
    """The standings as CSV."""
    return _csv(Standing._fields, ([r.rank, r.name, r.played, f"{r.wins:g}", f"{r.buchholz:g}", r.difference, r.points]
                                   for r in rows))


def standings_json(rows: Iterable[Standing]) -> list[StandingRow]:
    """The same as JSON."""
    return [{"rank": r.rank, "name": r.name, "played": r.played, "wins": r.wins, "buchholz": r.buchholz,
             "difference": r.difference, "points": r.points} for r in rows]


def _filled(values: Sequence[Cell], seats: int) -> list[Cell]:
    return [*values, *[""] * (seats - len(values))]


def _csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_cell(c) for c in row] for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> Cell:
    """Defuse CSV injection: a name that a spreadsheet would evaluate as a formula stays text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
