"""What a table needs before the first frame: its set-up, its tile pictures, its watcher, its camera."""

from __future__ import annotations

from urllib.parse import parse_qs

from hardware.sources import UnknownSource, open_source
from vision.watcher import TableWatcher

from bastide.errors import Failure, UsageError
from bastide.inputs import read_json
from scoring.errors import InvalidNotation
from scoring.events import Player, Setup, StartTile
from scoring.expansions import chosen
from scoring.rules import Rules
from scoring.tiles import catalogue, product
from scoring.transcript import read
from vision.frames import FrameSource, SourceError
from vision.tileset import TileSet, TileSetError, drawn_tileset, load_tileset


def table_setup(source: str, rules: Rules, expansions: tuple[str, ...], players: tuple[Player, ...] | None,
                first: str | None) -> Setup:
    """The set-up of a watched game. A simulated table knows its players; any other must be told them."""
    start = None
    if first is not None:
        if first not in catalogue():
            raise UsageError(f"--first {first}: is no tile; ids look like base.D")
        start = StartTile(tile=first)
    if players is None:
        transcript = parse_qs(source.partition(":")[2]).get("transcript") if source.startswith("sim:") else None
        if not transcript:
            raise UsageError("--players is missing: a JSON list of {\"name\", \"colour\"} in turn order")
        try:
            game = read(read_json(transcript[0]))
        except InvalidNotation as e:
            raise UsageError(f"{transcript[0]}: {e}") from e
        players, start = game.setup.players, start or game.setup.start
    return Setup(players=players, rules=rules, expansions=expansions, start=start)


def box_contents(expansions: tuple[str, ...]) -> dict[str, int]:
    """How many of each tile kind the boxes in play hold."""
    return {t.id: t.count for e in chosen(expansions) for name in e.products for t in product(name).tiles}


def load_tiles(folder: str | None, expansions: tuple[str, ...]) -> TileSet:
    """The taught pictures in a folder, or our own drawn tiles. Raises UsageError naming the folder and the file."""
    known = box_contents(expansions)
    if folder is None:
        return drawn_tileset(tuple(known))
    try:
        return load_tileset(folder, catalogue())
    except TileSetError as e:
        raise UsageError(str(e)) from e


def make_watcher(tiles: TileSet, setup: Setup) -> TableWatcher:
    """A watcher for this table's players and start tile."""
    return TableWatcher(tiles, tuple(p.colour for p in setup.players), setup.start.tile if setup.start else "base.D")


def open_camera(uri: str) -> FrameSource:
    """The camera behind a URI, ready for ``with``. A URI nobody knows is a usage error."""
    try:
        return open_source(uri)
    except UnknownSource as e:
        raise UsageError(str(e)) from e
    except SourceError as e:
        raise Failure(str(e)) from e
