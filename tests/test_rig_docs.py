"""docs/rig.md and docs/cameras.md: every command runs, every figure is recomputed, every option is there."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest
from doc_commands import ROOT, commands, commands_of, run_commands

from calibration.presets import PRESETS
from calibration.targets import TILE_MM
from hardware import panel, pi, usb

RIG, CAMERAS = ROOT / "docs/rig.md", ROOT / "docs/cameras.md"
# these are run by tests/install/run_install.sh and run_booted.sh
UPDATES = "sudo /opt/bastide/hardware/update.sh"
INSTALLS = ("sudo hardware/install.sh", UPDATES, "sudo systemctl", "sudo cp", "sudo sed", "journalctl")
STICK = ("sudo sh", "sudo mount")  # need one
VIRTUAL = ("sudo tests/pi/run_virtual.sh",)  # makes a root of its own
PIXELS = {"Camera Module 3": 2304, "Camera Module 3 Wide": 2304, "Camera Module 2": 1640}  # what pi.py chooses


def rows(text: str, first: str) -> list[list[str]]:
    """The rows of the table whose header begins with these cells."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {first}"))
    out = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        out.append([cell.strip() for cell in line.strip("|").split("|")])
    return out


def fov(camera: str) -> tuple[float, float]:
    return next(p.fov_deg for p in PRESETS if p.title == camera)


def test_the_heights_are_what_the_arithmetic_says() -> None:
    table = rows(RIG.read_text("utf-8"), "camera | field of view")
    assert len(table) == 7
    for camera, angles, height, sees, tiles, px in table:
        h, v = fov(camera)
        assert angles == f"{h:g} x {v:g} degrees"
        cm = [2 * float(height.split()[0]) * math.tan(math.radians(a) / 2) for a in (h, v)]
        assert sees == f"{cm[0]:.0f} x {cm[1]:.0f} cm"
        counts = [math.floor(c * 10 / TILE_MM + 0.05) for c in cm]
        assert tiles == f"{counts[0]} x {counts[1]}"
        assert px == f"{PIXELS[camera] / (cm[0] * 10 / TILE_MM):.0f}"


def test_the_lowest_heights_are_what_the_arithmetic_says() -> None:
    table = rows(RIG.read_text("utf-8"), "camera | 16 x 12")
    for camera, needed, comfortable in table:
        tangents = [math.tan(math.radians(a) / 2) for a in fov(camera)]
        for said, (columns, lines) in ((needed, (16, 12)), (comfortable, (20, 14))):
            height = max(columns * TILE_MM / 20 / tangents[0], lines * TILE_MM / 20 / tangents[1])
            assert said == f"{math.ceil(height - 0.05)} cm", (camera, height)


def test_the_wiring_is_the_driver_s() -> None:
    table = rows(RIG.read_text("utf-8"), "what | pin")
    header = {11: 17, 13: 27}  # physical pin to BCM number, from the Pi's own pinout
    said = {int(pin): number for _, pin, number in table}
    assert {pin: said[pin] for pin in header} == {11: str(panel.LIGHT_PIN), 13: str(panel.BUTTON_PIN)}
    assert all(header[pin] == int(said[pin]) for pin in header)


def test_the_options_of_cameras_are_all_named() -> None:
    text = CAMERAS.read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(text, "option"))))
    assert named == {"size", *pi.OPTIONS}
    webcam = text[text.index("## A webcam"):text.index("## A phone")]
    assert all(f"{option}=" in webcam for option in usb.OPTIONS)


def test_every_install_command_is_one_that_the_fresh_system_runs() -> None:
    script = (ROOT / "hardware/install.sh").read_text("utf-8")
    for line in commands(RIG):
        if line.startswith("sudo hardware/install.sh"):
            assert all(f"{o})" in script for o in re.findall(r"--\w+", line)), line
        elif line.startswith(("sudo cp", "sudo sed")):
            assert "/bastide" in line  # run_install.sh runs those of calibrating as they are
        elif line.startswith(UPDATES):  # tests/hardware/test_update_file.py, run_package.sh
            assert line.endswith((".deb", " --back"))
        elif line.startswith(INSTALLS):
            assert "bastide" in line.split() or "--namespace=bastide" in line, line


def test_the_lines_for_a_second_medium_name_what_the_installer_makes(tmp_path: Path) -> None:
    text = RIG.read_text("utf-8")
    section = text[text.index("### A backup after each game"):]
    table, mount, options = commands_of(section)[:3]
    folder = mount.removeprefix("sudo mount ")
    assert f"install -d -m 750 -o bastide -g bastide {folder} " in (ROOT / "hardware/install.sh").read_text("utf-8")
    assert len(table.split('"')[1].split()) == 6 and folder == table.split('"')[1].split()[1]
    settings = tmp_path / "bastide.conf"
    settings.write_text("BASTIDE_SOURCE=usb:0\nBASTIDE_OPTIONS=--light 17\n", "utf-8")
    line = options.removeprefix("sudo ").replace("/etc/bastide/bastide.conf", str(settings))
    subprocess.run(["sh", "-c", line], check=True)
    assert settings.read_text("utf-8") == f"BASTIDE_SOURCE=usb:0\nBASTIDE_OPTIONS=--light 17 --backup-to {folder}\n"


def test_the_commands_of_the_rig(tmp_path: Path) -> None:
    elsewhere = INSTALLS + STICK + (() if shutil.which("openscad") else ("openscad",))
    without_pins = {" --light 17 --button 27": ""}  # tests/bastide/test_service.py has them on mock pins
    ran = run_commands(RIG, tmp_path, without_pins, elsewhere)
    assert sum("bastide print" in line for line in ran) == 5 and any("bastide serve" in line for line in ran)
    assert {f.name for f in tmp_path.glob("*.pdf")} >= {"cards.pdf", "mat.pdf", "charuco.pdf", "teaching.pdf", "qr.pdf"}


def test_the_commands_of_the_cameras(tmp_path: Path) -> None:
    (tmp_path / "players.json").write_text(json.dumps([{"name": "Ada", "colour": "red"}]), "utf-8")
    (tmp_path / "evening").mkdir()
    film = cv2.VideoWriter(str(tmp_path / "film.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 5, (320, 240))
    for n in range(3):
        grey = np.full((240, 320, 3), 90, np.uint8)
        film.write(grey)
        cv2.imwrite(str(tmp_path / "evening" / f"{n}.png"), grey)
    film.release()
    (tmp_path / "film.avi").rename(tmp_path / "evening.mp4")
    ran = run_commands(CAMERAS, tmp_path, {"192.168.178.30": "127.0.0.1"}, VIRTUAL)
    assert len(ran) == 9 and (tmp_path / "game.json").exists()


@pytest.mark.parametrize("document", [RIG, CAMERAS], ids=["rig", "cameras"])
def test_every_block_of_commands_is_marked_as_such(document: Path) -> None:
    fences = re.findall(r"^```(\w*)$", document.read_text("utf-8"), re.MULTILINE)
    assert fences and all(f == "sh" for f in fences[::2])
