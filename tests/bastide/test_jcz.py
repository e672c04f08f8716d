"""Saved games for JCloisterZone: parsed by an independent reader, they result in the same table."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import recorded

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scoring"))
from random_games import random_game  # noqa: E402

from bastide.export import jcz
from scoring.engine import apply, fold, legal_claims, new_game
from scoring.errors import InvalidNotation
from scoring.events import (
    Event,
    FigurePlaced,
    GameEnded,
    Player,
    Setup,
    StartTile,
    TileDiscarded,
    TilePlaced,
    TurnEnded,
    parse_event,
)
from scoring.expansions.dragon_moves import DragonMoved, FairyMoved, PrincessRemoved, beasts
from scoring.expansions.tower import Captured, Exchanged, RansomPaid, TowerRaised
from scoring.notation import FigureRef
from scoring.rules import edition, with_options
from scoring.state import Draft
from scoring.tiles import catalogue, segment_index, where_of
from scoring.transcript import Game, read, turns_of

NAMED = {"WE": "E W", "NS": "N S", "NWSE": "N E S W", "NW": "N W", "SW": "S W", "SE": "E S", "NE": "N E",
         "_N": "E S W", "_E": "N S W", "_S": "N E W", "_W": "N E S"}
KINDS = {v: k for k, v in jcz.KINDS.items()}
FIGURES = {v: k for k, v in jcz.FIGURES.items()}
FULL = ("base", "inns", "traders", "dragon", "tower")


def game(seed: int, *boxes: str, tiles: int = 40) -> Game:
    setup, events = random_game(seed, *boxes, tiles=tiles)
    return Game(setup=setup, turns=turns_of(setup, tuple(events)))


def place(data: dict[str, Any]) -> dict[str, Any]:
    where = data["location"]
    where = NAMED.get(where) or where.replace(".", " ")
    return {"at": tuple(data["position"]), "feature": KINDS[data["feature"]], "where": where_of(where.split())
            if where != "I" else "I"}


def told(saved: dict[str, Any], setup: Any) -> Draft:
    """Plays the messages: what goes home, scores and captures is the engine's to say, as it is that program's."""
    ours = {t.jcz: t.id for t in reversed(catalogue().values()) if t.jcz}
    first = saved["setup"]["start"][0]
    d = Draft(new_game(replace(setup, start=StartTile(tile=ours[first["tile"]], at=(first["x"], first["y"]),
                                                      rot=first["rotation"] // 90))))
    standing: dict[str, dict[str, Any]] = {}
    jail: dict[str, int] = {}
    order = list(saved["gameAnnotations"]["drawOrder"])
    committed, meeple = False, ""

    def happen(event: Event) -> None:
        apply(d, event)

    for m in saved["replay"]:
        p, player = m["payload"], m["player"]
        owner = lambda i: int(i.split(".")[0])  # noqa: E731
        figure = lambda i: FIGURES[i.split(".")[1]]  # noqa: E731
        if committed and p.get("figureId") != "dragon.1":
            happen(TurnEnded())
            committed = False
        match m["type"]:
            case "PLACE_TILE":
                while order[0] != p["tileId"]:
                    happen(TileDiscarded(player=player, tile=ours[order.pop(0)], part=d.part))
                tile = ours[order.pop(0)]
                happen(TilePlaced(player=player, tile=tile, at=tuple(p["position"]), rot=int(p["rotation"][1:]) // 90,
                                  part=d.part))
            case "DEPLOY_MEEPLE":
                standing[p["meepleId"]] = place(p["pointer"])
                happen(FigurePlaced(player=owner(p["meepleId"]), figure=figure(p["meepleId"]), **place(p["pointer"])))
            case "PLACE_TOKEN":
                assert (p["token"], p["pointer"]["location"]) == ("TOWER_PIECE", "I")
                happen(TowerRaised(player=player, at=tuple(p["pointer"]["position"])))
            case "CAPTURE_FOLLOWER" | "RETURN_MEEPLE":
                meeple = p["pointer"]["meepleId"]
                assert place(p["pointer"]["featurePointer"]) == standing[meeple], "the figure stands where it was put"
                kind = Captured if m["type"] == "CAPTURE_FOLLOWER" else PrincessRemoved
                jail[meeple] = player
                happen(kind(player=player, owner=owner(meeple), figure=figure(meeple), **standing[meeple]))
            case "MOVE_NEUTRAL_FIGURE" if p["figureId"] == "dragon.1":
                happen(DragonMoved(player=player, path=(tuple(p["to"]),)))
            case "MOVE_NEUTRAL_FIGURE":
                to = p["to"]
                beside = None if isinstance(to, list) else FigureRef(
                    owner=owner(to["meepleId"]), figure=figure(to["meepleId"]),
                    **{k: v for k, v in standing[to["meepleId"]].items() if k != "at"})
                at = tuple(to) if isinstance(to, list) else standing[to["meepleId"]]["at"]
                happen(FairyMoved(player=player, at=at, beside=beside))
            case "PAY_RANSOM":
                happen(RansomPaid(player=player, jailer=jail[p["meepleId"]],
                                  released=FigureRef(owner=player, figure=figure(p["meepleId"]))))
            case "EXCHANGE_FOLLOWER":
                happen(Exchanged(player=player, released=tuple(FigureRef(owner=owner(i), figure=figure(i))
                                                               for i in (p["meepleId"], meeple))))
            case "COMMIT":
                committed = True
            case "PASS":
                assert p == {}
            case other:
                raise AssertionError(other)
    for tile in order:
        happen(TileDiscarded(player=d.player, tile=ours[tile]))
    happen(GameEnded())
    return d


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("boxes", [("base",), ("base", "river", "inns", "traders"), FULL], ids="+".join)
def test_read_back_it_is_the_same_game(seed: int, boxes: tuple[str, ...]) -> None:
    played = game(seed, *boxes)
    saved, notes = jcz.saved_game(played)
    saved = json.loads(json.dumps(saved))
    again, ended = told(saved, played.setup), fold(played.setup, (*played.events, GameEnded()))
    assert {at: (catalogue()[p.tile].jcz, p.rot) for at, p in again.tiles.items()} == \
        {at: (catalogue()[p.tile].jcz, p.rot) for at, p in ended.tiles.items()}
    assert tuple(again.scores) == ended.scores
    assert {i.code for i in again.issues} <= ({"wrong_player"} if any("no tile" in n for n in notes) else set())
    assert again.standing.keys() == ended.standing.keys()


@pytest.mark.parametrize("name", ["all-025", "tower-000", "dragon-010", "river-000"])
def test_recorded_games_read_back(name: str) -> None:
    played = read(next(recorded.load(p) for p in recorded.OWN if recorded.name(p) == name))
    saved, notes = jcz.saved_game(played)
    again = told(saved, played.setup)
    assert tuple(again.scores) == fold(played.setup, (*played.events, GameEnded())).scores
    assert not [n for n in notes if n.startswith("turn")]


def test_the_document_has_what_that_program_reads() -> None:
    played = game(1, *FULL)
    saved, _ = jcz.saved_game(played, created="2026-01-01T00:00:00.000Z")
    assert {"appVersion", "gameId", "initialRandom", "clock", "setup", "players", "replay"} <= set(saved)
    assert set(saved["setup"]) == {"sets", "elements", "rules", "timer", "start", "options"}
    assert saved["setup"]["sets"] == {"basic:1": 1, "inns-and-cathedrals:1": 1, "traders-and-builders:1": 1,
                                      "princess-and-dragon:1": 1, "tower:1": 1}
    assert saved["setup"]["start"] == [{"tile": "BA/RCr", "x": 0, "y": 0, "rotation": 0}]
    assert len({p["slot"] for p in saved["players"]}) == len(saved["players"])
    commits = [m for m in saved["replay"] if m["type"] == "COMMIT"]
    tiles = [m for m in saved["replay"] if m["type"] == "PLACE_TILE"]
    assert len(commits) == len(tiles) and all(m["payload"] == {"random": 0.0} for m in commits)
    assert all(m["payload"]["rotation"] in ("R0", "R90", "R180", "R270") for m in tiles)


def test_no_figure_is_in_two_places() -> None:
    """Ids are taken from the supply and given back: at no time does one stand twice, and there are only so many."""
    for seed in range(4):
        saved, _ = jcz.saved_game(game(seed, *FULL, tiles=60))
        numbers = {m["payload"]["meepleId"].split(".")[2] for m in saved["replay"] if m["type"] == "DEPLOY_MEEPLE"}
        assert numbers <= set("1234567")


def test_where_a_tile_lies_is_said_as_that_program_says_it() -> None:
    """Known from that program's own examples: a straight road from west to east with its northern field, a cap turned
    half round, a curve with a city."""
    assert jcz.location("road", "E W") == "WE"
    assert jcz.location("field", "NL NR EL WR") == "NL.NR.EL.WR"
    assert (jcz.location("city", "N E S W"), jcz.location("city", "N E W")) == ("NWSE", "_S")
    assert (jcz.location("cloister", "I"), jcz.location("field", "I"), jcz.location("tower", "I")) == ("I", "I", "I")
    for tile, rot, kind, place in (("base.U", 0, "field", "NL NR EL WR"), ("base.E", 2, "city", "S"),
                                   ("base.J", 0, "road", "E S"), ("dragon.02", 0, "road", "N W"),
                                   ("river.06", 0, "road", "E W"), ("river.08", 0, "city", "N W"),
                                   ("tower.04", 0, "field", "SR WL"), ("traders.16", 0, "road", "E")):
        assert segment_index(catalogue()[tile], rot, kind, place) is not None, tile


def test_what_that_program_cannot_play_is_said() -> None:
    with pytest.raises(InvalidNotation, match="wheel"):
        jcz.saved_game(Game(setup=replace(game(1, "base").setup, expansions=("wheel",), start=None), turns=()))
    setup, events = random_game(2, "base", tiles=4, name="rgg2006")
    events[0] = replace(events[0], at=(9, 9))  # type: ignore[type-var]
    notes = jcz.saved_game(Game(setup=setup, turns=turns_of(setup, tuple(events))))[1]
    assert "3 points per city" in notes[0] and any(n.startswith("turn 1: ") for n in notes)


PAYLOADS: dict[str, set[str]] = {  # as that program's messages are declared, and as its own saved games have them
    "PLACE_TILE": {"tileId", "rotation", "position"}, "DEPLOY_MEEPLE": {"pointer", "meepleId"}, "PASS": set(),
    "COMMIT": {"random"}, "MOVE_NEUTRAL_FIGURE": {"figureId", "to"}, "PLACE_TOKEN": {"token", "pointer"},
    "CAPTURE_FOLLOWER": {"pointer"}, "RETURN_MEEPLE": {"pointer", "source"}, "PAY_RANSOM": {"meepleId"},
    "EXCHANGE_FOLLOWER": {"meepleId"},
}
VALUES = {"princess-action": {"may", "must"}, "fairy-placement": {"next-follower", "on-tile"},
          "dragon-move": {"before-scoring", "after-scoring"}, "tiny-city-scoring": {"4", "2"}}
ELEMENTS = {"small-follower", "farmers", "big-follower", "cathedral", "inn", "builder", "pig", "traders", "dragon",
            "fairy", "princess", "portal", "tower"}
SET_IDS = {"basic:1", "river/1:1", "inns-and-cathedrals:1", "traders-and-builders:1", "princess-and-dragon:1",
           "tower:1"}
PLACE = re.compile(r"I|NWSE|_?[NESW]|NW|NE|SW|SE|WE|NS|[NESW][LR](\.[NESW][LR])*")


def right_pointer(data: dict[str, Any]) -> bool:
    if set(data) == {"featurePointer", "meepleId"}:
        return right_pointer(data["featurePointer"]) and right_meeple(data["meepleId"])
    return set(data) == {"position", "feature", "location"} and PLACE.fullmatch(data["location"]) is not None \
        and data["feature"] in {"City", "Road", "Field", "Monastery", "Tower"} and right_square(data["position"])


def right_square(data: Any) -> bool:
    return isinstance(data, list) and [type(n) for n in data] == [int, int]


def right_meeple(name: str) -> bool:
    return re.fullmatch(r"[0-5]\.(small\.[1-7]|(big|builder|pig)\.1)", name) is not None


def test_every_message_has_the_shape_that_program_declares() -> None:
    """Names, fields and values as its client and engine have them; docs/rules/ says what was compared."""
    seen = set()
    for seed in (1, 11, 15, 17, 19):
        boxes = FULL if seed % 3 else (*FULL, "river")
        saved, _ = jcz.saved_game(game(seed, *boxes, tiles=45))
        saved = json.loads(json.dumps(saved))
        assert saved["setup"]["sets"].keys() <= SET_IDS and saved["setup"]["elements"].keys() <= ELEMENTS
        assert all(value in VALUES[name] for name, value in saved["setup"]["rules"].items())
        assert type(saved["initialRandom"]) is float and type(saved["gameId"]) is str
        assert tuple(map(int, saved["appVersion"].split("."))) >= (5, 7, 0)
        for m in saved["replay"]:
            payload = m["payload"]
            assert set(m) == {"type", "payload", "player", "clock"} and set(payload) == PAYLOADS[m["type"]], m
            if "pointer" in payload:
                assert right_pointer(payload["pointer"]), m
                assert ("meepleId" in payload["pointer"]) == (m["type"] in ("CAPTURE_FOLLOWER", "RETURN_MEEPLE"))
            assert "meepleId" not in payload or right_meeple(payload["meepleId"]), m
            if m["type"] == "MOVE_NEUTRAL_FIGURE":
                assert payload["figureId"] in ("dragon.1", "fairy.1")
                assert right_square(payload["to"]) or right_pointer(payload["to"]), m
            seen.add(m["type"])
        assert all(name in {t.jcz for t in catalogue().values()} for name in saved["gameAnnotations"]["drawOrder"])
    assert seen >= PAYLOADS.keys() - {"PAY_RANSOM", "EXCHANGE_FOLLOWER"}


def test_room_that_the_river_is_wanted_to_have_is_noted() -> None:
    """That program reserves two squares ahead of the river's open end, and the squares beside them."""
    setup, _ = random_game(1, "base", "river", tiles=1)
    lines = ("tile 0 river.07 1,0 0", "tile 1 river.10 2,0 0", "tile 0 river.10 2,1 1")
    turns = turns_of(setup, tuple(parse_event(line) for line in lines))
    noted = jcz.saved_game(Game(setup=setup, turns=turns))[1]
    assert [n for n in noted if "room" in n] == ["turn 3: JCloisterZone wants more room for the river to flow on"]


def saved(boxes: tuple[str, ...], rules: dict[str, object], *lines: str) -> tuple[list[list[str]], tuple[str, ...]]:
    """The kinds of messages by commit, and the notes."""
    players = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))
    setup = Setup(players=players, rules=with_options(edition("zman2012"), rules), expansions=boxes)
    turns = turns_of(setup, tuple(parse_event(line) for line in lines))
    document, notes = jcz.saved_game(Game(setup=setup, turns=turns))
    parts: list[list[str]] = [[]]
    for m in document["replay"]:
        parts[-1].append(m["type"])
        if m["type"] == "COMMIT":
            parts.append([])
    return parts, notes


ROAD = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0")


def test_a_builder_on_what_its_tile_completes_is_no_action_there() -> None:
    """That program stops there, and the export says so."""
    closed = (*ROAD[:2], "tile 1 base.A -1,0 3", "tile 0 base.A 2,0 1")
    parts, notes = saved(("base", "traders"), {}, *closed, "deploy 0 builder 2,0 road W")
    assert "PASS" not in parts[2] and [n for n in notes if "completes" in n] == \
        ["turn 3: JCloisterZone puts no builder on what its tile completes, and stops here"]
    _, notes = saved(("base", "traders"), {}, *ROAD, "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W")
    assert not [n for n in notes if n.startswith("turn")]


def test_a_pass_is_judged_as_that_program_judges_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fairy's only follower has her already; a builder may not stand on what is complete."""
    d = jcz.Replay(Game(setup=Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                                    rules=with_options(edition("zman2012"), {"fairy_mode": "follower"}),
                                    expansions=("base", "dragon", "traders")), turns=()))
    for line in (*ROAD, "tile 0 base.B 0,2 0", "fairy 0 1,0", "tile 1 base.A -1,0 3", "tile 0 base.A 2,0 1"):
        apply(d.draft, parse_event(line))
    monkeypatch.setattr(jcz, "in_hand", lambda view, player, piece: int(piece == "builder"))
    assert legal_claims(d.draft, "builder"), "by the rules it may"
    assert not d._could_act(), "that program offers neither the builder nor the fairy"
    d.draft.ext["dragon"] = replace(beasts(d.draft), fairy_of=None)
    assert d._could_act(), "she belongs to nobody: she may be moved"


@pytest.mark.parametrize("timing", ["before_scoring", "after_scoring"])
def test_a_pass_is_judged_before_the_dragon_walks(timing: str) -> None:
    """Anna may go to the road on her tile; that the dragon then ends there changes nothing."""
    parts, _ = saved(("base", "dragon"), {"dragon_timing": timing}, "tile 0 dragon.01 0,1 0", "tile 1 dragon.16 1,0 0",
                     "dragon 1 0,0>1,0")
    assert "PASS" in [kind for part in parts[1:] for kind in part]


def test_the_fairy_on_a_tile_needs_another_version() -> None:
    lines = (*ROAD, "tile 0 base.B 0,2 0", "fairy 0 1,0")
    assert [n for n in saved(("base", "dragon"), {}, *lines)[1] if "5.12" in n]
    assert not [n for n in saved(("base", "dragon"), {"fairy_mode": "follower"}, *lines)[1] if "5.12" in n]
    assert not [n for n in saved(("base", "dragon"), {}, *ROAD)[1] if "5.12" in n]
