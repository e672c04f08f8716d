"""Corruption test of the log: acknowledged entries are intact or reported as missing, whatever happens to the disk.

    ./run bench damage                     2,000 damages
    ./run bench damage --damages 300 --seed 7

Each trial writes some games as the session does (moves, corrections, a new game, reopening an earlier one, an end), and
corrupts one file of the log, or two (in the share ``--both`` of trials): one or more bits, a truncation, a zeroed page,
two swapped pages, a header. It happens while the program goes on playing, after it was killed (the files as they are,
including the write-ahead log), or after a clean exit. Then the program is started on the remains, and the result is
compared with the acknowledged entries:

    whole       every game, every entry and the game on the table are there
    said        entries are missing; each has a placeholder in its place, and a message names the turn. If the end of
                both copies is corrupted, the number of lost entries is unknown, and the message says so
    SILENT      something is missing without a message
    WRONG       an entry was not acknowledged, or is out of place
    NO START    the program did not start
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from bastide.errors import Failure  # noqa: E402
from bastide.log.gaps import rows as gap_rows  # noqa: E402
from bastide.log.gaps import spoiled  # noqa: E402
from bastide.log.recovery import END  # noqa: E402
from bastide.log.store import Store  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from scoring.events import Event, Setup, TurnEnded  # noqa: E402
from scoring.log import Body, LogEntry, Retracted, Unread  # noqa: E402

FILES = ("log.sqlite", "log.sqlite-wal", "log.journal")
SHARES = (0.4, 0.35, 0.25)  # how often each is corrupted
KINDS = ("bit", "high bit", "bits", "cut", "zeroed page", "swapped pages", "header", "old page", "emptied", "gone")
WHEN = ("in play", "killed", "ended")
PAGE = 4096
MOST_AT_END = 60  # entries that may be lost with the end of both files, which is reported without a number


@dataclass(slots=True)
class Table:
    """The acknowledged state: every game's entries, and which game is on the table."""

    games: dict[int, list[LogEntry]] = field(default_factory=dict)
    table: int = 0


@lru_cache(maxsize=8)
def moves(seed: int) -> tuple[Setup, tuple[Event, ...]]:
    game = demo_game(seed, turns=40)
    return game.setup, game.events


@dataclass(slots=True)
class Result:
    outcomes: Counter[str] = field(default_factory=Counter)
    of: dict[str, Counter[str]] = field(default_factory=dict)
    unread: int = 0
    entries: int = 0
    said: int = 0
    why: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return sum(self.outcomes[o] for o in ("SILENT", "WRONG", "NO START"))


def play(store: Store, seen: Table, rng: random.Random, steps: int) -> None:
    """Write random moves and corrections; record what is acknowledged."""
    for _ in range(steps):
        dice = rng.random()
        setup, events = moves(rng.randrange(8))
        try:
            if dice < 0.05 or not seen.table:
                seen.table = store.new_game(setup)
                seen.games[seen.table] = []
                continue
            if dice < 0.09:
                game = rng.choice(sorted(seen.games))
                store.put_on_table(game)
                seen.table = game
                continue
            log = seen.games[seen.table]
            first = len(log) + 1
            bodies: list[Body] = [events[(first + n) % len(events)] for n in range(rng.choice((1, 1, 1, 2, 4)))]
            if dice < 0.16 and log:
                bodies = [Retracted(seq=len(log))]
            entries = [LogEntry(seq=first + n, body=body, at_s=1e9 + first) for n, body in enumerate(bodies)]
            store.append(seen.table, entries, over=dice > 0.98)
            log.extend(entries)
        except Failure:
            pass  # not acknowledged, and reported as such


def spoil(data: bytearray, kind: str, rng: random.Random, earlier: bytes) -> bytearray | None:
    """The bytes after a corruption of that kind; None if the file is deleted."""
    at = rng.randrange(max(1, len(data)))
    page = at // PAGE * PAGE
    match kind:
        case "bit" if data:
            data[at] ^= 1 << rng.randrange(8)
        case "high bit" if data:
            data[at] ^= 0x80
        case "bits":
            for _ in range(rng.randint(2, 60)):
                if data:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "cut":
            del data[at:]
        case "zeroed page":
            data[page:page + PAGE] = bytes(len(data[page:page + PAGE]))
        case "swapped pages":
            other = rng.randrange(max(1, len(data))) // PAGE * PAGE
            one, two = bytes(data[page:page + PAGE]), bytes(data[other:other + PAGE])
            if len(one) == len(two):
                data[page:page + PAGE], data[other:other + PAGE] = two, one
        case "header" if data:
            for _ in range(rng.randint(1, 3)):
                data[rng.randrange(min(100, len(data)))] = rng.randrange(256)
        case "old page":  # a write that the card has lost
            data[page:page + PAGE] = earlier[page:page + PAGE]
        case "emptied":
            data.clear()
        case "gone":
            return None
    return data


def trial(folder: Path, seed: int, both: float) -> tuple[str, str, str, Table, Store | None]:
    """One corruption: which, when, and the log after it."""
    rng = random.Random(seed)
    seen, when = Table(), WHEN[seed % 3]
    kinds = [rng.choice(KINDS)]
    names = rng.choices(FILES, SHARES)
    if rng.random() < both:
        names = rng.sample(FILES, 2)
        kinds = [rng.choice(KINDS[:8]) for _ in names]
    live = folder / "live"
    with Store(live / "log.sqlite") as store:
        play(store, seen, rng, rng.randint(5, 90))
        earlier = {name: (live / name).read_bytes() if (live / name).exists() else b"" for name in FILES}
        play(store, seen, rng, rng.randint(1, 40))
        if when == "in play":
            hurt(live, names, kinds, rng, earlier)
            play(store, seen, rng, rng.randint(1, 25))
        if when != "ended":
            (folder / "left").mkdir()
            for name in FILES:
                if (live / name).exists():
                    shutil.copy(live / name, folder / "left" / name)
    left = folder / ("left" if when != "ended" else "live")
    if when != "in play":
        hurt(left, names, kinds, rng, earlier)
    what = f"{'+'.join(f'{k} of {n}' for k, n in zip(kinds, names, strict=True))}"
    store = Store(left / "log.sqlite")
    try:
        store.__enter__()
    except Failure as e:
        return what, when, str(e), seen, None
    return what, when, store.notice or "", seen, store


def hurt(folder: Path, names: list[str], kinds: list[str], rng: random.Random, earlier: dict[str, bytes]) -> None:
    for name, kind in zip(names, kinds, strict=True):
        path = folder / name
        if not path.exists():
            continue
        data = spoil(bytearray(path.read_bytes()), kind, rng, earlier[name])
        if data is None:
            path.unlink()
            continue
        with open(path, "r+b") as f:  # in place, as on a card
            f.write(data)
            f.truncate()


def judge(what: str, when: str, told: str, seen: Table, store: Store | None, out: Result) -> str:
    """Compare the recovered log with the acknowledged state."""
    def found(outcome: str, why: str) -> str:
        if outcome in ("SILENT", "WRONG", "NO START"):
            out.why.append(f"{outcome}: {what}, {when}: {why}; {told}")
        return outcome

    if store is None:
        return found("NO START", "")
    try:
        table = store.on_table()
        there = {line.id: store.load(line.id) for line in store.games()}
        missing = 0
        for game, entries in seen.games.items():
            out.entries += len(entries)
            if game not in there:
                missing += max(1, len(entries))
                if END in told and game == max(seen.games) and len(entries) <= MOST_AT_END:
                    continue
                if f"game {game} could not be read" not in told and "nothing in it could be recovered" not in told:
                    return found("SILENT", f"game {game} is gone")
                continue
            now = there[game].entries
            for was, e in zip(entries, now, strict=False):
                if isinstance(e.body, Unread):
                    missing += 1
                elif e != was:
                    return found("WRONG", f"entry {e.seq} of game {game}")
            if len(now) < len(entries):
                missing += len(entries) - len(now)
                if END in told and len(entries) - len(now) <= MOST_AT_END:
                    continue
                return found("SILENT", f"game {game} has {len(now)} of {len(entries)} entries")
            if len(now) > len(entries) + (game == seen.table):  # one may be written but unacknowledged
                return found("WRONG", f"game {game} has {len(now)} entries of {len(entries)}")
            gaps = len(spoiled(now))  # retracted entries need no report
            counted = sum(int(n) for n, number in re.findall(r"(\d+) moves? of turn \d+ could not be read: please look"
                                                             r"(?: \(game (\d+)\))?", told)
                          if not number or int(number) == game)
            if gaps and counted != gaps:
                return found("SILENT", f"{gaps} gaps in game {game}, {counted} are said")
            if gaps and sum(row["parts"]["n"] for row in gap_rows(there[game].setup, now)) != gaps:
                return found("SILENT", "the page does not say it")
        if any(game not in seen.games for game in there):
            return found("WRONG", "a game that nobody began")
        elsewhere = seen.table in there and (table is None or table.id != seen.table)
        if elsewhere and END in told:
            missing += 1
        elif elsewhere:
            return found("WRONG", f"game {table and table.id} is on the table, it was {seen.table}")
        out.unread += missing
        number = table.id if table else store.new_game(moves(0)[0])
        log = table.entries if table else ()
        store.append(number, [LogEntry(seq=len(log) + 1, body=TurnEnded())])  # and it goes on
        return found("said" if missing else "whole", "")
    except Failure as e:
        return found("NO START", str(e))
    finally:
        store.__exit__()


def run(damages: int, seed: int, both: float, say: bool = False) -> Result:
    """Run ``damages`` trials; returns the result."""
    out = Result()
    for n in range(damages):
        with tempfile.TemporaryDirectory(prefix="bastide-damage-") as scratch:
            what, when, told, seen, store = trial(Path(scratch), seed + n, both)
            outcome = judge(what, when, told, seen, store, out)
        out.outcomes[outcome] += 1
        out.said += bool(told)
        kind, _, name = what.partition(" of ")
        rows = (when, "two files at once") if "+" in what else (when, kind, name)
        for row in rows:
            out.of.setdefault(row, Counter())[outcome] += 1
        if say and n % 200 == 199:
            print(n + 1, dict(out.outcomes), *out.why[-3:], sep="\n  ", flush=True)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--both", type=float, default=0.15, help="the share of trials that spoil two files")
    args = parser.parse_args()
    out = run(args.damages, args.seed, args.both, say=True)
    print(f"{args.damages} damages, {out.entries} acknowledged entries, {out.unread} of them unreadable and told; "
          f"{out.said} starts had something to tell")
    columns = ("whole", "said", "SILENT", "WRONG", "NO START")
    print(f"{'':24}" + "".join(f"{c:>10}" for c in columns))
    for row, counts in [("all", out.outcomes), *sorted(out.of.items())]:
        print(f"{row:24}" + "".join(f"{counts[c]:>10}" for c in columns))
    print(*out.why[:20], sep="\n")
    return out.bad > 0


if __name__ == "__main__":
    raise SystemExit(main())
