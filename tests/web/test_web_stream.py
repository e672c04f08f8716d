"""Event streams and the server's life: whole views first, changes after, a cap, and an end."""

from __future__ import annotations

import http.client
import json
import socket
import threading

import pytest
from webtable import after, get

from bastide.store import Store
from web.app import create_app
from web.protocol import Subscription
from web.server import PageServer, PortInUse, ServerError
from web.stream import Streams, TooManyStreams, changes


class Stream:
    """One client's event stream."""

    def __init__(self, server: PageServer) -> None:
        self.connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
        self.connection.request("GET", "/api/events")
        self.answer = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.answer.close()
        self.connection.close()

    def next(self) -> tuple[str, int, dict]:
        """The next event that is not a heartbeat: its kind, number and data."""
        fields: dict[str, str] = {}
        while True:
            line = self.answer.readline()
            if not line:
                raise EOFError
            text = line.decode().rstrip("\n")
            if not text:
                if fields.get("event") in ("view", "change"):
                    return fields["event"], int(fields["id"]), json.loads(fields["data"])
                fields = {}
                continue
            name, _, value = text.partition(": ")
            fields[name] = value


def test_the_whole_view_first_then_what_changed(serve):
    session, server = serve(5)
    with Stream(server) as stream:
        assert stream.answer.getheader("Content-Type").startswith("text/event-stream")
        kind, number, view = stream.next()
        assert kind == "view" and number == session.view()["update"]
        for event in after(5)[:6]:
            session.commit((event,), confidence=0.9, asked=False)
            kind, newer, change = stream.next()
            assert kind == "change" and change["base"] == number < newer
            view = {k: v for k, v in view.items() if k not in change["drop"]} | change["set"]
            number = newer
            assert view == json.loads(json.dumps(session.view()))


def test_a_status_is_a_small_change(serve):
    session, server = serve(40)
    with Stream(server) as stream:
        stream.next()
        session.set_status("hand")
        _, _, change = stream.next()
        assert set(change["set"]) == {"status", "update"}


def test_all_clients_see_the_same(serve):
    session, server = serve(5)
    streams = [Stream(server) for _ in range(8)]
    try:
        for s in streams:
            s.next()
        session.commit(after(5)[:1], confidence=0.9, asked=False)
        assert len({json.dumps(s.next()) for s in streams}) == 1
    finally:
        for s in streams:
            s.__exit__()


def test_a_slow_client_gets_the_newest_view_only():
    subscription = Subscription()
    for n in range(1000):
        subscription.put({"version": n})
    assert subscription.get(0) == {"version": 999}
    assert subscription.get(0) is None


def test_changes_name_what_is_gone():
    text = changes({"version": 1, "update": 1, "a": 1, "b": 2}, {"version": 1, "update": 2, "a": 1})
    data = json.loads(text.split("data: ")[1])
    assert data == {"base": 1, "set": {"update": 2}, "drop": ["b"]}


def test_more_streams_than_places_are_sent_to_polling(tmp_path):
    from webtable import table
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 2)
        app = create_app(session, streams=Streams(session, most=2))
        with PageServer(app, port=0) as server:
            with Stream(server) as first, Stream(server) as second:
                first.next(), second.next()
                status, headers, body = get(server.url + "api/events")
                assert status == 503 and int(headers["Retry-After"]) > 0
                assert json.loads(body)["error"]["code"] == "too_many_streams"
                assert get(server.url + "api/state")[0] == 200
            streams = app.extensions["streams"]
            free = threading.Event()
            while len(streams) and not free.wait(0.05):  # noticed by the next look at the connection
                session.set_status("watching", str(len(streams)))
            with Stream(server) as third:
                assert third.next()[0] == "view"


def test_a_stream_that_was_never_read_gives_its_place_back(serve):
    session, _ = serve(1)
    streams = Streams(session, most=1)
    unread = streams.open()
    with pytest.raises(TooManyStreams):
        streams.open()
    unread.close()
    again = streams.open()
    next(again)
    assert '"version":' in next(again)
    streams.close()
    assert list(again) == []
    with pytest.raises(TooManyStreams):
        streams.open()


def test_a_quiet_stream_beats(serve):
    session, _ = serve(1)
    streams = Streams(session, heartbeat_s=0.01)
    stream = streams.open()
    texts = [next(stream) for _ in range(3)]
    assert texts[0].startswith("retry:") and "event: view" in texts[1] and "event: beat" in texts[2]
    streams.close()


def test_leaving_ends_open_streams(tmp_path):
    from webtable import table
    with Store(tmp_path / "t.sqlite") as store:
        server = PageServer(create_app(table(store, 2)), port=0)
        with server:
            stream = Stream(server)
            stream.next()
        with stream, pytest.raises((EOFError, ConnectionError, http.client.HTTPException)):
            stream.next()
        assert not [t for t in threading.enumerate() if t.name == "page-server"]
        with socket.create_server((server.host, server.port)):
            pass  # the port is free again


def test_a_port_in_use_is_one_sentence(serve):
    session, server = serve(0)
    with pytest.raises(PortInUse, match=rf"^port {server.port} is in use[^\n]*$"), \
            PageServer(create_app(session), port=server.port):
        pass


def test_no_such_address_is_one_sentence(serve):
    session, _ = serve(0)
    for host, port in (("203.0.113.7", 0), ("127.0.0.1", 99_999)):
        with pytest.raises(ServerError, match=r"^[^\n]+$"), PageServer(create_app(session), host, port):
            pass
