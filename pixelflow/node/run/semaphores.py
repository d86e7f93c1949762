"""Counting semaphores, which the two streams of a node share (thesis 1, 2.2.1), and which stream uses each of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from pixelflow.isa import Program
from pixelflow.isa.control import CALL, HALT, JMP, RET, SIGNAL, WAIT
from pixelflow.simd.errors import MachineFault

STREAMS = ("eigc", "tigc")


class StreamUse(NamedTuple):
    """For each semaphore, the reachable instructions of one stream that wait for it or signal it."""

    waits: dict[int, tuple[int, ...]]
    signals: dict[int, tuple[int, ...]]


def use_of(program: Program, entry: str) -> StreamUse:
    """Return the use of semaphores by the code that is reachable from a stream's entry."""
    instructions = program.by_kind
    places = [index for index, _ in instructions.places_of(CALL, JMP, RET, HALT, WAIT, SIGNAL)]
    seen: set[int] = set()
    ahead = [program.entries[entry]]
    while ahead:
        first = instructions.position(ahead.pop())
        for index in [] if first is None else places[bisect_left(places, first) :]:
            if index in seen:
                break
            seen.add(index)
            instruction = instructions[index]
            declaration = instruction.declaration
            if declaration is CALL or declaration is JMP:
                ahead.append(instruction.operands[0])
            if declaration is JMP or declaration is RET or declaration is HALT:
                break
    waits: dict[int, tuple[int, ...]] = {}
    signals: dict[int, tuple[int, ...]] = {}
    for index in sorted(seen):
        instruction = instructions[index]
        if instruction.declaration is WAIT or instruction.declaration is SIGNAL:
            uses = waits if instruction.declaration is WAIT else signals
            semaphore = instruction.operands[0]
            uses[semaphore] = (*uses.get(semaphore, ()), index)
    return StreamUse(waits, signals)


def remote_semaphores(program: Program) -> dict[str, frozenset[int]]:
    """Return for each stream the semaphores that the other one waits for.

    Raises MachineFault where both streams wait for one semaphore: its signals would be ambiguous.
    """
    waits = {entry: use_of(program, entry).waits for entry in STREAMS}
    for semaphore in sorted(waits["eigc"].keys() & waits["tigc"].keys()):
        places = ", ".join(f"{entry.upper()} {program.where(waits[entry][semaphore][0])}" for entry in STREAMS)
        raise MachineFault(f"both streams wait for semaphore {semaphore} ({places}); only one may")
    return {"eigc": frozenset(waits["tigc"]), "tigc": frozenset(waits["eigc"])}


class Semaphores:
    """A bank of counters; all start at zero."""

    def __init__(self, count: int) -> None:
        self._counts = [0] * count

    @property
    def counts(self) -> list[int]:
        """A copy of all counters."""
        return list(self._counts)

    def restore(self, counts: Sequence[int]) -> None:
        """Set all counters."""
        self._counts[:] = counts

    def count(self, semaphore: int) -> int:
        """Return the value of the counter."""
        return self._counts[semaphore]

    def signal(self, semaphore: int) -> None:
        """Add one."""
        self._counts[semaphore] += 1

    def take(self, semaphore: int) -> bool:
        """Take one if there is one; returns whether there was."""
        if self._counts[semaphore] == 0:
            return False
        self._counts[semaphore] -= 1
        return True
