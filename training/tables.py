"""Random parts of pictures of whole tables: boards of invented editions laid loosely and seen obliquely, and
distractors: backs of tiles, score tracks, boxes, sheets, checked cloth, floor boards, cups, hands, figures.

Each comes with the corners of every face-up tile in it. Training data of the network that spots tiles in a picture.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from scoring.tiles import EDGES, edge
from training.buildings import SIDE, Image
from training.editions import Edition, Random, hsv
from training.scenes import WOOD, Laid, lamp, rounded, table

PIECE_PX = 256
TILE_PX = (16.0, 52.0)  # side of a tile in the picture
_UNIT = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)


def piece(rng: Random, edition: Edition, tiles: list[Laid]) -> tuple[Image, NDArray[np.float32], NDArray[np.float32]]:
    """(picture (PIECE_PX, PIECE_PX, 3) BGR, corners (N, 4, 2) px of the tiles, visible fraction of each (N,))."""
    side = float(np.exp(rng.uniform(*np.log(TILE_PX))))
    canvas = _ground(rng, edition, side)
    view = _aslant(rng, side)
    for _ in range(int(rng.choice([0, 0, 1, 1, 2, 3, 4]))):
        _thing(rng, canvas, view, side, edition, tiles)
    corners = np.zeros((0, 4, 2), np.float32)
    if rng.random() > 0.1:
        corners = _board(rng, canvas, view, tiles)
    hidden = np.zeros(canvas.shape[:2], np.uint8)
    for square in corners:
        if rng.random() < 0.25:
            _figure(rng, canvas, (square * rng.dirichlet(np.ones(4))[:, None]).sum(axis=0), side)
    for _ in range(int(rng.choice([0, 0, 1, 3, 8]))):
        _figure(rng, canvas, rng.uniform(0, PIECE_PX, 2), side)
    if rng.random() < 0.25:
        _over(rng, canvas, hidden, side)
    seen = []
    for square in corners:
        mask = np.zeros(canvas.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, np.round(square * 16).astype(np.int32), 1, shift=4)
        whole = abs(cv2.contourArea(square)) + 1e-6
        seen.append(min(1.0, float((mask & (1 - hidden)).sum()) / whole))
    return lamp(rng, canvas), corners, np.array(seen, np.float32)


def _aslant(rng: Random, side: float) -> NDArray[np.float32]:
    """(3, 3) from tile steps on the table to pixels: any direction, tilted by up to about 45 degrees, some
    perspective."""
    turn, across = rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi)
    tilt = np.radians(rng.choice([rng.uniform(0, 8), rng.uniform(0, 25), rng.uniform(20, 45)], p=[0.45, 0.35, 0.2]))

    def spin(a: float) -> NDArray[np.float64]:
        return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])

    far = rng.uniform(2.5, 8) * PIECE_PX / side  # distance of the camera, in tiles
    tipped = np.array([[1, 0, 0], [0, np.cos(tilt), 0], [0, -np.sin(tilt) / far, 1.0]])
    grow = side / np.sqrt(np.cos(tilt))
    place = np.array(
        [[grow, 0, rng.uniform(0.2, 0.8) * PIECE_PX], [0, grow, rng.uniform(0.2, 0.8) * PIECE_PX], [0, 0, 1]]
    )
    return (place @ spin(across) @ tipped @ spin(turn - across)).astype(np.float32)


def _map(view: NDArray[np.float32], points: NDArray[np.float32]) -> NDArray[np.float32]:
    return cv2.perspectiveTransform(np.asarray(points, np.float32).reshape(1, -1, 2), view)[0]


def _ground(rng: Random, edition: Edition, side: float) -> Image:
    big = round(PIECE_PX * 1.5)
    ground = table(rng, big, edition)
    style = rng.random()
    if style < 0.3:  # floor boards, tiles, checked or striped cloth
        steps = [rng.uniform(0.3, 2.5) * side for _ in range(2)]
        gloom, wide = rng.uniform(0.3, 0.9), int(rng.choice([1, 1, 2, 3]))
        if rng.random() < 0.5:
            for n, y in enumerate(np.arange(0, big, steps[0])):
                band = ground[int(y) : int(y + steps[0])]
                band[:] = np.clip(band * rng.uniform(0.8, 1.15), 0, 255)
                cv2.line(ground, (0, int(y)), (big, int(y)), (ground.mean(axis=(0, 1)) * gloom).tolist(), wide)
                x = rng.uniform(0, 4) * steps[0] + n
                cv2.line(ground, (int(x), int(y)), (int(x), int(y + steps[0])), (30, 35, 40), wide)
        else:
            other = np.array(hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.1, 1)))
            yy, xx = np.mgrid[0:big, 0:big]
            checks = ((yy // steps[0]).astype(int) + (xx // steps[0]).astype(int)) % 2 > 0
            share = rng.uniform(0.2, 0.9)
            ground[checks] = np.clip(ground[checks] * (1 - share) + other * share, 0, 255).astype(np.uint8)
            if rng.random() < 0.5:
                ground[:: max(2, int(steps[0]))] = other
                ground[:, :: max(2, int(steps[0]))] = other
    elif style < 0.45:  # two surfaces, knees, a chair
        for _ in range(int(rng.integers(1, 4))):
            cover = table(rng, big, edition)
            mask = np.zeros((big, big), np.uint8)
            a = rng.uniform(0, 2 * np.pi)
            middle = np.array([big / 2, big / 2]) + rng.uniform(0.1, 0.6) * big * np.array([np.cos(a), np.sin(a)])
            cv2.ellipse(
                mask, (middle.tolist(), rng.uniform(0.2, 1.2, 2) * big, np.degrees(a)), 1, -1
            ) if rng.random() < 0.4 else cv2.fillConvexPoly(
                mask,
                np.round(
                    cv2.boxPoints((middle.tolist(), (rng.uniform(0.2, 1.5, 2) * big).tolist(), rng.uniform(0, 90)))
                ).astype(np.int32),
                1,
            )
            ground = np.where(mask[..., None] > 0, cover, ground)
    elif style < 0.52:  # leaves, grass, a patterned carpet
        cells = int(rng.integers(10, 90))
        noise = cv2.resize(rng.uniform(0, 1, (cells, cells, 1)).astype(np.float32), (big, big))[..., None]
        one = np.array(hsv(rng.uniform(0, 360) if rng.random() < 0.4 else rng.uniform(70, 120), 0.6, 0.7))
        other = np.array(hsv(rng.uniform(0, 360), rng.uniform(0, 0.7), rng.uniform(0.1, 0.9)))
        ground = np.clip(one * noise + other * (1 - noise), 0, 255).astype(np.uint8)
    turn = cv2.getRotationMatrix2D(
        (big / 2, big / 2), rng.uniform(0, 360) if rng.random() < 0.7 else 0, rng.uniform(1, 1.6)
    )
    turn[:, 2] -= (big - PIECE_PX) / 2
    return cv2.warpAffine(np.ascontiguousarray(ground), turn, (PIECE_PX, PIECE_PX), borderMode=cv2.BORDER_REFLECT)


def _put(
    rng: Random,
    canvas: Image,
    picture: Image,
    corners: NDArray[np.float32],
    mask: Image | None = None,
    shade: float = 0.0,
) -> None:
    """Draw a picture with its corners at these pixels; ``shade`` is the strength of its shadow."""
    corners = np.asarray(corners, np.float32)
    if not np.isfinite(corners).all() or np.abs(corners).max() > 20 * PIECE_PX:
        return
    low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 3, 0)
    high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 4, (canvas.shape[1], canvas.shape[0]))
    if (high <= low).any():
        return
    size = np.sqrt(abs(cv2.contourArea(corners)))
    shrink = size / np.sqrt(picture.shape[0] * picture.shape[1])
    if shrink < 0.7:
        to = (max(4, round(picture.shape[1] * shrink)), max(4, round(picture.shape[0] * shrink)))
        picture = cv2.resize(picture, to, interpolation=cv2.INTER_AREA)
        mask = None if mask is None else cv2.resize(mask, to, interpolation=cv2.INTER_AREA)
    h, w = picture.shape[:2]
    source = (_UNIT * (w, h) - 0.5).astype(np.float32)
    to_roi = cv2.getPerspectiveTransform(source, (corners - low - 0.5).astype(np.float32))
    roi = (int(high[0] - low[0]), int(high[1] - low[1]))
    if mask is None:
        alpha = np.zeros(roi[::-1], np.uint8)
        cv2.fillConvexPoly(alpha, np.round((corners - low - 0.5) * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    else:
        alpha = cv2.warpPerspective(mask, to_roi, roi)
    part = canvas[low[1] : high[1], low[0] : high[0]].astype(np.float32)
    if shade:
        part *= 1 - shade * cv2.GaussianBlur(alpha, (0, 0), 1.3)[..., None].astype(np.float32) / 255
    shown = cv2.warpPerspective(picture, to_roi, roi, borderMode=cv2.BORDER_REPLICATE)
    a = alpha[..., None].astype(np.float32) / 255
    canvas[low[1] : high[1], low[0] : high[0]] = (part * (1 - a) + shown * a).astype(np.uint8)


def _board(rng: Random, canvas: Image, view: NDArray[np.float32], tiles: list[Laid]) -> NDArray[np.float32]:
    """Draw a connected board of one tile or many; returns its tiles' corners."""
    count = int(rng.choice([1, 2, 3, rng.integers(4, 12), rng.integers(10, 60)], p=[0.22, 0.1, 0.08, 0.25, 0.35]))
    squares = {(0, 0)}
    for _ in range(600):
        if len(squares) >= count:
            break
        x, y = list(squares)[int(rng.integers(len(squares)))]
        dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[int(rng.integers(4))]
        at = (x + dx, y + dy)
        middle = _map(view, np.array([at], np.float32) + 0.5)[0]
        near = float(np.array([at[0] + 0.5, at[1] + 0.5, 1.0]) @ view[2]) > 0.3
        if near and (middle > -20).all() and (middle < PIECE_PX + 20).all():
            squares.add(at)
    loose, fan = float(rng.choice([0.0, 0.01, 0.025, 0.05])), float(rng.choice([0, 0, rng.normal(0, 0.02)]))
    gap, shade, round_ = rng.uniform(0, 0.03), rng.uniform(0, 0.7), float(rng.choice([0.0, 0.04, 0.08]))
    mask = rounded(round_) if round_ else None
    laid = []
    known: dict[tuple[int, int], tuple[Laid, int]] = {}
    for at in sorted(squares):
        turn = rng.normal(0, loose * 0.7) + fan * at[0]
        cos, sin = np.cos(turn), np.sin(turn)
        half = (1 - gap) / 2
        middle = np.array(at) + 0.5 + rng.normal(0, loose, 2) + fan * np.array([at[0] * 0.3, at[0] ** 2 * 0.3])
        square = ((_UNIT - 0.5) * 2 * half) @ np.array([[cos, sin], [-sin, cos]]) + middle
        corners = _map(view, square)
        tile, rot = _fitting(rng, at, known, tiles)
        known[at] = tile, rot
        _put(rng, canvas, np.rot90(tile.picture, -rot), corners, mask, shade)
        laid.append(corners)
    return np.array(laid, np.float32)


def _fitting(
    rng: Random,
    at: tuple[int, int],
    known: dict[tuple[int, int], tuple[Laid, int]],
    tiles: list[Laid],
) -> tuple[Laid, int]:
    """A tile and rotation whose sides match its neighbours', if a few tries find one."""
    beside = [
        (side, known[near])
        for side, near in enumerate(((at[0], at[1] - 1), (at[0] + 1, at[1]), (at[0], at[1] + 1), (at[0] - 1, at[1])))
        if near in known
    ]
    best: tuple[int, Laid, int] | None = None
    for _ in range(40):
        tile, rot = tiles[int(rng.integers(len(tiles)))], int(rng.integers(4))
        wrong = sum(
            edge(tile.tile, rot, EDGES[side]) != edge(other.tile, turned, EDGES[(side + 2) % 4])
            for side, (other, turned) in beside
        )
        if best is None or wrong < best[0]:
            best = wrong, tile, rot
        if not wrong:
            break
    assert best is not None
    return best[1], best[2]


def _thing(
    rng: Random, canvas: Image, view: NDArray[np.float32], side: float, edition: Edition, tiles: list[Laid]
) -> None:
    """A printed or coloured distractor that is not a face-up tile."""
    what = rng.random()
    back = np.linalg.inv(view).astype(np.float32)
    at = _map(back, rng.uniform(0, PIECE_PX, (1, 2)).astype(np.float32))[0]
    turn = rng.uniform(0, 2 * np.pi)
    cos, sin = np.cos(turn), np.sin(turn)

    def quad(w: float, h: float, where: NDArray[np.float32] = at) -> NDArray[np.float32]:
        return _map(view, ((_UNIT - 0.5) * (w, h)) @ np.array([[cos, sin], [-sin, cos]]) + where)

    if what < 0.3:  # backs of tiles, in stacks or singly
        picture = back_of_tile(rng)
        for _ in range(int(rng.choice([1, 2, 4, 9]))):
            turn = rng.uniform(0, 2 * np.pi)
            cos, sin = np.cos(turn), np.sin(turn)
            where = (at + rng.normal(0, 1.1, 2)).astype(np.float32)
            for n in range(int(rng.choice([1, 1, 3, 8]))):
                _put(rng, canvas, picture, quad(1, 1, where) - (0, n * side * 0.04), None, 0.5)
        return
    if what < 0.55:
        picture, (w, h) = score_track(rng, edition), rng.uniform(2.5, 7, 2)
    elif what < 0.68:
        picture, (w, h) = painting(rng, edition, tiles), rng.uniform(0.6, 6, 2)
    elif what < 0.8:
        picture, (w, h) = sheet(rng), rng.uniform(0.6, 6, 2)
    elif what < 0.9:  # a plain box, a phone, a napkin, a coaster
        colour = np.array(hsv(rng.uniform(0, 360), rng.uniform(0, 1), rng.uniform(0.03, 1)))
        picture = np.clip(colour + rng.normal(0, 6, (48, 48, 1)), 0, 255).astype(np.uint8)
        if rng.random() < 0.5:
            cv2.rectangle(picture, (4, 4), (43, 43), (colour * rng.uniform(0.3, 1)).tolist(), int(rng.integers(1, 5)))
        w = h = rng.uniform(0.5, 3)
        if rng.random() < 0.7:
            h *= rng.uniform(0.4, 1)
    else:  # a cup, a bowl, a candle
        centre = _map(view, at[None])[0]
        r = rng.uniform(0.5, 1.6) * side
        for _ in range(int(rng.integers(2, 6))):
            colour = hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.05, 1))
            cv2.ellipse(
                canvas, (centre.tolist(), (2 * r, 2 * r * rng.uniform(0.7, 1)), turn * 57), colour, -1, cv2.LINE_AA
            )
            r *= rng.uniform(0.6, 0.95)
        return
    _put(rng, canvas, picture, quad(w, h), None, rng.uniform(0, 0.6))


def back_of_tile(rng: Random) -> Image:
    """The back of all tiles: one colour with an emblem or a pattern."""
    base = np.array(
        hsv(rng.choice([rng.uniform(0, 360), rng.uniform(70, 140)]), rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.8))
    )
    picture = np.clip(base + rng.normal(0, rng.uniform(1, 14), (SIDE, SIDE, 1)), 0, 255).astype(np.uint8)
    light = np.clip(base * rng.uniform(0.5, 1.9) + rng.uniform(-20, 40), 0, 255).tolist()
    m = SIDE // 2
    for _ in range(int(rng.integers(0, 5))):
        kind, r = rng.random(), int(rng.uniform(6, 44))
        if kind < 0.35:
            cv2.circle(picture, (m, m), r, light, int(rng.integers(1, 5)), cv2.LINE_AA)
        elif kind < 0.6:
            cv2.rectangle(picture, (m - r, m - r), (m + r, m + r), light, int(rng.integers(1, 4)), cv2.LINE_AA)
        elif kind < 0.8:
            cv2.fillPoly(
                picture, [np.round(m + rng.normal(0, r / 2, (int(rng.integers(3, 9)), 2))).astype(np.int32)], light
            )
        else:
            for x in range(0, SIDE, 8 + r // 4):
                cv2.line(picture, (x, 0), (SIDE - x, SIDE), light, 1, cv2.LINE_AA)
    return picture


def painting(rng: Random, edition: Edition, tiles: list[Laid]) -> Image:
    """A printed picture in the game's colours or others: the lid, an advertisement, the middle of the score track."""
    if rng.random() < 0.3:  # a part of one tile, much enlarged or stretched
        picture = tiles[int(rng.integers(len(tiles)))].picture
        x, y, w, h = (int(v) for v in rng.uniform(20, 48, 4))
        return cv2.resize(picture[y : y + h, x : x + w], (160, 120))
    n = int(rng.integers(3, 14))
    weight = cv2.resize(
        rng.standard_normal((n, n, 4)).astype(np.float32) * 2, (160, 120), interpolation=cv2.INTER_CUBIC
    )
    weight = np.exp(weight)
    weight /= weight.sum(axis=2, keepdims=True)
    inks = np.array(
        [edition.field, edition.town, edition.road, hsv(rng.uniform(0, 360), rng.uniform(0, 0.8), rng.uniform(0, 1))]
        if rng.random() < 0.6
        else [hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.05, 1)) for _ in range(4)]
    )
    picture = weight @ inks
    grain = cv2.resize(rng.standard_normal((60, 80, 1)).astype(np.float32), (160, 120))[..., None]
    picture = np.clip(picture * (1 + rng.uniform(0, 0.3) * grain), 0, 255).astype(np.uint8)
    for _ in range(int(rng.integers(0, 12))):
        x, y = int(rng.integers(160)), int(rng.integers(120))
        colour = hsv(rng.uniform(0, 360), rng.uniform(0, 1), rng.uniform(0, 1))
        if rng.random() < 0.5:
            cv2.circle(picture, (x, y), int(rng.integers(2, 24)), colour, -1, cv2.LINE_AA)
        else:
            cv2.putText(
                picture,
                "CARCASSONNE"[int(rng.integers(0, 8)) :],
                (x, y),
                cv2.FONT_HERSHEY_DUPLEX,
                rng.uniform(0.3, 1.4),
                colour,
                int(rng.integers(1, 4)),
                cv2.LINE_AA,
            )
    return picture


def score_track(rng: Random, edition: Edition) -> Image:
    """Numbered cells around a painting, or in rows."""
    nx, ny, cell = int(rng.integers(6, 18)), int(rng.integers(5, 12)), 20
    picture = cv2.resize(
        painting(rng, edition, [Laid(None, np.zeros((SIDE, SIDE, 3), np.uint8))]), (nx * cell, ny * cell)
    )  # type: ignore[arg-type]
    pale = hsv(rng.uniform(0, 120), rng.uniform(0, 0.5), rng.uniform(0.5, 1))
    dark = hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.1, 0.9))
    rows = rng.random() < 0.35
    number = 0
    for y in range(ny):
        for x in range(nx):
            if rows or x in (0, nx - 1) or y in (0, ny - 1):
                number += 1
                a, b = (x * cell + 1, y * cell + 1), (x * cell + cell - 2, y * cell + cell - 2)
                cv2.rectangle(picture, a, b, dark if number % 5 == 0 else pale, -1)
                if rng.random() < 0.7:
                    cv2.putText(
                        picture,
                        str(number),
                        (a[0] + 1, b[1] - 5),
                        cv2.FONT_HERSHEY_SIMPLEX,
                        0.3,
                        (20, 20, 25),
                        1,
                        cv2.LINE_AA,
                    )
    return picture


def sheet(rng: Random) -> Image:
    """Rules, a note pad, a card: lines of text and pictures on pale paper."""
    paper = np.array(hsv(rng.uniform(20, 80), rng.uniform(0, 0.25), rng.uniform(0.7, 1)))
    picture = np.clip(paper + rng.normal(0, 3, (160, 120, 1)), 0, 255).astype(np.uint8)
    ink = hsv(rng.uniform(0, 360), rng.uniform(0, 0.6), rng.uniform(0, 0.4))
    for y in range(8, 156, int(rng.integers(4, 12))):
        x = 8
        while x < 112 and rng.random() < 0.95:
            w = int(rng.integers(2, 14))
            cv2.line(picture, (x, y), (min(112, x + w), y), ink, int(rng.integers(1, 3)))
            x += w + 3
    for _ in range(int(rng.integers(0, 6))):
        x, y, w, h = (
            int(rng.integers(0, 90)),
            int(rng.integers(0, 120)),
            int(rng.integers(8, 50)),
            int(rng.integers(8, 50)),
        )
        cv2.rectangle(
            picture,
            (x, y),
            (x + w, y + h),
            hsv(rng.uniform(0, 360), rng.uniform(0, 1), rng.uniform(0.2, 1)),
            -1 if rng.random() < 0.7 else 1,
        )
    return picture


def _figure(rng: Random, canvas: Image, at: NDArray[np.float32], side: float) -> None:
    size = side * rng.uniform(0.15, 0.36)
    colour = np.array(hsv(*WOOD[int(rng.integers(len(WOOD)))])) * rng.uniform(0.6, 1.1)
    lean = rng.uniform(-0.6, 0.6, 2) * size
    angles = np.linspace(0, 2 * np.pi, 12)[:-1]
    radius = size * rng.uniform(0.35, 0.75, 11)
    shape = np.stack([np.cos(angles) * radius, np.sin(angles) * radius], axis=1) + at

    def fill(points: NDArray[np.float64], paint: list[float]) -> None:
        cv2.fillPoly(canvas, [np.round(points * 16).astype(np.int32)], paint, cv2.LINE_AA, 4)

    hull = cv2.convexHull(np.concatenate([shape, shape + lean]).astype(np.float32))[:, 0]
    fill(hull + rng.uniform(-0.3, 0.3, 2) * size, [25, 25, 25])
    fill(hull, (colour * 0.6).tolist())
    fill(shape + lean, colour.tolist())


def _over(rng: Random, canvas: Image, hidden: Image, side: float) -> None:
    """A hand or a sleeve that occludes everything."""
    start = rng.uniform(0, PIECE_PX, 2)
    a = rng.uniform(0, 2 * np.pi)
    end = start + 2 * PIECE_PX * np.array([np.cos(a), np.sin(a)])
    wide = max(3, int(side * rng.uniform(0.5, 1.6)))
    skin = (
        hsv(rng.uniform(8, 32), rng.uniform(0.25, 0.6), rng.uniform(0.3, 0.95))
        if rng.random() < 0.7
        else hsv(rng.uniform(0, 360), rng.uniform(0, 0.9), rng.uniform(0.05, 0.9))
    )
    points = [np.round(p).astype(int).tolist() for p in (start, end)]
    cv2.line(canvas, *points, skin, wide, cv2.LINE_AA)
    cv2.line(hidden, *points, 1, wide)
    for _ in range(int(rng.integers(0, 5))):
        b = a + np.pi + rng.normal(0, 0.6)
        tip = np.round(start + side * rng.uniform(0.4, 1.2) * np.array([np.cos(b), np.sin(b)])).astype(int).tolist()
        cv2.line(canvas, points[0], tip, [c * 0.95 for c in skin], max(2, wide // 4), cv2.LINE_AA)
        cv2.line(hidden, points[0], tip, 1, max(2, wide // 4))
