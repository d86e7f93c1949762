"""The same quads as `quads.quads_of`, one sample a pixel, put together from spans of all triangles at once."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.quads import QUAD, Quads
from larrabee_bridge.spans import spans_of
from pixelflow.simd.drawing import ScreenTriangles

__all__ = ["quads_of_spans"]


def quads_of_spans(triangles: ScreenTriangles, width: int, height: int, tile: int = 64) -> Quads:
    """Return the quads of triangles on a screen, at one sample a pixel."""
    spans = spans_of(triangles, width, height)
    blocks = spans.last // QUAD - spans.first // QUAD + 1
    which = np.repeat(np.arange(len(blocks)), blocks)
    column = np.arange(len(which)) - np.repeat(np.cumsum(blocks) - blocks, blocks) + spans.first[which] // QUAD
    low = np.maximum(spans.first[which] - QUAD * column, 0)
    high = np.minimum(spans.last[which] - QUAD * column, QUAD - 1)
    row = spans.row[which]
    bits = ((1 << high + 1) - (1 << low)) << QUAD * (row % QUAD)
    across, down = -(-width // QUAD), -(-height // QUAD)
    key = (spans.triangle[which] * down + row // QUAD) * across + column
    order = np.argsort(key, kind="stable")
    key, bits = key[order], bits[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    masks = np.bitwise_or.reduceat(bits, begins) if len(begins) else bits
    rest, column = np.divmod(key[begins], across)
    triangle, row = np.divmod(rest, down)
    x, y = QUAD * column, QUAD * row
    place = y // tile * -(-width // tile) + x // tile
    return Quads(place, triangle, x, y, masks.astype(np.uint16)[:, None]).ordered()
