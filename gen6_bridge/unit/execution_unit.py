"""Execution unit: threads of a program side by side, sixteen channels each, without a clock.

Each thread has an instruction pointer; so has each channel, for while it waits elsewhere. Threads at the same
instruction are executed together, those furthest back first. A stretch of instructions without a branch is executed as
a whole, up to where a channel waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.declarations import EuInstruction, EuUnit
from gen6_bridge.isa.execution import (
    A0,
    ACC_FLOAT,
    ACC_HIGH,
    ACC_LOW,
    BYTES,
    CHANNELS,
    DISPATCHED,
    FLAGS,
    IP,
    MRF,
    ON,
    PC,
    Execution,
    FloatRules,
)
from gen6_bridge.isa.operands import (
    GRF_BYTES,
    GRF_REGISTERS,
    MRF_REGISTERS,
    REGISTER_BYTES,
    Controls,
    EuDestination,
    EuMessage,
    File,
    ImmediateOperand,
    Source,
    SourceRegion,
)
from gen6_bridge.program import EuProgram
from gen6_bridge.unit.messages import Request, SharedFunctions
from pixelflow.simd.errors import CycleLimitError, MachineFault
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.native.plain import WIDE
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine

if TYPE_CHECKING:
    from pixelflow.simd.lanes.native.group_run import Stretches

_WORTH = 20_000
"""Instructions times groups of threads after which a stretch is compiled."""
LONGEST = 10_000_000
"""Instructions after which a thread counts as endless."""
_DESCRIPTOR_FILE = 42
"""Bit of the instruction word at which the file of a message's descriptor is encoded."""
_NOWHERE = 0xFFFFFFFF
"""Pointer of a channel that was not dispatched."""

Subscriber = Callable[[int, NDArray[np.bool_]], None]
"""Called before each instruction with its number and the threads that execute it."""


@runtime_checkable
class StretchSubscriber(Protocol):
    """Subscriber that is called once after a stretch of plain instructions, and else before each instruction.

    Plain instructions have no predicate and no indirect operand, so the channels are still those of before.
    """

    def __call__(self, number: int, active: NDArray[np.bool_], /) -> None:
        """Take note of one instruction before it is executed."""

    def stretch(self, first: int, past: int, active: NDArray[np.bool_], /) -> None:
        """Take note of instructions ``first`` to ``past - 1`` after they were executed."""


def thread_shape(threads: int) -> Shape:
    """Return the lanes of ``threads`` threads: a group of sixteen each, with registers in a separate memory."""
    return Shape(
        lanes=CHANNELS * threads,
        group=CHANNELS,
        rows=0,
        words=(PC, IP, ACC_LOW, ACC_HIGH, ACC_FLOAT),
        carries=(),
        masks=(*FLAGS, ON, DISPATCHED),
        bits=32,
    )


class ExecutionUnit:
    """Threads of one program with their registers, and the functions that they share."""

    def __init__(
        self,
        instructions: Sequence[EuInstruction],
        threads: int = 1,
        *,
        dispatch: NDArray[np.int64] | Sequence[int] | int = 0xFFFF,
        functions: SharedFunctions | None = None,
        arithmetic: FloatRules | None = None,
        engine: str = AUTO,
    ) -> None:
        """``dispatch`` has a bit for each channel that exists; ``functions`` answer messages.

        ``engine`` is ``rows`` (numpy), ``compiled`` (native code) or the fastest available; results are the same.
        """
        self.instructions, self.threads = tuple(instructions), threads
        self.memory = ByteMemory(BYTES, threads)
        self.lanes = WordsEngine(thread_shape(threads), self.memory)
        self._algebra: NumberAlgebra[NDArray[np.uint32], NDArray[np.bool_]] = self.lanes
        self.functions = functions
        self.arithmetic = arithmetic or FloatRules()
        self.dispatched = np.broadcast_to(np.asarray(dispatch, np.int64), threads).copy()
        self.issued = np.zeros(threads, np.int64)
        """Instructions executed by each thread."""
        self.ended = np.zeros(threads, np.bool_)
        """Threads that ended by a message."""
        self.pointers = np.zeros(threads, np.int64)
        """Next instruction of each thread."""
        self.subscriber: Subscriber | None = None
        self.restart()
        self._engine = engine
        self._compiled = WIDE.choose(engine).engine == "compiled"
        self._native: Stretches | None = None
        self._spans = [each.spans for each in self.instructions]
        self._branches = [each.declaration.unit is EuUnit.BRANCH for each in self.instructions]
        self._singular = [bool(each.controls.predicate) or each.indirect for each in self.instructions]
        """Instructions that subscribers are called for one by one."""
        self._sends = [each.declaration.unit is EuUnit.SEND for each in self.instructions]

    def restart(self) -> None:
        """Reset all threads to the first instruction; registers stay."""
        exist = (self.dispatched[:, None] >> np.arange(CHANNELS) & 1).astype(np.bool_)
        self.lanes.set_bit(DISPATCHED, exist.reshape(-1))
        self.lanes.set_bit(ON, exist.reshape(-1))
        self.lanes.set_word(PC, np.where(exist, 0, _NOWHERE).astype(np.uint32).reshape(-1))
        self.issued[:], self.ended[:], self.pointers = 0, False, np.zeros(self.threads, np.int64)

    # --- registers ------------------------------------------------------------------------------------------------

    @property
    def general(self) -> NDArray[np.uint8]:
        """The general registers: uint8[threads, 128, 32], a view."""
        return self.memory.data[:, :GRF_BYTES].reshape(self.threads, GRF_REGISTERS, REGISTER_BYTES)

    @property
    def message(self) -> NDArray[np.uint8]:
        """The message registers: uint8[threads, 24, 32], a view."""
        return self.memory.data[:, MRF:A0].reshape(self.threads, MRF_REGISTERS, REGISTER_BYTES)

    @property
    def addresses(self) -> NDArray[np.uint16]:
        """The address registers: uint16[threads, 8]."""
        return np.ascontiguousarray(self.memory.data[:, A0 : A0 + 16]).view(np.uint16)

    def floats(self, register: int, count: int = 1) -> NDArray[np.float32]:
        """Return ``count`` registers as floats: float32[threads, 8 count]."""
        content = np.ascontiguousarray(self.general[:, register : register + count])
        return content.reshape(self.threads, -1).view(np.float32)

    def set_register(self, register: int, values: NDArray[np.generic]) -> None:
        """Write consecutive registers, the same in all threads ([n]) or different in each ([threads, n])."""
        words = np.ascontiguousarray(values)
        each = np.broadcast_to(words, (self.threads, words.shape[-1])).copy().view(np.uint8)
        start = register * REGISTER_BYTES
        self.memory.data[:, start : start + each.shape[1]] = each

    @property
    def flags(self) -> NDArray[np.uint32]:
        """The flag register, f0.0 in the low half: uint32[threads]."""
        low, high = (self._collected(name) for name in FLAGS)
        return low | high << np.uint32(16)

    def set_flags(self, values: NDArray[np.integer] | int) -> None:
        """Write the flag register of all threads, or of each."""
        numbers = np.broadcast_to(np.asarray(values, np.int64), self.threads)
        for half, name in enumerate(FLAGS):
            bits = (numbers[:, None] >> (16 * half + np.arange(CHANNELS)) & 1).astype(np.bool_)
            self.lanes.set_bit(name, bits.reshape(-1))

    def _collected(self, name: str) -> NDArray[np.uint32]:
        bits = self.lanes.get_bit(name).reshape(self.threads, CHANNELS)
        return (bits.astype(np.uint32) << np.arange(CHANNELS, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)

    @property
    def running(self) -> NDArray[np.uint32]:
        """Channels of each thread whose pointer is the thread's, as numbers: uint32[threads]."""
        return self._collected(ON)

    # --- running --------------------------------------------------------------------------------------------------

    def run(
        self,
        subscriber: Subscriber | None = None,
        limit: int = LONGEST,
        *,
        stops: bool = False,
        come: Callable[[int, int], None] | None = None,
    ) -> None:
        """Execute the program until every thread has ended, or (``stops``) has executed ``limit`` instructions.

        ``come`` is called before each stretch with the instructions executed so far by its threads, and the next one.
        Raises MachineFault with the instruction for undefined behaviour, CycleLimitError beyond the limit.
        """
        self.subscriber = subscriber
        end = len(self.instructions)
        while True:
            going = ~self.ended & (self.pointers < end)
            if stops:
                going &= self.issued < limit
            if not going.any():
                break
            here = int(self.pointers[going].min())
            active = going & (self.pointers == here)
            done = int(self.issued[active].max())
            if come is not None:
                come(done, here)
            room = limit - done
            if room <= 0:
                raise CycleLimitError(f"instruction {here}: a thread is still running after {limit:,} instructions")
            others = self.pointers[going & ~active]
            self._stretch(here, active, min(int(others.min()) if others.size else end, here + room))
        self.lanes.let(None)

    def standing(self) -> tuple[int, NDArray[np.bool_]] | None:
        """Return the next instruction and the threads that execute it; None once all have ended."""
        going = ~self.ended & (self.pointers < len(self.instructions))
        if not going.any():
            return None
        here = int(self.pointers[going].min())
        return here, going & (self.pointers == here)

    def step(self, subscriber: Subscriber | None = None) -> None:
        """Execute one instruction by the threads that are furthest back; raises MachineFault."""
        standing = self.standing()
        if standing is not None:
            self.subscriber = subscriber
            here, active = standing
            self._stretch(here, active, here + 1)
            self.lanes.let(None)

    def _stretch(self, here: int, active: NDArray[np.bool_], meeting: int) -> None:
        """Execute instructions up to a branch, the end of a thread, or where a channel waits."""
        self.lanes.let(active)
        waiting = self.lanes.get_word(PC).reshape(self.threads, CHANNELS)
        waits = ~self.lanes.get_bit(ON).reshape(self.threads, CHANNELS) & active[:, None]
        later = waiting[waits & (waiting > here)]
        meeting = min(meeting, int(later.min()) if later.size else meeting)
        here = self._native_part(here, meeting, active)
        while True:
            if here >= meeting:
                self._wait_at(here, active)
                break
            self._execute(here, active)
            self.issued += active
            if self._branches[here]:
                following = self.lanes.group_word(IP).astype(np.int64)
                self.pointers = np.where(active, following, self.pointers)
                break
            here += 1
            if self._sends[here - 1]:
                if self.ended[active].any():
                    self._wait_at(here, active)
                    break
                here = self._native_part(here, meeting, active)
            elif self.subscriber is not None and self._singular[here - 1]:
                here = self._native_part(here, meeting, active)
        pointers = self.pointers.astype(np.uint32)[:, None]
        there = self.lanes.read(PC) == pointers
        self.lanes.set_flag(ON, there & self.lanes.flag(DISPATCHED))

    def _wait_at(self, number: int, active: NDArray[np.bool_]) -> None:
        """Set the pointers of the active threads and of their running channels to an instruction."""
        self.lanes.write(PC, self.lanes.word(number), self.lanes.flag(ON))
        self.pointers[active] = number

    def _meaning(self, number: int) -> partial[None] | None:
        """Return what an instruction does, for native code; recorded forms lack the functions of the math unit."""
        instruction = self.instructions[number]
        if instruction.declaration.unit is EuUnit.MATH:
            return None
        return partial(instruction.execute, arithmetic=self.arithmetic, spans=self._spans[number])

    def _native_part(self, here: int, meeting: int, active: NDArray[np.bool_]) -> int:
        """Execute natively as far as possible before the next branch or message; return the next instruction."""
        subscriber = self.subscriber
        watched = subscriber is not None
        if not self._compiled or not active.all() or (watched and not isinstance(subscriber, StretchSubscriber)):
            return here
        past = here
        while past < meeting and not self._branches[past] and not self._sends[past]:
            if watched and self._singular[past]:
                break
            past += 1
        if past == here:
            return here
        if self._native is None:
            # Imported for native code alone: it needs a compiler.
            from pixelflow.simd.lanes.native.group_run import Stretches

            self._native = Stretches(self.lanes.shape, IP, _WORTH, self._meaning)
        at_once = self._engine != AUTO
        if not self._native.execute(self.lanes, here, past, self.threads, at_once=at_once):
            return here
        self.issued += (past - here) * active
        if isinstance(subscriber, StretchSubscriber):
            subscriber.stretch(here, past, active)
        return past

    def _execute(self, number: int, active: NDArray[np.bool_]) -> None:
        if self.subscriber is not None:
            self.subscriber(number, active)
        instruction = self.instructions[number]
        try:
            if self._sends[number]:
                controls, dst, first, message = instruction.operands
                _Sender(self, number, active).send(controls, dst, first, message)
                return
            if self._branches[number]:
                self.lanes.write(IP, self.lanes.word(number))
            instruction.execute(self._algebra, self.arithmetic, self._spans[number])
            if self._branches[number] and not instruction.declaration.operands[1:]:
                self._go_on(number)
        except MachineFault as fault:
            raise MachineFault(f"instruction {number}, {instruction.text()} {fault}") from None

    def _go_on(self, number: int) -> None:
        following = self.lanes.word(number + 1)
        self.lanes.write(PC, following, self.lanes.flag(ON))
        self.lanes.write(IP, following)

    def enabled(self, controls: Controls) -> NDArray[np.uint32]:
        """Return the channels that an instruction with these controls writes, as masks: uint32[threads]."""
        run = Execution(self._algebra, controls, (controls.first, 0, min(controls.size, CHANNELS)), self.arithmetic)
        bits = np.broadcast_to(run.enabled, (self.threads, CHANNELS))
        return (bits * (np.uint32(1) << np.arange(CHANNELS, dtype=np.uint32))).sum(axis=1, dtype=np.uint32)


class _Sender:
    """The message path of the threads that execute one `send`."""

    def __init__(self, unit: ExecutionUnit, number: int, active: NDArray[np.bool_]) -> None:
        self._unit, self._number, self._active = unit, number, active

    def send(self, controls: Controls, dst: EuDestination, first: Source, message: EuMessage) -> None:
        """Deliver each thread's message and write the answer; raises MachineFault where no function answers."""
        unit = self._unit
        if unit.instructions[self._number].rest >> _DESCRIPTOR_FILE & 3 != File.IMMEDIATE.value:
            raise MachineFault("a descriptor in a register is not modelled")
        if not isinstance(first, SourceRegion):
            raise MachineFault("a message of a constant: it is in message registers")
        if first.file is not File.MESSAGE or first.number + message.length > MRF_REGISTERS:
            raise MachineFault(f"a message of {message.length} registers from {first.file.name.lower()} {first.number}")
        enabled = unit.enabled(controls)
        for thread in np.flatnonzero(self._active).tolist():
            payload = unit.message[thread, first.number : first.number + message.length].reshape(-1).copy()
            request = Request(
                thread, self._number, controls.selector, message, controls.size, int(enabled[thread]), payload
            )
            answer = unit.functions.answer(request) if unit.functions is not None else None
            if message.response:
                self._take(thread, dst, message.response, answer)
            if message.end:
                unit.ended[thread] = True

    def _take(self, thread: int, dst: EuDestination, registers: int, answer: NDArray[np.uint8] | None) -> None:
        if answer is None:
            raise MachineFault("no function answers this message: give the unit shared functions")
        if dst.file is File.ARCHITECTURE:
            return
        if dst.file is not File.GENERAL or dst.number + registers > GRF_REGISTERS:
            raise MachineFault(f"an answer of {registers} registers to {dst.file.name.lower()} {dst.number}")
        start = dst.number * REGISTER_BYTES
        count = min(len(answer), registers * REGISTER_BYTES)
        self._unit.memory.data[thread, start : start + count] = answer[:count]


# Counts of channels: those of an instruction's size, and which gate disabled some.


GATES = ("dispatch", "divergence", "predicate")
"""Gates that disable channels, in order."""


class ChannelCounts:
    """Subscriber that counts enabled and disabled channels."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self._names = [_name(each) for each in unit.instructions]
        self._controls = [_disabling(each) for each in unit.instructions]
        self.possible = self.enabled = 0
        """Channels of all instructions by their sizes; channels enabled."""
        self.taken: Counter[str] = Counter()
        """Channels disabled, by gate."""
        self.issued: Counter[str] = Counter()
        """Instructions of all threads by mnemonic, type (the destination's, else the first source's) and size."""

    @property
    def efficiency(self) -> float:
        """Return the share of channels that were enabled."""
        return self.enabled / self.possible if self.possible else 0.0

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Count an instruction, before it is executed."""
        threads = int(active.sum())
        self.issued[self._names[number]] += threads
        self._add(threads, *self._counted(self._controls[number], active))

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        """Count instructions without a predicate, one after the other."""
        threads = int(active.sum())
        counts: dict[tuple[int, int, int], tuple[int, int, int, int]] = {}
        for number in range(first, past):
            self.issued[self._names[number]] += threads
            controls = self._controls[number]
            key = controls.size, controls.first, controls.all_channels
            if key not in counts:
                counts[key] = self._counted(controls, active)
            self._add(threads, *counts[key])

    def _add(self, threads: int, size: int, there: int, on: int, enabled: int) -> None:
        possible = threads * size
        self.possible += possible
        self.enabled += enabled
        for gate, before, after in zip(GATES, (possible, there, on), (there, on, enabled), strict=True):
            self.taken[gate] += before - after

    def _counted(self, controls: Controls, active: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        """Return an instruction's size, and its channels in all threads after dispatch, flow and predicate."""
        size = min(controls.size, CHANNELS)
        span = np.arange(controls.first, controls.first + size) % CHANNELS
        lanes = self._unit.lanes
        there, on = (lanes.get_bit(name).reshape(-1, CHANNELS)[active][:, span] for name in (DISPATCHED, ON))
        enabled = int((self._unit.enabled(controls)[active][:, None] >> span & 1).sum())
        possible = int(active.sum()) * size
        open_ = (possible, possible) if controls.all_channels else (int(there.sum()), int(on.sum()))
        return size, *open_, enabled


def _disabling(instruction: EuInstruction) -> Controls:
    """Return what an instruction says, without a predicate that chooses a source and disables nothing."""
    chooses = instruction.declaration.mnemonic == "sel" and not instruction.controls.selector
    return replace(instruction.controls, predicate=0) if chooses else instruction.controls


def _name(instruction: EuInstruction) -> str:
    operands = (instruction.destination, *instruction.sources)
    there = (each for each in operands if each is not None and (isinstance(each, ImmediateOperand) or not each.null))
    kind = next((each.type.name for each in there), "-")
    return f"{instruction.declaration.mnemonic} {kind} {instruction.controls.size}"


def dispatched(
    program: EuProgram,
    threads: int,
    channels: int,
    arithmetic: FloatRules,
    functions: SharedFunctions,
    engine: str = AUTO,
) -> ExecutionUnit:
    """Return a unit with a program's threads at its first instruction: its data loaded, g0.0 each thread's number."""
    mask = (1 << channels) - 1
    unit = ExecutionUnit(
        program.code, threads, dispatch=mask, functions=functions, arithmetic=arithmetic, engine=engine
    )
    unit.memory.data[:, :4] = np.arange(threads, dtype=np.uint32)[:, None].view(np.uint8)
    for block in program.data:
        unit.memory.data[:, block.start : block.start + len(block.values)] = np.array(block.values, np.uint8)
    return unit
