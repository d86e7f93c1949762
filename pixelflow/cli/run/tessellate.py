"""Tessellate Bezier patches by microcode on the simulated array; write points, unit normals and triangles.

PATCHES is a .bpt file, or the name of a model that ships with the package (listed below).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pixelflow.cli.run.tessellate_method import add_method_options, add_result_options, check_trims, method_of
from pixelflow.cli.shell.arguments import UsageError, add_config_options, add_engine_option
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.view.sampling import (
    add_camera_options,
    add_view_options,
    check_view_options,
    sampling_of,
    view_of,
)
from pixelflow.cli.watch.observing import Watching, add_observer_options
from pixelflow.config import NodeConfig
from pixelflow.node import AddressMap
from pixelflow.simd.report import Report
from tessellation import BUILT_IN, PatchFile, check, load, tessellate
from tessellation.host.session import PassBegins
from tessellation.microprogram.libraries import FORMER_NAMES, LIBRARIES
from tessellation.picture.texels import CHECKER, checker, read_texels
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.reports.outcome import Outcome, outcome_report
from tessellation.sampling.before import choose_before

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
        help="samples along u and along v, 2 to 16 (default: 16); a list is dealt to the patches in turn")  # fmt: skip
    add("--library", choices=(*LIBRARIES, *FORMER_NAMES), default=None,
        help="float routines (default: tuned; shared-columns: tuned-finite where nothing can overflow); "
             "thesis is the former name of plain")  # fmt: skip


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
        help=f"a picture in texture memory beside the patches, or {CHECKER}; repeat for others (files need pillow)",
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
    effective = configuration(args, screen)
    if args.output or args.preview:
        from pixelflow.cli.run.mesh_files import check_outputs  # 20 ms for those who write none

        check_outputs(args)
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
    line = Progress(replace(screen, progress=screen.progress and not args.live))
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
            progress=begin,
            watch=watching.attach,
        )
    mesh = result.mesh(weld=args.weld, outward=args.outward)
    checked = check(mesh) if args.weld else None
    written = []
    if args.output or args.preview:
        from pixelflow.cli.run.mesh_files import write_outputs

        written = write_outputs(args, screen, mesh)
    return watching.completed(outcome_report(Outcome(effective, file, result, mesh, checked, written, choice)))


def load_patches(name: str, screen: Screen) -> PatchFile:
    """Return a patch file or a built-in model, and note what is to be said of it."""
    file = load(name)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    return file


def textures_of(names: Sequence[str], config: NodeConfig) -> dict[str, np.ndarray]:
    """Return pictures by name, uint8[row, column, rgba]; raises UsageError for one that is named twice."""
    found: dict[str, np.ndarray] = {}
    for name in names:
        if name in found:
            raise UsageError(f"--texture {name[:60]}", "it lies there already", "name each picture once")
        side = AddressMap(config.sdram).texture_columns
        found[name] = checker() if name == CHECKER else read_texels(Path(name), side, f"up to {side} a side")
    return found


def sample_counts(args: argparse.Namespace, patches: int) -> list[int]:
    """Return the samples along u and v of each patch."""
    samples = args.samples or [MAX_SAMPLES]
    return [samples[index % len(samples)] for index in range(patches)]


def _samples(text: str) -> list[int]:
    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in text.split(",")]
    if not all(MIN_SAMPLES <= count <= MAX_SAMPLES for count in counts):
        raise argparse.ArgumentTypeError(
            f"expected {MIN_SAMPLES} to {MAX_SAMPLES}, or a list 4,8,16; found {text[:40]!r}"
        )
    return counts
