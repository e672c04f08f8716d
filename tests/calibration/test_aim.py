"""Aiming: measurements and advice while a camera is mounted, on rendered tables."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from calibration.aim import Aim, look
from calibration.presets import preset_lens, preset_of
from calibration.rehearsal import flat, mat_sheet, overhead, photograph
from vision.frames import Image

SIZE = (1152, 648)


@cache
def picture(height_mm: float = 900.0, tilt: tuple[float, float] = (1.0, -1.0), blur: float = 0.6) -> Image:
    camera = overhead(SIZE, height_mm=height_mm, tilt_deg=(*tilt, 0.0), off_px=(0.0, 0.0))
    return photograph(camera, [flat(mat_sheet(), 20, 10, 15)], seed=1, blur_px=blur)


def aimed(image: Image) -> Aim:
    preset = preset_of("module3")
    assert preset is not None
    return look(image, preset_lens(preset, SIZE))


def said(aim: Aim) -> dict[str, str]:
    return {a.code: a.text for a in aim.advice}


def test_a_good_rig_is_good_and_its_numbers_are_right() -> None:
    aim = aimed(picture())
    assert aim.good and not said(aim)
    assert aim.tiles is not None and aim.height_mm == pytest.approx(900, rel=0.02)
    wide = 2 * 900 * np.tan(np.radians(33)) / 45
    assert aim.tiles[0] == pytest.approx(wide, rel=0.03) and aim.tiles[1] == pytest.approx(wide * 9 / 16, rel=0.03)
    assert aim.tilt_deg == pytest.approx(1.4, abs=0.4)
    assert json.loads(json.dumps(aim.to_json()))["good"] is True


@pytest.mark.parametrize(("height_mm", "code", "cm"), [(600.0, "aim.raise", 27), (1150.0, "aim.lower", 29)])
def test_how_far_to_move_the_camera_is_about_right(height_mm: float, code: str, cm: float) -> None:
    advice = {a.code: a for a in aimed(picture(height_mm)).advice}[code]
    assert float(advice.parts["cm"]) == pytest.approx(cm, abs=2.5) and f"{advice.parts['cm']} cm" in advice.text


@pytest.mark.parametrize(("tilt", "where"), [((8.0, 0.0), "bottom"), ((0.0, -7.0), "right")])
def test_a_camera_that_looks_aslant_is_told_which_way(tilt: tuple[float, float], where: str) -> None:
    aim = aimed(picture(900.0, tilt))
    assert aim.tilt_deg == pytest.approx(max(map(abs, tilt)), abs=0.5)
    assert f"towards the {where} of the picture" in said(aim)["aim.tilt"]


def test_the_side_that_is_said_is_the_side_that_is_further_away() -> None:
    camera = overhead(SIZE, height_mm=900, tilt_deg=(0.0, -7.0, 0.0))
    assert camera.scale((300.0, 0.0)) < camera.scale((-300.0, 0.0)), "the right of the picture is further away"


def test_a_lens_out_of_focus_is_told() -> None:
    sharp, soft = aimed(picture()), aimed(picture(blur=2.5))
    assert sharp.edge_px is not None and soft.edge_px is not None
    assert sharp.edge_px < 3 < 5 < soft.edge_px and "aim.focus" in said(soft) and not soft.good


@pytest.mark.parametrize(("x", "y", "lamp"), [(150, 300, "left lamp"), (600, 60, "upper lamp")])
def test_a_lamp_in_the_table_is_told_by_its_side_and_white_paper_is_none(x: int, y: int, lamp: str) -> None:
    yy, xx = np.mgrid[:SIZE[1], :SIZE[0]]
    shine = 300 * np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / (2 * 40.0**2))
    aim = aimed(np.clip(picture() + shine[..., None], 0, 255).astype(np.uint8))
    assert len(aim.glare) == 1 and np.hypot(aim.glare[0].px[0] - x, aim.glare[0].px[1] - y) < 8
    assert f"turn the {lamp} away" in said(aim)["aim.glare"]
    assert not aimed(np.clip(picture() * 1.15, 0, 255).astype(np.uint8)).glare, "the mat is white paper"
    assert not aimed(picture(height_mm=450.0)).glare and not aimed(picture(height_mm=1700.0)).glare, "near and far"


def test_too_dark_and_too_bright_and_nothing_there() -> None:
    assert "aim.dark" in said(aimed((picture() * 0.3).astype(np.uint8)))
    assert "aim.bright" in said(aimed(np.clip(picture() * 2.2, 0, 255).astype(np.uint8)))
    blinded = aimed(np.clip(picture() * 2.2, 0, 255).astype(np.uint8))
    assert blinded.level > 230 and not blinded.good
    bare = aimed(photograph(overhead(SIZE), []))
    assert bare.tiles is None and not bare.good and set(said(bare)) == {"aim.nothing"}
