"""Control values in fixed point: integers of 40 bits with one exponent for all coordinates of a patch.

A Bernstein value of degree d at t = a / s is an integer over s^d, as s = k - 1 is whole. So a bicubic point is a sum of
products of integers, exact except for the rounding of control points to the common grid: coordinates that are 0, or at
least 2^-15 of the largest, lose nothing. `refusal` checks that the loss is within half of the limits of error at every
sample of every k; otherwise the patch is stored as floats and takes a pass of shared columns.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np

from tessellation.plan.mapping import BLOCK_SIDE, MAX_SAMPLES, MIN_SAMPLES
from tessellation.plan.memory_map import AXES, FLOAT_BYTES, MemoryMap, MemoryUse
from tessellation.surface.patch import Patch
from tessellation.surface.reference import LIMIT, UNIT, weights_at

VALUE_BYTES = 5
"""Bytes of a control value: 39 bits and the sign, as offset binary."""

COUNTS = (4, 4)
"""Control points of the nets that take this form."""

_LEAST_EXPONENT = 64
"""Smallest biased binary32 exponent of a patch's largest coordinate: below it a point could be too small a float."""

_SHARE_BYTES = 16
_BIAS = 126


class FixedFormat(NamedTuple):
    """Sizes of the integers of a pass at k samples a side."""

    samples: int

    @property
    def steps(self) -> int:
        """Denominator of the parameters, k - 1."""
        return self.samples - 1

    @property
    def weight_bytes(self) -> int:
        """Bytes of an integer Bernstein value: one while four inner sums and their differences fit 48 bits."""
        return 1 if 2 * self.steps**3 <= 1 << 8 else 2

    @property
    def inner_bytes(self) -> int:
        """Bytes of a sum along u."""
        return VALUE_BYTES + self.weight_bytes

    @property
    def outer_bytes(self) -> int:
        """Bytes of a sum along u and v."""
        return VALUE_BYTES + 2 * self.weight_bytes

    def weights(self, degree: int) -> tuple[tuple[int, ...], ...]:
        """Return s^degree B_0 .. B_degree at a / s, one tuple for each a."""
        s = self.steps
        return tuple(
            tuple(comb(degree, i) * a**i * (s - a) ** (degree - i) for i in range(degree + 1)) for a in range(s + 1)
        )


def _integers(patch: Patch) -> tuple[np.ndarray, int]:
    """Return the control points on the grid of a patch, int64[4, 4, xyz], and the exponent of the grid's end."""
    points = patch.points32.astype(np.float64)
    exponent = int(np.frexp(np.abs(points).max())[1])
    return np.rint(np.ldexp(points, 8 * VALUE_BYTES - 1 - exponent)).astype(np.int64), exponent


_ALLOWED = LIMIT / 2 * UNIT
"""Error that the grid may cause, relative to magnitude or condition; the arithmetic has the other half of the limit."""


@cache
def _weights() -> tuple[np.ndarray, np.ndarray]:
    """Return the cubic and the quadratic Bernstein values at the parameters of all k: float64[t, 4] and [t, 3]."""
    every = [np.arange(k) / (k - 1) for k in range(MIN_SAMPLES, MAX_SAMPLES + 1)]
    at = np.unique(np.concatenate(every))
    return weights_at(3, at), weights_at(2, at)


def refusal(patch: Patch) -> str | None:
    """Return the reason why a patch cannot take this form, or None if it can.

    The grid may move no sample of any k by more than `_ALLOWED` times its magnitude, and no derivatives by more than
    that together, relative to their sizes, in which the condition of a normal is counted.
    """
    if patch.counts != COUNTS:
        return "its net is not bicubic"
    points = patch.points32.astype(np.float64)
    integers, exponent = _integers(patch)
    if exponent + _BIAS < _LEAST_EXPONENT:
        return "its coordinates are too small"
    moved = np.ldexp(integers.astype(np.float64), exponent + 1 - 8 * VALUE_BYTES) - points
    if not moved.any():
        return None
    cubic, square = _weights()

    def most(in_u: np.ndarray, net: np.ndarray, in_v: np.ndarray) -> np.ndarray:
        return np.einsum("ta,abx,sb->tsx", in_u, np.abs(net), in_v, optimize=True)

    if (most(cubic, moved, cubic) > _ALLOWED * most(cubic, points, cubic)).any():
        return "a coordinate is too small for the largest"
    turned = np.zeros((len(cubic), len(cubic)))
    for axis, weights in ((0, (square, cubic)), (1, (cubic, square))):
        error, size = (
            np.linalg.norm(most(weights[0], np.diff(net, axis=axis), weights[1]), axis=-1) for net in (moved, points)
        )
        turned += np.divide(error, size, out=np.zeros_like(size), where=error > 0)
    return "a first difference is too small for the coordinates" if (turned > _ALLOWED).any() else None


def only_residues(patch: Patch) -> bool:
    """Return True for a patch that is refused only because of coordinates below 2^-40 of its largest.

    Such are left where rotations in floating point should give 0; with 0 in their place the patch would be taken.
    """
    points = patch.points32
    cleared = np.where(np.abs(points) < np.abs(points).max() * np.float32(2.0**-40), np.float32(0), points)
    return refusal(patch) is not None and refusal(Patch(cleared)) is None


def fixed_bytes() -> int:
    """Return the bytes that each PE gets: the exponent and twelve values of its column."""
    return 1 + VALUE_BYTES * COUNTS[0] * len(AXES)


def fixed_transfers() -> int:
    """Return the transfers of 16 bytes that bring them."""
    return -(-fixed_bytes() // _SHARE_BYTES)


def fixed_values(patch: Patch) -> np.ndarray:
    """Return the words of a patch in the order of this form: uint32[16 n], 16 for each transfer, PE y = 0 first."""
    integers, exponent = _integers(patch)
    offset = (integers + (1 << 8 * VALUE_BYTES - 1)).astype("<u8")
    # [row, column, axis] to bytes of each PE's column: axis, row, byte.
    values = np.ascontiguousarray(offset.transpose(1, 2, 0)).view(np.uint8).reshape(BLOCK_SIDE, -1, 8)
    share = np.zeros((BLOCK_SIDE, fixed_transfers() * _SHARE_BYTES), np.uint8)
    share[:, 0] = exponent + _BIAS if integers.any() else _LEAST_EXPONENT
    share[:, 1 : fixed_bytes()] = values[:, :, :VALUE_BYTES].reshape(BLOCK_SIDE, -1)
    stream = share.reshape(BLOCK_SIDE, -1, _SHARE_BYTES).swapaxes(0, 1)
    return np.ascontiguousarray(stream).reshape(-1).view("<u4").astype(np.uint32)


def fixed_map(samples: int) -> MemoryMap:
    """Return the layout of PE memory for bicubic nets at k samples a side."""
    form = FixedFormat(samples)
    ranges: list[MemoryUse] = []
    rows, columns = COUNTS

    def place(name: str, size: int) -> None:
        ranges.append(MemoryUse(name, ranges[-1].end if ranges else 0, size))

    for what in ("point", "normal"):
        for axis in AXES:
            place(f"{axis}_{what}", FLOAT_BYTES)
    place("control_points", fixed_transfers() * _SHARE_BYTES)
    place("administrative", 4)
    for name, count in (("bernstein_u", rows), ("bernstein_v", columns)):
        place(name, form.weight_bytes * count)
        place(f"{name}_difference", form.weight_bytes * (count - 1))
    for axis in AXES:
        for what in ("du", "dv"):
            place(f"{axis}_{what}", FLOAT_BYTES)
    place("columns", BLOCK_SIDE * 2 * form.inner_bytes)
    place("sums", form.outer_bytes)
    place("slopes", 6 * form.outer_bytes)
    place("temporaries", 2 * FLOAT_BYTES)
    place("difference", form.inner_bytes)
    place("scratch", 14)
    return MemoryMap(rows, columns, tuple(ranges))
