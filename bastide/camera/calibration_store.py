"""Stores calibrations made or imported on the page: one of each kind in use, and their history.

    DATA/calibration/table.json            in use
    DATA/calibration/history/table-20261121T180000-1a2b3c4d.json    each that ever was, the newest MOST_KEPT of a kind
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from bastide.camera.calibrated import Documents, load_calibrations
from bastide.errors import UsageError
from bastide.files.writing import write_whole
from calibration.documents import CalibrationError, Document, LensResult, TableResult, read_document

FOLDER, HISTORY = "calibration", "history"
KINDS = ("lens", "table", "colours")
MOST_KEPT = 20  # of a kind
_NAME = re.compile(r"(?:lens|table|colours)-\d{8}T\d{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A calibration of the history under its ``name``; ``now``: it is the one in use."""

    name: str
    document: Document
    now: bool


class CalibrationStore:
    """The folder of one table. Files are written atomically; one that cannot be read is left alone and not used.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._read: dict[str, Document] = {}

    def path(self, kind: str) -> Path:
        """The path of the one in use."""
        return self._folder / f"{kind}.json"

    def paths(self) -> frozenset[str]:
        """The file names of those in use."""
        return frozenset(str(self.path(kind)) for kind in KINDS)

    def kept(self) -> Documents:
        """Those in use."""
        out: list[tuple[str, Document]] = []
        for kind in KINDS:
            if self.path(kind).is_file():
                try:
                    out += [pair for pair in load_calibrations([str(self.path(kind))]) if pair[1].kind == kind]
                except UsageError:
                    continue
        return tuple(out)

    def keep(self, document: Document) -> str:
        """Put this one in use; returns the name of its file. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for _, before in self.kept():
            if before.kind == document.kind:
                self._remember(before)  # of a version without a history
        self._remember(document)
        path = self.path(document.kind)
        write_whole(path, document.write().encode(), durable=True)
        return str(path)

    def forget(self, kind: str) -> None:
        """Stop using the one of a kind; it stays in the history. Raises OSError."""
        for _, document in self.kept():
            if document.kind == kind:
                self._remember(document)
        self.path(kind).unlink(missing_ok=True)

    def history(self) -> list[Earlier]:
        """The history, newest first."""
        now = {_name(document) for _, document in self.kept()}
        out = [Earlier(name=name, document=document, now=name in now) for name, document in self._all()]
        return sorted(out, key=lambda one: _made(one.document), reverse=True)

    def earlier(self, name: str) -> Document | None:
        """One of them by its name."""
        return next((document for there, document in self._all() if there == name), None)

    def _all(self) -> Iterator[tuple[str, Document]]:
        for path in sorted((self._folder / HISTORY).glob("*.json")):
            if _NAME.fullmatch(path.stem) is None:
                continue
            if path.stem not in self._read:  # these files never change
                try:
                    self._read[path.stem] = load_calibrations([str(path)])[0][1]
                except UsageError:
                    continue
            yield path.stem, self._read[path.stem]

    def _remember(self, document: Document) -> None:
        folder = self._folder / HISTORY
        folder.mkdir(exist_ok=True)
        path = folder / f"{_name(document)}.json"
        if not path.exists():
            write_whole(path, document.write().encode(), durable=True)
        mine = sorted(folder.glob(f"{document.kind}-*.json"))
        for old in mine[:-MOST_KEPT]:
            if old != path:
                old.unlink(missing_ok=True)


class Fit(TypedDict, total=False):
    """How well a calibration fits: of a table, of a lens, or of the colours."""

    rms_mm: float
    worst_corner_mm: float
    method: str
    rms_px: float
    fov_deg: list[float]
    confused: list[str]
    distances: dict[str, float]


def figures(document: Document) -> Fit:
    """How well a calibration fits, for a page."""
    result = document.result
    if isinstance(result, TableResult):
        return {"rms_mm": round(result.rms_mm, 2), "worst_corner_mm": round(result.worst_corner_mm, 1),
                "method": result.method}
    if isinstance(result, LensResult):
        return {"rms_px": round(result.rms_px, 2), "fov_deg": [round(v, 1) for v in result.fov_deg]}
    return {"confused": list(result.confused), "distances": dict(result.distances)}


def parsed(text: bytes) -> Document:
    """A calibration that was sent as a file. Raises CalibrationError."""
    try:
        return read_document(json.loads(text))
    except (ValueError, RecursionError) as e:
        raise CalibrationError("it is not a JSON file") from e


def newest(given: Documents, own: Documents) -> Documents:
    """The newest document of each kind, of those named on the command line and the page's of the same picture size."""
    best: dict[str, tuple[str, Document]] = {pair[1].kind: pair for pair in given}
    size = given[0][1].resolution if given else max(own, key=lambda p: p[1].made)[1].resolution if own else None
    for pair in own:
        kind = pair[1].kind
        if pair[1].resolution == size and (kind not in best or best[kind][1].made < pair[1].made):
            best[kind] = pair
    return tuple(best.values())


def _made(document: Document) -> datetime:
    return datetime.fromisoformat(document.made).astimezone(UTC)


def _name(document: Document) -> str:
    digest = hashlib.sha256(document.write().encode()).hexdigest()[:8]
    return f"{document.kind}-{_made(document):%Y%m%dT%H%M%S}-{digest}"
