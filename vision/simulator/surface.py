"""Table tops and light, computed once per table."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.simulator.camera import Camera
from vision.simulator.options import Level

_WOODS = {"oak": ((128, 168, 200), 0.10), "walnut": ((54, 78, 108), 0.15), "white": ((214, 222, 226), 0.015)}
_CLOTHS = {"cloth": ((96, 98, 150), (150, 120, 92), (120, 140, 146), (84, 72, 66)), "green": ((62, 118, 74),)}
LIGHT_ONE = 128  # value of a light map where the picture stays as it is


def _noise(rng: np.random.Generator, shape: tuple[int, int], cell: tuple[float, float]) -> npt.NDArray[np.float32]:
    """Smooth noise, standard deviation 1, with features of about ``cell`` (x, y) px."""
    h, w = shape
    small = rng.standard_normal((max(2, round(h / cell[1])), max(2, round(w / cell[0]))), np.float32)
    big = cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC)
    out: npt.NDArray[np.float32] = (big - big.mean()) / max(1e-6, float(big.std()))
    return out


def table_top(kind: str, camera: Camera, rng: np.random.Generator) -> Image:
    """The bare table as the camera sees it, (height, width, 3)."""
    seen = camera.table_map()
    low, high = seen.reshape(-1, 2).min(0) - 10, seen.reshape(-1, 2).max(0) + 10
    mm = 1.0 / max(0.5, camera.scale((0.0, 0.0)))  # one texel is about one px
    shape = (int((high[1] - low[1]) / mm) + 1, int((high[0] - low[0]) / mm) + 1)
    texture = _wood(kind, shape, mm, rng) if kind in _WOODS else _cloth(kind, shape, mm, rng)
    at = (seen - low) / mm
    return np.asarray(cv2.remap(texture, np.ascontiguousarray(at[..., 0]), np.ascontiguousarray(at[..., 1]),
                                cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.uint8)


def _wood(kind: str, shape: tuple[int, int], mm: float, rng: np.random.Generator) -> Image:
    base, contrast = _WOODS[kind]
    tone = np.array(base, np.float32) * rng.uniform(0.92, 1.06)
    upright = bool(rng.integers(2))
    h, w = (shape[1], shape[0]) if upright else shape
    y = np.arange(h, dtype=np.float32)[:, None] * np.float32(mm)
    wide = rng.uniform(70, 130)
    plank = np.floor(y / wide + 0.3).astype(int)[:, 0]
    shades = rng.normal(0, 1, plank.max() + 2).astype(np.float32)
    shifts = rng.integers(0, w, plank.max() + 2)
    warp = _noise(rng, (h, w), (260 / mm, 40 / mm)) * 5
    rings = np.sin((y + warp * 2) * rng.uniform(0.35, 0.6) + 2 * _noise(rng, (h, w), (400 / mm, 18 / mm)))
    fibre = _noise(rng, (h, w), (70 / mm, 1.6 / mm)) + 0.6 * _noise(rng, (h, w), (25 / mm, 0.9 / mm))
    grain = 0.35 * rings + 0.55 * fibre + 0.4 * _noise(rng, (h, w), (300 / mm, 120 / mm))
    for p in range(plank.max() + 1):  # each plank is another board
        rows = plank == p
        grain[rows] = np.roll(grain[rows], shifts[p], axis=1)
        end = int(shifts[p])  # a butt joint
        grain[rows, :end] += 0.45 * shades[p]
        grain[rows, end:] += 0.45 * shades[p + 1]
        if kind != "white":
            grain[rows, max(0, end - 1):end + 1] -= 0.25 / contrast
    value = 1 + contrast * grain
    seam = np.abs((y / wide + 0.3) % 1 - 0.5) * wide  # mm from the middle of a plank
    if kind != "white":
        value *= 1 - 0.35 * np.exp(-(((seam - wide / 2) / (0.7 * mm + 0.3)) ** 2))
    image = value[..., None] * tone * (1 + 0.25 * contrast * grain[..., None] * np.array([-0.5, 0, 0.35], np.float32))
    out = np.clip(image, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(out.transpose(1, 0, 2)) if upright else out


def _cloth(kind: str, shape: tuple[int, int], mm: float, rng: np.random.Generator) -> Image:
    colours = _CLOTHS[kind]
    tone = np.array(colours[int(rng.integers(len(colours)))], np.float32)
    yy, xx = np.mgrid[0:shape[0], 0:shape[1]].astype(np.float32) * np.float32(mm)
    weave = np.sin(xx * 2.1) * 0.5 + np.sin(yy * 2.3) * 0.5
    folds = _noise(rng, shape, (300 / mm, 160 / mm)) * 0.6 + _noise(rng, shape, (90 / mm, 220 / mm)) * 0.4
    value = 1 + 0.035 * weave + 0.05 * folds + 0.04 * rng.standard_normal(shape, np.float32)
    out: Image = np.clip(value[..., None] * tone, 0, 255).astype(np.uint8)
    return out


def mark(bare: Image, camera: Camera, rng: np.random.Generator) -> None:
    """Lines, squares about as large as a tile and rings of cups on the bare table, in place."""
    seen = camera.table_map()[::8, ::8].reshape(-1, 2)
    tone = bare.reshape(-1, 3).mean(axis=0)

    def line(points_mm: npt.ArrayLike, closed: bool, thick: int, shade: float) -> None:
        flat = np.asarray(points_mm, float)
        px = camera.project(np.column_stack([flat, np.zeros(len(flat))]))
        over = bare.copy()
        cv2.polylines(over, [np.round(px * 16).astype(np.int32)], closed, tuple(float(v) for v in tone * shade), thick,
                      cv2.LINE_AA, 4)
        cv2.addWeighted(over, 0.7, bare, 0.3, 0, dst=bare)

    low, high = seen.min(axis=0), seen.max(axis=0)
    for _ in range(int(rng.integers(1, 4))):  # seams, the edge of a mat
        at, a = rng.uniform(low, high), rng.uniform(0, np.pi)
        way = 1500 * np.array([np.cos(a), np.sin(a)])
        line([at - way, at + way], False, int(rng.integers(1, 4)), float(rng.uniform(0.6, 1.3)))
    for _ in range(int(rng.integers(2, 6))):
        at, a, half = rng.uniform(low, high), rng.uniform(0, np.pi), rng.uniform(18, 27)
        c, s = half * np.cos(a), half * np.sin(a)
        line([at + (c - s, s + c), at + (-c - s, -s + c), at + (-c + s, -s - c), at + (c + s, s - c)], True,
             int(rng.integers(1, 4)), float(rng.uniform(0.6, 1.35)))
    turn = np.linspace(0, 2 * np.pi, 60)
    for _ in range(int(rng.integers(1, 4))):
        at, r = rng.uniform(low, high), rng.uniform(28, 42)
        line(np.column_stack([at[0] + r * np.cos(turn), at[1] + r * np.sin(turn)]), True, 2, 0.75)


def light_map(camera: Camera, level: Level, lamp_mm: npt.NDArray[np.float64], rng: np.random.Generator,
              phase: float = 0.0, gloss: float = 1.0, exposure: float = 1.0) -> npt.NDArray[np.uint8]:
    """Gain per px and channel in 1/128: lamp spot, gradient, vignette, colour cast. ``phase`` shifts it slowly.

    ``gloss`` 0..1 is the strength of the lamp's specular reflection, ``exposure`` a factor on everything.
    """
    step = 8
    h, w = camera.height // step + 1, camera.width // step + 1
    yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
    x, y = xx / w * 2 - 1, (yy / h * 2 - 1) * camera.height / camera.width
    angle, warm = rng.uniform(0, 2 * np.pi) + 0.25 * phase, rng.uniform(-1, 1)
    gradient = np.cos(angle) * x + np.sin(angle) * y
    spot_px = camera.project([(lamp_mm[0] * 0.45, lamp_mm[1] * 0.45, 0)])[0] / (camera.width, camera.height) * 2 - 1
    d2 = (x - spot_px[0] - 0.05 * phase) ** 2 + (y - spot_px[1] * camera.height / camera.width) ** 2
    spot = np.exp(-d2 / (2 * rng.uniform(0.45, 0.8) ** 2))
    vignette = -0.35 * (x * x + y * y) ** 2
    gain = 1 + level.light * (0.35 * gradient + 0.9 * (spot - 0.55) + vignette) + 0.01 * phase
    cast = 1 + level.cast * (np.array([-1.0, -0.15, 0.8]) * warm + rng.uniform(-0.3, 0.3, 3))
    # The lamp is warmer than daylight.
    tint = 1 + 0.35 * level.cast * (spot - 0.5)[..., None] * np.array([-1.0, 0.0, 0.6])
    maps = gain[..., None] * cast * tint * exposure * rng.uniform(0.94, 1.02)
    if level.glare:
        g = np.exp(-d2 / (2 * 0.07**2)) + 0.3 * np.exp(-d2 / (2 * 0.2**2))
        maps += level.glare * gloss * g[..., None]
    small = np.clip(maps * LIGHT_ONE, 20, 255).astype(np.float32)
    big = cv2.resize(small, (camera.width, camera.height), interpolation=cv2.INTER_LINEAR)
    out: Image = np.round(big + rng.uniform(-0.5, 0.5, big.shape[:2])[..., None]).clip(0, 255).astype(np.uint8)
    return out


def gloss(kind: str) -> float:
    """Gloss of a table top: varnish reflects, cloth does not."""
    return 1.0 if kind in _WOODS else 0.1


def exposure(bare: Image, light: npt.NDArray[np.uint8]) -> float:
    """Automatic exposure, metered once on the bare table: neither under- nor overexposed."""
    seen = lit(bare, light)[::8, ::8]
    wanted = (112 / max(1.0, float(seen.mean()))) ** 0.6
    return float(np.clip(min(wanted, 238 / max(1.0, float(np.percentile(seen, 97)))), 0.6, 1.3))


def lit(image: Image, light: npt.NDArray[np.uint8]) -> Image:
    """The picture under that light, same shape."""
    return np.asarray(cv2.multiply(np.ascontiguousarray(image), np.ascontiguousarray(light), scale=1 / LIGHT_ONE),
                      np.uint8)
