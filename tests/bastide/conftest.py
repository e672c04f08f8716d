"""A log on disk and the session on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from sessions import SETUP

from bastide.session import TableSession
from bastide.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite") as opened:
        yield opened


@pytest.fixture
def session(store: Store) -> TableSession:
    return TableSession(store, SETUP, clock=itertools.count(1000.0).__next__)
