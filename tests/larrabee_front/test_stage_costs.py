"""What a stage of the front end is charged, by hand."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.pipeline.front_end import Stages
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.program import assemble_vector
from pixelflow.simd.lanes.words import ByteMemory

PROGRAM = assemble_vector("""
    vloadpi v0, [r0]
    vloadpi v1, [r0 + 64]
    vaddpi v2, v0, v1
    halt
""")


def test_cycles_and_instructions_of_primsets() -> None:
    """Three threads, two of them of the first PrimSet; each loads two lines, and adds when the second is there."""
    stages = Stages(3)
    primset = np.array([0, 0, 1])
    stages.run("any", PROGRAM, ByteMemory(1 << 17), primset, {0: 128 * np.arange(3)})
    cost = stages.costs["any"]
    assert (cost.counts[VectorFamily.CONVERT], cost.counts[VectorFamily.INTEGER], cost.counts[VectorFamily.BRANCH]) == (
        6,
        3,
        3,
    )
    # Loads at 0 and 1, the sum at 1 + 4; halt issues beside it.
    assert cost.cycles.tolist()[1:] == [6, 0]
    # In turns one loads at 0 and 2, the other at 1 and 3; sums at 2 + 4 and 3 + 4.
    assert cost.cycles[0] == 12
    stages.finish()
    assert {number: core.cycles for number, core in stages.cores.items()} == {0: 8, 1: 6}
    assert cost.plus(cost).cycles[1] == 12


def test_a_stage_waits_for_the_longest_thread_of_the_one_before() -> None:
    """Twenty products, each 10 after the one before, of the second thread; then as many of the first."""
    stages = Stages(1)
    program = assemble_vector("again: imul r2, 3\nsub r1, 1\njnz again\nhalt\n")
    for counts in ([1, 20], [20]):
        stages.run("any", program, ByteMemory(1 << 17), np.zeros(len(counts), int), {1: np.array(counts)})
    stages.finish()
    assert stages.cores[0].cycles >= 2 * 19 * 10
