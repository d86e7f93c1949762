"""What a pass did with each batch of control values, read from its account."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pixelflow.isa import Program
from pixelflow.node import Run
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import Operations

__all__ = ["Batch", "batches"]

_SURFACES = {Stage.POINTS.value: Stage.POINTS, Stage.DERIVATIVES.value: Stage.DERIVATIVES}
_OPERATIONS = {"fmul": Operations(multiplies=1), "fadd": Operations(adds=1)}


@dataclass(frozen=True, slots=True)
class Batch:
    """The arithmetic between the arrival of a batch and of the next, and the stages that it is part of."""

    stages: frozenset[Stage]
    cycles: int
    operations: Operations


def batches(run: Run) -> list[Batch]:
    """Return the batches of a pass in the schedule of the thesis, in the order of their arrival."""
    stages: list[set[Stage]] = []
    cycles: list[int] = []
    for (name, start), (_, end) in pairwise([*run.stages, ("", run.cycles)]):
        if name == Stage.COPY.value:
            stages.append(set())
            cycles.append(0)
        elif name in _SURFACES and stages and end > start:
            stages[-1].add(_SURFACES[name])
            cycles[-1] += end - start
    counts = _operations(run, len(stages))
    return [Batch(frozenset(one), *rest) for one, *rest in zip(stages, cycles, counts, strict=True)]


def _operations(run: Run, count: int) -> list[Operations]:
    """Return the float operations called in points and derivatives after each copy out of the port.

    The main code of a pass is a straight line, so its order is the order of execution.
    """
    program = run.program
    found = [Operations()] * count
    batch, surface = -1, False
    for index in range(program.index_of[program.entries["eigc"]], len(program.instructions)):
        instruction = program.instructions[index]
        if instruction.mnemonic == "HALT":
            break
        if instruction.mnemonic == "MARK":
            name = _mark(program, index)
            batch += name == Stage.COPY.value
            surface = name in _SURFACES
        elif surface and batch >= 0 and instruction.mnemonic == "CALL":
            routine = program.routine_at(instruction.operands[0])
            found[batch] += _OPERATIONS.get(routine.name, Operations()) * run.executed[index]
    return found


def _mark(program: Program, index: int) -> str:
    """Return the name of the stage that begins at a MARK."""
    return program.names[program.instructions[index].operands[0]]
