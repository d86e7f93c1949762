"""What a whole bicubic pass costs in full, for its timing alone and for its data alone: 512 patches at 4x4 samples.

The control points are random and never change from one release to the next without a new name.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pixelflow.cli.bench_streams import milliseconds, spread, told_rounds
from pixelflow.cli.screen import Column, Screen, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NAME", "PATCHES", "nets", "passes", "show_passes"]

NAME = "bicubic/1"
PATCHES = 512
_LIBRARIES = {"thesis": "thesis", "overlapped": "tuned-finite"}
"""The library of each schedule in the published comparison."""
_WAYS = {"with data": {}, "timing only": {"function": False}, "function only": {"timing": False}}
"""What `Node.run` is told."""


def nets() -> NDArray:
    """Return the control points of the pass: float32[512, 4, 4, 3]."""
    import numpy as np

    return np.random.default_rng(1995).random((PATCHES, 4, 4, 3), np.float32)


def passes(rounds: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return the wall times of a pass in full, without data and without time, interleaved; medians of ratios.

    Each is a pass that the node has run before; a function-only run knows its steps then. The engine is the one that a
    command takes unless it is told another.
    """
    from pixelflow.config import THESIS
    from pixelflow.simd.lanes import AUTO, choose
    from tessellation import Method, Patch
    from tessellation.libraries import library_named
    from tessellation.session import Session

    found = []
    for schedule, library in _LIBRARIES.items():
        note(f"{schedule}: the pass before those that are measured")
        session = Session(THESIS, choose(AUTO).engine, library_named(library), Method(schedule=schedule))
        marked = {session.add(Patch(net)): 4 for net in nets()}
        first, node = session.plan(marked)[0], session.node
        session.run(first)  # the database is there and the LEE is configured, as for every pass but the first
        program = session.program(session.plan(marked)[0])
        times: dict[str, list[float]] = {way: [] for way in _WAYS}
        runs = {way: node.run(program, **told) for way, told in _WAYS.items()}  # decoded before it is measured
        for _ in told_rounds(rounds, note, schedule):
            for way, told in _WAYS.items():
                started = perf_counter()
                runs[way] = node.run(program, **told)
                times[way].append(perf_counter() - started)
        full, *parts = times.values()
        shares = [statistics.median(t / f for t, f in zip(part, full, strict=True)) for part in parts]
        found.append(
            {
                "program": f"{NAME} {schedule}",
                "engine": node.engine,
                "cycles": {way: runs[way].total_cycles for way in ("with data", "timing only")},
                "seconds": {way: spread(seen) for way, seen in times.items()},
                "timing_only_share": shares[0],
                "function_only_share": shares[1],
            }
        )
    return found


def show_passes(screen: Screen, found: list[dict[str, Any]]) -> None:
    """Print the wall times of the passes."""
    screen.text(f"{NAME}: {PATCHES} patches at 4x4 samples, engine {found[0]['engine']}")
    columns = [Column("pass", fixed=True), Column("run", fixed=True)]
    columns += [Column(name, numbers=True) for name in ("cycles", "ms [min..max]", "share")]
    rows = []
    for each in found:
        shares = {"timing only": each["timing_only_share"], "function only": each["function_only_share"]}
        for way, seconds in each["seconds"].items():
            share = f"{100 * shares[way]:.2f} %" if way in shares else ""
            rows.append((each["program"], way, number(each["cycles"].get(way)), milliseconds(seconds), share))
    screen.table(columns, rows)
