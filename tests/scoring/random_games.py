"""Random legal games, from the engine's legal moves. Seeded, so that a failure can be reproduced.

Moves of the boxes known here are derived from the rules again, to be compared with those that the boxes offer; a box
that is added is played by the moves it offers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from scoring.contributions import AFTER
from scoring.engine import apply, fits, legal_claims, new_game, open_squares
from scoring.events import Event, FigurePlaced, Player, Setup, TileDiscarded, TilePlaced, TurnEnded
from scoring.expansions import KNOWN
from scoring.expansions.dragon_moves import DragonMoved, FairyMoved, PrincessRemoved, dragon_steps, knights_of_princess
from scoring.expansions.tower import Captured, TowerRaised, may_capture
from scoring.expansions.tower_state import guard, towers
from scoring.expansions.wheel import SEGMENTS, CrownTaken, PlagueTook, WheelTurned, on_land, wheel
from scoring.rules import edition, with_options
from scoring.state import Draft, in_hand

COLOURS = ("red", "blue", "yellow", "green", "black", "grey")
FIGURES = tuple(p.name for e in KNOWN.values() for p in e.pieces if p.stands)
CHOSEN_HERE = (FigurePlaced, FairyMoved, TowerRaised, CrownTaken)  # figure actions that `_action` derives itself


def setup_of(rng: random.Random, *expansions: str, name: str | None = None) -> Setup:
    """Two to six players, any edition, some house rules."""
    rules = edition(name or rng.choice(("rgg2006", "zman2012", "rgg_short")))
    changes: dict[str, object] = {"dragon_timing": rng.choice(("after_scoring", "before_scoring")),
                                  "fairy_mode": rng.choice(("tile", "follower"))}
    count = rng.randint(2, 6)
    return Setup(players=tuple(Player(name=c.capitalize(), colour=c) for c in COLOURS[:count]),
                 rules=with_options(rules, changes), expansions=expansions or ("base",))


def random_game(seed: int, *expansions: str, tiles: int = 40, name: str | None = None) -> tuple[Setup, list[Event]]:
    """A set-up and the events of a legal game of at most that many tiles, turns ended one by one."""
    rng = random.Random(seed)
    setup = setup_of(rng, *expansions, name=name)
    d = Draft(new_game(setup))
    events: list[Event] = []

    def happen(event: Event) -> None:
        apply(d, event)
        events.append(event)

    def turn_wheel() -> None:
        happen(WheelTurned(player=d.player, steps=rng.randint(1, 3)))
        for player in wheel(d).plagued:
            f = rng.choice(on_land(d, player))
            happen(PlagueTook(player=player, figure=f.figure, at=f.at, feature=f.feature, where=f.where))

    def drawn() -> TilePlaced | None:
        """A tile that fits, once the wheel has turned for its sign."""
        bag = [t for t, n in sorted(d.left.items()) for _ in range(n)]
        rng.shuffle(bag)
        placed = next((p for t in bag if (p := _place(d, rng, t))), None)
        if placed is not None and "wheel" in setup.expansions and "wheel_icon" in d.box.tile(placed.tile).flags:
            turn_wheel()
        return placed

    for _ in range(tiles):
        placed = drawn()
        if placed is None:
            break
        if rng.random() < 0.03:  # it is put away, another one is drawn, and may have a sign, too
            happen(TileDiscarded(player=d.player, tile=placed.tile, part=d.part))
            placed = drawn()
            if placed is None:
                break
        signs = d.box.tile(placed.tile).flags
        happen(placed)
        for event in _action(d, rng):
            happen(event)
        if "dragon" in signs:
            for _ in range(6):
                ahead = dragon_steps(d)
                if ahead:
                    happen(DragonMoved(player=d.player, path=(rng.choice(ahead),)))
        happen(TurnEnded())
    return setup, events


def _place(d: Draft, rng: random.Random, tile: str) -> TilePlaced | None:
    places = [(at, rot) for at in open_squares(d) for rot in range(4) if fits(d, tile, at, rot)]
    if not places:
        return None
    places.sort(key=lambda p: (abs(p[0][0]) + abs(p[0][1]), p))
    water = "I" in d.box.tile(tile).edges  # a river that flows away from the others does not get stuck
    at, rot = rng.choice(places[-2:] if water else places[:12])
    return TilePlaced(player=d.player, tile=tile, at=at, rot=rot, part=d.part)


def _action(d: Draft, rng: random.Random) -> Iterator[Event]:
    """What the player does after laying the tile, if anything."""
    boxes = d.setup.expansions
    if "dragon" in boxes and (knights := knights_of_princess(d)):
        f = rng.choice(knights)
        yield PrincessRemoved(player=d.player, owner=f.player, figure=f.figure, at=f.at, feature=f.feature,
                              where=f.where)
        return
    offered = [c.answers for c in d.box.moves(d) if c.answers and d.box.handlers[c.event].when == AFTER
               and c.event not in CHOSEN_HERE]
    if offered and rng.random() < 0.3:
        yield rng.choice(rng.choice(offered))
        return
    claims = [(figure, c) for figure in FIGURES if in_hand(d, d.player, figure) > 0 for c in legal_claims(d, figure)]
    roll = rng.random()
    own = [f for f in d.standing.values() if f.player == d.player and f.figure in ("follower", "large")
           and f.at in d.tiles and f.feature != "crown"]
    alone = [f for f in own if sum(g.at == f.at for g in own) == 1]
    raised = [at for at, p in d.tiles.items() if "tower" in d.box.tile(p.tile).flags and not guard(d, at)] \
        if "tower" in boxes else []
    crowns = [s for s in SEGMENTS if "wheel" in boxes and not any(f.where == s for f in d.standing.values())]
    if roll < 0.1 and "dragon" in boxes and alone:
        yield FairyMoved(player=d.player, at=rng.choice(alone).at)
    elif roll < 0.3 and raised and towers(d).placed[d.player] < d.box.counts["tower_pieces"]:
        yield TowerRaised(player=d.player, at=rng.choice(raised))
        if takes := may_capture(d):
            f = rng.choice(takes)
            yield Captured(player=d.player, owner=f.player, figure=f.figure, at=f.at, feature=f.feature, where=f.where)
    elif roll < 0.35 and crowns and in_hand(d, d.player, "follower") > 0:
        yield CrownTaken(player=d.player, figure="follower", segment=rng.choice(crowns))
    elif roll < 0.85 and claims:
        figure, c = rng.choice(claims)
        yield FigurePlaced(player=d.player, figure=figure, at=c.at, feature=c.feature, where=c.where)
