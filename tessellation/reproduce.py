"""The thesis's figures beside those of this machine: published | formula | measured | note.

*Published* is what a table prints. *Formula* is the closed form of `cost_model.py` at the thesis's routine cycles.
*Measured* was executed when the function was called, with the library ``thesis``: cycles of a pass whose stages and
waits are all counted. Runs for nets without patches are timing-only; they take the same cycles as full runs, because
addresses, marks and data change none. A cell has a note where, and only where, its formula or what was executed
differs from what is published, however little it may be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from microcode import Builder
from pixelflow.config import THESIS, TINY
from pixelflow.node import Node, Run
from tessellation.cost_model import (
    THESIS_CYCLES,
    Operations,
    address_cycles,
    bernstein_cycles,
    computation_cycles,
    cross_operations,
    memory_bytes,
    pixcopy_cycles,
    tasic_cycles,
    total_operations,
    write_back_cycles,
)
from tessellation.libraries import library_named
from tessellation.memory_map import BATCH_BYTES, memory_map
from tessellation.passes import Method
from tessellation.patch import Patch
from tessellation.rows import Row, format_rows
from tessellation.schedule import batch_count
from tessellation.session import Session
from tessellation.stages import Stage
from tessellation.texture_source import TextureControlPoints, copy_distances
from tessellation.thesis import FIGURES, table
from tessellation.touched import touched_bytes
from tessellation.transfers import table_2, transfers, write_back

__all__ = ["REPRODUCTIONS", "Row", "bicubic_run", "format_rows", "pass_run", "reproduce"]

_ARITHMETIC = (Stage.POINTS, Stage.DERIVATIVES, Stage.NORMALS)
_SIZES = {"4x4": 4, "8x8": 8, "16x16": 16}
_NETS = range(4, 13)


@cache
def pass_run(n: int, sizes: tuple[int, ...] = (4,), schedule: str = "thesis", library: str = "thesis") -> Run:
    """Run a pass of n x n nets that fills the array with patches of those sizes, time alone; return its account."""
    session = Session(THESIS, "rows", library_named(library), Method(schedule=schedule))
    blocks = [(size // 4) ** 2 for size in sizes]
    counts = [16 * 32 // len(sizes) // block for block in blocks]
    samples = [size for size, count in zip(sizes, counts, strict=True) for _ in range(count)]
    net = Patch(np.zeros((n, n, 3), np.float32))
    marked = {session.add(net, k): k for k in samples}
    plan = session.plan(marked)[0]
    return session.node.run(session.program(plan), function=False)


def bicubic_run() -> Run:
    """Return the account of the pass of 512 bicubic patches that section 5 is about."""
    return pass_run(4)


def counted(run: Run) -> int:
    """Return the cycles of a pass without the configuration of the LEE, which is done once."""
    return run.cycles - run.by_stage.get(Stage.LEE.value, 0)


def _arithmetic(run: Run) -> int:
    return sum(run.by_stage.get(stage.value, 0) for stage in _ARITHMETIC)


def _table_3() -> list[Row]:
    rows = []
    for size, _, patches, total in table(3).rows:
        measured = pass_run(4, (_SIZES[size],)).by_stage[Stage.ADDRESSES.value]
        rows.append(Row("table 3", f"{patches} patches of {size} samples", total, address_cycles(patches), measured))
    return rows


def _table_4() -> list[Row]:
    rows = []
    for net, *cells in table(4).rows:
        n = int(net.split("x")[0])
        for name, sizes, published in zip(table(4).columns[1:], ((4,), (8,), (16,), (4, 8, 16)), cells, strict=True):
            measured = pass_run(n, sizes).by_stage[Stage.BERNSTEIN.value]
            rows.append(Row("table 4", f"{net} net, {name}", published, bernstein_cycles(n, n, sizes), measured))
    return rows


def _per_batch(run: Run) -> list[int]:
    """Return the arithmetic cycles between the arrival of a batch and of the next, without the last batch's."""
    batches: list[int] = []
    for (name, start), (_, end) in pairwise([*run.stages, ("", run.cycles)]):
        if name == Stage.COPY.value:
            batches.append(0)
        elif name in (Stage.POINTS.value, Stage.DERIVATIVES.value) and batches:
            batches[-1] += end - start
    return batches[:-1]


def _table_5() -> list[Row]:
    nets = {"n = 3": (3,), "n = 4": (4,), "4 < n < 8": (5, 6, 7), "n = 8": (8,), "8 < n": (9, 10, 11, 12)}
    rows = []
    for name, multiplies, adds, published in table(5).rows:
        measured = min(min(_per_batch(pass_run(n))) for n in nets[name])
        formula = THESIS_CYCLES.of(Operations(multiplies, adds))
        note = f"{multiplies} multiplications of {_routine_cycles(3, 'fmul')} cycles, where table 1 has 253"
        if name == "n = 4":
            note = "first differences in u have columns of three, for which the row above holds"
        if name == "n = 8":
            note = (
                "erratum: 5144 is 8 multiplications and 8 additions, 9 and 7 give 5007; differences have columns of 7"
            )
        rows.append(Row("table 5", f"least for one transfer, {name}", published, formula, measured, note=note))
    return rows


@cache
def _one_transfer(sends: int) -> Run:
    builder = Builder("transfer")
    source = TextureControlPoints(memory_map(4, 4), 1, sends)
    source.emit_start(builder)
    source.emit_batch(builder, 0)
    builder.mark("end")
    return Node(THESIS).run(builder.build(), function=False)


def _table_6() -> list[Row]:
    rows = []
    for sends, emc, tasic in table(6).rows:
        run = _one_transfer(sends)
        formula = sum(pixcopy_cycles(distance, 32) for distance in copy_distances(sends))
        spread = run.by_stage.get(Stage.DISTRIBUTION.value, 0)
        rows.append(Row("table 6", f"{sends} sends, EMC", emc, formula, spread))
        rows.append(Row("table 6", f"{sends} sends, TASIC", tasic, tasic_cycles(sends), run.tasic_cycles[0]))
    return rows


def routine_excess(run: Run) -> dict[str, int]:
    """Return for each float routine the cycles that a run spent in it beyond table 1; a subtraction is an addition."""
    of_thesis = THESIS_CYCLES
    each = {"fmul": of_thesis.multiply, "fadd": of_thesis.add, "fsub": of_thesis.add}
    each |= {"fsqrt": of_thesis.root, "fdiv": of_thesis.divide}
    uses = run.by_routine
    return {name: uses[name].own_cycles - uses[name].calls * cycles for name, cycles in each.items()}


def _table_7() -> list[Row]:
    rows = []
    for n in _NETS:
        run = pass_run(n)
        excess = ", ".join(f"{name} {cycles:+,}" for name, cycles in routine_excess(run).items() if cycles)
        note = f"routines of the library thesis against table 1: {excess}"
        published = table(7).row(f"{n}x{n}")["cycles"]
        rows.append(Row("table 7", f"{n}x{n} net", published, computation_cycles(n, n), _arithmetic(run)).noted(note))
    return rows


def _table_8() -> list[Row]:
    rows = []
    for n in _NETS:
        touched = len(touched_bytes(pass_run(n)))
        note = "measured: bytes that the pass touches, which leaves base address and spare bytes free"
        if not memory_map(n, n).fits:
            note = f"erratum: 338 of 320 bytes; executed in the order of section 4.2. {note}"
        published = table(8).row(f"{n}x{n}")["bytes"]
        rows.append(Row("table 8", f"{n}x{n} net", published, memory_bytes(n), touched, "bytes").noted(note))
    return rows


_TABLE_9 = (
    "x_point", "y_point", "z_point", "bernstein_u", "bernstein_u_difference", "bernstein_v", "bernstein_v_difference",
    "control_points", "administrative", "temporaries", "scratch",
)  # fmt: skip


def _table_9() -> list[Row]:
    layout = memory_map(4, 4)
    touched = sorted(touched_bytes(pass_run(4)))
    starts = [layout[name].start for name in _TABLE_9] + [layout.used]
    rows = []
    for index, (address, usage) in enumerate(table(9).rows):
        start = starts[index]
        measured = next((byte for byte in touched if byte >= start), touched[-1] + 1)
        note = f"the routines use {measured - starts[index - 1]} of 14 bytes of scratch"
        rows.append(Row("table 9", usage, address, start, measured, "address").noted(note))
    return rows


def _table_11() -> list[Row]:
    run = bicubic_run()
    stage = run.by_stage
    published = {name: 1000 * thousands for name, _, thousands in table(11).rows}
    mixed = pass_run(4, (4, 8, 16)).by_stage[Stage.BERNSTEIN.value]
    batch = (stage[Stage.POINTS.value] + stage[Stage.DERIVATIVES.value]) / batch_count(4, 4)
    of_thesis, normal = computation_cycles(4, 4), THESIS_CYCLES.of(cross_operations())
    cut = "the thesis prints whole thousands, cut or rounded"
    steps = (
        ("load base addresses", address_cycles(512), stage[Stage.ADDRESSES.value], cut),
        ("load Bernstein coefficients", bernstein_cycles(4, 4, (4, 8, 16)), mixed, f"{cut}; all three sizes"),
        ("control patch batches", (of_thesis - normal) / batch_count(4, 4), batch, f"{cut}; the average of 15"),
        ("cross product for normals", normal, stage[Stage.NORMALS.value], cut),
        ("write normals", write_back_cycles(12), write_back(12), "4.1.4 gives 49,152"),
    )
    return [
        Row("table 11", name, published[name], formula, measured, note=note) for name, formula, measured, note in steps
    ]


def _table_12() -> list[Row]:
    rows = []
    spread = sum(pixcopy_cycles(distance, BATCH_BYTES) for distance in copy_distances(4))
    for n in _NETS:
        stall = max(tasic_cycles(4), bernstein_cycles(n, n, (4,)))
        formula = address_cycles(512) + stall + spread * batch_count(n, n) + computation_cycles(n, n)
        note = (
            "with distribution, copies out of the port and the first stall, which the thesis leaves out; not derivable"
        )
        published = table(12).row(f"{n}x{n}")["cycles"]
        rows.append(Row("table 12", f"{n}x{n} net", published, formula, counted(pass_run(n)), note=note))
    run = bicubic_run()
    for stage, cycles in run.by_stage.items():
        rows.append(Row("table 12", f"4x4 net: {stage}", None, None, cycles))
    return rows


@cache
def _routine_cycles(size: int, name: str, operands: str = "dab") -> int:
    routine = name if size == 3 else f"{name}{size}"
    builder = Builder("routine")
    builder.include("float32/thesis.mc", BYTES=size, SCRATCH=100)
    builder.call(routine, *(builder.range(operand, size + 1) for operand in operands))
    return Node(TINY).run(builder.build(), function=False).cycles


def _table_13() -> list[Row]:
    rows = []
    for size, multiply, add in table(13).rows:
        note = "extrapolated in the thesis, and not reproducible: products of n bytes grow as n squared"
        if size == 3:
            note = "called an actual implementation, but table 1 has 253 and 390"
        for what, published, name in (("multiply", multiply, "fmul"), ("add", add, "fadd")):
            measured = _routine_cycles(size, name)
            formula = 25 * (1 + 3 * size) if name == "fmul" else 280 + 40 * size
            rows.append(Row("table 13", f"{size} mantissa bytes, {what}", published, formula, measured).noted(note))
    return rows


def _section_5() -> list[Row]:
    run = bicubic_run()
    cycles = counted(run)
    seconds = cycles / (THESIS.clock_mhz * 1e6)
    uses = run.by_routine
    operations = sum(uses[name].calls for name in ("fmul", "fadd", "fsub", "fsqrt", "fdiv"))
    formula = total_operations(4, 4).total
    flops = operations * THESIS.lanes / seconds
    peak = operations * THESIS.lanes / (_arithmetic(run) / (THESIS.clock_mhz * 1e6))
    seconds_of_thesis = table(12).row("4x4")["milliseconds"] / 1000
    share = 100 * computation_cycles(4, 4) / table(12).row("4x4")["cycles"]
    printed = "printed with two digits"
    note = "everything counted: 97,000 leaves out distribution, copies and the first stall"
    large = "erratum: 330K is ten times too many; 32 patches a pass"
    return [
        Row("section 5", "bicubic pass", FIGURES["bicubic pass"], None, cycles, note=note),
        Row(
            "section 5", "operations of a sample", FIGURES["operations of a sample"], formula, operations, "operations"
        ),
        Row(
            "section 5",
            "operations of a pass",
            FIGURES["operations of a pass"],
            formula * 8192,
            operations * THESIS.lanes,
            "operations",
            printed,
        ),
        Row(
            "section 5",
            "floating point rate",
            FIGURES["floating point rate"],
            formula * 8192 / seconds_of_thesis,
            flops,
            "operations/s",
            note,
        ),
        Row(
            "section 5",
            "4x4 patches",
            FIGURES["4x4 patches"],
            512 / seconds_of_thesis,
            512 / seconds,
            "patches/s",
            note,
        ),
        Row(
            "section 5",
            "16x16 patches",
            FIGURES["16x16 patches"],
            32 / seconds_of_thesis,
            _rate(32, pass_run(4, (16,))),
            "patches/s",
            large,
        ),
        Row("section 5", "share of peak", FIGURES["share of peak"], share, 100 * flops / peak, "percent", note),
    ]


def _rate(patches: int, run: Run) -> float:
    return patches * THESIS.clock_mhz * 1e6 / counted(run)


def _table_1() -> list[Row]:
    routines = {"int_to_float": ("i2f", "da"), "add": ("fadd", "dab"), "multiply": ("fmul", "dab")}
    routines |= {"divide": ("fdiv", "dab"), "sqrt": ("fsqrt", "da")}
    note = "this library's own routine: no microcode of the machine was published"
    return [
        Row("table 1", name, cycles, None, _routine_cycles(3, *routines[name])).noted(note)
        for name, cycles, *_ in table(1).rows
    ]


REPRODUCTIONS: dict[str, Callable[[], list[Row]]] = {
    "table 1": _table_1,
    "table 2": table_2,
    "table 3": _table_3,
    "table 4": _table_4,
    "table 5": _table_5,
    "table 6": _table_6,
    "table 7": _table_7,
    "table 8": _table_8,
    "table 9": _table_9,
    "table 11": _table_11,
    "table 12": _table_12,
    "table 13": _table_13,
    "section 5": _section_5,
    "transfers": transfers,
}
"""What can be reproduced, by name; each function executes what it needs."""


def reproduce(names: Sequence[str] | None = None) -> list[Row]:
    """Execute and return the rows of all reproductions, or of some by name; raises KeyError for an unknown one."""
    return [row for name in (REPRODUCTIONS if names is None else names) for row in REPRODUCTIONS[name]()]
