"""A benchmark as a record, and the one driver of all: rounds in which every case comes once, so that a busy minute of
the host slows all of them."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from pixelflow.simd.report import Part, Report, number

Note: TypeAlias = Callable[[str], None]
"""Takes remarks about the work."""


@dataclass(slots=True)
class Case:
    """One thing that is measured in every round."""

    name: str
    once: Callable[[], Sequence[float]]
    """Does it once; returns the seconds that it took, of the clock and whatever else."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Further data for the report."""
    times: list[Sequence[float]] = field(default_factory=list)

    def seconds(self, which: int = 0) -> list[float]:
        """Return the seconds round by round; ``which`` of those that ``once`` returns."""
        return [each[which] for each in self.times]

    def median(self, which: int = 0) -> float:
        """Return their median."""
        return statistics.median(self.seconds(which))

    def spread(self, which: int = 0) -> dict[str, float]:
        """Return their median, minimum and maximum."""
        return spread_of(self.seconds(which))


class Benchmark(NamedTuple):
    """A named measurement: the preparation of its cases, and the report of their times."""

    prepare: Callable[[int, Note], Iterable[tuple[str, Sequence[Case]]]]
    """Given the number of rounds; groups of cases that take turns, with what is said before the number of a round."""
    report: Callable[[Sequence[Case]], Sequence[Part]]
    uncounted: int = 0
    """Rounds before those that count."""
    schema: str = "pixelflow.bench/2"

    def measured(self, rounds: int, note: Note) -> Report:
        """Measure and report."""
        found: list[Case] = []
        for what, cases in self.prepare(rounds, note):
            for done in range(-self.uncounted, rounds):
                note(
                    f"{what}{': ' * bool(what)}round {done + 1} of {rounds}"
                    if done >= 0
                    else "rounds that do not count"
                )
                for case in cases:
                    taken = case.once()
                    if done >= 0:
                        case.times.append(taken)
            found += cases
        return Report(results=self.report(found), schema=self.schema, data={"rounds": rounds})


def timed(work: Callable[[], object], parts: int = 1) -> Callable[[], tuple[float]]:
    """Return what does some work and returns the seconds of each of its ``parts``."""

    def once() -> tuple[float]:
        begin = perf_counter()
        work()
        return ((perf_counter() - begin) / parts,)

    return once


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """Return median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratios(case: Case, base: Case) -> dict[str, float]:
    """Return the spread of same-round ratios: how often ``case`` fits into ``base``."""
    return spread_of([b / c for c, b in zip(case.seconds(), base.seconds(), strict=True)])


def median_ratio(case: Case, base: Case) -> float:
    """Return the median of same-round ratios of the time of ``case`` to that of ``base``."""
    return statistics.median(c / b for c, b in zip(case.seconds(), base.seconds(), strict=True))


def rounds_text(case: Case) -> str:
    """Return how often cases were measured."""
    rounds = len(case.times)
    return f"{number(rounds)} interleaved round{'s' * (rounds != 1)}, medians"


def peak_megabytes() -> int | None:
    """Return the peak resident memory of this process, or None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
