"""LLVM text of words and doubles for groups of lanes: values, and the steps that compute with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.native.group_program import Unsupported

# Values of native code for groups of lanes, the text of a function as it grows, and what all floats in it have alike.
#
# A value is a word or a truth value, the same in all lanes of a group (a scalar) or different in each (a vector).
# Results of float operations are left unsettled for a while: which NaN comes out is looked at once for many of them.


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

Tree = int | tuple[str, "Tree", "Tree"]
"""A number that depends on truth values: it, or the name of one with what it is where that is set and where not."""


@dataclass(frozen=True, slots=True)
class FloatType:
    """A format of IEEE 754 as LLVM names it, and its NaNs."""

    element: str
    """Its type."""
    bits: str
    """The type of integers of its size."""
    short: str
    """Its name in those of functions."""
    quiet: int
    """The bit that separates quiet NaNs from signalling ones."""
    indefinite: int
    """The NaN of an operation that has no answer."""


FLOAT = FloatType("float", "i32", "f32", 1 << 22, 0xFFC0 << 16)
DOUBLE = FloatType("double", "i64", "f64", 1 << 51, 0xFFF8 << 48)


@dataclass(eq=False, slots=True)
class GroupValue:
    """A value; ``single`` where it is the same in all lanes of a group."""

    bits: int
    single: bool
    word: str | None = None
    """Its name as a word or truth value, once it has one."""
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
    spread: str | None = None
    """Its name as a vector, where it is a scalar that was needed as one."""


@dataclass(slots=True)
class FunctionBody:
    """The text of a function; ``group`` lanes are worked on at once."""

    group: int
    lines: list[str] = field(default_factory=list)
    label: str = "entry"
    """The block of text that is being written."""
    count: int = 0
    declared: dict[str, None] = field(default_factory=dict)
    """Declarations of functions that are called."""

    # --- text -----------------------------------------------------------------------------------------------

    def name(self, kind: str = "v") -> str:
        """Return a new name."""
        self.count += 1
        return f"%{kind}{self.count}"

    def line(self, text: str) -> str:
        """Add a line that makes a value; return the value's name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add a line without a value."""
        self.lines.append(f"  {text}")

    def begin(self, label: str) -> None:
        """Begin a block of text."""
        self.lines.append(f"{label}:")
        self.label = label

    def new_label(self, kind: str) -> str:
        """Return a label that is not used yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def branch(self, condition: str, rare: str, mostly: str) -> None:
        """End a block of text: go to ``rare`` where the condition holds, which it seldom does."""
        self.do(f"br i1 {condition}, label %{rare}, label %{mostly}, !prof !0")

    def leave_where(self, condition: str, label: str) -> None:
        """Go to a label, for good, where a condition holds."""
        on = self.new_label("on")
        self.branch(condition, label, on)
        self.begin(on)

    def call(self, result: str, function: str, arguments: Sequence[str], types: Sequence[str] | None = None) -> str:
        """Add a call of a function that is declared by this; return the name of what it returns."""
        kinds = types or [argument.split(" ")[0] if argument[0] != "<" else _vector(argument) for argument in arguments]
        self.declared[f"declare {result} @{function}({', '.join(kinds)})"] = None
        return self.line(f"call {result} @{function}({', '.join(arguments)})")

    # --- types ----------------------------------------------------------------------------------------------

    def of(self, element: str, single: bool = False) -> str:
        """Return the type of an element, or of a vector of a group of them."""
        return element if single else f"<{self.group} x {element}>"

    def kind(self, value: GroupValue) -> str:
        """Return the type of a value."""
        return self.of("i1" if value.bits == 1 else "i32", value.single)

    def splat(self, element: str, number: int | str, single: bool = False) -> str:
        """Return a constant, in every lane where it is a vector."""
        if element == "i1":
            number = "true" if number in (1, -1, "true") else "false"
        return str(number) if single else f"splat ({element} {number})"

    # --- values ---------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Make every result of float operations the one that it has to be; the rest is up to the arithmetic."""

    def named(self, value: GroupValue) -> str:
        """Return the name of a value, as a word or truth value."""
        if value.unsettled:
            self.settle()
        if value.word is None:
            if value.floating is not None:
                value.word = self.line(
                    f"bitcast {self.of('float', value.single)} {value.floating} to {self.kind(value)}"
                )
            else:
                assert value.later is not None, "a value without a name says how it gets one"
                value.word = value.later()
        return value.word

    def vector(self, value: GroupValue) -> str:
        """Return the name of a value as a vector."""
        if not value.single:
            return self.named(value)
        if value.constant is not None:
            return self.splat("i1" if value.bits == 1 else "i32", value.constant)
        if value.spread is None:
            value.spread = self.broadcast("i1" if value.bits == 1 else "i32", self.named(value))
        return value.spread

    def broadcast(self, element: str, name: str) -> str:
        """Return a vector that has a scalar in every lane."""
        kind = self.of(element)
        first = self.line(f"insertelement {kind} poison, {element} {name}, i64 0")
        return self.line(f"shufflevector {kind} {first}, {kind} poison, {self.of('i32')} zeroinitializer")

    def alike(self, values: Iterable[GroupValue]) -> tuple[bool, list[str]]:
        """Return the names of values as scalars, where all are, or as vectors; and which of the two they are."""
        values = list(values)
        if all(value.single for value in values):
            return True, [self.named(value) for value in values]
        return False, [self.vector(value) for value in values]

    def mask_number(self, mask: str) -> str:
        """Return a vector of truth values as a number of as many bits."""
        return self.line(f"bitcast {self.of('i1')} {mask} to i{self.group}")

    def any_of(self, mask: str) -> str:
        """Return whether any lane of a vector of truth values is set."""
        return self.line(f"icmp ne i{self.group} {self.mask_number(mask)}, 0")


@dataclass(slots=True)
class FloatText(FunctionBody):
    """The body of a function with what is alike for floats of both formats; all of it returns names."""

    def operated(self, of: FloatType, op: Op, single: bool, names: Sequence[str]) -> str:
        """Add an operation; which NaN comes out is left open."""
        if op in _FUSES:
            return self._function(of, "fma", single, names)
        return self.line(f"{_OPERATORS[op]} {self.of(of.element, single)} {names[0]}, {names[1]}")

    def _function(self, of: FloatType, name: str, single: bool, names: Sequence[str]) -> str:
        kind, suffix = self.of(of.element, single), of.short if single else f"v{self.group}{of.short}"
        return self.call(kind, f"llvm.{name}.{suffix}", [f"{kind} {each}" for each in names])

    def with_care(self, of: FloatType, single: bool, names: Sequence[str], result: str) -> str:
        """Add what makes each NaN in a result what it has to be: the first operand's, quieted, or indefinite."""
        kind, bits, flags = self.of(of.element, single), self.of(of.bits, single), self.of("i1", single)
        chosen = self.splat(of.bits, of.indefinite, single)
        for name in reversed(names):
            is_nan = self.line(f"fcmp uno {kind} {name}, {name}")
            words = self.line(f"bitcast {kind} {name} to {bits}")
            quiet = self.line(f"or {bits} {words}, {self.splat(of.bits, of.quiet, single)}")
            chosen = self.line(f"select {flags} {is_nan}, {bits} {quiet}, {bits} {chosen}")
        is_nan = self.line(f"fcmp uno {kind} {result}, {result}")
        words = self.line(f"bitcast {kind} {result} to {bits}")
        settled = self.line(f"select {flags} {is_nan}, {bits} {chosen}, {bits} {words}")
        return self.line(f"bitcast {bits} {settled} to {kind}")

    def compared(self, of: FloatType, op: Op, single: bool, names: Sequence[str]) -> str:
        """Add a compare, which no NaN meets."""
        return self.line(f"fcmp {_CONDITIONS[op]} {self.of(of.element, single)} {names[0]}, {names[1]}")

    def from_integer(self, of: FloatType, step: FormStep, number: GroupValue) -> str:
        """Add the conversion of a word, signed or not."""
        how, kind = "sitofp" if step.detail else "uitofp", self.of(of.element, number.single)
        return self.line(f"{how} {self.kind(number)} {self.named(number)} to {kind}")

    def to_integer(self, of: FloatType, step: FormStep, single: bool, name: str) -> str:
        """Add the conversion to a signed word; a NaN and what is out of range give 0x80000000."""
        kind, word, flags = self.of(of.element, single), self.of("i32", single), self.of("i1", single)
        whole = self._function(of, _ROUNDS[step.detail], single, [name])
        low, past = (self.splat(of.element, edge, single) for edge in ("-2147483648.0", "2147483648.0"))
        least = self.line(f"fcmp oge {kind} {whole}, {low}")
        most = self.line(f"fcmp olt {kind} {whole}, {past}")
        fits = self.line(f"and {flags} {least}, {most}")
        safe = self.line(f"select {flags} {fits}, {kind} {whole}, {kind} {self.splat(of.element, '0.0', single)}")
        number = self.line(f"fptosi {kind} {safe} to {word}")
        none = self.splat("i32", _OUT_OF_RANGE, single)
        return self.line(f"select {flags} {fits}, {word} {number}, {word} {none}")


def constant(bits: int, number: int) -> GroupValue:
    """Return a value that is known."""
    text = str(number) if bits > 1 else ("true" if number else "false")
    return GroupValue(bits, True, text, number, tree=number)


def _vector(argument: str) -> str:
    return argument[: argument.index(">") + 1]


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
    """A result that is not settled yet: what was done, on which values, with which names."""

    value: GroupValue
    op: Op
    inputs: tuple[GroupValue, ...]
    names: tuple[str, ...]
    raw: str
    is_last: bool = True
    """True if no other of these results was made from it."""


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
"""Lowering of a step."""


# Lowering of steps that compute with doubles, each of which is a low and a high word.
#
# A value of 64 bits is named as a double; what is made of it are its words. Each result is settled at once: where it is
# a NaN, it is computed again with care.


_QUIET_DOUBLE, _QUIET_FLOAT = 0x7FF8 << 48, 0x7FC0 << 16
"""Common bits of all quiet NaNs but for their signs, in each format."""


@dataclass(slots=True)
class DoubleArithmetic(Arithmetic):
    """The body of a function with what steps compute, doubles included."""

    def compute(self, step: FormStep, inputs: Sequence[GroupValue]) -> GroupValue:
        direct = _DOUBLES.get(step.op)
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


_DoubleLowering = Callable[[DoubleArithmetic, FormStep, Sequence[GroupValue]], GroupValue]

_DOUBLES: dict[Op, _DoubleLowering] = {
    Op.CUT: DoubleArithmetic._cut,
    **dict.fromkeys((Op.DOUBLE_ADD, Op.DOUBLE_MULTIPLY, Op.DOUBLE_FUSE), DoubleArithmetic._arithmetic),
    **dict.fromkeys((Op.DOUBLE_EQUAL, Op.DOUBLE_LESS), DoubleArithmetic._double_compare),
    Op.TO_DOUBLE: DoubleArithmetic._to_double,
    Op.DOUBLE_TO_INTEGER: DoubleArithmetic._double_to_integer,
    Op.FLOAT_TO_DOUBLE: DoubleArithmetic._float_to_double,
    Op.DOUBLE_TO_FLOAT: DoubleArithmetic._double_to_float,
}
"""Lowering of a step."""
