"""How a table's light and camera paint a tile: from a picture's colours to the photograph's, and what it leaves over.

Correlation asks whether shapes agree. This asks the other question: with this picture lying there under this lamp, which
pixels are not explained? Pixels under a follower are explained by no picture, so what each pixel may cost is limited.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

FloatArray = npt.NDArray[np.float32]

SIZE_PX = 48
LIMIT = 3.0  # deviations after which a pixel costs no more: it is something else than print
INDEPENDENT_PX = 24.0  # neighbouring pixels say the same; so many count as one
_SLIDE = 1  # pixels that a border may be off before it costs


def opponent(bgr: npt.NDArray[np.floating]) -> FloatArray:
    """(.., 3) BGR as lightness, red-green, yellow-blue; lightness weighs half, for lamps change it most."""
    b, g, r = (np.asarray(bgr[..., n], np.float32) for n in range(3))
    return np.stack([(b + g + r) / 6, (r - g) * 0.7, ((r + g) / 2 - b) * 0.7], axis=-1)


def soft(bgr: Image, size_px: int = SIZE_PX) -> FloatArray:
    """A picture at working size, its fine drawing blurred: structure remains."""
    small = bgr if bgr.shape[0] == size_px else cv2.resize(bgr, (size_px, size_px), interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(small, (0, 0), size_px / 40).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """``matrix`` (4, 3) takes a picture's (b, g, r, 1) to the photograph's colours; ``noise`` is the usual remainder."""

    matrix: FloatArray
    noise: float

    def picture(self, template: FloatArray) -> FloatArray:
        """A picture (S, S, 3) in the photograph's colours."""
        return template @ self.matrix[:3] + self.matrix[3]

    def lit(self, template: FloatArray, crop: FloatArray, weight: FloatArray) -> FloatArray:
        """The picture under this tile's own light: strength, haze and falloff fitted to the crop, outliers left out."""
        painted = self.picture(template)
        n = painted.shape[0]
        ramp = np.linspace(-1, 1, n, dtype=np.float32)
        grey = painted.reshape(-1)
        ones = np.ones((n, n, 3), np.float32)
        base = np.stack([grey, ones.reshape(-1), (ones * ramp[None, :, None]).reshape(-1),
                         (ones * ramp[:, None, None]).reshape(-1)], axis=1)
        # A weak pull to "as the rest of the table" keeps a dark table from passing for a field in the shade.
        prior = np.diag([2e4 * 1.0, 8.0, 8.0, 8.0]).astype(np.float32)
        want = crop.reshape(-1)
        use = np.repeat(weight.reshape(-1), 3)
        centre = np.array([1.0, 0.0, 0.0, 0.0], np.float32)
        solution = centre
        for _ in range(3):
            left = np.abs(want - base @ solution) if solution is not centre else None
            w = use if left is None else use * (left < max(2.5 * self.noise, 1.5 * float(np.median(left))))
            gram = (base * w[:, None]).T @ base + prior
            solution = np.linalg.solve(gram, (base * w[:, None]).T @ want + prior @ centre).astype(np.float32)
            solution[0] = np.clip(solution[0], 0.5, 1.6)
        return (base @ solution).reshape(n, n, 3)

    def left_over(self, template: FloatArray, crop: FloatArray, weight: FloatArray) -> FloatArray:
        """(S, S) what the picture does not explain, in units of the usual remainder; borders may be a pixel off."""
        lit = opponent(self.lit(template, crop, weight))
        seen = opponent(crop)
        best = np.full(crop.shape[:2], np.inf, np.float32)
        padded = cv2.copyMakeBorder(lit, _SLIDE, _SLIDE, _SLIDE, _SLIDE, cv2.BORDER_REPLICATE)
        n = crop.shape[0]
        for dy in range(2 * _SLIDE + 1):
            for dx in range(2 * _SLIDE + 1):
                off = seen - padded[dy:dy + n, dx:dx + n]
                np.minimum(best, np.einsum("ijk,ijk->ij", off, off), out=best)
        return np.sqrt(best) / self.noise


def fit_paint(pairs: list[tuple[FloatArray, FloatArray]]) -> Paint:
    """From (picture, crop) pairs of tiles that are surely what they seem, by least squares with outliers dropped."""
    source = np.concatenate([p.reshape(-1, 3)[::3] for p, _ in pairs])
    target = np.concatenate([c.reshape(-1, 3)[::3] for _, c in pairs])
    source = np.concatenate([source, np.ones((len(source), 1), np.float32)], axis=1)
    keep = np.ones(len(source), bool)
    matrix = np.zeros((4, 3), np.float32)
    for _ in range(4):
        matrix, *_ = np.linalg.lstsq(source[keep], target[keep], rcond=None)
        left = np.abs(target - source @ matrix).max(axis=1)
        keep = left < 2.5 * max(float(np.median(left)), 4.0)
    first = Paint(matrix=matrix.astype(np.float32), noise=12.0)
    ones = np.ones(pairs[0][0].shape[:2], np.float32)
    usual = [float(np.percentile(first.left_over(p, c, ones), 75)) * 12.0 for p, c in pairs]
    return Paint(matrix=first.matrix, noise=float(np.clip(np.median(usual), 4.0, 20.0)))


def cost(left: FloatArray, weight: FloatArray) -> float:
    """Negative log-likelihood of what is left over; bounded per pixel."""
    return float((np.minimum(left, LIMIT) ** 2 * weight).sum()) / (2 * INDEPENDENT_PX)
