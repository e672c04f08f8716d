"""Types of the responses about the machine and its camera: set-up, health, backups, settings, the guide, updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from web.states import Json


class ErrorRow(TypedDict):
    """An error: ``code`` is for programs, ``text`` a sentence for people, ``parts`` its placeholders' values."""

    code: str
    text: str
    parts: NotRequired[Mapping[str, object]]


class LineRow(TypedDict):
    """One check of the machine: ``text`` is what was found, ``do`` what to do about it; ``code`` and ``todo`` name
    these sentences, ``parts`` are their placeholders' values."""

    what: str
    state: str
    text: str
    do: str
    code: str
    todo: str
    parts: Mapping[str, str | int | float]


class PulseState(TypedDict):
    """Current faults, the worst first."""

    lines: list[LineRow]


class ReportState(TypedDict):
    """The doctor's report: ``state`` is the worst of its checks, ``at_s`` when it was made."""

    state: str
    checks: list[LineRow]
    at_s: float | None


class AimState(TypedDict):
    """The number of the camera's newest picture, and its measurements."""

    look: int
    aim: Json | None


class TuningState(TypedDict):
    """The running calibration, the results by kind, and the calibrations in use."""

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
    """The tile in a cell: its kind, the quarter turns that its picture needs, the source of that label, the number of
    its picture, and why it is doubted."""

    cell: str
    tile: str
    turns: int
    sure: bool
    picture: int
    coarse: bool
    doubt: str | None


class TaughtRow(TypedDict):
    """Kinds that were taught, that are missing, whose pictures are coarse, and that were rejected."""

    taught: list[str]
    missing: list[str]
    coarse: list[str]
    refused: list[str]


class TeachingState(TypedDict):
    """The tiles on the teaching sheet and their labels, by cell; the kinds that are ``wanted``, the number of ``known``
    pictures of each, the ``fewest`` needed for teaching, and the outcome of storing them."""

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
    """A file that was made, with its secret URL; one for support has no games."""

    address: str
    bytes: int
    games: NotRequired[int]
    entries: NotRequired[int]
    made_s: NotRequired[float]


class CheckedBackup(TypedDict):
    """The contents of an uploaded backup."""

    games: int
    entries: int
    made_s: float


class BackupState(TypedDict):
    """State of backups: ``upload`` bytes received, of at most ``most``; ``file`` is the one made, with its secret
    URL."""

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
    """A camera with the result of its preview; ``typed``: its address was entered by hand, ``picture`` is a secret
    name."""

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
    """Every camera with its preview; whether one is chosen, and whether the command line sets it."""

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
    """The stages of the chain that have worked."""

    tile: bool
    follower: bool
    road: bool


class Practice(TypedDict):
    """The practice road: the tiles to lay, and which of them were seen."""

    plan: list[LayRow]
    seen: SeenRow


class GuideState(TypedDict):
    """The current step, whether the guide is finished, and the practice road."""

    step: str
    finished: bool
    steps: list[GuideStep]
    practice: Practice


class OfferRow(TypedDict):
    """An uploaded release that may be installed."""

    version: str
    bytes: int
    changes: str


class UpdateState(TypedDict):
    """The running version, the uploaded one, the offer, and the state of the newest update (docs/updates.md)."""

    possible: bool
    version: str
    before: str | None
    game_runs: bool
    most: int
    upload: int
    busy: bool
    offer: OfferRow | None
    last: Json | None
