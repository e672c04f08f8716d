"""Invariants of every game, tested on random legal ones."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from flood import Flood
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import random_game
from spoiling import spoilt

from scoring.engine import apply, fold, new_game, states, step
from scoring.errors import ScoringError
from scoring.events import (
    Event,
    GameEnded,
    StartTile,
    TilePlaced,
    TurnEnded,
    from_json,
    notation,
    parse_event,
    to_json,
)
from scoring.log import Amended, Inserted, LogEntry, Retracted, effective, entry_from_json, entry_to_json, state_of
from scoring.notation import FigureRef
from scoring.report import play
from scoring.state import Draft, GameState, supplies
from scoring.tiles import turn, where_of
from scoring.transcript import Game, read, turns_of, write

BOXES = ("base", "river", "inns", "traders", "dragon", "tower")
SEEDS = st.integers(0, 10**6)
few = settings(max_examples=25, deadline=None)
some = settings(max_examples=12, deadline=None)


def picture(state: GameState) -> object:
    """What a state says, without the running numbers inside."""
    return (state.scores, state.supply, state.figures, state.tiles, state.issues, state.turn, state.player,
            sorted((f.kind, tuple(sorted(f.places)), f.open) for f in state.features.values()))


@given(SEEDS)
@few
def test_fold_equals_flooding_from_scratch(seed: int) -> None:
    """R-FEAT-01, R-FEAT-02, R-CITY-02, R-ROAD-05, R-SCORE-01, R-TURN-07, R-DEPLOY-05, R-DEPLOY-07, R-END-01, R-FARM-01,
    R-FARM-04, R-FARM-05, R-FARM-06."""
    setup, events = random_game(seed, tiles=50)
    flood = Flood(len(setup.players), ("base.D", 0))
    state = new_game(setup)
    for event in (*events, GameEnded()):
        state = step(state, event)
        flood.follow(event, setup.rules)
        if isinstance(event, TurnEnded):
            assert list(state.scores) == flood.scores
            assert sorted((f.player, (*f.at, f.segment)) for f in state.figures) == sorted(flood.figures)
    flood.end_game(setup.rules)
    assert list(state.scores) == flood.scores
    assert not state.issues


@given(SEEDS)
@some
def test_steps_fold_and_views_agree(seed: int) -> None:
    setup, events = random_game(seed, *BOXES, tiles=30)
    *_, last = states(setup, events)
    assert last == fold(setup, events)


@given(SEEDS)
@some
def test_a_step_changes_nothing_behind_it(seed: int) -> None:
    """States are immutable values: later events do not change them."""
    setup, events = random_game(seed, *BOXES, tiles=15)
    seen = []
    state = new_game(setup)
    for event in events:
        seen.append((state, repr(picture(state))))
        state = step(state, event)
    for old, said in seen:
        assert repr(picture(old)) == said


def turned(event: Event, quarter: int) -> Event:
    """The event as seen by somebody who sits elsewhere round the table."""

    def square(at: tuple[int, int]) -> tuple[int, int]:
        for _ in range(quarter):
            at = -at[1], at[0]
        return at

    changes: dict[str, object] = {}
    if hasattr(event, "at"):
        changes["at"] = square(event.at)
    if hasattr(event, "rot"):
        changes["rot"] = (event.rot + quarter) % 4
    if hasattr(event, "path"):
        changes["path"] = tuple(square(s) for s in event.path)
    if hasattr(event, "where"):
        changes["where"] = where_of(turn(a, quarter) for a in event.where.split())
    return replace(event, **changes) if changes else event  # type: ignore[type-var]


@given(SEEDS, st.integers(1, 3))
@some
def test_turning_the_table_changes_no_score(seed: int, quarter: int) -> None:
    setup, events = random_game(seed, *BOXES, tiles=30)
    start = setup.start or StartTile(tile="river.01")
    other = replace(setup, start=replace(start, rot=quarter))
    events.append(GameEnded())
    before, after = fold(setup, events), fold(other, [turned(e, quarter) for e in events])
    assert (before.scores, before.supply) == (after.scores, after.supply)
    assert [(e.points, e.reason, e.items) for e in before.score_events if e.turn < before.turn] == \
        [(e.points, e.reason, e.items) for e in after.score_events if e.turn < after.turn]
    assert after.issues == before.issues == ()


@given(SEEDS, st.integers(-20, 20), st.integers(-20, 20))
@some
def test_moving_the_table_changes_no_score(seed: int, dx: int, dy: int) -> None:
    setup, events = random_game(seed, *BOXES, tiles=30)

    def moved(event: Event) -> Event:
        changes: dict[str, object] = {}
        if hasattr(event, "at"):
            changes["at"] = (event.at[0] + dx, event.at[1] + dy)
        if hasattr(event, "path"):
            changes["path"] = tuple((x + dx, y + dy) for x, y in event.path)
        return replace(event, **changes) if changes else event  # type: ignore[type-var]

    other = replace(setup, start=StartTile(tile="river.01", at=(dx, dy)))
    before, after = fold(setup, [*events, GameEnded()]), fold(other, [moved(e) for e in (*events, GameEnded())])
    assert (before.scores, before.supply, before.issues) == (after.scores, after.supply, after.issues)


@given(SEEDS, st.integers(1, 5))
@some
def test_renaming_the_players_only_renames_the_points(seed: int, shift: int) -> None:
    """The same game by players who sit one or more seats further: the first turn is then another player's."""
    setup, events = random_game(seed, *BOXES, tiles=30)
    count = len(setup.players)
    shift %= count

    def renamed(event: Event) -> Event:
        changes: dict[str, object] = {k: (getattr(event, k) + shift) % count
                                      for k in ("player", "owner", "jailer") if hasattr(event, k)}
        if isinstance(getattr(event, "beside", None), FigureRef):
            changes["beside"] = replace(event.beside, owner=(event.beside.owner + shift) % count)  # type: ignore
        return replace(event, **changes) if changes else event  # type: ignore[type-var]

    before = fold(setup, [*events, GameEnded()])
    d = Draft(new_game(setup))
    d.player = shift
    for event in (*events, GameEnded()):
        apply(d, renamed(event))
    assert tuple(d.scores[(p + shift) % count] for p in range(count)) == before.scores
    assert tuple(supplies(d)[(p + shift) % count] for p in range(count)) == before.supply


@given(SEEDS)
@some
def test_figures_are_conserved(seed: int) -> None:
    """R-SUPPLY-01: in hand, standing and held elsewhere add up, and nobody has fewer than none."""
    setup, events = random_game(seed, *BOXES, "wheel", tiles=40)
    for state in states(setup, events):
        off = list(state.box.off_board(state))
        for player, hand in enumerate(state.supply):
            for piece, count in hand.items():
                standing = sum(f.player == player and f.figure == piece for f in state.figures)
                held = sum(n for p, name, n in off if (p, name) == (player, piece))
                assert count + standing + held == state.box.counts[piece]
                assert count >= 0
        on_features = [i for f in state.features.values() for i in f.figures]
        assert len(on_features) == len(set(on_features)) <= len(state.standing)


@given(SEEDS, st.data())
@some
def test_retracted_is_never_happened(seed: int, data: st.DataObject) -> None:
    setup, events = random_game(seed, *BOXES, tiles=15)
    gone = data.draw(st.integers(1, len(events)))
    log = [LogEntry(seq=n, body=e) for n, e in enumerate(events, 1)]
    retracted = [*log, LogEntry(seq=len(log) + 1, body=Retracted(seq=gone))]
    without = events[:gone - 1] + events[gone:]
    assert [e for _, e in effective(retracted)] == without
    assert state_of(setup, retracted) == fold(setup, without)
    again = [*retracted, LogEntry(seq=len(log) + 2, body=Retracted(seq=len(log) + 1))]
    assert state_of(setup, again) == fold(setup, events)
    put_back = [*retracted, LogEntry(seq=len(log) + 2, body=Inserted(after=gone, body=events[gone - 1]))]
    assert state_of(setup, put_back) == fold(setup, events)
    assert [entry_from_json(json.loads(json.dumps(entry_to_json(e)))) for e in put_back] == put_back


@given(SEEDS, st.data())
@some
def test_amended_is_said_differently(seed: int, data: st.DataObject) -> None:
    """A correction in the middle leaves everything after it in the log; what no longer fits becomes an issue."""
    setup, events = random_game(seed, tiles=15)
    n = data.draw(st.sampled_from([i for i, e in enumerate(events) if isinstance(e, TilePlaced)]))
    other = replace(events[n], rot=(events[n].rot + 1) % 4)  # type: ignore[type-var]
    log = [LogEntry(seq=i, body=e) for i, e in enumerate(events, 1)]
    log.append(LogEntry(seq=len(log) + 1, body=Amended(seq=n + 1, body=other)))
    assert state_of(setup, log) == fold(setup, [*events[:n], other, *events[n + 1:]])
    log.append(LogEntry(seq=len(log) + 1, body=Amended(seq=len(log), body=events[n])))
    assert state_of(setup, log) == fold(setup, events)


@given(SEEDS)
@some
def test_notation_and_transcripts_round_trip(seed: int) -> None:
    setup, events = random_game(seed, *BOXES, "wheel", tiles=25)
    for event in events:
        assert parse_event(notation(event)) == event
        assert from_json(json.loads(json.dumps(to_json(event)))) == event
    game = Game(setup=replace(setup, start=new_game(setup).box.start()), turns=turns_of(setup, tuple(events)))
    again = read(json.loads(json.dumps(write(game))))
    assert again == game
    assert play(again)[0].scores == fold(setup, [*events, GameEnded()]).scores


@given(SEEDS, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_whatever_is_recorded_is_scored(seed: int, rng: random.Random) -> None:
    """A log with events dropped, doubled, shuffled and changed is played without an exception but the declared ones,
    and figures are conserved."""
    setup, events = random_game(seed, *BOXES, "wheel", tiles=12)
    for _ in range(6):
        broken = list(events)
        for _ in range(rng.randint(1, 6)):
            n = rng.randrange(len(broken))
            what = rng.randrange(5)
            if what == 0:
                del broken[n:n + 2]
                broken = broken or list(events)
            elif what == 1:
                broken.insert(rng.randrange(len(broken)), broken[n])
            elif what == 2:
                m = rng.randrange(len(broken))
                broken[n], broken[m] = broken[m], broken[n]
            else:
                broken[n] = spoilt(broken[n], rng)
        d = Draft(new_game(setup))
        for event in (*broken, GameEnded(), GameEnded()):
            try:
                apply(d, event)
            except ScoringError:
                continue
        state = d.freeze()
        assert state.over
        assert sum(n for e in state.score_events for _, n in e.points) == sum(state.scores)
        for player, hand in enumerate(state.supply):
            for piece, count in hand.items():
                off = sum(n for p, name, n in state.box.off_board(state) if (p, name) == (player, piece))
                assert count + off + sum((f.player, f.figure) == (player, piece) for f in state.figures) \
                    == state.box.counts[piece]
