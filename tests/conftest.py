"""What every test has in common."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# Before anything imports NumPy: one thread per test process, the tests themselves run side by side.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Scratch files in memory where there is room for them, and where programs may be run from. What a test kills loses no
# more than a process has; what a disk loses is what tests/bastide/faulty_disk.py says. Thousands of moves that each
# wait for a disk would take minutes.
MEMORY, ROOM = Path("/dev/shm"), 2 << 30  # bytes
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM and \
        not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
    os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY), None  # pytest has asked for it already


# What a test needs that costs time (CONTRIBUTING.md, "Tests"), by its file; a test may say more itself.
FILMS = ("watching/", "reading/test_games.py", "vision/", "calibration/", "hardware/test_contract.py",
         "hardware/test_sources.py", "bastide/test_art.py", "bastide/test_camera_faults.py",
         "bastide/test_moved_view.py", "bastide/test_own_tiles.py", "bastide/test_print.py", "bastide/test_seeing.py",
         "bastide/test_view_monitor.py", "bastide/test_every_setup.py",
         "bastide/test_table_loop.py", "bastide/test_teach.py",
         "bastide/test_tilebook.py", "bastide/test_tuning.py", "bastide/test_doctor_camera.py",
         "bastide/test_kept_looks.py", "bastide/test_self_test.py")
PROCESSES = ("bastide/test_cameras.py", "bastide/test_checkup.py", "bastide/test_command_line.py",
             "bastide/test_errors.py", "bastide/test_health.py", "bastide/test_heap.py", "bastide/test_score.py",
             "bastide/test_settings.py", "bastide/test_writing.py", "club/test_broker_setup.py", "club/test_hub",
             "club/test_publisher.py", "extending/", "hardware/test_", "install/", "pi/", "bastide/test_demo.py",
             "bastide/test_serve.py", "bastide/test_service.py", "bastide/test_power_pull.py",
             "bastide/test_evening.py", "bastide/test_interrupted.py", "bastide/test_rough.py",
             "bastide/test_second_medium.py", "test_docs_site.py", "test_rig_docs.py", "test_style.py",
             "web/test_web_no_network.py")
SLOW = ("scoring/test_properties.py", "scoring/test_fuzz.py", "scoring/test_subsets.py",
        "bastide/test_backup.py", "bastide/test_book.py", "bastide/test_damage.py", "bastide/test_page_backups.py",
        "bastide/test_readers.py", "bastide/test_spoiled_folder.py", "bastide/test_storage_faults.py",
        "bastide/test_store.py", "bastide/test_card.py", "web/test_web_access.py", "web/test_web_reveal.py",
        "web/test_web_stream.py", "web/test_web_gate.py", "web/test_web_replay.py", "web/test_web_openapi.py")
BROWSER = ("web/test_page", "web/test_web_tabs.py", "club/test_hub_page.py")  # and whatever asks for ``chromium``
MARKS = {"browser": "needs Chromium", "film": "renders pictures or films, and looks at them",
         "process": "starts programs, of our own or others", "slow": "takes more than a second all the same"}
PLACES = {"browser": BROWSER, "film": FILMS, "process": PROCESSES, "slow": SLOW}
HERE = Path(__file__).parent

# The first of them that is installed: the shell is the same engine without the browser's own window, which costs
# processor time with every page.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# What of Chromium nobody looks at here. Each window's pages below its address bar cost as much as loading ours. Of two
# such switches the last counts, so the rest of it is what Playwright turns off, as far as the tests could notice.
NOT_NEEDED = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI",
              "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
              "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding",
              "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints",
              "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="keep screenshots of the page in artifacts/page")
    parser.addoption("--quick", action="store_true", help="only files without " + ", ".join(MARKS))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick the other files are not even imported."""
    place = collection_path.relative_to(HERE).as_posix() if collection_path.is_relative_to(HERE) else ""
    return True if config.getoption("quick") and place.startswith(sum(PLACES.values(), ())) else None


def pytest_configure(config: pytest.Config) -> None:
    import cv2

    cv2.setNumThreads(1)
    if config.getoption("pictures"):
        os.environ["BASTIDE_PICTURES"] = "1"
    for mark, text in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {text}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(HERE).as_posix()
        for mark, places in PLACES.items():
            if place.startswith(places) or (mark == "browser" and "chromium" in getattr(item, "fixturenames", ())):
                item.add_marker(mark)
    if config.getoption("quick"):
        slower = [i for i in items if any(i.get_closest_marker(mark) for mark in MARKS)]
        config.hook.pytest_deselected(items=slower)
        items[:] = [i for i in items if i not in slower]


def pytest_collection_finish() -> None:
    """What has been loaded stays until the end: the garbage collector need not look through thousands of tests and
    modules again and again. Programs that tests start are as they are elsewhere."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def _forks() -> Iterator[None]:
    """Processes of bastide are forks of one that has loaded its modules, begun with the first of them."""
    sys.path.append(str(HERE / "bastide"))
    import processes

    processes.forks = processes.Forking()
    yield
    processes.forks.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running browser, one for all folders: Playwright begins once in a process. Without one the tests are skipped,
    except where CI=true says that there must be one."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
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
    with ExitStack() as stack:
        try:
            p = stack.enter_context(sync_playwright())
        except Exception as e:  # its Node needs a library that a minimal system does not have
            told = f"Playwright's driver does not start ({e}): apt install libatomic1"
            pytest.fail(told) if required else pytest.skip(told)
        browser = p.chromium.launch(executable_path=found, args=[
            "--no-sandbox", "--renderer-process-limit=1",  # no process is kept ready that no test will use
            f"--disable-features={','.join(NOT_NEEDED)}"])
        yield browser
        browser.close()
