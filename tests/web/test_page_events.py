"""Every event of every box on the page: entered in time, entered late, corrected and retracted (docs/page.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from hand import Hand
from pageviews import drawn, picture
from webtable import JPEG

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import legal_figures, legal_placements, step
from scoring.events import Player, Setup, TilePlaced, from_json
from scoring.log import Settled
from scoring.rules import edition
from web.app import create_app
from web.catalogue import tiles
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect

PLAYERS = [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]
Move = dict[str, Any]


class Game:
    """A game at the page's table, led to where something can happen. What nobody watches is told by hand."""

    def __init__(self, session: TableSession, *boxes: str) -> None:
        self.session = session
        session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012", "rules": {},
                                                     "expansions": list(boxes)}})
        self.kinds = tiles(session.view()["expansions"])

    @property
    def state(self) -> Any:
        return self.session.state

    def tell(self, *moves: Move) -> None:
        for move in moves:
            self.session.command(move)

    def tile(self, wanted: Callable[[Any, str], bool] = lambda state, tile: True, *, plain: bool = False) -> Move:
        """The next tile such that ``wanted(state after it, its kind)``; ``plain`` ones ask nothing of anybody."""
        for tile, kind in self.kinds.items():
            if not kind["count"] or self.state.left.get(tile, 0) < 1 or (plain and (kind["flags"] or "river" in tile)):
                continue
            for at, rot in legal_placements(self.state, tile):
                after = step(self.state, TilePlaced(player=0, tile=tile, at=at, rot=rot)) if not plain else None
                if plain or wanted(after, tile):
                    return {"do": "tile", "tile": tile, "at": list(at), "rot": rot}
        raise AssertionError("no such tile")

    def lay(self, *args: Any, **more: Any) -> tuple[int, int]:
        move = self.tile(*args, **more)
        self.tell(move)
        return move["at"][0], move["at"][1]

    def flagged(self, flag: str) -> tuple[int, int]:
        return self.lay(lambda state, tile: flag in self.kinds[tile]["flags"])

    def claims(self, figure: str = "follower", features: tuple[str, ...] = ("city", "road", "field")) -> list[Move]:
        """Where such a figure may go on the tile just laid."""
        shape = self.state.box.shape(self.state.tiles[self.state.last_tile].tile,
                                     self.state.tiles[self.state.last_tile].rot)
        return [{"do": "deploy", "figure": figure, "at": list(self.state.last_tile), "feature": shape.kinds[n],
                 "where": shape.where[n]} for n, names in legal_figures(self.state).items()
                if figure in names and shape.kinds[n] in features]

    def stand(self, figure: str = "follower", features: tuple[str, ...] = ("field",)) -> Move:
        """A tile with such a figure on it, told; the figure."""
        self.lay(lambda state, tile: any(figure in f and state.box.shape(
            tile, state.tiles[state.last_tile].rot).kinds[n] in features for n, f in legal_figures(state).items())
            and not self.kinds[tile]["flags"])
        (move, *_) = self.claims(figure, features)
        self.tell(move)
        return move


@dataclass(frozen=True)
class Row:
    """One event: the boxes, how the game gets there (its ``event`` and another that it may have been instead), whether
    it comes before a tile, and how it is corrected: by its own buttons (keys), or told anew."""

    name: str
    boxes: tuple[str, ...]
    lead: Callable[[Game], tuple[Move, Move | None]]
    before: bool = False  # it comes before a tile
    keys: tuple[str, ...] = ()
    late: bool = True  # may be told when the next tile lies


def _discard(game: Game) -> tuple[Move, Move | None]:
    return {"do": "discard", "tile": "base.X"}, {"do": "discard", "tile": "base.C"}


def _follower(figure: str = "follower") -> Callable[[Game], tuple[Move, Move | None]]:
    def lead(game: Game) -> tuple[Move, Move | None]:
        game.lay(lambda state, tile: tile == "base.V")
        return tuple(game.claims(figure)[:2])  # type: ignore[return-value]
    return lead


def _company(figure: str, features: tuple[str, ...]) -> Callable[[Game], tuple[Move, Move | None]]:
    def lead(game: Game) -> tuple[Move, Move | None]:
        game.stand("follower", features)
        game.lay(plain=True)
        game.lay(lambda state, tile: any(figure in f for f in legal_figures(state).values())
                 and not game.kinds[tile]["flags"])
        return game.claims(figure, features)[0], None
    return lead


def _portal(game: Game) -> tuple[Move, Move | None]:
    game.lay(lambda state, tile: tile == "base.U")
    game.flagged("portal")
    start = next(at for at, p in game.state.tiles.items() if p.tile == "base.U")
    road = next(w for k, w in zip(*_segments(game, start), strict=True) if k == "road")
    field_ = next(w for k, w in zip(*_segments(game, start), strict=True) if k == "field")
    one = {"do": "deploy", "figure": "follower", "at": list(start), "feature": "road", "where": road, "portal": True}
    return one, {**one, "feature": "field", "where": field_}


def _segments(game: Game, at: tuple[int, int]) -> tuple[Any, Any]:
    placed = game.state.tiles[at]
    shape = game.state.box.shape(placed.tile, placed.rot)
    return shape.kinds, shape.where


def _fairy(game: Game) -> tuple[Move, Move | None]:
    one = game.stand()
    game.lay(plain=True)
    two = game.stand()
    game.lay(plain=True)
    game.lay(plain=True)
    return {"do": "fairy", "at": one["at"]}, {"do": "fairy", "at": two["at"]}


def _dragon(game: Game) -> tuple[Move, Move | None]:
    game.flagged("volcano")
    game.lay(plain=True)
    game.flagged("dragon")
    (question,) = [q for q in game.session.view()["open_questions"] if q["code"] == "dragon_path"]
    paths = [{"do": "dragon", "path": a["path"]} for a in question["answers"]]
    return paths[0], paths[1] if len(paths) > 1 else None


def _princess(game: Game) -> tuple[Move, Move | None]:
    game.stand("follower", ("city",))
    game.lay(plain=True)
    game.lay(lambda state, tile: any(q.code == "princess" for q in state.box.questions(state)))
    return _answers(game, "princess")


def _answers(game: Game, code: str) -> tuple[Move, Move | None]:
    question = next(q for q in game.session.view()["open_questions"] if q["code"] == code)
    answers = [{k: v for k, v in a.items() if k not in ("part",)} for a in question["answers"]]
    return answers[0], answers[1] if len(answers) > 1 else None


def _tower(game: Game) -> tuple[Move, Move | None]:
    one = game.flagged("tower")
    two = game.flagged("tower")
    return {"do": "tower", "at": list(two)}, {"do": "tower", "at": list(one)}


def _guard(game: Game) -> tuple[Move, Move | None]:
    at = game.flagged("tower")
    game.tell({"do": "tower", "at": list(at)})
    game.lay(plain=True)
    return {"do": "deploy", "figure": "follower", "at": list(at), "feature": "tower", "where": "I"}, None


def _capture(game: Game) -> tuple[Move, Move | None]:
    at = game.flagged("tower")
    game.tell(game.claims()[0])
    beside = game.lay(lambda state, tile: not game.kinds[tile]["flags"] and abs(state.last_tile[0] - at[0]) + abs(
        state.last_tile[1] - at[1]) == 1 and any("follower" in f for f in legal_figures(state).values()))
    assert beside
    game.tell(game.claims()[0])
    game.lay(plain=True)
    game.tell({"do": "tower", "at": list(at)})
    return _answers(game, "capture")


def _prisoner(game: Game) -> Move:
    """Anna's follower, taken by Ben."""
    own = game.stand()
    game.lay(plain=True)
    game.tell({"do": "capture", "player": 1, "owner": 0, **{k: own[k] for k in ("figure", "at", "feature", "where")}})
    return own


def _exchange(game: Game) -> tuple[Move, Move | None]:
    _prisoner(game)
    small, large = game.stand(), None  # Anna's tile, where Ben puts two
    for n, figure in enumerate(("follower", "large")):
        move = {**small, "player": 1, "figure": figure, "where": small["where"]}
        if n == 0:
            game.tell({"do": "end_turn"})
            game.lay(plain=True)
        game.tell(move)
        large = move
    assert large
    game.lay(plain=True)
    for figure in ("follower", "large"):
        game.tell({"do": "capture", "player": 0, "owner": 1, "figure": figure,
                   **{k: small[k] for k in ("at", "feature", "where")}})
    return _answers(game, "exchange")


def _ransom(game: Game) -> tuple[Move, Move | None]:
    game.lay(lambda state, tile: tile == "base.E" and any(
        f.kind == "city" and not f.open for f in state.features.values()))
    game.tell(game.claims("follower", ("city",))[0])  # 4 points for Anna
    game.lay(plain=True)
    _prisoner(game)
    game.tell({"do": "end_turn"})
    return {"do": "ransom", "player": 0, "jailer": 1, "released": {"owner": 0, "figure": "follower"}}, None


def _wheel(game: Game) -> tuple[Move, Move | None]:
    return {"do": "wheel", "steps": 1}, {"do": "wheel", "steps": 3}


def _plague(game: Game) -> tuple[Move, Move | None]:
    game.tell({"do": "wheel", "steps": 3})
    game.stand()
    game.tell({"do": "wheel", "steps": 2})
    return _answers(game, "plague")


def _crown(game: Game) -> tuple[Move, Move | None]:
    game.lay(plain=True)
    return ({"do": "crown", "figure": "follower", "segment": "storm"},
            {"do": "crown", "figure": "follower", "segment": "tax"})


def _goods(game: Game) -> tuple[Move, Move | None]:
    game.lay(plain=True)
    return {"do": "goods", "player": 0, "goods": "wine", "count": 1}, {"do": "goods", "player": 0, "goods": "wine",
                                                                      "count": 2}


ROWS = [
    Row("discard", ("base",), _discard, before=True),
    Row("follower", ("base",), _follower()),
    Row("large follower", ("base", "inns"), _follower("large")),
    Row("builder", ("base", "traders"), _company("builder", ("road", "city"))),
    Row("pig", ("base", "traders"), _company("pig", ("field",))),
    Row("goods", ("base", "traders"), _goods, keys=("count-2",), late=False),
    Row("portal", ("base", "dragon"), _portal),
    Row("fairy", ("base", "dragon"), _fairy),
    Row("dragon", ("base", "dragon"), _dragon),
    Row("princess", ("base", "dragon"), _princess),
    Row("tower", ("base", "tower"), _tower),
    Row("guard", ("base", "tower"), _guard),
    Row("capture", ("base", "tower"), _capture),
    Row("exchange", ("base", "inns", "tower"), _exchange, late=False),
    Row("ransom", ("base", "tower"), _ransom, before=True),
    Row("wheel", ("wheel",), _wheel, before=True, keys=("steps-3",)),
    Row("plague", ("wheel",), _plague, before=True, late=False),
    Row("crown", ("wheel",), _crown),
]


@pytest.fixture(scope="module")
def table(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TableSession, Any]]:
    """One table and one page for all rows."""
    errors: list[str] = []
    with ExitStack() as stack:
        store = stack.enter_context(Store(tmp_path_factory.mktemp("events") / "table.sqlite"))
        players = tuple(Player(name=p["name"], colour=p["colour"]) for p in PLAYERS)
        session = TableSession(store, Setup(players=players, rules=edition("zman2012")))
        session.set_status("manual")
        server = stack.enter_context(PageServer(create_app(session), port=0))
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        stack.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto(server.url)
        page.wait_for_selector("body[data-ready] .tile")
        yield session, page
    assert not errors


def begin(table: tuple[TableSession, Any], row: Row) -> tuple[Game, Hand, Move, Move | None]:
    """A new game in which the row's event can be entered."""
    session, page = table
    page.keyboard.press("Escape")
    game = Game(session, *row.boxes)
    event, other = row.lead(game)
    hand = Hand(page, session)
    hand.shown(session.view()["version"] - 1)
    page.keyboard.press("Escape")
    return game, hand, event, other


def said(game: Game, move: Move) -> Any:
    return from_json(move, player=move.get("player", game.state.player), part=None)


def table_of(session: TableSession) -> Any:
    """What lies and stands, and what it scores."""
    view = session.view()
    return ({k: v if k != "tiles" else None for k, v in view["board"].items() if k != "figures"},
            [{k: v for k, v in f.items() if k != "seq"} for f in view["board"]["figures"]],
            [(p["score"], p["projected"], p["supply"]) for p in view["players"]], sorted(view["features"], key=str),
            view["left"])


def like(entry: Move, move: Move) -> bool:
    return entry["kind"] == move["do"] and all(entry.get(k) == v for k, v in move.items()
                                               if k not in ("do", "released"))


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
    version = session.view()["version"]
    if other is not None and row.keys:  # corrected by its own buttons
        for key in row.keys:
            page.locator(f"#sheet [data-key='{key}']").click()
    elif other is not None and event["do"] == "deploy":
        hand.segment(other["feature"], other["where"])
    elif other is not None:  # told anew, among what could have happened then
        page.locator("#sheet [data-key='again']").click()
        if event["do"] == "discard":
            hand.kind(other["tile"])
        else:
            page.locator("#sheet.add:not([hidden])").wait_for()
            hand.then = session.past.view_at(entry["seq"], before=True)
            hand.play(said(game, other))
            hand.then = None
    if other is not None:
        hand.saved(version)
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
        following = game.tile(plain=True)
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
