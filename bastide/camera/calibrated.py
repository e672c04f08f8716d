"""Calibration files on the command line, and a camera whose pictures are undistorted with them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Self

from bastide.camera.capture import Shot
from bastide.errors import UsageError
from bastide.inputs import read_json
from calibration.apply import view_of
from calibration.documents import CalibrationError, Document, check_fit, read_document
from vision.frames import Frame, FrameSource, Image, LateFrame, SourceError, SourceInfo
from vision.view import View

Documents = tuple[tuple[str, Document], ...]  # file names and contents
_log = logging.getLogger("bastide.calibration")


def load_calibrations(paths: Iterable[str] | None) -> Documents:
    """Each file with its document. Raises UsageError naming the file and what is wrong with it."""
    out = []
    for path in paths or ():
        try:
            out.append((path, read_document(read_json(path))))
        except CalibrationError as e:
            raise UsageError(f"{path}: {e}") from e
    return tuple(out)


def view_from(documents: Documents) -> View | None:
    """The combined view of the files, at their resolution; None without any. Raises UsageError."""
    if not documents:
        return None
    try:
        return view_of([d for _, d in documents], documents[0][1].resolution)
    except CalibrationError as e:
        raise UsageError(f"{', '.join(path for path, _ in documents)}: {e}") from e


def view_for(documents: Documents, image: Image) -> View | None:
    """The same for one picture, which must have the resolution they were made at. Raises UsageError."""
    for path, document in documents:
        try:
            check_fit(document, (image.shape[1], image.shape[0]), "image:", "")
        except CalibrationError as e:
            raise UsageError(f"{path}: {e}") from e
    return view_from(documents)


class CalibratedCamera:
    """A camera whose frames are undistorted. A calibration of another camera or resolution is refused: SourceError.

    It may be recalibrated while it is in use: `use` takes effect with the next frame, and ``changed`` notifies whoever
    derived something from the previous view. Documents under the names ``own`` were made on this machine's page; one of
    them that no longer fits is left out instead of stopping the table.
    """

    def __init__(self, camera: FrameSource, documents: Documents, view: View | None = None,
                 own: frozenset[str] = frozenset()) -> None:
        self._camera, self._view, self._own = camera, view, own
        self._documents = documents
        self.changed = threading.Event()
        self._checked = False
        self._next: Documents | None = None
        self._raw, self._wanted, self._asking = threading.Condition(), False, threading.Lock()
        self._shot: Shot | None = None

    @property
    def info(self) -> SourceInfo:
        """The camera's description."""
        return self._camera.info

    @property
    def documents(self) -> Documents:
        """The documents in use, or to be used from the next frame on."""
        return self._documents if self._next is None else self._next

    @property
    def device(self) -> FrameSource:
        """The camera itself."""
        return self._camera

    @property
    def view(self) -> View | None:
        """The current calibration."""
        return self._view

    def use(self, documents: Documents) -> None:
        """Use these from the next frame on. Raises CalibrationError when they are inconsistent."""
        if documents:
            view_of([d for _, d in documents], documents[0][1].resolution)
        self._next = documents

    def raw(self, patience_s: float) -> Shot | None:
        """The next picture as the camera gave it, for another thread; None when none came in time. Each of several
        callers gets its own."""
        with self._asking, self._raw:
            self._shot, self._wanted = None, True
            self._raw.wait_for(lambda: self._shot is not None, patience_s)
            shot, self._shot, self._wanted = self._shot, None, False
            return shot

    def __enter__(self) -> Self:
        self._camera.__enter__()
        self._checked = False
        return self

    def __exit__(self, *exc: object) -> None:
        self._camera.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame, undistorted. The first one is checked against the calibration."""
        frame = self._camera.read(timeout_s)
        if frame is None:
            return None
        if self._wanted:
            shot = Shot(bgr=frame.bgr.copy(), uri=self.info.uri, model=self.info.model)
            with self._raw:
                self._shot = shot
                self._raw.notify_all()
        if self._next is not None:
            self._take(self._next)
        if not self._checked:
            self._check((frame.shape[1], frame.shape[0]))
        if self._view is None or not self._view.bends:
            return frame
        view = self._view
        luma = None if frame.luma is None else view.straighten(frame.luma)
        free = frame.let_go if isinstance(frame, LateFrame) else _nothing
        return LateFrame(id=frame.id, t_s=frame.t_s, source=frame.source, luma=luma, shape=frame.shape,
                         fetch=lambda: view.straighten(frame.bgr), free=free)

    def _take(self, documents: Documents) -> None:
        self._documents, self._next, self._view, self._checked = documents, None, view_from(documents), False
        self.changed.set()

    def _check(self, size: tuple[int, int]) -> None:
        for path, document in self._documents:
            try:
                check_fit(document, size, self.info.uri, self.info.model)
            except CalibrationError as e:
                if path not in self._own:
                    raise SourceError(f"{path}: {e}") from e
                _log.warning("%s: %s; it is not used", path, e)
                self._take(tuple(pair for pair in self._documents if pair[0] != path))
                return self._check(size)
        self._checked = True
        return None


def _nothing() -> None:
    pass


def calibrated(camera: FrameSource, documents: Documents, view: View | None) -> FrameSource:
    """The camera itself, or undistorted if there is a calibration."""
    if view is None:
        return camera
    return CalibratedCamera(camera, documents, view)
