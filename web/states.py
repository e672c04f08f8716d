"""What the table and its machine answer when the page asks beside the game: rows of lists, and how things stand."""

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
    moving: NotRequired[list[object]]


class GhostState(TypedDict):
    """The view that the game began with (``reference``, of that ``size``) beside the newest ``picture``: how far it is
    to be pushed back and turned, None where nothing can be said."""

    camera: bool
    picture: int | None
    reference: int | None
    size: list[int] | None
    moved: Json | None


class AimState(TypedDict):
    """The newest look through the camera, by its number, and what it said."""

    look: int
    aim: Json | None


class TuningState(TypedDict):
    """What is being calibrated, what came of it by kind, and what is in use."""

    camera: bool
    running: str | None
    done: Json
    used: Sequence[Json]
    cameras: Sequence[Json]
    methods: list[str]
    limits: Json
    trial: Json


class TeachingState(TypedDict):
    """What lies on the teaching sheet and what it is taken for, by cell; the kinds that are ``wanted``, how many
    pictures of each are ``known``, the ``fewest`` that anything is taught by, and what came of keeping them."""

    camera: bool
    picture: int | None
    pages: Sequence[Json]
    tiles: Sequence[Json]
    wanted: list[str]
    known: Mapping[str, int]
    fewest: int
    outcome: Json | None


class LensState(TypedDict):
    """The lens as it is being calibrated, in pixels of the camera's own ``picture`` of that ``size``, and every earlier
    calibration."""

    camera: bool
    picture: int | None
    size: list[int]
    board: list[list[int]] | None
    views: Sequence[Json]
    coverage: list[list[int]]
    enough: int
    least: int
    good_px: float
    busy: bool
    lens: Json | None
    error: Json | None
    saved: bool
    history: Sequence[Json]
    chosen: str
    cameras: Sequence[Json]
    upload: int
    most: int


class BackupState(TypedDict):
    """How backups stand: ``upload`` bytes came in, of ``most``; ``file`` is what was made, under its secret address."""

    busy: str | None
    game_runs: bool
    most: int
    upload: int
    checked: Json | None
    file: Json | None
    error: Json | None


class SettingsState(TypedDict):
    """Every option, the names of those that wait for a restart, and why settings were not taken."""

    options: Sequence[Json]
    waiting: list[str]
    note: str | None
    restarting: bool
    port: NotRequired[int]


class CamerasState(TypedDict):
    """Every camera with what it sees; whether one is chosen, and whether the command line names it."""

    cameras: Sequence[Json]
    chosen: bool
    fixed: bool
    restarting: NotRequired[bool]


class GuideStep(TypedDict):
    """A step of the guide."""

    name: str
    state: str
    answer: str | None


class GuideState(TypedDict):
    """The step people are at, whether nobody is guided, and the practice road."""

    step: str
    finished: bool
    steps: list[GuideStep]
    practice: Json


class UpdateState(TypedDict):
    """What runs, what came in, what is offered, and how the newest update goes or went (docs/updates.md)."""

    possible: bool
    version: str
    before: str | None
    game_runs: bool
    most: int
    upload: int
    busy: bool
    offer: Json | None
    last: Json | None
