"""Threads side by side against each thread alone: all instructions, random state."""

import numpy as np
import pytest

from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory
from tests.larrabee.rows import ROWS
from tests.larrabee.test_instructions import instruction

THREADS, BYTES = 5, 256
TEXTS = sorted({text for text, *_ in ROWS if instruction(text).declaration.family is not VectorFamily.BRANCH})


def settle(unit: VectorUnit, states: list[dict[str, np.ndarray]]) -> None:
    """Give each thread its state; addresses stay within the memory."""
    for number in range(4):
        unit.lanes.set_rows(number, np.concatenate([each["v"][number] for each in states])[None])
        unit.set_mask(number, np.array([each["k"][number] for each in states]))
        unit.set_scalar(number, np.array([each["r"][number] for each in states]))
    unit.memory.data[:] = np.stack([each["m"] for each in states])


def state(rng: np.random.Generator) -> dict[str, np.ndarray]:
    words = rng.integers(0, 1 << 32, (4, 16), np.uint32)
    small = rng.integers(0, 45, (4, 16), np.uint32)
    return {
        "v": np.where(rng.random((4, 16)) < 0.3, small, words),
        "k": rng.integers(0, 1 << 16, 4),
        "r": 4 * rng.integers(1, 20, 4),
        "m": rng.integers(0, 256, BYTES).astype(np.uint8),
    }


@pytest.mark.parametrize("text", TEXTS)
def test_a_thread_does_the_same_alone(text: str) -> None:
    """Twice in a row, so that results of the first are operands of the second; some threads have no turn."""
    rng = np.random.default_rng(len(text))
    idle = assemble_vector("halt\n")
    states = [state(rng) for _ in range(THREADS)]
    turns = np.array([True, True, False, True, False])
    if "gather" in text or "scatter" in text:
        for each in states:
            each["v"][2] = rng.integers(0, 100, 16)
    together = VectorUnit(idle, THREADS, ByteMemory(BYTES, THREADS))
    settle(together, states)
    together.lanes.let(turns)
    given = instruction(text)
    for _ in range(2):
        given.apply(together.lanes)
    found = together.lanes.snapshot()
    for thread in range(THREADS):
        alone = VectorUnit(idle, 1, ByteMemory(BYTES))
        settle(alone, [states[thread]])
        if turns[thread]:
            for _ in range(2):
                given.apply(alone.lanes)
        for name, values in alone.lanes.snapshot().items():
            assert (found[name][..., 16 * thread : 16 * thread + 16] == values).all(), (thread, name)
        assert (together.memory.data[thread] == alone.memory.data[0]).all()
