"""Signals end the program whatever it is doing just then."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bastide.machine.stopping import stop_on_signals

ROOT = Path(__file__).parents[2]
HANGS_S = 60.0  # only for a program that hangs

# As `Event.wait` is on its way into its wait when the signal comes: the event's lock is held by the main thread.
ENTERING_WAIT = """
import signal
from bastide.machine.stopping import stop_on_signals

with stop_on_signals() as stop:
    with stop._cond:
        signal.raise_signal(signal.SIGTERM)
    stop.wait()
print("ended")
"""


def test_a_signal_while_the_wait_begins_ends_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", ENTERING_WAIT], cwd=ROOT, capture_output=True, text=True,
                          timeout=HANGS_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_ends_at_once(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), stop_on_signals() as stop:
        signal.raise_signal(number)
        assert stop.wait(HANGS_S)
        signal.raise_signal(number)
    assert signal.getsignal(number) == before


def test_a_signal_after_the_program_wants_to_end_by_itself_ends_it_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), stop_on_signals() as stop:
        stop.set()
        signal.raise_signal(signal.SIGTERM)
