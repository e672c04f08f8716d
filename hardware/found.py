"""Lists the cameras connected to this machine: those on a Pi's ribbon cables, and webcams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

VIDEO = "sys/class/video4linux"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A camera that could be opened: its address and its own name."""

    uri: str
    name: str


def plugged_in(root: Path = Path("/"), ribbon: Callable[[], Sequence[tuple[int, str]]] | None = None) -> list[Found]:
    """All of them, the Pi's own first. Nothing is opened. ``ribbon`` lists number and model of a Pi's cameras (default:
    by libcamera)."""
    if ribbon is None:
        from hardware.pi import listed

        ribbon = listed
    return [*(Found(uri=f"picamera:{n}", name=model) for n, model in ribbon()), *webcams(root)]


def webcams(root: Path = Path("/")) -> list[Found]:
    """Every USB camera by its capture device node. A Pi's decoders and image processors are video devices too, and a
    webcam has a second one for its metadata: neither is a USB device with index 0."""
    out = []
    for node in sorted((root / VIDEO).glob("video*"), key=lambda p: (len(p.name), p.name)):
        number = node.name.removeprefix("video")
        try:
            first = (node / "index").read_text("utf-8").strip() == "0"
            usb = any(part.startswith("usb") for part in (node / "device").resolve().parts)
            name = (node / "name").read_text("utf-8", "replace").strip()
        except OSError:
            continue
        if first and usb and number.isdecimal():
            out.append(Found(uri=f"usb:{number}", name=name or "USB camera"))
    return out
