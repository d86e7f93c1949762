"""Texels of a texture at a place: bilinearly filtered, and between mipmaps, by how much the texture is made smaller.

The host makes the levels: each has half of the sides of the one before, rounded down to 1 at least, and a texel is the
mean of the two or four that it covers, (sum + 2) >> 2 of four and (sum + 1) >> 1 of two. How far down a pixel looks
comes of the block of two by two pixels that it is in, whose first column and row are even. With du and dv between
the coordinates of the upper two pixels of the block, and of the left two, in 1/65536 texel,

    p = max(du^2 + dv^2 across, du^2 + dv^2 down),    detail = log2(p / 2^32) / 2 in 1/256,

where the logarithm is linear between powers of two: with 2^e <= p < 2^(e + 1) and m the next eight bits of p, that is
(256 (e - 32) + m) >> 1. Below 0 it is 0, at most it is the last level's. The upper eight bits choose a level, the lower
ones, f, weigh it against the next: (first (256 - f) + second f + 128) >> 8.

Pixels of the block that the triangle does not cover have coordinates too, by the same planes, at the last of their
samples. Where a pixel has none (`NO_COORDINATE`) the lower or the right two pixels are used instead, and where
neither are two, there is no change.
"""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing.frame import Texture
from pixelflow.simd.drawing.triangles import TEXEL

NO_COORDINATE = 1 << 31
"""Value of u, modulo 2^32, where a pixel has no coordinates; within a triangle it is never this large."""

STEPS = 256
"""Steps of a detail from one level to the next."""

_STEP_BITS = STEPS.bit_length() - 1
_TEXEL_BITS = TEXEL.bit_length() - 1
_WORD = 1 << 32
_FARTHEST = 1 << 30
"""No difference of coordinates counts for more."""
_ACROSS, _DOWN = ((0, 1), (2, 3)), ((0, 2), (1, 3))
"""Pairs of pixels of a block, row by row, whose coordinates are compared: the first pair that there is."""


def filtered(texture: Texture, u: np.ndarray, v: np.ndarray, level: int = 0) -> np.ndarray:
    """Return texels at u, v in 1/65536 texel of a level, modulo 2^32, bilinearly filtered: int64[..., rgba]."""
    texels = texture.levels[level].astype(np.int64)
    height, width = texels.shape[:2]
    (x, right), (y, below) = ((at - TEXEL // 2 >> 16, at - TEXEL // 2 >> 8 & 255) for at in (u, v))
    total = np.zeros((*u.shape, 4), np.int64)
    for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = (below if down else 256 - below) * (right if across else 256 - right)
        total += weight[..., None] * texels[y + down & height - 1, x + across & width - 1]
    return total + (1 << 15) >> 16


def details(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the detail of blocks of two by two pixels in 1/256 level, which may be below 0: int64[...].

    ``u`` and ``v`` are int64[..., 4], pixels row by row, modulo 2^32.
    """
    there = u != NO_COORDINATE
    longest = np.zeros(u.shape[:-1], np.int64)
    for pairs in (_ACROSS, _DOWN):
        known = np.zeros(u.shape[:-1], bool)
        squares = np.zeros(u.shape[:-1], np.int64)
        for first, second in pairs:
            both = there[..., first] & there[..., second] & ~known
            parts = [_apart(values[..., first], values[..., second]) ** 2 for values in (u, v)]
            squares = np.where(both, parts[0] + parts[1], squares)
            known |= both
        longest = np.maximum(longest, squares)
    exponent = np.floor(np.log2(np.maximum(longest, 1).astype(np.float64))).astype(np.int64)
    exponent -= (np.int64(1) << exponent) > np.maximum(longest, 1)  # where float64 has rounded up
    next_bits = (longest << np.maximum(_STEP_BITS - exponent, 0)) >> np.maximum(exponent - _STEP_BITS, 0)
    found = (exponent - 2 * _TEXEL_BITS << _STEP_BITS) + (next_bits & STEPS - 1) >> 1
    return np.where(longest > 0, found, -STEPS * _TEXEL_BITS)


def _apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    off = second - first & _WORD - 1
    return np.clip(off - (off >> 31) * _WORD, -_FARTHEST, _FARTHEST)


def levels_at(texture: Texture, detail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the level that pixels look at, and how much the next one weighs, 0 to 255: int64[...] each."""
    within = np.clip(detail, 0, STEPS * (len(texture.levels) - 1))
    return within >> _STEP_BITS, within & STEPS - 1


def trilinear(texture: Texture, u: np.ndarray, v: np.ndarray, detail: np.ndarray) -> np.ndarray:
    """Return texels at u, v in 1/65536 texel of the first level, modulo 2^32, at a detail: int64[..., rgba]."""
    level, weight = levels_at(texture, detail)
    found = np.zeros((*u.shape, 4), np.int64)
    for number in range(len(texture.levels)):
        for below, share in ((0, STEPS - weight), (1, weight)):
            here = (level == number - below) & (share > 0)
            if here.any():
                found[here] += share[here][..., None] * filtered(texture, u[here] >> number, v[here] >> number, number)
    return found + STEPS // 2 >> _STEP_BITS
