"""The lens from a running camera: one view for every pose in which the board is held still, and no others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import SIZE, bent_camera, views

sys.path.append(str(Path(__file__).parents[1] / "hardware"))

from mjpeg import MjpegCamera  # noqa: E402

from bastide.cli import main  # noqa: E402
from calibration.rehearsal import card_sheets, flat, overhead, photograph  # noqa: E402


def film(folder: Path, count: int) -> str:
    """Views that are shown twice each, with a smear between them as the board is carried on."""
    folder.mkdir()
    n = 0
    for _, picture in views()[:count]:
        smear = cv2.blur(picture, (90, 1))
        for image in (picture, picture, smear):
            cv2.imwrite(str(folder / f"{n:03d}.png"), image)
            n += 1
    return f"folder:{folder}?fps=2"


def test_the_lens_of_a_camera_that_the_board_is_held_before(tmp_path: Path,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lens.json"
    assert main(["calibrate", "lens", "--source", film(tmp_path / "film", 8), "--out", str(out), "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert len(found["views"]) == 8 and all(v["used"] for v in found["views"])
    assert found["focal_px"] == pytest.approx(bent_camera().focal_px, rel=0.005) and found["rms_px"] < 0.1
    assert "view 1 of 14; none yet " in said.err and "view 8 of 14" in said.err and "view 9" not in said.err
    assert json.loads(out.read_text("utf-8"))["resolution"] == list(SIZE)


def test_too_few_views_and_none_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = ["calibrate", "lens", "--out", str(tmp_path / "lens.json"), "--source"]
    assert main([*ways, film(tmp_path / "few", 2)]) == 1
    assert "seen in 2 of 2 pictures and 4 are needed" in capsys.readouterr().err
    (tmp_path / "none").mkdir()
    cv2.imwrite(str(tmp_path / "none" / "a.png"), np.full((*SIZE[::-1], 3), 90, np.uint8))
    assert main([*ways, f"folder:{tmp_path / 'none'}"]) == 1
    assert "never saw the board charuco:11x8:20:15:DICT_4X4_50 held still" in capsys.readouterr().err
    assert main(ways[:-1]) == 2 and not (tmp_path / "lens.json").exists()


class Pictured(MjpegCamera):
    """Shows one picture."""

    def __init__(self, image: np.ndarray) -> None:
        super().__init__()
        self._jpeg = cv2.imencode(".jpg", image)[1].tobytes()

    def picture(self) -> bytes:
        return self._jpeg


def test_a_camera_s_password_is_not_written_into_its_calibration(tmp_path: Path) -> None:
    places = [(-330, -160, 15), (340, -150, 100), (320, 170, -60), (-340, 160, 200)]
    cards = photograph(overhead(SIZE, height_mm=700.0),
                       [flat(s, *at) for s, at in zip(card_sheets(), places, strict=True)], seed=2, noise=0.5)
    out = tmp_path / "table.json"
    with Pictured(cards) as camera:
        address = camera.url.replace("//", "//anna:secret@")
        assert main(["calibrate", "table", "--source", address, "--mat", "--camera", "module3", "--out", str(out)]) == 0
    assert "secret" not in out.read_text("utf-8") and json.loads(out.read_text("utf-8"))["camera"]["uri"] == camera.url
