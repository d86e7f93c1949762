"""Judging of a folder: every recorded run is made here, and its figures are judged by class of acceptance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from attila_bridge.records.classes import CLASSES, RecordRow, rows_of_run
from attila_bridge.records.families import rows_of_families
from attila_bridge.records.files import Records, read_records
from attila_bridge.records.measured import measure
from attila_bridge.scene.load import load_scene
from pixelflow.simd.report import Column, Json, Part, Report, Table, number
from pixelflow.simd.telling import Counting, unseen
from pixelflow.simd.workers import HERE, Workers

__all__ = ["FolderJudgement", "judge", "report"]

_SHOWN = 40
"""Rows that fall short and are spelled out as text; JSON has all rows."""


@dataclass(frozen=True, slots=True)
class FolderJudgement:
    """What came of a folder."""

    records: Records
    rows: tuple[RecordRow, ...]
    refused: dict[str, str]
    """Runs that this machine does not make, and why."""

    @property
    def short(self) -> list[RecordRow]:
        """Rows that do not hold."""
        return [row for row in self.rows if not row.held]


def judge(records: Records, workers: Workers = HERE, progress: Counting = unseen) -> FolderJudgement:
    """Make every run of a folder and judge it; raises InputError where a scene is damaged."""
    found = list(measure(records, workers, progress))
    refused = {run.name: each.refused for run, each in found if each.refused}
    made = [(run, each) for run, each in found if not each.refused]
    rows = [row for run, each in made for row in rows_of_run(run, load_scene(records.scene(run)), each)]
    return FolderJudgement(records, (*rows, *rows_of_families(made)), refused)


def report(folder: Path, workers: Workers = HERE, progress: Counting = unseen) -> Report:
    """Judge a folder and report: how many figures hold by class, and those that fall short."""
    found = judge(read_records(folder), workers, progress)
    parts: list[Part] = [_summary(found)]
    if found.short:
        columns = (
            Column("class", fixed=True), Column("run", fixed=True), Column("figure"), Column("recorded", number),
            Column("here", number), Column("off"),
        )  # fmt: skip
        shown = [(row.kind, row.run, row.figure, row.recorded, row.here, _off(row)) for row in found.short[:_SHOWN]]
        parts += ["falling short:", Table(columns, shown)]
        if len(found.short) > _SHOWN:
            parts.append(f"and {len(found.short) - _SHOWN} more; --json has them all")
    parts += [f"refused: {name} ({reason})" for name, reason in found.refused.items()]
    parts += [f"skipped: {name} ({reason})" for name, reason in found.records.skipped.items()]
    nothing = "" if found.rows else "nothing to judge"
    failure = "" if found.short or found.refused else nothing or None
    return Report(results=parts, schema="pixelflow.attila-records/1", data=_data(found), failure=failure)


def _summary(found: FolderJudgement) -> Table:
    rows = []
    for name, each in CLASSES.items():
        of_class = [row for row in found.rows if row.kind == name]
        held = sum(row.held for row in of_class)
        worst = max(of_class, key=lambda row: abs(row.deviation), default=None)
        rows.append((name, each.about, held, len(of_class) - held, "-" if worst is None else _off(worst)))
    columns = (
        Column("class", fixed=True), Column("figures"), Column("held", number), Column("short", number),
        Column("furthest off"),
    )  # fmt: skip
    return Table(columns, rows)


def _off(row: RecordRow) -> str:
    return f"{row.here:,.0f}" if row.kind == "A1" else f"{row.deviation:+.1%}"


def _data(found: FolderJudgement) -> dict[str, Json]:
    return {
        "folder": str(found.records.folder),
        "held": sum(row.held for row in found.rows),
        "short": len(found.short),
        "rows": [
            {
                "class": row.kind, "run": row.run, "figure": row.figure, "recorded": row.recorded, "here": row.here,
                "deviation": row.deviation, "limit": row.limit, "held": row.held,
            }
            for row in found.rows
        ],
        "refused": dict(found.refused),
        "skipped": dict(found.records.skipped),
    }  # fmt: skip
