"""All cameras available to this table, for the page: connected ones and network addresses, each with a live preview,
and choosing one.

The camera in use is read through the loop that owns it. Each of the others is opened by a thread of its own while the
page polls, and closed a few seconds later.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.opening import open_camera
from bastide.files.logs import clean
from bastide.machine.findings import Line, line
from bastide.machine.health import picture
from hardware.found import Found, plugged_in
from vision.frames import Frame, FrameSource, Image, SourceError
from vision.images import encode_jpeg, reduced
from vision.picture import PictureCheck, brightness, sharpness
from web.machine_states import CameraRow, CamerasState
from web.protocol import CommandError

WANTED_S = 6.0  # cameras stay open for so long after the last request
EVERY_S, AGAIN_S, LISTED_S = 0.7, 3.0, 2.0
WIDE_PX, KEPT = 720, 4
CLOSING_S = 15.0
NETWORK = ("http", "https", "rtsp")
# A second camera of a Pi shares the camera memory with the one in use: small pictures suffice for choosing.
_SMALL = "size=768x432"
_log = logging.getLogger("bastide.cameras")


class Cameras:
    """The cameras of one machine (`web.machine_protocol.Cameras`). Thread-safe."""

    def __init__(self, used: str | None, camera: CalibratedCamera | None, *, offered: Callable[[], Sequence[str]],
                 choose: Callable[[str], None], offer: Callable[[Sequence[str]], object], fixed: Callable[[], bool],
                 status: Callable[[], str], plugged: Callable[[], Sequence[Found]] = plugged_in,
                 make: Callable[[str], FrameSource] = open_camera,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """``used`` is the address of the ``camera`` that watches. ``offered`` returns further addresses, ``offer``
        stores them, ``choose`` restarts the server with another camera unless it is ``fixed`` by the command line.
        ``status`` says why the camera in use gives no pictures."""
        self._used, self._camera, self._status = used, camera, status
        self._offered, self._offer, self._choose, self._fixed = offered, offer, choose, fixed
        self._plugged, self._make, self._clock = plugged, make, clock
        self._lock = threading.Lock()
        self._wanted_s, self._listed_s = -1e9, -1e9
        self._found: list[Found] = []
        self._looks: dict[str, _Look] = {}
        self._closed = False

    def state(self) -> CamerasState:
        """All cameras with their previews; keeps them open for a while."""
        with self._lock:
            self._wanted_s = self._clock()
            rows = self._listed()
            for one in rows:
                self._look(one.uri)
            return {"fixed": self._fixed(), "chosen": self._used is not None, "cameras": [self._row(f) for f in rows]}

    def picture(self, ticket: str) -> bytes | None:
        """The newest picture (JPEG) under the secret name given to those who may choose a camera."""
        for look in list(self._looks.values()):
            if (found := look.pictures.get(ticket)) is not None:
                return found
        return None

    def choose(self, key: str) -> CamerasState:
        """Watch with another camera: the server restarts. Raises CommandError."""
        found = next((f for f in self._rows() if _key(f.uri) == key), None)
        if found is None:
            raise CommandError("no_camera", "this camera is no longer there")
        if self._fixed():
            raise CommandError("command_line", "the command line names the camera: take --source out of it")
        self.close()
        self._choose(found.uri)
        told: CamerasState = {**self._told(), "restarting": True}
        return told

    def offer(self, address: str) -> CamerasState:
        """Add a network camera by its address. Raises CommandError."""
        address = address.strip()
        if address.partition(":")[0].lower() not in NETWORK:
            raise CommandError("bad_address", "the address of a network camera begins with http://, https:// or rtsp://")
        try:
            self._make(address)
        except Exception as e:  # UsageError, Failure or SourceError: each has a sentence
            raise CommandError("bad_address", str(e).removeprefix("--source: ")) from e
        if address not in self._offered():
            self._offer([*self._offered(), address])
        return self.state()

    def forget(self, key: str) -> CamerasState:
        """Remove an address that was typed in."""
        self._offer([a for a in self._offered() if _key(a) != key])
        return self.state()

    def close(self) -> None:
        """Close every camera that is open only for previews."""
        with self._lock:
            self._closed = True
            looks, self._looks = list(self._looks.values()), {}
        for look in looks:
            look.stop.set()
        for look in looks:
            look.join(CLOSING_S)

    # -- internals --------------------------------------------------------------------------------------------------

    def _rows(self) -> list[Found]:
        with self._lock:
            return self._listed()

    def _listed(self) -> list[Found]:
        now = self._clock()
        if now - self._listed_s > LISTED_S:
            self._found, self._listed_s = list(self._plugged()), now
        known = [*self._found, *(Found(uri=uri, name="") for uri in self._offered())]
        if self._used is not None and not any(_device(f.uri) == _device(self._used) for f in known):
            known.insert(0, Found(uri=self._used, name=self._camera.info.model if self._camera else ""))
        return list({_device(f.uri): f for f in reversed(known)}.values())[::-1]

    def _look(self, uri: str) -> None:
        look = self._looks.get(uri)
        if self._closed or look is not None and look.is_alive():
            return
        made = _Look(uri, self._reader(uri), lambda: self._clock() - self._wanted_s < WANTED_S)
        self._looks[uri] = made
        made.start()

    def _reader(self, uri: str) -> Reader:
        if self._used is not None and _device(uri) == _device(self._used) and self._camera is not None:
            return _InUse(self._camera, self._status)
        small = uri
        if uri.startswith("picamera:") and "size=" not in uri:
            small += f"{'&' if '?' in uri else '?'}{_SMALL}"
        return _Opened(lambda: self._make(small))

    def _told(self) -> CamerasState:
        return {"fixed": self._fixed(), "chosen": self._used is not None, "cameras": []}

    def _row(self, found: Found) -> CameraRow:
        look = self._looks.get(found.uri)
        used = self._used is not None and _device(found.uri) == _device(self._used)
        typed = found.uri in self._offered()
        checks = [one.to_json() for one in look.lines] if look else []
        return {"id": _key(found.uri), "address": clean(found.uri), "kind": found.uri.partition(":")[0].lower(),
                "name": (look.name if look else "") or found.name, "used": used, "typed": typed and not used,
                "picture": look.ticket if look else None, "size": list(look.size) if look and look.ticket else None,
                "state": "opening" if look is None or not look.lines else
                max((one.state for one in look.lines), key=("ok", "warn", "fail").index), "checks": checks}


def _device(uri: str) -> str:
    """The device of an address, without options: the same camera with another exposure is the same camera."""
    kind = uri.partition(":")[0].lower()
    return uri.partition("?")[0] if kind in ("usb", "picamera") else uri


def _key(uri: str) -> str:
    return hashlib.sha256(_device(uri).encode()).hexdigest()[:12]


class Reader:
    """Source of a preview's pictures."""

    name = ""
    live = True

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self) -> tuple[Image, float]:
        """A picture and its time. Raises SourceError."""
        raise NotImplementedError


class _InUse(Reader):
    """Pictures of the camera that watches the table."""

    def __init__(self, camera: CalibratedCamera, status: Callable[[], str]) -> None:
        self._camera, self._status = camera, status
        self.live = camera.info.live

    def read(self) -> tuple[Image, float]:
        shot = self._camera.raw(3.0)
        if shot is None:
            raise SourceError(self._status() or "it gives no pictures")
        self.name = shot.model
        return shot.bgr, time.monotonic()


class _Opened(Reader):
    """Pictures of a camera that is not otherwise in use."""

    def __init__(self, make: Callable[[], FrameSource]) -> None:
        self._make = make

    def __enter__(self) -> Reader:
        self._source = self._make()
        self._source.__enter__()
        self.live = self._source.info.live
        return self

    def __exit__(self, *exc: object) -> None:
        self._source.__exit__(*exc)

    def read(self) -> tuple[Image, float]:
        frame: Frame | None = self._source.read()
        if frame is None:
            raise SourceError("its pictures have ended")
        self.name = self._source.info.model
        return frame.bgr, frame.t_s


class _Look(threading.Thread):
    """Fetches pictures from one camera while they are wanted."""

    def __init__(self, uri: str, reader: Reader, wanted: Callable[[], bool]) -> None:
        super().__init__(name=f"look {clean(uri)[:40]}", daemon=True)
        self._reader, self._wanted, self.stop = reader, wanted, threading.Event()
        self.pictures: dict[str, bytes] = {}  # the newest by their secret names
        self.name = ""
        self.size = (0, 0)
        self.lines: tuple[Line, ...] = ()

    def run(self) -> None:
        while self._wanted() and not self.stop.is_set():
            try:
                with self._reader as reader:
                    check = PictureCheck(live=reader.live)
                    while self._wanted() and not self.stop.is_set():
                        self._take(check, *reader.read())
                        self.stop.wait(EVERY_S)
            except Exception as e:  # after any driver error the old picture must not stay
                if not isinstance(e, SourceError):
                    _log.info("a camera test failed", exc_info=e)
                self.pictures = {}
                self.lines = (line("camera", "fail", "camera.says", "cable", why=clean(str(e)), status=""),)
                self.stop.wait(AGAIN_S)

    def _take(self, check: PictureCheck, bgr: Image, t_s: float) -> None:
        verdict = check.look(Frame(id=0, t_s=t_s, source="", bgr=bgr))
        self.size, self.name = (bgr.shape[1], bgr.shape[0]), self._reader.name
        newest = {secrets.token_urlsafe(12): encode_jpeg(reduced(bgr, WIDE_PX))}
        self.pictures = dict([*self.pictures.items(), *newest.items()][-KEPT:])
        self.lines = tuple(_judged(verdict.code if verdict.said or not verdict.use else "", verdict.text, bgr))

    @property
    def ticket(self) -> str | None:
        """The name of the newest picture."""
        return next(reversed(self.pictures), None)


def _judged(code: str, text: str, bgr: Image) -> Iterable[Line]:
    if code:
        yield line("camera", "fail", "camera.says", "see", why=text, status=code)
        return
    yield line("camera", "ok", "camera.sees", picture=f"{bgr.shape[1]}x{bgr.shape[0]}")
    yield from picture(brightness(bgr), sharpness(bgr))
