"""From the form of a block to LLVM IR: one function, looped over strips of lanes.

Every function has the type ``code' f(tile, lanes, code)``: it carries its block out on the first ``lanes`` lanes of a
tile of state, with the operands that stand at ``code``, and returns the address behind them. Rows are operands as byte
offsets into the tile. Different operands are different rows, so a row is loaded once, kept in a register and stored
once at the end of the block. All that is said about the processor is how wide its vectors are, and which of two
instructions it has that LLVM does not find by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

from pixelflow.lanes.compiled.trace import OPERANDS, Block, Steps

__all__ = ["DECLARATIONS", "Vectors", "function"]

ZERO = "zeroinitializer"
FULL = "splat (i8 -1)"

WORDS = "<16 x i32>"
TERNARY = "llvm.x86.avx512.pternlog.d.512"
SPREAD = "llvm.x86.vgf2p8affineqb.512"
DECLARATIONS = f"""
declare {WORDS} @{TERNARY}({WORDS}, {WORDS}, {WORDS}, i32 immarg)
declare <64 x i8> @{SPREAD}(<64 x i8>, <64 x i8>, i8 immarg)
"""
"""What stands before the functions of a module."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is known of a processor's vectors; without the two instructions the result is the same, a little later."""

    width: int
    """Bytes of a vector; LLVM splits what the processor has not."""
    ternary: bool = False
    """Any logic of three vectors of 64 bytes is one instruction."""
    spread: bool = False
    """Copying one bit of each of 64 bytes to all bits of the byte is one instruction."""


def function(name: str, block: Block, vectors: Vectors) -> str:
    """Return the text of a function that carries out a block."""
    form, full = block
    groups = {len(step[-1]) for steps, _ in form for step in steps if step[0] in ("route", "pattern")}
    body = _Body(vectors, lcm(vectors.width, *groups))
    body.rows = dict.fromkeys(full, FULL)
    body.before = dict(body.rows)
    for steps, slots in form:
        body.part(steps, slots)
    body.write_back()
    slots = 1 + max((slot for _, used in form for slot in used), default=-1)
    return "\n".join(
        [
            f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code) {{",
            "entry:",
            *body.head,
            "  br label %strip",
            "strip:",
            "  %at = phi i64 [0, %entry], [%next, %strip]",
            *body.lines,
            f"  %next = add nuw nsw i64 %at, {body.strip}",
            "  %more = icmp ult i64 %next, %lanes",
            "  br i1 %more, label %strip, label %end",
            "end:",
            f"  %behind = getelementptr i8, ptr %code, i64 {8 * slots}",
            "  ret ptr %behind",
            "}",
        ]
    )


@dataclass(slots=True)
class _Body:
    """The text of one function as it grows: ``head`` before the loop over strips, ``lines`` inside."""

    vectors: Vectors
    strip: int
    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    rows: dict[int, str] = field(default_factory=dict)
    """What each slot's row holds now, as far as it is known."""
    before: dict[int, str] = field(default_factory=dict)
    """What it held when it was first seen: it need not be stored again."""
    inverse: dict[str, str] = field(default_factory=dict)
    """The value of which a value is the complement, where it is known."""
    sums: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """The two words and the carry of which a value is the sum."""
    bits_of: dict[str, int] = field(default_factory=dict)
    """The size of the elements of a value that is wider than bytes."""
    made: dict[tuple, str] = field(default_factory=dict)
    """Heads that exist already, by slot and kind."""
    count: int = 0

    # --- text -----------------------------------------------------------------------------------------------

    @property
    def vector(self) -> str:
        return f"<{self.strip} x i8>"

    def _name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def _line(self, text: str) -> str:
        name = self._name()
        self.lines.append(f"  {name} = {text}")
        return name

    def _head(self, kind: str, slot: int, text: str) -> str:
        """Return what stands before the loop for a slot; made once."""
        if (kind, slot) not in self.made:
            name = self.made[kind, slot] = self._name()
            self.head.append(f"  {name} = {text}")
        return self.made[kind, slot]

    def _operand(self, slot: int) -> str:
        place = self._head("place", slot, f"getelementptr i8, ptr %code, i64 {8 * slot}")
        return self._head("operand", slot, f"load i64, ptr {place}")

    def _row(self, slot: int) -> str:
        base = self._head("row", slot, f"getelementptr i8, ptr %tile, i64 {self._operand(slot)}")
        return self._line(f"getelementptr i8, ptr {base}, i64 %at")

    def _splat(self, slot: int, bits: int) -> str:
        """Return an operand in every element of a vector."""
        value, kind = self._operand(slot), f"<{self.strip} x i{bits}>"
        if bits < 64:
            value = self._head(f"narrow {bits}", slot, f"trunc i64 {value} to i{bits}")
        first = self._head(f"first {bits}", slot, f"insertelement {kind} poison, i{bits} {value}, i64 0")
        mask = f"<{self.strip} x i32> zeroinitializer"
        return self._head(f"splat {bits}", slot, f"shufflevector {kind} {first}, {kind} poison, {mask}")

    # --- memory ---------------------------------------------------------------------------------------------

    def load(self, slot: int) -> str:
        if slot not in self.rows:
            value = self._line(f"load {self.vector}, ptr {self._row(slot)}, align 16")
            self.rows[slot] = self.before[slot] = value
        return self.rows[slot]

    def write_back(self) -> None:
        """Store the rows that have changed."""
        for slot, value in self.rows.items():
            if self.before.get(slot) != value:
                self.lines.append(f"  store {self.vector} {value}, ptr {self._row(slot)}, align 16")

    # --- steps ----------------------------------------------------------------------------------------------

    def part(self, steps: Steps, slots: Sequence[int]) -> None:
        values: list[str] = []
        used = 0
        for step in steps:
            count = OPERANDS.get(step[0], 0)
            values.append(self._step(step, slots[used : used + count], values))
            used += count

    def _step(self, step: tuple, slots: Sequence[int], values: list[str]) -> str:
        match step:
            case "constant", value:
                return _constant(value)
            case ("byte",):
                return self._splat(slots[0], 8)
            case ("load",):
                return self.load(slots[0])
            case "store", value:
                self.rows[slots[0]] = values[value]
                return ""
            case "affine", *coordinates, words:
                return self._affine([values[each] for each in coordinates], slots, words)
            case "cut", value, index:
                return self._cut(values[value], index)
            case "add", a, b, carry:
                return self._add(values[a], values[b], values[carry])
            case "carry", total:
                return self._carry(values[total])
            case ("and" | "or" | "xor") as name, a, b:
                return self.logic(name, values[a], values[b])
            case "not", a:
                return self.complement(values[a])
            case "up", a, into:
                return self._plus(self._binary("add", values[a], values[a]), values[into])
            case "top", a:
                return self._sign(values[a])
            case "down", a, into:
                half = self._binary("lshr", values[a], "splat (i8 1)")
                return self.logic("or", half, self.logic("and", values[into], "splat (i8 -128)"))
            case "bottom", a:
                return self._bottom(values[a])
            case "select", where, a, b:
                return self.select(values[where], values[a], values[b])
            case "route", value, sources:
                return self._route(values[value], sources)
            case "pattern", bits:
                return _pattern(bits, self.strip)
        raise ValueError(f"no step {step!r}")

    # --- operation ------------------------------------------------------------------------------------------

    def _binary(self, name: str, a: str, b: str) -> str:
        return self._line(f"{name} {self.vector} {a}, {b}")

    def _compare(self, name: str, a: str, b: str) -> str:
        bit = self._line(f"icmp {name} {self.vector} {a}, {b}")
        return self._line(f"sext <{self.strip} x i1> {bit} to {self.vector}")

    def _sign(self, value: str) -> str:
        """Return 255 where the top bit is set."""
        return self._spread(value, 7) or self._binary("ashr", value, "splat (i8 7)")

    def _bottom(self, value: str) -> str:
        """Return 255 where the bottom bit is set."""
        return self._spread(value, 0) or self._binary("sub", ZERO, self.logic("and", value, "splat (i8 1)"))

    def _spread(self, value: str, bit: int) -> str | None:
        """Return a bit of every byte in all bits of that byte; None where that is not one instruction."""
        if not self.vectors.spread or self.strip != 64:
            return None
        row = _constant(1 << bit)  # of the matrix that every byte is multiplied by: each bit of the product is this one
        return self._line(f"call {self.vector} @{SPREAD}({self.vector} {value}, {self.vector} {row}, i8 0)")

    def _ternary(self, table: int, *inputs: str) -> str | None:
        """Return any logic of three vectors by its truth table; None where that is not one instruction."""
        if not self.vectors.ternary or self.strip != 64:
            return None
        words = [self._line(f"bitcast {self.vector} {each} to {WORDS}") for each in inputs]
        arguments = ", ".join(f"{WORDS} {each}" for each in words)
        found = self._line(f"call {WORDS} @{TERNARY}({arguments}, i32 {table})")
        return self._line(f"bitcast {WORDS} {found} to {self.vector}")

    def _plus(self, value: str, bit: str) -> str:
        # A set bit is 255, which is -1.
        return value if bit == ZERO else self._binary("sub", value, bit)

    def _add(self, a: str, b: str, carry: str) -> str:
        if carry == FULL and b in self.inverse:
            total = self._binary("sub", a, self.inverse[b])
        else:
            total = self._plus(self._binary("add", a, b), carry)
        self.sums[total] = (a, b, carry)
        return total

    def _carry(self, total: str) -> str:
        a, b, carry = self.sums[total]
        majority = self._majority(a, b, total)
        if majority is not None:
            return self._sign(majority)
        if carry == ZERO:
            return self._compare("ult", total, a)
        if carry == FULL and b in self.inverse:
            # a + not x + 1 carries out exactly where a >= x.
            return self._compare("uge", a, self.inverse[b])
        # The majority of a, b and not total: where a and b differ not total decides, elsewhere a does.
        return self._sign(self._choose(self._binary("xor", a, b), self.complement(total), a))

    def _majority(self, a: str, b: str, total: str) -> str | None:
        """Return the word whose top bit is the carry out of a sum: the majority of a, b and not the sum."""
        if b in self.inverse:
            return self._ternary(0x71, a, self.inverse[b], total)
        return self._ternary(0xD4, a, b, total)

    def logic(self, name: str, a: str, b: str) -> str:
        zero, full = (a, b) if a in (ZERO, FULL) else (b, a)
        if name == "and" and zero in (ZERO, FULL):
            return ZERO if zero == ZERO else full
        if name == "or" and zero in (ZERO, FULL):
            return full if zero == ZERO else FULL
        if name == "xor" and zero == ZERO:
            return full
        return self._binary(name, a, b)

    def complement(self, a: str) -> str:
        if a in (ZERO, FULL):
            return FULL if a == ZERO else ZERO
        inverted = self._binary("xor", a, FULL)
        self.inverse[inverted] = a
        return inverted

    def select(self, where: str, a: str, b: str) -> str:
        if where in (ZERO, FULL):
            return a if where == FULL else b
        if b == ZERO:
            return self.logic("and", where, a)
        return a if a == b else self._choose(where, a, b)

    def _choose(self, where: str, a: str, b: str) -> str:
        taken = self.logic("and", where, a)
        return self.logic("or", taken, self.logic("and", self._binary("xor", where, FULL), b))

    # --- wider than a byte ----------------------------------------------------------------------------------

    def _affine(self, coordinates: Sequence[str], slots: Sequence[int], words: int) -> str:
        bits = next(size for size in (16, 32, 64) if size >= 8 * words)
        wide = f"<{self.strip} x i{bits}>"
        x_low, x_high, y_low, y_high = (
            self._line(f"zext {self.vector} {each} to {wide}") for each in coordinates
        )  # fmt: skip
        total = self._splat(slots[2], bits)
        for low, high, slot in ((x_low, x_high, slots[0]), (y_low, y_high, slots[1])):
            shifted = self._line(f"shl {wide} {high}, splat (i{bits} 8)")
            coordinate = self._line(f"or {wide} {low}, {shifted}")
            term = self._line(f"mul {wide} {coordinate}, {self._splat(slot, bits)}")
            total = self._line(f"add {wide} {total}, {term}")
        self.bits_of[total] = bits
        return total

    def _cut(self, value: str, index: int) -> str:
        bits = self.bits_of[value]
        wide = f"<{self.strip} x i{bits}>"
        shifted = self._line(f"lshr {wide} {value}, splat (i{bits} {8 * index})") if index else value
        return self._line(f"trunc {wide} {shifted} to {self.vector}")

    def _route(self, value: str, sources: tuple[int, ...]) -> str:
        group = len(sources)
        mask = ", ".join(f"i32 {at - at % group + sources[at % group]}" for at in range(self.strip))
        return self._line(f"shufflevector {self.vector} {value}, {self.vector} poison, <{self.strip} x i32> <{mask}>")


def _constant(value: int) -> str:
    return {0: ZERO, 255: FULL}.get(value, f"splat (i8 {value - 256 if value > 127 else value})")


def _pattern(bits: tuple[bool, ...], strip: int) -> str:
    return "<" + ", ".join(f"i8 {-int(bits[at % len(bits)])}" for at in range(strip)) + ">"
