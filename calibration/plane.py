"""Pose of the table plane under the camera, from flat objects of known size on it in any position.

A ChArUco sheet or a mat is one such object; four cards are four; each tile of a board is one. Given the table's tilt
and height, every point of the picture maps to the table in millimetres, and each object should keep its shape: the
deviation after aligning its true shape with it (Procrustes) is the residual. Only tilt (two angles), height and, with
priors from the lens, focal length and radial distortion are free, so the objects' positions need not be measured. P. H.
Schoenemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31 (1966).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.boards import Array, Pattern
from calibration.documents import CalibrationError, LensResult, TableResult
from vision.view import rays_of

_STARTS = tuple((a, b) for a in (0.0, 0.35, -0.35) for b in (0.0, 0.35, -0.35))
_OFF = 3.5  # times the usual residual: an object that is bent, partly occluded or misread
_AGREES_PX = 0.4  # smaller residuals are never outliers: the precision of a corner
_FLOOR_PX = 0.03  # lower bound of a corner's noise, however well few points agree
_TALLEST_MM, _LOWEST_MM = 20_000.0, 30.0
_EXPECTED_PX = 0.2  # expected residual, which sets the weight of the lens's priors
_BENT = {"calibrated": 1e-4, "preset": 0.03, "wide": 0.1, "unknown": 0.1}  # standard deviation of k1; of k2 a third
_FREE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """The table under the camera, with its uncertainty. ``kept`` are the indices of the inlier patterns."""

    result: TableResult
    kept: tuple[int, ...]
    residuals_mm: tuple[float, ...]


def fit_plane(patterns: Sequence[Pattern], lens: LensResult, size: tuple[int, int], method: str, *,
              above_mm: float = 0.0, stretch: float = 1.0, noise_mm: float = 0.0, upright_deg: float = 0.0) -> Plane:
    """The table from patterns that lie ``above_mm`` over it. ``stretch`` multiplies their millimetres, ``noise_mm`` is
    a lower bound of their points' errors, ``upright_deg`` (when not 0) the prior standard deviation of the camera's
    tilt, for patterns that do not determine it.

    With one pattern the table's axes are the pattern's; else they are the picture's. Raises CalibrationError.
    """
    seen = [p.px for p in patterns]
    shapes = [p.mm * (stretch if p.weight == 1.0 else 1.0) for p in patterns]
    weights = [p.weight for p in patterns]
    kept = list(range(len(patterns)))
    if not kept or sum(len(s) for s in shapes) < 4:
        raise CalibrationError("too little was seen to find the table", "table.little")
    best = None
    for _ in range(4):
        chosen = _Scene([shapes[n] for n in kept], [seen[n] for n in kept], lens, [weights[n] for n in kept],
                        noise_mm, upright_deg)
        best = chosen.solve(best)
        off = [_rms(o) for o in chosen.residuals(best)]
        limit = max(_OFF * max(float(np.median(off)), noise_mm), _AGREES_PX * chosen.height / lens.focal_px)
        still = [n for n, o in zip(kept, off, strict=True) if o <= limit]
        if len(still) == len(kept) or len(still) < max(1, len(kept) // 2):
            break
        kept = still
    assert best is not None
    scene = _Scene([shapes[n] for n in kept], [seen[n] for n in kept], lens, [weights[n] for n in kept], noise_mm,
                   upright_deg)
    return _plane(scene, best, size, method, above_mm, tuple(kept))


def undistorted(px: Array, lens: LensResult) -> Array:
    """(N, 2) rays through px of a picture: x and y at depth 1."""
    return rays_of(px, lens.matrix, lens.distortion)


def _rotation(a: float, b: float) -> Array:
    ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
    out: Array = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]]) @ np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    return out


def _laid(shape: Array, seen: Array) -> tuple[Array, Array]:
    """(2, 2) rotation and (2,) shift that align a shape with the observed points."""
    a, b = shape.mean(axis=0), seen.mean(axis=0)
    s, t = shape - a, seen - b
    angle = np.arctan2((s[:, 0] * t[:, 1] - s[:, 1] * t[:, 0]).sum(), (s * t).sum())
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turn, b - turn @ a


def _rms(off: Array) -> float:
    return float(np.sqrt((off**2).sum(axis=1).mean()))


class _Scene:
    """The observed objects as a function of six parameters: tilt, tilt, log height, log focal factor, and offsets to k1
    and k2."""

    def __init__(self, shapes: Sequence[Array], seen: Sequence[Array], lens: LensResult,
                 weights: Sequence[float], noise_mm: float, upright_deg: float) -> None:
        self.shapes, self.lens, self.weights = shapes, lens, weights
        self.noise_mm, self.upright = noise_mm, np.radians(upright_deg)
        self.px = np.concatenate(seen)
        self._cuts = np.cumsum([len(s) for s in seen])[:-1]
        rays = np.split(undistorted(self.px, lens), self._cuts)
        ratio = [np.linalg.norm(s - s.mean(axis=0)) / max(float(np.linalg.norm(r - r.mean(axis=0))), 1e-9)
                 for s, r in zip(shapes, rays, strict=True)]
        self.height = float(np.clip(np.median(ratio), _LOWEST_MM, _TALLEST_MM))
        kind = "calibrated" if lens.rms_px > 0 else "unknown" if not lens.preset else \
            "wide" if lens.fov_deg[0] > 85 else "preset"
        self.priors = np.array([max(lens.focal_std_px / lens.focal_px, 1e-4), _BENT[kind], _BENT[kind] / 3])

    def lens_of(self, p: Array) -> LensResult:
        k1, k2, *others = self.lens.distortion
        return replace(self.lens, focal_px=self.lens.focal_px * float(np.exp(p[3])),
                       distortion=(k1 + float(p[4]), k2 + float(p[5]), *others))

    def on_table(self, px: Array, p: Array) -> Array:
        """(N, 2) mm in table axes whose origin is the point below the camera."""
        turn = _rotation(p[0], p[1])
        r = np.column_stack([undistorted(px, self.lens_of(p)), np.ones(len(px))])
        depth = r @ turn[:, 2]
        return np.asarray(np.exp(p[2]) * (r @ turn[:, :2]) / np.where(depth < 1e-3, 1e-3, depth)[:, None])

    def residuals(self, p: Array) -> list[Array]:
        """Per object (N, 2) mm deviation of its points from its true shape, times its weight."""
        out = []
        places = np.split(self.on_table(self.px, p), self._cuts)
        for shape, seen, weight in zip(self.shapes, places, self.weights, strict=True):
            turn, shift = _laid(shape, seen)
            out.append(weight * (seen - (shape @ turn.T + shift)))
        return out

    def solve(self, start: Array | None) -> Array:
        px_mm = self.height / self.lens.focal_px  # approximate size of a pixel on the table

        def cost(p: Array) -> Array:
            off = np.concatenate(self.residuals(p)).ravel() / px_mm
            expected = max(_EXPECTED_PX, self.noise_mm / px_mm)
            upright = p[:2] / self.upright if self.upright else np.zeros(0)
            return np.concatenate([off, expected * p[3:] / self.priors, expected * upright])

        from scipy.optimize import least_squares  # a third of the program's import time otherwise

        starts = [start] if start is not None else [np.array([a, b, np.log(self.height), 0, 0, 0]) for a, b in _STARTS]
        found = [least_squares(cost, s, loss="soft_l1", x_scale=(0.01,) * _FREE, max_nfev=60)
                 for s in starts]
        return np.asarray(min(found, key=lambda f: f.cost).x)


def _plane(scene: _Scene, p: Array, size: tuple[int, int], method: str, above_mm: float, kept: tuple[int, ...]
           ) -> Plane:
    off = scene.residuals(p)
    every = np.concatenate(off)
    turn0, height, used = _rotation(p[0], p[1]), float(np.exp(p[2])), scene.lens_of(p)
    if not _LOWEST_MM < height < _TALLEST_MM:
        raise CalibrationError("what was seen does not fit a flat table; check the given sizes", "table.none")
    seen = scene.on_table(scene.px, p)
    flat, shift = _laid(scene.shapes[0], seen) if len(scene.shapes) == 1 else (np.eye(2), seen.mean(axis=0))
    spin = np.eye(3)
    spin[:2, :2] = flat
    # the table is further away than the objects on it, in the same axes
    rotation = turn0 @ spin
    translation = turn0 @ np.array([*shift, 0.0]) + (height + above_mm) * turn0[:, 2]
    grid = used.matrix @ np.column_stack([rotation[:, :2], translation])
    below = used.matrix @ turn0[:, 2]
    table = TableResult(
        lens=used, method=method, rotation=tuple(float(v) for v in rotation.ravel()),
        translation_mm=tuple(float(v) for v in translation),
        px_from_mm=tuple(float(v) for v in (grid / grid[2, 2]).ravel()),
        rms_mm=_rms(every), worst_mm=float(np.linalg.norm(every, axis=1).max()),
        worst_corner_mm=_worst_corner(scene, p, size, every), height_mm=height + above_mm,
        tilt_deg=float(np.degrees(np.arccos(np.clip(turn0[2, 2], -1, 1)))),
        nadir_px=(float(below[0] / below[2]), float(below[1] / below[2])))
    return Plane(result=table, kept=kept, residuals_mm=tuple(_rms(o) for o in off))


def _worst_corner(scene: _Scene, p: Array, size: tuple[int, int], every: Array) -> float:
    """Two standard deviations (mm) at the worst corner of the picture, relative to the observed objects."""
    floor = _FLOOR_PX * np.exp(p[2]) / scene.lens.focal_px
    free = 2 * len(every) - 3 * len(scene.shapes) - 3
    sigma = max(float(np.sqrt((every**2).sum() / max(free, 1))), floor, scene.noise_mm)
    steps = np.diag(np.full(_FREE, 1e-4))

    def slope(of: Callable[[Array], Array]) -> Array:
        return np.stack([(of(p + s) - of(p - s)) / 2e-4 for s in steps], axis=-1)

    jacobian = slope(lambda q: np.concatenate(scene.residuals(q)).ravel())
    information = jacobian.T @ jacobian / sigma**2
    information[3:, 3:] += np.diag(1 / scene.priors**2)
    if scene.upright:
        information[:2, :2] += np.eye(2) / scene.upright**2
    covariance = np.linalg.pinv(information)
    w, h = size
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], float)
    base = scene.on_table(scene.px, p)

    def moved(q: Array) -> Array:
        turn, shift = _laid(scene.on_table(scene.px, q), base)
        return np.asarray(scene.on_table(corners, q) @ turn.T + shift)

    each = slope(moved)
    return float(2 * np.sqrt(np.einsum("ijk,kl,ijl->i", each, covariance, each).max()))
