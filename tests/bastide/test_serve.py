"""The server as a process: a game continues after a power cut, and the program ends on request."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest
from processes import Served, bastide

from bastide.log.kept_looks import kept_looks
from bastide.table.demo_game import demo_game
from scoring.events import TilePlaced, to_json
from scoring.report import score_game
from scoring.transcript import write


def by_hand(served: Served, turns: int, start: int = 0) -> None:
    """Play some turns of a demo game with commands of a page. Its players are Red and Blue."""
    for turn in demo_game(3, turns=turns).turns[start:]:
        for event in turn.events:
            body = {k: v for k, v in to_json(event).items() if k != "player"}
            view = served.do(**body)
            assert "error" not in view, view


def same(view: dict, other: dict) -> bool:  # type: ignore[type-arg]
    return {k: v for k, v in view.items() if k != "update"} == {k: v for k, v in other.items() if k != "update"}


def test_a_game_goes_on_after_a_power_cut(tmp_path: Path) -> None:
    data = tmp_path / "data"
    players = tmp_path / "players.json"
    players.write_text('[{"name": "Ada", "colour": "black"}, {"name": "Bo", "colour": "green"}]', "utf-8")
    where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", data)
    with Served(*where, "--players", players) as served:
        assert [p["name"] for p in served.get()["players"]] == ["Ada", "Bo"]
        by_hand(served, 5)
        before = served.get()
        served.kill()
    with Served(*where) as again:
        assert same(again.get(), before) and before["version"] >= 5
        assert any("continuing the previous game" in line for line in again.lines)
        by_hand(again, 7, start=5)
        assert again.do(do="undo")["version"] > before["version"]
        last = again.get()
        again.kill()
    with Served(*where) as third:
        assert same(third.get(), last)
        assert third.end() == 0
    with Served(*where, "--new", "--players", players) as new:
        assert new.get()["version"] == 0 and len(new.get()["board"]["tiles"]) == 1
        assert new.end() == 0


def test_a_process_that_is_waited_for_can_be_killed_meanwhile(tmp_path: Path) -> None:
    """As the trials of pulled plugs do: one thread waits for the end that another one brings."""
    waits, ended = threading.Event(), list[int]()
    with Served("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path) as served:
        def wait() -> None:
            waits.set()
            ended.append(served.process.wait(timeout=20.0))

        waiting = threading.Thread(target=wait)
        waiting.start()
        waits.wait()
        served.kill()
        waiting.join()
    assert ended == [-signal.SIGKILL]


def test_a_second_server_on_the_same_data_is_refused(tmp_path: Path) -> None:
    where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path)
    with Served(*where) as served:
        assert served.url
        second = bastide(*where)
        assert second.returncode == 1 and "another bastide" in second.stderr
        assert served.get()["version"] == 0
        assert served.end() == 0


def test_players_of_a_game_in_which_nothing_happened_can_still_be_named(tmp_path: Path) -> None:
    where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data")
    with Served(*where) as served:
        served.kill()
    players = tmp_path / "players.json"
    players.write_text('[{"name": "Ada", "colour": "black"}]', "utf-8")
    with Served(*where, "--players", players) as again:
        assert [p["name"] for p in again.get()["players"]] == ["Ada"]


def test_a_watched_game_is_on_disk_while_it_is_played(tmp_path: Path) -> None:
    """Killed in the middle of a simulated game: the next start shows what the page had shown."""
    game = tmp_path / "game.json"
    game.write_text(json.dumps(write(demo_game(3, turns=30))), "utf-8")
    where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data")
    with Served(*where, "--source", f"sim:transcript={game}&seed=1&level=easy&size=1152x648") as served:
        view = served.until(version=3)
        served.kill()
    assert any(b'"s":' in text for _, text in kept_looks(tmp_path / "data", 1))  # its looks too
    with Served(*where) as again:
        after = again.get()
        assert after["version"] >= view["version"]
        assert after["history"][:len(view["history"])] == view["history"]
        assert [p["name"] for p in after["players"]] == [p["name"] for p in view["players"]]


@pytest.mark.parametrize("argv", [("demo", "--port", 0, "--speed", 1, "--seed", 2)])
def test_a_demo_ends_when_told_to(argv: tuple[object, ...]) -> None:
    with Served(*argv) as served:
        assert served.get()["phase"] == "playing"
        assert served.end() == 0
    assert not [line for line in served.lines if "Traceback" in line]


def test_a_short_demo_as_a_process() -> None:
    done = bastide("demo", "--once", "--turns", 6, "--seed", 3, fresh=True)
    assert done.returncode == 0 and done.stderr == ""
    game = demo_game(3, turns=6)
    assert sum(isinstance(e, TilePlaced) for e in game.events) == 6
    totals = next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("total "))
    assert [int(t) for t in totals] == score_game(game)["totals"]
    assert "the totals equal" in done.stdout and "winner: " in done.stdout


def test_the_game_on_the_table_comes_back_and_no_other(tmp_path: Path) -> None:
    """Killed after another game was opened or begun, with the same command line as before."""
    players = tmp_path / "players.json"
    players.write_text('[{"name": "Ada", "colour": "black"}, {"name": "Bo", "colour": "green"}]', "utf-8")
    where = ("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data", "--players", players)
    with Served(*where) as served:
        by_hand(served, 2)
        first = served.get()
        others = [{"name": p, "colour": c} for p, c in (("Cy", "red"), ("Di", "blue"))]
        begun = served.do(do="new_game", setup={"players": others, "edition": first["edition"]})
        served.kill()
    with Served(*where) as again:  # nothing has happened in it yet
        assert same(again.get(), begun)
        by_hand(again, 1)
        assert again.do(do="open_game", game=first["game"])["version"] == first["version"]
        again.kill()
    with Served(*where) as third:
        assert same(third.get(), first)
        over = third.do(do="end_game")
        third.kill()
    with Served(*where) as fourth:  # the final scores are still shown
        assert same(fourth.get(), over)
        assert fourth.end() == 0
    with Served(*where) as fifth:  # another evening
        assert [p["name"] for p in fifth.get()["players"]] == ["Ada", "Bo"] and fifth.get()["version"] == 0
