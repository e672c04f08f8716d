"""The expansions' contributions to the page: drawings, pieces and moves as one module (``js/boxes.js``), and texts in
the language modules (``js/lang/*.js``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from scoring.appearance import Land, Outline, Sign, Text
from scoring.contributions import AFTER, IN_TURN, Piece
from scoring.events import event_fields
from scoring.expansions import KNOWN


class Figure(Outline):
    """A piece that may stand on the board; ``company``: only together with a follower of its player."""

    company: bool


def page_modules(static: Path) -> dict[str, bytes]:
    """The modules generated from the expansions, by their names below ``static``, which replace the files there."""
    out = {"js/boxes.js": _module()}
    for file in sorted((static / "js" / "lang").glob("*.js")):
        out[f"js/lang/{file.name}"] = _completed(file.read_text("utf-8"), texts(file.stem))
    return out


def texts(language: str) -> dict[str, Text]:
    """The expansions' texts in a language, by their keys."""
    return {key: text for e in KNOWN.values() for key, text in e.appearance.texts.get(language, {}).items()}


def figures() -> dict[str, Figure]:
    """Every figure by its name, in the order of the boxes."""
    outlines: Mapping[str, Outline] = {name: o for e in KNOWN.values() for name, o in e.appearance.figures.items()}
    return {p.name: _figure(p, outlines.get(p.name, {})) for e in KNOWN.values() for p in e.pieces if p.stands}


def _figure(piece: Piece, outline: Outline) -> Figure:
    return {**outline, "company": piece.company}


def _module() -> bytes:
    signs: dict[str, Sign] = {name: sign for e in KNOWN.values() for name, sign in e.appearance.signs.items()}
    icons: dict[str, str] = {name: d for e in KNOWN.values() for name, d in e.appearance.icons.items()}
    land: dict[str, Land] = {name: of for e in KNOWN.values() for name, of in e.appearance.land.items()}
    fields = {name: kind for do in event_fields().values() for name, kind in do.items()}
    known: dict[str, object] = {
        "FIGURES": figures(), "SIGNS": signs, "ICONS": icons, "LAND": land, "FIELDS": fields,
        "CLAIMABLE": [k.name for e in KNOWN.values() for k in e.kinds if k.claimable],
        "AROUND": [k.name for e in KNOWN.values() for k in e.kinds if k.closes == "around"],
        "OWN_TURN": [h.event.DO for e in KNOWN.values() for h in e.handlers if h.when == IN_TURN],
        "AFTER_TILE": [h.event.DO for e in KNOWN.values() for h in e.handlers if h.when == AFTER]}
    return "".join(f"export const {name} = {_json(value)};\n" for name, value in known.items()).encode()


def _completed(module: str, more: Mapping[str, Text]) -> bytes:
    """A language module with further texts appended."""
    before, end, after = module.rpartition("};")
    if not end or after.strip():
        raise ValueError("a language's module must end with its table of texts")
    return (before + "".join(f"{_json(key)}: {_json(text)},\n" for key, text in more.items()) + end + after).encode()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
