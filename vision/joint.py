"""Which tile lies where, all squares together: neighbours share sides, and a box holds so many of each kind.

Sum-product belief propagation over what each pair of neighbours shows on its common side. The box's contents enter as a
price on every kind that is read more often than it exists. Both are soft: what lies on the table may break the rules.
J. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988), chapter 4; loopy as in Murphy et al., UAI 1999.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scoring.tiles import EDGES, OPPOSITE, STEP, Square, Tile
from vision.evidence import side_letters

Array = npt.NDArray[np.float64]

MISMATCH = 5.0  # log-odds against two neighbours that show different things to each other
ROUNDS = 12
_PRICE = 0.7
_PRICE_LIMIT = 3.0
_LETTERS = "CRFI"


def marginals(unary: Mapping[Square, Array], kinds: Sequence[Tile], counts: Mapping[str, int]) -> dict[Square, Array]:
    """Log-probability of every kind and quarter turn of every square, each (K, 4) as the log-likelihoods given.

    ``counts`` says how many tiles of a kind the boxes on the table hold; kinds that it leaves out are not limited.
    """
    letters = np.array([[[_LETTERS.index(x) for x in side_letters(t, rot)] for rot in range(4)] for t in kinds])
    price = np.zeros((len(kinds), 1))
    limit = np.array([counts.get(t.id, 10_000) for t in kinds])
    belief: dict[Square, Array] = {}
    for _ in range(6):
        belief = _propagate({at: u - price for at, u in unary.items()}, letters)
        used = np.sum([np.exp(b).sum(axis=1) for b in belief.values()], axis=0)
        over = used - limit
        if (over < 0.3).all():
            break
        price = np.clip(price + _PRICE * np.maximum(over, 0)[:, None], 0, _PRICE_LIMIT)
    return belief


def _propagate(unary: Mapping[Square, Array], letters: npt.NDArray[np.int64]) -> dict[Square, Array]:
    size = len(_LETTERS)
    agree = np.full((size, size), np.exp(-MISMATCH)) + np.eye(size) * (1 - np.exp(-MISMATCH))
    messages = {(at, side): np.zeros(size) for at in unary for side in EDGES if _beside(at, side) in unary}
    belief = {}
    for _ in range(ROUNDS):
        fresh = {}
        for at, own in unary.items():
            total = own.copy()
            for n, side in enumerate(EDGES):
                if (at, side) in messages:
                    total += messages[at, side][letters[:, :, n]]
            belief[at] = total - _logsum(total)
            for n, side in enumerate(EDGES):
                there = _beside(at, side)
                if there not in unary:
                    continue
                rest = belief[at] - messages[at, side][letters[:, :, n]]
                mass = np.array([np.exp(rest[letters[:, :, n] == x] - rest.max()).sum() for x in range(size)]) + 1e-12
                sent = np.log(agree @ (mass / mass.sum()))
                fresh[there, OPPOSITE[side]] = sent
        messages = {key: 0.5 * messages[key] + 0.5 * fresh[key] for key in messages}
    return belief


def _beside(at: Square, side: str) -> Square:
    dx, dy = STEP[side]
    return at[0] + dx, at[1] + dy


def _logsum(x: Array) -> float:
    top = float(x.max())
    return top + float(np.log(np.exp(x - top).sum()))
