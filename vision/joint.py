"""Joint inference of the tiles on all squares: neighbours share sides, and a box holds a given number of each kind.

Sum-product belief propagation over the common sides of neighbours. The box's contents enter as a price on every kind
that is read more often than it exists. Both are soft constraints: the tiles on the table may break the rules.
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
    squares = list(unary)
    if not squares:
        return {}
    own = np.array([unary[at] for at in squares], float).reshape(len(squares), -1)
    shown = np.array([[[x == y for y in _LETTERS] for x in side_letters(t, rot)] for t in kinds for rot in range(4)])
    price = np.zeros(len(kinds))
    limit = np.array([counts.get(t.id, 10_000) for t in kinds])
    belief = own
    for _ in range(6):
        belief = _propagate(own - np.repeat(price, 4), squares, shown.astype(float))
        over = np.exp(belief).sum(axis=0).reshape(-1, 4).sum(axis=1) - limit
        if (over < 0.3).all():
            break
        price = np.clip(price + _PRICE * np.maximum(over, 0), 0, _PRICE_LIMIT)
    return {at: belief[n].reshape(-1, 4) for n, at in enumerate(squares)}


def _propagate(unary: Array, squares: Sequence[Square], shown: Array) -> Array:
    """(N, 4 K) log-probabilities; ``shown`` (4 K, sides, letters) is 1.0 where a turned tile shows that letter."""
    size = len(_LETTERS)
    agree = np.full((size, size), np.exp(-MISMATCH)) + np.eye(size) * (1 - np.exp(-MISMATCH))
    row = {at: n for n, at in enumerate(squares)}
    pairs = [(n, side, row[there], EDGES.index(OPPOSITE[name])) for at, n in row.items()
             for side, name in enumerate(EDGES) if (there := _beside(at, name)) in row]
    sender, out, receiver, into = np.array(pairs, int).reshape(-1, 4).T
    flat = shown.reshape(len(shown), -1)
    messages = np.zeros((len(squares), len(EDGES), size))
    belief = unary
    for _ in range(ROUNDS):
        total = unary + messages.reshape(len(squares), -1) @ flat.T
        top = total.max(axis=1, keepdims=True)
        belief = total - top - np.log(np.exp(total - top).sum(axis=1, keepdims=True))
        # a square's message about its side, without its neighbour's own message about that side
        mass = (np.exp(belief) @ flat).reshape(messages.shape) * np.exp(-messages) + 1e-12
        sent = np.log(mass / mass.sum(axis=2, keepdims=True) @ agree)
        fresh = np.zeros_like(messages)
        fresh[receiver, into] = sent[sender, out]
        messages = 0.5 * messages + 0.5 * fresh
    return belief


def _beside(at: Square, side: str) -> Square:
    dx, dy = STEP[side]
    return at[0] + dx, at[1] + dy
