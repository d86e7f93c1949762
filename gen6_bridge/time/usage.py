"""Usage: which kinds of regions threads took, which banks they read and wrote, and the bytes that they sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import (
    GRF_REGISTERS,
    REGISTER_BYTES,
    VXH,
    EuMessage,
    ImmediateOperand,
    Source,
)
from gen6_bridge.time.config import EuConfig
from gen6_bridge.time.dependences import dependences
from gen6_bridge.time.traces import CarriedStep

__all__ = ["Usage", "region_kind", "usage_of"]

_BANKS = ("even", "odd")


@dataclass(slots=True)
class Usage:
    """What all threads of a run used, counted by executed instructions."""

    regions: Counter[str] = field(default_factory=Counter)
    """Sources by kind."""
    read: Counter[str] = field(default_factory=Counter)
    """General registers that were read, by bank."""
    written: Counter[str] = field(default_factory=Counter)
    sent: Counter[int] = field(default_factory=Counter)
    """Bytes of messages and answers, by target."""


def region_kind(source: Source) -> str:
    """Return what kind of region a source is."""
    if isinstance(source, ImmediateOperand):
        return "immediate"
    if source.address is not None:
        return "by a row's own address" if source.vertical == VXH else "indirect"
    if source.swizzle is not None:
        return "swizzled"
    if source.scalar:
        return "scalar"
    if source.horizontal == 1 and source.vertical == source.width:
        return "packed"
    if source.vertical == source.width * source.horizontal:
        return "strided"
    return "two-dimensional"


def usage_of(instructions: Sequence[EuInstruction], traces: Sequence[Sequence[CarriedStep]], config: EuConfig) -> Usage:
    """Return what threads used that carried out these steps."""
    counts: Counter[int] = Counter(step.number for steps in traces for step in steps)
    found = Usage()
    for number, count in counts.items():
        instruction, known = instructions[number], dependences(instructions[number], config)
        for source in instruction.sources:
            if isinstance(source, ImmediateOperand) or not source.null:
                found.regions[region_kind(source)] += count
        for registers, counter in ((known.reads, found.read), (known.writes | known.answers, found.written)):
            for register in registers:
                if register < GRF_REGISTERS:
                    counter[_BANKS[register % 2]] += count
        for operand in instruction.operands:
            if isinstance(operand, EuMessage):
                size = (operand.length + operand.response) * REGISTER_BYTES
                found.sent[instruction.controls.selector] += count * size
    return found
