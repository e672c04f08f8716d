"""Lens and table from rendered targets: distortion, noise, uneven light, a crooked camera; and from other sets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calibration_scenes import SIZE, apart_mm, bent_camera, error_mm, grid_px, lens, views

from calibration.apply import usual_lens, view_of
from calibration.boards import Pattern, find_board, parse_board
from calibration.documents import CalibrationError, Document, read_document
from calibration.lens import calibrate_lens
from calibration.presets import PRESETS, preset_lens, preset_of
from calibration.rehearsal import Lying, card_sheets, charuco_sheet, flat, mat_sheet, overhead, photograph, turned
from calibration.table import find_table
from calibration.targets import CHARUCO, Board
from vision.images import read_image
from vision.view import rays_of

SETS = sorted((Path(__file__).resolve().parents[3] / "shared" / "sequences").glob("*/calibration"))


def test_the_lens_comes_out_as_it_was_drawn() -> None:
    camera, found = bent_camera(), lens()
    assert found.lens.rms_px < 0.1
    assert found.lens.focal_px == pytest.approx(camera.focal_px, rel=0.004)
    assert found.lens.distortion[0] == pytest.approx(camera.k1, abs=0.012)
    assert all(v.used for v in found.views)


def test_a_bent_view_is_left_out_and_the_lens_stays_right() -> None:
    bad = views()[3][1]
    h, w = bad.shape[:2]
    ripple = np.clip(np.arange(w)[None] + 6 * np.sin(np.arange(h) / 60)[:, None], 0, w - 1).astype(int)
    spoilt = [*views()[:3], ("bent.png", bad[np.arange(h)[:, None], ripple]), *views()[4:],
              ("nothing.png", np.full_like(bad, 120))]
    found = calibrate_lens(spoilt, CHARUCO)
    used = {v.name: v.used for v in found.views}
    assert not used.pop("bent.png") and not used.pop("nothing.png") and all(used.values())
    assert found.lens.focal_px == pytest.approx(bent_camera().focal_px, rel=0.005)


def test_views_on_one_side_are_told_so_and_a_wrong_camera_is_noticed() -> None:
    found = calibrate_lens([v for n, v in enumerate(views()) if n % 4 < 2], CHARUCO, preset_of("module3-wide"))
    said = {a.code: a for a in found.advice}
    assert said["lens.coverage"].parts["where"] == "on the right"
    assert said["lens.field_of_view"].bad and "102" in said["lens.field_of_view"].text
    assert "lens.few_views" in said


def test_too_little_is_refused_with_what_to_do() -> None:
    with pytest.raises(CalibrationError, match="seen in 1 of 3 pictures and 4 are needed"):
        calibrate_lens([views()[0], *((str(n), np.full_like(views()[0][1], 90)) for n in range(2))], CHARUCO)
    with pytest.raises(CalibrationError, match=r"half is 512x288 and view0.png is 1024x576: .*one resolution"):
        calibrate_lens([views()[0], ("half", views()[1][1][::2, ::2])], CHARUCO)
    noisy = np.clip(views()[0][1] + np.random.default_rng(1).normal(0, 3, views()[0][1].shape), 0, 255)
    again = [("again", noisy.astype(np.uint8))] * 3
    with pytest.raises(CalibrationError, match="6 pictures show the board, but only from 3 different sides"):
        calibrate_lens([*views()[:3], *again], CHARUCO)
    assert [v.name for v in calibrate_lens([*views()[:4], *again], CHARUCO).views if v.repeats] == ["again"] * 3


@pytest.mark.parametrize(("spec", "size"), [("charuco:5x7:35:26:DICT_5X5_50", (960, 540)),
                                            ("charuco:7x5:30:22:DICT_6X6_250", (960, 540))])
def test_boards_whose_cells_fit_no_pixels_are_found_as_exactly_as_others(spec: str, size: tuple[int, int]) -> None:
    board = parse_board(spec)
    camera = overhead(size, height_mm=600.0, tilt_deg=(14.0, 9.0, 0.0), off_px=(0.0, 0.0))
    x, y = camera.table_mm(np.array([[size[0] / 2, size[1] / 2]]))[0]
    lying = flat(charuco_sheet(board), float(x), float(y), 25.0)
    found = find_board(photograph(camera, [lying], seed=2, noise=1.0), board)
    assert found is not None and len(found.px) == (board.columns - 1) * (board.rows - 1)
    place = lying.rotation[:2, :2] @ found.mm.T + np.array([[x], [y]])
    true = camera.project([(a, b, 0.0) for a, b in place.T])
    off = np.hypot(*(found.px - true).T)
    assert np.sqrt((off**2).mean()) < 0.06, off


def test_corners_are_placed_as_exactly_where_the_lens_bends_the_board() -> None:
    board = parse_board("charuco:12x9:30:22:DICT_5X5_100")
    camera = overhead((960, 540), fov_deg=110.0, height_mm=520.0, k1=-0.14, k2=0.012)
    lying = Lying(sheet=charuco_sheet(board), rotation=turned(25.0, 10.0, 30.0), at_mm=(200.0, 0.0, 100.0))
    found = find_board(photograph(camera, [lying], seed=3, noise=1.0), board)
    assert found is not None and len(found.px) > 60
    place = np.column_stack([found.mm, np.zeros(len(found.mm))]) @ lying.rotation.T + (200.0, 0.0, -100.0)
    off = np.hypot(*(found.px - camera.project(place * (1, 1, -1))).T)
    assert np.sqrt((off**2).mean()) < 0.028, "one homography for the whole board misses by 0.038 px"


def test_a_lens_that_is_no_polynomial_is_explained_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Angles drawn together as by a fisheye: k1 to k3 leave several millimetres at the picture's corners."""
    size, focal, squeeze, rng = (1536, 864), 870.0, 0.8, np.random.default_rng(8)

    def bent(n: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(n, axis=1, keepdims=True)
        return n * np.tan(squeeze * np.arctan(r)) / squeeze / r

    mm = np.stack(np.meshgrid(np.arange(-4, 5) * 30.0, np.arange(-3, 4) * 30.0), -1).reshape(-1, 2)
    views = []
    for n in range(12):
        turn = turned(rng.uniform(0, 360), *rng.uniform(-25, 25, 2))
        at = np.array([(n % 4 - 1.5) * 170.0, (n // 4 - 1) * 130.0, rng.uniform(300, 420)])
        points = np.column_stack([mm, np.zeros(len(mm))]) @ turn.T + at
        px = bent(points[:, :2] / points[:, 2:]) * focal + (770, 430) + rng.normal(0, 0.03, mm.shape)
        seen = ((px > 5) & (px < np.array(size) - 5)).all(axis=1)
        views.append(Pattern(mm=mm[seen], px=px[seen]))
    waiting = iter(views)
    monkeypatch.setattr("calibration.lens.find_board", lambda picture, board: next(waiting))
    blank = np.zeros((*size[::-1], 3), np.uint8)
    found = calibrate_lens([(str(n), blank) for n in range(12)], CHARUCO).lens
    assert len(found.distortion) == 8 and found.rms_px < 0.06
    px = grid_px(size) * 0.98 + 8
    rays = rays_of(px, found.matrix, found.distortion)
    off = np.hypot(*(bent(rays) * focal + (770, 430) - px).T)
    assert off.max() < 1.0, "all over the picture"
    again = read_document(json.loads(_document(found, "lens", size).write())).result
    assert again == found
    with pytest.raises(CalibrationError, match="distortion must be a list of 5 numbers"):
        read_document(json.loads(_document(replace(found, distortion=(0.1,) * 7), "lens", size).write()))


@pytest.mark.parametrize(("method", "mean", "worst"), [("charuco", 0.3, 1.0), ("mat", 0.2, 0.7), ("cards", 0.2, 0.6)])
def test_the_table_is_right_all_over_the_picture(method: str, mean: float, worst: float) -> None:
    camera = bent_camera()
    places = [(-260, -130, 15), (270, -120, 100), (250, 130, -60), (-270, 120, 200)]
    things = {"charuco": [flat(charuco_sheet(CHARUCO), 30, -20, 33)], "mat": [flat(mat_sheet(), -20, 15, 250)],
              "cards": [flat(s, *at) for s, at in zip(card_sheets(), places, strict=True)]}[method]
    found = find_table(photograph(camera, things, seed=3), lens().lens, (method,))
    off = error_mm(found.plane.result, camera)
    assert off[0] < mean and off[1] < worst
    assert off[1] < 2 * found.plane.result.worst_corner_mm, "what it says of its own worst corner is about true"
    assert found.plane.result.height_mm == pytest.approx(560, abs=4)
    below = camera.project([(*camera.position_mm[:2], 0.0)])[0]
    shown = view_of([_document(found.plane.result, "table")], SIZE)
    assert np.hypot(*(shown.bend([shown.eye.nadir_px])[0] - below)) < 5


def test_cards_need_no_lens_and_say_how_well_they_know() -> None:
    camera = overhead(SIZE, height_mm=700.0, k1=-0.05, k2=0.01)
    places = [(-330, -160, 15), (340, -150, 100), (320, 170, -60), (-340, 160, 200)]
    picture = photograph(camera, [flat(s, *at) for s, at in zip(card_sheets(), places, strict=True)], seed=4)
    found = find_table(picture, usual_lens(SIZE), ("cards",))
    mean, worst = error_mm(found.plane.result, camera)
    assert mean < 1.0 and worst < 3.0
    one = photograph(camera, [flat(charuco_sheet(CHARUCO), 0, 0)], seed=5)
    careful = find_table(one, usual_lens(SIZE), ("charuco",))
    assert any(a.code == "table.corner" for a in careful.advice), "one sheet in the middle says little of the corners"
    assert careful.plane.result.worst_corner_mm > 3 * found.plane.result.worst_corner_mm


def test_an_uncertain_table_is_refused_and_a_rough_one_reported() -> None:
    wide = overhead(SIZE, fov_deg=102.0, height_mm=600.0, k1=-0.09, k2=0.012)
    preset = preset_of("module3-wide")
    assert preset is not None
    with pytest.raises(CalibrationError, match=r"not known.*calibrate the lens first and give it with --lens"):
        find_table(photograph(wide, [flat(charuco_sheet(CHARUCO), 0, 0, 10)], seed=6), preset_lens(preset, SIZE))
    places = [(-330, -160, 15), (340, -150, 100), (320, 170, -60), (-340, 160, 200)]
    picture = photograph(overhead(SIZE, height_mm=700.0),
                         [flat(s, *at) for s, at in zip(card_sheets(), places, strict=True)], seed=2, noise=0.5)
    found = find_table(picture, usual_lens(SIZE), ("cards",))
    assert {a.code for a in found.advice} == {"table.lens"} and len(found.plane.kept) == 4


def test_nothing_on_the_table_is_said() -> None:
    with pytest.raises(CalibrationError, match="the mat, three of the four corner cards"):
        find_table(photograph(bent_camera(), []), lens().lens, ("mat", "cards"))


def test_boards_of_the_old_pattern_are_recognised() -> None:
    old = Board(columns=7, rows=6, square_mm=25, marker_mm=18)
    sheet = charuco_sheet(old)
    from calibration.boards import opencv_board

    drawn = opencv_board(old)
    drawn.setLegacyPattern(True)
    inner = drawn.generateImage((1400, 1200))
    sheet.texture[64:-64, 64:-64] = inner
    found = find_board(photograph(overhead(SIZE, height_mm=500), [flat(sheet, 0, 0, 20)]), old)
    assert found is not None and len(found.px) == 30


@pytest.mark.parametrize(("spec", "why"), [
    ("chess:8x6", "must look like"), ("charuco:11x8:15:20:DICT_4X4_50", "smaller than its square"),
    ("charuco:11x8:20:15:DICT_9X9", "not an ArUco dictionary"), ("charuco:40x40:20:15:DICT_4X4_50", "only 50 markers"),
    ("charuco:1x8:20:15:DICT_4X4_50", "2 to 60")])
def test_a_board_that_cannot_be_is_refused(spec: str, why: str) -> None:
    with pytest.raises(CalibrationError, match=why):
        parse_board(spec)


def test_presets_have_the_field_of_view_of_the_data_sheet() -> None:
    for preset in PRESETS:
        size = (1600, round(1600 / preset.aspect))
        made = preset_lens(preset, size)
        assert made.fov_deg[0] == pytest.approx(preset.fov_deg[0], abs=0.01)
        assert made.fov_deg[1] == pytest.approx(preset.fov_deg[1], abs=6.0), "square pixels make the rest"
    assert preset_of("Camera Module 3 Wide NoIR / imx708_wide_noir").name == "module3-wide"  # type: ignore[union-attr]
    assert preset_of("imx708").name == "module3" and preset_of("a webcam") is None  # type: ignore[union-attr]


@pytest.mark.skipif(not SETS, reason="no calibration pictures beside the project")
def test_views_of_another_renderer_are_explained_and_the_whole_table_is_right() -> None:
    for folder in SETS:
        board = json.loads((folder / "board.json").read_text("utf-8"))
        truth = json.loads((folder.parent / "truth.json").read_text("utf-8"))["cameras"][0]
        spec = Board(columns=board["squares"][0], rows=board["squares"][1], square_mm=board["square_mm"],
                     marker_mm=board["marker_mm"], dictionary=board["dictionary"])
        found = calibrate_lens([(v, read_image(str(folder / v))) for v in board["views"]], spec)
        assert found.lens.rms_px < 0.35
        picture = read_image(str(folder / board["flat"]))
        table = find_table(picture, found.lens, ("charuco",), board=spec).plane.result
        assert table.height_mm == pytest.approx(truth["t"][2], rel=0.01)
        scale = picture.shape[1] / truth["width"]
        px = grid_px((picture.shape[1], picture.shape[0]))
        rays = rays_of(px, np.diag([scale, scale, 1.0]) @ np.array(truth["K"]), truth["dist"])
        plane = np.column_stack([np.array(truth["R"])[:, :2], truth["t"]])
        on = np.column_stack([rays, np.ones(len(rays))]) @ np.linalg.inv(plane).T
        # under the wide lens the board's markers are 15 px small, and the picture's corners far from it
        assert apart_mm(table, px, on[:, :2] / on[:, 2:])[1] < (1.2 if "wide" in folder.parent.name else 1.0)


def _document(result, kind: str, size=SIZE) -> Document:  # type: ignore[no-untyped-def]
    return Document(kind=kind, model="", uri="image:a.png", resolution=size, made="2026-11-21T18:00:00+00:00",
                    result=result)


def test_another_size_or_camera_is_refused() -> None:
    document = _document(lens().lens, "lens")
    with pytest.raises(CalibrationError, match="was made at 1024x576 and the pictures are 640x360"):
        view_of([document], (640, 360))
    mine = replace(document, uri="usb:0", model="Cam A")
    with pytest.raises(CalibrationError, match="'Cam A' and this one is 'Cam B'"):
        view_of([mine], SIZE, "usb:0", "Cam B")
    assert view_of([mine], SIZE, "video:a.mp4", "video a.mp4").bends
    with pytest.raises(CalibrationError, match="two calibrations of kind lens"):
        view_of([document, document], SIZE)
