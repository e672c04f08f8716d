"""Each event of every box on the page, asked, corrected, added, removed and moved, in its turn and after the next
tile: the game is the one in which it had been told rightly and in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hand import Hand
from pageevents import ROWS, Game, Move, Row, begin, correct, like, next_tile, said, served_page, table_of
from pageviews import picture
from webtable import JPEG

from bastide.table.session import TableSession

expect = pytest.importorskip("playwright.sync_api").expect

# a tile is its turn, figures go with it, and a follower that the plague took with the wheel: not to another turn
BOUND = {"follower", "large follower", "builder", "second tile", "pig", "plague"}
AS_ANSWERS = {"plague"}  # the rules ask again, whenever it is


@pytest.fixture(scope="module")
def table(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TableSession, Any]]:
    """One table and one page for all rows."""
    with served_page(chromium, tmp_path_factory.mktemp("matrix")) as one:
        yield one


def would_be(game: Game, *moves: Move, look: Callable[[TableSession], Any] = table_of) -> Any:
    """The table after these moves, which are taken back again."""
    game.tell(*moves)
    shown = look(game.session)
    for _ in moves:
        game.session.command({"do": "undo"})
    return shown


def happened(session: TableSession) -> list[tuple[str, int, int | None]]:
    """What was done, in its order: its kind, its turn, and whose it was."""
    return [(e["kind"], e["turn"], e.get("player")) for e in session.view()["history"]]


def told(session: TableSession, event: Move) -> Move:
    return [e for e in session.view()["history"] if like(e, event)][-1]


def open_row(hand: Hand, entry: Move) -> None:
    """Its line in the history, whatever turn it is."""
    hand.shown(hand.session.view()["version"] - 1)
    hand.page.keyboard.press("Escape")
    hand.page.locator("[data-key='bar.history']").click()
    hand.page.locator(f"#sheet [data-key='move-{entry['seq']}']").click()
    sheet = "fix" if entry["kind"] == "tile" else "move-sheet"
    hand.page.locator(f"#sheet.{sheet}:not([hidden])").wait_for()


def asked(game: Game, hand: Hand, row: Row, event: Move, other: Move | None, later: list[Move]) -> None:
    """The camera doubts what it saw; the answer is the other reading, or that nothing of it happened."""
    session, page = game.session, hand.page
    expected = would_be(game, *([other] if other else []), *later)
    if row.before or event["do"] == "tile":
        coming = session.view()["next_tile"]
        whose = {k: coming[k] for k in (("player",) if row.before else ("player", "part"))}
        event, other = {**whose, **event}, other and {**whose, **other}
    first, second = said(game, event), said(game, other) if other else None
    session.commit((first,), confidence=0.6, asked=True, crop=JPEG,
                   alternatives=(((first,), 0.6), ((second,) if second else (), 0.4)))
    game.tell(*later)
    hand.shown(session.view()["version"] - 1)
    sheet = page.locator("#sheet.question:not(.asking):not([hidden])")
    sheet.wait_for()
    answers = sheet.locator(".candidate").evaluate_all("all => all.map(el => el.innerHTML.replace(/\\d+\\s?%.*/s, ''))")
    assert len(answers) == len(set(answers)), "somebody who looks at them can tell which is which"
    assert event["do"] != "deploy" or sheet.locator("[data-key='choice-0'] .figure").count() == 1
    picture(page, f"ask-{row.name.replace(' ', '-')}-{len(later)}")
    version = session.view()["version"]
    nothing = event["do"] != "deploy" and not other
    page.locator(f"#sheet [data-key='{'nothing' if nothing else 'choice-1'}']").click()
    hand.shown(version)
    assert not session.view()["questions"] and table_of(session) == expected


def corrected(game: Game, hand: Hand, row: Row, event: Move, other: Move | None, later: list[Move]) -> None:
    """It was told as something else; without another reading, of the other player."""
    session = game.session
    if other is not None:
        expected = would_be(game, other, *later)
    game.tell(event, *later)
    entry = told(session, event)
    body = {"do": entry["kind"], **{k: v for k, v in entry.items() if k in event or k == "player"}}
    if other is None:
        other = {**body, "player": 1 - entry["player"]}
        session.command({"do": "amend", "seq": entry["seq"], "body": {**event, "player": 1 - entry["player"]}})
        expected = table_of(session)
        session.command({"do": "undo"})
        keys: tuple[str, ...] = (f"played-{1 - entry['player']}",)
    else:
        keys = row.keys
    open_row(hand, entry)
    correct(game, hand, entry, other, keys)
    assert table_of(session) == expected


def added(game: Game, hand: Hand, row: Row, event: Move, _other: Move | None, later: list[Move]) -> None:
    """It was missed."""
    session, page = game.session, hand.page
    expected = would_be(game, event, *later)
    turn = [p["turn"] for p in session.view()["board"]["tiles"] if p["last"]][0] if not row.before else None
    game.tell(*later)
    hand.shown(session.view()["version"] - 1)
    if later and row.name not in AS_ANSWERS:
        at = later[0]["at"] if row.before else next(
            p["at"] for p in session.view()["board"]["tiles"] if p["turn"] == turn)
        hand.place(f"[id='at-{at[0]}-{at[1]}'] use", "#sheet.fix:not([hidden])")
        page.locator("#sheet [data-key='missed']").click()
        page.locator("#sheet.add:not([hidden])").wait_for()
        hand.then = None if row.before else session.past.view_after(turn)
    hand.play(said(game, event))
    hand.then = None
    if row.name not in AS_ANSWERS:
        name = session.view()["players"][told(session, event)["player"]]["name"]
        expect(page.locator("#toast")).to_contain_text(name)
    assert table_of(session) == expected
    page.keyboard.press("Escape")


def removed(game: Game, hand: Hand, row: Row, event: Move, _other: Move | None, later: list[Move]) -> None:
    """It never happened."""
    session, page = game.session, hand.page
    expected = would_be(game, *later)
    game.tell(event, *later)
    open_row(hand, told(session, event))
    picture(page, f"row-{row.name.replace(' ', '-')}-{len(later)}")
    version = session.view()["version"]
    page.locator("#sheet [data-key='remove']").click()
    hand.saved(version)
    assert table_of(session) == expected


CELLS: dict[str, Callable[..., None]] = {"ask": asked, "correct": corrected, "add": added, "remove": removed}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_it_is_as_if_it_had_been_told_rightly(table, row, cell, when):
    """``when`` is before or after the next tile."""
    game, hand, event, other = begin(table, row)
    later = [next_tile(game, row)] if when == "after" else []
    CELLS[cell](game, hand, row, event, other, later)


@pytest.mark.parametrize("row", [r for r in ROWS if r.name not in BOUND], ids=lambda row: row.name.replace(" ", "-"))
def test_what_was_told_in_a_wrong_turn_is_moved_in_two_taps(table, row):
    game, hand, event, _ = begin(table, row)
    session, page = game.session, hand.page
    own = [game.tile(plain=True)] if row.before else []
    game.tell(*own)
    turn = next(p["turn"] for p in session.view()["board"]["tiles"] if p["last"])
    following: list[Move] = []
    for _ in range(2 if row.name == "ransom" else 1):  # the player's next turn, or somebody else's
        following.append(game.tile(plain=True))
        game.tell(following[-1])
    for _ in (*own, *following):
        session.command({"do": "undo"})
    course = would_be(game, event, *own, *following, look=happened)
    expected = would_be(game, event, *own, *following)
    game.tell(*own, *following)
    wrong = turn + len(following)
    named = event["do"] in ("goods", "ransom", "exchange")
    session.command({"do": "insert", "turn": wrong, "body": {k: v for k, v in event.items() if named or k != "player"}})
    assert happened(session) != course
    (entry,) = [e for e in session.view()["history"] if e["kind"] == event["do"] and e["turn"] == wrong]
    open_row(hand, entry)
    picture(page, f"shift-{row.name.replace(' ', '-')}")
    version = session.view()["version"]
    page.locator(f"#sheet [data-key='turn-{turn}']").click()
    hand.saved(version)
    expect(page.locator("#toast")).to_contain_text(f"Moved to turn {turn + 1}")
    assert happened(session) == course and table_of(session) == expected
    hand.sends("bar.undo")
    assert [e["turn"] for e in session.view()["history"] if e["kind"] == event["do"]][-1] == wrong


def test_figures_on_the_tile_of_their_turn_are_not_moved(table):
    """They would stand on a tile that did not lie there yet, or on somebody else's."""
    game, hand, event, _ = begin(table, ROWS[1])
    session = game.session
    game.tell(event, game.tile(plain=True))
    open_row(hand, told(session, event))
    expect(hand.page.locator("#sheet.move-sheet [data-key='remove']")).to_be_visible()
    expect(hand.page.locator("#sheet [data-key^='turn-']")).to_have_count(0)
