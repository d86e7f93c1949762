"""The float format that the kernels compute in, and its pieces: fields, rounding, the ends of the range.

A float of n mantissa bytes has n + 1 bytes: 8n - 1 stored bits of mantissa, eight bits of exponent with the bias 127,
the sign. n = 3 is binary32. A result in the making is `Unpacked`: a sign, an exponent that is one less than the biased
one, and a mantissa with its leading bit and eight bits below it, the lowest of which tells that something fell off.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.node.parts.kernels.floats.vector import LaneVector, VectorChoice

__all__ = ["FloatFormat"]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A float format by its bytes of mantissa, 3 to 6."""

    mantissa_bytes: int

    @property
    def size(self) -> int:
        """Bytes of a float."""
        return self.mantissa_bytes + 1

    @property
    def width(self) -> int:
        """Bits of a float."""
        return 8 * self.size

    @property
    def word(self) -> int:
        """Bits of the numbers that hold a float while it is worked on."""
        return 32 if self.mantissa_bytes == 3 else 64

    @property
    def stored(self) -> int:
        """Stored bits of the mantissa, the lowest place of the exponent."""
        return 8 * self.mantissa_bytes - 1

    @property
    def infinity(self) -> int:
        """The pattern of infinity."""
        return 255 << self.stored

    @property
    def quiet(self) -> int:
        """The pattern of the only NaN."""
        return self.infinity | 1 << (self.stored - 1)

    # --- fields ---------------------------------------------------------------------------------------------

    def sign(self, x: LaneVector) -> LaneVector:
        """Return 1 for negative patterns, 0 for others."""
        return x >> (self.width - 1)

    def magnitude(self, x: LaneVector) -> LaneVector:
        """Return a pattern without its sign."""
        return x & ((1 << (self.width - 1)) - 1)

    def exponent(self, x: LaneVector) -> LaneVector:
        """Return the biased exponent."""
        return (x >> self.stored) & 255

    def fraction(self, x: LaneVector) -> LaneVector:
        """Return the stored bits of the mantissa."""
        return x & ((1 << self.stored) - 1)

    def mantissa(self, x: LaneVector) -> LaneVector:
        """Return the mantissa with a leading bit, which zeros get as well."""
        return self.fraction(x) | 1 << self.stored

    def is_nan(self, x: LaneVector) -> VectorChoice:
        """Return where a pattern is a NaN."""
        return self.magnitude(x) >= self.infinity + 1

    # --- putting a result together ----------------------------------------------------------------------------

    def normalised(self, x: LaneVector) -> tuple[LaneVector, LaneVector]:
        """Return a number shifted so that its bit width - 1 is set, and by how much; 0 stays 0, by no useful count."""
        zeros = x.leading_zeros()
        if self.word > self.width:
            zeros = zeros - (self.word - self.width)
        return x << (zeros & (self.word - 1)), zeros

    def packed(self, exponent: LaneVector, mantissa: LaneVector) -> LaneVector:
        """Return the pattern without sign, rounded to nearest even; ``mantissa`` has its leading bit at the top.

        The leading bit adds 1 to the exponent, and a carry of the rounding walks into it, up to infinity.
        """
        kept = mantissa >> 8
        rounded = ((mantissa & 255) + (kept & 1) + 127) >> 8
        return (exponent << self.stored) + kept + rounded

    def signed(self, pattern: LaneVector, sign: LaneVector) -> LaneVector:
        """Return a pattern with a sign of 0 or 1 in front."""
        return pattern | sign << (self.width - 1)
