"""The Pi camera's cable, for the tests of its driver: on real picamera2 and libcamera's virtual pipeline in a root that
run_virtual.sh made, on a stand-in for picamera2 anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pi_cable import plugged_in


@pytest.fixture
def cable() -> Iterator[Any]:
    """Plugged in; nothing of the camera's memory may be missing afterwards."""
    with plugged_in() as cable:
        yield cable
    assert cable.outstanding == 0, f"{cable.outstanding} requests were never given back"
