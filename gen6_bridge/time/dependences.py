"""Dependences of an instruction: which registers it reads and writes, which part it holds, and how long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gen6_bridge.isa.declarations import EuInstruction, EuUnit, eights
from gen6_bridge.isa.operands import (
    GRF_REGISTERS,
    REGISTER_BYTES,
    VXH,
    Architecture,
    EuDestination,
    EuMessage,
    File,
    SourceRegion,
)
from gen6_bridge.time.config import EuConfig

MRF, ACCUMULATOR, FLAG, ADDRESS = 128, 160, 161, 162
"""Numbers of other registers than general ones; message registers are 128 to 151."""
_POWER, _DIVISIONS = 10, (11, 12, 13)
_TWO_RESULTS = (8, 11)
"""Functions of `math` that write a second register."""
_IMPLICIT = ("mac", "mach", "sada2")


class EuDependences(NamedTuple):
    """Registers, part and cycles of an instruction, as far as its issue depends on them."""

    reads: frozenset[int]
    writes: frozenset[int]
    """Written by the instruction itself, ready after ``latency``."""
    answers: frozenset[int]
    """Written by the answer to a message."""
    part: str
    """Part that it holds: ``fpu``, ``math``, or ``front`` for branches and messages."""
    held: int
    """Cycles that the part is held."""
    latency: int
    flag_latency: int
    target: int | None
    """Target of a message."""
    answer_cycles: int
    target_busy: int
    bytes: int
    """Length of a message."""
    ends: bool
    """True if the thread ends with it."""
    switches: bool
    atomic: bool
    awaited: frozenset[int]
    """Registers that must be ready before it issues: not its destination's with NoDDChk."""
    banked: bool
    """True if its last two sources are in one bank."""


def _registers(start: int, ends: Iterable[int]) -> set[int]:
    last = max(ends)
    return set(range(start // REGISTER_BYTES, last // REGISTER_BYTES + 1))


def _source_registers(operand: SourceRegion, size: int) -> set[int]:
    if operand.address is not None or operand.vertical == VXH:
        return {ADDRESS}
    if operand.file is File.GENERAL:
        places = [operand.first_byte + operand.place(each) for each in range(size)]
        return _registers(min(places), (place + operand.type.size - 1 for place in places))
    return _architecture(operand.architecture)


def _architecture(register: Architecture | None) -> set[int]:
    match register:
        case Architecture.ACCUMULATOR:
            return {ACCUMULATOR}
        case Architecture.FLAG:
            return {FLAG}
        case Architecture.ADDRESS:
            return {ADDRESS}
    return set()


def _written(operand: EuDestination, size: int) -> set[int]:
    if operand.address is not None:
        return set()
    if operand.file in (File.GENERAL, File.MESSAGE):
        base = (
            operand.first_byte
            if operand.file is File.GENERAL
            else (operand.number & 0x7F) * REGISTER_BYTES + operand.sub
        )
        last = base + (size - 1) * max(1, operand.stride) * operand.type.size + operand.type.size - 1
        offset = MRF if operand.file is File.MESSAGE else 0
        return {offset + each for each in _registers(base, [last])}
    return _architecture(operand.architecture)


def dependences(instruction: EuInstruction, config: EuConfig) -> EuDependences:
    """Return the dependences of an instruction, with a configuration's cycles."""
    controls, declaration = instruction.controls, instruction.declaration
    destination, sources = instruction.destination, instruction.sources
    size = controls.size
    regions = [each for each in sources if isinstance(each, SourceRegion)]
    reads: set[int] = set()
    for region in regions:
        reads |= _source_registers(region, size)
    writes = _written(destination, size) if destination is not None else set()
    if declaration.pairs and len(regions) == 2:
        reads |= set(range(regions[1].number, regions[1].number + (4 if size == 16 else 2)))
    if declaration.unit is EuUnit.MATH and controls.selector in _TWO_RESULTS:
        writes |= {each + 1 for each in writes if each + 1 < GRF_REGISTERS}
    if destination is not None and destination.address is not None:
        reads.add(ADDRESS)
    if declaration.mnemonic in _IMPLICIT:
        reads.add(ACCUMULATOR)
    if controls.accumulates or declaration.mnemonic == "mach":
        writes.add(ACCUMULATOR)
    if controls.predicate:
        reads.add(FLAG)
    conditions = declaration.unit in (EuUnit.FPU,) and controls.selector and declaration.mnemonic != "sel"
    if conditions:
        writes.add(FLAG)
    message = next((each for each in instruction.operands if isinstance(each, EuMessage)), None)
    answers: set[int] = set()
    target, answer_cycles, busy = None, 0, 0
    if message is not None:
        first = regions[0].number
        reads = {FLAG} & reads | {MRF + first + each for each in range(message.length)}
        writes, target = set(), controls.selector
        if destination is not None and destination.file is File.GENERAL:
            answers = {destination.number + each for each in range(message.response)}
        answer_cycles, busy = _target(target, config)
    part, held, latency = _pace(instruction, config)
    two = [each.number % 2 for each in regions if each.file is File.GENERAL and each.address is None]
    banked = len(two) >= 2 and two[-1] == two[-2] and (declaration.three or config.banks)
    if banked and part != "front":
        held += 1
    return EuDependences(
        reads=frozenset(reads),
        writes=frozenset(writes),
        answers=frozenset(answers),
        part=part,
        held=held,
        latency=latency,
        flag_latency=config.flag_cycles,
        target=target,
        answer_cycles=answer_cycles,
        target_busy=busy,
        bytes=0 if message is None else message.length * REGISTER_BYTES,
        ends=message is not None and bool(message.end),
        switches=controls.thread == 2,
        atomic=controls.thread == 1,
        awaited=frozenset(reads if controls.dependency & 2 else reads | writes | answers),
        banked=banked,
    )


def _pace(instruction: EuInstruction, config: EuConfig) -> tuple[str, int, int]:
    """Return the part that an instruction holds, the cycles for which it does, and its latency."""
    controls, unit = instruction.controls, instruction.declaration.unit
    passes = eights(controls, instruction.destination, instruction.sources)
    if unit is EuUnit.MATH:
        if controls.selector == _POWER:
            return "math", config.power_issue * passes, config.power_cycles
        if controls.selector in _DIVISIONS:
            return "math", config.division_issue * passes, config.division_cycles
        return "math", config.issue_cycles * passes, config.math_cycles
    if unit is EuUnit.BRANCH:
        return "front", config.branch_cycles, config.dependent_cycles
    if unit is EuUnit.SEND:
        return "front", config.send_cycles, config.dependent_cycles
    latency = config.three_source_cycles if instruction.declaration.three else config.dependent_cycles
    return "fpu", config.issue_cycles * passes, latency


def _target(target: int, config: EuConfig) -> tuple[int, int]:
    match target:
        case 2:
            return config.sampler_cycles, config.sampler_busy
        case 5:
            return config.render_cycles, config.render_busy
        case 6:
            return config.urb_cycles, config.urb_busy
    return config.block_cycles, 1
