"""What every test has in common."""

from __future__ import annotations

import os

# Before anything imports NumPy: one thread per test process, the tests themselves run side by side.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def pytest_configure() -> None:
    import cv2

    cv2.setNumThreads(1)
