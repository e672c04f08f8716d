"""A served table, and a page of it in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from webtable import table

from bastide.guide.guide import Guide
from bastide.guide.practice import plan, seen
from bastide.log.store import Store
from bastide.table.session import TableSession
from web import rights
from web.app import create_app
from web.server import PageServer

Serve = Callable[..., tuple[TableSession, PageServer]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve the recorded game with so many tiles laid: the session and its server."""
    with ExitStack() as stack:
        def start(tiles: int = 12) -> tuple[TableSession, PageServer]:
            session = table(stack.enter_context(Store(tmp_path / "table.sqlite")), tiles)
            guide = Guide(tmp_path, {}, known=True, practice=lambda: {
                "plan": plan(session.setup), "seen": seen(session.view())})
            return session, stack.enter_context(PageServer(create_app(session, guide=guide), port=0))
        yield start


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open the page in a browser of its own (another person's device). Errors of its scripts fail the test."""
    contexts, errors = [], []

    def go(url: str, width: int = 1280, height: int = 800, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.on("console", lambda m: errors.append(m.text) if "Content Security Policy" in m.text else None)
        page.goto(url)
        page.wait_for_selector("body[data-ready] .tile")
        return page

    yield go
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def cheap_hashes(monkeypatch):
    """The same scheme with less work: its cost is not under test."""
    monkeypatch.setattr("web.rights._SCHEME", "scrypt:1024:8:1")
    rights._nobody.cache_clear()  # computed by an earlier test with the real cost
    yield
    rights._nobody.cache_clear()
