"""What the table does not show becomes a question with candidates, open until answered."""

from __future__ import annotations

import pytest
from random_games import random_game

from scoring.contributions import Question
from scoring.engine import apply, fold, legal_placements, new_game, questions, step, waiting
from scoring.events import GameEnded, Player, Setup, TileDiscarded, parse_event
from scoring.expansions.tower_state import towers
from scoring.rules import edition, with_options
from scoring.state import Draft, GameState
from scoring.turns import close_turn, open_turn

PLAYERS = tuple(Player(name=n, colour=c) for n, c in (("Anna", "red"), ("Ben", "blue"), ("Cleo", "green")))


def game(*boxes: str, lines: tuple[str, ...] = (), **rules: object) -> GameState:
    setup = Setup(players=PLAYERS, rules=with_options(edition("rgg2006"), rules), expansions=("base", *boxes))
    return fold(setup, [parse_event(line) for line in lines])


def asked(state: GameState, code: str) -> Question:
    (found,) = [q for q in questions(state) if q.code == code]
    return found


def codes(state: GameState) -> set[str]:
    return {q.code for q in questions(state)}


def test_a_claim_nobody_saw() -> None:
    """R-DEPLOY-06, R-TURN-06: only what the tile completed, only if the player could still act and had a follower."""
    closing = "tile 0 base.E 0,-1 2"
    state = game(lines=(closing,))
    assert [(a.feature, a.where) for a in asked(state, "claim").answers] == [("city", "S")]  # type: ignore[attr-defined]
    over = step(state, parse_event("end_turn"))
    assert asked(over, "claim").turn == 0 and asked(over, "claim").lasting
    assert "claim" not in codes(game(lines=(closing, "deploy 0 follower 0,-1 city S")))
    assert "claim" not in codes(game(lines=("tile 0 base.U 1,0 0",))), "nothing is complete"
    claimed = game(lines=("tile 0 base.U 1,0 0", "end_turn", closing))
    assert asked(claimed, "claim").player == 0
    d = Draft(claimed)
    for n in range(7):  # all seven stand somewhere
        apply(d, parse_event(f"deploy 0 follower {n + 5},9 city N"))
    d.actions = 0
    assert "claim" not in {q.code for q in questions(d.freeze())}


def test_a_large_follower_when_no_small_one_is_left() -> None:
    d = Draft(game("inns", lines=("tile 0 base.E 0,-1 2",)))
    for n in range(7):
        apply(d, parse_event(f"deploy 0 follower {n + 5},9 city N"))
    d.actions = 0
    assert [a.figure for a in asked(d.freeze(), "claim").answers] == ["large"]  # type: ignore[attr-defined]


def test_discards_are_those_that_fit_nowhere() -> None:
    """R-DRAW-03."""
    setup, events = random_game(3, "base", tiles=70)
    state = fold(setup, events)
    found = [q for q in questions(state) if q.code == "discard"]
    kinds = {a.tile for q in found for a in q.answers if isinstance(a, TileDiscarded)}
    assert kinds == {k for k, n in state.left.items() if n > 0 and not legal_placements(state, k)}


def test_the_last_tile() -> None:
    state = game(lines=("tile 0 base.E 0,-1 2",))
    assert "last_tile" not in codes(state)
    d = Draft(state)
    d.left = dict.fromkeys(d.left, 0)
    (ended,) = asked(d.freeze(), "last_tile").answers
    assert ended == GameEnded() and "last_tile" not in codes(step(d.freeze(), GameEnded()))


def test_goods_that_somebody_forgot() -> None:
    """R-TRADE-02, R-COMP-06."""
    lines = ("tile 0 traders.01 0,-1 2", "end_turn")
    state = game("traders", lines=lines)
    assert "goods" not in codes(state)
    state = step(state, parse_event("goods 1 wine 2"))
    assert state.ext["traders"].held[1][0] == 2  # type: ignore[attr-defined]
    answers = asked(state, "goods").answers
    assert parse_event("goods 1 wine 3") in answers and parse_event("goods 1 wine 1") in answers
    assert parse_event("goods 0 cloth 1") in answers and parse_event("goods 0 cloth 0") not in answers
    assert [i.code for i in step(state, parse_event("goods 2 wine 8")).issues][-1:] == ["too_many_goods"]


DRAGON = ("tile 0 dragon.01 0,1 0", "end_turn")


def test_the_dragons_path_step_by_step() -> None:
    """R-DRAGON-02, R-DRAGON-03."""
    state = game("dragon", lines=(*DRAGON, "tile 1 dragon.16 1,0 0"))
    first = asked(state, "dragon_path")
    assert (first.player, first.must, first.at) == (1, True, (0, 1))
    state = step(state, first.answers[0])
    assert asked(state, "dragon_path").player == 2, "the next player moves it on"
    left_open = step(state, parse_event("end_turn"))
    assert "dragon_path" in {q.code for q in left_open.asked}


def test_which_knight_the_princess_sends_home() -> None:
    """R-PRINCESS-02."""
    knight = ("tile 0 base.R 0,-1 2", "deploy 0 follower 0,-1 city E.S.W", "end_turn")
    state = game("dragon", lines=(*knight, "tile 1 dragon.20 1,-1 0"))
    found = [q for q in questions(state) if q.code == "princess"]
    assert [q.must for q in found] == [True] and len(found[0].answers) == 1
    may = game("dragon", lines=(*knight, "tile 1 dragon.20 1,-1 0"), princess_removal="may")
    assert [q.must for q in questions(may) if q.code == "princess"] == [False]


def test_by_whom_the_fairy_stands() -> None:
    lines = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "end_turn", "tile 1 base.U 2,0 0", "end_turn",
             "tile 2 base.U 3,0 0", "end_turn", "tile 0 base.U 4,0 0")
    state = game("dragon", lines=(*lines, "fairy 0 1,0"), fairy_mode="follower")
    assert "fairy_beside" not in codes(state), "one follower: inferred"
    d = Draft(game("dragon", lines=lines, fairy_mode="follower"))
    apply(d, parse_event("deploy 0 follower 1,0 field NL.NR.EL.WR"))
    d.actions, d.issues = 0, []
    apply(d, parse_event("fairy 0 1,0"))
    question = asked(d.freeze(), "fairy_beside")
    assert len(question.answers) == 2
    told = step(d.freeze(), question.answers[1])
    assert "fairy_beside" not in codes(told) and not told.issues, "it is clear now"
    unclear = step(d.freeze(), parse_event("end_turn"))
    assert [i.code for i in unclear.issues] == ["fairy_beside"]


TOWER = ("tile 0 tower.02 0,1 0", "deploy 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR", "end_turn",
         "tile 1 base.U 1,0 0", "tower 1 0,1")


def test_whose_prisoner_and_the_ransom() -> None:
    """R-TOWER-04, R-TOWER-12."""
    state = game("tower", lines=TOWER)
    question = asked(state, "capture")
    assert not question.must and question.lasting
    state = step(state, question.answers[0])
    assert "capture" not in codes(state) and towers(state).prisoners == ((1, 0, "follower"),)
    state = step(state, parse_event("end_turn"))
    d = Draft(state)
    d.player, d.scores = 0, [5, 0, 0]
    offer = asked(d.freeze(), "ransom")
    assert offer.offer and offer.player == 0
    paid = step(d.freeze(), offer.answers[0])
    assert paid.scores == (2, 3, 0) and not towers(paid).prisoners and "ransom" not in codes(paid)
    d.scores = [2, 0, 0]
    assert "ransom" not in codes(d.freeze()), "not with fewer than three points"


def test_how_far_the_wheel_turned() -> None:
    """R-WHEEL-02, R-WHEEL-03."""
    setup = Setup(players=PLAYERS, rules=edition("wheel"), expansions=("wheel",))
    state = new_game(setup)
    assert [len(q.answers) for q in questions(state) if q.code == "wheel"] == [3]
    signed = next(k for k in sorted(state.left) if "wheel_icon" in state.box.tile(k).flags)
    (x, y), rot = legal_placements(state, signed)[0]
    laid = step(state, parse_event(f"tile 0 {signed} {x},{y} {rot}"))
    assert asked(laid, "wheel_steps").before and "wheel" not in codes(laid)
    turned = step(step(state, parse_event("wheel 0 2")), parse_event(f"tile 0 {signed} {x},{y} {rot}"))
    assert not {"wheel", "wheel_steps"} & codes(turned)


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_can_be_given_and_asking_changes_nothing(seed: int) -> None:
    """Over whole random games: whatever is asked has candidates, each of which the game takes, and no score hangs on
    a question that nobody answers."""
    boxes = ("wheel",) if seed == 5 else ("base", "inns", "traders", "dragon", "tower")
    setup, events = random_game(seed, *boxes, tiles=25, name="wheel" if seed == 5 else None)
    state = new_game(setup)
    for event in events:
        state = step(state, event)
        before = state.scores
        for question in waiting(state) if seed % 2 else questions(state):
            assert question.answers
            for answer in question.answers[:3]:
                step(state, answer)
        assert state.scores == before
    plain = fold(setup, [*events, GameEnded()])
    assert [q for q in plain.asked if q.code not in ("claim", "capture")] == []


def test_a_replacement_with_a_sign_turns_the_wheel_again() -> None:
    """A-34: the first turn of the wheel is not undone, and it is not the turn of the second sign."""
    state = new_game(Setup(players=PLAYERS, rules=edition("wheel"), expansions=("wheel",)))
    away, signed = [k for k in sorted(state.left) if "wheel_icon" in state.box.tile(k).flags][:2]
    (x, y), rot = legal_placements(state, signed)[0]
    lay = parse_event(f"tile 0 {signed} {x},{y} {rot}")
    drawn = step(step(state, parse_event("wheel 0 1")), parse_event(f"discard 0 {away}"))
    assert "wheel" in codes(drawn), "another tile was drawn: the pig may move again"
    once = step(drawn, lay)
    assert "wheel_steps" in codes(once) and [i.code for i in once.issues] == ["wheel_not_turned"]
    twice = step(step(drawn, parse_event("wheel 0 2")), lay)
    assert "wheel_steps" not in codes(twice) and not twice.issues and shows_pig(twice) == "storm"
    plain = next(k for k in sorted(state.left) if "wheel_icon" not in state.box.tile(k).flags)
    kept = step(step(step(state, parse_event("wheel 0 1")), parse_event(f"discard 0 {plain}")), lay)
    assert "wheel_steps" not in codes(kept), "a tile without a sign asks for nothing"


def shows_pig(state: GameState) -> str:
    return state.box.shows(state)["wheel"]["pig"]


@pytest.mark.parametrize("dragon_left", [True, False])
def test_dragon_tiles_that_lie_aside_give_no_second_part(dragon_left: bool) -> None:
    """A-22, A-42, R-BUILD-05: before the first volcano they cannot be drawn, so the game ends."""
    d = Draft(new_game(Setup(players=PLAYERS, rules=edition("rgg2006"), expansions=("base", "traders", "dragon"))))
    kinds = [k for k in d.left if dragon_left or "dragon" not in d.box.tile(k).flags]
    kept = next(k for k in kinds if ("dragon" in d.box.tile(k).flags) == dragon_left)
    d.left = {k: int(k == kept) for k in d.left}
    open_turn(d, 0, 1)
    d.again, d.laid = True, True
    assert ("last_tile" in codes(d.freeze())) == dragon_left
    close_turn(d)
    assert (d.player, d.part) == ((1, 1) if dragon_left else (0, 2))


def test_the_wheel_of_a_second_part_does_not_belong_to_the_first() -> None:
    """R-BUILD-05, R-WHEEL-03: nobody said that the first part is over; the pig that moves says it."""
    setup = Setup(players=PLAYERS, rules=edition("wheel"), expansions=("wheel", "traders"))
    d = Draft(new_game(setup))
    signed = next(k for k in sorted(d.left) if "wheel_icon" in d.box.tile(k).flags)
    plain = next(k for k in sorted(d.left) if "wheel_icon" not in d.box.tile(k).flags)
    (x, y), rot = legal_placements(d, plain)[0]
    apply(d, parse_event(f"tile 0 {plain} {x},{y} {rot}"))
    d.again = True
    apply(d, parse_event("wheel 0 2"))
    assert (d.player, d.part, d.laid) == (0, 2, False)
    (x, y), rot = legal_placements(d, signed)[0]
    apply(d, parse_event(f"tile 0 {signed} {x},{y} {rot} part=2"))
    assert not d.issues and "wheel_steps" not in codes(d.freeze())
