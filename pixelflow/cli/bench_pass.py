"""What a whole bicubic pass costs with PE data and without, in both schedules: 512 patches at 4x4 samples.

The control points are random and never change from one release to the next without a new name.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pixelflow.cli.bench_streams import milliseconds, spread
from pixelflow.cli.screen import Column, Screen, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NAME", "PATCHES", "nets", "passes", "show_passes"]

NAME = "bicubic/1"
PATCHES = 512
_LIBRARIES = {"thesis": "thesis", "overlapped": "tuned-finite"}
"""The library of each schedule in the published comparison."""


def nets() -> NDArray:
    """Return the control points of the pass: float32[512, 4, 4, 3]."""
    import numpy as np

    return np.random.default_rng(1995).random((PATCHES, 4, 4, 3), np.float32)


def passes(rounds: int) -> list[dict[str, Any]]:
    """Return the wall times of a pass with and without data, interleaved, and the median of same-round ratios.

    The engine is the one that a command takes unless it is told another.
    """
    from pixelflow.config import THESIS
    from pixelflow.lanes import AUTO, choose
    from tessellation import Method, Patch
    from tessellation.libraries import library_named
    from tessellation.session import Session

    found = []
    for schedule, library in _LIBRARIES.items():
        session = Session(THESIS, choose(AUTO).engine, library_named(library), Method(schedule=schedule))
        marked = {session.add(Patch(net)): 4 for net in nets()}
        first, node = session.plan(marked)[0], session.node
        session.run(first)  # the database is there and the LEE is configured, as for every pass but the first
        program = session.program(session.plan(marked)[0])
        times: dict[bool, list[float]] = {True: [], False: []}
        runs = {function: node.run(program, function=function) for function in times}  # decoded before it is measured
        for _ in range(rounds):
            for function, seen in times.items():
                started = perf_counter()
                runs[function] = node.run(program, function=function)
                seen.append(perf_counter() - started)
        found.append(
            {
                "program": f"{NAME} {schedule}",
                "engine": node.engine,
                "cycles": {"with data": runs[True].total_cycles, "timing only": runs[False].total_cycles},
                "seconds": {"with data": spread(times[True]), "timing only": spread(times[False])},
                "timing_only_share": statistics.median(t / f for t, f in zip(times[False], times[True], strict=True)),
            }
        )
    return found


def show_passes(screen: Screen, found: list[dict[str, Any]]) -> None:
    """Print the wall times of the passes."""
    screen.text(f"{NAME}: {PATCHES} patches at 4x4 samples, engine {found[0]['engine']}")
    names = ("cycles", "with data, ms", "timing only, ms", "share")
    screen.table(
        [Column("pass", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                each["program"],
                number(each["cycles"]["with data"]),
                milliseconds(each["seconds"]["with data"]),
                milliseconds(each["seconds"]["timing only"]),
                f"{100 * each['timing_only_share']:.2f} %",
            )
            for each in found
        ],
    )
