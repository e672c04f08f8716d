"""What is told, asked, amended and noticed: small tables, one trait at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from looks_replayed import Book
from tables import START, TWO, Table, figure, look

from reading import layings, replay
from reading.game import Decisions, GameReader
from reading.limits import LIMITS
from scoring import engine
from scoring.engine import fold
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.log import Amended, Retracted, Settled, effective, open_questions
from scoring.tiles import Square
from vision.looks import FigureLook, SquareLook, TableLook

U = ("base.U", 0)


class Game:
    """A reader and the log that its decisions come to."""

    def __init__(self) -> None:
        self.reader, self.book, self.t_s = GameReader(TWO), Book(), 0.0
        self.last = Decisions()

    def sees(self, tiles: dict[Square, tuple[str, int]], figures: dict[Square, tuple[FigureLook, ...]] | None = None, *,
             times: int = 3, saves: bool = True, **how: object) -> Decisions:
        """The same scene for some looks, five seconds apart."""
        for _ in range(times):
            self.t_s += 5.0
            self.last = self.reader.look(look(self.t_s, {**START, **tiles}, figures, **how),  # type: ignore[arg-type]
                                         self.book.entries)
            for d in self.last.decisions if saves else ():
                self.book.commit(d)
        return self.last

    def finishes(self) -> None:
        for _ in range(9):
            for d in (told := self.reader.finish(self.book.entries)).decisions:
                self.book.commit(d)
            if not told.decisions:
                return
        raise AssertionError("it never comes to an end")

    @property
    def events(self) -> list[Event]:
        return list(self.book.events())

    def said(self) -> list[tuple[str, Square, int]]:
        return [("tile" if isinstance(e, TilePlaced) else "figure", e.at, e.player)  # type: ignore[attr-defined]
                for e in self.events]

    def asked(self) -> list[Event]:
        known = dict(effective(self.book.entries))
        return [known[seq] for seq in sorted(open_questions(self.book.entries))]


@pytest.fixture
def game() -> Game:
    made = Game()
    made.sees({})
    return made


def thief(colour: str, tile: tuple[str, int] = ("base.U", 0), way: str = "E W") -> tuple[FigureLook, ...]:
    return (figure(*tile, "road", way, colour),)


def knight(colour: str) -> FigureLook:
    return figure("base.E", 2, "city", "S", colour)


EAST = {(1, 0): U}  # a straight road that goes on to the east
BOTH = {(1, 0): U, (-1, 0): U}
NORTH = {(0, -1): ("base.E", 2)}  # closes the start tile's city


def test_a_tile_and_its_figure_are_told_once(game: Game) -> None:
    game.sees(EAST, {(1, 0): thief("red")})
    assert game.said() == [("tile", (1, 0), 0), ("figure", (1, 0), 0)]
    assert game.sees(EAST, {(1, 0): thief("red")}).decisions == ()


def test_what_could_not_be_saved_comes_again(game: Game) -> None:
    first = game.sees(EAST, saves=False).decisions
    assert first and game.sees(EAST, saves=False).decisions and game.events == []
    game.sees(EAST, times=1)
    assert game.said() == [("tile", (1, 0), 0)]


def test_two_tiles_between_two_looks_are_ordered_by_their_figures(game: Game) -> None:
    game.sees({**EAST, **NORTH}, {(1, 0): thief("blue"), (0, -1): (knight("red"),)}, times=6)
    assert game.said() == [("tile", (0, -1), 0), ("figure", (0, -1), 0), ("tile", (1, 0), 1), ("figure", (1, 0), 1)]


def test_three_tiles_in_a_row_can_only_have_been_laid_outwards(game: Game) -> None:
    game.sees({(1, 0): U, (2, 0): U, (3, 0): U})
    assert game.said() == [("tile", (1, 0), 0), ("tile", (2, 0), 1), ("tile", (3, 0), 0)]


def test_the_others_paint_tells_that_a_turn_was_missed(game: Game) -> None:
    game.sees(EAST, {(1, 0): thief("blue")}, times=6)
    assert game.said() == [("tile", (1, 0), 1), ("figure", (1, 0), 1)]


def test_a_tile_found_late_takes_its_place_and_its_player(game: Game) -> None:
    """Anna's tile lay under an arm when Ben laid his: his paint said that a turn was missed."""
    two = {**EAST, **NORTH}
    game.sees(two, {(1, 0): thief("blue")}, hidden=((0, -1),), times=6)
    assert game.said() == [("tile", (1, 0), 1), ("figure", (1, 0), 1)]
    game.sees(two, {(1, 0): thief("blue"), (0, -1): (knight("red"),)}, times=6)
    assert game.said() == [("tile", (0, -1), 0), ("figure", (0, -1), 0), ("tile", (1, 0), 1), ("figure", (1, 0), 1)]
    assert not fold(TWO, game.events).issues


def test_a_tile_turned_in_its_turn_is_amended(game: Game) -> None:
    game.sees({(1, 0): ("base.V", 1)})
    game.sees({(1, 0): ("base.V", 2)}, times=4)
    (tile,) = game.events
    assert isinstance(tile, TilePlaced) and tile.rot == 2
    assert any(isinstance(e.body, Amended) for e in game.book.entries)


def test_an_old_turn_is_weighed_again_at_the_cost_of_its_own_explanations(
        game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the figure and without it, through all turns since at once; the new tiles come in no other order."""
    road = {(n, 0): U for n in range(1, 30)}
    for n in range(2, 31):
        game.sees(dict(list(road.items())[:n - 1]), times=2)
    asked: list[Event] = []
    again: list[Event] = []
    monkeypatch.setattr(layings, "step", lambda state, event: asked.append(event) or engine.step(state, event))
    monkeypatch.setattr(replay, "apply", lambda draft, event: again.append(event) or engine.apply(draft, event))
    strange = {(1, 0): (figure("base.U", 0, "field", "NL NR EL WR", "red"),)}
    ends = {(30, 0): U, (30, 1): ("base.U", 1)}
    game.sees({**road, **ends}, strange, times=1)
    assert game.reader.belief.lying().keys() >= ends.keys()
    assert 0 < len(asked) < len(road)
    assert 0 < len(again) < 3 * len(road)


@pytest.mark.parametrize("nats", [4.5, 5.5, 6.3])
def test_an_old_tile_keeps_the_kind_that_its_later_neighbours_fit(game: Game, nats: float) -> None:
    """The rules charge what fits them badly when they are played: at its own turn another kind looks better."""
    crossing, bend = ("base.X", 0), ("base.V", 1)  # the bend fits the first tile and none of the later two
    tiles: dict[Square, tuple[str, int]] = {}
    for at, tile in ((1, 0), crossing), ((2, 0), U), ((1, 1), ("base.U", 1)), *(((n, 0), U) for n in range(3, 8)):
        tiles[at] = tile
        game.sees(tiles, times=2)
    before = game.events
    game.sees(tiles, times=8, doubts={(1, 0): {bend: 0.0, crossing: -nats}})
    said = game.reader.belief.squares[1, 0].laid
    assert said is not None and said.readings[0][bend] - said.readings[0][crossing] > LIMITS.sure
    assert game.events == before


def test_a_tile_taken_up_and_laid_elsewhere_is_the_same_players(game: Game) -> None:
    game.sees({(1, 0): U})
    game.sees({(-1, 0): U}, times=8)
    assert game.said() == [("tile", (-1, 0), 0)]


def test_a_board_that_is_cleared_away_stays_in_the_log(game: Game) -> None:
    game.sees(EAST)
    game.sees({(1, 0): U, (2, 0): U})
    game.sees({(1, 0): U, (2, 0): U, (3, 0): U})
    before = game.events
    for _ in range(12):
        game.t_s += 5.0
        told = game.reader.look(TableLook(frame=1, t_s=game.t_s, squares={}, whole=True), game.book.entries)
        assert told.decisions == ()
    assert game.events == before


def test_a_figure_put_down_late_stands_after_its_tile(game: Game) -> None:
    game.sees(EAST)
    game.sees({(1, 0): U, (-1, 0): U})
    game.sees({(1, 0): U, (-1, 0): U}, {(1, 0): thief("red")}, times=4)
    assert game.said() == [("tile", (1, 0), 0), ("figure", (1, 0), 0), ("tile", (-1, 0), 1)]


def test_a_figure_taken_up_again_in_its_turn_is_taken_back(game: Game) -> None:
    game.sees(EAST, {(1, 0): thief("red")}, times=2)
    game.sees(EAST, times=8)
    game.sees({**EAST, (-1, 0): U}, times=4)
    assert game.said() == [("tile", (1, 0), 0), ("tile", (-1, 0), 1)] or \
        any(n.code == "missing" for n in game.last.notices)


def test_print_that_is_a_little_like_a_figure_is_none(game: Game) -> None:
    game.sees(EAST, {(1, 0): (replace(thief("blue")[0], there=-1.0),)})
    game.sees({**EAST, (-1, 0): U}, {(1, 0): (replace(thief("blue")[0], there=-1.0),)}, times=4)
    assert game.said() == [("tile", (1, 0), 0), ("tile", (-1, 0), 1)]


OR_TURNED = {(1, 0): {("base.V", 1): 0.0, ("base.U", 0): -0.4}}  # a bend or a straight road


def test_a_doubt_waits_and_a_later_look_settles_it_without_a_question(game: Game) -> None:
    game.sees(EAST, doubts=OR_TURNED, times=1)
    assert game.events == [] and [s.event.at for s in game.last.shown] == [(1, 0)]  # type: ignore[attr-defined]
    game.sees(EAST)
    assert game.said() == [("tile", (1, 0), 0)] and game.events[0].tile == "base.U"  # type: ignore[attr-defined]
    assert game.book.questions == 0


def test_what_looks_will_not_tell_is_asked_once_and_after_the_next_turns(game: Game) -> None:
    doubts = {(1, 0): {("base.U", 0): 0.0, ("base.V", 1): -0.3}}
    assert game.sees(EAST, doubts=doubts, times=1).decisions == ()
    game.sees({**EAST, (-1, 0): U}, doubts=doubts)
    assert game.said()[0] == ("tile", (1, 0), 0) and game.asked() == []
    game.sees({**EAST, (-1, 0): U, (-2, 0): U}, doubts=doubts)
    game.sees({**EAST, (-1, 0): U, (-2, 0): U, (-3, 0): U}, doubts=doubts)
    assert [e.at for e in game.asked()] == [(1, 0)]  # type: ignore[attr-defined]
    assert game.book.questions == 1


def test_an_answer_is_offered_with_the_probability_that_it_was_asked_with(game: Game) -> None:
    """Being in the log already is no evidence for it."""
    doubts = {(1, 0): {("base.U", 0): 0.0, ("base.V", 1): -0.3}}
    asked = []
    for _ in range(9):
        asked += [d for d in game.sees(EAST, doubts=doubts, times=1).decisions if d.asked]
    (made,) = asked
    offered = next(p for events, p in made.alternatives if events == made.events)
    assert made.replaces is not None and offered == pytest.approx(made.confidence, abs=0.01)


def test_a_question_is_withdrawn_when_a_look_settles_it(game: Game) -> None:
    doubts = {(1, 0): {("base.U", 0): 0.0, ("base.V", 1): -0.3}}
    game.sees(EAST, doubts=doubts, times=9)  # still for long: it is asked
    assert len(game.asked()) == 1
    game.sees(EAST, times=9)
    assert game.asked() == [] and game.said() == [("tile", (1, 0), 0)]


def test_one_question_at_a_time_and_all_at_the_end(game: Game) -> None:
    doubts = {at: {("base.U", 0): 0.0, ("base.V", 1 if at == (1, 0) else 2): -0.3} for at in BOTH}
    game.sees(BOTH, doubts=doubts, times=9)
    assert len(game.asked()) == 1
    game.finishes()
    assert len(game.asked()) == 2


TOGETHER = {(1, 0): U, (-1, 0): U}  # two tiles, neither of which lies beside the other


def after_a_blind_minute(game: Game) -> None:
    """Two bare tiles that came between two looks, told in one order or the other, and two more turns."""
    game.sees(TOGETHER)
    game.sees({**TOGETHER, (2, 0): U})
    game.sees({**TOGETHER, (2, 0): U, (3, 0): U}, times=4)


def test_who_laid_two_bare_tiles_that_came_together_is_asked_once(game: Game) -> None:
    after_a_blind_minute(game)
    (asked,) = game.asked()
    assert isinstance(asked, TilePlaced) and asked.at in TOGETHER and game.book.questions == 1
    game.book.say(Amended(seq=next(s for s, e in effective(game.book.entries) if e == asked), body=asked))
    before = game.events
    game.sees({**TOGETHER, (2, 0): U, (3, 0): U, (4, 0): U}, times=6)
    game.finishes()
    assert game.events[:4] == before and game.asked() == []  # which settles the other one too


def test_the_other_answer_changes_the_order_and_so_the_other_tiles_player(game: Game) -> None:
    after_a_blind_minute(game)
    (asked,) = game.asked()
    assert isinstance(asked, TilePlaced)
    seq = next(s for s, e in effective(game.book.entries) if e == asked)
    said = replace(asked, player=1 - asked.player)
    game.book.say(Amended(seq=seq, body=said))
    game.sees({**TOGETHER, (2, 0): U, (3, 0): U}, times=6)
    game.finishes()
    tiles = [(e.at, e.player) for e in game.events if isinstance(e, TilePlaced)]
    assert dict(tiles)[asked.at] == said.player and [player for _, player in tiles] == [0, 1, 0, 1]
    assert {at for at, _ in tiles[:2]} == set(TOGETHER) and game.asked() == []
    assert not fold(TWO, game.events).issues


def test_nobody_is_asked_who_laid_tiles_of_which_one_was_seen_before_the_other(game: Game) -> None:
    game.sees({(1, 0): U}, times=1)
    game.sees(TOGETHER, times=1)
    game.sees({**TOGETHER, (2, 0): U})
    game.sees({**TOGETHER, (2, 0): U, (3, 0): U}, times=4)
    game.finishes()
    assert game.book.questions == 0


def row(count: int) -> dict[Square, tuple[str, int]]:
    """Straight roads to the east."""
    return {(n, 0): U for n in range(1, count + 1)}


@pytest.mark.parametrize(("blind", "asked"), [(0, 0), (6, 1)])
def test_a_hand_over_a_square_for_a_moment_is_no_doubt_of_the_order(game: Game, blind: int, asked: int) -> None:
    """Turns take 15 seconds here: nobody has laid a tile and another one after it in the five since both squares were
    seen bare, though a hand was over one of them; in half a minute somebody may have."""
    for n in range(1, 7):
        game.sees(row(n))
    west, more = (-1, 0), {**row(6), (7, 0): U}
    game.sees({**row(6), west: U}, hidden=(west,), times=blind)
    game.sees({**more, west: U}, hidden=(west,), times=1)
    game.sees({**more, west: U}, times=1)
    for n in (2, 3):
        game.sees({**more, west: U, **{(-k, 0): U for k in range(2, n + 1)}}, times=4)
    assert game.book.questions == asked


def test_a_tile_in_doubt_is_asked_about_before_the_figure_on_it(game: Game) -> None:
    unsure = replace(figure(*U, "road", "E W", "red"), lying=0.0, spread=0.3)
    doubts = {(1, 0): {U: 0.0, ("base.V", 0): -0.4}}
    for lies in (EAST, BOTH, {**BOTH, (-2, 0): U}):
        game.sees(lies, {(1, 0): (unsure,)}, doubts=doubts, times=4)
        if game.asked():
            break
    (asked,) = game.asked()
    assert isinstance(asked, TilePlaced) and asked.at == (1, 0)
    game.book.say(Amended(seq=1, body=asked))
    game.sees({**BOTH, (-2, 0): U}, {(1, 0): (unsure,)}, doubts=doubts, times=4)
    assert [type(e) for e in game.asked()] == [FigurePlaced]


def test_the_question_that_moves_more_points_comes_first(game: Game) -> None:
    """Two tiles in the same doubt: of one it is doubtful whether it closes the city of a knight."""
    thieves = {(0, -1): (knight("red"),)}
    doubts = {(0, -1): {("base.E", 2): 0.0, ("base.G", 1): 0.7}, (-1, 0): {("base.U", 0): 0.0, ("base.V", 2): 0.0}}
    lies = {**NORTH, (-1, 0): U}
    game.sees(NORTH, thieves, doubts=doubts)
    game.sees(lies, thieves, doubts=doubts, times=3)
    game.sees({**lies, (1, 0): U}, thieves, doubts=doubts, times=2)
    game.sees({**lies, (1, 0): U, (2, 0): U}, thieves, doubts=doubts, times=9)
    assert game.asked() and game.asked()[0].at == (0, -1)  # type: ignore[attr-defined]


def test_a_film_that_ends_at_once_tells_what_it_saw_and_asks(game: Game) -> None:
    game.sees(EAST, doubts={(1, 0): {("base.U", 0): 0.0, ("base.V", 1): -0.3}}, times=1)
    assert game.events == []
    game.finishes()
    assert game.said() == [("tile", (1, 0), 0)] and len(game.asked()) == 1


def test_what_a_person_corrected_is_never_undone_but_noticed(game: Game) -> None:
    game.sees(EAST)
    tile = game.events[0]
    assert isinstance(tile, TilePlaced)
    game.book.say(Amended(seq=1, body=replace(tile, tile="base.V", rot=1)))
    game.sees(EAST, times=6)
    game.sees({**EAST, (-1, 0): U}, times=6)
    assert game.events[0].tile == "base.V"  # type: ignore[attr-defined]
    assert [(n.code, n.at) for n in game.last.notices] == [("out_of_step", (1, 0))]


def test_a_corrected_player_does_not_stop_the_game(game: Game) -> None:
    game.sees(EAST)
    tile = game.events[0]
    assert isinstance(tile, TilePlaced)
    game.book.say(Amended(seq=1, body=replace(tile, player=1)))
    game.sees({**EAST, (2, 0): U})
    game.sees({**EAST, (2, 0): U, (3, 0): U})
    assert game.said() == [("tile", (1, 0), 1), ("tile", (2, 0), 0), ("tile", (3, 0), 1)]


def test_who_stands_on_an_older_tile_follows_its_correction(game: Game) -> None:
    """Said to be another tile long after it was laid, which has no road where somebody stands: he is on what is
    there."""
    corner = {(1, 0): ("base.V", 0)}  # read with a road from the west to the south
    lies = {(1, 0): (figure("base.A", 1, "road", "W", "red"),)}
    game.sees(corner, lies)
    assert game.said()[-1] == ("figure", (1, 0), 0)
    later = {(-n, 0): U for n in range(1, 6)}
    for n in range(1, 6):
        game.sees({**corner, **dict(list(later.items())[:n])}, lies)
    game.book.say(Amended(seq=1, body=replace(game.events[0], tile="base.A", rot=1)))
    game.sees({**corner, **later}, lies)
    placed = next(e for e in game.events if isinstance(e, FigurePlaced))
    assert game.events[0].tile == "base.A" and (placed.feature, placed.where) == ("road", "W")  # type: ignore[attr-defined]


def test_where_people_say_somebody_stands_the_tile_has_such_a_place(game: Game) -> None:
    """Looks were fairly sure that its road goes on, and there is a twin whose road turns."""
    looks = {(1, 0): {("base.U", 0): 0.0, ("base.V", 0): -2.5}}
    game.sees(EAST, {(1, 0): thief("red")}, doubts=looks, times=6)
    tile, put = game.events
    assert isinstance(tile, TilePlaced) and isinstance(put, FigurePlaced) and tile.tile == "base.U"
    game.sees(EAST, {(1, 0): thief("red")}, doubts=looks, times=6)
    assert game.asked() == []
    game.book.say(Amended(seq=2, body=replace(put, where="S W")))
    game.sees(EAST, {(1, 0): thief("red")}, doubts=looks, times=1)
    assert game.asked() == [tile]


def test_what_a_person_took_back_is_not_told_again(game: Game) -> None:
    game.sees(EAST, {(1, 0): thief("red")})
    game.book.say(Retracted(seq=2))
    game.sees(EAST, {(1, 0): thief("red")}, times=6)
    assert game.said() == [("tile", (1, 0), 0)]


def test_a_tile_entered_by_hand_counts_and_the_next_one_is_the_next_players(game: Game) -> None:
    game.book.say(TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0))
    game.sees({(1, 0): U, (2, 0): U})
    assert game.said() == [("tile", (1, 0), 0), ("tile", (2, 0), 1)]


def test_a_figure_entered_by_hand_decides_whose_tile_it_is(game: Game) -> None:
    game.sees(EAST)
    game.book.say(FigurePlaced(player=1, figure="follower", at=(1, 0), feature="road", where="E W"))
    game.sees(EAST, times=6)
    assert game.said() == [("tile", (1, 0), 1), ("figure", (1, 0), 1)]


CLOSED = {(1, 0): ("base.A", 1), (-1, 0): ("base.A", 3)}  # two cloisters end the start tile's road


def test_a_scored_figure_that_stays_is_noticed_and_a_retrieved_one_is_not(game: Game) -> None:
    red = {(1, 0): (figure("base.A", 1, "road", "W", "red"),)}
    game.sees({(1, 0): ("base.A", 1)}, red)
    game.sees(CLOSED, red)
    assert game.last.notices == ()  # people need a moment
    game.sees({**CLOSED, (0, 1): ("base.B", 0)}, red)
    game.sees({**CLOSED, (0, 1): ("base.B", 0), (0, 2): ("base.B", 0)}, red)
    assert [(n.code, n.at, n.player) for n in game.last.notices] == [("take_back", (1, 0), 0)]
    game.sees({**CLOSED, (0, 1): ("base.B", 0), (0, 2): ("base.B", 0)}, times=4)
    assert game.last.notices == () and fold(TWO, game.events).scores == (3, 0)


@pytest.mark.parametrize(("pig", "told"), [(4.5, ["foreign"]), (1.7, []), (-5.0, [])])  # 1.7: the most of a follower
def test_a_figure_that_this_game_does_not_have_is_noticed(game: Game, pig: float, told: list[str]) -> None:
    seen = replace(figure("base.A", 1, "road", "W", "red"), pieces={"follower": -0.2, "pig": pig - 0.2})
    game.sees({(1, 0): ("base.A", 1)}, {(1, 0): (seen,)}, times=1)
    assert game.last.notices == ()  # one look may be wrong
    game.sees({(1, 0): ("base.A", 1)}, {(1, 0): (seen,)}, times=4)
    assert [n.code for n in game.last.notices] == told
    assert game.said()[-1] == ("figure", (1, 0), 0)  # read as the follower that was meant


def test_a_farmer_is_not_taken_back_after_an_answer_and_a_correction(game: Game) -> None:
    """Said to be the thief, scored with its road, and corrected to the farmer that it was: it stands to the end."""
    field_ = "NL NR EL ER SL SR WL WR"
    farmer = {(1, 0): (figure("base.A", 1, "field", field_, "red"),)}
    game.sees({(1, 0): ("base.A", 1)}, farmer, times=6)
    assert game.said()[-1] == ("figure", (1, 0), 0)
    told = FigurePlaced(player=0, figure="follower", at=(1, 0), feature="field", where=field_)
    game.book.say(Amended(seq=2, body=replace(told, feature="road", where="W")))  # the answer
    game.sees(CLOSED, farmer)
    game.sees({**CLOSED, (0, 1): ("base.B", 0)}, farmer)
    game.sees({**CLOSED, (0, 1): ("base.B", 0), (0, 2): ("base.B", 0)}, farmer)
    assert [n.code for n in game.last.notices] == ["take_back"] and fold(TWO, game.events).scores == (3, 0)
    game.book.say(Amended(seq=2, body=told))  # the correction
    for n in (3, 4):
        game.sees({**CLOSED, **{(0, k): ("base.B", 0) for k in range(1, n + 1)}}, farmer)
        assert game.last.notices == () and fold(TWO, game.events).scores == (0, 0)


def test_a_figure_that_should_stand_and_does_not_is_noticed(game: Game) -> None:
    game.sees(EAST, {(1, 0): thief("red")})
    game.sees({**EAST, (2, 0): U}, {(1, 0): thief("red")})
    game.sees({**EAST, (2, 0): U, (3, 0): U}, {(1, 0): thief("red")})
    game.sees({**EAST, (2, 0): U, (3, 0): U}, times=6)
    assert ("missing", (1, 0)) in [(n.code, n.at) for n in game.last.notices]
    assert ("figure", (1, 0), 0) in game.said()


def test_a_thing_like_no_tile_is_noticed(game: Game) -> None:
    for _ in range(3):
        game.t_s += 5.0
        strange = {**look(game.t_s, START).squares, (1, 0): SquareLook(there=3.0)}
        game.last = game.reader.look(TableLook(frame=1, t_s=game.t_s, squares=strange), game.book.entries)
    assert [(n.code, n.at) for n in game.last.notices] == [("unread", (1, 0))] and game.events == []


def test_a_board_pushed_by_a_tile_and_turned_is_found_again(game: Game) -> None:
    lies = {(1, 0): ("base.V", 1), (0, 1): ("base.N", 2), (-1, 0): ("base.K", 0)}
    for n in range(1, 4):
        game.sees(dict(list(lies.items())[:n]))
    before = game.events
    turned = {(5 - y, 2 + x): (tile, (rot + 1) % 4) for (x, y), (tile, rot) in {**START, **lies}.items()}
    for _ in range(4):
        game.t_s += 5.0
        game.last = game.reader.look(look(game.t_s, turned), game.book.entries)
        assert (game.last.status, game.last.decisions) == ("watching", ())
    assert game.events == before


def test_another_board_is_said_to_be_lost(game: Game) -> None:
    for n in range(1, 4):
        game.sees({(k, 0): U for k in range(1, n + 1)})
    other = {(n, 0): ("base.C", 0) for n in range(-1, 3)}
    game.t_s += 5.0
    game.last = game.reader.look(look(game.t_s, other), game.book.entries)
    assert (game.last.status, game.last.decisions) == ("lost", ())


def test_the_start_tile_is_the_one_without_a_figure() -> None:
    """Two tiles of one kind, one the other turned half: only the figure tells which was laid."""
    game = Game()
    both = {(7, 7): ("base.D", 3), (6, 7): ("base.D", 1)}
    red = {(7, 7): (figure("base.D", 3, "road", "N S", "red"),)}
    for _ in range(3):
        game.t_s += 5.0
        for d in game.reader.look(look(game.t_s, both, red), game.book.entries).decisions:
            game.book.commit(d)
    assert game.said() == [("tile", (0, 1), 0), ("figure", (0, 1), 0)] or game.said()[0][1] != (0, 0)


def test_a_game_that_began_without_us_is_one_question() -> None:
    game = Game()
    row = {(n, 0): U for n in range(-5, 6) if n}
    game.sees(row, {(3, 0): thief("blue")})
    assert len([e for e in game.events if isinstance(e, TilePlaced)]) == 10
    assert len(game.asked()) == 1 and fold(TWO, game.events).features != {}
    assert ("figure", (3, 0), 1) in game.said()


def test_a_game_that_is_gone_on_with_is_found_by_its_log() -> None:
    game = Game()
    for n in range(1, 5):
        game.book.say(TilePlaced(player=(n + 1) % 2, tile=("base.U", "base.V")[n % 2], at=(n, 0), rot=1))
    lies = {(n, 0): (("base.U", "base.V")[n % 2], 1) for n in range(1, 5)}
    game.sees({**lies, (0, 1): ("base.B", 0)})
    assert game.said()[-1] == ("tile", (0, 1), 0)


def nobody_claimed(game: Game, seen: FigureLook, *, times: int = 3) -> None:
    """A tile closes a city, people say that nobody claimed that, and later something on the tile looks like this."""
    game.sees(NORTH)
    game.book.say(Settled(seq=1, code="claim"))
    game.sees({**NORTH, **EAST})
    game.sees({**NORTH, **EAST}, {(0, -1): (seen,)}, times=times)
    game.finishes()


def test_nobody_stands_where_people_said_that_nobody_did(game: Game) -> None:
    """They were asked who claimed what a tile completed; what then looks like a figure on that is something else."""
    nobody_claimed(game, knight("red"))
    assert game.said() == [("tile", (0, -1), 0), ("tile", (1, 0), 1)] and not game.asked()


def test_what_the_tile_did_not_complete_is_not_in_that_answer(game: Game) -> None:
    """A farmer on the same tile."""
    nobody_claimed(game, figure("base.E", 2, "field", "NL NR EL ER WL WR", "red"), times=6)
    assert game.said() == [("tile", (0, -1), 0), ("figure", (0, -1), 0), ("tile", (1, 0), 1)]


def test_what_appears_on_a_tile_after_its_turn_does_not_change_who_laid_it() -> None:
    """One look at a piece that is carried over it, in another player's colour."""
    game = Game()
    game.sees({(1, 0): U})
    game.sees({(1, 0): U, (2, 0): U})
    before = game.said()
    game.sees({(1, 0): U, (2, 0): U}, {(1, 0): (figure(*U, "road", "E W", "blue"),)}, times=1)
    assert game.said() == before == [("tile", (1, 0), 0), ("tile", (2, 0), 1)]


@pytest.mark.parametrize(("there", "asked"), [(-2.0, True), (-2.4, False)])
def test_whether_a_figure_stands_there_is_asked_about_like_anything_else(there: float, asked: bool) -> None:
    """A pig from right above was left out, at odds at which people are asked about everything else."""
    table = Table(TWO)
    table.lays((1, 0), *U)
    table.lays((2, 0), *U, replace(figure(*U, "road", "E W", "blue"), there=there))
    for x in (3, 4, 5):
        table.lays((x, 0), *U)
    assert len(open_questions(table.book.entries)) == asked
