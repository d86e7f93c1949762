"""Vector unit: threads of a program side by side, each a group of sixteen lanes; it knows no clock.

Threads stay together as long as they go the same way. Where they part, those at the earliest instruction go first, so
that they meet again where their ways do; the others wait and are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import FLAGS, LANES, MASKS, NEXT, SCALARS, STOPPED, VECTORS, VectorFamily
from larrabee_bridge.vpu.unit.program import LINE_BYTES, VectorProgram
from pixelflow.simd.errors import Fault, InputError, MachineFault
from pixelflow.simd.lanes.shape import Shape
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra
from pixelflow.simd.lanes.wide.words import WordsEngine

__all__ = ["StraightCodeSubscriber", "Subscriber", "VectorUnit", "thread_shape"]

Meaning = Callable[[NumberAlgebra[NDArray[np.uint32], NDArray[np.bool_]]], None]
"""An instruction with its operands, to be carried out on lanes."""

Subscriber = Callable[[int, NDArray[np.bool_], NDArray[np.int64]], None]
"""Called after each instruction with its number, which threads carried it out, and the lines that each touched.

Lines are int64[threads, n]: their numbers, each once, and -1 where there is none.
"""


@runtime_checkable
class StraightCodeSubscriber(Protocol):
    """A subscriber that takes straight code as a whole."""

    def straight_code(
        self, numbers: Sequence[int], active: NDArray[np.bool_], lines: Sequence[NDArray[np.int64]]
    ) -> None:
        """Take instructions that the same threads carried out one after the other, each with its lines."""


LONGEST = 10_000_000
"""Instructions that a run carries out before it is taken for endless."""


def thread_shape(threads: int) -> Shape:
    """Return the lanes of ``threads`` threads: registers v as rows, r as words, k as masks."""
    return Shape(
        lanes=LANES * threads,
        group=LANES,
        rows=VECTORS,
        words=(*(f"r{number}" for number in range(SCALARS)), NEXT),
        carries=FLAGS,
        masks=tuple(f"k{number}" for number in range(MASKS)),
        bits=32,
    )


class VectorUnit:
    """Threads of one program with their registers, and the memory that they share or have each for themselves."""

    def __init__(self, program: VectorProgram, threads: int = 1, memory: ByteMemory | None = None) -> None:
        self.program, self.threads = program, threads
        self.memory = memory or ByteMemory(1 << 16)
        self.lanes = WordsEngine(thread_shape(threads), self.memory)
        self._load()
        self._meanings: list[Meaning] = [instruction.apply for instruction in program.instructions]
        self._branches = [each.declaration.family is VectorFamily.BRANCH for each in program.instructions]
        self._no_lines = np.zeros((threads, 0), np.int64)
        self._lines = self._no_lines

    def _load(self) -> None:
        for block in self.program.data:
            if block.lanes:
                raise InputError(Fault("data of kind lane is for processing elements", hint="kinds: byte, word, float"))
            if block.start + len(block.values) > self.memory.size:
                raise InputError(f"data up to byte {block.start + len(block.values) - 1} leave the memory")
            self.memory.data[:, block.start : block.start + len(block.values)] = np.array(block.values, np.uint8)

    # --- registers ------------------------------------------------------------------------------------------

    def vector(self, number: int) -> NDArray[np.uint32]:
        """Return register v: uint32[threads, 16]."""
        return self.lanes.get_rows(number, 1).reshape(self.threads, LANES)

    def set_vector(self, number: int, values: NDArray[np.number]) -> None:
        """Write register v in all threads, from words or floats: [16] or [threads, 16]."""
        words = np.ascontiguousarray(values)
        words = words.view(np.uint32) if words.dtype == np.float32 else words.astype(np.int64).astype(np.uint32)
        self.lanes.set_rows(number, np.broadcast_to(words, (self.threads, LANES)).reshape(1, -1))

    def mask(self, number: int) -> NDArray[np.uint32]:
        """Return register k as numbers, lane 0 in bit 0: uint32[threads]."""
        return np.broadcast_to(self.lanes.collect(self.lanes.flag(f"k{number}"))[:, 0], self.threads).copy()

    def set_mask(self, number: int, values: NDArray[np.integer] | int) -> None:
        """Write register k, from one number or one for each thread."""
        bits = self.lanes.spread(self._for_each(values)[:, None])
        self.lanes.set_bit(f"k{number}", bits.reshape(-1))

    def scalar(self, number: int) -> NDArray[np.uint32]:
        """Return register r: uint32[threads]."""
        return self.lanes.group_word(f"r{number}").copy()

    def set_scalar(self, number: int, values: NDArray[np.integer] | int) -> None:
        """Write register r, from one number or one for each thread."""
        self.lanes.set_group_word(f"r{number}", self._for_each(values))

    def _for_each(self, values: NDArray[np.integer] | int) -> NDArray[np.uint32]:
        return np.broadcast_to(np.asarray(values, np.int64).astype(np.uint32), self.threads)

    # --- running --------------------------------------------------------------------------------------------

    def run(self, subscriber: Subscriber | None = None, limit: int = LONGEST) -> int:
        """Carry out the program until every thread has ended; return how many instructions that took, side by side.

        Raises MachineFault for an address beyond the memory, with the source line, and for a run beyond ``limit``.
        """
        at = np.zeros(self.threads, np.int64)
        stopped = len(self._meanings)
        done = 0
        self.lanes.watch = self._touched if subscriber is not None else None
        straight = subscriber if isinstance(subscriber, StraightCodeSubscriber) else None
        while (here := int(at.min())) < stopped:
            active = at == here
            self.lanes.let(active)
            rest = at[~active]
            meeting = int(rest.min()) if rest.size else stopped
            numbers: list[int] = []
            lines: list[NDArray[np.int64]] = []
            try:
                while True:
                    self._carry_out(here)
                    if straight is not None:
                        numbers.append(here)
                        lines.append(self._lines)
                    elif subscriber is not None:
                        subscriber(here, active, self._lines)
                    done += 1
                    if done > limit:
                        place = self.program.where(here)
                        raise MachineFault(f"still running after {limit} instructions, at {place}")
                    if self._branches[here]:
                        at[active] = self._continue(here)[active]
                        break
                    here += 1
                    if here >= meeting:
                        at[active] = here
                        break
            finally:
                # Also what came before a fault counts.
                if straight is not None and numbers:
                    straight.straight_code(numbers, active, lines)
        self.lanes.let(None)
        return done

    def _carry_out(self, number: int) -> None:
        if self._branches[number]:
            following = self.program.addresses[number] + self.program.instructions[number].words
            self.lanes.write(NEXT, self.lanes.word(following))
        self._lines = self._no_lines
        try:
            self._meanings[number](self.lanes)
        except MachineFault as fault:
            raise MachineFault(f"{self.program.where(number)}: {fault}") from None

    def _continue(self, number: int) -> NDArray[np.int64]:
        """Return the instruction that each thread goes on with after a branch; the number of all where it has ended."""
        addresses, places = np.unique(self.lanes.group_word(NEXT), return_inverse=True)
        ended = len(self._meanings)
        numbers = [ended if each == STOPPED else self.program.index_of[each] for each in addresses.tolist()]
        return np.array(numbers, np.int64)[places]

    def _touched(self, address: NDArray[np.uint32], size: int, where: NDArray[np.bool_]) -> None:
        """Note the lines that each thread's instruction touches: every line once."""
        lines = np.where(where, (address // np.uint32(LINE_BYTES)).astype(np.int64), -1)
        if (address % np.uint32(LINE_BYTES) > LINE_BYTES - size).any():
            last = (address + np.uint32(size - 1)) // np.uint32(LINE_BYTES)
            lines = np.concatenate([lines, np.where(where, last.astype(np.int64), -1)], axis=1)
        if (lines == lines[:, :1]).all():
            lines = lines[:, :1]
        else:
            lines = np.sort(lines, axis=1)
            lines[:, 1:][np.diff(lines, axis=1) == 0] = -1
        if self.memory.sets > 1:
            own = np.arange(self.threads)[:, None] * (-(-self.memory.size // LINE_BYTES))
            lines = np.where(lines >= 0, lines + own, -1)
        self._lines = lines
