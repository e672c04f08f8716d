"""Calibrating the lens on the page: views of the ChArUco board are taken live, with their coverage of the picture, the
residual of each in px and mm, and the field of view compared with the data sheet. Also the history of calibrations,
with restore, export and import.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from bastide.camera.calibrated import CalibratedCamera, Documents
from bastide.camera.calibrating import lens_document
from bastide.camera.calibration_store import CalibrationStore, figures, newest, parsed
from bastide.camera.capture import Shot
from bastide.camera.lens_views import ENOUGH, Gathering
from bastide.camera.live_looks import LiveLooks
from bastide.inputs import DEFAULT_BOARD
from calibration.advice import AdviceJson
from calibration.board_check import unlike
from calibration.boards import Pattern, find_board, outline, parse_board
from calibration.documents import CalibrationError, Document, TableResult, check_fit
from calibration.lens import FEWEST_VIEWS, GOOD_RMS_PX, LensCalibration, calibrate_views, coverage_of
from calibration.presets import NEAR_DEG, PRESETS, Preset, preset_lens, preset_of
from vision.images import encode_jpeg, reduced
from web.machine_states import ErrorRow, LensFile, LensState
from web.protocol import CommandError

LONG_SIDE_PX = 1600
MOST_VIEWS = 40
MOST_BYTES = 2_000_000  # of a calibration as a file
KEPT = 4  # pictures
_CHECKED = 4  # views whose pictures are checked for being our board


@dataclass(slots=True)
class _Taken:
    """A numbered view as detected; ``left_out`` by the user."""

    number: int
    pattern: Pattern
    left_out: bool = False


class SheetRow(TypedDict):
    """The field of view in a camera's data sheet, its tolerance, and whether it ``fits``."""

    title: str
    fov_deg: list[float]
    near_deg: float
    fits: bool


class LensFit(TypedDict):
    """A computed lens; ``rms_mm`` on the table, if that is known."""

    rms_px: float
    focal_px: float
    rms_mm: float | None
    focal_percent: float
    fov_deg: list[float]
    sheet: SheetRow | None
    advice: list[AdviceJson]


class LensBench:
    """The lens of the camera in use (`web.machine_protocol.Lens`). Thread-safe."""

    def __init__(self, camera: CalibratedCamera, store: CalibrationStore, *, present: Callable[[], bool],
                 given: Documents = (), clock: Callable[[], float] = time.monotonic) -> None:
        """``given`` are the documents that the command line names."""
        self._camera, self._store, self._given, self._present = camera, store, given, present
        self._board = parse_board(DEFAULT_BOARD)
        self._lock = threading.Lock()
        self._looks = LiveLooks(camera, self._look, name="lens", present=present, clock=clock)
        self._photos, self._number = dict[int, bytes](), 0
        self._preset = ""
        self._incoming = b""
        self._shot: Shot | None = None
        self._now: Pattern | None = None
        self._begin((0, 0))

    def _begin(self, size: tuple[int, int]) -> None:
        """Reset for pictures of this size."""
        self._size, self._views, self._count = size, list[_Taken](), 0
        self._gathering = Gathering()
        self._found: LensCalibration | None = None
        self._numbers: list[int] = []  # of the views that the lens was computed from
        self._error: ErrorRow | None = None
        self._stale = self._computing = self._saved = False

    # -- for the page -----------------------------------------------------------------------------------------------

    def state(self) -> LensState:
        """The detections and the result; the camera is read for a few more seconds."""
        if self._present():
            self._looks.want()
        history = [{"name": one.name, "kind": one.document.kind, "made": one.document.made, "now": one.now,
                    "model": one.document.model, "size": list(one.document.resolution), **figures(one.document)}
                   for one in self._store.history()]
        with self._lock:
            told = {str(n): v for n, v in zip(self._numbers, self._found.views, strict=True)} if self._found else {}
            views = []
            for one in self._views:
                fit = told.get(str(one.number))
                views.append({"number": one.number, "corners": len(one.pattern.px), "left_out": one.left_out,
                              "outline": outline(one.pattern), "used": bool(fit and fit.used),
                              "rms_px": _rounded(fit.rms_px if fit else None, 3),
                              "rms_mm": _rounded(fit.rms_mm if fit else None, 3)})
            mine = [one.pattern for one in self._views if not one.left_out]
            return {"camera": self._present(), "picture": max(self._photos, default=None), "size": list(self._size),
                    "board": None if self._now is None else outline(self._now), "views": views,
                    "coverage": [list(row) for row in coverage_of(mine, self._size)] if mine else [],
                    "enough": ENOUGH, "least": FEWEST_VIEWS, "good_px": GOOD_RMS_PX,
                    "busy": self._stale or self._computing, "lens": self._told(), "error": self._error,
                    "saved": self._saved, "history": history,
                    "chosen": self._preset, "upload": len(self._incoming), "most": MOST_BYTES,
                    "cameras": [{"name": p.name, "title": p.title} for p in PRESETS]}

    def leave_out(self, view: int, out: bool) -> LensState:
        """Exclude a view from the computation, or include it again. Raises CommandError."""
        with self._lock:
            one = next((v for v in self._views if v.number == view), None)
            if one is None:
                raise CommandError("no_view", "there is no such view")
            one.left_out = out
            self._changed()
        return self.state()

    def drop_worst(self) -> LensState:
        """Exclude the used view that fits worst. Raises CommandError."""
        with self._lock:
            fits = [(v.rms_px, n) for n, v in zip(self._numbers, self._found.views, strict=True)
                    if v.used and v.rms_px is not None] if self._found else []
            if len(fits) <= FEWEST_VIEWS:
                raise CommandError("few_views", f"no view can be spared: {FEWEST_VIEWS} are needed")
            worst = max(fits)[1]
            for one in self._views:
                one.left_out = one.left_out or one.number == worst
            self._changed()
        return self.state()

    def clear(self) -> LensState:
        """Start over; stored calibrations are not affected."""
        with self._lock:
            self._begin(self._size)
        return self.state()

    def compare_with(self, camera: str) -> LensState:
        """Compare the field of view with the data sheet of this camera; empty: its own name."""
        if camera and preset_of(camera) is None:
            raise CommandError("malformed", "camera: is not known")
        with self._lock:
            self._preset = camera
            self._changed()
        return self.state()

    def keep(self) -> LensState:
        """Use the computed lens from the next frame on. Raises CommandError."""
        with self._lock:
            if self._found is None or self._shot is None or self._stale or self._computing:
                raise CommandError("nothing_computed", "no lens has been computed from these views yet")
            document, _ = lens_document(self._found, self._shot.model, self._shot.uri, self._size)
        self._use(document)
        with self._lock:
            self._saved = True
        return self.state()

    def back(self, name: str) -> LensState:
        """Use an earlier calibration again. Raises CommandError."""
        self._use(self._earlier(name))
        return self.state()

    def export(self, name: str) -> LensFile:
        """A calibration of the history, as a file. Raises CommandError."""
        document = self._earlier(name)
        return {"name": f"{name}.json", "text": document.write()}

    def piece(self, at: int, data: bytes) -> LensState:
        """The next bytes of an uploaded file. Raises CommandError."""
        with self._lock:
            if at > len(self._incoming):
                raise CommandError("wrong_place", f"the next piece begins at {len(self._incoming)}")
            if at + len(data) > MOST_BYTES:
                raise CommandError("no_calibration", "no calibration is as large as this file")
            self._incoming = self._incoming[:at] + data
        return self.state()

    def take_in(self) -> LensState:
        """Use the uploaded calibration. Raises CommandError if it is not one of this camera."""
        with self._lock:
            data, self._incoming = self._incoming, b""
        try:
            document = parsed(data)
        except CalibrationError as e:
            raise CommandError("no_calibration", str(e)) from e
        self._use(document)
        return self.state()

    def picture(self, number: int) -> bytes | None:
        """One of the newest pictures as the camera gave it (JPEG), or None."""
        with self._lock:
            return self._photos.get(number)

    def close(self) -> None:
        """Stop the thread."""
        self._looks.close()

    def _earlier(self, name: str) -> Document:
        document = self._store.earlier(name)
        if document is None:
            raise CommandError("unknown_calibration", "there is no such calibration")
        return document

    def _use(self, document: Document) -> None:
        """Use and store it. Raises CommandError if it does not fit; then nothing has changed."""
        info = self._camera.info
        with self._lock:
            seen = self._size if self._size != (0, 0) else (info.width, info.height)
        used = next((d.resolution for _, d in self._camera.documents), None)
        try:
            check_fit(document, seen if seen != (0, 0) else used or document.resolution, info.uri, info.model)
        except CalibrationError as e:
            raise CommandError("other_camera", str(e)) from e
        if any(d.kind == document.kind and d.made >= document.made for _, d in self._given):
            raise CommandError("command_line", "the command line names a newer calibration, which takes precedence")
        try:
            self._store.keep(document)
        except OSError as e:
            raise CommandError("not_saved", f"it cannot be saved ({e.strerror or e})") from e
        self._camera.use(newest(self._given, self._store.kept()))

    # -- the worker thread ------------------------------------------------------------------------------------------

    def _look(self, shot: Shot) -> None:
        size = (int(shot.bgr.shape[1]), int(shot.bgr.shape[0]))
        seen = find_board(shot.bgr, self._board)
        photo = encode_jpeg(reduced(shot.bgr, LONG_SIDE_PX))
        with self._lock:
            if size != self._size:
                self._begin(size)
            self._shot, self._now = shot, seen
            self._number += 1
            self._photos[self._number] = photo
            while len(self._photos) > KEPT:
                del self._photos[min(self._photos)]
            kept = [one.pattern for one in self._views]  # with those left out, or they would be retaken
            if seen is not None and len(self._views) < MOST_VIEWS and self._gathering.feed(seen, size[0], kept):
                self._take(seen, shot)
            elif seen is None:
                self._gathering.feed(None, size[0], kept)
            stale = self._stale
        if stale:
            self._compute()

    def _take(self, seen: Pattern, shot: Shot) -> None:
        if self._count < _CHECKED and (wrong := unlike([shot.bgr], [seen], self._board)) is not None:
            self._error = {"code": "lens.board", "text": wrong, "parts": {}}
            return
        self._count += 1
        self._views.append(_Taken(number=self._count, pattern=seen))
        self._changed()

    def _changed(self) -> None:
        self._stale, self._saved = True, False

    def _compute(self) -> None:
        """Compute the lens from the views that are not left out; it takes a second or two, outside the lock."""
        with self._lock:
            mine = [one for one in self._views if not one.left_out]
            size, preset = self._size, self._sheet()
            self._stale, self._computing = False, True
        found = None
        problem: ErrorRow | None = None
        if len(mine) >= FEWEST_VIEWS:
            try:
                found = calibrate_views([(str(one.number), one.pattern) for one in mine], size, preset)
            except CalibrationError as e:
                problem = {"code": e.code or "other", "text": str(e), "parts": dict(e.parts)}
        with self._lock:
            self._computing = False
            if size == self._size:
                self._found, self._error, self._numbers = found, problem, [one.number for one in mine]

    def _sheet(self) -> Preset | None:
        """The camera whose data sheet gives the expected values."""
        return preset_of(self._preset or (self._shot.model if self._shot is not None else ""))

    def _told(self) -> LensFit | None:
        if self._found is None:
            return None
        lens, preset = self._found.lens, self._sheet()
        table = next((d.result for _, d in self._camera.documents if isinstance(d.result, TableResult)
                      and d.resolution == self._size), None)
        stated = None if preset is None else preset_lens(preset, self._size).fov_deg
        return {"rms_px": round(lens.rms_px, 3), "focal_px": round(lens.focal_px, 1),
                "rms_mm": None if table is None else round(lens.rms_px * table.height_mm / lens.focal_px, 3),
                "focal_percent": round(100 * lens.focal_std_px / lens.focal_px, 2),
                "fov_deg": [round(v, 1) for v in lens.fov_deg],
                "sheet": None if preset is None or stated is None else
                {"title": preset.title, "fov_deg": [round(v, 1) for v in stated], "near_deg": NEAR_DEG,
                 "fits": max(abs(a - b) for a, b in zip(stated, lens.fov_deg, strict=True)) <= NEAR_DEG},
                "advice": [a.to_json() for a in self._found.advice]}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
