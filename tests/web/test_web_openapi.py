"""The OpenAPI document matches the server: same routes, and random requests get only documented responses."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from webtable import table

from bastide.log.store import Store
from scoring.events import event_types
from web.app import create_app
from web.book import FILES
from web.openapi import document

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))


def test_the_document_names_every_route_and_no_other(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        app = create_app(table(store, 0))
    there = {(method, re.sub(r"<(?:[^:>]+:)?(\w+)>", r"{\1}", rule.rule)) for rule in app.url_map.iter_rules()
             for method in rule.methods - {"HEAD", "OPTIONS"} if rule.rule.startswith("/api/")}
    described = {(method.upper(), path) for path, item in document()["paths"].items() for method in item}
    assert described == there


def test_every_move_of_the_engine_is_described():
    assert [m["properties"]["do"]["const"] for m in document()["components"]["schemas"]["Move"]["anyOf"]] == \
        list(event_types())


def test_every_kind_of_file_of_a_game_is_described():
    said = document()["paths"]["/api/book/games/{game}/{name}"]["get"]
    assert set(said["responses"]["200"]["content"]) == {mimetype for _, mimetype in FILES.values()}
    assert next(p for p in said["parameters"] if p["name"] == "name")["schema"]["enum"] == list(FILES)


def test_random_requests_get_only_what_the_document_names():
    """A small run of benchmarks/api_fuzz.py."""
    pytest.importorskip("schemathesis")
    from api_fuzz import run
    found = run(60, seed=7)
    assert found["requests"] >= 60 and len(found["by_operation"]) > 20
    assert not found["failures"]
