"""Calibration of the stated confidences: how often readings of each confidence are right, and the threshold for asking.

    ./run bench watch_games --games 10 --level hard --keep kept/
    ./run bench reliability kept/ [more folders] [--plot reliability.png]

Each folder holds watched games from `watch_games --keep` (each with its truth). Tiles and figures are counted
separately. For every threshold for asking: questions per game, and silent errors per game; the threshold in use is
marked, and the one derived by the rule below. Readings that are asked about regardless of their confidence (two tiles
at once, an edge that does not match) are left out of the curve and counted separately.

The rule: of the thresholds without silent errors, the highest whose questions stay within BUDGET. A wrong reading costs
more than any question, so the budget is used fully; the number of games limits the confidence in it. The printed bound
is Wilson's upper one for no error among the readings above the threshold.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from watch_games import same_figure, same_tile

from reading.limits import LIMITS

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999, 1.0001)
GREY = (60, 60, 60)
COLOURS = ((178, 114, 0), (0, 94, 213), (115, 158, 0), (167, 121, 204))  # colour-blind safe
IN_FORCE = 1 / (1 + math.exp(-LIMITS.agreed))  # the threshold in use
THRESHOLDS = (0.5, 0.7, 0.8, IN_FORCE, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)
SURE = {"tile": IN_FORCE, "figure": IN_FORCE}
BUDGET = {"tile": 0.5, "figure": 2.0}  # questions per game: at most three with those asked by rule


def readings(folders: list[Path]) -> Iterator[tuple[str, float, bool, bool]]:
    """(tile or figure, stated confidence, right, asked) of every reading, and one ("game", ...) per game."""
    for folder in folders:
        for file in sorted(folder.glob("*.watched.json")):
            watched = json.loads(file.read_text("utf-8"))
            truth = json.loads(file.with_name(file.name.replace(".watched.", ".truth.")).read_text("utf-8"))
            true = {tuple(t["tile"]["at"]): t for t in laid(truth["turns"])}
            yield "game", 1.0, True, False
            for seen in laid(watched["turns"]):
                t = true.get(tuple(seen["tile"]["at"]))
                tile_ok = t is not None and same_tile(t["tile"], seen["tile"])
                yield "tile", seen["tile"].get("confidence", 1.0), tile_ok, bool(seen["tile"].get("asked"))
                if seen["figure"]:
                    figure_ok = t is not None and same_figure(t, seen)
                    yield ("figure", seen["figure"].get("confidence", 1.0), figure_ok,
                           bool(seen["figure"].get("asked")))


def laid(turns: list) -> list:  # type: ignore[type-arg]
    """Each tile with its turn's figure."""
    out = []
    for turn in turns:
        for m in turn["moves"]:
            if m["do"] == "tile":
                out.append({"tile": m, "player": turn["player"], "figure": None})
            elif m["do"] == "deploy" and out:
                out[-1]["figure"] = m
    return out


def interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a proportion."""
    z, p = 1.96, right / count
    middle = (p + z * z / 2 / count) / (1 + z * z / count)
    half = z * np.sqrt(p * (1 - p) / count + z * z / 4 / count**2) / (1 + z * z / count)
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))


def curve(stated: np.ndarray, right: np.ndarray) -> list[tuple[float, int, int, float, float]]:
    """Per non-empty bin: mean stated confidence, readings, right ones, the interval."""
    rows = []
    for low, high in zip(BINS, BINS[1:], strict=False):
        own = (stated >= low) & (stated < high)
        if own.any():
            count, good = int(own.sum()), int(right[own].sum())
            rows.append((float(stated[own].mean()), count, good, *interval(good, count)))
    return rows


def print_curve(what: str, told: list[tuple[float, bool]]) -> list[tuple[float, int, int, float, float]]:
    """Print stated against observed confidence of (stated confidence, right), and the expected calibration error."""
    rows = curve(np.array([p for p, _ in told]), np.array([ok for _, ok in told], bool))
    print(f"{what}: {len(told)} readings")
    print(f"  {'stated':>8} {'readings':>9} {'right':>7} {'observed':>9}  95 % interval")
    for mean, count, good, low, high in rows:
        print(f"  {mean:8.4f} {count:9} {good:7} {good / count:9.4f}  {low:.4f} to {high:.4f}")
    print(f"  expected calibration error {calibration_error(rows):.4f}")
    return rows


def calibration_error(rows: list[tuple[float, int, int, float, float]]) -> float:
    """Mean absolute difference of stated and observed confidence over a curve's readings."""
    return sum(count * abs(mean - good / count) for mean, count, good, *_ in rows) / max(1, sum(r[1] for r in rows))


def derived(stated: np.ndarray, right: np.ndarray, games: int, budget: float) -> float | None:
    """The highest threshold without silent errors within the budget of questions per game; None if there is none."""
    fit = [t for t in THRESHOLDS if right[stated >= t].all() and (stated < t).sum() <= budget * games]
    return max(fit, default=None)


def plot(path: Path, curves: dict[str, list[tuple[float, int, int, float, float]]]) -> None:
    """Plot stated against observed confidence, both as odds, so that 0.99 and 0.999 are distinguishable."""
    size, edge = 560, 60

    def place(p: float) -> int:
        p = min(max(p, 0.3), 0.9995)
        low, high = np.log(0.3 / 0.7), np.log(0.9995 / 0.0005)
        return round(edge + (size - 2 * edge) * (np.log(p / (1 - p)) - low) / (high - low))

    def write(text: str, at: tuple[int, int], colour: tuple[int, int, int]) -> None:
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.42, colour, 1, cv2.LINE_AA)

    picture = np.full((size, size, 3), 255, np.uint8)
    for p in (0.5, 0.8, 0.9, 0.97, 0.99, 0.999):
        cv2.line(picture, (place(p), edge), (place(p), size - edge), (225, 225, 225), 1)
        cv2.line(picture, (edge, size - place(p)), (size - edge, size - place(p)), (225, 225, 225), 1)
        write(f"{p:g}", (place(p) - 14, size - edge + 18), GREY)
        write(f"{p:g}", (14, size - place(p) + 4), GREY)
    cv2.line(picture, (edge, size - edge), (size - edge, edge), (160, 160, 160), 1, cv2.LINE_AA)
    for n, (name, rows) in enumerate(curves.items()):
        colour = COLOURS[n % len(COLOURS)]
        mark = cv2.circle if n % 2 == 0 else _square
        aside = 3 * (n - (len(curves) - 1) // 2)  # offset the curves so that they do not overlap
        for mean, count, right_of, low, high in rows:
            x, y = place(mean) + aside, size - place(right_of / count)
            cv2.line(picture, (x, size - place(low)), (x, size - place(high)), colour, 1, cv2.LINE_AA)
            mark(picture, (x, y), 4, colour, -1)
        line = size - edge - 18 * (len(curves) - n)  # below the diagonal, where there is free space
        mark(picture, (size // 2 + 40, line - 4), 4, colour, -1)
        write(name, (size // 2 + 52, line), colour)
    write("stated confidence (upwards: observed)", (150, size - 16), GREY)
    cv2.imwrite(str(path), picture)


def _square(picture: np.ndarray, at: tuple[int, int], half: int, colour: tuple[int, int, int], fill: int) -> None:
    cv2.rectangle(picture, (at[0] - half, at[1] - half), (at[0] + half, at[1] + half), colour, fill)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--plot", type=Path, help="draw the curves into this PNG")
    args = parser.parse_args()
    every = list(readings(args.folders))
    games = sum(kind == "game" for kind, *_ in every)
    if not games:
        raise SystemExit("reliability: no watched games there; make some with: ./run bench watch_games --keep FOLDER")
    curves = {}
    for kind in ("tile", "figure"):
        own = [(p, ok) for k, p, ok, asked in every if k == kind and not (asked and p >= SURE[kind])]
        by_rule = sum(k == kind and asked and p >= SURE[kind] for k, p, ok, asked in every)
        stated, right = np.array([p for p, _ in own]), np.array([ok for _, ok in own], bool)
        curves[f"{kind}s"] = print_curve(f"{kind}s in {games} games ({by_rule} more asked about by a rule)", own)
        best = derived(stated, right, games, BUDGET[kind])
        print(f"  {'ask below':>10} {'questions a game':>17} {'silent errors a game':>21} {'at most':>8}")
        for t in THRESHOLDS:
            mark = (" in force" if abs(t - SURE[kind]) < 1e-9 else "") + (" derived" if t == best else "")
            above = stated >= t
            wrong = int((~right & above).sum())
            most = 1 - interval(int(above.sum()) - wrong, int(above.sum()))[0] if above.any() else 1.0
            print(f"  {t:10.3f} {(~above).sum() / games:17.2f} {wrong / games:21.3f} {most * above.sum() / games:8.2f}"
                  f"{mark}")
    if args.plot:
        plot(args.plot, curves)


if __name__ == "__main__":
    main()
