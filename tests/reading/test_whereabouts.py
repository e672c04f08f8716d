"""Where pieces that are nobody's were at the end of a turn: their moves speak for the tiles that allow them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import figure, look
from test_neutral import EAST, FAR, SETUP, WEST, PiecesTable

from reading.belief import SquareTrack, TableBelief, updated
from reading.logged_game import logged_game
from reading.sightings import Sighting
from reading.tile_track import TileTrack
from reading.whereabouts import End, Stay, Whereabouts, agrees, moved, seen_figures, whereabouts
from scoring.engine import fold, step
from scoring.events import FigurePlaced, TilePlaced
from scoring.expansions.dragon import DRAGON
from scoring.expansions.dragon_moves import DragonMoved
from scoring.log import open_questions
from scoring.tiles import Square

VOLCANO, LAST, NEXT, AFTER = (1, 1), (2, 0), (3, 0), (4, 0)


@pytest.fixture
def row() -> PiecesTable:
    """A row of roads; the dragon has come to a volcano beside it."""
    made = PiecesTable()
    for at in (EAST, WEST, FAR):
        made.lays(at, "base.U", 0)
    made.stands["dragon"] = VOLCANO, (0.5, 0.5)
    made.lays(VOLCANO, "dragon.01", 0)
    made.lays(LAST, "base.U", 0)
    return made


def tile_at(table: PiecesTable, at: Square) -> str:
    return next(e.tile for e in table.events if isinstance(e, TilePlaced) and e.at == at)


def asked(table: PiecesTable) -> list[str]:
    open_ = open_questions(table.book.entries)
    return [type(e.body).__name__ for e in table.book.entries if e.seq in open_]


def doubtful(table: PiecesTable, at: Square, better: str, than: str, nats: float) -> None:
    """A tile that looks like one kind, ``nats`` better than like another one."""
    table.tiles[at], table.doubts[at] = (better, 0), {(better, 0): 0.0, (than, 0): -nats}


def walks(table: PiecesTable, to: Square) -> None:
    table.stands["dragon"] = to, (0.5, 0.5)


def comes_to(table: PiecesTable, to: Square, allowed_by: str) -> None:
    """The dragon moves in the turn of a tile that looks a little more like one without its sign."""
    doubtful(table, NEXT, "base.U", allowed_by, 0.5)
    table.sees(1, every_s=2.0)
    walks(table, to)


@pytest.mark.parametrize("read_first", [True, False])
def test_a_walk_speaks_for_the_tile_that_allows_it(row: PiecesTable, read_first: bool) -> None:
    doubtful(row, NEXT, "base.U", "dragon.16", 0.5)
    row.sees(6 if read_first else 1, every_s=2.0)
    walks(row, FAR)
    row.sees(6)
    assert tile_at(row, NEXT) == "dragon.16" and len(row.beyond_tiles()) == 1 and not asked(row)


def test_a_tile_that_hardly_looks_as_if_it_allowed_a_walk_is_asked_about(row: PiecesTable) -> None:
    doubtful(row, NEXT, "base.U", "dragon.16", 3.0)
    row.sees(6, every_s=2.0)
    walks(row, FAR)
    row.sees(6)
    assert asked(row) == ["TilePlaced"] and not row.beyond_tiles()


def test_a_piece_that_stays_speaks_against_the_tile_that_makes_it_walk(row: PiecesTable) -> None:
    doubtful(row, NEXT, "dragon.16", "base.U", 2.5)
    row.sees(1, every_s=2.0)
    row.lays(AFTER, "base.U", 0)
    assert tile_at(row, NEXT) == "base.U" and not asked(row)


def test_a_piece_that_no_look_has_shown_since_says_nothing_of_a_tile(row: PiecesTable) -> None:
    doubtful(row, NEXT, "dragon.16", "base.U", 2.5)
    del row.stands["dragon"]
    row.hidden = VOLCANO,
    row.sees(1, every_s=2.0)
    row.lays(AFTER, "base.U", 0)
    assert tile_at(row, NEXT) == "dragon.16"


def test_a_piece_that_moved_beside_a_figure_says_nothing_against_the_figure(row: PiecesTable) -> None:
    """The tile in whose turn it moved is still under an arm."""
    thief = figure("base.U", 0, "road", "E W", "red")
    row.lays(NEXT, "base.U", 0, thief)
    row.lays(AFTER, "base.U", 0)
    faint = figure("base.U", 0, "road", "E W", "red", there=2.5)
    row.tiles[5, 0], row.figures[5, 0] = ("base.U", 0), (faint,)
    row.sees(1, every_s=2.0)
    row.stands["fairy"] = NEXT, (0.5, 0.3)
    row.sees(6)
    assert [e.at for e in row.told(FigurePlaced)] == [NEXT, (5, 0)]


def test_a_logged_walk_speaks_for_its_tile_for_good(row: PiecesTable) -> None:
    comes_to(row, FAR, "dragon.16")
    row.sees(6)
    for at in (AFTER, (5, 0), (6, 0), (7, 0)):
        row.lays(at, "base.U", 0)
        assert tile_at(row, NEXT) == "dragon.16" and len(row.beyond_tiles()) == 1 and not asked(row)


def test_a_piece_on_a_tile_speaks_for_one_that_takes_it_there(row: PiecesTable) -> None:
    comes_to(row, NEXT, "dragon.17")
    row.sees(3)
    for at in (AFTER, (5, 0), (6, 0), (7, 0)):
        row.lays(at, "base.U", 0)
    assert tile_at(row, NEXT) == "dragon.17" and not row.beyond_tiles() and not asked(row)


def test_a_walk_that_people_took_back_is_in_no_history() -> None:
    """Somebody pushed the piece: it is seen there, but no history takes it there."""
    made = PiecesTable()
    made.lays(EAST, "dragon.17", 0)
    made.lays(WEST, "base.U", 0)
    made.lays(FAR, "dragon.16", 0)
    state = fold(SETUP, made.events)
    stay = Stay(name="dragon", at=WEST, first_s=5.0, until_s=6.0, said=5.0, now=True, absent_s=4.5)
    found = Whereabouts((stay,), ((FAR, 0.0, 4.0),))
    ends = [moved(at, FAR, state, state, step, lambda s: s)[1] for at in (
        found, replace(found, denied=frozenset([DragonMoved(player=0, path=((0, 0), WEST))])))]
    assert [DRAGON.neutrals[0].at(s) for s in ends] == [WEST, EAST]


def test_of_the_ways_to_where_it_is_those_agree_that_sent_home_whoever_is_gone() -> None:
    made = PiecesTable()
    made.lays(EAST, "dragon.17", 0)
    made.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    made.lays(FAR, "dragon.16", 0)
    before = fold(SETUP, made.events)
    spared, met = (fold(SETUP, [*made.events, DragonMoved(player=0, path=way)]) for way in (((0, 0),), ((0, 0), WEST)))
    for there, better, worse in ((1.0, spared, met), (-1.0, met, spared)):
        stay = Stay(name="dragon", at=WEST, first_s=0.0, until_s=1.0, said=5.0, now=True, figures=(((WEST, 1), there),))
        assert agrees(stay, before, better) == 0.0 > agrees(stay, before, worse)


def seen(stays: list[tuple[Square, float, float]], now: Square) -> dict[str, dict[Square, Sighting]]:
    return {"dragon": {at: Sighting(odds=5.0 if at == now else -5.0, t_s=until_s, came_s=first_s, foot=(0.0, 0.0),
                                    first_s=first_s, found_s=until_s, peak=5.0) for at, first_s, until_s in stays}}


def table(times: dict[Square, tuple[float, float]]) -> TableBelief:
    """Tiles by when their squares were last seen bare and when they were first seen."""
    return TableBelief(squares={
        at: SquareTrack(laid=TileTrack(since_s=since_s, last_s=since_s, bare_s=bare_s, looks={}))
        for at, (bare_s, since_s) in times.items()})


THREE = {(1, 0): (0.0, 10.0), (2, 0): (20.0, 30.0), (3, 0): (40.0, 50.0)}


def ends(stays: list[tuple[Square, float, float]], at: Square, laid: set[Square],
         times: dict[Square, tuple[float, float]] = THREE) -> list[tuple[Square, bool, bool]]:
    now = max(stays, key=lambda s: s[1])[0]
    found: Whereabouts = whereabouts(seen(stays, now), table(times), logged_game(()), set(times), {})
    return [(end.stay.at, end.came, end.over) for end in found.ends(at, laid)]


@pytest.mark.parametrize(("stays", "told"), [
    ([((8, 0), 5.0, 31.0), ((9, 0), 35.0, 60.0)], [((9, 0), True, True)]),
    ([((8, 0), 5.0, 55.0)], [((8, 0), False, True)]),
    ([((8, 0), 5.0, 45.0)], []),  # nobody saw it after the next tile had come
    ([((8, 0), 25.0, 55.0)], []),  # before this tile, or after it
    ([((8, 0), 45.0, 55.0)], []),  # before the next tile, or after it
    ([((8, 0), 5.0, 55.0), ((9, 0), 52.0, 60.0)], [((8, 0), False, True)]),
    ([((8, 0), 5.0, 60.0), ((9, 0), 35.0, 58.0)], [((8, 0), False, True)]),  # print: meanwhile it was seen elsewhere
])
def test_where_a_piece_was_at_the_end_of_a_turn(stays: list[tuple[Square, float, float]],
                                                told: list[tuple[Square, bool, bool]]) -> None:
    assert ends(stays, (2, 0), {(1, 0), (2, 0)}) == told


def test_it_depends_on_the_order_of_the_tiles() -> None:
    """Two tiles came between two looks, and the piece moved after both: in the turn of the later one."""
    both = {(1, 0): (0.0, 10.0), (2, 0): (0.0, 10.0)}
    stays = [((8, 0), -5.0, 11.0), ((9, 0), 15.0, 20.0)]
    assert ends(stays, (1, 0), {(1, 0)}, both) == [((8, 0), False, True)]
    assert ends(stays, (2, 0), {(1, 0), (2, 0)}, both) == [((9, 0), True, False)]


def test_a_piece_that_went_on_ends_no_turn_that_is_still_open() -> None:
    before = Stay(name="dragon", at=(8, 0), first_s=1.0, until_s=4.0, said=5.0, now=False)
    stop = Stay(name="dragon", at=(9, 0), first_s=5.0, until_s=10.0, said=5.0, now=False)
    assert not list(Whereabouts((before, stop), (((1, 0), 0.0, 4.0),)).ends((1, 0), {(1, 0)}))


def test_what_never_looked_much_like_a_piece_is_none() -> None:
    faint = {"dragon": {at: replace(s, peak=1.0) for at, s in seen([((8, 0), 5.0, 55.0)], (8, 0))["dragon"].items()}}
    assert not whereabouts(faint, table(THREE), logged_game(()), set(THREE), {}).stays


def test_one_look_may_have_seen_it_in_a_hand() -> None:
    assert not ends([((9, 0), 55.0, 55.0)], (3, 0), set(THREE))


def test_tiles_of_which_nothing_is_known_have_no_ends() -> None:
    before = Stay(name="dragon", at=(8, 0), first_s=1.0, until_s=4.0, said=5.0, now=False)
    stay = Stay(name="dragon", at=(9, 0), first_s=5.0, until_s=10.0, said=5.0, now=True)
    laid = {(1, 0)}
    assert not list(Whereabouts((before, stay), ()).ends((1, 0), laid))
    assert list(Whereabouts((before, stay), (((1, 0), 0.0, 4.0),)).ends((1, 0), laid)) == [End(stay, True, False)]


def test_a_piece_that_nobody_saw_elsewhere_meanwhile_may_have_moved_before() -> None:
    """It was seen there first after the tile was laid; when it came there is not known."""
    before = Stay(name="dragon", at=(8, 0), first_s=1.0, until_s=3.0, said=5.0, now=False)
    stay = Stay(name="dragon", at=(9, 0), first_s=5.0, until_s=10.0, said=5.0, now=True)
    for stays in (stay,), (before, stay):
        assert not list(Whereabouts(stays, (((1, 0), 0.0, 4.0),)).ends((1, 0), {(1, 0)}))


@pytest.mark.parametrize(("absent_s", "came"), [(4.5, True), (3.5, False)])
def test_a_place_that_was_seen_empty_after_the_tile_tells_when_a_piece_came(absent_s: float, came: bool) -> None:
    stay = Stay(name="dragon", at=(9, 0), first_s=5.0, until_s=10.0, said=5.0, now=True, absent_s=absent_s)
    assert list(Whereabouts((stay,), (((1, 0), 0.0, 4.0),)).ends((1, 0), {(1, 0)})) == [End(stay, True, False)] * came


def test_of_two_figures_of_a_player_on_a_tile_the_one_that_is_still_there_counts() -> None:
    """A red dragon that reached over the tile was a red follower for a while, beside the one that stands there."""
    stands = replace(figure("base.B", 0, "cloister", "I", "red"), foot=(0.3, 0.3))
    dragon = replace(stands, foot=(0.85, 0.85))
    tiles = {(0, 0): ("base.D", 0), EAST: ("base.B", 0)}
    belief = TableBelief()
    for n, shown in enumerate([(stands,), (stands, dragon), (stands, dragon), (stands,), (stands,), (stands,)]):
        belief = updated(belief, look(5.0 * n, tiles, {EAST: shown}))
    first, second = belief.figures.values()
    assert first.present and not second.present
    assert seen_figures(belief, {"red": 0}) == {(EAST, 0): first}
