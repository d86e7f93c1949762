"""The schedule ``fixed-sums`` in Python integers, sample by sample: every bit that its microcode must leave.

It shares no line with the microcode or the format of its data, only the arithmetic that the schedule defines. Sums are
exact; a point loses something in its last multiplication, by 1 / s^6, and in its rounding, half away from zero. Normals
come from products cut to their upper five bytes and a reciprocal root by two steps of Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb

import numpy as np

_GRID = 39
"""Bits of a coordinate below the power of two above the largest one of its patch."""
_ROOT = (
    # For upper bytes of w of at least the first number, 128 / sqrt(w) is the upper byte of 2 (third - second byte - 1).
    (64, 215, 46337), (81, 152, 41302), (102, 107, 36810), (128, 76, 32804), (161, 54, 29232), (203, 38, 26047),
)  # fmt: skip


@cache
def _weights(degree: int, samples: int) -> tuple[tuple[int, ...], ...]:
    """Return s^degree B_0 .. B_degree at a / s, for each a from 0 to s = samples - 1."""
    s = samples - 1
    return tuple(
        tuple(comb(degree, i) * a**i * (s - a) ** (degree - i) for i in range(degree + 1)) for a in range(samples)
    )


def _upper(a: int, b: int) -> int:
    """Return the upper five bytes of a * b, of four bytes each, without the products of bytes that end below them."""
    return sum(
        (a >> 8 * i & 255) * (b >> 8 * j & 255) << 8 * (i + j - 3) for i, j in product(range(4), repeat=2) if i + j >= 3
    )


def _levelled(numbers: Sequence[int], size: int, moves: Sequence[int] = (4, 2, 1)) -> tuple[list[int], int]:
    """Return the upper four bytes of numbers of ``size`` bytes, shifted alike until the largest has its top bit set.

    Also the places of the shift. Bytes and four bits move whole; of the last three places zeros come in.
    """
    places = 0
    for count in moves:
        if not any(number >> 8 * (size - count) for number in numbers):
            numbers, places = [number << 8 * count for number in numbers], places + 8 * count
    if not any(number >> 8 * size - 4 for number in numbers):
        numbers, places = [number << 4 for number in numbers], places + 4
    numbers = [number >> 8 * (size - 4) for number in numbers]
    for count in (2, 1):
        if not any(number >> 32 - count for number in numbers):
            numbers, places = [number << count for number in numbers], places + count
    return list(numbers), places


def _packed(mantissa: int, exponent: int, negative: bool) -> int:
    """Return the pattern of a mantissa of 32 bits, half rounded up; zero if its top bit is clear."""
    if not mantissa >> 31:
        return 0
    return negative << 31 | ((exponent & 255) << 23) + (mantissa + 0x80 >> 8)


def _point(total: int, samples: int, exponent: int) -> int:
    """Return the pattern of a sum over s^6, on a grid whose end is 2^exponent."""
    divisor = (samples - 1) ** 6
    power = 31 + (divisor - 1).bit_length()
    reciprocal = ((1 << power + 1) // divisor + 1) // 2
    size = 7 if samples <= 6 else 8
    (mantissa,), places = _levelled([abs(total)], size)
    scaled, left = _upper(mantissa, reciprocal), exponent + 126 + 31 + 8 * size - power - _GRID - places
    if not scaled >> 39:
        scaled, left = scaled << 1, left - 1
    return _packed(scaled >> 8 & 0xFFFFFFFF, left, total < 0)


def _root(numbers: list[int]) -> tuple[list[int], int]:
    """Return numbers, halved once or twice, and 2^30 / sqrt(w), w the sum of their squares brought to 1/4 .. 1."""
    numbers = [number >> 1 for number in numbers]
    square = sum(_upper(number, number) for number in numbers) & 0xFFFFFFFFFF
    if square >> 38:
        numbers = [number >> 1 for number in numbers]
    else:
        square = square << 2 & 0xFFFFFFFFFF
    w = square >> 8
    _, slope, constant = next((each for each in reversed(_ROOT) if w >> 24 >= each[0]), _ROOT[0])
    begun = (constant - slope * (w >> 24) - 1 & 0xFFFF) >> 7 & 255
    wide = (3 << 30) - (1 << 9) - ((w >> 8) * begun >> 8) * begun & 0xFFFFFFFF
    better = wide * begun >> 23 & 0xFFFF
    rest = (-_upper(w, better * better) & 0xFFFFFFFF) >> 8
    return numbers, (better << 15) + (rest * better >> 16) & 0xFFFFFFFF


def _normal(du: Sequence[int], dv: Sequence[int], samples: int) -> list[int]:
    """Return the patterns of the unit normal along du x dv."""
    size = 7 if samples <= 6 else 8
    (a, _), (b, _) = (_levelled([abs(each) for each in vector], size) for vector in (du, dv))
    cross = []
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        first, second = _upper(a[i], b[j]), _upper(a[j], b[i])
        cross.append((-first if (du[i] < 0) != (dv[j] < 0) else first)
                     - (-second if (du[j] < 0) != (dv[i] < 0) else second))  # fmt: skip
    numbers, root = _root(_levelled([abs(each) for each in cross], 6)[0])
    patterns = []
    for number, each in zip(numbers, cross, strict=True):
        (mantissa,), places = _levelled([_upper(number, root)], 5, (2, 1))
        patterns.append(_packed(mantissa & 0xFFFFFFFF, 128 - places, each < 0))
    return patterns


def fixed_samples(net: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normals of a bicubic net, [4, 4, xyz] in binary32: float32[i, j, xyz] each."""
    exponent = int(np.frexp(np.abs(net.astype(np.float64)).max())[1]) if net.any() else 64 - 126
    grid = np.ldexp(net.astype(np.float64), _GRID - exponent)
    q = [[[round(value) for value in point] for point in row] for row in grid.tolist()]
    cubic, square = _weights(3, samples), _weights(2, samples)
    points, normals = (np.zeros((samples, samples, 3), np.uint32) for _ in range(2))
    for i, j in product(range(samples), repeat=2):
        sums: list[list[int]] = [[], [], []]
        for axis in range(3):
            net_ = [[q[a][b][axis] for b in range(4)] for a in range(4)]
            across = [sum(w * net_[a][b] for a, w in enumerate(cubic[i])) for b in range(4)]
            sums[0].append(sum(w * each for w, each in zip(cubic[j], across, strict=True)))
            sloped = [sum(w * (net_[a + 1][b] - net_[a][b]) for a, w in enumerate(square[i])) for b in range(4)]
            sums[1].append(sum(w * each for w, each in zip(cubic[j], sloped, strict=True)))
            sums[2].append(sum(w * (across[b + 1] - across[b]) for b, w in enumerate(square[j])))
        points[i, j] = [_point(total, samples, exponent) for total in sums[0]]
        normals[i, j] = _normal(sums[1], sums[2], samples)
    return points.view(np.float32), normals.view(np.float32)
