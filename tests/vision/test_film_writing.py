"""Films are encoded in a process of their own, and are there whole or not at all."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from vision import film
from vision.film import write_film
from vision.frames import Image

SIZE = (96, 64)


def pictures(count: int) -> Iterator[tuple[Image, int]]:
    for n in range(count):
        yield np.full((SIZE[1], SIZE[0], 3), 40 * n, np.uint8), n + 1


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The encoders that are started, in their order."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(film.subprocess, "Popen", Noted)
    return started


def test_each_picture_is_shown_for_its_number_of_frames(tmp_path: Path) -> None:
    assert write_film(tmp_path / "a.webm", pictures(4), fps=6, size=SIZE) == 10
    shown = cv2.VideoCapture(str(tmp_path / "a.webm"))
    means = []
    while (read := shown.read())[0]:
        means.append(round(float(read[1].mean()) / 40))
    assert means == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert [p.name for p in tmp_path.iterdir()] == ["a.webm"]


def test_a_film_that_is_aborted_leaves_the_old_one_and_no_process(
        tmp_path: Path, encoders: list[subprocess.Popen[bytes]]) -> None:
    (tmp_path / "a.webm").write_bytes(b"old")

    def broken() -> Iterator[tuple[Image, int]]:
        yield from pictures(2)
        assert [e.poll() for e in encoders] == [None]
        raise KeyError("gone")

    with pytest.raises(KeyError):
        write_film(tmp_path / "a.webm", broken(), fps=6, size=SIZE)
    assert [e.returncode for e in encoders] == [-signal.SIGKILL]
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.webm", b"old")]


def test_the_reason_of_an_abort_is_told_though_the_encoder_is_gone_too(
        tmp_path: Path, encoders: list[subprocess.Popen[bytes]]) -> None:
    def broken() -> Iterator[tuple[Image, int]]:
        yield np.zeros((16, 16, 3), np.uint8), 1  # so small that it waits in a buffer
        encoders[0].kill()
        encoders[0].wait()
        raise KeyError("gone")

    with pytest.raises(KeyError):
        write_film(tmp_path / "a.webm", broken(), fps=6, size=(16, 16))
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_is_killed_is_an_error_and_not_the_end_of_the_program(
        tmp_path: Path, encoders: list[subprocess.Popen[bytes]]) -> None:
    def killed() -> Iterator[tuple[Image, int]]:
        for n, picture in enumerate(pictures(60)):
            if n == 2:
                encoders[0].kill()
            yield picture

    with pytest.raises(OSError, match="could not be written"):
        write_film(tmp_path / "a.webm", killed(), fps=6, size=SIZE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("path", "count"), [("nowhere/a.webm", 2), ("a.webm", 0)])
def test_what_cannot_be_written_is_an_error_with_the_file(tmp_path: Path, path: str, count: int) -> None:
    with pytest.raises(OSError, match=r"a\.webm"):
        write_film(tmp_path / path, pictures(count), fps=6, size=SIZE)
    assert not list(tmp_path.iterdir())
