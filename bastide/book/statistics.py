"""Statistics over all games: players with games, wins, averages, streaks and ratings; pairwise results; records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypedDict

from openskill.models import PlackettLuce, PlackettLuceRating

from bastide.book.people import Said
from bastide.book.summary import Row, Seat

RECORDS = ("score", "margin", "turn", "road", "city", "farm")
START = 1500.0  # rating without games
STEP = 200.0  # rating points per initial standard deviation of OpenSkill
SURE = 3.0  # standard deviations below the mean: the shown rating is a lower bound


class PersonRow(TypedDict):
    """A person with all names used: solo games count for ``games``, ``best`` and ``average`` only; ``ranked`` are the
    others, ``shared`` the shared wins among ``wins``. No ``rating`` before the first ranked game."""

    key: str
    name: str
    names: list[str]
    games: int
    ranked: int
    best: int
    wins: int
    shared: int
    streak: int
    longest: int
    last_s: float
    average: float
    rating: int | None


class PairRow(TypedDict):
    """Two people who have played together: how often each was ahead, and how often neither."""

    players: list[str]
    games: int
    ahead: list[int]
    level: int


class RecordRow(TypedDict):
    """A record of the house, with the game and the keys and names of those who hold it."""

    record: str
    n: int
    turn: int
    game: int
    created_s: float
    expansions: list[str]
    players: list[str]
    names: list[str]


class Together(TypedDict):
    """The statistics: players by rating, best first; ``removed`` are the keys of people not shown."""

    players: list[PersonRow]
    pairs: list[PairRow]
    records: list[RecordRow]
    removed: list[str]


class Statistics(Together):
    """The same, and of how many ``games``."""

    games: int


@dataclass(slots=True)
class _Person:
    """A row during accumulation."""

    key: str
    name: str = ""
    names: dict[str, None] = field(default_factory=dict)  # in order of appearance
    games: int = 0
    ranked: int = 0
    points: int = 0
    best: int = 0
    wins: int = 0
    shared: int = 0
    streak: int = 0
    longest: int = 0
    last_s: float = 0.0


def statistics(rows: Iterable[Row], said: Said) -> Statistics:
    """Compute from the finished games that count, in any order. A solo game counts for averages and records, not for
    wins, streaks and ratings."""
    games = sorted((r for r in rows if r["over"] and r["game"] not in said.uncounted),
                   key=lambda r: (r["created_s"], r["game"]))
    people: dict[str, _Person] = {}
    pairs: dict[tuple[str, str], list[int]] = {}
    model = PlackettLuce()
    ratings: dict[str, PlackettLuceRating] = {}
    for game in games:
        seats = seated(game, said)
        for key, p in seats.items():
            person = people.setdefault(key, _Person(key))
            person.names[p["name"]] = None
            person.name = p["name"]  # the newest spelling
            person.games += 1
            person.points += p["score"]
            person.best = max(person.best, p["score"]) if person.games > 1 else p["score"]
            person.last_s = game["created_s"]
        if len(seats) > 1:
            _ranked(seats, people, pairs)
            teams = [[ratings.get(key) or model.rating(name=key)] for key in seats]
            for key, (now,) in zip(seats, model.rate(teams, ranks=[p["rank"] for p in seats.values()]), strict=True):
                ratings[key] = now
    shown = [_shown(p, ratings.get(key), model.sigma) for key, p in people.items() if key not in said.removed]
    return {
        "players": sorted(shown, key=lambda p: (-(p["rating"] or 0), -p["wins"], -p["games"], p["key"])),
        "pairs": [{"players": list(both), "games": sum(n), "ahead": n[:2], "level": n[2]}
                  for both, n in sorted(pairs.items()) if not said.removed.intersection(both)],
        "records": records(games, said),
        "removed": sorted(key for key in said.removed if key in people), "games": len(games),
    }


def seated(game: Row, said: Said) -> dict[str, Seat]:
    """The people of a game in turn order, each once: duplicates count with the first seat."""
    out: dict[str, Seat] = {}
    for p in game["players"]:
        out.setdefault(said.person(p["name"]), p)
    return out


def records(games: Sequence[Row], said: Said) -> list[RecordRow]:
    """The records of the house. In a tie the earlier one holds it."""
    out: list[RecordRow] = []
    for record in RECORDS:
        held = [(g, g["best"][record]) for g in games if record in g["best"]]
        held = [(g, b) for g, b in held if not {said.person(g["players"][n]["name"]) for n in b["players"]} &
                said.removed]
        if held:
            game, best = max(held, key=lambda h: h[1]["n"])
            out.append({"record": record, "n": best["n"], "turn": best["turn"], "game": game["game"],
                        "created_s": game["created_s"], "expansions": game["expansions"],
                        "players": [said.person(game["players"][n]["name"]) for n in best["players"]],
                        "names": [game["players"][n]["name"] for n in best["players"]]})
    return out


def _ranked(seats: dict[str, Seat], people: dict[str, _Person], pairs: dict[tuple[str, str], list[int]]) -> None:
    first = [key for key, p in seats.items() if p["rank"] == min(q["rank"] for q in seats.values())]
    for key in seats:
        person = people[key]
        person.ranked += 1
        won = key in first
        person.wins += won
        person.shared += won and len(first) > 1
        person.streak = person.streak + 1 if won else 0
        person.longest = max(person.longest, person.streak)
    for one, other in combinations(sorted(seats), 2):
        ahead = pairs.setdefault((one, other), [0, 0, 0])
        a, b = seats[one]["rank"], seats[other]["rank"]
        ahead[0 if a < b else 1 if b < a else 2] += 1


def _shown(p: _Person, rating: PlackettLuceRating | None, sigma: float) -> PersonRow:
    return {"key": p.key, "name": p.name, "names": list(p.names), "games": p.games, "ranked": p.ranked, "best": p.best,
            "wins": p.wins, "shared": p.shared, "streak": p.streak, "longest": p.longest, "last_s": p.last_s,
            "average": round(p.points / p.games, 1),
            "rating": None if rating is None else round(rating.ordinal(z=SURE, alpha=STEP / sigma, target=START))}
