"""Regions of the screen, and which triangles each gets: the work of the GPs before a picture is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.simd.drawing import CENTRE, SUBPIXELS, ScreenTriangles

__all__ = ["REGION_HEIGHT", "REGION_WIDTH", "Region", "regions"]

REGION_WIDTH = 128
REGION_HEIGHT = 64
"""Pixels of a region: one for each PE of a node (thesis 2.2.1)."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A part of the screen from pixel (left, top) on, and the triangles whose bounding boxes reach into it."""

    left: int
    top: int
    triangles: np.ndarray
    """Their numbers, in the order of drawing: int64."""

    def only(self, which: np.ndarray) -> Region:
        """Return the same part of the screen with some of its triangles: bool[triangle]."""
        return Region(self.left, self.top, self.triangles[which])

    def alone(self) -> Region:
        """Return the same region where there are none but its own triangles."""
        return Region(self.left, self.top, np.arange(len(self.triangles)))


def regions(
    triangles: ScreenTriangles, width: int, height: int, places: Sequence[tuple[int, int]] = (CENTRE,)
) -> Iterator[Region]:
    """Yield the regions of a screen row by row; a box without any of the ``places`` in a pixel reaches nowhere."""
    # The first and the last pixel of which a place lies within the box.
    low, high = np.array(places).min(axis=0), np.array(places).max(axis=0)
    first = -((high - triangles.corners.min(axis=1)) // SUBPIXELS)
    last = (triangles.corners.max(axis=1) - low) // SUBPIXELS
    some = (first <= last).all(axis=1)
    for top in range(0, height, REGION_HEIGHT):
        in_row = some & (last[:, 1] >= top) & (first[:, 1] < min(top + REGION_HEIGHT, height))
        for left in range(0, width, REGION_WIDTH):
            found = in_row & (last[:, 0] >= left) & (first[:, 0] < min(left + REGION_WIDTH, width))
            yield Region(left, top, np.flatnonzero(found))
