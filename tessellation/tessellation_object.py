"""`pixelflow tessellate --json`: one object with the figures of the report and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pixelflow.cli.shell.machine import config_object

if TYPE_CHECKING:
    from tessellation.tessellation_report import Outcome

__all__ = ["outcome_object"]


def outcome_object(outcome: Outcome) -> dict[str, Any]:
    """Return everything about a finished tessellation as plain values."""
    from pixelflow.node.guesses import guesses
    from tessellation import LIMIT

    effective, file, result, mesh = outcome.effective, outcome.file, outcome.result, outcome.mesh
    report, checked = mesh.report, outcome.checked
    return {
        "config": config_object(effective),
        "patches": {"file": file.name, "count": len(file.patches), "headers": file.convention.value},
        "samples": {"per_patch": [patch.samples for patch in result.patches], "total": result.samples},
        "library": result.library,
        "engine": result.engine,
        "control_points": result.control_points,
        "schedule": result.method.schedule,
        "sends": result.method.sends,
        "replication": result.method.replication,
        "mantissa_bytes": result.method.mantissa_bytes,
        "hybrid": result.method.hybrid,
        "load": result.method.load,
        "results": result.method.results,
        "gps": result.gps,
        "cache": result.method.cache,
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
            "cache_cycles": sum(run.total_cycles for run in result.caches) if result.caches else None,
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
        "guesses": guesses(result.runs, effective.config).as_object(),
        "written": outcome.written,
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
