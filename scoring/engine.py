"""The game as a fold over events. What lies on the table is never refused: it is recorded, scored and reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scoring.board import Board, Feature, Placed, lay, mismatches, touched
from scoring.errors import InvalidNotation
from scoring.events import Event, FigurePlaced, GameEnded, Setup, StartTile, TileDiscarded, TilePlaced, TurnEnded
from scoring.expansions import chosen, pieces
from scoring.final import final_events
from scoring.scores import ScoreEvent, leaders, named, value
from scoring.state import Claim, GameState, Issue, StandingFigure
from scoring.tiles import EDGES, Square, catalogue, neighbour, product, segment_index, where

CLAIMABLE = ("city", "road", "field", "cloister")


def new_game(setup: Setup) -> GameState:
    """The table before the first turn: the start tile lies, every figure is in supply (R-SETUP-01, R-SETUP-02)."""
    if not setup.players:
        raise InvalidNotation("a game needs at least one player")
    kinds = {t.id: t.count for e in chosen(setup.expansions) for p in e.products for t in product(p).tiles}
    start = setup.start or StartTile(tile=product("base").start)
    supply = {kind: piece.count for kind, piece in pieces(setup.expansions).items()}
    state = GameState(setup=setup, board=Board(), supply=tuple(dict(supply) for _ in setup.players),
                      scores=(0,) * len(setup.players), left=kinds)
    board = lay(state.board, start.at, Placed(tile=start.tile, rot=start.rot))
    return replace(state, board=board, left=_drawn(state, start.tile))


def fold(setup: Setup, events: Iterable[Event]) -> GameState:
    """The state after all events."""
    state = new_game(setup)
    for event in events:
        state = step(state, event)
    return state


def step(state: GameState, event: Event) -> GameState:
    """The state after one event. A tile laid while a turn is open ends that turn first."""
    match event:
        case TilePlaced():
            return _place(_end_turn(state), event)
        case TileDiscarded():
            state = _end_turn(state)
            return replace(state, left=_drawn(state, event.tile))
        case FigurePlaced():
            return _deploy(state, event)
        case TurnEnded():
            return _end_turn(state)
        case GameEnded():
            return _end_game(state)
    raise InvalidNotation(f"{event!r} is no event of this game")


def open_squares(state: GameState) -> frozenset[Square]:
    """Empty squares that touch a tile with a whole edge (R-PLACE-01, R-PLACE-02)."""
    return frozenset(n for at in state.tiles for side in EDGES if (n := neighbour(at, side)) not in state.tiles)


def fits(state: GameState, tile: str, at: Square, rot: int) -> bool:
    """Whether the tile may be laid there: an empty square, a neighbour, and every touching edge the same."""
    return at not in state.tiles and any(neighbour(at, s) in state.tiles for s in EDGES) \
        and not mismatches(state.board, catalogue()[tile], at, rot)


def legal_placements(state: GameState, tile: str) -> tuple[tuple[Square, int], ...]:
    """Every square and rotation where the tile may be laid."""
    return tuple((at, rot) for at in sorted(open_squares(state)) for rot in range(4) if fits(state, tile, at, rot))


def legal_claims(state: GameState) -> tuple[Claim, ...]:
    """The segments of the tile last laid that a follower of the active player may take (R-DEPLOY-02 to -06)."""
    at = state.last_tile
    if at is None or not state.turn_open or any(f.turn == state.turn for f in state.figures):
        return ()
    placed = state.tiles[at]
    out = []
    for n, s in enumerate(catalogue()[placed.tile].segments):
        farm_off = s.kind == "field" and not state.setup.rules.farmers_enabled
        if s.kind in CLAIMABLE and not farm_off and not figures_on(state, state.board.feature_at(at, n)):
            out.append(Claim(at=at, feature=s.kind, where=where(s, placed.rot), segment=n))
    return tuple(out)


def tiles_left(state: GameState) -> Mapping[str, int]:
    """Tiles still in the box, by kind; never below nothing."""
    return {kind: max(0, n) for kind, n in state.left.items()}


def figures_on(state: GameState, feature: Feature) -> tuple[StandingFigure, ...]:
    """The figures that stand on a feature."""
    return tuple(f for f in state.figures if f.place in feature.places)


def weights(state: GameState, figures: Iterable[StandingFigure]) -> dict[int, int]:
    """What each player's followers weigh (R-MAJ-03, R-LARGE-02)."""
    kinds = pieces(state.setup.expansions)
    out: dict[int, int] = {}
    for f in figures:
        out[f.player] = out.get(f.player, 0) + (kinds[f.figure].weight if f.figure in kinds else 0)
    return out


def _drawn(state: GameState, tile: str) -> dict[str, int]:
    return {**state.left, tile: state.left.get(tile, 0) - 1}


def _issue(state: GameState, code: str, text: str, *squares: Square) -> GameState:
    return replace(state, issues=(*state.issues, Issue(code=code, text=text, squares=squares, turn=state.turn)))


def _place(state: GameState, event: TilePlaced) -> GameState:
    expected = state.player
    if not 0 <= event.player < len(state.setup.players):
        raise InvalidNotation(f"player {event.player}: there are {len(state.setup.players)} players")
    state = replace(state, turn=state.turn + 1, player=event.player, part=event.part, turn_open=True)
    if event.at in state.tiles:
        state = _issue(state, "square_taken", f"A second tile was recorded on {_at(event.at)}.", event.at)
        return replace(state, last_tile=None, left=_drawn(state, event.tile))
    if event.player != expected and event.part == 1:
        who, whose = state.setup.players[event.player].name, state.setup.players[expected].name
        state = _issue(state, "wrong_player", f"{who} laid a tile in {whose}'s turn.", event.at)
    if not any(neighbour(event.at, side) in state.tiles for side in EDGES):
        state = _issue(state, "no_neighbour", f"The tile on {_at(event.at)} touches no other tile.", event.at)
    if wrong := mismatches(state.board, catalogue()[event.tile], event.at, event.rot):
        text = f"The tile on {_at(event.at)} does not match its neighbour."
        state = _issue(state, "edge_mismatch", text, event.at, *wrong)
    left = _drawn(state, event.tile)
    if left[event.tile] < 0:
        state = _issue(state, "too_many", f"There are more tiles of kind {event.tile} than the box holds.", event.at)
    placed = Placed(tile=event.tile, rot=event.rot, player=event.player, turn=state.turn)
    return replace(state, board=lay(state.board, event.at, placed), left=left, last_tile=event.at)


def _deploy(state: GameState, event: FigurePlaced) -> GameState:
    if not 0 <= event.player < len(state.setup.players):
        raise InvalidNotation(f"player {event.player}: there are {len(state.setup.players)} players")
    placed = state.tiles.get(event.at)
    index = segment_index(catalogue()[placed.tile], placed.rot, event.feature, event.where) if placed else None
    if index is None:
        return _issue(state, "no_such_segment",
                      f"There is no {event.feature} {event.where} on {_at(event.at)} for a {event.figure}.", event.at)
    name = state.setup.players[event.player].name
    supply = state.supply[event.player]
    if event.feature not in CLAIMABLE:
        state = _issue(state, "not_claimable", f"No figure may stand on a {event.feature}.", event.at)
    if event.player != state.player:
        state = _issue(state, "wrong_player", f"{name} put a figure down in another player's turn.", event.at)
    if event.at != state.last_tile or not state.turn_open:
        state = _issue(state, "not_last_tile", f"{name}'s {event.figure} is not on the tile just laid.", event.at)
    if any(f.turn == state.turn for f in state.figures):
        state = _issue(state, "two_figures", f"{name} put down a second figure in one turn.", event.at)
    if figures_on(state, state.board.feature_at(event.at, index)):
        text = f"{name}'s {event.figure} stands on a {event.feature} that is taken."
        state = _issue(state, "occupied", text, event.at)
    if supply.get(event.figure, 0) < 1:
        state = _issue(state, "no_supply", f"{name} has no {event.figure} left.", event.at)
    standing = StandingFigure(player=event.player, figure=event.figure, at=event.at, feature=event.feature,
                              where=event.where, segment=index, turn=state.turn)
    return replace(state, figures=(*state.figures, standing), supply=_supply(state, event.player, event.figure, -1))


def _supply(state: GameState, player: int, figure: str, change: int) -> tuple[Mapping[str, int], ...]:
    return tuple({**s, figure: s.get(figure, 0) + change} if p == player else s for p, s in enumerate(state.supply))


def _end_turn(state: GameState) -> GameState:
    if not state.turn_open:
        return state
    if state.last_tile is not None:
        for feature in touched(state.board, state.last_tile):
            if feature.kind in ("road", "city", "cloister") and feature.open == 0:
                state = _score_complete(state, feature)
    return replace(state, turn_open=False, player=(state.player + 1) % len(state.setup.players), part=1,
                   turn_scores=(*state.turn_scores, state.scores))


def _score_complete(state: GameState, feature: Feature) -> GameState:
    """Pay a completed feature and send its figures home (R-SCORE-01, R-RETURN-01)."""
    present = figures_on(state, feature)
    if not present:
        return state
    reason, items, rule = value(state.board, feature, state.setup.rules, complete=True)
    shares = weights(state, present)
    total = sum(i.points for i in items)
    event = ScoreEvent(turn=state.turn, feature=feature.kind, reason=reason, items=items, rule=rule,
                       points=tuple((p, total) for p in leaders(shares)), majority=tuple(sorted(shares.items())),
                       places=named(state.board, feature.places), tiles=len(feature.squares))
    state = _pay(state, event)
    for f in present:
        state = replace(state, supply=_supply(state, f.player, f.figure, 1))
    return replace(state, figures=tuple(f for f in state.figures if f not in present))


def _pay(state: GameState, event: ScoreEvent) -> GameState:
    scores = list(state.scores)
    for player, points in event.points:
        scores[player] += points
    return replace(state, scores=tuple(scores), score_events=(*state.score_events, event))


def _end_game(state: GameState) -> GameState:
    if state.over:
        return state
    state = _end_turn(state)
    for event in final_events(state):
        state = _pay(state, event)
    return replace(state, over=True)


def _at(at: Square) -> str:
    return f"square {at[0]},{at[1]}"
