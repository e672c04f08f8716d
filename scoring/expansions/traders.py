"""Traders & Builders: the builder's second tile, the pig's farm bonus, and trade goods for completing cities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypedDict, cast

from scoring.contributions import ANY, Choice, Expansion, Handler, Held, Piece, Question, Stage, View
from scoring.events import Event, Setup, written
from scoring.notation import PLAYER, SMALL, choice
from scoring.scores import Item, ScoreEvent, leaders
from scoring.state import Draft, Feature, feature_at, figures_on
from scoring.tiles import Segment
from scoring.view_cache import ViewCache

GOODS = ("wine", "grain", "cloth")
TOKENS: Mapping[str, int] = {"wine": 9, "grain": 6, "cloth": 5}  # R-COMP-06
MOST_GOODS = 10  # R-TRADE-05


@dataclass(frozen=True, slots=True, kw_only=True)
class Goods:
    """Goods tokens per player, in the order of GOODS."""

    held: tuple[tuple[int, ...], ...]


def initial(setup: Setup) -> Goods:
    return Goods(held=tuple((0,) * len(GOODS) for _ in setup.players))


def goods(view: View) -> Goods:
    return cast(Goods, view.ext["traders"])


def marks(segment: Segment) -> tuple[tuple[str, int], ...]:
    return tuple((sign, 1) for sign in segment.signs if sign in GOODS)


def extends_builder(d: Draft) -> None:
    """R-BUILD-05, A-16: decided when the tile is placed, so that only a builder already there counts."""
    at = d.last_tile
    if at is None:
        return
    placed, standing = d.tiles[at], d.standing
    for n in range(len(d.box.shape(placed.tile, placed.rot).kinds)):
        for i in feature_at(d, at, n).figures:
            if standing[i].figure == "builder" and standing[i].player == d.player:
                d.again = True


def take_goods(d: Draft, feature: Feature) -> None:
    """R-TRADE-02 to R-TRADE-04: the player of the tile takes a token for every goods symbol."""
    taken = [feature.marks.get(g, 0) for g in GOODS]
    if feature.kind == "city" and any(taken):
        held = list(goods(d).held)
        held[d.player] = tuple(a + b for a, b in zip(held[d.player], taken, strict=True))
        d.ext["traders"] = replace(goods(d), held=tuple(held))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodsCounted(Event):
    """The number of a player's tokens of a kind, as counted by people."""

    DO: ClassVar[str] = "goods"
    player: int = written(PLAYER)
    goods: str = written(choice(*GOODS))
    count: int = written(SMALL)


def on_goods(d: Draft, event: GoodsCounted) -> None:
    """A count of tokens overrides the number computed by the rules."""
    held = list(goods(d).held)
    held[event.player] = tuple(event.count if name == event.goods else n
                               for name, n in zip(GOODS, held[event.player], strict=True))
    d.ext["traders"] = replace(goods(d), held=tuple(held))
    taken = sum(h[GOODS.index(event.goods)] for h in held)
    if taken > TOKENS[event.goods]:
        d.issue("too_many_goods", f"The players hold {taken} {event.goods}; there are {TOKENS[event.goods]}.")


def offers(view: View) -> Iterator[Question]:
    """R-TRADE-02: the player who completes a city takes its goods; people forget, and the camera cannot see it."""
    if any(map(any, goods(view).held)) and not view.over:
        (choice,) = moves(view)
        yield Question(code="goods", text="Does anybody hold other goods?", player=view.player, offer=True,
                       answers=choice.answers)


def moves(view: View) -> Iterator[Choice]:
    """R-TRADE-02: a player takes a token or puts one back."""
    held = goods(view).held
    answers = []
    for n, name in enumerate(GOODS):
        left = TOKENS[name] - sum(h[n] for h in held)
        for player, h in enumerate(held):
            answers += [GoodsCounted(player=player, goods=name, count=count) for count in (h[n] - 1, h[n] + 1)
                        if 0 <= count <= h[n] + left]
    yield Choice(code="goods", event=GoodsCounted, player=view.player, answers=tuple(answers))


def majorities(held: tuple[tuple[int, ...], ...]) -> Iterator[tuple[str, dict[int, int], tuple[int, ...]]]:
    """For each kind of goods: the tokens of each player, and who has the most (R-TRADE-05, R-TRADE-06, A-19)."""
    for n, name in enumerate(GOODS):
        counts = {p: h[n] for p, h in enumerate(held) if h[n]}
        yield name, counts, leaders(counts)


def goods_stage(view: View, memory: ViewCache) -> tuple[ScoreEvent, ...]:
    return memory.scored["goods"].of(goods(view), lambda: tuple(_most(view)))


def _most(view: View) -> Iterator[ScoreEvent]:
    for name, counts, best in majorities(goods(view).held):
        if best:
            items = (Item(what=name, count=1, each=MOST_GOODS),)
            yield ScoreEvent(turn=view.turn, feature="", reason="trade-goods", rule="R-TRADE-05", items=items,
                             points=tuple((p, MOST_GOODS) for p in best), majority=tuple(sorted(counts.items())),
                             places=(), tiles=0, stage="goods")


def pig(view: View, farm: Feature, player: int) -> Item | None:
    """R-PIG-04 to R-PIG-07."""
    here = any(f.figure == "pig" and f.player == player for f in figures_on(view, farm))
    return Item(what="pig", count=1, each=view.box.rules.number("pig_bonus"), player=player) if here else None


class Tokens(TypedDict):
    """Goods tokens by kind."""

    wine: int
    grain: int
    cloth: int


class Shown(TypedDict):
    """The goods tokens of each player, and those left."""

    goods: list[Tokens]
    bank: Tokens


def shows(view: View) -> Shown:
    held = goods(view).held
    wine, grain, cloth = map(sum, zip(*held, strict=True))
    return {"goods": [{"wine": wine, "grain": grain, "cloth": cloth} for wine, grain, cloth in held],
            "bank": {"wine": TOKENS["wine"] - wine, "grain": TOKENS["grain"] - grain, "cloth": TOKENS["cloth"] - cloth}}


def holds(view: View, player: int) -> Iterator[Held]:
    for name, count in zip(GOODS, goods(view).held[player], strict=True):
        if count:
            yield {"key": f"goods.{name}", "n": count, "icon": name}


TRADERS = Expansion(
    name="traders",
    products=("traders",),
    pieces=(Piece(name="builder", count=lambda players: 1, stands=("road", "city"), company=True),
            Piece(name="pig", count=lambda players: 1, stands=("field",), company=True)),
    marks=marks,
    handlers=(Handler(event=GoodsCounted, apply=on_goods, when=ANY),),
    laid=(extends_builder,),
    completed=(take_goods,),
    farm_extras=(pig,),
    stages=(Stage(name="goods", events=goods_stage),),
    initial=initial,
    offers=offers,
    moves=moves,
    shows=shows,
    holds=holds,
    phrases={"trade-goods": "Most {of}"},
    options=("pig_bonus",),
    cues={"builder": "a tall narrow figure with a stick; one per colour", "pig": "a low figure with four legs"},
)
