"""Control values in fixed point: integers of 40 bits with one exponent for all coordinates of a patch.

A Bernstein value of degree d at t = a / s is an integer over s^d, as s = k - 1 is whole. So a bicubic point is a sum of
products of integers, exact but for what the control points lose when they are put on the common grid: nothing where
they are 0 or no smaller than 2^-15 of the largest. `refusal` says for each patch whether what is lost is below a unit
of the limits of error; where it is not, the patch is stored as floats and takes a pass of the plain method.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.plan.memory_map import AXES, FLOAT_BYTES, MemoryMap, MemoryUse
from tessellation.surface.patch import Patch
from tessellation.surface.reference import UNIT

VALUE_BYTES = 5
"""Bytes of a control value: 39 bits and the sign, as offset binary."""

COUNTS = (4, 4)
"""Control points of the nets that take this form."""

_LEAST_EXPONENT = 64
"""Smallest biased binary32 exponent of a patch's largest coordinate: below it a point could be too small a float."""

_SHARE_BYTES = 16
_BIAS = 126


@dataclass(frozen=True, slots=True)
class FixedFormat:
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


def refusal(patch: Patch) -> str | None:
    """Return why a patch cannot take this form, or None where it can.

    Allowed is a unit of what the limits of error are counted in: 2^-24 of each coordinate, and 2^-24 of the length of
    each first difference.
    """
    if patch.counts != COUNTS:
        return "its net is not bicubic"
    points = patch.points32.astype(np.float64)
    if not np.isfinite(points).all():
        return "a coordinate is not finite"
    integers, exponent = _integers(patch)
    if exponent + _BIAS < _LEAST_EXPONENT:
        return "its coordinates are too small"
    lost = np.abs(np.ldexp(integers.astype(np.float64), exponent + 1 - 8 * VALUE_BYTES) - points)
    if (lost > UNIT * np.abs(points)).any():
        return "a coordinate is too small for the largest"
    for axis in (0, 1):
        after, before = (np.take(lost, each, axis) for each in (range(1, 4), range(3)))
        length = np.linalg.norm(np.diff(points, axis=axis), axis=-1)
        if (np.linalg.norm(after + before, axis=-1) > UNIT * length).any():
            return "a first difference is too small for the coordinates"
    return None


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
