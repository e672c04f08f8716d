"""Figures on tiles that were laid long ago: whose turn lets them stand there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import figure
from test_neutral import EAST, FAR, SETUP, WEST, PiecesTable, questions, with_thief

from reading.remote_claims import RemoteClaims
from scoring.engine import fold
from scoring.events import FigurePlaced, TilePlaced
from scoring.log import Amended, Retracted, effective, open_questions
from vision.looks import FigureLook


@pytest.fixture
def table() -> PiecesTable:
    """Anna has laid a road in the west with nobody on it, Ben one beyond that with a farmer, Anna a magic portal."""
    made = PiecesTable()
    made.lays(WEST, "base.U", 0)
    made.figures[FAR] = (figure("base.U", 0, "field", "NL NR EL WR", "blue"),)
    made.lays(FAR, "base.U", 0)
    made.lays(EAST, "dragon.08", 0)
    return made


def test_a_figure_on_an_old_tile_is_the_portals(table: PiecesTable) -> None:
    before = table.events
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.sees()
    assert table.events[:len(before)] == before  # the tile on which it stands keeps its player and its turn
    added, = table.events[len(before):]
    assert added == FigurePlaced(player=0, figure="follower", at=WEST, feature="road", where="E W", portal=True)
    assert not open_questions(table.book.entries)


def test_it_is_told_in_the_portals_turn_when_the_next_tile_lies(table: PiecesTable) -> None:
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.sees(1)
    table.lays((0, -1), "base.E", 2)
    kinds = [(type(e).__name__, e.at) for e in table.events]  # type: ignore[attr-defined]
    assert kinds.index(("FigurePlaced", WEST)) == kinds.index(("TilePlaced", EAST)) + 1


def test_it_may_lead_to_the_start_tile(table: PiecesTable) -> None:
    """That one was laid by nobody and has no turn of its own."""
    table.figures[0, 0] = (figure("base.D", 0, "city", "N", "red"),)
    table.sees()
    added = [e for e in table.events if isinstance(e, FigurePlaced) and e.portal]
    assert added == [FigurePlaced(player=0, figure="follower", at=(0, 0), feature="city", where="N", portal=True)]
    assert not open_questions(table.book.entries)


def test_it_may_lead_back_to_where_one_was_sent_home_from() -> None:
    """The camera cannot know one follower of a player from another in the same place."""
    table = with_thief()
    thief = table.figures.pop(WEST)
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.lays(FAR, "dragon.16", 0)
    assert not fold(SETUP, table.events).standing
    table.lays((2, 0), "dragon.08", 0)
    table.figures[WEST] = thief
    table.sees()
    assert table.events[-1] == FigurePlaced(player=1, figure="follower", at=WEST, feature="road", where="E W",
                                            portal=True)
    assert len([e for e in table.events if isinstance(e, FigurePlaced)]) == 2


@pytest.fixture
def forgotten() -> PiecesTable:
    """Ben's thief in the west was eaten and nobody took him home; now Ben lays a portal."""
    made = with_thief()
    made.stands["dragon"] = WEST, (0.8, 0.8)
    made.sees()
    made.stands["dragon"] = FAR, (0.5, 0.5)
    made.lays(FAR, "dragon.16", 0)
    assert not fold(SETUP, made.events).standing
    made.lays((2, 0), "dragon.08", 0)
    made.sees()
    return made


def aside(thief: FigureLook) -> tuple[FigureLook, ...]:
    return (replace(thief, foot=(thief.foot[0] - 0.3, thief.foot[1])),)


def test_one_whom_nobody_took_home_and_who_stands_elsewhere_may_be_another_one(forgotten: PiecesTable) -> None:
    before = forgotten.events
    forgotten.figures[WEST] = aside(*forgotten.figures[WEST])
    forgotten.sees()
    event = FigurePlaced(player=1, figure="follower", at=WEST, feature="road", where="E W", portal=True)
    assert forgotten.events == [*before, event] and questions(forgotten) == [event]


@pytest.mark.parametrize("back", [True, False])
def test_one_whom_nobody_took_home_was_only_pushed(forgotten: PiecesTable, back: bool) -> None:
    """And pushed back, or taken home at last."""
    before, stood = forgotten.events, forgotten.figures[WEST]
    forgotten.figures[WEST] = aside(*stood)
    forgotten.sees(2, every_s=0.6)
    forgotten.figures[WEST] = stood if back else ()
    forgotten.sees(12, every_s=0.5)
    forgotten.sees(4)
    assert forgotten.events == before and not open_questions(forgotten.book.entries)


def test_one_who_is_pushed_over_his_tiles_edge_is_not_another_one() -> None:
    """Anna's thief in the west stands at the edge; a hand that lays her portal pushes him on to the start tile."""
    table = PiecesTable()
    thief = replace(figure("base.U", 0, "road", "E W", "red"), foot=(0.9, 0.5))
    table.lays(EAST, "base.U", 0)
    table.lays((2, 0), "base.U", 0)
    table.lays(WEST, "base.U", 0, thief)
    table.lays(FAR, "base.U", 0)
    table.figures[WEST] = ()
    table.figures[0, 0] = (replace(thief, foot=(0.14, 0.5)),)
    table.lays((3, 0), "dragon.08", 0)
    table.sees()
    del table.figures[0, 0]
    table.figures[WEST] = (thief,)
    table.sees(6)
    put = [e for e in table.events if isinstance(e, FigurePlaced)]
    assert [(e.at, e.portal) for e in put] == [(WEST, False)]


def test_who_came_to_sight_with_the_next_tile_stays_told_when_another_one_stands_there() -> None:
    """Ben's tile with his thief and Anna's next one were seen first in one look. Once the dragon has eaten him and
    another one stands there, a hand is seen on the tile."""
    table = PiecesTable()
    table.lays(EAST, "dragon.17", 0)
    table.stands["dragon"] = EAST, (0.5, 0.5)
    thief = (figure("base.U", 0, "road", "E W", "blue"),)
    table.figures[WEST] = thief
    table.tiles[WEST] = "base.U", 0
    table.lays(FAR, "base.U", 0)
    del table.figures[WEST]
    table.stands["dragon"] = (-3, 0), (0.5, 0.5)
    table.lays((-3, 0), "dragon.16", 0)
    table.lays((2, 0), "base.U", 0)
    table.figures[WEST] = thief
    table.lays((3, 0), "dragon.08", 0)
    put = [e for e in table.events if isinstance(e, FigurePlaced)]
    assert [(e.player, e.at, e.portal) for e in put] == [(1, WEST, False), (1, WEST, True)]
    for n in range(4, 8):
        table.lays((n, 0), "base.U", 0)
    table.figures[WEST] = (*thief, figure("base.U", 0, "field", "NL NR EL WR", "red", there=0.5))
    table.sees(1)
    assert [e for e in table.events if isinstance(e, FigurePlaced)] == put


def test_the_figure_may_be_seen_before_the_portals_tile(table: PiecesTable) -> None:
    """The hand that put it down still covered the tile."""
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "blue"),)
    table.tiles[2, 0], table.hidden = ("dragon.02", 0), ((2, 0),)
    table.sees(1)
    table.hidden = ()
    table.sees()
    assert FigurePlaced(player=1, figure="follower", at=WEST, feature="road", where="E W", portal=True) in table.events


def test_the_figure_may_come_to_sight_with_the_portals_tile(table: PiecesTable) -> None:
    """It waits until the tile is in the log: it is no figure of the turn of the tile on which it stands."""
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "blue"),)
    table.lays((2, 0), "dragon.02", 0)
    table.sees()
    put, = [e for e in table.events if isinstance(e, FigurePlaced) and e.at == WEST]
    assert put == FigurePlaced(player=1, figure="follower", at=WEST, feature="road", where="E W", portal=True)
    assert table.events.index(put) == len(table.events) - 1
    assert not open_questions(table.book.entries) and not any(isinstance(e.body, Amended) for e in table.book.entries)


def test_it_waits_no_longer_for_a_tile_than_one_may_take_to_be_logged(table: PiecesTable) -> None:
    """What looked like a tile once, where none can lie and nobody looks again, is none."""
    table.tiles[7, 7] = "base.B", 0
    table.sees(1)
    table.hidden = ((7, 7),)
    table.sees(1)
    put = FigurePlaced(player=0, figure="follower", at=WEST, feature="road", where="E W", portal=True)
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.sees(2)
    assert put not in table.events
    table.sees(2)
    assert put in table.events and not open_questions(table.book.entries)


def test_it_is_told_once_although_it_was_out_of_sight_for_a_while(table: PiecesTable) -> None:
    follower = (figure("base.U", 0, "road", "E W", "red"),)
    table.figures[WEST] = follower
    table.sees()
    del table.figures[WEST]
    table.sees()
    table.figures[WEST] = follower
    table.sees(6)
    table.lays((0, -1), "base.E", 2)
    table.sees(6)
    assert [e.portal for e in table.events if isinstance(e, FigurePlaced) and e.at == WEST] == [True]


def test_one_seen_in_the_hand_that_laid_the_portal_may_be_the_one_on_the_old_tile() -> None:
    """Over the portal it looks like a thief on the road which that completes, so that he went home at once."""
    table = PiecesTable()
    table.lays(WEST, "base.U", 0)  # Anna
    table.lays(FAR, "base.U", 0)  # Ben
    table.lays((-3, 0), "base.W", 0)  # Anna
    table.tiles[EAST] = "dragon.08", 0  # Ben
    table.figures[EAST] = (figure("dragon.08", 0, "road", "W", "blue"),)
    table.sees(1)
    del table.figures[EAST]
    table.sees(2, every_s=1.5)
    table.figures[WEST] = (figure("base.U", 0, "field", "NL NR EL WR", "blue"),)
    table.sees(2, every_s=2.0)
    table.lays((0, -1), "base.E", 2)  # Anna
    table.sees(6)
    seq, = open_questions(table.book.entries)
    put = dict(effective(table.book.entries))[seq]
    assert put == FigurePlaced(player=1, figure="follower", at=WEST, feature="field", where="NL NR EL WR", portal=True)
    assert [e for e in table.events if isinstance(e, FigurePlaced)] == [put]
    assert isinstance(tile := table.events[table.events.index(put) - 1], TilePlaced) and tile.at == EAST


def test_what_only_another_reading_of_the_newest_tile_allows_speaks_for_it() -> None:
    """The figure is not asked about in the turn of the tile on which it stands, which had been bare since."""
    table = PiecesTable()
    table.lays(WEST, "base.U", 0)  # Anna
    table.lays(FAR, "base.U", 0)  # Ben
    table.doubts[EAST] = {("base.W", 0): 0.0, ("dragon.08", 0): -1.0}
    table.lays(EAST, "base.W", 0)  # Anna: a portal, read as what looks like it
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.lays((0, -1), "base.E", 2)  # Ben
    table.sees(6)
    seq, = open_questions(table.book.entries)
    tile = dict(effective(table.book.entries))[seq]
    assert isinstance(tile, TilePlaced) and tile.at == EAST
    assert not any(isinstance(e, FigurePlaced) for e in table.events)
    table.book.say(Amended(seq=seq, body=replace(tile, tile="dragon.08")))
    table.sees()
    put = FigurePlaced(player=0, figure="follower", at=WEST, feature="road", where="E W", portal=True)
    assert [type(e) for e in table.events].count(FigurePlaced) == 1
    assert table.events[table.events.index(put) - 1] == replace(tile, tile="dragon.08")
    assert not open_questions(table.book.entries)


def test_a_tile_that_is_plainly_itself_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any of its readings would have allowed the figure, so the figure speaks for none of them."""
    monkeypatch.setattr(RemoteClaims, "_allows", staticmethod(lambda *given: True))
    table = PiecesTable()
    table.lays(WEST, "base.U", 0)
    table.lays(FAR, "base.U", 0)
    table.doubts[EAST] = {("base.W", 0): 0.0, ("dragon.08", 0): -3.0}
    table.lays(EAST, "base.W", 0)
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.lays((0, -1), "base.E", 2)
    table.sees(6)
    assert not open_questions(table.book.entries)


@pytest.mark.parametrize("piece", [True, False])
def test_one_who_came_beside_a_piece_of_their_paint_is_asked_about_once_it_has_left(table: PiecesTable,
                                                                                   piece: bool) -> None:
    """The dragon lies beside them for four turns, and looks see it only. Without it nobody came then."""
    if piece:
        table.stands["dragon"] = WEST, (0.4, 0.6)
    for at, tile, rot in (((0, -1), "base.E", 2), ((0, 1), "base.W", 2), ((2, 0), "base.U", 0), ((3, 0), "base.U", 0)):
        table.lays(at, tile, rot)
    table.stands.clear()
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.sees(6)
    portals = [e for e in questions(table) if isinstance(e, FigurePlaced) and e.portal]
    assert portals == [FigurePlaced(player=0, figure="follower", at=WEST, feature="road", where="E W",
                                    portal=True)] * piece


def test_nobody_else_may_use_it(table: PiecesTable) -> None:
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "blue"),)
    table.sees()
    assert not any(isinstance(e, FigurePlaced) and e.portal for e in table.events)


def test_what_people_took_back_is_not_told_again(table: PiecesTable) -> None:
    table.figures[WEST] = (figure("base.U", 0, "road", "E W", "red"),)
    table.sees()
    seq = next(s for s, e in effective(table.book.entries) if isinstance(e, FigurePlaced) and e.portal)
    table.book.say(Retracted(seq=seq))
    table.sees()
    assert not any(isinstance(e, FigurePlaced) and e.portal for e in table.events)


def test_a_figure_that_came_with_its_own_tile_waits_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tile, the next one and the figure come to sight in one look; then a third tile does, on a square that was not
    looked at meanwhile."""
    table = PiecesTable()
    table.lays(WEST, "base.U", 0)
    whole = table.look
    monkeypatch.setattr(table, "look", lambda: replace(whole(), whole=False))
    table.tiles[FAR] = "base.U", 0
    table.figures[FAR] = (figure("base.U", 0, "field", "NL NR EL WR", "blue"),)
    table.tiles[EAST] = "base.U", 0
    table.sees(1)
    farmer = FigurePlaced(player=1, figure="follower", at=FAR, feature="field", where="NL NR EL WR")
    assert farmer in table.events
    table.lays((2, 0), "base.U", 0)
    assert farmer in table.events
    assert not any(isinstance(e.body, Retracted) for e in table.book.entries)


def test_a_hand_that_looks_like_a_figure_once_has_put_nobody_there(table: PiecesTable) -> None:
    before, own = table.events, table.figures[FAR]
    table.figures[FAR] = (*own, figure("base.U", 0, "road", "E W", "red"))
    table.sees(1)
    table.figures[FAR] = own
    table.sees(4, every_s=1.0)  # it is not gone for sure yet
    table.sees(6)
    assert table.events == before and not open_questions(table.book.entries)


def test_one_that_was_seen_once_and_not_looked_at_again_is_told_after_a_while(table: PiecesTable) -> None:
    table.figures[FAR] = (*table.figures[FAR], figure("base.U", 0, "road", "E W", "red"))
    table.sees(1)
    table.hidden = FAR,
    table.sees(3)
    assert len(table.told(FigurePlaced)) == 1
    table.sees(3)
    assert len(table.told(FigurePlaced)) == 2


def test_one_that_was_seen_once_is_asked_about_before_its_turn_is_past(table: PiecesTable) -> None:
    table.figures[FAR] = (*table.figures[FAR], figure("base.U", 0, "road", "E W", "red"))
    table.sees(1)
    table.hidden = FAR,
    for at in ((2, 0), (3, 0)):
        table.tiles[at] = "base.U", 0
        table.sees(1)
    table.sees(2, every_s=1.0)
    known = dict(effective(table.book.entries))
    asked = [known[seq] for seq in open_questions(table.book.entries)]
    assert [(e.player, e.at) for e in asked if isinstance(e, FigurePlaced)] == [(0, FAR)]
