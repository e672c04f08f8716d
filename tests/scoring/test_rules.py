"""Editions and options are data, all by name, each with where it comes from."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from scoring.errors import InvalidNotation
from scoring.expansions import KNOWN, chosen
from scoring.rules import EDITIONS, Rules, as_text, changes, citations, edition, editions, options, with_options

PRINTED = {
    "rgg2006": {"farm_scoring": "per_city_all_farms", "farm_points_per_city": 4, "pig_bonus": 1,
                "two_tile_city": "half", "incomplete_unit": "tile", "winner_tie": "shared",
                "score_lap_marker": "cards_50_100", "start": "start_tile", "dragon_timing": "after_scoring",
                "princess_removal": "must", "fairy_mode": "tile", "river_turn_rule": "no_u_turn",
                "river_turn_window": "consecutive_tiles", "farmers_enabled": True},
    "zman2012": {"farm_scoring": "per_farm", "farm_points_per_city": 3, "two_tile_city": "normal",
                 "winner_tie": "replay", "score_lap_marker": "lay_down", "track_start_corner": "lower_right",
                 "river_turn_rule": "no_two_same_bends"},
    "rgg_short": {"farm_scoring": "per_farm", "farm_points_per_city": 3, "two_tile_city": "normal",
                  "winner_tie": "shared", "score_lap_marker": "lay_down"},
    "wheel": {"farm_scoring": "per_farm", "farm_points_per_city": 3, "two_tile_city": "normal",
              "winner_tie": "shared", "score_lap_marker": "lay_down", "start": "wheel_board",
              "wheel_tax": "per_knight"},
}


@pytest.mark.parametrize("name", EDITIONS)
def test_edition(name: str) -> None:
    rules = edition(name)
    assert {k: rules.value(k) for k in PRINTED[name]} == PRINTED[name]
    assert set(editions()[name].options) == set(options())
    for option, said in citations(rules).items():
        assert said.source and said.rules and said.value == as_text(rules.value(option))


def test_every_option_is_a_field_or_a_boxs_and_the_other_way_round() -> None:
    of_boxes = {name for e in KNOWN.values() if e.name != "base" for name in e.options}
    assert set(options()) == {f.name for f in fields(Rules)} - {"edition", "boxes"} | of_boxes
    assert set(dict(edition().boxes)) == of_boxes
    assert edition() == edition("zman2012") and replace(edition(), boxes=()) == Rules()


@pytest.mark.parametrize("name", EDITIONS)
def test_every_value_of_every_option_can_be_set(name: str) -> None:
    for option in options().values():
        for value in option.values:
            rules = with_options(edition(name), {option.name: value})
            assert as_text(rules.value(option.name)) == value
            assert set(changes(rules)) <= {option.name}
            assert with_options(edition(name), changes(rules)) == rules


def test_house_rules_are_called_so() -> None:
    rules = with_options(edition(), {"two_tile_city": "half", "farmers_enabled": False, "farm_points_per_city": 4})
    assert {n for n, c in citations(rules).items() if c.source == "house rule"} == \
        {"two_tile_city", "farmers_enabled", "farm_points_per_city"}


@pytest.mark.parametrize(("changed", "message"), [
    ({"moon": 1}, "unknown rule 'moon'; known are farm_scoring, farm_points_per_city, "),
    ({"winner_tie": "coin"}, "rule winner_tie cannot be 'coin'; it may be shared, replay"),
    ({"farm_points_per_city": 7}, "rule farm_points_per_city cannot be 7; it may be 3, 4"),
    ({"colours": "red,mauve"}, "rule colours cannot be 'red,mauve'; it lists some of red, "),
    ({"farmers_enabled": None}, "rule farmers_enabled cannot be None; it may be true, false"),
])
def test_unknown_options_list_the_known(changed: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidNotation) as e:
        with_options(edition(), changed)
    assert str(e.value).startswith(message)


def test_unknown_names() -> None:
    with pytest.raises(InvalidNotation, match="unknown edition 'x'; known are rgg2006, zman2012, rgg_short, wheel"):
        edition("x")
    with pytest.raises(InvalidNotation, match="unknown expansion 'x'; known are base, river, inns, traders, dragon"):
        chosen(("x",))


def test_every_expansion_names_its_own_options() -> None:
    named = [o for e in KNOWN.values() for o in e.options]
    assert len(named) == len(set(named))
    assert set(named) <= set(options())
