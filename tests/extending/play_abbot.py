"""What the Abbot of docs/extending.md must do; run by test_extending.py beside a copy of scoring/ that has it."""

from __future__ import annotations

from pathlib import Path

from random_games import random_game

from scoring.engine import apply, legal_figures, new_game
from scoring.events import Player, Setup, notation, parse_event
from scoring.explain import explain, in_english
from scoring.moves import moves
from scoring.rules import edition
from scoring.state import Draft, in_hand
from scoring.tiles import catalogue
from scoring.transcript import Game, read, turns_of, write
from web.boxes import figures, page_modules, texts
from web.catalogue import tiles

NAMES = ("Anna", "Ben")
GARDEN = ("tile 0 abbot.01 0,1 0", "deploy 0 abbot 0,1 garden I")


def played(*lines: str) -> Draft:
    setup = Setup(players=tuple(Player(name=n, colour=c) for n, c in zip(NAMES, ("red", "blue"), strict=True)),
                  rules=edition("zman2012"), expansions=("base", "abbot"))
    d = Draft(new_game(setup))
    for line in lines:
        apply(d, parse_event(line))
    return d


def test_the_box() -> None:
    d = played()
    assert in_hand(d, 0, "abbot") == 1 and in_hand(d, 0, "follower") == 7
    assert d.left["abbot.01"] == 2 == catalogue()["abbot.01"].count


def test_where_he_may_stand() -> None:
    d = played("tile 0 abbot.01 0,1 0")
    assert legal_figures(d) == {0: ("follower",), 1: ("abbot",)}
    assert legal_figures(played("tile 0 base.B 0,1 0"))[1] == ("follower", "abbot")
    for figure, place, code in (("follower", "garden I", "garden"), ("abbot", "field NL.NR.EL.ER.SL.SR.WL.WR",
                                                                     "not_claimable")):
        d = played("tile 0 abbot.01 0,1 0", f"deploy 0 {figure} 0,1 {place}")
        assert [i.code for i in d.issues] == [code]


def test_called_back() -> None:
    d = played(*GARDEN, "tile 1 base.B 0,2 0", "tile 0 base.B 1,2 0")
    (recall,) = [m for m in moves(d.freeze()) if m.code == "recall"]
    assert [notation(a) for a in recall.answers] == ["recall 0 abbot 0,1 garden I"]
    apply(d, recall.answers[0])
    assert (d.scores, in_hand(d, 0, "abbot"), d.issues) == ([4, 0], 1, [])  # itself, the start, two more
    assert in_english(explain(d.score_events[-1]), NAMES) == \
        "A garden stays open; Anna stands there alone; 4 tiles x 1 = 4; Anna 4 (R-ABBOT-02)"
    assert not [m for m in moves(d.freeze()) if m.code == "recall"], "that was the action"
    nobody = played("tile 0 abbot.01 0,1 0", "recall 0 abbot 0,1 garden I")
    assert [i.code for i in nobody.issues] == ["no_such_figure"]
    twice = played(*GARDEN, "recall 0 abbot 0,1 garden I")
    assert [i.code for i in twice.issues] == ["two_actions"]


def test_complete_and_at_the_end() -> None:
    around = [f"tile {n % 2} base.B {x},{y} 0" for n, (x, y) in enumerate(
        [(0, 2), (1, 2), (-1, 2), (1, 1), (-1, 1), (1, 0), (-1, 0)], start=1)]
    d = played(*GARDEN, *around, "end_turn")
    assert (d.scores, in_hand(d, 0, "abbot")) == ([9, 0], 1)
    d = played(*GARDEN, "end_game")
    assert d.scores == [2, 0]
    assert [(e.stage, e.reason) for e in d.score_events] == [("cloisters", "garden.incomplete")]


def test_a_transcript_has_him() -> None:
    lines = (*GARDEN, "tile 1 base.B 0,2 0", "tile 0 base.B 1,2 0", "recall 0 abbot 0,1 garden I")
    setup = played().setup
    game = Game(setup=setup, turns=turns_of(setup, tuple(map(parse_event, lines))))
    assert read(write(game)).turns == game.turns


def test_what_the_page_gets_of_him() -> None:
    served = page_modules(Path("web/static"))
    assert figures()["abbot"]["path"].startswith("M16") and not figures()["abbot"]["company"]
    assert b'"garden":{"rim":' in served["js/boxes.js"] and b'"recall"' in served["js/boxes.js"]
    assert '"figure.abbot": "Abt"' in served["js/lang/de.js"].decode()
    assert tiles(("base", "abbot"))["abbot.01"]["segments"][1]["kind"] == "garden"


def test_every_language_has_his_texts() -> None:
    english = {key for key in texts("en") if "abbot" in key.lower() or "garden" in key or "recall" in key}
    assert {"setup.box.abbot", "figure.abbot", "reason.garden", "add.recall", "rule.R-ABBOT-02"} <= english
    for language in ("de", "fr"):
        assert english <= texts(language).keys()


def test_random_games_play_it() -> None:
    """As they are, with no line about the Abbot."""
    games = [random_game(seed, "base", "abbot", tiles=74) for seed in range(4)]
    moved = [e for _, events in games for e in events if getattr(e, "figure", "") == "abbot"]
    assert {e.DO for e in moved} == {"deploy", "recall"}
    for setup, events in games:
        d = Draft(new_game(setup))
        for event in events:
            apply(d, event)
        assert d.issues == []
