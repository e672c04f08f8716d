"""What every test has in common."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

# Before anything imports NumPy: one thread per test process, the tests themselves run side by side.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def pytest_configure() -> None:
    import cv2

    cv2.setNumThreads(1)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running browser, one for all folders: Playwright begins once in a process. Without one the tests are skipped,
    except where CI=true says that there must be one."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    required = os.environ.get("CI") == "true"
    try:
        from playwright.sync_api import expect, sync_playwright
        expect.set_options(timeout=30_000)  # a busy machine is no failure
    except ImportError:
        if required:
            raise
        pytest.skip("playwright is not installed")
    if found is None:
        if required:
            pytest.fail("no chromium: apt install chromium")
        pytest.skip("no chromium on this machine (apt install chromium)")
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
