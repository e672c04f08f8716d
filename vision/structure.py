"""Estimates the structure of a tile on a square, whatever the artwork: sides, joined towns, roads and fields, cloister,
pennant, and whether a tile lies squarely there at all. The small network (``models/structure.onnx``, made by
``training/``, run by OpenCV) was trained on invented editions only, so it depends on no artwork and works for every
box.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from scoring.tiles import EDGES, Tile, edge, turn
from vision.batches import batches
from vision.frames import Image
from vision.networks import lent, loaded

Array = npt.NDArray[np.float64]

CROP_PX = 80  # side of the network's input
MARGIN = 0.15  # of a tile around the square
LETTERS = "FCRI"
PAIRS = tuple(combinations(range(4), 2))  # of the sides N E S W
JOINED = (("city", "C"), ("road", "R"), ("field", "F"))  # segments that sides may share, and the letter of such sides
TRUTHS = 4 + len(JOINED) * len(PAIRS) + 3  # letters of the sides, which of them are joined, cloister, pennant, a tile
OUTPUTS = 16 + TRUTHS - 4 + 8  # logits of the letters, of the rest, and where the corners are (8, in tiles)
CLEAR = 0.98  # probability of each output from which two quarter turns suffice instead of four
_FLOOR = -7.0  # floor of a single output's log-probability


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureEstimate:
    """The network's estimate for N squares: log-probabilities ``sides`` (N, 4, 4 letters), ``yes`` and ``no`` (N, 20:
    joined towns, roads and fields of PAIRS, cloister, pennant), ``present`` (N,) the probability of a tile,
    ``corners`` (N, 4, 2) its corners in tiles."""

    sides: Array
    yes: Array
    no: Array
    present: Array
    corners: Array

    def rows(self, which: Sequence[int]) -> StructureEstimate:
        """The estimate for some of the squares."""
        n = np.asarray(which, int)
        return StructureEstimate(sides=self.sides[n], yes=self.yes[n], no=self.no[n], present=self.present[n],
                    corners=self.corners[n])

    def without(self, sides: Sequence[int], cloister: bool) -> StructureEstimate:
        """The estimate where these sides may as well have a road as a field, and there may be a ``cloister``, because
        nobody sees which."""
        letters, yes, no = self.sides.copy(), self.yes.copy(), self.no.copy()
        road, field = LETTERS.index("R"), LETTERS.index("F")
        for side in sides:
            either = np.logaddexp(letters[:, side, road], letters[:, side, field]) - np.log(2.0)
            letters[:, side, road] = letters[:, side, field] = either
        open_ = [n * len(PAIRS) + k for n, (kind, _) in enumerate(JOINED) if kind != "city"
                 for k, pair in enumerate(PAIRS) if set(pair) & set(sides)]
        if cloister:
            open_.append(len(JOINED) * len(PAIRS))
        yes[:, open_] = no[:, open_] = 0.0
        return replace(self, sides=letters, yes=yes, no=no)

    def loglik(self, kinds: Sequence[Tile]) -> Array:
        """(N, K, 4) log-likelihood of every kind in every quarter turn."""
        asked = np.array([[_asked(kind, rot) for rot in range(4)] for kind in kinds])
        letters = asked[..., :4]
        total = sum(self.sides[:, n][:, letters[..., n]] for n in range(4))
        marks = asked[..., 4:]
        total = total + np.einsum("na,kra->nkr", self.yes, (marks == 1).astype(float))
        return np.asarray(total + np.einsum("na,kra->nkr", self.no, (marks == 0).astype(float)))


def together(parts: Sequence[StructureEstimate]) -> StructureEstimate:
    """Concatenates estimates."""
    return StructureEstimate(sides=np.concatenate([p.sides for p in parts]), yes=np.concatenate([p.yes for p in parts]),
                no=np.concatenate([p.no for p in parts]), present=np.concatenate([p.present for p in parts]),
                corners=np.concatenate([p.corners for p in parts]))


class StructureNet:
    """The loaded network. Not thread-safe."""

    def __init__(self, model: bytes | None = None) -> None:
        """``model``: an ONNX network to use instead of bastide's own."""
        self._net = loaded(model) if model else lent(self, "structure")

    def ask(self, crops: Image, *, turns: int = 1) -> StructureEstimate:
        """The estimate for (N, CROP_PX, CROP_PX, 3) crops with MARGIN. ``turns`` 4 averages over two quarter turns, and
        over the other two where those are ambiguous."""
        out = self._turned(crops, range(min(turns, 2)))
        if turns > 2 and len(left := np.flatnonzero(_open(_said(out)))):
            out[left] = (out[left] + self._turned(crops[left], range(2, 4))) / 2
        return _said(out)

    def _turned(self, crops: Image, turns: range) -> Array:
        """Mean output for crops in these quarter turns."""
        out: Array = np.mean([_unturned(self._forward(np.rot90(crops, k, axes=(1, 2))), k) for k in turns], axis=0)
        return out

    def _forward(self, crops: Image) -> Array:
        out = []
        for some in batches(len(crops)):
            part = np.ascontiguousarray(crops[some].transpose(0, 3, 1, 2), np.float32) / 255
            self._net.setInput(part)
            out.append(self._net.forward().reshape(len(part), OUTPUTS).copy())
        return np.concatenate(out).astype(float) if out else np.zeros((0, OUTPUTS))


def _unturned(out: Array, k: int) -> Array:
    """The output for crops turned ``k`` quarters anticlockwise, mapped to the crops themselves."""
    if k == 0:
        return out
    back = [(side - k) % 4 for side in range(4)]
    result = out.copy()
    result[:, :16] = out[:, :16].reshape(-1, 4, 4)[:, back].reshape(-1, 16)
    for first in range(16, 16 + len(JOINED) * len(PAIRS), len(PAIRS)):
        for n, (a, b) in enumerate(PAIRS):
            result[:, first + n] = out[:, first + PAIRS.index(tuple(sorted((back[a], back[b]))))]
    corners = out[:, -8:].reshape(-1, 4, 2)
    for _ in range(k):  # undo one anticlockwise turn: (x, y) -> (-y, x), and each corner moves on by one
        corners = np.roll(np.stack([-corners[..., 1], corners[..., 0]], axis=-1), 1, axis=1)
    result[:, -8:] = corners.reshape(-1, 8)
    return result


def _open(said: StructureEstimate) -> npt.NDArray[np.bool_]:
    """(N,) whether an output for a square is ambiguous. Joined segments are ignored between sides that do not have
    them."""
    letters = said.sides.argmax(axis=2)
    shown = [(letters[:, a] == letters[:, b]) & (letters[:, a] == LETTERS.index(x)) for _, x in JOINED
             for a, b in PAIRS]
    town = (letters == LETTERS.index("C")).any(axis=1)
    asked = np.stack([*shown, np.ones_like(town), town], axis=1)
    surest = np.maximum(said.yes, said.no)
    out: npt.NDArray[np.bool_] = ((said.sides.max(axis=2).min(axis=1) < np.log(CLEAR)) | (said.present < CLEAR)
                                  | (np.where(asked, surest, 0.0).min(axis=1) < np.log(CLEAR)))
    return out


def _said(out: Array) -> StructureEstimate:
    sides = out[:, :16].reshape(-1, 4, 4)
    sides = sides - sides.max(axis=2, keepdims=True)
    sides = sides - np.log(np.exp(sides).sum(axis=2, keepdims=True))
    marks = out[:, 16:16 + TRUTHS - 5]
    base = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    return StructureEstimate(sides=np.maximum(sides, _FLOOR), yes=np.maximum(-np.logaddexp(0, -marks), _FLOOR),
                no=np.maximum(-np.logaddexp(0, marks), _FLOOR), present=1 / (1 + np.exp(-out[:, -9])),
                corners=out[:, -8:].reshape(-1, 4, 2) + base)


def truth_of(tile: Tile, rot: int) -> list[int]:
    """The target for a turned tile: the indices of its letters, then 1, 0, or -1 for undefined."""
    sides = [LETTERS.index(edge(tile, rot, side)) for side in EDGES]
    out = list(sides)
    for kind, letter in JOINED:  # a field touches half-sides; both halves of a side that is all field
        joined = [{turn(a, rot)[0] for a in s.atoms} for s in tile.segments if s.kind == kind]
        for a, b in PAIRS:
            both = sides[a] == sides[b] == LETTERS.index(letter)
            out.append(int(any({EDGES[a], EDGES[b]} <= j for j in joined)) if both else -1)
    out.append(int(any(s.kind == "cloister" for s in tile.segments)))
    out.append(int(any(s.pennants for s in tile.segments)))
    return out


def told_apart(kinds: Iterable[Tile]) -> bool:
    """Whether the network can distinguish all these kinds: it does not detect inns or goods, for example."""
    shown = [min(tuple(_asked(kind, rot)) for rot in range(4)) for kind in kinds]
    return len(set(shown)) == len(shown)


_asked = cache(truth_of)
