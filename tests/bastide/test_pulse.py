"""The banner on every page: only current faults of the machine, worst first, checked periodically."""

from __future__ import annotations

from pathlib import Path

import pytest

from bastide.machine.health import THROTTLED
from bastide.machine.pulse import FRESH_S, Pulse


def machine(root: Path, *, bits: str = "0x0", milli: int = 50_000) -> Path:
    """A machine's files as the kernel shows them."""
    throttled = root / THROTTLED
    throttled.parent.mkdir(parents=True, exist_ok=True)
    throttled.write_text(bits, "utf-8")
    zone = root / "sys/class/thermal/thermal_zone0"
    zone.mkdir(parents=True, exist_ok=True)
    (zone / "temp").write_text(str(milli), "utf-8")
    (root / "run/systemd/timesync").mkdir(parents=True, exist_ok=True)
    (root / "run/systemd/timesync/synchronized").touch()
    return root


def codes(pulse: Pulse) -> list[str]:
    return [one["code"] for one in pulse()["lines"]]


def test_nothing_is_said_of_a_machine_that_is_all_right(tmp_path: Path) -> None:
    assert codes(Pulse(tmp_path, root=machine(tmp_path))) == []


@pytest.mark.parametrize(("bits", "milli", "wanted"), [
    ("0x1", 50_000, ["power.low"]), ("0x0", 85_000, ["temperature.is"]), ("0x10000", 85_000,
                                                                         ["temperature.is", "power.was_low"])])
def test_what_is_wrong_is_said_the_worst_first(tmp_path: Path, bits: str, milli: int, wanted: list[str]) -> None:
    assert codes(Pulse(tmp_path, root=machine(tmp_path, bits=bits, milli=milli))) == wanted


def test_the_machine_is_looked_at_now_and_then_and_the_light_is_told_at_once(tmp_path: Path) -> None:
    now, relit = [0.0], [False]
    pulse = Pulse(tmp_path, root=machine(tmp_path), relit=lambda: relit[0], now=lambda: now[0])
    assert codes(pulse) == []
    machine(tmp_path, bits="0x1")
    relit[0] = True
    assert codes(pulse) == ["light.changed"]
    now[0] = FRESH_S
    assert codes(pulse) == ["power.low", "light.changed"]


def test_an_unset_clock_is_reported(tmp_path: Path) -> None:
    root = machine(tmp_path)
    (root / "run/systemd/timesync/synchronized").unlink()
    assert codes(Pulse(tmp_path, root=root)) == ["clock.unknown"]


@pytest.mark.parametrize(("chip", "code", "wanted"), [
    ("camera_lost", "camera_gone", ["camera.silent"]), ("camera_lost", "camera_black", ["camera.says"]),
    ("camera_lost", "drift.put_back", ["view.moved"]), ("camera_lost", "board_gone", ["view.moved"]),
    ("camera_lost", "no_board", []), ("camera_lost", "pictures_over", []), ("watching", "camera_slow", [])])
def test_a_lost_camera_and_a_moved_view_are_reported(tmp_path: Path, chip: str, code: str, wanted: list[str]) -> None:
    pulse = Pulse(tmp_path, root=machine(tmp_path), status=lambda: {"chip": chip, "code": code, "text": "x"})
    assert codes(pulse) == wanted
