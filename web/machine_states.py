"""What the machine and its camera answer when the page asks: set-up, health, backups, settings, the guide, updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from web.states import Json


class ErrorRow(TypedDict):
    """What went wrong: ``code`` is for programs, ``text`` a sentence for people, ``parts`` what is filled into it."""

    code: str
    text: str
    parts: NotRequired[Mapping[str, object]]


class LineRow(TypedDict):
    """One check of the machine: ``text`` is what was found, ``do`` what to do about it; ``code`` and ``todo`` name
    these sentences, ``parts`` are what is filled in."""

    what: str
    state: str
    text: str
    do: str
    code: str
    todo: str
    parts: Mapping[str, str | int | float]


class PulseState(TypedDict):
    """What is wrong just now, the worst first."""

    lines: list[LineRow]


class ReportState(TypedDict):
    """The doctor's report: ``state`` is the worst of its checks, ``at_s`` when it was made."""

    state: str
    checks: list[LineRow]
    at_s: float | None


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


class PageRow(TypedDict):
    """A page of the teaching sheet (from 1), and in how many of its cells a tile was seen."""

    page: int
    product: str
    cells: int
    seen: int


class CellRow(TypedDict):
    """What lies in a cell: the kind it is taken for, the quarter turns that its picture needs, whose word that is, the
    number of its picture, and why it is doubted."""

    cell: str
    tile: str
    turns: int
    sure: bool
    picture: int
    coarse: bool
    doubt: str | None


class TaughtRow(TypedDict):
    """Kinds that were taught, that are missing, whose pictures are coarse, and that were refused."""

    taught: list[str]
    missing: list[str]
    coarse: list[str]
    refused: list[str]


class TeachingState(TypedDict):
    """What lies on the teaching sheet and what it is taken for, by cell; the kinds that are ``wanted``, how many
    pictures of each are ``known``, the ``fewest`` that anything is taught by, and what came of keeping them."""

    camera: bool
    picture: int | None
    pages: Sequence[PageRow]
    tiles: Sequence[CellRow]
    wanted: list[str]
    known: Mapping[str, int]
    fewest: int
    outcome: TaughtRow | None


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
    error: ErrorRow | None
    saved: bool
    history: Sequence[Json]
    chosen: str
    cameras: Sequence[Json]
    upload: int
    most: int


class LensFile(TypedDict):
    """A calibration as a file."""

    name: str
    text: str


class MadeBackup(TypedDict):
    """A file that was made, under its secret address; one for support has no games."""

    address: str
    bytes: int
    games: NotRequired[int]
    entries: NotRequired[int]
    made_s: NotRequired[float]


class CheckedBackup(TypedDict):
    """What is in a backup that came in."""

    games: int
    entries: int
    made_s: float


class BackupState(TypedDict):
    """How backups stand: ``upload`` bytes came in, of ``most``; ``file`` is what was made, under its secret address."""

    busy: str | None
    game_runs: bool
    most: int
    upload: int
    checked: CheckedBackup | None
    file: MadeBackup | None
    error: ErrorRow | None


class SettingsState(TypedDict):
    """Every option, the names of those that wait for a restart, and why settings were not taken."""

    options: Sequence[Json]
    waiting: list[str]
    note: str | None
    restarting: bool
    port: NotRequired[int]


class CameraRow(TypedDict):
    """A camera with what a look through it showed; ``typed`` was its address, ``picture`` is a secret name."""

    id: str
    address: str
    kind: str
    name: str
    used: bool
    typed: bool
    picture: str | None
    size: list[int] | None
    state: str
    checks: list[LineRow]


class CamerasState(TypedDict):
    """Every camera with what it sees; whether one is chosen, and whether the command line names it."""

    cameras: Sequence[CameraRow]
    chosen: bool
    fixed: bool
    restarting: NotRequired[bool]


class GuideStep(TypedDict):
    """A step of the guide."""

    name: str
    state: str
    answer: str | None


class LayRow(TypedDict):
    """A tile to lay; ``follower`` is the segment where one stands on it."""

    tile: str
    at: list[int]
    rot: int
    follower: NotRequired[str]


class SeenRow(TypedDict):
    """Which links of the chain have held."""

    tile: bool
    follower: bool
    road: bool


class Practice(TypedDict):
    """The practice road: what is to be laid, and what of it was seen."""

    plan: list[LayRow]
    seen: SeenRow


class GuideState(TypedDict):
    """The step people are at, whether nobody is guided, and the practice road."""

    step: str
    finished: bool
    steps: list[GuideStep]
    practice: Practice


class OfferRow(TypedDict):
    """A release that came in and may be put in place."""

    version: str
    bytes: int
    changes: str


class UpdateState(TypedDict):
    """What runs, what came in, what is offered, and how the newest update goes or went (docs/updates.md)."""

    possible: bool
    version: str
    before: str | None
    game_runs: bool
    most: int
    upload: int
    busy: bool
    offer: OfferRow | None
    last: Json | None
