"""Edges and spans: from which column to which a triangle covers each row, in exact integers.

An edge is three integers A, B, C; its value at pixel (i, j), at the centre or at one of the samples, is A i + B j + C,
negative inside. Before it is divided by 256, 1 is taken off the edges that own the pixels on them: left edges, and
horizontal ones at the top. The same place in every pixel has the same fraction of an edge's value, so that
floor(edge / 256) keeps every sign; that is the value here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pixelflow.simd.drawing.triangles import CENTRE, SUBPIXELS, ScreenTriangles

_BATCH = 1 << 17
"""Fragments at a time, or those of one row where that has more."""
_ROWS = 1 << 19
"""Rows of triangles at a time."""


class Edges(NamedTuple):
    """The three edges of each triangle: int64[triangle, edge] each; a, b within 24 bits, c within 41."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


class Fragments(NamedTuple):
    """Pixels that triangles cover: int64[fragment] each; ``span`` is the number of a fragment's span."""

    span: np.ndarray
    triangle: np.ndarray
    row: np.ndarray
    column: np.ndarray


class RowSpans(NamedTuple):
    """Rows of triangles that cover something, by triangle and row: int64 each, ``first`` and ``last`` included."""

    triangle: np.ndarray
    row: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @property
    def pixels(self) -> np.ndarray:
        """Pixels of each span."""
        return self.last - self.first + 1

    def part(self, which: np.ndarray | slice) -> RowSpans:
        """Return some of the spans, by index, mask or slice, in their order."""
        return RowSpans(self.triangle[which], self.row[which], self.first[which], self.last[which])

    def fragments(self) -> Iterator[Fragments]:
        """Yield the pixels of the spans in their order, in batches that bound what is in memory."""
        ends = np.cumsum(self.pixels)
        begin = 0
        while begin < len(ends):
            done = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _BATCH, side="right")))
            pixels = self.pixels[begin:end]
            counts = pixels.astype(np.intp)
            span = np.repeat(np.arange(begin, end, dtype=np.int64), counts)
            before = np.cumsum(pixels) - pixels
            column = np.arange(len(span), dtype=np.int64) + np.repeat(self.first[begin:end] - before, counts)
            yield Fragments(span, self.triangle[span], self.row[span], column)
            begin = end


def edges_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Edges:
    """Return the edges at a place in the pixels, each from a corner to the next, beginning with corners 0 and 1."""
    x, y = triangles.corners[..., 0], triangles.corners[..., 1]
    dx, dy = np.roll(x, -1, axis=1) - x, np.roll(y, -1, axis=1) - y
    owns = (dy < 0) | ((dy == 0) & (dx > 0))
    value = dy * (place[0] - x) - dx * (place[1] - y) - owns
    return Edges(dy, -dx, value // SUBPIXELS)


def spans_of(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    place: tuple[int, int] = CENTRE,
    *,
    empty: bool = False,
) -> RowSpans:
    """Return the spans of triangles on a screen, at a place in the pixels.

    In a row, A i + B j + C < 0 bounds i from above where A > 0, and from below where A < 0. With ``empty`` rows that
    hold no pixel are there as well, from ``width`` to -1, so that spans of several places go together.
    """
    edges = edges_of(triangles, place)
    low, high = triangles.bounds
    top = np.maximum(low[:, 1] // SUBPIXELS, 0)
    bottom = np.minimum(high[:, 1] // SUBPIXELS, height - 1)
    rows = np.maximum(bottom - top + 1, 0)
    counts = rows.astype(np.intp)
    triangle = np.repeat(np.arange(len(triangles), dtype=np.int64), counts)
    row = np.arange(len(triangle), dtype=np.int64) + np.repeat(top - (np.cumsum(rows) - rows), counts)
    first, last = np.zeros(len(triangle), np.int64), np.full(len(triangle), width - 1, np.int64)
    for edge in range(3):
        a, b, c = (np.repeat(values[:, edge], counts) for values in (edges.a, edges.b, edges.c))
        rest = -1 - (b * row + c)  # A i <= rest
        bound = rest // np.maximum(np.abs(a), 1)
        np.minimum(last, bound, out=last, where=a > 0)
        np.maximum(first, -bound, out=first, where=a < 0)
        last[(a == 0) & (rest < 0)] = -1
    some = first <= last
    if empty:
        return RowSpans(triangle, row, np.where(some, first, width), np.where(some, last, -1))
    return RowSpans(triangle[some], row[some], first[some], last[some])


def parts_of(triangles: ScreenTriangles, height: int) -> Iterator[tuple[int, ScreenTriangles]]:
    """Yield triangles in parts whose spans bound what is in memory, each with the number of its first one."""
    low, high = (np.clip(each[:, 1] // SUBPIXELS, -1, height) for each in triangles.bounds)
    begins = np.flatnonzero(np.diff(np.cumsum(high - low + 1) // _ROWS)) + 1
    for first, past in pairwise([0, *begins.tolist(), len(triangles)]):
        yield first, triangles.part(np.arange(first, past))


def covered_samples(
    triangles: ScreenTriangles, width: int, height: int, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[Fragments, np.ndarray]]:
    """Yield the pixels that triangles cover at any of several places, and at which: bool[fragment, place].

    Fragments come by triangle, row and column, in batches that bound what is in memory.
    """
    for before, part in parts_of(triangles, height):
        spans = [spans_of(part, width, height, place, empty=True) for place in places]
        first, last = (np.stack([getattr(each, end) for each in spans]) for end in ("first", "last"))
        some = first.min(axis=0) <= last.max(axis=0)
        first, last = first[:, some], last[:, some]
        triangle, row = before + spans[0].triangle[some], spans[0].row[some]
        for batch in RowSpans(triangle, row, first.min(axis=0), last.max(axis=0)).fragments():
            yield batch, ((first[:, batch.span] <= batch.column) & (batch.column <= last[:, batch.span])).T


def first_samples(
    triangles: ScreenTriangles,
    places: Sequence[tuple[int, int]],
    triangle: np.ndarray,
    column: np.ndarray,
    row: np.ndarray,
) -> np.ndarray:
    """Return the first of several places in pixels that a triangle covers, or the last where none: int64[pixel].

    ``triangle``, ``column`` and ``row`` are int64[pixel].
    """
    found = np.full(len(triangle), len(places) - 1)
    for number in range(len(places) - 2, -1, -1):
        edges = edges_of(triangles, places[number])
        values = edges.a[triangle] * column[:, None] + edges.b[triangle] * row[:, None] + edges.c[triangle]
        found[(values < 0).all(axis=1)] = number
    return found
