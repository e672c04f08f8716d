"""What the page needs from the machine that shows it: settings, cameras, the guide, as seen from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from web.states import CamerasState, GuideState, SettingsState, UpdateState


class Settings(Protocol):
    """The options of the running table. Every method may be called from any thread and returns at once; all raise
    CommandError where it cannot be done, and answer with the state: ``options`` (name, kind, group, title and help by
    language, choices, least, most, unit, several, default, value in force, what was ``kept`` on the page, whose word it
    is (``origin``), page, restart, idle, waits), the names of those ``waiting`` for a restart, ``note`` (why settings
    were not taken, or None), restarting."""

    def state(self) -> SettingsState:
        """How it stands."""
        ...

    def put(self, name: str, value: object) -> SettingsState:
        """Set one."""
        ...

    def reset(self, name: str) -> SettingsState:
        """Take back what was set."""
        ...

    def restart(self) -> SettingsState:
        """Have the table served anew with what is set; beside the state the ``port`` of the page afterwards."""
        ...


class Cameras(Protocol):
    """Every camera that could watch this table. All methods may be called from any thread and return at once; they
    raise CommandError where it cannot be done, and answer with ``cameras`` (id, address, kind, name, used, typed, the
    secret name of its newest ``picture``, size, state, checks), ``chosen`` (whether one is in use) and ``fixed``
    (whether the command line names it)."""

    def state(self) -> CamerasState:
        """How it stands; cameras are looked through for a few seconds more."""
        ...

    def picture(self, ticket: str) -> bytes | None:
        """A camera's newest picture (JPEG) under its secret name, or None."""
        ...

    def choose(self, key: str) -> CamerasState:
        """Watch with the camera of that id; the table is served anew (``restarting``)."""
        ...

    def offer(self, address: str) -> CamerasState:
        """Another camera, by its address in the network."""
        ...

    def forget(self, key: str) -> CamerasState:
        """Offer an address no more that was typed in."""
        ...


class Guide(Protocol):
    """The guide to a first scored road. Every method may be called from any thread; all but ``sheet`` answer with the
    state: the ``step`` people are at, whether they are ``finished``, ``steps`` (name, state: done, answered, skipped or
    open, answer), and the ``practice`` road (``plan`` and what was ``seen``)."""

    def state(self) -> GuideState:
        """How it stands."""
        ...

    def go(self, step: str) -> GuideState:
        """Go to a step."""
        ...

    def skip(self, step: str) -> GuideState:
        """Leave a step for later."""
        ...

    def answer(self, step: str, value: str) -> GuideState:
        """Choose where nothing needs to be proved."""
        ...

    def finish(self) -> GuideState:
        """Close it, until somebody opens it again."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nobody is being guided."""
        ...

    @property
    def sheet(self) -> Callable[[str], bytes | None]:
        """Makes a sheet to print (PDF), None for a name that is none."""
        ...


class Updates(Protocol):
    """Releases that come in as files (docs/updates.md has the state). Every method may be called from any thread, and
    raises CommandError where it cannot be done."""

    def state(self) -> UpdateState:
        """How it stands."""
        ...

    def piece(self, at: int, data: bytes) -> UpdateState:
        """The next bytes of a file that comes in."""
        ...

    def look(self) -> UpdateState:
        """Verify what came in and say what it is."""
        ...

    def install(self) -> UpdateState:
        """Ask for it to be installed."""
        ...

    def back(self) -> UpdateState:
        """Ask for the version before."""
        ...

    def forget(self) -> UpdateState:
        """Take away what came in."""
        ...
