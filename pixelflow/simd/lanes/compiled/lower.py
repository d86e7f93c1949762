"""From the form of a block to LLVM IR: one function, looped over strips of lanes.

Every function has the type ``code' f(tile, lanes, code, table)``: it carries its block out on the first ``lanes``
lanes of a tile of state, with the operands that stand at ``code``, and returns the address behind them. Rows are
operands as byte offsets into the tile. Different operands are different rows, so a row is loaded once, kept in a
register and stored once at the end of the block. All that is said about the processor is how wide its vectors are, and
which of two instructions it has that LLVM does not find by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

from pixelflow.simd.lanes.compiled.llvm.operations import FULL, Bit, Operations, Value, Vectors, constant
from pixelflow.simd.lanes.compiled.trace import OPERANDS, Block, Steps

__all__ = ["Body", "function"]

_NAME = re.compile(r"%(?:v\d+|at)\b")
"""What has a value of its own in every strip, unless it was made before the loop."""


def function(name: str, block: Block, vectors: Vectors, strips: int = 1) -> str:
    """Return the text of a function that carries out a block, ``strips`` (a power of two) of lanes in each round."""
    form, full = block
    groups = {len(step[-1]) for steps, _ in form for step in steps if step[0] in ("route", "pattern")}
    body = Body(vectors, lcm(vectors.width, *groups))
    body.rows = dict.fromkeys(full, FULL)
    body.before = dict(body.rows)
    for steps, slots in form:
        body.part(steps, slots)
    body.write_back()
    slots = 1 + max((slot for _, used in form for slot in used), default=-1)
    rounds = body.rounds(strips) if strips > 1 else []
    return "\n".join(
        [
            f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{",
            "entry:",
            *body.head,
            *(rounds or ["  br label %strip"]),
            "strip:",
            f"  %at = phi i64 [0, %entry], {'[%whole, %rest], ' if rounds else ''}[%next, %strip]",
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
class Body(Operations):
    """The body of one function: parts, one after the other, on rows that are loaded once and stored once."""

    rows: dict[int, Value] = field(default_factory=dict)
    """What each slot's row holds now, as far as it is known."""
    before: dict[int, Value] = field(default_factory=dict)
    """What it held when it was first seen: it need not be stored again."""
    bits_of: dict[str, int] = field(default_factory=dict)
    """The size of the elements of a value that is wider than bytes."""
    made: dict[tuple, str] = field(default_factory=dict)
    """Heads that exist already, by slot and kind."""

    # --- operands -------------------------------------------------------------------------------------------

    def _head(self, kind: str, slot: int, text: str) -> str:
        """Return what stands before the loop for a slot; made once."""
        if (kind, slot) not in self.made:
            name = self.made[kind, slot] = self.name()
            self.head.append(f"  {name} = {text}")
        return self.made[kind, slot]

    def _operand(self, slot: int) -> str:
        place = self._head("place", slot, f"getelementptr i8, ptr %code, i64 {8 * slot}")
        return self._head("operand", slot, f"load i64, ptr {place}")

    def _row(self, slot: int) -> str:
        base = self._head("row", slot, f"getelementptr i8, ptr %tile, i64 {self._operand(slot)}")
        return self.line(f"getelementptr i8, ptr {base}, i64 %at")

    def _splat(self, slot: int, bits: int) -> str:
        """Return an operand in every element of a vector."""
        value, kind = self._operand(slot), f"<{self.strip} x i{bits}>"
        if bits < 64:
            value = self._head(f"narrow {bits}", slot, f"trunc i64 {value} to i{bits}")
        first = self._head(f"first {bits}", slot, f"insertelement {kind} poison, i{bits} {value}, i64 0")
        mask = f"<{self.strip} x i32> zeroinitializer"
        return self._head(f"splat {bits}", slot, f"shufflevector {kind} {first}, {kind} poison, {mask}")

    # --- memory ---------------------------------------------------------------------------------------------

    def load(self, slot: int) -> Value:
        if slot not in self.rows:
            value = self.line(f"load {self.vector}, ptr {self._row(slot)}, align 16")
            self.rows[slot] = self.before[slot] = value
        return self.rows[slot]

    def write_back(self) -> None:
        """Store the rows that have changed, always whole: a load waits long for a store that leaves bytes out."""
        for slot, value in self.rows.items():
            if self.before.get(slot) != value:
                self.lines.append(f"  store volatile {self.vector} {self.full(value)}, ptr {self._row(slot)}, align 16")

    def rounds(self, strips: int) -> list[str]:
        """Return a loop that works on several strips at once, as long as there are so many; none where it cannot."""
        size = strips * self.strip
        if size & (size - 1):
            return []
        return [
            f"  %whole = and i64 %lanes, {-size}",
            "  %any = icmp ne i64 %whole, 0",
            "  br i1 %any, label %round, label %strip",
            "round:",
            "  %at.0 = phi i64 [0, %entry], [%next.round, %round]",
            *self._again(0),
            *(
                line
                for strip in range(1, strips)
                for line in (f"  %at.{strip} = add nuw nsw i64 %at.0, {strip * self.strip}", *self._again(strip))
            ),
            f"  %next.round = add nuw nsw i64 %at.0, {size}",
            "  %again = icmp ult i64 %next.round, %whole",
            "  br i1 %again, label %round, label %rest",
            "rest:",
            "  %left = icmp ult i64 %whole, %lanes",
            "  br i1 %left, label %strip, label %end",
        ]

    def _again(self, strip: int) -> list[str]:
        """Return the lines of the loop once more, with names of their own."""
        before = {line.split()[0] for line in self.head}

        def own(name: re.Match[str]) -> str:
            return name[0] if name[0] in before else f"{name[0]}.{strip}"

        return [_NAME.sub(own, line) for line in self.lines]

    # --- steps ----------------------------------------------------------------------------------------------

    def part(self, steps: Steps, slots: Sequence[int]) -> None:
        values: list[Value] = []
        used = 0
        for step in steps:
            count = OPERANDS.get(step[0], 0)
            values.append(self._step(step, slots[used : used + count], values))
            used += count

    def _step(self, step: tuple, slots: Sequence[int], values: list[Value]) -> Value:
        match step:
            case "constant", value:
                return constant(value)
            case ("byte",):
                return self._splat(slots[0], 8)
            case ("load",):
                return self.load(slots[0])
            case "store", value:
                self.rows[slots[0]] = values[value]
                return ""
            case "affine", *coordinates, words:
                return self._affine([self.full(values[each]) for each in coordinates], slots, words)
            case "cut", value, index:
                return self._cut(values[value], index)
            case "add", a, b, carry:
                return self.add(values[a], values[b], values[carry])
            case "carry", total:
                return self.carry(values[total])
            case ("and" | "or" | "xor") as name, a, b:
                return self.logic(name, values[a], values[b])
            case "not", a:
                return self.complement(values[a])
            case "up", a, into:
                return self.up(values[a], values[into])
            case "down", a, into:
                return self.down(values[a], values[into])
            case ("top" | "bottom") as where, a:
                return Bit(where, self.full(values[a]))
            case "select", where, a, b:
                return self.select(values[where], values[a], values[b])
            case "route", value, sources:
                return self._route(self.full(values[value]), sources)
            case "pattern", bits:
                return _pattern(bits, self.strip)
        raise ValueError(f"no step {step!r}")

    # --- wider than a byte ----------------------------------------------------------------------------------

    def _affine(self, coordinates: Sequence[str], slots: Sequence[int], words: int) -> str:
        bits = next(size for size in (16, 32, 64) if size >= 8 * words)
        wide = f"<{self.strip} x i{bits}>"
        x_low, x_high, y_low, y_high = (
            self.line(f"zext {self.vector} {each} to {wide}") for each in coordinates
        )  # fmt: skip
        total = self._splat(slots[2], bits)
        for low, high, slot in ((x_low, x_high, slots[0]), (y_low, y_high, slots[1])):
            shifted = self.line(f"shl {wide} {high}, splat (i{bits} 8)")
            coordinate = self.line(f"or {wide} {low}, {shifted}")
            term = self.line(f"mul {wide} {coordinate}, {self._splat(slot, bits)}")
            total = self.line(f"add {wide} {total}, {term}")
        self.bits_of[total] = bits
        return total

    def _cut(self, value: str, index: int) -> str:
        bits = self.bits_of[value]
        wide = f"<{self.strip} x i{bits}>"
        shifted = self.line(f"lshr {wide} {value}, splat (i{bits} {8 * index})") if index else value
        return self.line(f"trunc {wide} {shifted} to {self.vector}")

    def _route(self, value: str, sources: tuple[int, ...]) -> str:
        group = len(sources)
        mask = ", ".join(f"i32 {at - at % group + sources[at % group]}" for at in range(self.strip))
        return self.line(f"shufflevector {self.vector} {value}, {self.vector} poison, <{self.strip} x i32> <{mask}>")


def _pattern(bits: tuple[bool, ...], strip: int) -> str:
    return "<" + ", ".join(f"i8 {-int(bits[at % len(bits)])}" for at in range(strip)) + ">"
