"""Tessellate Bezier patches by microcode on the simulated array; write points, unit normals and triangles.

PATCHES is a .bpt file, or the name of a model that ships with the package (listed below).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pixelflow.cli.arguments import add_config_options, add_engine_option, count
from pixelflow.cli.camera_options import add_camera_options, add_view_options, check_view_options, sampling_of, view_of
from pixelflow.cli.machine_values import configuration, engine_of
from pixelflow.cli.screen import STANDARD_STREAM, Progress, Screen, check_writable, output_file, refuse_overwrite
from pixelflow.cli.watching import Watching, add_observer_options
from pixelflow.config import NodeConfig
from pixelflow.node import AddressMap
from pixelflow.simd.errors import InputError, UsageError
from pixelflow.simd.report import Report
from tessellation import BUILT_IN, Mesh, Method, Patch, PatchFile, check, load, tessellate
from tessellation.host.session import PassBegins
from tessellation.microprogram.method import (
    CACHING_WAYS,
    CONTROL_POINTS,
    GP_WAYS,
    KEPT,
    LIBRARIES,
    RESULT_WAYS,
    SCHEDULES,
    TRANSFERS,
)
from tessellation.picture.models import CHECKER, checker, read_texels
from tessellation.picture.preview import png, require_pillow
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES, MOST_SAMPLES
from tessellation.plan.schedule import MANTISSAS
from tessellation.plan.texture_layout import REPLICATIONS, SENDS
from tessellation.reports import Outcome, outcome_report
from tessellation.sampling import choose_before
from tessellation.surface.bpt import is_patches
from tessellation.surface.mesh import encode, suffix_of
from tessellation.surface.trim_curves import DEFAULT_TOLERANCE, TOLERANCES

# Options that say how passes are executed, for `pixelflow tessellate` and `serve`, and which go together.


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the way of the control points, the schedule, and the precision."""
    add = parser.add_argument
    add("--control-points", choices=CONTROL_POINTS, default=CONTROL_POINTS[0],
        help="how control points reach the PEs (default: from texture memory)")  # fmt: skip
    add("--schedule", choices=SCHEDULES, default=SCHEDULES[0],
        help="order of work: the thesis's (default), with columns shared by PEs, or that and sums in fixed point, in "
        "the fewest cycles")  # fmt: skip
    add("--sends", type=int, choices=SENDS, default=None, metavar="S",
        help="sends per block and transfer of the thesis's schedule: 16, 8, 4 (default), 2 or 1")  # fmt: skip
    add("--transfers", choices=TRANSFERS, default=None,
        help="control points arrive during the computation on the last ones (default), or apart from it")  # fmt: skip
    add("--mantissa-bytes", type=int, choices=MANTISSAS, default=3, metavar="N",
        help="mantissa of all arithmetic: 3 (binary32, default) to 6; results are rounded to binary32")  # fmt: skip
    add("--hybrid", action="store_true", help="with longer mantissas: keep the control points binary32")
    add("--replication", type=int, choices=REPLICATIONS, default=None, metavar="N",
        help="modules that hold each patch: 1 (default), 2 or 4")  # fmt: skip
    add("--load", choices=GP_WAYS, default=None,
        help="how the database gets into texture memory: at once (default), or loaded from GP memory")  # fmt: skip
    add("--trim-tolerance", type=_trim_tolerance, default=None, metavar="SHARE",
        help="how far triangles of trimmed patches may be from trim curves, as a share of a patch's extent: "
        f"{TOLERANCES[0]} to {TOLERANCES[1]} (default: {DEFAULT_TOLERANCE})")  # fmt: skip


def _trim_tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    low, high = TOLERANCES
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"expected a share from {low} to {high}; found {text[:40]!r}")
    return value


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the way of the results; without these options ``set_defaults`` must say it."""
    add = parser.add_argument
    add("--results", choices=RESULT_WAYS, default=RESULT_WAYS[0],
        help="way of the results: read at once (default); to GP memory after a pass (gp); points during a pass and "
        "normals after it (gp-fine); all during the next pass (gp-coarse); points during a pass and normals during "
        "the next (gp-both)")  # fmt: skip
    add("--gps", type=int, choices=range(1, 9), default=None, metavar="N",
        help="GPs that take results (default: 1 for the schedule of the thesis, else all of the node)")  # fmt: skip
    add("--cache", choices=CACHING_WAYS, default=None,
        help="keep the results of each pass in texture memory, and read them back at the end (appendix B): an address "
        "for each word, a base for three PEs, that with alternate banks, or that in sets of 4 + 2 words, which "
        "leave no gap")  # fmt: skip
    add("--kept", choices=KEPT, default=None,
        help="when --cache does that: after each pass (default), or during the computation of the next")  # fmt: skip


def method_of(args: argparse.Namespace) -> Method:
    """Return how the passes are executed; raises UsageError for options that have no effect together."""
    _refuse_idle(args)
    return Method(
        args.control_points, args.schedule, 4 if args.sends is None else args.sends, args.replication or 1,
        args.mantissa_bytes, hybrid=args.hybrid, load=args.load or GP_WAYS[0], results=args.results, gps=args.gps,
        cache=args.cache, kept=args.kept, transfers=args.transfers or TRANSFERS[0],
        trim_tolerance=DEFAULT_TOLERANCE if args.trim_tolerance is None else args.trim_tolerance,
    )  # fmt: skip


def check_trims(args: argparse.Namespace, patches: Sequence[Patch]) -> None:
    """Raise UsageError for a tolerance of trims where no patch has one."""
    if args.trim_tolerance is not None and all(patch.trim is None for patch in patches):
        raise UsageError("--trim-tolerance", f"no patch of {args.patches[:60]} is trimmed", "leave it out")


def _refuse_idle(args: argparse.Namespace) -> None:
    lee, fine = args.control_points == "lee", args.results in ("gp-fine", "gp-both")
    shared = args.schedule != SCHEDULES[0]
    idle = (
        (lee and args.sends is not None, "--sends", "sends are reads of texture memory, and the LEE reads none"),
        (lee and args.replication is not None, "--replication", "through the LEE no module holds patches"),
        (lee and args.transfers is not None, "--transfers", "the LEE makes no transfers"),
        (
            lee and args.load is not None,
            "--load",
            "a database is loaded into texture memory, which the LEE does not use",
        ),
        (lee and shared, "--schedule", f"schedule {args.schedule} needs control points from texture memory"),
        (lee and fine, f"--results {args.results}", "points leave during reads of texture memory; the LEE reads none"),
    )
    for is_idle, option, reason in idle:
        if is_idle:
            raise UsageError(option, reason, f"leave out {option.split()[0]} or --control-points lee")
    if shared and args.sends is not None:
        raise UsageError("--sends", "shared columns are read by 8 bytes for two PEs each", "leave out --sends")
    if args.schedule == "fixed-sums" and fine:
        raise UsageError("--results", "with sums in fixed point points are complete after the last read alone",
                         "choose direct, gp or gp-coarse")  # fmt: skip
    if args.schedule == "fixed-sums" and args.mantissa_bytes > 3:
        raise UsageError("--mantissa-bytes", "sums in fixed point have no mantissas", "leave it out")
    if args.transfers == "apart" and args.results in ("gp-fine", "gp-coarse", "gp-both"):
        raise UsageError("--transfers", "these results leave during transfers", "choose --results direct or gp")
    if args.gps is not None and args.results == "direct":
        raise UsageError("--gps", "results that are read at once go to no GP", "choose another --results")
    if args.cache is not None and args.results in ("gp-coarse", "gp-both"):
        raise UsageError("--cache", "results that leave during the next pass cannot be kept", "leave it out")
    if args.kept is not None and args.cache is None:
        raise UsageError(f"--kept {args.kept}", "no results are kept", f"choose a way: --cache {CACHING_WAYS[-1]}")
    if args.kept == "beside" and fine:
        raise UsageError(f"--kept {args.kept}", "points that leave during their pass need the same marks and ports",
                         "choose --results direct or gp")  # fmt: skip
    if args.hybrid and args.mantissa_bytes == 3:
        raise UsageError("--hybrid", "a hybrid needs mantissas of 4 to 6 bytes", "add --mantissa-bytes 4")


PATCHES_HELP = f"patch file (.bpt), or a built-in model: {', '.join(BUILT_IN)}"

EXAMPLES = (
    "pixelflow tessellate teapot --samples 8 -o teapot.obj",
    "pixelflow tessellate enneper --samples 7 --weld -o enneper.ply",
    "pixelflow tessellate teapot --tolerance 4 --camera zoom=2 --one-sided",
    "pixelflow tessellate teapot --schedule shared-columns --samples 4 --json",
)


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the patches, how finely they are sampled, and the float routines."""
    add = parser.add_argument
    add("patches", metavar="PATCHES", help=PATCHES_HELP)
    add("--samples", type=_samples, default=None, metavar="K[,K...]",
        help="samples along u and along v, 2 to 64 (default: 16); a list is dealt to the patches in turn; above 16 "
             "with --replication 2, above 32 with 4")  # fmt: skip
    add("--passes", type=count, default=None, metavar="N",
        help="most passes: patches without room in them, such as those that sums in fixed point refuse, go to the GPs, "
             "by formula (default: as many as it takes)")  # fmt: skip
    add("--library", choices=tuple(LIBRARIES), default=None,
        help="float routines (default: tuned; shared-columns: tuned-finite where nothing can overflow)")  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, sampling, machine and outputs."""
    add_sampling_options(parser)
    add_view_options(parser)
    add_camera_options(parser)
    add_method_options(parser)
    add_result_options(parser)
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)
    parser.add_argument("--texture", action="append", default=[], metavar="FILE",
        help=f"a picture in texture memory next to the patches, or {CHECKER}; repeat for others (files need pillow)",
    )  # fmt: skip
    group = parser.add_argument_group("outputs")
    add = group.add_argument
    add("-o", "--output", metavar="FILE", help="mesh file: .obj, .ply (binary) or .npz")
    add("--weld", action="store_true", help="one vertex per shared sample, no cracks along shared edges")
    add("--outward", action="store_true",
        help="turn whole parts so that normals point out of the volume (default: along dP/du x dP/dv)")  # fmt: skip
    add("--preview", metavar="FILE.png", help="shaded picture (needs Pillow: the extra image)")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Tessellate, write the files, report; fails where a result misses the limits."""
    effective = configuration(args)
    if args.output or args.preview:
        _check_outputs(args)
    method = method_of(args)
    check_view_options(args)
    view, sampling = view_of(args), sampling_of(args)
    textures = textures_of(args.texture, effective.config)
    file = load_patches(args.patches, screen)
    check_trims(args, file.patches)
    patches, counts = file.patches, sample_counts(args, len(file.patches))
    choice = choose_before(patches, view, sampling, one_sided=args.one_sided) if sampling else None
    if choice is not None:
        patches, counts = tuple(patches[each] for each in choice.kept), [k for k in choice.samples if k]
    engine = engine_of(args, screen)
    line = Progress(screen._replace(progress=screen.progress and not args.live))
    with Watching(args, screen, effective, args.patches) as watching, line:

        def begin(one: PassBegins) -> None:
            watching.part(one.number, one.total)
            line.part(one.number, one.total, one)

        result = tessellate(
            patches,
            counts,
            library=args.library,
            engine=engine,
            config=effective.config,
            method=method,
            textures=textures,
            passes=args.passes,
            progress=begin,
            watch=watching.attach,
        )
    mesh = result.mesh(weld=args.weld, outward=args.outward)
    checked = check(mesh) if args.weld else None
    written = []
    if args.output or args.preview:
        written = _write_outputs(args, screen, mesh)
    return watching.completed(outcome_report(Outcome(effective, file, result, mesh, checked, written, choice)))


def load_patches(name: str, screen: Screen) -> PatchFile:
    """Return a patch file or a built-in model, and note what is to be said of it."""
    if not is_patches(name):
        from pixelflow.cli.scene_options import refuse_scene  # only for other names

        refuse_scene(name, "patches")
    file = load(name)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    return file


def textures_of(names: Sequence[str], config: NodeConfig) -> dict[str, np.ndarray]:
    """Return pictures by name, uint8[row, column, rgba]; raises UsageError for one that is named twice."""
    found: dict[str, np.ndarray] = {}
    for name in names:
        if name in found:
            raise UsageError(f"--texture {name[:60]}", "it is there already", "name each picture once")
        side = AddressMap(config.sdram).texture_columns
        found[name] = checker() if name == CHECKER else read_texels(Path(name), side, f"up to {side} a side")
    return found


def sample_counts(args: argparse.Namespace, patches: int) -> list[int]:
    """Return the samples along u and v of each patch."""
    samples = args.samples or [MAX_SAMPLES]
    return [samples[index % len(samples)] for index in range(patches)]


def _samples(text: str) -> list[int]:
    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in text.split(",")]
    if not all(MIN_SAMPLES <= count <= MOST_SAMPLES for count in counts):
        raise argparse.ArgumentTypeError(
            f"expected {MIN_SAMPLES} to {MOST_SAMPLES}, or a list 4,8,16; found {text[:40]!r}"
        )
    return counts


# The files: a mesh and its picture.


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse outputs that could not be written before any work is done."""
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


def _write_outputs(args: argparse.Namespace, screen: Screen, mesh: Mesh) -> list[str]:
    """Write the requested files; return their names. A mesh that cannot be drawn is a note, not a failure."""
    written = []
    if args.output is not None:
        with output_file(args.output, binary=True) as stream:
            stream.write(encode(mesh, args.output))
        written.append(args.output)
    if args.preview is not None:
        screen.note("drawing the preview")
        try:
            picture = png(mesh)
        except InputError as error:  # mesh and report are still good
            screen.note(f"note: no preview: {error.faults[0].message}")
            return written
        with output_file(args.preview, binary=True) as stream:
            stream.write(picture)
        written.append(args.preview)
    return written
