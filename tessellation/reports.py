"""Reports (watching) of a tessellation, a server and texture memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pixelflow.caveats import coded
from pixelflow.node import Run, guesses, set_in_vain, stage_figures
from pixelflow.simd.report import (
    Column,
    Json,
    Made,
    Report,
    Table,
    counted,
    facts,
    largest,
    machine_time,
    number,
    plural,
    share,
    verbatim,
)
from tessellation.host.ledger import PatchLedger
from tessellation.host.session import KeptResults
from tessellation.host.tessellator import Tessellation, trim_account
from tessellation.microprogram.method import LOADING
from tessellation.plan.fixed import only_residues
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import Owner
from tessellation.sampling import SampleChoice, choice_facts
from tessellation.surface.reference import LIMIT, PatchSamples

if TYPE_CHECKING:
    from pixelflow.config import NodeConfig
    from pixelflow.node import Guesses
    from pixelflow.simd.configuration import Effective
    from tessellation import Mesh, MeshCheck, PatchFile, PatchServer

# Texture memory in reports: kept results, owners, and a map of logical texture space (4.3).


_MOST_STAGES = 7
"""Stages in the brief form."""
_ROWS, _COLUMNS = 32, 64
"""Letters of a map, which are twice as high as wide."""


def texture_facts(result: Tessellation) -> list[tuple[str, str]]:
    """Return the cost and place of kept results and pictures, and the cost of the way back."""
    lines: list[tuple[str, str]] = []
    if result.kept is not None:
        lines += [("kept in texture", text) for text in _kept_texts(result.kept)]
        lines += [("read back", _alone(result.recalls))] if result.recalls else []
    for held in result.textures:
        size = f"{held.place.columns}x{held.place.rows}"
        lines.append((f"texture {held.name}", f"{size} texels, {held.place.text}; unchanged in every module"))
    return lines


def _kept_texts(kept: KeptResults) -> Iterator[str]:
    if kept.beside:
        work, wait = (sum(run.by_stage.get(stage.value, 0) for run in kept.beside) for stage in _OF_KEEPING)
        passes = plural(len(kept.beside), "pass")
        yield f"during {passes}: {number(work)} cycles of the EMCs and {number(wait)} of waits, both in the count above"
    yield f"by {plural(len(kept.stores), 'separate program')}: {_alone(kept.stores)}"
    if kept.no_room:
        yield f"{plural(kept.no_room, 'pass')} had no 40 bytes of PE memory left to write during them"
    empty = kept.taken_bytes - kept.result_bytes
    yield (
        f"{number(kept.result_bytes)} bytes in each module, in {number(kept.taken_bytes)}: "
        f"{share(empty, kept.taken_bytes)} left empty"
    )


_OF_KEEPING = (Stage.KEEPING, Stage.KEPT_STALL)


def _alone(runs: Sequence[Run]) -> str:
    total = sum(run.total_cycles for run in runs)
    return f"{number(total)} cycles in addition to the count above; TASICs busy {number(_tasic_cycles(runs))}"


def _tasic_cycles(runs: Sequence[Run]) -> int:
    """Return the cycles of the busiest TASIC, over runs that follow each other."""
    return sum(max(run.tasic_cycles) for run in runs)


def memory_parts(result: Tessellation) -> list[str | Table]:
    """Return the owners of texture memory, module by module, and a map of the first; nothing if patches have it
    alone.
    """
    space = result.space
    if space is None or (result.kept is None and not result.textures):
        return []
    owners = [*list(Owner)[1:], Owner.FREE]
    there = [each for each in owners if any(space.bytes_of(each, module) for module in range(space.modules))]
    columns = (
        Column("module", key="module"),
        *(Column(owner.title, number, owner.title) for owner in there),
        Column("largest free square", lambda side: f"{side}x{side} texels", "largest_free_square"),
    )
    rows: list[Sequence[Json]] = [
        (module, *(space.bytes_of(owner, module) for owner in there), space.largest_square(module))
        for module in range(space.modules)
    ]
    letters = ", ".join(f"{owner.letter} {owner.title}" for owner in there)
    lines = _cut(space.drawn(0, _ROWS, _COLUMNS))
    return [
        "",
        Table(columns, rows, title="bytes of texture memory", key="texture_memory"),
        "",
        f"logical texture space of module 0, each letter {space.part(_ROWS, _COLUMNS)} texels: {letters}",
        *lines,
    ]


def _cut(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a map, with one line for a run of empty ones."""
    empty = "." * len(lines[0])
    for line, same in groupby(lines):
        times = len(list(same))
        if line == empty and times > 2:
            yield f"  {line} x {times}"
        else:
            yield from (f"  {line}" for _ in range(times))


def memory_object(result: Tessellation) -> dict[str, Json]:
    """Return the same for JSON."""
    kept = result.kept
    return {
        "kept": None
        if kept is None
        else {
            "result_bytes": kept.result_bytes,
            "taken_bytes": kept.taken_bytes,
            "passes_beside": len(kept.beside),
            "passes_without_room": kept.no_room,
            "beside_cycles": sum(run.by_stage.get(stage.value, 0) for run in kept.beside for stage in _OF_KEEPING),
        },
        "textures": [{"name": held.name, **held.place._asdict()} for held in result.textures],
    }


# The report of `pixelflow tessellate`: work, cycles and errors.


class Outcome(NamedTuple):
    """A finished tessellation, its surface, and the files that were written."""

    effective: Effective[NodeConfig]
    file: PatchFile
    result: Tessellation
    mesh: Mesh
    checked: MeshCheck | None
    """Defects of a welded mesh."""
    written: list[str]
    choice: SampleChoice | None = None
    """The choice of samples by view; ``result`` has the visible patches."""


def outcome_report(outcome: Outcome) -> Report:
    """Return the work, the cycles of each stage, errors, and the surface."""
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
    assumed = guesses(result.runs, config)
    checked = outcome.checked
    subject = outcome.effective.label, f"library {result.library}", _method_text(result), f"engine {result.engine}"
    left_out = "; ".join((*result.not_counted, *(trims.not_counted if trims else ())))
    point, normal = result.worst_point_error, result.worst_normal_error
    brief = [
        *((("fixed point", _fixed_text(result)),) if result.refused else ()),
        ("worst error", f"point {point:.3f}, normal {normal:.3f} of {LIMIT:g} units of 2^-24 allowed"),
        ("mesh", _mesh_text(mesh)),
        ("", _gap_text(mesh, checked) if checked is not None else ""),
        ("not counted", left_out),
        ("wrote", ", ".join(outcome.written)),
    ]
    open_edges = coded("note: the surface is not closed or not orientable along shared edges", "PF204")
    return Report(
        "pixelflow tessellate",
        (outcome.file.name, *subject),
        [*_work_lines(result), "", _stage_table(result), "", *facts(rows), *memory_parts(result), *assumed.parts],
        brief=[
            _answer(outcome), "; ".join(_work_lines(result)).rpartition(", ")[0], " · ".join(subject), "",
            _brief_stages(result), "", *facts(brief), assumed.line,
        ],
        schema="pixelflow.tessellate/1",
        data={**_object(outcome), "trims": trims.as_object() if trims else None, "guesses": assumed.as_object()},
        notes=[
            *([f"{open_edges}: {checked}"] if checked is not None and not checked.clean else []),
            *set_in_vain(result.runs, outcome.effective),
        ],
        figures=[Made(mesh.picture), *stage_figures(result.runs)],
        failure=None if result.within_limits else errors_text(result.worst_point_error, result.worst_normal_error),
    )  # fmt: skip


def _fixed_text(result: Tessellation) -> str:
    """Return the number of patches with sums in fixed point, the reasons for floats, and what they cost."""
    total, reasons = len(result.patches), Counter(result.refused.values())
    floats = "".join(f"; {number(count)} refused: {why}" for why, count in reasons.items())
    cost = sum(run.cycles for plan, run in zip(result.plans, result.runs, strict=True) if not plan.fixed)
    passes = f"; passes of floats for them took {counted(cost, 'cycle')}" if cost else ""
    residues = sum(only_residues(result.patches[index].patch) for index in result.refused)
    hint = f"; {number(residues)} only for coordinates below 2^-40 of their largest: set these to 0" if residues else ""
    return f"{number(total - len(result.refused))} of {plural(total, 'patch')} in fixed point{floats}{passes}{hint}"


def errors_text(point: float, normal: float) -> str:
    """Return the message for a result that misses the limits."""
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
        "lanes": result.config.lanes,
        "mantissa_bytes": result.method.mantissa_bytes,
        "hybrid": result.method.hybrid,
        "load": result.method.load,
        "results": result.method.results,
        "gps": result.gps,
        "cache": result.method.cache,
        "cache_time": result.method.kept,
        **memory_object(result),
        "not_counted": list(result.not_counted),
        "on_gps": {"patches": [index + 1 for index in result.on_gps], "cycles_by_formula": result.gp_cycles},
        "passes": [
            {
                "patches": len(plan.work.placements),
                "control_points": [plan.memory.rows, plan.memory.columns],
                "occupancy": plan.work.occupancy,
                "cycles": run.cycles,
                "by_stage": run.by_stage,
                "waits": run.waits,
                "program_sha256": run.program.sha256,
                "placed": asdict(placed),
                "returned": asdict(returned),
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
            "cache_tasic_cycles": _tasic_cycles(result.kept.stores) if result.kept else None,
            "recall_tasic_cycles": _tasic_cycles(result.recalls),
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
    returned = f", results {method.results} to {counted(result.gps, 'GP')}" if result.gps is not None else ""
    return f"{way}{sends}{mantissa}{returned}"


def _work_lines(result: Tessellation) -> tuple[str, str]:
    nets = Counter("{}x{}".format(*patch.patch.counts) for patch in result.patches)
    sizes = Counter(f"{patch.samples}x{patch.samples}" for patch in result.patches)
    passes = len(result.plans)
    used = result.samples / (passes * result.config.lanes)
    return (
        f"{_listed(nets, 'control points', 'patch')}; {_listed(sizes, 'samples')}",
        f"{counted(result.samples, 'sample')} in {plural(passes, 'pass')}, "
        f"{100 * used:.1f} % of {number(result.config.lanes)} PEs",
    )


def _listed(counts: dict[str, int], last: str, noun: str = "") -> str:
    def of(count: int, size: str) -> str:
        return f"{plural(count, noun)} of {size}" if noun else f"{count} at {size}"

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
"""The stages that the thesis counts, with the table."""
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
    """Return executed cycles by stage, those that the thesis counts first."""
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


def _brief_stages(result: Tessellation) -> Table:
    """Return the cycles of the longest stages, with their place in the thesis."""
    sources = {
        stage.value: text.removesuffix("; path busy ") for stage, text in (_THESIS_STAGES | _OTHER_STAGES).items()
    }
    cycles = {stage.value: result.cycles_by_stage.get(stage, 0) for stage in (*_THESIS_STAGES, *_OTHER_STAGES)}
    rows = [(n, share(n, result.cycles), name, sources.get(name, "")) for name, n in largest(cycles, _MOST_STAGES)]
    columns = (Column("cycles", number), Column("share", verbatim), Column("stage"), Column("thesis"))
    return Table(columns, rows, foot=[(result.cycles, share(result.cycles, result.cycles), "= all", "")])


def _answer(outcome: Outcome) -> str:
    result = outcome.result
    time = f"{machine_time(result.seconds_at_clock)} at {outcome.effective.config.clock_mhz} MHz"
    inside = f"the thesis counts {number(result.cycles_in_thesis)} of them"
    return f"{outcome.file.name}: {counted(result.cycles, 'cycle')}, {time}; {inside}"


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


# The report of `pixelflow serve`: the work of the server, and the traffic to each client.


@dataclass(frozen=True)
class Served:
    """A finished tessellation on a server, and the files that were written."""

    effective: Effective[NodeConfig]
    file: PatchFile
    library: str
    server: PatchServer
    written: list[str]

    @cached_property
    def results(self) -> list[PatchSamples]:
        """The samples of each patch in the clients' memories."""
        return [handle.result for handle in self.server.handles if handle.result is not None]

    @property
    def samples(self) -> int:
        """Samples of all patches."""
        return sum(each.samples**2 for each in self.results)

    @cached_property
    def worst_errors(self) -> tuple[float, float]:
        """The largest errors of points and of normals, in their units."""
        normals = (float(np.nanmax(each.normal_errors, initial=0.0)) for each in self.results)
        return max(float(each.point_errors.max()) for each in self.results), max(normals)

    @property
    def runs(self) -> list[Run]:
        """All executed runs: loads, passes, and deliveries on every node involved."""
        server = self.server
        return [*server.loads, *server.runs, *(run for each in server.deliveries for run in each.run.runs.values())]

    @cached_property
    def guesses(self) -> Guesses:
        """The assumptions beyond the thesis."""
        return guesses(self.runs, self.effective.config)

    @property
    def paths(self) -> list[tuple[str, int, int, int]]:
        """Each path with its bytes, its busy cycles, and the cycles by the formula: bytes over bytes a cycle."""
        server, config = self.server, self.effective.config
        width = config.gni.mb_per_second // config.clock_mhz
        narrow = config.gni.gp_memory_mb_per_second // config.clock_mhz
        runs = [delivery.run for delivery in server.deliveries]
        carried = sum(run.network_bytes for run in runs)
        out = sum(run.gni_cycles[0].get("network_out", 0) for run in runs)
        rows = [
            ("server's GNI to the network", carried, out, carried // width),
            ("geometry network", carried, sum(run.network_busy_cycles for run in runs), carried // width),
        ]
        for client in range(server.clients):
            stored = sum(delivery.bytes_each[client] for delivery in server.deliveries)
            busy = sum(delivery.client_cycles[client] for delivery in server.deliveries)
            rows.append((f"client {client + 1}, to GP memory", stored, busy, stored // narrow))
        return rows


def served_report(served: Served) -> Report:
    """Return the cycles of both parts, the paths, the shares of the clients, and the errors."""
    server, config = served.server, served.effective.config
    method, node = server.session.method, server.session.node
    total = server.cycles + server.delivery_cycles
    point, normal = served.worst_errors
    shares = ", ".join(str(len(server.share(client))) for client in range(server.clients))
    allowed = f"of {LIMIT:g} allowed (2^-24 x"
    load = sum(run.cycles for run in server.loads)
    outside = method.load == "direct" and method.from_texture
    rows = [
        ("load", f"{number(load)} cycles before, from the server's GP" if server.loads else ""),
        ("tessellation", f"{number(server.cycles)} cycles on the server"),
        ("delivery", f"{number(server.delivery_cycles)} cycles until everything has arrived"),
        ("machine time", f"{config.seconds(total) * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("patches", f"{shares}, client by client"),
        ("worst point error", f"{point:.3f} {allowed} magnitude)"),
        ("worst normal error", f"{normal:.3f} {allowed} condition)"),
        ("not counted", LOADING if outside else ""),
        *(("wrote", path) for path in served.written),
    ]
    columns = (
        Column("path", key="path", fixed=True), Column("bytes", number, "bytes"),
        Column("busy cycles", number, "busy_cycles"), Column("formula", number, "formula_cycles"),
    )  # fmt: skip
    work = f"{counted(served.samples, 'sample')} in {plural(len(server.plans), 'pass')}"
    return Report(
        "pixelflow serve",
        (served.file.name, served.effective.label, f"library {served.library}", f"schedule {method.schedule}",
         f"engine {node.engine}", counted(server.clients, "client")),
        [work, "", Table(columns, served.paths, key="paths"), "", *facts(rows, wrap=False),
         *served.guesses.parts],
        schema="pixelflow.serve/1",
        data=_served_object(served),
        notes=set_in_vain(served.runs, served.effective),
        failure=errors_text(point, normal) if max(point, normal) > LIMIT else None,
    )  # fmt: skip


def _served_object(served: Served) -> dict[str, Json]:
    """Return everything about it for JSON."""
    server, config = served.server, served.effective.config
    point, normal = served.worst_errors
    return {
        "config": served.effective.as_object(),
        "patches": {"file": served.file.name, "count": len(served.file.patches)},
        "samples": {"per_patch": [each.samples for each in served.results], "total": served.samples},
        "library": served.library,
        "engine": server.session.node.engine,
        "schedule": server.session.method.schedule,
        "passes": [
            {
                "patches": len(plan.work.placements),
                "cycles": run.cycles,
                "delivery_cycles": delivery.run.cycles,
                "network_bytes": delivery.run.network_bytes,
                "network_busy_cycles": delivery.run.network_busy_cycles,
            }
            for plan, run, delivery in zip(server.plans, server.runs, server.deliveries, strict=True)
        ],
        "clients": [
            {
                "node": client + 1,
                "patches": [handle.number for handle in server.share(client)],
                "bytes": sum(delivery.bytes_each[client] for delivery in server.deliveries),
                "busy_cycles": sum(delivery.client_cycles[client] for delivery in server.deliveries),
            }
            for client in range(server.clients)
        ],
        "ledger": server.ledger.as_object() if server.ledger else None,
        "result": {
            "load_cycles": sum(load.cycles for load in server.loads),
            "tessellation_cycles": server.cycles,
            "delivery_cycles": server.delivery_cycles,
            "cycles": server.cycles + server.delivery_cycles,
            "seconds_at_clock": config.seconds(server.cycles + server.delivery_cycles),
            "error_limit": LIMIT,
            "worst_point_error": point,
            "worst_normal_error": normal,
        },
        "guesses": served.guesses.as_object(),
        "written": served.written,
    }
