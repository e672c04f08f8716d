"""``picamera:N``: the Raspberry Pi's own camera through picamera2. The only module that imports it.

One thread owns the camera (two would take each other's frames) and nothing is switched while a game is watched: one
sensor mode with the full field of view, a small grey stream for motion detection, the full picture only on access.
Focus, exposure and colour are measured once, then fixed: a watcher compares pictures over an hour.

Options: ``size=WxH`` (default: the sensor mode's), ``mains=50|60`` (hertz), ``fps=15``, ``focus=DIOPTRES`` (default:
one autofocus cycle), ``exposure=MICROSECONDS`` and ``gain=X`` (default: as measured).
"""

from __future__ import annotations

import errno
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hardware.live import BACKOFF_S, LiveSource
from hardware.options import asked, number, one_of
from hardware.pi_controls import (
    converged,
    cropped_to,
    full_view_mode,
    held_controls,
    lores_size,
    model_name,
    obeyed,
    shown,
)
from vision.frames import DeadSource, Image, LateFrame, SourceError

OPTIONS: Mapping[str, Callable[[str], float]] = {
    "mains": one_of(50, 60), "fps": number(1, 60), "focus": number(0, 32),
    "exposure": number(20, 1_000_000), "gain": number(1, 64),
}
BUFFERS = 4  # one at the reader, one waiting, two at the camera: more would not fit a Pi's camera memory
SILENCE_S = 5.0  # without a frame for so long the camera is reopened
FOCUS_S = 10.0
OBEY_FRAMES = 30
_MANUAL, _FLICKER_MANUAL = 0, 1  # libcamera's AfModeManual and FlickerManual
_log = logging.getLogger("bastide.camera")


class PiSource(LiveSource):
    """A camera on the Pi's ribbon cable. Measured controls are kept when it is reopened."""

    def __init__(self, uri: str, rest: str) -> None:
        super().__init__(uri, "Raspberry Pi camera", open_timeout_s=40.0)
        self._number, self._size, self._options = asked(uri, rest, OPTIONS)
        self._held: dict[str, Any] = {}
        self._again = threading.Event()
        self.silence_s = SILENCE_S

    def measure_again(self) -> None:
        """Measure focus and exposure again, and fix the result: after the lens or a lamp was moved."""
        self._again.set()

    # -- the camera's own thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            before = self._count
            try:
                self._watch()
            except SourceError:
                if not self._opened:
                    raise
            except TimeoutError:
                if not self._opened:
                    raise SourceError(f"camera {self._number} gives no picture; check its ribbon cable at both "
                                      "ends") from None
                _log.warning("camera %d delivered no frame for %g s and is reopened", self._number, self.silence_s)
            except (RuntimeError, OSError) as error:
                _refuse_exhausted(error)
                if not self._opened:
                    raise
                _log.warning("camera %d failed (%s) and is reopened", self._number, error)
            failures = 0 if self._count > before else failures + 1
            self._stop.wait(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)])

    def _watch(self) -> None:
        """Open the camera and publish its frames until it fails or the source is closed."""
        camera = self._camera()
        try:
            mode = self._configure(camera)
            camera.start()
            self._hold(camera, mode)
            while not self._stop.is_set():
                if self._again.is_set():
                    self._again.clear()
                    self._measure_anew(camera, mode)
                self._publish_request(camera.capture_request(wait=self.silence_s))
        except TimeoutError:
            _forget_jobs(camera)
            raise
        finally:
            self._free_frames()  # before their memory is released
            camera.close()

    def _camera(self) -> Any:
        try:
            from picamera2 import Picamera2
        except ImportError as error:
            raise SourceError(f"the Raspberry Pi camera needs picamera2 ({error}); "
                              "on a Pi: sudo apt install -y python3-picamera2") from None
        camera = Picamera2.__new__(Picamera2)
        try:
            camera.__init__(self._number)
        except (IndexError, RuntimeError) as error:
            _clear_away(camera)
            _refuse_exhausted(error)
            raise SourceError(f"camera {self._number} is not connected or another program is using it "
                              f"({error})") from None
        self._say(model=model_name(str(camera.camera_properties.get("Model", ""))))
        return camera

    def _configure(self, camera: Any) -> dict[str, Any] | None:
        """Set mode, streams and the known controls; returns the sensor mode, None if there is no choice.

        Controls held from before go into the configuration, otherwise the first frames would lack them.
        """
        mode = full_view_mode(camera.sensor_modes)
        main = self._size or (mode["size"] if mode else (2304, 1296))
        fps = self._options.get("fps", 15.0)
        wanted = {"FrameDurationLimits": (round(1e6 / fps), round(1e6 / fps)), **self._flicker(), **self._held}
        known = camera.camera_controls
        chosen: dict[str, Any] = {
            "main": {"size": main, "format": "RGB888"},  # which is B, G, R in memory
            "lores": {"size": lores_size(main), "format": "YUV420"},
            "raw": None, "buffer_count": BUFFERS, "queue": False,
            "controls": {k: v for k, v in wanted.items() if k in known},
        }
        if mode is not None:
            chosen["sensor"] = {"output_size": mode["size"], "bit_depth": mode["bit_depth"]}
        camera.configure(camera.create_video_configuration(**chosen))
        self._say(fps=fps)
        return mode

    def _flicker(self) -> dict[str, int]:
        """Lamps on 50 Hz mains flicker 100 times a second: exposures of whole flicker periods show no bands."""
        return {"AeFlickerMode": _FLICKER_MANUAL, "AeFlickerPeriod": self._period_us()}

    def _period_us(self) -> int:
        return round(1e6 / (2 * self._options.get("mains", 50)))

    def _hold(self, camera: Any, mode: dict[str, Any] | None) -> None:
        """Measure exposure and focus if not done before, fix them, and check that the camera obeys."""
        if not self._held:
            self._settle(camera)
            focused = self._focus(camera)
            metadata = self._settle(camera)  # focusing may change the brightness a little
            self._held = held_controls(metadata, camera.camera_controls, self._options, self._period_us(),
                                       focused=focused)
            if self._held:
                camera.set_controls(self._held)
        metadata = camera.capture_metadata(wait=self.silence_s)
        for _ in range(OBEY_FRAMES):
            if self._stop.is_set() or obeyed(self._held, metadata):
                break
            metadata = camera.capture_metadata(wait=self.silence_s)
        else:
            _log.warning("camera %d did not apply %s; it reports %s", self._number, self._held, metadata)
        seen = cropped_to(metadata, mode)
        self._say(controls=shown(self._held, metadata, self._options.get("mains", 50), seen))
        if seen < 0.97:
            _log.warning("camera %d shows only %.0f %% of the sensor's width", self._number, 100 * seen)

    def _settle(self, camera: Any) -> dict[str, Any]:
        """Let automatic exposure and white balance run for a second or more, until they converge; the last frame's
        metadata."""
        fps = self._options.get("fps", 15.0)
        taken: list[dict[str, Any]] = []
        while not self._stop.is_set() and len(taken) < 6 * fps:
            taken.append(camera.capture_metadata(wait=self.silence_s))
            if len(taken) >= fps and converged(taken[-8:]):
                break
        return taken[-1] if taken else {}

    def _focus(self, camera: Any) -> bool:
        """One autofocus cycle, or the requested distance. Returns whether the lens is in position."""
        if "AfMode" not in camera.camera_controls:
            return False  # a manual lens
        if "focus" in self._options:
            camera.set_controls({"AfMode": _MANUAL, "LensPosition": self._options["focus"]})
            return True
        try:
            found = bool(camera.autofocus_cycle(wait=FOCUS_S))
        except TimeoutError:
            found = False
            _forget_jobs(camera)
        if not found:
            _log.warning("camera %d found no focus; put a printed page under it and measure again", self._number)
        return True

    def _measure_anew(self, camera: Any, mode: dict[str, Any] | None) -> None:
        self._held = {}
        automatic = {"AeEnable": True, "AwbEnable": True, "ExposureTime": 0, "AnalogueGain": 0.0}
        camera.set_controls({k: v for k, v in automatic.items() if k in camera.camera_controls})
        self._hold(camera, mode)

    def _publish_request(self, request: Any) -> None:
        """Publish the frame of a request. Only the small grey picture is copied now; the full one on access."""
        try:
            metadata = request.get_metadata()
            config = request.config["main"]["size"]
            luma = _luma(request)
        except BaseException:
            request.release()
            raise
        self._put(LateFrame(id=self._count, t_s=_taken_s(metadata), source=self.info.uri, luma=luma,
                            shape=(config[1], config[0], 3), fetch=lambda: _full(request), free=request.release))


def _clear_away(camera: Any) -> None:
    """Close what picamera2 leaks for a camera that it could not open: one pipe per attempt, and a camera unplugged for
    a night is retried thousands of times."""
    if getattr(camera, "is_open", False):
        camera.camera.release()
        camera.is_open = False
    reader, writer = getattr(camera, "notifymeread", None), getattr(camera, "notifyme_w", None)
    if reader is not None:
        reader.close()
    if writer is not None:
        os.close(writer)


def _forget_jobs(camera: Any) -> None:
    """Cancel jobs that are no longer waited for, or they would take the next frame; older versions of picamera2
    cannot."""
    if hasattr(camera, "cancel_all_and_flush"):
        camera.cancel_all_and_flush()


def _full(request: Any) -> Image:
    """(height, width, 3) B, G, R: the only copy made of a full picture."""
    image: Image = request.make_array("main")
    return image if image.shape[2] == 3 else np.ascontiguousarray(image[..., :3])


def _luma(request: Any) -> Image:
    """The grey plane of the I420 stream, cropped to the picture: rows in memory may be padded.

    The colour planes after it are not used. For converting them OpenCV's COLOR_YUV2BGR_I420 is right; COLOR_YUV420p2BGR
    is YV12 and would swap red and blue.
    """
    stream = request.config["lores"]
    (width, height), stride = stream["size"], stream["stride"]
    rows: Image = request.make_buffer("lores")[:height * stride].reshape(height, stride)
    return np.ascontiguousarray(rows[:, :width])


def _taken_s(metadata: Mapping[str, Any]) -> float:
    """When the frame was taken, on the clock of ``time.monotonic``; now if the sensor's timestamp is implausible."""
    now, stamp = time.monotonic(), metadata.get("SensorTimestamp", 0) / 1e9
    return stamp if 0 <= now - stamp < 2.0 else now


def _refuse_exhausted(error: BaseException) -> None:
    """Camera memory that is exhausted is not freed until this process ends; raise instead of retrying for ever."""
    cause: BaseException | None = error
    while cause is not None:
        if getattr(cause, "errno", None) == errno.ENOMEM or "Cannot allocate memory" in str(cause):
            raise DeadSource(f"the Pi has no camera memory left ({camera_memory()}); start bastide again, and the Pi "
                             "if that does not help") from error
        cause = cause.__cause__


def camera_memory(meminfo: Path = Path("/proc/meminfo")) -> str:
    """The kernel's figure of free camera memory (CMA), as text."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text("utf-8").splitlines() if ":" in line)
        return f"{int(lines['CmaFree'].split()[0]) // 1024} of {int(lines['CmaTotal'].split()[0]) // 1024} MB free"
    except (OSError, KeyError, ValueError):
        return "the kernel does not say how much"


def layers() -> list[tuple[str, str]]:
    """The layers below this driver, lowest first, each with "" or why it cannot be imported."""
    out = []
    for name in ("numpy", "simplejpeg", "libcamera", "picamera2"):
        try:
            importlib.import_module(name)
            out.append((name, ""))
        except Exception as error:  # a library built for another NumPy raises ValueError, others OSError
            out.append((name, f"{type(error).__name__}: {error}".splitlines()[0]))
    return out


def listed() -> list[tuple[int, str]]:
    """Number and model of every camera on a ribbon cable; empty without libcamera. It lists webcams too,
    under ids that name USB."""
    try:
        from picamera2 import Picamera2

        rows = Picamera2.global_camera_info()
    except Exception as error:  # whatever an incomplete installation raises: no such camera
        _log.debug("the Pi's cameras cannot be listed: %s", error)
        return []
    return [(int(row["Num"]), model_name(str(row.get("Model", "")))) for row in rows
            if "usb" not in str(row.get("Id", "")).lower()]
