"""``bastide teach``: from photographs, from a camera, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_pictures
from sheets import photograph, teaching_sheet

from bastide.cli import main
from calibration.targets import teaching_pages
from vision.tileset import load_tileset

BASE = teaching_pages()[:2]


def photographed(folder: Path, lying: dict[str, np.ndarray]) -> list[str]:
    rng = np.random.default_rng(9)
    paths = []
    for page in BASE:
        own = {c.tile: lying[c.tile] for c in page.cells if c.tile in lying}
        path = folder / f"page{page.number}.jpg"
        cv2.imwrite(str(path), photograph(teaching_sheet(page, own, rng), rng))
        paths.append(str(path))
    return paths


def test_two_photographs_make_a_tile_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = photographed(tmp_path, base_pictures())
    assert main(["teach", *paths, "--out", str(tmp_path / "mine"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["taught"] == sorted(base_pictures()) and not result["missing"] and not result["refused"]
    assert load_tileset(tmp_path / "mine").ids == tuple(sorted(base_pictures()))


def test_what_is_missing_is_said_and_comes_with_the_next_photograph(tmp_path: Path,
                                                                     capsys: pytest.CaptureFixture[str]) -> None:
    first, second = photographed(tmp_path, base_pictures())
    out = str(tmp_path / "mine")
    assert main(["teach", first, "--out", out]) == 0
    assert "not taught yet: base.M" in capsys.readouterr().out
    assert main(["teach", second, "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == []
    assert main(["teach", first, "--out", out, "--add", "--json"]) == 0
    assert len(load_tileset(out).specimens) == len(base_pictures()) + 12


def test_a_tile_laid_turned_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**base_pictures(), "base.K": np.ascontiguousarray(np.rot90(base_pictures()["base.K"]))}
    assert main(["teach", *photographed(tmp_path, wrong), "--out", str(tmp_path / "mine")]) == 0
    said = capsys.readouterr()
    assert "base.K: its sides are not those of this tile" in said.err and "not taught yet: base.K" in said.out
    assert not (tmp_path / "mine" / "base.K.png").exists()


def test_tile_after_tile_under_a_camera(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = tmp_path / "frames"
    frames.mkdir()
    lying: dict[str, np.ndarray] = {}
    n = 0
    for cell in BASE[0].cells[:4]:
        lying[cell.tile] = base_pictures()[cell.tile]
        rng = np.random.default_rng(4)  # the sheet and what lies on it stay where they are
        photo = photograph(teaching_sheet(BASE[0], lying, rng), rng, size=(1280, 720), noise=0.0)
        for _ in range(4):
            noisy = np.clip(photo + np.random.default_rng(n).normal(0, 2, photo.shape), 0, 255).astype(np.uint8)
            cv2.imwrite(str(frames / f"{n:03}.png"), noisy)
            n += 1
    assert main(["teach", "--source", f"folder:{frames}?fps=2", "--out", str(tmp_path / "mine"), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["taught"] == [c.tile for c in BASE[0].cells[:4]]
    assert "base.D (4 of 24)" in said.err


@pytest.mark.parametrize("how, text", [
    ([], "either photographs"), (["{plain}", "--source", "usb:0"], "either photographs"),
    (["{none}"], "no such file"), (["{plain}"], "no page of the teaching sheet"),
    (["{plain}", "--out", "{plain}"], "is a file")])
def test_wrong_use_is_one_sentence(how: list[str], text: str, tmp_path: Path,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "plain.png"
    cv2.imwrite(str(plain), np.full((480, 640, 3), 80, np.uint8))
    names = {"plain": str(plain), "none": str(tmp_path / "none.jpg")}
    arguments = [a.format(**names) for a in how]
    if "--out" not in arguments:
        arguments += ["--out", str(tmp_path / "mine")]
    assert main(["teach", *arguments]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and text in said[0]
