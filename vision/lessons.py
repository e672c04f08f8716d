"""Learns an owner's tiles during play: pictures of tiles whose kind is known become templates, after a check.

A lesson is the picture of one tile as it lay on the table, turned upright and labelled by the game or a person. A wrong
label would spoil all later readings, so every lesson is cross-checked with all others before it is used: its four sides
must match its label, and it must not resemble another kind more than its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import catalogue, turn
from vision.evidence import learn_sides, side_letters, strips, twins
from vision.frames import Image
from vision.lattice import Array, rectify
from vision.tiles import TileMatcher
from vision.tileset import SIZE_PX, Specimen, TileSet

BLURRED = 0.3  # of the median sharpness of all lessons: less sharp pictures are refused
FEWEST = 8  # least number of lessons to judge sides, and to teach anything
_SIDE_PX = 64
_WRONG_SIDES = 4.0  # log-odds of the sides against the label
_OTHER, _OTHER_MARGIN = 0.8, 0.12  # correlation with another kind that is too high, and margin over its own
_TWIN, _TWIN_MARGIN = 0.9, 0.04  # the same for kinds that differ by a pennant alone
_SAME = 0.93  # correlation from which two pictures of a kind show the same drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One upright picture (S, S, 3 BGR uint8, as at ``rot`` 0) of a tile kind. ``origin`` says where it comes from."""

    tile: str
    bgr: Image
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A lesson that is not used, and why: ``sides``, ``other kind`` or ``blurred``."""

    lesson: Lesson
    why: str


def upright(photo: Image, pose: Array, rot: int, size_px: int = SIZE_PX) -> Image:
    """The picture of a tile that lies at ``pose`` with ``rot`` quarter turns clockwise, turned back to ``rot`` 0."""
    return np.ascontiguousarray(np.rot90(rectify(photo, pose, size_px), rot))


def vet(lessons: Sequence[Lesson]) -> tuple[tuple[Lesson, ...], tuple[Refused, ...]]:
    """The lessons that agree with each other, in order, and those that do not.

    The worst is removed first and the rest are checked again, so that one mislabelled lesson does not discredit others.
    """
    kept = list(lessons)
    refused: list[Refused] = []
    sharp = [_sharpness(lesson.bgr) for lesson in kept]
    blurred = {n for n, s in enumerate(sharp) if s < BLURRED * float(np.median(sharp))}
    refused += [Refused(lesson=kept[n], why="blurred") for n in sorted(blurred)]
    kept = [lesson for n, lesson in enumerate(kept) if n not in blurred]
    if len(kept) < FEWEST:
        return tuple(kept), tuple(refused)
    compared = _Compared(kept)
    while len(compared.members) >= FEWEST and (worst := compared.worst()) is not None:
        n, why = worst
        refused.append(Refused(lesson=kept[n], why=why))
        compared.members.remove(n)
    return tuple(kept[n] for n in compared.members), tuple(refused)


def distinct(lessons: Iterable[Lesson], *, most: Mapping[str, int]) -> tuple[Lesson, ...]:
    """Of every kind the lessons that show different drawings, newest first, at most ``most`` (default 4) of each."""
    kept: dict[str, list[Lesson]] = {}
    seen: dict[str, TileMatcher] = {}
    for lesson in reversed(list(lessons)):
        own = kept.setdefault(lesson.tile, [])
        if len(own) >= most.get(lesson.tile, 4):
            continue
        if own and float(seen[lesson.tile].score(lesson.bgr[None]).max()) > _SAME:
            continue
        own.append(lesson)
        seen[lesson.tile] = TileMatcher(_tileset("lessons", own), 48)
    return tuple(lesson for _, own in sorted(kept.items()) for lesson in own)


def learned_tileset(name: str, lessons: Sequence[Lesson]) -> TileSet | None:
    """The lessons as a tile set; None when there are fewer than FEWEST of them."""
    return _tileset(name, lessons) if len(lessons) >= FEWEST else None


def _tileset(name: str, lessons: Sequence[Lesson]) -> TileSet:
    pictures = sorted(((lesson.tile, _fit(lesson.bgr)) for lesson in lessons), key=lambda p: p[0])
    return TileSet(name=name, size_px=SIZE_PX, specimens=tuple(Specimen(tile=t, bgr=bgr) for t, bgr in pictures))


def _fit(bgr: Image) -> Image:
    if bgr.shape[:2] == (SIZE_PX, SIZE_PX):
        return bgr
    return np.asarray(cv2.resize(bgr, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA), np.uint8)


def _sharpness(bgr: Image) -> float:
    grey = cv2.cvtColor(_fit(bgr), cv2.COLOR_BGR2GRAY).astype(np.float32)
    return float(cv2.Laplacian(cv2.GaussianBlur(grey, (0, 0), 1.0), cv2.CV_32F).std() / (grey.std() + 4.0))


class _Compared:
    """One cross-check of all lessons; ``members`` are those that still count."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        kinds = catalogue()
        self.members = list(range(len(lessons)))
        self.names = [lesson.tile for lesson in lessons]
        crops = np.array([cv2.resize(_fit(lesson.bgr), (_SIDE_PX, _SIDE_PX), interpolation=cv2.INTER_AREA)
                          for lesson in lessons])
        self.sides, self.seen = strips(crops, np.ones(crops.shape[:3], np.float32))
        self.letters = [side_letters(kinds[name], 0) for name in self.names]
        self.twins = {frozenset(p) for p in twins(kinds, sorted(set(self.names)))}
        order = sorted(range(len(lessons)), key=lambda n: self.names[n])  # as the tile set sorts its specimens
        scores = TileMatcher(_tileset("lessons", lessons), 48).score_specimens(crops)
        self.alike = np.empty(scores.shape, np.float32)  # [n, m, rot]: lesson n against lesson m turned by rot
        self.alike[:, order] = scores
        self.same_shape = {name: [r for r in range(4) if _turned(name, r) == _turned(name, 0)] for name in self.names}

    def worst(self) -> tuple[int, str] | None:
        """The member with the strongest evidence against it, and the reason; None when all agree."""
        found: list[tuple[float, int, str]] = []
        for n in self.members:
            sides = self._sides_against(n)
            if sides > _WRONG_SIDES:
                found.append((sides / _WRONG_SIDES, n, "sides"))
            elif (other := self._other_kind(n)) > 1.0:
                found.append((other, n, "other kind"))
        if not found:
            return None
        _, n, why = max(found)
        return n, why

    def _sides_against(self, n: int) -> float:
        """Log-odds against a lesson's label, by sides learned from all the others."""
        rest = [m for m in self.members if m != n]
        reader = learn_sides(self.sides[rest].reshape(-1, self.sides.shape[2]),
                             [letter for m in rest for letter in self.letters[m]])
        if reader is None:
            return 0.0
        logs = reader.loglik(self.sides[n], self.seen[n])
        return float(sum(logs[k].max() - logs[k, reader.letters.index(letter)]
                         for k, letter in enumerate(self.letters[n]) if letter in reader.letters))

    def _other_kind(self, n: int) -> float:
        """Above 1 when a lesson is too similar to another kind."""
        name, kinds = self.names[n], catalogue()
        own = max((float(self.alike[n, m, self.same_shape[name]].max())
                   for m in self.members if m != n and self.names[m] == name), default=None)
        most = 0.0
        for m in self.members:
            if self.names[m] == name:
                continue
            # where the sides differ they are the better evidence, used already
            same_sides = [r for r in range(4) if side_letters(kinds[self.names[m]], r) == self.letters[n]]
            like = max((float(self.alike[n, m, r]) for r in same_sides), default=-1.0)
            twin = frozenset((name, self.names[m])) in self.twins
            if twin and own is None:
                continue  # one picture of each does not tell which has the pennant
            limit, margin = (_TWIN, _TWIN_MARGIN) if twin else (_OTHER, _OTHER_MARGIN)
            if like > limit and (own is None or like > own + margin):
                most = max(most, 1.0 + like - (own or 0.0))
        return most


def _turned(name: str, rot: int) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((s.kind, tuple(sorted(turn(a, rot) for a in s.atoms))) for s in catalogue()[name].segments)
