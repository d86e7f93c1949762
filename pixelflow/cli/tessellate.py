"""Tessellate Bezier patches by microcode on the simulated array; write points, unit normals and triangles.

PATCHES is a .bpt file, or the name of a model that ships with the package: teapot, enneper.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError, add_config_options
from pixelflow.cli.machine import config_object, configuration
from pixelflow.cli.output import STANDARD_STREAM, check_writable, output_file
from pixelflow.cli.programs import refuse_overwrite
from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.errors import ExpectationError, InputError

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from tessellation import Mesh, PatchFile, Tessellation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, sampling, machine and outputs."""
    from pixelflow.lanes import ENGINES
    from tessellation.libraries import LIBRARIES
    from tessellation.passes import CONTROL_POINTS, GP_WAYS, RESULT_WAYS, SCHEDULES
    from tessellation.precision import MANTISSAS
    from tessellation.texture_layout import REPLICATIONS
    from tessellation.texture_source import SENDS

    add = parser.add_argument
    add("patches", metavar="PATCHES", help="patch file (.bpt), or a built-in model: teapot, enneper")
    add("--samples", type=_samples, default=[16], metavar="K[,K...]",
        help="samples along u and along v, 2 to 16 (default: 16); a list is dealt to the patches in turn")  # fmt: skip
    add("--library", choices=tuple(LIBRARIES), default=None,
        help="float routines (default: tuned; overlapped: tuned-finite where nothing can overflow)")  # fmt: skip
    add("--control-points", choices=CONTROL_POINTS, default=CONTROL_POINTS[0],
        help="how control points reach the PEs (default: from texture memory)")  # fmt: skip
    add("--schedule", choices=SCHEDULES, default=SCHEDULES[0],
        help="order of work: the thesis's (default), or overlapped, which takes far fewer cycles")  # fmt: skip
    add("--sends", type=int, choices=SENDS, default=None, metavar="S",
        help="sends per block and transfer of the thesis's schedule: 16, 8, 4 (default), 2 or 1")  # fmt: skip
    add("--mantissa-bytes", type=int, choices=MANTISSAS, default=3, metavar="N",
        help="mantissa of all arithmetic: 3 (binary32, default) to 6; results are rounded to binary32")  # fmt: skip
    add("--hybrid", action="store_true", help="with longer mantissas: keep the control points binary32")
    add("--replication", type=int, choices=REPLICATIONS, default=1, metavar="N",
        help="modules that hold each patch: 1 (default), 2 or 4")  # fmt: skip
    add("--load", choices=GP_WAYS, default=GP_WAYS[0],
        help="how the database gets into texture memory: at once (default), or loaded from GP memory")  # fmt: skip
    add("--results", choices=RESULT_WAYS, default=RESULT_WAYS[0],
        help="way of the results: read at once (default), to GP memory after a pass, or points during one")  # fmt: skip
    add("--engine", choices=ENGINES, default="rows", help="lane engine (default: rows)")
    add_config_options(parser)
    group = parser.add_argument_group("outputs")
    add = group.add_argument
    add("-o", "--output", metavar="FILE", help="mesh file: .obj, .ply (binary) or .npz")
    add("--weld", action="store_true", help="one vertex per shared sample, no cracks along shared edges")
    add("--outward", action="store_true",
        help="turn whole parts so that normals point out of the volume (default: along dP/du x dP/dv)")  # fmt: skip
    add("--preview", metavar="FILE.png", help="shaded picture (needs pillow: pip install 'pixelflow-sim[image]')")


def run(args: argparse.Namespace) -> int:
    """Tessellate, write the files, report; raises ExpectationError where a result misses the limits."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    _check_outputs(args)
    if args.sends is None:
        args.sends = 4
    elif args.control_points == "lee":
        raise UsageError(
            "--sends",
            "sends are reads of texture memory, and the LEE reads none",
            "leave out --sends or --control-points",
        )

    from tessellation import LIMIT, Method, check, load, tessellate

    method = Method(
        args.control_points, args.schedule, args.sends, args.replication, args.mantissa_bytes,
        hybrid=args.hybrid, load=args.load, results=args.results,
    )  # fmt: skip
    file = load(args.patches)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    counts = [args.samples[index % len(args.samples)] for index in range(len(file.patches))]
    result = tessellate(
        file.patches,
        counts,
        library=args.library,
        engine=args.engine,
        config=effective.config,
        method=method,
        progress=screen.note,
    )
    mesh = result.mesh(weld=args.weld, outward=args.outward)
    checked = check(mesh) if args.weld else None
    written = _write(args, screen, mesh)
    if screen.json:
        screen.object("pixelflow.tessellate/1", **_object(args, effective, file, result, mesh, checked, written))
    elif not screen.quiet:
        _report(screen, args, effective, file, result, mesh, checked, written)
    if checked is not None and not checked.clean:
        screen.note(f"note: the surface is not closed or not orientable along shared edges: {checked}")
    if not result.within_limits:
        raise ExpectationError(
            f"a result is further than {LIMIT:g} units from the reference: point {result.worst_point_error:.3g}, "
            f"normal {result.worst_normal_error:.3g}"
        )
    return 0


def _samples(text: str) -> list[int]:
    from tessellation.mapping import MAX_SAMPLES, MIN_SAMPLES

    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in text.split(",")]
    if not all(MIN_SAMPLES <= count <= MAX_SAMPLES for count in counts):
        raise argparse.ArgumentTypeError(
            f"expected {MIN_SAMPLES} to {MAX_SAMPLES}, or a list 4,8,16; found {text[:40]!r}"
        )
    return counts


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse outputs that could not be written before any work is done."""
    from tessellation.export import suffix_of
    from tessellation.preview import require_pillow

    if STANDARD_STREAM in (args.output, args.preview):
        raise UsageError("-o -", "a mesh or a picture does not go to standard output", "name a file")
    if args.output is not None:
        suffix_of(args.output)
    if args.preview is not None:
        if not args.preview.lower().endswith(".png"):
            raise UsageError(f"--preview {args.preview[:60]}", "the picture is a PNG", "name a file that ends in .png")
        require_pillow()
    for path in (args.output, args.preview):
        if path is not None:
            refuse_overwrite(args.patches, path)
            check_writable(path)


def _write(args: argparse.Namespace, screen: Screen, mesh: Mesh) -> list[str]:
    from tessellation.export import encode
    from tessellation.preview import png

    written = []
    if args.output is not None:
        with output_file(args.output, binary=True) as stream:
            stream.write(encode(mesh, args.output))
        written.append(args.output)
    if args.preview is not None:
        screen.note("drawing the preview")
        try:
            picture = png(mesh)
        except InputError as error:  # the mesh and the report are no worse for it
            screen.note(f"note: no preview: {error.faults[0].message}")
            return written
        with output_file(args.preview, binary=True) as stream:
            stream.write(picture)
        written.append(args.preview)
    return written


def _report(
    screen: Screen,
    args: argparse.Namespace,
    effective: Effective,
    file: PatchFile,
    result: Tessellation,
    mesh: Mesh,
    checked: Any,
    written: list[str],
) -> None:
    from pixelflow.cli.guesses import guesses
    from tessellation import LIMIT

    config = effective.config
    screen.paragraph(
        f"pixelflow tessellate · {file.name} · config {effective.preset} ({config.sha256[:6]})"
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
        ("mesh", _mesh_text(mesh)),
        ("patch edges", _edges_text(mesh)),
        ("", _gap_text(mesh, checked)),
    ]
    rows += [("not counted", text) for text in result.not_counted]
    rows += [("wrote", path) for path in written]
    rows.append(("wall time", f"{result.wall_seconds:.2f} s for the simulation"))
    for name, text in rows:
        screen.text(f"{name:<20}{text}")
    guesses(result.runs, config).show(screen)


def _method_text(result: Tessellation) -> str:
    method = result.method
    if not method.from_texture:
        return "control points by LEE"
    sends = "" if method.overlapped else f", {method.sends} sends"
    mantissa = f", mantissas of {method.mantissa_bytes} bytes{' (hybrid)' * method.hybrid}" * method.long
    return f"schedule {method.schedule}{sends}{mantissa}"


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


def _outside_name(stage: Any, result: Tessellation) -> str:
    from tessellation.stages import Stage

    return f"{stage.value} ({result.control_points})" if stage is Stage.CONTROL_POINTS else stage.value


def _degenerate_text(result: Tessellation) -> str:
    text = number(result.degenerate)
    if result.lost_normals:
        text += f", {number(result.lost_normals)} of them because a squared length left the range of binary32"
    return text


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


def _gap_text(mesh: Mesh, checked: Any) -> str:
    gap = f"{mesh.report.largest_gap:.3f} (2^-24 x magnitude)"
    if checked is not None:
        return f"welded over gaps up to {gap}; {counted(checked.cracks, 'crack')}"
    uneven = ", and between different samples" if mesh.report.uneven_edges else ""
    return f"gaps up to {gap}{uneven}; --weld closes them"


def _object(
    args: argparse.Namespace,
    effective: Effective,
    file: PatchFile,
    result: Tessellation,
    mesh: Mesh,
    checked: Any,
    written: list[str],
) -> dict[str, Any]:
    from pixelflow.cli.guesses import guesses
    from tessellation import LIMIT

    report = mesh.report
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
            }
            for plan, run in zip(result.plans, result.runs, strict=True)
        ],
        "result": {
            "cycles": result.cycles,
            "cycles_in_thesis": result.cycles_in_thesis,
            "load_cycles": result.load_cycles,
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
        "written": written,
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
