"""Whole passes: tables 11 and 12, figure 13, section 5 and what sections 1 and 4.1.3 say of them."""

from __future__ import annotations

import numpy as np

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Row
from pixelflow.node import Run
from pixelflow.simd.units import Standing
from tessellation.host.timeline import timeline
from tessellation.plan.schedule import batch_count
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import (
    THESIS_CYCLES,
    address_cycles,
    bernstein_cycles,
    computation_cycles,
    cross_operations,
    distribution_cycles,
    pass_cycles,
    surfaces,
    tasic_cycles,
    total_operations,
    transfer_operations,
    triangles,
    write_back_cycles,
)
from tessellation.published.thesis import FIGURES, GP_RATE, table
from tessellation.reproduction.arithmetic import LIBRARY, routine_excess
from tessellation.reproduction.batches import batches
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, counted, seconds, spent
from tessellation.reproduction.loads import side
from tessellation.reproduction.rows import figure_row, row
from tessellation.reproduction.transfers import write_back
from tessellation.surface.triangles import grid

__all__ = ["SCHEDULES", "figure_13", "other_claims", "pass_excess", "section_1", "section_5", "table_11", "table_12"]

PASS = Basis(Standing.INVENTED, "everything that a pass executes; its arithmetic is the library `plain`")
_ORDER = Basis(Standing.THESIS, "the order of work of section 4.1.3")
_ALL_SIZES = (4, 8, 16)

SCHEDULES = {"thesis": "plain", "shared-columns": "tuned-finite"}
"""The schedules whose stages are shown, each with its library."""


def pass_excess(run: Run) -> dict[str, int]:
    """Return by name the cycles that a pass of the thesis's schedule spent beyond `pass_cycles`, with the LEE set up.

    Each part is taken from what executed; base addresses, distribution and later waits have none.
    """
    return {
        "copies out of the port": spent(run, Stage.COPY),
        "marks": spent(run, Stage.MARKS),
        "first transfer": spent(run, Stage.BERNSTEIN, Stage.FIRST_STALL) - tasic_cycles(4),
        "float routines": sum(routine_excess(run).values()),
    }


def _parts(run: Run, n: int) -> int:
    """Return what a pass must have taken: its formula and the parts that go beyond it."""
    return pass_cycles(n, batch_count(n, n)) + sum(pass_excess(run).values())


def _thousands(item: str, published: int, formula: int, measured: int, *notes: str) -> Row:
    return row(item, published * 1000, formula, measured, PASS, *notes, step=1000)


def table_11(bench: ThesisBench) -> list[Row]:
    """The steps of a bicubic pass, those with all three sample sizes where the table has them."""
    run = bench.tessellation(4)
    thousands = {name: number for name, _, number in table(11).rows}
    addresses, loaded = address_cycles(512), bernstein_cycles(4, 4, _ALL_SIZES)
    mixed = spent(bench.tessellation(4, _ALL_SIZES), Stage.BERNSTEIN)
    normal = THESIS_CYCLES.of(cross_operations())
    found = [batch.cycles for batch in batches(run)]
    formulas = [THESIS_CYCLES.of(operations) for operations in transfer_operations(surfaces(4, 4))]
    steps = [
        _thousands("load base addresses", thousands["load base addresses"], addresses, spent(run, Stage.ADDRESSES)),
        _thousands("load Bernstein values", thousands["load Bernstein coefficients"], loaded, mixed),
    ]
    each = thousands["control patch batches"]
    steps += [
        _thousands(f"batch {number}", each, formula, measured)
        for number, (formula, measured) in enumerate(zip(formulas, found, strict=True), start=1)
    ]
    steps.append(_thousands("normals", thousands["cross product for normals"], normal, spent(run, Stage.NORMALS)))
    printed = 1000 * sum(number * times for _, times, number in table(11).rows[:-1])
    return [
        *steps,
        _thousands(
            "write normals", thousands["write normals"], write_back_cycles(12), write_back(bench, 12), "table11-normals"
        ),
        # The formula is what the printed steps add up to, and the published figure that of section 5.
        _thousands("all steps of the EMCs", 97, printed, sum(each.measured for each in steps), "table11-sum"),
    ]


def milliseconds_of(cycles: int) -> float:
    """Return the machine time of some cycles."""
    return cycles / (THESIS.clock_mhz * 1000)


def table_12(bench: ThesisBench) -> list[Row]:
    """Cycles and time of a pass; the formula of the time is the printed number of cycles at 100 MHz."""
    rows: list[Row] = []
    times: list[Row] = []
    for net, cycles, milliseconds in table(12).rows:
        n = side(net)
        run = bench.tessellation(n)
        notes = ("all-counted", "table12-overhead")
        if n in (6, 8):
            notes += ("table12-6x6-8x8",)
        formula = pass_cycles(n, batch_count(n, n))
        both = (formula, counted(run))
        rows.append(row(f"{net} net", cycles, *both, PASS, *notes, step=1000, parts=_parts(run, n)))
        step = 0.01 if milliseconds < 1 else 0.1
        both = (milliseconds_of(cycles), milliseconds_of(counted(run)))
        times.append(row(f"{net} net", milliseconds, *both, PASS, "all-counted", unit="ms", step=step))
    return rows + times


def figure_13(bench: ThesisBench) -> list[Row]:
    """The stages of a bicubic pass; the figure is missing from the text, so nothing is published of them."""
    rows = []
    for schedule, library in SCHEDULES.items():
        run = bench.tessellation(4, schedule=schedule, library=library)
        totals: dict[str, int] = {}
        for span in timeline(run):
            # The reads of batches are one line: there are fifteen, of a length.
            name = span.name if span.stream == run.stream else "reads"
            key = f"{schedule}: {span.stream.upper()} {name}"
            totals[key] = totals.get(key, 0) + span.busy
            if span.wait:
                wait = f"{schedule}: {span.stream.upper()} waits"
                totals[wait] = totals.get(wait, 0) + span.wait
        rows += [row(name, None, None, cycles, PASS) for name, cycles in totals.items() if cycles]
    return rows


def section_5(bench: ThesisBench) -> list[Row]:
    """The results; formulas are what the thesis's own 97,000 cycles, or 0.97 ms, give."""
    run = bench.tessellation(4)
    config = bench.config
    uses = run.by_routine
    operations = sum(uses[name].calls for name in ("fmul", "fadd", "fsub", "fsqrt", "fdiv"))
    formula = total_operations(4, 4).total
    time, printed = seconds(run), FIGURES["time of a bicubic pass"].value / 1000
    large = seconds(bench.tessellation(4, (16,)))
    flops = [count * config.lanes / each / 1e9 for count, each in ((formula, printed), (operations, time))]
    peak = operations * config.lanes / config.seconds(spent(run, *ARITHMETIC)) / 1e9
    cycles = FIGURES["bicubic pass"].value
    patches = FIGURES["4x4 patches"].value
    shares = (100 * computation_cycles(4, 4) / cycles, 100 * flops[1] / peak)
    notes = ("all-counted", "table12-overhead")
    return [
        figure_row("bicubic pass", pass_cycles(4, 15), counted(run), PASS, *notes, parts=_parts(run, 4)),
        figure_row(
            "time of a bicubic pass", milliseconds_of(cycles), milliseconds_of(counted(run)), PASS, "all-counted"
        ),
        figure_row("operations of a sample", formula, operations, _ORDER),
        figure_row("operations of a pass", formula * config.lanes / 1e6, operations * config.lanes / 1e6, _ORDER),
        figure_row("floating point rate", *flops, PASS, "counted-rates"),
        figure_row("rate in short", *flops, PASS, "section5-rate"),
        figure_row("rate in the conclusion", *flops, PASS, "section5-rate"),
        figure_row("4x4 patches", 512 / printed / 1e3, 512 / time / 1e3, PASS, "counted-rates"),
        figure_row("16x16 patches", 32 / printed / 1e3, 32 / large / 1e3, PASS, "section5-16x16"),
        figure_row("samples", 16 * patches / 1e3, config.lanes / time / 1e6, PASS, "counted-rates"),
        figure_row("share of peak", *shares, PASS, "section5-share"),
        figure_row(
            "gain over a GP", *(rate / GP_RATE.value for rate in flops), PASS, "counted-rates", "section5-factor"
        ),
    ]


def section_1(bench: ThesisBench) -> list[Row]:
    """What the introduction says beside the results of section 5; GPs of 240 MFlops are not modelled."""
    samples = 240e6 / total_operations(4, 4).total
    note = "section1-gp"
    rows = [
        figure_row("samples of a GP", samples / 1e3, None, _ORDER, note),
        figure_row("4x4 patches of a GP", samples / 16 / 1e3, None, _ORDER, note),
    ]
    for size in (8, 6):
        name = f"triangles of {size}x{size} samples"
        rows.append(figure_row(name, triangles(size), len(grid(np.arange(size * size), size)), _ORDER))
    return rows


def other_claims(bench: ThesisBench) -> list[Row]:
    """Section 4.1.3 on distribution and waits."""
    run = bench.tessellation(4)
    spread = distribution_cycles(4) * batch_count(4, 4)
    shares = (100 * spread / FIGURES["bicubic pass"].value, 100 * spent(run, Stage.DISTRIBUTION) / counted(run))
    return [
        figure_row("share of distribution", *shares, PASS, "counted-rates"),
        figure_row("waits after the first transfer", 0, spent(run, Stage.STALL), LIBRARY),
    ]
