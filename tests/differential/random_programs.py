"""Random programs for comparing engines: every instruction with PE meaning, any operands, no control."""

from __future__ import annotations

import random

from pixelflow.isa import (
    INSTRUCTIONS,
    MEMORY_BYTES,
    Family,
    Imm,
    Instruction,
    Mem,
    OperandSpec,
    Register,
    Unit,
    operands,
)
from pixelflow.simd.isa.operands import Count

HOT = (*range(12), *range(MEMORY_BYTES - 4, MEMORY_BYTES))
"""Few addresses, so that instructions of one program meet each other's results; both ends of the PE are in."""

_KINDS = [d for d in INSTRUCTIONS.values() if d.unit is Unit.PE and d.family is not Family.STARTUP]


def _operand(rng: random.Random, spec: OperandSpec, count: int) -> object:
    match spec.kind:
        case operands.REGISTER:
            return rng.choice(list(Register))
        case operands.SOURCE:
            return rng.choice([rng.choice(list(Register)), Mem(rng.choice(HOT)), Imm(rng.randint(-128, 255))])
        case operands.MEMORY:
            size = count if spec.sized_by else 1
            return Mem(min(rng.choice(HOT), MEMORY_BYTES - size))
        case operands.BYTE:
            return Imm(rng.randint(-128, 255))
        case operands.COEFFICIENT:
            return rng.choice([0, 0, rng.randint(-200, 200), rng.getrandbits(63) - (1 << 62)])
    raise AssertionError(spec.kind)


def instruction(rng: random.Random, depth: int) -> tuple[Instruction, int]:
    """Return a random instruction that is legal at enable-stack depth ``depth``, and the depth after it."""
    while True:
        declaration = rng.choice(_KINDS)
        if not 0 <= depth + declaration.pushes <= 4:
            continue
        count = 0
        given = []
        sizes = [(s.name, s.kind) for s in declaration.operands if isinstance(s.kind, Count)]
        values = {
            name: rng.choice(kind.choices) if kind.choices else rng.randint(kind.low, min(kind.high, 6))
            for name, kind in sizes
        }
        count = values.get("bytes", 0)
        for spec in declaration.operands:
            given.append(values[spec.name] if spec.name in values else _operand(rng, spec, count))
        gated = declaration.gateable and rng.random() < 0.4
        made = INSTRUCTIONS.make(declaration.mnemonic, *given, gated=gated)
        return made, depth + declaration.pushes


def program(seed: int, length: int) -> list[Instruction]:
    """Return ``length`` random instructions; the same seed gives the same program everywhere."""
    rng = random.Random(seed)
    made, depth = [], 0
    for _ in range(length):
        one, depth = instruction(rng, depth)
        made.append(one)
    return made
