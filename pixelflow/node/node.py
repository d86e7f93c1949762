"""A PixelFlow node: one PE array, one EMC instruction stream, and the account of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import THESIS, NodeConfig
from pixelflow.errors import InputError
from pixelflow.isa import Program, Unit
from pixelflow.isa.control import SEMAPHORES
from pixelflow.lanes.engine import Action
from pixelflow.node.igc import UNLATCH, Sequencer, Stream
from pixelflow.node.pe_array import PeArray
from pixelflow.node.run import Run
from pixelflow.node.semaphores import Semaphores

__all__ = ["Node"]

_BATCH = 512


class Node:
    """One node. State stays between runs, so that programs may follow each other on the same data.

    Memory is indexed ``[byte, lane]`` with lane = ((module * 8 + emc) * 8 + panel) * 32 + pe.
    """

    def __init__(self, config: NodeConfig = THESIS, engine: str = "rows") -> None:
        self.config = config
        self.array = PeArray(config, engine)

    @property
    def engine(self) -> str:
        """The name of the lane engine."""
        return self.array.engine.name

    @property
    def lanes(self) -> int:
        return self.config.lanes

    # --- running -----------------------------------------------------------------------------------------------

    def load(self, program: Program) -> None:
        """Write the program's data sections into PE memory; raises InputError where they leave the PE."""
        for block in program.data:
            size = block.lanes or len(block.values)
            if block.start + size > self.config.array.memory_bytes:
                raise InputError(f"data at {block.start}: {size} bytes do not fit {self.config.array.memory_bytes}")
            if block.lanes:
                lane = np.arange(self.lanes, dtype="<u8").view(np.uint8).reshape(self.lanes, 8)
                values = lane[:, : block.lanes].T
            else:
                values = np.repeat(np.array(block.values, np.uint8)[:, None], self.lanes, axis=1)
            self.write_memory(block.start, values)

    def run(
        self, program: Program, *, max_cycles: int | None = None, entry: str = "eigc", function: bool = True
    ) -> Run:
        """Run a program to its HALT and return the account.

        With ``function`` false only time passes: the same walk, no PE changes. Raises MachineFault, DeadlockError or
        CycleLimitError; PE state is then as the instructions before left it.
        """
        sequencer = Sequencer(program, self.config.igc)
        stream = Stream(sequencer, entry, Semaphores(SEMAPHORES), max_cycles)
        if function:
            self._carry_out(stream)
        else:
            for _ in stream.issues():
                pass
        return Run(
            program=program,
            engine=self.engine if function else "none (timing only)",
            cycles=stream.cycle,
            executed=tuple(stream.executed),
            cycles_each=tuple(sequencer.cycles),
            stages=tuple(stream.stages),
            routine_cycles=dict(stream.routine_cycles),
            seconds_at_clock=self.config.seconds(stream.cycle),
        )

    def steps(self, program: Program, *, entry: str = "eigc", max_cycles: int | None = None) -> Iterator[Stream]:
        """Run instruction by instruction: yields the stream after each one, with PE state up to date."""
        stream = Stream(Sequencer(program, self.config.igc), entry, Semaphores(SEMAPHORES), max_cycles)
        for issue in stream.issues():
            self._issue(stream, issue)
            yield stream

    def _issue(self, stream: Stream, issue: int) -> None:
        if issue == UNLATCH:
            self.array.run([self.array.unlatch])
            return
        instruction = stream.sequencer.program.instructions[issue]
        if instruction.declaration.unit is Unit.LEE:
            self.array.configure(instruction)
        else:
            self.array.run([self.array.action(instruction, stream.parameters)])

    def _carry_out(self, stream: Stream) -> None:
        """Hand instructions to the array in batches; an instruction's action is looked up by its parameters."""
        instructions = stream.sequencer.program.instructions
        array = self.array
        absolute: list[Action | None] = [None] * len(instructions)
        by_parameter: list[dict] = [{} for _ in instructions]
        base_of = [i.bases for i in instructions]
        on_lee = [i.declaration.unit is Unit.LEE for i in instructions]
        pending: list[Action] = []
        try:
            for issue in stream.issues():
                if issue == UNLATCH:
                    pending.append(array.unlatch)
                    continue
                if on_lee[issue]:
                    array.run(pending)
                    pending.clear()
                    array.configure(instructions[issue])
                    continue
                bases = base_of[issue]
                if not bases:
                    action = absolute[issue]
                    if action is None:
                        action = absolute[issue] = array.action(instructions[issue])
                else:
                    parameters = stream.parameters
                    key = parameters[bases[0]] if len(bases) == 1 and bases[0] < len(parameters) else tuple(parameters)
                    action = by_parameter[issue].get(key)
                    if action is None:
                        action = by_parameter[issue][key] = array.action(instructions[issue], parameters)
                pending.append(action)
                if len(pending) >= _BATCH:
                    array.run(pending)
                    pending.clear()
        finally:
            array.run(pending)

    # --- state --------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Clear all PE state and enable all PEs; the LEE keeps its registers."""
        self.array.reset()

    @property
    def memory(self) -> NDArray[np.uint8]:
        """A copy of all PE memory: uint8[bytes, lanes]."""
        return self.array.engine.get_rows(0, self.config.array.memory_bytes)

    def read_memory(self, start: int, size: int = 1) -> NDArray[np.uint8]:
        """Return bytes ``start`` to ``start + size - 1`` of every PE: uint8[size, lanes]."""
        self._in_pe(start, size)
        return self.array.engine.get_rows(start, size)

    def write_memory(self, start: int, values: NDArray[np.uint8]) -> None:
        """Write bytes from ``start`` on: uint8[n, lanes]; raises InputError for another shape or range."""
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != self.lanes or values.dtype != np.uint8:
            raise InputError(f"PE memory must be uint8[bytes, {self.lanes}], found {values.dtype}{list(values.shape)}")
        self._in_pe(start, len(values))
        self.array.engine.set_rows(start, values)

    def _in_pe(self, start: int, size: int) -> None:
        limit = self.config.array.memory_bytes
        if start < 0 or size < 0 or start + size > limit:
            raise InputError(f"bytes {start}..{start + size - 1} are outside the PE (0..{limit - 1})")

    def read_word(self, address: int, size: int) -> NDArray[np.uint64]:
        """Return ``size`` bytes (1 to 8) of every PE as one number, low byte first: uint64[lanes]."""
        rows = self.read_memory(address, size).astype(np.uint64)
        return np.bitwise_or.reduce([row << np.uint64(8 * index) for index, row in enumerate(rows)])

    def write_word(self, address: int, size: int, values: NDArray[np.uint64]) -> None:
        """Write one number per PE into ``size`` bytes (1 to 8), low byte first."""
        numbers = np.asarray(values, np.uint64)
        rows = [(numbers >> np.uint64(8 * index)).astype(np.uint8) for index in range(size)]
        self.write_memory(address, np.array(rows))

    def read_float(self, address: int) -> NDArray[np.float32]:
        """Return the binary32 number at ``address`` of every PE: float32[lanes]."""
        return self.read_word(address, 4).astype(np.uint32).view(np.float32)

    def write_float(self, address: int, values: NDArray[np.float32]) -> None:
        """Write one binary32 number per PE."""
        bits = np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float32), (self.lanes,))).view(np.uint32)
        self.write_word(address, 4, bits)

    def register(self, name: str) -> NDArray[np.uint8]:
        """Return register R, S or M of every PE: uint8[lanes]."""
        return self.array.engine.get_word(name)

    def flag(self, name: str) -> NDArray[np.bool_]:
        """Return a flag of every PE (C, E, L, MR, MW, or a stack position): bool[lanes]."""
        return self.array.engine.get_bit(name)

    def set_register(self, name: str, values: NDArray[np.uint8]) -> None:
        """Write register R, S or M of every PE."""
        self.array.engine.set_word(name, np.asarray(values, np.uint8))

    def set_flag(self, name: str, values: NDArray[np.bool_]) -> None:
        """Write a flag of every PE."""
        self.array.engine.set_bit(name, np.asarray(values, np.bool_))

    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return x and y of every PE as the LEE sees them: int64[lanes] each."""
        return self.array.lee.coordinates()

    def digest(self) -> str:
        """Return a hash of all PE state, equal on every engine that holds the same bits."""
        return self.array.engine.digest()
