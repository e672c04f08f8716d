"""A round at a table and at the hub: aids off and locked, the chess clock, both players' word, results."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from clubtables import TWO, moves

from bastide.club.game_round import ChessClock, GameRound
from bastide.club.message import Sender, packed, state, unpacked
from bastide.club.organiser import Organiser
from bastide.club.results import Results
from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.events import Setup
from scoring.rules import edition
from web.protocol import CommandError

ROUND = {"id": "e-1-table-1", "number": 1, "clock_s": 900,
         "players": [{"name": "Zoe", "colour": "red"}, {"name": "Ben", "colour": "blue"}]}
BEGIN = {"v": 1, "do": "begin_round", "round": ROUND}


class Now:
    s = 1000.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def now():
    return Now()


@pytest.fixture
def table(tmp_path, now):
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, Setup(players=TWO, rules=edition()))
        rounds = GameRound(tmp_path, clock=now)
        session.play_rounds(rounds)
        session.tell = lambda command: rounds.carry_out(session, unpacked("command", packed(command)))
        yield session


def refused(session, **command):
    with pytest.raises(CommandError) as e:
        session.command(command)
    return e.value.code


def test_a_clock_runs_for_one_player_at_a_time(now):
    clock = ChessClock([10, 20, 30], now)
    assert clock.running is None and clock.left() == [10, 20, 30]
    clock.press(1)
    now.s += 4
    assert clock.left() == [10, 16, 30]
    clock.press()
    now.s += 40
    assert clock.left() == [10, 16, -10] and clock.running == 2
    clock.press()
    clock.stop()
    now.s += 5
    assert clock.left() == [10, 16, -10] and clock.running is None


def test_a_round_begins_without_aids_and_is_locked(table):
    table.command({"do": "end_game"})
    table.tell(BEGIN)
    view = table.view()
    assert view["aid"] == "score" and [p["name"] for p in view["players"]] == ["Zoe", "Ben"]
    assert view["turn"]["player"] == 0, "who is named first begins"
    assert view["round"] == {"id": "e-1-table-1", "number": 1, "locked": True, "confirmed": [False, False],
                             "clock": {"left_s": [900, 900], "running": None}}
    assert refused(table, do="new_game", setup={"players": [{"name": "A", "colour": "red"}], "edition": "zman2012",
                                                "aid": "coach"}) == "locked"
    assert refused(table, do="open_game", game=1) == "locked"
    game = view["game"]
    table.tell(BEGIN)  # said again: the same round
    assert table.view()["game"] == game
    table.tell({"v": 1, "do": "end_round", "id": "another"})
    assert table.view()["round"]["locked"]
    table.tell({"v": 1, "do": "end_round", "id": ROUND["id"]})
    assert not table.view()["round"]["locked"]
    table.command({"do": "open_game", "game": 1})
    assert "round" not in table.view()


def test_a_game_that_goes_on_is_not_taken_away(table):
    for event in moves()[:6]:
        table.commit((event,), confidence=0.9, asked=False)
    for command in (BEGIN, {"v": 1, "do": "next_game"}):
        with pytest.raises(CommandError) as e:
            table.tell(command)
        assert e.value.code == "game_runs"
    assert table.view()["game"] == 1 and "round" not in table.view()


def test_both_agree_and_a_correction_asks_again(table):
    table.tell(BEGIN)
    assert refused(table, do="confirm", player=0) == "not_over"
    for event in moves():
        table.commit((event,), confidence=0.9, asked=False)
    table.command({"do": "end_game"})
    assert refused(table, do="confirm", player=0) == "not_over"  # nobody agrees to what was not told
    table.command({"do": "reveal", "step": "end"})
    for player, wanted in ((0, [True, False]), (1, [True, True])):
        table.command({"do": "confirm", "player": player})
        assert table.view()["round"]["confirmed"] == wanted
    assert refused(table, do="confirm", player=2) == "malformed" == refused(table, do="confirm", player="0")
    before = [p["score"] for p in table.view()["players"]]
    for entry in [h["seq"] for h in table.view()["history"] if h["kind"] == "deploy"]:
        table.command({"do": "retract", "seq": entry})
        if [p["score"] for p in table.view()["players"]] != before:
            break
    assert table.view()["phase"] == "over" and table.view()["round"]["confirmed"] == [False, False]


def test_the_clock_stands_when_the_game_is_over_and_after_a_restart(table, now, tmp_path):
    table.tell(BEGIN)
    assert refused(table, do="clock", act="jump") == "malformed"
    table.command({"do": "clock", "act": "press"})
    now.s += 30
    table.command({"do": "clock", "act": "press"})
    now.s += 5
    assert table.game_round()["clock"] == {"left_s": [870, 895], "running": 1}
    again = GameRound(tmp_path, clock=now)  # the process has ended and begun anew
    assert again.shown(table.view())["clock"] == {"left_s": [870, 900], "running": None}
    table.command({"do": "end_game"})
    now.s += 60
    assert table.game_round()["clock"] == {"left_s": [870, 895], "running": None}


def test_the_button_on_the_pins_presses_the_clock(table, now, monkeypatch):
    monkeypatch.setattr("hardware.panel.BOUNCE_S", None)
    from gpiozero import Device
    from gpiozero.pins.mock import MockFactory

    from bastide.machine.service import panel

    table.tell(BEGIN)
    with MockFactory() as pins:
        Device.pin_factory = pins
        with panel(table, None, 27, None):
            for running in (0, 1, 0):
                views = table.subscribe()
                views.get(30)
                pins.pin(27).drive_low()
                pins.pin(27).drive_high()
                assert views.get(30)["round"]["clock"]["running"] == running
                views.close()
        Device.pin_factory = None
    assert table.view()["version"] == 0, "no turn was ended"


def test_there_is_no_round_without_an_organiser(table):
    assert refused(table, do="confirm", player=0) == "no_round" == refused(table, do="clock", act="press")
    table.tell({**BEGIN, "round": {**ROUND, "clock_s": 0}})
    assert refused(table, do="clock", act="press") == "no_clock"


@pytest.mark.parametrize("kept", [
    "", "{", "[]", '{"id": 1}', '{"id":"x","number":1,"game":1,"locked":true,"agreed":[]}'])
def test_a_spoiled_note_of_a_round_is_no_round(tmp_path, kept):
    (tmp_path / "round.json").write_text(kept, "utf-8")
    assert GameRound(tmp_path).shown({"game": 1, "phase": "playing", "players": []}) is None


def test_an_evening_of_three_tables_and_two_rounds(tmp_path):
    """From the table of rounds to the standings, every message through its schema; one table loses a command."""
    with ExitStack() as stack:
        results = stack.enter_context(Results(tmp_path / "hub"))
        now, sent = Now(), []
        organiser = Organiser(results, lambda table, command: sent.append((table, command)), now)
        organiser.load("round,table,player1,player2\n1,1,Anna,Ben\n1,2,Cleo,Dirk\n1,Table 3,Eva,Finn\n"
                       "2,1,Anna,Dirk\n2,2,Eva,Ben\n2,3,Cleo,Finn\n", {"clock_s": 600})
        tables = {}
        for n in (1, 2, 3):
            (tmp_path / str(n)).mkdir()
            store = stack.enter_context(Store(tmp_path / str(n) / "log.sqlite"))
            session = TableSession(store, Setup(players=TWO, rules=edition()))
            rounds = GameRound(tmp_path / str(n))
            session.play_rounds(rounds)
            session.command({"do": "end_game"})
            tables[f"table-{n}"] = (f"Table {n}", session, rounds)

        def speak(deaf=()):
            for slug, (name, session, _) in tables.items():
                document = unpacked("state", packed(state(
                    session.view(), Sender(name, f"{slug[-1] * 12}", 1), at_s=0, commands=True,
                    game_round=session.game_round())))
                results.heard(document)
                organiser.heard(document)
                for table, command in sent:
                    if table not in deaf:
                        tables[table][2].carry_out(tables[table][1], unpacked("command", packed(command)))
                sent.clear()

        def at(number):
            return [g["at"] for r in organiser.told()["rounds"] if r["number"] == number for g in r["games"]]

        for number in (1, 2):
            organiser.do("begin", number)
            assert at(number) == (["unheard"] * 3 if number == 1 else ["busy"] * 3)
            speak(deaf=("table-2",))
            speak(deaf=("table-2",))
            assert at(number) == ["playing", "busy", "playing"], "the organiser sees which table has not begun"
            assert tables["table-1"][1].view()["round"]["number"] == number
            now.s += 20
            speak()  # the one that did not hear it is told again
            for slug, (_, session, _) in tables.items():
                assert session.view()["round"]["number"] == number, slug
                for event in moves(int(slug[-1]) + 3 * number, 5):
                    session.commit((event,), confidence=0.9, asked=False)
                session.command({"do": "end_game"})
                session.command({"do": "reveal", "step": "end"})
                for player in (0, 1):
                    session.command({"do": "confirm", "player": player})
            speak()
            told = organiser.told()
            games = next(r for r in told["rounds"] if r["number"] == number)["games"]
            for game, (_, session, _) in zip(games, tables.values(), strict=True):
                assert game["scores"] == [p["score"] for p in session.view()["players"]] and game["confirmed"]
                assert game["players"] == [p["name"] for p in session.view()["players"]]
            organiser.do("end", number)
            now.s += 20
            speak()
            assert not tables["table-3"][1].view()["round"]["locked"]
        rows = organiser.told()["standings"]
        assert [r["rank"] for r in rows][0] == 1 and sum(r["wins"] for r in rows) == 6 and len(rows) == 6
        assert len(results.games()) == 9  # with the three that were over before
        assert organiser.export("rounds.csv").count("yes") == 6
        kept = Organiser(results, lambda *_: None, now).told()  # the hub has begun again
        assert json.dumps(kept) == json.dumps(organiser.told())


def test_a_finished_game_that_is_corrected_or_goes_on_changes_the_evening(tmp_path):
    document = {"device": "0" * 12, "game": 3, "table": "T", "phase": "over", "laid": 5, "edition": "zman2012",
                "expansions": [], "players": [{"name": "A", "colour": "red", "score": 5}]}
    with Results(tmp_path) as results:
        assert results.heard(document) and not results.heard(document)
        document["players"][0]["score"] = 9
        assert results.heard(document) and results.games()[0]["players"][0]["score"] == 9
    with Results(tmp_path) as results:
        assert len(results.games()) == 1
        assert results.heard({**document, "phase": "playing"}) and results.games() == []


@pytest.mark.parametrize(("command", "code"), [
    (("begin", 9), "unknown_round"), (("begin", "1"), "unknown_round"), (("stop", 1), "malformed")])
def test_what_an_organiser_cannot_do(tmp_path, command, code):
    with Results(tmp_path) as results:
        organiser = Organiser(results, lambda *_: None)
        organiser.load("round,table,player1,player2\n1,1,A,B\n", {})
        with pytest.raises(CommandError) as e:
            organiser.do(*command)
        assert e.value.code == code
        for bad in ({"clock_s": -1}, {"clock_s": True}, {"expansions": "a"}, {"edition": "x"}, {"expansions": ["x"]}):
            with pytest.raises(CommandError):
                organiser.load("round,table,player1,player2\n1,1,A,B\n", bad)
        with pytest.raises(CommandError):
            organiser.load("nothing", {})
        assert len(organiser.told()["rounds"]) == 1
