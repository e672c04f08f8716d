"""The light's looks and the button's two presses, on gpiozero's mock pins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory

from hardware import panel
from hardware.panel import BUTTON_PIN, LIGHT_PIN, LOOKS, Panel, PanelError


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    with MockFactory() as factory:
        Device.pin_factory = factory
        yield factory
        Device.pin_factory = None


def test_every_status_of_the_page_has_a_look_and_others_are_dark(pins: MockFactory) -> None:
    light = pins.pin(LIGHT_PIN)
    with Panel(button=None) as shown:
        for status in (*LOOKS, "manual", "ended"):
            with patch.object(shown._light, "blink") as blink:
                shown.show(status)
            times = LOOKS.get(status)
            assert blink.called == (times is not None)
            if times is None:
                assert light.state == (status == "watching")
        shown.show("watching")
        shown.show("watching")
        assert light.state


def test_a_short_press_and_a_long_one_are_two_things(pins: MockFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "HELD_S", 0.2)
    monkeypatch.setattr(panel, "BOUNCE_S", None)
    pressed, held = threading.Event(), threading.Event()
    button = pins.pin(BUTTON_PIN)
    with Panel(light=None, on_press=pressed.set, on_hold=held.set):
        button.drive_low()
        assert held.wait(10)
        button.drive_high()
        assert not pressed.wait(0.1)
        button.drive_low()
        button.drive_high()
        assert pressed.wait(10)


def test_a_machine_without_pins_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, *args: object, **keys: object) -> None:
            raise RuntimeError("no pin factory could be loaded")

    monkeypatch.setattr("gpiozero.LED", Broken)
    with pytest.raises(PanelError, match=r"^pin 17 or 27 cannot be used .*without pins"), Panel():
        pass
    with pytest.raises(PanelError, match=r"^pin 99 cannot be used "), Panel(light=99, button=None):
        pass
