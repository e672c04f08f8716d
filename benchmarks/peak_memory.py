"""The peak memory of a bastide command, measured in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Read by the process itself: a child's resource usage would include its parent's memory before exec.
_CODE = """
import sys
from bastide.cli import main
sys.argv[0] = "bastide"
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(code)
"""


class Peak(NamedTuple):
    mb: float  # peak resident memory, in MB of 2**20 bytes
    printed: str  # what the command printed


def peak_of(arguments: Sequence[str], **environment: str) -> Peak:
    """Run ``bastide ARGUMENTS`` in a process of its own. Raises CalledProcessError when it fails."""
    done = subprocess.run([sys.executable, "-c", _CODE, *arguments], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
        done.check_returncode()
    return Peak(int(done.stderr.split()[-1]) / 1024, done.stdout)
