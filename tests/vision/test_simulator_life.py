"""Simulated tables as hard as real ones: boards pushed by tiles' widths, jumping exposure, arms that stay, slides."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from bastide.table.demo_game import demo_game
from scoring.transcript import write
from vision.simulator import Options, Simulator
from vision.simulator.rates import Mishaps

SIZE = (640, 360)


@cache
def simulator(mishaps: str, seed: int = 3, level: str = "slides", turns: int = 14) -> Simulator:
    return Simulator(write(_game()), seed, Options(level=level, size=SIZE, fps=2, turns=turns, tail_s=1,
                                                   mishaps=mishaps))


def pictures(sim: Simulator, count: int) -> list[npt.NDArray[np.uint8]]:
    """The first pictures of a slide show: the bare start, then one a turn."""
    return [f.bgr for f in itertools.islice(sim, 0, 10 * count, 10)]


@cache
def _game():  # type: ignore[no-untyped-def]
    return demo_game(3, turns=20)


@pytest.mark.parametrize("seed", range(6))
def test_a_board_that_is_pushed_about_stays_in_view_with_its_figures(seed: int) -> None:
    sim = simulator("shove", seed)
    truth = sim.truth
    for turn in truth.turns:
        lying = truth.frame(turn.end).tiles
        corners = np.vstack([truth.corners_px(at, turn.end) for at in lying])
        assert (corners >= 0).all() and (corners <= SIZE).all()
    for n, figure in enumerate(truth.figures):
        home = next((a for v in truth.timeline.visits for a in v.acts if a.kind == "home" and a.piece == n), None)
        if home is not None:  # the hand goes to where it stands by then
            lies = truth.pose(figure.standing.at, home.turn)
            assert np.hypot(home.at_mm[0] - lies.x_mm, home.at_mm[1] - lies.y_mm) < 33


def test_some_boards_are_pushed_by_more_than_a_tile() -> None:
    far = [np.hypot(*np.subtract((b.x_mm, b.y_mm), (a.x_mm, a.y_mm))) for seed in range(6)
           for truth in [simulator("shove", seed).truth] for push in truth.plan.pushes
           for a, b in [(truth.pose((0, 0), push.turn - 1), truth.pose((0, 0), push.turn))]]
    assert len(far) > 8 and max(far) > 90 and np.median(far) > 45


def test_an_arm_or_a_knee_stays_for_some_turns_and_goes() -> None:
    sim = next(s for seed in range(20) if (s := simulator("rest", seed)).truth.plan.rests)
    rests = sim.truth.plan.rests
    first, gone = rests[0].turn, rests[0].until
    assert first < gone <= 12 and all(a.until < b.turn for a, b in itertools.pairwise(rests))
    shown = pictures(sim, gone + 2)  # picture n + 1 is that of turn n
    x, y = (int(v) for v in sim.truth.camera.project([(*rests[0].at_mm, 12.0)])[0])
    apart = [np.abs(a.astype(int) - b)[max(0, y - 8):y + 9, max(0, x - 8):x + 9].mean()
             for a, b in itertools.pairwise(shown[first:gone + 2])]
    assert apart[0] > 20 and apart[-1] > 20 and max(apart[1:-1], default=0) < 15


def test_other_hands_are_in_view_while_somebody_reaches_in_and_only_then() -> None:
    timeline = simulator("crowd", level="normal").truth.timeline
    assert len(timeline.others) > len(timeline.visits) / 3
    for other in timeline.others:
        visit = next(v for v in timeline.visits if v.first == other.first)
        assert other.last == visit.last and other.player != visit.player


def test_exposure_jumps_and_a_lamp_is_switched_on() -> None:
    sim = simulator("jump")
    jumps = [lamp for lamp in sim.truth.plan.lamps]
    assert len(jumps) > 2 and all(a.until == b.turn for a, b in itertools.pairwise(jumps)) and jumps[-1].until is None
    frames = [np.log(image.mean(axis=(0, 1))) for image in pictures(sim, 14)]
    apart = [np.abs(b - a).max() for a, b in itertools.pairwise(frames)]
    assert max(apart[j.turn] for j in jumps if j.turn < 13) > 0.1
    assert max(a for n, a in enumerate(apart) if n not in {j.turn for j in jumps}) < 0.06
    lamps = next(p for seed in range(9) if (p := simulator("switch", seed).truth.plan.lamps))
    assert lamps[0].blot_px is not None and min(lamps[0].gain) > 1 and lamps[0].until is None


def test_figures_lie_close_to_the_board_and_no_tile_comes_to_lie_on_them() -> None:
    sim = simulator("beside,shove", 2)
    truth = sim.truth
    assert sim.props is not None and len(sim.props.beside) >= 3
    for piece in sim.props.beside:
        apart = [np.hypot(piece.x_mm - p.x_mm, piece.y_mm - p.y_mm) for at, tile in truth.tiles.items()
                 for turn in range(-1 if tile.turn is None else tile.turn, 14) for p in [truth.pose(at, turn)]]
        assert 30 < min(apart) < 60


def test_slides_are_one_picture_a_turn_with_hard_cuts() -> None:
    sim = simulator("level", 4, level="slides", turns=6)
    frames = list(sim)
    assert len(frames) == 7 * 10 and [f.id for f in frames] == list(range(70))
    cuts = [n for n in range(1, 70) if frames[n].bgr is not frames[n - 1].bgr]
    assert cuts == list(range(10, 70, 10))
    assert [len(sim.truth.frame(n).tiles) for n in sim.slides] == [1, 2, 3, 4, 5, 6, 7]


def test_marks_change_the_bare_table_and_the_other_levels_have_none_of_it() -> None:
    plain, marked = (pictures(simulator(m), 1)[0].astype(int) for m in ("none", "marks"))
    assert (np.abs(plain - marked).max(axis=2) > 25).mean() > 0.001
    new = ("shove", "jump", "switch", "rest", "crowd", "beside", "marks")
    for level in ("easy", "normal", "hard"):
        rates: Mishaps = Options(level=level, mishaps="level").goes_wrong
        assert not any(getattr(rates, name) for name in new)
