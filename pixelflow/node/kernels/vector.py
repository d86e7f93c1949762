"""Expressions over vectors, written as LLVM IR.

A `Text` collects lines; a `LaneVector` is a value in it with the operators of Python. Results are modulo the size of
the elements; comparisons are of unsigned numbers and give a `VectorChoice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Text:
    """The lines of one function as they grow, and what must be declared for them."""

    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)

    def line(self, text: str) -> str:
        """Add a line that gives a value; return its name."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def act(self, text: str) -> None:
        """Add a line that gives none."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a block of lines that others jump to."""
        self.lines.append(f"{name}:")

    def joined(self, here: LaneVector, first: str, there: LaneVector, second: str) -> LaneVector:
        """Return the value from one of two blocks, at the beginning of a block after both."""
        text = f"phi {here.kind} [{here.name}, %{first}], [{there.name}, %{second}]"
        return LaneVector(self, self.line(text), here.size, here.bits)

    def load(self, size: int, place: str) -> LaneVector:
        """Return ``size`` bytes of memory."""
        return LaneVector(self, self.line(f"load <{size} x i8>, ptr {place}, align 16"), size, 8)

    def constant(self, value: int, size: int, bits: int) -> LaneVector:
        """Return a number in every element."""
        return LaneVector(self, _splat(value, bits), size, bits)


def _splat(value: int, bits: int) -> str:
    value &= (1 << bits) - 1
    return f"splat (i{bits} {value})" if value else "zeroinitializer"


@dataclass(frozen=True, slots=True, eq=False)
class LaneVector:
    """``size`` numbers of ``bits`` bits."""

    text: Text
    name: str
    size: int
    bits: int

    @property
    def kind(self) -> str:
        """Its type in the IR."""
        return f"<{self.size} x i{self.bits}>"

    def _made(self, text: str, bits: int | None = None, size: int | None = None) -> LaneVector:
        return LaneVector(self.text, self.text.line(text), size or self.size, bits or self.bits)

    def _other(self, other: LaneVector | int) -> str:
        return _splat(other, self.bits) if isinstance(other, int) else other.name

    def _with(self, name: str, other: LaneVector | int) -> LaneVector:
        return self._made(f"{name} {self.kind} {self.name}, {self._other(other)}")

    def __add__(self, other: LaneVector | int) -> LaneVector:
        return self._with("add", other)

    def __sub__(self, other: LaneVector | int) -> LaneVector:
        return self._with("sub", other)

    def __mul__(self, other: LaneVector | int) -> LaneVector:
        return self._with("mul", other)

    def __and__(self, other: LaneVector | int) -> LaneVector:
        return self._with("and", other)

    def __or__(self, other: LaneVector | int) -> LaneVector:
        return self._with("or", other)

    def __xor__(self, other: LaneVector | int) -> LaneVector:
        return self._with("xor", other)

    def __lshift__(self, other: LaneVector | int) -> LaneVector:
        return self._with("shl", other)

    def __rshift__(self, other: LaneVector | int) -> LaneVector:
        return self._with("lshr", other)

    def __invert__(self) -> LaneVector:
        return self ^ -1

    def __neg__(self) -> LaneVector:
        return self._made(f"sub {self.kind} zeroinitializer, {self.name}")

    def filled(self, value: int) -> LaneVector:
        """Return a vector of the same kind with a number in every element."""
        return self.text.constant(value, self.size, self.bits)

    # --- comparisons ----------------------------------------------------------------------------------------

    def _compared(self, how: str, other: LaneVector | int) -> VectorChoice:
        name = self.text.line(f"icmp {how} {self.kind} {self.name}, {self._other(other)}")
        return VectorChoice(self.text, name, self.size)

    def equals(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("eq", other)

    def differs(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("ne", other)

    def __lt__(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("ult", other)

    def __ge__(self, other: LaneVector | int) -> VectorChoice:
        return self._compared("uge", other)

    def negative(self) -> VectorChoice:
        """Return where the top bit is set."""
        return self._compared("slt", 0)

    # --- larger steps ---------------------------------------------------------------------------------------

    def least(self, other: LaneVector | int) -> LaneVector:
        """Return the smaller of two."""
        return self._called("umin", self._other(other))

    def most(self, other: LaneVector | int) -> LaneVector:
        """Return the larger of two."""
        return self._called("umax", self._other(other))

    def leading_zeros(self) -> LaneVector:
        """Return how many bits above the highest one are 0; all of them for 0."""
        intrinsic = f"llvm.ctlz.v{self.size}i{self.bits}"
        self.text.declared.add(f"declare {self.kind} @{intrinsic}({self.kind}, i1 immarg)")
        return self._made(f"call {self.kind} @{intrinsic}({self.kind} {self.name}, i1 false)")

    def _called(self, name: str, other: str) -> LaneVector:
        intrinsic = f"llvm.{name}.v{self.size}i{self.bits}"
        self.text.declared.add(f"declare {self.kind} @{intrinsic}({self.kind}, {self.kind})")
        return self._made(f"call {self.kind} @{intrinsic}({self.kind} {self.name}, {self.kind} {other})")

    def resized(self, bits: int) -> LaneVector:
        """Return the same numbers in elements of another size, cut off or with zeros above."""
        if bits == self.bits:
            return self
        how = "zext" if bits > self.bits else "trunc"
        return self._made(f"{how} {self.kind} {self.name} to <{self.size} x i{bits}>", bits)

    def viewed(self, bits: int) -> LaneVector:
        """Return the same bytes as elements of another size."""
        size = self.size * self.bits // bits
        return self._made(f"bitcast {self.kind} {self.name} to <{size} x i{bits}>", bits, size)

    def shuffled(self, other: LaneVector | None, order: Sequence[int]) -> LaneVector:
        """Return elements by number; those of ``other`` are numbered after this one's."""
        mask = ", ".join(f"i32 {at}" for at in order)
        second = "poison" if other is None else other.name
        text = f"shufflevector {self.kind} {self.name}, {self.kind} {second}, <{len(order)} x i32> <{mask}>"
        return self._made(text, size=len(order))

    def in_floats(self, step: str, other: LaneVector) -> LaneVector:
        """Return the pattern that a step gives on two patterns of binary32."""
        kind = f"<{self.size} x float>"
        a, b = (self.text.line(f"bitcast {each.kind} {each.name} to {kind}") for each in (self, other))
        found = self.text.line(f"{step} {kind} {a}, {b}")
        return self._made(f"bitcast {kind} {found} to {self.kind}")

    def root_of_floats(self) -> LaneVector:
        """Return the patterns of the square roots of patterns of binary32."""
        kind = f"<{self.size} x float>"
        intrinsic = f"llvm.sqrt.v{self.size}f32"
        self.text.declared.add(f"declare {kind} @{intrinsic}({kind})")
        value = self.text.line(f"bitcast {self.kind} {self.name} to {kind}")
        found = self.text.line(f"call {kind} @{intrinsic}({kind} {value})")
        return self._made(f"bitcast {kind} {found} to {self.kind}")

    def through_double(self, step: str) -> str:
        """Return the numbers, which are below 2^31, as binary64; ``step`` names the conversion."""
        return self.text.line(f"{step} {self.kind} {self.name} to <{self.size} x double>")


@dataclass(frozen=True, slots=True, eq=False)
class VectorChoice:
    """A bit for each element."""

    text: Text
    name: str
    size: int

    def _with(self, name: str, other: str) -> VectorChoice:
        return VectorChoice(self.text, self.text.line(f"{name} <{self.size} x i1> {self.name}, {other}"), self.size)

    def __and__(self, other: VectorChoice) -> VectorChoice:
        return self._with("and", other.name)

    def __or__(self, other: VectorChoice) -> VectorChoice:
        return self._with("or", other.name)

    def __invert__(self) -> VectorChoice:
        return self._with("xor", "splat (i1 true)")

    def anywhere(self) -> str:
        """Return the name of a bit that is set where any is."""
        bits = self.text.line(f"bitcast <{self.size} x i1> {self.name} to i{self.size}")
        return self.text.line(f"icmp ne i{self.size} {bits}, 0")

    def of(self, yes: LaneVector | int, no: LaneVector) -> LaneVector:
        """Return ``yes`` where the bit is set, ``no`` elsewhere."""
        taken = _splat(yes, no.bits) if isinstance(yes, int) else yes.name
        text = f"select <{self.size} x i1> {self.name}, {no.kind} {taken}, {no.kind} {no.name}"
        return LaneVector(self.text, self.text.line(text), no.size, no.bits)

    def number(self, bits: int) -> LaneVector:
        """Return 1 where the bit is set, 0 elsewhere."""
        name = self.text.line(f"zext <{self.size} x i1> {self.name} to <{self.size} x i{bits}>")
        return LaneVector(self.text, name, self.size, bits)


# The float format of the kernels: fields, rounding, the ends of the range.
#
# A float of n mantissa bytes has n + 1 bytes: 8n - 1 stored bits of mantissa, eight bits of exponent with the bias 127,
# the sign. n = 3 is binary32. An unrounded result has a sign, an exponent one less than the biased one, and a mantissa
# with its leading bit and eight bits below it, the lowest of which is sticky.


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
        """Bits of the numbers that hold a float during computation."""
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

    # --- results ----------------------------------------------------------------------------------------------

    def normalised(self, x: LaneVector) -> tuple[LaneVector, LaneVector]:
        """Return a number shifted so that its bit width - 1 is set, and the distance, which is undefined for 0."""
        zeros = x.leading_zeros()
        if self.word > self.width:
            zeros = zeros - (self.word - self.width)
        return x << (zeros & (self.word - 1)), zeros

    def packed(self, exponent: LaneVector, mantissa: LaneVector) -> LaneVector:
        """Return the pattern without sign, rounded to nearest even; ``mantissa`` has its leading bit at the top.

        The leading bit adds 1 to the exponent, and a carry of the rounding propagates into it, up to infinity.
        """
        kept = mantissa >> 8
        rounded = ((mantissa & 255) + (kept & 1) + 127) >> 8
        return (exponent << self.stored) + kept + rounded

    def signed(self, pattern: LaneVector, sign: LaneVector) -> LaneVector:
        """Return a pattern with a sign of 0 or 1 in front."""
        return pattern | sign << (self.width - 1)
