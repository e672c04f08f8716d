"""Which piece a figure is: by the rules where they allow one, else by size; where that is not clear it is asked."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from bastide.session import TableSession
from bastide.store import Store
from scoring.engine import new_game, step
from scoring.events import FigurePlaced, Player, Setup, TilePlaced, parse_event
from scoring.rules import edition
from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.frames import Frame
from vision.interpret import SURE_FIGURE, late_proposal
from vision.kinds import SPREAD, USUAL, Kinds, possible
from vision.latest import FigureReader, Latest
from vision.lattice import UNIT, rectify
from vision.placements import PlacementReader
from vision.simulator.camera import Camera
from vision.simulator.pieces import DEPTH_MM, OUTLINES, Piece, draw_piece
from vision.standing import CROP_PX, MARGIN, FigureReading, read_figure
from vision.tileset import drawn_tileset

COLOURS = ("red", "blue", "yellow")
CAMERA = Camera(width=1536, height=864, focal_px=1382.0, centre_px=(768.0, 432.0), k1=0.0, k2=0.0,
                position_mm=(0.0, 0.0, 950.0), tilt=(0.0, 0.0, 0.0))
LAMP = np.array([200.0, 300.0, 1200.0])
TOP = 2.2  # mm: a tile's upper face
MEADOW = "NL NR EL ER SL SR WL WR"


def setup(*boxes):
    return Setup(players=tuple(Player(name=c.title(), colour=c) for c in COLOURS), rules=edition("rgg2006"),
                 expansions=("base", *boxes))


def scene(tile, x_mm, y_mm, figure=None, rot=0):
    """A tile on a table, seen by the camera, with its pose and its picture; ``figure`` is (kind, colour, dx, dy, yaw,
    lying), the place in mm from the tile's middle."""
    bgr = np.full((864, 1536, 3), (70, 110, 140), np.uint8)
    corners = CAMERA.project([(x_mm + 45 * (u - 0.5), y_mm + 45 * (v - 0.5), TOP) for u, v in UNIT])
    pose = cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners.astype(np.float32)).astype(float)
    picture = cv2.GaussianBlur(draw_tile(catalogue()[tile], 160, rot=rot), (0, 0), 1.5)
    cv2.warpPerspective(picture, pose @ np.diag([1 / 160, 1 / 160, 1.0]), (1536, 864), dst=bgr, flags=cv2.INTER_LINEAR,
                        borderMode=cv2.BORDER_TRANSPARENT)
    if figure is not None:
        kind, colour, dx, dy, yaw, lying = figure
        draw_piece(bgr, Piece(figure=kind, colour=colour, x_mm=x_mm + dx, y_mm=y_mm + dy, z_mm=TOP, yaw_deg=yaw,
                              lying=lying), CAMERA, LAMP, TOP)
    bgr = cv2.GaussianBlur(bgr, (0, 0), 0.6)
    noise = np.random.default_rng(3).normal(0, 3, bgr.shape)
    return np.clip(bgr + noise, 0, 255).astype(np.uint8), pose


def reading_of(tile, at_mm, figure, pieces):
    bare, pose = scene(tile, *at_mm)
    seen, _ = scene(tile, *at_mm, figure)
    crops = [rectify(bgr, pose, CROP_PX, MARGIN) for bgr in (seen, bare)]
    kinds = catalogue()[tile].segments
    found = read_figure(*crops, pose, seen.shape, catalogue()[tile], 0, COLOURS, COLOURS.index(figure[1]),
                        range(len(kinds)), bare=True, pieces=pieces)
    assert found is not None
    return found


def test_the_simulated_wood_is_as_large_as_wood_is():
    box = new_game(setup("inns", "traders")).box
    for name, outline in OUTLINES.items():
        wide, high = 2 * max(p[0] for p in outline), max(p[1] for p in outline)
        assert np.allclose((wide, high, DEPTH_MM[name]), box.pieces[name].wood_mm, atol=0.5), name


@pytest.mark.parametrize("lying", [False, True])
@pytest.mark.parametrize("kind", ["follower", "large"])
def test_a_silhouette_is_as_long_as_its_piece(kind, lying):
    """Under the camera and far off to the side, however it is turned."""
    box = new_game(setup("inns")).box
    pieces = [box.pieces[name] for name in ("follower", "large")]
    other = "large" if kind == "follower" else "follower"
    for colour, x, y, yaw in (("red", 0, 0, 20), ("blue", 380, -180, 75), ("yellow", -300, 190, 140)):
        found = reading_of("base.B", (x, y), (kind, colour, 4, 3, yaw, lying), pieces)
        off = {name: abs(longer - USUAL) / SPREAD for name, longer in found.longer.items()}
        assert off[kind] < 3.0 < off[other] + 0.5 and off[kind] < off[other], (colour, found.longer)


def test_a_silhouette_that_is_not_whole_is_not_measured():
    bare, pose = scene("base.B", 0, 0)
    seen, _ = scene("base.B", 0, 0, ("follower", "red", 0, 0, 0, False))
    hidden = rectify(seen, pose, CROP_PX, MARGIN)
    half = round(CROP_PX * (0.5 + MARGIN))
    known = rectify(bare, pose, CROP_PX, MARGIN)
    hidden[:, half + 3:] = known[:, half + 3:]
    box = new_game(setup("inns")).box
    found = read_figure(hidden, known, pose, seen.shape, catalogue()["base.B"], 0, COLOURS, 0, (0, 1), bare=True,
                        pieces=[box.pieces[name] for name in ("follower", "large")])
    assert found is not None and found.longer == {}


@pytest.fixture(scope="module")
def tiles():
    return PlacementReader(drawn_tileset(("base.B", "base.U", "base.D")))


def proposed(reader, tiles, state, at_mm, figure):
    """What is proposed for a figure on the tile laid last."""
    at = state.last_tile
    tile = state.tiles[at].tile
    bare, pose = scene(tile, *at_mm)
    seen, _ = scene(tile, *at_mm, figure)
    last = Latest(at=at, pose=pose, known=rectify(bare, pose, CROP_PX, MARGIN), before=state, bare=True)
    return reader.read(Frame(id=1, t_s=0.0, source="test", bgr=seen), last, state, tiles)


def test_large_followers_are_told_and_ordinary_ones_are_not_asked_about(tiles):
    """Cloisters in a row, one figure on each: each player has a large one, and no two follow each other."""
    reader = FigureReader(colours=COLOURS, view=None, kinds=Kinds(COLOURS))
    state = new_game(setup("inns"))
    kinds = ["follower", "follower", "large", "follower", "large", "follower", "large", "follower", "follower"]
    asked = dict.fromkeys(("follower", "large"), 0)
    for n, kind in enumerate(kinds):
        player, at = n % 3, (0, n + 1)
        state = step(state, TilePlaced(player=player, tile="base.B", at=at, rot=0))
        place = (90.0 * n - 380, 40.0 * (n % 5) - 90)
        found = proposed(reader, tiles, state, place, (kind, COLOURS[player], 0, 2, 40 * n + 10, False))
        event = found.events[0]
        assert event.feature == "cloister" and (event.figure == kind or found.asked), (n, kind, found)
        asked[kind] += found.asked
        truth = FigurePlaced(player=player, figure=kind, at=at, feature="cloister", where="I")
        if found.asked:  # what is asked about has the truth among the answers that are shown
            assert (truth,) in [events for events, _ in found.alternatives[:3]]
        state = step(state, truth)
    assert asked["follower"] == 0 and asked["large"] <= 1


def test_where_the_rules_leave_one_piece_nothing_is_asked(tiles):
    """R-BUILD-01, R-PIG-01: company stands where its player has a follower; the rules say so, whatever its size."""
    reader = FigureReader(colours=COLOURS, view=None, kinds=Kinds(COLOURS))
    state = new_game(setup("inns", "traders"))
    for line in ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0",
                 "deploy 1 follower 0,1 field " + MEADOW.replace(" ", "."), "tile 2 base.B 0,2 0",
                 "tile 0 base.U 2,0 0"):
        state = step(state, parse_event(line))
    found = proposed(reader, tiles, state, (60, 40), ("builder", "red", 0, 0, 30, False))
    assert (found.events[0].figure, found.events[0].feature, found.asked) == ("builder", "road", False)
    for line in ("tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W", "tile 1 base.B 0,3 0"):
        state = step(state, parse_event(line)) if (2, 0) not in state.tiles or "base.U" not in line else state
    found = proposed(reader, tiles, state, (60, 40), ("pig", "blue", 13, 12, 30, False))
    assert (found.events[0].figure, found.events[0].feature, found.asked) == ("pig", "field", False)


def cloister(*boxes, lines=()):
    state = new_game(setup(*boxes))
    for line in (*lines, "tile 0 base.B 0,1 0"):
        state = step(state, parse_event(line))
    kinds = state.box.shape("base.B", 0).kinds
    return state, kinds.index("cloister")


def test_a_length_between_the_two_is_asked_about_with_both_as_answers():
    state, segment = cloister("inns")
    between = {"follower": USUAL + 0.075, "large": USUAL - 0.07}
    odds = dict(Kinds(COLOURS).weigh(between, state, 0, (0, 1), segment))
    assert set(odds) == {"follower", "large"} and max(odds.values()) < SURE_FIGURE
    assert dict(Kinds(COLOURS).weigh({}, state, 0, (0, 1), segment)) == possible(state, 0, (0, 1), segment)
    assert max(possible(state, 0, (0, 1), segment).values()) < SURE_FIGURE


def test_without_a_large_one_in_hand_it_is_no_large_one():
    lines = ("tile 0 base.U 1,0 0", "deploy 0 large 1,0 road E.W", "tile 1 base.U 2,0 0", "tile 2 base.U 3,0 0")
    state, segment = cloister("inns", lines=lines)
    assert Kinds(COLOURS).weigh({"follower": 0.1, "large": USUAL}, state, 0, (0, 1), segment) == (("follower", 1.0),)
    state, segment = cloister()
    assert Kinds(COLOURS).weigh({}, state, 0, (0, 1), segment) == (("follower", 1.0),)


def test_the_table_s_own_wood_is_what_sizes_are_held_against():
    """Followers of a longer cut: the first ones are asked about, later ones are not; what people say counts."""
    state, segment = cloister("inns")
    longer = {"follower": USUAL + 0.09, "large": USUAL - 0.055}

    def sure(kinds):
        return dict(kinds.weigh(longer, state, 0, (0, 1), segment))["follower"]

    kinds = Kinds(COLOURS)
    assert sure(kinds) < SURE_FIGURE
    for n in range(12):
        kinds.note({"follower": USUAL + 0.09 + 0.01 * (n % 3), "large": USUAL - 0.055 + 0.01 * (n % 3)}, state, 0,
                   (0, 1), segment, "large")
        kinds._seen[5, n] = kinds._seen.pop((0, 1))
    alone = sure(kinds)
    told = Kinds(COLOURS)
    told.note(longer, state, 0, (0, 1), segment, "large")
    said = step(state, FigurePlaced(player=0, figure="follower", at=(0, 1), feature="cloister", where="I"))
    said = step(said, TilePlaced(player=1, tile="base.B", at=(0, 2), rot=0))
    after = dict(told.weigh(longer, said, 1, (0, 2), segment))["follower"]
    assert alone > SURE_FIGURE
    assert after > sure(Kinds(COLOURS))


def test_a_figure_seen_too_late_may_be_any_that_was_in_hand():
    state, segment = cloister("inns")
    state = step(state, TilePlaced(player=1, tile="base.B", at=(0, 2), rot=0))
    reading = FigureReading(colours=((0, 1.0),), options=((segment, 1.0),), foot=(50, 50), lying=0.0, size=0.1)
    found = late_proposal(reading, (0, 1), state, np.zeros((8, 8, 3), np.uint8), 1, Kinds(COLOURS))
    assert found.asked and [e[0].figure for e, _ in found.alternatives if e] == ["follower", "large"]


def test_the_answer_corrects_the_entry(tmp_path):
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, setup("inns"))
        tile = TilePlaced(player=0, tile="base.B", at=(0, 1), rot=0)
        session.commit((tile,), confidence=1.0, asked=False)
        small, large = (FigurePlaced(player=0, figure=f, at=(0, 1), feature="cloister", where="I")
                        for f in ("follower", "large"))
        session.commit((small,), confidence=0.7, asked=True, alternatives=(((small,), 0.7), ((large,), 0.3)), crop=b"x")
        question, = session.view()["questions"]
        kinds = [c["body"]["figure"] for c in question["candidates"]]
        assert kinds == ["follower", "large"]
        session.command({"do": "answer", "question": question["id"], "choice": 1})
        assert [f.figure for f in session.state.figures] == ["large"] and not session.view()["questions"]
