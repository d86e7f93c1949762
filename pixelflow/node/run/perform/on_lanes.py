"""Performance on the lanes: instructions looked up once as actions of the engine, and handed over in batches."""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.isa import Unit
from pixelflow.isa.emc import unlatch
from pixelflow.node.parts.array.influence import influences_of
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.parts.texture.transfer import BlockAccess, Transfer, TransferCommand
from pixelflow.node.parts.texture.unit import TextureUnit
from pixelflow.node.run.perform.effects import Direct, SideEffects
from pixelflow.node.run.perform.performance import texture_instruction
from pixelflow.node.run.perform.prepared import Key, prepared
from pixelflow.node.run.streams.analysis import Analysis
from pixelflow.node.run.streams.issue import Issue
from pixelflow.node.run.streams.straight_code import StraightCode
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import Bus, EnablesChanged, Executed, Progressed, TransferBegan
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action

__all__ = ["OnLanes"]

_BATCH = 512
"""Single instructions that are handed over together."""

_LARGE_BATCH = 8192
"""Instructions of straight code and single ones that are handed over together: enough work for several threads."""


class OnLanes:
    """Carries out the instructions of a program on an array and its texture unit.

    ``effects`` take what is to be done; without, it is done at once.
    """

    def __init__(
        self, analysis: Analysis, array: PeArray, texture: TextureUnit, bus: Bus, effects: SideEffects | None = None
    ) -> None:
        self._analysis = analysis
        self._program = analysis.program
        self._array = array
        self._texture = texture
        self._bus = bus
        texture.watched = bus.wants(TransferBegan)
        self._effects: SideEffects = Direct(array, texture) if effects is None else effects
        self._enables = _EnableCounts(analysis.enabling, array, bus) if bus.wants(EnablesChanged) else None
        self._prepared = prepared(array, self._program)
        self._key: Key | None = None
        """The straight code that the stream is skipping."""
        self._pending: list[Action] = []
        self._skipped = 0
        """Instructions of straight code that wait."""

    def join(self, stream: Stream) -> None:
        """Let the EMC stream skip straight code, unless somebody subscribed to single instructions."""
        if self._enables is None and not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(stages=stream.supply is None)
            stream.may_skip, stream.on_skip = self._may_skip, self._on_skip

    # --- the EMC stream ----------------------------------------------------------------------------------------

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Carry out an instruction, at the latest with the next `flush`; raises MachineFault where it cannot be."""
        index = issue.index
        if self._enables is not None:
            self._enables.tell_first(stream.begins(issue))
        if index is None:
            self._pending.append(self._array.unlatch)
        elif self._prepared.is_on_lanes(index):
            try:
                self._pending.append(self._prepared.action(index, stream.parameters))
            except MachineFault as error:
                raise self._placed(index, error) from None
        else:
            self._configure(index)
        if self._enables is not None and self._enables.may_change(index):
            self.flush()
            self._enables.tell(stream.cycle)
        elif len(self._pending) >= _BATCH:
            self.flush()
            self._bus.emit(Progressed, stream.cycle)

    def _may_skip(self, stream: Stream, code: StraightCode) -> bool:
        """Return whether straight code can be carried out as a whole; not where one of its instructions faults."""
        if code.settings:
            return True
        self._key = self._prepared.can(self._program, code, stream.parameters)
        return self._key is not None

    def _on_skip(self, stream: Stream, code: StraightCode) -> None:
        """Carry out straight code, at the latest with the next `flush`."""
        if code.settings:
            for index in range(code.first, code.end):
                self._configure(index)
            return
        self._pending += self._prepared.actions_for(self._key)
        self._skipped += code.length
        if self._skipped >= _LARGE_BATCH:
            self.flush()
            self._bus.emit(Progressed, stream.cycle)

    def _configure(self, index: int) -> None:
        instruction = self._prepared.instructions[index]
        if instruction.declaration.unit is not Unit.LEE:
            raise MachineFault(f"{self._program.where(index)}: {instruction.text()}: not an instruction of the EMCs")
        self.flush()
        try:
            self._effects.configure(instruction)
        except MachineFault as error:
            raise self._placed(index, error) from None

    def _placed(self, index: int, error: MachineFault) -> MachineFault:
        """Return a fault with the place of its instruction in the program."""
        return MachineFault(f"{self._program.where(index)}: {error}")

    def flush(self) -> None:
        """Carry out what still waits, in order."""
        pending, self._pending, self._skipped = self._pending, [], 0
        if pending:
            self._effects.lanes(pending)

    # --- the texture stream, which sees the PEs: what the EMCs have put off is carried out before --------------------

    @property
    def moved(self) -> Mapping[str, int]:
        """Bytes of data that went each way, since the node was made."""
        return self._texture.moved

    def tell(self, index: int) -> Transfer | None:
        """Carry out a texture instruction; return the transfer that it asks for. Raises MachineFault for another."""
        instruction = texture_instruction(self._program, index)
        self.flush()
        return self._effects.tell(instruction, index)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; return what the TASICs of each module are told."""
        self.flush()
        return self._effects.begin(transfer)

    @property
    def accessed(self) -> BlockAccess | None:
        """What the transfer accesses that has begun."""
        return self._texture.accessed

    def end(self) -> None:
        """End the transfer."""
        self.flush()
        self._effects.end()


class _EnableCounts:
    """Emits how many PEs of each module are enabled, whenever that has changed."""

    def __init__(self, enabling: frozenset[int], array: PeArray, bus: Bus) -> None:
        self._array = array
        self._bus = bus
        self._writes = enabling
        self._unlatch_writes = "E" in influences_of(unlatch)
        self._told: tuple[int, ...] | None = None

    def may_change(self, index: int | None) -> bool:
        """Whether an instruction, or None for the return of a started routine, writes enables."""
        return self._unlatch_writes if index is None else index in self._writes

    def tell_first(self, cycle: int) -> None:
        """Emit how many there are before the first instruction, which begins in ``cycle``."""
        if self._told is None:
            self.tell(cycle)

    def tell(self, cycle: int) -> None:
        """Emit how many there are, where that is news."""
        counts = self._array.enabled_by_module()
        if counts != self._told:
            self._told = counts
            self._bus.emit(EnablesChanged, cycle, counts)
