"""Triangles on the screen as integers: corners in 15.8 fixed point, depths of 24 bits, colours of 8.

x grows to the right and y downwards; pixel (i, j) has its centre at (i + 1/2, j + 1/2). Corners are rounded to 1/256
pixel, half to even. Depth 0 is nearest. Depths keep clear of both ends of their range, so that what rounding does to
a plane never wraps round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.errors import Fault, InputError

__all__ = ["DEPTH_GUARD", "FAR", "REACH", "SUBPIXELS", "ScreenTriangles", "snap"]

SUBPIXELS = 256
"""Steps of a coordinate within a pixel."""

REACH = 1 << 14
"""Coordinates lie within -REACH to REACH pixels, REACH excluded (Larrabee's 15.8 format)."""

FAR = (1 << 24) - 1
"""The depth of an empty pixel."""

DEPTH_GUARD = 128
"""Depths of corners lie within DEPTH_GUARD to FAR - DEPTH_GUARD. A plane is off by at most 1/512 of a step for each
pixel of a triangle's width and height, at most 2 REACH each: by 128 steps."""

_MOST_REPORTED = 20


@dataclass(frozen=True, slots=True, eq=False)
class ScreenTriangles:
    """Triangles with an area, in the order of drawing, corners clockwise as seen on the screen (y downwards).

    ``corners`` is int64[triangle, corner, xy] in 1/256 pixel, ``depths`` int64[triangle, corner], ``colours``
    int64[triangle, corner, rgb]. ``dropped`` triangles had no area after rounding.
    """

    corners: np.ndarray
    depths: np.ndarray
    colours: np.ndarray
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.corners)

    def part(self, which: np.ndarray) -> ScreenTriangles:
        """Return some of the triangles, by index or mask, in their order."""
        return ScreenTriangles(self.corners[which], self.depths[which], self.colours[which])

    @property
    def doubled_areas(self) -> np.ndarray:
        """Twice the area of each triangle in 1/256 x 1/256 pixel: int64, all positive."""
        return _doubled_areas(self.corners)

    @property
    def flat(self) -> np.ndarray:
        """Whether the three corners of a triangle have one colour: bool[triangle]."""
        return (self.colours == self.colours[:, :1]).all(axis=(1, 2))


def snap(points: np.ndarray, depths: np.ndarray, colours: np.ndarray) -> ScreenTriangles:
    """Round triangles to the machines' integers; both windings are drawn.

    ``points`` is float[triangle, corner, xy] in pixels, ``depths`` float[triangle, corner] from 0 (near) to 1 (far),
    ``colours`` uint8[triangle, corner, rgb]. Raises InputError for what is not finite or out of range, for up to 20
    triangles by number.
    """
    points, depths = np.asarray(points, np.float64), np.asarray(depths, np.float64)
    snapped = np.rint(points * SUBPIXELS)
    inside = (snapped >= -REACH * SUBPIXELS) & (snapped < REACH * SUBPIXELS)  # false for what is not a number
    bad_point = ~inside.all(axis=(1, 2))
    bad_depth = ~(np.isfinite(depths) & (depths >= 0) & (depths <= 1)).all(axis=1)
    if bad_point.any() or bad_depth.any():
        raise InputError(_faults(bad_point, bad_depth))
    corners = snapped.astype(np.int64)
    steps = DEPTH_GUARD + np.rint(depths * (FAR - 2 * DEPTH_GUARD)).astype(np.int64)
    found = np.asarray(colours).astype(np.int64)
    area = _doubled_areas(corners)
    turned = area < 0
    for values in (corners, steps, found):
        values[turned, 1:] = values[turned, :0:-1]
    kept = area != 0
    return ScreenTriangles(corners[kept], steps[kept], found[kept], int(np.count_nonzero(~kept)))


def _doubled_areas(corners: np.ndarray) -> np.ndarray:
    (x0, y0), (x1, y1), (x2, y2) = (corners[:, corner].T for corner in range(3))
    return (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)


def _faults(bad_point: np.ndarray, bad_depth: np.ndarray) -> list[Fault]:
    hints = {
        "corner": f"coordinates are finite and from {-REACH} to below {REACH} pixels",
        "depth": "depths are from 0 to 1",
    }
    found = []
    for what, bad in (("corner", bad_point), ("depth", bad_depth)):
        found += [
            Fault(f"triangle {index + 1}: a {what} is out of range or not a number", hint=hints[what])
            for index in np.flatnonzero(bad)[:_MOST_REPORTED]
        ]
    return found[:_MOST_REPORTED]
