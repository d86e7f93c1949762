"""Studies of kernels: what was computed, beside which reference, what it took on how many cores, and what limits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.timing import PEAK, CoreScaling, CoresRun, scaled
from larrabee_bridge.vpu.core import CoreConfig, invented
from pixelflow.simd.report import Column, Fact, Json, Part, Report, Table, fixed, percent

__all__ = ["KernelResult", "KernelStudy", "kernels_report", "list_of"]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class KernelResult:
    """What a kernel computed and took."""

    work: str
    """What was worked on."""
    reference: str
    """What the result is compared with."""
    error: float
    """The largest difference from it, in ``error_of``."""
    error_of: str
    unit: str
    """What one of ``units`` is."""
    units: int
    phases: tuple[CoresRun, ...]
    """Each ends before the next one begins."""
    limit: str
    """What keeps it from 32 flops a cycle and from twice the speed on twice the cores, with figures."""
    picture: NDArray[np.uint8] | None = None
    """uint8[row, column, rgb] where there is one."""

    @property
    def run(self) -> CoresRun:
        """All phases."""
        return CoresRun.joined(self.phases)

    @property
    def scaling(self) -> CoreScaling:
        """Cycles by number of cores."""
        return scaled([each.pieces for each in self.phases])


@dataclass(frozen=True, slots=True)
class KernelStudy:
    """A kernel of the paper by its name, and how it is studied."""

    name: str
    title: str
    place: str
    """Where the paper has it."""
    study: Callable[[CoreConfig | None, Progress | None], KernelResult]


def kernels_report(
    found: Sequence[tuple[KernelStudy, KernelResult]],
    wrote: Sequence[str] = (),
    config: CoreConfig | None = None,
) -> Report:
    """Return a report of studies and what they found; ``wrote`` are files with their pictures."""
    rows, notes, objects = list[tuple[Json, ...]](), list[Part](), list[Json]()
    cores: tuple[int, ...] = ()
    for study, result in found:
        about: dict[str, Json] = {"name": study.name, "title": study.title, "place": study.place}
        run, scaling = result.run, result.scaling
        cores = scaling.cores
        each = run.cycles / result.units
        rows.append(
            (
                study.name, each, result.unit, run.flops_per_cycle / PEAK, run.issuing, *scaling.speedups[1:],
            )
        )  # fmt: skip
        error = f"{result.error:.3g}"
        notes += [
            "",
            f"{study.name} ({study.place}): {study.title}; {result.work}",
            f"  beside {result.reference}: {error} {result.error_of} at most",
            f"  limit: {result.limit}",
        ]
        objects.append(
            {
                **about,
                "work": result.work,
                "reference": result.reference,
                "error": result.error,
                "error_of": result.error_of,
                "unit": result.unit,
                "units": result.units,
                "cycles": run.cycles,
                "cycles_per_unit": each,
                "share_of_peak": run.flops_per_cycle / PEAK,
                "vector_instructions_per_cycle": run.issuing,
                "vector_share": run.vector_share,
                "cores": list(scaling.cores),
                "cycles_on_cores": list(scaling.cycles),
                "limit": result.limit,
            }
        )
    columns = [
        Column("kernel"), Column("cycles", fixed(2)), Column("a"), Column("of 32 flops", percent),
        Column("vector/cycle", fixed(2)),
        *(Column(f"{count} cores", fixed(1)) for count in cores[1:]),
    ]  # fmt: skip
    config = config or CoreConfig()
    memory = "each piece of work begins with empty caches" if config.caches else "every access hits the L1 cache"
    closing = (
        "Cycles of a core whose four threads take turns; speed-ups over one core, with locks of 100 cycles and no "
        f"limit of bandwidth; {memory}. No source gives: {', '.join(invented(config))}."
    )
    table: list[Part] = [Table(columns, rows), "", closing] if rows else []
    return Report(
        results=[*table, *notes, *(Fact(path, "wrote") for path in wrote)],
        schema="pixelflow.larrabee-kernels/1",
        data={"kernels": objects, "pictures": list(wrote)},
    )


def list_of(studies: Sequence[KernelStudy]) -> Report:
    """Return a report of which kernels there are."""
    columns = (Column("kernel", key="name", fixed=True), Column("what", key="title"), Column("paper", key="place"))
    rows = [(each.name, each.title, each.place) for each in studies]
    return Report(results=[Table(columns, rows, key="kernels")], schema="pixelflow.larrabee-kernels-list/1")
