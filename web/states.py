"""What the table answers when the page asks beside the game: rows of lists, and how things stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from scoring.views import GapsView, KindsView, Move, MovesView, ObjectionsView, PlacesView

Json = Mapping[str, object]  # a document of its own, described where it is made
Fits = PlacesView | ObjectionsView | KindsView | GapsView  # what fits where

class TurnRow(TypedDict):
    """A turn that was played, and whether there is a picture of it."""

    turn: int
    player: int
    tile: str | None
    at: list[int] | None
    picture: bool


class GameRow(TypedDict):
    """A game that is kept; ``winners`` are numbers of players."""

    game: int
    created_s: float
    players: list[str]
    entries: int
    over: bool
    shown: bool
    scores: NotRequired[list[int]]
    winners: NotRequired[list[int]]


class CorrectionRow(TypedDict):
    """What somebody changed: the entry ``of`` which it is said, and what that said before and says since."""

    seq: int
    at_s: float
    who: str
    do: NotRequired[Literal["amend", "undo", "retract", "insert", "settle"]]
    of: NotRequired[int]
    code: NotRequired[str]
    before: NotRequired[Move | None]
    after: NotRequired[Move | None]


class ScoreChange(TypedDict):
    """A player's score, as it is and as it would be."""

    player: int
    before: int
    after: int


class PreviewRow(TypedDict):
    """What a command would come to, or why it would be refused."""

    scores: NotRequired[list[ScoreChange]]
    issues: NotRequired[list[str]]
    error: NotRequired[str]


class MovesNow(MovesView):
    """What can be done now."""

    version: int


class TileCandidate(TypedDict):
    """What the tile of an entry may be; of what was kept beside a figure, the move as it was read."""

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
    """How many pictures of the owner's tiles there are, by kind, and a tag that changes with them."""

    tiles: Mapping[str, int]
    tag: str


class SeenState(TypedDict):
    """What the camera sees: what was made of the picture with that number, in its pixels."""

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
    """The view that the game began with (``reference``, of that ``size``) beside the newest ``picture``: how far it is
    to be pushed back and turned, None where nothing can be said."""

    camera: bool
    picture: int | None
    reference: int | None
    size: list[int] | None
    moved: Json | None


class DoorState(TypedDict):
    """What a page has to know: the right it has, its token, its device's name, whether the table's PIN is set (or the
    ``machine`` plays) and the administrator's, who set it when, and how many wrong PINs came in."""

    right: str
    owner: bool
    token: str | None
    pin: str
    admin_pin: bool
    name: str | None
    failed: int | None
    set_at_s: float | None
    set_from: str | None
