"""Converts calibration documents to vision's `View`."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from calibration.documents import CalibrationError, ColoursResult, Document, LensResult, TableResult, check_fit
from vision.view import View

COLOURLESS = ("black", "grey", "white")
_MOST_CHROMA = 10.0  # Lab units: limit of colourless paint, as in vision


def view_of(documents: Iterable[Document], size: tuple[int, int], uri: str = "", model: str = "") -> View:
    """The combined view of these documents for pictures of ``size``. A table includes its lens.

    Raises CalibrationError for a document of another camera or resolution, two of one kind, or colours alone.
    """
    lens: LensResult | None = None
    table: TableResult | None = None
    paints: dict[str, tuple[int, int, int]] = {}
    shapes: dict[str, str] = {}
    seen = set()
    for document in documents:
        check_fit(document, size, uri, model)
        if document.kind in seen:
            raise CalibrationError(f"two calibrations of kind {document.kind} were given; name only one")
        seen.add(document.kind)
        if isinstance(document.result, TableResult):
            table = document.result
        elif isinstance(document.result, LensResult):
            lens = document.result
        elif isinstance(document.result, ColoursResult):
            paints = {name: _as_painted(name, rgb) for name, rgb in document.result.paints.items()}
            shapes = dict(document.result.shapes)
    used = table.lens if table is not None else lens if lens is not None else usual_lens(size)
    return View(size=size, matrix=used.matrix, distortion=np.array(used.distortion), paints=paints, shapes=shapes,
                rotation=None if table is None else np.array(table.rotation).reshape(3, 3),
                translation=None if table is None else np.array(table.translation_mm))


def usual_lens(size: tuple[int, int]) -> LensResult:
    """The default lens: principal point in the middle of the picture, typical focal length."""
    from vision.view import USUAL_FOCAL

    focal = USUAL_FOCAL * size[0]
    fov = tuple(float(np.degrees(2 * np.arctan(n / 2 / focal))) for n in size)
    return LensResult(focal_px=focal, centre_px=((size[0] - 1) / 2, (size[1] - 1) / 2), distortion=(0.0,) * 5,
                      rms_px=0.0, focal_std_px=0.1 * focal, fov_deg=(fov[0], fov[1]), coverage=(), preset="")


def _as_painted(name: str, rgb: tuple[int, int, int]) -> tuple[int, int, int]:
    """Black and grey keep their lightness only; a tint from warm light is not part of the paint."""
    if name not in COLOURLESS:
        return rgb
    lab = cv2.cvtColor(np.array([[rgb]], np.float32) / 255, cv2.COLOR_RGB2Lab)[0, 0]
    chroma = float(np.hypot(lab[1], lab[2]))
    lab[1:] *= min(1.0, _MOST_CHROMA / max(chroma, 1e-6))
    back = cv2.cvtColor(lab[None, None], cv2.COLOR_Lab2RGB)[0, 0]
    r, g, b = (round(float(np.clip(v, 0, 1)) * 255) for v in back)
    return r, g, b
