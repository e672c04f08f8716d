"""An address that answers without pictures: the message names what is there, and what to type instead."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hardware.sources import open_source
from vision.frames import SourceError

LOCK = "Basic " + base64.b64encode(b"anna:s ecret").decode()


class Phone(BaseHTTPRequestHandler):
    """Its page is at /, its video behind a password, everything else is not there."""

    def do_GET(self) -> None:
        if self.path == "/":
            body = b"<!doctype html><title>IP camera</title>" + b"<p>watch</p>" * 50
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path == "/video" and self.headers.get("Authorization") != LOCK:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="phone"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(404)

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture(scope="module")
def phone() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Phone)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("address", "says"), [
    ("http://{}/", "is a web page and no camera: the app shows the address of its video, which often ends in /video"),
    ("http://{}/stream", r"has no pictures \(404\): the app shows the address"),
    ("http://{}/video", "asks for a name and a password: give http://NAME:PASSWORD@127.0.0.1:.*/video"),
    ("http://anna:wrong@{}/video", "does not accept this name and password"),
    ("http://anna:s%20ecret@{}/video", r"has no pictures \(404\)")])
def test_what_answers_without_pictures_is_named(phone: str, address: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught, open_source(address.format(phone)):
        pass
    said = str(caught.value)
    assert "\n" not in said and len(said) < 300 and phone in said and "anna" not in said and "ecret" not in said
