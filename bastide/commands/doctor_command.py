"""``bastide doctor``: the state of this machine, one line per check, with what to do."""

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
    from bastide.machine.findings import Line

HELP = "check this machine: camera, calibration, storage, memory, power, clock, port, versions"
LOOKS = 12  # pictures of the camera that are checked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--source", metavar="URI", help="check this camera too")
    parser.add_argument("--calibration", metavar="FILE", action="append", help="check a calibration; repeatable")
    parser.add_argument("--port", type=port, default=8000, help="the page's port (default: 8000)")


def run(args: argparse.Namespace) -> int:
    from bastide.camera.calibrated import load_calibrations
    from bastide.machine.health import report

    found = report(Path(args.data), port=args.port, calibrations=load_calibrations(args.calibration),
                   camera=[*versions(), *(camera(args.source) if args.source else ())])
    if args.json:
        print(json.dumps(found))
    else:
        for row in found["checks"]:
            print(f"{row['state']:<5} {row['what']}: {row['text']}{'; ' + row['do'] if row['do'] else ''}")
    return 1 if found["state"] == "fail" else 0


def versions(*, pi: bool = True) -> Iterator[Line]:
    """Python and the packages that bastide depends on; those of the Pi camera with ``pi``."""
    from bastide import __version__
    from bastide.machine.findings import line

    yield line("bastide", "ok", "version.is", version=__version__)
    yield line("Python", "ok", "version.is", version=platform.python_version())
    for module, name in (("numpy", "NumPy"), ("cv2", "OpenCV"), ("flask", "Flask"), ("waitress", "Waitress")):
        try:
            importlib.import_module(module)
            yield line(name, "ok", "version.is", version=_version(module))
        except ImportError as e:
            yield line(name, "fail", "version.broken", "demo", why=str(e))
    if pi:
        yield pi_camera(layers())


def pi_camera(tried: Sequence[tuple[str, str]]) -> Line:
    """The Pi camera's libraries, imported one by one, so that the broken one is named and not what depends on it."""
    from bastide.machine.findings import line

    broken = next(((name, why) for name, why in tried if why), None)
    if broken is None:
        return line("Pi camera", "ok", "pi.there", names=", ".join(name for name, _ in tried))
    if dict(tried).get("libcamera") or "ModuleNotFoundError" in dict(tried).get("picamera2", ""):
        return line("Pi camera", "warn", "pi.none", "other_camera")
    name, why = broken
    return line("Pi camera", "warn", "pi.broken", "install", name=name, why=why)


def camera(uri: str) -> Iterator[Line]:
    """Check some of the camera's pictures: whether they arrive, are plausible, bright and sharp enough."""
    from bastide.camera.opening import open_camera
    from bastide.errors import Failure, UsageError
    from bastide.machine.findings import line
    from bastide.machine.health import picture
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
            if verdict.code:
                yield line("camera", "fail", "camera.says", "see", why=verdict.text, status=verdict.code)
            else:
                yield line("camera", "ok", "camera.sees",
                           picture=f"{source.info.model}, {source.info.width}x{source.info.height}")
            yield from picture(light, sharp)
    except (SourceError, Failure, UsageError) as e:
        yield line("camera", "fail", "camera.says", "then_ask", why=str(e))


def _version(module: str) -> str:
    """The version of the distribution that provides a module."""
    found = packages_distributions().get(module, [])
    return version(found[0]) if found else "installed"
