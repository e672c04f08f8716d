"""Trials of the log over a faulty disk, for the tests (small) and benchmarks/power_pull.py (large)."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faulty_disk import OK, Act, Disk, Said, Sync, Write, after_power_cut, faulty

from bastide.errors import Failure
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.log import Unread


@dataclass(slots=True)
class Images:
    honest: Counter[str] = field(default_factory=Counter)
    lying: Counter[str] = field(default_factory=Counter)


def recorded(folder: Path, seed: int) -> tuple[list[Act], tuple[object, ...]]:
    """A game with pictures written through a disk that records everything, with the acknowledgements."""
    game = demo_game(seed, turns=25)
    with faulty(Disk()) as disk, Store(folder / "log.sqlite") as store:
        journal = folder / "log.journal"  # it was renamed into place, whole
        disk.acts += [Write(journal.name, 0, journal.read_bytes()), Sync(journal.name)]
        disk.say(0)
        session = TableSession(store, game.setup)
        for n, event in enumerate(game.events):
            session.commit((event,), confidence=1.0, asked=False, crop=bytes(6000))
            disk.say(n + 1)
        if seed % 2:  # half the trials end with the log folded into the file, half without
            disk.acts.append(Said(len(game.events)))
            store.__exit__()
            disk.say(len(game.events))
    return disk.acts, game.events


def crash_images(folder: Path, *, images: int, seed: int, lies: bool = False) -> Images:
    """Cut the power at random moments of a game, open the possible remains, and compare with the acknowledgements."""
    rng = random.Random(seed)
    out = Images()
    acts, events = recorded(folder / "recorded", seed)
    first = next(n for n, a in enumerate(acts) if isinstance(a, Said))
    for n in range(images):
        end = rng.randrange(first, len(acts))
        said = max(a.what for a in acts[:end + 1] if isinstance(a, Said))
        where = folder / f"image{n}"
        where.mkdir()
        for name, data in after_power_cut(acts[:end + 1], rng, lies=lies).items():
            (where / name).write_bytes(data)
        with Store(where / "log.sqlite") as store:
            found = store.newest()
            bodies = tuple(e.body for e in found.entries) if found else ()
            aside = store.notice is not None and "the log is whole" not in store.notice
        shutil.rmtree(where)
        kept = [b for b in bodies if not isinstance(b, Unread)]
        if kept != [e for b, e in zip(bodies, events, strict=False) if not isinstance(b, Unread)]:
            what = "WRONG"
        elif len(kept) < len(bodies) and not aside:
            what = "SILENT"
        elif aside:
            what = "set aside, all of it recovered" if len(kept) >= said else "set aside, the rest recovered"
        else:
            what = "whole" if len(bodies) >= said else "the end is lost"
        (out.lying if lies else out.honest)[what] += 1
    return out


def disk_that_fails(folder: Path, code: int, *, seed: int, spells: int = 12) -> dict[str, int]:
    """A game during which the disk fails temporarily several times, with a power cut at the end.

    A refused move is tried again, as the table's loop does. Counts what was acknowledged and what of it is missing or
    doubled on the disk afterwards.
    """
    rng = random.Random(seed)
    game = demo_game(seed, turns=40)
    spell = 0  # writes and syncs that are still refused

    def fault(act: Act) -> int:
        nonlocal spell
        if spell > 0 and isinstance(act, Write | Sync) and "pictures" not in act.file:
            spell -= 1
            return code
        return OK

    begins = sorted(rng.sample(range(1, len(game.events)), spells))
    refused = 0
    with faulty(Disk(fault=fault, record=False)), Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for n, event in enumerate(game.events):
            spell = rng.randint(1, 6) if n in begins else 0
            while True:
                before = session.view()
                try:
                    session.commit((event,), confidence=1.0, asked=False)
                    break
                except Failure:
                    refused += 1
                    assert session.view() is before, "what is not on disk is not shown"
        (folder / "after").mkdir()
        for name in ("log.sqlite", "log.sqlite-wal", "log.journal"):
            shutil.copy(folder / name, folder / "after" / name)
    with Store(folder / "after" / "log.sqlite") as store:
        found = store.newest()
        bodies = [e.body for e in found.entries] if found else []
    return {"acknowledged": len(game.events), "refused": refused,
            "missing": sum(b not in bodies for b in game.events), "doubled": len(bodies) - len(game.events)}
