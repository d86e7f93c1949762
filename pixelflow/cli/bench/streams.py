"""What a run with and without PE data costs, and what a transfer costs: measured on a program of both streams.

The program has the shape of a bicubic pass: 16 transfers with marks from the LEE, and float routines between them. It
never changes from one release to the next without a new name, so that figures stay comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from microcode import assemble
from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.simd.benchmark import Benchmark, Case, Note, median_ratio, timed
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread

__all__ = ["MILLISECONDS", "PASS", "PASS_NAME", "TIMING", "TRANSFERS"]

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
    """Yield a pass with and without data, on the engine that a command takes unless it is told another."""
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
