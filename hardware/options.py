"""Parses the options after a camera's number in its address: ``picamera:0?focus=1.2&mains=60``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

from vision.frames import SourceError

SIZES = (64, 8192)


def size(text: str) -> tuple[int, int]:
    """``WxH`` in pixels, both even."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None:
        raise ValueError("a size like 1920x1080")
    width, height = int(found[1]), int(found[2])
    if not all(SIZES[0] <= side <= SIZES[1] and side % 2 == 0 for side in (width, height)):
        raise ValueError(f"even numbers from {SIZES[0]} to {SIZES[1]}")
    return width, height


def number(low: float, high: float) -> Callable[[str], float]:
    """A number between two others."""
    def read(text: str) -> float:
        value = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else -1.0
        if not low <= value <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return value
    return read


def one_of(*values: int) -> Callable[[str], int]:
    """One of a few whole numbers."""
    def read(text: str) -> int:
        if text not in map(str, values):
            raise ValueError(" or ".join(map(str, values)))
        return int(text)
    return read


class Asked(NamedTuple):
    """A parsed camera address: its number, the picture's size if given, and numeric options."""

    number: int
    size: tuple[int, int] | None
    values: Mapping[str, float]


def asked(uri: str, rest: str, known: Mapping[str, Callable[[str], float]]) -> Asked:
    """Parses the part of an address after its scheme, with the option parsers in ``known``. Raises SourceError naming
    the option."""
    kind = uri.partition(":")[0]
    first, _, query = rest.partition("?")
    if not first.isdecimal() or not first.isascii() or len(first) > 3:
        raise SourceError(f"source {uri!r} needs the camera's number: {kind}:0")
    wanted: tuple[int, int] | None = None
    values: dict[str, float] = {}
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key != "size" and key not in known:
            raise SourceError(f"{kind} has no option {key!r}; known are {', '.join(('size', *known))}")
        try:
            if key == "size":
                wanted = size(text)
            else:
                values[key] = known[key](text)
        except ValueError as e:
            raise SourceError(f"{kind} option {key}={text!r} should be {e}") from None
    return Asked(int(first), wanted, values)
