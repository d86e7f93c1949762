"""Bench of the claims: small programs that are executed or scheduled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.legality import broken_rules
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import Account, CarriedStep, EuConfig, Stretches, schedule
from gen6_bridge.unit import ExecutionUnit, SharedFunctions
from pixelflow.evidence import Bench, Measured, Number

Printed = Mapping[str, Number]
"""Printed figures of a claim; nothing executed depends on them."""
Measure = Callable[[Bench, Printed], Measured]
NO_CACHES = EuConfig(caches=False)


def by_name(*measures: Measure) -> dict[str, Measure]:
    """Return measures by the names of their claims."""
    return {each.__name__.replace("_", "-"): each for each in measures}


def constant(text: str, **figures: Number) -> Measure:
    """Return the measure of constants, which are read back from the model."""
    return lambda bench, printed: Measured(text, figures)


def executed(
    source: str,
    registers: Mapping[int, NDArray[np.generic]] | None = None,
    *,
    dispatch: int = 0xFFFF,
    functions: SharedFunctions | None = None,
) -> ExecutionUnit:
    """Return a unit after one thread has executed a source."""
    unit = ExecutionUnit(assemble_eu(source).code, dispatch=dispatch, functions=functions)
    for register, values in (registers or {}).items():
        unit.set_register(register, values)
    unit.run(limit=100_000)
    return unit


def timed(
    source: str, threads: int = 1, count: int = 0, config: EuConfig = NO_CACHES, priorities: Sequence[int] | None = None
) -> Account:
    """Return the account of threads that execute ``count`` instructions of a source, by default all, in order."""
    code = assemble_eu(source).code
    steps = [CarriedStep(at % len(code)) for at in range(count or len(code))]
    return schedule(code, [steps] * threads, config, priorities=priorities)


def issue_order(
    source: str, threads: int, count: int, priorities: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Return thread and cycle of each issue."""
    order: list[tuple[int, int]] = []
    code = assemble_eu(source).code
    steps = [CarriedStep(at % len(code)) for at in range(count)]

    def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
        order.append((thread, cycle))

    schedule(code, [steps] * threads, NO_CACHES, priorities=priorities, watcher=issued)
    return order


def held(source: str) -> int:
    """Return the cycles for which a source holds the vector pipe."""
    return timed(source).held["fpu"]


def rules_of(source: str) -> tuple[str, ...]:
    """Return the rules of legality that the one instruction of a source breaks."""
    return broken_rules(assemble_eu(source).code[0])
