"""Does native code give numpy's bits?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from gen6_bridge.code.assembler import assemble_eu
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.errors import MachineFault
from tests.gen6.nests import VARIABLES, Program, nest
from tests.gen6.test_instructions import ROWS

THREADS = 8


def both(source: str, registers: dict[int, np.ndarray], dispatch: int = 0xFFFF) -> list[ExecutionUnit]:
    """Return units after a source by numpy and natively."""
    found = []
    for engine in ("rows", "compiled"):
        unit = ExecutionUnit(assemble_eu(source).code, THREADS, dispatch=dispatch, engine=engine)
        for register, values in registers.items():
            unit.set_register(register, values)
        unit.run(limit=100_000)
        found.append(unit)
    return found


def same(first: ExecutionUnit, second: ExecutionUnit) -> bool:
    memories = (first.memory.data == second.memory.data).all()
    return bool(memories and (first.flags == second.flags).all() and (first.issued == second.issued).all())


def test_rows_of_all_instructions_in_one_program() -> None:
    """All rows one after the other, each with registers of its own; functions of the math unit are numpy's."""
    lines: list[str] = []
    for at, (source, *_) in enumerate(ROWS):
        if "align16" in source or not source.startswith("math"):
            lines += source.replace("g20<1>", f"g{40 + at}<1>").split("; ")
    values = np.random.default_rng(1).integers(0, 1 << 32, (THREADS, 64)).astype(np.uint32)
    assert same(*both(";\n".join(lines) + ";", {10: values[:, :32], 4: values[:, 32:]}))


def test_a_nest_of_branches() -> None:
    source = random.Random(5)
    program = Program()
    program.write(nest(source, length=3), "END", None)
    values = np.random.default_rng(5).integers(-20, 21, (THREADS, VARIABLES * 16)).astype(np.int32)
    assert same(*both("\n".join([*program.lines, "END:", "nop"]), {10: values}, dispatch=0x7FFE))


def test_functions_of_the_math_unit_are_left_to_numpy() -> None:
    source = "add (8) g11<1>F g10<8,8,1>F 1.0F\nmath (8) g12<1>F g11<8,8,1>F sqrt\nadd (8) g13<1>F g12<8,8,1>F 1.0F"
    assert same(*both(source, {10: np.linspace(0, 9, 8, dtype=np.float32)}))


def test_a_fault_is_the_same() -> None:
    for engine in ("rows", "compiled"):
        code = assemble_eu("mov (8) g20<1>D 7D\nmov (1) a0.0<1>UW 4090UW\nmov (4) g1<1>F g[a0.0]<4,4,1>F\n").code
        unit = ExecutionUnit(code, engine=engine)
        with pytest.raises(MachineFault, match="instruction 2"):
            unit.run()
        assert (unit.general[0, 20].view(np.int32) == 7).all()
