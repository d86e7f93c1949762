"""Words and bits as vectors: the LLVM IR of every operation of the algebra, with as few instructions as are known.

In a row of state a bit is a word of eight equal bits, 0 or 255. Between steps it may stay where it fell off, as the
top or the bottom bit of a word, or as a vector of single bits (`Bit`); it is spread only where a step needs it so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["DECLARATIONS", "FULL", "ZERO", "Bit", "Product", "Value", "VectorOperations", "Vectors", "constant"]

ZERO = "zeroinitializer"
FULL = "splat (i8 -1)"
ONE = "splat (i8 1)"
HIGHEST = "splat (i8 -128)"

WORDS = "<16 x i32>"
TERNARY = "llvm.x86.avx512.pternlog.d.512"
MATRIX = "llvm.x86.vgf2p8affineqb.512"
DECLARATIONS = f"""
declare {WORDS} @{TERNARY}({WORDS}, {WORDS}, {WORDS}, i32 immarg)
declare <64 x i8> @{MATRIX}(<64 x i8>, <64 x i8>, i8 immarg)
"""
"""What stands before the functions of a module."""

_RIGHT = 0x0204081020408001
_HALF = 0x0204081020408000
"""The matrices over bits that turn a byte right by one and that shift it: the lowest row in the highest byte."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is known of a processor's vectors; without the special instructions the result is the same, a little later.

    They are used on strips of 64 lanes.
    """

    width: int
    """Bytes of a vector; LLVM splits what the processor has not."""
    ternary: bool = False
    """Any logic of three vectors of 64 bytes is one instruction; additions can leave out the bytes of a mask."""
    matrix: bool = False
    """Multiplying each of 64 bytes by a matrix over bits is one instruction."""


@dataclass(frozen=True, slots=True)
class Bit:
    """A bit of every lane that no vector holds as 0 and 255 yet."""

    where: str
    """``top`` or ``bottom``: that bit of the bytes of a vector; ``mask``: the elements of a vector of single bits;
    ``carry``: what the sum that a vector holds carried out."""
    vector: str


@dataclass(frozen=True, slots=True)
class Product:
    """A word where a bit is set, 0 elsewhere, not computed yet."""

    bit: Bit
    word: str


Value = str | Bit | Product
"""The name of a vector of bytes, a constant, or what may become a vector of bytes."""


def constant(value: int) -> str:
    """Return a byte in every lane."""
    return {0: ZERO, 255: FULL}.get(value, f"splat (i8 {value - 256 if value > 127 else value})")


@dataclass(slots=True)
class VectorOperations:
    """The text of one function as it grows: ``head`` before the loop over strips, ``lines`` inside."""

    vectors: Vectors
    strip: int
    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    _count: int = 0
    _inverse: dict[str, str] = field(default_factory=dict)
    """The value of which a value is the complement, where it is known."""
    _sums: dict[str, tuple[str, str | Product, str]] = field(default_factory=dict)
    """The two words and the carry of which a value is the sum."""
    _carries: dict[Bit, Bit] = field(default_factory=dict)
    """What carries are, as far as anybody wanted to know."""
    _halves: dict[str, str] = field(default_factory=dict)
    """The word of which a value is the upper seven bits."""
    _merges: set[str] = field(default_factory=set)
    """Results of instructions that can keep the bytes which a mask leaves out."""
    _merged: dict[tuple[Value, str], str] = field(default_factory=dict)
    """The bit and the sum that a vector was merged from."""
    _known: dict[tuple[str, Value], str] = field(default_factory=dict)
    """Other forms of values: ``full`` as 0 and 255, ``mask`` as single bits."""

    @property
    def vector(self) -> str:
        return f"<{self.strip} x i8>"

    @property
    def _wide(self) -> bool:
        return self.vectors.ternary and self.strip == 64

    @property
    def _matrices(self) -> bool:
        return self.vectors.matrix and self.strip == 64

    def name(self) -> str:
        """Return a new name."""
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> str:
        """Add a line to the loop and return the name of its result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def _binary(self, name: str, a: str, b: str) -> str:
        return self.line(f"{name} {self.vector} {a}, {b}")

    def _merging(self, value: str) -> str:
        self._merges.add(value)
        return value

    # --- forms ----------------------------------------------------------------------------------------------

    def full(self, value: Value) -> str:
        """Return a value as a vector of bytes."""
        if isinstance(value, str):
            return value
        if ("full", value) not in self._known:
            self._known["full", value] = self._vector_of(value)
        return self._known["full", value]

    def _vector_of(self, value: Bit | Product) -> str:
        if isinstance(value, Product):
            return self.logic("and", value.bit, value.word)
        match self._settled(value):
            case Bit("top", word):
                if self._matrices:
                    return self._matrix(word, 0x8080808080808080)
                return self._binary("ashr", word, "splat (i8 7)")
            case Bit("bottom", word):
                if self._matrices:
                    return self._matrix(word, 0x0101010101010101)
                return self._binary("sub", ZERO, self.logic("and", word, ONE))
            case Bit(_, mask):
                return self.line(f"sext <{self.strip} x i1> {mask} to {self.vector}")

    def _settled(self, bit: Bit) -> Bit:
        """Return a bit that is no carry any more."""
        if bit.where != "carry":
            return bit
        if bit not in self._carries:
            self._carries[bit] = self._carry(bit.vector)
        return self._carries[bit]

    def _mask(self, value: Value) -> str:
        """Return a bit as a vector of single bits."""
        if ("mask", value) not in self._known:
            match self._settled(value) if isinstance(value, Bit) else value:
                case Bit("mask", vector):
                    mask = vector
                case Bit("bottom", word):
                    mask = self._compare("ne", self.logic("and", word, ONE), ZERO)
                case Bit(_, word):
                    mask = self._compare("slt", word, ZERO)
                case whole:
                    mask = self._compare("slt", self.full(whole), ZERO)
            self._known["mask", value] = mask
        return self._known["mask", value]

    def _compare(self, name: str, a: str, b: str) -> str:
        return self.line(f"icmp {name} {self.vector} {a}, {b}")

    def _matrix(self, word: str, rows: int) -> str:
        """Multiply the bits of each byte by a matrix: bit ``i`` of the product has its row in byte ``7 - i``."""
        table = f"bitcast (<8 x i64> splat (i64 {rows if rows < 1 << 63 else rows - (1 << 64)}) to {self.vector})"
        product = f"call {self.vector} @{MATRIX}({self.vector} {word}, {self.vector} {table}, i8 0)"
        return self._merging(self.line(product))

    def _ternary(self, table: int, *inputs: str) -> str:
        """Return any logic of three vectors by its truth table."""
        words = [self.line(f"bitcast {self.vector} {each} to {WORDS}") for each in inputs]
        arguments = ", ".join(f"{WORDS} {each}" for each in words)
        found = self.line(f"call {WORDS} @{TERNARY}({arguments}, i32 {table})")
        return self.line(f"bitcast {WORDS} {found} to {self.vector}")

    # --- sums -----------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value, carry: Value) -> str:
        """Return the sum of two words and a bit."""
        a = self.full(a)
        if self._wide and isinstance(b, Product) and carry == ZERO:
            total = self._merge(b.bit, self._binary("add", a, b.word), a)
            self._sums[total] = (a, b, ZERO)
            return total
        b, carry = self.full(b), self.full(carry)
        if carry == FULL and b in self._inverse:
            total = self._binary("sub", a, self._inverse[b])
        else:
            total = self._plus(self._binary("add", a, b), carry)
        self._sums[total] = (a, b, carry)
        return self._merging(total)

    def _plus(self, value: str, bit: str) -> str:
        # A set bit is 255, which is -1.
        return self._merging(value if bit == ZERO else self._binary("sub", value, bit))

    def carry(self, total: str) -> Bit:
        """Return the carry out of a sum that `add` returned."""
        return Bit("carry", total)

    def _carry(self, total: str) -> Bit:
        a, b, carry = self._sums[total]
        if isinstance(b, Product):
            return Bit("mask", self._compare("ult", total, a))
        if self._wide:
            if b in self._inverse:
                return Bit("top", self._ternary(0x71, a, self._inverse[b], total))
            return Bit("top", self._ternary(0xD4, a, b, total))
        if carry == ZERO:
            return Bit("mask", self._compare("ult", total, a))
        if carry == FULL and b in self._inverse:
            # a + not x + 1 carries out exactly where a >= x.
            return Bit("mask", self._compare("uge", a, self._inverse[b]))
        # The majority of a, b and not total: where a and b differ not total decides, elsewhere a does.
        return Bit("top", self._choose(self._binary("xor", a, b), self.complement(total), a))

    # --- logic ----------------------------------------------------------------------------------------------

    def logic(self, name: str, a: Value, b: Value) -> str:
        """Return ``and``, ``or`` or ``xor`` of two words or bits."""
        if name == "or" and self._matrices:
            turned = self._turned(a, b) or self._turned(b, a)
            if turned is not None:
                return turned
        a, b = self.full(a), self.full(b)
        known, other = (a, b) if a in (ZERO, FULL) else (b, a)
        if name == "and" and known in (ZERO, FULL):
            return ZERO if known == ZERO else other
        if name == "or" and known in (ZERO, FULL):
            return other if known == ZERO else FULL
        if name == "xor" and known == ZERO:
            return other
        return self._binary(name, a, b)

    def _turned(self, half: Value, highest: Value) -> str | None:
        """Return seven bits of one word with the bottom bit of another above them; None where that is not asked for."""
        if isinstance(highest, Product) and highest.word == HIGHEST and half in self._halves:
            return self.down(self._halves[half], highest.bit) if highest.bit.where == "bottom" else None
        return None

    def complement(self, a: Value) -> str:
        """Return not a, bit by bit."""
        a = self.full(a)
        if a in (ZERO, FULL):
            return FULL if a == ZERO else ZERO
        inverted = self._binary("xor", a, FULL)
        self._inverse[inverted] = a
        return inverted

    # --- shifts ---------------------------------------------------------------------------------------------

    def up(self, a: Value, into: Value) -> str:
        """Return a word shifted up by one, with a bit at the bottom."""
        a = self.full(a)
        return self._plus(self._binary("add", a, a), self.full(into))

    def down(self, a: Value, into: Value) -> str:
        """Return a word shifted down by one, with a bit at the top."""
        a = self.full(a)
        into = self._settled(into) if isinstance(into, Bit) else into
        if self._matrices and isinstance(into, Bit) and into.where == "bottom":
            # The bit takes the place of the one that falls off, then the byte is turned.
            return self._matrix(self._ternary(0xD8, a, into.vector, ONE), _RIGHT)
        half = self._matrix(a, _HALF) if self._matrices else self._binary("lshr", a, ONE)
        if into == ZERO:
            self._halves[half] = a
            return half
        if self._wide and isinstance(into, Bit) and into.where == "mask":
            return self._merge(into, self._binary("add", half, HIGHEST), half)
        bit = into.vector if isinstance(into, Bit) and into.where == "top" else self.full(into)
        return self._binary("or", half, self.logic("and", bit, HIGHEST))

    # --- masks ----------------------------------------------------------------------------------------------

    def select(self, where: Value, a: Value, b: Value) -> Value:
        """Return a where a bit is set, b elsewhere."""
        if where in (ZERO, FULL):
            return a if where == FULL else b
        if a == b:
            return a
        b = self.full(b)
        if b == ZERO and isinstance(where, Bit) and isinstance(a, str):
            return Product(where, a)
        if self._wide and isinstance(a, Bit) and a.where == "carry":
            # What is carried elsewhere does not count, so the sum may stand there merged with something else.
            a = self.full(Bit("carry", self._merged.get((where, a.vector), a.vector)))
        if self._wide and isinstance(a, Bit):
            a = self.full(a)
        if self._wide and a in self._merges:
            return self._merge(where, a, b)
        a = self.full(a)
        return self.logic("and", where, a) if b == ZERO else self._choose(self.full(where), a, b)

    def _merge(self, where: Value, a: str, b: str) -> str:
        """Return a where a bit is set, b elsewhere, by an instruction that makes a and leaves b."""
        merged = self.line(f"select <{self.strip} x i1> {self._mask(where)}, {self.vector} {a}, {self.vector} {b}")
        if a in self._sums:
            self._sums[merged] = self._sums[a]
            self._merged[where, a] = merged
        return merged

    def _choose(self, where: str, a: str, b: str) -> str:
        taken = self.logic("and", where, a)
        return self.logic("or", taken, self.logic("and", self._binary("xor", where, FULL), b))
