"""Planes of a triangle as integers A, B, C: their value at pixel (i, j) is A i + B j + C.

A plane is taken at a pixel's centre or at one of its samples. It carries depth or a colour. Its slopes are rounded to
the nearest multiple of 2^-fraction, and it is anchored at the pixel that holds the least x and the least y of the
triangle, where its value is rounded in the same way; half a step is added, so that cutting the fraction off rounds. It
is taken modulo 2^bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.simd.drawing.triangles import CENTRE, SUBPIXELS, ScreenTriangles

__all__ = [
    "COLOUR_FRACTION",
    "DEPTH_FRACTION",
    "Planes",
    "planes_of",
    "texture_planes_of",
]

DEPTH_FRACTION = 8
COLOUR_FRACTION = 16
_DEPTH_BITS = 24 + DEPTH_FRACTION
_COLOUR_BITS = 8 + COLOUR_FRACTION
_TEXTURE_BITS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    """Depth and colours of each triangle: int64[triangle, plane] each, 0 to below 2^bits; planes are z, r, g, b.

    Planes of a texture are u and v, of 32 bits.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray

    bits = (_DEPTH_BITS, _COLOUR_BITS, _COLOUR_BITS, _COLOUR_BITS)
    fractions = (DEPTH_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION)

    def at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray, planes: slice = slice(None)) -> np.ndarray:
        """Return depth and colours without their fractions, or some of the four, at pixels: int64[pixel, plane]."""
        bits, fractions = np.array(self.bits[planes]), np.array(self.fractions[planes])
        return (self._value(triangle, column, row, planes) & (1 << bits) - 1) >> fractions

    def texels_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return u and v, modulo 2^32, at pixels, where these are planes of a texture: int64[pixel, 2]."""
        return self._value(triangle, column, row, slice(None)) & (1 << _TEXTURE_BITS) - 1

    def _value(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray, planes: slice) -> np.ndarray:
        a, b, c = (values[:, planes][triangle] for values in (self.a, self.b, self.c))
        return a * column[:, None] + b * row[:, None] + c


def planes_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE, *, colours: bool = True) -> Planes:
    """Return the planes of depth, red, green and blue, at a place in the pixels, or without ``colours`` of depth."""
    values = triangles.depths[..., None]
    if colours:
        values = np.concatenate([values, triangles.colours], axis=-1)
    planes = values.shape[-1]
    fractions = np.array(Planes.fractions[:planes])
    a, b, c = _planes(triangles, values, fractions, place)
    mask = (1 << np.array(Planes.bits[:planes])) - 1
    return Planes(a & mask, b & mask, c + (1 << fractions - 1) & mask)


def texture_planes_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Planes:
    """Return the planes of the texture coordinates u and v, in 1/65536 texel modulo 2^32, two a triangle.

    Their slopes and anchors are rounded to 1/65536 texel. Raises ValueError for triangles without coordinates.
    """
    if triangles.coordinates is None:
        raise ValueError("these triangles have no texture coordinates")
    found = _planes(triangles, triangles.coordinates, np.zeros(2, np.int64), place)
    return Planes(*(found & (1 << _TEXTURE_BITS) - 1))


def _planes(
    triangles: ScreenTriangles, values: np.ndarray, fractions: np.ndarray, place: tuple[int, int]
) -> np.ndarray:
    """Return A, B and C of values [triangle, corner, plane], in steps of 2^-fraction: int64[3, triangle, plane].

    They are exact modulo 2^64.
    """
    # A product of a value, two differences of coordinates and the fraction may need more than 64 bits: such triangles
    # are worked out in Python's own integers, which takes far longer.
    low, high = triangles.bounds
    side = (high - low).max(axis=1, initial=0) + SUBPIXELS
    size = (2 * np.abs(values).max(axis=1, initial=0) * 2.0**fractions).max(axis=1, initial=0)
    small = 10.0 * size * side * side < 2.0**62
    found = np.empty((3, len(triangles), len(fractions)), np.int64)
    for which, kind in ((small, np.int64), (~small, object)):
        if which.any():
            corners, area = triangles.corners[which].astype(kind), triangles.doubled_areas[which].astype(kind)
            found[:, which] = _exact_planes(corners, area, values[which].astype(kind), fractions.astype(kind), place)
    return found


def _exact_planes(
    corners: np.ndarray, area: np.ndarray, values: np.ndarray, fractions: np.ndarray, place: tuple[int, int]
) -> list[np.ndarray]:
    """Return A, B and C modulo 2^64, by integers that hold every numerator twice."""
    x, y, area = corners[..., 0].T[..., None], corners[..., 1].T[..., None], area[:, None]
    # The anchor; a triangle lies to the right of it and below but for a part of a pixel.
    left, top = x.min(axis=0) // SUBPIXELS, y.min(axis=0) // SUBPIXELS
    to_x, to_y = left * SUBPIXELS + place[0] - x[0], top * SUBPIXELS + place[1] - y[0]
    v0, v1, v2 = (values[:, corner] for corner in range(3))
    slope_x = (v1 - v0) * (y[2] - y[0]) - (v2 - v0) * (y[1] - y[0])
    slope_y = (v2 - v0) * (x[1] - x[0]) - (v1 - v0) * (x[2] - x[0])
    a = _rounded(slope_x * (SUBPIXELS << fractions), area)
    b = _rounded(slope_y * (SUBPIXELS << fractions), area)
    anchor = _rounded((v0 * area + slope_x * to_x + slope_y * to_y) * (1 << fractions), area)
    return [_modulo(each) for each in (a, b, anchor - a * left - b * top)]


def _rounded(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the nearest integers to positive denominators' quotients, halves upwards."""
    return (2 * numerator + denominator) // (2 * denominator)


def _modulo(values: np.ndarray) -> np.ndarray:
    """Return integers modulo 2^64, by which int64 itself is worked out: int64."""
    if values.dtype == np.int64:
        return values
    return (values % (1 << 64)).astype(np.uint64).view(np.int64)
