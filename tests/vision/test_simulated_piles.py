"""Piles of blocks on simulated tables: where the game's moves put them, and how they look from above."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from recorded import OWN

from scoring.engine import new_game, step
from scoring.events import TurnEnded
from scoring.expansions.tower import Captured
from scoring.state import GameState
from scoring.transcript import read
from vision.simulator import Options, Simulator, load
from vision.simulator.pieces import Piece, faces
from vision.simulator.script import script_of

GAMES = [p for p in OWN if p.name.startswith("tower-")]
GAME = next(p for p in GAMES if p.name.startswith("tower-010"))
TURNS = 30


@cache
def played(level: str = "normal", turns: int = TURNS) -> Simulator:
    return Simulator(load(GAME), 1, Options(level=level, turns=turns, fps=2))


def states(turns: int) -> list[GameState]:
    """The state at the end of each turn."""
    game = read(load(GAME))
    state, out = new_game(game.setup), []
    for turn in game.turns[:turns]:
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
        out.append(state)
    return out


def blocks(sim: Simulator) -> dict[tuple[int, int], list[Piece]]:
    out: dict[tuple[int, int], list[Piece]] = {}
    for stop in sim.truth.stops:
        if stop.piece.block_mm is not None:
            out.setdefault(stop.at, []).append(stop.piece)
    return out


def test_piles_are_as_high_as_the_rules_say() -> None:
    sim, every = played(), states(TURNS)
    (stack,) = every[-1].box.stacks
    assert {at: len(pile) for at, pile in blocks(sim).items()} == stack.heights(every[-1])
    for pile in blocks(sim).values():
        high = pile[0].block_mm[1]  # type: ignore[index]
        assert np.allclose(np.diff([p.z_mm for p in pile]), high)
        assert all(np.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) < 3 for a, b in zip(pile, pile[1:], strict=False))


def test_the_top_of_a_pile_is_displaced_away_from_the_point_below_the_camera() -> None:
    sim = played()
    camera = sim.truth.camera
    nadir = np.array(camera.position_mm[:2])
    pile = max(blocks(sim).values(), key=lambda p: len(p) * np.hypot(*(np.array([p[0].x_mm, p[0].y_mm]) - nadir)))
    top = max(faces(pile[-1])[0][-1][:, 2])
    foot = np.array([pile[-1].x_mm, pile[-1].y_mm])
    seen = camera.table_mm(camera.project([(*foot, top)]), pile[0].z_mm)[0]
    away = (foot - nadir) * (top - pile[0].z_mm) / (camera.position_mm[2] - top)
    assert np.allclose(seen - foot, away, atol=0.2) and np.hypot(*away) > 4


def test_a_block_is_on_the_picture_from_when_it_is_put_down() -> None:
    """Its top has one colour, lighter than its sides; beside it the picture stays as it was."""
    sim = played("easy")
    stop = max((s for s in sim.truth.stops if s.piece.z_mm > 5), key=lambda s: s.piece.z_mm)
    before, after = (sim.still(n).astype(float) for n in (stop.down - 1, stop.down))
    top = faces(stop.piece)[0][-1]
    middle, side = sim.truth.camera.project([top.mean(axis=0), (*top.mean(axis=0)[:2], stop.piece.z_mm)])
    x, y = middle.round().astype(int)
    face = after[y - 3:y + 4, x - 3:x + 4]
    assert face.std(axis=(0, 1)).max() < 6
    changed = np.argwhere(np.abs(after - before).max(axis=2) > 24)[:, ::-1]
    assert len(changed) > 20
    apart = np.hypot(*(changed - middle).T)
    assert apart.max() < 60


@pytest.mark.parametrize("path", GAMES, ids=lambda p: p.name)
def test_no_follower_stands_where_a_pile_is_begun(path: Path) -> None:
    """Bodies do not overlap: half a block's width and half a follower's."""
    sim = Simulator(load(path), 1, Options(level="normal", fps=2, mishaps="none"))  # nothing moves afterwards
    for stop in sim.truth.stops:
        if stop.piece.block_mm is None:
            continue
        for figure in sim.truth.figures:
            below = figure.standing.feature in sim.script.tops
            if figure.standing.at == stop.at and not below and (figure.gone is None or figure.gone > stop.down):
                assert math.dist((figure.piece.x_mm, figure.piece.y_mm), (stop.piece.x_mm, stop.piece.y_mm)) > 16


def test_a_follower_closes_a_pile_from_its_top() -> None:
    path = next(p for p in GAMES if p.name.startswith("tower-000"))
    script = script_of(load(path))
    turn = next(t for t in script.turns if t.figure is not None and t.figure.feature in script.tops)
    sim = Simulator(load(path), 2, Options(level="normal", turns=turn.index + 1, fps=2))
    guard = next(f for f in sim.truth.figures if f.standing == turn.figure)
    below = blocks(sim)[guard.standing.at][-1]
    assert guard.piece.z_mm == pytest.approx(below.z_mm + below.block_mm[1])  # type: ignore[index]
    assert (guard.piece.x_mm, guard.piece.y_mm) == pytest.approx((below.x_mm, below.y_mm))
    head = max(faces(guard.piece)[0][0], key=lambda p: p[2])
    x, y = sim.truth.camera.project([head - (0, 0, 3)])[0].round().astype(int)
    without, there = (sim.still(n)[y - 1:y + 2, x - 1:x + 2].astype(float).mean(axis=(0, 1))
                      for n in (guard.down - 1, guard.down))
    assert np.abs(there - without).max() > 30


def test_the_player_who_takes_a_follower_carries_it_away_at_once() -> None:
    sim = Simulator(load(GAME), 1, Options(level="life", turns=TURNS, fps=2, mishaps="late,forgotten"))
    game = read(load(GAME))
    taken = Counter()  # type: ignore[var-annotated]
    for n, turn in enumerate(game.turns[:TURNS]):
        for event in turn.events:
            if isinstance(event, Captured):
                taken[n, event.player, event.owner, event.at] += 1
    assert taken
    seen = Counter()  # type: ignore[var-annotated]
    for visit in sim.truth.timeline.visits:
        for act in visit.acts:
            if act.kind == "home" and act.piece is not None:
                figure = sim.truth.figures[act.piece].standing
                seen[act.turn, visit.player, figure.player, figure.at] += 1
    assert all(seen[key] >= count for key, count in taken.items())


def test_prisoners_lie_beside_their_holder_until_they_are_free() -> None:
    path = next(p for p in GAMES if p.name.startswith("tower-005"))
    sim = Simulator(load(path), 3, Options(level="normal", turns=50, fps=2))
    turns, colours = sim.script.turns, sim.script.colours
    freed = [n for n, t in enumerate(turns[1:], 1) if any(
        Counter(before) - Counter(now) for before, now in zip(turns[n - 1].held, t.held, strict=True))]
    assert freed
    table, supply, _ = sim.set_table()
    for visit in sim.truth.timeline.visits:
        supply.take(visit)
        for act in visit.acts:
            sim.carry_out(act, table)
        supply.give_back(visit)
        turn = visit.acts[-1].turn
        before = turns[turn - 1].held if turn else ((),) * len(colours)
        lie = Counter(p.colour for n, p in table.pieces.items() if n <= -400_000)
        least = Counter(colours[o] for held in before for o, _ in held)
        least.subtract(colours[o] for _, o, _ in turns[turn].freed)
        assert +least <= lie <= +least + Counter(colours[s.player] for s in turns[turn].taken)
        in_hand = Counter(p.colour for n, p in table.pieces.items() if -100 * len(colours) <= n < 0)
        assert sum(supply.lie(), Counter()) == lie + in_hand
