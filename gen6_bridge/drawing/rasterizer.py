"""Fixed functions before the shader: coverage, early depth, and subspans packed into threads.

Coverage and depths are the integers of `pixelflow.simd.drawing`. A thread has up to four subspans, blocks of 2x2
pixels, of one triangle, since its payload holds the planes of one. All four pixels of a subspan are dispatched; those
that the triangle does not cover, or that are hidden, are shaded and masked when colours are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import Draw, planes_of, spans_of, texture_planes_of

__all__ = ["PixelThreads", "pixel_threads"]

_SUBSPANS = 4
_CHANNELS = 16


@dataclass(frozen=True, slots=True, eq=False)
class PixelThreads:
    """Threads of one draw: columns and rows are int64[thread, channel], ``visible`` and ``there`` bool likewise."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    there: NDArray[np.bool_]
    """Pixels that are dispatched."""
    visible: NDArray[np.bool_]
    """Pixels that are covered and pass the depth test."""
    planes: NDArray[np.uint32]
    """uint32[thread, double word]: the payload from the first plane's register on."""

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def dispatched(self) -> NDArray[np.int64]:
        """The mask of each thread's channels, as a number."""
        return (self.there * (1 << np.arange(_CHANNELS))).sum(axis=1)

    def part(self, begin: int, end: int) -> PixelThreads:
        """Return some of the threads."""
        cut = slice(begin, end)
        return PixelThreads(self.columns[cut], self.rows[cut], self.there[cut], self.visible[cut], self.planes[cut])


def _none() -> PixelThreads:
    """Return no threads."""
    none = np.zeros((0, _CHANNELS), np.int64)
    return PixelThreads(none, none, none > 0, none > 0, np.zeros((0, 3 * 8), np.uint32))


def _layers(pixels: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield fragments that come first in their pixels, then those that come second, and so on."""
    order = np.argsort(pixels, kind="stable")
    begins = np.flatnonzero(np.diff(pixels[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    for layer in range(int(rank.max(initial=-1)) + 1):
        yield order[rank == layer]


def pixel_threads(draw: Draw, depths: NDArray[np.int64]) -> PixelThreads:
    """Return the threads of a draw after the depth test, which changes ``depths``: int64[row, column]."""
    height, width = depths.shape
    batches = list(spans_of(draw.triangles, width, height).fragments())
    if not batches:
        return _none()
    triangle, row, column = (
        np.concatenate([getattr(each, name) for each in batches]) for name in ("triangle", "row", "column")
    )
    found = planes_of(draw.triangles, colours=False).at(triangle, column, row, slice(1))[:, 0]
    stored, pixel = depths.reshape(-1), row * width + column
    passed = np.zeros(len(pixel), np.bool_)
    for layer in _layers(pixel):
        nearer = found[layer] < stored[pixel[layer]]
        passed[layer] = nearer
        stored[pixel[layer][nearer]] = found[layer][nearer]
    return _packed(draw, triangle[passed], row[passed], column[passed])


def _packed(draw: Draw, triangle: NDArray[np.int64], row: NDArray[np.int64], column: NDArray[np.int64]) -> PixelThreads:
    """Pack visible fragments into threads: subspans of a triangle in the order of rows, four to a thread."""
    if not len(triangle):
        return _none()
    key = np.stack([triangle, row // 2, column // 2], axis=1)
    subspans, which = np.unique(key, axis=0, return_inverse=True)
    visible = np.zeros((len(subspans), 4), np.bool_)
    visible[which.reshape(-1), row % 2 * 2 + column % 2] = True
    begins = np.flatnonzero(np.diff(subspans[:, 0], prepend=-1))
    counts = np.diff(begins, append=len(subspans))
    place = np.arange(len(subspans)) - np.repeat(begins, counts)
    threads = -(-counts // _SUBSPANS)
    thread = np.repeat(np.cumsum(threads) - threads, counts) + place // _SUBSPANS
    count, slot = int(threads.sum()), place % _SUBSPANS
    columns, rows = (np.zeros((count, _SUBSPANS, 4), np.int64) for _ in range(2))
    there, seen = (np.zeros((count, _SUBSPANS, 4), np.bool_) for _ in range(2))
    columns[thread, slot] = 2 * subspans[:, 2, None] + np.array([0, 1, 0, 1])
    rows[thread, slot] = 2 * subspans[:, 1, None] + np.array([0, 0, 1, 1])
    there[thread, slot] = True
    seen[thread, slot] = visible
    own = subspans[begins, 0].repeat(threads)
    shape = (count, _CHANNELS)
    return PixelThreads(
        columns.reshape(shape), rows.reshape(shape), there.reshape(shape), seen.reshape(shape), _payload(draw, own)
    )


def _payload(draw: Draw, triangle: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the planes of each thread's triangle, four double words each: r, g, b, nothing, u, v."""
    planes = planes_of(draw.triangles)
    found = np.zeros((len(triangle), 6, 4), np.int64)
    for term, values in enumerate((planes.a, planes.b, planes.c)):
        found[:, :3, term] = values[triangle, 1:]
    if draw.state.texture is not None:
        texels = texture_planes_of(draw.triangles)
        for term, values in enumerate((texels.a, texels.b, texels.c)):
            found[:, 4:, term] = values[triangle]
    return found.reshape(len(triangle), -1).astype(np.uint32)
