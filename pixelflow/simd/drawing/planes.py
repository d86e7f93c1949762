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
    "exact_planes",
    "planes_of",
    "texture_planes_of",
]

DEPTH_FRACTION = 8
COLOUR_FRACTION = 16
_DEPTH_BITS = 24 + DEPTH_FRACTION
_COLOUR_BITS = 8 + COLOUR_FRACTION
_TEXTURE_BITS = 32
_SUBPIXEL_BITS = SUBPIXELS.bit_length() - 1
_LOWER = 12
"""Bits of the lower part of a distance to the anchor, which has 24 with its sign."""


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
        bits, fractions = (np.array(each[planes], np.int64) for each in (self.bits, self.fractions))
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
    fractions = np.array(Planes.fractions[:planes], np.int64)
    a, b, c = exact_planes(triangles, values, fractions, place)
    mask = (1 << np.array(Planes.bits[:planes], np.int64)) - 1
    return Planes(a & mask, b & mask, c + (1 << fractions - 1) & mask)


def texture_planes_of(triangles: ScreenTriangles, place: tuple[int, int] = CENTRE) -> Planes:
    """Return the planes of the texture coordinates u and v, in 1/65536 texel modulo 2^32, two a triangle.

    Their slopes and anchors are rounded to 1/65536 texel. Raises ValueError for triangles without coordinates.
    """
    if triangles.coordinates is None:
        raise ValueError("these triangles have no texture coordinates")
    found = exact_planes(triangles, triangles.coordinates, np.zeros(2, np.int64), place)
    return Planes(*(each & (1 << _TEXTURE_BITS) - 1 for each in found))


def exact_planes(
    triangles: ScreenTriangles, values: np.ndarray, fractions: np.ndarray, place: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B and C of values [triangle, corner, plane], in steps of 2^-fraction: int64[triangle, plane] each.

    They are exact modulo 2^64. A numerator may need more than 64 bits, so each is divided as it is put together, and
    goes on as a whole part and a remainder that is below the area: differences of coordinates have 23 bits, areas 47,
    values 31, fractions 16, and no term reaches 2^62. Whole parts may wrap round, as they do modulo 2^64.
    """
    x, y = (triangles.corners[..., axis].T[..., None] for axis in range(2))
    area = triangles.doubled_areas[:, None]
    # The anchor; a triangle lies to the right of it and below but for a part of a pixel.
    left, top = x.min(axis=0) // SUBPIXELS, y.min(axis=0) // SUBPIXELS
    to_x, to_y = left * SUBPIXELS + place[0] - x[0], top * SUBPIXELS + place[1] - y[0]
    v0 = values[:, 0]
    v1, v2 = values[:, 1] - v0, values[:, 2] - v0
    whole_x, rest_x = _divided(v1 * (y[2] - y[0]) - v2 * (y[1] - y[0]), area)
    whole_y, rest_y = _divided(v2 * (x[1] - x[0]) - v1 * (x[2] - x[0]), area)
    a, b = (
        _rounded(*_longer(whole, rest, area, _SUBPIXEL_BITS + fractions), area)
        for whole, rest in ((whole_x, rest_x), (whole_y, rest_y))
    )
    # Remainders times distances: the upper parts of the distances first, then what is left with the lower ones.
    upper, rest = _divided(rest_x * (to_x >> _LOWER) + rest_y * (to_y >> _LOWER), area)
    low_x, low_y = to_x & (1 << _LOWER) - 1, to_y & (1 << _LOWER) - 1
    lower, rest = _divided((rest << _LOWER) + rest_x * low_x + rest_y * low_y, area)
    whole = v0 + whole_x * to_x + whole_y * to_y + (upper << _LOWER) + lower
    anchor = _rounded(*_longer(whole, rest, area, fractions), area)
    return a, b, anchor - a * left - b * top


def _divided(numerator: np.ndarray, area: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return quotients, rounded down, and remainders, from 0 to below the area."""
    whole = numerator // area
    return whole, numerator - whole * area


def _longer(whole: np.ndarray, rest: np.ndarray, area: np.ndarray, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return quotients and remainders of numerators 2^bits times as large, by as many bits at once as have room."""
    room = 63 - int(area.max(initial=1)).bit_length()
    while bits.any():
        step = np.minimum(bits, room)
        more, rest = _divided(rest << step, area)
        whole, bits = (whole << step) + more, bits - step
    return whole, rest


def _rounded(whole: np.ndarray, rest: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Return the nearest integers to quotients, halves upwards."""
    return whole + (2 * rest >= area)
