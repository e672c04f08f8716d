"""``picamera:N``: the Raspberry Pi's own camera through picamera2. The only module that imports it.

One thread owns the camera. It runs the full-width 2304x1296 mode of a Camera Module 3 (no cropped field of view), lets
exposure and colour settle once and then holds them still, since a watcher compares pictures over an hour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hardware.live import LiveSource
from vision.frames import SourceError

SIZE = (1536, 864)  # 16:9 like the sensor mode, a width that is a multiple of 64
SENSOR_SIZE = (2304, 1296)
SETTLE_FRAMES = 45
MAINS_PERIOD_US = 10000  # lamps on 50 Hz mains flicker 100 times a second
_FLICKER_MANUAL, _AF_MANUAL = 1, 0  # libcamera's AeFlickerManual and AfModeManual


class PiSource(LiveSource):
    def __init__(self, uri: str, number: int) -> None:
        super().__init__(uri, "Raspberry Pi camera", open_timeout_s=25.0)
        self._number = number

    def _run(self) -> None:
        camera = self._camera()
        try:
            self._start(camera)
            self._hold(camera)
            while not self._stop.is_set():
                request = camera.capture_request()
                try:
                    image = request.make_array("main")  # "RGB888" is B, G, R in memory
                finally:
                    request.release()
                self._publish(np.ascontiguousarray(image[..., :3]))
        finally:
            camera.close()

    def _camera(self) -> Any:
        try:
            from picamera2 import Picamera2
        except ImportError as error:
            raise SourceError(f"the Raspberry Pi camera needs picamera2 ({error}); "
                              "on a Pi: sudo apt install -y python3-picamera2") from None
        try:
            return Picamera2(self._number)
        except (IndexError, RuntimeError) as error:
            raise SourceError(f"camera {self._number} is not connected or another program is using it "
                              f"({error})") from None

    def _start(self, camera: Any) -> None:
        chosen: dict[str, Any] = {"main": {"size": SIZE, "format": "RGB888"}, "raw": None, "buffer_count": 4}
        modes = [tuple(m.get("size", ())) for m in getattr(camera, "sensor_modes", [])]
        if SENSOR_SIZE in modes:
            chosen["sensor"] = {"output_size": SENSOR_SIZE, "bit_depth": 10}
        camera.configure(camera.create_video_configuration(**chosen))
        controls = camera.camera_controls
        if "AeFlickerMode" in controls and "AeFlickerPeriod" in controls:
            camera.set_controls({"AeFlickerMode": _FLICKER_MANUAL, "AeFlickerPeriod": MAINS_PERIOD_US})
        camera.start()
        if "AfMode" in controls:
            camera.autofocus_cycle()

    def _hold(self, camera: Any) -> None:
        """Let focus, exposure and white balance settle, then fix each at what it found."""
        metadata: dict[str, Any] = {}
        for _ in range(SETTLE_FRAMES):
            if self._stop.is_set():
                return
            metadata = camera.capture_metadata()
        controls, held = camera.camera_controls, {}
        if "ExposureTime" in metadata and "AnalogueGain" in metadata and "AeEnable" in controls:
            held |= {"AeEnable": False, "ExposureTime": metadata["ExposureTime"],
                     "AnalogueGain": metadata["AnalogueGain"]}
        if "ColourGains" in metadata and "ColourGains" in controls:
            held["ColourGains"] = metadata["ColourGains"]  # setting them switches white balance off
        if "LensPosition" in metadata and "AfMode" in controls:
            held |= {"AfMode": _AF_MANUAL, "LensPosition": metadata["LensPosition"]}
        if held:
            camera.set_controls(held)
