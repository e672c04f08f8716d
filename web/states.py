"""Types of the table's responses besides the view: list rows and states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from scoring.views import GapsView, KindsView, Move, MovesView, ObjectionsView, PlacesView

Json = Mapping[str, object]  # a document of its own, described where it is built
Fits = PlacesView | ObjectionsView | KindsView | GapsView  # placements, objections, kinds or gaps

class TurnRow(TypedDict):
    """A turn that was played, and whether there is a picture of it."""

    turn: int
    player: int
    tile: str | None
    at: list[int] | None
    picture: bool


class GameRow(TypedDict):
    """A stored game; ``winners`` are player indices."""

    game: int
    created_s: float
    players: list[str]
    entries: int
    over: bool
    shown: bool
    scores: NotRequired[list[int]]
    winners: NotRequired[list[int]]


class CorrectionRow(TypedDict):
    """A correction: the entry ``of`` which it changes, and its content before and after."""

    seq: int
    at_s: float
    who: str
    do: NotRequired[Literal["amend", "undo", "retract", "insert", "settle"]]
    of: NotRequired[int]
    code: NotRequired[str]
    before: NotRequired[Move | None]
    after: NotRequired[Move | None]


class ScoreChange(TypedDict):
    """A player's score before and after."""

    player: int
    before: int
    after: int


class PreviewRow(TypedDict):
    """The effect of a command, or why it would be refused."""

    scores: NotRequired[list[ScoreChange]]
    issues: NotRequired[list[str]]
    error: NotRequired[str]


class MovesNow(MovesView):
    """The moves possible now."""

    version: int


class TileCandidate(TypedDict):
    """A candidate reading of an entry's tile; for a figure's entry, the move as it was read."""

    probability: float
    tile: NotRequired[str]
    rot: NotRequired[int]
    legal: NotRequired[bool]
    body: NotRequired[Move]


class ArtSet(TypedDict):
    """A set of tile pictures that a new game may choose."""

    name: str
    kind: str
    pictures: int
    kinds: int
    usual: bool


class OwnPictures(TypedDict):
    """The number of pictures of the owner's tiles, by kind, and a tag that changes with them."""

    tiles: Mapping[str, int]
    tag: str


class SeenState(TypedDict):
    """The reading of the camera's picture with that number, in its pixels."""

    camera: bool
    watching: bool
    picture: int | None
    size: NotRequired[list[int]]
    tiles: NotRequired[Sequence[Json]]
    open: NotRequired[Sequence[Json]]
    readings: NotRequired[Sequence[Json]]
    figures: NotRequired[Sequence[Json]]
    moving: NotRequired[Sequence[Sequence[Sequence[float]]]]


class GhostState(TypedDict):
    """The camera's view at the start of the game (``reference``, of that ``size``) compared with the newest
    ``picture``: how far to push and turn it back, None if unknown."""

    camera: bool
    picture: int | None
    reference: int | None
    size: list[int] | None
    moved: Json | None


class DoorState(TypedDict):
    """The access state for a page: its right, token and device name, whether the table's PIN is set (or ``machine``:
    only this machine may play) and the administrator's, when and from where it was set, and the number of wrong
    PINs."""

    right: str
    owner: bool
    token: str | None
    pin: str
    admin_pin: bool
    name: str | None
    failed: int | None
    set_at_s: float | None
    set_from: str | None
