"""Control flow: an instruction pointer for each channel, and one for the thread.

A channel runs where its pointer is the thread's. Targets count units of 8 bytes, two an instruction; here pointers are
numbers of instructions. A channel that a branch leaves out waits at its pointer until the thread gets there: no stack.
"""

from __future__ import annotations

from gen6_bridge.isa.assembly_text import TextShape
from gen6_bridge.isa.declarations import (
    CALL_TARGET,
    DST,
    JIP,
    JIP_UIP,
    JUMP,
    SRC0,
    SRC1,
    EuFamily,
    EuUnit,
    declare,
    described,
)
from gen6_bridge.isa.execution import CHANNELS, DISPATCHED, IP, ON, PC, Execution
from gen6_bridge.isa.operands import EuDestination, Source, SourceRegion, Targets
from pixelflow.simd.isa.declare import Flow
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.units import Standing

_INSTRUCTION_BYTES = 16


def _past(run: Execution[Word, Bit], units: int) -> Word:
    """Return the instruction ``units`` of 8 bytes past the current one, whose number is the thread's pointer."""
    return run.lanes.add(run.lanes.read(IP), run.lanes.word(units >> 1 & 0xFFFFFFFF), run.lanes.bit(False))[0]


def _any(run: Execution[Word, Bit], bits: Bit) -> Bit:
    return run.as_bit(run.lanes.collect(bits))


def _leave(run: Execution[Word, Bit], stays: Bit, elsewhere: Word, otherwise: Word) -> None:
    """Send running channels to the next instruction where they stay, else elsewhere.

    The thread goes to the next instruction if any channel is there, even one that waited, else to ``otherwise``.
    """
    lanes, following = run.lanes, _past(run, 2)
    lanes.write(PC, lanes.select(stays, following, elsewhere), lanes.flag(ON))
    there = _any(run, lanes.both(lanes.equal(lanes.read(PC), following), lanes.flag(DISPATCHED)))
    lanes.write(IP, lanes.select(there, following, otherwise))


def _block(mnemonic: str, opcode: int, text: str, *, condition: bool = False, stays: bool = True) -> None:
    """Declare IF, ELSE and ENDIF, which differ in the channels that continue with the next instruction."""

    def meaning(run: Execution[Word, Bit], targets: Targets, src0: Source, src1: Source) -> None:
        keep = run.lanes.bit(stays)
        if condition:
            keep = run.compared(src0, src1) if run.controls.selector else run.predicate
        end = _past(run, targets.jip)
        _leave(run, keep, end, end)

    declare(
        mnemonic, opcode, JIP, SRC0, SRC1, family=EuFamily.FLOW, unit=EuUnit.BRANCH,
        shape=TextShape(mnemonic, False, 2, targets="jump", shows_flag=mnemonic != "if"),
    )(described(meaning, text))  # fmt: skip


_block(
    "if", 34,
    "If: channels with the predicate continue, the others wait at JIP, after the ELSE or at the ENDIF.\n\n"
    "It may have a comparison of two sources in place of the predicate.",
    condition=True,
)  # fmt: skip
_block("else", 36, "Else: channels that come here go to JIP, the ENDIF; those that waited here continue.", stays=False)
_block("endif", 37, "End of if: all continue; without any, the thread goes to JIP, the end of the enclosing block.")


@declare(
    "while", 39, JIP, SRC0, SRC1, family=EuFamily.FLOW, unit=EuUnit.BRANCH,
    shape=TextShape("while", False, 2, targets="jump", shows_flag=False),
)  # fmt: skip
def _while(run: Execution[Word, Bit], targets: Targets, src0: Source, src1: Source) -> None:
    """End of a loop: channels with the predicate go back to JIP, the others on; the thread goes back if any does."""
    lanes, top, following = run.lanes, _past(run, targets.jip), _past(run, 2)
    lanes.write(PC, lanes.select(run.predicate, top, following), lanes.flag(ON))
    again = _any(run, lanes.both(run.predicate, lanes.flag(ON)))
    lanes.write(IP, lanes.select(again, top, following))


def _leaving(mnemonic: str, opcode: int, sources: int, text: str) -> None:
    """Declare BREAK, CONT and HALT: channels with the predicate go to UIP, and the thread to JIP where none is left."""

    def meaning(run: Execution[Word, Bit], targets: Targets, src0: Source) -> None:
        _leave(run, run.lanes.complement(run.predicate), _past(run, targets.uip or 0), _past(run, targets.jip))

    declare(
        mnemonic, opcode, JIP_UIP, SRC0, family=EuFamily.FLOW, unit=EuUnit.BRANCH,
        shape=TextShape(mnemonic, False, sources, targets="both"),
    )(described(meaning, text))  # fmt: skip


_leaving("break", 40, 2, "Leave a loop: channels with the predicate go to UIP, past the WHILE on this generation.")
_leaving("cont", 41, 1, "Next turn of a loop: channels with the predicate go to UIP, the WHILE.")
_leaving("halt", 42, 1, "Leave the program's part: channels with the predicate go to UIP, where all meet again.")


def _of_first(run: Execution[Word, Bit], bits: Bit) -> Bit:
    """Return the bit of the instruction's first channel for all channels."""
    first = [run.controls.first % CHANNELS] * CHANNELS
    return run.as_bit(run.lanes.route(run.as_word(bits), first))


def _all_go(run: Execution[Word, Bit], to: Word) -> None:
    run.lanes.write(PC, to, run.lanes.flag(ON))
    run.lanes.write(IP, to)


@declare(
    "jmpi", 32, DST, SRC0, JUMP, family=EuFamily.FLOW, unit=EuUnit.BRANCH, flow=Flow.JUMP,
    shape=TextShape("jmpi", False, 0, targets="offset"),
)  # fmt: skip
def _jmpi(run: Execution[Word, Bit], dst: EuDestination, src0: Source, offset: Source) -> None:
    """Jump: if the predicate holds for channel 0, all channels that run go offset units of 8 bytes past the next one.

    The offset may be in a register, so that a table of jumps is one. (Its unit there is recalled.)
    """
    lanes, first = run.lanes, [run.controls.first % CHANNELS] * CHANNELS
    units = lanes.route(run.integer(offset).low, first)
    following = _past(run, 2)
    there = lanes.add(following, lanes.shift_down(units, lanes.word(1), signed=True), lanes.bit(False))[0]
    _all_go(run, lanes.select(_of_first(run, run.predicate), there, following))


@declare(
    "call", 44, DST, SRC0, CALL_TARGET, family=EuFamily.FLOW, unit=EuUnit.BRANCH, flow=Flow.CALL,
    standing=Standing.INVENTED, source="recalled: what is stored is a pair of return address and mask",
    shape=TextShape("msave", True, 1),
)  # fmt: skip
def _call(run: Execution[Word, Bit], dst: EuDestination, src0: Source, targets: Targets) -> None:
    """Call: dst takes the address after this instruction, in bytes, and the mask of channels; all go to the target.

    The target counts units of 8 bytes from the call itself. A predicate counts for its first channel, as of a jump.
    The public disassembler writes ``msave``.
    """
    lanes = run.lanes
    taken = _of_first(run, run.predicate)
    back = lanes.shift_up(_past(run, 2), lanes.word(_INSTRUCTION_BYTES.bit_length() - 1))
    mask = lanes.collect(lanes.flag(ON))
    run.put(
        dst,
        lanes.select(lanes.pattern([lane % 2 == 0 for lane in range(CHANNELS)]), back, mask),
        where=lanes.both(run.taking_part, taken),
    )
    _all_go(run, lanes.select(taken, _past(run, targets.jip), _past(run, 2)))


@declare(
    "ret", 45, DST, SRC0, family=EuFamily.FLOW, unit=EuUnit.BRANCH, flow=Flow.RETURN, standing=Standing.INVENTED,
    source="recalled: the pair that CALL wrote", shape=TextShape("mrest", True, 1),
)  # fmt: skip
def _ret(run: Execution[Word, Bit], dst: EuDestination, src0: SourceRegion) -> None:
    """Return: all channels that run go to the address in src0; a predicate counts as in CALL.

    The public disassembler writes ``mrest``.
    """
    lanes, first = run.lanes, [run.controls.first % CHANNELS] * CHANNELS
    address = lanes.route(run.raw(src0), first)
    back = lanes.shift_down(address, lanes.word(_INSTRUCTION_BYTES.bit_length() - 1), signed=False)
    _all_go(run, lanes.select(_of_first(run, run.predicate), back, _past(run, 2)))
