"""Exports a game as a saved game of JCloisterZone 5 (``.jcz``), the open-source program: the set-up and the messages.

Its positions count x east and y south from the start tile, rotations are clockwise, and a tile without rotation lies as
in our catalogue, so both are exported unchanged. Edges and half-edges have the same names. The program identifies every
figure, as ``player.kind.number``; here they are numbered as they are taken from the supply. It computes scores, goods,
the fairy's points and returning figures by itself, and draws the tiles in the order that we give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bastide.export.jcz_format import Meeple, Message, Pointer, SavedGame
from scoring.board import is_complete
from scoring.engine import apply, legal_claims, new_game
from scoring.errors import InvalidNotation
from scoring.events import FigurePlaced, TileDiscarded, TilePlaced, TurnEnded
from scoring.expansions.dragon_moves import DragonMoved, FairyMoved, PrincessRemoved, beasts
from scoring.expansions.river import mouths
from scoring.expansions.tower import Captured, Exchanged, RansomPaid, TowerRaised, may_capture, mutual
from scoring.expansions.tower_state import guard, towers
from scoring.expansions.traders import GoodsCounted
from scoring.notation import FigureRef
from scoring.state import NO_SEGMENT, Draft, StandingFigure, feature_at, in_hand, standing
from scoring.tiles import EDGES, Square, catalogue, neighbour
from scoring.transcript import Game, Turn

VERSION = "5.8.0"
SETS = {"base": "basic:1", "river": "river/1:1", "inns": "inns-and-cathedrals:1", "traders": "traders-and-builders:1",
        "dragon": "princess-and-dragon:1", "tower": "tower:1"}
ELEMENTS: Mapping[str, Mapping[str, int | bool]] = {
    "base": {}, "river": {}, "inns": {"big-follower": 1, "cathedral": True, "inn": True},
    "traders": {"builder": 1, "pig": 1, "traders": True},
    "dragon": {"dragon": 1, "fairy": 1, "princess": True, "portal": True}, "tower": {"tower": 1},
}
KINDS = {"city": "City", "road": "Road", "field": "Field", "cloister": "Monastery", "tower": "Tower"}
FIGURES = {"follower": "small", "large": "big", "builder": "builder", "pig": "pig"}
SLOTS = ("red", "blue", "yellow", "green", "black", "grey")


def saved_game(game: Game, created: str = "1970-01-01T00:00:00.000Z") -> tuple[SavedGame, tuple[str, ...]]:
    """The saved game, and a sentence for every deviation between that program's replay and the game as played.

    Raises InvalidNotation for what the format cannot express: boxes and tiles that the program does not know.
    """
    strangers = [e for e in game.setup.expansions if e not in SETS]
    if strangers:
        raise InvalidNotation(f"JCloisterZone does not know {', '.join(strangers)}")
    replay = Replay(game)
    messages = [m for turn in game.turns for m in replay.turn(turn)]
    rules = game.setup.rules
    elements: dict[str, int | bool] = {"small-follower": 7, **({"farmers": True} if rules.farmers_enabled else {})}
    for name in game.setup.expansions:
        elements |= ELEMENTS[name]
    start = game.setup.start or replay.draft.box.start()
    return {
        "appVersion": VERSION, "gameId": "1", "name": "", "initialRandom": 0.0, "created": created, "clock": 0,
        "setup": {
            "sets": {SETS[name]: 1 for name in game.setup.expansions},
            "elements": elements,
            "rules": {
                "princess-action": rules.word("princess_removal"),
                "fairy-placement": "on-tile" if rules.word("fairy_mode") == "tile" else "next-follower",
                "dragon-move": rules.word("dragon_timing").replace("_", "-"),
                "tiny-city-scoring": "2" if rules.two_tile_city == "half" else "4",
            },
            "timer": None, "options": {},
            "start": [{"tile": known(start.tile), "x": start.at[0], "y": start.at[1], "rotation": 90 * start.rot}],
        },
        "players": [{"name": p.name, "slot": slot, "clientId": None}
                    for p, slot in zip(game.setup.players, slots(game), strict=True)],
        "replay": messages,
        "gameAnnotations": {"drawOrder": replay.drawn},
    }, tuple(notes(game, replay))


def slots(game: Game) -> list[int]:
    """Seats by colour, as far as that program has the colour; the rest take free ones."""
    taken: list[int] = []
    for p in game.setup.players:
        wanted = SLOTS.index(p.colour) if p.colour in SLOTS else 0
        taken.append(wanted if wanted not in taken else next(n for n in range(9) if n not in taken))
    return taken


def known(tile: str) -> str:
    """JCloisterZone's id of a tile. Raises InvalidNotation."""
    found = catalogue()[tile].jcz if tile in catalogue() else ""
    if not found:
        raise InvalidNotation(f"JCloisterZone does not know tile {tile}")
    return found


def location(feature: str, where: str) -> str:
    """``E W`` as WE, ``NL NR`` as NL.NR; I for a cloister, a tower and anything that reaches no edge."""
    atoms = where.split()
    if feature in ("cloister", "tower") or atoms == ["I"]:
        return "I"
    if feature == "field":
        return ".".join(atoms)
    if len(atoms) == 4:
        return "NWSE"
    if len(atoms) == 3:
        return "_" + next(e for e in EDGES if e not in atoms)
    if len(atoms) == 2:  # these pairs have a name of their own
        return next(name for name in ("NW", "SW", "SE", "NE", "WE", "NS") if set(name) == set(atoms))
    return atoms[0]


def pointer(at: Square, feature: str, where: str) -> Pointer:
    return {"position": list(at), "feature": KINDS[feature], "location": location(feature, where)}


def message(kind: str, player: int, **payload: object) -> Message:
    return {"type": kind, "payload": payload, "player": player, "clock": 0}


class Replay:
    """Replays a game and records it as JCloisterZone's messages."""

    def __init__(self, game: Game) -> None:
        self.draft = Draft(new_game(game.setup))
        self.after = game.setup.rules.word("dragon_timing") == "after_scoring"
        self.drawn: list[str] = []
        self.notes: list[str] = []
        self._named: dict[int, str] = {}  # ids of the figures on the board
        self._held: list[tuple[int, int, str]] = []  # prisoners as holder, owner, id

    def turn(self, turn: Turn) -> Iterator[Message]:
        """The messages of one turn part: the tile, one action or a pass, and the commit, which cannot be undone."""
        d, player = self.draft, turn.player
        walked: list[Message] = []
        passed: bool | None = None  # decided before the dragon moves, whenever the rules let it move
        for event in turn.events:
            if isinstance(event, TilePlaced | TileDiscarded):
                self.drawn.append(known(event.tile))
            if isinstance(event, DragonMoved):
                passed = self._passes(turn) if passed is None else passed
                walked += [message("MOVE_NEUTRAL_FIGURE", player, figureId="dragon.1", to=list(s)) for s in event.path]
            else:
                yield from self._said(event, player)
            apply(d, event)
            if isinstance(event, FigurePlaced):
                number, figure = next(reversed(d.standing.items()))
                self._named[number] = self._free(figure.player, figure.figure)
                if d.box.pieces[figure.figure].company and self._completes(figure.at, figure.segment):
                    self.notes.append(f"turn {d.turn + 1}: JCloisterZone puts no {figure.figure} on what its tile "
                                      "completes, and stops here")
            self._forget()
        if not d.laid:
            self.notes.append(f"turn {d.turn + 1}: no tile was laid; JCloisterZone lets the same player draw again")
            apply(d, TurnEnded())
            return
        if self._passes(turn) if passed is None else passed:
            yield message("PASS", player)
        commit = message("COMMIT", player, random=0.0)
        yield from (commit, *walked) if self.after else (*walked, commit)
        apply(d, TurnEnded())
        self._forget()

    def _said(self, event: object, player: int) -> Iterator[Message]:
        d = self.draft
        match event:
            case TilePlaced():
                if not self._room_to_flow(event):
                    self.notes.append(f"turn {d.turn + 2 - d.turn_open}: JCloisterZone wants more room for the river "
                                      "to flow on")
                yield message("PLACE_TILE", player, tileId=known(event.tile), rotation=f"R{90 * event.rot}",
                              position=list(event.at))
            case FigurePlaced():
                yield message("DEPLOY_MEEPLE", player, pointer=pointer(event.at, event.feature, event.where),
                              meepleId=self._free(event.player, event.figure))
            case FairyMoved():
                yield message("MOVE_NEUTRAL_FIGURE", player, figureId="fairy.1", to=self._beside(event))
            case PrincessRemoved() | Captured():
                found = standing(d, event.owner, event.figure, event.at, event.feature, event.where)
                if found is None:
                    self.notes.append(f"turn {d.turn + 1}: there is no such {event.figure} to take away")
                elif isinstance(event, Captured):
                    if event.owner != event.player:
                        self._held.append((event.player, event.owner, self._named[found.id]))
                    yield message("CAPTURE_FOLLOWER", player, pointer=self._meeple(found))
                else:
                    yield message("RETURN_MEEPLE", player, pointer=self._meeple(found), source="PRINCESS")
            case TowerRaised():
                yield message("PLACE_TOKEN", player, token="TOWER_PIECE", pointer=pointer(event.at, "tower", "I"))
            case RansomPaid():
                yield message("PAY_RANSOM", player, meepleId=self._released(event.released, event.jailer))
            case Exchanged():
                yield from self._exchange(event, player)
            case GoodsCounted():
                self.notes.append(f"turn {d.turn + 1}: goods that were counted by hand are not carried over")

    def _room_to_flow(self, event: TilePlaced) -> bool:
        """JCloisterZone requires two free squares ahead of the river's open end, and those beside them."""
        tiles, water = self.draft.tiles, mouths(catalogue()[event.tile], event.rot)
        for side in water:
            ahead = neighbour(event.at, side)
            if ahead in tiles or len(water) == 1:
                continue
            beyond = neighbour(ahead, side)
            left, right = (EDGES[(EDGES.index(side) + n) % 4] for n in (1, 3))
            if any(s in tiles for s in (beyond, *(neighbour(a, b) for a in (ahead, beyond) for b in (left, right)))):
                return False
        return True

    def _exchange(self, event: Exchanged, player: int) -> Iterator[Message]:
        """JCloisterZone asks only which of several kinds is returned to the player who has just taken a prisoner."""
        pair = mutual(self.draft)
        own = [m for holder, owner, m in self._held if owner == player and pair and holder in pair]
        for ref in event.released:
            holder = next((p for p in pair or () if p != ref.owner), -1)
            meeple = self._released(ref, holder)
            if ref.owner == player and len({m.split(".")[1] for m in own}) > 1:
                yield message("EXCHANGE_FOLLOWER", player, meepleId=meeple)

    def _meeple(self, figure: StandingFigure) -> Meeple:
        return {"featurePointer": pointer(figure.at, figure.feature, figure.where), "meepleId": self._named[figure.id]}

    def _beside(self, event: FairyMoved) -> list[int] | Meeple:
        d, ref = self.draft, event.beside
        if d.box.rules.word("fairy_mode") == "tile":
            return list(event.at)
        own = [f for f in d.standing.values() if f.at == event.at and f.player == event.player and f.id in self._named]
        found = standing(d, ref.owner, ref.figure, event.at, ref.feature, ref.where) if ref else None
        chosen = found or (own[0] if own else None)
        if chosen is None:
            self.notes.append(f"turn {d.turn + 1}: the fairy stands by nobody, which JCloisterZone does not allow")
            return list(event.at)
        return self._meeple(chosen)

    def _free(self, player: int, figure: str) -> str:
        """The first figure of that kind in the player's supply."""
        used = {*self._named.values(), *(m for _, _, m in self._held)}
        names = (f"{player}.{FIGURES[figure]}.{n}" for n in range(1, 100))
        return next(name for name in names if name not in used)

    def _released(self, ref: FigureRef, holder: int) -> str:
        """The prisoner that is released."""
        kind = f"{ref.owner}.{FIGURES[ref.figure]}."
        for n, (h, _, meeple) in enumerate(self._held):
            if meeple.startswith(kind) and holder in (h, -1):
                del self._held[n]
                return meeple
        self.notes.append(f"turn {self.draft.turn + 1}: there is no such prisoner to release")
        return kind + "1"

    def _forget(self) -> None:
        """Return figures that have left the board to the supply, and prisoners that were exchanged automatically."""
        d = self.draft
        self._named = {n: name for n, name in self._named.items() if n in d.standing}
        if "tower" in d.ext:
            wanted = [(h, o, FIGURES[f]) for h, o, f in towers(d).prisoners]
            kept = []
            for held in reversed(self._held):  # of two equal prisoners, JCloisterZone exchanges the first taken
                key = (held[0], held[1], held[2].split(".")[1])
                if key in wanted:
                    wanted.remove(key)
                    kept.append(held)
            self._held = kept[::-1]

    def _passes(self, turn: Turn) -> bool:
        """Whether the player passes where JCloisterZone waits for a choice: an action, or the tower's prisoner."""
        if not self.draft.actions:
            return self._could_act()
        return any(isinstance(e, TowerRaised) for e in turn.events) and bool(may_capture(self.draft))

    def _completes(self, at: Square, segment: int) -> bool:
        """Whether a tile has completed its segment's road or city: a builder cannot be placed there."""
        return segment != NO_SEGMENT and is_complete(self.draft, feature_at(self.draft, at, segment))

    def _could_act(self) -> bool:
        """Whether JCloisterZone waits for an action, so that an explicit pass is needed."""
        d = self.draft
        for name in FIGURES:
            company = d.box.pieces[name].company
            if in_hand(d, d.player, name) > 0 and any(not (company and self._completes(c.at, c.segment))
                                                      for c in legal_claims(d, name)):
                return True
        own = [f for f in d.standing.values() if f.player == d.player and d.box.pieces[f.figure].follower]
        follower = any(in_hand(d, d.player, name) > 0 for name in ("follower", "large"))
        flags = d.box.tile(d.tiles[d.last_tile].tile).flags if d.last_tile in d.tiles else frozenset()
        if "dragon" in d.ext:
            bound = d.box.rules.word("fairy_mode") == "follower"
            if any(f.id != beasts(d).fairy_of if bound else f.at != beasts(d).fairy for f in own):
                return True
            if "portal" in flags and follower and any(self._open(at) for at in d.tiles):
                return True
        if "tower" in d.ext:
            t = towers(d)
            free = [at for at, p in d.tiles.items() if "tower" in d.box.tile(p.tile).flags and not guard(d, at)]
            pieces = d.box.counts["tower_pieces"] - t.placed[d.player]
            return bool(free and pieces > 0) or (follower and any(t.heights.get(at) for at in free))
        return False

    def _open(self, at: Square) -> bool:
        """Whether a follower may be placed on that tile through a portal."""
        d, placed = self.draft, self.draft.tiles[at]
        if at == beasts(d).dragon:
            return False
        shape = d.box.shape(placed.tile, placed.rot)
        features = [feature_at(d, at, n) for n, kind in enumerate(shape.kinds) if kind in KINDS]
        return any(not any(d.box.pieces[d.standing[i].figure].follower for i in f.figures)
                   and (f.open > 0 or f.kind == "field") for f in features)


def notes(game: Game, replay: Replay) -> Iterator[str]:
    """Deviations of JCloisterZone's rules and scoring from the game as played."""
    rules = game.setup.rules
    if rules.farm_scoring == "per_city_all_farms" or rules.farm_points_per_city != 3:
        yield "JCloisterZone scores every farm by itself with 3 points per city, not by the rules of this game"
    if rules.incomplete_unit == "segment":
        yield "JCloisterZone counts tiles in what stays incomplete, not segments"
    if rules.word("unfinished_inn_cathedral") == "plain":
        yield "JCloisterZone pays nothing for unfinished roads with inns and cities with cathedrals"
    if rules.number("pig_bonus") != 1:
        yield "JCloisterZone pays 1 more per city for a pig"
    if rules.word("river_turn_window") == "next_bend":
        yield "JCloisterZone does not look beyond a straight river tile for the bend before"
    if rules.word("fairy_mode") == "tile" and any(isinstance(e, FairyMoved) for t in game.turns for e in t.events):
        yield "JCloisterZone 5.12 stops at the first turn after the fairy was put on a tile; load it in another version"
    fairy = "dragon" in game.setup.expansions
    if fairy and rules.word("fairy_turn") == "per_player" and rules.word("fairy_mode") == "tile":
        yield "JCloisterZone pays 1 point for each follower on the fairy's tile when a turn begins"
    if fairy and "nothing" in (rules.word("fairy_empty_farm"), rules.word("fairy_worthless")):
        yield "JCloisterZone pays 3 points at the fairy for whatever is scored"
    if rules.word("tower_at_dragon") == "stays_open":
        yield "JCloisterZone lets a follower close the tower on the dragon's square"
    if "base" not in game.setup.expansions:
        yield "JCloisterZone plays no expansion without the base game"
    yield from replay.notes
    for issue in dict.fromkeys((i.turn, i.text) for i in replay.draft.issues):
        yield f"turn {issue[0] + 1}: JCloisterZone stops where the rules were not followed: {issue[1]}"

