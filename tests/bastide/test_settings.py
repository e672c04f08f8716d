"""Settings of the page: one description, validated, kept, reset; the command line wins; nothing set locks anybody out.
"""

from __future__ import annotations

import argparse
import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import PIN, Served

from bastide.errors import UsageError
from bastide.files.keys import KeyFile, set_pins
from bastide.settings.options import NAMED, OPTIONS, add_arguments, in_force, read_value
from bastide.settings.page_settings import NAME, Settings, SettingsFile, without_passwords
from vision.images import write_image
from web.protocol import CommandError

LANGUAGES = {"en", "de", "fr"}


def parsed(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(argv)


def settings(folder: Path, *argv: str, environment: dict[str, str] | None = None,
             **more: Any) -> tuple[Settings, list[str]]:
    """The settings of a folder as shown by a table served with this command line, and the requests to it."""
    args, asked = parsed(*argv), list[str]()
    file = SettingsFile(folder)
    now = in_force(args, environment or {}, file.values)
    return Settings(file, args, environment or {}, now, lambda: asked.append("again"), **more), asked


def row(state: dict[str, Any], name: str) -> dict[str, Any]:
    return next(r for r in state["options"] if r["name"] == name)


def test_every_option_is_described_in_every_language_and_says_what_it_takes() -> None:
    for o in OPTIONS:
        assert set(o.title) == set(o.help) == LANGUAGES, o.name
        assert all(o.title.values()) and all(o.help.values())
        assert o.kind != "number" or (o.least is not None and o.most is not None)
        assert o.kind != "choice" or o.choices
    assert len({o.name for o in OPTIONS}) == len(OPTIONS)


def test_the_command_line_wins_then_the_environment_then_the_page() -> None:
    kept = {"mqtt": "mqtt://page", "port": 8090, "learn": False, "table": "Page"}
    now = in_force(parsed("--port", "8081", "--learn"), {"BASTIDE_MQTT": "mqtt://env"}, kept)
    assert now.values["port"] == 8081 and now.origin["port"] == "command line"
    assert now.values["learn"] is True and now.origin["learn"] == "command line"
    assert now.values["mqtt"] == "mqtt://env" and now.origin["mqtt"] == "environment"
    assert now.values["table"] == "Page" and now.origin["table"] == "page"
    assert now.values["host"] == "0.0.0.0" and now.origin["host"] == "default"
    alone = in_force(parsed(), {"BASTIDE_TABLE": "Env"}, {"mqtt-commands": True})
    assert alone.values["table"] is None and alone.values["mqtt-commands"] is False  # without a broker: nothing


@pytest.mark.parametrize(("name", "value"), [
    ("port", 0), ("port", 70000), ("port", "8000"), ("port", True), ("learn", 1), ("light", 28), ("source", "usb"),
    ("source", "nothing:1"), ("source", ""), ("source", ["usb:0"]), ("edition", "none"), ("rule", "farms=1"),
    ("rule", ["nothing=1"]), ("expansions", "moon"), ("first", "base.?"), ("allowed-host", ["a b"]),
    ("allowed-host", ["-x"]), ("mqtt", "http://x"), ("players", "/none.json"), ("tiles", "/none"),
    ("calibration", ["/none.json"]), ("mqtt-ca", "/none"), ("source", "usb:0\nusb:1"), ("table", "x" * 200),
    ("offer-camera", ["usb:0"] * 40)])
def test_what_cannot_be_meant_is_refused_in_one_sentence(name: str, value: object) -> None:
    with pytest.raises(UsageError) as refused:
        read_value(NAMED[name], value)
    assert str(refused.value) and "\n" not in str(refused.value)


def test_settings_are_kept_for_their_owner_and_taken_back_one_by_one(tmp_path: Path) -> None:
    found, asked = settings(tmp_path)
    state = found.put("port", 8090)
    assert state["waiting"] == ["port"] and row(state, "port")["value"] == 8000 and row(state, "port")["kept"] == 8090
    found.put("learn", False)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert found.restart()["port"] == 8090 and asked == ["again"]
    again, _ = settings(tmp_path)
    assert row(again.state(), "port")["value"] == 8090 and again.state()["waiting"] == []
    assert row(again.reset("port"), "port")["waits"] and again.value("port") == 8000 and again.value("learn") is False
    with pytest.raises(CommandError):
        again.put("host", "127.0.0.1")  # on the page it could only lock people out


def test_what_needs_no_restart_holds_at_once_and_the_command_line_holds_on(tmp_path: Path) -> None:
    taken = list[Any]()
    found, _ = settings(tmp_path, live={"allowed-host": taken.append})
    assert found.put("allowed-host", ["table.example.org"])["waiting"] == [] and taken == [["table.example.org"]]
    found.reset("allowed-host")
    assert taken[-1] == []
    fixed, _ = settings(tmp_path, "--allowed-host", "a.example", "--port", "8001", live={"allowed-host": taken.append})
    state = fixed.put("port", 8090)
    assert row(state, "port")["origin"] == "command line" and state["waiting"] == []
    fixed.put("allowed-host", ["b.example"])
    assert taken[-1] == [] and fixed.value("allowed-host") == ["a.example"]


def test_what_does_not_go_together_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    def check(args: argparse.Namespace) -> None:
        if args.port == 8090:
            raise UsageError("that port is somebody's")
    found, _ = settings(tmp_path, check=check)
    with pytest.raises(CommandError) as refused:
        found.put("port", 8090)
    assert refused.value.text == "that port is somebody's" and SettingsFile(tmp_path).values == {}


def test_passwords_are_neither_shown_nor_carried_away_nor_lost_by_saving_again(tmp_path: Path) -> None:
    found, _ = settings(tmp_path)
    secret = "http://anna:geheim@192.168.1.9:8080/video"
    state = found.put("source", secret)
    shown = row(state, "source")["kept"]
    assert "geheim" not in json.dumps(state) and "192.168.1.9" in shown
    found.put("source", shown)
    assert found.value("source") == secret
    text = without_passwords(tmp_path)
    assert text is not None and "geheim" not in text and json.loads(text)["values"]["source"] == shown


@pytest.mark.parametrize("content", ["", "[]", "{", '{"version": 9, "values": {}, "served": {}}', "[" * 100_000,
                                     '{"version": 1, "values": [], "served": {}}'])
def test_a_spoiled_file_is_set_aside_and_said(tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).write_text(content, "utf-8")
    assert SettingsFile(tmp_path).values == {} and not (tmp_path / NAME).exists()
    assert (tmp_path / "settings.damaged.json").exists() and "settings.damaged.json" in caplog.text


def test_values_of_another_shape_or_an_unknown_option_are_left_out(tmp_path: Path) -> None:
    values = {"port": "8000", "learn": False, "moon": 1, "host": "1.2.3.4", "rule": ["a", 1]}
    (tmp_path / NAME).write_text(json.dumps({"version": 1, "values": values, "served": {}}), "utf-8")
    assert SettingsFile(tmp_path).values == {"learn": False}


def test_a_setting_that_cannot_be_served_with_is_put_back_and_the_page_says_so(tmp_path: Path) -> None:
    """The same process restarts, and falls back to the last working settings."""
    data, pictures = tmp_path / "data", tmp_path / "pictures"
    pictures.mkdir()
    set_pins(KeyFile(data), table=PIN, admin="907143")
    with Served("serve", "--host", "127.0.0.1", "--port", 0, "--data", data) as served:
        assert served.send("POST", "api/settings", {"do": "look"})["error"]["code"] == "admin_needed"
        served.sign_in("907143")
        served.send("POST", "api/settings", {"do": "set", "name": "learn", "value": False})
        told = served.send("POST", "api/settings", {"do": "set", "name": "source", "value": f"folder:{pictures}"})
        assert set(told["waiting"]) == {"learn", "source"}
        assert served.send("POST", "api/settings", {"do": "restart"})["restarting"]
        served.begun_again()  # a folder without pictures is no camera
        after = served.send("POST", "api/settings", {"do": "look"})
        assert str(pictures) in after["note"] and row(after, "source")["kept"] is None
        assert row(after, "learn")["kept"] is None  # it was never served with either
        write_image(str(pictures / "1.png"), np.full((360, 640, 3), 118, np.uint8))
        served.send("POST", "api/settings", {"do": "set", "name": "source", "value": f"folder:{pictures}"})
        served.send("POST", "api/settings", {"do": "restart"})
        served.begun_again()
        assert row(served.send("POST", "api/settings", {"do": "look"}), "source")["origin"] == "page"
        assert served.end() == 0
    (pictures / "1.png").unlink()  # it was served with, and is gone: the page comes up without it, and it is kept
    with Served("serve", "--host", "127.0.0.1", "--port", 0, "--data", data) as served:
        assert served.get()["version"] == 0 and any("were rejected" in line for line in served.lines)
        assert served.end() == 0
    assert SettingsFile(data).values == {"source": f"folder:{pictures}"}
