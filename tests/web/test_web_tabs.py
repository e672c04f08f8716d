"""Tabs of one browser, in Chromium: they share one stream, and come back to what is right. The page is asked for under
a plain name, as on a tablet: without TLS a browser gives it no Web Locks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from webtable import after, table

from bastide.log.store import Store
from web.app import create_app
from web.server import PageServer


@pytest.fixture
def tabs(chromium: Any) -> Iterator[Any]:
    """A browser of its own that knows the table as bastide.local."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    browser = chromium.browser_type.launch(executable_path=found, args=[
        "--no-sandbox", "--host-resolver-rules=MAP bastide.local 127.0.0.1"])
    context = browser.new_context(viewport={"width": 800, "height": 600}, reduced_motion="reduce")
    context.set_default_timeout(15_000)
    yield context
    browser.close()


def open_tab(context: Any, port: int) -> Any:
    page = context.new_page()
    page.goto(f"http://bastide.local:{port}/tv")
    page.wait_for_selector("body[data-ready] .tile")
    return page


def shows(page: Any, session: Any) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    expect(page.locator(".tiles .tile")).to_have_count(len(session.view()["board"]["tiles"]))
    for n, p in enumerate(session.view()["players"]):
        expect(page.locator(f".player[data-player='{n}'] .score")).to_have_text(re.compile(rf"^~?{p['score']}$"))


def test_tabs_share_one_stream_and_another_takes_over(tabs, tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 4)
        app = create_app(session)
        streams = app.extensions["streams"]
        most = []
        opened = streams.open
        streams.open = lambda *a, **k: (most.append(1), opened(*a, **k))[1]
        rest = iter(after(4))
        with PageServer(app, port=0) as server:
            pages = [open_tab(tabs, server.port) for _ in range(4)]
            assert not pages[0].evaluate("isSecureContext")
            for _ in range(6):
                session.commit((next(rest),), confidence=0.9, asked=False)
            for page in pages:
                shows(page, session)
            assert len(most) == 1
            pages.pop(0).close()  # it had the stream
            for _ in range(6):
                session.commit((next(rest),), confidence=0.9, asked=False)
            for page in pages:
                shows(page, session)
            assert len(most) == 2
            tabs.set_offline(True)  # the tablet loses its Wi-Fi
            for _ in range(6):
                session.commit((next(rest),), confidence=0.9, asked=False)
            tabs.set_offline(False)
            for page in pages:
                shows(page, session)
