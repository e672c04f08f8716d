"""Looks as JSON lines, so that the evidence of a whole game is a small file: what `bastide watch --record` writes, and
what `bastide serve` keeps of the game on the table.

The first line is about the game (format, set-up and whatever the writer adds), every other one is a look. A further
line with the format marks a restart of the watching: what follows does not know what came before. Numbers are rounded
to what a reader of games can tell apart; readings far below the best one are left out.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from scoring.errors import InvalidNotation
from vision.looks import SECTORS, BesideLook, FigureLook, NeutralLook, SquareLook, StackLook, TableLook

FORMAT = "looks/1"
EVERY_S, BLOCK = 10.0, 24_000  # seconds and characters that a power cut may cost
_MOST = 8  # readings of a square
_OF_SILHOUETTES = 0.052  # spread of widths that are lengths of silhouettes (third-party films: 0.065 at a table)
_FAR = 14.0  # below the best one: as unlikely as what is not listed


class LookJson(TypedDict):
    """A look with short keys: frame, seconds, whether it was the whole table, times without frames, the number of the
    board, its squares as `_square` says, and the figures beside it (x, y, count, colours)."""

    f: int
    t: float
    w: NotRequired[int]
    g: NotRequired[Sequence[Sequence[float]]]
    b: NotRequired[int]
    s: Sequence[Sequence[object]]
    d: NotRequired[Sequence[Sequence[object]]]


def look_to_json(look: TableLook) -> LookJson:
    """The look as JSON-ready data; `look_from_json` reads it back, rounded."""
    squares = [[*at, *_square(s)] for at, s in sorted(look.squares.items())]
    told: LookJson = {"f": look.frame, "t": round(look.t_s, 2), "s": squares}
    if look.whole:
        told["w"] = 1
    if look.gaps_s:
        told["g"] = [[round(begun_s, 2), round(ended_s, 2)] for begun_s, ended_s in look.gaps_s]
    if look.board_number is not None:
        told["b"] = look.board_number
    if look.beside is not None:
        told["d"] = [[round(b.at[0], 2), round(b.at[1], 2), b.count, {c: round(v, 1) for c, v in b.colours.items()}]
                     for b in look.beside]
    return told


def _square(s: SquareLook) -> list[object]:
    ranked = sorted(s.tiles.items(), key=lambda r: (-r[1], r[0]))[:_MOST]
    kept = [[tile, rot, round(v, 1)] for (tile, rot), v in ranked if v > ranked[0][1] - _FAR]
    figures = None if s.figures is None else [_figure(f) for f in s.figures]
    neutral = {n: [round(v.there, 1), *(round(x, 3) for x in v.foot)] for n, v in s.neutral.items()}
    stacks = {n: _stack(v) for n, v in s.stacks.items()}
    more: list[object] = [neutral, stacks] if stacks else [neutral] if neutral else []
    if not math.isnan(s.touched_s):
        more = [neutral, stacks, round(s.touched_s, 2)]
    return [round(s.there, 1), round(s.seen, 2), round(s.rest, 1), kept, figures, *more]


def _stack(s: StackLook) -> list[object]:
    told = [round(s.there, 1), *(round(v, 4) for v in (*s.top, s.yaw, *s.floor)), [round(v, 1) for v in s.heights]]
    more = [None if s.tone is None else round(s.tone, 4), *([[round(v, 4) for v in s.darkened]] if s.darkened else [])]
    return [*told, *(more if more != [None] else [])]


def _figure(f: FigureLook) -> list[object]:
    return [round(f.foot[0], 3), round(f.foot[1], 3), round(f.spread, 3), round(f.there, 1), round(f.lying, 1),
            {c: round(v, 1) for c, v in f.colours.items()},
            *([{p: round(v, 1) for p, v in f.pieces.items()}] if f.pieces or f.width else []),
            *([[round(f.width, 4), round(f.width_spread, 3)]] if f.width else [])]


def _width(told: Sequence[float] | float, lying: float) -> tuple[float, float]:
    """The width and its spread; earlier recordings have the length of the silhouette instead, 0.36 tiles of a follower
    that stands and 0.33 of one that lies (third-party films). Both kinds in one game would make the longer ones seem
    large: seen from aside silhouettes are longer than the wood is wide. Raises ValueError for what is no width."""
    if not isinstance(told, int | float):
        width, spread = (float(v) for v in told)
        if not (0 < width < math.inf and 0 < spread < math.inf) and (width, spread) != (0.0, 0.0):
            raise ValueError("no width")
        return width, spread
    return told * (1.09 if lying > 0 else 1.0), _OF_SILHOUETTES if told else 0.0


def _darkened(told: Sequence[float]) -> tuple[float, ...]:
    """Raises TypeError and ValueError for what are none."""
    darkened = tuple(map(float, told))
    if len(darkened) != SECTORS or not all(map(math.isfinite, darkened)):
        raise ValueError("not what is darker in each direction")
    return darkened


def _beside(told: Sequence[Any]) -> BesideLook:
    """Raises TypeError and ValueError for what is none."""
    x, y, count, colours = told
    if not colours or not all(map(math.isfinite, (x, y, count))):
        raise ValueError("no figures beside the board")
    return BesideLook(at=(float(x), float(y)), count=int(count),
                      colours={str(c): float(v) for c, v in dict(colours).items()})


def look_from_json(data: Mapping[str, object]) -> TableLook:
    """Raises InvalidNotation."""
    told: Any = data  # what has another shape fails below
    try:
        squares = {}
        for x, y, there, seen, rest, tiles, figures, *more in told["s"]:
            found = None if figures is None else tuple(
                FigureLook(foot=(f[0], f[1]), spread=f[2], there=f[3], lying=f[4], colours=f[5],
                           pieces=f[6] if len(f) > 6 else {}, width=width, width_spread=spread)
                for f in figures for width, spread in [_width(f[7] if len(f) > 7 else 0.0, f[4])])
            squares[x, y] = SquareLook(there=there, seen=seen, rest=rest, figures=found,
                                       tiles={(tile, rot): v for tile, rot, v in tiles},
                                       neutral={n: NeutralLook(there=v[0], foot=(v[1], v[2]))
                                                for n, v in (more[0] if more else {}).items()},
                                       stacks={n: StackLook(there=v[0], top=(v[1], v[2]), yaw=v[3],
                                                            floor=(v[4], v[5]), heights=tuple(v[6]),
                                                            tone=v[7] if len(v) > 7 else None,
                                                            darkened=_darkened(v[8]) if len(v) > 8 else ())
                                               for n, v in (more[1] if len(more) > 1 else {}).items()},
                                       touched_s=more[2] if len(more) > 2 else math.nan)
        return TableLook(frame=told["f"], t_s=told["t"], squares=squares, whole=bool(told.get("w")),
                         gaps_s=tuple((begun_s, ended_s) for begun_s, ended_s in told.get("g", ())),
                         board_number=told.get("b"),
                         beside=None if told.get("d") is None else tuple(map(_beside, told["d"])))
    except (KeyError, TypeError, ValueError, IndexError) as e:
        raise InvalidNotation(f"a look: {e!r}") from e


def write_looks(path: Path, about: Mapping[str, object], looks: Iterable[TableLook]) -> None:
    """Write a game's looks; a name that ends in .gz is compressed."""
    data = (head(about) + "".join(map(line, looks))).encode("utf-8")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def head(about: Mapping[str, object]) -> str:
    """The line that watching begins with."""
    return json.dumps({"format": FORMAT, **about}, separators=(",", ":")) + "\n"


def line(look: TableLook) -> str:
    """A look as a line."""
    return json.dumps(look_to_json(look), separators=(",", ":")) + "\n"


class Recorder:
    """Appends looks to a file as they are made. However the program ends, at most the newest are lost: ``every_s``
    seconds of the looks' own time, or ``block`` characters. A name that ends in .gz is compressed block by block. The
    file's content is kept, and a new section begins after it. Recording a look never fails: once the file cannot be
    written the rest is dropped, and `flush` says why. Construction and `flush` raise OSError."""

    def __init__(self, path: Path, about: Mapping[str, object], *, every_s: float = EVERY_S,
                 block: int = BLOCK) -> None:
        self.path, self._every_s, self._block = path, every_s, block
        self._text, self._since_s = head(about), -math.inf  # the first look, of the whole board, is written at once
        self.failed: OSError | None = None
        self._write()

    def __call__(self, look: TableLook) -> None:
        """Record a look; the buffer is written from time to time."""
        if self.failed is not None:
            return
        self._text += line(look)
        if self._since_s > look.t_s:
            self._since_s = look.t_s
        if len(self._text) >= self._block or look.t_s - self._since_s >= self._every_s:
            with suppress(OSError):
                self.flush()

    def flush(self) -> None:
        """Write out the buffer."""
        if self.failed is not None:
            raise self.failed
        self._since_s = math.inf
        self._write()

    def _write(self) -> None:
        data, self._text = self._text.encode("utf-8"), ""
        try:
            if data:
                with open(self.path, "ab") as f:
                    f.write(gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data)
        except OSError as e:
            self.failed = e
            raise


def read_looks(path: Path) -> tuple[dict[str, object], list[TableLook]]:
    """The header and the looks of a game that was watched without interruption. Raises InvalidNotation that names the
    line, and OSError."""
    watched = read_watched(path)
    if len(watched) > 1:
        raise InvalidNotation(f"{path.name}: watching began anew {len(watched) - 1} times in it")
    return watched[0]


def read_watched(path: Path) -> list[tuple[dict[str, object], list[TableLook]]]:
    """The header and the looks of each section, one per start of the watching. Raises InvalidNotation that names the
    line, and OSError."""
    raw = path.read_bytes()
    try:
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as e:
        raise InvalidNotation(f"{path.name}: not a recording of looks: {e}") from e
    rows = list(_rows(path.name, text))
    if not rows or any(row.get("format", FORMAT) != FORMAT for row in rows) or "format" not in rows[0]:
        raise InvalidNotation(f"{path.name}: the first line must have the format {FORMAT!r}")
    out: list[tuple[dict[str, object], list[TableLook]]] = []
    for row in rows:
        if "format" in row:
            out.append((row, []))
        else:
            out[-1][1].append(look_from_json(row))
    return out


def _rows(name: str, text: str) -> Iterator[dict[str, object]]:
    for n, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as e:
                raise InvalidNotation(f"{name}, line {n}: {e}") from e
            if not isinstance(row, dict):
                raise InvalidNotation(f"{name}, line {n}: must be an object")
            yield row
