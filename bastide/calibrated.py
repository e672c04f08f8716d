"""Calibration files on the command line, and a camera whose pictures are straightened by them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from bastide.errors import UsageError
from bastide.inputs import read_json
from calibration.apply import view_of
from calibration.documents import CalibrationError, Document, check_fit, read_document
from vision.frames import Frame, FrameSource, Image, LateFrame, SourceError, SourceInfo
from vision.view import View


def load_calibrations(paths: Iterable[str] | None) -> tuple[tuple[str, Document], ...]:
    """Each file with its document. Raises UsageError naming the file and what is wrong with it."""
    out = []
    for path in paths or ():
        try:
            out.append((path, read_document(read_json(path))))
        except CalibrationError as e:
            raise UsageError(f"{path}: {e}") from e
    return tuple(out)


def view_from(documents: tuple[tuple[str, Document], ...]) -> View | None:
    """What the files know together, at the resolution they were made at; None without any. Raises UsageError."""
    if not documents:
        return None
    try:
        return view_of([d for _, d in documents], documents[0][1].resolution)
    except CalibrationError as e:
        raise UsageError(f"{', '.join(path for path, _ in documents)}: {e}") from e


def view_for(documents: tuple[tuple[str, Document], ...], image: Image) -> View | None:
    """The same for one picture, which must have the resolution they were made at. Raises UsageError."""
    for path, document in documents:
        try:
            check_fit(document, (image.shape[1], image.shape[0]), "image:", "")
        except CalibrationError as e:
            raise UsageError(f"{path}: {e}") from e
    return view_from(documents)


class CalibratedCamera:
    """A camera whose frames are straight. A calibration of another camera or resolution is refused: SourceError."""

    def __init__(self, camera: FrameSource, documents: tuple[tuple[str, Document], ...], view: View) -> None:
        self._camera, self._documents, self._view = camera, documents, view
        self._checked = False

    @property
    def info(self) -> SourceInfo:
        """What the camera says of itself."""
        return self._camera.info

    def __enter__(self) -> Self:
        self._camera.__enter__()
        self._checked = False
        return self

    def __exit__(self, *exc: object) -> None:
        self._camera.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame, straightened. The first one is checked against the calibration."""
        frame = self._camera.read(timeout_s)
        if frame is None:
            return None
        if not self._checked:
            size = (frame.shape[1], frame.shape[0])
            for path, document in self._documents:
                try:
                    check_fit(document, size, self.info.uri, self.info.model)
                except CalibrationError as e:
                    raise SourceError(f"{path}: {e}") from e
            self._checked = True
        if not self._view.bends:
            return frame
        luma = None if frame.luma is None else self._view.straighten(frame.luma)
        free = frame.let_go if isinstance(frame, LateFrame) else _nothing
        return LateFrame(id=frame.id, t_s=frame.t_s, source=frame.source, luma=luma, shape=frame.shape,
                         fetch=lambda: self._view.straighten(frame.bgr), free=free)


def _nothing() -> None:
    pass


def calibrated(camera: FrameSource, documents: tuple[tuple[str, Document], ...], view: View | None) -> FrameSource:
    """The camera itself, or straightened when there is a calibration."""
    return camera if view is None else CalibratedCamera(camera, documents, view)
