"""The guide: kept on disk, proved by facts, never by being passed; and the road that proves the chain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bastide.guide.guide import NAME, STEPS, Guide
from bastide.guide.practice import plan, seen
from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.table.setup import TWO
from scoring.events import FigurePlaced, Setup, TilePlaced
from scoring.rules import DEFAULT_EDITION, edition
from web.protocol import CommandError

SETUP = Setup(players=TWO, rules=edition(DEFAULT_EDITION))


def states(guide: Guide) -> dict[str, str]:
    return {s["name"]: s["state"] for s in guide.state()["steps"]}


def test_where_people_are_survives_a_restart_and_skipping_proves_nothing(tmp_path: Path) -> None:
    facts = {"camera": lambda: True, "aim": lambda: False}
    guide = Guide(tmp_path, facts)
    assert guide.state()["step"] == "welcome" and not guide.finished
    guide.skip("welcome")
    guide.go("aim")
    guide.skip("aim")
    guide.answer("tiles", "learn")
    again = Guide(tmp_path, facts)
    assert again.state()["step"] == "table"
    assert states(again) == {**dict.fromkeys(STEPS, "open"), "welcome": "skipped", "camera": "done", "aim": "skipped",
                             "tiles": "answered"}
    again.finish()
    assert Guide(tmp_path, facts).finished
    looked_into = Guide(tmp_path, facts)
    assert looked_into.go("camera")["finished"] and looked_into.skip("aim")["finished"]
    assert Guide(tmp_path, facts).finished and Guide(tmp_path, facts).state()["step"] == "table"


def test_a_fact_that_no_longer_holds_is_no_longer_proved(tmp_path: Path) -> None:
    there = [True]
    guide = Guide(tmp_path, {"camera": lambda: there[0], "aim": lambda: guide.well_aimed("usb:0")})
    assert states(guide)["camera"] == "done" and states(guide)["aim"] == "open"
    there[0] = False
    guide.aimed("usb:0", True)
    assert states(guide)["camera"] == "open" and states(guide)["aim"] == "done"
    guide.aimed("usb:1", False)  # another camera proves nothing about this one
    assert states(guide)["aim"] == "done" and not guide.well_aimed("usb:1") and not guide.well_aimed(None)
    guide.aimed("usb:0", False)
    assert states(Guide(tmp_path, {"aim": lambda: guide.well_aimed("usb:0")}))["aim"] == "open"


@pytest.mark.parametrize("content", ["", "[]", '{"step": "moon"}', "[" * 30_000, json.dumps(
    {"step": "aim", "answers": {"aim": "yes"}, "skipped": [], "finished": False, "aimed": ""})])
def test_a_spoiled_file_leads_from_the_beginning(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content, "utf-8")
    assert Guide(tmp_path, {}).state()["step"] == "welcome"


def test_what_no_step_asks_is_refused_and_a_played_table_is_not_led(tmp_path: Path) -> None:
    guide = Guide(tmp_path, {}, known=True)
    assert guide.finished
    for act in (lambda: guide.go("moon"), lambda: guide.skip(""), lambda: guide.answer("aim", "yes"),
                lambda: guide.answer("tiles", "no")):
        with pytest.raises(CommandError):
            act()


@pytest.mark.parametrize("boxes", [("base",), ("base", "inns"), ("base", "traders", "dragon"), ("wheel",)])
def test_the_practice_road_is_scored_when_it_is_laid_as_shown(tmp_path: Path, boxes: tuple[str, ...]) -> None:
    setup = Setup(players=TWO, rules=edition(DEFAULT_EDITION), expansions=boxes)
    first, second = plan(setup) or (None, None)
    if boxes == ("wheel",):  # no single start tile: any road will do
        assert first is None
        return
    assert first is not None and second is not None
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, setup)
        assert seen(session.view()) == {"tile": False, "follower": False, "road": False}
        events = [TilePlaced(player=0, tile=first["tile"], at=tuple(first["at"]), rot=first["rot"]),
                  FigurePlaced(player=0, figure="follower", at=tuple(first["at"]), feature="road",
                               where=first["follower"]),
                  TilePlaced(player=1, tile=second["tile"], at=tuple(second["at"]), rot=second["rot"])]
        for n, event in enumerate(events):
            assert not all(seen(session.view()).values()), n
            session.commit((event,), confidence=1.0, asked=False)
        assert all(seen(session.view()).values())


def test_a_river_begins_without_a_road_to_practise() -> None:
    assert plan(Setup(players=TWO, rules=SETUP.rules, expansions=("base", "river"))) == []


def test_what_is_entered_by_hand_proves_nothing_of_the_camera(tmp_path: Path) -> None:
    first = plan(SETUP)[0]
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, SETUP)
        session.command({"do": "tile", "tile": first["tile"], "at": first["at"], "rot": first["rot"]})
        assert not seen(session.view())["tile"]
