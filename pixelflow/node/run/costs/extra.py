"""Cycles of an instruction beyond its declared steps, on a machine that lacks an ability (`config.extra`).

Each rule is the lowering of a fused instruction into the shortest sequence without the ability that has the same
meaning, so the bits stay and only the time differs. A library that was rewritten for such a machine might avoid part
of it: what is counted is the program as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pixelflow.config import ExtraConfig
from pixelflow.isa import Family, Instruction, Mem, Program, Register

__all__ = ["EXTRA_RULES", "ExtraRule", "cycles_of", "uses_of"]

_COMPARES = ("CMP", "CMPC")
_OPERATIONS = (Family.ARITHMETIC, Family.LOGIC)


@dataclass(frozen=True, slots=True)
class ExtraRule:
    """Which instructions a value of `config.extra` is added to."""

    name: str
    """Of the value in the section."""
    holds: Callable[[Instruction], bool]


def _from_memory(instruction: Instruction) -> bool:
    return any(isinstance(operand, Mem) for operand in instruction.operands)


def _in_family(*families: Family) -> Callable[[Instruction], bool]:
    return lambda instruction: instruction.declaration.family in families


def _called(*mnemonics: str) -> Callable[[Instruction], bool]:
    return lambda instruction: instruction.declaration.mnemonic in mnemonics


def _memory_operand(instruction: Instruction) -> bool:
    return instruction.declaration.family in _OPERATIONS and _from_memory(instruction)


def _memory_shift(instruction: Instruction) -> bool:
    return instruction.declaration.family is Family.SHIFT and _from_memory(instruction)


def _other_result(instruction: Instruction) -> bool:
    declaration = instruction.declaration
    if declaration.family not in (*_OPERATIONS, Family.SHIFT) or declaration.mnemonic in _COMPARES:
        return False
    return bool(instruction.operands) and instruction.operands[0] in (Register.S, Register.M)


EXTRA_RULES = (
    ExtraRule("memory_operand", _memory_operand),
    ExtraRule("memory_shift", _memory_shift),
    ExtraRule("gated_write", lambda instruction: instruction.gated),
    ExtraRule("other_result", _other_result),
    ExtraRule("store_immediate", _called("STI")),
    ExtraRule("store_enable", _called("STE")),
    ExtraRule("pair_shift", _called("SHLP", "SHRP")),
    ExtraRule("multiply_step", _in_family(Family.MULTIPLY)),
    ExtraRule("enable", lambda instruction: instruction.declaration.family is Family.ENABLE),
    ExtraRule("start", _in_family(Family.STARTUP)),
    ExtraRule("lee_start", _in_family(Family.LEE)),
    ExtraRule("copy_start", _in_family(Family.PIXEL_COPY)),
)
"""The rules, in the order of the section."""


def cycles_of(instructions: Sequence[Instruction], declared: Sequence[int], extra: ExtraConfig) -> Sequence[int]:
    """Return what each instruction takes: its declared cycles, and those of every rule that holds, never below 0."""
    used = [(rule.holds, cycles) for rule in EXTRA_RULES if (cycles := getattr(extra, rule.name))]
    if not used:
        return declared
    more = {id(each): sum(cycles for holds, cycles in used if holds(each)) for each in instructions}
    return [max(0, cycles + more[id(each)]) for each, cycles in zip(instructions, declared, strict=True)]


def uses_of(program: Program) -> dict[str, tuple[int, ...]]:
    """Return for each rule the positions of the instructions that it holds for, kept with the program."""
    found = program.analyses.get("extra")
    if not isinstance(found, dict):
        held = program.by_kind.each(lambda each: [rule.name for rule in EXTRA_RULES if rule.holds(each)])
        places: dict[str, list[int]] = {rule.name: [] for rule in EXTRA_RULES}
        for index, names in enumerate(held):
            for name in names:
                places[name].append(index)
        found = program.analyses["extra"] = {name: tuple(indices) for name, indices in places.items()}
    return found
