"""Loading: the registers that a program and its dispatch give to threads."""

from __future__ import annotations

import numpy as np

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.unit.execution_unit import ExecutionUnit

__all__ = ["loaded"]


def loaded(program: EuProgram, unit: ExecutionUnit) -> ExecutionUnit:
    """Return a unit after its registers took the program's data and g0.0 the number of each thread."""
    unit.memory.data[:, :4] = np.arange(unit.threads, dtype=np.uint32)[:, None].view(np.uint8)
    for block in program.data:
        unit.memory.data[:, block.start : block.start + len(block.values)] = np.array(block.values, np.uint8)
    return unit
