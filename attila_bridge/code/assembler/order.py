"""Order of instructions as they are loaded: independent ones go where a result is waited for.

The public descriptions do not say how programs are ordered. The rule here is derived from programs as they were loaded
by the authors' public simulator: of the instructions whose predecessors have gone, those go first whose operands are
there by then (an instruction a cycle, latencies as declared); among these the one whose result most instructions read;
among these the first of the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from attila_bridge.code.isa import ShaderDeclaration, destination_of, sources_of
from attila_bridge.code.isa.registers import ADDRESS_REGISTER, RegisterBank, register_id
from pixelflow.simd.isa.declare import Instruction

__all__ = ["order_of"]


def order_of(instructions: Sequence[Instruction]) -> list[int]:
    """Return the numbers of instructions in the order in which they are loaded."""
    count = len(instructions)
    producers, before = _dependences(instructions)
    readers = [sum(number in each for each in producers) for number in range(count)]
    ready = [0] * count
    order: list[int] = []
    left = list(range(count))
    for cycle in range(count):
        free = [number for number in left if not before[number] & set(left)]
        chosen = min(free, key=lambda each: (max(0, ready[each] - cycle), -readers[each], each))
        order.append(chosen)
        left.remove(chosen)
        declaration = instructions[chosen].declaration
        assert isinstance(declaration, ShaderDeclaration)
        for number in left:
            if chosen in producers[number]:
                ready[number] = max(ready[number], cycle + declaration.latency + 1)
    return order


def _dependences(instructions: Sequence[Instruction]) -> tuple[list[set[int]], list[set[int]]]:
    """Return, for each instruction, whose results it reads, and which others it must come after."""
    reads = [_reads(each) for each in instructions]
    writes = [_written(each) for each in instructions]
    producers: list[set[int]] = []
    before: list[set[int]] = []
    for number in range(len(instructions)):
        wanted = set(reads[number])
        made: set[int] = set()
        after: set[int] = set()
        for earlier in range(number - 1, -1, -1):
            written = writes[earlier]
            if written in wanted:
                made.add(earlier)
                if _is_whole(instructions[earlier]):
                    wanted.discard(written)
            if written is not None and (written == writes[number] or written in reads[number]):
                after.add(earlier)
            if writes[number] is not None and writes[number] in reads[earlier]:
                after.add(earlier)
        producers.append(made)
        before.append(made | after)
    return producers, before


def _is_whole(instruction: Instruction) -> bool:
    found = destination_of(instruction)
    return found is not None and found.is_whole


def _reads(instruction: Instruction) -> set[int]:
    found = {register_id(each.bank, each.number) for each in sources_of(instruction)}
    if any(each.relative for each in sources_of(instruction)):
        found.add(ADDRESS_REGISTER)
    return {each for each in found if each >> 8 != RegisterBank.CONSTANT}


def _written(instruction: Instruction) -> int | None:
    found = destination_of(instruction)
    return None if found is None else register_id(found.bank, found.number)
