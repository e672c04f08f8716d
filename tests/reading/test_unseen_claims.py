"""A claim that nobody saw: whether one is possible depends on how closely its tile was looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from looks_replayed import Book
from tables import START, TWO, look

from reading.claims import CLAIMS, UnseenClaims
from reading.game import GameReader
from reading.layings import Steps
from reading.limits import LIMITS
from reading.record import look_from_json, look_to_json
from scoring.log import LogEntry, Settled
from scoring.tiles import Square
from vision.looks import TableLook, probability

V = ("base.V", 1), ("base.V", 3)
CAP = (0, -1), ("base.E", 2)  # completes the start tile's city: four points to whoever claims it
LAYING_S = 1.5


@dataclass
class Film:
    """Looks of a tracker that measures what moves: each at the squares that were touched."""

    touched: float = LAYING_S  # of a tile that is being laid
    measures: bool = True
    before: int = CLAIMS.least_layings  # tiles
    gaps_s: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        self.reader, self.book, self.t_s = GameReader(TWO), Book(), 1.0
        self.tiles, self.doubts = dict(START), dict[Square, dict[tuple[str, int], float]]()
        self.n = 0
        self.glance({at: 0.0 for at in [(0, 0), CAP[0], *((n, 0) for n in range(1, 9))]})
        for _ in range(self.before):
            self.passes()

    def glance(self, touched: dict[Square, float], hidden: tuple[Square, ...] = ()) -> None:
        """A look at these squares, after something moved over each of them for so long."""
        seen = look(self.t_s, self.tiles, hidden=hidden, whole=False, doubts=self.doubts).squares
        bare = look(self.t_s, {at: START[0, 0] for at in touched}).squares
        squares = {at: replace(seen[at] if at in seen else replace(bare[at], there=-5.0),
                               touched_s=s if self.measures else math.nan) for at, s in touched.items()}
        seen_now = TableLook(frame=round(self.t_s * 4), t_s=self.t_s, squares=squares, gaps_s=self.gaps_s)
        self.gaps_s = ()
        told = self.reader.look(seen_now, self.book.entries)
        for made in told.decisions:
            self.book.commit(made)

    def lays(self, at: Square, reading: tuple[str, int], *, over: dict[Square, float] | None = None) -> None:
        """The next player lays a tile, with a hand that moves over other squares too."""
        self.tiles[at] = reading
        self.t_s += 6.0
        self.glance({at: self.touched, **(over or {})})
        self.t_s += 1.25
        self.glance({at: 0.0, **{at: 0.0 for at in over or ()}})

    def passes(self, over: dict[Square, float] | None = None) -> None:
        """The next player lays a road at the end of the road, which completes nothing."""
        self.n += 1
        self.lays((self.n, 0), ("base.U", 0), over=over)

    def waits(self) -> None:
        """Nothing happens for some seconds."""
        self.t_s += LIMITS.notice_s
        self.glance({})

    def logged(self, at: Square) -> int:
        """The entry of the tile on a square; 0 if there is none."""
        return next((e.seq for e in self.book.entries if getattr(e.body, "at", None) == at), 0)

    @property
    def nobody(self) -> LogEntry | None:
        """What the log has about the newest claim."""
        return next((e for e in reversed(self.book.entries) if isinstance(e.body, Settled)), None)


def test_nobody_claimed_a_tile_that_nobody_touched() -> None:
    film = Film()
    film.lays(*CAP)
    film.passes()
    said = film.nobody
    assert said is not None and not said.asked and said.confidence > probability(LIMITS.sure)
    assert said.body == Settled(seq=film.logged(CAP[0]), code="claim")
    assert said.seq < film.logged((film.n, 0)), "it is said before the next tile is logged, so that nobody is asked"
    film.waits()
    film.passes()
    assert film.nobody is said, "it is said once"


def test_the_hand_that_lays_the_next_tile_is_not_the_claimant_s() -> None:
    """However long it is there: it came after the turn."""
    film = Film()
    film.lays(*CAP)
    film.touched = 4.0
    film.passes(over={CAP[0]: 3.9})
    film.waits()
    said = film.nobody
    assert said is not None and not said.asked and said.confidence > probability(LIMITS.sure)


def test_a_verdict_precedes_the_next_tile_though_both_were_found_at_once() -> None:
    film = Film()
    film.tiles[CAP[0]] = CAP[1]
    film.t_s += 6.0
    film.doubts = {CAP[0]: {CAP[1]: 0.0, ("base.D", 2): -0.3}}
    film.glance({CAP[0]: film.touched})
    film.t_s += 2.0
    film.glance({CAP[0]: 0.0})
    assert not film.logged(CAP[0])
    film.doubts = {}
    film.tiles[film.n + 1, 0] = "base.U", 0
    film.t_s += 6.0
    film.glance({(film.n + 1, 0): film.touched, CAP[0]: 0.0})
    assert film.logged(CAP[0]) and not film.logged((film.n + 1, 0))
    film.waits()
    assert film.nobody is not None and film.nobody.seq < film.logged((film.n + 1, 0))


def test_a_hand_that_only_passes_changes_little() -> None:
    film = Film()
    film.lays(*CAP)
    film.passes(over={CAP[0]: 1.0})
    film.waits()
    said = film.nobody
    assert said is not None and not said.asked


OPEN = pytest.approx(probability(-CLAIMS.possible), abs=1e-4)  # what is known without looks


@pytest.mark.parametrize("over_s", [5.0, 20.0])
def test_it_is_open_where_hands_were_over_the_tile_for_long(over_s: float) -> None:
    """However long: that a hand was there is no evidence that it put somebody down."""
    film = Film()
    film.lays(*CAP)
    film.t_s += over_s
    film.passes(over={CAP[0]: over_s})
    film.waits()
    said = film.nobody
    assert said is not None and said.asked and said.confidence == OPEN


def test_it_is_open_where_the_tile_was_hidden() -> None:
    film = Film()
    film.lays(*CAP)
    film.t_s += 2.0
    film.glance({CAP[0]: 0.5}, hidden=(CAP[0],))
    film.passes()
    film.glance({CAP[0]: 0.5})
    film.waits()
    said = film.nobody
    assert said is not None and said.asked


@pytest.mark.parametrize(("gap_s", "asked"), [((1.0, 5.0), True), ((-9.0, -5.0), False), ((4.4, 9.0), False)])
def test_it_is_open_where_no_frames_came_during_the_turn(gap_s: tuple[float, float], asked: bool) -> None:
    """Before and after the turn they do not matter."""
    film = Film()
    film.lays(*CAP)
    film.gaps_s = ((film.t_s + gap_s[0], film.t_s + gap_s[1]),)
    film.passes()
    film.waits()
    said = film.nobody
    assert said is not None and said.asked == asked


@pytest.mark.parametrize(("touched", "asked"), [(LAYING_S, False), (0.25, True), (1.0, True)])
def test_the_first_tile_is_judged_by_how_long_laying_takes_elsewhere(touched: float, asked: bool) -> None:
    film = Film(touched=touched, before=0)
    film.lays(*CAP)
    film.passes()
    film.waits()
    said = film.nobody
    assert said is not None and said.asked == asked


def test_it_is_open_where_nobody_was_seen_to_lay_tiles() -> None:
    """A picture now and then: whatever happened between two of them."""
    film = Film(touched=0.25)
    film.lays(*CAP)
    film.passes(over={CAP[0]: 0.25})
    film.waits()
    said = film.nobody
    assert said is not None and said.asked and said.confidence == OPEN


def test_nobody_is_asked_before_the_hand_is_gone() -> None:
    film = Film()
    film.lays(*CAP)
    film.passes()
    first = film.nobody
    film.t_s += 0.5
    film.glance({CAP[0]: 8.0})
    said = film.nobody
    assert first is not None and not first.asked
    assert said is not None and said.asked, "the look after the hand says that it had been there before the next tile"


def test_what_was_not_measured_is_not_judged() -> None:
    film = Film(measures=False)
    film.lays(*CAP)
    film.passes()
    assert film.nobody is None


def test_what_people_said_stays() -> None:
    film = Film()
    film.lays(*CAP)
    film.book.say(Settled(seq=film.logged(CAP[0]), code="claim"))
    count = len(film.book.entries)
    film.passes(over={CAP[0]: 5.0})
    film.waits()
    assert not any(isinstance(e.body, Settled) for e in film.book.entries[count:])


@pytest.mark.parametrize("touched", [0.0, 1.25, math.nan])
def test_how_long_a_square_was_touched_is_recorded(touched: float) -> None:
    seen = look(1.0, START)
    seen = replace(seen, squares={at: replace(s, touched_s=touched) for at, s in seen.squares.items()})
    again = look_from_json(look_to_json(seen)).squares[0, 0].touched_s
    assert again == touched or again != again and touched != touched


def test_old_tiles_are_forgotten() -> None:
    claims = UnseenClaims(Steps())
    film = Film()
    film.reader._claims = claims
    for n in range(9, 9 + 30):
        film.glance({(n, 0): 0.0})
        film.passes()
    assert len(claims._glances) <= 5 * LIMITS.late_turns
