"""Many nodes in one process: what a node costs among others, and what a second thread gives.

The nodes' arrays are engines of their own that are given the fused mix one after the other; each spreads its lanes over
the threads, and the next one begins when all lanes of the last have been taken. The clock stops when all are done.
Rounds interleave one node and all of them, on one thread and on all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter

from pixelflow.cli.bench.engines import memory_line, prepared_chain, settle
from pixelflow.cli.bench.mix import MIX_NAME, instructions
from pixelflow.config import THESIS
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.simd.benchmark import Benchmark, Case, Note, ratios, rounds_text
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Action, Engine
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread

__all__ = ["nodes"]

_REPEATS = 10
"""Passes over the mix between two looks at the clock."""

_UNCOUNTED = 4
"""Rounds before those that count: it takes some tenths of a second until the system has new threads on processors of
their own."""


def nodes(count: int) -> Benchmark:
    """Return what measures one node and ``count``; it raises InputError where the compiled engine does not work."""

    def prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        choice = choose("compiled")
        if choice.note is not None:
            raise InputError(f"this measures the compiled engine: {choice.note.partition(';')[0]}")
        from pixelflow.simd.lanes.compiled import CompiledEngine  # needs llvmlite
        from pixelflow.simd.workers import usable_threads

        start = PeArray(THESIS, "rows").engine
        state = start.snapshot()
        note("fusing the mix: seconds where its native code is not on disk yet")
        arrays = [_ready(CompiledEngine(start.shape), state) for _ in range(count)]
        yield (
            "",
            [
                Case("", partial(_once, arrays, some, threads), {"nodes": some, "threads": threads})
                for threads in dict.fromkeys((1, usable_threads()))
                for some in (1, count)
            ],
        )

    return Benchmark(prepare, _parts, _UNCOUNTED)


def _ready(engine: Engine, state: dict) -> tuple[Engine, list[Action]]:
    engine.restore(state)
    program = prepared_chain(engine, [engine.prepare(each.apply) for each in instructions()]) * _REPEATS
    engine.run(program)
    settle(engine)
    return engine, program


def _once(arrays: list[tuple[Engine, list[Action]]], some: int, threads: int) -> tuple[float]:
    for engine, _ in arrays:
        engine.threads = threads
    begin = perf_counter()
    for engine, program in arrays[:some]:
        engine.run(program)
    for engine, _ in arrays[:some]:
        settle(engine)
    return ((perf_counter() - begin) / some / _REPEATS,)


def _median(digits: int) -> Callable[[Mapping[str, float]], str]:
    return lambda values: fixed(digits)(values["median"])


def _parts(cases: Sequence[Case]) -> list[Part]:
    """Return what a node costs among others, and what threads give."""
    by = {(case.about["nodes"], case.about["threads"]): case for case in cases}
    count = max(nodes for nodes, _ in by)
    columns = (
        Column("nodes", key="nodes", fixed=True),
        Column("threads", number, "threads"),
        Column("x one node", _median(3), "against_one_node"),
        Column("x one thread", _median(2), "speed_up_by_threads"),
        Column("ms per node [min..max]", spread(3, 1e3), "seconds_per_node"),
    )
    rows = [
        (some, threads, ratios(by[1, threads], case), ratios(case, by[some, 1]), case.spread())
        for (some, threads), case in by.items()
    ]
    slowdown = by[count, 1].median() * THESIS.clock_mhz * 1e6 / len(instructions())
    pes = count * THESIS.lanes
    return [
        Fact(
            f"{MIX_NAME} on {count} nodes, {number(pes)} PEs, {rounds_text(cases[0])}", key="nodes.mix", value=MIX_NAME
        ),
        Fact(None, key="nodes.rounds", value=len(cases[0].times)),
        Fact(None, key="nodes.nodes", value=count),
        Fact(None, key="nodes.pes", value=pes),
        Table(columns, rows, key="nodes.runs"),
        Fact(None, key="nodes.slowdown_against_machine", value=slowdown),
        memory_line("nodes"),
    ]
