"""The support file: one ZIP with diagnostics and without private data; and its replay.

    about.json     versions, the machine, the doctor's report; home folders are anonymised
    game.json      set-up (players are called by their colours) and every entry of the game on the table, and the scores
    looks/*.jsonl  the stored part of the reader's input in that game (`bastide.log.kept_looks`)
    board/N.jpg    the newest pictures of the table, rectified and cropped to the board
    logs/*.jsonl   the program's log, without secrets
    settings.conf  the service's options, without passwords
    settings.json  the page's settings, without passwords

`replay` folds its game again and compares the scores, so that a user's rules bug can become a test.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypedDict

import numpy as np

from bastide import __version__
from bastide.backup.backups import copy_database
from bastide.backup.unpacking import LOG
from bastide.errors import Failure, UsageError
from bastide.files.logs import clean
from bastide.files.writing import replacing
from bastide.inputs import COLOURS
from bastide.log.journal import journal_of
from bastide.log.kept_looks import kept_looks
from bastide.log.pictures import TilePose
from bastide.log.schema import pictures_of
from bastide.log.setup_json import setup_from_json, setup_to_json, unnamed
from bastide.log.store import Store
from bastide.log.stored import StoredGame
from bastide.machine.health import report
from bastide.settings.page_settings import without_passwords
from scoring.engine import step
from scoring.errors import InvalidNotation
from scoring.events import GameEnded
from scoring.log import entry_from_json, entry_to_json, state_of
from vision.images import encode_jpeg
from vision.stills import LARGEST, Part, Still, from_above

FORMAT, VERSION = "bastide-support", 1
PICTURES_KEPT, LOG_BYTES, GAME_BYTES = 6, 2_000_000, 20_000_000
PACKAGES = ("numpy", "opencv-python-headless", "flask", "waitress")


def write_support(data: Path, out: Path, settings: Path = Path("/etc/bastide/bastide.conf")) -> list[str]:
    """Write the file; returns the names of its members. Raises UsageError or Failure."""
    if out.exists() and not out.is_file() or not out.parent.is_dir():  # a device would be replaced by the file
        raise UsageError(f"{out}: must be a file in a folder that exists")
    about = {"format": FORMAT, "version": VERSION, "bastide": __version__, "python": platform.python_version(),
             "machine": platform.machine(), "system": platform.platform(), "packages": _packages(),
             "doctor": report(data)}
    files: dict[str, bytes] = {}
    names: set[str] = set()
    if (data / LOG).exists():
        files.update(_game(data, names))
    for file in sorted((data / "logs").glob("*.jsonl*")):
        if file.is_symlink() or not file.is_file():
            continue
        files[f"logs/{file.name}"] = clean_lines(file.read_bytes()[-LOG_BYTES:])
    if settings.is_file():
        files["settings.conf"] = clean_lines(settings.read_bytes())
    if (set_on_page := without_passwords(data)) is not None:
        files["settings.json"] = clean_lines(set_on_page.encode())
    files["about.json"] = json.dumps(about, indent=1, ensure_ascii=False).encode("utf-8", "replace")
    nobody = _nobody(data, names)
    for name in [n for n in files if n == "about.json" or n.startswith(("logs/", "settings"))]:
        files[name] = nobody(files[name].decode("utf-8", "replace")).encode()
    try:
        with replacing(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    except OSError as e:
        raise Failure(f"{out}: cannot be written ({e.strerror or e}); choose another place with --out") from e
    return list(files)


def _nobody(data: Path, names: set[str]) -> Callable[[str], str]:
    """A function that removes from a text the data folder's path, the home folders and the players' names."""
    places = sorted({str(data), str(data.resolve()), str(Path.home())} - {"/", "."}, key=len, reverse=True)
    parts = [rf"(?P<place>{'|'.join(map(re.escape, places))})(?![\w-])",
             r"(?P<home>/(?:home|Users|media|run/media)/)[^/\s\"']+"]
    if players := sorted((n for n in names if len(n) > 2), key=len, reverse=True):
        parts.append(rf"(?<!\w)(?:{'|'.join(map(re.escape, players))})(?!\w)")
    pattern = re.compile("|".join(parts))

    def masked(found: re.Match[str]) -> str:
        if found["place"]:
            return "~" if found["place"] == str(Path.home()) else "DATA"
        return f"{found['home']}***" if found["home"] else "***"

    return lambda text: pattern.sub(masked, text)


class Replayed(TypedDict):
    """A replayed game: number of entries, current and final scores, the ``recorded`` ones, and whether they are the
    ``same``."""

    entries: int
    scores: list[int]
    final: list[int]
    recorded: list[int]
    recorded_final: list[int]
    same: bool


def replay(file: Path) -> Replayed:
    """Fold the game of a support file again.

    Raises UsageError if it is not a support file or has no game.
    """
    if file.exists() and not file.is_file():  # a device may be endless
        raise UsageError(f"{file}: is no file; a support file is a ZIP that bastide support has packed")
    try:
        with zipfile.ZipFile(file) as archive:
            if "game.json" not in archive.namelist():
                raise UsageError(f"{file}: is no support file with a game in it")
            info = archive.getinfo("game.json")
            if info.file_size > GAME_BYTES:
                raise UsageError(f"{file}: the game in it is too large to be one")
            data = json.loads(archive.read(info))
        setup = setup_from_json(data["setup"])
        entries = tuple(entry_from_json(e) for e in data["entries"])
        recorded = [int(n) for n in data["scores"]]
        final = [int(n) for n in data["final"]]
    except FileNotFoundError:
        raise UsageError(f"{file}: there is no such file") from None
    except KeyError as e:
        raise UsageError(f"{file}: is no support file with a game in it ({e} is missing)") from None
    except (OSError, zipfile.BadZipFile, InvalidNotation, ValueError, TypeError, AttributeError, RecursionError,
            NotImplementedError, EOFError, RuntimeError, zlib.error) as e:
        raise UsageError(f"{file}: is no support file ({str(e).splitlines()[0][:80] if str(e) else 'empty'})") from None
    now, end = _scores(StoredGame(id=1, setup=setup, entries=entries, over=False))
    return {"entries": len(entries), "scores": now, "final": end, "recorded": recorded, "recorded_final": final,
            "same": now == recorded and end == final}


def _scores(game: StoredGame) -> tuple[list[int], list[int]]:
    """The scores now, and if the game ended now."""
    state = state_of(game.setup, game.entries)
    return list(state.scores), list((state if state.over else step(state, GameEnded())).scores)


def _game(data: Path, names: set[str]) -> dict[str, bytes]:
    """The game on the table, or before its first move the newest one: its entries, looks and board. Read from a copy,
    because the table may be in use. The names of all players ever are added to ``names``."""
    with tempfile.TemporaryDirectory(prefix="bastide-support-") as scratch:
        for source in (data / LOG, pictures_of(data / LOG)):
            if source.exists():
                copy_database(source, Path(scratch) / source.name)
        with suppress(OSError):  # of a damaged log the intact part is used
            shutil.copyfile(journal_of(data / LOG), journal_of(Path(scratch) / LOG))
        with Store(Path(scratch) / LOG) as store:
            names.update(name for line in store.games() for name in line.players if name.lower() not in COLOURS)
            table = store.on_table()
            files = {} if table is None else dict(kept_looks(data, table.id))
            game = table if table is not None and table.entries else store.newest()
            if game is None:
                return files
            scores, final = _scores(game)
            entries = [entry_to_json(replace(e, who="")) for e in game.entries]
            files["game.json"] = json.dumps({
                "setup": setup_to_json(unnamed(game.setup)), "entries": entries, "scores": scores,
                "final": final}).encode()
            for seq in sorted(store.pictures.stills(game.id))[-PICTURES_KEPT:]:
                kept = store.pictures.still(game.id, seq)
                if kept is not None and (picture := board(*kept)) is not None:
                    files[f"board/{seq}.jpg"] = picture
    return files


def board(jpeg: bytes, poses: Sequence[TilePose]) -> bytes | None:
    """A picture of the table cropped to its tiles, as JPEG; None on failure."""
    try:
        placed = {(int(x), int(y)): np.array(pose, np.float64) for x, y, pose in poses}
        xs, ys = [x for x, _ in placed], [y for _, y in placed]
        part = Part(x=min(xs), y=min(ys), width=min(LARGEST, max(xs) - min(xs) + 1),
                    height=min(LARGEST, max(ys) - min(ys) + 1))
        picture = from_above(Still(jpeg=jpeg, poses=placed), part, tile_px=96)
    except (ValueError, TypeError):
        return None
    return None if picture is None else encode_jpeg(picture)


def clean_lines(text: bytes) -> bytes:
    """Redacts anything that looks like a secret."""
    return "\n".join(clean(line) for line in text.decode("utf-8", "replace").splitlines()).encode()


def _packages() -> dict[str, str]:
    out = {}
    for name in PACKAGES:
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "missing"
    return out
