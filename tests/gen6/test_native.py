"""Does native code give numpy's bits?"""

from __future__ import annotations

import numpy as np
import pytest

from gen6_bridge.claims.nests import VARIABLES, random_nest
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import ThreadTraces
from gen6_bridge.unit import ChannelCounts, ExecutionUnit
from pixelflow.simd.errors import MachineFault
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
    """All rows in order, each with separate registers; functions of the math unit are numpy's."""
    lines: list[str] = []
    for at, (source, *_) in enumerate(ROWS):
        if "align16" in source or not source.startswith("math"):
            lines += source.replace("g20<1>", f"g{40 + at}<1>").split("; ")
    values = np.random.default_rng(1).integers(0, 1 << 32, (THREADS, 64)).astype(np.uint32)
    assert same(*both(";\n".join(lines) + ";", {10: values[:, :32], 4: values[:, 32:]}))


def test_a_nest_of_branches() -> None:
    source, _ = random_nest(5, length=3)
    values = np.random.default_rng(5).integers(-20, 21, (THREADS, VARIABLES * 16)).astype(np.int32)
    assert same(*both(source, {10: values}, dispatch=0x7FFE))


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


def test_a_watched_run_has_the_same_account_by_either_engine() -> None:
    """Subscribers get stretches afterwards; predicates and address registers split them."""
    source = """
    mov (8) g8<1>D 0D
    mov (1) a0.0<1>UW 320UW
    TOP:
    add (16) g20<1>F g10<8,8,1>F g12<8,8,1>F
    mul (16) g22<1>F g20<8,8,1>F g12<8,8,1>F
    cmp.l.f0.0 (16) null<1>F g22<8,8,1>F g10<8,8,1>F
    (+f0.0) mov (16) g32<1>F g10<8,8,1>F
    add (8) g24<1>D g20<8,8,1>D 1D {align1 sechalf}
    mov (4) g26<1>D g[a0.0, 4]<4,4,1>D
    add (1) a0.0<1>UW a0.0<0,1,0>UW 4UW
    add (8) g8<1>D g8<8,8,1>D 1D
    cmp.l.f0.1 (8) null<1>D g8<8,8,1>D 9D
    (+f0.1) while (8) TOP
    """
    traces, channels = [], []
    for engine in ("rows", "compiled"):
        for kind in (ThreadTraces, ChannelCounts):
            unit = ExecutionUnit(assemble_eu(source).code, 3, dispatch=[0xFFFF, 0x0FFF, 0x8001], engine=engine)
            unit.set_register(10, np.linspace(-2, 2, 32, dtype=np.float32))
            subscriber = kind(unit)
            unit.run(subscriber)
            if isinstance(subscriber, ThreadTraces):
                traces.append((subscriber.steps, unit.memory.data.tobytes()))
            else:
                counts = (subscriber.possible, subscriber.enabled, subscriber.taken, subscriber.issued)
                channels.append((counts, unit.memory.data.tobytes()))
    assert traces[0] == traces[1] and channels[0] == channels[1] and traces[0][1] == channels[0][1]
