"""The doctor's checks of the Pi camera's libraries, layer by layer."""

from __future__ import annotations

import pytest

from bastide.commands.doctor_command import pi_camera

ABSENT = "ModuleNotFoundError: No module named 'x'"


@pytest.mark.parametrize(("simplejpeg", "libcamera", "picamera2", "state", "says"), [
    ("", "", "", "ok", "picamera2 are there"),
    (ABSENT, ABSENT, ABSENT, "warn", "not usable here"),
    ("ValueError: numpy.dtype size changed", "", "ValueError: numpy.dtype size changed", "warn",
     "simplejpeg cannot be imported (ValueError: numpy.dtype size changed); run sudo hardware/install.sh"),
    ("", "", "AttributeError: kms", "warn", "picamera2 cannot be imported"),
])
def test_the_layer_that_is_broken_is_named(simplejpeg: str, libcamera: str, picamera2: str, state: str,
                                           says: str) -> None:
    row = pi_camera([("numpy", ""), ("simplejpeg", simplejpeg), ("libcamera", libcamera), ("picamera2", picamera2)])
    assert row.state == state and says in f"{row.text}; {row.do}"
