"""Whole passes: tables 11 and 12, figure 13, and sections 1, 4.1.3 and 5."""

from __future__ import annotations

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.evidence import Basis, Derivation, Number, Row, derived
from pixelflow.node import timeline
from pixelflow.simd.units import Standing
from tessellation.microprogram.method import LIBRARIES
from tessellation.plan.schedule import Stage, batch_count
from tessellation.reproduction.arithmetic import LIBRARY, library_costs
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, counted, figure_row, row, spent
from tessellation.reproduction.cost_model import (
    THESIS_CYCLES,
    Operations,
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
from tessellation.reproduction.movement import return_prediction, returned, side, write_back
from tessellation.reproduction.own_schedules import fixed_prediction, shared_prediction
from tessellation.reproduction.predictions import arithmetic, batches, distribution, pass_prediction, ratio, whole_pass
from tessellation.reproduction.thesis import DIGITS, FIGURES, GP_RATE, table
from tessellation.surface.topology import grid

PASS = Basis(Standing.INVENTED, "everything that a pass executes; its arithmetic is the library `plain`")
_SCHEDULE = Basis(Standing.INVENTED, "everything that a pass executes, by schedule and library")
_ORDER = Basis(Standing.THESIS, "the order of work of section 4.1.3")
_ALL_SIZES = (4, 8, 16)

SCHEDULES = {"thesis": "plain", "shared-columns": "tuned-finite"}
"""The schedules whose stages are shown, with their libraries."""


def _prediction(bench: ThesisBench, n: int, sizes: tuple[int, ...] = (4,)) -> Derivation:
    """Return the predicted cycles of a pass."""
    patches = bench.config.lanes // sizes[0] ** 2
    return pass_prediction(bench.config, n, patches, library_costs(bench), sizes)


def _steps(n: int) -> Derivation:
    """Return table 11's steps of the EMCs with all their digits, as the thesis counts them."""
    return derived(
        "addresses + bernstein + arithmetic",
        addresses=address_cycles(512),
        bernstein=bernstein_cycles(n, n, _ALL_SIZES),
        arithmetic=computation_cycles(n, n),
    )


def table_11(bench: ThesisBench) -> list[Row]:
    """The steps of a bicubic pass, with all three sample sizes where the table has them."""
    run, costs, digits = bench.tessellation(4), library_costs(bench), DIGITS["table 11"]

    def thousands(item: str, published: int | None, formula: Number | None, measured: Number | None, *notes: str,
        predicted: Derivation | None = None, derived: Derivation | None = None,
        busy: int | None = None) -> Row:  # fmt: skip
        print_ = None if published is None else published * 1000
        return row(
            item, print_, formula, measured, PASS, *notes,
            step=1000, digits=digits, predicted=predicted, derived=derived, busy=busy,
        )  # fmt: skip

    printed = {name: number for name, _, number in table(11).rows}
    addresses, loaded = address_cycles(512), bernstein_cycles(4, 4, _ALL_SIZES)
    mixed = spent(bench.tessellation(4, _ALL_SIZES), Stage.BERNSTEIN)
    found = [batch.cycles for batch in batches(run)]
    operations = transfer_operations(surfaces(4, 4))
    whole, count = sum(operations, Operations()), len(operations)
    mean, ours = THESIS_CYCLES.of(whole) / count, arithmetic(whole, costs)
    normal = cross_operations()
    steps = _steps(4)
    rows = [
        thousands("load base addresses", printed["load base addresses"], addresses, spent(run, Stage.ADDRESSES)),
        thousands("load Bernstein values", printed["load Bernstein coefficients"], loaded, mixed),
        thousands(
            "a batch, mean of 15", printed["control patch batches"], mean, sum(found) / len(found), "table11-mean",
            predicted=derived(f"({ours.expression}) / batches", batches=count, **dict(ours.names)),
        ),
        thousands(
            "normals", printed["cross product for normals"], THESIS_CYCLES.of(normal), spent(run, Stage.NORMALS),
            predicted=arithmetic(normal, costs, subtractions=3),
        ),
        thousands(
            "write normals", printed["write normals"], write_back_cycles(12), returned(bench, gone=3).cycles,
            "table11-normals", derived=derived("24 * 8192 / 2 / 2"), predicted=return_prediction(bench.config, gone=3),
            busy=write_back(bench, 12),
        ),
        # No pass loads both addresses for 512 patches and Bernstein values for three sizes, so this is a formula only.
        thousands(
            "all steps of the EMCs", int(FIGURES["bicubic pass"].value) // 1000, int(steps.value), None, "bicubic-pass",
            derived=steps,
        ),
    ]  # fmt: skip
    rows += [
        thousands(f"batch {number}", None, THESIS_CYCLES.of(counts), cycles, predicted=arithmetic(counts, costs))
        for number, (counts, cycles) in enumerate(zip(operations, found, strict=True), start=1)
    ]
    executed = (Stage.ADDRESSES, Stage.BERNSTEIN, *ARITHMETIC)
    formula = address_cycles(512) + bernstein_cycles(4, 4, (4,)) + computation_cycles(4, 4)
    return [*rows, thousands("these steps in one pass of 4x4 samples", None, formula, spent(run, *executed))]


def milliseconds_of(cycles: int, config: NodeConfig = THESIS) -> float:
    """Return the machine time of some cycles, by default on the thesis's machine."""
    return cycles / (config.clock_mhz * 1000)


def _milliseconds(config: NodeConfig, cycles: Derivation) -> Derivation:
    """Return the predicted machine time of this many cycles."""
    return ratio("cycles / (1000 * clock)", cycles, clock=config.clock_mhz)


_ODD = (6, 8)
"""The nets whose rows of table 12 no reading explains."""


def table_12(bench: ThesisBench) -> list[Row]:
    """Cycles and time of a pass; the formula is the reading of the print, and for times its cycles at its clock."""
    rows: list[Row] = []
    times: list[Row] = []
    digits = DIGITS["table 12"]
    for net, cycles, milliseconds in table(12).rows:
        n = side(net)
        measured, predicted = counted(bench.tessellation(n)), _prediction(bench, n)
        reading = derived("rounded(table_7, 1000) + 8000", table_7=computation_cycles(n, n))
        notes = ("table12-odd",) if n in _ODD else ("table12-eight",)
        rows.append(
            row(
                f"{net} net", cycles, int(reading.value), measured, PASS, *notes,
                step=1000, digits=digits, predicted=predicted, derived=reading,
            )
        )  # fmt: skip
        step = 0.01 if milliseconds < 1 else 0.1
        both = (milliseconds_of(cycles), milliseconds_of(measured, bench.config))
        times.append(
            row(
                f"{net} net", milliseconds, *both, PASS, "all-counted", unit="ms", step=step, digits=digits,
                predicted=_milliseconds(bench.config, predicted),
            )
        )  # fmt: skip
    return rows + times


def figure_13(bench: ThesisBench) -> list[Row]:
    """The stages of a bicubic pass; the figure is missing from the text, so nothing is published."""
    rows = []
    for schedule, library in SCHEDULES.items():
        run = bench.tessellation(4, schedule=schedule, library=library)
        totals: dict[str, int] = {}
        for span in timeline(run):
            # The fifteen reads of batches are equal and share one line.
            name = span.name if span.stream == run.stream else "reads"
            key = f"{schedule}: {span.stream.upper()} {name}"
            totals[key] = totals.get(key, 0) + span.busy + span.transfer
            if span.wait:
                wait = f"{schedule}: {span.stream.upper()} waits"
                totals[wait] = totals.get(wait, 0) + span.wait
        rows += [row(name, None, None, cycles, PASS) for name, cycles in totals.items() if cycles]
    return rows


def schedules(bench: ThesisBench) -> list[Row]:
    """Whole bicubic passes by schedule and library, each executed and predicted."""
    rows = []
    for schedule in SCHEDULES:
        for library in LIBRARIES:
            measured = counted(bench.tessellation(4, schedule=schedule, library=library))
            costs = library_costs(bench, library)
            if schedule == "thesis":
                predicted = pass_prediction(bench.config, 4, bench.placed((4,)), costs)
            else:
                predicted = shared_prediction(bench.config, costs)
            item = f"{schedule} schedule, library {library}"
            rows.append(row(item, None, None, measured, _SCHEDULE, predicted=predicted))
    measured = counted(bench.tessellation(4, schedule="fixed-sums"))
    predicted = fixed_prediction(bench.config)
    return [*rows, row("fixed-sums schedule", None, None, measured, _SCHEDULE, predicted=predicted)]


def section_5(bench: ThesisBench) -> list[Row]:
    """The results; formulas follow from the thesis's own cycles of a bicubic pass, or its milliseconds."""
    run, config = bench.tessellation(4), bench.config
    clock, time = config.clock_mhz, bench.seconds(run)
    uses = run.by_routine
    operations = sum(uses[name].calls for name in ("fmul", "fadd", "fsub", "fsqrt", "fdiv"))
    formula = total_operations(4, 4).total
    each_pass = float(FIGURES["time of a bicubic pass"].value)
    printed = each_pass / 1000
    large = bench.seconds(bench.tessellation(4, (16,)))
    flops = formula * config.lanes / printed / 1e9
    measured = operations * config.lanes / time / 1e9
    cycles = int(FIGURES["bicubic pass"].value)
    patches = FIGURES["4x4 patches"].value
    took, took_large = _prediction(bench, 4), _prediction(bench, 4, (16,))
    names = {"operations": formula, "lanes": config.lanes}
    rate = ratio("operations * lanes * clock / cycles / 1000", took, clock=clock, **names)
    arithmetic_cycles = computation_cycles(4, 4)
    share = derived(
        "100 * arithmetic / (addresses + bernstein + arithmetic)",
        arithmetic=arithmetic_cycles, addresses=address_cycles(512), bernstein=bernstein_cycles(4, 4, (4,)),
    )  # fmt: skip
    ours = int(whole_pass(4, library_costs(bench)).value)
    counted_share = 100 * spent(run, *ARITHMETIC) / counted(run)
    steps = _steps(4)
    # A pass with everything counted, at the thesis's own costs, which the thesis does not print.
    all_counted = pass_cycles(4, batch_count(4, 4))
    own = derived(
        "addresses + first + batches * spread + arithmetic",
        addresses=address_cycles(512), first=tasic_cycles(4), batches=batch_count(4, 4),
        spread=distribution_cycles(4), arithmetic=arithmetic_cycles,
    )  # fmt: skip

    def figure(name: str, value: Number | None, found: Number, predicted: Derivation, *notes: str,
        derived: Derivation | None = None) -> Row:  # fmt: skip
        return figure_row(name, value, found, PASS, *notes, predicted=predicted, derived=derived)

    each_rate = derived("operations * lanes / milliseconds / 1000000", milliseconds=each_pass, **names)
    large_rate = derived(
        "patches / milliseconds", patches=int(table(3).row("16x16")["Number of Patches"]), milliseconds=each_pass
    )
    return [
        figure("bicubic pass", steps.value, counted(run), took, "bicubic-pass", derived=steps),
        row("the same at the costs of the thesis, all counted", None, all_counted, None, PASS, derived=own),
        figure("time of a bicubic pass", milliseconds_of(cycles), milliseconds_of(counted(run), config),
            _milliseconds(config, took), "all-counted"),
        figure_row("operations of a sample", formula, operations, _ORDER),
        figure_row("operations of a pass", formula * config.lanes / 1e6, operations * config.lanes / 1e6, _ORDER),
        figure("floating point rate", flops, measured, rate, "all-counted"),
        figure("rate in short", flops, measured, rate, "all-counted"),
        figure("rate in the conclusion", flops, measured, rate, "section5-rate", derived=each_rate),
        figure("4x4 patches", 512 / printed / 1e3, 512 / time / 1e3,
            ratio("1000 * clock * patches / cycles", took, clock=clock, patches=512), "all-counted"),
        figure("16x16 patches", 32 / printed / 1e3, 32 / large / 1e3,
            ratio("1000 * clock * patches / cycles", took_large, clock=clock, patches=32), "section5-16x16",
            derived=large_rate),
        figure("samples", 16 * patches / 1e3, config.lanes / time / 1e6,
            ratio("clock * lanes / cycles", took, clock=clock, lanes=config.lanes), "all-counted"),
        figure("share of peak", share.value, counted_share,
            ratio("100 * arithmetic / cycles", took, arithmetic=ours), "section5-share", derived=share),
        figure("gain over a GP", flops / GP_RATE.value, measured / GP_RATE.value,
            ratio("operations * lanes * clock / cycles / 1000 / gp", took, clock=clock, gp=GP_RATE.value, **names),
            "all-counted"),
    ]  # fmt: skip


def section_1(bench: ThesisBench) -> list[Row]:
    """Figures of the introduction that section 5 does not have; GPs of 240 MFlops are not modelled."""
    rate = derived("rounded(240000 / operations + 5, 10)", operations=total_operations(4, 4).total)
    samples = FIGURES["samples of a GP"].value
    rows = [
        figure_row("samples of a GP", rate.value, None, _ORDER, "section1-gp",
            derived=rate),
        figure_row("4x4 patches of a GP", samples / 16, None, _ORDER),
    ]  # fmt: skip
    for size in (8, 6):
        name = f"triangles of {size}x{size} samples"
        rows.append(figure_row(name, triangles(size), len(grid(np.arange(size * size), size)), _ORDER))
    return rows


def other_claims(bench: ThesisBench) -> list[Row]:
    """Section 4.1.3 on distribution and waits."""
    run, took = bench.tessellation(4), _prediction(bench, 4)
    spread = distribution_cycles(4) * batch_count(4, 4)
    shares = (100 * spread / FIGURES["bicubic pass"].value, 100 * spent(run, Stage.DISTRIBUTION) / counted(run))
    ours = derived("batches * spread", batches=batch_count(4, 4), spread=distribution(bench.config))
    share = ratio("100 * spread / cycles", took, spread=ours)
    return [
        figure_row("share of distribution", *shares, PASS, "all-counted", predicted=share),
        figure_row("waits after the first transfer", 0, spent(run, Stage.STALL), LIBRARY, "section4-waits"),
    ]
