"""Limits a view to the part of the final scoring that has been presented.

The scores of a finished game contain everything. Until the walk has reached it, scores, feed and final scoring are
truncated here, in the one place that every screen, overlay and program gets its views from.
"""

from __future__ import annotations

from typing import TypeVar, cast

from scoring.views import FinalView, GameView, StageView
from web.views import RevealView, View

Game = TypeVar("Game", bound=GameView)
Shown = TypeVar("Shown", bound=View)


def untold(view: View) -> bool:
    """Whether the game is over and the winner has not been revealed yet."""
    reveal, final = view.get("reveal"), view.get("final")
    return bool(reveal and final and not reveal["told"]
                and reveal["step"] < sum(len(stage["events"]) for stage in final["stages"]))


def revealed(view: Shown) -> Shown:
    """The view as it may be shown. ``reveal`` then also has ``steps``, and the ``stage`` and ``event`` on show, whose
    points are not in the scores yet."""
    asked: View = view
    reveal, final = asked.get("reveal"), asked.get("final")
    if not reveal or not final:
        return cast(Shown, {**view, "reveal": None}) if reveal else view
    told = [(stage["name"], event) for stage in final["stages"] for event in stage["events"]]
    step = min(reveal["step"], len(told))
    now: RevealView = {**reveal, "step": step, "steps": len(told), "stage": None, "event": None}
    if not untold(view):
        return cast(Shown, {**view, "reveal": now})
    if step >= 0:
        now["stage"], now["event"] = told[step]
    scores = list(final["totals"])
    for _, event in told[max(step, 0):]:
        for won in event["points"]:
            scores[won["player"]] -= won["points"]
    seen = {id(event) for _, event in told[:step + 1]}
    stages: list[StageView] = [{"name": stage["name"], "events": [e for e in stage["events"] if id(e) in seen]}
              for stage in final["stages"]]
    so_far: FinalView = {"stages": stages, "table": [], "totals": scores, "winners": [], "tie": None}
    return cast(Shown, {
        **view, "reveal": now, "final": None, "projected_final": so_far,
        "feed": view["feed"][:len(view["feed"]) - len(told)],
        "players": [{**p, "score": scores[p["index"]], "projected": scores[p["index"]]} for p in view["players"]]})


def without_forecast(view: Game) -> Game:
    """A view without its forecast until the end is revealed: the forecast of the last turns is nearly the result."""
    scores = [p["score"] for p in view["players"]]
    return cast(Game, {
        **view, "projected_final": {"stages": [], "table": [], "totals": scores, "winners": [], "tie": None},
        "players": [{**p, "projected": p["score"]} for p in view["players"]]})
