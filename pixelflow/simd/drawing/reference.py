"""The picture that every machine must draw: triangles in their order, nearest depth kept, the first of equals."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing.account import Picture
from pixelflow.simd.drawing.interpolation import Interpolation
from pixelflow.simd.drawing.planes import planes_of
from pixelflow.simd.drawing.spans import spans_of
from pixelflow.simd.drawing.triangles import CENTRE, FAR, ScreenTriangles

__all__ = ["NOTHING", "covered", "draw", "nearest"]

NOTHING = (1 << 32) - 1
"""What is nearest where no triangle is."""


def draw(triangles: ScreenTriangles, width: int, height: int, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
    """Draw triangles in 64-bit integers."""
    picture = Picture.empty(width, height, background)
    number, depths = nearest(triangles, width, height)
    row, column = np.nonzero(number != NOTHING)
    picture.depths[:] = depths
    picture.colours[row, column] = Interpolation.of(triangles).colours(number[row, column], column, row)
    return picture


def nearest(
    triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE
) -> tuple[np.ndarray, np.ndarray]:
    """Return which triangle is seen at a place in each pixel, or NOTHING, and its depth: int64[row, column] each."""
    plane = planes_of(triangles, place, colours=False)
    # A depth and below it the number: of equal depths the least, the first in the order of drawing, is kept.
    keys = np.full(height * width, FAR << 32 | NOTHING, np.int64)
    for batch in spans_of(triangles, width, height, place).fragments():
        depth = plane.at(batch.triangle, batch.column, batch.row, slice(1))[:, 0]
        np.minimum.at(keys, batch.row * width + batch.column, depth << 32 | batch.triangle)
    seen = keys.reshape(height, width)
    return seen & NOTHING, seen >> 32


def covered(triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE) -> np.ndarray:
    """Return how many triangles cover each pixel at a place in it, whatever their depths: int64[row, column]."""
    found = np.zeros(height * width, np.int64)
    for batch in spans_of(triangles, width, height, place).fragments():
        found += np.bincount(batch.row * width + batch.column, minlength=len(found))
    return found.reshape(height, width)
