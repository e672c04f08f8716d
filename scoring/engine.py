"""The game as a fold over events. Illegal moves are not rejected: they are recorded, scored and reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scoring.board import claims, has_neighbour, lay, mismatches
from scoring.box import Box, box_for
from scoring.contributions import BEFORE, IN_TURN, Handler, Problem, Question, View
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, Setup
from scoring.state import Claim, Draft, GameState, Placed, figures_on, weights
from scoring.tiles import EDGES, Square, neighbour
from scoring.turns import advance, close_turn, next_part, open_turn

__all__ = ["figures_on", "fits", "fitting", "fold", "legal_claims", "legal_figures", "legal_placements", "new_game",
           "next_player", "objections", "open_squares", "questions", "states", "step", "tiles_left", "waiting",
           "weights"]

MOST_PLAYERS = 6  # the largest number of figure sets; an edition's `max_players` is only a recommendation


def new_game(setup: Setup) -> GameState:
    """The state before the first turn: start tiles placed, all figures in supply (R-SETUP-01, R-SETUP-02)."""
    if not setup.players:
        raise InvalidNotation("a game needs at least one player")
    if len(setup.players) > MOST_PLAYERS:
        raise InvalidNotation(f"{len(setup.players)} players are too many: there are {MOST_PLAYERS} colours at most")
    box = box_for(setup.expansions, setup.rules, len(setup.players))
    d = Draft(GameState(setup=setup, box=box, scores=(0,) * len(setup.players), left=dict(box.contents),
                        ext={e.name: e.initial(setup) for e in box.expansions if e.initial}))
    first = setup.start or box.start()
    for name in {first.tile, *box.set_aside}:
        if name in d.left:
            d.left[name] -= 1
    board = next((b for e in box.expansions if e.open_with and (b := e.open_with(first))), (first,))
    for start in board:
        lay(d, start.at, Placed(tile=start.tile, rot=start.rot))
    d.touched = []
    return d.freeze()


def fold(setup: Setup, events: Iterable[Event]) -> GameState:
    """The state after all events. Raises IllegalMove for an event that has no meaning in this game."""
    d = Draft(new_game(setup))
    for event in events:
        apply(d, event)
    return d.freeze()


def states(setup: Setup, events: Iterable[Event]) -> Iterable[GameState]:
    """The state after each event."""
    state = new_game(setup)
    for event in events:
        state = step(state, event)
        yield state


def step(state: GameState, event: Event) -> GameState:
    """The state after one event. A tile placed while a turn is open ends that turn first. Raises IllegalMove."""
    d = Draft(state)
    apply(d, event)
    return d.freeze()


def apply(d: Draft, event: Event) -> None:
    """Apply one event to the draft: the turn is opened, closed or advanced as needed first."""
    handler = d.box.handlers.get(type(event))
    if handler is None:
        raise IllegalMove(f"{event.DO} does not belong to this game")
    player: int = getattr(event, "player", d.player)
    if player >= len(d.setup.players):
        raise IllegalMove(f"player {player}: there are {len(d.setup.players)} players")
    if d.over:
        d.issue("after_the_end", f"{event.DO} was recorded after the end of the game.")
        d.happened.append(d.turn)
        return
    if handler.when == BEFORE:
        _begin(d, event, handler, player)
    elif handler.when == IN_TURN:
        _join(d, player)
    if handler.step:
        advance(d, handler.step)
    handler.apply(d, event)
    if handler.action:
        d.actions += 1
    d.happened.append(d.turn)


def _begin(d: Draft, event: Event, handler: Handler[Event], player: int) -> None:
    """Begin the turn part of an event that precedes a tile, or is one; a part whose tile is already placed is over,
    unless the event was reported late."""
    part: int = getattr(event, "part", 1)
    if d.turn_open and d.laid and not (player == d.player and handler.late and handler.late(d)):
        close_turn(d)
    if not d.turn_open:
        open_turn(d, player, d.part if player == d.player and part < 2 else part)
    elif player != d.player:
        names = [p.name for p in d.setup.players]
        d.issue("wrong_player", f"{names[player]} played in {names[d.player]}'s turn.")
        d.player = player


def _join(d: Draft, player: int) -> None:
    """Begin the turn of a player who acts before placing a tile. An event out of turn does not change the active
    player; before or after the tile, it ends no part (R-TURN-21)."""
    if d.turn_open and player == d.player:
        return
    due = next_part(d)
    if player == due.player and not (d.turn_open and not d.laid):
        close_turn(d)
        open_turn(d, *due)
    else:
        names = [p.name for p in d.setup.players]
        d.issue("wrong_player", f"{names[player]} acted although it was {names[d.player]}'s turn.")


def open_squares(state: View) -> frozenset[Square]:
    """Empty squares orthogonally adjacent to a tile (R-PLACE-01, R-PLACE-02)."""
    return frozenset(n for at in state.tiles for side in EDGES if (n := neighbour(at, side)) not in state.tiles)


def fits(state: View, tile: str, at: Square, rot: int) -> bool:
    """Whether the rules allow the tile there."""
    kind = state.box.tile(tile)  # first the most frequent failure, without formatting its message
    return at not in state.tiles and has_neighbour(state, at) and not mismatches(state, kind, at, rot) and \
        next(state.box.placing(state, kind, at, rot), None) is None


def objections(state: View, tile: str, at: Square, rot: int) -> tuple[Problem, ...]:
    """The rules that the tile would break there."""
    return tuple(state.box.placing(state, state.box.tile(tile), at, rot))


def fitting(state: View, at: Square) -> Mapping[str, tuple[int, ...]]:
    """The remaining kinds that may be placed on a square, each with its possible rotations."""
    shape = state.box.shape
    out: dict[str, tuple[int, ...]] = {}
    others = [state.tiles.get(neighbour(at, side)) for side in EDGES]
    wanted = [(n, shape(o.tile, o.rot).edges[(n + 2) % 4]) for n, o in enumerate(others) if o]
    for kind, left in tiles_left(state).items():
        for rot in range(4) if left > 0 else ():
            edges = shape(kind, rot).edges  # a cheap pre-filter for the other rules
            if all(edges[n] == edge for n, edge in wanted) and fits(state, kind, at, rot):
                out[kind] = (*out.get(kind, ()), rot)
    return out


def legal_placements(state: View, tile: str) -> tuple[tuple[Square, int], ...]:
    """Every square and rotation at which the tile may be placed."""
    return tuple((at, rot) for at in sorted(open_squares(state)) for rot in range(4) if fits(state, tile, at, rot))


def legal_claims(state: View, figure: str = "follower") -> tuple[Claim, ...]:
    """The segments of the last tile that this figure of the active player may claim (R-DEPLOY-01 to -06)."""
    at = state.last_tile
    if at is None or not state.turn_open or not state.laid:
        return ()
    return tuple(claims(state, figure, at))


def legal_figures(state: View) -> Mapping[int, tuple[str, ...]]:
    """By segment of the last tile: the pieces that the active player may deploy there (R-DEPLOY-01 to -06)."""
    out: dict[int, tuple[str, ...]] = {}
    for name in state.box.counts:
        for claim in legal_claims(state, name) if state.box.pieces[name].stands else ():
            out[claim.segment] = (*out.get(claim.segment, ()), name)
    return out


def next_player(state: View) -> int:
    """Who places the next tile (R-TURN-01, R-BUILD-05)."""
    return next_part(state).player


def tiles_left(state: View) -> Mapping[str, int]:
    """Tiles still in the box, by kind. Over-placed kinds count as 0."""
    contents = state.box.contents
    if len(state.left) == len(contents) and min(state.left.values(), default=0) >= 0:
        return dict(state.left)
    if len(state.left) > len(contents):  # a tile on the board belongs to none of the chosen boxes
        return {kind: max(0, state.left[kind]) for kind in contents}
    return {kind: n if n > 0 else 0 for kind, n in state.left.items()}


def questions(state: View) -> tuple[Question, ...]:
    """Questions about events that the table does not show: those left open by earlier turns, those of this turn, and
    events that may have happened unseen (``offer``)."""
    return (*waiting(state), *state.box.offers(state))


def waiting(state: View) -> tuple[Question, ...]:
    """The questions that the rules require an answer to."""
    return (*state.asked, *state.box.questions(state))


def box_of(setup: Setup) -> Box:
    """The merged contributions of the expansions in play."""
    return box_for(setup.expansions, setup.rules, len(setup.players))
