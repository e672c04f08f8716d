"""``bastide doctor``: what this machine has of what bastide needs, one line each."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import shutil
from importlib.metadata import packages_distributions, version
from pathlib import Path

from hardware.pi import layers

HELP = "check this machine: versions, camera libraries, disk"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    rows = checks()
    if args.json:
        print(json.dumps({"checks": rows}))
    else:
        for row in rows:
            print(f"{row['state']:<5} {row['what']}: {row['text']}")
    return 1 if any(r["state"] == "fail" for r in rows) else 0


def checks() -> list[dict[str, str]]:
    """Each check as what, state (ok, warn, fail) and one sentence."""
    rows = [{"what": "Python", "state": "ok", "text": platform.python_version()}]
    for module, name in (("numpy", "NumPy"), ("cv2", "OpenCV"), ("flask", "Flask"), ("waitress", "Waitress")):
        try:
            importlib.import_module(module)
            rows.append({"what": name, "state": "ok", "text": _version(module)})
        except ImportError as e:
            rows.append({"what": name, "state": "fail", "text": f"cannot be imported ({e}); run ./run demo once"})
    rows.append(pi_camera(layers()))
    free_gb = shutil.disk_usage(Path.home()).free / 1e9
    rows.append({"what": "disk", "state": "ok" if free_gb > 0.5 else "fail", "text": f"{free_gb:.1f} GB free"})
    return rows


def pi_camera(tried: list[tuple[str, str]]) -> dict[str, str]:
    """The Pi camera's libraries, each tried by itself: what is broken is named, not what stands on it."""
    broken = next(((name, why) for name, why in tried if why), None)
    if broken is None:
        return {"what": "Pi camera", "state": "ok", "text": ", ".join(name for name, _ in tried) + " are there"}
    name, why = broken
    if dict(tried).get("libcamera") or "ModuleNotFoundError" in dict(tried).get("picamera2", ""):
        text = "not usable here (no picamera2); usb:0, http://... and video:FILE are"
    else:
        text = f"{name} cannot be imported ({why}); run sudo hardware/install.sh again"
    return {"what": "Pi camera", "state": "warn", "text": text}


def _version(module: str) -> str:
    """The version of the distribution that a module came with."""
    found = packages_distributions().get(module, [])
    return version(found[0]) if found else "installed"
