"""Every command of docs/calibration.md runs, on pictures of printed targets that our own camera took."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import cv2
import numpy as np
import pytest
from doc_commands import commands, run_commands
from drawings import base_pictures
from sheets import photograph as sheet_photograph
from sheets import teaching_sheet

from bastide.cli import main
from calibration.documents import ColoursResult, read_document
from calibration.rehearsal import (
    Lying,
    card_sheets,
    charuco_sheet,
    flat,
    overhead,
    photograph,
    turned,
)
from calibration.targets import CHARUCO, teaching_pages
from vision.simulator.pieces import Piece, draw_piece

DOCUMENT = Path(__file__).parents[2] / "docs" / "calibration.md"
SIZE = (1152, 648)
COMMANDS = commands(DOCUMENT)
CAMERA = {"aim": "table.jpg", "lens": "folder:held?fps=2", "table": "table.jpg", "colours": "followers.jpg",
          "supply": "supply.jpg", "watch": "folder:film", "teach": "folder:sheets?fps=2"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a person has after the chapters before: pictures, players, a lens, a table, colours."""
    folder = tmp_path_factory.mktemp("calibration")
    camera, rng = overhead(SIZE, height_mm=850.0), np.random.default_rng(3)
    (folder / "views").mkdir()
    (folder / "film").mkdir()
    (folder / "held").mkdir()
    sheet = charuco_sheet(CHARUCO)
    for n in range(6):
        view = Lying(sheet=sheet, rotation=turned(60.0 * n, *rng.uniform(-25, 25, 2)),
                     at_mm=((n % 3 - 1) * 280.0, (n // 3 - 0.5) * 220.0, 60.0))
        picture = photograph(camera, [view], seed=n)
        for name in (f"views/{n}.jpg", f"held/{n}a.jpg", f"held/{n}b.jpg"):
            cv2.imwrite(str(folder / name), picture)
    places = [(-420, -200, 10), (420, -190, 100), (400, 200, -50), (-410, 190, 190)]
    table = photograph(camera, [flat(s, *at) for s, at in zip(card_sheets(), places, strict=True)], seed=9)
    cv2.imwrite(str(folder / "table.jpg"), table)
    bare = np.full((SIZE[1], SIZE[0], 3), (120, 150, 175), np.uint8)
    for n, colour in enumerate(("red", "blue", "black")):
        piece = Piece(figure="follower", colour=colour, x_mm=-90 + 90 * n, y_mm=20, z_mm=0, yaw_deg=50 * n, lying=False)
        draw_piece(bare, piece, camera, np.array([300.0, -250.0, 1100.0]), 0.0)
    cv2.imwrite(str(folder / "followers.jpg"), photograph(camera, [], under=bare))
    bare[:] = (120, 150, 175)
    for n in range(4):
        piece = Piece(figure="follower", colour="green", x_mm=-150 + 100 * n, y_mm=20, z_mm=0, yaw_deg=50 * n,
                      lying=n % 2 > 0)
        draw_piece(bare, piece, camera, np.array([300.0, -250.0, 1100.0]), 0.0)
    cv2.imwrite(str(folder / "supply.jpg"), photograph(camera, [], under=bare))
    for n in range(2):
        cv2.imwrite(str(folder / "film" / f"{n}.jpg"), table)
    (folder / "sheets").mkdir()
    pages = teaching_pages()[:2]
    for n, page in enumerate(pages, start=1):
        own = {c.tile: base_pictures()[c.tile] for c in page.cells}
        shot = sheet_photograph(teaching_sheet(page, own, np.random.default_rng(9)), np.random.default_rng(9))
        cv2.imwrite(str(folder / f"page{n}.jpg"), shot)
    for n in range(4):
        cv2.imwrite(str(folder / "sheets" / f"{n}.jpg"), shot)
    seats = [{"name": c, "colour": c} for c in ("red", "blue", "black")]
    (folder / "players.json").write_text(json.dumps(seats), "utf-8")
    return folder


def words(command: str, folder: Path) -> list[str]:
    """The command's words as a shell would give them, the Pi's camera replaced by pictures."""
    out: list[str] = []
    for word in shlex.split(command)[1:]:
        if word == "picamera:0":
            word = CAMERA[next(w for w in out if w in CAMERA)]
        out += sorted(str(p.relative_to(folder)) for p in folder.glob(word)) if "*" in word else [word]
    return out


def test_the_commands_of_the_document_run_in_its_order(bench: Path, monkeypatch: pytest.MonkeyPatch,
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COMMANDS) >= 14
    monkeypatch.chdir(bench)
    for command in COMMANDS:
        if command.startswith("bastide serve"):
            continue  # it serves until it is stopped: below
        capsys.readouterr()
        assert main(words(command, bench)) == 0, (command, capsys.readouterr().err)
        printed = capsys.readouterr().out
        if "--json" in command:
            json.loads(printed)
    for kind in ("lens", "table", "colours"):
        assert read_document(json.loads((bench / f"{kind}.json").read_text("utf-8"))).kind == kind
    colours = read_document(json.loads((bench / "colours.json").read_text("utf-8"))).result
    assert isinstance(colours, ColoursResult) and {"red", "blue", "black", "pink"} <= colours.paints.keys()
    assert len(list((bench / "mytiles").glob("base.*.png"))) == 24
    told = json.loads((bench / "table.json").read_text("utf-8"))["result"]
    assert told["method"] == "cards" and told["rms_mm"] < 0.3 and told["worst_corner_mm"] < 3
    assert abs(told["height_mm"] - 850) < 20
    others = tuple({" ".join(c.split()[:2]) for c in COMMANDS if not c.startswith("bastide serve")})
    assert len(run_commands(DOCUMENT, bench, {"picamera:0": "folder:film"}, others)) == 1


def test_calibrations_of_another_size_are_refused_where_they_are_used(bench: Path, monkeypatch: pytest.MonkeyPatch,
                                                                      capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(bench)
    if not (bench / "table.json").exists():
        assert main(["calibrate", "table", "--source", "table.jpg", "--out", "table.json"]) == 0
    cv2.imwrite("small.png", np.full((360, 640, 3), 120, np.uint8))
    (bench / "other").mkdir(exist_ok=True)
    cv2.imwrite("other/0.png", np.full((360, 640, 3), 120, np.uint8))
    for command in ("read small.png --calibration table.json",
                    "calibrate table --source small.png --lens table.json --out a.json"):
        assert main(command.split()) == 2
        assert "table.json: was made at 1152x648 and the pictures are 640x360" in capsys.readouterr().err
    assert main(["watch", "--source", "folder:other", "--calibration", "table.json", "--out", "g.json"]) != 0
    assert "was made at 1152x648" in capsys.readouterr().err
