"""Edges and planes of a triangle as integers A, B, C: their value at pixel (i, j) is A i + B j + C.

An edge and a plane are taken at a pixel's centre or at one of its samples.

An edge is negative inside. Before it is divided by 256, 1 is taken off the edges that own the pixels on them: left
edges, and horizontal ones at the top. The same place in every pixel has the same fraction of an edge's value, so that
floor(edge / 256) keeps every sign; that is the value here.

A plane carries depth or a colour. Its slopes are rounded to the nearest multiple of 2^-fraction, and it is anchored at
the pixel that holds the least x and the least y of the triangle, where its value is rounded in the same way; half a
step is added, so that cutting the fraction off rounds. It is taken modulo 2^bits.
"""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing.triangles import SUBPIXELS, ScreenTriangles
from pixelflow.simd.records import record

__all__ = [
    "CENTRE",
    "COLOUR_FRACTION",
    "DEPTH_FRACTION",
    "SAMPLES",
    "Edges",
    "Planes",
    "edges_of",
    "planes_of",
    "texture_planes_of",
]

DEPTH_FRACTION = 8
COLOUR_FRACTION = 16
_DEPTH_BITS = 24 + DEPTH_FRACTION
_COLOUR_BITS = 8 + COLOUR_FRACTION
_TEXTURE_BITS = 32


@record(eq=False)
class Edges:
    """The three edges of each triangle: int64[triangle, edge] each; a, b within 24 bits, c within 41."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


@record(eq=False)
class Planes:
    """Depth and colours of each triangle: int64[triangle, plane] each, 0 to below 2^bits; planes are z, r, g, b.

    Planes of a texture are u and v, of 32 bits.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray

    bits = (_DEPTH_BITS, _COLOUR_BITS, _COLOUR_BITS, _COLOUR_BITS)
    fractions = (DEPTH_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION)


CENTRE = (SUBPIXELS // 2, SUBPIXELS // 2)
SAMPLES = tuple((16 * x, 16 * y) for x, y in ((6, 2), (14, 6), (2, 10), (10, 14)))
"""Where in a pixel its centre and its four samples lie, x and y in 1/256; the samples are Direct3D's standard ones."""


def edges_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Edges:
    """Return the edges at a place in the pixels, each from a corner to the next, beginning with corners 0 and 1."""
    x, y = triangles.corners[..., 0], triangles.corners[..., 1]
    dx, dy = np.roll(x, -1, axis=1) - x, np.roll(y, -1, axis=1) - y
    owns = (dy < 0) | ((dy == 0) & (dx > 0))
    value = dy * (place[0] - x) - dx * (place[1] - y) - owns
    return Edges(dy, -dx, value // SUBPIXELS)


def planes_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Planes:
    """Return the planes of depth, red, green and blue, at a place in the pixels."""
    values = np.concatenate([triangles.depths[..., None], triangles.colours], axis=-1)
    found = np.empty((3, len(triangles), 4), np.int64)
    for plane, (bits, fraction) in enumerate(zip(Planes.bits, Planes.fractions, strict=True)):
        a, b, c = _plane(triangles, values[..., plane], fraction, place)
        half = 1 << fraction - 1
        for row, number in enumerate((a, b, c + half)):
            found[row, :, plane] = (number % (1 << bits)).astype(np.int64)
    return Planes(*found)


def texture_planes_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Planes:
    """Return the planes of the texture coordinates u and v, in 1/65536 texel modulo 2^32, two a triangle.

    Their slopes and anchors are rounded to 1/65536 texel. Raises ValueError for triangles without coordinates.
    """
    if triangles.coordinates is None:
        raise ValueError("these triangles have no texture coordinates")
    found = np.empty((3, len(triangles), 2), np.int64)
    for plane in range(2):
        for row, number in enumerate(_plane(triangles, triangles.coordinates[..., plane], 0, place)):
            found[row, :, plane] = (number % (1 << _TEXTURE_BITS)).astype(np.int64)
    return Planes(*found)


def _plane(
    triangles: ScreenTriangles, values: np.ndarray, fraction: int, place: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B and C of values at the corners, as unbounded integers in steps of 2^-fraction."""
    # Products of 24-bit depths, two 24-bit differences and the fraction need more than 64 bits: Python's own integers.
    x, y = triangles.corners[..., 0].astype(object).T, triangles.corners[..., 1].astype(object).T
    area = triangles.doubled_areas.astype(object)
    # The anchor; a triangle lies to the right of it and below but for a part of a pixel.
    left = triangles.corners[..., 0].min(axis=1) // SUBPIXELS
    top = triangles.corners[..., 1].min(axis=1) // SUBPIXELS
    to_x = (left * SUBPIXELS + place[0]).astype(object) - x[0]
    to_y = (top * SUBPIXELS + place[1]).astype(object) - y[0]
    v0, v1, v2 = values.astype(object).T
    slope_x = (v1 - v0) * (y[2] - y[0]) - (v2 - v0) * (y[1] - y[0])
    slope_y = (v2 - v0) * (x[1] - x[0]) - (v1 - v0) * (x[2] - x[0])
    a = _rounded(slope_x * (SUBPIXELS << fraction), area)
    b = _rounded(slope_y * (SUBPIXELS << fraction), area)
    anchor = _rounded((v0 * area + slope_x * to_x + slope_y * to_y) * (1 << fraction), area)
    return a, b, anchor - a * left - b * top


def _rounded(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the nearest integers to positive denominators' quotients, halves upwards."""
    return (2 * numerator + denominator) // (2 * denominator)
