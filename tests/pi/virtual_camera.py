"""A Camera Module 3 made of libcamera's virtual pipeline: real picamera2, real libcamera, our own JPEGs as frames.

The virtual pipeline has no raw stream, makes only NV12, has no controls but the frame duration and no pace. What it
lacks is put into picamera2's classes here: buffers from memfd instead of a dma heap, the formats and row padding that
a Pi's image processor would deliver, sensor modes, and exposure, colour and focus that settle over some frames and obey
controls as late as a Pi does. What that settling looks like is made up; that it has to be waited for is not.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
import time
from typing import Any
from unittest.mock import MagicMock

import numpy as np

LATE_FRAMES = 5  # a Pi's controls take as many buffers and three or four frames more
PADDING = 64  # bytes that every row in memory is longer than the picture
AE_FRAMES, AF_FRAMES = 12, 6
TRUE = {"ExposureTime": 23456, "AnalogueGain": 2.0, "ColourGains": (1.9, 1.4), "LensPosition": 1.25}
MODES = [
    {"size": (1536, 864), "bit_depth": 10, "crop_limits": (768, 432, 3072, 1728), "fps": 120.13},
    {"size": (2304, 1296), "bit_depth": 10, "crop_limits": (0, 0, 4608, 2592), "fps": 56.03},
    {"size": (4608, 2592), "bit_depth": 10, "crop_limits": (0, 0, 4608, 2592), "fps": 14.35},
]
CONTROLS = {
    "AeEnable": (False, True, True), "AwbEnable": (False, True, True), "ExposureTime": (26, 220417486, 20000),
    "AnalogueGain": (1.0, 16.0, 1.0), "ColourGains": (0.0, 32.0, 0.0), "AfMode": (0, 2, 0), "AfTrigger": (0, 1, 0),
    "LensPosition": (0.0, 32.0, 1.0), "AeFlickerMode": (0, 1, 0), "AeFlickerPeriod": (100, 1000000, 0),
}


class Sensor:
    """Exposure, colour and focus of one camera, frame by frame."""

    def __init__(self) -> None:
        self.frame = 0
        self.asked: list[tuple[int, dict[str, Any]]] = []
        self.ever: list[dict[str, Any]] = []
        self.auto_e = self.auto_w = True
        self.now: dict[str, Any] = {"ExposureTime": 60000, "AnalogueGain": 8.0, "ColourGains": (1.0, 1.0),
                                    "LensPosition": 0.0}
        self.af_mode, self.af_state, self.scan = 0, 0, 0

    def ask(self, controls: dict[str, Any]) -> None:
        plain = {k: int(v) if k in ("AfMode", "AfTrigger", "AeFlickerMode") else v for k, v in controls.items()}
        self.ever.append(plain)
        self.asked.append((self.frame + LATE_FRAMES, plain))

    def step(self) -> dict[str, Any]:
        self.frame += 1
        for when, controls in list(self.asked):
            if when <= self.frame:
                self.asked.remove((when, controls))
                self._apply(controls)
        part = 1 / 3
        if self.auto_e:
            for name in ("ExposureTime", "AnalogueGain"):
                self.now[name] += (TRUE[name] - self.now[name]) * part
        if self.auto_w:
            self.now["ColourGains"] = tuple(g + (t - g) * part for g, t in
                                            zip(self.now["ColourGains"], TRUE["ColourGains"], strict=True))
        if self.scan:
            self.scan -= 1
            self.now["LensPosition"] = TRUE["LensPosition"] * (1 - self.scan / AF_FRAMES)
            self.af_state = 1 if self.scan else 2
        line_us = 18.4  # exposures are whole lines of the sensor
        exposure = int(line_us * round(self.now["ExposureTime"] / line_us))
        return {**self.now, "ExposureTime": exposure, "AfState": self.af_state, "ScalerCrop": (0, 0, 4608, 2592)}

    def apply_all(self) -> None:
        """Controls requested before the start apply from the first frame on."""
        while self.asked:
            self._apply(self.asked.pop(0)[1])

    def _apply(self, controls: dict[str, Any]) -> None:
        if "AeEnable" in controls:
            self.auto_e = bool(controls["AeEnable"])
        if "AwbEnable" in controls:
            self.auto_w = bool(controls["AwbEnable"])
        self.af_mode = controls.get("AfMode", self.af_mode)
        for name in ("ExposureTime", "AnalogueGain"):
            if controls.get(name):
                self.now[name] = controls[name]
        if "ColourGains" in controls:  # which is what locks the white balance
            self.auto_w, self.now["ColourGains"] = False, tuple(controls["ColourGains"])
        if "LensPosition" in controls and self.af_mode == 0:
            self.now["LensPosition"], self.scan = controls["LensPosition"], 0
        if controls.get("AfTrigger") == 0 and "AfTrigger" in controls and self.af_mode == 1:
            self.scan, self.af_state = AF_FRAMES, 1


class Cable:
    """Pulled: frames arrive no more, as when a ribbon cable comes loose or the camera's front end times out."""

    def __init__(self) -> None:
        self.pulled = self.taken = False
        self.opened = self.refused = self.outstanding = 0
        self.sensors: list[Sensor] = []


def install(fps: float = 30.0) -> tuple[Any, Cable]:
    """Make picamera2 importable and usable without a Pi; the module and the cable to pull. Once per process."""
    for name in ("kms", "pykms", "pidng", "pidng.camdefs", "pidng.core"):  # a display and raw files: neither is used
        sys.modules.setdefault(name, MagicMock())
    import libcamera
    import picamera2.picamera2 as inner
    import picamera2.request as requests
    from picamera2.allocators.allocator import Allocator

    cable = Cable()
    camera_class = inner.Picamera2

    class MemfdAllocator(Allocator):
        """Two planes of one memfd per buffer: the virtual pipeline insists on them."""

        def __init__(self, *_: Any) -> None:
            super().__init__()
            self.sync = NoSync
            self._buffers: dict[Any, list[Any]] = {}
            self._fds: list[int] = []
            self.mapped_buffers: dict[Any, Any] = {}

        def allocate(self, libcamera_config: Any, use_case: Any) -> None:
            self.close()
            for config in libcamera_config:
                made = []
                for n in range(config.buffer_count):
                    luma, chroma = (config.size.width * config.size.height,
                                    config.size.width * config.size.height // 2)
                    fd = os.memfd_create(f"frame{n}")
                    os.ftruncate(fd, luma + chroma)
                    self._fds.append(fd)
                    planes = []
                    for offset, length in ((0, luma), (luma, chroma)):
                        plane = libcamera.FrameBuffer.Plane()
                        plane.fd, plane.offset, plane.length = fd, offset, length
                        planes.append(plane)
                    buffer = libcamera.FrameBuffer(planes)
                    self.mapped_buffers[buffer] = mmap.mmap(fd, luma + chroma)
                    made.append(buffer)
                self._buffers[config.stream] = made

        def buffers(self, stream: Any) -> list[Any]:
            return self._buffers[stream]

        def close(self) -> None:
            for fd in self._fds:
                os.close(fd)
            self._fds, self._buffers, self.mapped_buffers = [], {}, {}

    class NoSync:
        def __init__(self, *_: Any) -> None: ...
        def __enter__(self) -> None: ...
        def __exit__(self, *_: Any) -> None: ...

    class Converted:
        """In place of picamera2's mapped buffer: the NV12 frame as a Pi would have written it, padding included."""

        def __init__(self, request: Any, stream: str, write: bool = True) -> None:
            self._config = request.config[stream]
            buffer = request.request.buffers[request.stream_map[stream]]
            self._memory = request.picam2.allocator.mapped_buffers[buffer]

        def __enter__(self) -> np.ndarray:
            return as_a_pi_writes(np.frombuffer(self._memory, np.uint8), self._config)

        def __exit__(self, *exc: Any) -> None: ...

    inner.DmaAllocator = MemfdAllocator
    requests._MappedBuffer = Converted
    camera_class._get_raw_modes = lambda self: [{"format": "SRGGB10_CSI2P", "size": m["size"]} for m in MODES]
    camera_class.sensor_modes = property(lambda self: [dict(m) for m in MODES])
    camera_class._is_rpi_camera = lambda self: False  # no raw stream and no sensor configuration to ask libcamera for
    real_controls = camera_class.camera_controls
    camera_class.camera_controls = property(lambda self: {**real_controls.fget(self), **CONTROLS})

    real_init = camera_class.__init__

    real_open = camera_class._open_camera

    def open_camera(self: Any) -> None:
        if cable.pulled:
            cable.refused += 1
            raise RuntimeError("Failed to initialize camera")
        real_open(self)

    def init(self: Any, *args: Any, **keys: Any) -> None:
        real_init(self, *args, **keys)
        self.sensor = Sensor()
        cable.opened += 1
        cable.sensors.append(self.sensor)

    def create(self: Any, *args: Any, sensor: Any = None, **keys: Any) -> dict[str, Any]:
        self.asked_sensor = sensor
        return real_create(self, *args, **keys)

    def configure(self: Any, config: dict[str, Any]) -> None:
        config = dict(config)
        emulated = {k: v for k, v in config["controls"].items() if k in CONTROLS}
        config["controls"] = {k: v for k, v in config["controls"].items() if k not in CONTROLS}
        self.formats = {n: config[n]["format"] for n in ("main", "lores") if config.get(n)}
        for name in self.formats:
            config[name] = {**config[name], "format": "NV12"}
        real_configure(self, config)
        for name, wanted in self.formats.items():
            stream = self.camera_config[name]
            width = stream["size"][0]
            stream["format"], stream["stride"] = wanted, width * (3 if wanted == "RGB888" else 1) + PADDING
        self.sensor.ask(emulated)
        self.sensor.apply_all()

    def set_controls(self: Any, controls: dict[str, Any]) -> None:
        unknown = set(controls) - set(self.camera_controls)
        if unknown:
            raise RuntimeError(f"Control {unknown} is not advertised by libcamera")
        self.sensor.ask({k: v for k, v in controls.items() if k in CONTROLS})

    real_create, real_configure = camera_class.create_video_configuration, camera_class.configure_
    camera_class.__init__, camera_class._open_camera = init, open_camera
    camera_class.create_video_configuration = create
    camera_class.configure_, camera_class.set_controls = configure, set_controls

    last = [time.monotonic()]
    pace = threading.Lock()
    request_init, request_release = requests.CompletedRequest.__init__, requests.CompletedRequest.release

    def completed(self: Any, request: Any, picam2: Any) -> None:
        with pace:  # the virtual pipeline makes frames as fast as it can
            wait = last[0] + 1 / fps - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            last[0] = time.monotonic()
        request_init(self, request, picam2)
        cable.outstanding += 1
        self.said = {**picam2.sensor.step(), "SensorTimestamp": time.monotonic_ns(),
                     "FrameDuration": round(1e6 / fps)}

    def release(self: Any) -> None:
        request_release(self)
        if self.ref_count == 0:
            cable.outstanding -= 1

    requests.CompletedRequest.__init__, requests.CompletedRequest.release = completed, release
    requests.CompletedRequest.get_metadata = lambda self: dict(self.said)

    process = camera_class.process_requests

    def process_requests(self: Any, display: Any) -> None:
        if cable.pulled:
            with self._requestslock:
                lost, self._requests = self._requests, []
            for request in lost:
                request.release()
            return
        process(self, display)

    camera_class.process_requests = process_requests
    _accept_unset_status(libcamera, inner)
    return camera_class, cable


def _accept_unset_status(libcamera: Any, inner: Any) -> None:
    """libcamera before 0.5 never fills a virtual frame's status, and picamera2 would drop every frame for it."""
    version = tuple(int(n) for n in str(getattr(libcamera.CameraManager, "version", "v0.4")).lstrip("v").split(".")[:2]
                    if n.isdecimal())
    if version >= (0, 5):
        return

    class Everything:
        def __eq__(self, other: object) -> bool:
            return True

    real = libcamera

    class Patched:
        class FrameMetadata:
            class Status:
                Success = Everything()

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    inner.libcamera = Patched()


def as_a_pi_writes(memory: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    """An NV12 frame in the format, and with the row length, that a stream's configuration promises."""
    import cv2

    (width, height), stride = config["size"], config["stride"]
    nv12 = memory[:width * height * 3 // 2].reshape(height * 3 // 2, width)
    if config["format"] == "RGB888":
        out = np.zeros((height, stride), np.uint8)
        out[:, :3 * width] = cv2.cvtColor(nv12, cv2.COLOR_YUV2BGR_NV12).reshape(height, 3 * width)
        return out.reshape(-1)
    assert config["format"] == "YUV420"
    chroma = nv12[height:].reshape(height // 2, width // 2, 2)
    luma = np.zeros((height, stride), np.uint8)
    luma[:, :width] = nv12[:height]
    planes = [luma.reshape(-1)]
    for n in (0, 1):
        plane = np.zeros((height // 2, stride // 2), np.uint8)
        plane[:, :width // 2] = chroma[..., n]
        planes.append(plane.reshape(-1))
    return np.concatenate(planes)
