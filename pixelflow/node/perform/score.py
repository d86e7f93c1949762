"""What a run did to lanes and texture memory, in order, so that it can be done again without asking when.

When things happen follows from the program and from the commands that the TASICs get, and from nothing else: control
flow knows no PE data, and commands tell how many PEs take part. So a program that is run again does the same, in the
same cycles, as long as every transfer gives the commands that it gave before. That is looked at, transfer by transfer;
where one differs, the run goes on in full from there.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.errors import MachineFault
from pixelflow.isa import Instruction
from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT
from pixelflow.lanes.engine import Action
from pixelflow.node.account.run import Run
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.texture.read_cache import SameRead
from pixelflow.node.texture.transfer import Command, Transfer
from pixelflow.node.texture.unit import TextureUnit
from pixelflow.records import record

__all__ = ["Begin", "End", "Lanes", "Score", "Settings", "Step", "Told", "begin", "replay", "tell"]

_WORTH_PASSING = 1000
"""Repeated runs after which it pays to find out whether a run can be made in one piece."""

_LONGEST = 100_000
"""Actions that a score keeps; longer runs are not worth the memory."""


@dataclass(slots=True)
class Lanes:
    """Actions of the PEs."""

    actions: list[Action]


@dataclass(slots=True)
class Settings:
    """An instruction of the LEE."""

    instruction: Instruction


@dataclass(slots=True)
class Told:
    """An instruction of the TASICs, and the transfer that it asked for."""

    instruction: Instruction
    transfer: Transfer | None


@record
class Again:
    """A read of texture memory that was made before: what it was, and the actions that look whether PEs ask the same.

    ``differs[0]`` is 1 behind them where they do not. ``place`` puts what it brings into the ports.
    """

    same: SameRead
    compare: tuple[Action, ...]
    differs: NDArray[np.uint8]
    place: Action

    def is_asked(self, array: PeArray) -> bool:
        """Return whether PEs ask for the same, once ``compare`` has looked."""
        array.settle()
        if self.differs[0]:
            self.differs[0] = 0
            return False
        return True

    def renewed(self, same: SameRead | None) -> Again | None:
        """Return this for the same read of other contents; None where it is another one.

        A passage may have the same bytes: they must stay those of these addresses.
        """
        if same is None or same.follows_from != self.same.follows_from or self.place.kept.blocks is None:
            return None
        self.place.kept.renew(same.read.blocks)
        return Again(same, self.compare, self.differs, self.place)


@dataclass(slots=True)
class Begin:
    """The first half of a transfer, and what the TASICs of each module were told."""

    transfer: Transfer
    commands: tuple[Command, ...]
    again: Again | None = None
    """How it is done again quickly, where it can be."""


@dataclass(slots=True)
class End:
    """Its second half."""


Step = Lanes | Settings | Told | Begin | End


@dataclass(slots=True)
class Score:
    """The steps of a run as it makes them.

    The first ``done`` of ``known`` have been made already: they are gone through without being carried out again.
    """

    known: tuple[Step, ...] = ()
    done: int = 0
    steps: list[Step] = field(default_factory=list)
    size: int = 0
    run: Run | None = None
    """The account of the run, once it has ended."""
    moved: dict[str, int] = field(default_factory=dict)
    """Bytes that went each way in it."""
    repeats: int = 0
    """How often it has been done again."""
    look_at: int = _WORTH_PASSING
    """How often it must have been, to look (again) whether it can be done in one piece."""
    passage: Any = None
    """How it is done in one piece (`passage.py`), once that has been found out."""

    @property
    def complete(self) -> bool:
        """Whether the run can be repeated from the steps."""
        return self.run is not None and not self.is_long

    @property
    def is_long(self) -> bool:
        """Whether there is more to keep than is worth the memory."""
        return self.size > _LONGEST

    def finish(self, array: PeArray) -> None:
        """Make the steps ready to be done again."""
        self.known = ()
        for step in self.steps:
            if isinstance(step, Lanes):
                step.actions = array.joined(step.actions)

    def _next(self, step: Step) -> Step | None:
        """Note a step; return it as it was made before, None where it is to be carried out."""
        self.steps.append(step)
        at = len(self.steps) - 1
        return self.known[at] if at < self.done else None

    def lanes(self, actions: list[Action]) -> bool:
        """Note actions; return whether they are to be carried out."""
        self.size += len(actions)
        if self.size > _LONGEST:
            actions = []
        if self.steps and isinstance(self.steps[-1], Lanes):
            self.steps[-1].actions += actions
            return len(self.steps) > self.done
        return self._next(Lanes(list(actions))) is None

    def settings(self, instruction: Instruction) -> bool:
        """Note an instruction of the LEE; return whether it is to be carried out."""
        return self._next(Settings(instruction)) is None

    def told(self, unit: TextureUnit, instruction: Instruction) -> Transfer | None:
        """Carry out an instruction of the TASICs, if need be; return the transfer that it asks for."""
        step = Told(instruction, None)
        before = self._next(step)
        step.transfer = before.transfer if before is not None else tell(unit, instruction)
        return step.transfer

    def begin(self, unit: TextureUnit, transfer: Transfer) -> tuple[Command, ...]:
        """Begin a transfer, if need be; return what the TASICs are told."""
        step = Begin(transfer, ())
        before = self._next(step)
        step.commands = before.commands if before is not None else begin(unit, transfer)
        return step.commands

    def end(self, unit: TextureUnit) -> None:
        """End a transfer, if need be."""
        if self._next(End()) is None:
            unit.end()


def tell(unit: TextureUnit, instruction: Instruction) -> Transfer | None:
    """Carry out an instruction of the TASICs; return the transfer that it asks for."""
    unit.transfer = None
    instruction.declaration.meaning(unit, *instruction.operands)
    return unit.transfer


def begin(unit: TextureUnit, transfer: Transfer) -> tuple[Command, ...]:
    """Begin a transfer; return what the TASICs of each module are told."""
    unit.begin(transfer)
    return unit.commands(transfer)


def replay(score: Score, array: PeArray, unit: TextureUnit) -> int | None:
    """Carry out the steps of an earlier run.

    Returns None where all went as before, so that the account is the same; else how many steps were made when another
    transfer was asked for, when one gave other commands, or could not be made: the run must go on in full from there.
    """
    waiting: list[Action] = []
    """Actions that have not been carried out yet: few long programs are carried out faster than many short ones."""

    def carry_out() -> None:
        if waiting:
            array.run(waiting)
            waiting.clear()

    coming: Action | None = None
    for at, step in enumerate(score.steps):
        match step:
            case Lanes(actions):
                waiting += actions
            case Told(instruction, transfer):
                # What it asks for also follows from what earlier runs have told the TASICs.
                asked = tell(unit, instruction)
                if asked != transfer:
                    step.transfer = asked
                    carry_out()
                    return at + 1
            case Begin(transfer, commands, again):
                if again is not None:
                    waiting += again.compare
                carry_out()
                alike = again is not None and again.is_asked(array)
                if alike and unit.begin_again(transfer, again.same):
                    coming = again.place
                    continue
                before, moved = deepcopy(unit.registers), dict(unit.moved)
                try:
                    now = begin(unit, transfer)
                except MachineFault:
                    unit.moved.update(moved)
                    return at  # it comes again, in its cycle
                same = unit.same_read(transfer, before, new=alike)
                step.again = (alike and again.renewed(same)) or _again(array, same)
                if now != commands:
                    step.commands = now
                    return at + 1
            case End():
                if coming is not None:
                    waiting.append(coming)
                    coming = None
                else:
                    carry_out()
                unit.end()
            case Settings(instruction):
                carry_out()
                array.configure(instruction)
    carry_out()
    return None


def _again(array: PeArray, same: SameRead | None) -> Again | None:
    """Return how a read that has just begun can be begun again; None where the engine has no quick way for that."""
    if same is None:
        return None
    differs = np.zeros(1, np.uint8)
    read = same.read
    compare = [array.engine.comparing("MR", read.marks_row, differs)]
    if len(read.given):
        compare.append(array.engine.comparing(OUTPUT_PORT, read.given, differs))
    lanes = array.engine.shape.lanes
    place = array.engine.placing_shared(INPUT_PORT, read.blocks, read.source_of(lanes))
    if place is None:
        place = array.engine.placing(INPUT_PORT, *read.ports(lanes))
    return None if None in (place, *compare) else Again(same, tuple(compare), differs, place)
