"""The base game: followers on roads, cities, cloisters and fields. Its rules are always in force."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from scoring import final
from scoring.board import claims, has_neighbour, is_complete, lay, mismatches, set_figures
from scoring.contributions import (
    ANY,
    ANYWHERE,
    BEFORE,
    Attempt,
    Choice,
    Expansion,
    Handler,
    Kind,
    Piece,
    Problem,
    Question,
    Rate,
    Stage,
    Start,
    Step,
    View,
)
from scoring.events import FigurePlaced, GameEnded, StartTile, TileDiscarded, TilePlaced, TurnEnded
from scoring.rules import Rules
from scoring.state import (
    NO_SEGMENT,
    Draft,
    Feature,
    Placed,
    StandingFigure,
    feature_at,
    figures_on,
    in_hand,
)
from scoring.tiles import EDGES, Segment, Square, Tile, neighbour
from scoring.turns import close_turn, next_part, score_completed, was_paid

FOLLOWERS = 7  # eight, one of which is the score marker (R-COMP-01)


def marks(segment: Segment) -> tuple[tuple[str, int], ...]:
    return (("pennant", segment.pennants),) if segment.pennants else ()


def _units(rules: Rules, feature: Feature, complete: bool) -> int:
    """Tiles, or segments if the rules count those of incomplete features (R-END-05)."""
    return len(feature.places) if rules.incomplete_unit == "segment" and not complete else len(feature.squares)


def road_counts(rules: Rules, feature: Feature, complete: bool) -> tuple[tuple[str, int], ...]:
    return (("tile", _units(rules, feature, complete)),)


def city_counts(rules: Rules, feature: Feature, complete: bool) -> tuple[tuple[str, int], ...]:
    return ("tile", _units(rules, feature, complete)), ("pennant", feature.marks.get("pennant", 0))


def cloister_counts(rules: Rules, feature: Feature, complete: bool) -> tuple[tuple[str, int], ...]:
    return (("tile", 9 if complete else 9 - feature.open),)


ROAD = Rate(each=1, reason="road", rule="R-ROAD-05")
OPEN_ROAD = Rate(each=1, reason="road.incomplete", rule="R-END-02")
CITY = Rate(each=2, reason="city", rule="R-CITY-03")
TINY_CITY = Rate(each=1, reason="city.tiny", rule="R-CITY-06")
OPEN_CITY = Rate(each=1, reason="city.incomplete", rule="R-END-02")
CLOISTER = Rate(each=1, reason="cloister", rule="R-CLOI-02")
OPEN_CLOISTER = Rate(each=1, reason="cloister.incomplete", rule="R-END-04")


def road_rate(rules: Rules, feature: Feature, complete: bool) -> Rate:
    return ROAD if complete else OPEN_ROAD


def city_rate(rules: Rules, feature: Feature, complete: bool) -> Rate:
    if not complete:
        return OPEN_CITY
    return TINY_CITY if len(feature.squares) == 2 and rules.two_tile_city == "half" else CITY


def cloister_rate(rules: Rules, feature: Feature, complete: bool) -> Rate:
    return CLOISTER if complete else OPEN_CLOISTER


KINDS = (
    Kind(name="road", closes="edges", counts=road_counts, rate=road_rate, stage="incomplete"),
    Kind(name="city", closes="edges", counts=city_counts, rate=city_rate, stage="incomplete"),
    Kind(name="cloister", closes="around", counts=cloister_counts, rate=cloister_rate, stage="cloisters"),
    Kind(name="field", closes="never", stage="farms"),
)


def steps(rules: Rules) -> tuple[Step, ...]:
    """R-TURN-01, R-TURN-06: place a tile, deploy a figure, score completed features."""
    return (Step(name="start"), Step(name="draw", after="start"), Step(name="place", after="draw"),
            Step(name="wood", after="place"), Step(name="score", after="wood", run=score_completed),
            Step(name="end", after="score"))


def on_tile(d: Draft, event: TilePlaced) -> None:
    """A tile is placed: on an empty square it is added to the board, even if illegal (R-PLACE-01 to R-PLACE-03)."""
    d.laid = True
    draw(d, event.tile, event.at)
    for p in d.box.placing(d, d.box.tile(event.tile), event.at, event.rot):
        d.issue(p.code, p.text, event.at, *p.squares)
    if event.at in d.tiles:  # the square is occupied: the first tile stays, and the log can be corrected
        d.last_tile = event.at
        return
    lay(d, event.at, Placed(tile=event.tile, rot=event.rot, player=event.player, turn=d.turn))
    d.last_tile = event.at
    for laid in d.box.laid:
        laid(d)


def on_discard(d: Draft, event: TileDiscarded) -> None:
    """The same player draws again (R-DRAW-03)."""
    draw(d, event.tile, None)
    for put_away in d.box.put_away:
        put_away(d, event.tile)


def draw(d: Draft, tile: str, at: Square | None) -> None:
    """A tile is drawn from the box."""
    squares = () if at is None else (at,)
    if tile not in d.box.contents:
        d.issue("not_in_box", f"Tile {tile} does not belong to the chosen boxes.", *squares)
    left = d.left.get(tile, 0) - 1
    d.left[tile] = left
    if left >= 0 or tile not in d.box.contents:
        return
    # a start tile replaced by another start is still in the box, and many groups shuffle it in with the others
    spare = tile in d.box.set_aside and all(p.turn is not None or p.tile != tile for p in d.tiles.values())
    if left + spare < 0:
        d.issue("too_many", f"There are more tiles of kind {tile} than the box holds.", *squares)


def on_figure(d: Draft, event: FigurePlaced) -> None:
    """A figure is deployed: it is put on the board in any case; objections of the rules are reported."""
    placed = d.tiles.get(event.at)
    segment = d.box.shape(placed.tile, placed.rot).named.get((event.feature, event.where)) if placed else None
    attempt = Attempt(player=event.player, figure=event.figure, at=event.at, feature=event.feature, where=event.where,
                      segment=segment)
    for p in d.box.deploying(d, attempt):
        d.issue(p.code, p.text, event.at, *p.squares)
    number = d.next_figure
    d.next_figure += 1
    d.standing[number] = StandingFigure(
        id=number, player=event.player, figure=event.figure, at=event.at, feature=event.feature, where=event.where,
        segment=NO_SEGMENT if segment is None else segment, turn=d.turn)
    if segment is not None:
        feature = feature_at(d, event.at, segment)
        set_figures(d, feature, (*feature.figures, number))
        d.touched.append(feature.id)
        if d.turn >= 0 and not d.turn_open:  # detected after its turn was over
            score_completed(d)


def on_end_of_turn(d: Draft, event: TurnEnded) -> None:
    close_turn(d)


def on_end_of_game(d: Draft, event: GameEnded) -> None:
    """R-END-01: the open turn is scored first."""
    close_turn(d)
    d.events_before = len(d.score_events)
    for _, events in final.final_stages(d):
        for scored in events:
            d.pay(scored)
    d.over = True


def _square(at: Square) -> str:
    return f"{at[0]},{at[1]}"


def lies_well(view: View, tile: Tile, at: Square, rot: int) -> Problem | None:
    """R-PLACE-01, R-PLACE-02: adjacent to a tile, a corner is not enough; R-PLACE-03: touching edges must match."""
    if at in view.tiles:
        return Problem(code="square_taken", text=f"A second tile was recorded on square {_square(at)}.")
    wrong = mismatches(view, tile, at, rot)
    if wrong:
        return Problem(code="edge_mismatch", squares=wrong,
                       text=f"The tile on {_square(at)} does not match the one on {' and '.join(map(_square, wrong))}.")
    if has_neighbour(view, at):
        return None
    corner = any((at[0] + dx, at[1] + dy) in view.tiles for dx in (-1, 1) for dy in (-1, 1))
    if corner:
        return Problem(code="corner_contact", text=f"The tile on {_square(at)} touches others at a corner only.")
    return Problem(code="no_neighbour", text=f"The tile on {_square(at)} touches no other tile.")


def _who(view: View, a: Attempt) -> str:
    return view.setup.players[a.player].name


def a_place(view: View, a: Attempt) -> Problem | None:
    if a.at not in view.tiles:
        return Problem(code="no_tile", text=f"There is no tile on {_square(a.at)} for {_who(view, a)}'s {a.figure}.")
    if a.segment is None and not view.box.spot(view, a.at, a.feature, a.where):
        return Problem(code="no_such_segment", text=f"The tile on {_square(a.at)} has no {a.feature} {a.where} "
                                                    f"for {_who(view, a)}'s {a.figure}.")
    return None


def may_stand(view: View, a: Attempt) -> Problem | None:
    """R-DEPLOY-03; a builder requires a road or city, a pig a field (R-BUILD-01, R-PIG-01, R-RIVER-06, R-SETUP-08)."""
    kind = view.box.kinds.get(a.feature)
    piece = view.box.pieces[a.figure]
    if a.figure not in view.box.counts:
        return Problem(code="not_in_box", text=f"There is no {a.figure} in the chosen boxes.")
    if a.feature == "field" and not view.box.rules.farmers_enabled:
        return Problem(code="no_farmers", text=f"{_who(view, a)} put a {a.figure} in a field; farmers are not used.")
    if kind is None or not kind.claimable or not piece.stands_on(a.feature):
        return Problem(code="not_claimable", text=f"{_who(view, a)}'s {a.figure} may not stand on a {a.feature}.")
    return None


def own_turn(view: View, a: Attempt) -> Problem | None:
    if a.player != view.player and view.turn_open:
        return Problem(code="wrong_player", text=f"{_who(view, a)} put a {a.figure} down in "
                                                 f"{view.setup.players[view.player].name}'s turn.")
    return None


def one_action(view: View, a: Attempt) -> Problem | None:
    """R-TURN-04."""
    if view.actions:
        return Problem(code="two_figures", text=f"{_who(view, a)} put down a {a.figure} although the action of this "
                                                "turn was already used.")
    return None


def last_tile(view: View, a: Attempt) -> Problem | None:
    """R-DEPLOY-02."""
    if a.at in view.tiles and not (a.at == view.last_tile and view.turn_open and view.laid) \
            and not view.box.reaches(view, a):
        return Problem(code="not_last_tile", text=f"{_who(view, a)}'s {a.figure} is not on the tile just laid.")
    return None


def unowned(view: View, a: Attempt) -> Problem | None:
    """R-DEPLOY-04, R-DEPLOY-05; company figures require a follower of their player (R-BUILD-01, R-PIG-01)."""
    if a.segment is None:
        return None
    here = figures_on(view, feature_at(view, a.at, a.segment))
    pieces = view.box.pieces
    if pieces[a.figure].company:
        if any(f.player == a.player and pieces[f.figure].follower for f in here):
            return None
        return Problem(code="no_company", text=f"{_who(view, a)}'s {a.figure} stands on a {a.feature} without a "
                                               "follower of the same colour.")
    if any(pieces[f.figure].follower for f in here):
        return Problem(code="occupied", text=f"{_who(view, a)}'s {a.figure} stands on a {a.feature} that was taken.")
    return None


def unscored(view: View, a: Attempt) -> Problem | None:
    """R-DEPLOY-06: a completed feature is scored once."""
    feature = None if a.segment is None else feature_at(view, a.at, a.segment)
    if feature is None or not feature.done or not was_paid(view, feature):
        return None
    return Problem(code="scored_already", text=f"{_who(view, a)}'s {a.figure} stands on a {a.feature} that was scored.")


def from_supply(view: View, a: Attempt) -> Problem | None:
    """R-DEPLOY-01."""
    if a.figure in view.box.counts and in_hand(view, a.player, a.figure) < 1:
        return Problem(code="no_supply", text=f"{_who(view, a)} has no {a.figure} left.")
    return None


def questions(view: View) -> Iterator[Question]:
    """Who claimed a feature that this tile completed, and whether the game is over."""
    if view.turn_open and view.laid and not view.actions and (claims := unseen_claims(view)):
        yield Question(code="claim", text="Did a figure stand on what this tile completed?", player=view.player,
                       at=view.last_tile, turn=view.turn, lasting=True, answers=claims)
    if view.laid and not view.over and not view.box.can_draw(view):
        yield Question(code="last_tile", text="Was that the last tile?", player=view.player, answers=(GameEnded(),),
                       turn=view.turn)


def unseen_claims(view: View) -> tuple[FigurePlaced, ...]:
    """Followers that may have been deployed and returned within one turn, unseen: on unoccupied features that the tile
    just laid completed, where the rules allowed it (R-DEPLOY-06, R-TURN-06)."""
    at = view.last_tile
    if at is None or not view.touched:  # nothing was completed
        return ()
    placed = view.tiles[at]
    shape = view.box.shape(placed.tile, placed.rot)
    complete = [n for n in range(len(shape.kinds)) if (f := feature_at(view, at, n)) and is_complete(view, f)
                and not f.done and not f.figures]
    if not complete:
        return ()
    followers = [p.name for p in view.box.pieces.values() if p.follower]
    figure = next((name for name in followers if in_hand(view, view.player, name) > 0), "")
    out = []
    for n in complete if figure else ():
        kind = shape.kinds[n]
        attempt = Attempt(player=view.player, figure=figure, at=at, feature=kind, where=shape.where[n], segment=n)
        if next(view.box.deploying(view, attempt), None) is None:
            out.append(FigurePlaced(player=view.player, figure=figure, at=at, feature=kind, where=shape.where[n]))
    return tuple(out)


def moves(view: View) -> Iterator[Choice]:
    """Place or discard a tile; then deploy a figure on it; end the turn or the game."""
    if not (view.turn_open and view.laid):
        player, part = next_part(view)
        yield Choice(code="tile", event=TilePlaced, player=player)
        yield Choice(code="discard", event=TileDiscarded, player=player, answers=tuple(
            TileDiscarded(player=player, tile=kind, part=part) for kind in unplaceable(view)))
    elif view.last_tile is not None:
        places = [(name, c) for name in view.box.counts if view.box.pieces[name].stands
                  for c in claims(view, name, view.last_tile)]
        if places:
            yield Choice(code="deploy", event=FigurePlaced, player=view.player, answers=tuple(
                FigurePlaced(player=view.player, figure=name, at=c.at, feature=c.feature, where=c.where)
                for name, c in places))
    if view.turn_open:
        yield Choice(code="end_turn", event=TurnEnded, player=view.player, answers=(TurnEnded(),))
    yield Choice(code="end_game", event=GameEnded, player=view.player, answers=(GameEnded(),))


def offers(view: View) -> Iterator[Question]:
    """A tile that fitted nowhere may have been discarded (R-DRAW-03): the kinds for which that is possible."""
    if view.over or (view.turn_open and view.laid):
        return
    kinds = unplaceable(view)
    if kinds:
        yield Question(code="discard", text="Was a tile put away that fits nowhere?", player=view.player, offer=True,
                       answers=tuple(TileDiscarded(player=view.player, tile=k, part=view.part) for k in kinds))


def unplaceable(view: View) -> tuple[str, ...]:
    """Kinds still in the box whose edges match no open square (R-PLACE-03)."""
    wanted = set()
    for square in {n for at in view.tiles for side in EDGES if (n := neighbour(at, side)) not in view.tiles}:
        seen = []
        for side in range(4):
            other = view.tiles.get(neighbour(square, EDGES[side]))
            seen.append(view.box.shape(other.tile, other.rot).edges[(side + 2) % 4] if other else "")
        wanted.add(tuple(seen))

    def fits_one(edges: str) -> bool:
        return any(all(e in ("", edges[n]) for n, e in enumerate(seen)) for seen in wanted)

    return tuple(kind for kind, left in view.left.items()
                 if left > 0 and not any(fits_one(view.box.shape(kind, rot).edges) for rot in range(4)))


BASE = Expansion(
    name="base",
    products=("base",),
    pieces=(Piece(name="follower", count=lambda players: FOLLOWERS, weight=1, follower=True, stands=ANYWHERE),),
    kinds=KINDS,
    steps=steps,
    handlers=(
        Handler(event=TilePlaced, apply=on_tile, step="place", when=BEFORE),
        Handler(event=TileDiscarded, apply=on_discard, step="draw", when=BEFORE),
        Handler(event=FigurePlaced, apply=on_figure, step="wood", action=True),
        Handler(event=TurnEnded, apply=on_end_of_turn, when=ANY),
        Handler(event=GameEnded, apply=on_end_of_game, when=ANY),
    ),
    marks=marks,
    placing=(lies_well,),
    deploying=(a_place, may_stand, own_turn, one_action, last_tile, unowned, unscored, from_supply),
    stages=(Stage(name="incomplete", events=partial(final.incomplete, "incomplete")),
            Stage(name="cloisters", events=partial(final.incomplete, "cloisters")),
            Stage(name="farms", events=final.farms)),
    starts=(Start(value="start_tile", tile=StartTile(tile="base.D")),),
    questions=questions,
    offers=offers,
    moves=moves,
    phrases={"city": "A city of {tiles} is complete", "city.tiny": "A city of two tiles is complete",
             "city.incomplete": "A city of {tiles} stays open", "road": "A road of {tiles} is complete",
             "road.incomplete": "A road of {tiles} stays open", "cloister": "A cloister is complete",
             "cloister.incomplete": "A cloister stays open", "field": "A farm borders {cities}"},
    options=("farm_scoring", "farm_points_per_city", "two_tile_city", "incomplete_unit", "farmers_enabled"),
)
