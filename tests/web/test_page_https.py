"""The page over HTTPS in a real browser: it is kept on the device, opens with the last state while the table is gone,
says how old that is, and goes on by itself when the table is back."""

from __future__ import annotations

import base64
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from webtable import table

from bastide.log.store import Store
from bastide.machine.certificates import Certificates
from web.app import create_app
from web.certificate import Https
from web.server import PageServer
from web.tls import SecureFront

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed here")
OLD = re.compile(r"^As of \d\d:\d\d( [AP]M)? · reconnecting…$")


def fingerprint(file: Path) -> str:
    """Of the public key, as Chromium names what it is to trust (base64 of SHA-256)."""
    key = subprocess.run(["openssl", "x509", "-in", str(file), "-noout", "-pubkey"], capture_output=True, check=True)
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key.stdout, capture_output=True,
                         check=True).stdout
    digest = subprocess.run(["openssl", "dgst", "-sha256", "-binary"], input=der, capture_output=True, check=True)
    return base64.b64encode(digest.stdout).decode()


class Table:
    """A table whose program can be ended and begun again at the same ports."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port, self.secure_port = folder, 0, 0
        self.certificates = Certificates(folder)
        self.certificates.renew("bastide", ())
        self._life = ExitStack()

    def begin(self, tiles: int) -> None:
        self.session = table(self._life.enter_context(Store(self._folder / f"{tiles}.sqlite")), tiles)
        app = create_app(self.session, https=Https(8443, self.certificates.authority))
        server = self._life.enter_context(PageServer(app, port=self.port))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificates.page)
        front = self._life.enter_context(SecureFront(server, self.secure_port, context))
        self.port, self.secure_port = server.port, front.port

    def end(self) -> None:
        self._life.close()


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path)
    made.begin(8)
    yield made
    made.end()


def test_the_page_is_an_app_that_outlives_a_restart(restarted: Table, chromium: Any) -> None:
    """In a browser that trusts the table's own certificate, by its public key."""
    browser = chromium.browser_type.launch(executable_path=shutil.which("chromium"), args=[
        "--no-sandbox", f"--ignore-certificate-errors-spki-list={fingerprint(restarted.certificates.page)}"])
    try:
        page = browser.new_page(viewport={"width": 1024, "height": 768}, locale="en")
        page.goto(f"https://localhost:{restarted.secure_port}/")
        page.wait_for_selector("body[data-kept] .tile")
        assert page.evaluate("isSecureContext && 'wakeLock' in navigator")
        told = page.request.get(f"http://127.0.0.1:{restarted.port}/static/manifest.webmanifest").json()
        assert told["display"] == "standalone" and {"192x192", "512x512"} <= {i["sizes"] for i in told["icons"]}
        tiles = page.locator("#board .tile").count()
        scores = page.locator(".score").all_inner_texts()

        restarted.end()
        page.clock.install()  # from here on the test says how time goes by
        page.reload()
        page.wait_for_selector("body[data-ready] .tile")
        assert page.locator("#board .tile").count() == tiles and page.locator(".score").all_inner_texts() == scores
        page.clock.fast_forward("01:00")
        expect(page.locator("#bar .chip.offline")).to_have_text(OLD)

        restarted.begin(9)
        page.clock.fast_forward("00:10")
        page.clock.resume()
        expect(page.locator("#bar .chip.offline")).to_have_count(0)
        expect(page.locator("#board .tile")).to_have_count(tiles + 1)
    finally:
        browser.close()
