"""Every event of every box on the page: entered in time, entered late, corrected and retracted (docs/page.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pageevents import ROWS, Game, Move, Row, begin, correct, like, next_tile, said, served_page, table_of
from pageviews import drawn, picture
from webtable import JPEG

from bastide.table.session import TableSession
from scoring.log import Settled

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def table(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TableSession, Any]]:
    """One table and one page for all rows."""
    with served_page(chromium, tmp_path_factory.mktemp("events")) as one:
        yield one


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_it_is_entered_corrected_and_taken_back(table, row):
    game, hand, event, other = begin(table, row)
    session, page = game.session, hand.page
    before = table_of(session)
    hand.play(said(game, event))
    (entry,) = [e for e in session.view()["history"] if like(e, event)][-1:]
    expect(page.locator("#toast")).not_to_have_text("")  # it is said what happened, not only that something did
    entered = table_of(session)
    assert entered != before

    page.keyboard.press("Escape")
    page.locator("[data-key='bar.history']").click()
    page.locator(f"#sheet [data-key='move-{entry['seq']}']").click()
    if other is not None:
        correct(game, hand, entry, other, row.keys)
        (now,) = [e for e in session.view()["history"] if e["seq"] == entry["seq"]]
        assert like(now, {k: v for k, v in other.items() if k != "player"}) and table_of(session) != entered
        page.keyboard.press("Escape")
        page.locator("[data-key='bar.history']").click()
        page.locator(f"#sheet [data-key='move-{entry['seq']}']").click()
    picture(page, f"move-{row.name.replace(' ', '-')}")
    version = session.view()["version"]
    page.locator("#sheet [data-key='remove']").click()
    hand.saved(version)
    assert not [e for e in session.view()["history"] if e["seq"] == entry["seq"]]
    assert table_of(session) == before


@pytest.mark.parametrize("row", [r for r in ROWS if r.late], ids=lambda row: row.name.replace(" ", "-"))
def test_it_is_told_when_the_next_tile_lies(table, row):
    """Somebody remembers it later: entered in its turn, the game is the one in which it was told in time."""
    game, hand, event, _ = begin(table, row)
    session, page = game.session, hand.page
    if row.before:  # the tile that it came before lies already
        own = game.tile(plain=True)
        game.tell(event, own)
        expected = table_of(session)
        session.command({"do": "retract", "seq": next(e["seq"] for e in session.view()["history"] if like(e, event))})
        about = own["at"]
    else:
        about = list(game.state.last_tile)
        following = next_tile(game, row)
        game.tell(event, following)
        expected = table_of(session)
        session.command({"do": "retract", "seq": next(e["seq"] for e in session.view()["history"] if like(e, event))})
    assert table_of(session) != expected
    hand.shown(session.view()["version"] - 1)
    hand.place(f"[id='at-{about[0]}-{about[1]}'] use", "#sheet.fix:not([hidden])")
    page.locator("#sheet [data-key='missed']").click()
    expect(page.locator("#sheet.add:not([hidden]) h2")).to_contain_text("as it was")
    (turn,) = [p["turn"] for p in session.view()["board"]["tiles"] if p["at"] == about]
    hand.then = None if row.before else session.past.view_after(turn)
    hand.play(said(game, event))
    page.locator("#sheet [data-key='now']").click()
    expect(page.locator("#sheet.add:not([hidden])")).to_have_count(0)
    assert table_of(session) == expected
    assert not [i for i in session.view()["issues"] if i["code"] in ("impossible", "wrong_player", "two_actions")]


def test_whoever_returns_before_the_turn_is_shown_anew_has_returned(table):
    """After an answer the turn is shown with it; somebody who returns to the present meanwhile stays there."""
    row = next(r for r in ROWS if r.name == "princess")
    game, hand, event, _ = begin(table, row)
    session, page = game.session, hand.page
    about = list(game.state.last_tile)
    game.tell(event, game.tile(plain=True))
    session.command({"do": "retract", "seq": next(e["seq"] for e in session.view()["history"] if like(e, event))})
    hand.shown(session.view()["version"] - 1)
    hand.place(f"[id='at-{about[0]}-{about[1]}'] use", "#sheet.fix:not([hidden])")
    page.locator("#sheet [data-key='missed']").click()
    page.locator("#sheet.add:not([hidden])").wait_for()
    (turn,) = [p["turn"] for p in session.view()["board"]["tiles"] if p["at"] == about]
    hand.then = session.past.view_after(turn)
    held = []
    page.route("**/api/entries/*/after", lambda route: held.append(route))
    hand.play(said(game, event))
    page.locator("#sheet [data-key='now']").click()
    with page.expect_response("**/api/entries/*/after"):
        held[0].continue_()
    page.unroute("**/api/entries/*/after")  # the page is that of the whole module
    drawn(page)
    expect(page.locator("#sheet:not([hidden])")).to_have_count(0)


def test_a_missed_tile_is_laid_in_its_turn_corrected_and_taken_back(table):
    game, hand, _, _ = begin(table, ROWS[0])
    session, page = game.session, hand.page
    first, second = game.lay(plain=True), game.tile(plain=True)
    game.tell(second)
    game.lay(plain=True)
    expected = table_of(session)
    session.command({"do": "retract", "seq": session.view()["history"][1]["seq"]})  # Ben's tile was never told
    hand.shown(session.view()["version"] - 1)
    hand.place(f"[id='at-{first[0]}-{first[1]}'] use", "#sheet.fix:not([hidden])")
    page.locator("#sheet [data-key='missed']").click()
    page.locator("#sheet.add:not([hidden])").wait_for()
    hand.tile(said(game, second))
    page.locator("#sheet [data-key='now']").click()
    assert table_of(session) == expected
    assert [e["player"] for e in session.view()["history"]] == [0, 1, 0] and not session.view()["issues"]
    x, y = second["at"]
    hand.place(f"[id='at-{x}-{y}'] use", "#sheet.fix:not([hidden])")
    page.locator("[data-key='other']").click()
    other = page.locator(".kinds .tile-button").first.get_attribute("data-tile")
    page.locator(".kinds .tile-button").first.click()
    hand.sends("use")
    assert next(t["tile"] for t in session.view()["board"]["tiles"] if t["at"] == second["at"]) == other
    hand.place(f"[id='at-{x}-{y}'] use", "#sheet.fix:not([hidden])")
    version = session.view()["version"]
    page.locator("[data-key='remove']").click()
    hand.saved(version)
    expect(page.locator(f"[id='at-{x}-{y}']")).to_have_count(0)


def test_the_end_of_a_turn_and_of_the_game_are_said_and_taken_back(table):
    game, hand, _, _ = begin(table, ROWS[0])
    session, page = game.session, hand.page
    game.lay(plain=True)
    hand.shown(session.view()["version"] - 1)
    hand.end_turn()
    assert not session.view()["turn"]["open"]
    expect(page.locator("#toast")).to_contain_text("Ben is next")
    hand.sends("bar.undo")
    assert session.view()["turn"]["open"]
    hand.end_game()
    assert session.view()["phase"] == "over"
    hand.sends("bar.undo")
    assert session.view()["phase"] == "playing"


def test_the_wheel_and_its_plague_are_told_when_the_tile_lies(table):
    row = next(r for r in ROWS if r.name == "wheel")
    game, hand, _, _ = begin(table, row)
    session = game.session
    game.tell({"do": "wheel", "steps": 3}, {"do": "wheel", "steps": 1})
    stands = game.stand()
    sign = game.tile(lambda state, tile: "wheel_icon" in game.kinds[tile]["flags"])
    game.tell({"do": "wheel", "steps": 1}, {"do": "plague", "player": 0, **{k: stands[k] for k in (
        "figure", "at", "feature", "where")}}, sign)
    expected = table_of(session)
    for _ in range(3):
        session.command({"do": "undo"})
    session.command(sign)
    hand.shown(session.view()["version"] - 1)
    hand.answer(said(game, {"do": "wheel", "player": 1, "steps": 1}), "wheel_steps")
    (question,) = [q for q in session.view()["open_questions"] if q["code"] == "plague"]
    hand.answer(said(game, question["answers"][0]))
    assert table_of(session) == expected and not [q for q in session.view()["open_questions"] if q["must"]]


def test_a_move_that_the_camera_doubts_is_asked(table):
    """The move of a neutral piece: the possible ways, and none of them."""
    def lead(game: Game) -> tuple[Move, Move | None]:
        game.flagged("volcano")
        for _ in range(4):
            game.lay(plain=True)
        game.flagged("dragon")
        return {}, None

    game, hand, *_ = begin(table, Row("dragon", ("base", "dragon"), lead))
    session, page = game.session, hand.page
    ways = sorted(next(n for n in game.state.box.neutrals if n.name == "dragon").ways(game.state),
                  key=lambda e: len(e.path))
    short, long = ways[0], ways[-1]
    for answer, left in (("choice-1", long), ("nothing", None)):
        session.commit((short,), confidence=0.6, asked=True, alternatives=(((short,), 0.6), ((long,), 0.4)), crop=JPEG)
        sheet = page.locator("#sheet.question:not([hidden])")
        expect(sheet.locator("[data-key='choice-1']")).to_contain_text(re.compile("[←↑→↓]"))
        picture(page, f"question-move-{answer}")
        sheet.locator(f"[data-key='{answer}']").click()
        expect(sheet).to_have_count(0)
        told = [e for e in session.view()["history"] if e["kind"] == short.DO]
        assert [e["path"] for e in told] == ([[list(s) for s in left.path]] if left else [])
        assert not session.view()["questions"]
        for entry in told:
            session.command({"do": "retract", "seq": entry["seq"]})


def marked(hand: Any, choices: Any, moves: list[Move]) -> None:
    """Each square has the number of its answer, which needs no coordinates; the last one's is tapped."""
    for n, move in enumerate(moves):
        x, y = move["at"]
        expect(hand.page.locator(f".choice[data-at='{x},{y}'] .number text")).to_have_text(str(n + 1))
        expect(choices.locator(f"[data-key='choice-{n}'] .mark-number")).to_have_text(str(n + 1))
    expect(choices).not_to_contain_text("column")
    x, y = moves[-1]["at"]
    version = hand.session.view()["version"]
    assert hand.touch(f".choice[data-at='{x},{y}'] rect")
    hand.shown(version)
    expect(hand.page.locator(".choice")).to_have_count(0)


def test_where_it_may_have_happened_is_marked_on_the_board_and_a_tap_there_answers(table):
    game, hand, event, other = begin(table, next(r for r in ROWS if r.name == "fairy"))
    first, second = said(game, event), said(game, other)
    hand.session.commit((first,), confidence=0.6, asked=True, crop=JPEG,
                        alternatives=(((first,), 0.6), ((second,), 0.4)))
    sheet = hand.page.locator("#sheet.question:not(.asking):not([hidden])")
    sheet.wait_for()
    marked(hand, sheet.locator(".choices"), [event, other])
    assert [e["at"] for e in hand.session.view()["history"] if e["kind"] == "fairy"] == [other["at"]]


def test_whom_it_concerns_is_marked_on_the_board_and_a_tap_there_answers(table):
    _, hand, *answers = begin(table, next(r for r in ROWS if r.name == "capture"))
    (question,) = captures(hand.session)
    hand.open()
    hand.key(f"ask-{question['id']}")
    choices = hand.page.locator(f"#sheet.asking:not([hidden]) .choices[data-about='{question['id']}']")
    choices.wait_for()
    marked(hand, choices, answers)
    assert [e["at"] for e in hand.session.view()["history"] if e["kind"] == "capture"] == [answers[-1]["at"]]


def test_a_block_that_the_camera_doubts_is_asked(table):
    """A block that may have been added to a pile: it was, or it was not."""
    def lead(game: Game) -> tuple[Move, Move | None]:
        game.flagged("tower")
        game.lay(plain=True)
        return {}, None

    game, hand, *_ = begin(table, Row("tower", ("base", "tower"), lead))
    session, page = game.session, hand.page
    (raised, *_), = [c.answers for c in game.state.box.moves(game.state) if c.code == "tower"]
    for answer, left in (("choice-0", 1), ("nothing", 0)):
        session.commit((raised,), confidence=0.6, asked=True, alternatives=(((raised,), 0.6), ((), 0.4)), crop=JPEG)
        sheet = page.locator("#sheet.question:not([hidden])")
        expect(sheet.locator("[data-key='choice-0']")).to_contain_text("tower")
        sheet.locator(f"[data-key='{answer}']").click()
        expect(sheet).to_have_count(0)
        told = [e for e in session.view()["history"] if e["kind"] == raised.DO]
        assert len(told) == left and not session.view()["questions"]
        for entry in told:
            session.command({"do": "retract", "seq": entry["seq"]})


def test_that_a_tower_took_nobody_is_tapped(table):
    """The question whom it takes is over then, on the page and in the log; undoing that asks again."""
    game, hand, *_ = begin(table, next(r for r in ROWS if r.name == "capture"))
    session, page = game.session, hand.page
    (question,) = captures(session)
    ask = page.locator(f"#sheet.add [data-key='ask-{question['id']}']")
    choices = page.locator(f"#sheet.asking:not([hidden]) .choices[data-about='{question['id']}']")
    hand.open()
    ask.click()
    expect(choices.locator(".candidate")).to_have_count(len(question["answers"]) + 1)
    before, shown = session.view()["version"], table_of(session)
    choices.locator("[data-key='choice-nothing']").click()
    hand.shown(before)
    expect(page.locator("#sheet.add:not([hidden])")).to_be_visible()
    expect(ask).to_have_count(0)
    last = session.entries[-1]
    assert isinstance(last.body, Settled) and (last.body.code, last.source) == ("capture", "hand")
    assert not captures(session) and table_of(session) == shown and not session.view()["board"]["prisoners"]
    page.keyboard.press("Escape")
    hand.sends("bar.undo")
    assert [q["id"] for q in captures(session)] == [question["id"]]
    hand.open()
    expect(ask).to_be_visible()


def captures(session: TableSession) -> list[Move]:
    return [q for q in session.view()["open_questions"] if q["code"] == "capture"]
