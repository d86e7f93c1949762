"""Costs of a program's instructions: pipes, latencies, and the registers that each waits for."""

from __future__ import annotations

from dataclasses import dataclass

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.dependences import Dependences, dependences
from larrabee_bridge.vpu.isa import Pipe, VectorFamily
from larrabee_bridge.vpu.unit.program import VectorProgram

__all__ = ["Costs"]


@dataclass(frozen=True)
class Costs:
    """What the model needs of each instruction of a program, by its number."""

    config: CoreConfig
    depends: tuple[Dependences, ...]
    families: tuple[VectorFamily, ...]
    either: tuple[bool, ...]
    """Whether it may issue in the secondary pipe."""
    branches: tuple[bool, ...]
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
            either=tuple(each.unit is Pipe.EITHER for each in declarations),
            branches=tuple(family is VectorFamily.BRANCH for family in families),
            latency=tuple(_latency(config, *each) for each in zip(families, depends, strict=True)),
        )


def _latency(config: CoreConfig, family: VectorFamily, depends: Dependences) -> int:
    if not family.vector:
        return config.scalar_latency
    return config.vector_latency + (config.load_op_cycles if depends.memory else 0)
