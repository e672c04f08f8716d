"""Pieces are told beside the other figures of their table, however large its wood looks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import TWO, Table, figure

from reading.belief import TableBelief
from reading.doubtful import piece_doubts, piece_waits
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.logged_game import logged_game
from reading.pieces import PIECES, foreign, kinds
from reading.policy import Decision, Doubt, Moment
from scoring.engine import fold
from scoring.events import Event, FigurePlaced, Player, Setup, TilePlaced
from scoring.log import LogEntry, effective, open_questions
from scoring.rules import edition


def track(n: int, width: float, *, lying: float = -3.0, pig: float = -6.0, builder: float = -2.4) -> FigureTrack:
    return FigureTrack(id=n, foot=(n + 0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                       weight=1.0, there=6.0, lying=lying, colours={"red": 0.0}, width=width,
                       width_spread=SPREAD, measured=1.0,
                       pieces={"follower": 0.0, "large": -4.0, "builder": builder, "pig": pig})


SPREAD = 0.05  # of a usual measurement
INNS = ("follower", "large")
TRADERS = ("follower", "builder", "pig")


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("larger", [1.17, 1.28])
def test_the_ones_that_stand_out_are_large_whatever_the_scale_of_the_table(scale: float, larger: float) -> None:
    ordinary = [track(n, 0.36 * scale * (0.98 + 0.005 * n), lying=3.0 if n % 2 else -3.0) for n in range(8)]
    large = [track(8, 0.36 * larger * scale), track(9, 0.36 * larger * scale, lying=3.0)]
    said = kinds([*ordinary, *large], INNS)
    assert all(said[f.id].kinds["large"] < -1.0 and said[f.id].kinds["follower"] == 0.0 for f in ordinary)
    assert all(said[f.id].kinds["follower"] < -1.0 and said[f.id].kinds["large"] == 0.0 for f in large)


def test_a_width_between_two_sizes_leaves_it_open_which_one_it_is() -> None:
    """It is 10 % wider than the ordinary ones of its table, and 4 % narrower than the large ones."""
    ordinary = [replace(track(n, 0.335 * (0.98 + 0.005 * n)), width_spread=0.023) for n in range(9)]
    large = [replace(track(10 + n, 0.385), width_spread=0.03) for n in range(2)]
    said = kinds([*ordinary, *large, replace(track(20, 0.37), width_spread=0.023)], INNS)[20].kinds
    assert said["large"] == 0.0 and -2.5 < said["follower"] < -1.0


def test_a_table_of_equal_figures_has_no_large_ones() -> None:
    said = kinds([track(n, 0.41) for n in range(6)], INNS)
    assert all(f.kinds["large"] < -1.0 for f in said.values())


def test_a_narrow_one_that_stands_is_a_builder_and_one_that_lies_is_none() -> None:
    others = [track(n, 0.36 + 0.005 * n) for n in range(6)]
    said = kinds([*others, track(8, 0.29, builder=-1.0), track(9, 0.27, lying=3.0, builder=-1.0)], TRADERS)
    assert said[8].kinds["builder"] == 0.0 and said[8].kinds["follower"] < -1.0
    assert all(said[n].kinds["builder"] < -0.5 for n in (*range(6), 9))


@pytest.mark.parametrize(("pig", "is_one"), [(1.0, True), (-2.0, True), (-6.0, False), (-12.0, False)])
def test_a_pig_is_told_by_the_network_against_what_it_says_of_followers(pig: float, is_one: bool) -> None:
    said = kinds([track(1, 0.36), track(2, 0.38, pig=pig)], TRADERS)[2].kinds
    assert (said["pig"] > said["follower"] + 1.0) == is_one and (said["pig"] < said["follower"] - 1.0) != is_one


def test_a_wide_pig_is_not_taken_for_a_large_follower() -> None:
    others = [track(n, 0.36 + 0.005 * n) for n in range(6)]
    pig = track(8, 0.48)
    pig = replace(pig, pieces={"follower": 0.0, "large": 1.3, "builder": -3.1, "pig": 4.5})  # as in a simulated game
    said = kinds([*others, pig, track(9, 0.45)], ("follower", "large", "builder", "pig"))
    assert said[8].kinds["pig"] == 0.0 and said[8].kinds["large"] < -1.0
    assert said[9].kinds["large"] == 0.0 and said[9].kinds["pig"] < -1.0


def test_what_no_player_has_is_foreign_where_its_silhouette_tells() -> None:
    tracks = [track(1, 0.36), track(2, 0.41, pig=4.0), track(3, 0.5, pig=1.7), track(4, 0.29, builder=-1.0)]
    assert [f.id for f in foreign(tracks, ("follower",))] == [2]
    assert foreign(tracks, TRADERS) == []
    counter = track(5, 0.28, pig=-21.0)  # a round one is less like a pig than any follower
    assert foreign([counter], ("follower",)) == []
    assert foreign([replace(tracks[1], piece="follower")], ("follower",)) == []  # people said what it is


def test_pieces_that_the_box_does_not_have_are_not_told_and_figures_that_say_nothing_are_left_out() -> None:
    silent = FigureTrack(id=3, foot=(0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                         weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0}, pieces={})
    said = kinds([silent, track(1, 0.36)], ("follower",))
    assert set(said) == {1} and said[1].kinds == {"follower": 0.0}


def test_without_a_width_the_network_says_what_is_large() -> None:
    others = [replace(track(n, 0.0), pieces={"follower": 0.0, "large": -4.0}) for n in range(5)]
    large = replace(track(9, 0.0), pieces={"follower": 0.0, "large": -1.5})
    said = kinds([*others, large], INNS)
    assert said[9].kinds["large"] == 0.0 > said[9].kinds["follower"]
    assert all(said[n].kinds["follower"] == 0.0 > said[n].kinds["large"] for n in range(5))


@pytest.mark.parametrize(("spread", "sure"), [(0.03, True), (0.15, False)])
def test_wood_that_is_hardly_seen_may_be_wider_than_it_looks(spread: float, sure: bool) -> None:
    others = [track(n, 0.36 if n < 7 else 0.43) for n in range(9)]
    said = kinds([*others, replace(track(9, 0.37), width_spread=spread)], INNS)[9].kinds
    assert (said["large"] < said["follower"] - LIMITS.sure) == sure
    assert abs(said["large"] - said["follower"]) < LIMITS.agreed or sure


ROAD = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition(),
             expansions=("base", "inns"))


@pytest.mark.parametrize("turn", [1, 3])  # of the tile on which it stands, or one that let its player put it there
@pytest.mark.parametrize(("large", "before", "asked", "amended"), [
    (5.0, "follower", [], ["large"]),  # plainly the other one: the game is put right
    (1.5, "follower", ["large"], []),  # hardly: somebody is asked
    (-6.0, "follower", [], []),
    (-6.0, "large", [], ["follower"]),
])
def test_a_piece_of_a_turn_long_past_is_amended_or_asked_about(large: float, before: str, asked: list[str],
                                                               amended: list[str], turn: int) -> None:
    events: list[Event] = []
    for x in range(1, 7):
        events.append(TilePlaced(player=(x - 1) % 2, tile="base.U", at=(x, 0), rot=1))
        if x == turn:
            events.append(FigurePlaced(player=0, figure=before, at=(1, 0), feature="road", where="E W",
                                       portal=turn > 1))
    log = logged_game([LogEntry(seq=n, body=e, source="camera", confidence=0.9) for n, e in enumerate(events, 1)])
    seen = track(1, 0.4)
    said = replace(seen, pieces={"follower": 0.0, "large": large}, settled=True)
    doubts, changed = piece_doubts(TableBelief(figures={1: seen}), log, {1: said}, fold(ROAD, events), {"red": 0},
                                   Moment(frame=9, t_s=9.0))
    first = [d.decision.alternatives[0][0][0] for d in doubts.values()]
    assert [e.figure for e in first if isinstance(e, FigurePlaced)] == asked
    assert [d.events[0].figure for d in changed if isinstance(d.events[0], FigurePlaced)] == amended
    assert all(d.replaces == turn + 1 and not d.asked and d.confidence > 0.85 for d in changed)


@pytest.mark.parametrize(("others", "gone", "kind", "waits"), [
    (2, False, "large", True),
    (PIECES.enough, False, "large", False),  # no other figure will tell more
    (2, True, "large", True),  # they tell of one that has gone home too
    (2, False, "", False),  # whether somebody stands there
])
def test_a_piece_is_not_asked_about_before_there_are_others_to_compare_it_with(others: int, gone: bool, kind: str,
                                                                               waits: bool) -> None:
    figure = FigurePlaced(player=0, figure="follower", at=(1, 0), feature="road", where="E W")
    other = (replace(figure, figure=kind),) if kind else ()
    doubt = Doubt(gain=1.0, due=True, decision=Decision(
        events=(figure,), confidence=0.8, asked=True, alternatives=(((figure,), 0.8), (other, 0.2)), at=(1, 0), frame=1,
        replaces=2))
    mine = replace(track(1, 0.4), missed=2 * LIMITS.gone if gone else 0.0)
    belief = TableBelief(figures={1: mine, **{n: track(n, 0.38) for n in range(2, 2 + others)}})
    assert piece_waits(belief, doubt) is waits


@pytest.mark.parametrize("farmer", [True, False])
def test_a_pig_that_is_hardly_seen_is_asked_about_where_one_may_stand(farmer: bool) -> None:
    """Few players let that pass; where no farmer of its player's stands in the field, it is print."""
    table = Table(Setup(expansions=("base", "traders"), players=TWO.players, rules=edition()))
    north = figure("base.U", 0, "field", "NL NR EL WR", "red")
    table.lays((1, 0), "base.U", 0, *((north,) if farmer else ()))  # Anna
    table.lays((-1, 0), "base.U", 0)  # Ben
    table.lays((2, 0), "base.U", 0, replace(north, there=-0.8, lying=-3.0, pieces={
        "follower": -3.7, "large": -4.3, "builder": -7.5, "pig": 0.0}))  # Anna
    table.lays((3, 0), "base.U", 0)  # Ben
    table.sees(6)
    known = dict(effective(table.book.entries))
    asked = [known[seq] for seq in open_questions(table.book.entries)]
    assert [getattr(e, "at", None) for e in asked] == [(2, 0)] * farmer
