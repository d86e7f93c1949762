"""The fixed mix of microinstructions that the engines are timed on.

Weights and memory use are those of a float-heavy program: add with carry and multiply steps dominate, half of the
register writes are gated, operands lie anywhere in the 166 bytes of the bicubic memory map. The mix never changes
from one release to the next without a new name, so that figures stay comparable.
"""

from __future__ import annotations

import random

from pixelflow.isa import INSTRUCTIONS, Imm, Instruction, Mem, Program, Register, Unit, operands
from pixelflow.simd.isa.operands import Count

__all__ = ["MIX_NAME", "instructions", "mix_program"]

MIX_NAME = "mix/1"

# fmt: off
_WEIGHTS = {
    "ADD": 8, "ADC": 22, "SBC": 8,
    "AND": 5, "OR": 5, "XOR": 5,
    "LD": 6, "ST": 6, "ROL": 5, "ROR": 5,
    "EC": 5, "EMC_SetEnab": 3,
    "MSTEP": 12, "STI": 3,
    "EMC_PixCopy": 1, "EMC_TreeIntoMem_Li": 1,
}
# fmt: on
_BYTES = 166
_DISTINCT = 2000
_SEED = 1995


def _instruction(rng: random.Random, mnemonic: str) -> Instruction:
    declaration = INSTRUCTIONS[mnemonic]
    given = []
    for spec in declaration.operands:
        match spec.kind:
            case operands.REGISTER:
                given.append(rng.choice(list(Register)))
            case operands.SOURCE | operands.MEMORY:
                given.append(Mem(rng.randrange(_BYTES)))
            case operands.BYTE:
                given.append(Imm(rng.randrange(256)))
            case Count():
                # One byte over one PE or through the LEE: few cycles, so that they stay one instruction in the count.
                given.append(1)
            case operands.COEFFICIENT:
                given.append(rng.randint(-100, 100))
    gated = declaration.gateable and rng.random() < 0.5
    return INSTRUCTIONS.make(mnemonic, *given, gated=gated)


def mix_program(rounds: int) -> Program:
    """Return a program that executes the mix's 2,000 instructions ``rounds`` times."""
    rng = random.Random(_SEED)
    mnemonics = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=_DISTINCT)
    body = [_instruction(rng, mnemonic) for mnemonic in mnemonics]
    framed = [INSTRUCTIONS.make("LOOP", rounds), *body, INSTRUCTIONS.make("ENDL"), INSTRUCTIONS.make("HALT")]
    return Program(tuple(word for instruction in framed for word in instruction.encode()), name=MIX_NAME)


def instructions() -> list[Instruction]:
    """Return the mix, and one instruction that enables all PEs again."""
    mix = [each for each in mix_program(1).instructions if each.declaration.unit is Unit.PE]
    return [*mix, INSTRUCTIONS.make("EMC_SetEnab")]
