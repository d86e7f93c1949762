"""Vector unit: threads of a program side by side, each a group of sixteen lanes, without a clock.

Threads stay together on the same path. Where paths diverge, the threads at the earliest instruction execute first, so
that they meet again where the paths do; the others wait and are not written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import FLAGS, LANES, MASKS, NEXT, SCALARS, STOPPED, VECTORS, VectorFamily
from larrabee_bridge.vpu.notes import BasicBlocks, NoteSubscriber, NoteTaking
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram
from pixelflow.simd.attendance import heard
from pixelflow.simd.errors import CycleLimitError, Fault, InputError, MachineFault
from pixelflow.simd.lanes.engine import AUTO, Shape
from pixelflow.simd.lanes.native.plain import WIDE
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine

# Lane engines of the vector unit, by the names common to all machines.


ENGINES = WIDE.names
"""``rows``, by numpy, always works; ``compiled`` runs whole programs as native code."""
COMPILED = "compiled"


def engine_for_threads(wanted: str = AUTO) -> str:
    """Return the requested engine of `ENGINES`, or the fastest that works here.

    If the requested one does not work, a warning of the logger says why, once a name. Raises InputError for other
    names.
    """
    try:
        return _chosen(wanted)
    except ValueError as error:
        raise InputError(Fault(f"threads of the vector unit: {error}", hint=f"{AUTO} or one of these")) from None


@cache
def _chosen(wanted: str) -> str:
    choice = WIDE.choose(wanted)
    if choice.note is not None:
        logging.getLogger(__name__.partition(".")[0]).warning("note: %s", choice.note)
    return choice.engine


Meaning = Callable[[NumberAlgebra[NDArray[np.uint32], NDArray[np.bool_]]], None]
"""An instruction with its operands, to be executed on lanes."""

LONGEST = 10_000_000
"""Instructions that a thread may execute before it counts as endless."""


@cache
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


def _loaded(program: VectorProgram) -> list[tuple[int, NDArray[np.uint8]]]:
    """Return the starts and bytes of a program's data; the same object for the same program."""
    found: list[tuple[int, NDArray[np.uint8]]] | None = program.analyses.get("data")
    if found is None:
        if any(block.lanes for block in program.data):
            raise InputError(Fault("data of kind lane is for processing elements", hint="kinds: byte, word, float"))
        joined: list[tuple[int, bytearray]] = []
        for block in program.data:
            if not joined or joined[-1][0] + len(joined[-1][1]) != block.start:
                joined.append((block.start, bytearray()))
            joined[-1][1].extend(block.values)
        found = program.analyses["data"] = [(start, np.frombuffer(values, np.uint8)) for start, values in joined]
    return found


class VectorUnit:
    """Threads of one program with their registers, and one memory for all or for each."""

    def __init__(
        self, program: VectorProgram, threads: int = 1, memory: ByteMemory | None = None, engine: str = AUTO
    ) -> None:
        """``engine`` is one of `ENGINES` or ``auto``; all give the same bits."""
        self.program, self.threads = program, threads
        self.engine = engine_for_threads(engine)
        self.memory = memory or ByteMemory(1 << 16)
        self.lanes = WordsEngine(thread_shape(threads), self.memory)
        self._load()
        self._no_lines = np.zeros((threads, 0), np.int64)
        self._lines = self._no_lines

    @cached_property
    def _meanings(self) -> list[Meaning]:
        return [instruction.apply for instruction in self.program.instructions]

    @cached_property
    def _branches(self) -> list[bool]:
        return [each.declaration.family is VectorFamily.BRANCH for each in self.program.instructions]

    def _load(self) -> None:
        for start, values in _loaded(self.program):
            past = start + len(values)
            if past > self.memory.size:
                raise InputError(f"data up to byte {past - 1} leave the memory")
            self.memory.data[:, start:past] = values

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
        return np.full(self.threads, np.asarray(values, np.int64), np.uint32)

    # --- running --------------------------------------------------------------------------------------------

    def run(
        self,
        noted: NoteSubscriber | None = None,
        limit: int = LONGEST,
        *,
        lines: bool = False,
        watched: bool = False,
        come: Callable[[int, int], None] | None = None,
    ) -> None:
        """Execute the program until every thread has ended.

        ``noted`` is called with notes, which number lines with ``lines``. With ``watched`` a note follows each
        instruction, for the threads that executed it side by side.

        ``come`` is called before each stretch with the number of instructions executed and the next one, and now and
        then with (0, 0) during native code; an exception from it ends the run.

        Raises MachineFault for an address beyond the memory, with the source line; earlier instructions are noted. A
        thread that has executed ``limit`` instructions or more at a branch back is stopped; CycleLimitError names that
        branch of the lowest such thread when all others have ended.
        """
        if not watched and self.engine == COMPILED and self._ran_natively(noted, limit, lines, come):
            return
        blocks = BasicBlocks.of(self.program)
        bounds = blocks.bounds.tolist()
        taking = None if noted is None else NoteTaking(self.program, self.threads, noted, lines=lines, watched=watched)
        self.lanes.watch = self._touched if taking is not None else None
        at = np.zeros(self.threads, np.int64)
        done = np.zeros(self.threads, np.int64)
        stopped = np.full(self.threads, -1, np.int64)
        """Last instruction of a thread stopped at the limit."""
        ended = len(self._meanings)
        while (here := int(at.min())) < ended:
            active = at == here
            self.lanes.let(active)
            rest = at[~active]
            meeting = int(rest.min()) if rest.size else ended
            if come is not None:
                come(int(done[active].max()), here)
            if taking is not None:
                taking.active = np.flatnonzero(active)
            while here < meeting:
                block = blocks.block_at[here]
                past = bounds[block + 1]
                self._execute_block(block, range(here, past), taking)
                done[active] += past - here
                here = past
                if self._branches[past - 1]:
                    at[active] = self._continue(past - 1)[active]
                    late = active & (done >= limit) & (at <= bounds[block])
                    stopped[late], at[late] = past - 1, ended
                elif here >= meeting:
                    at[active] = here
                else:
                    continue
                break
        self.lanes.let(None)
        if taking is not None:
            taking.hand_over()
        if (stopped >= 0).any():
            raise self._endless(limit, int(stopped[stopped >= 0][0]))

    def _endless(self, limit: int, number: int) -> CycleLimitError:
        return CycleLimitError(f"still running after {limit:,} instructions, at {self.program.where(number)}")

    def _ran_natively(
        self, noted: NoteSubscriber | None, limit: int, lines: bool, come: Callable[[int, int], None] | None
    ) -> bool:
        """Run as native code if possible; return whether it was. Raises CycleLimitError at the limit."""
        # Imported here, so that machines without a compiler can do without.
        from larrabee_bridge.vpu.native import native_runs, noting

        runs, takes = native_runs(self.program, self.lanes.shape), noting(self.program, noted, lines)
        work = partial(runs.run, self.lanes, limit, *takes)
        run = work() if come is None or limit <= LONGEST else heard(work, partial(come, 0, 0))
        if run.stopped is not None:
            raise self._endless(limit, run.stopped)
        return run.is_done

    def _execute_block(self, block: int, numbers: range, taking: NoteTaking | None) -> None:
        if taking is None:
            for number in numbers:
                self._execute(number)
            return
        lines = []
        try:
            for number in numbers:
                self._execute(number)
                lines.append(self._lines)
                if taking.watched:
                    taking.instructions(number, lines[-1:])
        except MachineFault:
            if not taking.watched:
                taking.instructions(numbers[0], lines)
            raise
        if not taking.watched:
            taking.block(block, lines)

    def _execute(self, number: int) -> None:
        if self._branches[number]:
            following = self.program.addresses[number] + self.program.instructions[number].words
            self.lanes.write(NEXT, self.lanes.word(following))
        self._lines = self._no_lines
        try:
            self._meanings[number](self.lanes)
        except MachineFault as fault:
            raise MachineFault(f"{self.program.where(number)}: {fault}") from None

    def _continue(self, number: int) -> NDArray[np.int64]:
        """Return each thread's next instruction after a branch; their number for threads that have ended."""
        addresses, places = np.unique(self.lanes.group_word(NEXT), return_inverse=True)
        ended = len(self._meanings)
        numbers = [ended if each == STOPPED else self.program.index_of[each] for each in addresses.tolist()]
        return np.array(numbers, np.int64)[places]

    def _touched(self, address: NDArray[np.uint32], size: int, where: NDArray[np.bool_]) -> None:
        """Record the lines that each thread's instruction touches, every line once."""
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
