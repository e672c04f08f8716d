"""What is believed of squares and figures, look by look."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import pytest
from tables import START, TWO, figure, look

from reading.belief import TableBelief, concluded, figures_seen_on, updated
from reading.evidence import places
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.shapes import shape
from scoring.engine import box_of
from scoring.tiles import catalogue, where
from vision.looks import FigureLook, NeutralLook, SquareLook, TableLook, posture, segments

U = ("base.U", 0)


def believed(*looks: TableLook, hiding: Collection[str] = ()) -> TableBelief:
    out = TableBelief()
    for each in looks:
        out = updated(out, each, hiding)
    return out


def doubtful(t_s: float) -> TableLook:
    """The start tile, twice as likely to be one kind as another."""
    return look(t_s, START, doubts={(0, 0): {("base.D", 0): 0.0, ("base.J", 0): -0.7}})


def gap(belief: TableBelief) -> float:
    laid = belief.squares[0, 0].laid
    assert laid is not None
    return -laid.readings[0]["base.J", 0]


def test_many_looks_at_one_scene_say_at_most_twice_what_one_says() -> None:
    once = gap(believed(doubtful(1.0)))
    often = gap(believed(*[doubtful(1.0 + n) for n in range(200)]))
    assert once == pytest.approx(0.7) and 1.2 < often <= 2 * once + 1e-9


def test_two_picture_rates_come_to_the_same_belief() -> None:
    slow = gap(believed(*[doubtful(n / 2) for n in range(2, 60)]))
    fast = gap(believed(*[doubtful(n / 15) for n in range(15, 450)]))
    assert fast == pytest.approx(slow, rel=0.05)


def test_a_laid_tile_does_not_leave_silently() -> None:
    there = [look(float(t), {**START, (1, 0): U}) for t in (0, 5, 10)]
    one = believed(*there, look(15.0, START))
    gone = believed(*there, *[look(15.0 + 5 * n, START) for n in range(6)])
    assert one.squares[1, 0].laid is not None
    assert gone.squares[1, 0].laid is None and gone.squares[1, 0].past


@pytest.mark.parametrize(("tile", "at_s", "since_s"), [
    ("base.U", 45.0, 0.0),
    ("base.B", 45.0, 45.0),
    ("base.U", 75.0, 75.0),  # somebody laid it anew
])
def test_a_tile_that_looks_missed_for_a_while_is_the_same_one(tile: str, at_s: float, since_s: float) -> None:
    there = [look(float(t), {**START, (1, 0): U}) for t in (0, 5, 10)]
    missed = [look(15.0 + 5 * n, START) for n in range(6)]
    back = believed(*there, *missed, look(at_s, {**START, (1, 0): (tile, 0)})).squares[1, 0]
    assert back.laid is not None and back.laid.since_s == since_s and bool(back.past) == (since_s > 0.0)


def test_what_a_single_look_took_for_the_tile_says_nothing_of_when_it_came() -> None:
    faint = look(5.0, {**START, (1, 0): U}, margin=0.1)
    seen = replace(faint.squares[1, 0], seen=0.4)
    once = replace(faint, squares={**faint.squares, (1, 0): seen})
    came = believed(look(0.0, START), once, *[look(15.0 + 5 * n, START) for n in range(6)],
                    look(45.0, {**START, (1, 0): U})).squares[1, 0]
    assert came.laid is not None and came.laid.since_s == 45.0


def beside(t_s: float, piece: float, there: float) -> TableLook:
    """`doubtful`, with the log-odds of a neutral piece on the tile and those of the tile itself."""
    seen = doubtful(t_s)
    square = replace(seen.squares[0, 0], there=there, neutral={"dragon": NeutralLook(there=piece, foot=(0.5, 0.5))})
    return replace(seen, squares={(0, 0): square})


def test_a_piece_that_is_not_on_the_tile_spoils_no_look() -> None:
    plain = believed(*[doubtful(1.0 + n) for n in range(200)])
    assert gap(believed(*[beside(1.0 + n, -8.0, 5.0) for n in range(200)])) == pytest.approx(gap(plain))
    assert gap(believed(*[beside(1.0 + n, 8.0, 5.0) for n in range(200)])) < gap(plain)


def test_what_stands_on_a_tile_that_is_hardly_seen_leaves_it_unknown() -> None:
    clearly, hardly = (gap(believed(*[beside(1.0 + n, 8.0, there) for n in range(20)])) for there in (7.0, 0.5))
    assert hardly < 0.3 * clearly


def test_a_hidden_square_is_neither_bare_nor_covered() -> None:
    there = [look(float(t), {**START, (1, 0): U}) for t in (0, 5)]
    hidden = [look(10.0 + 5 * n, {**START, (1, 0): U}, hidden=((1, 0),)) for n in range(9)]
    track = believed(*there, *hidden).squares[1, 0]
    assert track.laid is not None and track.hidden_s == 10.0 and track.laid.last_s == 5.0


def test_a_turned_tile_is_another_reading_from_the_second_look_on() -> None:
    first = [look(float(t), {**START, (1, 0): ("base.V", 0)}) for t in (0, 5)]
    after = believed(*first, look(10.0, {**START, (1, 0): ("base.V", 1)}))
    settled = updated(after, look(15.0, {**START, (1, 0): ("base.V", 1)}))
    once, twice = after.squares[1, 0], settled.squares[1, 0]
    assert once.laid is not None and once.laid.readings[0]["base.V", 0] == 0.0 and once.against is not None
    assert twice.laid is not None and twice.laid.readings[0]["base.V", 1] == 0.0
    assert twice.laid.since_s == 0.0  # it lies there since it was laid


@pytest.mark.parametrize(("looks", "kind"), [(1, "base.S"), (3, "base.O")])
def test_where_no_look_will_follow_those_that_weigh_more_tell_the_tile(looks: int, kind: str) -> None:
    """The table was pushed as the last tile was laid."""
    first = look(5.0, {**START, (1, 0): ("base.S", 2)})
    later = [look(5.0 + 1.5 * n, {**START, (1, 0): ("base.O", 2)}) for n in range(1, looks + 1)]
    belief = believed(look(0.0, START), first, *later)
    known, laid = belief.squares[1, 0].laid, concluded(belief).squares[1, 0].laid
    assert known is not None and known.readings[0]["base.S", 2] == 0.0
    assert laid is not None and laid.readings[0][kind, 2] == 0.0 and laid.since_s == 5.0


def read_at_first(there: float) -> list[TableLook]:
    """A tile that a first look, as it was laid, took for another one, and three clear looks within seconds of it."""
    first = look(5.0, {**START, (1, 0): ("base.S", 2)})
    squares = {**first.squares, (1, 0): replace(first.squares[1, 0], there=there)}
    later = [look(t_s, {**START, (1, 0): ("base.O", 2)}) for t_s in (6.0, 7.5, 9.5)]
    return [look(0.0, START), replace(first, squares=squares), *later]


@pytest.mark.parametrize(("there", "kind"), [(1.2, "base.O"), (5.0, "base.S")])
def test_a_look_that_hardly_shows_a_tile_is_given_up_for_clear_ones(there: float, kind: str) -> None:
    """The hand that laid it was over a part of it."""
    laid = believed(*read_at_first(there)).squares[1, 0].laid
    assert laid is not None and laid.readings[0][kind, 2] == 0.0 and laid.since_s == 5.0


def test_who_comes_onto_a_tile_does_not_confirm_what_clear_looks_have_contradicted() -> None:
    guard = figure("base.S", 2, "road", "N", "red")
    covered = look(12.0, {**START, (1, 0): ("base.S", 2)}, {(1, 0): (guard,)})
    before = believed(*read_at_first(5.0))
    after = updated(before, covered)
    assert before.squares[1, 0].against is not None and after.squares[1, 0].against == before.squares[1, 0].against
    laid = updated(after, look(14.0, {**START, (1, 0): ("base.O", 2)})).squares[1, 0].laid
    assert laid is not None and laid.readings[0]["base.O", 2] == 0.0
    bare = updated(before, look(12.0, {**START, (1, 0): ("base.S", 2)})).squares[1, 0]
    assert bare.against is None  # a look at the whole print confirms it


@pytest.mark.parametrize(("bare", "stays_s", "figure_likelier"), [
    (1, 1.5, True), (12, 1.5, False), (12, 9.0, True), (1, 9.0, True)])
def test_what_is_seen_for_a_moment_on_a_tile_that_many_looks_saw_bare_was_held(bare: int, stays_s: float,
                                                                                figure_likelier: bool) -> None:
    """A dragon is walked over a tile that was laid long ago; the figures' network takes it for a follower."""
    tiles, thief = {**START, (1, 0): U}, figure(*U, "road", "E W", "red")
    seen = [look(0.0, START), look(1.0, tiles), *(look(10.0 + 5.0 * n, tiles) for n in range(bare)),
            *(look(80.0 + t, tiles, {(1, 0): (thief,)}) for t in (0.0, stays_s)),
            *(look(95.0 + 5.0 * n, tiles) for n in range(3))]
    track, = believed(*seen).by_square[1, 0]
    assert not track.present
    there = places([track], box_of(TWO), U, 1.0, 9.0)
    assert (max(weight for _, ways in there.ways for weight, _, _ in ways) > there.none) == figure_likelier


def test_looks_at_a_figure_that_agree_with_each_other_do_not_make_it_another_tile() -> None:
    """Seen bare it is one kind, under a follower that lies like a road it is another: its bare print tells."""
    bare = [look(float(t), {**START, (1, 0): ("base.Q", 0)}) for t in (0, 5)]
    lies = figure("base.Q", 0, "field", "SL SR", "grey")
    under = {("base.S", 0): 0.0, ("base.Q", 0): -5.0}
    covered = [look(10.0 + 5 * n, {**START, (1, 0): ("base.S", 0)}, {(1, 0): (lies,)}, doubts={(1, 0): under})
               for n in range(9)]
    track = believed(*bare, *covered).squares[1, 0]
    assert track.against is None and track.laid is not None and set(track.laid.looks) == {"", "figure"}


def test_looks_at_what_hides_more_of_a_tile_than_before_do_not_make_it_another_one() -> None:
    """It was seen bare, then with a block on it, which hides little, then with somebody on top, who hides the rest."""
    def under(t_s: float, kind: str, gap: float) -> TableLook:
        stands = figure("base.Q", 0, "field", "SL SR", "grey")
        return look(t_s, {**START, (1, 0): (kind, 0)}, {(1, 0): (stands,)}, doubts={
            (1, 0): {("base.S", 0): 0.0, ("base.Q", 0): 0.0, (kind, 0): gap}})

    bare = [look(float(t), {**START, (1, 0): ("base.Q", 0)}) for t in (0, 5)]
    block = [under(10.0 + 5 * n, "base.Q", 8.0) for n in range(5)]
    hidden = [under(40.0 + 5 * n, "base.S", 8.0) for n in range(5)]
    track = believed(*bare, *block, *hidden).squares[1, 0]
    assert track.laid is not None and track.laid.readings[0]["base.Q", 0] == 0.0 and not track.past


@pytest.mark.parametrize("piece", [True, False])
@pytest.mark.parametrize(("before", "after"), [(5, 6), (20, 1)])
def test_looks_under_a_neutral_piece_do_not_make_a_tile_another_one(before: int, after: int, piece: bool) -> None:
    """It was only seen with a follower on it, and once the fairy was taken to be there; then the dragon is, under which
    looks are surer of another kind. So would they be of a tile that people have changed, without a piece."""
    follower = (figure("base.Q", 0, "field", "SL SR", "grey"),)

    def seen(t_s: float, kind: str, sure: float, name: str | None) -> TableLook:
        on = look(t_s, {**START, (1, 0): (kind, 0)}, {(1, 0): follower}, doubts={
            (1, 0): {("base.S", 0): 0.0, ("base.Q", 0): 0.0, (kind, 0): sure}})
        there = {} if name is None else {name: NeutralLook(there=4.0, foot=(0.7, 0.5))}
        return replace(on, squares={**on.squares, (1, 0): replace(on.squares[1, 0], neutral=there)})

    looks = [*(seen(5.0 * n, "base.Q", 6.0, None) for n in range(before)), seen(100.0, "base.Q", 6.0, "fairy"),
             *(seen(105.0 + 5 * n, "base.S", 8.0, "dragon" if piece else None) for n in range(after))]
    track = believed(*looks).squares[1, 0]
    changed = not piece and after > 1
    assert track.laid is not None and bool(track.past) == changed
    assert (track.laid.readings[0]["base.Q", 0] == 0.0) != changed


def test_a_figure_is_one_figure_though_a_look_misses_it_and_its_foot_moves() -> None:
    stands = figure("base.D", 0, "road", "E W", "red")
    moved = figure("base.D", 0, "road", "E W", "red")
    moved = type(moved)(foot=(moved.foot[0] + 0.3, moved.foot[1]), spread=moved.spread, there=moved.there,
                        lying=moved.lying, colours=moved.colours)
    belief = believed(look(0.0, START), look(5.0, START, {(0, 0): (stands,)}), look(10.0, START),
                      look(15.0, START, {(0, 0): (moved,)}))
    (track,) = figures_seen_on(belief, (0, 0))
    assert track.present and (track.before_s, track.came_s, track.seen_s) == (0.0, 5.0, 15.0)
    assert track.foot[0] == pytest.approx(moved.foot[0])


def test_a_figure_counts_as_missed_only_where_its_tile_was_seen() -> None:
    stands = {(0, 0): (figure("base.D", 0, "road", "E W", "red"),)}
    unlooked = TableLook(frame=1, t_s=20.0, squares={(0, 0): SquareLook(there=4.0, tiles={("base.D", 0): 0.0})})
    seen = believed(look(0.0, START, stands), look(5.0, START, stands))
    assert next(iter(updated(seen, unlooked).figures.values())).missed == 0.0
    gone = believed(look(0.0, START, stands), *[look(5.0 * n, START) for n in range(1, 5)])
    assert not next(iter(gone.figures.values())).present


def test_a_figure_that_most_looks_see_stays_one_however_long_it_stands() -> None:
    stands = {(0, 0): (figure("base.D", 0, "road", "E W", "red"),)}
    belief = believed(*[look(5.0 * n, START, stands if n % 6 else {}) for n in range(1, 120)])
    (track,) = belief.figures.values()
    assert track.real > 4.0


def test_another_paint_is_another_figure() -> None:
    red, blue = (figure("base.D", 0, "road", "E W", c) for c in ("red", "blue"))
    belief = believed(look(0.0, START, {(0, 0): (red,)}), look(9.0, START, {(0, 0): (blue,)}))
    assert len(belief.figures) == 2


def test_belief_is_a_pure_function() -> None:
    before = believed(look(0.0, START))
    one, two = (updated(before, look(5.0, {**START, (1, 0): U})) for _ in range(2))
    assert one.squares == two.squares and (1, 0) not in before.squares


@pytest.mark.parametrize(("lying", "best"), [(3.0, "field"), (-3.0, "road")])
def test_posture_tells_a_farmer_from_a_thief(lying: float, best: str) -> None:
    tile = catalogue()["base.U"]
    found = segments((0.55, 0.5), 0.06, lying, tile, 0)
    assert tile.segments[max(found, key=lambda n: found[n])].kind == best


def test_a_disc_says_nothing_of_its_posture() -> None:
    assert posture(0.0, "field") == posture(0.0, "city")
    assert math.exp(posture(9.0, "field")) > 0.9 > 0.1 > math.exp(posture(9.0, "city"))


@pytest.mark.parametrize("rot", range(4))
def test_a_foot_inside_a_segment_is_on_it_however_the_tile_is_turned(rot: int) -> None:
    from scoring.geometry import spot_of

    tile = catalogue()["base.J"]
    for n, s in enumerate(tile.segments):
        x, y = spot_of(tile, n, rot)
        found = segments((x / 100, y / 100), 0.04, 0.0, tile, rot)
        assert max(found, key=lambda k: found[k]) == n, where(s, rot)


def test_equal_shapes_are_one_reading() -> None:
    assert shape("base.X", 0) == shape("base.X", 3) and shape("base.V", 0) != shape("base.V", 1)


def test_sums_are_in_the_order_of_what_was_seen_first() -> None:
    """In the order of a set each process would round them differently, and rank equally likely games by that."""
    paints = ("red", "blue", "green", "yellow", "black", "grey", "pink", "white")
    kinds = {(f"base.{letter}", 0): -float(n) for n, letter in enumerate("DJKLUVWX")}
    there = figure("base.D", 0, "road", "E W", "red")
    of = replace(there, colours={c: -float(n) for n, c in enumerate(paints)})
    seen = [look(t, START, {(0, 0): (of,)}, doubts={(0, 0): kinds}) for t in (1.0, 6.0, 11.0)]
    belief = believed(*seen)
    (track,), laid = belief.figures.values(), belief.squares[0, 0].laid
    assert tuple(track.colours) == paints
    assert laid is not None and [list(looks.sums) for looks in laid.looks.values()] == [list(kinds)]


def test_print_where_a_figure_stood_is_not_that_figure() -> None:
    """A monk was seen clearly; once he is gone his cloister looks a little like one. One that never was clear stays."""
    def seen(t_s: float, there: float) -> TableLook:
        return look(t_s, {**START, (1, 0): ("base.B", 0)}, {(1, 0): (
            figure("base.B", 0, "cloister", "I", "red", there=there),)})

    clear = believed(*[seen(5.0 * n, 6.0) for n in range(4)], *[seen(20.0 + 5 * n, -0.5) for n in range(3)])
    faint = believed(*[seen(5.0 * n, 1.5) for n in range(4)], *[seen(20.0 + 5 * n, -0.5) for n in range(3)])
    assert not any(f.present and f.real > 0.0 for f in clear.figures.values())
    assert [f.present for f in faint.figures.values()] == [True]


def test_a_figure_that_was_gone_is_not_back_by_a_look_that_shows_it_no_likelier_than_not() -> None:
    """A block was taken for a figure in one look; much later another look hardly took it for one."""
    def seen(t_s: float, *there: float) -> TableLook:
        return look(t_s, {**START, (1, 0): ("base.B", 0)}, {(1, 0): tuple(
            figure("base.B", 0, "cloister", "I", "red", there=v) for v in there)})

    def after(there: float) -> FigureTrack:
        (track,) = believed(seen(0.0), seen(5.0, 3.2), *[seen(10.0 + 5 * n) for n in range(4)],
                            seen(40.0, there)).figures.values()
        return track

    assert not after(0.0).present and after(0.0).real > 0.0
    assert after(0.5).present and after(0.5).away is not None


def test_print_beside_the_place_of_a_figure_is_not_that_figure_moved() -> None:
    """Once a knight is gone home, a look is misled by the print of the next tile. Seen clearly he was pushed there."""
    def seen(t_s: float, there: float, x: float) -> TableLook:
        knight = replace(figure("base.E", 1, "city", "E", "red", there=there), foot=(x % 1, 0.4))
        return look(t_s, {**START, (1, 0): ("base.E", 1), (2, 0): ("base.E", 3)}, {(1 + int(x), 0): (knight,)})

    there = [seen(5.0 * n, 7.0, 0.8) for n in range(5)]
    gone = believed(*there, *[seen(25.0 + 5 * n, 1.5, 1.1) for n in range(3)])
    knight, print_ = gone.figures.values()
    assert (knight.at, knight.present, print_.at) == ((1, 0), False, (2, 0)) and print_.real < LIMITS.sure
    (pushed,) = believed(*there, *[seen(25.0 + 5 * n, 6.0, 1.1) for n in range(3)]).figures.values()
    assert pushed.at == (2, 0) and pushed.present
    after = [seen(25.0, 2.5, 1.1), *[seen(30.0 + 5 * n, 6.0, 1.1) for n in range(3)]]
    (pushed,) = believed(*there, *after).figures.values()
    assert pushed.at == (2, 0) and pushed.present  # the first look afterwards hardly showed him
    (faint,) = believed(*[seen(5.0 * n, 1.5, 0.8 + 0.3 * (n > 3)) for n in range(7)]).figures.values()
    assert faint.at == (2, 0)  # one that never was seen clearly may have been moved


def test_a_figure_that_is_clearly_seen_beside_what_looked_a_little_like_one_is_another() -> None:
    """Print beside a tower was hardly a figure in many looks; then a follower came onto the tower."""
    def seen(t_s: float, there: float, x: float) -> TableLook:
        knight = replace(figure("base.E", 1, "city", "E", "red", there=there), foot=(x, 0.4))
        return look(t_s, {**START, (1, 0): ("base.E", 1)}, {(1, 0): (knight,)})

    print_ = [seen(5.0 * n, 0.9, 0.3) for n in range(5)]
    faint, clear = believed(*print_, seen(25.0, 6.6, 0.6), seen(30.0, 6.6, 0.6)).figures.values()
    assert not faint.present and (clear.came_s, clear.before_s) == (25.0, 20.0)
    (pushed,) = believed(*print_, seen(25.0, 2.0, 0.6), seen(30.0, 2.0, 0.6)).figures.values()  # hardly clearer
    assert pushed.came_s == 0.0
    (held,) = believed(seen(0.0, 1.4, 0.3), seen(25.0, 6.6, 0.6), seen(30.0, 6.6, 0.6)).figures.values()  # by a hand
    assert held.came_s == 0.0
    (same,) = believed(*print_, seen(25.0, 6.6, 0.4), seen(30.0, 6.6, 0.4)).figures.values()  # and not beside
    assert same.came_s == 0.0
    (moved,) = believed(*[seen(5.0 * n, 4.0, 0.3) for n in range(5)], seen(25.0, 6.6, 0.6)).figures.values()
    assert moved.came_s == 0.0


def test_a_figure_on_what_looked_a_little_like_one_has_come_since() -> None:
    """As on a tower whose block was faintly seen as a figure. One that every look saw, first as badly, was there."""
    def seen(t_s: float, there: float | None) -> TableLook:
        return look(t_s, {**START, (1, 0): ("base.B", 0)}, {(1, 0): () if there is None else (
            figure("base.B", 0, "cloister", "I", "red", there=there),)})

    block = believed(seen(5.0, None), seen(10.0, -2.0), seen(12.0, None), seen(20.0, 6.0), seen(22.0, 6.0))
    (track,) = block.figures.values()
    assert (track.before_s, track.came_s, track.present) == (12.0, 20.0, True) and track.real > 5.0
    shaded = believed(seen(5.0, None), seen(10.0, -2.0), seen(12.0, -1.0), seen(20.0, 6.0), seen(22.0, 6.0))
    (track,) = shaded.figures.values()
    assert (track.before_s, track.came_s) == (5.0, 10.0)


def test_a_look_that_sees_a_neutral_piece_says_nothing_of_figures_that_it_does_not_see() -> None:
    """One of its paint that stands beside it looks like a part of it."""
    at, knight = (1, 0), figure("base.E", 1, "city", "E", "red")

    def seen(t_s: float, there: float, *figures: FigureLook) -> TableLook:
        plain = look(t_s, {**START, at: ("base.E", 1)}, {at: figures})
        dragon = replace(plain.squares[at], neutral={"dragon": NeutralLook(there=there, foot=(0.5, 0.5))})
        return replace(plain, squares={**plain.squares, at: dragon})

    for there, hiding, before_s in ((4.0, ["dragon"], 5.0), (1.0, ["dragon"], 10.0), (4.0, [], 10.0)):
        looks = seen(5.0, -8.0), seen(10.0, there), seen(15.0, -8.0, knight)
        (track,) = believed(*looks, hiding=hiding).figures.values()
        assert track.before_s == before_s and track.came_s == 15.0
    assert believed(seen(5.0, -8.0), seen(10.0, 4.0, knight), hiding=["dragon"]).bare_looks[at] == ()
