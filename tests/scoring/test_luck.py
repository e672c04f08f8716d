"""The luck index: what a kind is worth, what the draw was worth, and how rare that is."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from scoring.engine import new_game
from scoring.events import Player, Setup, TileDiscarded, TilePlaced
from scoring.luck import luck, worths
from scoring.rules import edition

SETUP = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition())


def drawn(kinds: list[str], player: int) -> list[TilePlaced]:
    return [TilePlaced(player=player, tile=kind, at=(n, 90 + player), rot=0) for n, kind in enumerate(kinds)]


def test_a_kind_is_worth_what_its_finished_features_pay():
    worth = worths(SETUP)
    assert worth["base.B"] == 9  # a monastery alone
    assert worth["base.A"] == 10  # with a road
    assert worth["base.C"] == 4  # city all round with a pennant: 2 and 2
    assert worth["base.U"] == worth["base.V"] == 1  # one road
    assert worth["base.X"] == 4  # four roads
    assert worth["base.H"] == 4  # two cities apart
    half = Setup(players=SETUP.players, expansions=("base", "inns"), rules=edition())
    assert any(w > 10 for w in worths(half).values())  # an inn or a cathedral pays more when it is finished


def test_average_draws_are_average_and_everybody_together_is_the_whole_box():
    box = [kind for kind, n in new_game(SETUP).left.items() for _ in range(n)]
    random.Random(4).shuffle(box)
    both = luck(SETUP, chain(drawn(box[:36], 0), drawn(box[36:], 1)))
    assert [one.drawn for one in both] == [36, 35]
    assert sum(one.points for one in both) == pytest.approx(0)  # whatever one got the other has not
    assert both[0].above + both[1].above == pytest.approx(1, abs=0.02)
    nothing = luck(SETUP, ())
    assert [(one.drawn, one.points, one.above) for one in nothing] == [(0, 0, 0.5)] * 2


def test_whoever_draws_the_monasteries_was_lucky_and_a_tile_that_fits_nowhere_was_drawn():
    rich, poor = ["base.B"] * 4 + ["base.C"], ["base.U"] * 5
    one, other = luck(SETUP, chain(drawn(rich, 0), drawn(poor, 1)))
    assert one.points > 20 and one.above > 0.99 and other.points < -10 and other.above < 0.02
    (kept, _) = luck(SETUP, [TileDiscarded(player=0, tile="base.B")])
    assert (kept.drawn, kept.worth) == (1, 9)


def test_the_share_of_unluckier_draws_is_what_drawing_at_random_gives():
    """The normal approximation against 4,000 draws of 12 tiles."""
    rng, worth = random.Random(11), worths(SETUP)
    box = [kind for kind, n in new_game(SETUP).left.items() for _ in range(n)]
    mine = rng.sample(box, 12)
    points = sum(worth[k] for k in mine)
    sums = [sum(worth[k] for k in rng.sample(box, 12)) for _ in range(4000)]
    share = (sum(s < points for s in sums) + 0.5 * sum(s == points for s in sums)) / len(sums)
    assert luck(SETUP, drawn(mine, 0))[0].above == pytest.approx(share, abs=0.06)
