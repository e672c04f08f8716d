"""The judge and the simulated person of benchmarks/watch_games.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import watch_boxes  # noqa: E402
import watch_games  # noqa: E402
from person import WORDS, Person  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from bastide.table.asking import WHOSE  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from reading.claims import CLAIM  # noqa: E402
from reading.policy import Decision  # noqa: E402
from reading.watcher import Proposal  # noqa: E402
from scoring.events import Event, FigurePlaced, Player, Setup, TileDiscarded, TilePlaced, TurnEnded  # noqa: E402
from scoring.expansions.dragon_moves import FairyMoved  # noqa: E402
from scoring.expansions.traders import GoodsCounted  # noqa: E402
from scoring.expansions.wheel import PlagueTook, WheelTurned  # noqa: E402
from scoring.log import effective  # noqa: E402
from scoring.notation import FigureRef  # noqa: E402
from scoring.rules import edition, with_options  # noqa: E402
from scoring.transcript import Game, turns_of, write  # noqa: E402
from vision.stills import keep  # noqa: E402

SETUP = Setup(expansions=("base", "traders", "dragon"), rules=with_options(edition(), {"fairy_mode": "follower"}),
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
BESIDE = FigureRef(owner=1, figure="follower", feature="road", where="E W")
VISIT = FairyMoved(player=1, at=(-1, 0), beside=BESIDE)
# Ben has a follower west of the start; two turns later he moves the fairy to it
BEGUN: tuple[Event, ...] = (
    TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0),
    TilePlaced(player=1, tile="base.U", at=(-1, 0), rot=0),
    FigurePlaced(player=1, figure="follower", at=(-1, 0), feature="road", where="E W"),
    TilePlaced(player=0, tile="base.U", at=(2, 0), rot=0),
    TilePlaced(player=1, tile="base.U", at=(3, 0), rot=0),
    VISIT,
    TilePlaced(player=0, tile="base.U", at=(4, 0), rot=0),
)
NEXT = TilePlaced(player=1, tile="base.U", at=(5, 0), rot=0)


def game(*events: Event) -> Game:
    return Game(setup=SETUP, turns=turns_of(SETUP, events))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[TableSession]:
    with Store(tmp_path / "log.sqlite") as store:
        yield TableSession(store, SETUP)


def watched(session: TableSession, true: Game, sure: tuple[Event, ...], asked: Event) -> tuple[Event, ...]:
    """What the log says after a person who knows the true game was asked about the last event."""
    picture = np.zeros((8, 8, 3), np.uint8)
    person, still = Person(true), keep(picture, {})
    for event in (*sure, asked):
        doubtful = event is asked
        made = Decision(events=(event,), confidence=0.9, asked=doubtful, alternatives=(((event,), 0.9), ((), 0.1)),
                        at=(0, 0), frame=1)
        person.save(session, Proposal(decision=made, crop=picture), still)
    assert len(person.asked) == 1
    return tuple(e for t in turns_of(SETUP, [e for _, e in effective(session.entries)]) for e in t.events)


def test_a_move_that_an_earlier_turn_had_is_denied(session: TableSession) -> None:
    again = FairyMoved(player=1, at=(-1, 0), beside=BESIDE)
    log = watched(session, game(*BEGUN, NEXT), (*BEGUN, NEXT), again)
    assert log == (*BEGUN, NEXT)


def test_of_two_moves_in_a_turn_the_one_that_was_read_is_confirmed(session: TableSession) -> None:
    wine, grain = (GoodsCounted(player=1, goods=name, count=1) for name in ("wine", "grain"))
    true = game(*BEGUN, NEXT, wine, grain)
    assert watched(session, true, (*BEGUN, NEXT, wine), grain) == (*BEGUN, NEXT, wine, grain)


def test_a_move_read_wrongly_becomes_the_one_that_is_missing(session: TableSession) -> None:
    wine, grain, cloth = (GoodsCounted(player=1, goods=name, count=1) for name in ("wine", "grain", "cloth"))
    true = game(*BEGUN, NEXT, wine, grain)
    assert watched(session, true, (*BEGUN, NEXT, wine), cloth) == (*BEGUN, NEXT, wine, grain)


def test_a_figure_that_the_log_has_is_not_told_again(session: TableSession) -> None:
    """A piece beside it was taken for a second one, of somebody else."""
    wrong = FigurePlaced(player=0, figure="follower", at=(-1, 0), feature="field", where="NL NR")
    assert watched(session, game(*BEGUN, NEXT), BEGUN[:3], wrong) == BEGUN[:3]


def asking(data: dict[str, Any], turn: int) -> dict[str, Any]:
    data["turns"][turn]["moves"][-1]["asked"] = True
    return data


def test_a_wrong_move_of_a_piece_is_silent_unless_itself_was_asked_about() -> None:
    back = FairyMoved(player=1, at=(5, 0))
    true = game(*BEGUN, NEXT, back)
    assert watch_games.compare(true, dict(write(true)))["silent"] == 0
    wrong = game(*BEGUN, NEXT, VISIT)
    assert watch_games.compare(true, dict(write(wrong)))["silent"] == 1
    assert watch_games.compare(true, asking(dict(write(wrong)), 5))["silent"] == 0
    assert watch_games.compare(true, asking(dict(write(wrong)), 3))["silent"] == 1  # the question about the first move


def test_a_second_figure_in_a_turn_is_an_error_as_the_only_one_is() -> None:
    """As when the reader puts a late figure into the turn of the tile on which it stands."""
    own = FigurePlaced(player=1, figure="follower", at=(5, 0), feature="field", where="NL NR")
    late = FigurePlaced(player=0, figure="follower", at=(5, 0), feature="field", where="SL SR")
    true, wrong = game(*BEGUN, NEXT, own), game(*BEGUN, NEXT, late, own)
    found = watch_games.compare(true, dict(write(wrong)))
    assert found["silent"] == 1
    assert found["figures"] == found["figures_right"] == 2
    assert watch_games.compare(true, asking(dict(write(wrong)), 5))["silent"] == 0
    both = watch_games.compare(wrong, dict(write(true)))
    assert (both["silent"], both["figures"], both["figures_right"]) == (1, 3, 2)


def test_points_that_differ_without_another_error_are_one() -> None:
    """Tiles told in another order than they were laid in."""
    town: tuple[Event, ...] = (TilePlaced(player=0, tile="base.E", at=(0, -1), rot=2),
                               FigurePlaced(player=0, figure="follower", at=(0, -1), feature="city", where="S"))
    theirs, road = (TilePlaced(player=player, tile="base.U", at=(1 - 2 * player, 0), rot=1) for player in (1, 0))
    true, late = game(*town, theirs, road), game(road, theirs, *town)
    assert watch_games.compare(true, dict(write(true)))["errors"] == []
    found = watch_games.compare(true, dict(write(late)))
    assert found["silent"] == len(found["errors"]) == 1


def test_points_are_compared_tile_by_tile() -> None:
    """A turn in which a tile was only put away is not told: the turns after it have other numbers."""
    town: tuple[Event, ...] = (TilePlaced(player=0, tile="base.E", at=(0, -1), rot=2),
                               FigurePlaced(player=0, figure="follower", at=(0, -1), feature="city", where="S"))
    away = TileDiscarded(player=1, tile="base.C", part=1)
    first, last = (TilePlaced(player=0, tile="base.U", at=at, rot=1) for at in ((1, 0), (2, 0)))
    true, told = game(first, TurnEnded(), away, TurnEnded(), *town, last), game(first, *town, last)
    assert watch_games.compare(true, dict(write(told)))["errors"] == []


def test_what_the_rules_ask_about_an_earlier_turn_is_answered_when_it_stays_open(tmp_path: Path) -> None:
    """The camera has until a move after the next tile to see for itself whom an event sent home."""
    setup = Setup(expansions=("wheel",), rules=edition(), players=SETUP.players)
    put = FigurePlaced(player=0, figure="follower", at=(2, -1), feature="cloister", where="I")
    too = FigurePlaced(player=1, figure="follower", at=(-1, 3), feature="road", where="N E")
    took = (PlagueTook(player=1, figure="follower", at=(-1, 3), feature="road", where="N E"),
            PlagueTook(player=0, figure="follower", at=(2, -1), feature="cloister", where="I"))
    begun: tuple[Event, ...] = (
        TilePlaced(player=0, tile="wheel.27", at=(2, -1), rot=3), put,
        TilePlaced(player=1, tile="wheel.28", at=(-1, 3), rot=2), too,
        WheelTurned(player=0, steps=3), TilePlaced(player=0, tile="wheel.29", at=(4, 2), rot=0),
        WheelTurned(player=1, steps=2))
    tile, after, last = (TilePlaced(player=1, tile="wheel.31", at=(-1, 2), rot=1),
                         TilePlaced(player=0, tile="wheel.26", at=(2, -2), rot=0),
                         TilePlaced(player=1, tile="wheel.26", at=(3, -2), rot=0))
    events = (*begun, *took, tile, after, last)
    person = Person(Game(setup=setup, turns=turns_of(setup, events)))
    picture = np.zeros((8, 8, 3), np.uint8)
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, setup)
        for event in (*begun, tile, after, last):
            made = Decision(events=(event,), confidence=0.99, asked=False, alternatives=(((event,), 0.99), ((), 0.01)),
                            at=(0, 0), frame=1)
            person.save(session, Proposal(decision=made, crop=picture), keep(picture, {}))
            assert bool(person.asked) == (event is last)
        assert tuple(e for _, e in effective(session.entries)) == events


def test_every_question_is_told_in_the_pages_words() -> None:
    assert {"which_tile", "which_figure", "which_move", WHOSE, CLAIM} <= WORDS.keys()


def test_no_two_tables_of_a_run_or_of_two_runs_are_the_same() -> None:
    levels = list(watch_boxes.LEVELS)
    every = [t for seed in (1, 2) for t in watch_boxes.tables(["dragon", "all"], levels, 3, seed, None)]
    assert len({(t.box, t.level, t.skip, t.seed) for t in every}) == len(every) == 36
    assert len({(t.box, t.seed) for t in every}) == 36


@pytest.mark.parametrize("of", [*watch_games.KNOWN, "inns_traders"])
def test_every_box_has_games_where_none_are_recorded(of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_games, "RECORDED", tmp_path)
    (name, found), = watch_games.games(1, False, of)
    assert [n for n, _ in watch_games.games(1, False, "inns_other")] == ["demo-1"]
    assert name.startswith(of) and set(of.split("_")) <= set(found.setup.expansions) and len(found.turns) > 10
