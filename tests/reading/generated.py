"""Looks at games that were never filmed: what a camera's reader says of a table where people are people.

The game is a list of true events. Its table is simulated in seconds: tiles come, are turned or taken up again, figures
come late, go home late or are forgotten, arms hide squares. Errors of a reader are mostly the same at every look (a
drawing that is like another one, a roof that is like a follower): they are drawn once a tile, with some noise a look.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reading.shapes import shape
from scoring.engine import new_game, step
from scoring.events import Event, FigurePlaced, Setup, TilePlaced, TurnEnded
from scoring.geometry import spot_of
from scoring.state import GameState
from scoring.tiles import EDGES, Square, catalogue, neighbour
from vision.looks import FigureLook, SquareLook, TableLook


@dataclass(frozen=True, kw_only=True)
class Life:
    """How hard a table is: probabilities by turn, tile or look."""

    every_s: float = 2.0  # between looks
    turn_s: tuple[float, float] = (8.0, 25.0)
    whole_s: float = 30.0  # between looks at the whole board
    late: float = 0.06  # a tile that stays hidden for up to four turns
    unseen: float = 0.08  # a turn during which nothing is looked at
    ambiguous: float = 0.08  # a tile that is like another kind
    turned: float = 0.05  # a tile that is laid otherwise first
    missed: float = 0.08  # of a figure, by look
    hidden_figure: float = 0.03  # a figure that is not seen for some turns
    wrong_posture: float = 0.04
    unclear_paint: float = 0.03
    false_figure: float = 0.03  # by tile
    forgotten: float = 0.15  # a scored figure that stays for up to three turns
    late_figure: float = 0.03  # a figure put down after the next tile
    arms: float = 0.15  # by look: some squares are hidden


@dataclass
class _Lying:
    """A tile on the table, and how the reader errs about it."""

    tile: str
    rot: int
    seen_from_s: float
    says: dict[tuple[str, int], float]
    false: FigureLook | None = None
    first: int | None = None  # the rotation in which it lies at first
    until_s: float = -math.inf  # and how long


@dataclass
class _Standing:
    """A figure on the table, and how the reader errs about it."""

    at: Square
    player: int
    piece: str
    foot: tuple[float, float]
    lying: float
    colours: dict[str, float]
    from_s: float
    seen_from_s: float
    gone_s: float = math.inf


@dataclass
class Film:
    """The table in the course of time."""

    tiles: dict[Square, _Lying] = field(default_factory=dict)
    laid_s: dict[Square, float] = field(default_factory=dict)
    figures: list[_Standing] = field(default_factory=list)
    blind: list[tuple[float, float]] = field(default_factory=list)
    end_s: float = 0.0
    shown: set[Square] = field(default_factory=set)  # squares whose figure was in two looks at least
    once: set[Square] = field(default_factory=set)


def looks_of(setup: Setup, events: Iterable[Event], seed: int, life: Life | None = None) -> list[TableLook]:
    """Looks at a game, the same for the same seed."""
    return filmed(setup, events, seed, life)[0]


def filmed(setup: Setup, events: Iterable[Event], seed: int, life: Life | None = None,
           ) -> tuple[list[TableLook], set[Square]]:
    """Looks at a game, and the squares whose figure could be seen: in two looks at least."""
    life = life or Life()
    rng = random.Random(seed)
    film = _film(setup, list(events), rng, life)
    out: list[TableLook] = []
    t, whole_s, n = 1.0, -math.inf, 0
    while t < film.end_s:
        n += 1
        if not any(a <= t < b for a, b in film.blind):
            whole = t - whole_s >= life.whole_s
            whole_s = t if whole else whole_s
            out.append(_look(film, t, n, whole, setup, rng, life))
        t += life.every_s
    return out, film.shown


def _film(setup: Setup, events: list[Event], rng: random.Random, life: Life) -> Film:
    film = Film()
    state = new_game(setup)
    kinds = tuple(state.box.contents)
    for at, placed in state.tiles.items():
        film.tiles[at] = _lying(placed.tile, placed.rot, 0.0, kinds, rng, life, setup)
        film.tiles[at].false = None
        film.laid_s[at] = 0.0
    now = 5.0
    standing: dict[tuple[Square, int], _Standing] = {}
    for n, event in enumerate(events):
        if isinstance(event, TilePlaced):
            state = step(state, TurnEnded()) if state.turn_open else state
            now += rng.uniform(*life.turn_s)
            if rng.random() < life.unseen:
                film.blind.append((now - 2.0, now + rng.uniform(*life.turn_s)))
            state = step(state, event)
            late = rng.uniform(1, 4) * life.turn_s[1] if rng.random() < life.late and n < len(events) - 10 else 0.0
            film.tiles[event.at] = lying = _lying(event.tile, event.rot, now + late, kinds, rng, life, setup)
            film.laid_s[event.at] = now
            if rng.random() < life.turned:
                lying.first, lying.until_s = (event.rot + rng.randint(1, 3)) % 4, now + rng.uniform(2, 6)
            _home(film, standing, state, now, rng, life)
        else:
            state = step(state, event)
        if isinstance(event, FigurePlaced):
            came = now + (rng.uniform(2, 5) if rng.random() >= life.late_figure else life.turn_s[1] + 5)
            f = _standing(event, state, came, setup, rng, life)
            film.figures.append(f)
            standing[event.at, event.player] = f
            _home(film, standing, state, now, rng, life)
    film.end_s = now + 30.0
    return film


def _home(film: Film, standing: dict[tuple[Square, int], _Standing], state: GameState, now: float, rng: random.Random,
          life: Life) -> None:
    """What the turn completes goes home, soon or later."""
    closed = step(state, TurnEnded())
    stay = {(f.at, f.player) for f in closed.standing.values()}
    for key in list(standing):
        if key not in stay:
            f = standing.pop(key)
            wait = rng.uniform(1, 3) * life.turn_s[1] if rng.random() < life.forgotten else rng.uniform(5, 9)
            f.gone_s = max(now, f.from_s) + wait


def _lying(tile: str, rot: int, seen_from_s: float, kinds: tuple[str, ...], rng: random.Random, life: Life,
           setup: Setup) -> _Lying:
    edges = _edges(tile, rot)
    says: dict[tuple[str, int], float] = {(tile, rot): 0.0}
    alike = [(k, r) for k in kinds for r in range(4) if _edges(k, r) == edges and shape(k, r) != shape(tile, rot)]
    rng.shuffle(alike)
    for reading in alike[:3]:
        says[reading] = -rng.uniform(4.0, 10.0)
    if alike and rng.random() < life.ambiguous:
        says[alike[0]] = rng.uniform(-2.5, 1.0)
    for _ in range(4):
        says.setdefault((rng.choice(kinds), rng.randrange(4)), -rng.uniform(6.0, 12.0))
    false = None
    if rng.random() < life.false_figure:
        colour = rng.choice(setup.players).colour
        false = FigureLook(foot=(rng.uniform(.1, .9), rng.uniform(.1, .9)), spread=0.06, there=rng.gauss(0.0, 0.8),
                           lying=rng.gauss(0, 1), colours=_paint(colour, setup, rng, 3.0))
    return _Lying(tile=tile, rot=rot, seen_from_s=seen_from_s, says=says, false=false)


def _edges(tile: str, rot: int) -> str:
    edges = catalogue()[tile].edges
    return "".join(edges[(n - rot) % 4] for n in range(4))


def _paint(colour: str, setup: Setup, rng: random.Random, apart: float) -> dict[str, float]:
    return {p.colour: -0.05 if p.colour == colour else -max(0.0, rng.gauss(apart, 1.0)) for p in setup.players}


def _standing(event: FigurePlaced, state: GameState, came: float, setup: Setup, rng: random.Random,
              life: Life) -> _Standing:
    placed = state.tiles[event.at]
    segment = state.box.shape(placed.tile, placed.rot).named[event.feature, event.where]
    x, y = spot_of(catalogue()[placed.tile], segment, placed.rot)
    foot = (x / 100 + rng.gauss(0, 0.04), y / 100 + rng.gauss(0, 0.04))
    side = 1.0 if event.feature == "field" else -1.0
    side = -0.4 * side if rng.random() < life.wrong_posture else side
    unclear = rng.random() < life.unclear_paint
    seen = came + (rng.uniform(0.5, 2.5) * life.turn_s[1] if rng.random() < life.hidden_figure else 0.0)
    return _Standing(at=event.at, player=event.player, piece=event.figure, foot=foot, lying=side * rng.gauss(3.0, 1.0),
                     colours=_paint(setup.players[event.player].colour, setup, rng, 1.0 if unclear else 6.0),
                     from_s=came, seen_from_s=seen)


def _look(film: Film, t: float, frame: int, whole: bool, setup: Setup, rng: random.Random, life: Life) -> TableLook:
    there = [at for at, lying in film.tiles.items() if film.laid_s[at] <= t]
    recent = {at for at in there if t - max(film.laid_s[at], film.tiles[at].seen_from_s) < 25.0}
    moved = {f.at for f in film.figures if abs(t - f.from_s) < 15 or abs(t - f.seen_from_s) < 15 or
             abs(t - f.gone_s) < 12}
    wanted = set(there) if whole else recent | (moved & set(there)) | set(rng.sample(there, min(2, len(there))))
    hidden: set[Square] = set()
    if rng.random() < life.arms and there:
        x, y = rng.choice(there)
        hidden = {(x + dx, y + dy) for dx in (0, 1) for dy in (-1, 0, 1)}
    squares: dict[Square, SquareLook] = {}
    for at in sorted(wanted):
        lying = film.tiles[at]
        if at in hidden or t < lying.seen_from_s:
            squares[at] = SquareLook(there=0.0, seen=0.2)
            continue
        squares[at] = _square(film, at, lying, t, setup, rng, life)
    for at in sorted({n for a in recent for side in EDGES if (n := neighbour(a, side)) not in there}):
        squares[at] = SquareLook(there=rng.gauss(-5.0, 1.0), seen=0.2 if at in hidden else 1.0)
    return TableLook(frame=frame, t_s=t, squares=squares, whole=whole)


def _square(film: Film, at: Square, lying: _Lying, t: float, setup: Setup, rng: random.Random,
            life: Life) -> SquareLook:
    turn = 0 if lying.first is None or t > lying.until_s else lying.first - lying.rot
    says = {(k, (r + turn) % 4): v + rng.gauss(0, 0.8) for (k, r), v in lying.says.items()}
    figures = []
    for f in film.figures:
        if f.at == at and f.seen_from_s <= t < f.gone_s and rng.random() >= life.missed:
            (film.shown if at in film.once else film.once).add(at)
            foot = (f.foot[0] + rng.gauss(0, 0.015), f.foot[1] + rng.gauss(0, 0.015))
            figures.append(FigureLook(foot=foot, spread=0.05, there=rng.gauss(3.5, 1.0),
                                      lying=f.lying + rng.gauss(0, 0.5), colours=f.colours,
                                      pieces=_pieces(f, setup, rng), width=_width(f, setup, rng), width_spread=0.05))
    if lying.false is not None and rng.random() < 0.7:
        figures.append(lying.false)
    return SquareLook(there=rng.gauss(5.0, 1.0), seen=1.0 if not figures else 0.85, tiles=says, rest=-12.0,
                      figures=tuple(figures))


def _width(f: _Standing, setup: Setup, rng: random.Random) -> float:
    """Of the wood in tiles, measured as in a film of another renderer."""
    if setup.expansions == ("base",):
        return 0.0
    usual = {"large": 0.425, "builder": 0.32, "pig": 0.385}.get(f.piece, 0.35) - 0.01 * (f.lying > 0)
    return max(0.1, rng.gauss(usual, 0.014))


def _pieces(f: _Standing, setup: Setup, rng: random.Random) -> Mapping[str, float]:
    if setup.expansions == ("base",):
        return {}
    return {p: 0.0 if p == f.piece else -abs(rng.gauss(3.0, 1.5)) for p in ("follower", "large", "builder", "pig")}
