"""Whole bicubic passes: 512 patches at 4x4 samples, in both schedules of the published comparison.

`PASSES` is what a pass costs in full, for its timing alone and for its data alone. The control points are random and
never change from one release to the next without a new name.

`TESSELLATION` is what it costs on each engine, against the time that the simulated machine takes for it. All engines
carry out the same program, one after the other in every round. The macro engine goes through every cycle; in a row of
its own it does again what it did before, and in another it does so by fused code, as it does of itself once a program
has come often enough; in the last one texture memory is written to before every run, so that all control points are
read anew. One thread works. What an engine does takes a quarter of a second or a thousandth, so a round gives each of
them the same time: after one run that is not counted, as many as fit, and the time of one is their mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from pixelflow.cli.bench.streams import MILLISECONDS
from pixelflow.config import THESIS
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.parts.kernels import choose
from pixelflow.node.parts.texture.addresses import Physical
from pixelflow.observe import RunBegan
from pixelflow.simd import lanes
from pixelflow.simd.benchmark import Benchmark, Case, Note, median_ratio, ratios, timed
from pixelflow.simd.errors import InternalError
from pixelflow.simd.report import Column, Fact, Json, Part, Table, fixed, number
from tessellation import Method, Patch
from tessellation.host.session import Session
from tessellation.microprogram.libraries import library_named

__all__ = ["NAME", "PASSES", "PATCHES", "TESSELLATION", "nets"]

NAME = "bicubic/1"
PATCHES = 512
_LIBRARIES = {"thesis": "plain", "shared-columns": "tuned-finite"}
"""The library of each schedule in the published comparison."""
_WAYS = {"with data": {}, "timing only": {"function": False}, "function only": {"timing": False}}
"""What `Node.run` is told."""
_ROUND = 0.05
"""Seconds of a round that an engine gets."""
_ANEW = "fused, reading anew"


def nets() -> NDArray[np.float32]:
    """Return the control points of the pass: float32[512, 4, 4, 3]."""
    return np.random.default_rng(1995).random((PATCHES, 4, 4, 3), np.float32)


def _session(schedule: str, engine: str, *, one_thread: bool = False) -> tuple[Node, Program]:
    """Return a node after a first pass, which has the database and the LEE ready for every other, and a pass."""
    session = Session(THESIS, engine, library_named(_LIBRARIES[schedule]), Method(schedule=schedule))
    if one_thread:
        session.node.array.engine.threads = 1
    marked = {session.add(Patch(net)): 4 for net in nets()}
    session.run(session.plan(marked)[0])
    return session.node, session.program(session.plan(marked)[0])


# --- in full, for its timing alone, for its data alone ----------------------------------------------------------------


def _prepare_passes(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield a pass of each schedule that the node has run before; a function-only run knows its steps then."""
    for schedule in _LIBRARIES:
        note(f"{schedule}: the pass before those that are measured")
        node, program = _session(schedule, lanes.choose(lanes.AUTO).engine)
        cases = []
        for way, told in _WAYS.items():
            run = node.run(program, **told)  # decoded before it is measured
            cycles = None if way == "function only" else run.total_cycles
            about = {"program": f"{NAME} {schedule}", "engine": node.engine, "cycles": cycles}
            cases.append(Case(way, timed(partial(node.run, program, **told)), about))
        yield schedule, cases


def _passes(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("pass", fixed=True), Column("run", fixed=True), Column("cycles", number),
        Column("ms [min..max]", MILLISECONDS), Column("share", "{:.2f} %".format),
    )  # fmt: skip
    rows: list[list[Json]] = []
    objects = []
    for at in range(0, len(cases), len(_WAYS)):
        full, *parts = group = cases[at : at + len(_WAYS)]
        shares = [median_ratio(part, full) for part in parts]
        for case, share in zip(group, ("", *(100 * share for share in shares)), strict=True):
            rows.append([case.about["program"], case.name, case.about["cycles"], case.spread(), share])
        objects.append(
            {
                "program": full.about["program"],
                "engine": full.about["engine"],
                "cycles": {case.name: case.about["cycles"] for case in group[:2]},
                "seconds": {case.name: case.spread() for case in group},
                "timing_only_share": shares[0],
                "function_only_share": shares[1],
            }
        )
    head = f"{NAME}: {PATCHES} patches at 4x4 samples, engine {cases[0].about['engine']}"
    return [Fact(head, key="pass", value=objects), Table(columns, rows)]


PASSES = Benchmark(_prepare_passes, _passes)
"""Wall times of a pass in full, without data and without time; medians of ratios."""

# --- on every engine -------------------------------------------------------------------------------------------------


def _prepare_tessellation(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the engines of each schedule, each after runs that prepare what later ones use."""
    engines: list[str] = []
    for wanted in ("rows", "compiled", "macro"):
        choice = choose(wanted)
        if choice.note is not None:
            note(f"note: {choice.note}")
        elif choice.engine == wanted:
            engines.append(wanted)
    repeated = [("macro", how) for how in ("again", "fused", _ANEW)] if "macro" in engines else []
    for schedule in _LIBRARIES:
        cases = [_engine(schedule, engine, how) for engine, how in [*((name, "") for name in engines), *repeated]]
        if len({case.about["cycles"] for case in cases}) > 1:
            raise InternalError("engines disagree about the cycles of a pass")
        yield schedule, cases


def _engine(schedule: str, engine: str, how: str) -> Case:
    node, program = _session(schedule, engine, one_thread=engine != "rows")
    if not how:
        node.bus.subscribe(lambda event: None, RunBegan)  # a watched run goes through every cycle
    for _ in range(3):
        run = node.run(program)
    if how in ("fused", _ANEW):
        node.fuse(program)
    about = {
        "schedule": schedule,
        "engine": engine,
        "how": how or None,
        "cycles": run.total_cycles,
        "simulated": run.seconds_at_clock * run.total_cycles / run.cycles,
    }
    name = " ".join(filter(None, (schedule, engine, how)))
    return Case(name, partial(_mean, node, program, anew=how == _ANEW), about)


def _mean(node: Node, program: Program, *, anew: bool) -> tuple[float, float]:
    """Return what one run takes, of the clock and of the processor: of as many as a round has room for."""

    def once() -> tuple[float, float]:
        if anew:
            _write_to(node)
        wall, cpu = perf_counter(), process_time()
        node.run(program)
        return perf_counter() - wall, process_time() - cpu

    once()
    runs = [once()]
    while sum(wall for wall, _ in runs) < _ROUND:
        runs.append(once())
    return sum(wall for wall, _ in runs) / len(runs), sum(cpu for _, cpu in runs) / len(runs)


def _write_to(node: Node) -> None:
    """Write a word of each texture memory, as it stands there."""
    for memory in node.texture_memory:
        memory.write(Physical(0, 0, 0, 0), memory.read(Physical(0, 0, 0, 0)))


def _tessellation(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("pass", fixed=True),
        *(Column(None, key=key) for key in ("schedule", "engine", "how", "cycles", "simulated_seconds")),
        Column("x simulated", fixed(1), "slowdown_against_machine"),
        Column("x rows", lambda times: f"{fixed(1)(times['median'])}", "against_rows"),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("cpu ms", lambda times: f"{fixed(1)(1e3 * times['median'])}", "processor_seconds"),
    )
    first: dict[Json, Case] = {}
    rows = []
    for case in cases:
        about = case.about
        base = first.setdefault(about["schedule"], case)
        rows.append(
            (case.name, *about.values(), case.median() / about["simulated"], ratios(case, base), case.spread(),
             case.spread(1))
        )  # fmt: skip
    simulated = ", ".join(f"{fixed(3)(1e3 * case.about['simulated'])} ms ({name})" for name, case in first.items())
    head = f"{PATCHES} bicubic patches at 4x4 samples, simulated time {simulated}; medians"
    return [head, Table(columns, rows, key="tessellation")]


TESSELLATION = Benchmark(_prepare_tessellation, _tessellation)
"""What every engine takes for a pass of each schedule; raises InternalError where their cycles differ."""
