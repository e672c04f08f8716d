"""Usage errors: one sentence that names the file and the place, the right exit code, never a traceback."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from PIL import Image

from bastide.cli import VERBS, asked, main, parser
from bastide.table.demo_game import demo_game
from reading.record import read_looks
from scoring.transcript import write
from vision.frames import Frame, SourceError, SourceInfo
from vision.images import write_image
from vision.simulator.pieces import colour_bgr

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of everything that can be wrong."""
    folder = tmp_path_factory.mktemp("files")
    game = write(demo_game(3, turns=4))
    (folder / "game.json").write_text(json.dumps(game), "utf-8")
    (folder / "game.json.gz").write_bytes(gzip.compress(json.dumps(game).encode()))
    (folder / "cut.json.gz").write_bytes(gzip.compress(json.dumps(game).encode())[:-30])
    (folder / "text.json").write_text("{ this is no JSON", "utf-8")
    (folder / "list.json").write_text("[1, 2]", "utf-8")
    (folder / "latin.json").write_bytes(b'{"name": "J\xf6rg"}')
    missing = json.loads(json.dumps(game))
    del missing["turns"][2]["moves"][0]["at"]
    (folder / "missing.json").write_text(json.dumps(missing), "utf-8")
    unknown = json.loads(json.dumps(game))
    unknown["turns"][1]["moves"][0]["tile"] = "base.Ω"
    (folder / "unknown.json").write_text(json.dumps(unknown), "utf-8")
    (folder / "players.json").write_text('[{"name": "A", "colour": "red"}, {"colour": "blue"}]', "utf-8")
    (folder / "mauve.json").write_text('[{"name": "A", "colour": "mauve"}]', "utf-8")
    (folder / "twice.json").write_text('[{"colour": "red"}, {"colour": "red"}]', "utf-8")
    (folder / "nobody.json").write_text("[]", "utf-8")
    (folder / "number.json").write_text('[{"name": 7, "colour": "red"}]', "utf-8")
    zipfile.ZipFile(folder / "empty.zip", "w").close()
    write_image(str(folder / "picture.png"), np.full((90, 120, 3), 90, np.uint8))
    (folder / "broken.png").write_bytes(b"\x89PNG and no more")
    (folder / "nothing.jpg").write_bytes(b"")
    for name in ("empty", "odd", "blind", "oblong"):
        (folder / name).mkdir()
    write_image(str(folder / "odd" / "base.D.png"), np.full((64, 64, 3), 90, np.uint8))
    write_image(str(folder / "odd" / "base.Q9.png"), np.full((64, 64, 3), 90, np.uint8))
    (folder / "blind" / "base.D.png").write_bytes(b"no picture")
    write_image(str(folder / "oblong" / "base.D.png"), np.full((64, 99, 3), 90, np.uint8))
    return folder


WRONG: list[tuple[str, int, tuple[str, ...]]] = [
    # score
    ("score {f}/none.json", 2, ("none.json", "no such file")),
    ("score {f}", 2, ("is a folder",)),
    ("score {f}/text.json", 2, ("text.json", "line 1")),
    ("score {f}/latin.json", 2, ("latin.json", "UTF-8")),
    ("score {f}/cut.json.gz", 2, ("cut.json.gz", "truncated")),
    ("score {f}/list.json", 2, ("list.json", "must be an object")),
    ("score {f}/missing.json", 2, ("missing.json", "turns[2].moves[0].at: is missing")),
    ("score {f}/unknown.json", 2, ("unknown.json", "turns[1].moves[0].tile", "base.Ω")),
    ("score {f}/game.json --edition mine", 2, ("'mine'", "zman2012", "rgg2006")),
    ("score {f}/game.json --rule farm=yes", 2, ("'farm'", "farm_scoring")),
    ("score {f}/game.json --rule farm_scoring=often", 2, ("'often'", "per_farm")),
    ("score {f}/game.json --rule farm_scoring", 2, ("NAME=VALUE",)),
    ("score", 2, ("TRANSCRIPT",)),
    ("scroe {f}/game.json", 2, ("scroe", "score")),
    # read
    ("read {f}/none.jpg", 2, ("none.jpg", "no such file")),
    ("read {f}", 2, ("is a folder",)),
    ("read {f}/text.json", 2, ("text.json", "not a picture")),
    ("read {f}/broken.png", 2, ("broken.png", "not a picture")),
    ("read {f}/nothing.jpg", 2, ("nothing.jpg", "not a picture")),
    ("read {f}/picture.png --tiles {f}/none", 2, ("none",)),
    ("read {f}/picture.png --tiles {f}/empty", 2, ("empty", "no pictures")),
    ("read {f}/picture.png --tiles {f}/odd", 2, ("base.Q9.png",)),
    ("read {f}/picture.png --tiles {f}/blind", 2, ("base.D.png", "not a picture")),
    ("read {f}/picture.png --tiles {f}/oblong", 2, ("base.D.png", "64")),
    ("read {f}/picture.png --expansions moon", 2, ("--expansions", "moon", "river")),
    ("read {f}/picture.png --calibration {f}/text.json", 2, ("text.json", "line 1")),
    # watch
    ("watch --source folder:{f}/empty --out {o}/a.json", 2, ("empty", "no pictures")),
    ("watch --source folder:{f}/none --out {o}/a.json", 2, ("none",)),
    ("watch --source video:{f}/none.mp4 --out {o}/a.json", 2, ("none.mp4",)),
    ("watch --source video:{f}/text.json --out {o}/a.json", 2, ("text.json",)),
    ("watch --source sim:transcript={f}/none.json --out {o}/a.json", 2, ("none.json",)),
    ("watch --source sim:transcript={f}/missing.json --out {o}/a.json", 2, ("missing.json", "at: is missing")),
    ("watch --source sim:transcript={f}/game.json&fog=1 --out {o}/a.json", 2, ("fog", "level")),
    ("watch --source moon:1 --out {o}/a.json", 2, ("moon:1", "usb:N")),
    ("watch --source usb:97 --out {o}/a.json", 1, ("USB camera 97",)),
    ("watch --source folder:{f} --out {o}/none/a.json", 2, ("none",)),
    ("watch --source folder:{f} --players {f}/mauve.json --out {o}/a.json", 2, ("mauve.json", "player 1", "'mauve'")),
    ("watch --source folder:{f} --players {f}/twice.json --out {o}/a.json", 2, ("twice.json", "same colour")),
    ("watch --source folder:{f} --players {f}/nobody.json --out {o}/a.json", 2, ("nobody.json", "list of players")),
    ("watch --source folder:{f} --first base.Q9 --out {o}/a.json", 2, ("base.Q9",)),
    ("watch --source folder:{f}", 2, ("--out",)),
    # demo and serve
    ("demo --turns 0", 2, ("--turns",)),
    ("demo --speed -1", 2, ("--speed",)),
    ("demo --port 70000", 2, ("70000",)),
    ("serve --port often", 2, ("often",)),
    ("serve --data {f}/game.json --port 0", 1, ("game.json", "is a file, not a folder")),
    ("serve --data {o}/d --port 8455 --https 8455", 2, ("--https 8455", "8443")),
    ("serve --data {o}/d --port 0 --allowed-host http://x/y", 2, ("--allowed-host", "http://x/y", "name of a host")),
    ("serve --data {o}/d --port 0 --tiles {f}/game.json", 2, ("game.json is a file, not a folder of tile pictures",)),
    ("serve --data {o}/d --port 0 --players {f}/number.json", 2, ("number.json", "player 1", "name must be text")),
    ("hub --data {o}/d --port 0 --allowed-host http://x/y", 2, ("--allowed-host", "http://x/y", "name of a host")),
    # teaching, calibrating, printing, keeping
    ("teach {f}/picture.png --out {o}", 2, ("picture.png",)),
    ("calibrate lens {f}/picture.png --out {o}/lens.json", 1, ("seen in 0 of 1 pictures", "--board")),
    ("aim --source {f}/none.jpg", 2, ("none.jpg", "no such file")),
    ("aim --source {f}/picture.png --count 0", 2, ("--count", "from 1")),
    ("aim --source usb:97", 1, ("USB camera 97",)),
    ("calibrate lens --out {o}/lens.json", 2, ("needs pictures",)),
    ("calibrate lens {f}/none.jpg --out {o}/lens.json", 2, ("none.jpg", "no such file")),
    ("calibrate lens {f}/picture.png --board chess --out {o}/lens.json", 2, ("--board chess", "charuco:11x8:20:15")),
    ("calibrate lens {f}/picture.png --camera leica --out {o}/lens.json", 2, ("--camera leica", "module3-wide")),
    ("calibrate table --source usb:97 --mat --out {o}/table.json --json", 1, ("USB camera 97",)),
    ("calibrate table --source {f}/picture.png --mat --out {o}/table.json", 1, ("the mat", "corner cards")),
    ("calibrate table --source {f}/picture.png --lens {f}/game.json --out {o}/a.json", 2, ("game.json", "format")),
    ("calibrate table --mat --out {o}/table.json", 2, ("--source",)),
    ("calibrate colours --source {f}/none.jpg --out {o}/a.json", 2, ("none.jpg", "no such file")),
    ("watch --source folder:{f} --calibration {f}/game.json --out {o}/a.json", 2, ("game.json", "calibration")),
    ("print mat --paper A4 --out {o}/none/mat.pdf", 2, ("mat.pdf", "does not exist")),
    ("backup --data {f} --out {o}/all.zip", 2, ("no log",)),
    ("restore {f}/all.zip --data {o}/new", 2, ("all.zip", "no such file")),
    ("restore {f}/empty.zip --data {o}/new", 2, ("is no whole backup of bastide (There is no item named",)),
    ("support --replay {f}/empty.zip", 2, ("empty.zip: is no support file with a game in it",)),
    ("export {f}/game.json --to png --out {o}/none/game.png", 1, ("game.png", "cannot be written")),
    ("export {f}/missing.json --to csv --out {o}/game.csv", 2, ("missing.json", "at: is missing")),
    ("export {f}/game.json --to csv --out {o}/none/game.csv", 1, ("game.csv", "cannot be written")),
]


@pytest.mark.parametrize(("line", "code", "said"), WRONG, ids=[w[0] for w in WRONG])
def test_an_error_is_one_sentence(line: str, code: int, said: tuple[str, ...], run: Run, files: Path,
                                  tmp_path: Path) -> None:
    got, out, err = run(*[word.format(f=files, o=tmp_path) for word in line.split()])
    sentences = [s for s in err.splitlines() if s.startswith("bastide")]
    assert (got, out) == (code, "")
    assert len(sentences) == 1, err
    assert "Traceback" not in err and "unexpected" not in err
    assert not [part for part in said if part not in sentences[0]], err


def test_a_demo_names_the_levels_it_knows(run: Run) -> None:
    code, _, err = run("demo", "--once", "--level", "soft")
    assert code == 2 and "must be one of easy, normal, hard, life, slides" in err


def test_a_port_in_use_is_said(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        code, _, err = run("demo", "--once", "--turns", 1, "--port", port)
    assert code == 1
    assert f"port {port} is in use" in err and len(err.splitlines()) == 1


def test_an_unexpected_error_is_one_sentence_too(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(*args: object, **more: object) -> None:
        raise ZeroDivisionError("so it goes")
    monkeypatch.setattr("bastide.commands.score_command.score_game", bad)
    code, _, err = run("score", files / "game.json")
    assert code == 1
    assert "so it goes" in err and "--debug" in err and len(err.splitlines()) == 1
    with pytest.raises(ZeroDivisionError):
        run("--debug", "score", files / "game.json")


def test_score_writes_one_document_per_transcript(run: Run, files: Path) -> None:
    code, out, err = run("score", files / "game.json", files / "game.json.gz", "--json")
    assert (code, err) == (0, "")
    one, two = (json.loads(line) for line in out.splitlines())
    assert {**one, "file": ""} == {**two, "file": ""}
    assert list(one) == ["file", "totals", "turns", "final", "winners", "issues"]
    assert len(one["turns"]) == 4


def test_rules_on_the_command_line_win(run: Run, files: Path, tmp_path: Path) -> None:
    game = json.loads((files / "game.json").read_text("utf-8"))
    game["setup"]["rules"] = {"farm_points_per_city": 4}
    (tmp_path / "game.json").write_text(json.dumps(game), "utf-8")
    _, plain, _ = run("score", tmp_path / "game.json", "--rule", "farmers_enabled=false", "--json")
    _, none, _ = run("score", files / "game.json", "--rule", "farmers_enabled=false", "--json")
    assert json.loads(plain)["totals"] == json.loads(none)["totals"]


class _Stops:
    """A source that fails after some frames."""

    def __init__(self, frames: int) -> None:
        self.info = SourceInfo(uri="http://table/", model="stops", width=320, height=180, live=True)
        self._left = frames

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        if not self._left:
            raise SourceError("no picture came from http://table/ for 5 s")
        self._left -= 1
        return Frame(id=self._left, t_s=0.0, source=self.info.uri, bgr=np.full((180, 320, 3), 90, np.uint8))


def test_a_source_that_stops_keeps_what_was_seen(run: Run, files: Path, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.camera.opening.open_source", lambda uri: _Stops(5))
    out = tmp_path / "game.json"
    code, said, err = run("watch", "--source", "http://table/", "--players", files / "players.json", "--out", out,
                          "--json")
    assert code == 1
    assert "no picture came from http://table/ for 5 s" in err.splitlines()[-1]
    assert json.loads(said)["frames"] == 5
    assert json.loads(out.read_text("utf-8"))["turns"] == []


@pytest.fixture(scope="module")
def watched(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], Path]]:
    """Four turns on an easy table, watched."""
    out = tmp_path_factory.mktemp("watched") / "seen.json"
    source = f"sim:transcript={files / 'game.json'}&seed=2&level=easy&size=1152x648"
    record = out.with_name("looks.jsonl.gz")
    record.write_text("of another game", "utf-8")
    assert main(["watch", "--source", source, "--out", str(out), "--record", str(record), "--json"]) == 0
    yield json.loads(out.read_text("utf-8")), out


def test_watch_writes_what_happened(watched: tuple[dict[str, Any], Path], files: Path, run: Run) -> None:
    """Tiles and followers are those of the game that was played, each with confidence and frame."""
    seen, out = watched
    played = json.loads((files / "game.json").read_text("utf-8"))
    extra = ("confidence", "frame", "asked")
    moves = [[{k: v for k, v in m.items() if k not in extra} for m in t["moves"]] for t in seen["turns"]]
    assert moves == [t["moves"] for t in played["turns"]]
    assert all(0 < m["confidence"] <= 1 and m["frame"] > 0 for t in seen["turns"] for m in t["moves"])
    _, scored, _ = run("score", out, "--json")
    document = json.loads(scored)
    assert seen["expect"]["totals"] == document["totals"]
    assert [t["expect"]["score"] for t in seen["turns"]] == document["turns"]


def test_watch_records_what_was_seen(watched: tuple[dict[str, Any], Path]) -> None:
    seen, out = watched
    about, looks = read_looks(out.with_name("looks.jsonl.gz"))
    laid = sum(m["do"] == "tile" for t in seen["turns"] for m in t["moves"])
    assert about["setup"] == seen["setup"] and len({at for look in looks for at in look.squares}) > laid


def test_export_as_csv_adds_up(run: Run, files: Path, tmp_path: Path) -> None:
    code, _, _ = run("export", files / "game.json", "--to", "csv", "--out", tmp_path / "scores.csv")
    assert code == 0
    rows = [line.split(",") for line in (tmp_path / "scores.csv").read_text("utf-8").splitlines()[1:]]
    _, out, _ = run("score", files / "game.json", "--json")
    assert sum(int(r[2]) for r in rows) == sum(json.loads(out)["totals"])


def test_export_as_table_and_picture_show_what_score_says(run: Run, files: Path, tmp_path: Path) -> None:
    _, out, _ = run("score", files / "game.json", "--json")
    totals, winners = (json.loads(out)[k] for k in ("totals", "winners"))
    assert run("export", files / "game.json", "--to", "table", "--out", tmp_path / "scores.txt")[0] == 0
    names, *rows, total, _ = (tmp_path / "scores.txt").read_text("utf-8").splitlines()
    assert total.split()[1:] == [f"{n}{'*' if k in winners else ''}" for k, n in enumerate(totals)]
    assert len(names.split()) == len(totals)
    assert [sum(int(row.split()[k - len(totals)]) for row in rows) for k in range(len(totals))] == totals
    assert run("export", files / "game.json", "--to", "png", "--out", tmp_path / "game.png")[0] == 0
    with Image.open(tmp_path / "game.png") as card:
        assert card.format == "PNG" and card.width >= 560
        seen = {colour for _, colour in card.convert("RGB").getcolors(1 << 24) or ()}
    assert {tuple(reversed(colour_bgr(p["colour"])))
            for p in json.loads((files / "game.json").read_text())["setup"]["players"]} <= seen


def test_doctor_and_rules_print_one_document(run: Run) -> None:
    code, out, _ = run("doctor", "--json")
    assert code == 0 and {c["state"] for c in json.loads(out)["checks"]} <= {"ok", "warn"}
    code, out, _ = run("rules", "--edition", "rgg2006", "--json")
    assert code == 0 and json.loads(out)["farm_scoring"]["source"]


def test_a_command_loads_no_other_commands_modules() -> None:
    program = ("import sys\nfrom bastide.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
               "print('loaded', *sorted(m for m in sys.modules if m.startswith('bastide.commands.')))")

    def loaded(*argv: str) -> str:
        done = subprocess.run([sys.executable, "-c", program, *argv], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.splitlines()[-1].removeprefix("loaded").strip()

    assert loaded("--version") == ""
    assert loaded("--debug", "score", "--help") == "bastide.commands.score_command"
    assert loaded("rules") == "bastide.commands.rules_command"


@pytest.mark.parametrize("line", ["", "--help", "--vers", "--version", "--version score", "--debug", "-- score", "scor",
                                  "--help score", "--debug score --help", "score --version", "rules --nothing", "--no"])
def test_the_verb_alone_says_the_same_as_all_of_them(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for verbs in (VERBS, asked(line.split())):
        with pytest.raises(SystemExit) as ended:
            parser(verbs).parse_args(line.split())
        said.append((ended.value.code, *capsys.readouterr()))
    assert said[0] == said[1]


def test_a_room_from_elsewhere_is_noticed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.cli.ROOMS", ("scoring", "json"))
    code, _, err = run("doctor")
    assert code == 1 and "the package json/ is imported from" in err
