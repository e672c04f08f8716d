"""The effect of a calibration on reading: a wide distorting lens, mounted low and tilted, with and without one."""

from __future__ import annotations

import json
from functools import cache

import cv2
import numpy as np
import pytest
from calibration_scenes import error_mm
from drawings import base_set

from bastide.camera.calibrated import CalibratedCamera, calibrated
from bastide.table.demo_game import demo_game
from calibration.documents import Document, LensResult, TableResult
from calibration.table import find_table
from scoring.tiles import catalogue
from scoring.transcript import write
from vision.artwork import draw_tile
from vision.figures import find_figures
from vision.frames import Frame, LateFrame, SourceError, SourceInfo
from vision.paint import colours_of, light_of, shown
from vision.read import PhotoReader, box_counts
from vision.simulator import Options, Simulator
from vision.simulator.camera import Camera
from vision.view import View

SIZE = (1280, 720)
COLOURS = ("red", "blue", "yellow")


@cache
def table(seed: int = 3) -> Simulator:
    """Twelve turns under a lens of 100 degrees that hangs at half the usual height."""
    game = json.loads(json.dumps(write(demo_game(seed, turns=12))))
    return Simulator(game, seed, Options(level="normal", size=SIZE, fps=4, fov=100.0, k1=-0.12))


@cache
def reader() -> PhotoReader:
    return PhotoReader(base_set(), counts=box_counts(["base"]))


def view_of(camera: Camera) -> View:
    x, y, z = camera.position_mm
    return View(size=(camera.width, camera.height), matrix=camera.matrix, distortion=camera.distortion,
                rotation=camera.rotation, translation=camera.rotation @ np.array([-x, -y, z]))


def pose_px(camera: Camera, corners: list[tuple[float, float]], view: View | None) -> np.ndarray:
    """(3, 3) pose of a tile in a picture, straightened or not."""
    px = camera.project([(x, y, 2.2) for x, y in corners])
    if view is not None:
        straight = view.straight
        px = (camera.undistort(px) - camera.centre_px) / camera.focal_px * straight[0, 0] + straight[:2, 2]
    unit = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    return cv2.getPerspectiveTransform(unit, px.astype(np.float32)).astype(float)


def test_straight_pictures_have_straight_lines_and_points_find_their_way_back() -> None:
    camera = table().truth.camera
    view = view_of(camera)
    assert view.bends
    line = np.array([[x, -200.0, 0.0] for x in np.linspace(-350, 350, 9)])
    bent = camera.project(line)
    picture = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    for x, y in bent:
        cv2.circle(picture, (round(x * 16), round(y * 16)), 5 * 16, 255, -1, cv2.LINE_AA, 4)
    straight = view.straighten(picture)
    _, _, _, centres = cv2.connectedComponentsWithStats((straight > 100).astype(np.uint8))
    found = centres[1:][np.argsort(centres[1:, 0])]
    ends = found[-1] - found[0]

    def sag(points: np.ndarray) -> float:
        along = points[-1] - points[0]
        away = points - points[0]
        return float(np.abs(away[:, 0] * along[1] - away[:, 1] * along[0]).max() / np.linalg.norm(along))

    assert len(found) == 9 and ends[0] > 0
    assert sag(bent) > 4 and sag(found) < 0.8
    assert np.abs(view.bend(found) - bent).max() < 1.0
    below = view.eye.nadir_px
    assert np.hypot(*(view.bend([below])[0] - camera.project([(*camera.position_mm[:2], 0.0)])[0])) < 0.1


def test_a_figure_stands_where_it_stands_only_when_the_camera_is_known() -> None:
    """Its foot is found along the lean, whose direction follows from the camera's pose."""
    simulator = table()
    camera, truth = simulator.truth.camera, simulator.truth
    view = view_of(camera)
    off: dict[bool, list[float]] = {True: [], False: []}
    for figure in truth.figures:
        tile = truth.tiles[figure.standing.at]
        middle = np.hypot(tile.pose.x_mm - camera.position_mm[0], tile.pose.y_mm - camera.position_mm[1])
        if figure.piece.lying or middle < 60:
            continue  # right below the camera nothing leans
        picture = simulator.still(figure.down)
        for known in (True, False):
            use = view if known else None
            pose = pose_px(camera, tile.pose.corners(), use)
            seen = find_figures(picture if use is None else use.straighten(picture), {(0, 0): pose}, colours=COLOURS,
                                view=use)
            if looks := [s.look for s in seen.get((0, 0), ()) if s.look.there > 0]:
                off[known].append(_mm(looks[0].foot, tile.pose, figure.piece))
        if len(off[True]) >= 4:
            break
    assert len(off[True]) >= 3
    assert np.median(off[True]) <= np.median(off[False]) and np.median(off[True]) < 5.0, off


def _mm(foot: tuple[float, float], pose, piece) -> float:  # type: ignore[no-untyped-def]
    x, y = pose.at((foot[0] - 0.5) * 45.0, (foot[1] - 0.5) * 45.0)
    return float(np.hypot(x - piece.x_mm, y - piece.y_mm))


def test_tiles_of_a_photograph_that_was_straightened_are_told_in_its_own_pixels() -> None:
    simulator = table()
    photo, camera = simulator.still(), simulator.truth.camera
    view = view_of(camera)
    reading = reader().read(photo, figures=False, view=view)
    off, moved = [], []
    for tile in simulator.truth.tiles.values():
        corners = camera.project([(x, y, 2.2) for x, y in tile.pose.corners()])
        off.append(min(float(np.linalg.norm(t.corners_px.mean(axis=0) - corners.mean(axis=0)))
                       for t in reading.tiles))
        moved.append(float(np.linalg.norm(pose_px(camera, tile.pose.corners(), view)[:2, 2] - corners[0])))
    assert max(moved) > 4, "straightening moved them"
    assert max(off) < 2.5


def test_the_tiles_alone_say_where_the_table_is_and_how_badly_they_know() -> None:
    off = []
    for seed in (3, 4, 5):
        simulator = table(seed)
        camera = simulator.truth.camera
        lens = LensResult(focal_px=camera.focal_px, centre_px=camera.centre_px,
                          distortion=(camera.k1, camera.k2, 0.0, 0.0, 0.0), rms_px=0.05, focal_std_px=1.0,
                          fov_deg=(100.0, 67.0), coverage=(), preset="")
        found = find_table(simulator.still(), lens, ("tiles",), reader=reader())
        plane = found.plane.result
        assert plane.method == "tiles" and len(found.plane.kept) >= 8
        assert plane.height_mm == pytest.approx(camera.position_mm[2], rel=0.02)
        mean, worst = error_mm(plane, camera)
        assert mean < plane.worst_corner_mm and worst < 2.5 * plane.worst_corner_mm
        assert "table.corner" in {a.code for a in found.advice}
        off.append(mean)
    assert float(np.median(off)) < 8


class _Still:
    """A camera that gives one late frame for ever."""

    def __init__(self, size: tuple[int, int], model: str) -> None:
        self.info = SourceInfo(uri="usb:0", model=model, width=0, height=0, live=True)
        self.fetched = 0
        self._size = size

    def __enter__(self) -> _Still:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        def fetch() -> np.ndarray:
            self.fetched += 1
            return np.full((self._size[1], self._size[0], 3), 90, np.uint8)

        return LateFrame(id=0, t_s=0.0, source="usb:0", luma=np.full((270, 480), 90, np.uint8),
                         shape=(self._size[1], self._size[0], 3), fetch=fetch, free=lambda: None)


def _lens_document(k1: float) -> Document:
    lens = LensResult(focal_px=700.0, centre_px=(640.0, 360.0), distortion=(k1, 0.0, 0.0, 0.0, 0.0), rms_px=0.1,
                      focal_std_px=1.0, fov_deg=(85.0, 55.0), coverage=(), preset="")
    return Document(kind="lens", model="Cam A", uri="usb:0", resolution=SIZE, made="2026-11-21T18:00:00+00:00",
                    result=lens)


def test_frames_come_straight_and_late_ones_stay_late() -> None:
    document = _lens_document(-0.1)
    lens = document.result
    assert isinstance(lens, LensResult) and not isinstance(lens, TableResult)
    view = View(size=SIZE, matrix=lens.matrix, distortion=np.array(lens.distortion))
    still = _Still(SIZE, "Cam A")
    with calibrated(still, (("lens.json", document),), view) as camera:
        frame = camera.read()
        assert frame is not None and frame.luma is not None and still.fetched == 0
        assert frame.bgr.shape == (720, 1280, 3) and still.fetched == 1
        assert frame.bgr is frame.bgr and still.fetched == 1
    assert calibrated(still, (), None) is still


@pytest.mark.parametrize(("size", "model", "why"), [((640, 360), "Cam A", "was made at 1280x720 and the pictures are"),
                                                    (SIZE, "Cam B", "'Cam A' and this one is 'Cam B'")])
def test_another_camera_is_refused_when_its_first_frame_comes(size: tuple[int, int], model: str, why: str) -> None:
    document = _lens_document(-0.1)
    assert isinstance(document.result, LensResult)
    view = View(size=SIZE, matrix=document.result.matrix, distortion=np.array(document.result.distortion))
    with CalibratedCamera(_Still(size, model), (("lens.json", document),), view) as camera, \
            pytest.raises(SourceError, match=f"lens.json: was made .*{why}|lens.json: {why}"):
        camera.read()


@pytest.mark.parametrize(("wood", "owner", "taken_for"), [((38, 44, 62), "blue", "black"),
                                                          ((232, 152, 44), "red", "yellow")])
def test_wood_of_an_unusual_colour_is_known_by_its_measured_paint(wood: tuple[int, int, int], owner: str,
                                                                  taken_for: str) -> None:
    """Navy that is nearly black, an orange that is sold as red: named by the usual paint, right by its own."""
    tiles = np.array([draw_tile(catalogue()[t], 64) for t in ("base.V", "base.D", "base.X")])
    light = light_of(list(tiles))
    seen = shown(np.full((200, 3), wood[::-1], np.uint8), light)

    def owner_by(paints: dict[str, tuple[int, int, int]] | None) -> str:
        (likely,) = colours_of([seen], light, (owner, taken_for), paints)
        return max(likely, key=lambda colour: likely[colour])

    assert owner_by(None) == taken_for and owner_by({owner: wood}) == owner
