"""The commands of a document, really run: every line of its ``sh`` blocks, in a folder of its own.

``run_commands`` runs them as they are typed, with ``bastide`` being this checkout's. Addresses that a test cannot have
are replaced by ones that it can; lines that need another machine must be named in ``elsewhere``, with where they run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE_S = 240.0  # only for a command that hangs


def commands(document: Path) -> list[str]:
    """The lines of a document's ``sh`` blocks, with continued lines joined."""
    return commands_of(document.read_text("utf-8"))


def commands_of(text: str) -> list[str]:
    """The same of a text, or a part of one."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def run_commands(document: Path, folder: Path, replace: Mapping[str, str],
                 elsewhere: tuple[str, ...] = ()) -> list[str]:
    """Run a document's commands in ``folder``, where whatever they read must lie; the lines that were run.

    ``serve`` and ``demo`` are ended as the system would end them, once their page is there. AssertionError names the
    line.
    """
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    (tools / "bastide").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bastide "$@"\n', "utf-8")
    (tools / "bastide").chmod(0o755)
    for room in ("hardware", "calibration", "docs"):
        if not (folder / room).exists():
            (folder / room).symlink_to(ROOT / room)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
                   "PYTHONUNBUFFERED": "1"}
    ran = []
    for line in commands(document):
        if any(line.startswith(e) for e in elsewhere):
            continue
        typed = line
        for old, new in replace.items():
            typed = typed.replace(old, new)
        code, said = _run(typed, folder, environment)
        assert code == 0, f"{document.name}: {line}\n{said}"
        ran.append(line)
    return ran


def _run(line: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    if not re.match(r"bastide (serve|demo)\b(?!.*--once)", line):
        done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        return done.returncode, done.stdout + done.stderr
    more = f" --port 0 --host 127.0.0.1 {'--data data' if ' serve ' in line and '--data' not in line else ''}"
    with subprocess.Popen(["bash", "-c", f"exec {line}{more}"], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        said = ""
        for out in process.stdout:
            said += out
            if "the page is at" in out:
                break
        process.terminate()
        said += process.stdout.read()
        return process.wait(PATIENCE_S), said
