"""Values that users ask about: expressions over what PEs hold, conditions, and what a poke writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microcode import syntax
from microcode.language import NUMBER_BITS, Complaint, arithmetic
from microcode.reader import read_expression
from pixelflow.isa import MemoryRange, Program, RangeForm
from pixelflow.node import Node, Poke
from pixelflow.node.named_ranges import bytes_of, find_range, numbers_of
from pixelflow.node.pe_map import MAP_FLAGS, REGISTERS
from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import counted

# Arithmetic of the .mc language on one value for every PE: whole numbers are exact, as in the language itself.


PerPe = NDArray[np.generic]
"""One value for each PE: bool, int64, float64, or object with whole numbers that int64 cannot hold."""
Quantity = int | float | PerPe

_COMPARE: dict[str, Callable[[PerPe, PerPe], PerPe]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_PLAIN: dict[str, Callable[[PerPe, PerPe], PerPe]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.floor_divide, "%": np.remainder,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
_ON_FLOATS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_SAFE_BITS = 62
"""Numbers of this many bits never leave int64 in a sum."""


def apply(operator: str, left: Quantity, right: Quantity) -> Quantity:
    """Return ``left operator right``, PE by PE where either is of PEs; raises InputError."""
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        try:
            found = arithmetic(operator, left, right)
        except ValueError as error:
            raise InputError(str(error)) from None
        return found if isinstance(found, int | float) else 0
    first, second = of_pes(left), of_pes(right)
    if operator in ("/", "%") and not np.all(second != 0):
        raise InputError("division by zero")
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return _on_floats(operator, first, second)
    if operator in _COMPARE:
        return np.asarray(_COMPARE[operator](first, second), bool)
    return _on_whole(operator, first, second)


def _on_floats(operator: str, left: PerPe, right: PerPe) -> PerPe:
    left, right = left.astype(np.float64), right.astype(np.float64)
    if operator in _COMPARE:
        return _COMPARE[operator](left, right)
    if operator not in _ON_FLOATS:
        raise InputError(f"{operator} needs integers")
    with np.errstate(all="ignore"):
        return _ON_FLOATS[operator](left, right)


def _on_whole(operator: str, left: PerPe, right: PerPe) -> PerPe:
    """Return whole numbers, in Python's integers where int64 might not hold them."""
    if operator in ("<<", ">>"):
        bad = np.less(right, 0) | np.greater(right, NUMBER_BITS)
        if np.any(bad):
            raise InputError(f"a shift by {right[bad][0]} bits, allowed: 0..{NUMBER_BITS}")
    if _bits_after(operator, left, right) > _SAFE_BITS:
        left, right = left.astype(object), right.astype(object)
    found = _PLAIN[operator](left, right)
    if found.dtype == object and max((int(each).bit_length() for each in found.flat), default=0) > NUMBER_BITS:
        raise InputError(f"the number is too large: more than {NUMBER_BITS} bits")
    return found


def _bits_after(operator: str, left: PerPe, right: PerPe) -> int:
    """Return how many bits the result may need, or an operand has."""
    first, second = _bits(left), _bits(right)
    match operator:
        case "*":
            return first + second
        case "<<":
            return first + int(right.max())
        case ">>":
            return max(first, int(right.max()))
    return max(first, second) + 1


def _bits(values: PerPe) -> int:
    return max(int(values.max()).bit_length(), int(values.min()).bit_length())


def of_pes(value: Quantity) -> PerPe:
    """Return an array; flags count as 0 and 1, and numbers that int64 cannot hold are Python's."""
    found = np.atleast_1d(np.asarray(value))
    if found.dtype.kind == "b":
        return found.astype(np.int64)
    if found.dtype.kind == "u":
        return found.astype(np.int64 if int(found.max()) < 1 << 63 else object)
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def negated(operator: str, value: Quantity) -> Quantity:
    """Return ``-value``, ``+value``, ``~value`` or ``!value``; raises InputError."""
    match operator:
        case "!":
            held = truth(value)
            return ~held if isinstance(held, np.ndarray) else int(not held)
        case "~":
            if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
                raise InputError("~ needs integers")
            return apply("-", apply("*", value, -1), 1)
        case "-":
            return apply("*", value, -1)
    return value


def truth(value: Quantity) -> bool | NDArray[np.bool_]:
    """Return whether a value is other than 0, of each PE where it is of PEs."""
    return np.asarray(value != 0, bool) if isinstance(value, np.ndarray) else value != 0


# Expressions of the .mc language over what PEs hold at a position: registers, flags, ranges and bytes by name.
#
# Operators and their order are those of `microcode/LANGUAGE.md`. A name stands for one value in every PE: R, S, M, the
# flags C, E, L, MR, MW (``carry`` and ``enable`` are C and E), a range of the program (``count``, or in another form
# ``count:float``), a byte of it (``count[2]``), ``pe`` for the PE's own number; ``cycle`` is the position. ``any(x)``,
# ``all(x)``, ``count(x)`` and ``sum(x)`` make one value of the PEs', ``min``, ``max`` and ``abs`` are of each PE.


FLAGS = ("C", "E", "L", "MR", "MW")
_OWN = {"pe", "cycle"}
_FORM = re.compile(rf"\b([A-Za-z_]\w*):({'|'.join(form.value for form in RangeForm)})\b")


def _joined(values: Sequence[Quantity], choose: Callable[[PerPe, PerPe], PerPe]) -> Quantity:
    """Return the least or greatest of several values in each PE: a float where one of them is."""
    found = values[0]
    for each in values[1:]:
        first, second = of_pes(found), of_pes(each)
        if "f" in (first.dtype.kind, second.dtype.kind):
            first, second = first.astype(np.float64), second.astype(np.float64)
        joined = choose(first, second)
        found = joined if isinstance(found, np.ndarray) or isinstance(each, np.ndarray) else joined[0].item()
    return found


def _total(values: Sequence[Quantity]) -> Quantity:
    found = np.asarray(values[0])
    return float(found.sum(dtype=np.float64)) if found.dtype.kind == "f" else sum(int(each) for each in found.flat)


_FUNCTIONS: dict[str, tuple[int, Callable[[Sequence[Quantity]], Quantity]]] = {
    "any": (1, lambda values: int(np.any(truth(values[0])))),
    "all": (1, lambda values: int(np.all(truth(values[0])))),
    "count": (1, lambda values: int(np.count_nonzero(truth(values[0])))),
    "sum": (1, _total),
    "abs": (1, lambda values: abs(values[0]) if not isinstance(values[0], np.ndarray) else np.abs(of_pes(values[0]))),
    "min": (0, lambda values: _joined(values, np.minimum)),
    "max": (0, lambda values: _joined(values, np.maximum)),
}
"""Each function: how many arguments (0: any number starting at 1), and what it gives."""


_OF_ALL = ("any", "all", "count", "sum")
"""Functions of all PEs, also where a condition looks at some of them."""


class _At(NamedTuple):
    """Where an expression is evaluated: a position, and the PEs that matter (None: all)."""

    node: Node
    cycle: int
    lanes: NDArray[np.int64] | None = None

    def chosen(self, values: PerPe) -> PerPe:
        """Return the values of the PEs that matter."""
        return values if self.lanes is None else values[self.lanes]

    def inside(self, matters: NDArray[np.bool_]) -> _At:
        """Return the same for some of these PEs."""
        known = np.arange(self.node.lanes) if self.lanes is None else self.lanes
        return _At(self.node, self.cycle, known[matters])


@dataclass(frozen=True, slots=True)
class PeExpression:
    """An expression that was read and whose names are known; `value` is asked at positions."""

    text: str
    program: Program
    _tree: syntax.ExpressionNode = field(repr=False)
    _formed: dict[str, tuple[MemoryRange, RangeForm]] = field(repr=False)
    """Ranges in a form that the text asks for, by the name that stands for them in the tree."""

    @classmethod
    def read(cls, text: str, program: Program) -> PeExpression:
        """Return the expression of a text; raises InputError for a bad text and for unknown names."""
        formed: dict[str, tuple[MemoryRange, RangeForm]] = {}

        def name_for(match: re.Match[str]) -> str:
            name = f"{match[1]}_{match[2]}"  # as long as it was, so that columns stay
            formed[name] = find_range(match[0], program)
            return name

        try:
            tree = read_expression(_FORM.sub(name_for, text))
        except Complaint as complaint:
            raise InputError(Fault(f"{text}: {complaint.message}", hint=complaint.hint)) from None
        found = cls(text, program, tree, formed)
        for node in _nodes(tree):
            found._check(node)
        return found

    def value(self, node: Node, cycle: int) -> Quantity:
        """Return the value at a position: of each PE, or one; raises InputError where it is undefined."""
        return self._value(self._tree, _At(node, cycle))

    # --- reading ---------------------------------------------------------------------------------------------------

    def _check(self, node: syntax.ExpressionNode) -> None:
        match node:
            case syntax.NameExpression(name=name):
                self._known(name)
            case syntax.CallExpression(function=name, arguments=arguments):
                if name not in _FUNCTIONS:
                    near = nearest(name, _FUNCTIONS)
                    hint = f"did you mean {near}?" if near else f"functions: {', '.join(_FUNCTIONS)}"
                    raise InputError(Fault(f"{self.text}: unknown function {name}", hint=hint))
                wanted = _FUNCTIONS[name][0]
                if not arguments or (wanted and len(arguments) != wanted):
                    raise InputError(f"{self.text}: {name} takes {wanted or 'at least 1'}, not {len(arguments)}")
            case syntax.Literal(value=str()):
                raise InputError(f"{self.text}: PEs hold no text")
            case syntax.Template() | syntax.Braced() | syntax.Immediate() | syntax.Address():
                raise InputError(Fault(f"{self.text}: only names, numbers and operators are known here", hint=_HINT))

    def _known(self, name: str) -> MemoryRange | None:
        """Return the range of a name, None for a name of the machine; raises InputError."""
        ranges = {each.name: each for each in self.program.ranges}
        if name in self._formed:
            return self._formed[name][0]
        if name in ranges:
            return ranges[name]
        known = (*REGISTERS, *FLAGS, *MAP_FLAGS, *_OWN)
        if name not in known:
            near = nearest(name, [*known, *ranges])
            hint = f"did you mean {near}?" if near else f"known: {', '.join((*known, *ranges))}"
            raise InputError(Fault(f"{self.text}: unknown name {name}", hint=hint))
        return None

    # --- values ----------------------------------------------------------------------------------------------------

    def _value(self, tree: syntax.ExpressionNode, at: _At) -> Quantity:
        def of(inner: syntax.ExpressionNode) -> Quantity:
            return self._value(inner, at)

        match tree:
            case syntax.Literal(value=int() | float() as number):
                return number
            case syntax.NameExpression(name=name):
                return self._named(name, at)
            case syntax.Index(target=syntax.NameExpression(name=name), index=index):
                return self._byte(name, of(index), at)
            case syntax.CallExpression(function=name, arguments=arguments):
                where = _At(at.node, at.cycle) if name in _OF_ALL else at
                return _FUNCTIONS[name][1]([self._value(each, where) for each in arguments])
            case syntax.Unary(operator=operator, operand=operand):
                return negated(operator, of(operand))
            case syntax.Binary(operator=operator, left=left, right=right):
                return apply(operator, of(left), of(right))
            case syntax.Logical():
                return self._logical(tree, at)
        raise InputError(f"{self.text}: only names, numbers and operators are known here")

    def _logical(self, tree: syntax.Logical, at: _At) -> Quantity:
        """Return ``&&`` or ``||``: the right side is evaluated only in those PEs where it matters."""
        first = truth(self._value(tree.left, at))
        if not isinstance(first, np.ndarray):
            if first != tree.both:
                return int(first)
            second = truth(self._value(tree.right, at))
            return second if isinstance(second, np.ndarray) else int(second)
        matters = first == tree.both
        if not matters.any():
            return first
        found = first.copy()
        found[matters] = truth(self._value(tree.right, at.inside(matters)))
        return found

    def _named(self, name: str, at: _At) -> Quantity:
        found = self._known(name)
        if found is not None:
            form = self._formed[name][1] if name in self._formed else found.form
            values = numbers_of(at.node.read_memory(found.start, found.size), form)
            if values.ndim > 1 and len(values) > 1:
                hint = f"a byte of it: {found.name}[0] to {found.name}[{found.size - 1}]"
                raise InputError(
                    Fault(f"{self.text}: {found.name} has {counted(found.size, 'byte')}, no single value", hint=hint)
                )
            return at.chosen(values.reshape(-1))
        match name:
            case "pe":
                return at.chosen(np.arange(at.node.lanes))
            case "cycle":
                return at.cycle
        return at.chosen(at.node.register(name) if name in REGISTERS else at.node.flag(MAP_FLAGS.get(name, name)))

    def _byte(self, name: str, index: Quantity, at: _At) -> Quantity:
        found = self._known(name)
        if found is None:
            raise InputError(f"{self.text}: {name} has no bytes to count off with [ ]")
        if not isinstance(index, int) or not 0 <= index < found.size:
            hint = f"allowed: {name}[0] to {name}[{found.size - 1}]"
            raise InputError(Fault(f"{self.text}: no such byte", hint=hint))
        return at.chosen(at.node.read_memory(found.start + index)[0])


_HINT = "names: R, C, count, count:float, count[2], pe, cycle"


def _nodes(tree: syntax.ExpressionNode) -> Iterator[syntax.ExpressionNode]:
    """Yield an expression and those within it."""
    yield tree
    match tree:
        case syntax.Index(target=target, index=index):
            inner: tuple[syntax.ExpressionNode, ...] = (target, index)
        case syntax.CallExpression(arguments=arguments):
            inner = arguments
        case syntax.Unary(operand=operand):
            inner = (operand,)
        case syntax.Binary(left=left, right=right) | syntax.Logical(left=left, right=right):
            inner = (left, right)
        case _:
            inner = ()
    for each in inner:
        yield from _nodes(each)


class StopCondition(NamedTuple):
    """Condition of a stop: an expression that is true in any of the chosen PEs."""

    expression: PeExpression
    lanes: tuple[int, ...] | None = None
    """None for all PEs."""

    def holds(self, node: Node, cycle: int) -> bool:
        """Return whether it does at a position."""
        held = truth(self.expression.value(node, cycle))
        if not isinstance(held, np.ndarray):
            return held
        return bool((held if self.lanes is None else held[list(self.lanes)]).any())


# Pokes as people write them: what is to change, and the values that it gets, from an expression.


_RECORDED = "what is recorded: R, S, M, C, E, L, MR, MW, ranges, bytes NAME[2] or 200-203"
_NOT_RECORDED = ("cycle", "pe", "sem", "semaphores", "stack", "stages", "texture", "x", "y")
"""Words for things that no poke changes: streams and time follow from the program, places from the LEE."""
_MEMORY = "memory"


def bytes_named(text: str, program: Program, limit: int) -> tuple[MemoryRange, RangeForm]:
    """Return the bytes of a range in a form, of ``NAME[2]``, ``200`` or ``200-203``; raises InputError."""
    first, dash, last = text.partition("-")
    if first.isascii() and first.isdigit():
        start, end = int(first[:9]), int(last[:9]) if last.isascii() and last.isdigit() else int(first[:9])
        if (dash and not last.isdigit()) or not start <= end < limit:
            raise InputError(Fault(f"{text}: no such bytes", hint=f"allowed: 0 to {limit - 1}"))
        return MemoryRange(text, start, end - start + 1), RangeForm.BYTES
    if not text.endswith("]"):
        return find_range(text, program)
    name, _, index = text[:-1].partition("[")
    found, _ = find_range(name, program)
    if not (index.isascii() and index.isdigit()) or int(index[:9]) >= found.size:
        raise InputError(Fault(f"{text}: no such byte", hint=f"allowed: {name}[0] to {name}[{found.size - 1}]"))
    return MemoryRange(text, found.start + int(index[:9]), 1), RangeForm.BYTES


def poke_of(node: Node, program: Program, cycle: int, target: str, text: str, lanes: Sequence[int] | None) -> Poke:
    """Return the change that gives a target the value of an expression at this position, in some PEs (None: all).

    Raises InputError for a target that cannot be recorded, and for values that it cannot hold.
    """
    chosen = np.arange(node.lanes) if lanes is None else np.array(lanes, np.int64)
    names = {each.name for each in program.ranges}
    part = MAP_FLAGS.get(target, target)
    of_pes = part in REGISTERS or part in FLAGS
    if not of_pes and target.lower() in _NOT_RECORDED and target not in names:
        raise InputError(Fault(f"{target} cannot be changed, so that going back stays true", hint=_RECORDED))
    found = None if of_pes else bytes_named(target, program, node.config.array.memory_bytes)
    value = PeExpression.read(text, program).value(node, cycle)
    written = f"{target} = {text}"
    if found is None:
        return Poke(cycle, written, part, chosen, _narrow(part, value, node.lanes)[None, chosen])
    rows = bytes_of(_whole_as_whole(value, target), *found, node.lanes)
    return Poke(cycle, written, _MEMORY, chosen, rows[:, chosen], found[0].start)


def _narrow(part: str, value: Quantity, lanes: int) -> NDArray[np.uint8]:
    """Return values of a register or flag: uint8[lanes]; raises InputError for what it cannot hold."""
    found = np.broadcast_to(np.asarray(value), (lanes,))
    low, high = (-128, 255) if part in REGISTERS else (0, 1)
    if found.dtype.kind == "f" or not (low <= int(found.min()) and int(found.max()) <= high):
        raise InputError(f"{part} holds whole numbers from {low} to {high}")
    return (found.astype(np.int64) & 0xFF).astype(np.uint8)


def _whole_as_whole(value: Quantity, target: str) -> NDArray[np.generic]:
    """Return values as numbers of a machine type; raises InputError for those that no type holds."""
    found = np.asarray(value)
    if found.dtype != object:
        return found
    try:
        return found.astype(np.uint64 if int(found.min()) >= 0 else np.int64)
    except OverflowError:
        raise InputError(f"{target} cannot hold numbers of more than 64 bits") from None
