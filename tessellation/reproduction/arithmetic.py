"""Cycles of the float routines: tables 1, 5, 7 and 13."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Check, Derivation, Digits, Measured, Number, Row, derived
from pixelflow.node import Run
from pixelflow.simd.units import Standing
from tessellation.plan.schedule import Stage
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, row, spent, start_ups
from tessellation.reproduction.cost_model import (
    THESIS_CYCLES,
    Operations,
    computation_cycles,
    long_add_cycles,
    long_multiply_cycles,
    transfer_operations,
)
from tessellation.reproduction.predictions import LibraryCosts, arithmetic, batches, whole_pass
from tessellation.reproduction.thesis import DIGITS, table

LIBRARY = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `plain`")
_TUNED = Basis(Standing.INVENTED, "this project's instruction set and float routines, library `tuned`")
_GENERIC = Basis(Standing.INVENTED, "this project's instruction set and generic EMC instructions, library `generic`")
_ORDER = Basis(Standing.THESIS, "the order of work of section 4.1.3")


_ROUTINES = {
    "int_to_float": ("i2f", 1, False),
    "add": ("fadd", 2, True),
    "multiply": ("fmul", 2, True),
    "divide": ("fdiv", 2, True),
    "sqrt": ("fsqrt", 1, True),
}
"""The routine of each row of table 1, its operands, and whether it has a separate entry for finite ones."""


class RoutineCounts(NamedTuple):
    """Executed cycles of the libraries' routines for one row of table 1."""

    item: str
    printed: int
    plain: int
    tuned: int
    generic: int
    finite: int
    """Generic entry for finite operands, or ``generic`` if there is none."""
    start_ups: int
    """Start-ups of that entry; routines of the other libraries have one."""

    @property
    def nearer_to_one(self) -> bool:
        """True if the print is nearer, in proportion, to the plain routine than to either generic one."""
        off = [abs(log(found / self.printed)) for found in (self.plain, self.generic, self.finite)]
        return off[0] < min(off[1:])


def library_costs(bench: ThesisBench, library: str = "plain") -> LibraryCosts:
    """Return the cycles of a library's float routines, each executed alone, without the end of the program."""
    end = bench.config.igc.control_cycles
    counts = {"fmul": 2, "fadd": 2, "fsub": 2, "fsqrt": 1, "fdiv": 2}
    return LibraryCosts(**{name: bench.routine(name, operands, library) - end for name, operands in counts.items()})


_CALLED = (("plain", ""), ("tuned", ""), ("generic", ""), ("generic", "_finite"))
"""Libraries that table 1 is measured with, and the ending of their entries."""


def _executed(bench: ThesisBench) -> dict[str, dict[str, Run]]:
    """Return the account of each routine of table 1 by row, then by library with the ending."""
    return {
        name: {
            f"{library}{ending.replace('_', ' ')}": bench.called(f"{routine}{ending}", operands, library)
            for library, ending in _CALLED
            if has_finite or not ending
        }
        for name, (routine, operands, has_finite) in _ROUTINES.items()
    }


def _counts(bench: ThesisBench) -> list[RoutineCounts]:
    """Return the cycles of the routines of each row."""
    counts = []
    for (name, runs), (_, printed, *_) in zip(_executed(bench).items(), table(1).rows, strict=True):
        finite = runs.get("generic finite", runs["generic"])
        plain, tuned, generic = (runs[library].cycles for library in ("plain", "tuned", "generic"))
        counts.append(RoutineCounts(name, printed, plain, tuned, generic, finite.cycles, start_ups(finite)))
    return counts


def table_1(bench: ThesisBench) -> Measured:
    """Cycles and rates of the routines of the library ``plain``."""
    rows: list[Row] = []
    each_pe: list[Row] = []
    all_pes: list[Row] = []
    clock, lanes = bench.config.clock_mhz, bench.config.lanes
    counts = _counts(bench)
    for each, (name, cycles, rate, total) in zip(counts, table(1).rows, strict=True):
        rows.append(row(f"{name}, plain", cycles, None, each.plain, LIBRARY, "own-library"))
        for kept, what, unit, published, whole, measured, step in (
            (each_pe, "a PE", "10^3/s", _printed(rate), THESIS.clock_mhz * 1e3, clock * 1e3, 1),
            (all_pes, "all PEs", "10^9/s", _printed(total), THESIS.clock_mhz * THESIS.lanes / 1e3,
             clock * lanes / 1e3, 0.1),
        ):  # fmt: skip
            # One of the five rows shows the rounding rule of the column.
            alone = what == "a PE" and not Digits.ROUNDED.prints(whole / cycles, published, step)
            notes = ("own-library", *(("table1-cut",) if alone else ()))
            kept.append(
                row(
                    f"{name}, {what}", published, whole / cycles, measured / each.plain, LIBRARY, *notes,
                    unit=unit, step=step, digits=DIGITS[f"table 1, {what}"],
                    predicted=derived("rate / cycles", rate=measured, cycles=each.plain),
                )
            )  # fmt: skip
    return Measured(rows=(*rows, *each_pe, *all_pes), checks=limits(counts))


def libraries(bench: ThesisBench) -> Measured:
    """Cycles and start-ups of libraries that the thesis does not have, and their bearing on table 1."""
    bases = {"plain": LIBRARY, "tuned": _TUNED, "generic": _GENERIC, "generic finite": _GENERIC}
    rows: list[Row] = []
    started: list[Row] = []
    for (name, runs), (_, printed, *_) in zip(_executed(bench).items(), table(1).rows, strict=True):
        for library, run in runs.items():
            item, basis = f"{name}, {library}", bases[library]
            started.append(row(item, None, None, start_ups(run), basis, unit="start-ups"))
            if library != "plain":
                off = f"{100 * (run.cycles / printed - 1):+.2f} % from the {printed} of table 1"
                rows.append(row(item, None, None, run.cycles, basis, detail=off))
    return Measured(text=reading(_counts(bench)), rows=(*rows, *started))


_MOST_PERCENT = 6
"""Largest deviation of a routine of the library ``plain`` from the print: a limit set by this project."""


def limits(executed: Sequence[RoutineCounts]) -> tuple[Check, ...]:
    """Return this project's limits for its routines relative to table 1, so that slower ones fail."""
    off = [100 * abs(each.plain - each.printed) / each.printed for each in executed]
    return (
        *(Check(f"{each.item}, tuned", each.tuned, each.printed, "cycles", "at or below table 1") for each in executed),
        *(
            Check(f"{each.item}, plain", percent, _MOST_PERCENT, "% from the print", "within 6 % of table 1")
            for each, percent in zip(executed, off, strict=True)
        ),
    )


def reading(executed: Sequence[RoutineCounts]) -> str:
    """Return the reading of section 2.2.3 that the counts support: generic instructions, or a start-up per routine."""
    near = [each for each in executed if each.nearer_to_one]
    spread = [max(each.plain, each.generic) / each.tuned for each in executed]
    plain = _off((each.plain, each.printed) for each in executed)
    generic = _off((each.generic, each.printed) for each in executed)
    finite = _off((each.finite, each.printed) for each in executed)
    rest = _off((each.finite - each.start_ups, each.printed) for each in executed)
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


def _printed(rate: str) -> Number:
    """Return the number of a printed rate, without its letter."""
    text = rate.split()[0]
    return float(text) if "." in text else int(text)


def table_5(bench: ThesisBench) -> list[Row]:
    """The least arithmetic enabled by one transfer, over the transfers that bring only points of an n x n net.

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
        muls, adds = printed
        rows.append(
            row(
                name, cycles, *both, LIBRARY, *(("table5-n8",) if name == "n = 8" else ()),
                # The other columns at the costs of table 1, and at those of the library.
                derived=derived("muls * 253 + adds * 390", muls=muls, adds=adds),
                predicted=arithmetic(Operations(muls, adds), library_costs(bench)),
            )
        )  # fmt: skip
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
        measured, predicted = spent(run, *ARITHMETIC), whole_pass(n, library_costs(bench))
        detail = ", ".join(f"{name} {cycles:+,}" for name, cycles in routine_excess(run).items() if cycles)
        rows.append(
            row(
                f"{net} net", published, computation_cycles(n, n), measured, LIBRARY, "own-sums",
                predicted=predicted, detail=detail,
            )
        )  # fmt: skip
    return rows


def table_13(bench: ThesisBench) -> list[Row]:
    """Longer mantissas; what the longest take follows from the shorter ones."""
    rows = []
    for size, multiply, add in table(13).rows:
        for what, published, name, formula in (
            ("multiply", multiply, "fmul", long_multiply_cycles(size)),
            ("add", add, "fadd", long_add_cycles(size)),
        ):
            measured = bench.routine(name if size == 3 else f"{name}{size}", 2, size=size)
            rows.append(
                row(
                    f"{size} mantissa bytes, {what}", published, formula, measured, LIBRARY, "wide-library",
                    predicted=_longer(bench, name, size),
                )
            )  # fmt: skip
    return rows


def _longer(bench: ThesisBench, name: str, size: int) -> Derivation | None:
    """Return the cycles of a routine by those of two shorter ones, None for the shortest.

    A product of mantissas of n bytes is n^2 products of bytes, of 12 cycles with load, sum, carry and store; all else
    grows by the same for each byte. In sums and differences all does, for mantissas longer than those of binary32.
    """
    first = 3 if name == "fmul" else 4
    if size < first + 2:
        return None
    short, longer = (bench.routine(name if n == 3 else f"{name}{n}", 2, size=n) for n in (first, first + 1))
    more = size - first
    bends = {"product": 12, "pairs": more * (more - 1)} if name == "fmul" else {}
    text = "short + more * (longer - short)" + " + product * pairs" * bool(bends)
    return derived(text, short=short, longer=longer, more=more, **bends)
