"""How well games of every box are followed: one line per box and level, over simulated tables.

    ./run bench watch_boxes [--boxes dragon,tower] [--levels hard] [--tables 3] [--seed 1] [--jobs 2]
                            [--questions] [--errors] [--pictures DIR]

Each table is watched like those of `benchmarks/watch_games.py` (28 turns, 40 with all boxes together, 2 frames a
second) while somebody answers every question at once and right. Tables of a box take turns among its recorded games;
``--seed`` makes other tables of them: another light, camera, hands and mishaps. --questions prints all questions of
each box's first table in the page's words, --errors every error. With --pictures the camera's picture of each tile with
an error that was not asked about is written to a folder for its table, named for its square. The recorded games are not
in the repository: without them only the boxes whose games are made at random are watched.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from watch_games import games, play

from scoring.transcript import Game

BOXES = {"base": 28, "inns": 28, "traders": 28, "inns_traders": 28, "dragon": 28, "tower": 28, "wheel": 28, "all": 40}
MOST = 20  # recorded games of a box that tables are made of
LEVELS = ("easy", "normal", "hard")
FPS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table to watch: the box, how many games of it to skip, the table's seed."""

    box: str
    level: str
    skip: int
    seed: int
    pictures: Path | None = None

    def watch(self) -> dict:  # type: ignore[type-arg]
        """The row of `watch_games.play`."""
        found = recorded(self.box)
        name, game = found[self.skip % len(found)]
        part = Game(setup=game.setup, turns=game.turns[:BOXES[self.box]])
        return play(name, part, self.level, FPS, self.seed, None, answered=True,
                    pictures=self.pictures and self.pictures / f"{name}-{self.level}-{self.seed}")


def recorded(box: str) -> list[tuple[str, Game]]:
    """The recorded or random games of a box; none where there are none."""
    return [(name, game) for name, game in games(MOST, False, box) if not name.startswith("demo")]


def tables(boxes: list[str], levels: list[str], count: int, seed: int, pictures: Path | None) -> list[Table]:
    """The tables of every box and level; no two are of the same game with the same seed."""
    return [Table(box=box, level=level, skip=(seed + 3 * n + k) % MOST, seed=100 * seed + 10 * k + n,
                  pictures=pictures)
            for box in boxes for k, level in enumerate(levels) for n in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", default=",".join(BOXES), help="with commas between; default: all of them")
    parser.add_argument("--levels", default=",".join(LEVELS), help="with commas between; default: easy,normal,hard")
    parser.add_argument("--tables", type=int, default=3, choices=range(1, 7), metavar="N",
                        help="of each box at each level, 1 to 6 (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other tables")
    parser.add_argument("--jobs", type=int, default=2, choices=range(1, 65), metavar="N",
                        help="tables watched at the same time (default: 2)")
    parser.add_argument("--questions", action="store_true", help="print the questions of each box's first table")
    parser.add_argument("--errors", action="store_true", help="print every error")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write pictures of tiles with an error there")
    args = parser.parse_args()
    boxes, levels = args.boxes.split(","), args.levels.split(",")
    unknown = [*(b for b in boxes if b not in BOXES), *(v for v in levels if v not in LEVELS)]
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such box or level; boxes are {', '.join(BOXES)}")
    for box in [b for b in boxes if not recorded(b)]:
        print(f"{box}: skipped, its recorded games are not there")
        boxes.remove(box)
    every = tables(boxes, levels, args.tables, args.seed, args.pictures)
    rows: dict[tuple[str, str], list[dict]] = defaultdict(list)  # type: ignore[type-arg]
    print("| box | level | tables | questions in the median | at most | silent errors | equal totals |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor(args.jobs, max_tasks_per_child=1) as pool:
        for table, row in zip(every, pool.map(Table.watch, every), strict=True):
            own = rows[table.box, table.level]
            own.append(row)
            if len(own) == args.tables:
                asked = [r["asked"] for r in own]
                print(f"| {table.box} | {table.level} | {', '.join(r['name'] for r in own)} | {median(asked):g} | "
                      f"{max(asked)} | {', '.join(str(r['silent']) for r in own)} | {sum(r['totals'] for r in own)} |",
                      flush=True)
    for (box, level), own in rows.items():
        for n, row in enumerate(own):
            if args.errors and row["errors"]:
                print(f"\n{row['name']}, {level}:", *row["errors"], sep="\n  ")
            if args.questions and n == 0:
                print(f"\nQuestions of {row['name']}, {level} ({box}):",
                      *(re.sub(r"\s+", " ", q) for q in row["questions"]), sep="\n  ")


if __name__ == "__main__":
    main()
