"""The evening book: results, players, records and ratings over many games; nothing on the table changes by looking."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import cv2
import numpy as np
import pytest

from bastide.backup.backups import restore_backup, write_backup
from bastide.book.evenings import CACHE, Evenings
from bastide.book.films import FPS, AtTheEnd, Films
from bastide.book.handover import ADDRESS
from bastide.book.people import NAME, Said, key_of
from bastide.book.statistics import START, statistics
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.events import GameEnded, Player
from scoring.log import state_of
from vision.stills import keep
from web.protocol import CommandError

HOUSE = "0" * 32


def row(game: int, scores: dict[str, int], *, over: bool = True, best: dict | None = None) -> dict:
    """A game as the book keeps it, of so many points each."""
    order = sorted(scores.values(), reverse=True)
    players = [{"name": name, "colour": "red", "score": n, "rank": 1 + sum(s > n for s in order)}
               for name, n in scores.items()]
    return {"game": game, "created_s": 1000.0 * game, "began_s": 1000.0 * game, "ended_s": 1000.0 * game + 600,
            "over": over, "edition": "zman2012", "expansions": ["base"], "tiles": 71, "first": 0, "players": players,
            "winners": [n for n, p in enumerate(players) if p["rank"] == 1], "points": {}, "best": best or {}}


def by_name(told: dict) -> dict[str, dict]:
    return {p["name"]: p for p in told["players"]}


def test_players_have_games_wins_averages_streaks_and_who_beat_whom():
    rows = [row(1, {"Anna": 60, "Ben": 50}), row(2, {"Anna": 40, "Ben": 40, "Cleo": 10}),
            row(3, {"Anna": 30, "Ben": 70}),
            row(4, {"Anna": 90, "Ben": 20}), row(5, {"anna ": 80, "Cleo": 70}), row(6, {"Anna": 9}),
            row(7, {"Anna": 0, "Ben": 99}, over=False)]
    told = statistics(rows, Said(house=HOUSE))
    anna, ben, cleo = (by_name(told)[n] for n in ("Anna", "Ben", "Cleo"))
    assert (anna["games"], anna["ranked"], anna["wins"], anna["shared"]) == (6, 5, 4, 1)
    assert anna["average"] == round((60 + 40 + 30 + 90 + 80 + 9) / 6, 1) and anna["best"] == 90
    assert (anna["streak"], anna["longest"]) == (2, 2) and (ben["streak"], ben["longest"]) == (0, 2)
    assert set(anna["names"]) == {"Anna", "anna "}  # neither case nor spaces make another person
    pairs = {tuple(p["players"]): p for p in told["pairs"]}
    assert pairs["anna", "ben"]["ahead"] == [2, 1] and pairs["anna", "ben"]["level"] == 1
    assert pairs["anna", "cleo"]["ahead"] == [2, 0] and told["games"] == 6
    assert cleo["rating"] < ben["rating"] < anna["rating"] and told["players"][0] is anna
    assert by_name(statistics([row(1, {"Solo": 40})], Said(house=HOUSE)))["Solo"]["rating"] is None


def test_a_rating_follows_results_not_the_order_in_which_players_sit():
    one = by_name(statistics([row(n, {"Anna": 60, "Ben": 50}) for n in range(1, 6)], Said(house=HOUSE)))
    other = by_name(statistics([row(n, {"Ben": 50, "Anna": 60}) for n in range(1, 6)], Said(house=HOUSE)))
    assert one["Anna"]["rating"] == other["Anna"]["rating"] > START > one["Ben"]["rating"]


def test_merging_removing_and_not_counting_can_be_taken_back():
    rows = [row(1, {"Anna": 60, "Ben": 50}), row(2, {"Annie": 70, "Ben": 50}), row(3, {"Anna": 5, "Ben": 9})]
    apart = statistics(rows, Said(house=HOUSE))
    merged = statistics(rows, Said(house=HOUSE, merged={"annie": "anna"}))
    assert by_name(merged).keys() == {"Anna", "Ben"} and by_name(merged)["Anna"]["wins"] == 2
    assert by_name(apart).keys() == {"Anna", "Annie", "Ben"}
    gone = statistics(rows, Said(house=HOUSE, removed=frozenset({"ben"})))
    assert by_name(gone).keys() == {"Anna", "Annie"} and gone["pairs"] == [] and gone["removed"] == ["ben"]
    assert by_name(gone)["Anna"]["rating"] == by_name(apart)["Anna"]["rating"]  # they still met
    two = statistics(rows, Said(house=HOUSE, uncounted=frozenset({3})))
    assert by_name(two)["Ben"]["games"] == 2 and two["games"] == 2
    assert key_of("  ÉLO\u0069\u0308SE ") == key_of("éloïse")


def test_records_belong_to_whoever_was_first():
    def best(n: int, who: int) -> dict:
        return {"road": {"n": n, "players": [who], "turn": 12}}
    rows = [row(1, {"Anna": 6, "Ben": 5}, best=best(8, 1)), row(2, {"Anna": 6, "Ben": 5}, best=best(9, 0)),
            row(3, {"Cleo": 6, "Ben": 5}, best=best(9, 0))]
    (road,) = statistics(rows, Said(house=HOUSE))["records"]
    assert (road["record"], road["n"], road["game"], road["names"], road["turn"]) == ("road", 9, 2, ["Anna"], 12)
    (other,) = statistics(rows, Said(house=HOUSE, removed=frozenset({"anna"})))["records"]
    assert (other["names"], other["game"]) == (["Cleo"], 3)


def whole(store: Store, seed: int, turns: int = 12, names: tuple[str, ...] = ()) -> TableSession:
    """A finished game on the table, with its result revealed."""
    game = demo_game(seed, turns=turns)
    players = tuple(Player(name=n, colour=p.colour) for n, p in zip(names, game.setup.players, strict=True)) \
        if names else game.setup.players
    session = TableSession(store, replace(game.setup, players=players))
    for event in (*game.events, GameEnded()):
        session.commit((event,), confidence=1.0, asked=False)
    session.command({"do": "reveal", "step": "end"})
    return session


def test_the_book_says_what_the_games_come_to_and_changes_nothing_on_the_table(store: Store) -> None:
    first = whole(store, 1)
    session = whole(store, 2)
    before, entries = session.view(), store.load(session.game).entries
    book = session.book.overview()
    assert [g["game"] for g in book["games"]] == [session.game, first.game]
    old = book["games"][1]
    assert [p["score"] for p in old["players"]] == list(first.state.scores) == first.view()["final"]["totals"]
    assert old["winners"] == first.view()["final"]["winners"] and old["over"]
    kept = session.book.game(first.game)
    assert kept["view"]["final"] == first.view()["final"] and kept["view"]["board"] == first.view()["board"]
    for frame in kept["frames"]:
        then = first.past.view_after(frame["turn"])
        assert then is not None
        assert frame["scores"] == [p["score"] for p in then["players"]], frame["turn"]
        assert [(f["player"], f["at"]) for f in frame["board"]["figures"]] == \
            [(f["player"], f["at"]) for f in then["board"]["figures"]]
        laid = [t for t in kept["view"]["board"]["tiles"] if t["turn"] is None or t["turn"] <= frame["turn"]]
        assert [t["at"] for t in laid] == [t["at"] for t in then["board"]["tiles"]]
    session.book.luck(first.game)
    assert session.view() is before and session.game == 2  # opening one put nothing back for everybody
    assert store.on_table().id == session.game and store.load(session.game).entries == entries


def test_a_corrected_game_is_worked_out_anew_and_others_are_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole(store, 1)
    session = whole(store, 2)
    data, films = store.path.parent, Films(store.path.parent, store)
    was = session.book.overview()["games"]
    assert json.loads((data / CACHE).read_text("utf-8"))["games"].keys() == {"1", "2"}
    counted = []
    monkeypatch.setattr("bastide.book.evenings.state_of", lambda *a: counted.append(1) or state_of(*a))
    again = Evenings(data, store, films)  # after a restart
    assert again.overview()["games"] == was and counted == []
    session.command({"do": "undo"})
    now = again.overview()["games"]
    assert len(counted) == 1 and not now[0]["over"] and now[1] == was[1]
    (data / CACHE).write_text("[]", "utf-8")  # invalid contents
    assert Evenings(data, store, films).overview()["games"] == now


def test_people_are_merged_and_removed_by_command_and_that_is_in_the_backup(store: Store, tmp_path: Path) -> None:
    whole(store, 1, names=("Anna", "Ben", "Cleo"))
    session = whole(store, 2, names=("Annie", "Ben", "Cleo"))
    book = session.book
    told = book.change({"do": "merge", "player": "annie", "into": "anna"})
    assert {p["key"] for p in told["players"]} == {"anna", "ben", "cleo"} and told["merged"] == {"annie": "anna"}
    told = book.change({"do": "remove", "player": "ben"})
    assert [p["name"] for p in told["games"][0]["players"]] == ["Annie", "", "Cleo"]
    assert "Ben" not in json.dumps(book.game(1)["view"]["players"]) and "Ben" not in unquote(book.game(1)["handover"])
    book.change({"do": "count", "game": 2, "counts": False})
    told = book.change({"do": "place", "place": "  The   Mill "})
    assert told["place"] == "The Mill" and [g["counts"] for g in told["games"]] == [False, True]
    for wrong in ({"do": "merge", "player": "nobody", "into": "anna"}, {"do": "place"}, {"do": ["merge"]},
                  {"do": "merge", "player": "anna", "into": "annie"}, {"do": "merge", "player": "anna"},
                  {"do": "count", "game": 99}, {"do": "count", "game": True}, {"do": "x"},
                  {"do": "remove", "player": 3}):
        with pytest.raises(CommandError):
            book.change(wrong)
    write_backup(store.path.parent, tmp_path / "b.zip")
    restore_backup(tmp_path / "b.zip", tmp_path / "fresh")
    with Store(tmp_path / "fresh" / "log.sqlite") as fresh:
        there = Evenings(tmp_path / "fresh", fresh, Films(tmp_path / "fresh", fresh)).overview()
    assert there["players"] == told["players"] and there["place"] == "The Mill"
    told = book.change({"do": "part", "player": "annie"})
    told = book.change({"do": "bring_back", "player": "ben"})
    told = book.change({"do": "count", "game": 2, "counts": True})
    assert {p["key"] for p in told["players"]} == {"anna", "annie", "ben", "cleo"} and told["games"][0]["counts"]
    assert told["games"][0]["players"][1]["name"] == "Ben"  # the log was never changed


def test_a_film_is_given_up_when_the_program_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session, begun = whole(store, 1), threading.Event()

    def endless(*_: object) -> Iterator[tuple[np.ndarray, int]]:
        while True:
            yield np.zeros((720, 960, 3), np.uint8), 12
            begun.set()

    monkeypatch.setattr("bastide.book.films.pictures", endless)
    films = Films(store.path.parent, store)
    films.begin(session.game)
    assert begun.wait(60.0)
    films.close(60.0)
    assert films.state(session.game) == "none" and not list(store.path.parent.glob("films/*"))
    films.begin(session.game)
    assert films.state(session.game) == "none"


def test_a_spoiled_book_is_set_aside_and_the_games_are_there(store: Store) -> None:
    session = whole(store, 1)
    session.book.overview()
    (store.path.parent / NAME).write_text('{"format": "bastide-book", "version": 1, "merged": 3}', "utf-8")
    again = Evenings(store.path.parent, store, Films(store.path.parent, store))
    assert len(again.overview()["games"]) == 1
    assert list(store.path.parent.glob(f"{NAME}.damaged-*"))


def test_the_link_for_board_game_stats_says_the_play_with_ids_that_stay(store: Store) -> None:
    session = whole(store, 3, names=("Änne & Co", "Ben", "李雷"))
    link = session.book.game(1)["handover"]
    assert link.startswith(ADDRESS) and link.isascii() and "&" not in link.removeprefix(ADDRESS)
    play = json.loads(unquote(link.removeprefix(ADDRESS)))
    state = session.state
    assert play["game"] == {"name": "Carcassonne", "sourceGameId": "carcassonne", "bggId": 822, "highestWins": True,
                            "noPoints": False}
    assert play["sourceName"] == "bastide" and len(play["playDate"]) == len("2026-01-31 20:15:00")
    assert [(p["name"], p["score"]) for p in play["players"]] == \
        list(zip(("Änne & Co", "Ben", "李雷"), state.scores, strict=True))
    best = max(state.scores)
    assert [p["winner"] for p in play["players"]] == [s == best for s in state.scores]
    assert [p["rank"] for p in play["players"]] == [1 + sum(o > s for o in state.scores) for s in state.scores]
    assert [p["startPlayer"] for p in play["players"]].count(True) == 1 and "location" not in play
    session.book.change({"do": "place", "place": "Mill"})
    later = Evenings(store.path.parent, store, Films(store.path.parent, store)).game(1)["handover"]
    again = json.loads(unquote(later.removeprefix(ADDRESS)))
    assert again.pop("location") == "Mill" and again == play
    unfinished = TableSession(store, session.setup)
    assert unfinished.book.game(unfinished.game)["handover"] is None


def frames_of(path: Path) -> tuple[int, np.ndarray]:
    film = cv2.VideoCapture(str(path))
    count, last = 0, None
    while True:
        there, picture = film.read()
        if not there:
            return count, last
        count, last = count + 1, picture


def test_the_time_lapse_of_photographs_and_of_drawn_tiles_can_be_played(store: Store, tmp_path: Path) -> None:
    session = whole(store, 4, turns=5)
    path = session.films.make(session.game)  # not watched: drawn tiles
    count, drawn = frames_of(path)
    assert drawn.shape == (720, 960, 3) and count == 4 * FPS + 3 * FPS  # a second each, the last three
    green = np.full((480, 640, 3), (30, 200, 40), np.uint8)
    for e in session.entries[:4]:
        still = keep(green, {(0, 0): np.eye(3)})
        store.pictures.keep_still(session.game, e.seq, still.jpeg, [])
    _, seen = frames_of(session.films.make(session.game))
    assert abs(seen[300, 480].astype(int) - (30, 200, 40)).max() < 25 and seen[700, 5].min() > 180  # above the scores
    write_backup(store.path.parent, tmp_path / "b.zip")
    restore_backup(tmp_path / "b.zip", tmp_path / "fresh")
    assert (tmp_path / "fresh" / "films" / path.name).read_bytes() == path.read_bytes()


def test_a_watched_game_gets_its_time_lapse_when_it_ends(store: Store) -> None:
    game = demo_game(5, turns=3)
    session = TableSession(store, game.setup)
    still = keep(np.full((90, 120, 3), 90, np.uint8), {(0, 0): np.eye(3)})
    begun = []
    session.films.begin = begun.append  # type: ignore[method-assign]
    with AtTheEnd(session.films, store, session) as ending:
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False, still=still)
        assert begun == []
        session.command({"do": "end_game"})
        for _ in range(200):
            if begun:
                break
            ending._thread.join(0.05)  # until it has heard of it
    assert begun == [session.game]
