"""Cost of a pass: in full, for its timing or its data alone, its transfers, its trace, and on every engine.

The small program has the shape of a bicubic pass: 16 transfers with marks from the LEE, and float routines between
them. It never changes from one release to the next without a new name, so that figures stay comparable.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Case, Note, median_ratio, ratios, timed
from microcode import assemble
from pixelflow.cli.trace_files import known_of
from pixelflow.config import THESIS
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.kernels import choose
from pixelflow.node.texture_addresses import Physical
from pixelflow.observe import RunBegan
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd import lanes
from pixelflow.simd.errors import InternalError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Column, Fact, Json, Part, Table, fixed, number, spread
from pixelflow.simd.trace import Trace, TraceClock
from pixelflow.simd.trace.formats import FORMATS, Format
from tessellation import Method, Patch
from tessellation.host.session import Session
from tessellation.microprogram.method import library_named

MILLISECONDS = spread(1, 1000)
"""How times in seconds are shown."""

PASS_NAME = "pass/1"

PASS = """\
include "float32/tuned.mc"
range a[4]
range b[4]
range c[4]
overlay out[32] at 352
EMC_TreeIntoMem_Li a, 4, 0, 0, float(1.25)
EMC_TreeIntoMem_Li b, 4, 0, 0, float(0.5)
loop 16
    EMC_TreeIntoMem_Li out, 4, 0, 0, 512
    EMC_TreeEQZero_Li 0, 1, 0, 64, 0
    EMC_MarkRead
    EMC_SetEnab
    SIGNAL 0
    loop 9
        CALL fmul, c, a, b
        CALL fadd, a, c, b
    end
    WAIT 1
    repeat i in 0 .. 31
        LD R, [320 + i]
        ST [200 + i], R
    end
end
stream tigc
loop 16
    WAIT 0
    TAS_MemRdRepeat4 4, 1
    SIGNAL 1
end
"""

TRANSFERS_NAME = "transfers/1"

_TRANSFERS = """\
EMC_TreeIntoMem_Li [352], 4, 0, 0, 512
EMC_MarkRead
EMC_MarkWrite
loop 4
    SIGNAL 0
    WAIT 1
end
stream tigc
loop 4
    WAIT 0
    {}
    SIGNAL 1
end
"""

_KINDS = ("TAS_MemRdBlock4 1", "TAS_MemRdRepeat4 16, 1", "TAS_MemWrBlock4 2", "TAS_LoopBack")


def _prepare_timing(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield a pass with and without data, on the default engine of a command."""
    program, node = assemble(PASS), Node(THESIS, AUTO)
    cases = []
    for name, function in (("with data", True), ("timing only", False)):
        cycles = node.run(program, function=function).total_cycles  # decoded before it is measured
        about = {"engine": node.engine, "cycles": cycles}
        cases.append(Case(name, timed(partial(node.run, program, function=function)), about))
    yield "", cases


def _timing(cases: Sequence[Case]) -> list[Part]:
    full, timing = cases
    engine, share = full.about["engine"], median_ratio(timing, full)
    columns = (Column("run", key="run", fixed=True), Column("ms [min..max]", MILLISECONDS, "seconds"))
    cycles = {case.name: case.about["cycles"] for case in cases}
    return [
        Fact(
            f"{PASS_NAME}: {number(cycles[full.name])} cycles, engine {engine}", key="timing.program", value=PASS_NAME
        ),
        Fact(None, key="timing.engine", value=engine),
        Fact(None, key="timing.cycles", value=cycles),
        Table(columns, [(case.name, case.spread()) for case in cases], key="timing.seconds", named="run"),
        Fact(
            f"timing only takes {fixed(2)(100 * share)} % of the run with data",
            key="timing.timing_only_share",
            value=share,
        ),
    ]


TIMING = Benchmark(_prepare_timing, _timing)
"""Wall times of a pass with and without data, and the median of same-round ratios."""


def _prepare_transfers(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    node = Node(THESIS, AUTO)
    for kind in _KINDS:
        program = assemble(_TRANSFERS.format(kind))
        run = node.run(program)
        assert run.ledger is not None
        about = {
            "program": TRANSFERS_NAME,
            "engine": node.engine,
            "transfer": kind,
            "cycles": run.tasic_cycles[0] // 4,
            "bytes": (run.ledger.inbound.counted + run.ledger.outbound.counted) // 4,
        }
        yield kind, [Case(kind, timed(partial(node.run, program), parts=4), about)]


def _transfers(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("transfer", key="transfer", fixed=True),
        Column(None, key="program"),
        Column(None, key="engine"),
        Column("bytes", number, "bytes"),
        Column("cycles", number, "cycles"),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("x slower than 100 MHz", lambda times: number(round(times)), "slowdown_against_machine"),
    )
    rows = [
        (*(case.about[key] for key in ("transfer", "program", "engine", "bytes", "cycles")), case.spread(),
         case.median() / THESIS.seconds(case.about["cycles"]))
        for case in cases
    ]  # fmt: skip
    head = f"{TRANSFERS_NAME}: one transfer for all PEs, engine {cases[0].about['engine']}"
    return [head, Table(columns, rows, key="transfers")]


TRANSFERS = Benchmark(_prepare_transfers, _transfers)
"""The wall time of a transfer of each kind, to or from all PEs, against what it takes on the machine."""


# Whole bicubic passes: 512 patches at 4x4 samples, in both schedules of the published comparison.
#
# `PASSES` is what a pass costs in full, for its timing alone and for its data alone. The control points are random and
# never change from one release to the next without a new name.
#
# `TESSELLATION` is what it costs on each engine, against the time that the simulated machine takes for it. All engines
# execute the same program, one after the other in every round. The macro engine goes through every cycle; in a row of
# its own it does again what it did before, and in another it does so by fused code, as it does of itself once a program
# has come often enough; in the last one texture memory is written to before every run, so that all control points are
# read anew. One thread works. What an engine does takes a quarter of a second or a thousandth, so a round gives each of
# them the same time: after one run that is not counted, as many as fit, and the time of one is their mean.


NAME = "bicubic/1"
PATCHES = 512
_LIBRARIES = {"thesis": "plain", "shared-columns": "tuned-finite"}
"""The library of each schedule in the published comparison."""
_WAYS: dict[str, Any] = {"with data": {}, "timing only": {"function": False}, "function only": {"timing": False}}
"""Arguments of `Node.run`."""
_ROUND = 0.05
"""Seconds of a round that an engine gets."""
_ANEW = "fused, reading anew"


def nets() -> NDArray[np.float32]:
    """Return the control points of the pass: float32[512, 4, 4, 3]."""
    return np.random.default_rng(1995).random((PATCHES, 4, 4, 3), np.float32)


def _session(schedule: str, engine: str, *, one_thread: bool = False) -> tuple[Node, Program]:
    """Return a node after a first pass, which has the database and the LEE ready for every other, and a pass."""
    session = Session(THESIS, engine, library_named(_LIBRARIES[schedule]), Method(schedule=schedule))
    array: Any = session.node.array.engine
    if one_thread:
        array.threads = 1
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
            run: Any = node.run(program, **told)  # decoded before it is measured
            cycles = None if way == "function only" else run.total_cycles
            about = {"program": f"{NAME} {schedule}", "engine": node.engine, "cycles": cycles}
            cases.append(Case(way, timed(partial(node.run, program, **told)), about))
        yield schedule, cases


def _passes(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("pass", fixed=True), Column("run", fixed=True), Column("cycles", number),
        Column("ms [min..max]", MILLISECONDS), Column("share", "{:.2f} %".format),
    )  # fmt: skip
    rows: list[list[Any]] = []
    objects: list[Json] = []
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
    """Write a word of each texture memory back unchanged."""
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
"""Time of a pass of each schedule on every engine; raises InternalError where their cycles differ."""


# What a trace costs: building it during timing-only runs, writing it in each format, and its size.


_SPANS = 200_000


def _prepare_traces(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the formats, with a trace of at least 200,000 spans to write."""
    program = assemble(PASS)
    node = Node(THESIS, "rows")
    trace = Trace(TraceClock(THESIS.clock_mhz))
    NodeTracer(trace).attach(node.bus, known_of(THESIS))
    note(f"building a trace of {number(_SPANS)} spans")
    started = perf_counter()
    while trace.events < _SPANS:
        node.run(program, function=False)
    built = perf_counter() - started
    cases = []
    for name, format in FORMATS.items():
        written: dict[str, int] = {}
        about: dict[str, Any] = {"spans": trace.events, "built": built, "written": written}
        cases.append(Case(name, partial(_write, trace, format, written), about))
    yield "", cases


def _write(trace: Trace, format: Format, written: dict[str, int]) -> tuple[float]:
    stream = io.BytesIO()
    started = perf_counter()
    format.write(trace, stream)
    taken = perf_counter() - started
    if not written:
        data = stream.getvalue()
        written |= {"bytes": len(data), "compressed": len(gzip.compress(data, 6))}
    return (taken,)


def _traces(cases: Sequence[Case]) -> list[Part]:
    spans, built = cases[0].about["spans"], cases[0].about["built"]
    columns = (
        Column("format", key="format", fixed=True),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("spans/s", number),
        Column("MB", fixed(1, 1e-6), "bytes"),
        Column("MB .gz", fixed(1, 1e-6), "bytes_compressed"),
    )
    rows = [(case.name, case.spread(), round(spans / case.median()), *case.about["written"].values()) for case in cases]
    head = f"{PASS_NAME}: {number(spans)} spans, run and built in {fixed(1)(built)} s"
    return [
        Fact(head, key="trace.program", value=PASS_NAME),
        Fact(None, key="trace.spans", value=spans),
        Fact(None, key="trace.seconds_to_run_and_build", value=built),
        Table(columns, rows, key="trace.formats", named="format"),
    ]


TRACES = Benchmark(_prepare_traces, _traces)
"""Wall times to build and to write a trace, and its sizes in bytes."""
