"""Random straight code with calls in it, and states for it: floats of which most, some or no 64 lanes are extreme."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.declarations import CARRIES, WORDS
from pixelflow.node.kernels.float_kernel import Call, Kernel, KernelOperation
from pixelflow.node.kernels.macro_engine import MacroEngine
from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction
from tests.compiled.test_fused import shape
from tests.compiled.test_fused import state as random_state
from tests.differential.random_programs import instruction

__all__ = ["EXTREME", "FINITE", "KERNELS", "Maker", "call", "floats", "machine", "mixed", "part", "start", "tame"]

FINITE = (
    KernelOperation.ADD,
    KernelOperation.SUBTRACT,
    KernelOperation.MULTIPLY,
    KernelOperation.DIVIDE,
    KernelOperation.SQUARE_ROOT,
)
KERNELS = (*(Kernel(each) for each in KernelOperation), *(Kernel(each, finite=True) for each in FINITE))
SCRATCH = (152, 9)

PLACES = (0, 4, 8, 2, 6, 9, 16, 20, 24, 28, 30, 34, 380)
"""Where floats lie: the first ones where random instructions write, some across others."""

Maker = Callable[[MacroEngine], CompiledAction]
"""Makes an action for an engine."""


def call(kernel: Kernel, result: int, operands: Iterable[int]) -> Maker | None:
    """Return what makes a call for an engine; None where the contract forbids it."""
    made = Call(kernel, "E", result, tuple(operands), SCRATCH, (*WORDS, *CARRIES))
    return (lambda engine: engine.kernel(made, tuple)) if made.possible else None


def part(meaning: Meaning) -> Maker:
    """Return what prepares a meaning for an engine."""
    return lambda engine: engine.prepare(meaning)


def mixed(seed: int, length: int, calls: float = 0.6) -> list[Maker]:
    """Return random instructions and calls; ``calls`` is the share of the latter."""
    rng = random.Random(seed)
    found: list[Maker] = []
    depth = 0
    while len(found) < length:
        if rng.random() < calls:
            kernel = rng.choice(KERNELS)
            one = call(kernel, rng.choice(PLACES), rng.choices(PLACES, k=kernel.operands))
            found += [one] if one is not None else []
        else:
            made, depth = instruction(rng, depth)
            found.append(part(made.apply))
    return found


def tame(seed: int, length: int) -> list[Maker]:
    """Return calls of nearly all operations that stay far from the ends of the range for operands of 1 to 2.

    Operands lie at 16 to 44, results from 64 to 149; no difference
    is small but 0.
    """
    rng = random.Random(seed)
    found: list[Maker] = []
    first = list(range(16, 48, 4))
    for number in range(length):
        kernel = rng.choice([each for each in KERNELS if each.operation is not KernelOperation.FROM_INTEGER])
        result = 64 + 4 * (number % 20)
        operands = rng.choices(first, k=kernel.operands)
        found.append(call(kernel, result, operands))
        if kernel.operation in (KernelOperation.ADD, KernelOperation.MULTIPLY):
            found.append(call(Kernel(KernelOperation.SUBTRACT), 144, [result, rng.choice(first)]))
            found.append(call(Kernel(KernelOperation.LESS), 148, [144, 144]))
    return found


def machine(lanes: int = 64, threads: int = 1) -> MacroEngine:
    return MacroEngine(shape(lanes), threads=threads)


EXTREME = np.array(
    [0, 1 << 31, 1, 0x007FFFFF, 0x80400000, 0x00800000, 0x00800001, 0x80800000, 0x7F800000, 0xFF800000, 0x7FC00000,
     0xFF800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F000000, 0x20000000, 0x5F000000, 0x01000000, 0x3F800000, 0xBF800000],
    np.uint32,
)  # fmt: skip


def floats(lanes: int, seed: int, *, wild: bool) -> NDArray[np.uint32]:
    """Return patterns of lanes, all from 1 to 2; with ``wild`` a third of every 64 lanes have extreme ones in them.

    Of these some have one, others many.
    """
    rng = np.random.default_rng(seed)
    found = rng.integers(0x3F800000, 0x40000000, lanes, dtype=np.uint32)
    if wild:
        share = rng.choice([0.0, 0.0, 0.0, 0.02, 0.2, 0.7], -(-lanes // 64)).repeat(64)[:lanes]
        other = np.where(rng.random(lanes) < 0.5, rng.choice(EXTREME, lanes), rng.integers(0, 1 << 32, lanes))
        found = np.where(rng.random(lanes) < share, other.astype(np.uint32), found)
    return found


def start(engine: MacroEngine, seed: int, *, full: bool | str = True, wild: bool = True) -> MacroEngine:
    """Put an engine into a random state; ``full`` enables all lanes, "mostly" all but some in one tile."""
    lanes = engine.shape.lanes
    state = random_state(lanes, seed, full=bool(full))
    rows = np.arange(0, 64, 4)
    for row in (*rows, 380):
        values = floats(lanes, seed * 100 + int(row), wild=wild)
        state["rows"][row : row + 4] = values.view(np.uint8).reshape(lanes, 4).T
    if full == "mostly":
        state["E"][lanes // 2 : lanes // 2 + 5] = False
    engine.restore(state)
    engine.set_coordinates(*np.random.default_rng(seed).integers(0, 1 << 15, (2, lanes)))
    return engine
