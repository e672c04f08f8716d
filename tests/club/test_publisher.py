"""A table on a real broker: online, offline, killed, restarted, duplicated, with messages from strangers."""

from __future__ import annotations

import json
import threading
import time

import pytest
from brokers import PATIENCE_S, QUICK, Ear, Mosquitto
from clubtables import ClubTable, moves

from bastide.club.broker import Link
from bastide.club.discovery import discovery
from bastide.club.message import LARGEST, unpacked

STATE, THERE, COMMAND = "bastide/table-4/state", "bastide/table-4/availability", "bastide/table-4/command"


@pytest.fixture
def broker(tmp_path):
    with Mosquitto(tmp_path) as made:
        yield made


def is_rev(rev):
    return lambda topic, value: topic == STATE and value["rev"] == rev


def settled(holds):
    """Wait until it holds; for what has no event to wait for."""
    deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while not holds():
        assert time.monotonic() < deadline
        pause.wait(0.02)


def test_nothing_is_sent_before_the_sender_knows_that_the_connection_is_new(broker):
    """Between the broker's answer and `connected` a sender that was at work would go on as if nothing had been
    missed, and tell the events of the outage."""
    told, go_on = threading.Event(), threading.Event()

    def connected():
        told.set()
        assert go_on.wait(PATIENCE_S)

    with Link(broker.address, "a-sender", connected=connected, heard=lambda *_: None, pace=QUICK) as link:
        assert told.wait(PATIENCE_S) and link.client.is_connected()
        try:
            assert not link.up and link.send("bastide/x", b"early") is None
        finally:
            go_on.set()
        settled(lambda: link.up)
        for _ in range(2):  # and the same for each connection after the first
            told.clear()
            go_on.clear()
            link.client.socket().shutdown(2)
            assert told.wait(PATIENCE_S) and not link.up
            go_on.set()
            settled(lambda: link.up)


def test_a_table_says_what_it_shows_and_whether_it_is_there(broker, tmp_path):
    with Ear(broker) as ear:
        with ClubTable(tmp_path / "a", broker, "Table 4") as table:
            ear.until(lambda t, v: t == THERE and v == b"online")  # what was played before is state and no event
            rev = table.play(*moves())
            told = ear.until(is_rev(rev))
            view = table.session.view()
            assert [p["score"] for p in told["players"]] == [p["score"] for p in view["players"]]
            assert any(t == THERE and p == b"online" for t, p, _ in ear.messages)
            scores = sum(p["score"] for p in view["players"])
            assert scores > 0
            ear.until(lambda *_: scores == sum(  # the state may come before the last events
                n for t, p, _ in ear.messages if t.endswith("/event") for _, n in json.loads(p)["score"]["points"]))
            with Ear(broker, "bastide/#") as late:  # a late subscriber gets retained messages, and no old events
                assert late.until(is_rev(rev))["laid"] == len(view["board"]["tiles"])
                assert late.until(lambda t, _: t == THERE) == b"online"  # in whichever order the broker gives them
                assert {t.rpartition("/")[2] for t, _, _ in late.messages} == {"state", "availability"}
        ear.until(lambda t, v: t == THERE and v == b"offline")


def test_a_killed_table_is_told_by_its_last_will(broker, tmp_path):
    with Ear(broker) as ear, ClubTable(tmp_path / "a", broker, "Table 4") as table:
        ear.until(lambda t, v: t == STATE)
        table.publisher.link.client.socket().shutdown(2)  # as when the machine loses power
        ear.until(lambda t, v: t == THERE and v == b"offline")
        n = len(ear.messages)
        ear.until(lambda t, v: t == THERE and v == b"online", after=n - 1)


def test_while_the_broker_is_gone_play_goes_on_and_nothing_grows(broker, tmp_path):
    """The broker is killed; moves are accepted as usual, and after its restart with empty memory everything is
    published again."""
    with ClubTable(tmp_path / "a", broker, "Table 4") as table:
        client = table.publisher.link.client
        with Ear(broker) as ear:
            ear.until(is_rev(table.play(*moves()[:4])))
        settled(lambda: not client._out_messages)  # what the broker has not acknowledged yet is kept, and right so
        broker.kill()
        settled(lambda: not table.publisher.link.up)  # what is sent before the loss is noticed is no old news
        for n in range(300):
            table.session.set_status("hand" if n % 2 else "watching", str(n))
        rev = table.play(*moves()[4:])
        assert len(client._out_messages) <= 3 and len(client._out_packet) <= 3, "what nobody takes is not kept"
        broker.start()
        with Ear(broker) as ear:
            told = ear.until(is_rev(rev))
            assert [p["score"] for p in told["players"]] == [p["score"] for p in table.session.view()["players"]]
            assert ear.until(lambda t, v: t == THERE) == b"online"
            assert [p for t, p, _ in ear.messages if t.endswith("/event")] == [], "old news are no news"


def test_a_move_never_waits_for_a_broker_that_hangs(broker, tmp_path):
    """The worst case is a broker that accepts connections and does not answer: stopped, not dead."""
    import signal

    with ClubTable(tmp_path / "a", broker, "Table 4") as table, Ear(broker) as ear:
        ear.until(lambda t, v: t == STATE)
        assert broker._process is not None
        broker._process.send_signal(signal.SIGSTOP)
        try:
            done = threading.Event()

            def play():
                for event in moves():
                    table.play(event)
                done.set()

            threading.Thread(target=play, daemon=True).start()
            assert done.wait(PATIENCE_S)
            client = table.publisher.link.client
            assert len(client._out_messages) <= 25
            rev = table.session.view()["update"]
        finally:
            broker._process.send_signal(signal.SIGCONT)
        ear.until(is_rev(rev))


def test_a_correction_replaces_the_whole_state(broker, tmp_path):
    with Ear(broker) as ear, ClubTable(tmp_path / "a", broker, "Table 4") as table:
        before = ear.until(is_rev(table.play(*moves())))
        table.session.command({"do": "undo"})
        after = ear.until(is_rev(table.session.view()["update"]))
        assert (after["epoch"], after["rev"]) > (before["epoch"], before["rev"])
        assert after["laid"] == before["laid"] - 1 or after["board"] != before["board"]


def test_states_go_on_in_order_after_a_restart_and_after_an_old_backup(broker, tmp_path):
    with Ear(broker) as ear:
        epochs = []
        for _ in range(3):
            with ClubTable(tmp_path / "a", broker, "Table 4"):
                epochs.append(ear.until(lambda t, v: t == STATE and v["epoch"] not in epochs)["epoch"])
        assert epochs == [1, 2, 3]
        kept = json.loads((tmp_path / "a" / "club.json").read_text("utf-8"))
        (tmp_path / "a" / "club.json").write_text(json.dumps({**kept, "epoch": 0}), "utf-8")
        with ClubTable(tmp_path / "a", broker, "Table 4"):  # the broker still has a state of start 3
            assert ear.until(lambda t, v: t == STATE and v["epoch"] > 3)["device"]


def test_two_tables_with_one_name_notice_each_other(broker, tmp_path, caplog):
    with ClubTable(tmp_path / "a", broker, "Table 4") as one, ClubTable(tmp_path / "b", broker, "Table 4") as other, \
            Ear(broker) as ear:
        first = ear.until(lambda t, v: t == STATE)["device"]
        ear.until(lambda t, v: t == STATE and v["device"] != first)
        n = len(ear.messages)
        one.play(*moves()[:2])
        other.play(*moves()[:2])
        for device in (one.publisher._identity.device, other.publisher._identity.device):
            ear.until(lambda t, v, d=device: t == STATE and v["device"] == d, after=n)
        settled(lambda: one.publisher.doubled and other.publisher.doubled)  # the ear may have heard it first
        assert "another table is also called 'Table 4'" in caplog.text


def test_the_broker_hears_of_an_end_when_the_room_has(broker, tmp_path):
    """Until then the game is published with its earlier scores; if a new one begins before the result is revealed, it
    is published then."""
    with Ear(broker) as ear, ClubTable(tmp_path / "a", broker, "Table 4") as table:
        session = table.session

        def heard(rev):
            told = ear.until(is_rev(rev))
            return told["phase"], [p["score"] for p in told["players"]], [p["projected"] for p in told["players"]]

        table.play(*moves())
        before = [p["score"] for p in session.view()["players"]]
        view = session.command({"do": "end_game"})
        totals = view["final"]["totals"]
        assert totals != before and heard(view["update"]) == ("playing", before, before)
        view = session.command({"do": "reveal", "step": "end"})
        assert heard(view["update"]) == ("over", totals, totals)
        session.command({"do": "undo"})
        view = session.command({"do": "end_game"})
        assert heard(view["update"])[0] == "playing"
        n = len(ear.messages)
        session.command({"do": "new_game", "setup": {
            "players": [{"name": "Cy", "colour": "red"}, {"name": "Di", "colour": "blue"}], "edition": "zman2012"}})
        left = ear.until(lambda t, v: t == STATE and v["phase"] == "over", after=n)
        assert (left["game"], [p["score"] for p in left["players"]]) == (view["game"], totals)
        assert ear.until(lambda t, v: t == STATE and v["game"] != view["game"], after=n)["phase"] == "playing"


def test_commands_are_taken_only_where_they_are_switched_on(broker, tmp_path):
    with Ear(broker) as ear, ClubTable(tmp_path / "a", broker, "Table 4") as deaf, \
            ClubTable(tmp_path / "b", broker, "Table 5", commands=True) as hears:
        for table, name in ((deaf, "table-4"), (hears, "table-5")):
            ear.until(lambda t, v, n=name: t == f"bastide/{n}/state")
            table.session.command({"do": "end_game"})
            for rubbish in (b"", b"{", b'{"v":1,"do":"shutdown"}', b"x" * (LARGEST + 5000)):
                ear.say(f"bastide/{name}/command", rubbish)
            ear.say(f"bastide/{name}/command", {"v": 1, "do": "next_game"})
        begun = ear.until(lambda t, v: t == "bastide/table-5/event" and v["kind"] == "begun")
        assert begun["game"] == hears.session.view()["game"] != 1
        deaf.play()
        assert deaf.session.view()["game"] == 1 and deaf.session.view()["phase"] == "over"


def test_home_assistant_is_told_of_a_table_and_only_of_what_it_has(broker, tmp_path):
    with Ear(broker, "homeassistant/#", "bastide/#") as ear, \
            ClubTable(tmp_path / "a", broker, "Table 4", aid="score", commands=True):
        ear.until(lambda t, v: t == "homeassistant/button/table-4/next_game/config" and v != b"")
        found = {t: json.loads(p) for t, p, _ in ear.messages if t.startswith("homeassistant/") and p}
        things = {t.split("/")[3] for t in found}
        assert things == {"player_1", "player_2", "turn", "status", "next_game"}, "not the tiles left: aids are off"
        assert found["homeassistant/sensor/table-4/player_1/config"]["name"] == "Anna"
        assert len({d["unique_id"] for d in found.values()}) == len(found)
        assert {d["availability_topic"] for d in found.values()} == {THERE}
        state = ear.until(lambda t, v: t == STATE)
        assert unpacked("command", found["homeassistant/button/table-4/next_game/config"]["payload_press"].encode())
        assert state["commands"] is True


def test_a_sensor_that_is_gone_is_taken_away():
    from bastide.club.message import Sender

    document = {"players": [{"name": "Anna"}], "commands": False}
    made = discovery(document, Sender("Table 4", "0123456789ab", 1))
    assert made["homeassistant/sensor/table-4/player_2/config"] is None
    assert made["homeassistant/sensor/table-4/left/config"] is None
    assert made["homeassistant/button/table-4/next_game/config"] is None
