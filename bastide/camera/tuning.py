"""Aiming and calibrating the camera in use, for the page: `bastide aim` and `bastide calibrate` while the table is
watched.

One worker thread runs, and only while the page polls or a calibration was requested. Its pictures come from the loop
that owns the camera. Results are stored as ``DATA/calibration/table.json`` and ``colours.json``, the same documents as
the command line's, and are used from the next frame on; a later start uses the newest of each kind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping

from bastide.camera.calibrated import CalibratedCamera, Documents
from bastide.camera.calibrating import MadeTable, colours_document, table_document
from bastide.camera.calibration_store import KINDS as ALL_KINDS
from bastide.camera.calibration_store import CalibrationStore, figures, newest
from bastide.camera.capture import Shot
from bastide.camera.self_test import Layout, self_test
from calibration.aim import AimJson, look
from calibration.apply import usual_lens
from calibration.colours import CONFUSED, NEAR, calibrate_colours, learn_supply
from calibration.documents import CalibrationError, ColoursResult, Document, LensResult, TableResult
from calibration.presets import PRESETS, preset_lens, preset_of
from calibration.table import METHODS, find_table
from vision.read import PhotoReader
from web.machine_states import AimState, TuningState
from web.protocol import CommandError

KINDS = ("table", "colours")  # measured here; the lens has its own bench
TRIAL = "trial"  # the self-test: nothing is stored
SUPPLY = "supply"  # of one player: added to the colours
AT_MOST_S = 10.0  # time-out of a calibration, after which it reports what was missing
WANTED_S = 5.0  # the camera is read for so long after the last request
_PICTURE_S, _EVERY_S, _CLOSING_S = 2.0, 0.25, 15.0
_log = logging.getLogger("bastide.calibration")


class Tuning:
    """Aim and calibration of one camera (`web.protocol.Tuning`). Thread-safe."""

    def __init__(self, camera: CalibratedCamera, store: CalibrationStore, *, given: Documents = (),
                 present: Callable[[], bool], colours: Callable[[], tuple[str, ...]], reader: Callable[[], PhotoReader],
                 aimed: Callable[[bool], None] = lambda good: None,
                 trial: Callable[[], Layout] = lambda: Layout(tiles={}, figures=()),
                 clock: Callable[[], float] = time.monotonic) -> None:
        """``given`` are the command line's documents, ``present`` tells whether the camera gives pictures, ``colours``
        are the players', ``reader`` reads tiles, ``aimed`` is called after each picture with whether the camera is well
        aimed, ``trial`` returns the layout of the self-test."""
        self._aimed, self._trial = aimed, trial
        self._camera, self._store, self._given, self._present = camera, store, given, present
        self._colours, self._reader, self._clock = colours, reader, clock
        self._lock, self._idle = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted_s, self._looks = -1e9, 0
        self._aim: AimJson | None = None
        self._job: tuple[str, str, str] | None = None
        self._preset = ""
        self._reads: PhotoReader | None = None  # while aiming
        self._closed = False
        self._done: dict[str, Mapping[str, object]] = {}

    # -- for the page -----------------------------------------------------------------------------------------------

    def aim(self) -> AimState:
        """The measurements of the newest picture; keeps the worker running."""
        with self._lock:
            if not self._present():
                raise CommandError("no_camera", "no camera watches this table")
            self._wanted_s = self._clock()
            self._start()
            return {"look": self._looks, "aim": self._aim}

    def state(self) -> TuningState:
        """The running calibration, the results, and the documents in use."""
        with self._lock:
            return {"camera": self._present(), "running": self._job[0] if self._job else None, "done": dict(self._done),
                    "cameras": [{"name": p.name, "title": p.title} for p in PRESETS], "methods": list(METHODS),
                    "limits": {"confused": CONFUSED, "near": NEAR}, "trial": self._trial().to_json(),
                    "used": [{"kind": d.kind, "made": d.made, "file": path, "here": path in self._store.paths(),
                              **figures(d)} for path, d in self._camera.documents]}

    def calibrate(self, what: str, by: str, camera: str) -> TuningState:
        """Start a calibration; a supply ``by`` its player's colour. Raises CommandError without a camera, for unknown
        names, and while one is running."""
        known = by in self._colours() if what == SUPPLY else not by if what == TRIAL else \
            what in KINDS and by in ("", *METHODS)
        if not known or camera and preset_of(camera) is None:
            raise CommandError("malformed", "what, by or camera: is not known")
        with self._lock:
            if not self._present():
                raise CommandError("no_camera", "no camera watches this table")
            if self._job is not None:
                raise CommandError("busy", "a calibration is in progress; wait for it")
            self._job, self._preset = (what, by, camera), camera or self._preset
            self._done.pop(what, None)
            self._start()
        return self.state()

    def close(self) -> None:
        """Wait for the current work and start nothing more: a library's threads must not outlive ours."""
        with self._lock:
            self._closed, thread = True, self._thread
        self._idle.set()
        if thread is not None:
            thread.join(_CLOSING_S)

    def forget(self, kind: str) -> TuningState:
        """Remove a calibration made on the page; a file named on the command line is not touched."""
        if kind not in ALL_KINDS:
            raise CommandError("malformed", "there is no such calibration")
        try:
            self._store.forget(kind)
        except OSError as e:
            raise CommandError("not_saved", f"it cannot be removed ({e.strerror or e})") from e
        with self._lock:
            self._camera.use(newest(self._given, self._store.kept()))
            self._done.pop(kind, None)
        return self.state()

    # -- the worker thread ------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if not self._closed and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._work, name="tuning", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                job = self._job
                if self._closed or job is None and self._clock() - self._wanted_s > WANTED_S:
                    self._thread, self._aim, self._reads = None, None, None
                    return
            if job is None:
                self._look()
                self._idle.wait(_EVERY_S)
                continue
            try:
                done = self._made(*job)
            except CalibrationError as e:
                done = {"ok": False, "error": {"code": e.code or "other", "text": str(e), "parts": dict(e.parts)}}
            except OSError as e:
                text = f"it cannot be saved ({e.strerror or e})"
                done = {"ok": False, "error": {"code": "not_saved", "text": text, "parts": {}}}
            except Exception as e:  # whatever happened, the next calibration must be possible
                _log.error("the calibration failed", exc_info=e)
                done = {"ok": False, "error": {"code": "failed", "text": "the program's log says why", "parts": {}}}
            with self._lock:
                self._done[job[0]], self._job = {**done, "at_s": round(time.time(), 1)}, None

    def _look(self) -> None:
        """Search for printed targets first; without any, use the tiles on the table."""
        shot = self._camera.raw(_PICTURE_S)
        found = None if shot is None else look(shot.bgr, self._lens(shot))
        if shot is not None and found is not None and found.tiles is None:
            self._reads = self._reads or self._reader()
            found = look(shot.bgr, self._lens(shot), reader=self._reads)
        with self._lock:
            self._aim, self._looks = None if found is None else found.to_json(), self._looks + 1
        if found is not None:
            self._aimed(found.good)

    def _made(self, what: str, by: str, _: str) -> Mapping[str, object]:
        begun = self._clock()
        refused: CalibrationError | None = None
        reader: PhotoReader | None = None
        while self._clock() - begun < AT_MOST_S:
            shot = self._camera.raw(_PICTURE_S)
            if shot is None:
                continue
            if what == TRIAL:
                wanted, colours = self._trial(), self._colours()
                return {"ok": True, **self_test(shot.bgr, self._lens(shot), self._reader(), wanted, colours)}
            told: Mapping[str, object]
            try:
                if what == SUPPLY:
                    document, supplied = colours_document(learn_supply(shot.bgr, by, self._measured(shot)), shot)
                    told = {**supplied, "colour": by}
                elif what == "colours":
                    document, told = colours_document(calibrate_colours(shot.bgr, self._colours()), shot)
                else:
                    if by in ("", "tiles") and refused is not None and reader is None:
                        reader = self._reader()  # reading a whole board takes seconds: printed targets first
                    document, told = self._table(shot, by, reader, begun)
            except CalibrationError as e:
                refused = e
                continue
            self._keep(document)
            return {"ok": True, **told}
        raise refused or CalibrationError("no picture came", "table.nopicture")

    def _table(self, shot: Shot, by: str, reader: PhotoReader | None, begun: float) -> MadeTable:
        methods = (by,) if by else METHODS if reader is not None else METHODS[:-1]
        found = find_table(shot.bgr, self._lens(shot), methods, reader=reader)
        return table_document(found, shot, self._clock() - begun)

    def _measured(self, shot: Shot) -> ColoursResult | None:
        """The known colours for pictures of this size."""
        size = (int(shot.bgr.shape[1]), int(shot.bgr.shape[0]))
        return next((d.result for _, d in self._camera.documents
                     if d.resolution == size and isinstance(d.result, ColoursResult)), None)

    def _lens(self, shot: Shot) -> LensResult:
        """The best known lens: calibrated, chosen, by the camera's own name, else a typical one."""
        size = (int(shot.bgr.shape[1]), int(shot.bgr.shape[0]))
        fitting = [d.result for _, d in self._camera.documents if d.resolution == size]
        for result in fitting:
            if isinstance(result, LensResult):
                return result
        preset = preset_of(self._preset) if self._preset else preset_of(shot.model)
        if preset is None:
            known = [r.lens for r in fitting if isinstance(r, TableResult) and (r.lens.rms_px or r.lens.preset)]
            return known[0] if known else usual_lens(size)
        return preset_lens(preset, size)

    def _keep(self, document: Document) -> None:
        """Store and use it. Calibrations of another picture size are no longer used together with it."""
        path = self._store.keep(document)
        others = [p for p in self._camera.documents
                  if p[1].kind != document.kind and p[1].resolution == document.resolution]
        self._camera.use((*others, (path, document)))
