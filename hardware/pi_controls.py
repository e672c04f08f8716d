"""The Pi camera driver's decisions from the camera's properties: mode, streams, and the values to fix.

No camera access here; names and units are libcamera's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MODELS = {
    "imx708": "Camera Module 3", "imx708_wide": "Camera Module 3 Wide", "imx708_noir": "Camera Module 3 NoIR",
    "imx708_wide_noir": "Camera Module 3 Wide NoIR", "imx219": "Camera Module 2", "imx219_noir": "Camera Module 2 NoIR",
    "ov5647": "Camera Module 1", "imx477": "High Quality Camera", "imx296": "Global Shutter Camera",
    "imx500": "AI Camera",
}
LORES_WIDTH = 768  # a multiple of 64, so that rows need no padding
MIN_WIDTH = 1280
_AF_MANUAL = 0
_WHOLE = 0.98


def model_name(sensor: str) -> str:
    """The camera as it is sold, and its sensor: ``Camera Module 3 / imx708``."""
    return f"{MODELS.get(sensor, 'Raspberry Pi camera')} / {sensor or 'unknown'}"


def full_view_mode(modes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The smallest sensor mode with the full field of view that is wide enough to read tiles.

    Faster modes are cropped from the sensor's middle; larger ones need more memory than a Pi 4 has. None if the camera
    lists no modes (not a Pi camera).
    """
    known = [dict(m) for m in modes if "size" in m and "crop_limits" in m and "bit_depth" in m]
    if not known:
        return None
    widest = max(m["crop_limits"][2] for m in known)
    tallest = max(m["crop_limits"][3] for m in known)
    whole = [m for m in known if m["crop_limits"][2] >= _WHOLE * widest and m["crop_limits"][3] >= _WHOLE * tallest]
    enough = [m for m in whole if m["size"][0] >= MIN_WIDTH] or whole
    return min(enough, key=lambda m: (m["size"][0] * m["size"][1], -m["bit_depth"]))


def lores_size(main: tuple[int, int]) -> tuple[int, int]:
    """Size of the small stream: the full one's aspect ratio, even, and not larger."""
    width = min(LORES_WIDTH, main[0])
    return width, 2 * round(width * main[1] / main[0] / 2)


def converged(metadata: Sequence[Mapping[str, Any]]) -> bool:
    """Whether brightness and colour were stable over these frames (2 % and 1 %)."""
    light = [m["ExposureTime"] * m["AnalogueGain"] for m in metadata if "ExposureTime" in m and "AnalogueGain" in m]
    gains = [m["ColourGains"] for m in metadata if "ColourGains" in m]
    return (not light or max(light) <= 1.02 * min(light)) and all(
        max(g[n] for g in gains) <= 1.01 * min(g[n] for g in gains) for n in (0, 1) if gains)


def held_controls(metadata: Mapping[str, Any], known: Mapping[str, Any], options: Mapping[str, Any], period_us: int, *,
                  focused: bool) -> dict[str, Any]:
    """The controls that fix the measured values, or those in the options.

    An exposure longer than a flicker period is rounded to a whole number of periods, the gain compensates. Setting the
    colour gains switches automatic white balance off; switching it off alone leaves it at its current value.
    """
    held: dict[str, Any] = {}
    if "ExposureTime" in metadata and "AnalogueGain" in metadata and "ExposureTime" in known:
        exposure, gain = float(metadata["ExposureTime"]), float(metadata["AnalogueGain"])
        light = exposure * gain
        if exposure >= period_us:
            exposure = period_us * max(1, round(exposure / period_us))
        exposure = options.get("exposure", exposure)
        held |= {"AeEnable": False, "ExposureTime": int(exposure),
                 "AnalogueGain": float(options.get("gain", max(1.0, light / exposure)))}
        if "AeEnable" not in known:
            del held["AeEnable"]
    if "ColourGains" in metadata and "ColourGains" in known:
        held["ColourGains"] = tuple(float(g) for g in metadata["ColourGains"])
    if focused and "AfMode" in known:
        position = options.get("focus", metadata.get("LensPosition"))
        if position is not None:
            held |= {"AfMode": _AF_MANUAL, "LensPosition": float(position)}
    return held


def obeyed(held: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Whether a frame was taken with the fixed values; sensors round exposures to whole lines."""
    for name, tolerance in (("ExposureTime", 0.03), ("AnalogueGain", 0.03), ("LensPosition", 0.05)):
        if name in held and name in metadata and abs(metadata[name] - held[name]) > tolerance * max(1.0, held[name]):
            return False
    if "ColourGains" in held and "ColourGains" in metadata:
        return all(abs(a - b) <= 0.02 * b for a, b in zip(metadata["ColourGains"], held["ColourGains"], strict=True))
    return True


def cropped_to(metadata: Mapping[str, Any], mode: Mapping[str, Any] | None) -> float:
    """The fraction of the sensor's width in the pictures, from the frame's ScalerCrop; 1 if unknown."""
    crop = metadata.get("ScalerCrop")
    if crop is None or mode is None:
        return 1.0
    return float(crop[2]) / float(mode["crop_limits"][2])


def shown(held: Mapping[str, Any], metadata: Mapping[str, Any], mains_hz: float, view: float) -> dict[str, float | str]:
    """The effective controls for SourceInfo, from the last frame's metadata."""
    out: dict[str, float | str] = {"mains_hz": mains_hz, "view": round(view, 3),
                                   "held": "yes" if held and obeyed(held, metadata) else "no"}
    for name, ours in (("ExposureTime", "exposure_us"), ("AnalogueGain", "gain"), ("LensPosition", "focus_dioptres")):
        if name in metadata:
            out[ours] = round(float(metadata[name]), 3)
    if "ColourGains" in metadata:
        out["red_gain"], out["blue_gain"] = (round(float(g), 3) for g in metadata["ColourGains"])
    return out
