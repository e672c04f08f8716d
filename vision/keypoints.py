"""Finds known pictures in a photograph by keypoint votes: one affine pose per sighting.

Touching tiles have no outline to detect, but their print has corners. Every keypoint of the photograph is compared with
the keypoints of all pictures in one matrix product (not picture by picture); a match votes for the tile's centre, size
and direction; votes that agree are fitted with an affine pose by consensus (RANSAC). D. G. Lowe, "Distinctive image
features from scale-invariant keypoints", IJCV 60 (2004), sections 5 and 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.images import reduced
from vision.tileset import TileSet

Array = npt.NDArray[np.float64]

NEAREST = 4  # pictures that share a drawing (F and G, M and N) all get the vote
SIMILAR = 0.89  # cosine of root descriptors
FEWEST = 6  # keypoints that must agree on an affine pose
LIMIT = 6000  # keypoints in a photograph
LONG_SIDE_PX = 1400
PER_PICTURE = 250  # keypoints in a tile's picture
PART_PX, OVERLAP_PX = 480, 100  # keypoints are detected in parts of this size, which bounds the memory
_AT_ONCE = 3_000_000  # comparisons per product, which bounds the memory however many specimens are taught


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A picture found in the photograph. ``pose`` (2, 3) maps the unit square of the upright picture to pixels."""

    tile: str
    pose: Array
    votes: int

    @property
    def centre(self) -> Array:
        out: Array = self.pose @ np.array([0.5, 0.5, 1.0])
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Points:
    place: Array  # (N, 2), in pixels, or in the unit square for pictures
    scale: Array  # (N,)
    angle: Array  # (N,) radians
    root: npt.NDArray[np.float32]  # (N, 128)


class SightingFinder:
    """Matches the keypoints of a tile set with photographs."""

    def __init__(self, tileset: TileSet) -> None:
        self._tiles = [s.tile for s in tileset.specimens]
        found = []
        owner = []
        for n, specimen in enumerate(tileset.specimens):
            points = _detect(specimen.bgr, PER_PICTURE, 0.02)
            size = float(specimen.bgr.shape[0])
            found.append(_Points(place=points.place / size, scale=points.scale / size, angle=points.angle,
                                 root=points.root))
            owner.append(np.full(len(points.scale), n))
        self._owner = np.concatenate(owner)
        self._points = _Points(place=np.concatenate([p.place for p in found]),
                               scale=np.concatenate([p.scale for p in found]),
                               angle=np.concatenate([p.angle for p in found]),
                               root=np.concatenate([p.root for p in found]))

    def find(self, bgr: Image) -> list[Sighting]:
        """Sightings in a photograph, most votes first, at most one per place.

        Keypoints are detected at LONG_SIDE_PX at most, which bounds the memory: the detector doubles the picture.
        """
        scale = min(1.0, LONG_SIDE_PX / max(bgr.shape[:2]))
        small = reduced(bgr, LONG_SIDE_PX)
        points = _detect(small, LIMIT, 0.015, scale)
        if not len(points.scale) or not len(self._owner):
            return []
        photo, picture = self._matches(points)
        votes = self._votes(points, photo, picture)
        sightings: list[Sighting] = []
        for n in range(len(self._tiles)):
            own = np.flatnonzero(self._owner[picture] == n)
            sightings += self._agreeing(n, points, photo[own], picture[own], votes[own])
        return _distinct(sightings)

    def _matches(self, points: _Points) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        photo, picture = [], []
        rows_at_once = max(1, _AT_ONCE // len(self._points.root))
        for start in range(0, len(points.root), rows_at_once):
            similar = points.root[start:start + rows_at_once] @ self._points.root.T
            near = np.argpartition(-similar, min(NEAREST, similar.shape[1] - 1), axis=1)[:, :NEAREST]
            rows, columns = np.nonzero(np.take_along_axis(similar, near, axis=1) > SIMILAR)
            photo.append(rows + start)
            picture.append(near[rows, columns])
        return np.concatenate(photo), np.concatenate(picture)

    def _votes(self, points: _Points, photo: npt.NDArray[np.int64], picture: npt.NDArray[np.int64]) -> Array:
        """(M, 4): centre x, centre y, side in pixels, direction in radians, of the tile each match stands for."""
        side = points.scale[photo] / self._points.scale[picture]
        turn = points.angle[photo] - self._points.angle[picture]
        away = (0.5 - self._points.place[picture]) * side[:, None]
        cos, sin = np.cos(turn), np.sin(turn)
        x = points.place[photo, 0] + cos * away[:, 0] - sin * away[:, 1]
        y = points.place[photo, 1] + sin * away[:, 0] + cos * away[:, 1]
        return np.stack([x, y, side, turn], axis=1)

    def _agreeing(self, n: int, points: _Points, photo: npt.NDArray[np.int64], picture: npt.NDArray[np.int64],
                  votes: Array) -> list[Sighting]:
        found: list[Sighting] = []
        if len(votes) < FEWEST:
            return found
        x, y, side, turn = votes.astype(np.float32).T
        log = np.log(side)
        agree = np.hypot(x[:, None] - x, y[:, None] - y) < 0.45 * np.minimum(side[:, None], side)
        agree &= np.abs((turn[:, None] - turn + np.pi) % (2 * np.pi) - np.pi) < 0.7
        agree &= np.abs(log[:, None] - log) < 0.6
        counts = agree.sum(axis=1)
        free = np.ones(len(votes), bool)
        while True:
            start = int(np.argmax(np.where(free, counts, 0)))
            if not free[start] or counts[start] < FEWEST:
                return found
            group = np.flatnonzero(agree[start] & free)
            source = self._points.place[picture[group]]
            target = points.place[photo[group]]
            limit = 0.05 * float(np.median(votes[group, 2]))
            affine, inliers = cv2.estimateAffine2D(source, target, method=cv2.RANSAC, ransacReprojThreshold=limit,
                                                   maxIters=500, confidence=0.99)
            pose = None if affine is None else np.asarray(affine, float)
            kept = group[:0] if pose is None else group[inliers.ravel() > 0]
            distinct = len({(round(x), round(y)) for x, y in points.place[photo[kept]]})
            if pose is None or distinct < FEWEST or not _plausible(pose, float(np.median(votes[kept, 2]))):
                gone = np.array([start])
            else:
                gone = kept
                found.append(Sighting(tile=self._tiles[n], pose=pose, votes=distinct))
            free[gone] = False
            counts -= agree[:, gone].sum(axis=1)


def _plausible(pose: Array, side: float) -> bool:
    """A tile seen from above is a parallelogram that is not too thin, not mirrored, and of the size voted for."""
    linear = pose[:, :2]
    if np.linalg.det(linear) <= 0:
        return False
    long, short = np.linalg.svd(linear, compute_uv=False)
    return bool(short > 0.4 * long and 0.5 < np.sqrt(long * short) / side < 2.0 and short > 16)


def _distinct(sightings: list[Sighting]) -> list[Sighting]:
    kept: list[Sighting] = []
    for s in sorted(sightings, key=lambda s: -s.votes):
        side = np.sqrt(np.linalg.det(s.pose[:, :2]))
        if all(np.hypot(*(s.centre - k.centre)) > 0.5 * side for k in kept):
            kept.append(s)
    return kept


def _detect(bgr: Image, limit: int, contrast: float, scale: float = 1.0) -> _Points:
    sift = cv2.SIFT.create(nfeatures=limit, contrastThreshold=contrast, edgeThreshold=15)
    kept, descriptors = detected(sift, np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY), np.uint8), limit)
    root = np.zeros((0, 128), np.float32)
    if len(kept):
        root = np.sqrt(descriptors / (np.abs(descriptors).sum(axis=1, keepdims=True) + 1e-7)).astype(np.float32)
    return _Points(place=np.array([k.pt for k in kept]).reshape(-1, 2) / scale,
                   scale=np.array([k.size for k in kept]) / scale, angle=np.radians([k.angle for k in kept]),
                   root=root)


def detected(sift: cv2.SIFT, grey: Image, limit: int,
             mask: Image | None = None) -> tuple[list[cv2.KeyPoint], npt.NDArray[np.float32]]:
    """The ``limit`` strongest keypoints of a grey picture, where ``mask`` is not 0, and their descriptors (N, 128). It
    is processed part by part: the detector doubles its input, and keeps all scales in memory."""
    keypoints: list[cv2.KeyPoint] = []
    rows = [np.zeros((0, 128), np.float32)]
    for left, right in _parts(grey.shape[1]):
        for top, bottom in _parts(grey.shape[0]):
            x0, y0 = max(0, left - OVERLAP_PX), max(0, top - OVERLAP_PX)
            part = (slice(y0, bottom + OVERLAP_PX), slice(x0, right + OVERLAP_PX))
            found, descriptors = sift.detectAndCompute(
                np.ascontiguousarray(grey[part]), None if mask is None else np.ascontiguousarray(mask[part]))
            own = []
            for n, k in enumerate(found):
                k.pt = (k.pt[0] + x0, k.pt[1] + y0)
                if left <= k.pt[0] < right and top <= k.pt[1] < bottom:
                    own.append(n)
            if own:
                keypoints += [found[n] for n in own]
                rows.append(np.asarray(descriptors[own], np.float32))
    best = np.sort(np.argsort([-k.response for k in keypoints], kind="stable")[:limit])
    return [keypoints[n] for n in best], np.concatenate(rows)[best]


def _parts(length: int) -> list[tuple[int, int]]:
    """Equal intervals of about PART_PX that cover a length."""
    count = max(1, round(length / PART_PX))
    ends = [round(n * length / count) for n in range(count + 1)]
    return list(zip(ends, ends[1:], strict=False))
