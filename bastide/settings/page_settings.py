"""Settings made on the page: stored in ``DATA/settings.json``, shown with the origin of each option, changed one by
one.

A setting must not make the table unreachable: the last settings with which the server started are stored too, and a
failed start falls back to them (`bastide.commands.serve_command`).
"""

from __future__ import annotations

import argparse
import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypedDict

from bastide.errors import Failure, UsageError
from bastide.files.keys import write_private
from bastide.files.logs import clean
from bastide.settings.options import (
    COMMAND_LINE,
    NAMED,
    OPTIONS,
    PAGE,
    WITH_MQTT,
    InForce,
    Option,
    Value,
    in_force,
    read_value,
    sound,
)
from web.machine_states import SettingsState
from web.protocol import CommandError

NAME = "settings.json"
_VERSION, _LARGEST = 1, 200_000
_log = logging.getLogger("bastide.settings")
Kept = Mapping[str, Value]


class SettingsFile:
    """The settings file of a data folder, readable by its owner only: a camera's address may contain a password. A file
    that cannot be parsed is moved aside and the defaults apply."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / NAME
        self.values: dict[str, Value] = {}
        self.served: dict[str, Value] = {}  # with which the server last started
        try:
            if self.path.stat().st_size > _LARGEST:
                raise ValueError
            data = json.loads(self.path.read_text("utf-8"))
            if type(data["version"]) is not int or data["version"] > _VERSION:
                raise ValueError
            self.values, self.served = sound(data["values"]), sound(data["served"])
        except FileNotFoundError:
            pass
        except OSError as e:
            raise Failure(f"{self.path}: cannot be read ({e.strerror or e}); check the disk, and whose file it is") \
                from e
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            aside = self.path.with_suffix(".damaged.json")
            self.path.replace(aside)
            _log.warning("%s is damaged and was moved to %s; all settings have their defaults again", self.path,
                         aside.name)

    def put(self, values: Kept) -> None:
        """Store these. Raises OSError; then nothing has changed."""
        self._write(values, self.served)

    def serves(self) -> None:
        """Record that the server has started with the stored settings."""
        if self.served != self.values:
            self._write(self.values, self.values)

    def _write(self, values: Kept, served: Kept) -> None:
        write_private(self.path, json.dumps({"version": _VERSION, "values": dict(values), "served": dict(served)}))
        self.values, self.served = dict(values), dict(served)


def without_passwords(folder: Path) -> str | None:
    """The settings of a data folder as text for a backup or a support file, without passwords; None if there are
    none."""
    if not (folder / NAME).is_file():
        return None
    try:
        values = SettingsFile(folder).values
    except Failure:
        return None
    values = {name: shown for name, value in values.items() if (shown := _shown(value)) is not None}
    return json.dumps({"version": _VERSION, "values": values, "served": values})


class OptionRow(TypedDict):
    """An option (`bastide.settings.options.Option`) with its ``value``, the one ``kept`` from the page, its ``origin``,
    whether it is ``idle`` without another option, and whether it ``waits`` for a restart."""

    name: str
    kind: str
    group: str
    title: dict[str, str]
    help: dict[str, str]
    choices: list[str]
    least: float | None
    most: float | None
    unit: str
    several: bool
    default: Value | None
    value: Value | None
    kept: Value | None
    origin: str
    page: bool
    restart: bool
    idle: bool
    waits: bool


class Settings:
    """The options of one running table (`web.machine_protocol.Settings`). Thread-safe."""

    def __init__(self, file: SettingsFile, args: argparse.Namespace, environment: Mapping[str, str], now: InForce,
                 again: Callable[[], None], *, live: Mapping[str, Callable[[Value | None], None]] | None = None,
                 check: Callable[[argparse.Namespace], None] = lambda args: None, note: str = "") -> None:
        """``args`` is the command line as given, ``now`` the effective options, ``again`` restarts the server. ``live``
        applies options that need no restart; ``check`` raises UsageError for inconsistent options; ``note`` says why
        settings were rejected."""
        self._file, self._args, self._environment, self._now, self._again = file, args, environment, now, again
        self._live, self._check, self._note = dict(live or {}), check, note
        self._values = dict(now.values)
        self._lock = threading.RLock()
        self._ends = False

    def state(self) -> SettingsState:
        """Every option with its value, origin and page setting; which wait for a restart."""
        with self._lock:
            wanted = self._wanted(self._file.values)
            rows = [self._row(o, wanted) for o in OPTIONS]
            return {"options": rows, "waiting": [r["name"] for r in rows if r["waits"]], "note": self._note or None,
                    "restarting": self._ends}

    def value(self, name: str) -> Value | None:
        """The value of an option, now or after a restart."""
        with self._lock:
            return self._wanted(self._file.values).values[name]

    def texts(self, name: str) -> list[str]:
        """The same of an option that is a list of texts."""
        value = self.value(name)
        return list(value) if isinstance(value, list) else []

    def origin(self, name: str) -> str:
        """The origin of an option's value."""
        with self._lock:
            return self._wanted(self._file.values).origin[name]

    def put(self, name: str, value: object) -> SettingsState:
        """Set one; returns the state. Raises CommandError for an invalid value or a write error."""
        option = self._option(name)
        try:
            with self._lock:
                kept = self._file.values.get(name)
                read = kept if kept is not None and value == _shown(kept) else read_value(option, value)
                self._keep({**self._file.values, name: read}, name)
        except UsageError as e:
            raise CommandError("bad_setting", str(e).removeprefix(f"--{name}").removeprefix(":").strip()) from e
        return self.state()

    def reset(self, name: str) -> SettingsState:
        """Remove a page setting; returns the state."""
        self._option(name)
        with self._lock:
            self._keep({k: v for k, v in self._file.values.items() if k != name}, name)
        return self.state()

    def restart(self) -> SettingsState:
        """Restart the server with the settings; returns the state with the page's future ``port``."""
        with self._lock:
            self._ends = True
            told, port = self.state(), self._wanted(self._file.values).values["port"]
            assert isinstance(port, int)
            told["port"] = port
        self._again()
        return told

    def _option(self, name: str) -> Option:
        option = NAMED.get(name)
        if option is None or not option.page:
            raise CommandError("bad_setting", "there is no such setting on the page")
        return option

    def _wanted(self, kept: Kept) -> InForce:
        return in_force(self._args, self._environment, kept)

    def _keep(self, values: dict[str, Value], name: str) -> None:
        wanted = self._wanted(values)
        self._check(wanted.onto(self._args))
        try:
            self._file.put(values)
        except OSError as e:
            raise CommandError("not_saved", f"the setting cannot be saved ({e.strerror or e}); free some space or "
                               "check the disk") from e
        self._note = ""
        if not NAMED[name].restart and wanted.origin[name] != COMMAND_LINE:
            self._values[name] = wanted.values[name]
            if name in self._live:
                self._live[name](wanted.values[name])

    def _row(self, o: Option, wanted: InForce) -> OptionRow:
        said, kept = wanted.origin[o.name], self._file.values.get(o.name)
        return {"name": o.name, "kind": o.kind, "group": o.group, "title": dict(o.title), "help": dict(o.help),
                "choices": list(o.choices), "least": o.least, "most": o.most, "unit": o.unit, "several": o.several,
                "default": o.default, "value": _shown(self._values[o.name]), "kept": _shown(kept),
                "origin": said, "page": o.page, "restart": o.restart,
                "idle": o.name in WITH_MQTT and kept is not None and not wanted.values["mqtt"],
                "waits": wanted.values[o.name] != self._values[o.name]}


def _shown(value: Value | None) -> Value | None:
    """A value without the passwords in its addresses."""
    if isinstance(value, str):
        return clean(value)
    return [clean(one) for one in value] if isinstance(value, list) else value


def set_on_page(now: InForce) -> bool:
    """Whether any effective option was set on the page."""
    return PAGE in now.origin.values()
