"""Several nodes draw one picture: each gets a share of the triangles, and the nearest depth wins, pixel by pixel.

The thesis's image composition network merges the regions of all nodes by depth (2.2.2, steps 4 and 5). What it merges
is here; how long that takes, of which the thesis says nothing, is a formula in `composition_time.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelflow.simd.drawing import Picture, ScreenTriangles

__all__ = ["compose", "shares"]


def shares(triangles: ScreenTriangles, nodes: int) -> list[ScreenTriangles]:
    """Deal triangles to nodes in consecutive shares, so that the first of equal depths stays the first."""
    return [triangles.part(part) for part in np.array_split(np.arange(len(triangles)), nodes)]


def compose(pictures: Sequence[Picture]) -> Picture:
    """Merge the pictures of the nodes: at each pixel the nearest depth, of equal ones the lowest node's."""
    depths = np.stack([picture.depths for picture in pictures])
    nearest = depths.argmin(axis=0)
    row, column = np.indices(nearest.shape)
    colours = np.stack([picture.colours for picture in pictures])
    return Picture(colours[nearest, row, column], depths[nearest, row, column])
