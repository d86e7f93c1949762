"""Many nodes in one process: what a node costs among others, and what a second thread gives.

The nodes' arrays are engines of their own that are given the fused mix one after the other; each spreads its lanes over
the threads, and the next one begins when all lanes of the last have been taken. The clock stops when all are done.
Rounds interleave one node and all of them, on one thread and on all.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

from pixelflow.cli.bench_engines import instructions, peak_megabytes, spread
from pixelflow.cli.bench_mix import MIX_NAME
from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.config import THESIS
from pixelflow.node.array.pe_array import PeArray
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Action, Engine

__all__ = ["nodes", "show_nodes"]

_REPEATS = 10
"""Passes over the mix between two looks at the clock."""

_UNCOUNTED = 4
"""Rounds before those that count: it takes some tenths of a second until the system has new threads on processors of
their own."""


def nodes(rounds: int, count: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the times of one node and of ``count``; raises InputError where the compiled engine does not work."""
    choice = choose("compiled")
    if choice.note is not None:
        raise InputError(f"this measures the compiled engine: {choice.note.partition(';')[0]}")
    from pixelflow.simd.lanes.compiled import CompiledEngine
    from pixelflow.simd.lanes.compiled.threads.team import usable_threads

    start = PeArray(THESIS, "rows").engine
    state = start.snapshot()
    note("fusing the mix: seconds where its native code is not on disk yet")
    arrays = [_ready(CompiledEngine(start.shape), state) for _ in range(count)]
    several = dict.fromkeys((1, usable_threads()))
    times: dict[tuple[int, int], list[float]] = {(some, threads): [] for threads in several for some in (1, count)}
    for done in range(-_UNCOUNTED, rounds):
        for (some, threads), seconds in times.items():
            for engine, _ in arrays:
                engine.threads = threads
            begin = perf_counter()
            for engine, program in arrays[:some]:
                engine.run(program)
            for engine, _ in arrays[:some]:
                engine.settle()
            if done >= 0:
                seconds.append((perf_counter() - begin) / some / _REPEATS)
        note(f"round {done + 1} of {rounds}" if done >= 0 else "rounds that do not count")
    return {
        "mix": MIX_NAME,
        "rounds": rounds,
        "nodes": count,
        "pes": count * THESIS.lanes,
        "runs": [
            {
                "nodes": key[0],
                "threads": key[1],
                "seconds_per_node": spread(seconds),
                "against_one_node": spread([s / one for s, one in zip(seconds, times[1, key[1]], strict=True)]),
                "speed_up_by_threads": spread([one / s for s, one in zip(seconds, times[key[0], 1], strict=True)]),
            }
            for key, seconds in times.items()
        ],
        "slowdown_against_machine": statistics.median(times[count, 1]) * THESIS.clock_mhz * 1e6 / len(instructions()),
        "peak_memory_megabytes": peak_megabytes(),
    }


def _ready(engine: Engine, state: dict) -> tuple[Engine, list[Action]]:
    engine.restore(state)
    actions = [engine.prepare(each.apply) for each in instructions()]
    chain = engine.chain(actions[:-1])
    engine.fuse(chain)
    program = [chain, actions[-1]] * _REPEATS
    engine.run(program)
    engine.settle()
    return engine, program


def show_nodes(screen: Screen, found: dict[str, Any]) -> None:
    """Print what a node costs among others, and what threads give."""
    screen.text(
        f"{found['mix']} on {found['nodes']} nodes, {found['pes']:,} PEs, "
        f"{counted(found['rounds'], 'interleaved round')}, medians"
    )
    names = ("threads", "x one node", "x one thread", "ms per node [min..max]")
    screen.table(
        [Column("nodes", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                number(each["nodes"]),
                number(each["threads"]),
                f"{each['against_one_node']['median']:.3f}",
                f"{each['speed_up_by_threads']['median']:.2f}",
                "{:.3f} [{:.3f}..{:.3f}]".format(
                    *(1e3 * each["seconds_per_node"][k] for k in ("median", "min", "max"))
                ),
            )
            for each in found["runs"]
        ],
    )
    if found["peak_memory_megabytes"] is not None:
        screen.text(f"peak memory of this process: {found['peak_memory_megabytes']} MB")
