"""Lowering of a basic block to LLVM IR: one function, looped over strips of lanes.

Every function has the type ``code' f(tile, lanes, code, table)``: it carries its block out on the first ``lanes``
lanes of a tile of state, with the operands that stand at ``code``, and returns the address past them. Rows are
operands as byte offsets into the tile. Different operands are different rows, so a row is loaded once, kept in a
register and stored once at the end of the block. All that is said about the processor is how wide its vectors are, and
which of two instructions it has that LLVM does not find by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import lcm

from pixelflow.simd.lanes.compiled.blocks import Block
from pixelflow.simd.lanes.compiled.llvm.operations import FULL, Bit, Value, VectorOperations, Vectors, constant
from pixelflow.simd.lanes.form import Form, FormStep, Op

__all__ = ["LoopBody", "function"]

_NAME = re.compile(r"%(?:v\d+|at)\b")
"""What has a value of its own in every strip, unless it was made before the loop."""


def function(name: str, block: Block, vectors: Vectors, strips: int = 1) -> str:
    """Return the text of a function that carries out a block, ``strips`` (a power of two) of lanes in each round."""
    steps = (step for form, _ in block.forms for step in form.steps)
    groups = {len(step.lanes) for step in steps if step.lanes}
    body = LoopBody(vectors, lcm(vectors.width, *groups))
    body.rows = dict.fromkeys(block.full, FULL)
    body.before = dict(body.rows)
    for form, operands in block.forms:
        body.part(form, operands)
    body.write_back()
    slots = 1 + max((slot for _, operands in block.forms for slot in operands), default=-1)
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
            *body.stores,
            f"  %next = add nuw nsw i64 %at, {body.strip}",
            "  %more = icmp ult i64 %next, %lanes",
            "  br i1 %more, label %strip, label %end",
            "end:",
            f"  %past = getelementptr i8, ptr %code, i64 {8 * slots}",
            "  ret ptr %past",
            "}",
        ]
    )


@dataclass(slots=True)
class LoopBody(VectorOperations):
    """The body of one function: parts, one after the other, on rows that are loaded once and stored once."""

    rows: dict[int, Value] = field(default_factory=dict)
    """What each slot's row holds now, as far as it is known."""
    before: dict[int, Value] = field(default_factory=dict)
    """What it held when it was first seen: it need not be stored again."""
    bits_of: dict[str, int] = field(default_factory=dict)
    """The size of the elements of a value that is wider than bytes."""
    made: dict[tuple[str, int], str] = field(default_factory=dict)
    """Heads that exist already, by kind and slot."""
    stores: list[str] = field(default_factory=list)
    """What comes after the lines: nothing is stored before everything is computed."""

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
                store = f"  store volatile {self.vector} {self.full(value)}, ptr {self._row(slot)}, align 16"
                self.stores.append(store)

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

        return [_NAME.sub(own, line) for line in (*self.lines, *self.stores)]

    # --- steps ----------------------------------------------------------------------------------------------

    def part(self, form: Form, slots: Sequence[int]) -> None:
        """Add a part; ``slots`` are those of its operands."""
        values: list[Value] = []
        for step in form.steps:
            direct = _DIRECT.get(step.op)
            inputs = [values[at] for at in step.inputs]
            values.append(self._other(step, inputs, slots) if direct is None else direct(self, *inputs))

    def _other(self, step: FormStep, inputs: Sequence[Value], slots: Sequence[int]) -> Value:
        """Add a step with a detail."""
        detail = step.detail
        match step.op:
            case Op.LOAD:
                return self.load(slots[detail])
            case Op.STORE:
                self.rows[slots[detail]] = inputs[0]
                return inputs[0]
            case Op.CONSTANT:
                return constant(detail if step.bits > 1 else 255 * detail)
            case Op.LITERAL:
                return self._splat(slots[detail], 8)
            case Op.AFFINE:
                coordinates = [self.full(each) for each in inputs]
                return self._affine(coordinates, slots[detail : detail + 3], step.bits)
            case Op.CUT:
                return self._cut(self.full(inputs[0]), detail)
            case Op.ROUTE:
                return self._route(self.full(inputs[0]), step.lanes)
            case Op.PATTERN:
                return _pattern(step.lanes, self.strip)
        raise ValueError(f"no step {step!r}")

    # --- wider than a byte ----------------------------------------------------------------------------------

    def _affine(self, coordinates: Sequence[str], slots: Sequence[int], least: int) -> str:
        bits = next(size for size in (16, 32, 64) if size >= least)
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


def _pattern(bits: tuple[int, ...], strip: int) -> str:
    return "<" + ", ".join(f"i8 {-bits[at % len(bits)]}" for at in range(strip)) + ">"


_DIRECT: dict[Op, Callable[..., Value]] = {
    Op.ADD: LoopBody.add,
    Op.CARRY: LoopBody.carry,
    Op.AND: lambda body, a, b: body.logic("and", a, b),
    Op.OR: lambda body, a, b: body.logic("or", a, b),
    Op.XOR: lambda body, a, b: body.logic("xor", a, b),
    Op.NOT: LoopBody.complement,
    Op.UP: LoopBody.up,
    Op.TOP: lambda body, a: Bit("top", body.full(a)),
    Op.DOWN: LoopBody.down,
    Op.BOTTOM: lambda body, a: Bit("bottom", body.full(a)),
    Op.SELECT: LoopBody.select,
}
"""What lowers steps that are nothing but what they take."""
