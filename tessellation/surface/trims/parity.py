"""Crossings of samples' rays with trim segments, as edge functions of whole numbers: what the array evaluates.

The ray of sample (i, j) of k x k runs towards larger u. A segment from (u0, v0) up to (u1, v1), in multiples of 2^-G,
is crossed where the sample's row lies in v0 <= v < v1 and the sample to the left of the segment: with T = k - 1 where

    T (u1 - u0)(j 2^G - T v0) - T (v1 - v0)(i 2^G - T u0) > 0

or, since i and j are whole, where (u1 - u0) j - (v1 - v0) i + floor((T ((v1 - v0) u0 - (u1 - u0) v0) - 1) / 2^G) >= 0.
Its size is at most T 2^G + 1: 23 bits and a sign. So a sample on a curve is what lies next to it on the right and
above; samples on the sides u = 1 and v = 1 are what lies next to them inside the square.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError
from tessellation.surface.trims.nodes import GRID_BITS
from tessellation.surface.trims.polygon import TrimPolygon

__all__ = ["RayCrossing", "crossings", "parity", "require_simple"]

_ONE = 1 << GRID_BITS


@dataclass(frozen=True, slots=True)
class RayCrossing:
    """Samples whose ray crosses one segment: rows ``first`` to ``last`` where a i + b j + c >= 0.

    Where ``only_last``, they are those of the last column, u = 1, instead, whatever the edge function is.
    """

    first: int
    last: int
    a: int = 0
    b: int = 0
    c: int = 0
    only_last: bool = False


def crossings(polygon: TrimPolygon, samples: int) -> Iterator[RayCrossing]:
    """Yield what must be counted for k x k samples; segments that no row of samples meets are left out."""
    steps = samples - 1
    for u0, v0, u1, v1 in polygon.ends.tolist():
        if v0 > v1:
            u0, v0, u1, v1 = u1, v1, u0, v0
        first = -(-steps * v0 // _ONE)
        last = steps if v1 == _ONE else -(-steps * v1 // _ONE) - 1
        if v0 == v1 or first > last:
            continue
        du, dv = u1 - u0, v1 - v0
        yield RayCrossing(first, last, -dv, du, (steps * (dv * u0 - du * v0) - 1) // _ONE)
        if max(u0, u1) < _ONE:
            continue
        # On u = 1 the edge function is not positive; samples there are what is left of them.
        on_side = [
            j for j in range(first, last + 1) if u0 * dv * steps + du * (j * _ONE - steps * v0) == _ONE * dv * steps
        ]
        if on_side:
            yield RayCrossing(on_side[0], on_side[-1], only_last=True)


def parity(polygon: TrimPolygon, samples: int) -> NDArray[np.bool_]:
    """Return whether each sample belongs to the patch, as the array finds it: bool[k, k], the first index along u."""
    i, j = np.meshgrid(np.arange(samples), np.arange(samples), indexing="ij")
    odd = np.zeros((samples, samples), bool)
    for each in crossings(polygon, samples):
        rows = (each.first <= j) & (j <= each.last)
        odd ^= rows & ((i == samples - 1) if each.only_last else (each.a * i + each.b * j + each.c >= 0))
    return odd


def require_simple(polygon: TrimPolygon, patch: int) -> TrimPolygon:
    """Return the polygon; raise InputError where its loops cross or touch. ``patch`` is the number of the patch."""
    if polygon.contact is not None:
        hint = "allowed: loops that neither cross nor touch, but along the sides of the square"
        raise InputError(Fault(f"patch {patch + 1}: {polygon.contact}", hint=hint))
    return polygon
