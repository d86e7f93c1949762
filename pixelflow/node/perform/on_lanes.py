"""Carries out the instructions that an EMC stream yields: looked up once, handed to the lane engine in batches."""

from __future__ import annotations

from functools import partial

from pixelflow.errors import MachineFault
from pixelflow.isa import Instruction, Program, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.lanes.engine import Action
from pixelflow.node.array.influence import influences, influences_of
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.perform.prepared import Key, prepared
from pixelflow.node.perform.score import Score
from pixelflow.node.streams.analysis import Analysis
from pixelflow.node.streams.straight_code import Stretch
from pixelflow.node.streams.stream import UNLATCH, Issue, Stream
from pixelflow.observe import Bus, EnablesChanged, Executed, Progressed

__all__ = ["ArrayWorker"]

_BATCH = 512
"""Single instructions that are handed over together."""

_LARGE_BATCH = 8192
"""Instructions in stretches and singly that are handed over together: enough work for several threads."""


class ArrayWorker:
    """One stream's view of the PE array.

    Knows which instructions the texture side can see: those that touch a local port or set a mark.
    """

    def __init__(self, array: PeArray, program: Program, bus: Bus, score: Score | None = None) -> None:
        self._bus = bus
        self._score = score
        self._enables = _EnableCounts(array, program, bus) if bus.wants(EnablesChanged) else None
        self._program = program
        self._array = array
        self._prepared = prepared(array, program)
        self._on_lanes = self._prepared.on_lanes
        self._key: Key | None = None
        """The stretch that the stream is passing over."""
        self._pending: list[Action] = []
        self._in_stretches = 0
        """Instructions that wait in stretches."""

    def shared(self, stream: Stream, issue: Issue) -> bool:
        """Return whether the instruction touches a local port or sets a mark, with the parameters of this frame."""
        return self._prepared.port_use.shared(issue, stream.parameters)

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Carry out an instruction, at the latest with the next `flush`; raises MachineFault where it cannot be."""
        if self._enables is not None:
            self._enables.tell_first(stream.begins(issue))
        if issue == UNLATCH:
            self._pending.append(self._array.unlatch)
        elif self._on_lanes[issue]:
            try:
                self._pending.append(self._prepared.action(issue, stream.parameters))
            except MachineFault as error:
                raise self._placed(issue, error) from None
        else:
            self._other(issue)
        if self._enables is not None and self._enables.may_change(issue):
            self.flush()
            self._enables.tell(stream.cycle)
        elif len(self._pending) >= _BATCH:
            self.flush()
            self._bus.tell(Progressed, stream.cycle)

    # --- stretches ---------------------------------------------------------------------------------------------

    def join(self, stream: Stream, analysis: Analysis) -> None:
        """Let a stream pass over stretches, where nobody wants to know about every single instruction."""
        if self._enables is None and not self._bus.wants(Executed):
            stream.stretches = analysis.stretches()
            stream.takes, stream.passed = partial(self._takes, stream), partial(self._pass_over, stream)

    def _takes(self, stream: Stream, stretch: Stretch) -> bool:
        """Return whether a stretch can be carried out as a whole; not where one of its instructions faults."""
        if stretch.settings:
            return True
        self._key = self._prepared.can(self._program, stretch, stream.parameters)
        return self._key is not None

    def _pass_over(self, stream: Stream, stretch: Stretch) -> None:
        """Carry out a stretch, at the latest with the next `flush`."""
        if stretch.settings:
            for index in range(stretch.first, stretch.end):
                self._other(index)
            return
        self._pending += self._prepared.actions_for(self._key)
        self._in_stretches += stretch.length
        if self._in_stretches >= _LARGE_BATCH:
            self.flush()
            self._bus.tell(Progressed, stream.cycle)

    # --- what is not a matter of the lanes ---------------------------------------------------------------------

    def _other(self, issue: Issue) -> None:
        instruction = self._prepared.instructions[issue]
        if instruction.declaration.unit is not Unit.LEE:
            raise MachineFault(f"{self._program.where(issue)}: {instruction.text()}: not an instruction of the EMCs")
        self.flush()
        if self._score is None or self._score.settings(instruction):
            try:
                self._array.configure(instruction)
            except MachineFault as error:
                raise self._placed(issue, error) from None

    def _placed(self, issue: Issue, error: MachineFault) -> MachineFault:
        """Return a fault with the place of its instruction in the program."""
        return MachineFault(f"{self._program.where(issue)}: {error}")

    def flush(self) -> None:
        """Carry out what still waits, in order."""
        pending, self._pending, self._in_stretches = self._pending, [], 0
        if pending and (self._score is None or self._score.lanes(pending)):
            self._array.run(pending)


class _EnableCounts:
    """Tells watchers how many PEs of each module are enabled, whenever that has changed."""

    def __init__(self, array: PeArray, program: Program, bus: Bus) -> None:
        self._array = array
        self._bus = bus
        self._writes = {index for index, each in enumerate(program.instructions) if _writes_enables(each)}
        if "E" in influences_of(unlatch):
            self._writes.add(UNLATCH)
        self._told: tuple[int, ...] | None = None

    def may_change(self, issue: Issue) -> bool:
        return issue in self._writes

    def tell_first(self, cycle: int) -> None:
        """Tell how many there are before the first instruction, which begins in ``cycle``."""
        if self._told is None:
            self.tell(cycle)

    def tell(self, cycle: int) -> None:
        counts = self._array.enabled_by_module()
        if counts != self._told:
            self._told = counts
            self._bus.tell(EnablesChanged, cycle, counts)


def _writes_enables(instruction: Instruction) -> bool:
    return instruction.declaration.unit is Unit.PE and "E" in influences(instruction)
