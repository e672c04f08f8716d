"""The types of a view: the OpenAPI document and the page's modules are generated from them; views match them."""

from __future__ import annotations

import json
from typing import Any

import fastjsonschema
import pytest

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.events import Player, Setup, parse_event, to_json
from scoring.rules import edition
from web.described import ANSWERS, DECLARED, DRAWINGS, declarations, schemas
from web.openapi import document
from web.reveal import revealed
from web.stream import compact
from web.views import PastView, View

ANNA_BEN = tuple(Player(name=n, colour=c) for n, c in (("Anna", "red"), ("Ben", "blue")))


def test_the_pages_types_are_made_of_the_servers() -> None:
    made = declarations(*ANSWERS, *DRAWINGS)
    assert DECLARED.read_text("utf-8") == made, "run: python -m web.described"


def test_what_may_be_missing_is_said() -> None:
    made = schemas(View)
    assert "round" not in made["View"]["required"] and {"status", "update", "board"} <= set(made["View"]["required"])
    assert made["TileView"]["properties"]["seq"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert made["FeatureView"]["properties"]["places"]["items"]["maxItems"] == 3
    assert "seq: number | null;" in declarations(View) and "round?: RoundView;" in declarations(View)


def test_a_type_that_extends_another_says_only_what_it_adds() -> None:
    made = declarations(View, PastView)
    assert "export type PastView = View & {\n  moves: MoveView[];\n  after: number;\n};\n" in made
    assert made.count("edition_title: string;") == 1 and made.count(" & ") == 1, "others that only look alike do not"
    assert "edition_title: string;" in declarations(PastView), "without the other it says everything"
    assert set(schemas(View)["View"]["required"]) < set(schemas(PastView)["PastView"]["required"])


def violation(name: str, view: Any) -> str:
    """The type errors of a sent view; empty if none."""
    check = fastjsonschema.compile({"$schema": "http://json-schema.org/draft-07/schema#",
                                    "$ref": f"#/components/schemas/{name}", "components": document()["components"]})
    try:
        check(json.loads(compact(view)))
    except fastjsonschema.JsonSchemaValueException as e:
        return str(e.message)
    return ""


@pytest.mark.parametrize(("boxes", "name", "lines"), [
    (("base",), "zman2012", ("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I", "tile 1 base.B 0,2 0")),
    (("base", "inns", "traders", "dragon", "tower"), "rgg2006",
     ("tile 0 tower.01 0,1 0", "end_turn", "tile 1 base.B 0,2 0", "fairy 1 0,1")),
    (("wheel",), "wheel", ("wheel 0 2", "tile 0 wheel.01 -1,0 0", "crown 0 follower tax")),
])
def test_views_are_like_their_types(boxes: tuple[str, ...], name: str, lines: tuple[str, ...], tmp_path: Any) -> None:
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, Setup(players=ANNA_BEN, rules=edition(name), expansions=boxes))
        for line in lines:
            session.command(to_json(parse_event(line)))
        assert violation("View", session.view()) == ""
        assert violation("PastView", session.past.view_at(0)) == ""
        session.command({"do": "end_game"})
        session.command({"do": "reveal", "step": 0})
        assert violation("View", revealed(session.view())) == ""
        broken = {**session.view(), "players": [{"name": "Anna"}]}
        assert violation("View", broken), "the check sees what is wrong"
