"""Mishaps of a real table: changing light and shadows, pushed tiles, forgotten figures, a bumped camera.

All of it is decided before the first frame, from the seed alone, and is part of the ground truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.simulator.layout import Pose
from vision.simulator.pieces import Piece
from vision.simulator.rates import NONE, Mishaps
from vision.simulator.script import Square, Turn

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """At ``turn``, when its tile is put down, these ``squares`` (None: a half of the table) move rigidly: a rotation by
    ``angle_deg`` about ``centre_mm``, then a translation by ``step_mm``. ``half`` is the outward normal (x, y, offset)
    in mm."""

    turn: int
    squares: frozenset[Square] | None
    half: tuple[float, float, float]
    centre_mm: tuple[float, float]
    step_mm: tuple[float, float]
    angle_deg: float

    def moves(self, at: Square, pose: Pose) -> bool:
        if self.squares is not None:
            return at in self.squares
        return self.half[0] * pose.x_mm + self.half[1] * pose.y_mm > self.half[2]

    def moved(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        a = math.radians(self.angle_deg)
        dx, dy = x_mm - self.centre_mm[0], y_mm - self.centre_mm[1]
        return (self.centre_mm[0] + math.cos(a) * dx - math.sin(a) * dy + self.step_mm[0],
                self.centre_mm[1] + math.sin(a) * dx + math.cos(a) * dy + self.step_mm[1])

    def pose(self, pose: Pose) -> Pose:
        x, y = self.moved(pose.x_mm, pose.y_mm)
        return Pose(x_mm=x, y_mm=y, angle_deg=pose.angle_deg + self.angle_deg)

    def piece(self, piece: Piece) -> Piece:
        x, y = self.moved(piece.x_mm, piece.y_mm)
        return replace(piece, x_mm=x, y_mm=y, yaw_deg=piece.yaw_deg + self.angle_deg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bump:
    """From the turn's frame on the picture is rotated by ``angle_deg`` about its middle and moved by ``step_px``."""

    turn: int
    step_px: tuple[float, float]
    angle_deg: float

    def affine(self, size: tuple[int, int], part: float = 1.0) -> Array:
        """(2, 3) px of the picture before to px after; ``part`` is the fraction of the motion, while the camera
        swings."""
        a = math.radians(self.angle_deg * part)
        c, s, x, y = math.cos(a), math.sin(a), size[0] / 2, size[1] / 2
        return np.array([[c, -s, x - c * x + s * y + self.step_px[0] * part],
                         [s, c, y - s * x - c * y + self.step_px[1] * part]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """From the end of ``turn`` to the end of the turn ``until`` (None: permanently) each channel is multiplied by
    ``gain``; with ``blot_px`` (x, y, radius) only there. A ``brief`` one, such as a shadow, lasts for its turn only."""

    turn: int
    gain: tuple[float, float, float]
    blot_px: tuple[float, float, float] | None = None
    until: int | None = None
    brief: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A player's arm, or a knee, that lies on the table from the end of ``turn`` to that of ``until``, and reaches from
    ``direction_deg`` to ``at_mm``."""

    turn: int
    until: int
    player: int
    knee: bool
    at_mm: tuple[float, float]
    direction_deg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that goes wrong in one game. ``homes`` says in which turn a figure is taken home instead."""

    pushes: tuple[Push, ...] = ()
    bumps: tuple[Bump, ...] = ()
    lamps: tuple[Lamp, ...] = ()
    gaps: tuple[int, ...] = ()  # turns during whose visits, and the next turn's, the camera delivers no frames
    rests: tuple[Rest, ...] = ()
    track: bool = False

    def foot(self, at: Square, pose: Pose, piece: Piece, put: int, turn: int) -> tuple[float, float]:
        """The position at the end of a turn of a figure that was put down in turn ``put`` on a tile (``pose``: before
        any push)."""
        for push in self.pushes:
            if put < push.turn <= turn and push.moves(at, pose):
                piece = push.piece(piece)
        return piece.x_mm, piece.y_mm

    def pose(self, at: Square, pose: Pose, turn: int, since: int = -1) -> Pose:
        """A tile's pose at the end of a turn, from its pose before any push (or after those up to ``since``)."""
        first = pose
        for push in self.pushes:
            if since < push.turn <= turn and push.moves(at, first):
                pose = push.pose(pose)
        return pose


def homes(numbers: dict[tuple[int, str], list[int]], rates: Mishaps, turns: int, rng: np.random.Generator) -> None:
    """Delays the return of figures by some turns, or to the last turn. In place."""
    if not rates.late and not rates.forgotten:
        return
    for turn, what in sorted(k for k in numbers if k[1] == "home"):
        for n in list(numbers[turn, what]):
            draw = rng.random()
            later = turns - 1 if draw < rates.forgotten else turn + int(rng.integers(1, 4))
            if draw > rates.forgotten + rates.late or not turn < later < turns:
                continue
            numbers[turn, what].remove(n)
            numbers.setdefault((later, "home"), []).append(n)
        if not numbers[turn, what]:
            del numbers[turn, what]


def planned(rates: Mishaps, turns: Sequence[Turn], poses: Mapping[Square, Pose], fits: float,
            size: tuple[int, int], px_per_mm: float, room_px: tuple[float, float, float, float],
            rng: np.random.Generator, *, in_one: bool = False) -> Plan:
    """The plan of all mishaps. ``room_px`` is how far the board may move left, up, right, down and stay in the picture,
    ``fits`` the largest rotation (degrees) that keeps it there. A knock moves all tiles ``in_one`` where a start board
    holds them together."""
    laid = [t for t in turns if t.laid]
    if rates == NONE or len(laid) < 3:
        return Plan(track=bool(rates.track))

    def some(rate: float) -> list[int]:
        """Random turns for something that happens ``rate`` times in 72 turns."""
        count = int(rng.poisson(rate * len(laid) / 72))
        return sorted(int(t) for t in rng.choice([t.index for t in laid[2:]], min(count, len(laid) - 2), replace=False))

    def step(limit_px: float) -> tuple[float, float]:
        a, far = rng.uniform(0, 2 * math.pi), limit_px * math.sqrt(rng.uniform(0.05, 1))
        x, y = far * math.cos(a), far * math.sin(a)
        return (float(np.clip(x, -room_px[0] / 2, room_px[2] / 2)), float(np.clip(y, -room_px[1] / 2, room_px[3] / 2)))

    pushes: list[Push] = []
    for t in laid[2:]:
        assert t.laid is not None
        x, y = t.laid.at
        beside = [at for at in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
                  if at in poses and any(o.laid and o.laid.at == at and o.index < t.index for o in laid)]
        if beside and rng.random() < rates.nudge:
            at = beside[int(rng.integers(len(beside)))]
            dx, dy = rng.uniform(-rates.nudge_mm, rates.nudge_mm, 2)
            pushes.append(Push(turn=t.index, squares=frozenset([at]), half=(0, 0, 0), step_mm=(float(dx), float(dy)),
                               centre_mm=(poses[at].x_mm, poses[at].y_mm), angle_deg=float(rng.normal(0, 1))))
    middle = np.mean([(p.x_mm, p.y_mm) for p in poses.values()], axis=0)
    for turn in some(rates.knock):
        right, down = (v / px_per_mm for v in step(rates.knock_mm * px_per_mm))
        length = math.hypot(right, down) or 1.0
        whole = rng.random() < 0.6 or in_one
        half = (0.0, 0.0, -1.0) if whole else (right / length, down / length, float(
            (middle[0] * right + middle[1] * down) / length + rng.uniform(-40, 40)))
        pushes.append(Push(turn=turn, squares=None, half=half, step_mm=(right, down),
                           centre_mm=(float(middle[0]), float(middle[1])), angle_deg=float(rng.uniform(-fits, fits))))
    bumps = tuple(Bump(turn=t, step_px=step(rates.bump_mm * px_per_mm), angle_deg=float(rng.uniform(-fits, fits)))
                  for t in some(rates.bump)[:2])  # the margin is for two
    lamps = []
    for turn in some(rates.lamp):
        blue, green, red = (float(g) for g in rng.uniform(0.8, 1.15) * rng.uniform(0.95, 1.05, 3))
        lamps.append(Lamp(turn=turn, gain=(blue, green, red)))
    for t in laid[1:]:
        if rng.random() < rates.shadow:
            gain, left, top = float(rng.uniform(0.55, 0.85)), rng.uniform(0, size[0]), rng.uniform(0, size[1])
            lamps.append(Lamp(turn=t.index, gain=(gain, gain, gain),
                              blot_px=(float(left), float(top), float(rng.uniform(0.08, 0.25) * size[0])), brief=True))
    blind: list[int] = []
    for a, b in zip(turns, turns[1:], strict=False):
        quiet = a.laid and b.laid and not a.home and not b.home and not (blind and a.index - blind[-1] < 3)
        if quiet and a.index and rng.random() < rates.gap:
            blind.append(a.index)
    return Plan(pushes=tuple(sorted(pushes, key=lambda p: p.turn)), bumps=bumps, lamps=tuple(lamps),
                gaps=tuple(blind), track=bool(rates.track))


class Lamps:
    """The light of a film: ``changed`` says whether it changes with this frame (or may have changed, when frames were
    skipped), ``on`` applies it to a light map."""

    def __init__(self, lamps: Sequence[Lamp], spans: Mapping[int, tuple[int, int]], size: tuple[int, int]) -> None:
        """``spans``: first and last frame of every turn."""
        self._lamps: list[tuple[Lamp, float, float]] = []  # with its first frame, and the first without it
        for lamp in lamps:
            first, last = spans[lamp.turn]
            gone = last + 1 if lamp.brief else math.inf if lamp.until is None else spans[lamp.until][1]
            self._lamps.append((lamp, first if lamp.brief else last, gone))
        self._size, self._number = size, 0

    def changed(self, number: int) -> bool:
        before, self._number = self._number, number
        return any(before < moment <= number for _, *moments in self._lamps for moment in moments)

    def on(self, light: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The light map (h, w, 3) with the lamps of this frame, same shape."""
        gain = np.ones(light.shape, np.float32)
        for lamp, first, gone in self._lamps:
            if not first <= self._number < gone:
                continue
            if lamp.blot_px is None:
                gain *= np.array(lamp.gain, np.float32)
            else:
                x, y, radius = lamp.blot_px
                step = 8
                yy, xx = np.mgrid[0:light.shape[0]:step, 0:light.shape[1]:step].astype(np.float32)
                soft = 0.5 - 0.5 * np.tanh((np.hypot(xx - x, yy - y) - radius) / (0.16 * radius + 8))
                blot = cv2.resize(soft.astype(np.float32), light.shape[1::-1], interpolation=cv2.INTER_LINEAR)
                gain *= 1 - (1 - np.array(lamp.gain, np.float32)) * blot[..., None]
        out: npt.NDArray[np.uint8] = np.clip(light * gain, 1, 255).astype(np.uint8)
        return out
