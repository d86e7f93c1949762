"""The pixels of triangles as spans: from which column to which a triangle covers each row, in exact integers."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import CENTRE, SUBPIXELS, ScreenTriangles, edges_of
from pixelflow.simd.records import record

__all__ = ["Spans", "spans_of"]


@record(eq=False)
class Spans:
    """Rows of triangles that cover something, by triangle and row: int64 each, ``first`` and ``last`` included."""

    triangle: np.ndarray
    row: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @property
    def pixels(self) -> np.ndarray:
        """Pixels of each span."""
        return self.last - self.first + 1


def spans_of(triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE) -> Spans:
    """Return the spans of triangles on a screen, at a place in the pixels.

    In a row, A i + B j + C < 0 bounds i from above where A > 0, and from below where A < 0.
    """
    edges = edges_of(triangles, place)
    top = np.maximum(triangles.corners[..., 1].min(axis=1) // SUBPIXELS, 0)
    bottom = np.minimum(triangles.corners[..., 1].max(axis=1) // SUBPIXELS, height - 1)
    rows = np.maximum(bottom - top + 1, 0)
    triangle = np.repeat(np.arange(len(triangles)), rows)
    row = top[triangle] + np.arange(len(triangle)) - np.repeat(np.cumsum(rows) - rows, rows)
    first, last = np.zeros(len(triangle), np.int64), np.full(len(triangle), width - 1)
    for edge in range(3):
        a, b, c = (values[triangle, edge] for values in (edges.a, edges.b, edges.c))
        rest = -1 - (b * row + c)  # A i <= rest
        step = np.where(a == 0, 1, a)
        bound = rest // step
        np.minimum(last, np.where(a > 0, bound, last), out=last)
        np.maximum(first, np.where(a < 0, -(rest // -step), first), out=first)
        np.minimum(last, np.where((a == 0) & (rest < 0), -1, last), out=last)
    some = first <= last
    return Spans(triangle[some], row[some], first[some], last[some])
