"""Which boxes a new game is played with: those that were chosen, and the edition's own where none has its own tiles."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from bastide.errors import UsageError
from bastide.inputs import expansions, rules
from bastide.table.session import TableSession
from bastide.table.setup import table_setup
from scoring.expansions import boxes
from scoring.rules import edition
from web.protocol import CommandError

PLAYERS = [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]


def begin(session: TableSession, name: str, *names: str, **options: Any) -> dict[str, Any]:
    return session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": name, "rules": options,
                                                        "expansions": list(names)}})


def test_a_game_with_the_wheel_has_its_own_tiles_only(session: TableSession) -> None:
    """R-COMP-09, R-SETUP-07."""
    for view in (begin(session, "wheel", "wheel"), begin(session, "wheel"), begin(session, "zman2012", "wheel")):
        assert (view["expansions"], view["left"]["total"]) == (["wheel"], 72)
    view = begin(session, "wheel", "base", "wheel")
    assert view["left"]["total"] == 143, "both, when both are asked for; without the start tile"
    assert begin(session, "wheel", "inns")["expansions"] == ["wheel", "inns"]


def test_the_base_game_comes_with_what_cannot_be_played_alone(session: TableSession) -> None:
    assert begin(session, "rgg2006")["expansions"] == ["base"]
    assert begin(session, "rgg2006", "tower", "inns")["expansions"] == ["base", "tower", "inns"]
    assert boxes(("inns", "inns")) == ("base", "inns")


def test_the_wheels_rules_without_its_board(session: TableSession) -> None:
    """The start that the edition prints needs its box; another start is only refused when somebody asked for it."""
    view = begin(session, "wheel", "base")
    assert [t["tile"] for t in view["board"]["tiles"]] == ["base.D"]
    with pytest.raises(CommandError) as refused:
        begin(session, "rgg2006", "base", start="wheel_board")
    assert refused.value.code == "malformed" and "start=wheel_board" in refused.value.text


def asked(**values: object) -> argparse.Namespace:
    return argparse.Namespace(**{"edition": None, "rule": [], **values})


def test_serving_the_wheel_edition_needs_no_further_word() -> None:
    printed = rules(asked(edition="wheel"))
    assert expansions(None, printed) == ("wheel",)
    setup = table_setup("", printed, expansions(None, printed), None, None)
    assert setup.expansions == ("wheel",)
    with pytest.raises(UsageError, match="start=wheel_board needs its expansion"):
        table_setup("", rules(asked(rule=["start=wheel_board"])), ("base",), None, None)
    assert expansions(None, edition("rgg2006")) == ("base",)
