"""What keeping results in texture memory takes: each way of appendix B after the passes and beside them, executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pixelflow.config import NodeConfig
from pixelflow.simd.report import Column, Json, Report, Table, number, percent
from tessellation.microprogram.gp_traffic import RESULT_BYTES
from tessellation.microprogram.method import CACHING_WAYS, KEPT, SCHEDULES, Method
from tessellation.plan.result_area import ResultArea
from tessellation.plan.stages import Stage
from tessellation.studies.workloads import INPUTS, Measurement, libraries_text, pass_of

__all__ = ["LIBRARY", "caching_report"]

LIBRARY = {schedule: "tuned-finite" if number else "plain" for number, schedule in enumerate(SCHEDULES)}
"""Float routines with each schedule, as in the documents."""


def caching_report(config: NodeConfig, schedules: Sequence[str], tell: Callable[[str], None]) -> Report:
    """Return the cycles of three passes whose results are kept, by schedule, way and time, and what they take there."""

    def measured(schedule: str, way: str | None, kept: str | None = None) -> Measurement:
        tell(f"{schedule}, {f'{way}, {kept}' if way else 'nothing kept'}")
        method = Method(schedule=schedule, cache=way, kept=kept)
        return pass_of(method, LIBRARY[schedule], given=INPUTS["three"]).on(config)

    rows: list[Sequence[Json]] = []
    for schedule in schedules:
        plain = measured(schedule, None)
        for way in CACHING_WAYS:
            after, beside = (measured(schedule, way, kept) for kept in KEPT)
            middle = beside.runs[1]
            hidden = (after.cycles - beside.cycles) / (len(plain.runs) - 1)
            rows.append((schedule, way, plain.cycles, after.cycles, beside.cycles,
                         middle.total_cycles - plain.runs[1].total_cycles, middle.by_stage[Stage.KEPT_STALL.value],
                         int(hidden)))  # fmt: skip
    columns = (
        Column("schedule", key="schedule"), Column("way", key="way", fixed=True), Column("not kept", number, "plain"),
        Column("after", number, "after"), Column("beside", number, "beside"),
        Column("more", number, "more"), Column("waits", number, "waits"), Column("hidden", number, "hidden"),
    )  # fmt: skip
    text = (
        f"Cycles of {INPUTS['three'].text}. After: each pass is followed by a program that keeps its results. "
        "Beside: the next pass does that, and the last, which has no next one, is followed by such a program. More: "
        "what a pass that keeps the results of another takes more than one that keeps nothing, with its waits. Hidden: "
        "what it saves of the program."
    )
    return Report(
        "kept results",
        (f"config {config.sha256[:6]}", libraries_text(LIBRARY[each] for each in schedules), "timing only, executed"),
        results=[text, "", Table(columns, rows, key="cycles"), "", _room(config)],
        schema="pixelflow.study.caching/1",
    )


def _room(config: NodeConfig) -> Table:
    """Return what the results of a pass take in each module by each way."""
    results = config.lanes // config.array.modules * RESULT_BYTES
    rows: list[Sequence[Json]] = []
    for way in CACHING_WAYS:
        taken = ResultArea.at(way, 0, config).taken_cells * config.sdram.devices_per_module
        rows.append((way, results, taken, (taken - results) / taken))
    columns = (
        Column("way", key="way"), Column("bytes of results", number, "results"), Column("in", number, "taken"),
        Column("empty", percent, "empty"),
    )  # fmt: skip
    return Table(columns, rows, title="of each pass in each module", key="room")
