"""Our own picture of every tile, drawn from the catalogue's geometry.

``draw_tile`` gives the illustrated tile, ``segment_masks`` its visible areas. ``python -m vision.artwork --sheet base
OUT.png`` renders a product's tiles on one sheet.
"""

from __future__ import annotations

from vision.artwork.canvas import Image
from vision.artwork.painter import draw_tile, segment_masks

__all__ = ["Image", "draw_tile", "segment_masks"]
