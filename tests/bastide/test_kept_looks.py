"""The looks at the game on the table are stored: bounded, without names, and still there after a kill."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from bastide.backup.support import write_support
from bastide.log.kept_looks import FIRST, LIMITS, NEWEST, KeptLooks, kept_looks
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from reading.record import read_looks, read_watched
from scoring.events import Setup
from vision.looks import SquareLook, TableLook

MOST = 200_000  # bytes, of one game
SETUP = demo_game(1, turns=1).setup


def looks(count: int, seed: int = 1) -> list[TableLook]:
    """Looks at 40 squares that say something else each time, 3 seconds apart."""
    rng = random.Random(seed)
    return [TableLook(frame=n, t_s=3.0 * n, squares={(x, y): SquareLook(
        there=round(rng.uniform(-9, 9), 1), seen=1.0, rest=-12.0,
        tiles={("base:D", rot): round(rng.uniform(-4, 0), 1) for rot in range(4)}) for x in range(8) for y in range(5)})
        for n in range(count)]


def kept(data: Path, game: int = 1) -> dict[str, list[tuple[dict[str, object], list[TableLook]]]]:
    out = {}
    for name, text in kept_looks(data, game):
        path = data / "read.jsonl"
        path.write_bytes(text)
        out[name.partition("/")[2].partition(".")[0]] = read_watched(path)
    return out


def size(data: Path) -> int:
    return sum(p.stat().st_size for p in (data / "looks").iterdir())


def test_a_long_game_keeps_how_it_began_and_its_newest_looks(tmp_path: Path) -> None:
    seen, made, most = KeptLooks(tmp_path), looks(450), 0
    take = seen.begin(1, SETUP, lambda: 7)
    for look in made:
        take(look)
        most = max(most, size(tmp_path))
    assert LIMITS.first + LIMITS.piece < most <= LIMITS.first + 2 * LIMITS.piece < MOST
    seen.close()
    parts = kept(tmp_path)
    began = [look.frame for _, found in parts[FIRST] for look in found]
    last = [look.frame for name in parts if name != FIRST for _, found in parts[name] for look in found]
    assert began == list(range(len(began))) and last == list(range(last[0], len(made)))
    assert parts[NEWEST][0][0]["entries"] == 7


def test_a_program_that_is_killed_leaves_all_but_the_last_moment(tmp_path: Path) -> None:
    """A partly written block costs neither earlier nor later ones."""
    made = looks(60)
    take = KeptLooks(tmp_path).begin(1, SETUP, lambda: 0)
    for look in made:
        take(look)
    file = tmp_path / "looks" / f"1-{FIRST}.jsonl.gz"
    whole = file.read_bytes()
    there = sum(len(found) for _, found in kept(tmp_path)[FIRST])
    assert len(made) - 8 < there <= len(made)
    file.write_bytes(whole + whole[whole.rindex(whole[:8]):][:700])
    again = KeptLooks(tmp_path)
    take = again.begin(1, SETUP, lambda: 5)
    take(made[0])
    again.close()
    first, second = kept(tmp_path)[FIRST]
    assert len(first[1]) == there and len(second[1]) == 1 and second[0]["entries"] == 5


def test_another_game_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    seen = KeptLooks(tmp_path)
    (tmp_path / "looks" / "somebody's").mkdir(parents=True)
    for game in (1, 2):
        take = seen.begin(game, SETUP, lambda: 0)
        for look in looks(10):
            take(look)
    seen.close()
    assert kept(tmp_path, 1) == {} and len(kept(tmp_path, 2)[FIRST][0][1]) == 10


def test_many_starts_of_one_game_stay_as_small(tmp_path: Path) -> None:
    for _ in range(200):
        seen = KeptLooks(tmp_path)
        seen.begin(1, SETUP, lambda: 0)(looks(1)[0])
        seen.close()
    assert size(tmp_path) <= MOST


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_disk_that_refuses_costs_the_looks_only(tmp_path: Path, when: str,
                                                  caplog: pytest.LogCaptureFixture) -> None:
    seen, folder = KeptLooks(tmp_path), tmp_path / "looks"
    if when == "before":
        folder.write_text("in the way", "utf-8")
    take = seen.begin(1, SETUP, lambda: 0)
    if when == "after":
        (folder / f"1-{FIRST}.jsonl.gz").unlink()
        folder.rmdir()
        folder.write_text("in the way", "utf-8")
    made = looks(90)
    for look in made[:45]:
        take(look)
    assert len(caplog.records) == 1 and "kept" in caplog.text
    folder.unlink()
    for look in made[45:]:
        take(look)
    seen.close()
    assert len(caplog.records) == 1 and kept(tmp_path)[FIRST][0][1][-1].frame == 89  # it takes them again


def test_a_support_file_has_them_without_names(tmp_path: Path) -> None:
    data = tmp_path / "data"
    setup = Setup(players=demo_game(5).setup.players, rules=SETUP.rules, expansions=SETUP.expansions)
    names = {p.name for p in setup.players} - {p.colour.capitalize() for p in setup.players}
    assert names
    with Store(data / "log.sqlite") as store:
        TableSession(store, setup)
        session = TableSession(store, setup)  # the one that is played; not a move so far
        take = KeptLooks(data).begin(session.game, setup, lambda: len(session.entries))
        for look in looks(20):
            take(look)
        found = write_support(data, tmp_path / "s.zip", tmp_path / "none")
    assert f"looks/{FIRST}.jsonl" in found
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        text = archive.read(f"looks/{FIRST}.jsonl")
    (tmp_path / "looks.jsonl").write_bytes(text)
    about, read = read_looks(tmp_path / "looks.jsonl")
    assert about["game"] == session.game and len(read) > 10
    assert not [n for n in names if n.encode() in text]
