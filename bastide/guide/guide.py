"""The guide from a machine that was just switched on to a first scored road: the current step, and which are proved.

A step is done when a fact of the table proves it, checked each time; otherwise it is answered (a choice that needs no
proof), skipped, or open. The current step is stored in ``DATA/guide.json``, so the guide can be continued on another
device or day.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from bastide.files.writing import write_whole
from web.machine_states import GuideState, GuideStep, Practice
from web.protocol import CommandError

NAME = "guide.json"
STEPS = ("welcome", "camera", "aim", "table", "tiles", "figures", "players", "practice", "play")
ANSWERS = {"table": ("coarse",), "tiles": ("learn",)}  # choices where no proof is needed
_VERSION, _LARGEST = 1, 20_000
_log = logging.getLogger("bastide.guide")
NO_PRACTICE: Practice = {"plan": [], "seen": {"tile": False, "follower": False, "road": False}}
Facts = Mapping[str, Callable[[], bool]]


class Guide:
    """The guide of one table (`web.machine_protocol.Guide`). Thread-safe."""

    def __init__(self, data: Path, facts: Facts, *, practice: Callable[[], Practice] = lambda: NO_PRACTICE,
                 sheet: Callable[[str], bytes | None] = lambda name: None, known: bool = False) -> None:
        """``facts`` tells for each step whether it is proved now. ``practice`` returns the practice road's plan and
        progress, ``sheet`` makes the printable sheets. For a table with earlier games (``known``) the guide is closed
        until somebody opens it."""
        self._path, self._facts, self._practice, self.sheet = data / NAME, facts, practice, sheet
        self._lock = threading.RLock()
        self._step, self._skipped, self._answers = STEPS[0], set[str](), dict[str, str]()
        self._finished, self._aimed = known, ""
        self._read()

    @property
    def finished(self) -> bool:
        """Whether the guide is closed."""
        return self._finished

    def state(self) -> GuideState:
        """The current ``step``, ``finished``, every step with its state (done, answered, skipped, open) and answer, and
        the practice road."""
        with self._lock:
            steps: list[GuideStep] = [
                {"name": name, "state": self._state(name), "answer": self._answers.get(name)} for name in STEPS]
            return {"step": self._step, "finished": self._finished, "steps": steps, "practice": self._practice()}

    def go(self, step: str) -> GuideState:
        """Go to a step. Reading a finished guide does not reopen it for everybody."""
        with self._lock:
            self._known(step)
            self._step = step
            self._write()
        return self.state()

    def skip(self, step: str) -> GuideState:
        """Postpone a step and go to the next one."""
        with self._lock:
            at = self._known(step)
            self._skipped.add(step)
            self._step = STEPS[min(at + 1, len(STEPS) - 1)]
            self._write()
        return self.state()

    def answer(self, step: str, value: str) -> GuideState:
        """Answer a step instead of proving it. Raises CommandError for an answer that the step does not have."""
        with self._lock:
            self._known(step)
            if value not in ANSWERS.get(step, ()):
                raise CommandError("malformed", "value: is no answer to this step")
            self._answers[step] = value
            self._skipped.discard(step)
            self._write()
        return self.state()

    def finish(self) -> GuideState:
        """Close the guide permanently; it can still be read."""
        with self._lock:
            self._finished = True
            self._write()
        return self.state()

    def aimed(self, camera: str, good: bool) -> None:
        """Store the result of the newest aim through a camera."""
        with self._lock:
            found = camera if good else "" if self._aimed == camera else self._aimed
            if found != self._aimed:
                self._aimed = found
                self._write()

    def well_aimed(self, camera: str | None) -> bool:
        """Whether that camera was well aimed when it was last checked."""
        return bool(camera) and self._aimed == camera

    def _state(self, name: str) -> str:
        fact = self._facts.get(name)
        if fact is not None and fact():
            return "done"
        return "answered" if name in self._answers else "skipped" if name in self._skipped else "open"

    def _known(self, step: str) -> int:
        if step not in STEPS:
            raise CommandError("malformed", f"step: must be one of {', '.join(STEPS)}")
        return STEPS.index(step)

    def _read(self) -> None:
        """Load the state. An unreadable file is ignored: the guide restarts at the first step, and nothing else is
        lost.
        """
        try:
            if self._path.stat().st_size > _LARGEST:
                return
            data = json.loads(self._path.read_text("utf-8"))
            step, answers = data["step"], data["answers"]
            if step not in STEPS or not all(v in ANSWERS.get(k, ()) for k, v in answers.items()):
                return
            self._step, self._answers = step, dict(answers)
            self._skipped = {s for s in data["skipped"] if s in STEPS}
            self._finished, self._aimed = data["finished"] is True, str(data["aimed"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return

    def _write(self) -> None:
        try:
            write_whole(self._path, json.dumps({
                "version": _VERSION, "step": self._step, "skipped": sorted(self._skipped), "answers": self._answers,
                "finished": self._finished, "aimed": self._aimed}).encode())
        except OSError as e:  # the guide goes on; after a restart it continues from the last stored step
            _log.warning("%s cannot be written: %s", self._path, e)
