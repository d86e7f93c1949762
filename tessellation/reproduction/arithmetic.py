"""What the float routines take: tables 1, 5, 7 and 13."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Measured, Range, Row
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
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, spent, start_ups
from tessellation.reproduction.rows import row

__all__ = ["LIBRARY", "RoutineCounts", "reading", "routine_excess", "table_1", "table_5", "table_7", "table_13"]

LIBRARY = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `plain`")
_TUNED = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `tuned`")
_GENERIC = Basis(Standing.INVENTED, "this project's instruction set and generic EMC instructions, library `generic`")
_ORDER = Basis(Standing.THESIS, "the order of work of section 4.1.3")


@dataclass(frozen=True, slots=True)
class _Routine:
    """A row of table 1, and how far the routines of the libraries are from it, in percent."""

    name: str
    operands: int
    plain: Range
    tuned: Range
    generic: Range
    finite: Range | None = None
    """Those of the generic entry for finite operands; None where it has none of its own."""

    @property
    def rate(self) -> Range:
        """How far the rate of the library ``plain`` is off, in percent: it is the reciprocal of the cycles."""
        low, high = (100 * (1 / (1 + percent / 100) - 1) for percent in reversed(self.plain))
        return low, high


_ROUTINES = {
    "int_to_float": _Routine("i2f", 1, (-2.6, -2.5), (-21.1, -21), (36.9, 37)),
    "add": _Routine("fadd", 2, (0, 0), (-27.7, -27.6), (48.9, 49), (37.6, 37.7)),
    "multiply": _Routine("fmul", 2, (0.7, 0.8), (-23.4, -23.3), (45.4, 45.5), (18.1, 18.2)),
    "divide": _Routine("fdiv", 2, (5.1, 5.2), (-36.8, -36.7), (71.5, 71.6), (61.6, 61.7)),
    "sqrt": _Routine("fsqrt", 1, (0.7, 0.8), (-30, -29.9), (54.1, 54.2), (49.5, 49.6)),
}


@dataclass(frozen=True, slots=True)
class RoutineCounts:
    """Cycles that routines of the libraries were found to take for one row of table 1."""

    item: str
    printed: int
    plain: int
    tuned: int
    generic: int
    finite: int
    """Of the generic entry for finite operands; the other where there is none."""
    start_ups: int
    """Of that entry; routines of the other libraries have one."""

    @property
    def nearer_to_one(self) -> bool:
        """Whether the print is nearer, in proportion, to the plain routine than to either generic one."""
        off = [abs(log(found / self.printed)) for found in (self.plain, self.generic, self.finite)]
        return off[0] < min(off[1:])


def table_1(bench: ThesisBench) -> Measured:
    """Cycles and start-ups of the routines of the libraries, the rates of the library ``plain``, and what they say."""
    rows: list[Row] = []
    started: list[Row] = []
    each_pe: list[Row] = []
    all_pes: list[Row] = []
    executed: list[RoutineCounts] = []
    for name, cycles, rate, total in table(1).rows:
        routine = _ROUTINES[name]
        found: dict[str, tuple[int, int]] = {}
        for library, basis, note, within, ending in (
            ("plain", LIBRARY, "own-library", routine.plain, ""),
            ("tuned", _TUNED, "tuned-library", routine.tuned, ""),
            ("generic", _GENERIC, "generic-library", routine.generic, ""),
            ("generic", _GENERIC, "generic-library", routine.finite, "_finite"),
        ):
            if within is None:
                continue
            run = bench.called(f"{routine.name}{ending}", routine.operands, library)
            item = f"{name}, {library}{ending.replace('_', ' ')}"
            found[f"{library}{ending}"] = run.cycles, start_ups(run)
            rows.append(row(item, cycles, None, run.cycles, basis, note, within=within))
            started.append(row(item, None, None, start_ups(run), basis, unit="start-ups"))
        plain = found["plain"][0]
        generic = found["generic"]
        executed.append(
            RoutineCounts(name, cycles, plain, found["tuned"][0], generic[0], *found.get("generic_finite", generic))
        )
        each, every = THESIS.clock_mhz * 1e3, THESIS.clock_mhz * THESIS.lanes / 1e3
        rates = (_printed(rate), each / cycles, each / plain)
        each_pe.append(row(f"{name}, a PE", *rates, LIBRARY, "own-library", unit="10^3/s", step=1, within=routine.rate))
        rates = (_printed(total), every / cycles, every / plain)
        all_pes.append(
            row(f"{name}, all PEs", *rates, LIBRARY, "own-library", unit="10^9/s", step=0.1, within=routine.rate)
        )
    return Measured(text=reading(executed), rows=(*rows, *started, *each_pe, *all_pes))


def reading(executed: Sequence[RoutineCounts]) -> str:
    """Return which reading of section 2.2.3 the counts support: generic instructions, or a start-up a routine."""
    near = [each for each in executed if each.nearer_to_one]
    spread = [max(each.plain, each.generic) / each.tuned for each in executed]
    plain, generic, finite, rest = (
        _off((found(each), each.printed) for each in executed)
        for found in (
            lambda each: each.plain,
            lambda each: each.generic,
            lambda each: each.finite,
            lambda each: each.finite - each.start_ups,
        )
    )
    if len(near) == len(executed):
        verdict = "the print fits routines with one start-up each, not the generic instructions it speaks of"
    elif not near:
        verdict = "the print fits the generic instructions it speaks of, with a start-up each"
    else:
        items = ", ".join(each.item for each in near)
        verdict = f"the print fits neither reading alone: one start-up each is nearer for {items}"
    return (
        f"section 2.2.3 on this instruction set: {verdict}. Nearer to plain than to generic: {len(near)} of "
        f"{len(executed)} rows; plain is off by {plain}, generic by {generic}, its finite entries by {finite}, and "
        f"these by {rest} if start-ups took no cycle. Complete routines that give the same bits differ by factors of "
        f"{min(spread):.2f} to {max(spread):.2f}, so nearness to the print measures a choice of routines"
    )


def _off(pairs: Iterable[tuple[int, int]]) -> str:
    """Return the least and the greatest deviation of counts from the print."""
    percents = [100 * (found / printed - 1) for found, printed in pairs]
    return f"{min(percents):+.1f} to {max(percents):+.1f} %"


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
