"""Blocks on several piles of which only one was added: a turn adds one, and each figure is taken once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reading.limits import LIMITS
from reading.policy import Decision
from reading.stack_turns import Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block that would be reported, its likeliest turn, and by how many nats it is likelier than none."""

    made: Decision
    way: Way
    likely: float


def one_of_each(told: Sequence[Block], asked: Sequence[Block]) -> list[Decision]:
    """The blocks to report of those ``told``: where others may have been added in the same turn and have taken the same
    figure, only the likeliest, and as a question unless it is by far; none if that is one of those ``asked`` about
    anyway."""
    out: list[Decision] = []
    for block in told:
        rivals = [b for b in (*told, *asked) if b is not block and _excludes(b, block)]
        first = max(rivals, key=lambda b: b.likely, default=None)
        if first is None or block.likely - first.likely >= LIMITS.agreed:
            out.append(block.made)
        elif block.likely >= first.likely:
            out.append(_either([block, *rivals]))
    return out


def _excludes(a: Block, b: Block) -> bool:
    return a.way.group is b.way.group and bool(a.way.takes.keys() & b.way.takes.keys())


def _either(blocks: Sequence[Block]) -> Decision:
    """A question which block was added, if any."""
    ranked = sorted(blocks, key=lambda b: -b.likely)[:3]
    odds = [math.exp(b.likely - ranked[0].likely) for b in ranked]
    none = math.exp(-ranked[0].likely)
    total = sum(odds) + none
    options = [(b.made.events, o / total) for b, o in zip(ranked, odds, strict=True)]
    return replace(ranked[0].made, asked=True, confidence=options[0][1], alternatives=(*options, ((), none / total)))
