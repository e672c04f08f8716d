"""Explanations of scores as phrases that a page can translate: a key and its placeholder values.

`in_english` is the reference translation of each key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from scoring.scores import ScoreEvent, formula, plural
from scoring.views import PhraseView

_CLAUSES: Mapping[str, str] = {
    "majority.alone": "{who} stands there alone",
    "majority.most": "{who} has the majority ({weights})",
    "majority.tie": "{who} tie ({weights}) and each get all of it",
    "majority.none": "nobody has a majority",
    "sum": "{formula}",
    "extra": "{who} {count} {what} x {each} more",
    "total": "{who} {points}",
    "rule": "{rule}",
}


@cache
def english() -> Mapping[str, str]:
    """Every English clause by key: those of the expansions for what was scored, and those for how it was awarded."""
    from scoring.expansions import KNOWN

    return {**{f"scored.{reason}": text for e in KNOWN.values() for reason, text in e.phrases.items()}, **_CLAUSES}



def explain(event: ScoreEvent, told: str | None = None) -> list[PhraseView]:
    """What was scored, who has the majority, the sum, extra points of single players, the points, the rule.

    ``told`` is the event's formula, if already computed.
    """
    out: list[PhraseView] = [{"key": f"scored.{event.reason}", "tiles": event.tiles, "cities": len(event.cities),
                          "of": event.items[0].what if event.items else ""}]
    if event.majority:
        best = [p for p, _ in event.points]
        kind = "none" if not best else "alone" if len(event.majority) == 1 else "tie" if len(best) > 1 else "most"
        out.append({"key": f"majority.{kind}", "players": best, "weights": [list(m) for m in event.majority]})
    out.append({"key": "sum", "formula": told or formula(event)})
    for i in event.items:
        if i.player is not None:
            out.append({"key": "extra", "players": [i.player], "count": i.count, "what": i.what, "each": i.each})
    for p, n in event.points:
        out.append({"key": "total", "players": [p], "points": n})
    out.append({"key": "rule", "rule": event.rule})
    return out


def in_english(phrases: Sequence[PhraseView], names: Sequence[str]) -> str:
    """``A road of 3 tiles is complete; Anna stands there alone; 3 tiles x 1 = 3; Anna 3 (R-ROAD-05)``."""
    clauses = [english()[p["key"]].format_map(_words(p, names)) for p in phrases if p["key"] != "rule"]
    rules = [str(p["rule"]) for p in phrases if p["key"] == "rule"]
    return "; ".join(clauses) + (f" ({', '.join(rules)})" if rules else "")


def _words(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    out = {k: str(v) for k, v in values.items()}
    if "players" in values:
        out["who"] = " and ".join(names[p] for p in values["players"])
    if "weights" in values:
        out["weights"] = ", ".join(f"{names[p]} {n}" for p, n in values["weights"])
    if "tiles" in values:
        out["tiles"] = f"{values['tiles']} {plural('tile', values['tiles'])}"
        out["cities"] = f"{values['cities']} completed {plural('city', values['cities'])}"
    if "what" in values:
        out["what"] = plural(values["what"], values["count"])
    return out
