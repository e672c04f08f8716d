"""Processes of bastide that begin where its modules are loaded: forks of one program that has done nothing else.

A fork is a process of its own from its command line to the interpreter's end, and dies as one; only the loading, most
of what a short command takes, is done once. Run as a program this is the one that forks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[2]


class Fork:
    """The used part of `subprocess.Popen`, with text output: both streams merged, or standard error separate."""

    def __init__(self, said: socket.socket, stdout: TextIO, stderr: TextIO | None) -> None:
        self._said, self._lock = said, threading.Lock()
        self.stdout, self._stderr, self.returncode = stdout, stderr, None
        self.pid = int(said.recv(16))

    def poll(self, within_s: float = 0.0) -> int | None:
        """Its exit code, None while it runs."""
        if within_s and self.returncode is None:
            with suppress(ValueError):  # somebody else has just learned of its end, and closed this
                select.select([self._said], [], [], within_s)  # nobody is kept from killing it meanwhile
        with self._lock:
            if self.returncode is None and select.select([self._said], [], [], 0.0)[0]:
                self.returncode = int(self._said.recv(16))
                self._said.close()
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Its end, or TimeoutExpired."""
        if self.poll(timeout) is None:
            raise subprocess.TimeoutExpired("bastide", timeout)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 600.0) -> tuple[str, str]:
        """Its remaining output until it ends."""
        late = threading.Timer(timeout, self.kill)
        late.start()
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(self._stderr.read() if self._stderr else ""))
        reader.start()
        with self.stdout:
            said = self.stdout.read()
        reader.join()
        if self._stderr:
            self._stderr.close()
        self.wait(timeout)
        late.cancel()
        return said, errors[0]


class Forking:
    """The program that forks, from its first use to `close`."""

    def __init__(self) -> None:
        self._program: subprocess.Popen[str] | None = None
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def _begin(self) -> None:
        with self._theirs as theirs:
            self._program = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], cwd=ROOT,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                             pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": str(ROOT)})

    def start(self, argv: Sequence[str], env: Mapping[str, str], *, apart: bool = False) -> Fork:
        """Run ``python -m bastide`` with these arguments in the checkout; ``apart``: errors have their own stream."""
        if self._program is None:
            self._begin()
        said, tells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out, into = os.pipe()
        err, errors = os.pipe() if apart else (None, into)
        with tells:
            socket.send_fds(self._ours, [json.dumps([list(argv), dict(env)]).encode()],
                            [tells.fileno(), into, errors])
        for fd in {into, errors}:
            os.close(fd)
        return Fork(said, open(out, encoding="utf-8", errors="replace"),
                    None if err is None else open(err, encoding="utf-8", errors="replace"))

    def close(self) -> None:
        self._ours.close()
        self._theirs.close()
        if self._program is not None:
            said, _ = self._program.communicate()
            assert not said, said


def _load() -> None:
    """Import the modules of a served table and of the short commands."""
    from bastide.cli import parser

    parser()
    for package in ("web", "bastide.log", "bastide.table", "bastide.camera", "bastide.watching", "bastide.backup",
                    "bastide.machine", "bastide.files", "bastide.club", "bastide.book", "bastide.export"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")


def _run(argv: list[str], env: dict[str, str], out: int, err: int) -> None:
    """In a fork: be a bastide of its own from here on."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, max(map(int, os.listdir("/proc/self/fd"))) + 1)
    os.environ.clear()
    os.environ.update(env)
    if env.get("PYTHONUNBUFFERED"):
        sys.stdout.reconfigure(write_through=True)
    sys.argv = ["bastide", *argv]
    runpy.run_module("bastide", run_name="__main__", alter_sys=True)


def main(control: int) -> None:
    _load()
    gc.collect()
    gc.freeze()  # or each fork looks through all of it at its end, and has it copied by that
    ours = socket.socket(fileno=control)
    waiting = select.poll()
    waiting.register(ours, select.POLLIN)
    running: dict[int, tuple[int, int]] = {}  # by a descriptor of each fork: its number, and who waits for its end
    while True:
        for fd, _ in waiting.poll():
            if fd in running:
                pid, tells = running.pop(fd)
                waiting.unregister(fd)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            else:
                text, given, _, _ = socket.recv_fds(ours, 1 << 20, 3)
                if not text:
                    return  # the parent has closed
                tells, out, err = given
                code = os.fork()
                if not code:
                    ours.detach()
                    return _run(*json.loads(text), out, err)
                watched = os.pidfd_open(code)
                waiting.register(watched, select.POLLIN)
                running[watched] = code, tells
            with suppress(OSError):  # the requester is gone
                os.write(tells, str(code).encode())
            for done in (fd, tells) if fd != control else (out, err):
                os.close(done)


if __name__ == "__main__":
    main(int(sys.argv[1]))
