"""The winner is not revealed early: not by state, stream, overlay or earlier views."""

from __future__ import annotations

import json

from webtable import get, post

from bastide.log.store import Store
from bastide.table.session import TableSession


def ended(serve):
    session, server = serve(71)
    before = [p["score"] for p in session.view()["players"]]
    session.command({"do": "end_game"})
    return session, server, before


def said(server, path="api/state"):
    return json.loads(get(server.url + path)[2])


def test_nothing_that_is_served_says_the_result_before_the_walk(serve):
    session, server, before = ended(serve)
    final = session.view()["final"]
    for path in ("api/state", "api/overlay", f"api/entries/{session.view()['version']}/after"):
        view = said(server, path)
        assert view["phase"] == "over"
        assert [p["score"] for p in view["players"]] == before, path
        assert not view.get("final"), path
        assert all(e["player"] is not None for e in view["feed"]), path  # of the end nothing
    view = said(server)
    assert view["reveal"] == {"step": -1, "told": False, "lead": "", "by": "", "stage": None, "event": None,
                              "steps": sum(len(s["events"]) for s in final["stages"])}
    assert view["projected_final"]["totals"] == before and view["projected_final"]["winners"] == []
    status, refused = post(server.url + "api/commands", {"do": "undo", "based_on": 0})
    assert status == 409 and refused["view"]["final"] is None
    _, shown = post(server.url + "api/commands", {"do": "reveal", "step": "end"})
    assert shown["final"]["totals"] == final["totals"] and shown["reveal"]["told"]
    assert [p["score"] for p in said(server, "api/overlay")["players"]] == final["totals"]


def test_the_turns_before_tell_no_forecast_until_the_end_is_told(serve):
    """The forecast of the last turns is the result: the last turn's exactly."""
    session, server, before = ended(serve)
    final, last = session.view()["final"]["totals"], len(session.past.turns()) - 1
    laid = session.view()["board"]["tiles"][-1]["seq"]
    paths = [f"api/turns/{last}", f"api/turns/{last - 3}", f"api/entries/{laid}/before", f"api/entries/{laid}/after"]
    for path in paths:
        view = said(server, path)
        scores = [p["score"] for p in view["players"]]
        assert [p["projected"] for p in view["players"]] == scores == view["projected_final"]["totals"], path
        assert view["projected_final"]["stages"] == [] and view["projected_final"]["winners"] == [], path
    assert scores == before
    post(server.url + "api/commands", {"do": "reveal", "step": "end"})
    view = said(server, paths[0])
    assert [p["projected"] for p in view["players"]] == final == view["projected_final"]["totals"] != before
    assert view["projected_final"]["stages"] and said(server, paths[1])["projected_final"]["stages"]


def test_a_game_that_is_over_is_not_ended_again(serve):
    session, server, _ = ended(serve)
    post(server.url + "api/commands", {"do": "reveal", "step": 1})
    before = session.entries
    for again in ({"do": "end_game"}, {"do": "insert", "after": 1, "body": {"do": "end_game"}}):
        status, refused = post(server.url + "api/commands", again)
        assert (status, refused["error"]["code"]) == (409, "over_already") and session.entries == before, again
    assert said(server)["reveal"]["step"] == 1 and not session.view()["issues"]
    assert post(server.url + "api/preview", {"commands": [{"do": "end_game"}]})[1]["previews"] == [
        {"error": "the game is over already"}]
    post(server.url + "api/commands", {"do": "undo"})  # the one end there is
    assert said(server)["phase"] == "playing"
    assert post(server.url + "api/commands", {"do": "end_game"})[0] == 200


def test_every_step_adds_what_it_shows_and_the_winner_comes_last(serve):
    session, server, scores = ended(serve)
    final = json.loads(json.dumps(session.view()["final"]))
    told = [(s["name"], e) for s in final["stages"] for e in s["events"]]
    for n, (stage, event) in enumerate(told):
        _, view = post(server.url + "api/commands", {"do": "reveal", "step": n, "lead": "tablet", "who": "Anna"})
        assert [p["score"] for p in view["players"]] == scores and view["final"] is None
        assert (view["reveal"]["stage"], view["reveal"]["event"]["places"]) == (stage, event["places"])
        assert (view["reveal"]["lead"], view["reveal"]["by"]) == ("tablet", "Anna")
        assert sum(len(s["events"]) for s in view["projected_final"]["stages"]) == n + 1
        for won in event["points"]:
            scores[won["player"]] += won["points"]
    assert scores == final["totals"]
    _, view = post(server.url + "api/commands", {"do": "reveal", "step": len(told)})
    assert view["final"]["winners"] == final["winners"] and not view["reveal"]["told"]


def test_a_walk_takes_only_its_steps_and_ends_with_the_end_of_the_game(serve):
    session, server = serve(10)
    command = server.url + "api/commands"
    assert post(command, {"do": "reveal", "step": 0})[0] == 409  # the game is played
    assert said(server)["reveal"] is None
    post(command, {"do": "end_game"})
    for wrong in ({}, {"step": 99}, {"step": -2}, {"step": True}, {"step": "all"}, {"step": 0, "lead": 3}):
        assert post(command, {"do": "reveal", **wrong})[0] == 400, wrong
    post(command, {"do": "reveal", "step": "end"})
    post(command, {"do": "undo"})
    assert said(server)["reveal"] is None and said(server)["final"] is None
    post(command, {"do": "end_game"})  # another end is told anew
    assert said(server)["reveal"]["step"] == -1


def test_a_restart_goes_on_with_the_walk_and_an_older_game_is_told(tmp_path, serve):
    session, _, _ = ended(serve)
    store: Store = session._store
    session.command({"do": "reveal", "step": 2, "lead": "x"})
    again = TableSession.resume(store)
    assert again is not None and again.view()["reveal"] == session.view()["reveal"]
    setup = {"players": [{"name": "Cy", "colour": "red"}, {"name": "Di", "colour": "blue"}], "edition": "zman2012"}
    first = session.game
    session.command({"do": "new_game", "setup": setup})
    assert session.view()["reveal"] is None
    session.command({"do": "end_game"})
    assert session.view()["reveal"]["step"] == -1
    session.command({"do": "open_game", "game": first})  # its evening is long over
    assert session.view()["reveal"]["told"]


def test_neither_list_nor_book_nor_file_counts_a_game_as_over_before_it_is_told(serve):
    session, server, before = ended(serve)
    final, game = session.view()["final"], session.game
    kept = f"api/book/games/{game}"
    row, = said(server, "api/games")["games"]
    assert not row["over"] and row["scores"] == before
    book = said(server, "api/book")
    assert [p["score"] for p in book["games"][0]["players"]] == before and not book["games"][0]["over"]
    one = said(server, kept)
    assert not one["row"]["over"] and one["handover"] is None and one["view"]["final"] is None
    assert one["view"]["projected_final"]["totals"] == before
    assert [p["projected"] for p in one["view"]["players"]] == before
    assert get(server.url + kept + "/handover.svg")[0] == 404
    assert f",{max(final['totals'])},".encode() not in get(server.url + "api/book/book.csv")[2]
    files = {path: get(server.url + path)[2] for path in
             ("api/export/scores.csv", kept + "/scores.csv", kept + "/board.png")}
    _, seen = post(server.url + "api/preview", {"commands": [{"do": "undo"}]})
    assert seen["previews"][0]["scores"] == []
    post(server.url + "api/commands", {"do": "reveal", "step": "end"})
    row, = said(server, "api/games")["games"]
    assert row["over"] and row["scores"] == final["totals"] != before
    assert said(server, "api/book")["games"][0]["over"]
    assert said(server, kept)["view"]["final"]["totals"] == row["scores"]
    for path, untold in files.items():
        assert get(server.url + path)[2] != untold, path
