"""What the two streams of a program say to each other: which semaphores each waits for, and who signals them."""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.errors import DeadlockError, MachineFault
from pixelflow.isa import Program, Unit
from pixelflow.isa.control import CALL, HALT, JMP, RET, SIGNAL, WAIT
from pixelflow.node.order.igc_box import IgcSpec
from pixelflow.node.streams.stream import Stream
from pixelflow.records import record

__all__ = ["STREAMS", "OpenWait", "StreamUse", "deadlock", "specs_of", "use_of"]

STREAMS = ("eigc", "tigc")


@record
class OpenWait:
    """A wait that has not come to its end: its reason, as in `Run.waits`, and its cycles so far."""

    reason: str
    cycles: int


@record
class StreamUse:
    """For each semaphore, the instructions that the code of one stream can reach and that wait for it or signal it."""

    waits: dict[int, tuple[int, ...]]
    signals: dict[int, tuple[int, ...]]


def use_of(program: Program, entry: str) -> StreamUse:
    """Follow the code from a stream's entry, and return what it does with semaphores."""
    instructions = program.instructions
    seen: set[int] = set()
    found: list[int] = []
    ahead = [program.index_of.get(program.entries[entry], len(instructions))]
    while ahead:
        index = ahead.pop()
        while index < len(instructions) and index not in seen:
            seen.add(index)
            instruction = instructions[index]
            declaration = instruction.declaration
            index += 1
            if declaration.unit is not Unit.SEQUENCER:
                continue
            if declaration is CALL or declaration is JMP:
                target = program.index_of.get(instruction.operands[0])
                if target is not None:
                    ahead.append(target)
            elif declaration is WAIT or declaration is SIGNAL:
                found.append(index - 1)
            if declaration is JMP or declaration is RET or declaration is HALT:
                break
    waits: dict[int, tuple[int, ...]] = {}
    signals: dict[int, tuple[int, ...]] = {}
    for index in sorted(found):
        instruction = instructions[index]
        uses = waits if instruction.declaration is WAIT else signals
        semaphore = instruction.operands[0]
        uses[semaphore] = (*uses.get(semaphore, ()), index)
    return StreamUse(waits, signals)


def specs_of(program: Program) -> dict[str, IgcSpec]:
    """Return what each sequencer must know of the semaphores.

    Raises MachineFault where both streams wait for one semaphore: a signal could not know which of them it is for.
    """
    waits = {entry: use_of(program, entry).waits for entry in STREAMS}
    for semaphore in sorted(waits["eigc"].keys() & waits["tigc"].keys()):
        places = ", ".join(f"{entry.upper()} {program.where(waits[entry][semaphore][0])}" for entry in STREAMS)
        raise MachineFault(f"both streams wait for semaphore {semaphore} ({places}); only one may")
    return {"eigc": IgcSpec(frozenset(waits["tigc"])), "tigc": IgcSpec(frozenset(waits["eigc"]))}


def deadlock(program: Program, streams: Sequence[Stream], cycle: int | None) -> DeadlockError:
    """Return the error of a standstill: who waits where for what since when, and who would have signalled it.

    ``cycle`` is None where no time is simulated.
    """
    lines = [f"deadlock{'' if cycle is None else f' at cycle {cycle}'}: no stream can advance"]
    for stream in streams:
        if stream.waiting is None:
            lines.append(f"  {stream.name.upper()}  ended{'' if cycle is None else f' at cycle {stream.cycle}'}")
            continue
        lines.append(f"  {stream.why_waiting()}")
        lines += [f"      {line}" for line in _signallers(program, streams, stream.waiting)]
    return DeadlockError("\n".join(lines))


def _signallers(program: Program, streams: Sequence[Stream], semaphore: int) -> list[str]:
    """Return a line for every instruction that signals a semaphore: where, and whether it was reached."""
    running = {stream.name: stream for stream in streams}
    lines = []
    for entry in program.entries:
        for index in use_of(program, entry).signals.get(semaphore, ()):
            place = f"sem {semaphore} is signalled by {entry.upper()} {program.where(index)}"
            if entry not in running:
                lines.append(f"{place} (this stream does not run)")
                continue
            times = running[entry].executed[index]
            lines.append(f"{place} ({f'reached, {times} times' if times else 'not reached'})")
    return lines or [f"sem {semaphore} is signalled by nobody"]
