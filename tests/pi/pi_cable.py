"""One Pi camera for tests, real libraries or not: a context manager that gives its cable to pull."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np
from draw_frames import COUNT, frame
from virtual_camera import CONTROLS, MODES, PADDING, Cable, Sensor, install

PIPELINE = Path("/usr/share/libcamera/pipeline/virtual/virtual.yaml")
REAL = PIPELINE.exists() and importlib.util.find_spec("libcamera") is not None
PERIOD_S = 0.004  # of the stand-in: time does not matter to it


@cache
def _installed() -> tuple[Any, Cable]:
    return install()


@contextmanager
def plugged_in() -> Iterator[Cable]:
    if REAL:
        cable = _installed()[1]
        cable.pulled, cable.outstanding, cable.refused = False, 0, 0
        yield cable
        cable.pulled = False
        return
    module, cable = types.ModuleType("picamera2"), Cable()
    module.Picamera2 = type("Plugged", (StandIn,), {"cable": cable})  # type: ignore[attr-defined]
    with patch.dict(sys.modules, {"picamera2": module}):
        yield cable


@cache
def _picture(n: int, size: tuple[int, int]) -> np.ndarray:
    return cv2.resize(frame(n), size, interpolation=cv2.INTER_AREA)


class StandIn:
    """As much of picamera2 as the driver uses, with the sensor that the virtual camera has."""

    camera_properties = {"Model": "imx708"}
    sensor_modes = MODES
    camera_controls = {**CONTROLS, "FrameDurationLimits": (100, 1000000, 33333)}

    cable: Cable

    def __init__(self, number: int) -> None:
        cable = self.cable
        reader, self.notifyme_w = os.pipe()
        self.notifymeread = os.fdopen(reader, "rb")
        if number > 0 or cable.pulled or cable.taken:
            cable.refused += cable.pulled
            raise RuntimeError("Camera __init__ sequence did not complete.")
        self.sensor, self.number, self.started = Sensor(), 0, False
        cable.taken = True
        cable.opened += 1
        cable.sensors.append(self.sensor)

    def create_video_configuration(self, **chosen: Any) -> dict[str, Any]:
        return chosen

    def configure(self, chosen: dict[str, Any]) -> None:
        assert chosen["sensor"]["output_size"] in [m["size"] for m in MODES] and chosen["raw"] is None
        self.buffers, self.config = chosen["buffer_count"], {n: dict(chosen[n]) for n in ("main", "lores")}
        self.config["lores"]["stride"] = self.config["lores"]["size"][0] + PADDING
        self.set_controls(chosen["controls"])
        self.sensor.apply_all()

    def start(self) -> None:
        self.started = True

    def set_controls(self, controls: Mapping[str, Any]) -> None:
        assert set(controls) <= set(self.camera_controls)
        self.sensor.ask({k: v for k, v in controls.items() if k in CONTROLS})

    def autofocus_cycle(self, wait: float) -> bool:
        self.set_controls({"AfMode": 1, "AfTrigger": 0})
        while self.capture_metadata(wait=wait)["AfState"] != 2:
            pass
        return True

    def capture_request(self, wait: float) -> Request:
        time.sleep(PERIOD_S)
        if self.cable.pulled or self.cable.outstanding >= self.buffers:
            time.sleep(wait)
            raise TimeoutError
        self.number += 1
        self.cable.outstanding += 1
        return Request(self)

    def capture_metadata(self, wait: float) -> dict[str, Any]:
        request = self.capture_request(wait)
        request.release()
        return request.get_metadata()

    def cancel_all_and_flush(self) -> None: ...

    def close(self) -> None:
        self.cable.taken = False
        self.notifymeread.close()
        os.close(self.notifyme_w)


class Request:
    def __init__(self, camera: StandIn) -> None:
        self._cable, self.config, self._n = camera.cable, camera.config, camera.number % COUNT
        self._metadata = {**camera.sensor.step(), "SensorTimestamp": time.monotonic_ns()}
        self._held = True

    def get_metadata(self) -> dict[str, Any]:
        return dict(self._metadata)

    def make_array(self, name: str) -> np.ndarray:
        assert self._held and name == "main"
        return _picture(self._n, self.config["main"]["size"]).copy()

    def make_buffer(self, name: str) -> np.ndarray:
        assert self._held and name == "lores"
        (width, height), stride = self.config["lores"]["size"], self.config["lores"]["stride"]
        out = np.zeros((height * 3 // 2, stride), np.uint8)
        out[:height, :width] = cv2.cvtColor(_picture(self._n, (width, height)), cv2.COLOR_BGR2GRAY)
        return out.reshape(-1)

    def release(self) -> None:
        assert self._held, "a request was given back twice"
        self._held = False
        self._cable.outstanding -= 1
