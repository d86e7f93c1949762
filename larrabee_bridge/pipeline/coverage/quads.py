"""Qquads: blocks of 4x4 pixels that a triangle covers, in the order in which the back end takes them (4.5).

Section numbers are those of Seiler et al. 2008. The paper's qquad is sixteen pixels; here four by four of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles, edges_of, spans_of

__all__ = ["QUAD", "Quads", "quads_of", "quads_of_spans"]

QUAD = 4
"""Pixels of a side."""


@dataclass(frozen=True, slots=True, eq=False)
class Quads:
    """Blocks of 4x4 pixels: by tile row by row, in each tile by triangle in the order of drawing, then row by row.

    ``tile``, ``triangle``, ``x`` and ``y`` are int64[quad], x and y the left and top pixel on the screen. ``masks`` is
    uint16[quad, sample]; pixel i across and j down of a quad is bit 4 j + i. A quad has a pixel in some sample.
    """

    tile: np.ndarray
    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.tile)

    @property
    def utilisation(self) -> float:
        """Share of the lanes of all quads that a triangle covers in some sample; 0 without quads."""
        touched = np.bitwise_or.reduce(self.masks, axis=1)
        return float(np.bitwise_count(touched).sum()) / (QUAD * QUAD * len(self)) if len(self) else 0.0

    def ordered(self) -> Quads:
        """Return the same quads in the order that this class promises."""
        order = np.lexsort((self.x, self.y, self.triangle, self.tile))
        return Quads(*(values[order] for values in (self.tile, self.triangle, self.x, self.y, self.masks)))


def quads_of(triangles: ScreenTriangles, width: int, height: int, tile: int = 64, samples: int = 1) -> Quads:
    """Return the quads of triangles on a screen, worked out in 64-bit integers, triangle after triangle."""
    columns = -(-width // tile)
    edges = [edges_of(triangles, place) for place in ((CENTRE,) if samples == 1 else SAMPLES)]
    low = np.clip(triangles.corners.min(axis=1) // 256, 0, (width, height)) // QUAD * QUAD
    high = np.clip(triangles.corners.max(axis=1) // 256 + 1, 0, (width, height))
    found: list[tuple[np.ndarray, ...]] = []
    for number, ((left, top), (right, bottom)) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if left >= right or top >= bottom:
            continue
        across, down = -(-(right - left) // QUAD), -(-(bottom - top) // QUAD)
        i, j = left + np.arange(QUAD * across), top + np.arange(QUAD * down)[:, None]
        masks = np.empty((down, across, samples), np.uint16)
        for sample, edge in enumerate(edges):
            covered = (i < width) & (j < height)
            for a, b, c in zip(edge.a[number], edge.b[number], edge.c[number], strict=True):
                covered &= a * i + b * j + c < 0
            bits = covered.reshape(down, QUAD, across, QUAD).transpose(0, 2, 1, 3).reshape(down, across, QUAD * QUAD)
            masks[..., sample] = (bits.astype(np.int64) << np.arange(QUAD * QUAD)).sum(axis=-1)
        row, column = np.nonzero(masks.any(axis=-1))
        x, y = left + QUAD * column, top + QUAD * row
        found.append((y // tile * columns + x // tile, np.full(len(x), number), x, y, masks[row, column]))
    if not found:
        none = np.zeros(0, np.int64)
        return Quads(none, none, none, none, np.zeros((0, samples), np.uint16))
    return Quads(*(np.concatenate(each) for each in zip(*found, strict=True))).ordered()


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
