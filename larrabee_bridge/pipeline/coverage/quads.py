"""Qquads: blocks of 4x4 pixels that a triangle covers, in the order in which the back end takes them (4.5).

Section numbers are those of Seiler et al. 2008. The paper's qquad is sixteen pixels; here four by four of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.coverage.distinct import begins_of
from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles, spans_of

__all__ = ["QUAD", "Quads", "quads_of"]

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
        across, triangles = (int(each.max(initial=0)) + 1 for each in (self.x, self.triangle))
        pair, place = self.tile * triangles + self.triangle, self.y * across + self.x
        rises = pair[1:] - pair[:-1]
        if ((rises > 0) | (rises == 0) & (place[1:] >= place[:-1])).all():
            return self  # as blocks of 4x4 come out of the rasterizer
        order = np.lexsort((place, pair))
        return Quads(*(values[order] for values in (self.tile, self.triangle, self.x, self.y, self.masks)))


def quads_of(triangles: ScreenTriangles, width: int, height: int, tile: int = 64, samples: int = 1) -> Quads:
    """Return the quads of triangles on a screen, by their spans at each sample, in 64-bit integers."""
    places = (CENTRE,) if samples == 1 else SAMPLES
    spans = [spans_of(triangles, width, height, place, empty=True) for place in places]
    triangle, row = spans[0].triangle, spans[0].row
    # Rows of quads of triangles, and of each its four rows of pixels; those that are not there are empty.
    new = begins_of(triangle, row // QUAD)
    band = np.cumsum(new) - 1
    first, last = (np.full((samples, int(new.sum()), QUAD), none) for none in (width, -1))
    for sample, each in enumerate(spans):
        first[sample, band, row % QUAD], last[sample, band, row % QUAD] = each.first, each.last
    left = first.min(axis=(0, 2), initial=width) // QUAD
    blocks = np.maximum(last.max(axis=(0, 2), initial=-1) // QUAD - left + 1, 0)
    which = np.repeat(np.arange(len(blocks)), blocks.astype(np.intp))
    x = QUAD * (np.arange(len(which)) + np.repeat(left - (np.cumsum(blocks) - blocks), blocks.astype(np.intp)))
    y, number = row[new][which] // QUAD * QUAD, triangle[new][which]
    masks = np.zeros((len(which), samples), np.uint16)
    for sample in range(samples):
        for below in range(QUAD):
            low = np.clip(first[sample, which, below] - x, 0, QUAD)
            high = np.clip(last[sample, which, below] + 1 - x, low, QUAD)
            masks[:, sample] |= ((1 << high) - (1 << low) << QUAD * below).astype(np.uint16)
    columns, side, count = -(-width // tile), tile // QUAD, max(len(triangles), 1)
    place = y // tile * columns + x // tile
    order = np.argsort(((place * count + number) * side + y % tile // QUAD) * side + x % tile // QUAD)
    order = order[masks[order].any(axis=1)]
    return Quads(place[order], number[order], x[order], y[order], masks[order])
