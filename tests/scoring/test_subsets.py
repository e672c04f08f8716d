"""Any combination of boxes: their order never matters, and unused boxes change nothing."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from random_games import random_game

from scoring.engine import fold, new_game, questions, states
from scoring.events import Event, GameEnded, Setup
from scoring.expansions import KNOWN
from scoring.projection import live_view
from scoring.state import GameState
from scoring.tiles import catalogue

BOXES = tuple(b for b in KNOWN if b not in ("base", "wheel"))  # the river is the first
CHOICES = [("base", *c) for n in range(2, len(BOXES) + 1) for c in combinations(BOXES, n)] + \
    [("wheel", *c) for n in range(1, len(BOXES)) for c in combinations(BOXES[1:], n)] + [("base", "wheel", *BOXES[1:])]


def game(seed: int, *boxes: str, tiles: int) -> tuple[Setup, list[Event]]:
    """A game on the wheel's board where it is among the boxes: it excludes the river (A-49)."""
    return random_game(seed, *boxes, tiles=tiles, name="wheel" if "wheel" in boxes else None)


def said(state: GameState) -> object:
    """Everything that a state tells."""
    view = live_view(state, (), 1)
    del view["expansions"]
    return (json.dumps(view), state.score_events, state.asked, questions(state),
            list(state.box.off_board(state)), state.box.contents, [s.name for s in state.box.steps])


@pytest.mark.parametrize("boxes", CHOICES, ids="+".join)
def test_the_order_of_the_boxes_never_matters(boxes: tuple[str, ...]) -> None:
    rng = random.Random(",".join(boxes))
    setup, events = game(rng.randrange(10**6), *boxes, tiles=20)
    events.append(GameEnded())
    half = events[:len(events) // 2]
    here = [fold(setup, part) for part in (half, events)]
    assert here[1].issues == ()
    for _ in range(2):
        listed = list(boxes)
        rng.shuffle(listed)
        other = replace(setup, expansions=tuple(listed))
        assert [said(fold(other, part)) for part in (half, events)] == [said(state) for state in here]


@pytest.mark.parametrize("seed", range(16))
def test_boxes_that_nobody_uses_change_nothing(seed: int) -> None:
    """A game with some boxes, and the same events on a table where others lie too: neither their tiles nor their
    figures are used. The river is not among those, since whoever has it begins with it (R-RIVER-01)."""
    rng = random.Random(seed)
    played = tuple(b for b in BOXES if rng.random() < 0.5)
    unused = [b for b in (*BOXES[1:], "wheel") if b not in played]
    more = rng.sample(unused, rng.randint(1, len(unused)))
    if "river" in played and "wheel" in more:
        more.remove("wheel")
    setup, events = game(rng.randrange(10**6), "base", *played, tiles=30)
    events.append(GameEnded())
    listed = [*setup.expansions, *more]
    rng.shuffle(listed)
    others = replace(setup, expansions=tuple(listed))
    assert new_game(others).tiles == new_game(setup).tiles
    for here, there in zip(states(setup, events), states(others, events), strict=True):
        assert (here.scores, here.tiles, here.features, here.standing, here.player, here.part, here.issues) == \
            (there.scores, there.tiles, there.features, there.standing, there.player, there.part, there.issues)
    assert here.score_events == there.score_events
    for hand, other in zip(here.supply, there.supply, strict=True):
        assert hand == {piece: other[piece] for piece in hand}
        full = there.box.counts
        assert all(count == full[piece] for piece, count in other.items() if piece not in hand)


def test_no_two_boxes_use_the_same_name() -> None:
    """Of two, the later would win in every game, also where it is not in play."""
    for names in ([p.name for e in KNOWN.values() for p in (*e.pieces, *e.neutrals, *e.stacks)],
                  [k.name for e in KNOWN.values() for k in e.kinds],
                  [h.event.DO for e in KNOWN.values() for h in e.handlers],
                  *([key for e in KNOWN.values() for key in e.appearance.texts.get(language, {})]
                    for language in ("en", "de", "fr"))):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_segments_are_claimable_as_their_kinds_are() -> None:
    kinds = {k.name: k.claimable for e in KNOWN.values() for k in e.kinds}
    assert {(s.kind, s.claimable) for t in catalogue().values() for s in t.segments} <= set(kinds.items())
