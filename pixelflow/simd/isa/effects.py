"""Effects of a meaning: what it reads and writes, found by executing it on names of state instead of lanes.

State is a register or flag, by its name, or a row of lane memory, by its number. A value of this algebra is the set of
the state that it was made from, as that was before; a lane's place has no source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import cast

from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.declare import Declaration, Instruction
from pixelflow.simd.isa.operands import Mem
from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.report import counted

State = str | int
Sources = frozenset[State]
_NOTHING: Sources = frozenset()


class Effects:
    """The algebra, and what was done on it; see :class:`pixelflow.simd.lanes.algebra.Algebra` for the operations."""

    def __init__(self) -> None:
        self.reads: set[State] = set()
        self.writes: dict[State, Sources] = {}
        """The written places, and the sources of their new values."""
        self.kept: set[State] = set()
        """Places written in some lanes only, so that the old value counts in the others."""
        self.everywhere: set[State] = set()
        """Places written in all lanes."""
        self.loads: list[int] = []
        """The rows that are read, once for each time."""
        self.stores: list[int] = []
        """The rows that are written, once for each time."""
        self.evaluated = 0
        """Words of linear expressions."""
        self.memory = False
        """True if memory beyond the rows is touched, by addresses in lanes."""
        self.values: dict[State, Sources] = {}
        """Sources of the written values, except for conditions of writes and the values before."""
        self.where: dict[State, Sources] = {}
        """Conditions of writes to some lanes only."""
        self.patterns: list[tuple[bool, ...]] = []
        """Which lanes of a group may be written at all, where that is a pattern."""
        self.routes: list[tuple[Sources, tuple[int, ...]]] = []
        """Values from other lanes of a group: their sources, and for each lane of the group the lane read."""

    def __getattr__(self, name: str) -> Callable[..., Sources]:
        return _joined  # every operation that gives one value and touches no state

    def read(self, name: State) -> Sources:
        self.reads.add(name)
        return self.writes.get(name, frozenset((name,)))

    flag = read

    def load(self, row: int) -> Sources:
        self.loads.append(row)
        return self.read(row)

    def write(self, name: State, value: Sources, where: Sources | None = None) -> None:
        self.values[name] = value | (self.values.get(name, _NOTHING) if where is not None else _NOTHING)
        if where is not None:
            self.kept.add(name)
            self.where[name] = where | self.where.get(name, _NOTHING)
            value = value | where | self.writes.get(name, frozenset((name,)))
        else:
            self.everywhere.add(name)
        self.writes[name] = value

    set_flag = write

    def store(self, row: int, value: Sources, where: Sources | None = None) -> None:
        self.stores.append(row)
        self.write(row, value, where)

    def fetch(self, address: Sources, size: int, where: Sources | None = None) -> Sources:
        self.memory = True
        return _joined(address, where)

    def put(self, address: Sources, value: Sources, size: int, where: Sources | None = None) -> None:
        self.memory = True

    def affine(self, a: int, b: int, c: int, words: int) -> list[Sources]:
        self.evaluated += words
        return [_NOTHING] * words

    def pattern(self, bits: Sequence[bool]) -> Sources:
        self.patterns.append(tuple(bits))
        return _NOTHING

    def add(self, a: Sources, b: Sources, carry: Sources) -> tuple[Sources, Sources]:
        return a | b | carry, a | b | carry

    def multiply(self, a: Sources, b: Sources, *, signed: bool) -> tuple[Sources, Sources]:
        return a | b, a | b

    def shift_left(self, a: Sources, into: Sources) -> tuple[Sources, Sources]:
        return a | into, a

    shift_right = shift_left

    def double_add(self, *values: object, **known: object) -> tuple[Sources, Sources]:
        made = _joined(*values)
        return made, made

    double_multiply = double_fuse = to_double = float_to_double = double_add

    def route(self, value: Sources, sources: Sequence[int]) -> Sources:
        self.routes.append((value, tuple(sources)))
        return value


def _joined(*values: object, **known: object) -> Sources:
    """Return all sources of values, or of pairs of values; constants have none."""
    every = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]
    return _NOTHING.union(*(each for each in every if isinstance(each, frozenset)))


def effects(meaning: Callable[[Algebra[Sources, Sources]], None]) -> Effects:
    """Return what a meaning reads and writes: that of an instruction without parameters is its ``apply``."""
    found = Effects()
    meaning(cast("Algebra[Sources, Sources]", found))
    return found


# Do a declaration and its meaning say the same? The meaning is executed on names of state, which says what it does.
#
# Costs, energy and bounds are read off declarations, results off meanings. Where the two differ nothing else would
# notice: a byte that is read and not declared takes no energy, and may take no cycle. So a machine asks here, once for
# each instruction, when it is declared. Tried are operands of every sort, with the gate and without.


Disagreements = Callable[[Instruction, Effects], Iterator[str]]
"""Yields where an instruction's declaration and what its meaning did differ: what is declared, what is done."""


def must_agree(declaration: Declaration, judges: Iterable[Disagreements]) -> None:
    """Raise InternalError where a declaration and its meaning disagree: which, what is declared, and what is done."""
    for instruction in _tried(declaration):
        try:
            found = effects(instruction.apply)
        except Exception as error:  # a meaning may do anything
            message = f"`{instruction.text()}` cannot be executed: {type(error).__name__}: {error}"
            raise InternalError(f"{declaration.mnemonic}: {message}") from error
        wrong = [each for judge in judges for each in judge(instruction, found)]
        if wrong:
            told = "".join(f"\n    `{instruction.text()}` {each}" for each in wrong)
            raise InternalError(f"{declaration.mnemonic}: its declaration and its meaning disagree{told}")


def agree_on_memory(instruction: Instruction, found: Effects, *, reads: int, writes: int) -> Iterator[str]:
    """Yield disagreements about memory: bytes that the declared steps read and write, and that the operands name.

    A byte that the meaning asks for twice may have been declared once or twice.
    """
    steps = ", ".join(dict.fromkeys(step.name for step in instruction.steps)) or "none"
    for declared, done, what in ((reads, found.loads, "read from"), (writes, found.stores, "written to")):
        if not len(set(done)) <= declared <= len(done):
            yield (
                f"declares {counted(declared, 'byte')} {what} memory (steps: {steps}), "
                f"its meaning has {_bytes(done)} {what} it"
            )
    named = {first.offset + byte for first, size in instruction.touches for byte in range(size)}
    touched = {*found.loads, *found.stores}
    if touched != named:
        yield f"names {_bytes(named)} of memory in its operands (sized_by), its meaning touches {_bytes(touched)}"


def agree_on_state(instruction: Instruction, found: Effects, *, names: Collection[str]) -> Iterator[str]:
    """Yield disagreements about registers and flags: those that the machine has, and the gate that is declared."""
    unknown = sorted({each for each in (*found.reads, *found.writes) if isinstance(each, str)} - {*names})
    if unknown:
        yield f"has a meaning that asks for {', '.join(unknown)}, the machine has {', '.join(names)}"
    gate = instruction.declaration.gate
    if gate is None or not instruction.gated:
        return
    free = [each for each in found.writes if each in found.everywhere or gate not in found.where[each]]
    if free:
        shown = ", ".join(f"[{each}]" if isinstance(each, int) else each for each in free)
        yield f"declares that it writes where {gate} is set alone, its meaning writes {shown} elsewhere too"


def _tried(declaration: Declaration) -> Iterator[Instruction]:
    """Yield the instruction with operands of every sort, and with the gate where it has one."""
    examples = [spec.kind.examples(position) for position, spec in enumerate(declaration.operands)]
    for operands in product(*examples):
        for gated in (False, True)[: 1 + declaration.gateable]:
            yield Instruction(declaration, operands, gated)


def _bytes(rows: Collection[int]) -> str:
    """Return how many bytes, and which: ``2 ([64], [65])``."""
    once = sorted(set(rows))
    shown = ", ".join(str(Mem(row)) for row in once[:4]) + (", .." if len(once) > 4 else "")
    return f"{len(rows)} ({shown})" if once else "0"
