"""A page that knows that it has missed something asks for it until it has it, in Chromium: the table's next word may
be minutes away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from webtable import after

from bastide.table.session import TableSession
from web.app import create_app
from web.server import PageServer
from web.stream import Streams

expect = pytest.importorskip("playwright.sync_api").expect


class Gaps:
    """What a table's streams leave out or hold back."""

    def __init__(self, streams: Streams) -> None:
        self.skipping, self.skipped = threading.Event(), threading.Event()
        self.flows = threading.Event()
        self.flows.set()
        opened = streams.open
        streams.open = lambda *a, **k: self._passed(opened(*a, **k))  # type: ignore[method-assign]

    def skip(self) -> None:
        """Leave out the next change."""
        self.skipped.clear()
        self.skipping.set()

    def _passed(self, events: Iterator[str]) -> Iterator[str]:
        try:
            for text in events:
                self.flows.wait(30)
                if self.skipping.is_set() and text.startswith("event: change"):
                    self.skipping.clear()
                    self.skipped.set()
                else:
                    yield text
        finally:
            events.close()  # type: ignore[attr-defined]


@pytest.fixture
def gappy(serve: Any) -> Iterator[tuple[TableSession, PageServer, Gaps]]:
    """A table, its server, and what its streams leave out."""
    session, _ = serve(12)
    app = create_app(session)
    gaps = Gaps(app.extensions["streams"])
    with PageServer(app, port=0) as server:
        yield session, server, gaps


def shows(page: Any, session: TableSession) -> None:
    expect(page.locator("body")).to_have_attribute("data-version", str(session.view()["version"]))


@pytest.mark.parametrize("fault", ["fails", "is refused", "is never answered"])
def test_it_asks_again_for_what_it_has_missed(gappy, visit, fault):
    session, server, gaps = gappy
    page = visit(server.url)
    asked: list[Any] = []

    def state(route: Any) -> None:
        asked.append(route)
        if len(asked) > 2:
            route.continue_()
        elif fault == "fails":
            route.abort()
        elif fault == "is refused":
            route.fulfill(status=503, body="{}")

    page.route("**/api/state", state)
    first, second, *_ = after(12)
    gaps.skip()
    session.commit((first,), confidence=0.98, asked=False)
    assert gaps.skipped.wait(30)
    session.set_status("hand")  # the page hears of this one, and that there was another one before it
    shows(page, session)
    assert len(asked) > 2
    session.commit((second,), confidence=0.98, asked=False)  # from now on as before
    shows(page, session)


def test_what_a_page_has_already_is_not_asked_for(gappy, visit):
    """The response to a command may be here before the stream tells the same."""
    session, server, gaps = gappy
    page = visit(server.url)
    asked: list[Any] = []
    page.route("**/api/state", lambda route: (asked.append(route), route.continue_()))
    gaps.flows.clear()
    with page.expect_response("**/api/commands"):  # until then the session has the version before it
        page.locator("[data-key='bar.undo']").click()
    shows(page, session)
    gaps.flows.set()
    session.set_status("hand")
    expect(page.locator("#status .chip.hand")).to_have_count(1)
    assert not asked


@pytest.mark.parametrize("fault", ["fails", "is refused"])
def test_the_tiles_of_another_game_are_asked_for_again(gappy, visit, fault):
    """Without them the page would stay with the game before."""
    session, server, _ = gappy
    page = visit(server.url)
    asked: list[Any] = []

    def tiles(route: Any) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()
        elif fault == "fails":
            route.abort()
        else:
            route.fulfill(status=503, body='{"error": {"code": "busy_table"}}')

    page.route("**/api/tiles?*", tiles)
    session.command({"do": "new_game", "setup": {
        "players": [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}], "edition": "zman2012",
        "rules": {}, "expansions": ["base", "tower"]}})
    expect(page.locator("body")).to_have_attribute("data-game", str(session.view()["game"]))
    assert len(asked) == 2
