"""Lowering of steps that compute with doubles, each of which is a low and a high word.

A value of 64 bits is named as a double; what is made of it are its words. Each result is settled at once: where it is a
NaN, it is worked out again with care.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.wide.native.text.arithmetic import Arithmetic
from pixelflow.simd.lanes.wide.native.text.values import DOUBLE, GroupValue

__all__ = ["DoubleArithmetic"]

_QUIET_DOUBLE, _QUIET_FLOAT = 0x7FF8 << 48, 0x7FC0 << 16
"""What all quiet NaNs have in common but for their signs, in each format."""


@dataclass(slots=True)
class DoubleArithmetic(Arithmetic):
    """The body of a function with what steps compute, doubles included."""

    def compute(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        direct = _DIRECT.get(step.op)
        return Arithmetic.compute(self, step, inputs) if direct is None else direct(self, step, inputs)

    # --- pairs of words -------------------------------------------------------------------------------------

    def _doubles(self, inputs: Sequence[GroupValue]) -> tuple[bool, list[str]]:
        """Return the names of low and high words, in turn, as doubles; and whether they are scalars."""
        single, words = self.alike(inputs)
        return single, [self._double(low, high, single) for low, high in zip(words[::2], words[1::2], strict=True)]

    def _double(self, low: str, high: str, single: bool) -> str:
        if single:
            wide = self.line(f"shl i64 {self.line(f'zext i32 {high} to i64')}, 32")
            return self.line(f"bitcast i64 {self.line(f'or i64 {wide}, {self._wide(low)}')} to double")
        kind, both = self.of("i32"), f"<{2 * self.group} x i32>"
        sources = ", ".join(f"i32 {lane}, i32 {self.group + lane}" for lane in range(self.group))
        mixed = self.line(f"shufflevector {kind} {low}, {kind} {high}, {both} <{sources}>")
        return self.line(f"bitcast {both} {mixed} to {self.of('double')}")

    def _wide(self, word: str) -> str:
        return self.line(f"zext i32 {word} to i64")

    def _cut(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (value,) = inputs
        if value.single:
            bits = self.line(f"bitcast double {value.word} to i64")
            return self.result(32, True, f"trunc i64 {self.line(f'lshr i64 {bits}, {32 * step.detail}')} to i32")
        both = f"<{2 * self.group} x i32>"
        words = self.line(f"bitcast {self.of('double')} {value.word} to {both}")
        sources = self.lanes("i32", range(step.detail, 2 * self.group, 2))
        return self.result(32, False, f"shufflevector {both} {words}, {both} poison, {self.of('i32')} {sources}")

    # --- arithmetic -----------------------------------------------------------------------------------------

    def _arithmetic(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, names = self._doubles(inputs)
        kind = self.of("double", single)
        raw = self.operated(DOUBLE, step.op, single, names)
        is_nan = self.line(f"fcmp uno {kind} {raw}, {raw}")
        rare, on, before = self.new_label("nan"), self.new_label("settled"), self.label
        self.branch(is_nan if single else self.any_of(is_nan), rare, on)
        self.begin(rare)
        careful = self.with_care(DOUBLE, single, names, raw)
        self.do(f"br label %{on}")
        self.begin(on)
        return self.result(64, single, f"phi {kind} [{raw}, %{before}], [{careful}, %{rare}]")

    def _double_compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, names = self._doubles(inputs)
        return GroupValue(1, single, self.compared(DOUBLE, step.op, single, names))

    # --- conversions ----------------------------------------------------------------------------------------

    def _to_double(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (a,) = inputs
        return GroupValue(64, a.single, self.from_integer(DOUBLE, step, a))

    def _double_to_integer(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (name,) = self._doubles(inputs)
        return GroupValue(32, single, self.to_integer(DOUBLE, step, single, name))

    def _float_to_double(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        (a,) = inputs
        single = a.single
        kind, wide, flags = self.of("double", single), self.of("i64", single), self.of("i1", single)
        words = self.named(a)
        number = self.line(f"bitcast {self.kind(a)} {words} to {self.of('float', single)}")
        is_nan = self.line(f"fcmp uno {self.of('float', single)} {number}, {number}")
        longer = self.line(f"fpext {self.of('float', single)} {number} to {kind}")
        bits = self.line(f"zext {self.kind(a)} {words} to {wide}")
        sign, fraction = (
            self.line(f"shl {wide} {self._kept(bits, mask, single)}, {self.splat('i64', by, single)}")
            for mask, by in ((0x80000000, 32), (0x7FFFFF, 29))
        )
        quiet = self.line(
            f"or {wide} {self.line(f'or {wide} {sign}, {fraction}')}, {self.splat('i64', _QUIET_DOUBLE, single)}"
        )
        plain = self.line(f"bitcast {kind} {longer} to {wide}")
        settled = self.line(f"select {flags} {is_nan}, {wide} {quiet}, {wide} {plain}")
        return self.result(64, single, f"bitcast {wide} {settled} to {kind}")

    def _kept(self, bits: str, mask: int, single: bool) -> str:
        return self.line(f"and {self.of('i64', single)} {bits}, {self.splat('i64', mask, single)}")

    def _double_to_float(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        single, (a,) = self._doubles(inputs)
        kind, wide, word = self.of("double", single), self.of("i64", single), self.of("i32", single)
        is_nan = self.line(f"fcmp uno {kind} {a}, {a}")
        shorter = self.line(f"fptrunc {kind} {a} to {self.of('float', single)}")
        bits = self.line(f"bitcast {kind} {a} to {wide}")
        sign, fraction = (
            self._kept(self.line(f"lshr {wide} {bits}, {self.splat('i64', by, single)}"), mask, single)
            for by, mask in ((32, 0x80000000), (29, 0x3FFFFF))
        )
        both = self.line(f"trunc {wide} {self.line(f'or {wide} {sign}, {fraction}')} to {word}")
        quiet = self.line(f"or {word} {both}, {self.splat('i32', _QUIET_FLOAT, single)}")
        plain = self.line(f"bitcast {self.of('float', single)} {shorter} to {word}")
        return self.result(32, single, f"select {self.of('i1', single)} {is_nan}, {word} {quiet}, {word} {plain}")


_Lowering = Callable[[DoubleArithmetic, FormStep, Sequence[GroupValue]], GroupValue]

_DIRECT: dict[Op, _Lowering] = {
    Op.CUT: DoubleArithmetic._cut,
    **dict.fromkeys((Op.DOUBLE_ADD, Op.DOUBLE_MULTIPLY, Op.DOUBLE_FUSE), DoubleArithmetic._arithmetic),
    **dict.fromkeys((Op.DOUBLE_EQUAL, Op.DOUBLE_LESS), DoubleArithmetic._double_compare),
    Op.TO_DOUBLE: DoubleArithmetic._to_double,
    Op.DOUBLE_TO_INTEGER: DoubleArithmetic._double_to_integer,
    Op.FLOAT_TO_DOUBLE: DoubleArithmetic._float_to_double,
    Op.DOUBLE_TO_FLOAT: DoubleArithmetic._double_to_float,
}
"""What lowers a step."""
