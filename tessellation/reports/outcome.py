"""The report of `pixelflow tessellate`: what was done, what it took, and how good it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelflow.node import guesses, set_in_vain, stage_figures
from pixelflow.simd.report import Column, Json, Made, Report, Table, counted, facts, number, plural, share, verbatim
from tessellation.host.ledger import PatchLedger
from tessellation.host.trims import trim_account
from tessellation.plan.stages import Stage
from tessellation.reports.texture_memory import memory_object, memory_parts, texture_facts
from tessellation.sampling.choice import SampleChoice, choice_facts
from tessellation.surface.reference import LIMIT

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from tessellation import Mesh, MeshCheck, PatchFile, Tessellation

__all__ = ["Outcome", "errors_text", "outcome_report"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished tessellation, its surface, and the files that were written."""

    effective: Effective
    file: PatchFile
    result: Tessellation
    mesh: Mesh
    checked: MeshCheck | None
    """Cracks and open edges, of a welded mesh."""
    written: list[str]
    choice: SampleChoice | None = None
    """How patches were sampled by view; ``result`` has those that are seen."""


def outcome_report(outcome: Outcome) -> Report:
    """Return what was done, the cycles of each stage, errors, and the surface."""
    result, config, mesh = outcome.result, outcome.effective.config, outcome.mesh
    trims = trim_account(result.patches, mesh, config)
    allowed = f"of {LIMIT:g} allowed (2^-24 x"
    rows = [
        ("machine time", f"{result.seconds_at_clock * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        *texture_facts(result),
        ("worst point error", f"{result.worst_point_error:.3f} {allowed} magnitude)"),
        ("worst normal error", f"{result.worst_normal_error:.3f} {allowed} condition)"),
        ("degenerate samples", _degenerate_text(result)),
        ("ledger", _ledger_text(result.ledger)),
        *choice_facts(outcome.choice),
        *((("fixed point", _fixed_text(result)),) if result.method.fixed_sums else ()),
        *(trims.facts if trims else ()),
        ("mesh", _mesh_text(mesh)),
        ("patch edges", _edges_text(mesh)),
        ("", _gap_text(mesh, outcome.checked)),
        *(("not counted", text) for text in (*result.not_counted, *(trims.not_counted if trims else ()))),
        *(("wrote", path) for path in outcome.written),
        ("wall time", f"{result.wall_seconds:.2f} s for the simulation"),
    ]
    found = guesses(result.runs, config)
    checked = outcome.checked
    open_edges = "note: the surface is not closed or not orientable along shared edges"
    return Report(
        "pixelflow tessellate",
        (outcome.file.name, outcome.effective.label, f"library {result.library}", _method_text(result),
         f"engine {result.engine}"),
        [*_work_lines(result), "", _stage_table(result), "", *facts(rows), *memory_parts(result), *found.parts],
        schema="pixelflow.tessellate/1",
        data={**_object(outcome), "trims": trims.as_object() if trims else None, "guesses": found.as_object()},
        notes=[
            *([f"{open_edges}: {checked}"] if checked is not None and not checked.clean else []),
            *set_in_vain(result.runs, outcome.effective),
        ],
        figures=[Made(mesh.picture), *stage_figures(result.runs)],
        failure=None if result.within_limits else errors_text(result.worst_point_error, result.worst_normal_error),
    )  # fmt: skip


def _fixed_text(result: Tessellation) -> str:
    """Return how many patches have sums in fixed point, and why the others have none."""
    total, reasons = len(result.patches), Counter(result.refused.values())
    floats = "".join(f"; {number(count)} with floats, in passes of their own: {why}" for why, count in reasons.items())
    return f"{number(total - len(result.refused))} of {plural(total, 'patch')} in fixed point{floats}"


def errors_text(point: float, normal: float) -> str:
    """Return what is said of a result that misses the limits."""
    return f"a result is further than {LIMIT:g} units from the reference: point {point:.3g}, normal {normal:.3g}"


def _object(outcome: Outcome) -> dict[str, Json]:
    """Return everything about it for JSON."""
    effective, file, result, mesh = outcome.effective, outcome.file, outcome.result, outcome.mesh
    report, checked = mesh.built, outcome.checked
    return {
        "config": effective.as_object(),
        "patches": {"file": file.name, "count": len(file.patches), "headers": file.convention.value},
        "samples": {"per_patch": [patch.samples for patch in result.patches], "total": result.samples},
        "sampling": outcome.choice.as_object() if outcome.choice else None,
        "library": result.library,
        "engine": result.engine,
        "control_points": result.control_points,
        "schedule": result.method.schedule,
        "refused": {str(index + 1): why for index, why in result.refused.items()},
        "sends": result.method.sends,
        "replication": result.method.replication,
        "mantissa_bytes": result.method.mantissa_bytes,
        "hybrid": result.method.hybrid,
        "load": result.method.load,
        "results": result.method.results,
        "gps": result.gps,
        "cache": result.method.cache,
        "cache_time": result.method.kept,
        **memory_object(result),
        "not_counted": list(result.not_counted),
        "passes": [
            {
                "patches": len(plan.work.placements),
                "control_points": [plan.memory.rows, plan.memory.columns],
                "occupancy": plan.work.occupancy,
                "cycles": run.cycles,
                "by_stage": run.by_stage,
                "waits": run.waits,
                "program_sha256": run.program.sha256,
                "placed": placed.as_object(),
                "returned": returned.as_object(),
            }
            for plan, run, placed, returned in zip(
                result.plans, result.runs, result.ledger.placed, result.ledger.returned, strict=True
            )
        ],
        "ledger": result.ledger.as_object(),
        "result": {
            "cycles": result.cycles,
            "cycles_in_thesis": result.cycles_in_thesis,
            "load_cycles": result.load_cycles,
            "cache_cycles": sum(run.total_cycles for run in result.kept.stores) if result.kept else None,
            "recall_cycles": sum(run.total_cycles for run in result.recalls) if result.recalls else None,
            "return_cycles": result.return_cycles,
            "by_stage": result.cycles_by_stage,
            "seconds_at_clock": result.seconds_at_clock,
            "error_limit": LIMIT,
            "worst_point_error": _finite(result.worst_point_error),
            "worst_normal_error": _finite(result.worst_normal_error),
            "within_limits": result.within_limits,
            "degenerate_samples": result.degenerate,
            "lost_normals": result.lost_normals,
        },
        "mesh": {
            "vertices": len(mesh.points),
            "triangles": len(mesh.triangles),
            "welded": report.welded,
            "shared_edges": report.shared_edges,
            "open_edges": report.open_edges,
            "point_edges": report.point_edges,
            "uneven_edges": report.uneven_edges,
            "largest_gap": _finite(report.largest_gap),
            "turned_patches": report.turned_patches,
            "repaired_normals": report.repaired_normals,
            "cracks": None if checked is None else checked.cracks,
        },
        "written": outcome.written,
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _method_text(result: Tessellation) -> str:
    method = result.method
    way = f"schedule {method.schedule}" if method.from_texture else "control points by LEE"
    sends = f", {method.sends} sends" * (method.from_texture and not method.shares_columns)
    mantissa = f", mantissas of {method.mantissa_bytes} bytes{' (hybrid)' * method.hybrid}" * method.long
    returned = f", results {method.results} to {counted(result.gps, 'GP')}" if method.to_gps else ""
    return f"{way}{sends}{mantissa}{returned}"


def _work_lines(result: Tessellation) -> tuple[str, str]:
    nets: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for patch in result.patches:
        net = f"{patch.patch.counts[0]}x{patch.patch.counts[1]}"
        nets[net] = nets.get(net, 0) + 1
        size = f"{patch.samples}x{patch.samples}"
        sizes[size] = sizes.get(size, 0) + 1
    passes = len(result.plans)
    used = result.samples / (passes * result.config.lanes)
    return (
        f"{_listed(nets, 'control points', 'patch')}; {_listed(sizes, 'samples')}",
        f"{counted(result.samples, 'sample')} in {plural(passes, 'pass')}, "
        f"{100 * used:.1f} % of {number(result.config.lanes)} PEs",
    )


def _listed(counts: dict[str, int], last: str, noun: str = "") -> str:
    def of(count: int, size: str) -> str:
        if not noun:
            return f"{count} at {size}"
        return f"{plural(count, noun)} of {size}"

    if len(counts) > 4:
        return of(sum(counts.values()), f"{len(counts)} sizes")
    return " + ".join(of(count, size) for size, count in counts.items()) + f" {last}"


_THESIS_STAGES = {
    Stage.ADDRESSES: "table 3",
    Stage.BERNSTEIN: "table 4",
    Stage.POINTS: "table 7",
    Stage.DERIVATIVES: "table 7",
    Stage.INNER: "table 7, in floats",
    Stage.OUTER: "table 7, in floats",
    Stage.FLOATS: "none: table 7 has floats",
    Stage.NORMALS: "table 7",
}
"""The stages whose cycles the thesis counts, and where."""
_OTHER_STAGES = {
    Stage.ROUNDING: "appendix A",
    Stage.MARKS: "not counted",
    Stage.FIRST_STALL: "not counted (4.1.3)",
    Stage.STALL: "none (4.1.3)",
    Stage.COPY: "not counted",
    Stage.DISTRIBUTION: "table 6; not in table 12",
    Stage.EXCHANGE: "not the thesis's",
    Stage.CONTROL_POINTS: "not counted (3.2)",
    Stage.LEE: "not counted (figure 9)",
    Stage.TRIM: "named, not solved (5.1)",
    Stage.RETURN: "4.1.4; path busy ",
    Stage.KEEPING: "appendix B",
    Stage.KEPT_STALL: "none (appendix B)",
}


def _stage_table(result: Tessellation) -> Table:
    """Return executed cycles by stage, those that the thesis counts first, the others as lines of their own."""
    by_stage, inside = result.cycles_by_stage, result.cycles_in_thesis

    def row(cycles: int, name: str, source: str) -> tuple[int, str, str, str]:
        return cycles, share(cycles, result.cycles), name, source

    def of(stages: dict[Stage, str]) -> Iterator[tuple[int, str, str, str]]:
        for stage in (stage for stage in stages if stage in by_stage):
            name = f"{stage.value} ({result.control_points})" if stage is Stage.CONTROL_POINTS else stage.value
            busy = number(result.return_cycles) if stage is Stage.RETURN else ""
            yield row(by_stage[stage], name, stages[stage] + busy)

    rows = [
        *of(_THESIS_STAGES),
        row(inside, "= what the thesis counts", ""),
        *of(_OTHER_STAGES),
        row(result.cycles, "= all", ""),
    ]
    if result.load_cycles:
        rows.append((result.load_cycles, "", f"{Stage.LOAD.value}, before that", "not counted"))
    return Table(
        (Column("cycles", number, bars=True), Column("share", verbatim), Column("stage"), Column("thesis")), rows
    )


def _degenerate_text(result: Tessellation) -> str:
    text = number(result.degenerate)
    if result.lost_normals:
        text += f", {number(result.lost_normals)} of them because a squared length left the range of binary32"
    return text


def _ledger_text(ledger: PatchLedger) -> str:
    back = ledger.all_returned
    patches = f"{number(back.patches)} of {plural(ledger.registered, 'patch')}"
    return f"{patches}, {counted(back.blocks, 'block')}, {counted(back.samples, 'sample')}: in = out"


def _mesh_text(mesh: Mesh) -> str:
    text = f"{number(len(mesh.points))} vertices, {counted(len(mesh.triangles), 'triangle')}"
    if mesh.built.turned_patches:
        text += f", {plural(mesh.built.turned_patches, 'patch')} turned over to face the same way"
    return text


def _edges_text(mesh: Mesh) -> str:
    report = mesh.built
    text = f"{report.shared_edges} shared, {report.open_edges} open, {report.point_edges} shrunk to a point"
    return text + (f"; {report.uneven_edges} between different samples" if report.uneven_edges else "")


def _gap_text(mesh: Mesh, checked: MeshCheck | None) -> str:
    gap = f"{mesh.built.largest_gap:.3f} (2^-24 x magnitude)"
    if checked is not None:
        return f"welded over gaps up to {gap}; {counted(checked.cracks, 'crack')}"
    uneven = ", and between different samples" if mesh.built.uneven_edges else ""
    return f"gaps up to {gap}{uneven}; --weld closes them"
