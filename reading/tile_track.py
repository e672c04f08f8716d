"""The track of one tile on a square: what the looks said of its print, and whether a further look contradicts them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from reading.limits import LIMITS
from reading.shapes import Reading, shape
from vision.looks import SquareLook

_MOST = 32  # readings kept of a square
OTHERS = 40  # readings that a look does not list


Cover = Literal["", "figure", "piece"]  # what stood on a tile: figures or blocks, or a neutral piece, which goes on


@dataclass(frozen=True, kw_only=True)
class Looks:
    """What looks of one kind said of a tile: ``sums``, ``rest`` (every other reading) and ``there`` are sums over looks
    of log-likelihood times weight, ``weight`` is the sum of the weights. ``alike`` is the correlation of two looks'
    errors."""

    alike: float
    weight: float
    sums: Mapping[Reading, float]
    rest: float
    there: float

    @property
    def worth(self) -> float:
        """Factor from a sum to evidence: effective number of independent looks per unit of weight."""
        return worth(self.weight, self.alike)

    @property
    def readings(self) -> tuple[dict[Reading, float], float]:
        """Log-likelihoods of the readings and of any other one, relative to the best."""
        top = max(self.sums.values(), default=self.rest)
        return {r: (v - top) * self.worth for r, v in self.sums.items()}, (self.rest - top) * self.worth

    def more(self, said: Mapping[Reading, float], rest: float, there: float, weight: float) -> Looks:
        """With one more look."""
        sums = {r: self.sums.get(r, self.rest) + said.get(r, rest) * weight for r in {**self.sums, **said}}
        if len(sums) > _MOST:
            sums = dict(sorted(sums.items(), key=lambda s: -s[1])[:_MOST])
        return replace(self, weight=self.weight + weight, sums=sums, rest=self.rest + rest * weight,
                       there=self.there + there * weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    """With ``probability`` the looks read every tile of the kind ``tile`` in this set as one of the kind ``like``,
    turned by ``turns`` more quarters."""

    tile: str
    like: str
    turns: int
    probability: float


@dataclass(frozen=True, kw_only=True)
class TileTrack:
    """One tile on a square over time: it was laid between ``bare_s`` (None: unknown) and ``since_s``; ``hidden_s`` is
    the time from which the square was not seen before that: occluded, without frames, or not looked at. ``looks`` that
    saw the whole print, looks with a figure on it and looks with a neutral piece on it are kept apart (`Cover`): what
    stands there spoils the same part of every look, so those of a kind count as hardly more than one.
    ``misprints`` is what other tiles of the set say of such looks (`reading.settled`)."""

    since_s: float
    last_s: float
    bare_s: float | None
    looks: Mapping[Cover, Looks]
    hidden_s: float | None = None
    misprints: tuple[Misprint, ...] = ()

    @cached_property
    def weight(self) -> float:
        """Sum of the weights of all looks."""
        return sum(looks.weight for looks in self.looks.values())

    @property
    def well_known(self) -> bool:
        """Whether it was more than what a look took for a tile."""
        return self.weight >= LIMITS.changes

    @property
    def usual(self) -> float:
        """How much it takes to give it up: less if it was seen in a single poor look."""
        return min(1.0, max(0.3, self.weight))

    @cached_property
    def readings(self) -> tuple[dict[Reading, float], float]:
        """Log-likelihoods of the readings and of any other one, relative to the best."""
        each = [(looks, looks.worth * self._counts(cover)) for cover, looks in self.looks.items()]
        known = {r for looks, _ in each for r in looks.sums}
        said = {r: sum(looks.sums.get(r, looks.rest) * factor for looks, factor in each) for r in known}
        rest = sum(looks.rest * factor for looks, factor in each)
        if self.misprints:
            said = _as_printed(said, rest, self.misprints)
        top = max(said.values(), default=rest)
        return {r: v - top for r, v in said.items()}, rest - top

    def _counts(self, cover: Cover) -> float:
        """What share of the looks of a kind counts: less under a neutral piece, which hides more than looks allow for,
        if others saw the tile."""
        return LIMITS.under_piece if cover == "piece" and len(self.looks) > 1 else 1.0

    @cached_property
    def presence(self) -> float:
        """Log-odds that it is a tile at all."""
        return sum(looks.there for looks in self.looks.values()) * worth(self.weight, LIMITS.alike)


def _as_printed(said: Mapping[Reading, float], rest: float, misprints: Sequence[Misprint]) -> dict[Reading, float]:
    """Log-likelihoods of readings whose kinds may be printed so that looks take them for another one."""
    out, right = dict(said), dict[str, float]()
    for m in misprints:
        right[m.tile] = right.get(m.tile, 1.0) - m.probability
    for tile in right:
        for rot in range(4):
            parts = [(right[tile], said.get((tile, rot), rest))]
            parts += [(m.probability, said.get((m.like, (rot + m.turns) % 4), rest))
                      for m in misprints if m.tile == tile]
            top = max(v for _, v in parts)
            out[tile, rot] = top + math.log(sum(p * math.exp(v - top) for p, v in parts))
    return out


def worth(weight: float, alike: float) -> float:
    """Effective number of independent looks per unit of weight, for looks of this total weight whose errors have the
    correlation ``alike``."""
    return max(1.0, weight / (1.0 + max(0.0, weight - 1.0) * alike)) / weight


def clearness(there: float) -> float:
    """How clearly a look shows a tile at all, 0 .. 1, by its log-odds: a hand may be over a part of it."""
    return math.tanh(max(0.0, there) / 2)


def said_of(seen: SquareLook, cover: Cover) -> tuple[dict[Reading, float], float]:
    """What a look says the tile is: log-likelihoods of the readings and of any other one, relative to the best. Under a
    neutral piece, which hides more than a figure does, they are no surer than that a tile was seen at all."""
    top, sure = max(seen.tiles.values()), clearness(seen.there) if cover == "piece" else 1.0
    return ({r: max(sure * (v - top), -LIMITS.floor) for r, v in seen.tiles.items()},
            max(sure * min(seen.rest - top, 0.0), -LIMITS.floor))


def informativeness(said: Mapping[Reading, float], rest: float) -> float:
    """Weight of a look by its entropy: 1 if few readings are likely, towards 0.1 if all are equally so."""
    weights = [math.exp(v) for v in said.values()]
    total = sum(weights) + OTHERS * math.exp(rest)
    entropy = -sum(w / total * math.log(w / total) for w in weights if w > 0) + OTHERS * math.exp(rest) / total * 3.0
    return max(0.1, 1.0 - entropy / 3.0)


def first_seen(said: Mapping[Reading, float], rest: float, there: float, weight: float, t: float, bare_s: float | None,
           cover: Cover) -> TileTrack:
    return TileTrack(since_s=t, last_s=t, bare_s=bare_s, looks={cover: _first(said, rest, there, weight, cover)})


def _first(said: Mapping[Reading, float], rest: float, there: float, weight: float, cover: Cover) -> Looks:
    return Looks(alike=LIMITS.alike_covered if cover else LIMITS.alike, weight=weight,
                 sums={r: v * weight for r, v in said.items()}, rest=rest * weight, there=there * weight)


def seen_again(laid: TileTrack, said: Mapping[Reading, float], rest: float, there: float, weight: float, t: float,
          cover: Cover) -> TileTrack:
    before = laid.looks.get(cover)
    looks = before.more(said, rest, there, weight) if before is not None else \
        _first(said, rest, there, max(weight, 0.05), cover)
    return replace(laid, last_s=t, looks={**laid.looks, cover: looks})


def spoiled(laid: TileTrack, cover: Cover) -> bool:
    """Whether a look of that kind may show another tile than the earlier ones merely because of what stands there."""
    return cover not in laid.looks or cover == "piece" or bool(cover) and "" in laid.looks


def contradicts(laid: TileTrack, said: Mapping[Reading, float], rest: float, cover: Cover) -> bool:
    """Whether a look clearly shows another tile than the earlier looks of the same kind (`Cover`). If there are none,
    print may look different merely because something arrived or left: then only a rotation counts. So it does under a
    neutral piece, which stands elsewhere each time, and of a tile that was seen bare, whatever covers it now: one that
    figures and piles hide in turn looks different each time.
    """
    alike = laid.looks.get(cover)
    believed, other = laid.readings if alike is None else alike.readings
    best = max(believed, key=lambda r: (believed[r], r))
    now = max(said, key=lambda r: (said[r], r))
    if shape(*best) == shape(*now) or spoiled(laid, cover) and best[0] != now[0]:
        return False
    return -said.get(best, rest) > LIMITS.turned and -believed.get(now, other) > LIMITS.turned
