"""A complete game by three greedy players: legal, varied, and reproducible from its seed."""

from __future__ import annotations

import random

from scoring.engine import figures_on, legal_claims, legal_placements, new_game, step
from scoring.events import Event, FigurePlaced, Player, Setup, TileDiscarded, TilePlaced, TurnEnded
from scoring.final import final_of
from scoring.rules import Rules, edition
from scoring.state import Claim, GameState
from scoring.tiles import Square
from scoring.transcript import Game, turns_of
from scoring.view_cache import ViewCache

PLAYERS = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"), Player(name="Clea", colour="yellow"))
REACH = (7, 5)  # how far the board may grow east-west and north-south, in tiles: the camera's field of view


def demo_game(seed: int, *, turns: int | None = None, rules: Rules | None = None,
              expansions: tuple[str, ...] = ("base",), players: tuple[Player, ...] = PLAYERS) -> Game:
    """A game from a seed. Every player likes to complete and to claim what pays, and keeps the board compact."""
    rng = random.Random(seed)
    setup = Setup(players=players, rules=rules or edition(), expansions=expansions)
    state = new_game(setup)
    box = [tile for tile, left in sorted(state.left.items()) for _ in range(left)]
    rng.shuffle(box)
    events: list[Event] = []
    memory, played = ViewCache(), 0
    for tile in box:
        if turns is not None and played >= turns:
            break
        player = state.player
        squares = [(at, rot) for at, rot in legal_placements(state, tile)
                   if abs(at[0]) <= REACH[0] and abs(at[1]) <= REACH[1]]
        if not squares:
            events.append(TileDiscarded(player=player, tile=tile))
            state = step(state, events[-1])
            continue
        best: tuple[float, list[Event], GameState] | None = None
        for at, rot in squares:
            choice = _turn(state, TilePlaced(player=player, tile=tile, at=at, rot=rot), rng, memory)
            if best is None or choice[0] > best[0]:
                best = choice
        assert best is not None
        events += best[1]
        state = best[2]
        played += 1
    return Game(setup=setup, turns=turns_of(setup, tuple(events)))


def _turn(state: GameState, placed: TilePlaced, rng: random.Random, memory: ViewCache,
          ) -> tuple[float, list[Event], GameState]:
    """The best that this placement offers: what it is worth to its player, the events, the state after the turn."""
    laid = step(state, placed)
    options: list[Claim | None] = [None]
    if laid.supply[placed.player].get("follower", 0) > 0:
        options += legal_claims(laid)
    best: tuple[float, list[Event], GameState] | None = None
    for claim in options:
        events: list[Event] = [placed]
        after = laid
        if claim is not None:
            events.append(FigurePlaced(player=placed.player, figure="follower", at=claim.at, feature=claim.feature,
                                       where=claim.where))
            after = step(laid, events[-1])
        ended = step(after, TurnEnded())
        worth = _worth(ended, placed.player, memory) - 0.15 * _spread(placed.at) + rng.random() * 1.5
        if claim is not None:
            worth -= 5.0 / (1 + ended.supply[placed.player]["follower"]) + (5.5 if claim.feature == "field" else 0.0)
        if best is None or worth > best[0]:
            best = worth, events, ended
    assert best is not None
    return best


def _worth(state: GameState, player: int, memory: ViewCache) -> float:
    """A player's margin if the game ended now, with a little for every open feature that can still grow."""
    totals = final_of(state, memory).totals
    others = [s for p, s in enumerate(totals) if p != player]
    growing = (f for f in state.board.features.values() if f.open and f.kind in ("road", "city", "cloister"))
    hopes = sum(min(3, f.open) for f in growing if f.figures and any(g.player == player for g in figures_on(state, f)))
    return totals[player] - max(others) * 0.7 + hopes + 1.2 * state.scores[player]


def _spread(at: Square) -> float:
    return float(abs(at[0]) + abs(at[1]))
