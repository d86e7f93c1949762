"""Loading: the registers that a program and its dispatch give to threads."""

from __future__ import annotations

import numpy as np

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.unit.execution_unit import ExecutionUnit
from gen6_bridge.unit.messages import SharedFunctions
from pixelflow.simd.lanes import AUTO

__all__ = ["dispatched", "loaded"]


def loaded(program: EuProgram, unit: ExecutionUnit) -> ExecutionUnit:
    """Return a unit after its registers took the program's data and g0.0 the number of each thread."""
    unit.memory.data[:, :4] = np.arange(unit.threads, dtype=np.uint32)[:, None].view(np.uint8)
    for block in program.data:
        unit.memory.data[:, block.start : block.start + len(block.values)] = np.array(block.values, np.uint8)
    return unit


def dispatched(
    program: EuProgram,
    threads: int,
    channels: int,
    arithmetic: FloatRules,
    functions: SharedFunctions,
    engine: str = AUTO,
) -> ExecutionUnit:
    """Return a unit whose threads, of so many channels each, stand before the first instruction of a program."""
    mask = (1 << channels) - 1
    unit = ExecutionUnit(
        program.code, threads, dispatch=mask, functions=functions, arithmetic=arithmetic, engine=engine
    )
    return loaded(program, unit)
