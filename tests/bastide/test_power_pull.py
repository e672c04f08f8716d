"""The plug is pulled at random moments of a running game: the small size of benchmarks/power_pull.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import power_pull  # noqa: E402


def test_nothing_is_lost_when_the_plug_is_pulled(tmp_path: Path) -> None:
    result = power_pull.pull(25, tmp_path / "data", seed=21)
    assert result.kills >= 25 and result.starting >= 2 and result.acknowledged > 100
    assert result.losses == 0, (result.line(), result.why)


def test_the_game_on_the_table_is_there_after_the_plug_was_pulled(tmp_path: Path) -> None:
    result = power_pull.tables(10, tmp_path / "data", seed=5)
    assert result.kills == 10 and len(result.by) == 5 and result.acknowledged > 5
    assert result.losses == 0, (result.line(), result.why)


def test_the_check_sees_what_is_lost() -> None:
    """The judge of the trial above, shown losses."""
    rows = {1: ['{"seq": 1}', '{"seq": 2}']}

    def judged(now: dict[int, list[str]], acknowledged: tuple[int, int] = (1, 2), shown: tuple[int, int] = (1, 2),
               version: int = 2) -> power_pull.Result:
        out = power_pull.Result()
        power_pull.look(out, [], rows, now, acknowledged, [shown], {"game": 1, "version": version})
        return out

    assert judged(rows).losses == 0 and judged({1: [*rows[1], '{"seq": 3}']}, version=3).unanswered_kept == 1
    assert judged({}).missing == 1 and judged({1: rows[1][:1]}, version=1).missing == 1
    assert judged({1: [*rows[1], '{"seq": 2}']}, version=3).doubled == 1
    assert judged({1: [rows[1][1], rows[1][0]]}).wrong == 1
    assert judged(rows, shown=(1, 3)).shown_not_kept == 1
    assert judged(rows, version=1).diverged == 1
