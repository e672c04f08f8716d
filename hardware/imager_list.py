"""Makes the list of images that Raspberry Pi Imager reads: the URL of a card's image, its size and checksum, and that
it supports Imager's settings (Wi-Fi, name, user). Standard library only.

    python3 -I imager_list.py IMAGE.img.xz URL VERSION DATE MODEL... >bastide.rpi-imager-manifest

``URL`` is the folder where the image and ``bastide-VERSION.svg`` will be. Imager customises only images from a list:
for an image from a file it does not know the method. The Pis offered on its first page come from the list too
(``imager``, ``devices``); without any, that page is empty and the user is stuck. The format: raspberrypi/rpi-imager,
doc/json-schema/os-list-schema.json, doc/schema-notes.md, src/hwlistmodel.cpp and src/wizard/DeviceSelectionStep.qml.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import sys
from pathlib import Path
from typing import BinaryIO, TypedDict

SETTINGS = "systemd"  # firstrun.sh, which Imager 1 and 2 write; no cloud-init is needed for it
MODELS = {  # Imager's tag of a model, its name and the machines it covers
    "pi4-64bit": ("Raspberry Pi 4", "Raspberry Pi 4 Model B, 400, Compute Module 4"),
    "pi5-64bit": ("Raspberry Pi 5", "Raspberry Pi 5, 500, Compute Module 5")}
_PIECE = 1 << 20


class System(TypedDict):
    """An image as Raspberry Pi Imager reads it; sizes in bytes."""

    name: str
    description: str
    icon: str
    url: str
    release_date: str
    extract_size: int
    extract_sha256: str
    image_download_size: int
    image_download_sha256: str
    devices: list[str]
    architecture: str
    init_format: str


class Model(TypedDict):
    """A machine that Imager offers; images refer to it by its ``tags``."""

    name: str
    description: str
    tags: list[str]
    matching_type: str
    architecture: str
    capabilities: list[str]


class Models(TypedDict):
    """The machines of a list."""

    devices: list[Model]


class Listed(TypedDict):
    """Imager's list."""

    imager: Models
    os_list: list[System]


def listed(image: Path, url: str, version: str, date: str, models: list[str]) -> Listed:
    """The list of one image. Raises ValueError for invalid arguments, OSError and lzma.LZMAError for a file that cannot
    be read."""
    if not models or not set(models) <= MODELS.keys():
        raise ValueError(f"models are some of {', '.join(MODELS)}, not: {' '.join(models) or 'none'}")
    if not re.fullmatch(r"(https?|file)://[^\s\"\\]+", url):
        raise ValueError(f"{url}: is no address; Imager loads from https:// or, to try it, from file://")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        raise ValueError(f"{date}: a date is like 2026-11-22")
    url = url.rstrip("/")
    with open(image, "rb") as f:
        packed_bytes, packed = _summed(f)
    with lzma.open(image) as f:
        whole_bytes, whole = _summed(f)
    if whole_bytes % 512:
        raise ValueError(f"{image} is no whole card: {whole_bytes} bytes are no number of sectors")
    devices: list[Model] = [
        {"name": MODELS[tag][0], "description": MODELS[tag][1], "tags": [tag], "matching_type": "exclusive",
         "architecture": "armv8", "capabilities": []} for tag in models]
    return {"imager": {"devices": devices}, "os_list": [{
        "name": f"bastide {version}", "description": "A camera over the table keeps the score of a game of tiles",
        "icon": f"{url}/bastide-{version}.svg", "url": f"{url}/{image.name}", "release_date": date,
        "extract_size": whole_bytes, "extract_sha256": whole,
        "image_download_size": packed_bytes, "image_download_sha256": packed,
        "devices": models, "architecture": "armv8", "init_format": SETTINGS}]}


def _summed(f: BinaryIO | lzma.LZMAFile) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    while piece := f.read(_PIECE):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()


def main(argv: list[str]) -> int:
    if len(argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(json.dumps(listed(Path(argv[0]), argv[1], argv[2], argv[3], argv[4:]), indent=1))
    except (OSError, ValueError, lzma.LZMAError) as e:
        print(f"imager_list: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
