"""Which PEs are marked, found without their data: enables, latches, their stacks and the marks, as a program sets them.

A flag is known where it follows from known flags and from the LEE. One that is made from a carry, a register or memory
is unknown until it is set again from known ones. Everything is remembered by state: a stretch of code that comes again
with the same flags is looked up, so that lanes are touched once for each combination and not once for each cycle.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pixelflow.errors import Fault, InputError, MachineFault, Place
from pixelflow.isa import PANEL_PES, Instruction, Program, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.isa.registers import CARRIES, MASKS, WORDS
from pixelflow.lanes import Shape, make_engine
from pixelflow.lanes.engine import Meaning
from pixelflow.node.igc import UNLATCH, Issue, Stream
from pixelflow.node.influence import influences, influences_of
from pixelflow.node.pe_array import PeArray
from pixelflow.node.ports import PortUse
from pixelflow.node.stretches import Stretch

__all__ = ["MarkTracker"]

_KEPT_STATES = 100_000
_FLAG = {name: position for position, name in enumerate(MASKS)}

State = tuple[int, ...]
"""For each flag of MASKS the number of its value, or -1 - the position of the instruction that made it unknown."""


class MarkTracker:
    """The EMC stream's side of a timing-only run: the flags that decide about marks, and nothing else of the PEs."""

    def __init__(self, program: Program, array: PeArray) -> None:
        shape = array.engine.shape
        # Rows of memory are never looked at; an engine wants them for the instructions' addresses.
        self._engine = make_engine("rows", Shape(shape.lanes, PANEL_PES, shape.rows, WORDS, CARRIES, MASKS))
        self._lanes = shape.lanes
        self._program = program
        self._lee = copy.deepcopy(array.lee)
        self._coordinates_of: int | None = None
        self._port_use = PortUse(program.instructions)
        self._unlatch = _flags_only(influences_of(unlatch))
        self._values: list[bytes] = []
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
                if writes := _flags_written(instruction):
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
                if writes := _flags_written(instruction):
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

    def _follow(self, index: int, writes: Sequence[tuple[int, tuple[int, ...] | None]], meaning: Meaning) -> None:
        """Let an instruction act: ``writes`` holds each flag it writes and the flags that this is made from."""
        key = (index, self._lee.version, self.state)
        after = self._steps.get(key)
        if after is None:
            _forget_many(self._steps)
            after = self._steps[key] = self._carry_out(index, writes, meaning)
        self.state = after

    def _carry_out(self, index: int, writes: Sequence[tuple[int, tuple[int, ...] | None]], meaning: Meaning) -> State:
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
            for source in {source for _, sources in known for source in sources}:
                self._engine.set_bit(MASKS[source], self._value(before[source]))
            if self._coordinates_of != self._lee.version:
                self._engine.set_coordinates(*self._lee.coordinates())
                self._coordinates_of = self._lee.version
            self._engine.run([self._engine.prepare(meaning)])
            for flag, _ in known:
                after[flag] = self._number(self._engine.get_bit(MASKS[flag]))
        return tuple(after)

    def _number(self, value: NDArray[np.bool_]) -> int:
        """Return the number of a value, a new one where it never occurred."""
        packed = np.packbits(value).tobytes()
        number = self._number_of.setdefault(packed, len(self._values))
        if number == len(self._values):
            self._values.append(packed)
        return number

    def _value(self, number: int) -> NDArray[np.bool_]:
        return np.unpackbits(np.frombuffer(self._values[number], np.uint8), count=self._lanes).astype(bool)


def _forget_many(found: dict) -> None:
    if len(found) >= _KEPT_STATES:
        found.clear()


@lru_cache(maxsize=1 << 16)
def _flags_written(instruction: Instruction) -> tuple[tuple[int, tuple[int, ...] | None], ...]:
    if instruction.declaration.unit is not Unit.PE:
        return ()
    written = _flags_only(influences(instruction))
    # An operand that a parameter gives cannot be evaluated ahead of the call.
    return tuple((flag, None) for flag, _ in written) if instruction.bases else written


def _flags_only(written: dict[str, frozenset[str]]) -> tuple[tuple[int, tuple[int, ...] | None], ...]:
    """Return the flags written, each with the flags it is made from, or None where it is made from PE data."""
    return tuple(
        (_FLAG[name], tuple(_FLAG[source] for source in sources) if sources <= _FLAG.keys() else None)
        for name, sources in written.items()
        if name in _FLAG
    )
