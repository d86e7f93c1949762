"""LLVM text of words and doubles for groups of lanes: values, and the steps that compute with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.native.function_text import FunctionText, LaneVector
from pixelflow.simd.lanes.native.group_program import Unsupported

# Values of native code for groups of lanes, the text of a function as it grows, and what all floats in it have alike.
#
# A value is a word or a truth value, the same in all lanes of a group (a scalar) or different in each (a vector).
# Results of float operations are left unsettled for a while: which NaN comes out is looked at once for many of them.


Tree = int | tuple[str, "Tree", "Tree"]
"""A number that depends on truth values: it, or the name of one with what it is where that is set and where not."""


@dataclass(eq=False, slots=True)
class GroupValue:
    """A value; ``single`` where it is the same in all lanes of a group."""

    bits: int
    single: bool
    word: str | None = None
    """Its name as a word, truth value or double, once it has one."""
    constant: int | None = None
    tree: Tree | None = None
    """Which numbers it may be, where that is known."""
    series: tuple[int, ...] | None = None
    """Its value in each lane, where that is known."""
    begin: tuple[GroupValue, tuple[int, ...]] | None = None
    """A scalar, and what is added to it in each lane."""
    later: Callable[[], str] | None = None
    """Expression that makes its name."""
    floating: str | None = None
    """Its name as a float, once it has one."""
    unsettled: bool = False
    """True if a NaN in it may still be another one than it has to be."""
    summands: tuple[GroupValue, GroupValue, GroupValue] | None = None
    """Terms of a sum."""
    spread: LaneVector | None = None
    """It as a vector, where it is a scalar that was needed as one."""


@dataclass(slots=True)
class FunctionBody(FunctionText):
    """The text of a function; ``group`` lanes are worked on at once."""

    group: int

    def of(self, element: str, single: bool = False) -> str:
        """Return the type of an element, or of a vector of a group of them."""
        return element if single else f"<{self.group} x {element}>"

    def settle(self) -> None:
        """Make every result of float operations the one that it has to be; the rest is up to the arithmetic."""

    def _size(self, value: GroupValue) -> int:
        return 0 if value.single else self.group

    def named(self, value: GroupValue) -> LaneVector:
        """Return a value as a word or truth value."""
        if value.unsettled:
            self.settle()
        if value.word is None:
            if value.floating is not None:
                value.word = LaneVector(self, value.floating, self._size(value), "float").viewed("i32").name
            else:
                assert value.later is not None, "a value without a name says how it gets one"
                value.word = value.later()
        return LaneVector(self, value.word, self._size(value), {1: "i1", 32: "i32", 64: "double"}[value.bits])

    def vector(self, value: GroupValue) -> LaneVector:
        """Return a value as a vector."""
        if not value.single:
            return self.named(value)
        if value.constant is not None:
            return self.constant(value.constant, self.group, "i1" if value.bits == 1 else "i32")
        if value.spread is None:
            value.spread = self.named(value).spread(self.group)
        return value.spread

    def bits_of(self, number: LaneVector) -> LaneVector:
        """Return the bits of a single word as truth values."""
        return (number.converted("trunc", f"i{self.group}") if self.group < 32 else number).as_bits()

    def alike(self, values: Iterable[GroupValue]) -> list[LaneVector]:
        """Return values as scalars, where all are, or as vectors."""
        values = list(values)
        how = self.named if all(value.single for value in values) else self.vector
        return [how(value) for value in values]


def constant(bits: int, number: int) -> GroupValue:
    """Return a value that is known."""
    text = str(number) if bits > 1 else ("true" if number else "false")
    return GroupValue(bits, True, text, number, tree=number)


# Floats of both formats.


_OUT_OF_RANGE = 0x80000000
_ROUNDS = ("roundeven", "floor", "ceil", "trunc")
"""Functions of LLVM by the number of a `Rounding`."""
_FUSES = (Op.FLOAT_FUSE, Op.DOUBLE_FUSE)
_OPERATORS = {
    Op.FLOAT_ADD: "fadd",
    Op.FLOAT_MULTIPLY: "fmul",
    Op.FLOAT_DIVIDE: "fdiv",
    Op.DOUBLE_ADD: "fadd",
    Op.DOUBLE_MULTIPLY: "fmul",
}
_CONDITIONS = {
    Op.FLOAT_EQUAL: "oeq",
    Op.DOUBLE_EQUAL: "oeq",
    Op.FLOAT_LESS: "olt",
    Op.DOUBLE_LESS: "olt",
}
_QUIET = 1 << 22
_NANS = {"float": ("i32", _QUIET, 0xFFC0 << 16), "double": ("i64", 1 << 51, 0xFFF8 << 48)}
"""For each format the integers of its size, the bit that separates quiet NaNs from signalling ones, and the NaN of an
operation that has no answer."""
_QUIET_DOUBLE, _QUIET_FLOAT = 0x7FF8 << 48, 0x7FC0 << 16
"""Common bits of all quiet NaNs but for their signs, in each format."""


def _operated(op: Op, inputs: Sequence[LaneVector]) -> LaneVector:
    """Add an operation; which NaN comes out is left open."""
    first, *others = inputs
    return first.called("fma", *others) if op in _FUSES else first.step(_OPERATORS[op], *others)


def _with_care(inputs: Sequence[LaneVector], result: LaneVector) -> LaneVector:
    """Add what makes each NaN in a result what it has to be: the first operand's, quieted, or indefinite."""
    bits, quiet, indefinite = _NANS[result.element]
    chosen: LaneVector | int = indefinite
    for each in reversed(inputs):
        chosen = each.is_nan().of(each.viewed(bits) | quiet, chosen)
    return result.is_nan().of(chosen, result.viewed(bits)).viewed(result.element)


def _to_integer(step: FormStep, number: LaneVector) -> LaneVector:
    """Add the conversion to a signed word; a NaN and what is out of range give 0x80000000."""
    whole = number.called(_ROUNDS[step.detail])
    fits = whole.compared("oge", "-2147483648.0") & whole.compared("olt", "2147483648.0")
    return fits.of(fits.of(whole, "0.0").converted("fptosi", "i32"), _OUT_OF_RANGE)


# Lowering of steps that compute: integers, floats, masks as numbers, routes.
#
# A NaN must come out as the quieted one of the first operand that is one, or as the indefinite one. Processors differ
# there, and LLVM leaves it open; so results of float operations that follow each other are looked at together, and only
# where one of them is a NaN is all of it computed again with care. A NaN in an operand is one in the result, so only
# results that no later operation of these takes have to be looked at.


_FLOATS = (Op.FLOAT_ADD, Op.FLOAT_MULTIPLY, Op.FLOAT_DIVIDE, Op.FLOAT_FUSE)
_LOGIC = {Op.AND: "and", Op.OR: "or", Op.XOR: "xor"}


@dataclass(eq=False, slots=True)
class _FloatResult:
    """A result that is not settled yet: what was done, on which values, as floats."""

    value: GroupValue
    op: Op
    inputs: tuple[GroupValue, ...]
    floats: list[LaneVector]
    raw: LaneVector
    is_last: bool = True
    """True if no other of these results was made from it."""


@dataclass(slots=True)
class Arithmetic(FunctionBody):
    """The body of a function with what steps compute."""

    unsettled: list[_FloatResult] = field(default_factory=list)

    def compute(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        """Add a step that computes; raises Unsupported for one that native code is not made for."""
        direct = _DIRECT.get(step.op)
        if direct is None:
            raise Unsupported(f"{step.op.name.lower()} on words of 32 bits")
        found = direct(self, step, inputs)
        if isinstance(found, GroupValue):
            return found
        return GroupValue(step.bits, not found.size, found.name)

    # --- integers -------------------------------------------------------------------------------------------

    def _add(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        a, b, carry = inputs
        total = GroupValue(32, all(each.single for each in inputs), summands=(a, b, carry))
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
        a, b, into = self.alike(total.summands)
        known = total.summands[2].constant
        if known == 0:
            return (a + b).name
        return (a + b + (into.converted("zext", "i32") if known is None else 1)).name

    def _carry(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        (total,) = inputs
        assert total.summands is not None, "a carry is that of a sum"
        result = self.named(total)
        a, b, _into = self.alike(total.summands)
        known = total.summands[2].constant
        if known is not None:
            return result.compared("ule" if known else "ult", a)
        first = a + b
        return (first < a) | (result < first)

    def _logic(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, b = self.alike(inputs)
        return a.step(_LOGIC[step.op], b)

    def _not(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        return ~self.named(inputs[0])

    def _shift_one(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, into = self.alike(inputs)
        bit = into.converted("zext", "i32")
        return a << 1 | bit if step.op is Op.UP else bit << 31 | a >> 1

    def _end_bit(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a = self.named(inputs[0])
        return a.negative() if step.op is Op.TOP else a.converted("trunc", "i1")

    def _compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, b = self.alike(inputs)
        return a.compared("eq" if step.op is Op.EQUAL else "slt" if step.detail else "ult", b)

    def _multiply(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, b = self.alike(inputs)
        if step.op is Op.MULTIPLY:
            return a * b
        a, b = (each.converted("sext" if step.detail else "zext", "i64") for each in (a, b))
        return (a * b >> 32).converted("trunc", "i32")

    def _shift(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        known = inputs[1].constant
        a, by = self.alike(inputs)
        how = "shl" if step.op is Op.SHIFT_UP else ("ashr" if step.detail else "lshr")
        if known is not None and known < 32:
            return a.step(how, by)
        within = by < 32
        return a.step(how, within.of(by, 31)) if how == "ashr" else within.of(a.step(how, by & 31), 0)

    # --- masks, routes --------------------------------------------------------------------------------------

    def _select(self, _: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        where, a, b = inputs
        if where.constant is not None:
            return a if where.constant else b
        condition, x, y = self.alike(inputs)
        chosen = condition.of(x, y)
        tree: Tree | None = None
        if not chosen.size and a.tree is not None and b.tree is not None:
            tree = condition.name, a.tree, b.tree
        return GroupValue(a.bits, not chosen.size, chosen.name, tree=tree)

    def _spread(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        number = self.named(inputs[0])
        if number.size:
            return (number >> self.constants("i32", range(self.group))).converted("trunc", "i1")
        return self.bits_of(number)

    def _collect(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        bits = self.vector(inputs[0]).as_number()
        return bits if self.group == 32 else bits.converted("zext", "i32")

    def _rank(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        number = self._collect(step, inputs).spread(self.group)
        return (number & self.constants("i32", [(1 << lane) - 1 for lane in range(self.group)])).called("ctpop")

    def _series(self, step: FormStep, _: Sequence[GroupValue]) -> GroupValue:
        return GroupValue(32, False, self.constants("i32", step.lanes).name, series=step.lanes)

    def _pattern(self, step: FormStep, _: Sequence[GroupValue]) -> LaneVector:
        return self.constants("i1", step.lanes)

    def _route(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue | LaneVector:
        (value,) = inputs
        return value if value.single else self.named(value).shuffled(None, step.lanes)

    # --- floats ---------------------------------------------------------------------------------------------

    def _floats(self, inputs: Sequence[GroupValue]) -> list[LaneVector]:
        """Return values as floats, settled or not: as scalars, where all are, or as vectors."""
        found = []
        single = all(each.single for each in inputs)
        for value in inputs:
            if value.single and not single:
                found.append(self.vector(value).viewed("float"))
                continue
            if value.floating is None:
                value.floating = self.named(value).viewed("float").name
            found.append(LaneVector(self, value.floating, self._size(value), "float"))
        return found

    def _settled_floats(self, inputs: Sequence[GroupValue]) -> list[LaneVector]:
        self.alike(inputs)
        return self._floats(inputs)

    def _float(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        if not all(each.single for each in inputs) and any(each.single and each.unsettled for each in inputs):
            self.settle()
        floats = self._floats(inputs)
        for earlier in self.unsettled:
            if earlier.value in inputs:
                earlier.is_last = False
        raw = _operated(step.op, floats)
        value = GroupValue(32, not raw.size, floating=raw.name, unsettled=True)
        self.unsettled.append(_FloatResult(value, step.op, tuple(inputs), floats, raw))
        return value

    def settle(self) -> None:
        if not self.unsettled:
            return
        results, self.unsettled = self.unsettled, []
        rare, on = self.new_label("nan"), self.new_label("settled")
        before = self.label
        self.branch(self._any_nan([each for each in results if each.is_last]).name, rare, on, seldom=True)
        self.begin(rare)
        careful: dict[GroupValue, LaneVector] = {}
        for each in results:
            floats = [careful.get(value, found) for value, found in zip(each.inputs, each.floats, strict=True)]
            careful[each.value] = _with_care(floats, _operated(each.op, floats))
        self.go(on)
        self.begin(on)
        for each in results:
            each.value.floating = self.joined(each.raw, before, careful[each.value], rare).name
            each.value.unsettled = False

    def _any_nan(self, results: Sequence[_FloatResult]) -> LaneVector:
        """Return whether any of these results is a NaN in any lane."""
        found: list[LaneVector] = []
        for single in (False, True):
            raws = [each.raw for each in results if each.value.single is single]
            pairs = [a.compared("uno", b) for a, b in zip(raws[::2], [*raws[1::2], *raws[-1:]], strict=False)]
            if pairs:
                found.append(reduce(or_, pairs).anywhere())
        return reduce(or_, found)

    def _float_compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, b = self._settled_floats(inputs)
        return a.compared(_CONDITIONS[step.op], b)

    # --- conversions ----------------------------------------------------------------------------------------

    def _from_integer(self, step: FormStep, inputs: Sequence[GroupValue], element: str) -> LaneVector:
        return self.named(inputs[0]).converted("sitofp" if step.detail else "uitofp", element)

    def _to_float(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        found = self._from_integer(step, inputs, "float")
        return GroupValue(32, not found.size, floating=found.name)

    def _to_integer(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        return _to_integer(step, *self._settled_floats(inputs))

    def _half_to_float(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        """Exponent and fraction moved up, times 2^112, which is exact; infinities and NaNs apart."""
        half = self.named(inputs[0])
        sign, rest = (half & 0x8000) << 16, half & 0x7FFF
        moved = rest << 13
        finite = moved.viewed("float").step("fmul", "0x46F0000000000000").viewed("i32")
        special = moved | 0x7F800000
        special = (rest > 0x7C00).of(special | _QUIET, special)
        return (rest >= 0x7C00).of(special, finite) | sign

    def _constant(self, step: FormStep, _: Sequence[GroupValue]) -> GroupValue:
        return constant(step.bits, step.detail)

    # --- doubles: a low and a high word, named as one value; settled at once ---------------------------------

    def _doubles(self, inputs: Sequence[GroupValue]) -> list[LaneVector]:
        """Return low and high words, in turn, as doubles: as scalars, where all are, or as vectors."""
        words = self.alike(inputs)
        return [self._double(low, high) for low, high in zip(words[::2], words[1::2], strict=True)]

    def _double(self, low: LaneVector, high: LaneVector) -> LaneVector:
        if not low.size:
            return (high.converted("zext", "i64") << 32 | low.converted("zext", "i64")).viewed("double")
        order = [lane + side for lane in range(self.group) for side in (0, self.group)]
        return low.shuffled(high, order).viewed("double")

    def _cut(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        value = self.named(inputs[0])
        if not value.size:
            return (value.viewed("i64") >> 32 * step.detail).converted("trunc", "i32")
        return value.viewed("i32").shuffled(None, range(step.detail, 2 * self.group, 2))

    def _arithmetic(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        doubles = self._doubles(inputs)
        raw = _operated(step.op, doubles)
        is_nan = raw.is_nan()
        rare, on, before = self.new_label("nan"), self.new_label("settled"), self.label
        self.branch(is_nan.anywhere().name, rare, on, seldom=True)
        self.begin(rare)
        careful = _with_care(doubles, raw)
        self.go(on)
        self.begin(on)
        return self.joined(raw, before, careful, rare)

    def _double_compare(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        a, b = self._doubles(inputs)
        return a.compared(_CONDITIONS[step.op], b)

    def _to_double(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        return self._from_integer(step, inputs, "double")

    def _double_to_integer(self, step: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        return _to_integer(step, *self._doubles(inputs))

    def _float_to_double(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        words = self.named(inputs[0])
        number = words.viewed("float")
        is_nan = number.is_nan()
        longer = number.converted("fpext", "double")
        bits = words.converted("zext", "i64")
        sign, fraction = ((bits & mask) << by for mask, by in ((0x80000000, 32), (0x7FFFFF, 29)))
        return is_nan.of(sign | fraction | _QUIET_DOUBLE, longer.viewed("i64")).viewed("double")

    def _double_to_float(self, _: FormStep, inputs: Sequence[GroupValue]) -> LaneVector:
        (a,) = self._doubles(inputs)
        is_nan = a.is_nan()
        shorter = a.converted("fptrunc", "float")
        bits = a.viewed("i64")
        sign, fraction = (bits >> by & mask for by, mask in ((32, 0x80000000), (29, 0x3FFFFF)))
        return is_nan.of((sign | fraction).converted("trunc", "i32") | _QUIET_FLOAT, shorter.viewed("i32"))


_Lowering = Callable[[Arithmetic, FormStep, Sequence[GroupValue]], GroupValue | LaneVector]

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
    Op.CUT: Arithmetic._cut,
    **dict.fromkeys((Op.DOUBLE_ADD, Op.DOUBLE_MULTIPLY, Op.DOUBLE_FUSE), Arithmetic._arithmetic),
    **dict.fromkeys((Op.DOUBLE_EQUAL, Op.DOUBLE_LESS), Arithmetic._double_compare),
    Op.TO_DOUBLE: Arithmetic._to_double,
    Op.DOUBLE_TO_INTEGER: Arithmetic._double_to_integer,
    Op.FLOAT_TO_DOUBLE: Arithmetic._float_to_double,
    Op.DOUBLE_TO_FLOAT: Arithmetic._double_to_float,
}
"""Lowering of a step."""
