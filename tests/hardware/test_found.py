"""Which of a machine's video devices are cameras that somebody has plugged in."""

from __future__ import annotations

from pathlib import Path

from hardware.found import plugged_in, webcams


def node(root: Path, number: int, name: str, bus: str, index: int = 0) -> None:
    """A video device as sysfs shows it."""
    device = root / "sys/devices" / bus
    device.mkdir(parents=True, exist_ok=True)
    here = root / "sys/class/video4linux" / f"video{number}"
    here.mkdir(parents=True)
    (here / "name").write_text(f"{name}\n", "utf-8")
    (here / "index").write_text(f"{index}\n", "utf-8")
    (here / "device").symlink_to(device)


def test_webcams_are_told_from_decoders_and_from_their_own_metadata(tmp_path: Path) -> None:
    node(tmp_path, 10, "bcm2835-codec-decode", "platform/bcm2835-codec")
    node(tmp_path, 0, "HD Pro Webcam C920", "platform/scb/pci0000:00/usb1/1-1/1-1.1:1.0")
    node(tmp_path, 1, "HD Pro Webcam C920", "platform/scb/pci0000:00/usb1/1-1/1-1.1:1.0", index=1)
    node(tmp_path, 12, "", "platform/scb/pci0000:00/usb2/2-1/2-1:1.0")
    (tmp_path / "sys/class/video4linux/video7").mkdir()  # a device that went while it was looked at
    assert [(f.uri, f.name) for f in webcams(tmp_path)] == [("usb:0", "HD Pro Webcam C920"), ("usb:12", "USB camera")]


def test_ribbon_cables_come_first_and_a_machine_without_cameras_has_none(tmp_path: Path) -> None:
    node(tmp_path, 3, "Cam", "usb1/1-1")
    found = plugged_in(tmp_path, lambda: [(0, "Camera Module 3")])
    assert [(f.uri, f.name) for f in found] == [("picamera:0", "Camera Module 3"), ("usb:3", "Cam")]
    assert plugged_in(tmp_path / "empty", lambda: []) == []
