"""Planes of a triangle as integers A, B, C: their value at pixel (i, j) is A i + B j + C.

A plane is taken at a pixel's centre or at one of its samples. It carries depth or a colour. Its slopes are rounded to
the nearest multiple of 2^-fraction, and it is anchored at the pixel that holds the least x and the least y of the
triangle, where its value is rounded in the same way; half a step is added, so that cutting the fraction off rounds. It
is taken modulo 2^bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pixelflow.simd.drawing.mipmaps import NO_COORDINATE
from pixelflow.simd.drawing.triangles import CENTRE, NEAREST, SUBPIXELS, ScreenTriangles

DEPTH_FRACTION = 8
COLOUR_FRACTION = 16
_DEPTH_BITS = 24 + DEPTH_FRACTION
_COLOUR_BITS = 8 + COLOUR_FRACTION
_TEXTURE_BITS = 32
_SUBPIXEL_BITS = SUBPIXELS.bit_length() - 1
_LOWER = 12
"""Bits of the lower part of a distance to the anchor, which has 24 with its sign."""


@dataclass(frozen=True, eq=False)
class Planes:
    """Depth and colours of each triangle: int64[triangle, plane] each, 0 to below 2^bits; planes are z, r, g, b.

    Planes of a texture are u and v, of 32 bits.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray

    bits = (_DEPTH_BITS, _COLOUR_BITS, _COLOUR_BITS, _COLOUR_BITS)
    fractions = (DEPTH_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION, COLOUR_FRACTION)

    def depths_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return depths without their fractions at pixels: int32[pixel]."""
        return (self._value(0, triangle, column, row) >> DEPTH_FRACTION).view(np.int32)

    def colours_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return colours without their fractions at pixels: int64[pixel, rgb]."""
        found = [self._value(plane, triangle, column, row) >> COLOUR_FRACTION & 0xFF for plane in (1, 2, 3)]
        return np.stack(found, axis=-1).astype(np.int64)

    def texels_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return u and v, modulo 2^32, at pixels, where these are planes of a texture: int64[pixel, 2]."""
        return np.stack([self._value(plane, triangle, column, row) for plane in (0, 1)], axis=-1).astype(np.int64)

    @cached_property
    def _tables(self) -> tuple[np.ndarray, ...]:
        return tuple([np.ascontiguousarray(values.T, np.uint32) for values in (self.a, self.b, self.c)])

    def _value(self, plane: int, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return values modulo 2^32, which is a multiple of what all are taken modulo: uint32[pixel]."""
        a, b, c = (values[plane].take(triangle) for values in self._tables)
        return a * column.astype(np.uint32, copy=False) + b * row.astype(np.uint32, copy=False) + c


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
    continues as a whole part and a remainder that is below the area: differences of coordinates have 23 bits, areas 47,
    values 31, fractions 16, and no term reaches 2^62. Whole parts may wrap round, as they do modulo 2^64.
    """
    # One plane after the other, each of all triangles: numpy is slow along short axes.
    x, y = np.ascontiguousarray(triangles.corners.transpose(2, 1, 0))
    area, fractions = triangles.doubled_areas, fractions[:, None]
    # The anchor; a triangle is to the right of it and below but for a part of a pixel.
    left, top = x.min(axis=0) // SUBPIXELS, y.min(axis=0) // SUBPIXELS
    to_x, to_y = left * SUBPIXELS + place[0] - x[0], top * SUBPIXELS + place[1] - y[0]
    v0, v1, v2 = np.ascontiguousarray(values.transpose(1, 2, 0))
    v1, v2 = v1 - v0, v2 - v0
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
    return a.T, b.T, (anchor - a * left - b * top).T


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


# Values of triangles at pixels: linear on the screen, or perspective-correct as quotients of planes.
#
# In perspective what is linear on the screen is a value over its distance w from the eye, and 1 / w itself. So a
# triangle whose corners have a nearness q, 1 / w in shares of 2^30, has a plane D of q and for each value a plane N of
#
# n = floor((2 c + 1) q / 2^9)  for a colour c, half a step being added as for all colours, and
# n = floor(u q / 2^K)          for a coordinate u in 1/65536 texel,
#
# all with slopes and anchors rounded to integers (`exact_planes`), modulo 2^32 and read as signed. K is the least even
# number starting at 16 for which all coordinates of a draw are below 2^K. At a pixel
#
# colour = floor(2^8 N / D), at least 0 and at most 255,    u = floor(2^K N / D) modulo 2^32.
#
# Where the three corners are equally far, D is 2^30 and N is the plane that is linear on the screen, moved up by 6 bits
# or by 30 - K: the quotient then is what there is without perspective, to the bit. Within a triangle D is above half of
# any N: it is at least 2^17 less what rounding may take from it.


COLOUR_STEPS = 8
"""Bits of the quotient that is a colour."""
DIVISOR = 0
NUMERATORS = slice(1, 4)
"""Positions of the planes of the divisor and of red, green and blue among those of a triangle; u and v follow."""

_NEAREST_BITS = NEAREST.bit_length() - 1
_LEAST_BITS = 16
_WORD = 1 << 32


def coordinate_bits(triangles: ScreenTriangles) -> int:
    """Return K: the least even number starting at 16 for which all coordinates are below 2^K in size."""
    largest = 0 if triangles.coordinates is None else int(np.abs(triangles.coordinates).max(initial=0))
    return max(_LEAST_BITS, largest.bit_length() + largest.bit_length() % 2)


def steady(triangles: ScreenTriangles) -> np.ndarray:
    """Return which triangles have one colour in all of their pixels, whatever a quotient would round: bool[triangle].

    Within a triangle of w by h pixels a plane is off by at most half a step for each of w + 1 and h + 1 pixels and half
    a step of its anchor, numerators by one more. With half a step of colour, N is that of c + 1/2: the quotient is c
    where D is more than 512 times both together.
    """
    low, high = triangles.bounds
    reach = (high // SUBPIXELS - low // SUBPIXELS).sum(axis=1) + 2
    least = NEAREST if triangles.nearness is None else triangles.nearness.min(axis=1)
    return triangles.flat & (triangles.level | (least > 512 * (reach + 2) + reach // 2 + 1))


class Quotients(NamedTuple):
    """Planes of divisors and numerators: int64[triangle, plane] each, 0 to below 2^32; D, r, g, b and perhaps u, v.

    ``bits`` is K, by how many bits numerators of u and v go up before they are divided.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    bits: int

    def colours_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return colours at pixels that the triangles cover: int64[pixel, rgb]."""
        values = self._values(triangle, column, row)
        quotients = (values[..., NUMERATORS] << COLOUR_STEPS) // _divisors(values)
        return np.clip(quotients, 0, (1 << COLOUR_STEPS) - 1)

    def texels_at(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return u and v at pixels, modulo 2^32: int64[pixel, 2].

        Outside a triangle N and D may be anything; where D is not above half of both N, u is NO_COORDINATE.
        """
        values = self._values(triangle, column, row)
        numerators, divisors = values[..., NUMERATORS.stop :], _divisors(values)
        found = (numerators << self.bits) // divisors & _WORD - 1
        none = np.abs(numerators >> 1).max(axis=-1) >= values[..., DIVISOR]
        found[none, 0] = NO_COORDINATE
        return found

    def _values(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        a, b, c = (values.T.take(triangle, axis=1) for values in (self.a, self.b, self.c))
        found = a * column + b * row + c & _WORD - 1
        return np.moveaxis(found - (found >> 31) * _WORD, 0, -1)


def _divisors(values: np.ndarray) -> np.ndarray:
    return np.maximum(values[..., DIVISOR], 1)[..., None]  # where no triangle is, it may be anything


def quotients_of(
    triangles: ScreenTriangles, place: tuple[int, int] = CENTRE, *, textured: bool = False, bits: int | None = None
) -> Quotients:
    """Return the planes at a place in the pixels; with ``textured`` those of u and v as well.

    ``bits`` is K of the draw that the triangles are part of, or without it their own. Triangles without nearness are
    equally far everywhere. Raises ValueError for coordinates that are not there.
    """
    bits = coordinate_bits(triangles) if bits is None else bits
    level = triangles.level[:, None]
    near = NEAREST if triangles.nearness is None else np.where(level, NEAREST, triangles.nearness)
    near = np.broadcast_to(near, (len(triangles), 3))[..., None]
    doubled = 2 * triangles.colours + 1
    parts = [near, np.where(level[..., None], doubled << COLOUR_FRACTION - 1, doubled * near >> COLOUR_STEPS + 1)]
    ups = [0, *[_NEAREST_BITS - COLOUR_STEPS - COLOUR_FRACTION] * 3]
    if textured:
        if triangles.coordinates is None:
            raise ValueError("these triangles have no texture coordinates")
        parts.append(np.where(level[..., None], triangles.coordinates, triangles.coordinates * near >> bits))
        ups += [_NEAREST_BITS - bits] * 2
    values = np.concatenate(parts, axis=-1)
    up = np.where(level[:, 0], np.array(ups)[:, None], 0).T
    found = exact_planes(triangles, values, np.zeros(values.shape[-1], np.int64), place)
    a, b, c = (each << up & _WORD - 1 for each in found)
    return Quotients(a, b, c, bits)


class Interpolation(NamedTuple):
    """Depths, colours and texture coordinates of triangles at a place in the pixels, however they are interpolated.

    Pixels are named by their triangle, column and row, int64[pixel] each, and are covered by it; arrays of more
    dimensions that fit each other give such results.
    """

    planes: Planes
    texture: Planes | None
    quotients: Quotients | None

    @classmethod
    def of(
        cls,
        triangles: ScreenTriangles,
        place: tuple[int, int] = CENTRE,
        *,
        textured: bool = False,
        colours: bool = True,
    ) -> Interpolation:
        """Return it, without ``colours`` where none are asked for.

        Raises ValueError for triangles that are ``textured`` and have no coordinates.
        """
        planes = planes_of(triangles, place, colours=colours)
        if triangles.nearness is not None and (textured or colours):
            return cls(planes, None, quotients_of(triangles, place, textured=textured))
        return cls(planes, texture_planes_of(triangles, place) if textured else None, None)

    def depths(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return depths: int32[pixel]."""
        return self.planes.depths_at(triangle, column, row)

    def colours(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return colours: int64[pixel, rgb]."""
        if self.quotients is not None:
            return self.quotients.colours_at(triangle, column, row)
        return self.planes.colours_at(triangle, column, row)

    def texels(self, triangle: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return u and v modulo 2^32: int64[pixel, 2]. Raises ValueError where nothing is textured."""
        if self.quotients is not None:
            return self.quotients.texels_at(triangle, column, row)
        if self.texture is None:
            raise ValueError("these triangles have no texture coordinates")
        return self.texture.texels_at(triangle, column, row)
