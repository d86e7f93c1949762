"""The trial of a solution: one run on one set of data, in a machine whose memory holds anything, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.course.task import Exercise, Mistake, Values
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.simd.errors import SimulatorError
from pixelflow.simd.report import counted, number

__all__ = ["Trial", "trial"]

_PATIENCE = 100
"""Times the budget after which a solution is stopped."""
_MOST_MISTAKES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One run of a solution, and every reason why it does not do."""

    start: NDArray[np.uint8]
    """Memory of all PEs before the run: uint8[bytes, lanes]."""
    reasons: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    """The first of the bytes that are wrong, by PE."""
    wrong_pes: int = 0
    notes: tuple[str, ...] = ()
    """What may explain the reasons."""
    run: Run | None = None
    """None where something stopped it."""


def trial(program: Program, exercise: Exercise, seed: int, engine: str) -> Trial:
    """Run a program on the data of a seed and compare every PE.

    Memory is random before the program's own data sections and the exercise's values come into it, and ranges for
    results are random after them, so that neither cleared memory nor a data section is an answer.
    """
    node = Node(engine=engine)
    rng = np.random.default_rng(seed)
    given = exercise.given(rng, node.lanes)
    node.write_memory(0, _random(rng, node.config.array.memory_bytes, node.lanes))
    node.load(program)
    for name, size in exercise.ranges.items():
        if name not in given:
            node[f"{name}:bytes"] = _random(rng, size, node.lanes)
    for name, values in given.items():
        node[f"{name}:word"] = values
    start, (x, y) = node.memory, node.coordinates()
    try:
        run = node.run(program, max_cycles=_PATIENCE * exercise.budget)
    except SimulatorError as error:
        said = "; ".join(line.strip() for line in str(error).splitlines())
        return Trial(start, (f"the run was stopped: {said}",))
    mistakes, wrong = _mistakes_of(node, exercise, given, x, y)
    reasons = []
    if wrong:
        first = mistakes[0]
        what = f"PE {first.lane} has {first.range}[{first.byte}] = {first.found:#04x}, expected {first.expected:#04x}"
        reasons.append(f"{counted(wrong, 'PE')} of {number(node.lanes)} wrong: {what}")
    disabled = node.lanes - int(node.flag("E").sum())
    if disabled:
        reasons.append(f"{counted(disabled, 'PE')} disabled at the end")
    over = run.total_cycles - exercise.budget
    if over > 0:
        reasons.append(f"{counted(over, 'cycle')} over the budget of {number(exercise.budget)}")
    return Trial(start, tuple(reasons), mistakes, wrong, _notes(run) if wrong else (), run)


def _random(rng: np.random.Generator, size: int, lanes: int) -> NDArray[np.uint8]:
    return rng.integers(0, 256, (size, lanes), np.uint8)


def _notes(run: Run) -> tuple[str, ...]:
    """Return a note for every semaphore that holds signals at the end: whoever should wait for them went on early."""
    flows = {} if run.ledger is None else run.ledger.signals
    return tuple(
        f"semaphore {semaphore} holds {counted(flow.left, 'signal')} at the end: is a WAIT {semaphore} missing?"
        for semaphore, flow in flows.items()
        if flow.left
    )


def _mistakes_of(
    node: Node, exercise: Exercise, given: Values, x: NDArray[np.int64], y: NDArray[np.int64]
) -> tuple[tuple[Mistake, ...], int]:
    """Return the first wrong bytes, in the order of the PEs, and how many PEs have one."""
    wrong: list[Mistake] = []
    for name, values in exercise.expected(given, x, y).items():
        for byte, found in enumerate(node[f"{name}:bytes"]):
            expected = values >> 8 * byte & 0xFF
            for lane in np.flatnonzero(expected != found).tolist():
                place = (lane, int(x[lane]), int(y[lane]))
                with_values = {each: int(drawn[lane]) for each, drawn in given.items()}
                wrong.append(Mistake(*place, name, byte, int(expected[lane]), int(found[lane]), with_values))
    wrong.sort(key=lambda each: each.lane)
    return tuple(wrong[:_MOST_MISTAKES]), len({each.lane for each in wrong})
