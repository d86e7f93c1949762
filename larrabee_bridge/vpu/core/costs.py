"""Costs of a program's instructions: pipes, latencies, and the registers that each waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.turns.places import BRANCH, EITHER, EVICT, FAR, NEAR, STORE, TOUCHES, WHOLE
from larrabee_bridge.vpu.isa import Pipe, VectorFamily
from larrabee_bridge.vpu.isa.operands import Memory
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.isa.declare import Declaration, Instruction
from pixelflow.simd.isa.effects import Effects, State

__all__ = ["Costs", "Dependences", "dependences"]


@dataclass(frozen=True, slots=True)
class Dependences:
    """Registers and flags by name (vector registers as ``v3``), and whether memory is touched."""

    reads: frozenset[str]
    writes: frozenset[str]
    memory: bool


def dependences(found: Effects) -> Dependences:
    """Return what effects read and write, by name; what is written in some lanes only is read too."""
    return Dependences(_names(found.reads | found.kept), _names(found.writes), found.memory)


def _names(states: Iterable[State]) -> frozenset[str]:
    return frozenset(f"v{state}" if isinstance(state, int) else state for state in states)


@dataclass(frozen=True)
class Costs:
    """What the model needs of each instruction of a program, by its number."""

    config: CoreConfig
    depends: tuple[Dependences, ...]
    families: tuple[VectorFamily, ...]
    either: tuple[bool, ...]
    """Whether it may issue in the secondary pipe."""
    branches: tuple[bool, ...]
    addresses: tuple[frozenset[str], ...]
    """Registers that an address is made of; they are read, too."""
    flags: tuple[int, ...]
    """As `turns/places.py` names them."""
    by_offset: tuple[bool, ...]
    """Whether an address for each lane comes from a vector register."""
    latency: tuple[int, ...]
    """From its issue, where it holds its pipe for one cycle, to that of an instruction that uses its result."""

    @classmethod
    def of(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        """Return the costs of a program's instructions; the same object for the same program and values."""
        found = program.analyses.get(("costs", config))
        if found is None:
            found = program.analyses["costs", config] = cls._made(program, config)
        return found

    @classmethod
    def _made(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        declarations = [each.declaration for each in program.instructions]
        depends = tuple(dependences(each) for each in program.effects)
        families = tuple(VectorFamily(each.family) for each in declarations)
        return cls(
            config=config,
            depends=depends,
            families=families,
            either=tuple(_either(config, each) for each in declarations),
            branches=tuple(family is VectorFamily.BRANCH for family in families),
            addresses=tuple(_addresses(each) for each in program.instructions),
            flags=tuple(_flags(config, *each) for each in zip(program.instructions, depends, strict=True)),
            by_offset=tuple(any(spec.name == "indices" for spec in each.operands) for each in declarations),
            latency=tuple(_latency(config, *each) for each in zip(declarations, families, depends, strict=True)),
        )


_SHIFTS = frozenset(("shl", "shr", "sar", "rol", "ror"))
_PREFETCHES = {"vprefetch1": NEAR, "vprefetch2": FAR, "vevict": EVICT}


def _either(config: CoreConfig, declaration: Declaration) -> bool:
    return declaration.unit is Pipe.EITHER and (config.shifts_beside or declaration.mnemonic not in _SHIFTS)


def _addresses(instruction: Instruction) -> frozenset[str]:
    places = [each for each in instruction.operands if isinstance(each, Memory)]
    return frozenset(f"r{each.base}" for each in places if each.base is not None)


def _flags(config: CoreConfig, instruction: Instruction, depends: Dependences) -> int:
    declaration = instruction.declaration
    found = TOUCHES if depends.memory else 0
    found |= EITHER if _either(config, declaration) else 0
    found |= BRANCH if declaration.family is VectorFamily.BRANCH else 0
    found |= _PREFETCHES.get(declaration.mnemonic, 0)
    first, *others = (*instruction.operands, None)
    if isinstance(first, Memory) and len(others) > 1:
        found |= STORE | (WHOLE if declaration.mnemonic in ("vstored", "vstoreq") and first.mask is None else 0)
    return found


def _latency(config: CoreConfig, declaration: Declaration, family: VectorFamily, depends: Dependences) -> int:
    if declaration.mnemonic == "imul":
        return config.multiply_latency
    if not family.vector:
        return config.scalar_latency
    return config.vector_latency + (config.load_op_cycles if depends.memory else 0)
