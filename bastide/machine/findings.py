"""The messages of a check-up: each has a code and parameters, so that the page can translate it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from web.machine_states import LineRow

Part = float | int | str

TEXT = {
    "disk.free": "{gb} GB free for {path}",
    "writing.took": "64 kB were on disk after {ms} ms",
    "writing.not": "{path} cannot be written ({why})",
    "log.none": "no game has been stored in {path} yet",
    "log.newer": "it was written by a newer version",
    "log.damaged": "it is damaged ({why})",
    "log.whole": "{games} games, {entries} entries, all checksums correct, {mb} MB with pictures",
    "log.unreadable": "it cannot be read ({why})",
    "backup.made": "the newest, {name}, has {games} games with {entries} entries and was test-restored",
    "backup.failed": "the newest could not be made ({why})",
    "damaged.kept": "{n} are kept, the newest is {name}",
    "memory.free": "{mb} of {total} MB available",
    "temperature.is": "{degrees} degrees Celsius",
    "power.low": "the voltage is too low now",
    "power.was_low": "the voltage has been too low since the start",
    "power.slowed": "the processor has been slowed down",
    "power.right": "the voltage has been fine since the start",
    "clock.wrong": "it says {date}, which is long ago",
    "clock.right": "synchronised, {date} UTC",
    "clock.unknown": "it may not be synchronised; it says {date} UTC",
    "port.free": "{port} is free",
    "port.ours": "bastide is serving at {port}",
    "port.taken": "another program uses {port}",
    "light.changed": "the light on the table has changed since the camera measured it",
    "view.moved": "the view has moved since the game began",
    "light.is": "{level} of 255 on average",
    "focus.is": "sharpness {sharp}",
    "calibration.lens": "{path}: {days} days old, corners are off by {px} pixels",
    "calibration.table": "{path}: {days} days old, points are off by {mm} mm, at the worst corner {corner} mm",
    "calibration.apart": "{path}: {days} days old, all colours can be told apart",
    "calibration.confused": "{path}: {days} days old, cannot tell {pairs} apart",
    "camera.none": "none: this table is entered by hand",
    "camera.silent": "it sends no pictures",
    "camera.over": "the recording has ended",
    "camera.late": "no picture came during the check",
    "camera.sees": "{picture}",
    "camera.says": "{why}",
    "version.is": "{version}",
    "version.broken": "cannot be imported ({why})",
    "pi.there": "{names} are there",
    "pi.none": "not usable here (no picamera2)",
    "pi.broken": "{name} cannot be imported ({why})",
}
DO = {
    "disk": "free some space: old recordings, old backups, sudo apt clean",
    "slow": "a card this slow is often worn out: make a backup and try another card",
    "rights": "check its permissions; a card that became read-only is failing: make a backup and use another card",
    "update": "update bastide",
    "restart": "restart bastide: it keeps the file and recovers what is intact; then try another card",
    "stick": "plug the stick in or mount the share; bastide tries again every minute",
    "damaged": "make a backup and use another card; bastide support collects what helps to find out why",
    "memory": "close other programs, or use a machine with more memory",
    "hot": "give it air: a heat sink or a fan, and not under the table cloth",
    "supply": "use the power supply that was made for this Pi, and a short cable",
    "air": "give it air",
    "set_clock": "connect to a network once, or set it: sudo date -s '2026-01-31 18:00'",
    "network": "games can be played all the same; connect to a network once to have it set",
    "port": "use another one: bastide serve --port 8080",
    "balance": "lock the white balance again",
    "ghost": "push the table or the camera back until the pictures match",
    "lighter": "more light on the table",
    "darker": "less light, or no lamp in the picture",
    "focus": "focus on the table; printed edges should be crisp",
    "calibrate": "calibrate again: bastide calibrate {kind}",
    "cable": "check its cable and its address; reading resumes automatically when it is back",
    "ask_again": "check again; if nothing changes, check its cable",
    "then_ask": "check its cable and its address, then check again",
    "see": "fix that, then check again",
    "demo": "run ./run demo once",
    "other_camera": "use usb:0, http://... or video:FILE, or on a Pi: sudo apt install -y python3-picamera2",
    "install": "run sudo hardware/install.sh again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One check: ``state`` is ok, warn or fail, ``text`` what was found, ``do`` what to do about it.

    ``code`` and ``todo`` are the keys of these two sentences, ``parts`` their parameters.
    """

    what: str
    state: str
    text: str
    do: str = ""
    code: str = ""
    todo: str = ""
    parts: Mapping[str, Part] = field(default_factory=dict)

    def to_json(self) -> LineRow:
        return {"what": self.what, "state": self.state, "text": self.text, "do": self.do, "code": self.code,
                "todo": self.todo, "parts": self.parts}


def line(what: str, state: str, code: str, todo: str = "", **parts: Part) -> Line:
    """A line with the messages of these codes."""
    return Line(what=what, state=state, text=TEXT[code].format(**parts), do=DO[todo].format(**parts) if todo else "",
                code=code, todo=todo, parts=parts)
