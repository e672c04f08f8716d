"""Interfaces that the page requires of its machine: settings, cameras, the guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from web.machine_states import CamerasState, GuideState, LensFile, LensState, SettingsState, TeachingState, UpdateState


class Settings(Protocol):
    """The options of the running table. Every method is thread-safe and returns at once; all raise CommandError if
    it cannot be done, and return the state: ``options`` (name, kind, group, title and help by language, choices, least,
    most, unit, several, default, effective value, the value ``kept`` from the page, its source (``origin``), page,
    restart, idle, waits), the names of those ``waiting`` for a restart, ``note`` (why settings were not taken, or
    None), restarting."""

    def state(self) -> SettingsState:
        """The state."""
        ...

    def put(self, name: str, value: object) -> SettingsState:
        """Set one."""
        ...

    def reset(self, name: str) -> SettingsState:
        """Remove the setting."""
        ...

    def restart(self) -> SettingsState:
        """Restart the server with the settings; the state also has the page's ``port`` afterwards."""
        ...


class Cameras(Protocol):
    """Every camera that could watch this table. All methods are thread-safe and return at once; they raise CommandError
    if it cannot be done, and return ``cameras`` (id, address, kind, name, used, typed, the secret name of its newest
    ``picture``, size, state, checks), ``chosen`` (whether one is in use) and ``fixed`` (whether the command line sets
    it)."""

    def state(self) -> CamerasState:
        """The state; keeps the cameras open for a few more seconds."""
        ...

    def picture(self, ticket: str) -> bytes | None:
        """A camera's newest picture (JPEG) under its secret name, or None."""
        ...

    def choose(self, key: str) -> CamerasState:
        """Watch with the camera of that id; the server restarts (``restarting``)."""
        ...

    def offer(self, address: str) -> CamerasState:
        """Add a camera by its network address."""
        ...

    def forget(self, key: str) -> CamerasState:
        """Remove an address that was typed in."""
        ...


class Teaching(Protocol):
    """Teaching the owner's tiles from the teaching sheet. Every method may be called from any thread; all but
    ``picture`` return the state: camera, the number of the newest ``picture`` of the sheet, ``pages`` in view (page,
    product, cells, seen), ``tiles`` by ``cell`` (tile, turns, sure, picture, coarse, doubt: sides, blurred, other or
    None), kinds wanted and known, ``outcome`` of the last `keep` (taught, refused, missing, coarse). They raise
    CommandError if it cannot be done."""

    def state(self) -> TeachingState:
        """The state; keeps using the camera for a few more seconds."""
        ...

    def say(self, cell: str, tile: str, turns: int) -> TeachingState:
        """Label the tile in a cell; ``turns`` clockwise quarter turns make its picture upright."""
        ...

    def leave_out(self, cell: str) -> TeachingState:
        """Do not teach the tile in a cell."""
        ...

    def keep(self) -> TeachingState:
        """Make the owner's set from the pictures taken."""
        ...

    def forget(self) -> TeachingState:
        """Discard everything not stored and start over."""
        ...

    def picture(self, number: int) -> bytes | None:
        """A picture of the sheet or of a tile (JPEG), or None."""
        ...


class Lens(Protocol):
    """Calibrates the lens of the camera in use, with the history of calibrations. Every method may be called from any
    thread; all but ``export`` and ``picture`` return the state: camera, the number of its newest ``picture``, ``size``
    and, in its pixels, the visible ``board`` and for every view (number, corners, left_out, used, rms_px, rms_mm) the
    ``outline``; ``coverage`` (corners seen in each part, row by row), ``lens`` (rms_px, rms_mm on the table, focal_px,
    focal_percent, fov_deg, ``sheet`` of the data sheet, advice), ``history`` (name, kind, made, now, model, size, how
    well it fits). They raise CommandError if it cannot be done."""

    def state(self) -> LensState:
        """The state; keeps using the camera for a few more seconds."""
        ...

    def leave_out(self, view: int, out: bool) -> LensState:
        """Exclude a view from the computation, or include it again."""
        ...

    def drop_worst(self) -> LensState:
        """Exclude the view that fits worst."""
        ...

    def clear(self) -> LensState:
        """Start over."""
        ...

    def compare_with(self, camera: str) -> LensState:
        """Name the camera whose data sheet gives the field of view."""
        ...

    def keep(self) -> LensState:
        """Use the computed lens."""
        ...

    def back(self, name: str) -> LensState:
        """Use an earlier calibration again."""
        ...

    def export(self, name: str) -> LensFile:
        """A calibration as a file: its ``name`` and ``text``."""
        ...

    def piece(self, at: int, data: bytes) -> LensState:
        """The next bytes of an uploaded file."""
        ...

    def take_in(self) -> LensState:
        """Use the uploaded calibration."""
        ...

    def picture(self, number: int) -> bytes | None:
        """One of the newest pictures as the camera delivered it (JPEG), or None."""
        ...


class Guide(Protocol):
    """The guide to a first scored road. Every method may be called from any thread; all but ``sheet`` return the
    state: the current ``step``, whether the guide is ``finished``, ``steps`` (name, state: done, answered, skipped or
    open, answer), and the ``practice`` road (``plan`` and what was ``seen``)."""

    def state(self) -> GuideState:
        """The state."""
        ...

    def go(self, step: str) -> GuideState:
        """Go to a step."""
        ...

    def skip(self, step: str) -> GuideState:
        """Skip a step for now."""
        ...

    def answer(self, step: str, value: str) -> GuideState:
        """Answer a step that needs no proof."""
        ...

    def finish(self) -> GuideState:
        """Close the guide until somebody opens it again."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the guide is closed."""
        ...

    @property
    def sheet(self) -> Callable[[str], bytes | None]:
        """A sheet to print (PDF); None for an unknown name."""
        ...


class Updates(Protocol):
    """Uploaded releases (docs/updates.md describes the state). Every method may be called from any thread, and raises
    CommandError if it cannot be done."""

    def state(self) -> UpdateState:
        """The state."""
        ...

    def piece(self, at: int, data: bytes) -> UpdateState:
        """The next bytes of an uploaded file."""
        ...

    def look(self) -> UpdateState:
        """Verify the upload and describe it."""
        ...

    def install(self) -> UpdateState:
        """Request its installation."""
        ...

    def back(self) -> UpdateState:
        """Request the previous version."""
        ...

    def forget(self) -> UpdateState:
        """Delete the upload."""
        ...
