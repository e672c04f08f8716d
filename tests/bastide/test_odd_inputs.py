"""Pictures, addresses and files that no table has: one sentence and exit code 2, never a library's own words, never a
file without an end; and names that a spreadsheet would compute."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bastide.camera.capture import LEAST_SIDE_PX, LONGEST_TIMES
from bastide.log.replay import scores_csv
from hardware.sources import UnknownSource, open_source
from scoring.engine import fold, new_game
from scoring.events import Player, Setup
from scoring.rules import edition
from vision.images import write_image

Run = Callable[..., tuple[int, str, str]]


def picture(folder: Path, width: int, height: int) -> Path:
    file = folder / f"{width}x{height}.png"
    write_image(str(file), np.full((height, width, 3), 90, np.uint8))
    return file


@pytest.mark.parametrize(("width", "height"), [(1, 1), (50_000, 1), (1, 3000), (63, 63), (4000, 70)])
def test_a_picture_in_which_no_table_fits_is_one_sentence(run: Run, tmp_path: Path, width: int, height: int) -> None:
    file = picture(tmp_path, width, height)
    for argv in (("read", file), ("aim", "--source", file), ("aim", "--source", f"folder:{tmp_path}"),
                 ("calibrate", "table", "--source", file, "--out", tmp_path / "x.json")):
        code, _, err = run(*argv)
        assert code == 2 and f"{width} x {height} pixels" in err and err.count("\n") == 1, argv
        assert "OpenCV" not in err and "unexpected" not in err


@pytest.mark.parametrize(("width", "height"), [
    (LEAST_SIDE_PX, LEAST_SIDE_PX), (LEAST_SIDE_PX, LONGEST_TIMES * LEAST_SIDE_PX), (6000, 600)])
def test_the_smallest_and_the_thinnest_that_are_taken_can_be_read(run: Run, tmp_path: Path, width: int,
                                                                  height: int) -> None:
    code, out, _ = run("read", picture(tmp_path, width, height), "--data", tmp_path)
    assert code == 0 and "0 tiles" in out


@pytest.mark.parametrize("uri", [
    "http://[::1", "rtsp://[zz]/x", "http://a:99999999/x", "http://a:x/", "http://a\nb/", "http://a b/", "http:///video",
    "http://user:secret@[::1", "https://a:0/", "usb:99999999999999999999", "usb:²", "picamera:9999", "video:/dev/zero",
])
def test_an_address_that_is_none_is_one_sentence(run: Run, tmp_path: Path, uri: str) -> None:
    code, _, err = run("watch", "--source", uri, "--out", tmp_path / "game.json", "--data", tmp_path)
    said = [line for line in err.splitlines() if "--source" in line]
    assert code == 2 and len(said) == 1 and "Traceback" not in err and "secret" not in err


def test_an_address_of_a_network_camera_is_one(tmp_path: Path) -> None:
    for uri in ("http://192.168.1.30:8080/video", "rtsp://user:pass%20word@camera.local/stream?x=1", "http://[fe80::1]/v",
                "https://camera/"):
        assert open_source(uri).info.uri
    with pytest.raises(UnknownSource):
        open_source("http://[::1")


def test_a_support_file_that_has_no_end_is_not_even_read(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.zip"
    os.mkfifo(pipe)
    found: list[tuple[int, str, str]] = []
    for file in ("/dev/zero", pipe, tmp_path):
        asking = threading.Thread(target=lambda file=file: found.append(run("support", "--replay", file)), daemon=True)
        asking.start()
        asking.join(60)
        assert not asking.is_alive()
        code, _, err = found[-1]
        assert code == 2 and err.count("\n") == 1 and str(file) in err


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", " =1+1", "\uff1d1+1",
                                  "=HYPERLINK(\"x\")"])
def test_a_name_is_no_formula_in_the_table_of_scores(name: str) -> None:
    """CSV injection: no text cell starts like a formula, and the name is still readable."""
    from bastide.table.demo_game import demo_game
    game = demo_game(3, turns=30)
    players = tuple(Player(name=name if n == 0 else f"P{n}", colour=p.colour)
                    for n, p in enumerate(game.setup.players))
    setup = Setup(players=players, rules=edition(game.setup.edition), expansions=game.setup.expansions,
                  start=game.setup.start)
    state = fold(setup, tuple(e for t in game.turns for e in t.events))
    rows = list(csv.reader(io.StringIO(scores_csv(state))))
    assert any(name in row[1] for row in rows), "that player has scored"
    for row in rows:
        for cell in row:
            assert not cell.strip().startswith(("=", "+", "-", "@", "\uff1d")) or cell.lstrip("-").isdigit(), row
    assert scores_csv(new_game(setup)).count("\n") == 1


def test_a_board_with_a_tile_far_off_is_no_picture(run: Run, tmp_path: Path) -> None:
    """At 24 pixels a square it would take 6 GB."""
    game = {"format": "transcript/1", "setup": {"expansions": ["base"], "edition": "zman2012", "rules": {},
                                                "players": [{"name": "A", "colour": "red"}]},
            "start": {"tile": "base.D", "at": [0, 0], "rot": 0},
            "turns": [{"player": 0, "part": 1, "moves": [{"do": "tile", "tile": "base.D", "at": [x, x], "rot": 0}]}
                      for x in (-999, 999)]}
    (tmp_path / "game.json").write_text(json.dumps(game), "utf-8")
    code, out, err = run("export", tmp_path / "game.json", "--to", "png", "--out", tmp_path / "game.png")
    assert (code, out) == (1, "") and "the tile at [-999, -999] is far off" in err and err.count("\n") == 1
