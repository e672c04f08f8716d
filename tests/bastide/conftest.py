"""A log on disk, the session on it, and a command that is run in this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sessions import SETUP

from bastide.cli import main
from bastide.log.store import Store
from bastide.table.session import TableSession

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite") as opened:
        yield opened


@pytest.fixture
def session(store: Store) -> TableSession:
    return TableSession(store, SETUP, clock=itertools.count(1000.0).__next__)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command: exit code, standard output, standard error."""
    def call(*argv: object) -> tuple[int, str, str]:
        try:
            code = main([str(a) for a in argv])
        except SystemExit as e:
            code = int(e.code or 0)
        out, err = capsys.readouterr()
        return code, out, err
    return call
