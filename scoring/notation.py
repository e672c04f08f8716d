"""Serialisation of event fields: each codec reads and writes one kind of value, as a word and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from scoring.errors import InvalidNotation
from scoring.tiles import Square, catalogue, parse_where

T = TypeVar("T")
_FAR = 1000  # larger than any table: a typing error must not create a huge board


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec(Generic[T]):
    """``write``/``parse`` for the text form (one word without spaces or ``=``), ``to_json``/``from_json`` for JSON.
    ``kind`` names it for clients without knowledge of the events."""

    kind: str
    write: Callable[[T], str]
    parse: Callable[[str], T]
    to_json: Callable[[T], object]
    from_json: Callable[[object], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRef:
    """One figure: its owner, kind, and feature on the square given by the event."""

    owner: int
    figure: str
    feature: str = ""
    where: str = ""


def known_tile(tile: object) -> str:
    """The tile id, or InvalidNotation."""
    if not isinstance(tile, str) or (tile not in catalogue() and tile not in _boards()):
        raise InvalidNotation(f"unknown tile {tile!r}")
    return tile


@cache
def _boards() -> frozenset[str]:
    """Tiles of start boards, which are not in the catalogue."""
    from scoring.expansions import KNOWN

    return frozenset(t.id for e in KNOWN.values() for t in e.tiles)


@cache
def _names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the figures and of the kinds of features and other places, over all expansions."""
    from scoring.expansions import KNOWN

    figures = dict.fromkeys(p.name for e in KNOWN.values() for p in e.pieces if p.stands)
    features = dict.fromkeys((*(k.name for e in KNOWN.values() for k in e.kinds),
                              *(s.kind for t in catalogue().values() for s in t.segments)))
    return tuple(figures), tuple(features)


def known_figure(figure: object) -> str:
    """The figure's name, or InvalidNotation listing the known ones."""
    if figure not in _names()[0]:
        raise InvalidNotation(f"unknown figure {figure!r}; known are {', '.join(_names()[0])}")
    return str(figure)


def known_feature(feature: object) -> str:
    """The kind of feature, or InvalidNotation listing the known ones."""
    if feature not in _names()[1]:
        raise InvalidNotation(f"unknown feature {feature!r}; known are {', '.join(_names()[1])}")
    return str(feature)


def square(value: object) -> Square:
    """``[x, y]`` as a square. Raises InvalidNotation."""
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(v) is int and abs(v) < _FAR for v in value):
        return value[0], value[1]
    raise InvalidNotation(f"must be two whole numbers, not {value!r}")


def whole(low: int, high: int) -> Callable[[object], int]:
    """A parser for whole numbers in a range."""

    def read(value: object) -> int:
        if type(value) is not int or not low <= value <= high:
            raise InvalidNotation(f"must be a whole number from {low} to {high}, not {value!r}")
        return value

    return read


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InvalidNotation(f"must be a whole number, not {word!r}") from None


def _int(kind: str, low: int, high: int) -> Codec[int]:
    check = whole(low, high)
    return Codec(kind=kind, write=str, parse=lambda w: check(_number(w)), to_json=int, from_json=check)


def _word(kind: str, check: Callable[[object], str]) -> Codec[str]:
    return Codec(kind=kind, write=str, parse=check, to_json=str, from_json=check)


def _place(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidNotation(f"must be text, not {value!r}")
    return parse_where(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidNotation(f"must be true or false, not {value!r}")
    return value


def _pair(word: str) -> Square:
    return square([_number(n) for n in word.split(",")])


def _path(value: object) -> tuple[Square, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InvalidNotation(f"must be a list of squares, not {value!r}")
    return tuple(square(v) for v in value)


def _ref(value: object) -> FigureRef:
    if not isinstance(value, Mapping):
        raise InvalidNotation(f"must be an object with owner and figure, not {value!r}")
    for key in ("owner", "figure"):
        if key not in value:
            raise InvalidNotation(f"{key} is missing")
    feature, place = value.get("feature"), value.get("where")
    return FigureRef(owner=_PLAYERS(value["owner"]), figure=known_figure(value["figure"]),
                     feature=known_feature(feature) if feature else "", where=_place(place) if place else "")


def _ref_json(ref: FigureRef) -> dict[str, object]:
    out: dict[str, object] = {"owner": ref.owner, "figure": ref.figure}
    return {**out, "feature": ref.feature, "where": ref.where} if ref.feature else out


def _ref_word(ref: FigureRef) -> str:
    words = [str(ref.owner), ref.figure]
    return "/".join([*words, ref.feature, ref.where.replace(" ", ".")] if ref.feature else words)


def _ref_parse(word: str) -> FigureRef:
    parts = word.split("/")
    if len(parts) not in (2, 4):
        raise InvalidNotation(f"must be owner/figure or owner/figure/feature/where, not {word!r}")
    data: dict[str, object] = {"owner": _number(parts[0]), "figure": parts[1]}
    if len(parts) == 4:
        data |= {"feature": parts[2], "where": parts[3].replace(".", " ")}
    return _ref(data)


def _refs(value: object) -> tuple[FigureRef, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidNotation(f"must be a list, not {value!r}")
    return tuple(_ref(v) for v in value)


def choice(*values: str) -> Codec[str]:
    """One of a few words."""

    def check(value: object) -> str:
        if value not in values:
            raise InvalidNotation(f"must be {', '.join(values)}, not {value!r}")
        return str(value)

    return _word("word", check)


_PLAYERS = whole(0, 5)
PLAYER = _int("player", 0, 5)
PART = _int("part", 1, 2)
ROT = _int("rot", 0, 3)
TILE = _word("tile", known_tile)
FIGURE = _word("figure", known_figure)
FEATURE = _word("feature", known_feature)
SMALL = _int("small", 0, 9)
SQUARE: Codec[Square] = Codec(
    kind="square", write=lambda at: f"{at[0]},{at[1]}", parse=_pair, to_json=list, from_json=square)
WHERE: Codec[str] = Codec(
    kind="where", write=lambda w: w.replace(" ", "."), parse=lambda w: _place(w.replace(".", " ")), to_json=str,
    from_json=_place)
FLAG: Codec[bool] = Codec(
    kind="flag", write=lambda f: "yes" if f else "no", parse=lambda w: _flag({"yes": True, "no": False}.get(w, w)),
    to_json=bool, from_json=_flag)
PATH: Codec[tuple[Square, ...]] = Codec(
    kind="path", write=lambda p: ">".join(f"{x},{y}" for x, y in p), parse=lambda w: tuple(map(_pair, w.split(">"))),
    to_json=lambda p: [list(s) for s in p], from_json=_path)
REF: Codec[FigureRef] = Codec(kind="ref", write=_ref_word, parse=_ref_parse, to_json=_ref_json, from_json=_ref)
REFS: Codec[tuple[FigureRef, ...]] = Codec(
    kind="refs", write=lambda rs: ";".join(map(_ref_word, rs)) or "-",
    parse=lambda w: () if w == "-" else tuple(map(_ref_parse, w.split(";"))),
    to_json=lambda rs: [_ref_json(r) for r in rs], from_json=_refs)
