"""``bastide doctor``: what is right and wrong with this machine, one line each, with what to do."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

from bastide.inputs import port
from hardware.pi import layers

if TYPE_CHECKING:
    from bastide.health import Line

HELP = "check this machine: camera, calibration, storage, memory, power, clock, port, versions"
LOOKS = 12  # pictures of the camera that are looked at


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", metavar="DIR", default="data", help="where the log is kept (default: data)")
    parser.add_argument("--source", metavar="URI", help="look through this camera too")
    parser.add_argument("--calibration", metavar="FILE", action="append", help="check a calibration; repeatable")
    parser.add_argument("--port", type=port, default=8000, help="the page's port (default: 8000)")


def run(args: argparse.Namespace) -> int:
    from bastide.calibrated import load_calibrations
    from bastide.health import report

    found = report(Path(args.data), port=args.port, calibrations=load_calibrations(args.calibration),
                   camera=[*versions(), *(camera(args.source) if args.source else ())])
    if args.json:
        print(json.dumps(found))
    else:
        for row in found["checks"]:
            print(f"{row['state']:<5} {row['what']}: {row['text']}{'; ' + row['do'] if row['do'] else ''}")
    return 1 if found["state"] == "fail" else 0


def versions(*, pi: bool = True) -> Iterator[Line]:
    """Python and the packages that bastide stands on; those of the Pi camera with ``pi``."""
    from bastide import __version__
    from bastide.health import Line

    yield Line(what="bastide", state="ok", text=__version__)
    yield Line(what="Python", state="ok", text=platform.python_version())
    for module, name in (("numpy", "NumPy"), ("cv2", "OpenCV"), ("flask", "Flask"), ("waitress", "Waitress")):
        try:
            importlib.import_module(module)
            yield Line(what=name, state="ok", text=_version(module))
        except ImportError as e:
            yield Line(what=name, state="fail", text=f"cannot be imported ({e})", do="run ./run demo once")
    if pi:
        yield pi_camera(layers())


def pi_camera(tried: Sequence[tuple[str, str]]) -> Line:
    """The Pi camera's libraries, each tried by itself: what is broken is named, not what stands on it."""
    from bastide.health import Line

    broken = next(((name, why) for name, why in tried if why), None)
    if broken is None:
        return Line(what="Pi camera", state="ok", text=", ".join(name for name, _ in tried) + " are there")
    if dict(tried).get("libcamera") or "ModuleNotFoundError" in dict(tried).get("picamera2", ""):
        return Line(what="Pi camera", state="warn", text="not usable here (no picamera2)",
                    do="use usb:0, http://... or video:FILE, or on a Pi: sudo apt install -y python3-picamera2")
    name, why = broken
    return Line(what="Pi camera", state="warn", text=f"{name} cannot be imported ({why})",
                do="run sudo hardware/install.sh again")


def camera(uri: str) -> Iterator[Line]:
    """What some of its pictures look like: whether they come, can be believed, are bright and sharp enough."""
    from bastide.errors import Failure, UsageError
    from bastide.health import Line, picture
    from bastide.tables import open_camera
    from vision.frames import SourceError
    from vision.picture import PictureCheck, brightness, sharpness

    try:
        with open_camera(uri) as source:
            check, verdict, frame = PictureCheck(live=source.info.live), None, None
            for _ in range(LOOKS):
                frame = source.read()
                if frame is None:
                    break
                verdict, light, sharp = check.look(frame), brightness(frame.bgr), sharpness(frame.bgr)
            if verdict is None:
                raise SourceError(f"{uri} gives no picture")
            yield Line(what="camera", state="fail" if verdict.code else "ok",
                       text=verdict.text or f"{source.info.model}, {source.info.width}x{source.info.height}",
                       do="see what it says, then ask again" if verdict.code else "")
            yield from picture(light, sharp)
    except (SourceError, Failure, UsageError) as e:
        yield Line(what="camera", state="fail", text=str(e), do="check its cable and its address, then ask again")


def _version(module: str) -> str:
    """The version of the distribution that a module came with."""
    found = packages_distributions().get(module, [])
    return version(found[0]) if found else "installed"
