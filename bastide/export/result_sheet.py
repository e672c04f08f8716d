"""Exports a finished game: the board and the scores as one picture, and the scores as a plain-text table."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from bastide.errors import Failure
from scoring.final import winners
from scoring.geometry import spot_of
from scoring.projection import category
from scoring.state import NO_SEGMENT, GameState
from scoring.tiles import Square
from vision.artwork.board import draw_board
from vision.simulator.pieces import colour_bgr

LONGEST_PX = 2400
TILE_PX = 120
MOST_ACROSS = 200  # squares: all tiles of all boxes in a row would be about as many
_INK, _PAPER, _FAINT = (42, 32, 24), (239, 230, 211), (101, 84, 63)
_FONTS = ("NotoSans-Regular.ttf", "DejaVuSans.ttf")  # the first one installed; otherwise Pillow's own


def table(state: GameState) -> str:
    """Points by category (rows) and player (columns); the last row is the total."""
    names = [p.name for p in state.setup.players]
    rows: dict[str, list[int]] = {}
    for event in state.score_events:
        row = rows.setdefault(category(event), [0] * len(names))
        for player, points in event.points:
            row[player] += points
    best = winners(state.scores)
    lines = [["", *names], *([what, *map(str, row)] for what, row in rows.items()),
             ["total", *(f"{n}{'*' if p in best else ''}" for p, n in enumerate(state.scores))]]
    widths = [max(len(line[n]) for line in lines) for n in range(len(names) + 1)]
    return "\n".join(_aligned(line, widths) for line in lines) + f"\n* {'won' if len(best) == 1 else 'shared first'}\n"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(line, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()


def picture(state: GameState) -> bytes:
    """The board in drawn tiles above the names and their points, as PNG. Raises Failure when a tile is far off."""
    tiles = {at: (state.box.tile(p.tile), p.rot) for at, p in state.tiles.items()}
    across = max((max(v) - min(v) + 2 for v in zip(*tiles, strict=True)), default=1)
    if across > MOST_ACROSS:  # the picture covers the whole bounding box
        far = max(tiles, key=lambda at: max(abs(at[0]), abs(at[1])))
        raise Failure(f"the board is {across} squares across: the tile at {list(far)} is far off; correct it first")
    figures = []
    for f in state.figures:
        player = f.player
        colour = state.setup.players[player].colour if player is not None else "white"
        figures.append((f.figure, colour, (f.at, _spot(state, f.at, f.segment)), f.feature == "field"))
    board = draw_board(tiles, figures, tile_px=max(24, min(TILE_PX, LONGEST_PX // across)))
    out = io.BytesIO()
    _with_scores(Picture.fromarray(np.ascontiguousarray(board[..., ::-1])), state).save(out, "PNG", optimize=True)
    return out.getvalue()


def _spot(state: GameState, at: Square, segment: int) -> tuple[float, float]:
    placed = state.tiles.get(at)
    if placed is None or segment == NO_SEGMENT:
        return 50.0, 50.0
    return spot_of(state.box.tile(placed.tile), segment, placed.rot)


def _with_scores(board: Picture.Image, state: GameState) -> Picture.Image:
    width = max(board.width, 560)
    row = max(28, width // 24)
    order = sorted(range(len(state.scores)), key=lambda n: -state.scores[n])
    card = Picture.new("RGB", (width, board.height + row * (len(order) + 1)), _PAPER)
    card.paste(board, ((width - board.width) // 2, 0))
    draw, best = ImageDraw.Draw(card), winners(state.scores)
    large, small = font(row * 0.6), font(row * 0.36)
    for k, n in enumerate(order):
        player, top = state.setup.players[n], board.height + row * k + row // 4
        b, g, r = colour_bgr(player.colour)
        draw.rectangle((row // 2, top + row // 6, row, top + row * 2 // 3), fill=(r, g, b), outline=_INK)
        draw.text((row * 1.4, top), player.name + ("  *" if n in best else ""), _INK, large)
        draw.text((width - row // 2, top), str(state.scores[n]), _INK, large, anchor="ra")
    boxes = ", ".join(state.setup.expansions)
    fine = f"{state.setup.rules.edition}{', ' if boxes else ''}{boxes}"
    draw.text((row // 2, card.height - row // 2), fine, _FAINT, small)
    draw.text((width - row // 2, card.height - row // 2), "bastide", _FAINT, small, anchor="ra")
    return card


def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The first installed font with a wide character set; ``size`` in pixels."""
    for name in _FONTS:
        try:
            return ImageFont.truetype(name, round(size))
        except OSError:
            continue
    return ImageFont.load_default(round(size))
