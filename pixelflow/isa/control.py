"""Sequencer control, the same for both instruction streams: loops, calls, semaphores, halt.

The sequencer runs ahead of the units that it feeds, so control takes no EMC cycle (invented; tables 3 and 4 leave no
room for any). A meaning acts on the stream that executes it (:class:`pixelflow.node.run.stream.Stream`).
"""

from __future__ import annotations

from typing import Protocol

from pixelflow.isa.declarations import Family, Unit
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.isa.operands import ARGUMENTS, PARAMETER
from pixelflow.simd.isa.declare import Declaration, Declares, Flow
from pixelflow.simd.isa.operands import Count, Delta, Imm, Mem, Name, OperandSpec, Target

SEMAPHORES = 16
"""Counting semaphores shared by the two streams of a node (number invented)."""

_SYNCHRONIZED = "1, 2.2.1: streams are synchronized through semaphores; counting is invented"

_target = OperandSpec("target", Target())
_semaphore = OperandSpec("semaphore", Count(0, SEMAPHORES - 1))


class Sequencing(Protocol):
    """The sequencer of a stream, as control instructions use it."""

    def halt(self) -> None: ...
    def call(self, target: int, arguments: tuple[Mem | Imm, ...]) -> None: ...
    def ret(self) -> None: ...
    def loop(self, count: int) -> None: ...
    def end_loop(self) -> None: ...
    def jump(self, target: int) -> None: ...
    def mark(self, name: int) -> None: ...
    def add_parameter(self, parameter: int, delta: int) -> None: ...
    def signal(self, semaphore: int) -> None: ...
    def wait(self, semaphore: int) -> None: ...


def _control(
    mnemonic: str,
    opcode: int,
    *operands: OperandSpec,
    source: str = "2.2.5: microcoded streams; invented",
    flow: Flow | None = None,
) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *operands,
        family=Family.CONTROL,
        unit=Unit.SEQUENCER,
        steps=lambda *values: (),
        cost="0",
        source=source,
        flow=flow,
    )


@_control("HALT", 0x01, flow=Flow.HALT)
def halt(stream: Sequencing) -> None:
    """End this instruction stream."""
    stream.halt()


@_control("CALL", 0x02, _target, OperandSpec("arguments", ARGUMENTS), flow=Flow.CALL)
def call(stream: Sequencing, target: int, arguments: tuple[Mem | Imm, ...]) -> None:
    """Call a routine with up to seven arguments, addresses or bytes, which become its parameters P0 to P6.

    Arguments may themselves refer to the caller's parameters. A routine begins with START, which is where the
    start-up cycle of an EMC instruction is spent; the call itself is free.
    """
    stream.call(target, arguments)


@_control("RET", 0x03, flow=Flow.RETURN)
def ret(stream: Sequencing) -> None:
    """Return to the caller; if the routine executed START, the caller's latch L comes back as well.

    Every PE shifts its latches then, in the cycle of the next instruction: no cycle is declared for it.
    """
    stream.ret()


@_control("LOOP", 0x04, OperandSpec("count", Count(0, 65535)), flow=Flow.LOOP)
def loop(stream: Sequencing, count: int) -> None:
    """Repeat the instructions up to the matching ENDL ``count`` times; 0 skips them."""
    stream.loop(count)


@_control("ENDL", 0x05, flow=Flow.END_LOOP)
def endl(stream: Sequencing) -> None:
    """End of the innermost loop."""
    stream.end_loop()


@_control("JMP", 0x06, _target, flow=Flow.JUMP)
def jmp(stream: Sequencing, target: int) -> None:
    """Continue at the target."""
    stream.jump(target)


@_control("MARK", 0x07, OperandSpec("name", Name()), flow=Flow.STAGE)
def mark(stream: Sequencing, name: int) -> None:
    """Name the stage that begins here: cycles are reported by stage. The machine does nothing."""
    stream.mark(name)


@_control(
    "ADDP",
    0x09,
    OperandSpec("parameter", PARAMETER),
    OperandSpec("delta", Delta(14)),
)
def addp(stream: Sequencing, parameter: int, delta: int) -> None:
    """Add a constant to a parameter of the running frame, so that a loop can step through memory."""
    stream.add_parameter(parameter, delta)


@_control(
    "SIGNAL",
    0x0A,
    _semaphore,
    source=_SYNCHRONIZED,
    flow=Flow.SIGNAL,
)
def signal(stream: Sequencing, semaphore: int) -> None:
    """Add one to a semaphore."""
    stream.signal(semaphore)


@_control(
    "WAIT",
    0x0B,
    _semaphore,
    source=_SYNCHRONIZED,
    flow=Flow.WAIT,
)
def wait(stream: Sequencing, semaphore: int) -> None:
    """Wait until a semaphore is above zero, then take one from it. A blocked stream stalls."""
    stream.wait(semaphore)


# The declarations that readers of control flow ask for; every other instruction is straight-line.
HALT = INSTRUCTIONS["HALT"]
CALL = INSTRUCTIONS["CALL"]
RET = INSTRUCTIONS["RET"]
LOOP = INSTRUCTIONS["LOOP"]
ENDL = INSTRUCTIONS["ENDL"]
JMP = INSTRUCTIONS["JMP"]
SIGNAL = INSTRUCTIONS["SIGNAL"]
WAIT = INSTRUCTIONS["WAIT"]
START = INSTRUCTIONS["START"]
MARK = INSTRUCTIONS["MARK"]


def takes_control(declaration: Declaration) -> bool:
    """Return whether an IGC executes an instruction itself, at `igc.control_cycles`.

    MARK is a word to reports and no instruction of the machine: it takes no time, and is not sent to an IGC.
    """
    return declaration.unit is Unit.SEQUENCER and declaration is not MARK
