"""Do the engines give the same bits, after every instruction of random programs?

Each engine executes the one shared meaning with its own arithmetic: ripple-carry on bit-planes, numpy on bytes, and
native vector code where the extra `fast` is installed. A disagreement names the seed, the instruction and the state
that differs.
"""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.isa.declarations import CARRIES, MASKS, MEMORY_BYTES, PANEL_PES, WORDS
from pixelflow.simd.lanes import Shape, available, make_engine
from tests.differential.random_programs import program

LANES = 2 * PANEL_PES
ENGINES = available()
SHAPE = Shape(LANES, PANEL_PES, MEMORY_BYTES, WORDS, CARRIES, MASKS)
# What a random program can reach: its addresses are in rows 0..11 and 380..383, its blocks at most 6 bytes long.
REACHED = ((0, 18), (MEMORY_BYTES - 10, 10))


def _start(seed: int) -> tuple[list, np.random.Generator]:
    rng = np.random.default_rng(seed)
    engines = [make_engine(name, SHAPE) for name in ENGINES]
    state = engines[0].snapshot()
    for values in state.values():
        values[...] = rng.integers(0, 256 if values.dtype == np.uint8 else 2, values.shape)
    state["E"] &= state["L"]
    x, y = rng.integers(0, 1 << 15, (2, LANES))
    for engine in engines:
        engine.restore(state)
        engine.set_coordinates(x, y)
    return engines, rng


def _reached(engine) -> dict[str, np.ndarray]:
    state = {f"rows {start}..": engine.get_rows(start, count) for start, count in REACHED}
    state |= {name: engine.get_word(name) for name in WORDS}
    return state | {name: engine.get_bit(name) for name in (*CARRIES, *MASKS)}


def lockstep(seed: int, length: int, every: int = 1) -> None:
    """Compare the reachable state after every few instructions, and the whole state at the end."""
    engines, _ = _start(seed)
    instructions = program(seed, length)
    actions = [[engine.prepare(each.apply) for each in instructions] for engine in engines]
    for number, instruction in enumerate(instructions):
        for engine, prepared in zip(engines, actions, strict=True):
            engine.run([prepared[number]])
        if number % every:
            continue
        reference, *others = [_reached(engine) for engine in engines]
        for engine, state in zip(engines[1:], others, strict=True):
            wrong = [name for name in reference if not np.array_equal(reference[name], state[name])]
            assert not wrong, (
                f"seed {seed}, instruction {number}: {instruction.text()}: {engine.name} differs in {wrong}"
            )
    assert len({engine.digest() for engine in engines}) == 1


@pytest.mark.parametrize("seed", [pytest.param(each, marks=[pytest.mark.slow] * (each > 14)) for each in range(100)])
def test_lockstep(seed: int) -> None:
    lockstep(seed, 100)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_lockstep_in_full(block: int) -> None:
    """10,000 programs of 200 instructions, a hundred at a time; compared after every tenth instruction."""
    for seed in range(100 * block, 100 * block + 100):
        lockstep(seed, 200, every=10)


def test_disabled_pes_keep_every_byte() -> None:
    """Inside a latch, as a routine runs, no program can reach the bytes of a PE outside it: 8 programs of 200."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for name in ENGINES:
            engine = make_engine(name, SHAPE)
            before = rng.integers(0, 256, (MEMORY_BYTES, LANES), dtype=np.uint8)
            enabled = rng.random(LANES) < 0.6
            engine.set_rows(0, before)
            engine.set_bit("L", enabled)
            engine.set_bit("E", enabled)
            instructions = program(1000 + seed, 200)
            actions = [engine.prepare(each.apply) for each in instructions]
            for instruction, action in zip(instructions, actions, strict=True):
                engine.run([action])
                assert not (engine.get_bit("E") & ~enabled).any(), instruction.text()
            after = engine.get_rows(0, MEMORY_BYTES)
            assert np.array_equal(after[:, ~enabled], before[:, ~enabled])
            assert not np.array_equal(after[:, enabled], before[:, enabled])
