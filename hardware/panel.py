"""The optional status light and button on a Pi's pins, through gpiozero. docs/rig.md has the wiring.

The light shows the status of the page's status chip; the button reports a press or a long press. Their meaning is up to
the caller. The only module that imports gpiozero.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

LIGHT_PIN, BUTTON_PIN = 17, 27  # BCM numbers: physical pins 11 and 13, next to each other and to a ground pin
HELD_S = 3.0
BOUNCE_S: float | None = 0.05
# Seconds on and off by status; None is steady. For other statuses the light is off.
LOOKS: dict[str, tuple[float, float] | None] = {
    "watching": None, "hand": (0.5, 0.5), "reading": (0.5, 0.5), "check": (0.12, 0.12), "camera_lost": (0.1, 1.9),
}


class PanelError(Exception):
    """The pins cannot be used. The message is one sentence that says what to do."""


class Panel:
    """A light, a button or both, each by the BCM number of its pin; None for none."""

    def __init__(self, light: int | None = LIGHT_PIN, button: int | None = BUTTON_PIN, *,
                 on_press: Callable[[], None] = lambda: None, on_hold: Callable[[], None] = lambda: None) -> None:
        self._pins = light, button
        self._on_press, self._on_hold = on_press, on_hold
        self._light: Any = None
        self._button: Any = None
        self._held = False
        self._status = ""

    def __enter__(self) -> Self:
        try:
            from gpiozero import LED, Button
        except ImportError:
            raise PanelError("a light or button needs gpiozero; on a Pi: sudo apt install -y python3-gpiozero "
                             "python3-lgpio") from None
        light, button = self._pins
        try:
            if light is not None:
                self._light = LED(light)
            if button is not None:
                self._button = Button(button, pull_up=True, bounce_time=BOUNCE_S, hold_time=HELD_S)
                self._button.when_held = self._hold
                self._button.when_released = self._release
        except Exception as error:  # gpiozero and the libraries below it raise all kinds of exceptions
            self.__exit__(None, None, None)
            used = " or ".join(str(pin) for pin in self._pins if pin is not None)
            raise PanelError(f"pin {used} cannot be used ({error}); leave --light and --button out "
                             "on a machine without pins") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        for device in (self._light, self._button):
            if device is not None:
                device.close()
        self._light = self._button = None

    def show(self, status: str) -> None:
        """Show a status with the light: steady while watching, slow blinking during a move, fast for a question."""
        if self._light is None or status == self._status:
            return
        self._status = status
        if status not in LOOKS:
            self._light.off()
            return
        times = LOOKS[status]
        if times is None:
            self._light.on()
        else:
            self._light.blink(*times)

    def _hold(self) -> None:
        self._held = True
        self._on_hold()

    def _release(self) -> None:
        held, self._held = self._held, False
        if not held:
            self._on_press()
