"""Whatever is read from a file refuses malformed ones: the small size of benchmarks/fuzz_readers.py."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from scoring.errors import InvalidNotation
from vision.frames import size_of
from vision.images import ImageError, read_image

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import fuzz_readers  # noqa: E402


def test_malformed_files_are_refused_clearly(tmp_path: Path) -> None:
    found = fuzz_readers.run(12, 3, tmp_path)
    assert len(found) >= 12 and sum(f.files for f in found.values()) > 150
    assert not [(name, f.failures) for name, f in found.items() if f.failures]
    assert sum(f.refused for f in found.values()) > 70


def test_of_something_endless_an_error_repeats_the_ends() -> None:
    for value in ("x" * 9000, ["y"] * 5000):
        text = str(InvalidNotation(f"turns[4].at: must be two whole numbers, not {value!r}"))
        assert text.startswith("turns[4].at: must be two whole numbers") and len(text) < 500 and " ... " in text


def test_the_fuzzing_sees_a_reader_that_breaks(tmp_path: Path) -> None:
    def breaks(path: Path) -> None:
        if path.read_bytes() != b"good":
            raise KeyError("oh")

    def chatters(path: Path) -> None:
        if path.read_bytes() != b"good":
            raise ValueError("two\nlines")

    for read in (breaks, chatters):
        reader = fuzz_readers.Reader("x", ".bin", [b"good"], read, (ValueError,), [b"bad"])
        assert fuzz_readers.fuzz(reader, 5, 1, tmp_path).failures


@pytest.mark.parametrize("kind", [".png", ".jpg", ".webp", ".bmp", ".tiff"])
def test_the_size_of_a_picture_is_known_before_it_is_decoded(kind: str) -> None:
    for width, height in ((37, 21), (640, 300)):
        picture = np.random.default_rng(1).integers(0, 255, (height, width, 3), np.uint8)
        data = cv2.imencode(kind, picture)[1].tobytes()
        assert size_of(data) == (width, height)
        assert size_of(data[:8]) is None and size_of(b"") is None
    lossless = cv2.imencode(".webp", picture, [cv2.IMWRITE_WEBP_QUALITY, 101])[1].tobytes()
    assert size_of(lossless) == (640, 300)
    turned = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes()
    assert size_of(turned) == (640, 300)


def test_a_part_of_a_png_cannot_be_longer_than_the_file() -> None:
    data = cv2.imencode(".png", np.zeros((60, 60, 3), np.uint8))[1].tobytes()
    at = data.index(b"IDAT") - 4
    for claimed in (0x7FFFFFFF, 0xFFFFFFF0, len(data)):  # gigabytes were made room for
        assert size_of(data[:at] + claimed.to_bytes(4, "big") + data[at + 4:]) is None
    assert size_of(data[:-6]) is None and size_of(data) == (60, 60)


def test_a_decompression_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[object] = []
    monkeypatch.setattr(cv2, "imdecode", lambda *a: decoded.append(a))
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(fuzz_readers.png_of(30_000, 30_000, 10))
    with pytest.raises(ImageError, match="million pixels"):
        read_image(str(bomb))
    bomb.write_bytes(b"P6\n30000 30000\n255\n" + bytes(100))  # pictures of unknown size are not decoded
    with pytest.raises(ImageError, match="not a picture"):
        read_image(str(bomb))
    assert not decoded


def test_a_tiff_of_the_other_byte_order() -> None:
    short = [struct.pack(">HHIHH", tag, 3, 1, value, 0) for tag, value in ((256, 700), (258, 8), (262, 1))]
    long = [struct.pack(">HHII", tag, 4, 1, value) for tag, value in ((257, 500), (273, 90), (279, 700 * 500))]
    tiff = b"MM\0*" + struct.pack(">IH", 8, 6) + b"".join(sorted(short + long)) + bytes(4)  # grey pixels
    assert size_of(tiff) == (700, 500)


def test_a_picture_that_claims_more_than_there_may_be_is_measured_without_a_warning() -> None:
    assert size_of(fuzz_readers.png_of(30_000, 30_000, 10)) == (30_000, 30_000)  # pytest makes errors of warnings
