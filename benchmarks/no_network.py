"""A whole game without any network but loopback.

Plays ``bastide demo --once`` in a network namespace that has only a loopback device, and counts attempts at external
connections: the kernel's count of packets without a route, and every name or address that the program looked up. Needs
``unshare`` with user namespaces; exit code 3 where that is not permitted.

    python benchmarks/no_network.py [--turns N] [--json]
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOT_PERMITTED = 3


def inside(turns: int | None) -> dict[str, Any]:
    """In the namespace: play, and return the attempts."""
    import fcntl
    import io
    import socket
    import struct
    from contextlib import redirect_stdout

    sys.path.insert(0, str(ROOT))
    with socket.socket() as s:  # the loopback device is down at first
        request = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(s, 0x8914, request)  # SIOCSIFFLAGS
    asked: list[str] = []

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo" or event in ("socket.connect", "socket.sendto"):
            where = args[0] if event == "socket.getaddrinfo" else args[1]
            host = where[0] if isinstance(where, tuple) else where
            if isinstance(host, str) and not _here(host) and not host.startswith(("/", "\0")):
                asked.append(f"{event} {host}")

    sys.addaudithook(audit)
    devices = [line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text("utf-8").splitlines()[2:]]
    from bastide.cli import main
    said = io.StringIO()
    with redirect_stdout(said):
        code = main(["demo", "--once", *(["--turns", str(turns)] if turns else [])])
    return {"devices": devices, "exit": code, "said": said.getvalue().splitlines(), "asked_for": asked,
            "packets_without_route": _without_route()}


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == "localhost"


def _without_route() -> int:
    """Packets of either protocol that this namespace could not send anywhere."""
    names, values = (line.split() for line in Path("/proc/net/snmp").read_text("utf-8").splitlines()[:2])
    total = int(values[names.index("OutNoRoutes")])
    for line in Path("/proc/net/snmp6").read_text("utf-8").splitlines():
        if line.startswith("Ip6OutNoRoutes"):
            total += int(line.split()[1])
    return total


def run(turns: int | None = None) -> dict[str, Any] | None:
    """Play in a namespace; returns the figures, or None where namespaces are not permitted."""
    if shutil.which("unshare") is None:
        return None
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        return None
    done = subprocess.run(["unshare", "-rn", sys.executable, __file__, "--inside",
                           *(["--turns", str(turns)] if turns else [])], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, help="of the game; without it the whole game")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(inside(args.turns)))
        return 0
    found = run(args.turns)
    if found is None:
        print("network namespaces are not permitted here; try as another user", file=sys.stderr)
        return NOT_PERMITTED
    if args.json:
        print(json.dumps(found))
    else:
        print("\n".join(found["said"]))
        print(f"network devices: {', '.join(found['devices'])}; exit code {found['exit']}")
        print(f"names and addresses asked for beyond this machine: {len(found['asked_for'])} {found['asked_for'][:5]}")
        print(f"packets that wanted to leave: {found['packets_without_route']}")
    return 1 if found["exit"] or found["asked_for"] or found["packets_without_route"] else 0


if __name__ == "__main__":
    sys.exit(main())
