"""Cameras that people put over a table, with the field of view that their makers state for the whole sensor.

They make lens calibration optional: a preset is accurate to a few per cent, and the table's calibration compensates
most of the rest. Data sheets do not give the distortion, so none is assumed; a wide lens needs a calibration of its
own.
Sources: Raspberry Pi's camera documentation (hardware specification tables). For cameras with an interchangeable lens,
the angle is 2 atan(sensor / (2 focal length)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibration.documents import LensResult

NEAR_DEG = 10.0  # a larger deviation of the measured field of view from the data sheet is an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """``sensor`` is the camera's own name; ``fov_deg`` horizontal and vertical of the whole sensor, ``aspect``
    its width over height, ``spread`` the relative uncertainty of the focal length."""

    name: str
    title: str
    sensor: str
    fov_deg: tuple[float, float]
    aspect: float
    spread: float


def _screwed(sensor_mm: tuple[float, float], focal_mm: float) -> tuple[float, float]:
    h, v = (math.degrees(2 * math.atan(side / (2 * focal_mm))) for side in sensor_mm)
    return h, v


PRESETS: tuple[Preset, ...] = (
    Preset(name="module1", title="Camera Module 1", sensor="ov5647", fov_deg=(53.5, 41.41), aspect=4 / 3, spread=0.03),
    Preset(name="module2", title="Camera Module 2", sensor="imx219", fov_deg=(62.2, 48.8), aspect=4 / 3, spread=0.03),
    Preset(name="module3", title="Camera Module 3", sensor="imx708", fov_deg=(66.0, 41.0), aspect=16 / 9, spread=0.03),
    Preset(name="module3-wide", title="Camera Module 3 Wide", sensor="imx708_wide", fov_deg=(102.0, 67.0),
           aspect=16 / 9, spread=0.06),
    Preset(name="hq-6mm", title="HQ Camera with the 6 mm lens", sensor="imx477", fov_deg=_screwed((6.287, 4.712), 6.0),
           aspect=4 / 3, spread=0.05),
    Preset(name="hq-16mm", title="HQ Camera with the 16 mm lens", sensor="", fov_deg=_screwed((6.287, 4.712), 16.0),
           aspect=4 / 3, spread=0.05),
    Preset(name="gs-6mm", title="Global Shutter Camera with the 6 mm lens", sensor="imx296",
           fov_deg=_screwed((5.023, 3.754), 6.0), aspect=4 / 3, spread=0.05),
    Preset(name="ai", title="AI Camera", sensor="imx500", fov_deg=(66.0, 52.3), aspect=4 / 3, spread=0.05),
)


def preset_of(name: str) -> Preset | None:
    """The preset of that name, or of that sensor name (``imx708_wide``, ``imx708_wide_noir``)."""
    text = name.lower()
    for preset in PRESETS:
        if text == preset.name:
            return preset
    words = text.replace("/", " ").replace("@", " ").split()
    for preset in sorted(PRESETS, key=lambda p: -len(p.sensor)):
        if preset.sensor and any(w == preset.sensor or w.startswith(preset.sensor + "_") for w in words):
            return preset
    return None


def preset_lens(preset: Preset, size: tuple[int, int]) -> LensResult:
    """The lens of a preset, for pictures of ``size`` that show the sensor's full width."""
    width, height = size
    focal = width / 2 / math.tan(math.radians(preset.fov_deg[0]) / 2)
    if width / height < preset.aspect * 0.98:  # narrower than the sensor: cropped at the sides, full in height
        focal = height / 2 / math.tan(math.radians(preset.fov_deg[0]) / 2) * preset.aspect
    fov = tuple(math.degrees(2 * math.atan(n / 2 / focal)) for n in size)
    return LensResult(focal_px=focal, centre_px=((width - 1) / 2, (height - 1) / 2), distortion=(0.0,) * 5,
                      rms_px=0.0, focal_std_px=preset.spread * focal, fov_deg=(fov[0], fov[1]), coverage=(),
                      preset=preset.name)
