"""Errors of bastide as a real process: exit code, one line, nothing else.

The many things that can be wrong with a file are in test_command_line.py; here are the ones of each kind as processes,
because what libraries print by themselves and what the interpreter prints at exit is only seen there.
"""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from processes import bastide

from bastide.table.demo_game import demo_game
from scoring.transcript import write

ROWS: dict[str, tuple[int, tuple[str, ...]]] = {
    "score {f}/none.json --json": (2, ("none.json", "no such file")),
    "score {f} --json": (2, ("folder",)),
    "score {f}/not.json --json": (2, ("not.json", "JSON", "line 1")),
    "score {f}/broken.json.gz --json": (2, ("broken.json.gz",)),
    "score {f}/garbled.json.gz --json": (2, ("garbled.json.gz",)),
    "score {f}/field.json --json": (2, ("field.json", "turns[1].moves[0].rot")),
    "score {f}/foreign.json --json": (2, ("foreign.json",)),
    "score {f}/game.json --edition first --json": (2, ("first", "zman2012")),
    "score {f}/game.json --rule frams=yes --json": (2, ("frams", "farm_scoring")),
    "score {f}/game.json --rule farm_scoring=yes --json": (2, ("farm_scoring", "yes")),
    "score": (2, ("TRANSCRIPT",)),
    "": (2, ("COMMAND",)),
    "play": (2, ("play",)),
    "read {f}/none.jpg --json": (2, ("none.jpg", "no such file")),
    "read {f}/not.json --json": (2, ("not.json",)),
    "read {f}/photo.png --tiles {f}/empty --json": (2, ("empty",)),
    "read {f}/photo.png --tiles {f}/nowhere --json": (2, ("nowhere",)),
    "read {f}/photo.png --tiles {f}/odd --json": (2, ("base.ZZ",)),
    "read {f}/photo.png --overlay {f}/nowhere/out.png --json": (1, ("out.png",)),
    "watch --source moon:1 --players {f}/players.json --out {f}/o.json --json": (2, ("moon", "video:FILE")),
    "watch --source video:{f}/none.mp4 --players {f}/players.json --out {f}/o.json --json": (2, ("none.mp4",)),
    "watch --source video:{f}/not.json --players {f}/players.json --out {f}/o.json --json": (2, ("not.json", "video")),
    "watch --source video:{f}/cut.mp4 --players {f}/players.json --out {f}/o.json --json": (2, ("cut.mp4", "video")),
    "watch --source folder:{f}/empty --players {f}/players.json --out {f}/o.json --json": (2, ("empty", "pictures")),
    "watch --source folder:{f}/fake --players {f}/players.json --out {f}/o.json --json": (2, ("fake", "1.png")),
    "watch --source video:{f}/film.avi --players {f}/nobody.json --out {f}/o.json --json": (2, ("nobody.json",)),
    "watch --source usb:77 --players {f}/players.json --out {f}/o.json --json": (1, ("77",)),
    "watch --source picamera:0 --players {f}/players.json --out {f}/o.json --json": (1, ("picamera",)),
    "watch --source http://127.0.0.1:9/video --players {f}/players.json --out {f}/o.json --json": (1, ("127.0.0.1",)),
    "watch --source video:{f}/film.avi --players {f}/players.json --out {f}/nowhere/o.json --json": (2, ("nowhere",)),
    "watch --source video:{f}/film.avi --players {f}/players.json --out {f} --json": (2, ("folder",)),
    "demo --once --turns 2 --port {p}": (1, ("port {p} is in use", "--port")),
    "serve --port {p} --data {f}/data": (1, ("port {p} is in use", "--port")),
    "serve --port 0 --data {f}/game.json": (1, ("game.json",)),
    "serve --port 0 --data {f}/data2 --source video:{f}/none.mp4 --players {f}/players.json": (2, ("none.mp4",)),
    "print mat --out {f}/nowhere/mat.pdf": (2, ("nowhere", "does not exist")),
    "print qr --url table --out {f}/qr.pdf": (2, ("--url", "http://")),
    "print poster --out {f}/mat.pdf": (2, ("poster",)),
    "teach {f}/photo.png --out {f}/tiles": (2, ("no page of the teaching sheet",)),
    "backup": (2, ("--out",)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything that can be wrong."""
    f = tmp_path_factory.mktemp("wrong")
    game = write(demo_game(3, turns=3))
    text = json.dumps(game)
    (f / "game.json").write_text(text, "utf-8")
    (f / "not.json").write_text("this is no JSON", "utf-8")
    packed = gzip.compress(text.encode())
    (f / "broken.json.gz").write_bytes(packed[:60] + b"\xff" * 60 + packed[120:])
    (f / "garbled.json.gz").write_bytes(packed[:10] + b"\xff" * 50)
    del game["turns"][1]["moves"][0]["rot"]
    (f / "field.json").write_text(json.dumps(game), "utf-8")
    foreign = json.loads(text)
    foreign["turns"][0]["moves"].append({"do": "fairy", "at": [0, 0]})
    (f / "foreign.json").write_text(json.dumps(foreign), "utf-8")
    (f / "players.json").write_text('[{"name": "A", "colour": "red"}]', "utf-8")
    (f / "nobody.json").write_text('[{"name": "A"}]', "utf-8")
    for name in ("empty", "odd", "fake"):
        (f / name).mkdir()
    grey = np.full((240, 320, 3), 90, np.uint8)
    cv2.imwrite(str(f / "photo.png"), grey)
    cv2.imwrite(str(f / "odd" / "base.ZZ.png"), grey[:64, :64])
    (f / "fake" / "1.png").write_bytes(b"no picture")
    film = cv2.VideoWriter(str(f / "film.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 5, (320, 240))
    film.write(grey)
    film.release()
    (f / "cut.mp4").write_bytes(b"\x00\x00\x00\x18ftypmp42" + bytes(400))
    return f


@pytest.fixture
def port() -> Iterator[int]:
    """A port that somebody else has."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        yield taken.getsockname()[1]


@pytest.mark.parametrize("row", ROWS)
def test_it_is_one_sentence(row: str, folder: Path, port: int) -> None:
    code, said = ROWS[row]
    result = bastide(*row.format(f=folder, p=port).split())
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr and "unexpected" not in result.stderr
    lines = [x for x in result.stderr.splitlines() if not x.startswith("Red and Blue are seated")]
    assert len(lines) == 1 and lines[0].startswith("bastide"), result.stderr
    for part in said:
        assert part.format(p=port) in lines[0]


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    many = [str(folder / "game.json")] * 200
    with subprocess.Popen([sys.executable, "-m", "bastide", "score", "--json", *many], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as run:
        assert run.stdout is not None and run.stderr is not None
        late = threading.Timer(60, run.kill)
        late.start()
        run.stdout.readline()
        run.stdout.close()
        assert "Traceback" not in run.stderr.read()
        late.cancel()
