"""The belief about one pile of blocks: a filter that follows where its top appears and how light it is, under several
hypotheses of how many blocks were added and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from reading.evidence import log_sigma
from reading.limits import LIMITS
from reading.stack_limits import STACK, Point3
from vision.looks import StackLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Pile:
    """One hypothesis of a pile: its height, its log-weight, where its top appears (mean and variance), when each block
    was first seen that was added since the first look, the tone of the top one (mean, variance, and the weight of the
    looks that told it, 1 for a first one), for how many seconds something has moved over the square since the last
    look that showed it, by this hypothesis (NaN: not measured), and the top and tone that the last look showed if that
    was ``misread``."""

    height: int
    weight: float = 0.0
    mean: Point3 = (0.0, 0.0, 0.0)
    var: Point3 | None = None
    came_s: tuple[float, ...] = ()
    tone: Point3 | None = None
    moved_s: float = 0.0
    misread: tuple[Point3, float | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTrack:
    """The belief about one place: hypotheses, the likeliest first, the time of the last look, whether it showed a
    plain top, on which nothing stands, and whether something stood there since the last look that did; the times of the
    newest looks, whether each showed the top, and for how many seconds something had moved over it before; ``hidden``
    is the evidence, in nats, of those since the last one that did that it cannot be seen."""

    piles: tuple[Pile, ...]
    looked_s: float = -math.inf
    plain: bool = False
    touched: bool = False
    looks: tuple[tuple[float, bool, float], ...] = ()
    hidden: float = 0.0

    @property
    def height(self) -> int:
        return self.piles[0].height

    def above(self, height: int) -> tuple[Pile | None, float]:
        """The likeliest hypothesis in which it is higher than that, and by how many nats that is likelier than not."""
        higher = next((p for p in self.piles if p.height > height), None)
        other = next((p.weight for p in self.piles if p.height <= height), -LIMITS.floor)
        return higher, -LIMITS.floor if higher is None else higher.weight - other

    def in_vain_s(self, before_s: float) -> tuple[float, ...]:
        """When it was looked at without its top being seen, from the last look that showed it before that time on."""
        earlier = [(t_s, shown) for t_s, shown, _ in reversed(self.looks) if t_s < before_s]
        return tuple(t_s for t_s, _ in takewhile(lambda seen: not seen[1], earlier))

    @property
    def shown_s(self) -> float:
        """When a look showed its top last; minus infinity if none did."""
        return max((t_s for t_s, shown, _ in self.looks if shown), default=-math.inf)

    def visit(self, came_s: float) -> tuple[float, float]:
        """When it was looked at before the look at that time, and for how long something had moved over it in between;
        minus infinity and NaN if that is not known."""
        before_s = -math.inf
        for t_s, _, moved_s in self.looks:
            if t_s == came_s:
                return before_s, moved_s
            before_s = t_s
        return -math.inf, math.nan

    def moving_s(self, came_s: float) -> float:
        """Since when it could not be looked at before the look that showed a block first: something moved over it for
        longer than it takes to put one on. That look's time if nothing did."""
        _, moved_s = self.visit(came_s)
        return came_s - (moved_s - STACK.handled_s if moved_s > STACK.handled_s else 0.0)

    def unseen(self) -> tuple[Pile, ...]:
        """Hypotheses with one block more, if the top has not been seen since something moved over it: one for the first
        look in vain since then, and one for each later look before which something moved there as long as it takes."""
        best = self.piles[0]
        since = [(t_s, moved_s) for t_s, _, moved_s in takewhile(lambda seen: not seen[1], reversed(self.looks))
                 if moved_s > 0.0][::-1]
        moved_s = sum(moved for _, moved in since)
        late = [(t_s, moved) for t_s, moved in since[1:] if moved > STACK.brief_s]
        return tuple(replace(best, height=best.height + 1, came_s=(*best.came_s, t_s),
                             weight=-(STACK.adds if moved > STACK.brief_s else STACK.adds_hardly))
                     for t_s, moved in [*((t_s, moved_s) for t_s, _ in since[:1]), *late]
                     if not best.came_s or t_s > best.came_s[-1])

    def several(self, came_s: float) -> bool:
        """Whether a look may have shown several blocks for the first time."""
        return any(p.came_s.count(came_s) > 1 for p in self.piles)

    def lost(self, now_s: float) -> bool:
        """Whether looks have missed the top for so long that no later one need find it; two are enough at the end
        (infinity), when none comes any more."""
        missed = [t_s for t_s, _, _ in takewhile(lambda seen: not seen[1], reversed(self.looks))]
        return self.height > 0 and len(missed) >= (2 if now_s == math.inf else 3) \
            and now_s - missed[-1] >= LIMITS.ask_after_s

    def touched_in(self, from_s: float, to_s: float) -> bool:
        """Whether something may have moved over it between these times, by the looks at it."""
        before_s = -math.inf
        for t_s, _, moved_s in self.looks:
            if t_s > from_s and before_s < to_s and moved_s != 0.0:
                return True
            before_s = t_s
        return False

    def looked_over(self) -> StackTrack:
        """The belief if it is known why looks did not show the top: a block added meanwhile explains none of them."""
        return replace(self, looks=tuple((t_s, True, moved_s) for t_s, _, moved_s in self.looks))

    def at_least(self, height: int) -> StackTrack:
        """The belief if it is known to be so high."""
        if all(p.height >= height for p in self.piles):
            return self
        hidden = next(iter(self.unseen()), None)
        if hidden is not None and hidden.height == height:  # where its top is will be seen
            return replace(self, piles=(replace(hidden, weight=0.0, var=None, tone=None),))
        same = [replace(p, height=height, came_s=()) for p in self.piles if p.height == self.height]
        kept = [p for p in self.piles if p.height >= height] or same
        return replace(self, piles=tuple(replace(p, weight=p.weight - kept[0].weight) for p in kept))

    def logged(self, from_s: float, to_s: float) -> StackTrack:
        """The belief if a block is known to have been added between these times: by what was told of it, which may be
        more than its top shows. A hypothesis in which none came then has it at another time."""
        said = [replace(p, weight=p.weight - STACK.takes * (not any(from_s <= t <= to_s for t in p.came_s)))
                for p in self.piles]
        ranked = sorted(said, key=lambda p: (-p.weight, p.height))
        return replace(self, piles=tuple(replace(p, weight=p.weight - ranked[0].weight) for p in ranked))

    def settled(self, height: int) -> StackTrack:
        """The belief if it is known to be exactly so high and a figure stands on it."""
        pile = next((p for p in self.piles if p.height == height), None)
        made = began(height) if pile is None else replace(
            self, piles=(replace(pile, weight=0.0, came_s=(), moved_s=math.nan),))
        return replace(made, plain=False, touched=True, hidden=0.0).looked_over()

    def uncovered(self, height: int, look: StackLook, t_s: float) -> StackTrack:
        """The belief after a look that shows the top without the figure that had stood there: whoever put it on or took
        it off may have knocked the pile, but added nothing."""
        kept = self.settled(height).piles[0]
        seen: Point3 = tuple(v**2 for v in STACK.look)  # type: ignore[assignment]
        tone, _ = _alike(None, look.tone)
        return StackTrack(piles=(replace(kept, mean=(*look.top, look.yaw), var=seen, tone=tone or kept.tone),),
                          looked_s=t_s, plain=True, looks=((t_s, True, 0.0),))


def began(height: int) -> StackTrack:
    """A place that was not looked at yet, where the game has a pile of that height."""
    return StackTrack(piles=(Pile(height=height, moved_s=math.nan),))


def looked_at(track: StackTrack, look: StackLook, t_s: float, noise: float = 1.0,
              moved_s: float = math.nan, unsure: tuple[float, float] = (0.0, 0.0),
              new_below: bool = False) -> StackTrack:
    """The belief after one more look. ``noise`` is the looks' at this table, relative to the usual one; ``moved_s`` for
    how many seconds something has moved over the square since the look before (NaN: not measured); ``unsure`` by how
    much the displacement by one block that the look tells may be wrong along x and y, in tiles; ``new_below``: a tile
    has been laid below the top since the look before, so its edges may be found elsewhere."""
    share = 1.0 - math.exp(-max(0.0, t_s - track.looked_s) / LIMITS.new_look_s)
    if share <= 0.0:
        return track
    grown: dict[object, Pile] = {}
    knocks = 0.0 if track.touched or new_below else STACK.knocks
    anew = 0.0 if new_below else STACK.anew + share * STACK.misread
    for pile in track.piles:
        before = replace(pile, moved_s=pile.moved_s + moved_s, misread=pile.misread if moved_s == 0.0 else None)
        most = _most(moved_s if math.isnan(before.moved_s) else before.moved_s)
        for after in _after(before, most, look, share, t_s, noise, knocks, anew, unsure):
            recent = tuple(came_s for came_s in after.came_s if t_s - came_s < STACK.recent_s)
            place = tuple(round(v / w) for v, w in zip(after.mean, STACK.look, strict=True))
            tone = None if after.tone is None else round(after.tone[0] / STACK.shades)
            key = after.height, recent, place, tone  # what else was is past
            if key not in grown or grown[key].weight < after.weight:
                grown[key] = after
    ranked = sorted(grown.values(), key=lambda p: (-p.weight, p.height))
    best = ranked[0].weight
    many: list[Pile] = []
    for p in ranked:
        if sum(_tells(q) == _tells(p) for q in many) < STACK.alike and (
                sum(q.height == p.height for q in many) < STACK.of_height):
            many.append(p)
    kept = [replace(p, weight=p.weight - best) for p in many[:STACK.most] if p.weight > best - STACK.behind]
    plain = look.there >= STACK.clearly[1]
    shown = _shows(look, track.height)
    hidden = 0.0 if shown else track.hidden + share * max(min(STACK.there, -look.there) - STACK.unclear, 0.0)
    return StackTrack(piles=tuple(kept), looked_s=t_s, plain=plain, touched=track.touched and not plain,
                      looks=(*track.looks, (t_s, shown, moved_s))[-STACK.remembered:], hidden=hidden)


def _shows(look: StackLook, height: int) -> bool:
    """Whether a look shows the top of a pile of that height, or for none its bare place; a figure may hide that."""
    return look.there > 0.0 or height == 0 and look.there <= -STACK.veiled


def _tells(pile: Pile) -> tuple[int, float]:
    """What a hypothesis says of a pile's height: how many blocks, and when the newest one came."""
    return pile.height, pile.came_s[-1] if pile.came_s else -math.inf


def _after(pile: Pile, most: int, look: StackLook, share: float, t_s: float, noise: float, knocks: float, anew: float,
           unsure: tuple[float, float]) -> Iterator[Pile]:
    """What a hypothesis may have become by a look: unchanged, knocked (which ``knocks`` nats are against), always
    misread until now (``anew``), or higher by up to so many blocks."""
    # a plain place in the print that is too far away for a first block is none, however often it looks like one
    misplaced = pile.height <= 1 and _from_first(look) > STACK.covers
    there = -STACK.there if misplaced else max(-STACK.there, min(STACK.there, look.there))
    none = max(log_sigma(-there), -STACK.misread)
    some = max(log_sigma(there), -STACK.misread)
    top: Point3 = (*look.top, look.yaw)
    clear = min(max((look.there - STACK.clearly[0]) / (STACK.clearly[1] - STACK.clearly[0]), 0.0), 1.0)
    noise = (clear * noise + (1.0 - clear) * STACK.partly) / math.sqrt(share)
    seen: Point3 = tuple((noise * v) ** 2 for v in STACK.look)  # type: ignore[assignment]
    adds = STACK.adds
    if pile.moved_s <= STACK.brief_s:
        adds = STACK.adds_not if pile.moved_s == 0.0 else STACK.adds_hardly
    if pile.height == 0:
        bare = there <= 0.0 and _shows(look, 0)
        yield replace(pile, weight=pile.weight + share * none, moved_s=0.0 if bare else pile.moved_s)
        for count in range(1, most + 1) if there > 0.0 else ():
            likelier = look.heights[count] - look.heights[1] if count < len(look.heights) else 0.0
            yield Pile(height=count, weight=pile.weight - count * adds + share * (some + likelier), mean=top, var=seen,
                       came_s=(*pile.came_s, *(t_s,) * count), tone=_alike(None, look.tone)[0])
        return
    if there <= 0.0:  # its top was not found: covered, if it is there
        yield replace(pile, weight=pile.weight + share * some)
        return
    fresh, _ = _alike(None, look.tone)
    other = share * _another(pile.tone, look.tone)
    if pile.var is None:
        kept, alike = _alike(pile.tone, look.tone, share)
        yield replace(pile, weight=pile.weight + share * (some + alike), mean=top, var=seen, tone=kept, moved_s=0.0)
    else:
        pile = replace(pile, var=tuple(v + d**2 for v, d in zip(pile.var, STACK.drifts, strict=True)))  # type: ignore[arg-type]
        yield from _same(pile, top, look.tone, seen, share * some, share, knocks, anew)
    if pile.var is None:
        return  # where its top was is not known
    for count in range(1, most + 1):
        raised = pile.mean[0] + count * look.floor[0], pile.mean[1] + count * look.floor[1], pile.mean[2]
        var = tuple(v + count * (w**2 + count * u**2)
                    for v, w, u in zip(pile.var, STACK.added, (*unsure, 0.0), strict=True))
        fit = _density(top, raised, tuple(v + s for v, s in zip(var, seen, strict=True)))
        against = count * adds + STACK.hasty * bool(pile.came_s and t_s - pile.came_s[-1] < STACK.turn_s)
        yield Pile(height=pile.height + count, weight=pile.weight - against + share * (some + fit) + other, mean=top,
                   var=seen, came_s=(*pile.came_s, *(t_s,) * count), tone=fresh)


def _most(moved_s: float) -> int:
    """How many blocks may have been added while something moved over a pile for so long: at most one a turn."""
    return 1 + (moved_s > STACK.handled_s + STACK.turn_s)


def _from_first(look: StackLook) -> float:
    """How far from the top of a first block the top seen appears along the line of tops, in tiles."""
    piles = look.heights[1:]
    return piles.index(max(piles)) * math.hypot(*look.floor) if piles else 0.0


def _alike(known: Point3 | None, seen: float | None, share: float = 1.0) -> tuple[Point3 | None, float]:
    """The tone of a block (as `Pile.tone`) after a look at it that counts for a ``share`` of a first one, and the
    look's log-likelihood. A shadow that passes changes neither much."""
    if seen is None:
        return known, 0.0
    if known is None:
        return (seen, STACK.tone**2, 1.0), 0.0
    mean, var, off = known[0], known[1] + STACK.tone_drifts**2, seen - known[0]
    total = var + STACK.tone**2
    said, shaded = _mixed(off, total)
    gain = (1.0 - shaded) * var / total
    return (mean + gain * off, var * (1.0 - gain), known[2] + share * (1.0 - shaded)), said


def _shaded(known: Point3) -> float:
    """The log-probability that all looks which told a tone were in one shadow."""
    return math.log(STACK.shadows) + (known[2] - 1.0) * math.log(STACK.lasts)


def _another(known: Point3 | None, seen: float | None) -> float:
    """The log-likelihood of a tone if it is that of another block than before."""
    return 0.0 if seen is None or known is None else _mixed(seen - known[0], 2.0 * STACK.tones**2 + STACK.tone**2)[0]


def _mixed(off: float, var: float) -> tuple[float, float]:
    """The log-density of a tone that differs by so much, where shadows are on some looks, and the probability that one
    is on this."""
    plain = (1.0 - STACK.shadows) * math.exp(-0.5 * off * off / var) / math.sqrt(2 * math.pi * var)
    shaded = STACK.shadows / STACK.shadow
    return math.log(plain + shaded), shaded / (plain + shaded)


def _same(pile: Pile, top: Point3, tone: float | None, seen: Point3, told: float, share: float, knocks: float,
          anew: float) -> Iterator[Pile]:
    """A pile of the same height after a look that shows its top: as it was, misread now, in a shadow until now,
    knocked, or misread until now. What spoils a look, a hand or its shadow, spoils place and tone alike."""
    assert pile.var is not None
    total = tuple(v + s for v, s in zip(pile.var, seen, strict=True))
    kept, alike = _alike(pile.tone, tone, share)
    placed = _density(top, pile.mean, total)
    fit, wrong = placed + alike, STACK.anywhere - STACK.misread
    gain = [v / s for v, s in zip(pile.var, total, strict=True)]
    mean = tuple(m + g * d for m, g, d in zip(pile.mean, gain, _off(top, pile.mean), strict=True))
    var = tuple(v * (1.0 - g) for v, g in zip(pile.var, gain, strict=True))
    there = replace(pile, mean=mean, var=var, moved_s=0.0, misread=None)  # type: ignore[arg-type]
    if tone is not None and pile.tone is not None:
        wrong -= math.log(STACK.shadow)
        lit = pile.weight + told + _shaded(pile.tone) + share * (placed - math.log(STACK.shadow))
        yield replace(there, weight=lit, tone=_alike(None, tone)[0])
    spoilt = max(share * wrong, _again(pile, top, tone, seen, share))
    if share * fit >= spoilt:
        yield replace(there, weight=pile.weight + told + share * fit, tone=kept)
    else:  # what moved before this look may have added one
        yield replace(pile, weight=pile.weight + told + spoilt, misread=(top, tone))
    moved = tuple(t + k**2 for t, k in zip(total, STACK.knocked, strict=True))
    yield replace(pile, weight=pile.weight + told - knocks + share * (_density(top, pile.mean, moved) + alike),
                  mean=top, var=seen, tone=kept, moved_s=0.0)
    yield replace(pile, weight=pile.weight + told - anew + share * (wrong + STACK.misread), mean=top, var=seen,
                  tone=_alike(None, tone)[0] or pile.tone, moved_s=0.0)


def _again(pile: Pile, top: Point3, tone: float | None, seen: Point3, share: float) -> float:
    """The log-likelihood of a look that is wrong in the way that the last one was: the hand that spoilt that one lies
    there still."""
    if pile.misread is None:
        return -math.inf
    last, shade = pile.misread
    fit = _density(top, last, tuple(2.0 * v for v in seen))
    if tone is not None and shade is not None:
        fit += _mixed(tone - shade, 2.0 * STACK.tone**2)[0]
    return share * fit - STACK.misread_again


def _off(top: Point3, mean: Point3) -> Point3:
    """The difference of two tops; a square turned by a right angle is the same."""
    turn = (top[2] - mean[2] + math.pi / 4) % (math.pi / 2) - math.pi / 4
    return top[0] - mean[0], top[1] - mean[1], turn


def _density(top: Point3, mean: Point3, var: Sequence[float]) -> float:
    return sum(-0.5 * d * d / v - 0.5 * math.log(2 * math.pi * v)
               for d, v in zip(_off(top, mean), var, strict=True))
