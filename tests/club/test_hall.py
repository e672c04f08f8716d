"""The tables' state on screens: complete and in order, whatever is published by whom and how often."""

from __future__ import annotations

import copy
import json
import random

import pytest

from bastide.club.hall import Hall, Limits, difference
from bastide.club.message import packed

BASE = {"v": 1, "table": "Table 4", "device": "0123456789ab", "epoch": 1, "rev": 1, "game": 1, "at": 0.0,
        "phase": "playing",
        "status": "watching", "aid": "coach", "edition": "zman2012", "expansions": ["base"],
        "turn": {"number": 1, "player": 0}, "players": [{"name": "Anna", "colour": "red", "score": 0, "figures": {}},
                                                        {"name": "Ben", "colour": "blue", "score": 0, "figures": {}}],
        "laid": 1, "last": [], "board": {"tiles": [[0, 0, "base.D", 0]], "figures": []}, "commands": False}


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """Applies updates like the page."""

    def __init__(self, hall):
        self.hall = hall
        self.tables: dict[str, dict] = {}
        self.seen: list[tuple[str, int, int]] = []
        self.seek()

    def seek(self):
        found = json.loads(self.hall.whole())
        self.number = found["number"]
        self.tables = {row["key"]: row["state"] for row in found["tables"]}
        self.extra = found

    def follow(self):
        ticks = self.hall.after(self.number, 0)
        if ticks is None:
            return self.seek()
        for _, text in ticks:
            told = json.loads(text)
            assert told["number"] == self.number + 1
            self.number = told["number"]
            for key in told.get("gone", ()):
                del self.tables[key]
            for row in told["tables"]:
                state = copy.deepcopy(row.get("state") or self.tables[row["key"]])
                state |= row.get("set", {})
                for name in row.get("drop", ()):
                    del state[name]
                if "set" in row and "board" in row["set"] and "tiles" not in row["set"]["board"]:
                    tiles = self.tables[row["key"]]["board"]["tiles"] + row.get("more", [])
                    state["board"] = {**row["set"]["board"], "tiles": tiles}
                self.tables[row["key"]] = state


def state(**more):
    return {**copy.deepcopy(BASE), **more}


def say(hall, document, retained=False, name="table-4"):
    hall.heard(f"bastide/{name}/state", packed(document), retained)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def hall(clock):
    return Hall(limits=Limits(kept=8, most_tables=5), clock=clock)


def without_time(document):
    return {k: v for k, v in document.items() if k != "at"}


def test_an_older_state_after_a_newer_one_is_never_shown(hall):
    screen = Screen(hall)
    for epoch, rev, shown in ((1, 5, 5), (1, 3, 5), (1, 6, 6), (2, 1, 1), (1, 9, 1), (2, 1, 1)):
        say(hall, state(epoch=epoch, rev=rev))
        hall.tick()
        screen.follow()
        assert screen.tables["table-4"]["rev"] == shown


def test_screens_that_follow_a_whole_game_have_what_the_table_says(hall):
    """Tiles are added, taken back and corrected in random ways; screens come at any time and are behind at times."""
    rng, screens, document = random.Random(5), [Screen(hall)], state()
    for rev in range(2, 200):
        tiles = document["board"]["tiles"]
        if rng.random() < 0.1 and len(tiles) > 2:
            tiles = tiles[:-2] if rng.random() < 0.5 else [*tiles[:1], [9, 9, "base.U", 1], *tiles[2:]]
        elif rng.random() < 0.7:
            tiles = [*tiles, [rev, 0, "base.U", rng.randrange(4)]]
        document = {**document, "rev": rev, "laid": len(tiles), "board": {"tiles": tiles, "figures": []},
                    "game": 1 + rev // 90, "players": [{**p, "score": rng.randrange(9)} for p in document["players"]]}
        document.pop("left", None)
        if rng.random() < 0.5:
            document["left"] = rev
        say(hall, document)
        if rng.random() < 0.8:
            hall.tick()
        if rng.random() < 0.1:
            screens.append(Screen(hall))
        for screen in screens:
            if rng.random() < 0.3:
                screen.follow()
    hall.tick()
    for screen in screens:
        screen.follow()
        assert without_time(screen.tables["table-4"]) == without_time(document)


def test_a_screen_that_was_away_for_long_takes_everything_anew(hall):
    screen = Screen(hall)
    for rev in range(2, 30):
        say(hall, state(rev=rev))
        hall.tick()
    assert hall.after(screen.number, 0) is None
    screen.follow()
    assert screen.tables["table-4"]["rev"] == 29
    other = Hall(limits=Limits(kept=8))  # the hub has begun again
    assert other.after(screen.number, 0) is None


def test_only_our_own_clock_says_how_long_ago_something_was(hall, clock):
    say(hall, state(at=5e9), retained=True)  # kept by the broker, from a table whose clock is wrong
    hall.tick()
    assert json.loads(hall.whole())["tables"][0]["heard_s"] is None
    say(hall, state(at=0.0))
    hall.tick()
    clock.now += 12
    assert json.loads(hall.whole())["tables"][0]["heard_s"] == 12


def test_availability_is_told_and_a_table_that_speaks_is_there(hall):
    def here():
        hall.tick()
        return json.loads(hall.whole())["tables"][0]["here"]

    hall.heard("bastide/table-4/availability", b"offline", True)
    say(hall, state(), retained=True)
    assert here() is False
    hall.heard("bastide/table-4/availability", b"online", False)
    assert here() is True
    hall.heard("bastide/table-4/availability", b"offline", False)
    assert here() is False
    hall.heard("bastide/table-4/availability", b"\xff" * 100, False)
    assert here() is False
    say(hall, state(rev=2))
    assert here() is True


def test_two_machines_with_one_name_are_two_tables_until_one_is_silent(hall, clock):
    other = state(device="ffffffffffff", epoch=1, rev=1)
    say(hall, state())
    say(hall, other)
    say(hall, state(rev=2))
    hall.tick()
    screen = Screen(hall)
    assert sorted(screen.tables) == ["table-4", "table-4.ffffff"]
    assert screen.tables["table-4"]["rev"] == 2
    clock.now += 60
    say(hall, {**other, "rev": 2})
    hall.tick()
    screen.follow()
    assert sorted(screen.tables) == ["table-4.ffffff"], "the machine was replaced"


@pytest.mark.parametrize("payload", [
    b"", b"{}", b"\x00\xff", b"x" * 10_000_000, packed(state(table="Table 6")),
    packed(state(turn={"number": 1, "player": 5})), packed({**state(), "html": "<b>"})],
                         ids=["empty", "object", "bytes", "10 MB", "another name", "no such player", "more fields"])
def test_garbage_changes_nothing(hall, payload):
    say(hall, state())
    hall.tick()
    before = json.loads(hall.whole())
    for topic in ("bastide/table-4/state", "bastide/table-5/state", "bastide/x/y/z", "bastide", "$SYS/x"):
        for retained in (True, False):
            hall.heard(topic, payload, retained)
    hall.tick()
    assert json.loads(hall.whole()) == before


def test_a_flood_of_names_locks_out_no_table_that_is_there(hall):
    say(hall, state())
    for n in range(50):
        say(hall, state(table=f"Spam {n}", device=f"{n:012x}"), retained=True, name=f"spam-{n}")
        hall.heard(f"bastide/spam-{n}/availability", b"offline", True)
    hall.tick()
    assert "table-4" in Screen(hall).tables and len(hall.tables()) <= 5


def test_what_did_not_change_is_not_sent():
    old = state(board={"tiles": [[n, 0, "base.U", 0] for n in range(60)], "figures": []}, left=5)
    new = {**old, "rev": 2, "board": {"tiles": [*old["board"]["tiles"], [60, 0, "base.U", 0]], "figures": []}}
    del new["left"]
    told = difference(old, new)
    assert told == {"set": {"rev": 2, "board": {"figures": []}}, "more": [[60, 0, "base.U", 0]], "drop": ["left"]}
    assert difference(old, {**old, "at": 9.0}) == {}
    assert difference(old, {**new, "game": 2}) == {"state": {**new, "game": 2}} == difference(None, {**new, "game": 2})
