"""A card's image as far as that needs neither a network nor root: Imager's list and its settings, the units, refusals.
tests/install/run_image.sh starts a whole one in an emulator."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from bastide.machine.card import TEMPLATE, read_card
from hardware.imager_list import listed

ROOT = Path(__file__).parents[2]
TREE = ROOT / "hardware/image/overlay"
URL = "https://example.org/bastide/v0.2.0"
# What Imager's os-list-schema.json (draft 7) and its notes ask of an entry, and its HWListModel of a device, in our own
# words (raspberrypi/rpi-imager, doc/json-schema, doc/schema-notes.md, src/hwlistmodel.cpp).
TAGS = [f"pi{n}-{w}bit" for n in range(1, 6) for w in (32, 64)]
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["imager", "os_list"],
    "additionalProperties": False,
    "properties": {"imager": {"type": "object", "required": ["devices"], "properties": {"devices": {
        "type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["name", "description", "tags", "matching_type"],
            "properties": {
                "name": {"type": "string", "minLength": 1}, "description": {"type": "string", "minLength": 1},
                "tags": {"type": "array", "minItems": 1, "items": {"enum": TAGS}},
                "matching_type": {"enum": ["exclusive", "inclusive"]}}}}}},
        "os_list": {"type": "array", "minItems": 1, "items": {
        "type": "object",
        "required": ["name", "description", "icon", "url", "extract_size", "extract_sha256", "image_download_size",
                     "release_date", "devices", "init_format"],
        "properties": {
            "name": {"type": "string", "minLength": 1}, "description": {"type": "string", "minLength": 1},
            "icon": {"type": "string", "pattern": r"\.(svg|png)$"},
            "url": {"type": "string", "pattern": r"\.(xz|gz|zip)$"},
            "extract_size": {"type": "integer", "minimum": 1, "multipleOf": 512},
            "image_download_size": {"type": "integer", "minimum": 1},
            "extract_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "image_download_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "release_date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
            "devices": {"type": "array", "minItems": 1, "items": {"enum": TAGS}},
            "init_format": {"enum": ["none", "systemd", "cloudinit", "cloudinit-rpi"]}}}}}}


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "bastide-0.2.0-trixie-arm64.img.xz"
    path.write_bytes(lzma.compress(bytes(1024) + b"card" * 256))
    return path


def test_imagers_list_says_what_the_image_comes_to_and_that_it_may_be_customised(image: Path) -> None:
    done = subprocess.run([sys.executable, "-I", str(ROOT / "hardware/imager_list.py"), str(image), URL + "/", "0.2.0",
                           "2026-11-22", "pi4-64bit", "pi5-64bit"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    fastjsonschema.compile(SCHEMA)(told)
    entry, whole = told["os_list"][0], lzma.decompress(image.read_bytes())
    assert entry["url"] == f"{URL}/{image.name}" and entry["icon"] == f"{URL}/bastide-0.2.0.svg"
    assert (entry["extract_size"], entry["extract_sha256"]) == (len(whole), hashlib.sha256(whole).hexdigest())
    assert (entry["image_download_size"], entry["image_download_sha256"]) == (
        image.stat().st_size, hashlib.sha256(image.read_bytes()).hexdigest())
    assert entry["init_format"] == "systemd" and entry["devices"] == ["pi4-64bit", "pi5-64bit"]
    # Imager's first page: one of these is chosen, or it goes no further. The second offers what has its tag.
    offered = told["imager"]["devices"]
    assert [d["name"] for d in offered] == ["Raspberry Pi 4", "Raspberry Pi 5"]
    assert [d["tags"] for d in offered] == [[tag] for tag in entry["devices"]]


@pytest.mark.parametrize("wrong", [
    {"models": []}, {"models": ["pi6-64bit"]}, {"url": "bastide"}, {"url": 'https://a/"b'}, {"date": "today"}])
def test_what_no_list_may_say_is_refused(image: Path, wrong: dict[str, Any]) -> None:
    said: dict[str, Any] = {"url": URL, "version": "0.2.0", "date": "2026-11-22", "models": ["pi4-64bit"], **wrong}
    with pytest.raises(ValueError):
        listed(image, **said)


def test_half_an_image_is_in_no_list(image: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.img.xz"
    odd.write_bytes(lzma.compress(bytes(700)))
    with pytest.raises(ValueError, match="no whole card"):
        listed(odd, URL, "0.2.0", "2026-11-22", ["pi4-64bit"])
    image.write_bytes(image.read_bytes()[:-20])
    with pytest.raises((EOFError, lzma.LZMAError)):
        listed(image, URL, "0.2.0", "2026-11-22", ["pi4-64bit"])


PSK = "0123456789abcdef" * 4
SETTINGS = (
    ("set_hostname", "table-2"), ("set_wlan", "-h", 'Our "home" & = Caffè', PSK, "DE"), ("set_keymap", "de"))


def imager(root: Path, *settings: tuple[str, ...]) -> None:
    for argv in settings:
        subprocess.run([str(TREE / "usr/lib/bastide-card/imager_custom"), *argv], check=True,
                       env={"BASTIDE_ROOT": str(root), "PATH": "/usr/bin:/bin"})


def test_imagers_settings_arrive_by_way_of_the_cards_file(tmp_path: Path) -> None:
    """As firstrun.sh calls for them: name, hidden Wi-Fi with its key already hashed, country."""
    file = tmp_path / "boot/firmware/bastide.txt"
    file.parent.mkdir(parents=True)
    file.write_text(TEMPLATE.replace("\n", "\r\n"), "utf-8")
    imager(tmp_path, *SETTINGS)
    said = read_card(file, root=tmp_path, data=tmp_path, live=False)
    assert len(said) == 1 and "the name table-2" in said[0], said
    assert (tmp_path / "etc/hostname").read_text("utf-8") == "table-2\n"
    wifi = (tmp_path / "etc/NetworkManager/system-connections/bastide-wifi.nmconnection").read_text("utf-8")
    ssid = "".join(f"{b};" for b in 'Our "home" & = Caffè'.encode())
    assert f"\nssid={ssid}\nhidden=true\n" in wifi and f"\npsk={PSK}\n" in wifi
    assert PSK not in file.read_text("utf-8")


def test_imagers_open_wifi_without_a_country(tmp_path: Path) -> None:
    file = tmp_path / "boot/firmware/bastide.txt"
    file.parent.mkdir(parents=True)
    imager(tmp_path, ("set_wlan", "Guests", "", ""))
    assert "the Wi-Fi Guests" in read_card(file, root=tmp_path, data=tmp_path, live=False)[0]
    wifi = (tmp_path / "etc/NetworkManager/system-connections/bastide-wifi.nmconnection").read_text("utf-8")
    assert "psk" not in wifi and "hidden" not in wifi


def test_a_key_waits_for_the_user_that_it_is_for(tmp_path: Path) -> None:
    if shutil.which("systemctl") is None:
        pytest.skip("systemctl is not installed here")
    for made in ("etc/skel", "etc/ssh/sshd_config.d", "usr/lib/systemd/system", "boot/firmware"):
        (tmp_path / made).mkdir(parents=True)
    (tmp_path / "usr/lib/systemd/system/ssh.service").write_text("[Install]\nWantedBy=multi-user.target\n", "utf-8")
    imager(tmp_path, ("enable_ssh", "-k", "ssh-ed25519 AAAA anna", "ssh-ed25519 BBBB ben"))
    keys = tmp_path / "etc/skel/.ssh/authorized_keys"
    assert keys.read_text("utf-8").splitlines() == ["ssh-ed25519 AAAA anna", "ssh-ed25519 BBBB ben"]
    assert keys.stat().st_mode & 0o777 == 0o600 and keys.parent.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "etc/systemd/system/multi-user.target.wants/ssh.service").is_symlink()


def test_firstrun_is_made_ready_for_where_the_partition_is(tmp_path: Path) -> None:
    """The unit's own command on what Imager writes: afterwards it clears the boot partition, not a link to it."""
    unit = (TREE / "usr/lib/systemd/system/bastide-imager.service").read_text("utf-8")
    command = next(line.removeprefix("ExecStart=") for line in unit.splitlines() if line.startswith("ExecStart="))
    script = tmp_path / "firstrun.sh"
    script.write_text("rm -f /boot/firstrun.sh\nsed -i 's| systemd.run.*||g' /boot/cmdline.txt\nexit 0\n", "utf-8")
    subprocess.run(["sh", "-c", command.replace(" /boot/firmware/firstrun.sh", f" {script}").replace(
        f"shred -u {script}", "shred -u /boot/firmware/firstrun.sh")], check=True)
    assert script.read_text("utf-8") == (
        "shred -u /boot/firmware/firstrun.sh\nsed -i 's| systemd.run.*||g' /boot/firmware/cmdline.txt\nexit 0\n")


def test_the_cards_units_verify() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed here")
    units = sorted((TREE / "usr/lib/systemd/system").glob("*.service"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *map(str, units)],
                          capture_output=True, text=True)
    # What they start lies in the card's root.
    left = [s for s in done.stderr.splitlines() if "/usr/lib/bastide-card/" not in s and "bastide" in s]
    assert len(units) == 2 and not left, left


def test_an_image_is_made_of_a_package_and_of_nothing_else(tmp_path: Path) -> None:
    build = str(ROOT / "hardware/image/build.sh")
    for argv, code, says in (((), 2, "build.sh PACKAGE.deb FOLDER"),
                             (("none.deb", str(tmp_path)), 1, "no such package"),
                             ((__file__, "/nowhere"), 1, "no such folder"),
                             ((__file__, str(tmp_path), "--pi-archive", "http://a", "/nowhere"), 1, "no such keyring"),
                             ((__file__, str(tmp_path), "--fast"), 2, "build.sh PACKAGE.deb FOLDER")):
        done = subprocess.run([build, *argv], capture_output=True, text=True)
        assert done.returncode == code and says in done.stderr and not list(tmp_path.iterdir())


def test_debians_firmware_is_told_root_and_consoles_and_no_memory_that_stops_a_pi_4(tmp_path: Path) -> None:
    """furnish.sh on a tree of what it changes; what it runs inside, which takes a whole system, is written down."""
    root, tools = tmp_path / "root", tmp_path / "bin"
    before = {
        "etc/default/raspi-firmware": '#CMA=64M\n#ROOTPART=/dev/mmcblk0p2\n#KERNEL="auto"\n#CONSOLES="auto"\n',
        "etc/kernel/postinst.d/z50-raspi-firmware": "", "etc/ssh/ssh_host_rsa_key": "a key",
        "etc/bastide/bastide.conf": "BASTIDE_OPTIONS=--port 8000\n",
        "etc/avahi/services/bastide.service": "<port>8000</port>", "etc/apt/sources.list.d/none": "",
        "boot/vmlinuz-6": "", "usr/lib/none": "", "var/log/apt/history.log": ""}
    for name, text in before.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    tools.mkdir()
    (tools / "chroot").write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/inside\n', "utf-8")
    (tools / "chroot").chmod(0o755)
    subprocess.run([str(ROOT / "hardware/image/furnish.sh"), str(root), "0123abcd", "http://mirror.example", "trixie"],
                   check=True, env={"PATH": f"{tools}:/usr/bin:/bin"})
    assert (root / "etc/default/raspi-firmware").read_text("utf-8").splitlines() == [
        "CMA=0", "ROOTPART=PARTUUID=0123abcd-02", '#KERNEL="auto"', 'CONSOLES="ttyS1,115200 tty1"']
    assert "postinst.d/z50-raspi-firmware" in (tmp_path / "inside").read_text("utf-8").splitlines()[-1]
    assert "--port 80\n" in (root / "etc/bastide/bastide.conf").read_text("utf-8")
    assert not (root / "etc/ssh/ssh_host_rsa_key").exists() and not (root / "etc/machine-id").read_text("utf-8")


# A system made by apt takes minutes and a network; what a card's partitions are made of need not be one.
FAKE_MMDEBSTRAP = r"""#!/bin/bash
set -e
for arg in "$@"; do
  case $arg in
    --variant=extract) extract=yes ;;
    *dpkg-query*) packages=$(sed "s/.*>'\(.*\)'$/\1/" <<<"$arg") ;;
    */system.tar) into=$arg ;;
    */native) mkdir "$arg" ;;
  esac
done
[ -z "$extract" ] || exit 0
tree=$(mktemp -d)
mkdir -p "$tree/boot/firmware/overlays" "$tree/opt/bastide" "$tree/etc" "$tree/usr/bin" "$tree/home/a b"
printf 'wifi =\r\n' >"$tree/boot/firmware/bastide.txt"
echo 'kernel=vmlinuz' >"$tree/boot/firmware/config.txt"
echo overlay >"$tree/boot/firmware/overlays/x.dtbo"
echo bastide >"$tree/etc/hostname"
echo secret >"$tree/etc/shadow"; chmod 640 "$tree/etc/shadow"; chown 0:42 "$tree/etc/shadow"
echo 'quoted' >"$tree/home/a b/\$it's \"here\""
ln -s ../etc/hostname "$tree/usr/name"
for n in $(seq 300); do echo $n >"$tree/usr/bin/$n"; done
echo 'bastide 0.2.0+deb12 arm64' >"$packages"
tar -C "$tree" --sort=name --numeric-owner -cf "$into" .
rm -rf "$tree"
"""
TOOLS = ("mcopy", "mdir", "mkfs.vfat", "fsck.vfat", "mkfs.ext4", "debugfs", "e2fsck", "sfdisk", "xz", "dpkg-deb")


def test_partitions_are_whole_and_the_same_tree_gives_the_same_card(tmp_path: Path) -> None:
    sbin = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [tool for tool in TOOLS if shutil.which(tool, path=sbin) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"an image takes root, and {', '.join(missing) or 'nothing else'} (apt install mtools dosfstools)")
    (tmp_path / "p/DEBIAN").mkdir(parents=True)
    (tmp_path / "p/DEBIAN/control").write_text(
        "Package: bastide\nVersion: 0.2.0+deb12\nArchitecture: amd64\nMaintainer: a <a@b.c>\nBastide-Suite: bookworm\n"
        "Description: stand-in\n", "utf-8")
    package = tmp_path / "bastide.deb"
    subprocess.run(["dpkg-deb", "-b", str(tmp_path / "p"), str(package)], check=True, capture_output=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mmdebstrap").write_text(FAKE_MMDEBSTRAP, "utf-8")
    (tmp_path / "bin/mmdebstrap").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{sbin}", "BASTIDE_XZ": "0", "TMPDIR": str(tmp_path),
                   "SOURCE_DATE_EPOCH": "1790000000"}
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        done = subprocess.run([str(ROOT / "hardware/image/build.sh"), str(package), str(tmp_path / name)],
                              text=True, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        made.append(tmp_path / name / "bastide-0.2.0-bookworm-amd64.img.xz")
    assert made[0].read_bytes() == made[1].read_bytes()
    assert made[0].with_name("bastide-0.2.0-bookworm-amd64.packages").read_text() == "bastide 0.2.0+deb12 arm64\n"
    card = tmp_path / "card.img"
    card.write_bytes(lzma.decompress(made[0].read_bytes()))

    def run(*argv: object) -> str:
        return subprocess.run([str(a) for a in argv], env=environment, check=True, capture_output=True,
                              text=True).stdout

    table = json.loads(run("sfdisk", "-J", card))["partitiontable"]
    (fat, root) = table["partitions"]
    assert (table["label"], fat["type"], fat["bootable"], root["type"]) == ("dos", "c", True, "83")
    with open(card, "rb") as f:
        f.seek(fat["start"] * 512)
        (tmp_path / "fat").write_bytes(f.read(fat["size"] * 512))
    run("fsck.vfat", "-n", tmp_path / "fat")
    assert run("mdir", "-b", "-/", "-i", tmp_path / "fat", "::").split() == [
        "::/bastide.txt", "::/config.txt", "::/overlays/", "::/overlays/x.dtbo"]
    system = f"{card}?offset={root['start'] * 512}"
    run("e2fsck", "-fn", system)

    def seen(*command: str) -> str:
        return run("debugfs", "-R", " ".join(command), system)

    assert seen("cat", "/etc/hostname") == "bastide\n"
    status = seen("stat", "/etc/shadow")
    assert "0640" in status and re.search(r"Group:\s+42\b", status)
    assert len(re.findall(r"\b(?:c|a|m|cr)time: 0x6ab13b80", status)) == 4  # of the file's own four times; 1790000000
    assert len(re.findall(r"^ *\d+ ", seen("ls", "-l", "/usr/bin"), re.M)) == 302
    left = re.findall(r"/([^/]+)/\d*/$", seen("ls", "-p", "/boot/firmware"), re.M)
    assert set(left) <= {".", ".."}, "what the other partition has lies here too"
