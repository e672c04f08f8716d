"""The reference cases in the form of our own: tile letters and sketches become catalogue tiles, compass names atoms."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from case_tables import SHARED

from scoring.tiles import Tile, catalogue, turn

ATOMS = {"Nw": "NL", "Ne": "NR", "En": "EL", "Es": "ER", "Se": "SL", "Sw": "SR", "Ws": "WL", "Wn": "WR"}
OPS = {"score_completed": "completed", "score_incomplete": "incomplete", "score_farms": "farms", "score_final": "final"}
GOODS = ("wine", "grain", "cloth")
FILE = SHARED / "rules" / "cases.json"


def _topology(tile: Tile, rot: int) -> Any:
    def name(n: int) -> Any:
        s = tile.segments[n]
        return s.kind, frozenset(turn(a, rot) for a in s.atoms)

    return sorted(((*_key(name(n)), s.pennants, "inn" in s.signs, "cathedral" in s.signs,
                    next((sign for sign in s.signs if sign in GOODS), ""),
                    tuple(sorted(_key(name(c)) for c in s.cities))) for n, s in enumerate(tile.segments)))


def _key(named: Any) -> Any:
    return named[0], tuple(sorted(named[1]))


def _sketch(data: dict[str, Any]) -> Any:
    cities = [("city", frozenset(c["e"])) for c in data.get("cities", ())]
    out = [(*_key(k), c.get("pennants", 0), False, c.get("cathedral", False), c.get("goods", ""), ())
           for k, c in zip(cities, data.get("cities", ()), strict=True)]
    out += [("road", tuple(sorted(r["e"])), 0, r.get("inn", False), False, "", ()) for r in data.get("roads", ())]
    out += [("river", tuple(sorted(r)), 0, False, False, "", ()) for r in data.get("rivers", ())]
    out += [("field", tuple(sorted(ATOMS[h] for h in f["h"])), 0, False, False, "",
             tuple(sorted(_key(cities[c]) for c in f["cities"]))) for f in data.get("fields", ())]
    if data.get("cloister"):
        out.append(("cloister", (), 0, False, False, "", ()))
    return sorted(out)


@cache
def _data() -> dict[str, Any]:
    return json.loads(FILE.read_text("utf-8"))


@cache
def match(name: str) -> tuple[str, int]:
    """The catalogue tile and the quarter turns that make it the named sketch."""
    sketch = _sketch(_data()["tiles"][name])
    ranked = sorted(catalogue().values(), key=lambda t: (t.product == "wheel", t.id != f"base.{name}"))
    for tile in ranked:
        for rot in range(4):
            if _topology(tile, rot) == sketch:
                return tile.id, rot
    raise AssertionError(f"no tile of the catalogue is like {name}")


def shared_rows() -> list[dict[str, Any]]:
    return [_row(c) for c in _data()["cases"]]


def _lying(t: dict[str, Any]) -> list[Any]:
    tile, offset = match(t["tile"])
    return [tile, t["x"], t["y"], (t["rot"] + offset) % 4]


def _row(c: dict[str, Any]) -> dict[str, Any]:
    row = {k: v for k, v in c.items() if k not in ("source", "status", "situation", "note", "parts",
                                             "board", "figures", "tile")}
    row["op"] = OPS.get(c["op"], c["op"])
    if "board" in c:
        row["board"] = [_lying(t) for t in c["board"]]
    if "tile" in c:
        row["tile"] = _lying(c["tile"])
    if "figures" in c:
        row["figures"] = [[f["player"], f["kind"], f["x"], f["y"], f["on"], ATOMS.get(f.get("at"), f.get("at") or "I")]
                          for f in c["figures"]]
    if "choices" in c["expect"]:
        row["expect"] = {**c["expect"], "choices": [
            {"on": x["on"], "at": ATOMS.get(x.get("at"), x.get("at") or "I"), "allowed": x["allowed"]}
            for x in c["expect"]["choices"]]}
    return row
