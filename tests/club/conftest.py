"""Where the tests of a club evening find their helpers, and a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("web", "bastide")]


@pytest.fixture
def open_page(chromium):
    """Open a page in a browser of its own. Errors of its scripts fail the test."""
    contexts, errors = [], []

    def go(url, width, height, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.on("console", lambda m: errors.append(m.text) if "Content Security Policy" in m.text else None)
        page.goto(url)
        return page

    yield go
    for context in contexts:
        context.close()
    assert not errors
