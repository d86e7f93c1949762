"""Which PEs are marked, found without their data: enables, latches, their stacks and the marks, as a program sets them.

A flag is known where it follows from known flags and from the LEE. One that is made from a carry, a register or memory
is unknown until it is set again from known ones. Everything is remembered by state: a stretch of code that comes again
with the same flags is looked up, so that lanes are touched once for each combination and not once for each cycle.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.errors import Fault, InputError, MachineFault, Place
from pixelflow.isa import Family, Instruction, Program, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.isa.registers import MASKS
from pixelflow.lanes.engine import Meaning
from pixelflow.node.igc import UNLATCH, Issue, Stream
from pixelflow.node.influence import influences, influences_of
from pixelflow.node.known_lanes import KnownLanes
from pixelflow.node.pe_array import PeArray
from pixelflow.node.ports import PortUse
from pixelflow.node.stretches import Stretch

__all__ = ["MarkTracker"]

_KEPT_STATES = 100_000
_UNPACKED = 64
_FLAG = {name: position for position, name in enumerate(MASKS)}

State = tuple[int, ...]
"""For each flag of MASKS the number of its value, or -1 - the position of the instruction that made it unknown."""

Writes = tuple[tuple[int, tuple[int, ...] | None], ...]
"""Each flag that is written, and the flags that its new value is made from; None where PE data are among it."""


class MarkTracker:
    """The EMC stream's side of a timing-only run: the flags that decide about marks, and nothing else of the PEs."""

    def __init__(self, program: Program, array: PeArray) -> None:
        self._lanes = array.engine.shape.lanes
        self._program = program
        self._lee = copy.deepcopy(array.lee)
        self._algebra_of: tuple[int, KnownLanes] | None = None
        self._port_use = PortUse(program.instructions)
        self._writes = _Writes()
        self._unlatch = _flags_only(influences_of(unlatch))
        self._values: list[bytes | _Deferred] = []
        self._unpacked: dict[int, NDArray[np.bool_]] = {}
        self._number_of: dict[bytes, int] = {}
        self._steps: dict[tuple, State] = {}
        self._stretches: dict[tuple, State] = {}
        self.asked_by: Issue = 0
        """The texture instruction for which the marks are asked."""
        self.state: State = tuple(self._number(array.engine.get_bit(name)) for name in MASKS)

    # --- what the sequencer's box asks --------------------------------------------------------------------------------

    def shared(self, stream: Stream, issue: Issue) -> bool:
        return self._port_use.shared(issue, stream.parameters)

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Follow one instruction; raises MachineFault for one that is not the EMCs'."""
        if issue == UNLATCH:
            self._follow(issue, self._unlatch, unlatch)
            return
        instruction = self._program.instructions[issue]
        match instruction.declaration.unit:
            case Unit.PE:
                if writes := self._writes.of(instruction):
                    self._follow(issue, writes, instruction.apply)
            case Unit.LEE:
                instruction.declaration.meaning(self._lee, *instruction.operands)
            case _:
                where = self._program.where(issue)
                raise MachineFault(f"{where}: {instruction.text()}: not an instruction of the EMCs")

    def flush(self) -> None:
        pass

    def pass_over(self, stretch: Stretch) -> None:
        """Follow a whole stretch of straight code."""
        key = (stretch.first, self._lee.version, self.state)
        after = self._stretches.get(key)
        if after is None:
            for index in range(stretch.first, stretch.end):
                instruction = self._program.instructions[index]
                if writes := self._writes.of(instruction):
                    self._follow(index, writes, instruction.apply)
            _forget_many(self._stretches)
            after = self._stretches[key] = self.state
        self.state = after

    # --- what a transfer asks ----------------------------------------------------------------------------------------

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        """Return a flag, a mark say; raises InputError where it depends on PE data."""
        number = self.state[_FLAG[name]]
        if number >= 0:
            return self._value(number)
        issue, by = self.asked_by, -1 - number
        instruction, line = self._program.instructions[issue], self._program.line_at(issue)
        place = Place(line.file, line.line) if line else Place(self._program.where(issue))
        raise InputError(
            Fault(
                f"a timing-only run cannot go on at {instruction.text()}: the marks {name} depend on PE data, "
                f"by {self._program.instructions[by].text()} at {self._program.where(by)}",
                place,
                "run it with data (without --timing-only)",
            )
        )

    # --- flags -------------------------------------------------------------------------------------------------------

    def _follow(self, index: int, writes: Writes, meaning: Meaning) -> None:
        """Let an instruction act: ``writes`` holds each flag it writes and the flags that this is made from."""
        key = (index, self._lee.version, self.state)
        after = self._steps.get(key)
        if after is None:
            _forget_many(self._steps)
            after = self._steps[key] = self._carry_out(index, writes, meaning)
        self.state = after

    def _carry_out(self, index: int, writes: Writes, meaning: Meaning) -> State:
        before, after = self.state, list(self.state)
        known = []
        for flag, sources in writes:
            if sources is None:
                after[flag] = -1 - index
            elif (unknown := min((before[source] for source in sources), default=0)) < 0:
                after[flag] = unknown
            else:
                known.append((flag, sources))
        if known:
            sources = {source: before[source] for _, sources in known for source in sources}
            deferred = [_Deferred(meaning, self._algebra(), flag, sources) for flag, _ in known]
            # Most comparisons are for loads, which matter to no mark: those are not evaluated before someone asks.
            later = index >= 0 and self._program.instructions[index].declaration.family is Family.LEE
            for flag, value in zip((flag for flag, _ in known), deferred, strict=True):
                if later:
                    after[flag] = len(self._values)
                    self._values.append(value)
                else:
                    after[flag] = self._number(self._evaluate(value))
        return tuple(after)

    def _evaluate(self, deferred: _Deferred) -> NDArray[np.bool_]:
        algebra = deferred.algebra
        flags = {MASKS[source]: self._value(number) for source, number in deferred.sources.items()}
        algebra.begin(flags)
        deferred.meaning(algebra)
        return algebra.written[MASKS[deferred.flag]]

    def _algebra(self) -> KnownLanes:
        """Return the algebra for the coordinates that the LEE gives now."""
        if self._algebra_of is None or self._algebra_of[0] != self._lee.version:
            x, y = self._lee.coordinates()
            self._algebra_of = (self._lee.version, KnownLanes(x.astype(np.uint64), y.astype(np.uint64)))
        return self._algebra_of[1]

    def _number(self, value: NDArray[np.bool_]) -> int:
        """Return the number of a value, a new one where it never occurred."""
        packed = np.packbits(value).tobytes()
        number = self._number_of.setdefault(packed, len(self._values))
        if number == len(self._values):
            self._values.append(packed)
        return number

    def _value(self, number: int) -> NDArray[np.bool_]:
        found = self._unpacked.get(number)
        if found is None:
            if len(self._unpacked) >= _UNPACKED:
                self._unpacked.clear()
            value = self._values[number]
            if isinstance(value, _Deferred):
                value = self._values[number] = np.packbits(self._evaluate(value)).tobytes()
            packed = np.frombuffer(value, np.uint8)
            found = self._unpacked[number] = np.unpackbits(packed, count=self._lanes).view(bool)
        return found


@dataclass(frozen=True, slots=True)
class _Deferred:
    """The value that a meaning gives to one flag, from the numbered values of others; not evaluated yet."""

    meaning: Meaning
    algebra: KnownLanes
    flag: int
    sources: dict[int, int]


def _forget_many(found: dict) -> None:
    if len(found) >= _KEPT_STATES:
        found.clear()


class _Writes:
    """The flags that instructions write, found once for each kind of instruction and of operands.

    Which flags a meaning reads and writes depends on no operand's value: only registers have names, and no flag is one.
    """

    def __init__(self) -> None:
        self._found: dict[tuple, Writes] = {}

    def of(self, instruction: Instruction) -> Writes:
        key = (instruction.declaration.opcode, instruction.gated, *map(type, instruction.operands))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _flags_only(influences(instruction))
        if found and instruction.bases:
            # An operand that a parameter gives cannot be evaluated ahead of the call.
            return tuple((flag, None) for flag, _ in found)
        return found


def _flags_only(written: dict[str, frozenset[str]]) -> Writes:
    """Return the flags written, each with the flags it is made from, or None where it is made from PE data."""
    return tuple(
        (_FLAG[name], tuple(_FLAG[source] for source in sources) if sources <= _FLAG.keys() else None)
        for name, sources in written.items()
        if name in _FLAG
    )
