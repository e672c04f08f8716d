"""Doctor, logs and the support file."""

from __future__ import annotations

import json
import logging
import random
import socket
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from processes import bastide

from bastide.backup.support import replay, write_support
from bastide.errors import UsageError
from bastide.files import logs
from bastide.files.keys import KeyFile, set_pins
from bastide.files.logs import FILE, FILE_BYTES, FILES, clean, logging_to
from bastide.log.store import Store
from bastide.machine.health import Line, clock, memory, ports, power, report, storage, temperature
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from vision.stills import Still


def one(lines: object) -> Line:
    (line,) = list(lines)  # type: ignore[call-overload]
    assert isinstance(line, Line) and (line.state == "ok") == (not line.do) and "\n" not in line.text
    return line


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8")


@pytest.mark.parametrize(("bits", "state", "word"), [
    ("0", "ok", "fine"), ("0x50005", "fail", "now"), ("0x50000", "warn", "been too low"), ("40000", "warn", "slow")])
def test_undervoltage_as_a_pi_reports_it(tmp_path: Path, bits: str, state: str, word: str) -> None:
    put(tmp_path, "sys/devices/platform/soc/soc:firmware/get_throttled", bits + "\n")
    line = one(power(tmp_path))
    assert line.state == state and word in line.text


@pytest.mark.parametrize(("millidegrees", "state"), [(48000, "ok"), (77000, "warn"), (85000, "fail")])
def test_temperature(tmp_path: Path, millidegrees: int, state: str) -> None:
    put(tmp_path, "sys/class/thermal/thermal_zone0/temp", f"{millidegrees}\n")
    assert one(temperature(tmp_path)).state == state


@pytest.mark.parametrize(("kb", "state"), [(900_000, "ok"), (200_000, "warn"), (50_000, "fail")])
def test_memory(tmp_path: Path, kb: int, state: str) -> None:
    put(tmp_path, "proc/meminfo", f"MemTotal: 4000000 kB\nMemAvailable: {kb} kB\n")
    assert one(memory(tmp_path)).state == state


def test_what_a_machine_does_not_report_is_not_asked(tmp_path: Path) -> None:
    assert [*memory(tmp_path), *temperature(tmp_path), *power(tmp_path)] == []
    assert one(clock(tmp_path)).state == "warn"
    put(tmp_path, "run/systemd/timesync/synchronized", "")
    assert one(clock(tmp_path)).state == "ok"


def test_a_port_that_another_program_has() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        assert one(ports(s.getsockname()[1])).state == "ok"
        s.listen()
        assert one(ports(s.getsockname()[1])).state == "warn"


def played(folder: Path, pictures: bool = False) -> TableSession:
    game = demo_game(5, turns=8)
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        photo = np.random.default_rng(1).integers(0, 255, (300, 400, 3), np.uint8)
        still = Still(jpeg=cv2.imencode(".jpg", photo)[1].tobytes(),
                      poses={(0, 0): np.array([[50.0, 0, 100], [0, 50, 100], [0, 0, 1]])})
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False, still=still if pictures else None)
    return session


def test_the_log_and_the_disk(tmp_path: Path) -> None:
    played(tmp_path)
    lines = {line.what: line for line in storage(tmp_path)}
    assert lines["log"].state == "ok" and "all checksums correct" in lines["log"].text
    assert lines["writing"].state == "ok"
    data = bytearray((tmp_path / "log.sqlite").read_bytes())
    at = data.rindex(b'"camera"')
    data[at + 1] ^= 1
    (tmp_path / "log.sqlite").write_bytes(data)
    assert {line.what: line.state for line in storage(tmp_path)}["log"] == "fail"
    with Store(tmp_path / "log.sqlite"):
        pass
    lines = {line.what: line for line in storage(tmp_path)}
    assert lines["log"].state == "ok" and lines["damaged files"].state == "warn"
    assert report(tmp_path)["state"] in ("warn", "fail") and json.dumps(report(tmp_path))


def test_doctor_says_it_in_lines_and_in_json(tmp_path: Path) -> None:
    played(tmp_path)
    said = bastide("doctor", "--json", "--data", tmp_path, "--port", 0)
    found = json.loads(said.stdout)
    assert said.stderr == "" and found["state"] in ("ok", "warn", "fail")
    assert {"Python", "disk", "writing", "log", "clock"} <= {c["what"] for c in found["checks"]}
    assert all(c["state"] == "ok" or c["do"] for c in found["checks"])


# -- logs -----------------------------------------------------------------------------------------------------------


def test_logs_are_lines_of_json_without_secrets_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 20_000)
    log = logging.getLogger("bastide.test")
    with logging_to(tmp_path):
        log.info("the pin: 4711 and http://anna:hunter2@camera/x", extra={"frame": 7})
        try:
            raise ValueError("token=abcdef")
        except ValueError:
            log.exception("failed", extra={"request": "r1"})
        rows = [json.loads(line) for line in (tmp_path / "logs" / FILE).read_text("utf-8").splitlines()]
        assert rows[0]["frame"] == 7 and rows[0]["level"] == "info" and rows[1]["request"] == "r1"
        assert "ValueError" in rows[1]["error"]
        text = (tmp_path / "logs" / FILE).read_text("utf-8")
        assert not any(secret in text for secret in ("4711", "hunter2", "abcdef"))
        for n in range(90):
            log.info("%d %s", n, "x" * 1000)
    sizes = [p.stat().st_size for p in (tmp_path / "logs").iterdir()]
    assert len(sizes) == FILES and max(sizes) <= 20_000 and sum(sizes) > 40_000
    assert FILES * FILE_BYTES <= 6_000_000
    assert clean("keyboard monkey") == "keyboard monkey"


@pytest.mark.parametrize("text", [
    "--pin 4711 --data x", "X-CSRF-Token: 4711", "Cookie: bastide=4711.a", "Authorization: Basic 4711", "psk=4711",
    "http://cam/v?user=anna&pwd=4711&x=1", "http://4711@cam/", "rtsp://u:47@4711@10.0.0.5/s", "a&loginpas=4711&b=1",
    '{"pin": "4711"}', "passphrase: 4711", "api_key = 4711",
])
def test_what_looks_like_a_secret_is_taken_out(text: str) -> None:
    assert "4711" not in clean(text)


def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("in the way", "utf-8")
    with logging_to(tmp_path):
        logging.getLogger("bastide.test").info("hello")
    assert "cannot be written" in capsys.readouterr().err


# -- support --------------------------------------------------------------------------------------------------------


def test_a_support_file_has_what_helps_and_can_be_played_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    session = played(data, pictures=True)
    set_pins(KeyFile(data), table="4711")
    with logging_to(data):
        logging.getLogger("bastide").info("Anna sat down; %s, /home/anna/x", data)
    conf = tmp_path / "bastide.conf"
    conf.write_text("BASTIDE_OPTIONS=--source http://anna:hunter2@10.0.0.2/v --pin=4711\n", "utf-8")
    with Store(data / "log.sqlite"):  # while it is being used
        names = write_support(data, tmp_path / "s.zip", conf)
    assert {"about.json", "game.json", "settings.conf", f"logs/{FILE}"} < set(names)
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        everything = b"".join(archive.read(n) for n in archive.namelist() if not n.endswith(".jpg"))
        picture = next(n for n in names if n.startswith("board/"))
        seen = cv2.imdecode(np.frombuffer(archive.read(picture), np.uint8), cv2.IMREAD_COLOR)
    assert seen is not None and seen.shape == (96, 96, 3)  # the one tile, nothing around it
    keys = KeyFile(data).get()
    for secret in ("hunter2", "4711", keys.signing, keys.overlay, keys.table or "", "Anna", str(tmp_path), "/anna"):
        assert secret.encode() not in everything, secret
    found = replay(tmp_path / "s.zip")
    assert found["same"] and found["entries"] == len(session.entries) and found["scores"] == list(session.state.scores)
    assert bastide("support", "--replay", tmp_path / "s.zip").returncode == 0


@pytest.mark.parametrize("file", sorted((Path(__file__).parent / "support").glob("*.zip")), ids=lambda f: f.stem)
def test_games_that_somebody_sent_come_to_the_same_scores(file: Path) -> None:
    """A support file added to that folder becomes a test, with its scores corrected."""
    found = replay(file)
    assert found["entries"] > 0 and found["same"], found


def test_a_replay_that_comes_to_something_else_says_so(tmp_path: Path) -> None:
    played(tmp_path)
    write_support(tmp_path, tmp_path / "s.zip", tmp_path / "none")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        game = json.loads(archive.read("game.json"))
    game["final"][0] += 1
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("game.json", json.dumps(game))
    assert not replay(tmp_path / "t.zip")["same"]


def test_what_is_no_support_file_is_one_sentence(tmp_path: Path) -> None:
    rng = random.Random(1)
    played(tmp_path)
    write_support(tmp_path, tmp_path / "s.zip", tmp_path / "none")
    whole = (tmp_path / "s.zip").read_bytes()
    for n in range(30):
        bad = bytearray(whole)
        if n % 2:
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            del bad[rng.randrange(len(bad)):]
        (tmp_path / "bad.zip").write_bytes(bad)
        try:
            assert replay(tmp_path / "bad.zip")["same"]
        except UsageError as e:
            assert "bad.zip" in str(e) and "\n" not in str(e)
