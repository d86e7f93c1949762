"""Demands of each cycle of an instruction on a PE: accesses to memory, sums, and bits that no register holds.

The meaning is executed once on values that know the cycle in which they are there. Declared steps place accesses,
bytes of linear expressions and hops between PEs, each kind in its order; everything else happens in the first cycle in
which it can. A value that is used after its cycle needs hidden bits in every PE. This says what hardware would need for
the declared cycles, with memory that is read in the cycle that uses the byte, and nothing about the historical machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple, cast

from pixelflow.simd.isa.declare import Declaration, Instruction, Step
from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.report import counted

State = str | int


@dataclass(slots=True, eq=False)
class Timed:
    """A value, and the cycle in which it is there: -1 for constants, state, and what is made of these alone."""

    bits: int
    cycle: int = -1
    inputs: tuple[Timed, ...] = ()
    gone: int = -1
    """The cycle at whose end it is no longer there; -1 for a constant and for state that is not overwritten."""
    used: int = -1
    """The last cycle that uses it."""

    def use(self, cycle: int) -> None:
        """Note a use; what is there from the beginning is made again where it is used."""
        self.used = max(self.used, cycle)
        if self.cycle < 0:
            for each in self.inputs:
                each.use(cycle)


class CyclePlacement(NamedTuple):
    """The cycles of one instruction, from 0: of each access, each sum and each hop, and the hidden bits after it."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    sums: tuple[int, ...]
    hops: tuple[int, ...]
    hidden: int
    """The maximum number of bits that a PE holds for later cycles outside its registers and flags."""

    @property
    def ports(self) -> int:
        """Most accesses to memory in a cycle."""
        return most((*self.reads, *self.writes))

    @property
    def adders(self) -> int:
        """Most sums of bytes in a cycle."""
        return most(self.sums)

    @property
    def text(self) -> str:
        """The cycles, counted from 1, and the hidden bits."""
        kinds = {"reads": self.reads, "writes": self.writes, "sums": self.sums, "hops": self.hops}
        told = [f"{name} in {_cycles(cycles)}" for name, cycles in kinds.items() if cycles]
        parts = told or ["registers and flags alone"]
        return "; ".join([*parts, *([counted(self.hidden, "hidden bit")] if self.hidden else [])])


class Unplaced(ValueError):
    """A meaning that its declared steps have no cycle for."""


_FEW = 2
"""Bytes and PEs of an example at most."""


def most(cycles: Iterable[int]) -> int:
    """Return how often the most frequent cycle is named."""
    return max(Counter(cycles).values(), default=0)


def _cycles(cycles: Sequence[int]) -> str:
    numbers = [each + 1 for each in cycles]
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) > 2 and steps == {1}:
        return f"cycles {numbers[0]} to {numbers[-1]}"
    return f"cycle{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


class _Timing:
    """The algebra; see :class:`pixelflow.simd.lanes.algebra.Algebra` for the operations."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self.reads, self.writes, self.hops = list[int](), list[int](), list[int]()
        self._values: list[Timed] = []
        self._held: dict[State, Timed] = {}
        """State as the meaning has read or written it."""
        self._stored: dict[int, int] = {}
        """The cycle of the last write of each row."""
        self._sums: dict[tuple[Timed, Timed, Timed], tuple[Timed, Timed]] = {}
        self._waiting = {
            "read": _places(steps, lambda each: each.memory and not each.store),
            "write": _places(steps, lambda each: each.store),
            "evaluate": _places(steps, lambda each: each.evaluate),
            "hop": _places(steps, lambda each: each.hop),
        }

    @property
    def sums(self) -> list[int]:
        return [total.cycle for total, _ in self._sums.values()]

    @property
    def hidden(self) -> int:
        lives = [(each.gone, each.used, each.bits) for each in self._values if 0 <= each.gone < each.used]
        return max((sum(bits for a, b, bits in lives if a <= at < b) for at, _, _ in lives), default=0)

    # --- values ----------------------------------------------------------------------------------------------------

    def _made(self, bits: int, *inputs: Timed, cycle: int = -1) -> Timed:
        """Return what is made from other values, in a cycle or as soon as it can be."""
        when = max([cycle, *(each.cycle for each in inputs)])
        if when >= len(self._steps):
            raise Unplaced(f"needs cycle {when + 1} of {len(self._steps)}, for what it wrote in the one before")
        for each in inputs:
            each.use(when)
        self._values.append(Timed(bits, when, inputs, when))
        return self._values[-1]

    def word(self, value: int) -> Timed:
        return self._made(8)

    def bit(self, value: bool) -> Timed:
        return self._made(1)

    def pattern(self, bits: Sequence[bool]) -> Timed:
        return self._made(1)

    def read(self, name: State, bits: int = 8) -> Timed:
        return self._held.setdefault(name, self._made(bits))

    def flag(self, name: str) -> Timed:
        return self.read(name, 1)

    def load(self, row: int) -> Timed:
        if row not in self._held:
            cycle = self._next("read", f"reads [{row}]")
            if cycle <= self._stored.get(row, -1):
                raise Unplaced(f"reads [{row}] in cycle {cycle + 1}, before it is written")
            self._held[row] = self._made(8, cycle=cycle)
            self.reads.append(cycle)
        return self._held[row]

    def affine(self, a: int, b: int, c: int, words: int) -> list[Timed]:
        return [self._made(8, cycle=self._next("evaluate", "evaluates a byte")) for _ in range(words)]

    def route(self, value: Timed, sources: Sequence[int]) -> Timed:
        """Move a byte by one PE a cycle; the first hop may be in the cycle that fetches it."""
        ways = [source - lane for lane, source in enumerate(sources)]
        cycles = [self._next("hop", "moves a byte to the next PE") for _ in range(max(map(abs, ways)))]
        if cycles and cycles[0] < value.cycle:
            raise Unplaced(f"moves a byte in cycle {cycles[0] + 1} that is there in cycle {value.cycle + 1}")
        if not cycles:
            return value
        value.use(cycles[0])
        self.hops += cycles
        both = 1 + (min(ways) < 0 < max(ways))  # on the way, a PE holds a byte for each direction
        self._values.append(Timed(8 * both, cycles[0], (), cycles[0], cycles[-1]))
        return self._made(8, cycle=cycles[-1])

    # --- operations ------------------------------------------------------------------------------------------------

    def add(self, a: Timed, b: Timed, carry: Timed) -> tuple[Timed, Timed]:
        key = a, b, carry
        if key not in self._sums:
            self._sums[key] = self._made(8, *key, cycle=0), self._made(1, *key, cycle=0)
        return self._sums[key]

    def shift_left(self, a: Timed, into: Timed) -> tuple[Timed, Timed]:
        return self._made(8, a, into), self._made(1, a)

    shift_right = shift_left

    def both(self, a: Timed, b: Timed) -> Timed:
        return self._made(a.bits, a, b)

    either = differ = both

    def complement(self, a: Timed) -> Timed:
        return self._made(a.bits, a)

    def select(self, where: Timed, a: Timed, b: Timed) -> Timed:
        return self._made(a.bits, where, a, b)

    def __getattr__(self, name: str) -> object:
        raise Unplaced(f"uses {name}, for which no PE has hardware")

    # --- writes ----------------------------------------------------------------------------------------------------

    def write(self, name: str, value: Timed, where: Timed | None = None) -> None:
        """Write state at the end of a cycle: in the next one it is the new value, and the old one would be hidden."""
        written = self._made(value.bits, value, *([] if where is None else [where]), cycle=0)
        if name in self._held:
            before = self._held[name]
            if before.cycle > written.cycle:
                raise Unplaced(f"writes {name} twice in cycle {written.cycle + 1}")
            before.gone = written.cycle
        self._held[name] = Timed(value.bits, written.cycle + 1)
        self._values.append(self._held[name])

    set_flag = write

    def store(self, row: int, value: Timed, where: Timed | None = None) -> None:
        cycle = self._next("write", f"writes [{row}]")
        there = max(value.cycle, -1 if where is None else where.cycle)
        if cycle < there:
            raise Unplaced(f"writes [{row}] in cycle {cycle + 1}, its value is there in cycle {there + 1}")
        self.writes.append(cycle)
        self._made(8, value, *([] if where is None else [where]), cycle=cycle)
        self._held.pop(row, None)
        self._stored[row] = cycle

    def _next(self, kind: str, does: str) -> int:
        """Return the next cycle that does something of a kind; raises Unplaced where there is none."""
        cycle = next(self._waiting[kind], None)
        if cycle is None:
            raise Unplaced(f"{does}, for which no step is left")
        return cycle


def _places(steps: Sequence[Step], holds: Callable[[Step], bool]) -> Iterator[int]:
    return iter([cycle for cycle, step in enumerate(steps) if holds(step)])


def _timed(instruction: Instruction) -> _Timing:
    found = _Timing(instruction.steps)
    instruction.apply(cast("Algebra[Timed, Timed]", found))
    return found


def placement_of(instruction: Instruction) -> CyclePlacement:
    """Return the cycles of an instruction of the PEs without parameters; raises Unplaced where it cannot be."""
    found = _timed(instruction)
    return CyclePlacement(tuple(found.reads), tuple(found.writes), tuple(found.sums), tuple(found.hops), found.hidden)


def placements(declaration: Declaration) -> dict[str, CyclePlacement]:
    """Return the placements of an instruction of the PEs that differ, each by an example; its counts are at most 2."""
    found: dict[CyclePlacement, str] = {}
    kinds = []
    for position, spec in enumerate(declaration.operands):
        examples = spec.kind.examples(position)
        small = [each for each in examples if not isinstance(each, int) or each <= _FEW] or examples[:1]
        kinds.append({type(each): each for each in small}.values())
    for operands in product(*kinds):
        instruction = Instruction(declaration, operands)
        found.setdefault(placement_of(instruction), instruction.text())
    return {example: placement for placement, example in found.items()}


def misplaced(instruction: Instruction, adders: int = 1) -> Iterator[str]:
    """Yield why the declared cycles cannot do what the meaning does, with one port and these adders in each PE."""
    try:
        found = _timed(instruction)
    except Unplaced as error:
        yield f"declares {counted(len(instruction.steps), 'cycle')}, its meaning {error}"
        return
    for cycles, what, there in (((*found.reads, *found.writes), "accesses", 1), (found.sums, "sums", adders)):
        cycle, times = max(Counter(cycles).items(), key=lambda each: each[1], default=(0, 0))
        if times > there:
            yield f"declares {there} of the {times} {what} that its meaning makes in cycle {cycle + 1}"
