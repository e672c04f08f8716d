"""Accuracy of watching whole games: simulated tables with ground truth, one line per game.

    ./run bench watch_games [--games 10] [--level normal] [--turns N] [--demo]

Plays recorded games from ../shared/games/dev (2 to 5 players; with --demo, or if they are absent, games of our own;
with --of BOX random legal games of a box without recorded games) through the simulated camera and the watcher, exactly
as `bastide watch` does, and compares the result with the truth. A silent error is a tile, a figure or a tile's player
that is wrong, missing or extra and was not asked about; `owner` counts the tiles with the right player. `others` are
turns in which a neutral piece moved, by the rules or by hand; one is right if its place and the figure beside it are
right, and a wrong one is silent unless that very move was asked about. `moves` are all other events of a box's rules (a
block added, a figure captured, a ransom paid): one is right if it is in the turn of the same tile, and a missing or
extra one is silent unless that very event was asked about. Points that differ though all of that is right are one
silent error. `entered` are those that no camera can see and that the
simulated person entered with the page's button for them (with --answered).

With --record the looks of each game are kept, and with --replay they are read again without rendering the table, in a
hundredth of the time: for changes to `reading/` that do not affect what is looked at. With --cost each game is
followed by what looking for tiles beside their place took of the processor time of all frames.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from person import Person
from recorded_looks import read_again
from watch_speed import Clock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "scoring"))
from random_games import random_game  # noqa: E402

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.tiles.art import box_contents, load_tiles
from bastide.tiles.tilebook import TileBook
from bastide.watching.following import commit, follow
from bastide.watching.learning import Learner
from bastide.watching.recording import transcript_of
from bastide.watching.watcher import make_watcher
from reading.claims import CLAIM
from reading.record import Recorder, read_looks
from reading.watcher import TableWatcher
from scoring.engine import new_game, step
from scoring.events import FigurePlaced, TileDiscarded, TilePlaced, TurnEnded
from scoring.expansions import KNOWN
from scoring.log import effective
from scoring.report import score_game
from scoring.state import GameState
from scoring.tiles import Square, catalogue
from scoring.transcript import Game, read, turns_of, write
from vision.images import encode_jpeg
from vision.simulator import LEVELS, Options, Simulator
from vision.simulator.supply import beside
from vision.stills import Part, Still, from_above
from vision.tileset import merged

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "games" / "dev"
HALF_MM = 8.0  # half of a follower
RANDOM_TILES = 40  # of a random game
COLUMNS = ("game", "players", "tiles", "right", "owner", "figures", "right", "others", "right", "moves", "right",
           "asked", "entered", "silent", "totals", "frames", "fps", "p95 ms")


def games(count: int, demo: bool, of: str = "base") -> Iterator[tuple[str, Game]]:
    """Named games to play: recorded ones with 2 to 5 players, else our own."""
    files = [] if demo else sorted(RECORDED.glob(f"{of}-*.json.gz"))
    found = 0
    boxes = of.split("_") if KNOWN.keys() >= set(of.split("_")) else []
    # a box without a start tile of its own is played with the base game
    if boxes and all(start.takes_over for name in boxes for start in KNOWN[name].starts):
        boxes = ["base", *boxes]
    for seed in itertools.count(1) if boxes and not files and not demo else ():
        setup, events = random_game(seed, *boxes, tiles=RANDOM_TILES)
        if len(setup.players) <= 5:
            yield f"{of}-{seed}", Game(setup=setup, turns=turns_of(setup, tuple(events)))
            found += 1
        if found == count:
            return
    for file in files:
        game = read(json.loads(gzip.decompress(file.read_bytes())))
        if len(game.setup.players) <= 5 and found < count:
            found += 1
            yield file.name.removesuffix(".json.gz"), game
    for seed in range(1, count - found + 1):
        yield f"demo-{seed}", demo_game(seed)


def compare(truth: Game, watched: dict, claims: Collection[Square] = ()) -> dict:  # type: ignore[type-arg]
    """Counts of right, asked and silently wrong readings. The start tile fixes the squares: no alignment is needed.
    ``claims`` are the tiles with a question about who claimed the features they completed."""
    def laid(turns: list) -> dict:  # type: ignore[type-arg]
        out = {}
        for number, turn in enumerate(turns):
            tile = None
            for m in turn["moves"]:
                if m["do"] == "tile":
                    tile = out[tuple(m["at"])] = {"tile": m, "player": turn["player"], "figures": [],
                                                   "turn": number}
                elif m["do"] == "deploy" and tile is not None:
                    tile["figures"].append({"player": turn["player"], **m})
        return out

    true, seen = laid(write(truth)["turns"]), laid(watched["turns"])
    n: dict[str, Any] = {"tiles": len(true), "tiles_right": 0, "owner": 0, "figures": 0, "figures_right": 0,
                         "asked": 0, "silent": 0, "errors": [], "wrong": []}
    for at, t in true.items():
        s = seen.pop(at, None)
        tile_ok = s is not None and same_tile(t["tile"], s["tile"])
        n["tiles_right"] += tile_ok
        owner_ok = s is not None and s["player"] == t["player"]
        n["owner"] += owner_ok
        true_figures, seen_figures = (Counter(map(figure_key, x["figures"] if x else ())) for x in (t, s))
        figure_ok = true_figures == seen_figures
        n["figures"] += true_figures.total()
        n["figures_right"] += (true_figures & seen_figures).total()
        asked = s is not None and (any(m.get("asked") for m in (s["tile"], *s["figures"])) or at in claims)
        n["asked"] += asked
        if not (tile_ok and figure_ok and owner_ok or asked):
            n["silent"] += 1
            n["wrong"].append(at)
        if asked or not (tile_ok and figure_ok and owner_ok):
            n["errors"].append(f"turn {t['turn']} {at}: {'asked' if asked else 'SILENT'}, was {told(t)}, "
                               f"read {told(s) if s else 'nothing'}")
    n["silent"] += sum(not s["tile"].get("asked") for s in seen.values())
    n["errors"] += [f"{at}: {'asked' if s['tile'].get('asked') else 'SILENT'}, was nothing, read {told(s)}"
                    for at, s in seen.items()]
    stood, stands = walked(truth), walked(read(watched))
    moved = [key for key, (_, went) in stood.items() if went or key in stands and stands[key][1]]
    wrong = [key for key in moved if stands.get(key, (None, False)) != stood[key]]
    n |= {"others": len(moved), "others_right": len(moved) - len(wrong)}
    doubted_moves = set(asked_moves(watched))
    n["silent"] += sum(key not in doubted_moves for key in wrong)
    n["wrong"] += [key[1:] for key in wrong if key not in doubted_moves]
    n["errors"] += [f"{key[0]} at {key[1:]}: {'asked' if key in doubted_moves else 'SILENT'}, was {stood[key]}, read "
                    f"{stands.get(key)}" for key in wrong]
    happened = Counter(key for key, _ in further(truth, write(truth)))
    seen_ = list(further(read(watched), watched))
    doubted = Counter(key for key, asked in seen_ if asked)
    missed, extra = happened - Counter(k for k, _ in seen_), Counter(k for k, _ in seen_) - happened
    n |= {"moves": happened.total(), "moves_right": (happened - missed).total()}
    right, of = (Counter(json.loads(what.rpartition(" by ")[0])["do"] for _, what in moves.elements())
                 for moves in (happened - missed, happened))
    n["kinds"] = [f"{kind}: {right[kind]} of {count} right" for kind, count in sorted(of.items())]
    n["silent"] += missed.total() + (extra - doubted).total()
    n["wrong"] += [square for square, _ in (*missed, *(extra - doubted)) if square is not None]
    n["errors"] += [f"{square}: {said} was {what}" for said, rest in (("MISSED", missed), ("EXTRA", extra))
                    for square, what in rest.elements()]
    differing = differs(truth, read(watched))
    if differing is not None and not n["errors"]:
        n["silent"] += 1  # something that none of the comparisons above looks at
    n["errors"] += [differing] if differing is not None else []
    return n


def differs(truth: Game, watched: Game) -> str | None:
    """The first difference of the players' points, after a tile or at the end of the game, as text; None if there is
    none. Turns without a tile, which nobody sees, count with the tile after them."""
    true, seen = score_game(truth), score_game(watched)
    then = {at: points for _, at, points in _points(watched, seen["turns"])}
    for turn, at, points in _points(truth, true["turns"]):
        if at in then and points != then[at]:
            return f"turn {turn} {at}: points were {points}, read {then[at]}"
    a, b = true["totals"], seen["totals"]
    return f"end: points were {a}, read {b}" if a != b else None


def _points(game: Game, points: list[list[int]]) -> Iterator[tuple[int, Square, list[int]]]:
    """By turn with a tile its number, the tile's square and the points at its end."""
    for n, (turn, then) in enumerate(zip(game.turns, points, strict=True)):
        for event in turn.events:
            if isinstance(event, TilePlaced):
                yield n, event.at, then


def further(game: Game, data: dict) -> Iterator[tuple[tuple[object, str], bool]]:  # type: ignore[type-arg]
    """The events of a game that are neither tiles nor figures nor moves of neutral pieces, and that the rules do not
    bring about anyway: the square of the turn's tile and the event as text; and whether it was asked about."""
    state = new_game(game.setup)
    for turn, row in zip(game.turns, data["turns"], strict=True):
        square = next((e.at for e in turn.events if isinstance(e, TilePlaced)), None)
        for event, move in zip(turn.events, row["moves"], strict=True):
            before, state = state, step(state, event)
            moved = any(p.goes(event) or p.at(state) != p.at(before) or p.by(state) != p.by(before)
                        for p in state.box.neutrals)
            with_it, without = (step(s, TurnEnded()) for s in (state, before))
            moved |= outcome(with_it) == outcome(without)
            if not moved and not isinstance(event, TilePlaced | FigurePlaced | TileDiscarded | TurnEnded):
                told_ = {k: v for k, v in move.items() if k not in ("asked", "confidence", "frame")}
                yield (square, f"{json.dumps(told_)} by {turn.player}"), bool(move.get("asked"))
        state = step(state, TurnEnded())


def outcome(state: GameState) -> object:
    """All that can be told apart of a game's state."""
    return state.scores, sorted(state.standing), state.box.shows(state), state.supply


def walked(game: Game) -> dict[tuple[str, int, int], tuple[object, bool]]:
    """The position of each neutral piece at the end of the turn in which a tile was laid, by its name and that tile's
    square, and whether it moved there in that turn."""
    state = new_game(game.setup)
    out: dict[tuple[str, int, int], tuple[object, bool]] = {}
    for turn in game.turns:
        before, square = state, None
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
            square = event.at if isinstance(event, TilePlaced) else square
        for piece in state.box.neutrals if square is not None else ():
            there = piece.at(state), piece.by(state) is not None and state.standing[piece.by(state)].player \
                if piece.by(state) in state.standing else None
            moved = piece.at(state) != piece.at(before) or any(piece.goes(e) for e in turn.events)
            out[piece.name, *square] = there, moved
    return out


def asked_moves(data: dict) -> Iterator[tuple[str, int, int]]:  # type: ignore[type-arg]
    """The moves of neutral pieces that are open questions in a watched game, named as by `walked`."""
    game = read(data)
    state = new_game(game.setup)
    for turn, row in zip(game.turns, data["turns"], strict=True):
        square = next((e.at for e in turn.events if isinstance(e, TilePlaced)), None)
        for event, move in zip(turn.events, row["moves"], strict=True):
            before, state = state, step(state, event)
            if square is None or not move.get("asked") or isinstance(event, TilePlaced | FigurePlaced):
                continue
            for piece in state.box.neutrals:
                if piece.goes(event) or piece.at(state) != piece.at(before):
                    yield piece.name, *square
        state = step(state, TurnEnded())


def told(move: dict) -> str:  # type: ignore[type-arg]
    """A tile with the figures of its turn, as text."""
    tile = move["tile"]
    return f"{tile['tile']}/{tile['rot']} by {move['player']}" + "".join(
        f" + {f['figure']} of {f['player']} on {f['feature']} {f['where']}"
        + (f" of {tuple(f['at'])}" if f["at"] != tile["at"] else "") for f in move["figures"])


def same_tile(a: dict, b: dict) -> bool:  # type: ignore[type-arg]
    """Whether two tile moves are equivalent by the rules."""
    return catalogue()[a["tile"]].signature(a["rot"]) == catalogue()[b["tile"]].signature(b["rot"])


def figure_key(move: dict) -> tuple[object, ...]:  # type: ignore[type-arg]
    """What identifies a figure put somewhere: whose it is, what it is, and where it stands."""
    return (move["player"], move["figure"], *move["at"], move["feature"], move["where"])


def same_figure(a: dict, b: dict) -> bool:  # type: ignore[type-arg]
    """Whether the same figure of the same player stands on the same segment, or none in both."""
    if not a["figure"] or not b["figure"]:
        return not a["figure"] and not b["figure"]
    keys = ("at", "figure", "feature", "where")
    return a["player"] == b["player"] and all(a["figure"][k] == b["figure"][k] for k in keys)


def play(name: str, game: Game, level: str, fps: float, seed: int, keep: Path | None, taught: str | None = None,
         drawn_with: str | None = None, mishaps: str = "level",
         book: TileBook | None = None, answered: bool = False, record: Path | None = None,
         replay: Path | None = None, clock: Clock | None = None,
         pictures: Path | None = None) -> dict:  # type: ignore[type-arg]
    """Watch one simulated game; returns its row. Learned tiles go into ``book``, if given; with ``answered`` a
    simulated person answers the questions. The looks are kept in the file ``record``, or read from ``replay``.
    ``clock`` adds up what looking for tiles beside their place takes. With ``pictures`` the camera's picture around
    each error that was not asked about is written to that folder."""
    person = None
    if answered:
        sees = replay is None or any(look.beside is not None for look in read_looks(replay)[1])  # earlier ones do not
        options = Options(level=level, fps=fps, mishaps=mishaps)
        person = Person(game, holders_in_view(game, seed, options) if sees else ())
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        path = Path(folder) / "game.json"
        path.write_text(json.dumps(write(game)), "utf-8")
        session = TableSession(store, game.setup)
        tiles = load_tiles(taught, game.setup.expansions)
        learner = Learner(book, session, lambda _: tiles, box_contents) if book else None
        recorder = Recorder(record, {"setup": path.name}) if record else None
        watcher = make_watcher(merged(tiles, book.tileset()) if book else tiles, game.setup, record=recorder)
        if clock is not None and watcher.tracker.astray is not None:
            watcher.tracker.astray = clock.timed("astray", watcher.tracker.astray)
        begun = time.perf_counter()
        uri = f"sim:transcript={path}&seed={seed}&level={level}&fps={fps}&mishaps={mishaps}"
        if replay is not None:
            done = read_again(replay, session, person.save if person else commit)
        else:
            with open_camera(uri + (f"&tiles={drawn_with}" if drawn_with else "")) as camera:
                done = follow(camera, watcher, session, learner=learner, save=person.save if person else None)
        if person is not None:
            person.answer_rules(session, over=True)
        if recorder is not None:
            recorder.flush()
        if learner is not None:
            learner.write()
        spent = time.perf_counter() - begun
        watched = transcript_of(session)
        claims = {(q["at"][0], q["at"][1]) for q in session.view()["questions"] if q["text_key"] == CLAIM}
        found = compare(game, watched, claims)
        if pictures is not None:
            draw_errors(session, store, found["wrong"], pictures)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.watched.json").write_text(json.dumps(watched, indent=1), "utf-8")
        (keep / f"{name}.truth.json").write_text(json.dumps(write(game)), "utf-8")
    equal = watched["expect"]["totals"] == score_game(game)["totals"]
    found |= {"asked": len(person.asked), "entered": len(person.entered)} if person else {"entered": 0}
    found["questions"] = person.asked if person else []
    return {"name": name, "players": len(game.setup.players), **found, "totals": equal,
            "frames": done.frames, "fps": done.frames / spent, "p95": done.latency_ms(0.95)}


def holders_in_view(game: Game, seed: int, options: Options) -> set[int]:
    """The players whose figures beside the board are in the camera's view, with the first that they hold of others."""
    if not new_game(game.setup).box.holds_off_board:
        return set()
    table = Simulator(write(game), seed, options)
    camera, heaps = table.truth.camera, table.props.supply if table.props is not None else ()
    first = {player: camera.project([(*beside(heap, 0), 0.0)])[0] for player, heap in enumerate(heaps) if heap}
    edge = HALF_MM * camera.scale((0.0, 0.0))
    return {player for player, (x, y) in first.items()
            if edge < x < camera.width - edge and edge < y < camera.height - edge}


def draw_errors(session: TableSession, store: Store, wrong: Collection[Square], folder: Path) -> None:
    """Write the 3 x 3 squares around each of these, as the camera saw them when the square's tile was logged; those of
    a tile that is not in the log as they were seen last."""
    laid = {e.at: seq for seq, e in effective(session.entries) if isinstance(e, TilePlaced)}
    kept = store.pictures.stills(session.game)
    for at in dict.fromkeys(wrong):
        seq = laid.get(at, max(kept, default=-1))
        found = store.pictures.still(session.game, seq) if seq in kept else None
        poses = {(x, y): np.array(pose) for x, y, pose in found[1]} if found else {}
        part = Part(x=at[0] - 1, y=at[1] - 1, width=3, height=3)
        picture = from_above(Still(jpeg=found[0], poses=poses), part) if found else None
        if picture is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{at[0]},{at[1]}.jpg").write_bytes(encode_jpeg(picture))


def told_cost(clock: Clock) -> str:
    """What looking for tiles beside their place took of the processor time of all frames, as a sentence."""
    spent, calls = clock.spent, clock.calls
    return (f"beside their place: {100 * spent.get('astray', 0.0) / spent['frames']:.1f} % of the frames' "
            f"{spent['frames']:.0f} s ({1e3 * spent['frames'] / calls['frames']:.0f} ms each)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--level", default="normal", choices=list(LEVELS))
    parser.add_argument("--fps", type=float, default=4.0, help="frames per simulated second (default 4)")
    parser.add_argument("--turns", type=int, help="only the first N turns of each game")
    parser.add_argument("--demo", action="store_true", help="our own games instead of recorded ones")
    parser.add_argument("--tiles", help="tile folder that is taught (default: our own drawings)")
    parser.add_argument("--drawn-with", metavar="DIR", help="tile folder that the simulated table is drawn with")
    parser.add_argument("--mishaps", default="level",
                        help="what goes wrong at the table: level (default), none, or names with commas between")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first N games")
    parser.add_argument("--seed", type=int, default=1, help="of the first game's table; the others count on from it")
    parser.add_argument("--of", default="base", help="which recorded games: base (default), river, inns_traders...")
    parser.add_argument("--answered", action="store_true", help="somebody answers every question at once, and right")
    parser.add_argument("--errors", action="store_true", help="tell questions, errors, and moves by their kind")
    parser.add_argument("--record", type=Path, metavar="DIR", help="keep every game's looks in this folder")
    parser.add_argument("--replay", type=Path, metavar="DIR", help="read the looks kept there instead of watching")
    parser.add_argument("--keep", type=Path, help="write every watched game and its truth into this folder")
    parser.add_argument("--cost", action="store_true", help="tell what looking for tiles beside their place costs")
    args = parser.parse_args()
    clock = Clock() if args.cost else None
    if clock is not None:
        clock.watch("frames", TableWatcher, "feed")
    print("  ".join(f"{c:>8}" for c in COLUMNS), flush=True)
    rows = []
    for n, (name, game) in enumerate(games(args.games + args.skip, args.demo, args.of)):
        if n < args.skip:
            continue
        if args.turns:
            game = Game(setup=game.setup, turns=game.turns[:args.turns])
        file = f"{name}-{args.level}-{n + args.seed}.jsonl.gz"
        if args.record:
            args.record.mkdir(parents=True, exist_ok=True)
            (args.record / file).unlink(missing_ok=True)
        r = play(name, game, args.level, args.fps, n + args.seed, args.keep, args.tiles, args.drawn_with,
                 args.mishaps, answered=args.answered, record=args.record / file if args.record else None,
                 replay=args.replay / file if args.replay else None, clock=clock)
        rows.append(r)
        cells = (r["name"], r["players"], r["tiles"], r["tiles_right"], r["owner"], r["figures"], r["figures_right"],
                 r["others"], r["others_right"], r["moves"], r["moves_right"], r["asked"], r["entered"], r["silent"],
                 "equal" if r["totals"] else "differ", r["frames"], f"{r['fps']:.0f}", f"{r['p95']:.0f}")
        print("  ".join(f"{c!s:>8}" for c in cells), flush=True)
        if args.errors:
            told_ = (*r["errors"], *r["kinds"], *(f"asked: {q}" for q in r["questions"]))
            print("\n".join(f"          {e}" for e in told_), flush=True)
        if clock is not None:
            print(f"          {told_cost(clock)}", flush=True)
            clock.clear()
    asked = sorted(r["asked"] for r in rows)
    print(f"{len(rows)} games at level {args.level}: totals equal in {sum(r['totals'] for r in rows)}, "
          f"silent errors {sum(r['silent'] for r in rows)}, questions in the median {asked[len(asked) // 2]}")


if __name__ == "__main__":
    main()
