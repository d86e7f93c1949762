"""Triangles on the screen as integers: corners in 15.8 fixed point, depths of 24 bits, colours of 8.

x grows to the right and y downwards; pixel (i, j) has its centre at (i + 1/2, j + 1/2). Corners are rounded to 1/256
pixel, half to even. Depth 0 is nearest. Depths keep clear of both ends of their range, so that what rounding does to
a plane never wraps round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelflow.simd.errors import Fault, InputError

SUBPIXELS = 256
"""Steps of a coordinate within a pixel."""

CENTRE = (SUBPIXELS // 2, SUBPIXELS // 2)
SAMPLES = tuple((16 * x, 16 * y) for x, y in ((6, 2), (14, 6), (2, 10), (10, 14)))
"""Centre and four samples of a pixel, x and y in 1/256; the samples are Direct3D's standard ones."""

TEXEL = 1 << 16
"""Steps of a texture coordinate within a texel."""

REACH = 1 << 14
"""Coordinates are from -REACH to REACH pixels, REACH excluded (Larrabee's 15.8 format)."""

FAR = (1 << 24) - 1
"""The depth of an empty pixel."""

DEPTH_GUARD = 128
"""Depths of corners are from DEPTH_GUARD to FAR - DEPTH_GUARD. A plane is off by at most 1/512 of a step for each
pixel of a triangle's width and height, at most 2 REACH each: by 128 steps."""

NEAREST = 1 << 30
"""Of the inverse of a corner's distance from the eye along the view, 1 / w: the share that stands for 1."""

LEAST_NEARNESS = 1 << 17
"""The least share that a corner has, so that within a triangle its plane is more than twice what rounding may take from
a plane: up to 2^15 + 2 (a half for each pixel of width and height, at most 2 REACH each, a half of the anchor, and what
a numerator is rounded by)."""

_MOST_REPORTED = 20


@dataclass(frozen=True, slots=True, eq=False)
class ScreenTriangles:
    """Triangles with an area, in the order of drawing, corners clockwise as seen on the screen (y downwards).

    ``corners`` is int64[triangle, corner, xy] in 1/256 pixel, ``depths`` int64[triangle, corner], ``colours``
    int64[triangle, corner, rgb]. ``coordinates`` is int64[triangle, corner, uv] in 1/65536 texel, or None where there
    is not a texture. ``dropped`` triangles had no area after rounding. ``given`` is int64[triangle, corner], the number
    that a corner had among all corners that were snapped; parts and joined triangles do not have it. ``nearness`` is
    int64[triangle, corner], 1 / w of corners in shares of `NEAREST`, LEAST_NEARNESS to below NEAREST, so that colours
    and coordinates follow perspective; None where they are linear on the screen.
    """

    corners: np.ndarray
    depths: np.ndarray
    colours: np.ndarray
    dropped: int = 0
    coordinates: np.ndarray | None = None
    given: np.ndarray | None = None
    nearness: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.corners)

    def part(self, which: np.ndarray) -> ScreenTriangles:
        """Return some of the triangles, by index or mask, in their order."""
        coordinates, nearness = (None if each is None else each[which] for each in (self.coordinates, self.nearness))
        return ScreenTriangles(
            self.corners[which], self.depths[which], self.colours[which], coordinates=coordinates, nearness=nearness
        )

    @classmethod
    def joined(cls, parts: Sequence[ScreenTriangles]) -> ScreenTriangles:
        """Return the triangles of several parts, in their order, without texture coordinates."""
        if not parts:
            return cls(np.zeros((0, 3, 2), np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 3, 3), np.int64))
        corners, depths, colours = zip(*((part.corners, part.depths, part.colours) for part in parts), strict=True)
        dropped = sum(part.dropped for part in parts)
        nearness = None
        if any(part.nearness is not None for part in parts):
            alike = [np.full((len(part), 3), NEAREST - 1) if part.nearness is None else part.nearness for part in parts]
            nearness = np.concatenate(alike)
        return cls(np.concatenate(corners), np.concatenate(depths), np.concatenate(colours), dropped, nearness=nearness)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest x and y of each triangle: int64[triangle, xy] each."""
        a, b, c = np.ascontiguousarray(self.corners.transpose(1, 2, 0))
        return np.minimum(np.minimum(a, b), c).T, np.maximum(np.maximum(a, b), c).T

    @property
    def doubled_areas(self) -> np.ndarray:
        """Twice the area of each triangle in 1/256 x 1/256 pixel: int64, all positive."""
        return doubled_areas(self.corners)

    @property
    def flat(self) -> np.ndarray:
        """True if the three corners of a triangle have one colour: bool[triangle]."""
        a, b, c = self.colours.transpose(1, 2, 0)
        return ((a == b) & (a == c)).all(axis=0)

    @property
    def level(self) -> np.ndarray:
        """True if the three corners of a triangle are equally far, so that all is linear on it: bool[triangle]."""
        if self.nearness is None:
            return np.ones(len(self), bool)
        return (self.nearness == self.nearness[:, :1]).all(axis=1)


def snap(
    points: np.ndarray,
    depths: np.ndarray,
    colours: np.ndarray,
    coordinates: np.ndarray | None = None,
    nearness: np.ndarray | None = None,
) -> ScreenTriangles:
    """Round triangles to the machines' integers; both windings are drawn.

    ``points`` is float[triangle, corner, xy] in pixels, ``depths`` float[triangle, corner] from 0 (near) to 1 (far),
    ``colours`` uint8[triangle, corner, rgb] or other whole numbers from 0 to 255, ``coordinates`` float[triangle,
    corner, uv] in texels, within -REACH to REACH, ``nearness`` float[triangle, corner] in proportion to 1 / w, above 0
    and up to 1; what is below LEAST_NEARNESS / NEAREST is raised to it. Raises InputError for what is not finite or out
    of range, for up to 20 triangles by number.
    """
    points, depths = np.asarray(points, np.float64), np.asarray(depths, np.float64)
    snapped = np.rint(points * SUBPIXELS)
    inside = (snapped >= -REACH * SUBPIXELS) & (snapped < REACH * SUBPIXELS)  # false for what is not a number
    bad = {"corner": ~inside, "depth": ~((depths >= 0) & (depths <= 1))}
    texels = None if coordinates is None else np.rint(np.asarray(coordinates, np.float64) * TEXEL)
    colours = np.asarray(colours)
    bad["colour"] = ~((colours >= 0) & (colours <= 255) & (colours == np.rint(colours)))
    if texels is not None:
        bad["texture coordinate"] = ~(np.abs(texels) < REACH * TEXEL)
    shares = None if nearness is None else np.asarray(nearness, np.float64)
    if shares is not None:
        bad["nearness"] = ~((shares > 0) & (shares <= 1))
    if any(each.any() for each in bad.values()):
        raise InputError(_faults(bad))
    corners = snapped.astype(np.int64)
    steps = DEPTH_GUARD + np.rint(depths * (FAR - 2 * DEPTH_GUARD)).astype(np.int64)
    found = colours.astype(np.int64)
    texels = None if texels is None else texels.astype(np.int64)
    near = None
    if shares is not None:
        near = np.clip(np.rint(shares * NEAREST).astype(np.int64), LEAST_NEARNESS, NEAREST - 1)
    area = doubled_areas(corners)
    turned = area < 0
    given = np.arange(3 * len(corners)).reshape(-1, 3)
    for values in (corners, steps, found, texels, given, near):
        if values is not None:
            values[turned, 1:] = values[turned, :0:-1]
    kept = area != 0
    dropped = int(np.count_nonzero(~kept))
    texels, near = (None if each is None else each[kept] for each in (texels, near))
    return ScreenTriangles(corners[kept], steps[kept], found[kept], dropped, texels, given[kept], near)


def doubled_areas(corners: np.ndarray) -> np.ndarray:
    """Return twice the area of triangles, negative where corners run the other way: int64[triangle]."""
    (x0, y0), (x1, y1), (x2, y2) = (corners[:, corner].T for corner in range(3))
    return (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)


def _faults(bad: dict[str, np.ndarray]) -> list[Fault]:
    hints = {
        "corner": f"coordinates are finite and from {-REACH} to below {REACH} pixels",
        "depth": "depths are from 0 to 1",
        "colour": "colours are whole numbers from 0 to 255",
        "texture coordinate": f"texture coordinates are within {REACH} texels of 0",
        "nearness": "shares of 1 / w are above 0 and up to 1",
    }
    found = []
    for what, where in bad.items():
        found += [
            Fault(f"triangle {index + 1}: a {what} is out of range or not a number", hint=hints[what])
            for index in np.flatnonzero(where.reshape(len(where), -1).any(axis=1))[:_MOST_REPORTED]
        ]
    return found[:_MOST_REPORTED]


# Clip space: where vertices go before they are cut and divided, -w <= x, y <= w and 0 <= z <= w.


def perspective(
    eye: ArrayLike, axes: ArrayLike, focal: float, width: int, height: int, near: float, far: float
) -> NDArray[np.float64]:
    """Return the matrix of a camera, float64[4, 4]: from a model to -w <= x, y <= w, 0 <= z <= w.

    ``axes`` are right, up and back as rows, ``focal`` is pixels per unit at distance 1, as a camera of
    `tessellation.picture` has them. Depth is 0 at distance ``near``, 1 at ``far``, and linear in -1/distance between
    them.
    """
    local = np.concatenate([np.asarray(axes, float), -(np.asarray(axes, float) @ np.asarray(eye, float))[:, None]], 1)
    right, up, back = local
    rows = np.stack([2 * focal / width * right, 2 * focal / height * up, np.zeros(4), -back])
    rows[2] = far / (far - near) * rows[3]
    rows[2, 3] -= far * near / (far - near)
    return rows
