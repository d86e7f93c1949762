"""Bounds of what binary32 may be off by, worked out operation by operation beside float64 (Higham 2002, 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNIT = 2.0**-24
"""Half of a unit in the last place: what rounding to nearest is off by at most, of the result."""


@dataclass(frozen=True)
class Bounded:
    """What an exact calculation gives, and how far a float of 32 bits may be from it.

    Values are kept in float64, whose own rounding is 2^-29 of this.
    """

    value: np.ndarray
    error: np.ndarray | float = 0.0

    def __add__(self, other: Bounded | float) -> Bounded:
        return fused(self, given(1.0), given(other))

    def __sub__(self, other: Bounded | float) -> Bounded:
        return fused(given(other), given(-1.0), self)

    def __mul__(self, other: Bounded | float) -> Bounded:
        return fused(self, given(other), given(0.0))

    def within(self, relative: float) -> Bounded:
        """Return this, off by a share of itself more."""
        return Bounded(self.value, self.error + relative * (np.abs(self.value) + self.error))

    def root(self) -> Bounded:
        """Return one over the square root, by `reciprocal_root` of `fractions.mc`.

        The root of a value that is off by e of itself is off by e / 2 and 3 e^2 / 8 at most; Newton's three steps leave
        2^-34 of a first guess that is off by 3.44 %, and three roundings: of y y (half of which counts), of
        3/2 - x y y / 2, of the last product.
        """
        share = self.error / (self.value - self.error)
        return Bounded(self.value**-0.5, self.value**-0.5 * (share / 2 + share**2)).within(2.0**-34 + 3 * UNIT)

    def inverse(self) -> Bounded:
        """Return one over this, by `reciprocal`: a first guess off by 5.1 % squared three times, and one rounding."""
        share = self.error / (self.value - self.error)
        return Bounded(1 / self.value, share / self.value).within(2.0**-34 + UNIT * (1 + 2.0**-8))


def given(value: Bounded | np.ndarray | float) -> Bounded:
    """Return a value that is exact."""
    return value if isinstance(value, Bounded) else Bounded(np.asarray(value, float))


def fused(a: Bounded, b: Bounded, c: Bounded) -> Bounded:
    """Return a b + c, rounded once."""
    value = a.value * b.value + c.value
    error = np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error + c.error
    return Bounded(value, error).within(UNIT)


def products_summed(a: Bounded, b: Bounded, longest: int) -> Bounded:
    """Return the sum of products along the first axis, added by multiply-adds and sums of lanes, in any order.

    ``longest`` is how many such additions a product goes through at most: each is off by `UNIT` of what it adds up to,
    which all products together are not less than.
    """
    value = a.value * b.value
    error = np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error
    growth = (1 + UNIT) ** longest - 1
    size = (np.abs(value) + error).sum(axis=0)
    return Bounded(value.sum(axis=0), error.sum(axis=0) + growth * size)
