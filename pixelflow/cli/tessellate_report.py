"""The report of `pixelflow tessellate`: what was done, what it took, and how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.simd.records import record

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from pixelflow.node import Run
    from tessellation import Mesh, MeshCheck, PatchFile, Tessellation
    from tessellation.ledger import PatchLedger
    from tessellation.stages import Stage

__all__ = ["Outcome", "show_outcome"]


@record
class Outcome:
    """A finished tessellation, its surface, and the files that were written."""

    effective: Effective
    file: PatchFile
    result: Tessellation
    mesh: Mesh
    checked: MeshCheck | None
    """Cracks and open edges, of a welded mesh."""
    written: list[str]


def show_outcome(screen: Screen, outcome: Outcome) -> None:
    """Print what was done, the cycles of each stage, errors, and the surface."""
    from pixelflow.cli.guesses import guesses
    from tessellation import LIMIT

    result, config = outcome.result, outcome.effective.config
    screen.paragraph(
        f"pixelflow tessellate · {outcome.file.name} · config {outcome.effective.preset} ({config.sha256[:6]})"
        f" · library {result.library} · {_method_text(result)} · engine {result.engine}"
    )
    for line in _work_lines(result):
        screen.text(line)
    screen.text()
    _stage_table(screen, result)
    screen.text()
    seconds = result.seconds_at_clock
    rows = [
        ("machine time", f"{seconds * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("worst point error", f"{result.worst_point_error:.3f} of {LIMIT:g} allowed (2^-24 x magnitude)"),
        ("worst normal error", f"{result.worst_normal_error:.3f} of {LIMIT:g} allowed (2^-24 x condition)"),
        ("degenerate samples", _degenerate_text(result)),
        ("ledger", _ledger_text(result.ledger)),
        ("mesh", _mesh_text(outcome.mesh)),
        ("patch edges", _edges_text(outcome.mesh)),
        ("", _gap_text(outcome.mesh, outcome.checked)),
    ]
    if result.caches:
        rows.insert(1, ("kept in texture", f"{_cycles_text(result.caches)}; TASICs busy {_busy_text(result.caches)}"))
        rows.insert(2, ("read back", f"{_cycles_text(result.recalls)}; TASICs busy {_busy_text(result.recalls)}"))
    rows += [("not counted", text) for text in result.not_counted]
    rows += [("wrote", path) for path in outcome.written]
    rows.append(("wall time", f"{result.wall_seconds:.2f} s for the simulation"))
    for name, text in rows:
        screen.text(f"{name:<20}{text}")
    guesses(result.runs, config).show(screen)


def _cycles_text(runs: tuple[Run, ...]) -> str:
    return f"{number(sum(run.total_cycles for run in runs))} cycles beside these"


def _busy_text(runs: tuple[Run, ...]) -> str:
    return number(sum(max(run.tasic_cycles) for run in runs))


def _method_text(result: Tessellation) -> str:
    method = result.method
    way = f"schedule {method.schedule}" if method.from_texture else "control points by LEE"
    sends = f", {method.sends} sends" * (method.from_texture and not method.overlapped)
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
        f"{counted(result.samples, 'sample')} in {passes} pass{'es' * (passes != 1)}, "
        f"{100 * used:.1f} % of {number(result.config.lanes)} PEs",
    )


def _listed(counts: dict[str, int], last: str, noun: str = "") -> str:
    def of(count: int, size: str) -> str:
        if not noun:
            return f"{count} at {size}"
        return f"{count} {noun}{'es' * (count != 1)} of {size}"

    if len(counts) > 4:
        return of(sum(counts.values()), f"{len(counts)} sizes")
    return " + ".join(of(count, size) for size, count in counts.items()) + f" {last}"


def _stage_table(screen: Screen, result: Tessellation) -> None:
    """Print executed cycles by stage, those that the thesis counts first, the others as lines of their own."""
    from tessellation.stages import Stage

    def share(cycles: int) -> str:
        return f"{100 * cycles / result.cycles:.1f} %"

    columns = [Column("cycles", numbers=True), Column("share", numbers=True), Column("stage"), Column("thesis")]
    by_stage = result.cycles_by_stage
    source = {
        Stage.ADDRESSES: "table 3",
        Stage.BERNSTEIN: "table 4",
        Stage.POINTS: "table 7",
        Stage.DERIVATIVES: "table 7",
        Stage.NORMALS: "table 7",
    }
    rows = [
        [number(by_stage[stage]), share(by_stage[stage]), stage.value, source[stage]]
        for stage in source
        if stage in by_stage
    ]
    inside = result.cycles_in_thesis
    rows.append([number(inside), share(inside), "= what the thesis counts", ""])
    outside = {
        Stage.ROUNDING: "appendix A",
        Stage.MARKS: "not counted",
        Stage.FIRST_STALL: "not counted (4.1.3)",
        Stage.STALL: "none (4.1.3)",
        Stage.COPY: "not counted",
        Stage.DISTRIBUTION: "table 6; not in table 12",
        Stage.EXCHANGE: "not the thesis's",
        Stage.CONTROL_POINTS: "not counted (3.2)",
        Stage.LEE: "not counted (figure 9)",
        Stage.RETURN: f"4.1.4; path busy {number(result.return_cycles)}",
    }
    rows += [
        [number(by_stage[stage]), share(by_stage[stage]), _outside_name(stage, result), text]
        for stage, text in outside.items()
        if stage in by_stage
    ]
    rows.append([number(result.cycles), share(result.cycles), "= all", ""])
    if result.load_cycles:
        rows.append([number(result.load_cycles), "", f"{Stage.LOAD.value}, before that", "not counted"])
    screen.table(columns, rows)


def _outside_name(stage: Stage, result: Tessellation) -> str:
    from tessellation.stages import Stage

    return f"{stage.value} ({result.control_points})" if stage is Stage.CONTROL_POINTS else stage.value


def _degenerate_text(result: Tessellation) -> str:
    text = number(result.degenerate)
    if result.lost_normals:
        text += f", {number(result.lost_normals)} of them because a squared length left the range of binary32"
    return text


def _ledger_text(ledger: PatchLedger) -> str:
    back = ledger.all_returned
    patches = f"{number(back.patches)} of {number(ledger.registered)} patches"
    return f"{patches}, {counted(back.blocks, 'block')}, {counted(back.samples, 'sample')}: in = out"


def _mesh_text(mesh: Mesh) -> str:
    text = f"{number(len(mesh.points))} vertices, {counted(len(mesh.triangles), 'triangle')}"
    if mesh.report.turned_patches:
        turned = mesh.report.turned_patches
        text += f", {turned} patch{'es' * (turned != 1)} turned over to face the same way"
    return text


def _edges_text(mesh: Mesh) -> str:
    report = mesh.report
    text = f"{report.shared_edges} shared, {report.open_edges} open, {report.point_edges} shrunk to a point"
    return text + (f"; {report.uneven_edges} between different samples" if report.uneven_edges else "")


def _gap_text(mesh: Mesh, checked: MeshCheck | None) -> str:
    gap = f"{mesh.report.largest_gap:.3f} (2^-24 x magnitude)"
    if checked is not None:
        return f"welded over gaps up to {gap}; {counted(checked.cracks, 'crack')}"
    uneven = ", and between different samples" if mesh.report.uneven_edges else ""
    return f"gaps up to {gap}{uneven}; --weld closes them"
