"""Further disturbances of real tables: a board pushed by several tiles, exposure that jumps, a lamp that is switched
on, arms and knees that stay. Decided before the first frame, like `mishaps`, and independent of each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from vision.simulator.camera import Camera
from vision.simulator.layout import Pose
from vision.simulator.mishaps import Lamp, Plan, Push, Rest
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.rates import Mishaps
from vision.simulator.script import Square, Turn

_TRIES = 40
_TURNED_DEG = 8.0  # limit of a board's rotation when it is pushed


def disturbed(plan: Plan, rates: Mishaps, turns: Sequence[Turn], poses: Mapping[Square, Pose], camera: Camera,
              seats_deg: Sequence[float], rng: np.random.Generator) -> Plan:
    """The plan with the disturbances of these rates added. ``poses`` are the tiles' before any push, ``seats_deg`` the
    directions from which the players reach in."""
    laid = [t for t in turns if t.laid]
    if len(laid) < 3:
        return plan

    def some(rate: float) -> list[int]:
        """Random turns for something that happens ``rate`` times in 72 turns."""
        count = min(int(rng.poisson(rate * len(laid) / 72)), len(laid) - 2)
        return sorted(int(t) for t in rng.choice([t.index for t in laid[2:]], count, replace=False))

    if rates.shove:
        plan = _shoved(plan, rates.shove_mm, some(rates.shove), laid, poses, camera, rng)
    lamps = [*plan.lamps]
    if rates.jump:
        lamps += _jumps([t.index for t in laid[1:] if rng.random() < rates.jump], rng)
    if rates.switch:
        for turn in some(rates.switch):
            lamps += _switched_on(turn, camera, rng)
    rests = _rests(rates.rest, turns, laid, plan, poses, seats_deg, rng) if rates.rest else ()
    return replace(plan, lamps=tuple(lamps), rests=tuple(rests))


def _shoved(plan: Plan, limit_mm: float, at_turns: Sequence[int], laid: Sequence[Turn],
            poses: Mapping[Square, Pose], camera: Camera, rng: np.random.Generator) -> Plan:
    """Pushes of the whole board at each of these turns; what is laid by then stays in view."""
    came = {t.laid.at: t.index for t in laid if t.laid}
    starts = {at for at in poses if at not in came}
    there: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, y, angle of the board relative to its layout
    pushes: list[Push] = []
    for n, turn in enumerate(at_turns):
        last = at_turns[n + 1] - 1 if n + 1 < len(at_turns) else laid[-1].index
        lying = [p for at, p in poses.items() if at in starts or came[at] <= last]
        for _ in range(_TRIES):
            a, far = rng.uniform(0, 2 * math.pi), limit_mm * math.sqrt(rng.uniform(0.15, 1))
            to = (there[0] + far * math.cos(a), there[1] + far * math.sin(a),
                  float(rng.uniform(-_TURNED_DEG, _TURNED_DEG)))
            push = _from_to(turn, there, to)
            tried = replace(plan, pushes=tuple(sorted([*plan.pushes, *pushes, push], key=lambda p: p.turn)))
            if _in_view([tried.pose(at, p, last) for at, p in poses.items() if p in lying], camera):
                pushes.append(push)
                there = to
                break
    return replace(plan, pushes=tuple(sorted([*plan.pushes, *pushes], key=lambda p: p.turn)))


def _from_to(turn: int, there: tuple[float, float, float], to: tuple[float, float, float]) -> Push:
    """The motion of a board from one place to another; both are a rotation about the table's origin and a
    translation."""
    angle = to[2] - there[2]
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return Push(turn=turn, squares=None, half=(0.0, 0.0, -1.0), centre_mm=(0.0, 0.0), angle_deg=angle,
                step_mm=(to[0] - c * there[0] + s * there[1], to[1] - s * there[0] - c * there[1]))


def _in_view(poses: Sequence[Pose], camera: Camera) -> bool:
    px = camera.project([(x, y, TILE_HEIGHT_MM) for p in poses for x, y in p.corners(TILE_MM / 2 + 6)])
    return bool((px > 0).all() and (px < (camera.width, camera.height)).all())


def _jumps(at_turns: Sequence[int], rng: np.random.Generator) -> Iterator[Lamp]:
    """Exposure and white balance change after each of these turns."""
    for turn, until in zip_longest(at_turns, at_turns[1:]):
        blue, green, red = (float(g) for g in rng.uniform(0.7, 1.25) * rng.uniform(0.91, 1.09, 3))
        yield Lamp(turn=turn, until=until, gain=(blue, green, red))


def _switched_on(turn: int, camera: Camera, rng: np.random.Generator) -> Iterator[Lamp]:
    """A warm lamp over a part of the table, and the camera's reduced exposure."""
    x, y = rng.uniform((0, 0), (camera.width, camera.height))
    bright = float(rng.uniform(1.25, 1.6))
    yield Lamp(turn=turn, gain=(0.86 * bright, 0.97 * bright, 1.05 * bright),
               blot_px=(float(x), float(y), float(rng.uniform(0.3, 0.5) * camera.width)))
    closed = float(rng.uniform(0.8, 0.92))
    yield Lamp(turn=turn, gain=(closed, closed, closed))


def _rests(rate: float, turns: Sequence[Turn], laid: Sequence[Turn], plan: Plan, poses: Mapping[Square, Pose],
           seats_deg: Sequence[float], rng: np.random.Generator) -> Iterator[Rest]:
    """Arms and knees that stay for one to three turns, over tiles near somebody's side of the board."""
    free = 0
    for t in laid[2:]:
        if t.index < free or rng.random() >= rate or t.index + 1 >= turns[-1].index:
            continue
        player = int(rng.integers(len(seats_deg)))
        a = math.radians(seats_deg[player])
        lying = [plan.pose(o.laid.at, poses[o.laid.at], t.index) for o in laid if o.laid and o.index <= t.index]
        lying.sort(key=lambda p, a=a: -(p.x_mm * math.cos(a) + p.y_mm * math.sin(a)))  # type: ignore[misc]
        on = lying[int(rng.integers(min(4, len(lying))))]
        until = min(t.index + int(rng.integers(1, 4)), turns[-1].index - 1)
        free = until + 2
        yield Rest(turn=t.index, until=until, player=player, knee=bool(rng.random() < 0.3),
                   at_mm=(on.x_mm + float(rng.normal(0, 8)), on.y_mm + float(rng.normal(0, 8))),
                   direction_deg=float(seats_deg[player] + rng.uniform(-20, 20)))
