"""Operands from memory cost the same in every format, with numpy's values; the ray kernel's loop; what runs count."""

import numpy as np

from larrabee_bridge.kernels.rays import loads, time_rays
from larrabee_bridge.kernels.study import run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa.operands import Conversion, Replication
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit

HELD = np.random.default_rng(1).integers(0, 60, 64).astype(np.uint8)  # every format's exponents stay small
WIDENED = {
    Conversion.NONE: lambda raw: raw.view(np.float32),
    Conversion.UINT8: lambda raw: raw.astype(np.float32),
    Conversion.UNORM8: lambda raw: (raw / 255).astype(np.float32),
    Conversion.SINT16: lambda raw: raw.view(np.int16).astype(np.float32),
    Conversion.FLOAT16: lambda raw: raw.view(np.float16).astype(np.float32),
}


def test_every_format_is_widened_as_numpy_does() -> None:
    for each in loads(HELD.tobytes()):
        operand = WIDENED[each.conversion](HELD)[np.arange(16) % each.replication.elements]
        total = np.zeros(16, np.float32)
        for _ in range(8):
            total += operand
        assert (each.result == total).all(), each


def test_no_format_costs_more() -> None:
    """Eight additions in a row, a result after four cycles: the last issues at 28."""
    found = {(each.conversion, each.replication): each.cycles for each in loads(HELD.tobytes())}
    assert len(found) == len(Conversion) * len(Replication)
    assert set(found.values()) == {29}
    slower = loads(HELD.tobytes(), CoreConfig(load_op_cycles=3))
    assert {each.cycles for each in slower} == {7 * 7 + 1}


def test_rays_and_a_further_triangle() -> None:
    found = time_rays(5)
    assert (found.vector, found.alone, found.shared) == (41, 58, 42)
    assert time_rays(5, config=CoreConfig(vector_latency=1)).alone < found.alone


def test_what_a_run_counts() -> None:
    program = assemble_vector("mov r1, 0\nvgatherd v1, v2, [0]\nvaddps v1, v1, [64]\nvscatterd [128], v2, v1\n")
    unit = VectorUnit(program, 2)
    unit.set_vector(2, np.array([np.zeros(16), 64 * np.arange(16)]))
    found = run_kernel(unit, gathers=True)
    assert found.spread.tolist() == [1, 1, 16, 16]
    assert (found.vector, sum(found.counts.values())) == (6, 10)
    assert found.vector_share == 0.6
    assert found.lines_per_gather == 8.5
    # Alone: mov; a gather of 1 or 16 lines; 4 cycles after its last line the sum; 4 later a scatter, halt beside it.
    assert found.alone.tolist() == [1 + 1 + 3 + 1 + 3 + 1, 1 + 16 + 3 + 1 + 3 + 16]
