"""What the float routines take: tables 1, 5, 7 and 13."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Range, Row
from pixelflow.node import Run
from pixelflow.simd.units import Standing
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import (
    THESIS_CYCLES,
    computation_cycles,
    long_add_cycles,
    long_multiply_cycles,
    transfer_operations,
)
from tessellation.published.thesis import table
from tessellation.reproduction.batches import batches
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, spent
from tessellation.reproduction.rows import row

__all__ = ["LIBRARY", "routine_excess", "table_1", "table_5", "table_7", "table_13"]

LIBRARY = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `plain`")
_TUNED = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `tuned`")
_ORDER = Basis(Standing.THESIS, "the order of work of section 4.1.3")


@dataclass(frozen=True, slots=True)
class _Routine:
    """A row of table 1, and how far the routines of both libraries are from it, in percent."""

    name: str
    operands: int
    thesis: Range
    tuned: Range

    @property
    def rate(self) -> Range:
        """How far the rate of the library ``plain`` is off, in percent: it is the reciprocal of the cycles."""
        low, high = (100 * (1 / (1 + percent / 100) - 1) for percent in reversed(self.thesis))
        return low, high


_ROUTINES = {
    "int_to_float": _Routine("i2f", 1, (-2.6, -2.5), (-21.1, -21)),
    "add": _Routine("fadd", 2, (0, 0), (-27.7, -27.6)),
    "multiply": _Routine("fmul", 2, (0.7, 0.8), (-23.4, -23.3)),
    "divide": _Routine("fdiv", 2, (5.1, 5.2), (-36.8, -36.7)),
    "sqrt": _Routine("fsqrt", 1, (0.7, 0.8), (-30, -29.9)),
}


def table_1(bench: ThesisBench) -> list[Row]:
    """Cycles of the routines of both libraries, and the rates that follow from those of the library ``plain``."""
    rows: list[Row] = []
    each_pe: list[Row] = []
    all_pes: list[Row] = []
    for name, cycles, rate, total in table(1).rows:
        routine = _ROUTINES[name]
        plain, tuned = (bench.routine(routine.name, routine.operands, library) for library in ("thesis", "tuned"))
        rows.append(row(f"{name}, thesis", cycles, None, plain, LIBRARY, "own-library", within=routine.thesis))
        rows.append(row(f"{name}, tuned", cycles, None, tuned, _TUNED, "tuned-library", within=routine.tuned))
        each, every = THESIS.clock_mhz * 1e3, THESIS.clock_mhz * THESIS.lanes / 1e3
        rates = (_printed(rate), each / cycles, each / plain)
        each_pe.append(row(f"{name}, a PE", *rates, LIBRARY, "own-library", unit="10^3/s", step=1, within=routine.rate))
        rates = (_printed(total), every / cycles, every / plain)
        all_pes.append(
            row(f"{name}, all PEs", *rates, LIBRARY, "own-library", unit="10^9/s", step=0.1, within=routine.rate)
        )
    return [*rows, *each_pe, *all_pes]


def _printed(rate: str) -> int | float:
    """Return the number of a printed rate, without its letter."""
    text = rate.split()[0]
    return float(text) if "." in text else int(text)


def table_5(bench: ThesisBench) -> list[Row]:
    """The least that one transfer makes possible, over the transfers that bring points of an n x n net alone.

    Their columns have n values. The formula counts the first transfer of a surface, as section 4.1.3 does.
    """
    nets = {"n = 3": (3,), "n = 4": (4,), "4 < n < 8": (5, 6, 7), "n = 8": (8,), "8 < n": (9, 10, 11, 12)}
    counts: list[Row] = []
    rows: list[Row] = []
    for name, *printed, cycles in table(5).rows:
        formula = transfer_operations([(nets[name][0],) * 2])[0]
        found = [
            batch for n in nets[name] for batch in batches(bench.tessellation(n)) if batch.stages == {Stage.POINTS}
        ]
        least = min(found, key=lambda batch: batch.cycles)
        for what, published in zip(("multiplies", "adds"), printed, strict=True):
            both = (getattr(formula, what), getattr(least.operations, what))
            counts.append(row(f"{name}, {what}", published, *both, _ORDER, unit="operations"))
        both = (THESIS_CYCLES.of(formula), least.cycles)
        # The n = 8 that is printed is an erratum, and what the routines take beyond table 1 makes up for part of it.
        notes, within = (("table5-n8",), (-2.4, -2.3)) if name == "n = 8" else ((), (0.3, 0.5))
        rows.append(row(name, cycles, *both, LIBRARY, "own-library", *notes, within=within))
    return counts + rows


def routine_excess(run: Run) -> dict[str, int]:
    """Return for each float routine the cycles that a run spent in it beyond table 1; a subtraction is an addition."""
    of_thesis = THESIS_CYCLES
    each = {"fmul": of_thesis.multiply, "fadd": of_thesis.add, "fsub": of_thesis.add}
    each |= {"fsqrt": of_thesis.root, "fdiv": of_thesis.divide}
    uses = run.by_routine
    return {name: uses[name].own_cycles - uses[name].calls * cycles for name, cycles in each.items()}


def table_7(bench: ThesisBench) -> list[Row]:
    """All arithmetic of a pass."""
    rows = []
    for net, published in table(7).rows:
        n = int(net.partition("x")[0])
        run = bench.tessellation(n)
        excess = {name: cycles for name, cycles in routine_excess(run).items() if cycles}
        measured = spent(run, *ARITHMETIC)
        formula = computation_cycles(n, n)
        # The note says that the routines are all of it, so it stands only where that is true.
        notes = ("own-sums",) if measured - formula == sum(excess.values()) else ()
        detail = ", ".join(f"{name} {cycles:+,}" for name, cycles in excess.items())
        rows.append(row(f"{net} net", published, formula, measured, LIBRARY, *notes, detail=detail))
    return rows


def table_13(bench: ThesisBench) -> list[Row]:
    """Longer mantissas."""
    rows = []
    off = {  # percent that the measured figures are
        (3, "multiply"): (2, 2), (3, "add"): (-2.5, -2.5),
        (4, "multiply"): (8, 8), (4, "add"): (8.8, 8.9),
        (5, "multiply"): (17.7, 17.8), (5, "add"): (12.5, 12.5),
        (6, "multiply"): (17.1, 17.2), (6, "add"): (15.5, 15.6),
    }  # fmt: skip
    for size, multiply, add in table(13).rows:
        for what, published, name, formula in (
            ("multiply", multiply, "fmul", long_multiply_cycles(size)),
            ("add", add, "fadd", long_add_cycles(size)),
        ):
            measured = bench.routine(name if size == 3 else f"{name}{size}", 2, size=size)
            notes = ("table13-row3",) if size == 3 else ("table13-shape",)
            if formula != published:
                notes += ("table13-525",)
            item = f"{size} mantissa bytes, {what}"
            rows.append(row(item, published, formula, measured, LIBRARY, *notes, within=off[size, what]))
    return rows
