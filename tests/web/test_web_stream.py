"""Event streams and the server's life: whole views first, changes after, a cap, and an end."""

from __future__ import annotations

import http.client
import json
import socket
import threading

import pytest
from waitress.buffers import OverflowableBuffer
from webtable import after, get

from bastide.log.store import Store
from web.app import create_app
from web.protocol import Subscription
from web.server import CROWDED, PER_CLIENT, PageServer, PortInUse, ServerError, Sweeper
from web.stream import KEPT, Streams, TooManyStreams, difference


class Stream:
    """One client's event stream."""

    def __init__(self, server: PageServer, after: str | None = None) -> None:
        self.connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
        self.connection.request("GET", "/api/events", headers={"Last-Event-ID": after} if after else {})
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
                    self.last = fields["id"]
                    return fields["event"], int(fields["id"].partition("-")[2]), json.loads(fields["data"])
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
    change = difference({"version": 1, "update": 1, "a": 1, "b": 2}, {"version": 1, "update": 2, "a": 1})
    assert change == {"base": 1, "set": {"update": 2}, "drop": ["b"]}


def test_a_returning_client_gets_what_changed_meanwhile(serve):
    session, server = serve(5)
    with Stream(server) as stream:
        _, number, view = stream.next()
    with Stream(server):  # another client may stay or leave
        for event in after(5)[:3]:
            session.commit((event,), confidence=0.9, asked=False)
    with Stream(server, after=stream.last) as again:
        kind, _, change = again.next()
        assert kind == "change" and change["base"] == number
        view = {k: v for k, v in view.items() if k not in change["drop"]} | change["set"]
        assert view == json.loads(json.dumps(session.view()))


@pytest.mark.parametrize("after_id", ["0-1", "nonsense", "{life}-99999", "{life}--1", "{life}-1e3", "-", "x" * 500])
def test_an_id_that_means_nothing_gets_the_whole_view(serve, after_id):
    """Such as one of before a restart: its numbers are others now."""
    session, server = serve(5)
    with Stream(server) as stream:
        stream.next()
    life = stream.last.partition("-")[0]
    with Stream(server, after=after_id.format(life=life)) as again:
        assert again.next()[0] == "view"


def test_only_few_views_are_kept_for_who_returns(serve):
    session, _ = serve(1)
    streams = Streams(session)
    stream = streams.open()
    next(stream), next(stream)
    for n in range(3 * KEPT):
        session.set_status("watching", str(n))
        next(stream)
    assert len(streams._recent) == KEPT
    streams.close()


def test_one_client_cannot_take_all_places(serve):
    session, _ = serve(1)
    streams = Streams(session, most=10, per_client=2)
    held = [streams.open(who="a"), streams.open(who="a"), streams.open(who="b")]
    with pytest.raises(TooManyStreams):
        streams.open(who="a")
    held[0].close()
    streams.open(who="a")
    streams.close()


class Connection:
    """What the sweeper sees of a connection."""

    def __init__(self, client="10.0.0.1", request=None, unread=0, active=0.0, requests=()):
        self.addr, self.request, self.total_outbufs_len = (client, 1), request, unread
        self.last_activity, self.requests = active, requests


def test_connections_that_hold_a_place_for_nothing_are_closed():
    now = [0.0]
    sweeper = Sweeper(lambda: now[0])
    asking, unread, quick, busy = (Connection(request=object()), Connection(unread=9), Connection(request=object()),
                                   Connection(requests=(1,)))
    every = [asking, unread, quick, busy]
    assert sweeper.overdue(every) == []
    now[0] = 14
    quick.request = object()
    assert sweeper.overdue(every) == []
    now[0] = 16
    assert sweeper.overdue(every) == [asking]
    now[0] = 21
    assert sweeper.overdue([unread, quick, busy]) == [unread]
    unread.last_activity = 20.5
    assert sweeper.overdue([unread, quick, busy]) == []


def test_one_address_cannot_hold_all_connections():
    crowd = [Connection("10.0.0.9") for _ in range(PER_CLIENT + 7)] + [Connection("10.0.0.8", requests=(1,))]
    late = Sweeper(lambda: 0.0).overdue(crowd)
    assert len(late) == 7 and {c.addr[0] for c in late} == {"10.0.0.9"}


def test_a_crowd_makes_room_for_the_newest_client():
    """Slow clients from several addresses, each below its own limit, do not lock others out."""
    slow = [Connection(f"10.0.0.{n % 4}", request=object()) for n in range(CROWDED)]
    guest, stream = Connection("10.0.0.9", request=object()), Connection("10.0.0.1", requests=(1,))
    sweeper = Sweeper(lambda: 0.0)
    assert sweeper.overdue([*slow[:PER_CLIENT], guest, stream]) == []
    late = sweeper.overdue([*slow, guest, stream])
    assert guest not in late and stream not in late and len(slow) - len(late) <= CROWDED // 2


def test_a_client_that_never_completes_its_request_is_disconnected(serve, monkeypatch):
    monkeypatch.setattr("web.server._ASKING_S", 0.0)
    monkeypatch.setattr("web.server._SWEEP_S", 0.05)
    _, server = serve(1)
    with socket.create_connection((server.host, server.port), timeout=20) as slow:
        slow.sendall(b"GET /api/state HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert slow.recv(1) == b""
    with socket.create_connection((server.host, server.port), timeout=20) as huge:
        huge.sendall(b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n")
        assert b" 413 " in huge.recv(100)
    assert get(server.url + "api/state")[0] == 200


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


def test_a_stream_that_was_never_read_frees_its_place(serve):
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


def test_what_a_stream_was_sent_is_not_kept(serve):
    """Waitress would keep up to a buffer of it, a megabyte per viewer."""
    session, server = serve(30)
    with Stream(server) as stream:
        sent = len(json.dumps(stream.next()[2]))
        for event in after(30)[:10]:
            session.commit((event,), confidence=0.9, asked=False)
            sent += len(json.dumps(stream.next()[2]))
        (channel,) = [c for c in server._sockets.values() if getattr(c, "requests", None)]
        with channel.outbuf_lock:  # held until what was sent is let go
            kept = [out.getfile().seek(0, 2) for out in channel.outbufs]
    assert sent > 30_000
    assert sum(kept) == 0


def test_what_is_written_while_a_client_goes_is_no_error(serve, caplog):
    _, server = serve(2)
    with Stream(server) as stream:
        stream.next()
        (channel,) = [c for c in server._sockets.values() if getattr(c, "requests", None)]
        for close in (lambda: setattr(channel, "connected", False), channel.handle_close):  # in two steps
            close()
            with channel.outbuf_lock:  # a thread that was about to write
                channel.outbufs[-1] = OverflowableBuffer(100)
                channel.outbufs[-1].append(b"data: {}")
                channel.total_outbufs_len = 8
                assert channel._flush_exception(channel._flush_some) == (False, False)
                assert channel.total_outbufs_len == 8
    assert not caplog.records


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
