"""The players' colours from rendered followers: on any table, in any usual light, and refused in a hopeless one."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from calibration.apply import view_of
from calibration.colours import CONFUSED, NEAR, calibrate_colours, difference, learn_supply
from calibration.documents import CalibrationError, Document, read_document
from calibration.rehearsal import overhead, photograph
from vision.frames import Image
from vision.simulator.pieces import Piece, draw_piece

ALL = ["red", "blue", "yellow", "green", "black", "grey"]
TABLES = {"oak": (128, 168, 200), "walnut": (54, 78, 108), "white": (214, 222, 226), "green": (62, 118, 74)}
LIGHTS = {"day": (1.0, 1.0, 1.0), "warm": (0.62, 0.88, 1.12), "cool": (1.15, 1.0, 0.85)}
SIZE = (1024, 576)


def followers(colours: list[str], table: tuple[int, int, int], light: tuple[float, ...], seed: int = 1) -> Image:
    """One follower of each colour from left to right."""
    camera, rng = overhead(SIZE, height_mm=800.0), np.random.default_rng(seed)
    grain = cv2.resize(rng.normal(0, 1, (192, 114)).astype(np.float32), SIZE)
    canvas = np.clip(np.array(table) * (1 + 0.06 * grain[..., None]), 0, 255).astype(np.uint8)
    for n, colour in enumerate(colours):
        piece = Piece(figure="follower", colour=colour, x_mm=-200 + 80 * n + rng.uniform(-20, 20),
                      y_mm=rng.uniform(-80, 80), z_mm=0, yaw_deg=rng.uniform(0, 360), lying=bool(n % 2))
        draw_piece(canvas, piece, camera, np.array([300.0, -250.0, 1100.0]), 0.0)
    lit = np.clip(canvas * np.array(light), 0, 255).astype(np.uint8)
    return photograph(camera, [], seed=seed, under=lit)


@pytest.mark.parametrize(("table", "light"), [("oak", "warm"), ("walnut", "day"), ("white", "day"), ("white", "warm"),
                                              ("green", "cool"), ("green", "warm")])
def test_every_follower_gets_its_own_colour(table: str, light: str) -> None:
    found = calibrate_colours(followers(ALL, TABLES[table], LIGHTS[light]))
    assert [f.colour for f in sorted(found.followers, key=lambda f: f.px[0])] == ALL
    assert not found.result.confused
    red, _, blue = found.result.light
    low, high = {"warm": (1.5, 3.0), "cool": (0.3, 0.7), "day": (0.7, 1.4)}[light]
    assert low < red / blue < high


def test_black_and_grey_keep_no_tint_and_red_keeps_the_lamps() -> None:
    found = calibrate_colours(followers(ALL, TABLES["oak"], LIGHTS["warm"]))
    document = Document(kind="colours", model="", uri="image:a", resolution=SIZE, made="2026-11-21T18:00:00+00:00",
                        result=found.result)
    paints = view_of([document], SIZE).paints
    assert paints["red"] == found.result.paints["red"]
    assert np.ptp(paints["grey"]) < 30 < 0.5 * np.ptp(found.result.paints["grey"]) + 10


def test_only_the_players_are_sought_and_one_who_is_not_there_is_named() -> None:
    picture = followers(["red", "blue", "green"], TABLES["oak"], LIGHTS["day"])
    assert set(calibrate_colours(picture, ["red", "blue"]).result.paints) == {"red", "blue"}
    with pytest.raises(CalibrationError, match="no follower of yellow was seen"):
        calibrate_colours(picture, ["red", "blue", "yellow"])
    with pytest.raises(CalibrationError, match="no followers were seen"):
        calibrate_colours(followers([], TABLES["oak"], LIGHTS["day"]))
    with pytest.raises(CalibrationError, match="the picture is dark"):
        calibrate_colours(followers(ALL, TABLES["oak"], (0.1, 0.1, 0.1)))


def test_two_colours_that_cannot_be_told_apart_are_told() -> None:
    """In dim light, blue and black are close; the others are distinguished."""
    picture = followers(["red", "blue", "black", "yellow"], TABLES["oak"], (0.3, 0.4, 0.4))
    found = calibrate_colours(picture, ["red", "blue", "black", "yellow"])
    assert min(found.result.distances, key=lambda pair: found.result.distances[pair]) == "black-blue"
    told = {a.code: a for a in found.advice}
    code, far = ("colours.confused", CONFUSED) if "black-blue" in found.result.confused else ("colours.near", NEAR)
    assert found.result.distances["black-blue"] < far
    assert told[code].parts["a"] == "black" and told[code].parts["b"] == "blue"


def test_a_light_in_which_paint_cannot_be_known_is_refused() -> None:
    with pytest.raises(CalibrationError, match="in no light|was seen"):
        calibrate_colours(followers(ALL, TABLES["oak"], (0.12, 0.6, 1.1)), ALL)


def test_the_distance_is_the_published_one() -> None:
    assert difference((255, 0, 0), (0, 0, 255)) == pytest.approx(52.88, abs=0.02)  # Sharma's formula on sRGB
    assert difference((10, 20, 30), (10, 20, 30)) == 0


def supply(shape: str, bgr: tuple[int, int, int], count: int = 5, degrees: float = 0.0) -> Image:
    """Pieces of one player on an oak table, seen from above or ``degrees`` from the side."""
    rng = np.random.default_rng(3)
    canvas = np.clip(np.array(TABLES["oak"]) * (1 + 0.04 * rng.normal(0, 1, (576, 1024, 1))), 0, 255).astype(np.uint8)
    low = np.cos(np.radians(degrees))
    for n in range(count):
        x, y, turn = 140 + 160 * n, int(rng.integers(180, 400)), float(rng.uniform(0, 90))
        if shape == "disc":
            cv2.ellipse(canvas, (x, y), (16, round(16 * low)), 0, 0, 360, bgr, -1, cv2.LINE_AA)
        else:
            corners = cv2.boxPoints(((x, y), (24, 24), turn))
            corners[:, 1] = y + (corners[:, 1] - y) * low
            cv2.fillConvexPoly(canvas, corners.astype(np.int32), bgr, cv2.LINE_AA)
    return canvas


@pytest.mark.parametrize(("shape", "degrees"), [("disc", 0), ("cube", 0), ("disc", 35)])
def test_a_supply_teaches_any_paint_and_what_the_pieces_are(shape: str, degrees: float) -> None:
    turquoise = (170, 160, 20)
    before = calibrate_colours(followers(["red", "yellow"], TABLES["oak"], LIGHTS["day"])).result
    found = learn_supply(supply(shape, turquoise, degrees=degrees), "blue", before).result
    assert difference(found.paints["blue"], turquoise[::-1]) < 4 and found.shapes == {"blue": shape}
    assert {**found.paints, "blue": None} == {**before.paints, "blue": None}  # the others stay
    document = Document(kind="colours", model="", uri="usb:0", resolution=SIZE, made="2026-11-21T18:00:00+00:00",
                        result=found)
    assert view_of([read_document(json.loads(document.write()))], SIZE).shapes == {"blue": shape}


@pytest.mark.parametrize("colour", ["green", "blue"])
def test_a_supply_of_followers_is_no_supply_of_discs(colour: str) -> None:
    found = learn_supply(followers([colour] * 5, TABLES["white"], LIGHTS["warm"]), colour).result
    assert found.shapes == {colour: "follower"} and not found.confused


def test_two_pieces_are_no_supply_and_two_supplies_need_a_name_that_tells_them_apart() -> None:
    with pytest.raises(CalibrationError, match="at least 3"):
        learn_supply(supply("disc", (170, 160, 20), count=2), "blue")
    both = np.vstack([supply("disc", (170, 60, 20)), supply("disc", (40, 40, 190))])
    assert learn_supply(both, "red").result.paints["red"][0] > 120
    with pytest.raises(CalibrationError, match="several players"):
        learn_supply(both, "vermilion")


@pytest.mark.filterwarnings("error")
def test_wood_without_any_light_is_black_and_spoils_no_other_supply() -> None:
    both = np.vstack([supply("disc", (0, 0, 0)), supply("disc", (40, 40, 190))])
    assert learn_supply(both, "black").result.paints == {"black": (0, 0, 0)}
    assert learn_supply(both, "red").result.paints["red"][0] > 120
