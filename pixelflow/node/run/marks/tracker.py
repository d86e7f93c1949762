"""Which PEs are marked, found without their data: enables, latches, their stacks and the marks, as a program sets them.

A flag is known where it follows from known flags and from the LEE. One that is made from a carry, a register or memory
is unknown until it is set again from known ones. Everything is remembered by state: code that comes again
with the same flags is looked up, so that lanes are touched once for each combination and not once for each cycle.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import Family, Program, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.isa.registers import MASKS
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.run.marks.values import FlagValues, State
from pixelflow.node.run.marks.writes import FLAG, UNLATCHED, FlagWrites, Writes
from pixelflow.node.run.streams.straight_code import StraightCode
from pixelflow.simd.errors import Fault, InputError, MachineFault, Place
from pixelflow.simd.lanes.engine import Meaning

__all__ = ["MarkTracker"]

T = TypeVar("T")


_UNLATCH = -1
"""What stands for the position of an instruction where a started routine returns."""


class MarkTracker:
    """The EMC stream's side of a timing-only run: the flags that decide about marks, and nothing else of the PEs."""

    def __init__(self, program: Program, array: PeArray) -> None:
        self._program = program
        self._lee = copy.deepcopy(array.lee)
        self._placed: tuple[int, int] | None = None
        self._writes = _writes_of(program)
        self._values = _values_of(program, array.engine.shape.lanes)
        self.asked_by = 0
        """The texture instruction for which the marks are asked."""
        self.state: State = tuple(self._values.number(array.engine.get_bit(name)) for name in MASKS)

    # --- what the EMC stream executes -----------------------------------------------------------------------------

    def unlatch(self) -> None:
        """Follow the return of a started routine."""
        self._follow(_UNLATCH, UNLATCHED, unlatch)

    def execute(self, index: int) -> None:
        """Follow one instruction; raises MachineFault for one that is not the EMCs'."""
        instruction = self._program.instructions[index]
        match instruction.declaration.unit:
            case Unit.PE:
                if writes := self._writes.of(index):
                    self._follow(index, writes, instruction.apply)
            case Unit.LEE:
                instruction.declaration.meaning(self._lee, *instruction.operands)
            case _:
                where = self._program.where(index)
                raise MachineFault(f"{where}: {instruction.text()}: not an instruction of the EMCs")

    def skip(self, code: StraightCode) -> None:
        """Follow straight code as a whole."""
        if code.settings:
            for instruction in self._program.instructions[code.first : code.end]:
                instruction.declaration.meaning(self._lee, *instruction.operands)
            return
        before, place = self.state, self._place()
        after = self._values.after(code.first, code.end, place, before)
        if after is None:
            body = code.body or code
            for index in range(body.first, body.end):
                if writes := self._writes.of(index):
                    self._follow(index, writes, self._program.instructions[index].apply)
            if body is code.body and body.started:
                self.unlatch()
            after = self._values.note(code.first, code.end, place, before, self.state)
        self.state = after

    # --- what a transfer asks ----------------------------------------------------------------------------------------

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        """Return a flag, a mark say; raises InputError where it depends on PE data."""
        number = self.state[FLAG[name]]
        if number >= 0:
            return self._values.value(number)
        by = -1 - number
        raise self.refusal(
            f"the marks {name} depend on PE data, "
            f"by {self._program.instructions[by].text()} at {self._program.where(by)}"
        )

    def derived(self, name: str, what: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` makes of a flag that `get_bit` gives: made once for each value and each ``what``."""
        return self._values.derived(self.state[FLAG[name]], what, make)

    def refusal(self, reason: str) -> InputError:
        """Return the error of a run whose time follows from PE data at the texture instruction that is asking."""
        issue = self.asked_by
        instruction, line = self._program.instructions[issue], self._program.line_at(issue)
        place = Place(line.file, line.line) if line else Place(self._program.where(issue))
        message = f"a timing-only run cannot go on at {instruction.text()}: {reason}"
        return InputError(Fault(message, place, "run it with data (without --timing-only)"))

    # --- flags -------------------------------------------------------------------------------------------------------

    def _follow(self, index: int, writes: Writes, meaning: Meaning) -> None:
        """Let an instruction act: ``writes`` holds each flag it writes and the flags that this is made from."""
        before, place = self.state, self._place()
        after = self._values.after(index, index + 1, place, before)
        if after is None:
            made = self._carry_out(index, place, writes, meaning)
            after = self._values.note(index, index + 1, place, before, made)
        self.state = after

    def _carry_out(self, index: int, place: int, writes: Writes, meaning: Meaning) -> State:
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
            # Most comparisons are for loads, which matter to no mark.
            now = index < 0 or self._program.instructions[index].declaration.family is not Family.LEE
            for flag, _ in known:
                after[flag] = self._values.made(meaning, place, flag, sources, at_once=now)
        return tuple(after)

    def _place(self) -> int:
        """Return the number of the coordinates that the LEE gives now."""
        if self._placed is None or self._placed[0] != self._lee.version:
            self._placed = (self._lee.version, self._values.place(self._lee))
        return self._placed[1]


def _writes_of(program: Program) -> FlagWrites:
    """Return which flags the instructions of a program write, as far as its runs have found out."""
    found = program.analyses.get(FlagWrites)
    if found is None:
        found = program.analyses[FlagWrites] = FlagWrites(program.instructions)
    return found


def _values_of(program: Program, lanes: int) -> FlagValues:
    """Return what runs of a program on arrays of so many PEs have found out about flags."""
    found = program.analyses.get((FlagValues, lanes))
    if found is None or found.full:
        found = program.analyses[FlagValues, lanes] = FlagValues(lanes)
    return found
