"""The guide's facts about a served table: which of its steps are proved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bastide.camera.calibrated import CalibratedCamera
from bastide.files.keys import KeyFile
from bastide.guide.guide import Facts, Guide
from bastide.guide.practice import plan, seen
from bastide.table.session import TableSession
from bastide.table.setup import TWO
from calibration.documents import ColoursResult, TableResult
from vision.lessons import FEWEST
from web.protocol import CommandError

GOOD_CORNER_MM = 5.0  # limit of a good table calibration, as on the page and in the check-up
SHEETS = ("cards", "mat", "charuco", "teaching-sheet")


def guide_for(data: Path, session: TableSession, keys: KeyFile, camera: CalibratedCamera | None, *,
              known: bool) -> Guide:
    """The guide of a table. ``known``: it has earlier games."""
    uri = None if camera is None else camera.info.uri
    guide = Guide(data, _facts(session, keys, camera, lambda: guide.well_aimed(uri)),
                  practice=lambda: {"plan": plan(session.setup), "seen": seen(session.view())},
                  sheet=lambda name: printed(name, session.setup.expansions), known=known)
    return guide


def _facts(session: TableSession, keys: KeyFile, camera: CalibratedCamera | None, aimed: Callable[[], bool]) -> Facts:
    def watched() -> bool:
        return session.seeing.present and session.view()["status"]["chip"] != "camera_lost"

    def measured() -> bool:
        return any(isinstance(d.result, TableResult) and d.result.worst_corner_mm <= GOOD_CORNER_MM
                   for _, d in (camera.documents if camera else ()))

    def told_apart() -> bool:
        wanted = {p.colour for p in session.setup.players}
        return any(isinstance(d.result, ColoursResult) and wanted <= set(d.result.paints)
                   and not any(wanted & set(pair.split("-")) for pair in d.result.confused)
                   for _, d in (camera.documents if camera else ()))

    return {"welcome": lambda: keys.get().table is not None, "camera": watched, "aim": aimed, "table": measured,
            "tiles": lambda: len(session.own_tiles()["tiles"]) >= FEWEST, "figures": told_apart,
            "players": lambda: [p.name for p in session.setup.players] != [p.name for p in TWO],
            "practice": lambda: all(seen(session.view()).values())}


def printed(name: str, products: tuple[str, ...]) -> bytes | None:
    """A sheet as a PDF on A4, or None when there is no such sheet."""
    if name not in SHEETS:
        return None
    try:
        from bastide.export.sheets import sheet
    except ImportError as e:
        raise CommandError("failed", f"printing needs {e.name}; install bastide again") from e
    return sheet(name, products=products)
