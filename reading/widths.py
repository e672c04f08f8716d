"""How wide a figure's wood is, by several looks."""

from __future__ import annotations

import math

from vision.looks import FigureLook

Width = tuple[float, float, float]  # tiles, standard deviation of the logarithm, weight of the looks that measured it


def averaged(known: Width, look: FigureLook, weight: float) -> Width:
    """The width with one look more of this ``weight``: a mean by inverse variance. The deviation stays that of a usual
    look, because looks from one place err alike."""
    width, spread, measured = known
    if not look.width:
        return known
    if not measured:
        return look.width, look.width_spread, weight
    before, now = measured / spread**2, weight / look.width_spread**2
    mean = math.exp((before * math.log(width) + now * math.log(look.width)) / (before + now))
    return mean, math.sqrt((measured + weight) / (before + now)), measured + weight
