"""Cameras of every kind behind one address: ``open_source("usb:0")`` and read frames.

Addresses: ``sim:transcript=FILE&seed=N``, ``video:FILE``, ``folder:DIR[?fps=N]``, ``usb:N``, ``picamera:N``,
``http(s)://...`` and ``rtsp://...``. A driver is imported when its address is used and opened by ``with``.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from vision.frames import FrameSource, SourceError

__all__ = ["SCHEMES", "UnknownSource", "open_source"]


class UnknownSource(SourceError):
    """The address has an unknown scheme, or lacks a part that the scheme needs."""


def open_source(uri: str) -> FrameSource:
    """The source of that address, not opened yet. Raises UnknownSource (which lists the known ones) or SourceError.

    Whether the file or camera exists is checked by ``with``.
    """
    scheme, colon, rest = uri.partition(":")
    make = SCHEMES.get(scheme.lower())
    if make is None or not colon:
        raise UnknownSource(f"unknown source {uri!r}; known are {', '.join(USAGE)}")
    if not rest.strip("/"):
        raise UnknownSource(f"source {uri!r} needs more than its kind: {_usage(scheme.lower())}")
    return make(uri, rest)


def _usage(scheme: str) -> str:
    return next((u for u in USAGE if u.startswith(scheme)), USAGE[0])


def _sim(uri: str, rest: str) -> FrameSource:
    from hardware.sim import SimSource

    return SimSource(uri, rest)


def _video(uri: str, rest: str) -> FrameSource:
    from hardware.video import VideoSource

    return VideoSource(uri, rest)


def _folder(uri: str, rest: str) -> FrameSource:
    from hardware.folder import FolderSource

    return FolderSource(uri, rest)


def _usb(uri: str, rest: str) -> FrameSource:
    from hardware.usb import UsbSource

    return _numbered(UsbSource, uri, rest)


def _stream(uri: str, rest: str) -> FrameSource:
    from hardware.stream import StreamSource, without_password

    try:
        parts = urlsplit(uri)
        whole = bool(parts.hostname) and parts.port != 0 and uri.isprintable() and " " not in uri
    except ValueError:  # an invalid port or IPv6 address
        whole = False
    if not whole:
        shown = "".join(c if c.isprintable() else "?" for c in without_password(uri))
        raise UnknownSource(f"{shown} is no address of a network camera; one looks like http://192.168.1.30:8080/video")
    return StreamSource(uri)


def _picamera(uri: str, rest: str) -> FrameSource:
    from hardware.pi import PiSource

    return _numbered(PiSource, uri, rest)


def _numbered(make: Callable[[str, str], FrameSource], uri: str, rest: str) -> FrameSource:
    """A camera with a number and options; errors in them are errors of the address."""
    try:
        return make(uri, rest)
    except SourceError as e:
        raise UnknownSource(str(e)) from None


SCHEMES: dict[str, Callable[[str, str], FrameSource]] = {
    "sim": _sim, "video": _video, "folder": _folder, "usb": _usb, "http": _stream, "https": _stream, "rtsp": _stream,
    "picamera": _picamera,
}
USAGE: tuple[str, ...] = (
    "sim:transcript=FILE&seed=N", "video:FILE", "folder:DIR[?fps=N]", "usb:N[?focus=X]", "picamera:N[?mains=60]",
    "http://...", "https://...", "rtsp://...",
)
