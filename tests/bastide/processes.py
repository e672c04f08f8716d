"""bastide as a real process: one command, or a server to talk to. Waits for its output, never for time.

In the tests processes are forks (`forking.py`) unless they are to be ``fresh``; benchmarks have nothing but fresh ones.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from forking import Fork, Forking

ROOT = Path(__file__).parents[2]
PIN = "2580"
PATIENCE_S = 120.0  # a time-out for programs that hang only

forks: Forking | None = None  # what forks, where processes are forks


def bastide(*argv: object, fresh: bool = False) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    if forks is not None and not fresh:
        fork = forks.start([*map(str, argv)], os.environ, apart=True)
        said, errors = fork.communicate(PATIENCE_S)
        return subprocess.CompletedProcess(argv, fork.wait(PATIENCE_S), said, errors)
    return subprocess.run([sys.executable, "-m", "bastide", *map(str, argv)], cwd=ROOT, capture_output=True, text=True,
                          timeout=PATIENCE_S)


class Served:
    """``serve`` or ``demo`` in the background, with its page at ``url``. One that comes ``after`` another on the same
    data has its PIN and the session of whoever was signed in there."""

    process: subprocess.Popen[str] | Fork

    def __init__(self, *argv: object, patience_s: float = PATIENCE_S, after: Served | None = None, fresh: bool = False,
                 program: Sequence[object] = ("-m", "bastide"), pass_fds: Sequence[int] = ()) -> None:
        """``program`` is what Python runs as bastide; it inherits ``pass_fds``, and is always fresh if it is another
        one."""
        self._argv, self._patience_s = [*map(str, argv)], patience_s
        self._program, self._pass_fds = [*map(str, program)], pass_fds
        self._fresh = fresh or self._program != ["-m", "bastide"] or bool(pass_fds)
        self._pin = PIN if argv[0] == "serve" else None
        self._signed: dict[str, str] = {}
        if after is not None:
            self._pin, self._signed = after._pin, after._signed
        elif self._pin:
            self._argv += ["--pin", self._pin]
        self.lines: list[str] = []
        self.url = ""

    def __enter__(self) -> Self:
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if forks is not None and not self._fresh:
            self.process = forks.start(self._argv, env)
        else:
            self.process = subprocess.Popen([sys.executable, *self._program, *self._argv], cwd=ROOT, text=True, env=env,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=self._pass_fds)
        self._late = threading.Timer(self._patience_s, self.process.kill)
        self._late.start()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if "http://" in line:
                self.url = next(w for w in line.split() if w.startswith("http://"))
                break
        return self

    def begun_again(self) -> None:
        """Wait until the page is served again."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if "the page is at http://" in line:
                self.url = line.split()[-1]
                return

    def __exit__(self, *exc: object) -> None:
        self._late.cancel()
        if self.process.poll() is None:
            self.kill()

    def get(self, path: str = "api/state") -> dict[str, Any]:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            data: dict[str, Any] = json.load(answer)
            return data

    def until(self, version: int) -> dict[str, Any]:
        """The first view with that version or a later one; looks again whenever the page would."""
        with urllib.request.urlopen(self.url + "api/events", timeout=PATIENCE_S) as stream:
            for line in stream:
                if line.startswith(b"data:") and (view := self.get())["version"] >= version:
                    return view
        raise AssertionError("the event stream ended")

    def do(self, **command: Any) -> dict[str, Any]:
        """Send a command; the new view, or the error."""
        return self.send("POST", "api/commands", command)

    def send(self, method: str, path: str, body: object) -> dict[str, Any]:
        """Send JSON, or bytes as they are; the answer, or the error."""
        if self._pin and not self._signed:
            self.sign_in()
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(self.url + path, data, {"Content-Type": kind, **self._signed}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                found: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as e:
            with e:
                found = json.load(e)
        return found

    def sign_in(self, pin: str | None = None) -> None:
        """Sign in with a PIN, like a browser."""
        self._pin = pin or self._pin
        request = urllib.request.Request(self.url + "api/session", json.dumps({"pin": self._pin}).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            self._signed = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0],
                            "X-CSRF-Token": json.load(answer)["token"]}

    def kill(self) -> None:
        """Kill it, like a power cut."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def end(self) -> int:
        """Terminate it, like a system shutdown; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate()
        self.lines += rest.splitlines()
        return self.process.returncode
