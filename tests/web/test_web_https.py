"""HTTPS in front of the page's server: the same page, streams included, and access control sees the real client."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from webtable import table

from bastide.log.store import Store
from bastide.machine.certificates import Certificates
from web.access import Access
from web.app import create_app
from web.certificate import TEXTS, Https
from web.rights import Memory
from web.server import PageServer, PortInUse
from web.tls import SecureFront

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed here")
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    made.renew("bastide", ())
    return made


class Secured:
    def __init__(self, stack: ExitStack, folder: Path, certificates: Certificates, **options: Any) -> None:
        self.session = table(stack.enter_context(Store(folder / "table.sqlite")), 3)
        self.access = Access(Memory())
        self.asked: list[tuple[str, str]] = []
        https = Https(8443, certificates.authority)
        app = create_app(self.session, access=self.access, https=https)
        inner = app.wsgi_app

        def noted(environ: Any, start: Any) -> Any:
            self.asked.append((environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]))
            return inner(environ, start)

        app.wsgi_app = noted  # type: ignore[method-assign]
        self.page = stack.enter_context(PageServer(app, port=0))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificates.page)
        self.front = stack.enter_context(SecureFront(self.page, 0, self.context, **options))
        self.trusts = ssl.create_default_context(cadata=certificates.authority())

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.front.port, context=self.trusts, timeout=PATIENCE_S)

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        asking = self.connection()
        try:
            asking.request("GET", path, headers=headers)
            answer = asking.getresponse()
            return answer.status, answer.read()
        finally:
            asking.close()


@pytest.fixture
def secured(tmp_path: Path, certificates: Certificates) -> Iterator[Secured]:
    with ExitStack() as stack:
        yield Secured(stack, tmp_path, certificates)


def test_the_same_page_with_one_connection_for_many_requests(secured: Secured) -> None:
    asking = secured.connection()
    for path in ("/", "/api/state", "/static/js/app.js", "/sw.js"):
        asking.request("GET", path)
        answer = asking.getresponse()
        assert answer.status == 200 and len(answer.read()) > 500
    asking.close()
    assert set(secured.asked) == {("127.0.0.1", "https")}


def test_streams_come_through(secured: Secured) -> None:
    asking = secured.connection()
    asking.request("GET", "/api/events")
    answer = asking.getresponse()
    lines = iter(answer.readline, b"")
    assert next(line for line in lines if line.startswith(b"data:"))
    secured.session.set_status("paused")
    assert next(line for line in lines if b"paused" in line)
    asking.close()


def test_a_picture_of_many_records_arrives_whole(secured: Secured) -> None:
    status, text = secured.get("/api/openapi.json")
    assert status == 200 and json.loads(text)["openapi"] and len(text) > 65_536


def test_no_device_can_sign_as_another(secured: Secured) -> None:
    """The front announces its own next connection only: a plain one in between keeps its own identity."""
    secured.page.announce(1, ("192.168.1.9", 5))
    assert secured.get("/api/session")[0] == 200
    plain = http.client.HTTPConnection("127.0.0.1", secured.page.port, timeout=PATIENCE_S)
    plain.request("GET", "/api/session")
    assert plain.getresponse().status == 200
    plain.close()
    assert secured.asked == [("127.0.0.1", "https"), ("127.0.0.1", "http")]
    # A connection from the announced port is that client's, and no other's.
    with socket.socket() as inner:
        inner.settimeout(PATIENCE_S)
        inner.bind(("127.0.0.1", 0))
        secured.page.announce(inner.getsockname()[1], ("192.168.1.9", 5))
        inner.connect(("127.0.0.1", secured.page.port))
        inner.sendall(b"GET /api/session HTTP/1.0\r\nHost: bastide.local\r\n\r\n")
        assert b" 200 " in inner.recv(1000)
    assert secured.asked[-1] == ("192.168.1.9", "https")
    secured.page.announce(2, ("93.184.216.34", 5))
    secured.page.forget(2)
    assert 2 not in secured.page._announced


def test_strangers_are_strangers_by_https_too(secured: Secured) -> None:
    assert secured.get("/api/state", **{"X-Forwarded-For": "93.184.216.34"})[0] == 403
    assert secured.get("/api/state", Host="example.org")[0] == 421


def test_a_client_without_tls_is_disconnected_without_side_effects(secured: Secured) -> None:
    with socket.create_connection(("127.0.0.1", secured.front.port), timeout=PATIENCE_S) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert not plain.recv(1000).startswith(b"HTTP")
    half = socket.create_connection(("127.0.0.1", secured.front.port), timeout=PATIENCE_S)
    half.sendall(b"\x16\x03\x01")  # an incomplete ClientHello
    assert secured.get("/api/state")[0] == 200
    half.close()


def test_more_than_there_is_room_for_are_closed(tmp_path: Path, certificates: Certificates) -> None:
    with ExitStack() as stack:
        few = Secured(stack, tmp_path, certificates, connections=1)
        first = few.connection()
        first.request("GET", "/api/state")
        first.getresponse().read()
        with pytest.raises(OSError):
            few.get("/api/state")
        first.close()


def test_another_certificate_is_shown_from_the_next_connection_on(
        secured: Secured, tmp_path: Path) -> None:
    other = Certificates(tmp_path / "other")
    other.renew("bastide", ())
    secured.context.load_cert_chain(other.page)
    with pytest.raises(ssl.SSLCertVerificationError):
        secured.get("/api/state")
    secured.trusts = ssl.create_default_context(cadata=other.authority())
    assert secured.get("/api/state")[0] == 200


def test_a_taken_port_is_one_sentence_and_leaving_ends_everything(
        tmp_path: Path, certificates: Certificates) -> None:
    before = set(threading.enumerate())
    with ExitStack() as stack:
        made = Secured(stack, tmp_path, certificates)
        with pytest.raises(PortInUse, match="choose another with --https"):
            SecureFront(made.page, made.page.port, made.context).__enter__()
        asking = made.connection()
        asking.request("GET", "/api/events")
        answer = asking.getresponse()
        assert answer.readline()
    with pytest.raises(http.client.IncompleteRead):  # cut off: it does not delay the shutdown
        answer.read()
    asking.close()
    begun = set(threading.enumerate()) - before
    for thread in begun:
        thread.join(timeout=30.0)
    assert not any(thread.is_alive() for thread in begun)


@pytest.mark.parametrize("language", TEXTS)
def test_the_one_step_is_explained_without_trust_in_three_languages(secured: Secured, language: str) -> None:
    plain = http.client.HTTPConnection("127.0.0.1", secured.page.port, timeout=PATIENCE_S)
    plain.request("GET", f"/https?lang={language}", headers={"Host": "bastide.local:8000"})
    text = plain.getresponse().read().decode()
    assert f'<html lang="{language}"' in text and 'href="https://bastide.local:8443/"' in text
    assert f">{TEXTS[language]['download']}</a>" in text
    for kind in ("ios", "android", "other"):
        assert len(TEXTS[language][f"{kind}_steps"]) == len(TEXTS["en"][f"{kind}_steps"])
    assert set(TEXTS[language]) == set(TEXTS["en"])
    assert language != "fr" or not re.search(r" [:;!?»]|« ", re.sub(r"<[^>]*>", "", text))  # no line breaks there
    plain.request("GET", "/https/bastide.crt")
    answer = plain.getresponse()
    assert answer.headers["Content-Type"].startswith("application/x-x509-ca-cert")
    assert b"PRIVATE" not in (crt := answer.read()) and crt.startswith(b"-----BEGIN CERTIFICATE")
    plain.close()


def test_without_https_the_page_says_who_switches_it_on(tmp_path: Path) -> None:
    with Store(tmp_path / "table.sqlite") as store:
        asking = create_app(table(store, 0)).test_client()
        assert "not switched on" in asking.get("/https").text and asking.get("/https/bastide.crt").status_code == 404
