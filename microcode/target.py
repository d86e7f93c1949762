"""What a program is assembled for: its instructions, the names of its registers, its memory, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from microcode.language.values import Value
from pixelflow.isa import (
    INSTRUCTIONS,
    MAIN_BYTES,
    MEMORY_BYTES,
    PARAMETERS,
    InstructionSet,
    Mem,
    Program,
    Register,
)
from pixelflow.simd.isa.operands import Target as TargetKind

__all__ = ["BUILT_IN", "NUMBERS", "PIXELFLOW", "Target"]

NUMBERS: dict[str, Value] = {"inf": float("inf"), "nan": float("nan")}

BUILT_IN: dict[str, Value] = {
    **{register.name: register for register in Register},
    **{f"P{number}": Mem(0, number) for number in range(PARAMETERS)},
    **NUMBERS,
}
"""Names that cannot be defined: the registers, the parameters of the running routine, and two numbers."""


@dataclass(frozen=True, eq=False)
class Target:
    """What the assembler asks about the machine that a program is for."""

    instructions: InstructionSet
    names: Mapping[str, Value]
    """Names that cannot be defined: registers, and numbers with a name."""
    streams: tuple[str, ...]
    """Names of the instruction streams; main code goes to the first unless a text says otherwise."""
    halt: str
    """The instruction that ends a stream, added where main code does not end with it."""
    owner: str
    """What memory belongs to, for messages."""
    memory_bytes: int
    placed_bytes: int
    """The first bytes of memory, where ranges are placed that name no address."""
    alignment: int
    """Ranges are placed at multiples of it, in bytes."""
    program: type[Program]
    manual: str
    """The command that shows the instructions."""
    braces: frozenset[str] = frozenset()
    """Words that may follow an operand in braces; what they mean is the operand's business."""

    @cached_property
    def label_positions(self) -> dict[str, frozenset[int]]:
        """For each mnemonic the positions of the operands that are labels."""
        return {
            each.mnemonic: frozenset(at for at, spec in enumerate(each.operands) if isinstance(spec.kind, TargetKind))
            for each in self.instructions.values()
        }


PIXELFLOW = Target(
    instructions=INSTRUCTIONS,
    names=BUILT_IN,
    streams=("eigc", "tigc"),
    halt="HALT",
    owner="the PE",
    memory_bytes=MEMORY_BYTES,
    placed_bytes=MAIN_BYTES,
    alignment=1,
    program=Program,
    manual="pixelflow isa",
)
"""The node's instruction streams."""
