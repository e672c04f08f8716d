"""What a table needs before the first frame: its set-up, its tile pictures, its watcher, its camera."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

from bastide.errors import Failure, UsageError
from bastide.inputs import read_json
from bastide.tilebook import TileBook
from hardware.sources import UnknownSource, open_source
from reading.watcher import TableWatcher
from scoring.engine import new_game
from scoring.errors import InvalidNotation
from scoring.events import Player, Setup, StartTile
from scoring.expansions import chosen
from scoring.rules import Rules
from scoring.tiles import catalogue, product
from scoring.transcript import read
from vision.frames import Frame, FrameSource, SourceError
from vision.looks import TableLook
from vision.structure import told_apart
from vision.tileset import TileSet, TileSetError, drawn_tileset, load_tileset
from vision.tracking import make_tracker
from vision.view import View

TWO = (Player(name="Red", colour="red"), Player(name="Blue", colour="blue"))
FILE_LIKE = ("sim", "video", "folder")  # sources that are input files, not devices


def table_setup(source: str, rules: Rules, expansions: tuple[str, ...], players: tuple[Player, ...] | None,
                first: str | None) -> Setup:
    """The set-up of a watched game. A simulated table knows its players; elsewhere two are seated, and told so. Raises
    UsageError for one that cannot be played."""
    setup = _table_setup(source, rules, expansions, players, first)
    try:
        new_game(setup)
    except InvalidNotation as e:
        raise UsageError(str(e)) from e
    return setup


def _table_setup(source: str, rules: Rules, expansions: tuple[str, ...], players: tuple[Player, ...] | None,
                 first: str | None) -> Setup:
    start = None
    if first is not None:
        if first not in catalogue():
            raise UsageError(f"--first {first}: is no tile; ids look like base.D")
        start = StartTile(tile=first)
    if players is None:
        transcript = parse_qs(source.partition(":")[2]).get("transcript") if source.startswith("sim:") else None
        if not transcript:
            print("Red and Blue are seated; name your players with --players FILE", file=sys.stderr)
            return Setup(players=TWO, rules=rules, expansions=expansions, start=start)
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
    """The taught pictures in a folder, or our own drawn tiles where they can tell what the network cannot. Raises
    UsageError naming the folder and the file."""
    if folder is None:
        known = box_contents(expansions)
        return TileSet.empty() if told_apart(catalogue()[tile] for tile in known) else drawn_tileset(tuple(known))
    try:
        return load_tileset(folder, catalogue())
    except TileSetError as e:
        raise UsageError(str(e)) from e


def book_name(folder: str | None) -> str:
    """What a set of tiles is called on this machine: after its folder, or the owner's own."""
    return "own" if folder is None else "".join(c if c.isalnum() else "-" for c in Path(folder).resolve().name) or "own"


def tile_book(data: str, folder: str | None) -> TileBook:
    """What was learned on this machine of the tiles in ``folder``, or of the owner's tiles when none is named."""
    book = TileBook(Path(data) / "tiles" / book_name(folder))
    if book.notice:
        print(book.notice, file=sys.stderr)
    return book


def make_watcher(tiles: TileSet, setup: Setup, view: View | None = None, *,
                 record: Callable[[TableLook], None] | None = None) -> TableWatcher:
    """A watcher for this game's players and boxes. ``tiles`` are the pictures it reads with beside what it knows of
    every edition; ``view`` is what a calibration knows of the camera; ``record`` is given every look."""
    begun = new_game(setup)  # a start board's squares are in no catalogue
    ids = {*box_contents(setup.expansions), *(placed.tile for placed in begun.tiles.values())}
    kinds = [begun.box.tile(tile) for tile in sorted(ids)]
    tracker = make_tracker(kinds, tiles, tuple(p.colour for p in setup.players), view)
    return TableWatcher(setup, tracker, record=record)


def open_camera(uri: str) -> FrameSource:
    """The camera behind a URI, ready for ``with``. A URI or an option that nobody knows is a usage error."""
    try:
        return open_source(uri)
    except SourceError as e:
        raise wrong_source(uri, e) from e


@contextmanager
def opened(camera: FrameSource) -> Iterator[FrameSource]:
    """The camera opened. What cannot be opened is a usage error when it is a file, a failure when it is a device."""
    try:
        camera.__enter__()
    except SourceError as e:
        raise wrong_source(camera.info.uri, e) from e
    try:
        yield camera
    finally:
        camera.__exit__(None, None, None)


def looks(camera: FrameSource, every_s: float, wanted: Callable[[], bool], kept: Callable[[], bool]) -> Iterator[Frame]:
    """A frame every ``every_s`` seconds while more is ``wanted``, until the source ends.

    Raises Failure for a camera that fails before anything was ``kept``; afterwards that is only said.
    """
    looked_s = -every_s
    while wanted():
        try:
            frame = camera.read()
        except SourceError as e:
            if not kept():
                raise Failure(str(e)) from e
            print(f"{e}; what was seen until then is kept", file=sys.stderr)
            return
        if frame is None:
            return
        if frame.t_s - looked_s >= every_s:
            looked_s = frame.t_s
            yield frame


def is_device(uri: str) -> bool:
    """Whether a source is something that can be plugged in, not a file."""
    return uri.partition(":")[0].lower() not in FILE_LIKE


def wrong_source(uri: str, error: SourceError) -> UsageError | Failure:
    """What to tell the user of a source that cannot be opened."""
    wrong = isinstance(error, UnknownSource) or not is_device(uri)
    return UsageError(f"--source: {error}") if wrong else Failure(str(error))
