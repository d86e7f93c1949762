"""Are the broadcast Bernstein values the correctly rounded ones?"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from tessellation.surface.patch import bernstein_bits, float_bits


def value(bits: int) -> Fraction:
    return Fraction(float(np.uint32(bits).view(np.float32)))


@pytest.mark.parametrize("degree", range(1, 12))
@pytest.mark.parametrize("samples", [2, 4, 7, 8, 16])
def test_no_binary32_number_is_nearer(degree, samples):
    for i, row in enumerate(bernstein_bits(degree, samples)):
        t = Fraction(i, samples - 1)
        for k, bits in enumerate(row):
            exact = comb(degree, k) * t**k * (1 - t) ** (degree - k)
            assert all(abs(value(bits) - exact) <= abs(value(other) - exact) for other in (max(bits - 1, 0), bits + 1))


def test_ends_are_exact():
    rows = bernstein_bits(3, 16)
    assert rows[0] == (0x3F800000, 0, 0, 0) and rows[-1] == (0, 0, 0, 0x3F800000)


def test_ties_go_to_even_and_tiny_values_to_zero():
    assert float_bits(Fraction((1 << 24) + 1, 1 << 25)) == 0x3F000000
    assert float_bits(Fraction((1 << 24) + 3, 1 << 25)) == 0x3F000002
    assert float_bits(Fraction(1, 2**126)) == 0x00800000
    assert float_bits(Fraction(1, 2**127)) == 0
    # The mantissa rounds up to the next power of two.
    assert float_bits(1 - Fraction(1, 2**40)) == 0x3F800000
