"""Lowering of steps that compute: integers, floats, masks as numbers, routes.

A NaN must come out as the quieted one of the first operand that is one, or as the indefinite one. Processors differ
there, and LLVM leaves it open; so results of float operations that follow each other are looked at together, and only
where one of them is a NaN is all of it worked out again with care. A NaN in an operand is one in the result, so only
results that no later operation of these takes have to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.wide.native.program import Unsupported
from pixelflow.simd.lanes.wide.native.text.values import FLOAT, FloatText, GroupValue, Tree, constant

__all__ = ["Arithmetic"]

_FLOATS = (Op.FLOAT_ADD, Op.FLOAT_MULTIPLY, Op.FLOAT_DIVIDE, Op.FLOAT_FUSE)
_LOGIC = {Op.AND: "and", Op.OR: "or", Op.XOR: "xor"}


@dataclass(eq=False, slots=True)
class _FloatResult:
    """A result that is not settled yet: what was done, on which values, with which names."""

    value: GroupValue
    op: Op
    inputs: tuple[GroupValue, ...]
    names: tuple[str, ...]
    raw: str
    is_last: bool = True
    """Whether no other of these results was made from it."""


@dataclass(slots=True)
class Arithmetic(FloatText):
    """The body of a function with what steps compute."""

    unsettled: list[_FloatResult] = field(default_factory=list)

    def compute(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        """Add a step that computes; raises Unsupported for one that native code is not made for."""
        direct = _DIRECT.get(step.op)
        if direct is None:
            raise Unsupported(f"{step.op.name.lower()} on words of 32 bits")
        return direct(self, step, inputs)

    def result(self, bits: int, single: bool, text: str) -> GroupValue:
        """Add a line; return its value."""
        return GroupValue(bits, single, self.line(text))

    # --- integers -------------------------------------------------------------------------------------------

    def _add(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        a, b, carry = inputs
        single = all(each.single for each in inputs)
        total = GroupValue(32, single, summands=(a, b, carry))
        if carry.constant == 0 and (a.single or b.single):
            base, steps = (a, b) if a.single else (b, a)
            if steps.series is not None:
                total.begin = base, steps.series
                total.later = lambda: self._sum(total)
                return total
        total.word = self._sum(total)
        return total

    def _sum(self, total: GroupValue) -> str:
        assert total.summands is not None, "a sum has summands"
        a, b, carry = total.summands
        kind = self.kind(total)
        x, y = (self.named(each) if total.single else self.vector(each) for each in (a, b))
        name = self.line(f"add {kind} {x}, {y}")
        if carry.constant == 0:
            return name
        if carry.constant == 1:
            return self.line(f"add {kind} {name}, {self.splat('i32', 1, total.single)}")
        into = self.named(carry) if total.single else self.vector(carry)
        bit = self.line(f"zext {self.of('i1', total.single)} {into} to {kind}")
        return self.line(f"add {kind} {name}, {bit}")

    def _carry(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (total,) = inputs
        assert total.summands is not None, "a carry is that of a sum"
        a, b, carry = total.summands
        single, kind = total.single, self.kind(total)
        result, x = self.named(total), self.named(a) if total.single else self.vector(a)
        if carry.constant is not None:
            return self.result(1, single, f"icmp {'ule' if carry.constant else 'ult'} {kind} {result}, {x}")
        y = self.named(b) if single else self.vector(b)
        first = self.line(f"add {kind} {x}, {y}")
        over = self.line(f"icmp ult {kind} {first}, {x}")
        again = self.line(f"icmp ult {kind} {result}, {first}")
        return self.result(1, single, f"or {self.of('i1', single)} {over}, {again}")

    def _logic(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (a, b) = self.alike(inputs)
        kind = self.of("i1" if step.bits == 1 else "i32", single)
        return self.result(step.bits, single, f"{_LOGIC[step.op]} {kind} {a}, {b}")

    def _not(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (a,) = inputs
        ones = self.splat("i1" if step.bits == 1 else "i32", -1 if step.bits > 1 else "true", a.single)
        return self.result(step.bits, a.single, f"xor {self.kind(a)} {self.named(a)}, {ones}")

    def _shift_one(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (a, into) = self.alike(inputs)
        kind, one, top = self.of("i32", single), self.splat("i32", 1, single), self.splat("i32", 31, single)
        bit = self.line(f"zext {self.of('i1', single)} {into} to {kind}")
        if step.op is Op.UP:
            return self.result(32, single, f"or {kind} {self.line(f'shl {kind} {a}, {one}')}, {bit}")
        moved = self.line(f"shl {kind} {bit}, {top}")
        return self.result(32, single, f"or {kind} {self.line(f'lshr {kind} {a}, {one}')}, {moved}")

    def _end_bit(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (a,) = inputs
        if step.op is Op.TOP:
            zero = self.splat("i32", 0, a.single)
            return self.result(1, a.single, f"icmp slt {self.kind(a)} {self.named(a)}, {zero}")
        return self.result(1, a.single, f"trunc {self.kind(a)} {self.named(a)} to {self.of('i1', a.single)}")

    def _compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (a, b) = self.alike(inputs)
        how = "eq" if step.op is Op.EQUAL else ("slt" if step.detail else "ult")
        return self.result(1, single, f"icmp {how} {self.of('i32', single)} {a}, {b}")

    def _multiply(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (a, b) = self.alike(inputs)
        kind, wide = self.of("i32", single), self.of("i64", single)
        if step.op is Op.MULTIPLY:
            return self.result(32, single, f"mul {kind} {a}, {b}")
        a, b = (self.line(f"{'sext' if step.detail else 'zext'} {kind} {each} to {wide}") for each in (a, b))
        product = self.line(f"mul {wide} {a}, {b}")
        high = self.line(f"lshr {wide} {product}, {self.splat('i64', 32, single)}")
        return self.result(32, single, f"trunc {wide} {high} to {kind}")

    def _shift(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        by = inputs[1].constant
        single, (a, b) = self.alike(inputs)
        kind = self.of("i32", single)
        how = "shl" if step.op is Op.SHIFT_UP else ("ashr" if step.detail else "lshr")
        if by is not None and by < 32:
            return self.result(32, single, f"{how} {kind} {a}, {b}")
        most = self.splat("i32", 31, single)
        within = self.line(f"icmp ult {kind} {b}, {self.splat('i32', 32, single)}")
        flags = self.of("i1", single)
        if how == "ashr":
            least = self.line(f"select {flags} {within}, {kind} {b}, {kind} {most}")
            return self.result(32, single, f"ashr {kind} {a}, {least}")
        low = self.line(f"and {kind} {b}, {most}")
        moved = self.line(f"{how} {kind} {a}, {low}")
        return self.result(
            32, single, f"select {flags} {within}, {kind} {moved}, {kind} {self.splat('i32', 0, single)}"
        )

    # --- masks, routes --------------------------------------------------------------------------------------

    def _select(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        where, a, b = inputs
        single, (condition, x, y) = self.alike(inputs)
        kind = self.of("i1" if step.bits == 1 else "i32", single)
        if where.constant is not None:
            return a if where.constant else b
        flags = self.of("i1", single)
        chosen = self.result(step.bits, single, f"select {flags} {condition}, {kind} {x}, {kind} {y}")
        if single and a.tree is not None and b.tree is not None:
            tree: Tree = (condition, a.tree, b.tree)
            chosen.tree = tree
        return chosen

    def _spread(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (number,) = inputs
        if number.single:
            bits = self.named(number)
            if self.group < 32:
                bits = self.line(f"trunc i32 {bits} to i{self.group}")
            return self.result(1, False, f"bitcast i{self.group} {bits} to {self.of('i1')}")
        kind = self.of("i32")
        moved = self.line(f"lshr {kind} {self.named(number)}, {self.lanes('i32', range(self.group))}")
        return self.result(1, False, f"trunc {kind} {moved} to {self.of('i1')}")

    def _collect(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        bits = self.mask_number(self.vector(inputs[0]))
        return GroupValue(32, True, bits if self.group == 32 else self.line(f"zext i{self.group} {bits} to i32"))

    def _rank(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        number = self.vector(self._collect(step, inputs))
        kind, before = self.of("i32"), self.lanes("i32", [(1 << lane) - 1 for lane in range(self.group)])
        below = self.line(f"and {kind} {number}, {before}")
        return GroupValue(32, False, self.call(kind, f"llvm.ctpop.v{self.group}i32", [f"{kind} {below}"]))

    def lanes(self, element: str, values: Sequence[int] | range) -> str:
        """Return a constant vector."""
        return "<" + ", ".join(f"{element} {value}" for value in values) + ">"

    def _series(self, step: FormStep, _: Sequence[GroupValue]) -> GroupValue:
        return GroupValue(32, False, self.lanes("i32", step.lanes), series=step.lanes)

    def _pattern(self, step: FormStep, _: Sequence[GroupValue]) -> GroupValue:
        return GroupValue(1, False, self.lanes("i1", step.lanes))

    def _route(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (value,) = inputs
        if value.single:
            return value
        kind, sources = self.kind(value), self.lanes("i32", step.lanes)
        text = f"shufflevector {kind} {self.named(value)}, {kind} poison, {self.of('i32')} {sources}"
        return self.result(value.bits, False, text)

    # --- floats ---------------------------------------------------------------------------------------------

    def float_name(self, value: GroupValue, single: bool) -> str:
        """Return the name of a value as a float, settled or not."""
        if value.single and not single:
            return self.line(f"bitcast {self.of('i32')} {self.vector(value)} to {self.of('float')}")
        if value.floating is None:
            kind = self.of("float", single)
            value.floating = self.line(f"bitcast {self.kind(value)} {self.named(value)} to {kind}")
        return value.floating

    def _float(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single = all(each.single for each in inputs)
        if not single and any(each.single and each.unsettled for each in inputs):
            self.settle()
        names = tuple(self.float_name(each, single) for each in inputs)
        for earlier in self.unsettled:
            if earlier.value in inputs:
                earlier.is_last = False
        raw = self.operated(FLOAT, step.op, single, names)
        value = GroupValue(32, single, floating=raw, unsettled=True)
        self.unsettled.append(_FloatResult(value, step.op, tuple(inputs), names, raw))
        return value

    def settle(self) -> None:
        if not self.unsettled:
            return
        results, self.unsettled = self.unsettled, []
        rare, on = self.new_label("nan"), self.new_label("settled")
        before = self.label
        self.branch(self._any_nan([each for each in results if each.is_last]), rare, on)
        self.begin(rare)
        careful: dict[GroupValue, str] = {}
        for each in results:
            names = [careful.get(value, name) for value, name in zip(each.inputs, each.names, strict=True)]
            again = self.operated(FLOAT, each.op, each.value.single, names)
            careful[each.value] = self.with_care(FLOAT, each.value.single, names, again)
        self.do(f"br label %{on}")
        self.begin(on)
        for each in results:
            kind = self.of("float", each.value.single)
            each.value.floating = self.line(f"phi {kind} [{each.raw}, %{before}], [{careful[each.value]}, %{rare}]")
            each.value.unsettled = False

    def _any_nan(self, results: Sequence[_FloatResult]) -> str:
        """Return whether any of these results is a NaN in any lane."""
        found = ""
        for single in (False, True):
            names = [each.raw for each in results if each.value.single is single]
            kind, flags = self.of("float", single), self.of("i1", single)
            joined = ""
            for a, b in zip(names[::2], [*names[1::2], *names[-1:]], strict=False):
                either = self.line(f"fcmp uno {kind} {a}, {b}")
                joined = self.line(f"or {flags} {joined}, {either}") if joined else either
            if joined:
                here = joined if single else self.any_of(joined)
                found = self.line(f"or i1 {found}, {here}") if found else here
        return found

    def _settled_floats(self, inputs: Sequence[GroupValue]) -> tuple[bool, list[str]]:
        single, _ = self.alike(inputs)
        return single, [self.float_name(each, single) for each in inputs]

    def _float_compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, names = self._settled_floats(inputs)
        return GroupValue(1, single, self.compared(FLOAT, step.op, single, names))

    # --- conversions ----------------------------------------------------------------------------------------

    def _to_float(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (a,) = inputs
        return GroupValue(32, a.single, floating=self.from_integer(FLOAT, step, a))

    def _to_integer(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (name,) = self._settled_floats(inputs)
        return GroupValue(32, single, self.to_integer(FLOAT, step, single, name))

    def _half_to_float(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        """Exponent and fraction moved up, times 2^112, which is exact; infinities and NaNs apart."""
        (a,) = inputs
        single = a.single
        kind, word, flags = self.of("float", single), self.of("i32", single), self.of("i1", single)

        def both(name: str, bits: int) -> str:
            return self.line(f"and {word} {name}, {self.splat('i32', bits, single)}")

        def either(name: str, other: str) -> str:
            return self.line(f"or {word} {name}, {other}")

        def up(name: str, by: int) -> str:
            return self.line(f"shl {word} {name}, {self.splat('i32', by, single)}")

        half = self.named(a)
        sign, rest = up(both(half, 0x8000), 16), both(half, 0x7FFF)
        moved = up(rest, 13)
        scaled = self.line(f"bitcast {word} {moved} to {kind}")
        scaled = self.line(f"fmul {kind} {scaled}, {self.splat('float', '0x46F0000000000000', single)}")
        finite = self.line(f"bitcast {kind} {scaled} to {word}")
        special = either(moved, self.splat("i32", 0x7F800000, single))
        is_nan = self.line(f"icmp ugt {word} {rest}, {self.splat('i32', 0x7C00, single)}")
        quiet = either(special, self.splat("i32", FLOAT.quiet, single))
        special = self.line(f"select {flags} {is_nan}, {word} {quiet}, {word} {special}")
        is_special = self.line(f"icmp uge {word} {rest}, {self.splat('i32', 0x7C00, single)}")
        size = self.line(f"select {flags} {is_special}, {word} {special}, {word} {finite}")
        return GroupValue(32, single, either(size, sign))

    def _constant(self, step: FormStep, _: Sequence[GroupValue]) -> GroupValue:
        return constant(step.bits, step.detail)


_Lowering = Callable[[Arithmetic, FormStep, Sequence[GroupValue]], GroupValue]

_DIRECT: dict[Op, _Lowering] = {
    Op.CONSTANT: Arithmetic._constant,
    Op.ADD: Arithmetic._add,
    Op.CARRY: Arithmetic._carry,
    **dict.fromkeys(_LOGIC, Arithmetic._logic),
    Op.NOT: Arithmetic._not,
    **dict.fromkeys((Op.UP, Op.DOWN), Arithmetic._shift_one),
    **dict.fromkeys((Op.TOP, Op.BOTTOM), Arithmetic._end_bit),
    Op.SELECT: Arithmetic._select,
    Op.ROUTE: Arithmetic._route,
    Op.PATTERN: Arithmetic._pattern,
    Op.SERIES: Arithmetic._series,
    Op.SPREAD: Arithmetic._spread,
    Op.COLLECT: Arithmetic._collect,
    Op.RANK: Arithmetic._rank,
    **dict.fromkeys((Op.EQUAL, Op.LESS), Arithmetic._compare),
    **dict.fromkeys((Op.MULTIPLY, Op.MULTIPLY_HIGH), Arithmetic._multiply),
    **dict.fromkeys((Op.SHIFT_UP, Op.SHIFT_DOWN), Arithmetic._shift),
    **dict.fromkeys(_FLOATS, Arithmetic._float),
    **dict.fromkeys((Op.FLOAT_EQUAL, Op.FLOAT_LESS), Arithmetic._float_compare),
    Op.TO_FLOAT: Arithmetic._to_float,
    Op.TO_INTEGER: Arithmetic._to_integer,
    Op.HALF_TO_FLOAT: Arithmetic._half_to_float,
}
"""What lowers a step."""
