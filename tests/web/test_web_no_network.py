"""bastide makes no external connections: a game is played without a network."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_game_makes_no_connection_to_anywhere(monkeypatch):
    """A small run of benchmarks/no_network.py, which plays a whole game."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from no_network import run
    found = run(turns=2)
    if found is None:
        pytest.skip("network namespaces are not permitted here")
    assert found["devices"] == ["lo"] and found["exit"] == 0, found
    assert any("winner" in line for line in found["said"])
    assert found["asked_for"] == [] and found["packets_without_route"] == 0


def test_the_proof_sees_what_wants_to_leave(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("network namespaces are not permitted here")
    code = (f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import no_network, socket, bastide.cli\n"
            "def leaves(argv):\n"
            "    for host in ('192.0.2.7', '127.0.0.1'):\n"
            "        try: socket.create_connection((host, 9), 1)\n"
            "        except OSError: pass\n"
            "    return 0\n"
            "bastide.cli.main = leaves\n"
            "print(no_network.inside(1))")
    done = subprocess.run(["unshare", "-rn", sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=BENCHMARKS.parent)
    assert "socket.connect 192.0.2.7" in done.stdout and "'packets_without_route': 0" not in done.stdout, done
    assert "connect 127" not in done.stdout and socket.AF_INET
