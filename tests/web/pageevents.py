"""The events of every box for the page's tests: how a game gets to where each can happen, and what else may have
happened there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hand import Hand

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import legal_figures, legal_placements, step
from scoring.events import Player, Setup, TilePlaced, from_json
from scoring.rules import edition
from web.app import create_app
from web.catalogue import tiles
from web.server import PageServer

PLAYERS = [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]
Move = dict[str, Any]


class Game:
    """A game at the page's table, led to where something can happen. What nobody watches is told by hand; a tile whose
    player is named was seen by the camera."""

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
            if move["do"] == "tile" and "player" in move:
                self.session.commit((from_json(move, part=1),), confidence=0.99, asked=False)
            else:
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
    after: int | None = None  # who lays the next tile, if that follows only from the event


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


def _second(game: Game) -> tuple[Move, Move | None]:
    """Anna's tile extends her builder's road, and she lays another one: one of two kinds, away from where the next tile
    will lie."""
    game.stand("follower", ("road",))
    game.lay(plain=True)
    game.lay(lambda state, tile: any("builder" in f for f in legal_figures(state).values()))
    game.tell(game.claims("builder", ("road",))[0])
    game.lay(plain=True)
    game.lay(lambda state, tile: state.again and not game.kinds[tile]["flags"])
    following = game.tile(plain=True)
    for at in {at for tile in game.kinds for at, _ in legal_placements(game.state, tile)}:
        if abs(at[0] - following["at"][0]) + abs(at[1] - following["at"][1]) < 2:
            continue
        fit = [{"do": "tile", "tile": tile, "at": list(at), "rot": rot} for tile, kind in game.kinds.items()
               for where, rot in legal_placements(game.state, tile)
               if where == at and tile != following["tile"] and game.state.left.get(tile, 0) and not kind["flags"]
               and not step(game.state, TilePlaced(player=0, tile=tile, at=at, rot=rot, part=2)).touched]
        kinds = {m["tile"]: m for m in fit}
        if len(kinds) > 1:
            one, two, *_ = kinds.values()
            return one, two
    raise AssertionError("no such place")


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


def _turned(steps: int, before: int = 0, stands: str = "") -> Callable[[Game], tuple[Move, Move | None]]:
    """The wheel turned so far, after so many spaces already and with a follower on such a feature."""
    def lead(game: Game) -> tuple[Move, Move | None]:
        for step_by in ([3] * (before // 3) + [before % 3] * bool(before % 3)):
            game.tell({"do": "wheel", "steps": step_by})
            game.lay(plain=True)
        if stands:
            game.stand("follower", (stands,))
        return {"do": "wheel", "steps": steps}, {"do": "wheel", "steps": steps % 3 + 1}
    return lead


def _crowned(game: Game) -> tuple[Move, Move | None]:
    game.lay(plain=True)
    game.tell({"do": "crown", "figure": "follower", "segment": "famine"})
    return {"do": "wheel", "steps": 2}, {"do": "wheel", "steps": 1}


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
    Row("second tile", ("base", "traders"), _second, after=1),
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
    Row("wheel to taxes", ("wheel",), _turned(1, stands="city"), before=True, keys=("steps-2",)),
    Row("wheel to famine", ("wheel",), _turned(2, stands="field"), before=True, keys=("steps-3",)),
    Row("wheel to storm", ("wheel",), _turned(3), before=True, keys=("steps-1",)),
    Row("wheel to inquisition", ("wheel",), _turned(1, before=3, stands="cloister"), before=True, keys=("steps-2",)),
    Row("wheel to plague", ("wheel",), _turned(2, before=3, stands="field"), before=True, keys=("steps-3",)),
    Row("wheel to a crown", ("wheel",), _crowned, before=True, keys=("steps-1",)),
    Row("plague", ("wheel",), _plague, before=True, late=False),
    Row("crown", ("wheel",), _crown),
]


@contextmanager
def served_page(chromium: Any, folder: Path) -> Iterator[tuple[TableSession, Any]]:
    """One table and one page for all rows."""
    errors: list[str] = []
    with ExitStack() as stack:
        store = stack.enter_context(Store(folder / "table.sqlite"))
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
    assert not errors, errors


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


def correct(game: Game, hand: Hand, entry: Move, other: Move, keys: tuple[str, ...]) -> None:
    """On its own sheet, which is shown, an entry becomes another move: by these buttons, else by what could have
    happened then."""
    session, page = game.session, hand.page
    version = session.view()["version"]
    if keys:
        for key in keys:
            page.locator(f"#sheet [data-key='{key}']").click()
    elif entry["kind"] == "tile":
        page.locator("#sheet [data-key='other']").click()
        hand.lies(said(game, other))
    elif entry["kind"] == "deploy":
        hand.segment(other["feature"], other["where"])
    else:
        page.locator("#sheet [data-key='again']").click()
        if entry["kind"] == "discard":
            hand.kind(other["tile"])
        else:
            page.locator("#sheet.add:not([hidden])").wait_for()
            hand.then = session.past.view_at(entry["seq"], before=True)
            hand.play(said(game, other))
            hand.then = None
    hand.saved(version)


def next_tile(game: Game, row: Row) -> Move:
    """A tile that asks nothing of anybody, as it is laid after the row's event."""
    return {**game.tile(plain=True), **({} if row.after is None else {"player": row.after})}


def said(game: Game, move: Move) -> Any:
    return from_json(move, player=move.get("player", game.state.player), part=None)


def table_of(session: TableSession) -> Any:
    """What lies and stands, and what it scores."""
    view = session.view()
    return ({k: v if k != "tiles" else None for k, v in view["board"].items() if k != "figures"},
            [{k: v for k, v in f.items() if k != "seq"} for f in view["board"]["figures"]],
            [(p["score"], p["projected"], p["supply"]) for p in view["players"]], sorted(view["features"], key=str),
            view["left"], view["next_tile"], sorted(i["code"] for i in view["issues"]),
            sorted((e["player"], e["part"]) for e in view["history"] if e["kind"] == "tile"))


def like(entry: Move, move: Move) -> bool:
    return entry["kind"] == move["do"] and all(entry.get(k) == v for k, v in move.items()
                                               if k not in ("do", "released"))
